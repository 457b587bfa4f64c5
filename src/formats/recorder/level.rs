//! Levels of the I/O stack that a trace has side by side.

use crate::record::Layer;

/// A level of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Posix,
    Stdio,
    Mpiio,
    Mpi,
    Hdf5,
    Pnetcdf,
    Netcdf,
    /// Functions of the program.
    User,
}

/// All levels, in the order of their numbers.
pub(super) const LEVELS: [Level; 8] =
    [Level::Posix, Level::Stdio, Level::Mpiio, Level::Mpi, Level::Hdf5, Level::Pnetcdf, Level::Netcdf, Level::User];

/// C library calls on streams.
const STREAM_CALLS: [&str; 28] = [
    "fopen", "fopen64", "fdopen", "freopen", "fclose", "fread", "fwrite", "fseek", "fseeko", "fseeko64", "ftell",
    "ftello", "ftello64", "fflush", "fprintf", "vfprintf", "fputs", "fputc", "fgets", "fgetc", "rewind", "fgetpos",
    "fsetpos", "setbuf", "setvbuf", "tmpfile", "fscanf", "ungetc",
];

impl Level {
    /// That of a call.
    pub(super) fn of(name: &str) -> Level {
        match name {
            n if n.starts_with("MPI_File") => Level::Mpiio,
            n if n.starts_with("MPI") => Level::Mpi,
            n if n.starts_with("H5") => Level::Hdf5,
            n if n.starts_with("ncmpi") => Level::Pnetcdf,
            n if n.starts_with("nc_") => Level::Netcdf,
            n if STREAM_CALLS.contains(&n) => Level::Stdio,
            _ => Level::Posix,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Level::Posix => "posix",
            Level::Stdio => "stdio",
            Level::Mpiio => "mpiio",
            Level::Mpi => "mpi",
            Level::Hdf5 => "hdf5",
            Level::Pnetcdf => "pnetcdf",
            Level::Netcdf => "netcdf",
            Level::User => "user",
        }
    }

    /// True if calls of this level are wanted. POSIX and stdio calls of a program do not contain each other, so that both are taken
    /// if none is named; calls of MPI-IO are carried out by those of POSIX.
    pub(super) fn is_in(self, layer: Option<Layer>) -> bool {
        match layer {
            None => matches!(self, Level::Posix | Level::Stdio),
            Some(Layer::Posix) => self == Level::Posix,
            Some(Layer::Stdio) => self == Level::Stdio,
            Some(Layer::Mpiio) => self == Level::Mpiio,
        }
    }
}
