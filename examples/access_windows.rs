//! Draws windows of accesses whose local class is known and writes their features, for `scripts/train_access_network.py`.
//!
//!     access_windows OUT.csv [WINDOWS] [SEED]
//!
//! A stream is one walk, or two or three one after the other; a window is cut out of it at random. If it holds parts of two
//! walks that can be told apart, the answer is `change`. Strides are 2 to 64 requests.

use std::fs::File;
use std::io::{BufWriter, Write};

use iophase::classify::training_features;

const STRIPE: u64 = 1 << 20;

/// Multiply-xor generator (SplitMix64): the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `a` to `b`, both included.
    fn within(&mut self, a: u64, b: u64) -> u64 {
        a + self.next() % (b - a + 1)
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.next().is_multiple_of(one_in)
    }

    /// Any magnitude from `a` to `b` is as likely as any other.
    fn magnitude(&mut self, a: u64, b: u64) -> u64 {
        let (low, high) = ((a as f64).ln(), (b as f64).ln());
        let u = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((low + u * (high - low)).exp() as u64).clamp(a, b)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Walk {
    Sequential,
    Strided,
    Nested,
    Rising,
    Random,
}

const NAMES: [&str; 5] = ["sequential", "strided-1d", "strided-kd", "variably-strided", "non-sequential"];

/// One walk: (write, offset, size) of each access, and the inner counts that tell where a nest turns.
struct Piece {
    walk: Walk,
    accesses: Vec<(bool, u64, u64)>,
    inner: usize,
}

fn sizes(r: &mut Random, n: usize) -> Vec<u64> {
    let usual = r.magnitude(1, 4 << 20);
    match r.within(0, 9) {
        0..=6 => vec![usual; n],
        7 => {
            // the rest at the end of a file
            let mut all = vec![usual; n];
            if usual > 1 {
                all[n - 1] = r.within(1, usual - 1);
            }
            all
        }
        8 => (0..n).map(|_| r.within(usual.div_ceil(4), usual * 2)).collect(),
        _ => (0..n).map(|_| r.magnitude(64, 4 << 20)).collect(),
    }
}

fn piece(r: &mut Random, n: usize) -> Piece {
    let walk = [Walk::Sequential, Walk::Strided, Walk::Nested, Walk::Rising, Walk::Random][r.within(0, 4) as usize];
    let mut sizes = sizes(r, n);
    let base = r.magnitude(1, 1 << 40);
    let uniform = sizes[0];
    let mut inner = 0;
    let offsets: Vec<u64> = match walk {
        Walk::Sequential if r.chance(6) => {
            // the same short run again and again
            inner = r.within(2, 5) as usize;
            sizes = vec![uniform; n];
            (0..n).map(|i| base + (i % inner) as u64 * uniform).collect()
        }
        Walk::Sequential => {
            let mut at = base;
            sizes
                .iter()
                .map(|s| {
                    let here = at;
                    at += s;
                    here
                })
                .collect()
        }
        Walk::Strided => {
            sizes = vec![uniform; n];
            let stride = match r.within(0, 9) {
                0 => 0,
                1 => uniform + r.magnitude(1, uniform.max(2)),
                _ => uniform * r.within(2, 64) + if r.chance(3) { r.within(0, uniform) } else { 0 },
            };
            let back = r.chance(6);
            let stride = if back && r.chance(2) { uniform } else { stride };
            (0..n as u64).map(|i| if back { base + stride * (n as u64 - i) } else { base + stride * i }).collect()
        }
        Walk::Nested => {
            inner = r.within(2, 6) as usize;
            sizes = vec![uniform; n];
            let stride = if r.chance(2) { uniform } else { uniform * r.within(2, 16) };
            let outer = match r.within(0, 2) {
                0 => stride * inner as u64 + uniform * r.within(1, 16),
                1 => stride * inner as u64 * r.within(2, 64),
                _ => uniform * r.within(1, inner as u64),
            };
            (0..n).map(|i| base + (i / inner) as u64 * outer + (i % inner) as u64 * stride).collect()
        }
        Walk::Rising => {
            let mut at = base;
            let down = r.chance(8);
            let reach = r.within(2, 30);
            let up: Vec<u64> = sizes
                .iter()
                .map(|s| {
                    let here = at;
                    at += s + uniform * r.within(1, reach) + r.within(0, uniform);
                    here
                })
                .collect();
            if down { up.into_iter().rev().collect() } else { up }
        }
        Walk::Random => {
            let places = n as u64 * r.within(2, 200);
            (0..n).map(|_| base + r.within(0, places) * uniform).collect()
        }
    };
    let kind = r.within(0, 9);
    let accesses = match kind {
        // read, change, write back
        0 if walk != Walk::Random => {
            sizes.truncate(n.div_ceil(2));
            let twice = offsets.iter().zip(&sizes).flat_map(|(&o, &s)| [(false, o, s), (true, o, s)]).take(n).collect();
            let walk = if walk == Walk::Rising { Walk::Random } else { Walk::Nested };
            return Piece { walk, accesses: twice, inner: 2 };
        }
        1 => offsets.iter().zip(&sizes).map(|(&o, &s)| (r.chance(2), o, s)).collect(),
        _ => offsets.iter().zip(&sizes).map(|(&o, &s)| (kind.is_multiple_of(2), o, s)).collect(),
    };
    let mut accesses: Vec<(bool, u64, u64)> = accesses;
    // now and then two accesses come in the wrong order
    if matches!(walk, Walk::Sequential | Walk::Strided) && inner == 0 && n >= 12 && r.chance(12) {
        let i = r.within(2, n as u64 - 4) as usize;
        accesses.swap(i, i + 1);
    }
    Piece { walk, accesses, inner }
}

/// The walk that a part of a piece shows.
fn shown(p: &Piece, from: usize, to: usize) -> Option<usize> {
    let all = &p.accesses[from..to];
    let steps: Vec<i64> = all.windows(2).map(|w| w[1].1.wrapping_sub(w[0].1) as i64).collect();
    let follow = all.windows(2).all(|w| w[0].1 + w[0].2 == w[1].1);
    if follow {
        return Some(0);
    }
    if steps.windows(2).all(|w| w[0] == w[1]) {
        return Some(1);
    }
    let rising = steps.iter().all(|s| *s > 0) || steps.iter().all(|s| *s < 0);
    let disorder = Some(if rising { 3 } else { 4 });
    match p.walk {
        Walk::Rising | Walk::Random => disorder,
        _ if p.inner == 0 => Some(p.walk as usize),
        _ => {
            // a nest shows when it turns twice
            let turns = (from + 1..to).filter(|i| i % p.inner == 0).count();
            match turns {
                2.. if p.walk == Walk::Sequential => Some(0),
                2.. => Some(2),
                _ if all.len() >= 5 => None,
                _ => disorder,
            }
        }
    }
}

fn size_class(all: &[(bool, u64, u64)]) -> usize {
    let first = all[0].2;
    let odd = all.iter().filter(|a| a.2 != first).count();
    let (least, most) = (all.iter().map(|a| a.2).min().unwrap_or(0), all.iter().map(|a| a.2).max().unwrap_or(0));
    let rest = odd == 1 && all[all.len() - 1].2 < first;
    match (odd == 0 || rest, most < STRIPE, least >= STRIPE) {
        (true, ..) if first < STRIPE => 0,
        (true, ..) => 1,
        (false, true, _) => 2,
        (false, _, true) => 3,
        _ => 4,
    }
}

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, usual: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(usual);
    let path = args.get(1).cloned().unwrap_or_else(|| "windows.csv".into());
    let (count, seed) = (number(2, 200_000), number(3, 1));
    let mut r = Random(seed);
    let mut out = BufWriter::new(File::create(path)?);
    let names: Vec<&str> = training_features(&[(false, 0, 1)], STRIPE).iter().map(|f| f.0).collect();
    writeln!(out, "{},walk,mix,size", names.join(","))?;
    let mut written = 0;
    while written < count {
        let pieces: Vec<Piece> = match r.within(0, 4) {
            0 | 1 => {
                let n = r.within(2, 60) as usize;
                vec![piece(&mut r, n)]
            }
            _ => {
                let lengths = [r.magnitude(1, 40) as usize, r.magnitude(1, 40) as usize];
                let mut both: Vec<Piece> = lengths.map(|n| piece(&mut r, n)).into();
                match r.within(0, 3) {
                    // the second one goes over the same bytes
                    0 => both[1].accesses = both[0].accesses.clone(),
                    // a header before the rest, which is of the same kind of access
                    1 => {
                        let write = both[1].accesses[0].0;
                        both[1].accesses.iter_mut().for_each(|a| a.0 = write);
                        both[0].accesses.iter_mut().for_each(|a| a.0 = write);
                    }
                    _ => {}
                }
                if both[1].accesses.len() == both[0].accesses.len() && both[0].accesses == both[1].accesses {
                    both[1].walk = both[0].walk;
                    both[1].inner = both[0].inner;
                }
                both
            }
        };
        let all: Vec<(bool, u64, u64)> = pieces.iter().flat_map(|p| p.accesses.clone()).collect();
        if all.len() < 2 {
            continue;
        }
        let n = if r.chance(3) { 11 } else { r.within(2, 24) as usize }.min(all.len());
        let from = r.within(0, (all.len() - n) as u64) as usize;
        let window = &all[from..from + n];
        let cut = pieces[0].accesses.len();
        let answer = if from + n <= cut {
            shown(&pieces[0], from, from + n)
        } else if from >= cut {
            shown(&pieces[1], from - cut, from + n - cut)
        } else {
            let (left, right) = (cut - from, from + n - cut);
            let (a, b) = (shown(&pieces[0], from, cut), shown(&pieces[1], 0, right));
            let orderly = |x: Option<usize>| x.is_none_or(|x| x < 3);
            match (orderly(a), orderly(b)) {
                // too short to tell, or disorder all the same
                _ if n < 5 => continue,
                (false, false) => continue,
                (false, true) if right < 4 => continue,
                (true, false) if left < 4 => continue,
                _ => {
                    // the second may happen to go on where the first ended
                    let whole = Piece { walk: Walk::Random, accesses: window.to_vec(), inner: 0 };
                    match shown(&whole, 0, n) {
                        Some(0 | 1) => continue,
                        _ => None,
                    }
                }
            }
        };
        let writes = window.iter().filter(|a| a.0).count();
        let mix = if writes == 0 {
            0
        } else if writes == n {
            1
        } else {
            2
        };
        let features: Vec<String> = training_features(window, STRIPE).iter().map(|f| format!("{:.6}", f.1)).collect();
        let walk = answer.map_or("change", |i| NAMES[i]);
        writeln!(out, "{},{walk},{mix},{}", features.join(","), size_class(window))?;
        written += 1;
    }
    out.flush()
}
