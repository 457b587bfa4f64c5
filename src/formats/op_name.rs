//! The operation of a call, by its name.

use crate::record::Op;

/// Words that contain `write` or `read` and do neither.
const BY_CHANCE: [&[u8]; 9] =
    [b"overwrit", b"rewrit", b"writer", b"thread", b"ready", b"spread", b"reader", b"already", b"readonly"];

/// Calls that write and do not say so.
const WRITES: [&[u8]; 12] = [
    b"sendto",
    b"sendmsg",
    b"sendfile",
    b"sendfile64",
    b"splice",
    b"copy_file_range",
    b"printf",
    b"fprintf",
    b"dprintf",
    b"vprintf",
    b"vfprintf",
    b"vdprintf",
];

/// The operation of a call such as `pwrite64`, `MPI_File_read_at_all`, `ADIOI_WriteStrided`, `fsync`, or of a plain `read`.
///
/// Names that say what the call does are taken at their word; [`Op::Other`] if they do not, and for calls that read no data
/// of a file (`readlink`, `readdir`).
pub(crate) fn op_of(name: &[u8]) -> Op {
    let lower = name.to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
    // most names hold neither, and need not be taken apart
    let does = |verb: &[u8]| has(verb) && words(name).any(|word| says(word, verb));
    if does(b"write") || WRITES.contains(&&lower[..]) {
        Op::Write
    } else if has(b"readlink") || has(b"readdir") || has(b"readahead") {
        Op::Other
    } else if does(b"read") || matches!(&lower[..], b"recvfrom" | b"recvmsg") {
        Op::Read
    } else if has(b"seek") {
        Op::Seek
    } else if has(b"sync") || has(b"flush") {
        Op::Sync
    } else if has(b"open") || lower.starts_with(b"creat") {
        Op::Open
    } else if has(b"close") {
        Op::Close
    } else {
        Op::Other
    }
}

/// The words of a name such as `MPI_File_read_at`, `writeChunk` or `IOWrite`.
fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let begin = rest.iter().position(u8::is_ascii_alphanumeric)?;
        rest = &rest[begin..];
        let ends = |i: usize| {
            let (before, b, after) = (rest[i - 1], rest[i], rest.get(i + 1).copied().unwrap_or(b' '));
            let capital = b.is_ascii_uppercase();
            !b.is_ascii_alphanumeric()
                || capital && (before.is_ascii_lowercase() || before.is_ascii_uppercase() && after.is_ascii_lowercase())
        };
        let end = (1..rest.len()).find(|&i| ends(i)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// True if a word holds this verb, and not by chance.
fn says(word: &[u8], verb: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    let has = |part: &[u8]| memchr::memmem::find(&lower, part).is_some();
    has(verb) && !BY_CHANCE.iter().any(|w| has(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_layers() {
        for (op, names) in [
            (
                Op::Read,
                &["read", "READ", "pread64", "preadv2", "fread", "MPI_File_iread_at", "ADIO_ReadColl", "recvfrom"][..],
            ),
            (Op::Read, &["readBlock", "MainThread_read", "IORead", "readfile", "aio_read", "batchREAD"]),
            (Op::Write, &["write", "pwrite64", "fwrite", "MPI_File_write_all", "WriteStrided", "H5Dwrite", "sendto"]),
            (Op::Write, &["writeChunk", "fprintf", "vfprintf", "filewrite", "IOWrite"]),
            (Op::Open, &["open", "openat", "creat", "fopen64", "MPI_File_open"]),
            (Op::Close, &["close", "fclose"]),
            (Op::Seek, &["lseek", "seek", "fseek"]),
            (Op::Sync, &["fsync", "fdatasync", "fflush", "sync"]),
            (Op::Other, &["stat", "readlink", "mmap", "", "pthread_create", "\u{e9}"]),
            (
                Op::Other,
                &["OverwriteCheck", "sendTokensToMainThread", "threadReady", "DataReader", "snprintf", "SPREAD"],
            ),
        ] {
            for n in names {
                assert_eq!(op_of(n.as_bytes()), op, "{n}");
            }
        }
    }
}
