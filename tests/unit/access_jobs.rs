//! Jobs whose access classes are true by construction.

// each user takes a part
#![allow(dead_code)]

use iophase::classify::GlobalSequentiality as G;
use iophase::record::{Data, Op, Request, Requests, Trace};

/// (rank, op, offset, size, start).
pub type Row = (u32, Op, u64, u64, f64);

/// A trace of one file; each access takes `length` seconds.
pub fn trace_of(file: &str, accesses: impl IntoIterator<Item = Row>, length: f64) -> Trace {
    let mut t = Trace::default();
    let file = t.files.intern(file);
    let mut rows: Vec<Request> = accesses
        .into_iter()
        .map(|(rank, op, offset, size, start)| Request {
            op,
            rank,
            file,
            offset,
            size,
            start,
            end: start + length,
            ..Request::default()
        })
        .collect();
    rows.sort_by(|a, b| a.start.total_cmp(&b.start));
    t.data = Data::Requests(rows.into_iter().collect::<Requests>());
    t
}

/// How each global class moves rank `r` of `p` through the file at its `i`-th of `n` accesses.
pub fn place(class: G, p: u64, r: u64, i: u64, n: u64, size: u64) -> u64 {
    match class {
        G::GlobalSequential | G::SingleRank => i * size,
        G::PartitionedSequential => (r * n + i) * size,
        G::InterleavedSequential => (i * p + r) * size,
        G::GlobalStrided => i * size * (p + 2) + r * size,
        G::PartitionedStrided => (r * n + i) * 3 * size,
        // drawn from four times as many places as there are accesses: some come twice, some steps are equal by chance
        G::NonSequential => scramble(i ^ scramble(r ^ scramble(n * p))) % (4 * n * p) * size,
    }
}

/// A number that looks drawn (the finaliser of splitmix64).
fn scramble(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The peculiarity of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// All ranks at the same pace.
    Plain,
    /// Ranks begin one after the other.
    Staggered,
    /// One rank is slower.
    SlowRank,
    /// Another class after a while.
    TwoPhases,
    /// All of it twice.
    Again,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Plain, Kind::Staggered, Kind::SlowRank, Kind::TwoPhases, Kind::Again];
}

/// A job: its parameters, from which every run of it follows.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub kind: Kind,
    pub class: G,
    pub then: G,
    pub ranks: u64,
    pub accesses: u64,
    pub size: u64,
    pub op: Op,
    /// Operation of the second phase, if there is one: the same elsewhere in the file, or the other way at the same place.
    pub then_op: Op,
}

impl Job {
    /// The `number`-th job: every kind with every class in turn, other parameters drawn from the number.
    pub fn number(number: u64) -> Self {
        let mut state = number.wrapping_mul(0xD129_0265_1F3C_AA35) ^ 0x5DEE_CE66;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let kind = Kind::ALL[(number % 5) as usize];
        let several = &G::ALL.iter().copied().filter(|c| *c != G::SingleRank).collect::<Vec<_>>();
        let class = if kind == Kind::TwoPhases {
            several[(number / 5 % 6) as usize]
        } else {
            G::ALL[(number / 5 % 7) as usize]
        };
        let others: Vec<G> = several.iter().copied().filter(|c| *c != class).collect();
        let then = others[draw(others.len() as u64) as usize];
        let ranks = if class == G::SingleRank { 1 } else { 2 + draw(255) };
        let size = [1 + draw(300), 4096 << draw(10), 1 + draw(3_000_000)][draw(3) as usize];
        let op = if draw(2) == 0 { Op::Read } else { Op::Write };
        let accesses = 24 + draw(36);
        let turned = if op == Op::Read { Op::Write } else { Op::Read };
        let then_op = if kind == Kind::TwoPhases && draw(2) == 0 { turned } else { op };
        Self { kind, class, then, ranks, accesses, size, op, then_op }
    }

    /// One run of it: the times differ from run to run, the accesses do not.
    pub fn run(&self, file: &str, run: u64) -> Trace {
        let Job { kind, class, then, ranks: p, accesses: n, size, op, then_op } = *self;
        let elsewhere = if then_op == op { 1 << 40 } else { 0 };
        let shake = 0.1 * (run % 7) as f64;
        let rows = (0..p).flat_map(move |r| {
            let total = if matches!(kind, Kind::TwoPhases | Kind::Again) { 2 * n } else { n };
            (0..total).map(move |k| {
                let (second, i) = (k >= n, k % n);
                let offset = match (kind, second) {
                    (Kind::TwoPhases, true) => elsewhere + place(then, p, r, i, n, size),
                    _ => place(class, p, r, i, n, size),
                };
                let pace = if kind == Kind::SlowRank && r == p / 2 { 1.4 } else { 1.0 };
                let late = if kind == Kind::Staggered { 0.3 * n as f64 * r as f64 / p as f64 } else { 0.0 };
                let phase = if second { 5.0 + n as f64 } else { 0.0 };
                let start = phase + late + pace * i as f64 + 0.3 * shake * ((r * 31 + i * 7) % 10) as f64 / 10.0;
                (r as u32, if second { then_op } else { op }, offset, size, start)
            })
        });
        trace_of(file, rows, 0.5)
    }

    /// Its global classes, each with the number of ranks.
    pub fn truth(&self) -> Vec<(G, usize)> {
        let first = (self.class, self.ranks as usize);
        if self.kind == Kind::TwoPhases { vec![first, (self.then, self.ranks as usize)] } else { vec![first] }
    }
}

/// QCRD, phase 2 (Madhyastha & Reed 1997, section 5.2): 64 ranks read the first 2,412 bytes of a matrix, then interleave in
/// requests of 2,400 bytes; the matrix is read twice.
pub fn qcrd(file: &str) -> Trace {
    let (p, n) = (64u64, 24u64);
    let accesses = (0..p).flat_map(|r| {
        (0..2u64).flat_map(move |pass| {
            let begin = 200.0 * pass as f64;
            let header = (r as u32, Op::Read, 0, 2412, begin + 0.01 * r as f64);
            let rest =
                (0..n).map(move |i| (r as u32, Op::Read, 2412 + (i * p + r) * 2400, 2400, begin + 2.0 + i as f64));
            std::iter::once(header).chain(rest)
        })
    });
    trace_of(file, accesses, 0.7)
}

/// PRISM (section 5.3): every rank reads a file of 127,394 bytes twice, in requests of 8 KiB.
pub fn prism(file: &str) -> Trace {
    let size = 127_394u64;
    let accesses = (0..16u32).flat_map(|r| {
        (0..2u32).flat_map(move |pass| {
            (0..size.div_ceil(8192)).map(move |i| {
                let start = f64::from(pass) * 20.0 + i as f64 + 0.01 * f64::from(r);
                (r, Op::Read, i * 8192, 8192.min(size - i * 8192), start)
            })
        })
    });
    trace_of(file, accesses, 0.7)
}
