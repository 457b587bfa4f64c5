//! Accesses of a stream that continue each other back to back, whatever comes between them.

use std::collections::BTreeMap;

use super::cost::{Pool, any_order_bits};
use super::piece::{Apart, Body, Order, Piece, Turn};
use super::sizes::Sizes;
use super::thresholds::LIMITS;

/// Joins single accesses of one rank, file and operation back to back where that is worth its bits; gives runs and the others.
pub(super) fn link(mut singles: Vec<Piece>, pool: &Pool) -> (Vec<Piece>, Vec<Piece>) {
    singles.sort_by_key(|p| p.in_stream.first);
    // chains by the offset at which they end
    let mut ending: BTreeMap<u64, Vec<Piece>> = BTreeMap::new();
    let (mut runs, mut rest) = (Vec::new(), Vec::new());
    let mut finish = |chain: Vec<Piece>| if pays(&chain, pool) { runs.push(joined(chain)) } else { rest.extend(chain) };
    for p in singles {
        let mut chain = if p.body.bytes() > 0 { ending.remove(&p.at).unwrap_or_default() } else { Vec::new() };
        let end = p.at.saturating_add(p.body.bytes());
        chain.push(p);
        if let Some(other) = ending.insert(end, chain) {
            finish(other);
        }
    }
    ending.into_values().for_each(finish);
    (runs, rest)
}

fn pays(chain: &[Piece], pool: &Pool) -> bool {
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return false };
    let n = chain.len() as u64;
    let order = Order { first: first.in_stream.first, last: last.in_stream.first, breaks: 0 };
    n > 1 && (n - 1) as f64 * pool.place() - any_order_bits(&order, n) > LIMITS.margin
}

fn joined(chain: Vec<Piece>) -> Piece {
    let mut sizes = Sizes::new(true);
    chain.iter().for_each(|p| sizes.add(p.body.bytes()));
    let n = chain.len() as u64;
    let apart = Apart {
        in_size: chain[1].in_size.first.abs_diff(chain[0].in_size.first),
        in_stream: chain[1].in_stream.first - chain[0].in_stream.first,
    };
    let in_stream = Order::join(chain.iter().map(|p| &p.in_stream));
    let in_size = Order::join(chain.iter().map(|p| &p.in_size));
    let mut members = chain.into_iter();
    let Some(mut whole) = members.next() else { unreachable!("a chain has members") };
    whole.steps = whole.take_steps();
    whole.in_stream = in_stream;
    members.for_each(|p| whole.add_times(p));
    if sizes.rows().is_some_and(|r| r.len() == 1) {
        whole.turns = vec![Turn { count: n, stride: whole.body.bytes() as i64, steps: apart }];
        whole.in_size = in_size;
    } else {
        whole.body = Body::Chain(Box::new(sizes));
        whole.in_size = in_stream;
    }
    whole
}
