//! Rows from bytes, for the engines that come after the readers.

use iophase::record::{Data, Interval, Op, Request, Trace, UNKNOWN_OFFSET};

/// Numbers from bytes, 0 when they are used up.
pub struct Numbers<'d>(&'d [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |n, _| n << 8 | u64::from(self.byte()))
    }

    /// A number of a size that its first byte chooses: small ones, powers of two with neighbours, any.
    fn amount(&mut self) -> u64 {
        match self.byte() {
            n @ 0..=63 => n.into(),
            n @ 64..=191 => (1u64 << (n & 63)).wrapping_add(u64::from(self.byte() % 3)).wrapping_sub(1),
            n @ 192..=223 => u64::from(n & 31) << 12,
            224..=247 => u64::from(self.byte()) << 8 | u64::from(self.byte()),
            _ => self.word(),
        }
    }

    /// Seconds: of a grid, of any size within the range of readers, or tiny.
    fn seconds(&mut self) -> f64 {
        match self.byte() {
            n @ 0..=127 => f64::from(n) / 16.0,
            n @ 128..=199 => f64::from(n - 128) * 10f64.powi(i32::from(self.byte()) % 12 - 6),
            n @ 200..=239 => 10f64.powi(i32::from(n) - 228).min(1e12),
            _ => {
                let x = f64::from_bits(self.word());
                if x.is_finite() { x.abs().min(1e12) } else { 0.0 }
            }
        }
    }
}

/// Up to `most` requests in the order of time, by a program of one byte a row and what it needs.
pub fn requests(data: &[u8], most: usize) -> Trace {
    let mut n = Numbers(data);
    let mut t = Trace { path: "fuzz".into(), format: "fuzz", ..Trace::default() };
    let mut files = Vec::new();
    for name in ["/scratch/a", "/scratch/b.0001", "/scratch/b.0002", "", "/home/x/\u{1b}[31m<&\"'>"] {
        files.push(t.files.intern(name));
    }
    let (mut rows, mut last): (Vec<Request>, Request) = (Vec::new(), Request::default());
    let mut time = if n.byte() & 1 == 0 { 0.0 } else { n.seconds() * if n.byte() & 1 == 0 { 1.0 } else { -1.0 } };
    let mut step = (4096u64, 0.125f64);
    while !n.0.is_empty() && rows.len() < most {
        let what = n.byte();
        if what & 0x80 != 0 {
            step = (n.amount(), n.seconds());
        }
        if what & 0x40 != 0 {
            last.rank = n.amount() as u32;
        }
        if what & 0x20 != 0 {
            last.file = files[usize::from(n.byte()) % files.len()];
        }
        if what & 0x10 != 0 {
            (last.offset, last.size) = (n.amount(), n.amount());
        }
        last.op =
            [Op::Write, Op::Read, Op::Write, Op::Open, Op::Close, Op::Seek, Op::Sync, Op::Other][usize::from(what & 7)];
        let repeats = if what & 8 != 0 { usize::from(n.byte()) } else { 1 };
        for _ in 0..repeats.min(most - rows.len()) {
            (last.start, last.end) = (time.clamp(-1e12, 1e12), (time + step.1 / 4.0).clamp(-1e12, 1e12));
            rows.push(if last.op.moves_bytes() { last } else { Request { size: 0, offset: UNKNOWN_OFFSET, ..last } });
            last.offset = last.offset.wrapping_add(step.0);
            time = (time + step.1).min(1e12);
        }
    }
    // the range that readers bring sizes into
    rows.iter_mut().for_each(|r| r.size = r.size.min(1 << 50));
    // an offset that is not known has a value of its own
    rows.iter_mut().filter(|r| r.offset.checked_add(r.size).is_none()).for_each(|r| r.offset = UNKNOWN_OFFSET);
    t.ranks = rows.iter().map(|r| u64::from(r.rank) + 1).max().unwrap_or(0);
    t.data = Data::Requests(rows.into_iter().collect());
    t
}

/// Up to `most` intervals, each by a few bytes.
pub fn intervals(data: &[u8], most: usize) -> Vec<Interval> {
    let (mut n, mut rows, mut time) = (Numbers(data), Vec::new(), 0.0);
    let mut last = (0.125, 0.0625, 1e6);
    while !n.0.is_empty() && rows.len() < most {
        let what = n.byte();
        if what & 0x80 != 0 {
            last.0 = n.seconds() * if what & 0x40 != 0 { -1.0 } else { 1.0 };
        }
        if what & 0x20 != 0 {
            last.1 = n.seconds();
        }
        if what & 0x10 != 0 {
            last.2 = n.amount() as f64;
        }
        for _ in 0..(if what & 8 != 0 { usize::from(n.byte()) } else { 1 }).min(most - rows.len()) {
            let start = f64::clamp(time, -1e12, 1e12);
            let op = if what & 1 == 0 { Op::Write } else { Op::Read };
            rows.push(Interval {
                op,
                asynchronous: what & 4 != 0,
                rank: u32::from(what & 2),
                bytes: last.2,
                start,
                end: (start + last.1).min(1e12),
                ..Interval::default()
            });
            time = f64::clamp(time + last.0, -1e12, 1e12);
        }
    }
    rows
}
