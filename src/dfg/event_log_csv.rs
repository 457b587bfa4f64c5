//! Event logs as one CSV file: every call of every case, before any mapping.
//!
//! `cid,host,rid,pid,line,call,start_ns,duration_ns,size,path`, a call a row. What is not known is empty; `size` is that of
//! transfers that succeeded. A field is quoted if it has a comma or a quote; backslash, line feed and carriage return are
//! written `\\`, `\n` and `\r`, so that a row is always one line, and a backslash stands before what would make it a formula in a
//! spreadsheet.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::case::{CaseId, Origin};
use super::collector::{Collector, Collectors, Plan};
use crate::error::{Error, ErrorKind, Place, Result, is_damage};
use crate::formats::{escaped_field, is_formula};
use crate::record::{Batch, Calls, Data, FileId, Files, LoggedCall, Op, Request, Restart, RowSink, Warning};

const HEADER: &str = "cid,host,rid,pid,line,call,start_ns,duration_ns,size,path";

/// True if this is the first line of an event log.
pub fn is_log(head: &[u8]) -> bool {
    head.strip_prefix(HEADER.as_bytes()).is_some_and(|rest| matches!(rest.first(), None | Some(b'\n' | b'\r')))
}

/// Writes an event log; the cases of each trace have [`LogCases`].
pub struct LogWriter<W> {
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    cases: HashSet<String>,
    failed: Option<std::io::Error>,
    rows: u64,
}

impl<W: Write + Send> LogWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if that fails.
    pub fn new(mut out: W) -> Result<Self> {
        writeln!(out, "{HEADER}").map_err(failed)?;
        Ok(LogWriter { state: Mutex::new(State { out, cases: HashSet::new(), failed: None, rows: 0 }) })
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the calls of these cases. Two cases of one name could not be separated again: the log fails.
    pub fn cases(&self, ids: impl IntoIterator<Item = CaseId>) -> LogCases<'_, W> {
        let part = |p: &Option<String>| field(p.as_deref().unwrap_or("")).into_owned();
        let mut state = self.state();
        let mut case = |id: CaseId| {
            let case = format!("{},{},{}", field(&id.cid), part(&id.host), part(&id.rid));
            if !state.cases.insert(case.clone()) {
                let twice = std::io::Error::other(format!("two cases are called {id}; name files cid_host_rid.st"));
                state.failed.get_or_insert(twice);
            }
            (case, AtomicBool::new(false))
        };
        LogCases { writer: self, cases: ids.into_iter().map(&mut case).collect() }
    }

    /// Ends the log; gives the number of rows.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if this or an earlier write failed.
    pub fn finish(self) -> Result<u64> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.failed.take() {
            Some(e) => Err(failed(e)),
            None => state.out.flush().map(|()| state.rows).map_err(failed),
        }
    }
}

fn failed(e: std::io::Error) -> Error {
    Error::new(ErrorKind::Output, format!("the event log cannot be written: {e}"))
}

/// Writes the calls of some cases.
pub struct LogCases<'w, W> {
    writer: &'w LogWriter<W>,
    /// Each as it is written, and whether its calls come again.
    cases: Vec<(String, AtomicBool)>,
}

impl<W: Write + Send> RowSink for LogCases<'_, W> {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        let (Data::Requests(rows), Some(log)) = (&*batch.rows, batch.log) else { return Ok(()) };
        let Some((case, again)) = self.cases.get(batch.part) else { return Ok(()) };
        let mut state = self.writer.state();
        if again.load(Ordering::Relaxed) || state.failed.is_some() {
            return Ok(());
        }
        for (r, log) in rows.iter().zip(&log.calls).filter(|(_, log)| !log.interrupted) {
            let number = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
            let (duration, size) = (number(log.duration_ns), number(r.op.moves_bytes().then_some(r.size)));
            let (call, path) = (field(batch.calls.name(r.call)), field(batch.files.name(r.file)));
            let (task, LoggedCall { line, start_ns, .. }) = (r.task, log);
            if let Err(e) = writeln!(state.out, "{case},{task},{line},{call},{start_ns},{duration},{size},{path}") {
                state.failed = Some(e);
                return Ok(());
            }
            state.rows += 1;
        }
        Ok(())
    }

    /// All calls are written, and who reads the log puts them in order.
    fn restart(&self, why: Restart) {
        for (i, (_, again)) in self.cases.iter().enumerate() {
            if why == Restart::Trace || why == Restart::ClockSteps(i) {
                again.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn field(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '\n', '\r', '"', ',']) && !is_formula(text) {
        return Cow::Borrowed(text);
    }
    let escaped = escaped_field(text);
    if escaped.contains([',', '"']) { format!("\"{}\"", escaped.replace('"', "\"\"")).into() } else { escaped.into() }
}

/// The fields of a row; `None` if quotes are out of place.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut all = Vec::with_capacity(10);
    let mut rest = line;
    loop {
        let (raw, tail) = match rest.strip_prefix('"') {
            None => rest.split_once(',').map_or((Cow::Borrowed(rest), None), |(f, t)| (Cow::Borrowed(f), Some(t))),
            Some(quoted) => {
                let end = closing_quote(quoted)?;
                let tail = match &quoted[end + 1..] {
                    "" => None,
                    more => Some(more.strip_prefix(',')?),
                };
                (Cow::Owned(quoted[..end].replace("\"\"", "\"")), tail)
            }
        };
        all.push(unescape(&raw));
        match tail {
            Some(t) => rest = t,
            None => return Some(all),
        }
    }
}

/// The first quote that no other follows.
fn closing_quote(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        from = at + 2;
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (c, false) => out.push(c),
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(c) => out.push(c),
                None => out.push('\\'),
            },
        }
    }
    out
}

struct LogRow {
    id: CaseId,
    pid: u32,
    line: u64,
    call: String,
    start_ns: i64,
    duration_ns: Option<u64>,
    size: Option<u64>,
    path: String,
}

fn row(text: &str) -> Option<LogRow> {
    let [cid, host, rid, pid, line, call, start, duration, size, path]: [String; 10] = fields(text)?.try_into().ok()?;
    let known = |t: String| (!t.is_empty()).then_some(t);
    let number = |t: &str| if t.is_empty() { Some(None) } else { t.parse().ok().map(Some) };
    Some(LogRow {
        id: CaseId { cid, host: known(host), rid: known(rid), pid: None },
        pid: pid.parse().ok()?,
        line: line.parse().ok()?,
        call,
        start_ns: start.parse().ok()?,
        duration_ns: number(&duration)?,
        size: number(&size)?,
        path,
    })
}

/// Reads the cases of an event log, in the order in which they first show.
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::Malformed`] with the line if a row is none; [`ErrorKind::Limit`] for a line longer than
/// `line_bytes`. A last row without its line end that cannot be read is left out with a warning.
pub fn read_log<'p>(
    reader: impl Read,
    plan: &'p Plan,
    name: &str,
    line_bytes: usize,
) -> Result<(Collectors<'p>, Vec<Warning>)> {
    let mut input = std::io::BufReader::with_capacity(256 << 10, reader);
    let mut collectors: Vec<Collector<'_>> = Vec::new();
    let mut places: HashMap<CaseId, usize> = HashMap::new();
    let (mut calls, mut files) = (Calls::default(), Files::default());
    let mut warnings = Vec::new();
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let n = match (&mut input).take(line_bytes as u64 + 1).read_until(b'\n', &mut text) {
            Err(e) if is_damage(&e) => {
                warnings.push(Warning::new("damaged-tail", format!("{e}; the rows before it were kept")));
                break;
            }
            read => read?,
        };
        let whole = text.last() == Some(&b'\n');
        if n == 0 {
            break;
        }
        if !whole && n > line_bytes {
            return Err(Error::limit("a line is longer", format!("{line_bytes} bytes")).at(Place::Line(number)));
        }
        let line = text.trim_ascii_end();
        if number == 1 || line.is_empty() {
            continue;
        }
        let Some(r) = std::str::from_utf8(line).ok().and_then(row) else {
            if !whole {
                warnings.push(Warning::new("damaged-tail", format!("the last line, {number}, is cut")));
                break;
            }
            return Err(Error::malformed(Place::Line(number), "no row of an event log").expected(HEADER));
        };
        let next = collectors.len();
        let place = *places.entry(r.id.clone()).or_insert(next);
        if place == next {
            let mut c = Collector::new(plan, r.id, Origin { input: name.to_owned(), file: name.to_owned() });
            // Rows stand in the order in which calls ended.
            c.restart();
            collectors.push(c);
        }
        let row = Request {
            op: if r.size.is_some() { Op::Read } else { Op::Other },
            call: calls.intern(&r.call),
            task: r.pid,
            file: if r.path.is_empty() { FileId::NONE } else { files.intern(&r.path) },
            size: r.size.unwrap_or(0),
            ..Request::default()
        };
        let call = LoggedCall { line: r.line, start_ns: r.start_ns, duration_ns: r.duration_ns, interrupted: false };
        collectors[place].call(&row, &call, &files, &calls);
    }
    Ok((collectors.into_iter().collect(), warnings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_come_back(all in prop::collection::vec("[a=+@,\"\\\\\n\r\t é-]{0,6}", 1..6)) {
            let line = all.iter().map(|f| field(f)).collect::<Vec<_>>().join(",");
            let shown = |f: &str| match f.strip_prefix('"') {
                Some(quoted) => quoted.replace("\"\"", "\""),
                None => f.to_owned(),
            };
            prop_assert!(!line.contains(['\n', '\r']) && !all.iter().any(|f| is_formula(&shown(&field(f)))));
            prop_assert_eq!(fields(&line), Some(all));
        }

        #[test]
        fn any_text_is_a_row_or_an_error(text in "[0-9a,\"\\\\\n]{0,80}") {
            let log = format!("{HEADER}\n{text}");
            let plan = Plan::default();
            let _ = read_log(log.as_bytes(), &plan, "x", 1 << 10);
        }
    }

    #[test]
    fn damage() {
        let plan = Plan::default();
        let good = "a,h,1,7,3,read,5,2,832,/x\n";
        let read = |rows: &str| read_log(format!("{HEADER}\n{rows}").as_bytes(), &plan, "x", 60);
        assert_eq!(read(good).unwrap().0.finish().0.len(), 1);
        assert_eq!(read(&format!("{good}a,h,1,7,")).unwrap().1.len(), 1);
        let place = |rows: &str| read(rows).err().unwrap().place();
        assert_eq!(place(&format!("{good}a,h,1,x,3,read,5,2,832,/x\n")), Some(Place::Line(3)));
        assert_eq!(place(&"x".repeat(61)), Some(Place::Line(2)));
        assert!(is_log(HEADER.as_bytes()) && !is_log(b"rank,op,file"));
    }
}
