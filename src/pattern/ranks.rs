//! Equal pieces of evenly spaced ranks become one pattern with an outermost loop through the ranks.

use rayon::prelude::*;

use super::piece::{Apart, Piece, Ranks, Shape, Turn};
use super::table::Table;
use super::thresholds::LIMITS;
use crate::record::{FileId, Op};

/// The common properties of pieces that ranks may make together.
fn kind(p: &Piece) -> Option<(FileId, Op, Option<Op>, Shape)> {
    Some((p.file, p.op, p.then, p.shape().filter(|_| p.ranks.is_none())?))
}

/// Joins pieces of equal shape over ranks where `pays` says so; gives joined and other pieces, unordered.
pub(super) fn join_ranks(pieces: Vec<Piece>, pays: impl Fn(&[&Piece]) -> bool) -> Vec<Piece> {
    let mut keyed: Vec<_> = pieces.into_iter().map(|p| (kind(&p), p)).collect();
    keyed.par_sort_by(|(a, p), (b, q)| {
        a.cmp(b).then((p.rank, p.in_stream.first, p.at).cmp(&(q.rank, q.in_stream.first, q.at)))
    });
    let mut out = Vec::with_capacity(keyed.len());
    let mut group: Vec<Piece> = Vec::new();
    let mut last = None;
    for (kind, p) in keyed {
        if kind.is_none() || kind != last {
            join_group(std::mem::take(&mut group), &pays, &mut out);
        }
        last = kind;
        group.push(p);
    }
    join_group(group, &pays, &mut out);
    out
}

/// Joins pieces of one kind, by rank and time.
fn join_group(group: Vec<Piece>, pays: &impl Fn(&[&Piece]) -> bool, out: &mut Vec<Piece>) {
    if group.first().map(|p| p.rank) == group.last().map(|p| p.rank) {
        out.extend(group);
        return;
    }
    let lists = progressions(&group, pays);
    let mut all: Vec<Option<Piece>> = group.into_iter().map(Some).collect();
    for list in lists {
        out.extend(through_ranks(list.iter().filter_map(|&i| all[i].take()).collect()));
    }
    out.extend(all.into_iter().flatten());
}

/// Lists of pieces, one of each of several evenly spaced ranks, at a constant distance.
fn progressions(group: &[Piece], pays: &impl Fn(&[&Piece]) -> bool) -> Vec<Vec<usize>> {
    let mut used = vec![false; group.len()];
    let mut index: Table<(u32, u64), Vec<usize>> = Table::default();
    for (i, p) in group.iter().enumerate().rev() {
        index.entry((p.rank, p.at)).or_default().push(i);
    }
    let mut by_place: Vec<usize> = (0..group.len()).collect();
    by_place.sort_by_key(|&i| (group[i].rank, group[i].at, i));
    let mut lists = Vec::new();
    for i in 0..group.len() {
        if used[i] {
            continue;
        }
        let mine = &group[i];
        let begin = group.partition_point(|p| p.rank < mine.rank);
        let next = group.partition_point(|p| p.rank <= mine.rank);
        let Some(rank) = group.get(next).map(|p| p.rank) else { continue };
        let aligned = next + (i - begin);
        let place = by_place.partition_point(|&k| (group[k].rank, group[k].at) < (rank, mine.at));
        let around = place.saturating_sub(LIMITS.rank_neighbours)..(place + LIMITS.rank_neighbours).min(by_place.len());
        let mut near: Vec<usize> = std::iter::once(aligned).chain(around.map(|k| by_place[k])).collect();
        near.retain(|&j| group.get(j).is_some_and(|p| p.rank == rank) && !used[j]);
        near.sort_by_key(|&j| (j != aligned, group[j].at.abs_diff(mine.at), j));
        let mut best: Vec<usize> = Vec::new();
        for j in near {
            let list = follow(group, &index, &used, i, j);
            if list.len() > best.len() {
                best = list;
            }
        }
        let members: Vec<&Piece> = best.iter().map(|&k| &group[k]).collect();
        if members.len() > 1 && pays(&members) {
            best.iter().for_each(|&k| used[k] = true);
            lists.push(best);
        }
    }
    lists
}

fn follow(group: &[Piece], index: &Table<(u32, u64), Vec<usize>>, used: &[bool], i: usize, j: usize) -> Vec<usize> {
    let step = group[j].rank - group[i].rank;
    let stride = group[j].at.wrapping_sub(group[i].at);
    let mut list = vec![i, j];
    loop {
        let last = &group[list[list.len() - 1]];
        let Some(rank) = last.rank.checked_add(step) else { break };
        let found = index.get(&(rank, last.at.wrapping_add(stride)));
        match found.and_then(|f| f.iter().rev().find(|&&k| !used[k])) {
            Some(&k) => list.push(k),
            None => break,
        }
    }
    list
}

fn through_ranks(members: Vec<Piece>) -> Option<Piece> {
    let count = members.len() as u32;
    let mut members = members.into_iter();
    let mut whole = members.next()?;
    whole.cursor = None;
    whole.steps = whole.take_steps();
    for (i, p) in members.enumerate() {
        if i == 0 {
            whole.ranks = Some(Ranks { count, step: p.rank - whole.rank });
            let stride = p.at.wrapping_sub(whole.at) as i64;
            whole.turns.push(Turn {
                count: u64::from(count),
                stride,
                steps: Apart { in_size: u64::MAX, in_stream: u64::MAX },
            });
        }
        if p.in_stream != whole.in_stream {
            whole.uneven_ranks += 1;
            let known = p.turns[..] == whole.turns[..whole.turns.len() - 1];
            for (mine, theirs) in whole.order.iter_mut().zip(p.order) {
                let more = if known { theirs.given_steps } else { theirs.own };
                mine.own += more;
                mine.given_steps += more;
            }
        }
        whole.add_times(p);
    }
    Some(whole)
}
