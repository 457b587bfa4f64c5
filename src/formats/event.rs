//! An event of a trace in JSON, as Chrome, PyTorch, TAU and DFTracer write it: an object whose member `args` is an object, too. Values may be
//! numbers or the same in quotes.

use super::json::Scan;

/// The members of an event that are of use, as they are written, without quotes; empty if missing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event<'l, A = &'l [u8]> {
    pub name: &'l [u8],
    pub category: &'l [u8],
    pub phase: &'l [u8],
    pub pid: &'l [u8],
    pub tid: &'l [u8],
    /// Of asynchronous events: a number, a text, or an object.
    pub id: &'l [u8],
    pub ts: &'l [u8],
    pub dur: &'l [u8],
    /// Number returned, path, and number of the event, as TAU writes them beside `args`.
    pub returned: &'l [u8],
    pub path: &'l [u8],
    pub step: &'l [u8],
    pub args: A,
}

/// A value made of the member `args`.
pub(super) trait Args<'l>: Default {
    /// Reads the value that comes next.
    ///
    /// # Errors
    /// The place of what is no JSON.
    fn read(&mut self, scan: &mut Scan<'l>) -> Result<(), usize>;
}

/// As it is written: of most events no argument is of use.
impl<'l> Args<'l> for &'l [u8] {
    #[inline]
    fn read(&mut self, scan: &mut Scan<'l>) -> Result<(), usize> {
        scan.value().map(|value| *self = value)
    }
}

impl<'l, A: Args<'l>> Event<'l, A> {
    /// Parses the object that `text` begins with, and gives its length. An error is the place of what is no JSON: the length of the
    /// text if it ends too early.
    #[inline]
    pub(super) fn parse(text: &'l [u8]) -> Result<(Self, usize), usize> {
        let (mut event, mut scan) = (Self::default(), Scan::new(text));
        event.read(&mut scan)?;
        Ok((event, scan.at()))
    }

    /// The members before the end of a text that is cut.
    pub(super) fn beginning(text: &'l [u8]) -> Self {
        let mut event = Self::default();
        let _ = event.read(&mut Scan::new(text));
        event
    }

    #[inline]
    fn read(&mut self, scan: &mut Scan<'l>) -> Result<(), usize> {
        scan.members(|scan, key| {
            if key == b"args" {
                return self.args.read(scan);
            }
            let value = scan.value()?;
            match key {
                b"name" => self.name = value,
                b"cat" => self.category = value,
                b"ph" => self.phase = value,
                b"pid" => self.pid = value,
                b"tid" => self.tid = value,
                b"id" | b"id2" => self.id = value,
                b"ts" => self.ts = value,
                b"dur" => self.dur = value,
                b"return" => self.returned = value,
                b"pathname" => self.path = value,
                b"step" => self.step = value,
                _ => {}
            }
            Ok(())
        })
    }
}
