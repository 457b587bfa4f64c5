//! A call by its signature: name and arguments.

use std::collections::HashMap;

use super::level::Level;
use crate::formats::number::parse_u64;
use crate::formats::op_name::op_of;
use crate::record::{CallId, Calls, FileId, Files, Op};

/// Flag of `open` and bit of the mode of `MPI_File_open`: writes go to the end of the file.
const O_APPEND: u64 = 1024;
const MPI_MODE_APPEND: u64 = 128;

/// The object of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Target {
    None,
    File(FileId),
    /// A file of MPI, by the number of its handle.
    Handle(u32),
}

/// An offset as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offset {
    /// Not in the arguments.
    None,
    At(i64),
    /// This much for each rank, and this much more.
    PerRank(i64, i64),
}

/// Where an offset counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whence {
    Start,
    Position,
    Unknown,
}

/// The effect of a call on the position in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    /// Opens; `append`: writes go to the end.
    Open {
        append: bool,
    },
    /// Opens a file of MPI with this name.
    OpenHandle {
        file: FileId,
        append: bool,
    },
    Close,
    Seek(Whence),
    /// Moves bytes at the position and advances it.
    Advance,
    /// MPI: offsets count from the offset of the call, in units of this many bytes, if these follow each other.
    View {
        unit: Option<u64>,
    },
}

/// A call with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signature {
    pub call: CallId,
    pub level: Level,
    pub op: Op,
    pub effect: Effect,
    pub target: Target,
    pub offset: Offset,
    /// The offset is stored as the difference to that of the call of this name before, if the trace has such differences.
    pub differs: bool,
    /// Bytes that the call asked to move; `None` if that is not known.
    pub size: Option<u64>,
    /// Thread.
    pub task: u32,
}

/// Names of all calls and files, and numbers of the handles of MPI.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub files: Files,
    pub calls: Calls,
    handles: HashMap<Box<[u8]>, u32>,
    shapes: HashMap<Box<str>, Shape>,
    /// The files of the descriptors that arguments name in place of files, if they do.
    pub descriptors: Option<HashMap<i32, FileId>>,
}

/// Where the bytes of a call are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bytes {
    None,
    /// An argument.
    Arg(usize),
    /// The product of two arguments.
    Product(usize, usize),
    /// An argument times the size of the MPI type in the next one.
    Typed(usize),
}

/// The shape of a call by its name.
#[derive(Debug, Clone, Copy)]
struct Shape {
    level: Level,
    op: Op,
    verb: Verb,
    /// The argument with the file.
    file: usize,
    bytes: Bytes,
    /// The argument with the offset.
    offset: Option<usize>,
    differs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Other,
    Open,
    Stream,
    Close,
    Seek,
    Advance,
    View,
}

impl Shape {
    fn of(name: &str) -> Shape {
        let level = Level::of(name);
        let (op, verb, file, bytes, offset) = match level {
            Level::Mpiio => mpi_shape(name),
            Level::Posix | Level::Stdio => c_shape(name),
            _ => (Op::Other, Verb::Other, 0, Bytes::None, None),
        };
        let differs = matches!(
            name,
            "lseek"
                | "lseek64"
                | "pwrite"
                | "pwrite64"
                | "MPI_File_set_view"
                | "MPI_File_read_at"
                | "MPI_File_read_at_all"
                | "MPI_File_write_at"
                | "MPI_File_write_at_all"
        );
        Shape { level, op, verb, file, bytes, offset, differs }
    }
}

type Columns = (Op, Verb, usize, Bytes, Option<usize>);

fn c_shape(name: &str) -> Columns {
    match name {
        "read" | "write" => (op_of(name.as_bytes()), Verb::Advance, 0, Bytes::Arg(2), None),
        "readv" | "writev" => (op_of(name.as_bytes()), Verb::Advance, 0, Bytes::Arg(1), None),
        "pread" | "pread64" | "pwrite" | "pwrite64" => (op_of(name.as_bytes()), Verb::Other, 0, Bytes::Arg(2), Some(3)),
        "fread" | "fwrite" => (op_of(name.as_bytes()), Verb::Advance, 3, Bytes::Product(0, 1), None),
        "fprintf" | "vfprintf" => (Op::Write, Verb::Advance, 0, Bytes::Arg(1), None),
        "lseek" | "lseek64" | "fseek" | "fseeko" | "fseeko64" => (Op::Seek, Verb::Seek, 0, Bytes::None, Some(1)),
        "fopen" | "fopen64" | "freopen" => (Op::Open, Verb::Stream, 0, Bytes::None, None),
        "open" | "open64" | "creat" | "creat64" => (Op::Open, Verb::Open, 0, Bytes::None, None),
        "close" | "fclose" => (Op::Close, Verb::Close, 0, Bytes::None, None),
        "fsync" | "fdatasync" | "fflush" | "msync" => (Op::Sync, Verb::Other, 0, Bytes::None, None),
        _ => (Op::Other, Verb::Other, 0, Bytes::None, None),
    }
}

fn mpi_shape(name: &str) -> Columns {
    let rest = name.strip_prefix("MPI_File_").unwrap_or_default();
    let rest = rest.strip_suffix("_c").unwrap_or(rest);
    let (op, form) = match rest.strip_prefix('i').unwrap_or(rest) {
        r if r.starts_with("read") => (Op::Read, &r[4..]),
        r if r.starts_with("write") => (Op::Write, &r[5..]),
        _ => {
            return match rest {
                "open" => (Op::Open, Verb::Open, 1, Bytes::None, None),
                "close" => (Op::Close, Verb::Close, 0, Bytes::None, None),
                "sync" => (Op::Sync, Verb::Other, 0, Bytes::None, None),
                "seek" => (Op::Seek, Verb::Seek, 0, Bytes::None, Some(1)),
                "set_view" => (Op::Other, Verb::View, 0, Bytes::None, Some(1)),
                _ => (Op::Other, Verb::Other, 0, Bytes::None, None),
            };
        }
    };
    match form.strip_suffix("_begin").unwrap_or(form) {
        "" | "_all" => (op, Verb::Advance, 0, Bytes::Typed(2), None),
        "_shared" | "_ordered" => (op, Verb::Other, 0, Bytes::Typed(2), None),
        "_at" | "_at_all" => (op, Verb::Other, 0, Bytes::Typed(3), Some(1)),
        // the end of a transfer that has been counted
        _ => (Op::Other, Verb::Other, 0, Bytes::None, None),
    }
}

impl Names {
    /// The signature of a call. Its arguments are separated by blanks.
    pub(super) fn signature(&mut self, name: &str, args: &[&[u8]], task: u32) -> Signature {
        let shape = match self.shapes.get(name) {
            Some(known) => *known,
            None => *self.shapes.entry(name.into()).or_insert(Shape::of(name)),
        };
        let arg = |i: usize| args.get(i).copied().unwrap_or_default();
        let target = match (shape.level, shape.verb) {
            (Level::Mpiio, Verb::Open) => self.handle(args.last().copied().unwrap_or_default()),
            (Level::Mpiio, _) => self.handle(arg(shape.file)),
            (Level::Posix | Level::Stdio, Verb::Open | Verb::Stream) => self.file(arg(shape.file)),
            (Level::Posix | Level::Stdio, _) => self.open_file(arg(shape.file)),
            _ => Target::None,
        };
        let effect = match shape.verb {
            Verb::Other => Effect::None,
            Verb::Close => Effect::Close,
            Verb::Advance => Effect::Advance,
            Verb::Seek => Effect::Seek(whence(arg(2))),
            Verb::Stream => Effect::Open { append: arg(1).starts_with(b"a") },
            Verb::View => Effect::View { unit: type_size(arg(2)).filter(|_| arg(2) == arg(3)) },
            Verb::Open if shape.level == Level::Mpiio => {
                let append = parse_u64(arg(2)).is_some_and(|mode| mode & MPI_MODE_APPEND != 0);
                let file = self.file(arg(shape.file));
                let file = if let Target::File(file) = file { file } else { FileId::NONE };
                Effect::OpenHandle { file, append }
            }
            Verb::Open => Effect::Open { append: parse_u64(arg(1)).is_some_and(|flags| flags & O_APPEND != 0) },
        };
        let size = match shape.bytes {
            Bytes::None => Some(0),
            Bytes::Arg(i) => parse_u64(arg(i)),
            // of `fread` and `fwrite` the data come first
            Bytes::Product(..) if args.len() < 4 => None,
            Bytes::Product(a, b) => {
                parse_u64(arg(a + 1)).zip(parse_u64(arg(b + 1))).and_then(|(size, n)| size.checked_mul(n))
            }
            Bytes::Typed(i) => parse_u64(arg(i)).zip(type_size(arg(i + 1))).and_then(|(n, size)| n.checked_mul(size)),
        };
        Signature {
            call: self.calls.intern(name),
            level: shape.level,
            op: shape.op,
            effect,
            target,
            offset: shape.offset.map_or(Offset::None, |i| Offset::parse(arg(i))),
            differs: shape.differs,
            size,
            task,
        }
    }

    /// The signature of a function of the program, whatever its name.
    pub(super) fn user_function(&mut self, name: &str, task: u32) -> Signature {
        Signature {
            call: self.calls.intern(name),
            level: Level::User,
            op: Op::Other,
            effect: Effect::None,
            target: Target::None,
            offset: Offset::None,
            differs: false,
            size: Some(0),
            task,
        }
    }

    fn file(&mut self, path: &[u8]) -> Target {
        match path {
            b"" | b"???" | b"%p" => Target::None,
            path => Target::File(self.files.intern(&String::from_utf8_lossy(path))),
        }
    }

    /// A file that a call opened before.
    fn open_file(&mut self, arg: &[u8]) -> Target {
        let number = || std::str::from_utf8(arg).ok().and_then(|a| a.parse::<i32>().ok());
        match self.descriptors.as_ref().and_then(|open| Some(open.get(&number()?))) {
            Some(file) => file.map_or(Target::None, |f| Target::File(*f)),
            None => self.file(arg),
        }
    }

    fn handle(&mut self, id: &[u8]) -> Target {
        if let Some(known) = self.handles.get(id) {
            return Target::Handle(*known);
        }
        let next = self.handles.len() as u32;
        self.handles.insert(id.into(), next);
        Target::Handle(next)
    }
}

impl Offset {
    /// A number, or `a*r+b`.
    fn parse(text: &[u8]) -> Offset {
        let whole = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|t| t.parse::<i64>().ok());
        if let Some(n) = whole(text) {
            return Offset::At(n);
        }
        let at = memchr::memmem::find(text, b"*r+");
        at.and_then(|at| Some(Offset::PerRank(whole(&text[..at])?, whole(&text[at + 3..])?))).unwrap_or(Offset::None)
    }
}

/// C and MPI number the three places, and the tracer may write their names.
fn whence(text: &[u8]) -> Whence {
    match text {
        b"0" | b"600" | b"SEEK_SET" | b"MPI_SEEK_SET" => Whence::Start,
        b"1" | b"602" | b"SEEK_CUR" | b"MPI_SEEK_CUR" => Whence::Position,
        _ => Whence::Unknown,
    }
}

/// Bytes of an MPI type; `None` for derived ones.
fn type_size(name: &[u8]) -> Option<u64> {
    let name = name.strip_prefix(b"MPI_").unwrap_or(name);
    let name = name.strip_suffix(b"_T").unwrap_or(name);
    Some(match name {
        b"BYTE" | b"CHAR" | b"PACKED" | b"SIGNED_CHAR" | b"UNSIGNED_CHAR" | b"INT8" | b"UINT8" | b"C_BOOL" => 1,
        b"SHORT" | b"UNSIGNED_SHORT" | b"INT16" | b"UINT16" => 2,
        b"INT" | b"UNSIGNED" | b"FLOAT" | b"INT32" | b"UINT32" | b"INTEGER" | b"REAL" => 4,
        b"LONG"
        | b"UNSIGNED_LONG"
        | b"LONG_LONG"
        | b"LONG_LONG_INT"
        | b"UNSIGNED_LONG_LONG"
        | b"DOUBLE"
        | b"INT64"
        | b"UINT64"
        | b"OFFSET"
        | b"AINT"
        | b"DOUBLE_PRECISION"
        | b"COMPLEX" => 8,
        b"LONG_DOUBLE" | b"DOUBLE_COMPLEX" => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(line: &str) -> (Names, Signature) {
        let mut names = Names::default();
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let s = names.signature(line.split(' ').next().unwrap(), &words[1..], 0);
        (names, s)
    }

    #[test]
    fn bytes_and_offsets_of_every_kind_of_transfer() {
        let at = Offset::At;
        for (line, op, level, size, offset) in [
            ("read /f %p 4096", Op::Read, Level::Posix, Some(4096), Offset::None),
            ("writev /f 70 3", Op::Write, Level::Posix, Some(70), Offset::None),
            ("pwrite64 /f %p 5 9", Op::Write, Level::Posix, Some(5), at(9)),
            ("pread /f %p 5 -65536*r+0", Op::Read, Level::Posix, Some(5), Offset::PerRank(-65536, 0)),
            ("pread /f %p 5 5*r+-3", Op::Read, Level::Posix, Some(5), Offset::PerRank(5, -3)),
            ("fread %p 8 3 /f", Op::Read, Level::Stdio, Some(24), Offset::None),
            ("fwrite %p 18446744073709551615 2 /f", Op::Write, Level::Stdio, None, Offset::None),
            ("fprintf /f 12", Op::Write, Level::Stdio, Some(12), Offset::None),
            ("MPI_File_write_at_all 0-0 16 %p 3 MPI_DOUBLE s", Op::Write, Level::Mpiio, Some(24), at(16)),
            ("MPI_File_iread_at 0-0 16 %p 3 MPI_INT s", Op::Read, Level::Mpiio, Some(12), at(16)),
            ("MPI_File_read_at_all_begin 0-0 16 %p 3 MPI_INT", Op::Read, Level::Mpiio, Some(12), at(16)),
            ("MPI_File_write_ordered 0-0 %p 3 MPI_INT8_T s", Op::Write, Level::Mpiio, Some(3), Offset::None),
            ("MPI_File_iwrite_all 0-0 %p 3 MPI_TYPE_UNKNOWN r", Op::Write, Level::Mpiio, None, Offset::None),
            ("MPI_File_write_all_end 0-0 %p s", Op::Other, Level::Mpiio, Some(0), Offset::None),
            ("lseek /f 5 0", Op::Seek, Level::Posix, Some(0), at(5)),
            ("H5Dwrite 1 2 3", Op::Other, Level::Hdf5, Some(0), Offset::None),
        ] {
            let (_, s) = signature(line);
            assert_eq!((s.op, s.level, s.size, s.offset), (op, level, size, offset), "{line}");
        }
    }

    #[test]
    fn files_and_handles() {
        let (names, s) = signature("fwrite %p 1 1 /a/b");
        let Target::File(file) = s.target else { panic!("{s:?}") };
        assert_eq!(names.files.name(file), "/a/b");
        let (names, s) = signature("MPI_File_open MPI_COMM_WORLD /m 137 %p 0-3");
        let Effect::OpenHandle { file, append } = s.effect else { panic!("{s:?}") };
        assert_eq!((names.files.name(file), append, s.target), ("/m", true, Target::Handle(0)));
        assert_eq!(signature("open /f 1025 420").1.effect, Effect::Open { append: true });
        assert_eq!(signature("fopen /f w").1.effect, Effect::Open { append: false });
        let view = |line: &str| signature(line).1.effect;
        assert_eq!(view("MPI_File_set_view 0-0 8 MPI_INT MPI_INT native %p"), Effect::View { unit: Some(4) });
        assert_eq!(view("MPI_File_set_view 0-0 8 MPI_INT MPI_TYPE_UNKNOWN native %p"), Effect::View { unit: None });
    }
}
