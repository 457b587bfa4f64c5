//! Streams: the requests of a rank to a file. Analyses of accesses follow each of them.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::names::FileId;
use super::trace::Data;

impl Data {
    /// Whether the requests are of more pairs of rank and file than `most`.
    pub(crate) fn has_more_streams_than(&self, most: usize) -> bool {
        let Data::Requests(r) = self else { return false };
        if r.len() <= most {
            return false;
        }
        let ranks = r.rank.iter().max().map_or(0, |rank| u64::from(rank) + 1);
        let files = r.file.iter().filter(|f| *f != FileId::NONE).max().map_or(0, |f| u64::from(f.0) + 1);
        if ranks.saturating_mul(files + 1) <= most as u64 {
            return false;
        }
        let mut seen: HashSet<(u32, FileId), FixedState> = HashSet::default();
        let mut last = None;
        r.rank.iter().zip(r.file.iter()).any(|stream| {
            if last.replace(stream) != Some(stream) {
                seen.insert(stream);
            }
            seen.len() > most
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Request, Requests};

    #[test]
    fn streams_are_pairs_of_rank_and_file() {
        let row = |rank: u32, file: FileId| Request { rank, file, ..Request::default() };
        let files = [FileId(0), FileId(1), FileId::NONE];
        let rows = (0..90).map(|i| row(1000 * (i % 5), files[i as usize / 15 % 3]));
        let data = Data::Requests(rows.collect::<Requests>());
        for most in 0..20 {
            assert_eq!(data.has_more_streams_than(most), most < 15, "{most}");
        }
        let of_one_rank = Data::Requests((0..9).map(|i| row(u32::MAX, FileId(i))).collect());
        assert!(of_one_rank.has_more_streams_than(8) && !of_one_rank.has_more_streams_than(9));
        assert!(!Data::default().has_more_streams_than(0));
    }
}
