//! Calls to rows: which file, which offset, how many bytes.

use std::collections::BTreeSet;

use memchr::memmem;

use super::batches::RowBuffer;
use super::calls::{self, Action, OffsetSource};
use super::descriptors::{Descriptors, OpenId, Sizes};
use super::path;
use super::stream::{CallEvent, Sink};
use super::text::{self, Outcome};
use crate::error::Result;
use crate::formats::op_name::op_of;
use crate::formats::options::Detail;
use crate::record::{CallId, Calls, FileId, Files, Lookups, Op, Request, UNKNOWN_OFFSET};

/// Longest command line kept, in bytes.
const MAX_COMMAND: usize = 4096;

/// Follows the calls of one file and makes rows of them, with names of its own.
pub(super) struct RowMaker<'s> {
    detail: Detail,
    /// The rows.
    pub(super) rows: RowBuffer<'s>,
    /// File names.
    pub(super) files: Files,
    /// Call names.
    pub(super) calls: Calls,
    /// How often each call occurs, by its number in `calls`.
    pub(super) counts: Vec<u64>,
    /// Transfers that succeeded.
    pub(super) transfers: u64,
    /// Transfers that failed, were interrupted or never returned.
    pub(super) failed: u64,
    /// Transfers whose file is not known.
    pub(super) nameless: u64,
    /// Files that were appended to at an offset worked out from this file of the trace alone.
    pub(super) appended: BTreeSet<FileId>,
    /// Files that were written to, by their numbers.
    pub(super) written: Vec<bool>,
    /// Calls that look up a path.
    pub(super) lookups: Lookups,
    /// Mappings of data files into memory, and the first such file.
    pub(super) mapped: Option<(u64, FileId)>,
    /// Requests that `io_submit` began.
    pub(super) submitted: u64,
    /// Their bytes, as far as they are printed.
    pub(super) submitted_bytes: u64,
    /// Requests that it began and does not print.
    pub(super) unprinted: u64,
    /// Requests given to io_uring, which no line shows; `None` if it is not used.
    pub(super) ring: Option<u64>,
    /// Command line of the first program.
    pub(super) command: Option<String>,
    /// Numbers in `calls` of the calls known to [`calls`].
    ids: Vec<CallId>,
    descriptors: Descriptors,
    sizes: Sizes,
}

/// Where a transfer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Position,
    At(u64),
    Nowhere,
}

impl<'s> RowMaker<'s> {
    pub(super) fn new(detail: Detail, rows: RowBuffer<'s>) -> Self {
        RowMaker {
            detail,
            rows,
            files: Files::default(),
            calls: Calls::default(),
            counts: Vec::new(),
            transfers: 0,
            failed: 0,
            nameless: 0,
            appended: BTreeSet::new(),
            written: Vec::new(),
            lookups: Lookups::default(),
            mapped: None,
            submitted: 0,
            submitted_bytes: 0,
            unprinted: 0,
            ring: None,
            command: None,
            ids: vec![CallId::NONE; calls::known()],
            descriptors: Descriptors::default(),
            sizes: Sizes::default(),
        }
    }

    /// Counts the call and gives the number of its name.
    fn count(&mut self, e: &CallEvent<'_>) -> CallId {
        let id = match self.ids.get(e.call.known as usize) {
            Some(&id) if id != CallId::NONE => id,
            known => {
                let first = known.is_some();
                let id = self.calls.intern(std::str::from_utf8(e.call.name.of(e.text)).unwrap_or_default());
                if first {
                    self.ids[e.call.known as usize] = id;
                }
                id
            }
        };
        if id != CallId::NONE {
            let i = id.0 as usize;
            if i >= self.counts.len() {
                self.counts.resize(i + 1, 0);
            }
            self.counts[i] += 1;
        }
        id
    }

    fn push(&mut self, e: &CallEvent<'_>, call: CallId, op: Op, file: FileId, offset: u64, size: u64) -> Result<()> {
        let row = Request { call, op, file, offset, size, ..Request::default() };
        self.rows.push(e, row, &self.files, &self.calls)
    }

    /// Gives the rows that are left to their sink.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.rows.finish(&self.files, &self.calls)
    }

    /// The number of a name, from its annotation.
    fn annotated(&mut self, raw: &[u8]) -> FileId {
        path::annotated(raw).map_or(FileId::NONE, |name| self.files.intern(&name))
    }

    /// The open file of a descriptor; one of unknown position if it was opened out of sight.
    fn resolve(&mut self, pid: u32, fd: i32, annotation: &[u8]) -> OpenId {
        if let Some(open) = self.descriptors.find(pid, fd) {
            let file = self.descriptors.open_file(open).file;
            if annotation.is_empty() {
                return open;
            }
            if file == FileId::NONE {
                self.descriptors.open_file(open).file = self.annotated(annotation);
                return open;
            }
            let name = self.files.name(file);
            if name.as_bytes() == annotation || path::annotated(annotation).is_some_and(|a| a == name) {
                return open;
            }
        }
        let file = match (annotation, fd) {
            ([], 0) => self.files.intern("<STDIN>"),
            ([], 1) => self.files.intern("<STDOUT>"),
            ([], 2) => self.files.intern("<STDERR>"),
            ([], _) => FileId::NONE,
            _ => self.annotated(annotation),
        };
        self.descriptors.insert(pid, fd, file, UNKNOWN_OFFSET, false, false)
    }

    /// The descriptor in the first argument.
    fn first(&mut self, e: &CallEvent<'_>) -> Option<OpenId> {
        let c = e.call;
        let annotation = if c.annotates_first { c.annotation.of(e.text) } else { &[] };
        (c.fd >= 0).then(|| self.resolve(e.pid, c.fd, annotation))
    }

    /// The folder of the descriptor in the first argument, where a path is relative to it and the line does not name it.
    fn folder(&mut self, e: &CallEvent<'_>) -> Option<String> {
        if e.call.fd < 0 || e.call.annotates_first || !e.call.spec().is_some_and(|s| s.path) {
            return None;
        }
        let open = self.descriptors.find(e.pid, e.call.fd)?;
        let file = self.descriptors.open_file(open).file;
        Some(self.files.name(file).to_owned()).filter(|n| !n.is_empty())
    }

    /// The file of a call: what the line says, else what its descriptor is known to be.
    fn file_of(&mut self, e: &CallEvent<'_>) -> FileId {
        let folder = self.folder(e);
        if let Some(name) = path::of_call(e.text, e.call, folder.as_deref()) {
            return self.files.intern(&name);
        }
        if e.call.fd >= 0 && e.call.spec().is_some_and(|s| s.takes_descriptor()) {
            if let Some(open) = self.descriptors.find(e.pid, e.call.fd) {
                return self.descriptors.open_file(open).file;
            }
            if e.call.succeeded() && e.call.fd <= 2 {
                let open = self.resolve(e.pid, e.call.fd, &[]);
                return self.descriptors.open_file(open).file;
            }
        }
        FileId::NONE
    }

    /// Moves `n` bytes at the open file; gives the offset.
    fn advance(&mut self, open: OpenId, op: Op, target: Target, n: u64) -> u64 {
        let f = self.descriptors.open_file(open);
        let appends = f.append && op == Op::Write;
        let offset = match target {
            Target::Nowhere => return UNKNOWN_OFFSET,
            // Linux appends whatever the offset of a pwrite is.
            _ if appends => self.sizes.get(f.file),
            Target::Position => f.position,
            Target::At(offset) => offset,
        };
        let end = offset.checked_add(n).unwrap_or(UNKNOWN_OFFSET);
        if target == Target::Position {
            f.position = end;
        }
        if op == Op::Write && f.file != FileId::NONE {
            let i = f.file.0 as usize;
            if i >= self.written.len() {
                self.written.resize(i + 1, false);
            }
            self.written[i] = true;
            if end == UNKNOWN_OFFSET && n > 0 {
                self.sizes.set(f.file, UNKNOWN_OFFSET);
            } else {
                self.sizes.written(f.file, end);
            }
            if appends && offset != UNKNOWN_OFFSET {
                self.appended.insert(f.file);
            }
        }
        offset
    }

    fn transfer(&mut self, e: &CallEvent<'_>, call: CallId, op: Op, place: OffsetSource) -> Result<()> {
        let Some(n) = e.call.bytes() else { return self.left_out(e, call) };
        let target = match place {
            OffsetSource::Position => Target::Position,
            OffsetSource::Nowhere => Target::Nowhere,
            OffsetSource::Last => explicit(e.call.last_arg(e.text)),
            OffsetSource::LastButOne => match e.call.last_arg_but_one(e.text) {
                b"-1" => Target::Position,
                x => explicit(x),
            },
        };
        let (file, offset) = match self.first(e) {
            Some(open) => {
                let offset = self.advance(open, op, target, n);
                (self.descriptors.open_file(open).file, offset)
            }
            None => (FileId::NONE, UNKNOWN_OFFSET),
        };
        self.transfers += 1;
        self.nameless += u64::from(file == FileId::NONE);
        self.push(e, call, op, file, offset, n)
    }

    /// A transfer that moved nothing.
    fn left_out(&mut self, e: &CallEvent<'_>, call: CallId) -> Result<()> {
        self.failed += 1;
        if !self.detail.all_calls() {
            return Ok(());
        }
        let file = self.file_of(e);
        self.push(e, call, Op::Other, file, UNKNOWN_OFFSET, 0)
    }

    /// A transfer between two descriptors: a read and a write. In a log, where every call is one row, it is that of the first
    /// descriptor.
    fn copy(&mut self, e: &CallEvent<'_>, call: CallId, sends: bool) -> Result<()> {
        let Some(n) = e.call.bytes() else { return self.left_out(e, call) };
        let args: Vec<&[u8]> = text::split_args(e.call.args.of(e.text)).take(6).collect();
        let arg = |i: usize| args.get(i).copied().unwrap_or_default();
        // sendfile(out, in, offset of in, count); the others (in, its offset, out, its offset, ...).
        let (read, write) =
            if sends { ((arg(1), arg(2)), (arg(0), &b"NULL"[..])) } else { ((arg(0), arg(1)), (arg(2), arg(3))) };
        let mut rows = [(Op::Read, FileId::NONE, UNKNOWN_OFFSET), (Op::Write, FileId::NONE, UNKNOWN_OFFSET)];
        for (row, (fd, offset)) in rows.iter_mut().zip([read, write]) {
            let Some((fd, annotation)) = text::descriptor(fd) else { continue };
            let target = match offset {
                b"NULL" => Target::Position,
                x => explicit(x.strip_prefix(b"[").unwrap_or_default()),
            };
            let open = self.resolve(e.pid, fd, annotation);
            row.2 = self.advance(open, row.0, target, n);
            row.1 = self.descriptors.open_file(open).file;
        }
        let first = if sends { 1 } else { 0 };
        for (i, (op, file, offset)) in rows.into_iter().enumerate() {
            if self.detail != Detail::Log || i == first {
                self.transfers += 1;
                self.nameless += u64::from(file == FileId::NONE);
                self.push(e, call, op, file, offset, n)?;
            }
        }
        Ok(())
    }

    /// The transfers that `io_submit` began, each a row that lasts as long as the call. In a log, where every call is one row, it is
    /// that of the first with the bytes of all.
    fn submit(&mut self, e: &CallEvent<'_>, call: CallId) -> Result<()> {
        let begun = match e.call.outcome {
            Outcome::Number(n) => u64::try_from(n).ok(),
            _ => None,
        };
        let Some(begun) = begun else { return self.left_out(e, call) };
        let list = text::split_args(e.call.args.of(e.text)).nth(2).unwrap_or_default();
        let list = list.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]")).unwrap_or_default();
        let mut printed = 0;
        let mut first: Option<(Op, FileId, u64, u64)> = None;
        for request in
            text::split_members(list).take(usize::try_from(begun).unwrap_or(usize::MAX)).map_while(Submitted::of)
        {
            printed += 1;
            let Some(op) = request.op else { continue };
            let (file, offset) = match request.descriptor {
                Some((fd, annotation)) => {
                    let open = self.resolve(e.pid, fd, annotation);
                    let offset = self.advance(open, op, Target::At(request.offset), request.size);
                    (self.descriptors.open_file(open).file, offset)
                }
                None => (FileId::NONE, UNKNOWN_OFFSET),
            };
            self.transfers += 1;
            self.submitted_bytes = self.submitted_bytes.saturating_add(request.size);
            self.nameless += u64::from(file == FileId::NONE);
            match &mut first {
                _ if self.detail != Detail::Log => self.push(e, call, op, file, offset, request.size)?,
                None => first = Some((op, file, offset, request.size)),
                Some((.., size)) => *size = size.saturating_add(request.size),
            }
        }
        self.submitted += begun;
        self.unprinted += begun - printed.min(begun);
        match first {
            Some((op, file, offset, size)) => self.push(e, call, op, file, offset, size),
            None if self.detail == Detail::Log => self.push(e, call, Op::Other, FileId::NONE, UNKNOWN_OFFSET, 0),
            None => Ok(()),
        }
    }

    /// Counts a call that looks up a path.
    fn look_up(&mut self, e: &CallEvent<'_>) {
        let found_nothing = e.call.errno.of(e.text) == b"ENOENT";
        let path = found_nothing.then(|| path::of_call(e.text, e.call, None)).flatten();
        let folder = path.as_deref().and_then(|p| Some(p.rsplit_once('/')?.0));
        let duration_s = e.call.duration.max(0) as f64 / 1e9;
        self.lookups.add(e.start.div_euclid(1_000_000_000), found_nothing.then_some((duration_s, folder)));
    }

    /// Follows what a successful call does to descriptors.
    fn follow(&mut self, e: &CallEvent<'_>, action: Action) {
        let c = e.call;
        let args = c.args.of(e.text);
        let has = |word: &str| memmem::find(args, word.as_bytes()).is_some();
        let number = match c.outcome {
            Outcome::Number(n) => i32::try_from(n).ok().filter(|&n| n >= 0),
            _ => None,
        };
        match action {
            Action::Open | Action::Create => {
                let Some(fd) = number else { return };
                let flags = c.after_string(e.text);
                let has = |word: &str| memmem::find(flags, word.as_bytes()).is_some();
                let file = self.file_of(e);
                if action == Action::Create || has("O_TRUNC") || (has("O_CREAT") && has("O_EXCL")) {
                    self.sizes.set(file, 0);
                }
                self.descriptors.insert(e.pid, fd, file, 0, has("O_APPEND"), has("O_CLOEXEC"));
            }
            Action::Make(kind) => {
                let Some(fd) = number else { return };
                if c.spec().is_some_and(|s| s.name == "io_uring_setup") {
                    self.ring.get_or_insert(0);
                }
                let annotation = c.result_annotation.of(e.text);
                let file = self.annotated(if annotation.is_empty() { kind.as_bytes() } else { annotation });
                self.descriptors.insert(e.pid, fd, file, UNKNOWN_OFFSET, false, has("CLOEXEC"));
            }
            Action::Ring => *self.ring.get_or_insert(0) += number.map_or(0, |n| u64::from(n.unsigned_abs())),
            Action::MakePair(i, kind) => {
                let list = text::split_args(args).nth(i).unwrap_or_default();
                for (fd, annotation) in text::descriptors(list).take(2) {
                    let file = self.annotated(if annotation.is_empty() { kind.as_bytes() } else { annotation });
                    self.descriptors.insert(e.pid, fd, file, UNKNOWN_OFFSET, false, has("CLOEXEC"));
                }
            }
            Action::CloseRange => {
                let mut ends = text::split_args(args).map(|a| text::leading_number(a).unwrap_or(u64::MAX));
                let mut end = || ends.next().map_or(0, |x| i32::try_from(x).unwrap_or(i32::MAX));
                self.descriptors.close_range(e.pid, end(), end(), has("CLOSE_RANGE_CLOEXEC"));
            }
            Action::Seek | Action::SeekLong => {
                let position = match c.outcome {
                    Outcome::Number(n) if action == Action::Seek => u64::try_from(n).ok(),
                    Outcome::Number(0) => {
                        text::split_args(args).nth(2).and_then(|a| a.strip_prefix(b"[")).and_then(text::leading_number)
                    }
                    _ => None,
                };
                let (Some(position), Some(open)) = (position, self.first(e)) else { return };
                let f = self.descriptors.open_file(open);
                f.position = position;
                if c.last_arg(e.text) == b"SEEK_END"
                    && let Some(back) = text::split_args(args).nth(1).and_then(signed)
                    && let Some(size) = position.checked_add_signed(back.saturating_neg())
                {
                    let file = f.file;
                    self.sizes.set(file, size);
                }
            }
            Action::Dup | Action::DupTo => {
                if let (Some(fd), Some(open)) = (number, self.first(e))
                    && fd != c.fd
                {
                    self.descriptors.refer(e.pid, fd, open, action == Action::DupTo && has("O_CLOEXEC"));
                }
            }
            Action::Control => self.control(e, number),
            Action::Truncate => {
                let file = self.file_of(e);
                self.sizes.set(file, text::leading_number(c.last_arg(e.text)).unwrap_or(UNKNOWN_OFFSET));
            }
            Action::Replace => {
                self.sizes.forget();
                if e.call.spec().is_some_and(|s| s.name.starts_with("unlink")) {
                    let folder = self.folder(e);
                    if let Some(name) = path::of_call(e.text, e.call, folder.as_deref()) {
                        self.lookups.remove(&name);
                    }
                }
            }
            Action::Map => self.map(e),
            Action::Clone => {
                let child = child_of(e).or(number.and_then(|n| u32::try_from(n).ok()));
                self.descriptors.cloned(e.pid, child.filter(|&c| c > 0), has("CLONE_FILES"));
            }
            Action::Exec => {
                self.descriptors.exec(e.pid);
                if self.command.is_none() {
                    self.command = Some(command(e));
                }
            }
            Action::Close
            | Action::Transfer(..)
            | Action::SendFile
            | Action::CopyRange
            | Action::Submit
            | Action::Sync
            | Action::OnDescriptor
            | Action::None => {}
        }
    }

    fn control(&mut self, e: &CallEvent<'_>, number: Option<i32>) {
        let args = e.call.args.of(e.text);
        let has = |word: &str| memmem::find(args, word.as_bytes()).is_some();
        match text::split_args(args).nth(1).unwrap_or_default() {
            command @ (b"F_DUPFD" | b"F_DUPFD_CLOEXEC") => {
                if let (Some(fd), Some(open)) = (number, self.first(e)) {
                    self.descriptors.refer(e.pid, fd, open, command == b"F_DUPFD_CLOEXEC");
                }
            }
            b"F_SETFD" => self.descriptors.set_close_on_exec(e.pid, e.call.fd, has("FD_CLOEXEC")),
            b"F_SETFL" => {
                if let Some(open) = self.first(e) {
                    self.descriptors.open_file(open).append = has("O_APPEND");
                }
            }
            _ => {}
        }
    }

    /// Diagnostics the mapping of a data file: what is read or written through it makes no call.
    fn map(&mut self, e: &CallEvent<'_>) {
        let args: Vec<&[u8]> = text::split_args(e.call.args.of(e.text)).take(6).collect();
        let &[_, _, protection, flags, fd, _] = &args[..] else { return };
        let without = |text: &[u8], words: &[&str]| words.iter().all(|w| memmem::find(text, w.as_bytes()).is_none());
        if !without(protection, &["PROT_EXEC", "PROT_NONE"]) || !without(flags, &["MAP_ANON", "MAP_DENYWRITE"]) {
            return;
        }
        let Some((fd, annotation)) = text::descriptor(fd) else { return };
        let open = self.resolve(e.pid, fd, annotation);
        let file = self.descriptors.open_file(open).file;
        const PROGRAMS_AND_MEMORY: [&str; 5] = ["/usr/", "/lib", "/memfd:", "/dev/", "/SYSV"];
        let name = self.files.name(file);
        if name.starts_with('/')
            && !self.files.is_system(file)
            && !PROGRAMS_AND_MEMORY.iter().any(|p| name.starts_with(p))
        {
            self.mapped.get_or_insert((0, file)).0 += 1;
        }
    }
}

impl Sink for RowMaker<'_> {
    fn call(&mut self, e: &CallEvent<'_>) -> Result<()> {
        self.descriptors.allow();
        let call = self.count(e);
        let action = e.call.spec().map_or(Action::None, |s| s.action);
        match action {
            Action::Transfer(op, place) => return self.transfer(e, call, op, place),
            Action::SendFile => return self.copy(e, call, true),
            Action::CopyRange => return self.copy(e, call, false),
            Action::Submit => return self.submit(e, call),
            _ => {}
        }
        if e.call.spec().is_some_and(|s| s.path) {
            self.look_up(e);
        }
        if self.detail.all_calls() {
            let file = self.file_of(e);
            let op = if e.call.succeeded() { action.op() } else { Op::Other };
            self.push(e, call, op, file, UNKNOWN_OFFSET, 0)?;
        }
        match action {
            // The descriptor is gone even if closing it failed.
            Action::Close => self.descriptors.close(e.pid, e.call.fd),
            Action::Clone if !e.call.succeeded() => self.descriptors.cloned(e.pid, None, false),
            _ if e.call.succeeded() => self.follow(e, action),
            _ => {}
        }
        Ok(())
    }

    fn begun(&mut self, pid: u32, line: u64, text: &[u8]) {
        self.rows.split(line, Some(pid));
        let spec = text::call_name(text).and_then(|name| calls::spec(calls::find(name)));
        if spec.is_some_and(|s| s.action == Action::Clone) {
            self.descriptors.clone_begun(pid, memmem::find(text, b"CLONE_FILES").is_some());
        }
    }

    fn cancelled(&mut self, line: u64) {
        self.rows.split(line, None);
    }

    fn exited(&mut self, pid: u32) {
        self.descriptors.end(pid);
    }

    fn superseded(&mut self, leader: u32, by: u32) {
        self.descriptors.superseded(leader, by);
    }

    fn named(&mut self, pid: u32) {
        self.descriptors.superseded(pid, 0);
    }
}

/// A request in the list of `io_submit`: `{aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_nbytes=8, aio_offset=0}`, of releases
/// before 4.21 `{pwrite, fildes=3, nbytes=8, offset=0}`.
struct Submitted<'t> {
    /// `None` for what moves no bytes.
    op: Option<Op>,
    descriptor: Option<(i32, &'t [u8])>,
    size: u64,
    offset: u64,
}

impl<'t> Submitted<'t> {
    /// `None` for what is no request, such as an address.
    fn of(text: &'t [u8]) -> Option<Self> {
        let members = text.strip_prefix(b"{")?.strip_suffix(b"}")?;
        let mut request = Submitted { op: None, descriptor: None, size: 0, offset: UNKNOWN_OFFSET };
        for member in text::split_members(members) {
            let (name, value) = match memchr::memchr(b'=', member) {
                Some(n) if member[..n].iter().all(|b| b.is_ascii_lowercase() || *b == b'_') => {
                    (&member[..n], &member[n + 1..])
                }
                _ => (&b"lio_opcode"[..], member),
            };
            match name.strip_prefix(b"aio_").unwrap_or(name) {
                b"lio_opcode" => request.op = request.op.or(Some(op_of(value)).filter(|op| op.moves_bytes())),
                b"fildes" => request.descriptor = text::descriptor(value),
                b"nbytes" => request.size = text::leading_number(value).unwrap_or(0),
                b"offset" => request.offset = text::leading_number(value).unwrap_or(UNKNOWN_OFFSET),
                // of a vector the lengths of its parts are printed, not their sum
                b"buf" | b"iovec" if value.starts_with(b"[") => {
                    let lengths =
                        memmem::find_iter(value, b"iov_len=").filter_map(|n| text::leading_number(&value[n + 8..]));
                    request.size = lengths.fold(0, u64::saturating_add);
                }
                _ => {}
            }
        }
        Some(request)
    }
}

/// An offset that the call gives.
fn explicit(text: &[u8]) -> Target {
    Target::At(text::leading_number(text).unwrap_or(UNKNOWN_OFFSET))
}

fn signed(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let n = i64::try_from(text::leading_number(digits)?).ok()?;
    Some(if negative { -n } else { n })
}

/// The new process as strace numbers it, where the caller, in a namespace of its own, numbers it otherwise:
/// `= 2 /* 8516 in strace's PID NS */`.
fn child_of(e: &CallEvent<'_>) -> Option<u32> {
    let comment = e.call.comment.of(e.text).trim_ascii();
    let inner = comment.strip_prefix(b"/* ")?;
    memmem::find(inner, b" in strace's PID NS")?;
    text::leading_number(inner).and_then(|n| u32::try_from(n).ok())
}

/// The command line of an `execve`.
fn command(e: &CallEvent<'_>) -> String {
    let list = text::split_args(e.call.args.of(e.text)).find(|a| a.starts_with(b"[")).unwrap_or_default();
    let inner = list.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]")).unwrap_or_default();
    let mut line = String::new();
    for arg in text::split_args(inner) {
        let (quoted, more) = match arg.strip_suffix(b"...") {
            Some(cut) => (cut, "..."),
            None => (arg, ""),
        };
        let raw = quoted.strip_prefix(b"\"").and_then(|a| a.strip_suffix(b"\"")).unwrap_or(quoted);
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&String::from_utf8_lossy(&path::unescape(raw)));
        line.push_str(more);
        if line.len() > MAX_COMMAND {
            let cut = (0..=MAX_COMMAND).rev().find(|&i| line.is_char_boundary(i)).unwrap_or(0);
            line.truncate(cut);
            break;
        }
    }
    if line.is_empty() { String::from_utf8_lossy(&path::unescape(e.call.string.of(e.text))).into_owned() } else { line }
}
