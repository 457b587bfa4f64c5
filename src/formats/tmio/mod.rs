//! TMIO: phases of the ranks of an MPI job, with the rate that each reached.
//!
//! TMIO (the tracer of Tarraf and others, TU Darmstadt) writes one file per run: JSON at the end of the job, or JSON Lines or
//! MessagePack that grow by a chunk at every flush. All hold the same: for reads and writes, synchronous and asynchronous,
//! a row per phase of a rank. The rank of a row is not recorded. Of asynchronous calls the rates that were reached are
//! read; those that were required (`_b`) are no transfers.

mod chunks;
mod objects;
mod scanner;
pub(super) mod write_json;
pub(super) mod write_msgpack;

pub(super) use objects::{begins_object, object_at};
pub(super) use scanner::{ObjectScanner, Scanned};

use super::format::{Format, Sniff, only};
use super::json::member_names;
use super::lines::Followed;
use super::options::ReadOptions;
use super::sections::{self, Section};
use super::source::Source;
use crate::error::Result;
use crate::record::{RowSink, Trace};

/// The format.
pub struct Tmio;

/// Statistics that TMIO writes into every section, and other writers of such sections do not.
const STATISTICS: [&[u8]; 7] = [
    b"max_bytes_per_rank",
    b"max_bytes_per_phase",
    b"max_transfersize_over_ranks",
    b"max_io_phases_per_rank",
    b"total_io_phases",
    b"max_io_ops_per_rank",
    b"total_io_ops",
];

impl Format for Tmio {
    fn name(&self) -> &'static str {
        "tmio"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        if objects::begins_object(head) {
            return Sniff::Yes;
        }
        const MEMBERS: usize = 64;
        let names = member_names(json_text(head), MEMBERS);
        match names.first() {
            Some((1, name)) => match Section::named(name) {
                Some(Section::Times) => Sniff::Yes,
                Some(_) if names.iter().any(|(d, n)| *d == 2 && STATISTICS.contains(n)) => Sniff::Yes,
                Some(_) => Sniff::No("sections of rates, but without the statistics of TMIO"),
                None => Sniff::No("JSON that does not begin with a section such as read_sync"),
            },
            _ => Sniff::No("neither JSON nor MessagePack with sections such as read_sync"),
        }
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let source = only(sources, self)?;
        // An input named `tmio` by hand may be damaged at its start: JSON has a brace there.
        match json_text(source.head()).starts_with(b"{") {
            true => sections::read(source, options, self.name(), sink),
            false => objects::read(source, options, self.name(), sink),
        }
    }

    fn follow(&self, head: &[u8], _: &ReadOptions) -> Result<Followed> {
        Ok(if json_text(head).starts_with(b"{") { Followed::Values } else { Followed::Objects })
    }
}

/// The text after a byte order mark and white space.
fn json_text(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}
