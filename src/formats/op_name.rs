//! The operation of a call, by its name.

use crate::record::Op;

/// Words that contain `read` by chance.
const WITH_READ: [&[u8]; 3] = [b"thread", b"ready", b"spread"];

/// The operation of a call such as `pwrite64`, `MPI_File_read_at_all`, `ADIOI_WriteStrided`, `fsync`, or of a plain `read`.
///
/// Names that say what the call does are taken at their word; [`Op::Other`] if they do not, and for calls that read no data
/// of a file (`readlink`, `readdir`).
pub(crate) fn op_of(name: &[u8]) -> Op {
    let lower = name.to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
    let starts = |words: &[&[u8]]| words.iter().any(|w| lower.starts_with(w));
    if has(b"write") || starts(&[b"sendto", b"sendmsg", b"sendfile", b"splice", b"copy_file_range"]) {
        Op::Write
    } else if has(b"readlink") || has(b"readdir") || has(b"readahead") || WITH_READ.iter().any(|w| has(w)) {
        Op::Other
    } else if has(b"read") || starts(&[b"recvfrom", b"recvmsg"]) {
        Op::Read
    } else if has(b"seek") {
        Op::Seek
    } else if has(b"sync") || has(b"flush") {
        Op::Sync
    } else if has(b"open") || starts(&[b"creat"]) {
        Op::Open
    } else if has(b"close") {
        Op::Close
    } else {
        Op::Other
    }
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
            (Op::Write, &["write", "pwrite64", "fwrite", "MPI_File_write_all", "WriteStrided", "H5Dwrite", "sendto"]),
            (Op::Open, &["open", "openat", "creat", "fopen64", "MPI_File_open"]),
            (Op::Close, &["close", "fclose"]),
            (Op::Seek, &["lseek", "seek", "fseek"]),
            (Op::Sync, &["fsync", "fdatasync", "fflush", "sync"]),
            (Op::Other, &["stat", "readlink", "mmap", "", "pthread_create", "\u{e9}"]),
        ] {
            for n in names {
                assert_eq!(op_of(n.as_bytes()), op, "{n}");
            }
        }
    }
}
