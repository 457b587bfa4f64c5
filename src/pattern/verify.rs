//! The check that nothing was lost.

use super::access::Access;
use super::found::Found;
use crate::record::{FileId, Op};

type Key = (Op, u32, FileId, u64, u64);

fn key(a: &Access) -> Key {
    (a.op, a.rank, a.file, a.offset, a.size)
}

/// Expands the patterns, adds the unmatched accesses, and compares with the accesses that went in, as multisets of
/// (operation, rank, file, offset, size). Needs what [`Options::keep_sizes`](super::Options::keep_sizes) and
/// [`Options::keep_unmatched`](super::Options::keep_unmatched) keep, and memory for all accesses.
///
/// # Errors
/// The difference, in words.
pub fn verify(found: &Found, accesses: impl Iterator<Item = Access>) -> Result<(), String> {
    let mut before: Vec<Key> = accesses.map(|a| key(&a)).collect();
    let mut after: Vec<Key> = found.unmatched.iter().map(key).collect();
    if after.len() as u64 != found.unmatched_records {
        return Err("the unmatched accesses were not kept".into());
    }
    for p in &found.patterns {
        let places = p.expand().ok_or("the sizes of a sequential pattern were not kept")?;
        // No more than there can be: a pattern that claims more is wrong, and need not be expanded to the end.
        let most = before.len().saturating_sub(after.len()) + 1;
        let with_rank = (0u64..).zip(places.take(most));
        after.extend(with_rank.map(|(i, (offset, size))| (p.op_of(i), p.rank_of(i), p.file, offset, size)));
        if after.len() > before.len() {
            break;
        }
    }
    if after.len() != before.len() {
        return Err(format!("{} accesses became {} or more", before.len(), after.len()));
    }
    before.sort_unstable();
    after.sort_unstable();
    match before.iter().zip(&after).find(|(a, b)| a != b) {
        None => Ok(()),
        Some((a, b)) => Err(format!("{a:?} became {b:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Detector, Options};
    use super::*;

    #[test]
    fn a_changed_access_is_noticed() {
        let access = |i: u64| Access {
            op: Op::Read,
            rank: 0,
            file: FileId(0),
            offset: i * 10,
            size: 10,
            start: i as f64,
            end: i as f64,
        };
        let mut d = Detector::new(Options { keep_sizes: true, keep_unmatched: true, ..Options::default() });
        (0..100).for_each(|i| d.push(&access(i)));
        let found = d.finish();
        assert_eq!(verify(&found, (0..100).map(access)), Ok(()));
        assert!(verify(&found, (0..99).map(access)).is_err());
        assert!(verify(&found, (0..100).map(|i| access(i.max(1)))).is_err());
    }
}
