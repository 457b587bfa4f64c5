//! gzip with several members one after the other, which are decompressed side by side.
//!
//! A member does not say how long it is compressed. The bytes that begin one are looked for in what lies ahead; a stretch between two
//! such places that decompresses to its very end, with the right check sum, is a member. Any other is decompressed as a stream from
//! where it begins, so that all inputs give the bytes and the errors that a single decompressor gives.

use std::io::{BufRead, Read};

use flate2::bufread::GzDecoder;
use memchr::memmem;
use rayon::prelude::*;

use super::ahead::Ahead;

/// Compressed bytes that are looked at for members.
pub(super) const AHEAD: usize = 4 << 20;
/// Decompressed bytes of the members that are decompressed side by side, for each thread.
const AT_ONCE: usize = 4 << 20;
/// Most bytes that deflate makes of one.
const EXPANSION: usize = 1032;
/// Bytes of the shortest member: header, an empty block, check sum and length.
const SHORTEST: usize = 20;

/// Consumes the whole members at the start of what lies ahead, if there are several, and gives their content.
pub(super) fn whole_members<R: Read>(source: &mut Ahead<R>) -> Vec<Vec<u8>> {
    let data = source.data();
    let members = stretches(data, source.ended(), AT_ONCE * rayon::current_num_threads());
    if members.len() < 2 {
        return Vec::new();
    }
    let outcomes: Vec<Option<Vec<u8>>> =
        members.par_iter().map(|&(from, to, size)| whole_member(&data[from..to], size)).collect();
    let whole: Vec<Vec<u8>> = outcomes.into_iter().map_while(|bytes| bytes).collect();
    let end = whole.len().checked_sub(1).map_or(0, |last| members[last].1);
    source.consume(end);
    whole
}

/// Stretches of `data`, which begins with a member, from the start of what may be a member to that of the next, and the size that
/// each states; `ended`: the last one reaches the end of the data. Together they state at most `budget` bytes.
fn stretches(data: &[u8], ended: bool, budget: usize) -> Vec<(usize, usize, usize)> {
    let begins = |at: &usize| data.get(at + 3).is_some_and(|flags| flags & 0xe0 == 0);
    let later = memmem::find_iter(data.get(1..).unwrap_or_default(), b"\x1f\x8b\x08").map(|n| n + 1).filter(begins);
    let mut list = Vec::new();
    let (mut from, mut sum) = (0, 0);
    for to in later.chain(ended.then_some(data.len())) {
        let size = match data[from..to].last_chunk() {
            Some(size) if to - from >= SHORTEST - 2 => u32::from_le_bytes(*size) as usize,
            _ => break,
        };
        sum += size;
        if sum > budget || size / EXPANSION > to - from {
            break;
        }
        list.push((from, to, size));
        from = to;
    }
    list
}

/// Decompresses a member that fills the stretch and has this size; `None` if it does not.
fn whole_member(stretch: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut decoder = GzDecoder::new(stretch);
    let mut bytes = Vec::with_capacity(size);
    decoder.by_ref().take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == size && decoder.into_inner().is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Limits;
    use crate::formats::compression::{Compression, DamageNote, Unpacked, Unpacking};
    use flate2::bufread::MultiGzDecoder;
    use proptest::prelude::*;
    use std::io::Write;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(text).unwrap();
        z.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Unpacked<&[u8]> {
        let how = Unpacking::whole(&Limits::default(), bytes.len() as u64, &DamageNote::default());
        Unpacked::new(Compression::Gzip, bytes, how)
    }

    /// The bytes before the end or an error, and whether there was an error.
    fn all(mut reader: impl Read) -> (Vec<u8>, bool) {
        let (mut bytes, mut block) = (Vec::new(), [0; 777]);
        loop {
            match reader.read(&mut block) {
                Ok(0) => return (bytes, false),
                Ok(n) => bytes.extend_from_slice(&block[..n]),
                Err(_) => return (bytes, true),
            }
        }
    }

    #[test]
    fn members_are_found_whatever_they_hold() {
        // stored blocks that hold the bytes of another member
        let inner = member(b"inner");
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        z.write_all(&inner).unwrap();
        let outer = z.finish().unwrap();
        let text = [member(b"a"), outer, member(b""), member(&[b'x'; 100_000])].concat();
        let expected = [&b"a"[..], &inner, &[b'x'; 100_000]].concat();
        assert_eq!(all(unpacked(&text)), (expected, false));
    }

    proptest! {
        #[test]
        fn a_damaged_input_gives_what_one_decompressor_gives(
            texts in prop::collection::vec("[ab{}]{0,60}", 1..6), cut in 0usize..400, flip in 0usize..4000, tail in 0usize..3,
        ) {
            let mut bytes: Vec<u8> = texts.iter().flat_map(|t| member(t.as_bytes())).collect();
            bytes.extend_from_slice(&b"\x00\x1f"[..tail.min(2)]);
            bytes.truncate(bytes.len().saturating_sub(cut / 8).max(1));
            if let Some(b) = bytes.get_mut(flip / 8) {
                *b ^= 1 << (flip % 8);
            }
            prop_assert_eq!(all(unpacked(&bytes)), all(MultiGzDecoder::new(&bytes[..])));
        }
    }
}
