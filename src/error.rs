//! One error type for the whole crate: whose fault it is, where, what was found, what was expected, what to try.

use std::fmt;

use crate::remedy::Remedy;

/// The kind of an error, by whose fault it is; decides the exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused: no such file, no permission, a read that failed.
    Io,
    /// The content is not what its format prescribes.
    Malformed,
    /// The format, or this version of it, is not one that can be read.
    Unsupported,
    /// A bound against hostile or runaway input was hit.
    Limit,
    /// The trace is fine but holds nothing for this request.
    Empty,
    /// The request itself makes no sense.
    Usage,
    /// A result could not be written.
    Output,
}

/// A place in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Offset in bytes from the start of the (decompressed) input.
    Byte(u64),
    /// Line number, from 1.
    Line(u64),
    /// Record number, from 0.
    Record(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Byte(b) => write!(f, "byte {b}"),
            Place::Line(l) => write!(f, "line {l}"),
            Place::Record(r) => write!(f, "record {r}"),
        }
    }
}

/// An error that a person can act on. Displays as one line:
/// `PATH: PLACE: FOUND; expected EXPECTED; REMEDY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    path: Option<String>,
    place: Option<Place>,
    found: String,
    expected: Option<String>,
    remedy: Option<Remedy>,
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of this kind; `found` says what is wrong, in words that fit after a colon.
    pub fn new(kind: ErrorKind, found: impl Into<String>) -> Self {
        Error {
            inner: Box::new(Inner { kind, path: None, place: None, found: found.into(), expected: None, remedy: None }),
        }
    }

    /// [`ErrorKind::Malformed`] at a place.
    pub fn malformed(place: Place, found: impl Into<String>) -> Self {
        Error::new(ErrorKind::Malformed, found).at(place)
    }

    /// [`ErrorKind::Limit`]: `found` names the quantity and its size, `cap` the bound.
    pub(crate) fn limit(found: impl Into<String>, cap: impl fmt::Display) -> Self {
        Error::new(ErrorKind::Limit, found).expected(format!("at most {cap}"))
    }

    /// [`ErrorKind::Limit`]: there are more rows than `most`.
    pub(crate) fn too_many_rows(most: usize) -> Self {
        Error::limit("the trace has more rows", format!("{most} rows")).remedy(Remedy::AllowMemory)
    }

    /// [`ErrorKind::Limit`]: there are more pairs of rank and file than `most`.
    pub(crate) fn too_many_streams(most: usize) -> Self {
        Error::limit("the trace has more pairs of rank and file", format!("{most} pairs")).remedy(Remedy::AllowMemory)
    }

    /// Names the input, unless it is named already.
    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.inner.path.get_or_insert_with(|| path.into());
        self
    }

    /// Names the place, unless it is named already.
    pub fn at(mut self, place: Place) -> Self {
        self.inner.place.get_or_insert(place);
        self
    }

    /// Says what was expected instead.
    pub fn expected(mut self, what: impl Into<String>) -> Self {
        self.inner.expected = Some(what.into());
        self
    }

    /// Says what to try.
    pub fn remedy(mut self, what: impl Into<Remedy>) -> Self {
        self.inner.remedy = Some(what.into());
        self
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// The next thing to try, if known.
    pub fn suggestion(&self) -> Option<&Remedy> {
        self.inner.remedy.as_ref()
    }

    /// Where in the input, if known.
    pub fn place(&self) -> Option<Place> {
        self.inner.place
    }

    /// The input, if it is named.
    pub fn path(&self) -> Option<&str> {
        self.inner.path.as_deref()
    }

    /// The fault itself.
    pub fn found(&self) -> &str {
        &self.inner.found
    }

    /// The content expected in its place, if known.
    pub fn expectation(&self) -> Option<&str> {
        self.inner.expected.as_deref()
    }

    /// Exit code of the program for this error: 2 usage, 3 unreadable input, 4 nothing to analyse, 5 output.
    pub fn exit_code(&self) -> u8 {
        match self.inner.kind {
            ErrorKind::Usage => 2,
            ErrorKind::Io | ErrorKind::Malformed | ErrorKind::Unsupported | ErrorKind::Limit => 3,
            ErrorKind::Empty => 4,
            ErrorKind::Output => 5,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.inner;
        if let Some(p) = &e.path {
            write!(f, "{p}: ")?;
        }
        if let Some(p) = &e.place {
            write!(f, "{p}: ")?;
        }
        f.write_str(&e.found)?;
        if let Some(x) = &e.expected {
            write!(f, "; expected {x}")?;
        }
        if let Some(x) = &e.remedy {
            write!(f, "; {x}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// True if the error means that the data is damaged or cut, rather than that the system could not read it.
pub(crate) fn is_damage(e: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    matches!(e.kind(), UnexpectedEof | InvalidData | InvalidInput | Other)
}

/// The [`Error`] that a reader has passed on, else [`ErrorKind::Malformed`] for damaged data and [`ErrorKind::Io`].
impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        e.downcast().unwrap_or_else(|e| {
            let kind = if is_damage(&e) { ErrorKind::Malformed } else { ErrorKind::Io };
            Error::new(kind, e.to_string())
        })
    }
}
