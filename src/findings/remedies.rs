//! Remedies offered against a finding: only those that fit its files.

use std::collections::{HashMap, HashSet};

use super::book::{Book, Direction, RemedyText, Rule, When};
use super::facts::Facts;
use super::outcome::{Outcome, Part};
use super::report::{FileShare, RemedyReport};
use super::streams::Stream;
use crate::classify::{self, Advice};
use crate::facts::{Count, Counted};
use crate::record::{CounterModule, FileId, Striping, is_terminal, stem};

/// Largest buffer that is advised.
const BUFFER: u64 = 64 << 20;
/// Largest file that one rank reads for all.
const SMALL_FILE: u64 = 64 << 20;
/// Files that make metadata costly by their number.
const MANY_FILES: usize = 1000;

/// How the ranks use a file.
#[derive(Default)]
struct FileUse {
    first: Option<u32>,
    several: bool,
    reads: bool,
    writes: bool,
    /// MPI-IO opened it: what it asks for counts, and not what became of that.
    by_mpiio: bool,
    /// Collective calls less independent ones.
    collective: i64,
    size: u64,
    /// Ranks that each read all of it.
    read_all: f64,
}

impl FileUse {
    fn rank(&mut self, rank: Option<u32>) {
        self.several |= rank.is_none() || self.first.is_some_and(|k| Some(k) != rank);
        self.first = self.first.or(rank);
    }
}

/// How the files of a finding are used; those of the job, if the finding names none.
pub(super) struct Uses<'a> {
    f: &'a Facts<'a>,
    direction: Option<Direction>,
    files: HashMap<&'a str, FileUse>,
    /// Opens, stats, seeks, and pairs of file and rank.
    calls: [u64; 4],
    /// The file with the most time, bytes and calls.
    costliest: Option<&'a str>,
}

impl<'a> Uses<'a> {
    pub fn of(f: &'a Facts<'a>, rule: &Rule, o: &Outcome) -> Uses<'a> {
        let name = |p: &Part| if o.of_counters { f.name(p.file) } else { f.trace.files.name(p.file) };
        let order =
            |a: &&Part, b: &&Part| a.time_s.total_cmp(&b.time_s).then((a.bytes, a.count).cmp(&(b.bytes, b.count)));
        let costliest = o.parts.iter().max_by(order).map(name);
        let mut uses = Uses { f, direction: rule.direction, files: HashMap::new(), calls: [0; 4], costliest };
        let names: HashSet<&str> = o.parts.iter().map(name).collect();
        let concerned = |name: &str| if names.is_empty() { !is_terminal(name) } else { names.contains(name) };
        [&f.mpiio, &f.posix, &f.stdio].into_iter().flatten().for_each(|t| uses.see_counters(t, &concerned));
        uses.see_requests(&concerned);
        uses
    }

    fn see_counters(&mut self, t: &Counted<'_>, concerned: &dyn Fn(&str) -> bool) {
        for row in t.rows().filter(|row| concerned(self.f.name(row.file))) {
            let [read, written] = row.bytes();
            let of = self.files.entry(self.f.name(row.file)).or_default();
            of.rank(row.rank);
            let is_mpiio = t.module == CounterModule::Mpiio;
            if is_mpiio || !of.by_mpiio {
                (of.reads, of.writes, of.by_mpiio) = (of.reads || read > 0, of.writes || written > 0, is_mpiio);
            }
            let calls = |counts: [Count; 2]| {
                counts.into_iter().fold(0, |sum: i64, c| sum.saturating_add_unsigned(row.count(c)))
            };
            of.collective = of
                .collective
                .saturating_add(calls([Count::CollReads, Count::CollWrites]))
                .saturating_sub(calls([Count::IndepReads, Count::IndepWrites]));
            if is_mpiio {
                continue;
            }
            let (end, ranks) = (row.ends().into_iter().fold(1, u64::max), row.rank.map_or(self.f.ranks, |_| 1));
            of.size = of.size.max(end);
            // all ranks together have to read more than half of what each reading all of it would
            of.read_all += if read as f64 > 0.5 * (end * ranks) as f64 { ranks as f64 } else { 0.0 };
            let calls = [Count::Opens, Count::Stats, Count::Seeks].map(|calls| row.count(calls));
            (0..3).for_each(|i| self.calls[i] += calls[i]);
            self.calls[3] += ranks;
        }
    }

    fn see_requests(&mut self, concerned: &dyn Fn(&str) -> bool) {
        let Some(q) = &self.f.requests else { return };
        let files = &self.f.trace.files;
        for ((file, rank), s) in q.streams.all.iter().filter(|x| concerned(files.name(x.0.0))) {
            let of = self.files.entry(files.name(*file)).or_default();
            of.rank(Some(*rank));
            if !of.by_mpiio {
                (of.reads, of.writes) = (of.reads || s.count[0] > 0, of.writes || s.count[1] > 0);
            }
        }
        for (d, u) in q.directions.iter().enumerate().flat_map(|(d, of)| of.files.iter().map(move |u| (d, u))) {
            let Some(of) = self.files.get_mut(files.name(u.file)).filter(|_| concerned(files.name(u.file))) else {
                continue;
            };
            of.size = of.size.max(u.end);
            if d == 0 && q.complete {
                // exact, in place of the bound
                of.read_all = q.streams.readers_of_all(u) as f64;
            }
        }
    }

    fn layout(&self) -> Option<&'a Striping> {
        let c = self.f.counters?;
        let file = self.costliest?;
        c.layouts.iter().find(|l| c.files.name(l.file) == file)
    }

    /// Type of the file system of the costliest file, if it is known.
    fn mount(&self) -> Option<&'a str> {
        let named = |c: &'a crate::record::Counters| Some(&*c.mount(self.costliest?)?.kind);
        self.layout().map(|_| "lustre").or_else(|| self.f.counters.and_then(named))
    }

    fn holds(&self, when: When) -> bool {
        let any = |of: fn(&FileUse) -> bool| self.files.values().any(of);
        let largest = || self.files.values().map(|of| of.size).max().unwrap_or(0);
        let [opens, stats, seeks, pairs] = self.calls;
        match when {
            When::Reads => self.direction != Some(Direction::Write) && any(|of| of.reads),
            When::Writes => self.direction != Some(Direction::Read) && any(|of| of.writes),
            When::SharedFile => any(|of| of.several),
            When::ReadByAll => any(|of| of.several && of.read_all >= 2.0),
            When::SmallFile => largest() <= SMALL_FILE,
            When::LargeFile => largest() > SMALL_FILE,
            When::SeveralRanks => self.f.ranks > 1,
            When::ManyFiles => self.files.len() >= MANY_FILES,
            When::ManyOpens => opens >= 2 * pairs && opens >= stats.max(seeks),
            When::ManyStats => stats > opens.max(seeks),
            When::ManySeeks => seeks > opens.max(stats),
            When::Collective => any(|of| of.collective > 0),
            When::NotCollective => !any(|of| of.collective > 0),
            When::UnequalTransfers => !self.f.excess_is_metadata() && self.f.bytes_are_equal() == Some(false),
            When::EqualTransfers => !self.f.excess_is_metadata() && self.f.bytes_are_equal() == Some(true),
            When::MayBeLustre => self.mount().is_none_or(|kind| kind == "lustre"),
        }
    }

    /// True if the trace shows the library or file system of a remedy.
    fn sees(&self, system: &str) -> bool {
        let f = self.f;
        let module = |m: CounterModule| f.counters.is_some_and(|c| c.table(m).is_some());
        let executable = f.trace.job.as_ref().and_then(|j| j.executable.as_deref()).unwrap_or("");
        let named = |ends: &dyn Fn(&str) -> bool| f.trace.files.iter().take(1000).any(|(_, name)| ends(name));
        match system {
            "any" => true,
            "mpiio" => f.mpiio.is_some(),
            "hdf5" => module(CounterModule::H5f) || named(&classify::is_hdf5_name),
            "pnetcdf" => module(CounterModule::PnetcdfFile),
            "adios2" => named(&|name| name.ends_with(".bp") || name.contains(".bp/")),
            "python" => executable.contains("python"),
            kind => self.mount() == Some(kind),
        }
    }

    /// A text with its values; `None` if one is not known.
    fn filled(&self, text: &str) -> Option<String> {
        let stripe = self.layout().map_or(self.f.stripe, |l| l.stripe_bytes).max(1);
        let buffer = stripe.saturating_mul(16).min(BUFFER).max(stripe);
        let known = [
            ("{stripe}", Some(stripe.to_string())),
            ("{unit}", Some(classify::lfs_size(stripe))),
            ("{buffer}", Some(buffer.to_string())),
            ("{ranks}", Some(self.f.ranks.to_string())),
            ("{dir}", Some(classify::lfs_folder(self.costliest).to_owned())),
            ("{stripes}", self.layout().map(|l| l.stripes.to_string())),
        ];
        let fill = |text: String, (name, value): (&str, Option<String>)| match value {
            _ if !text.contains(name) => Some(text),
            value => Some(text.replace(name, &value?)),
        };
        known.into_iter().try_fold(text.to_owned(), fill)
    }

    /// True for a hint that the library takes anyway, or that the job gave.
    fn is_set(&self, book: &Book, name: &str, value: &str) -> bool {
        let given = self.f.counters.and_then(|c| c.hints.as_deref()).unwrap_or("");
        let pair = |hint: &str| hint.trim().split_once('=').is_some_and(|(n, v)| n.trim() == name && v.trim() == value);
        let layout = self.layout().and_then(|l| match name {
            "striping_unit" => Some(l.stripe_bytes),
            "striping_factor" => Some(l.stripes),
            _ => None,
        });
        let is_default = book.default.get(name).is_some_and(|v| v == value);
        is_default || layout.is_some_and(|n| n.to_string() == value) || given.split([';', ',']).any(pair)
    }

    /// A remedy with its values; `None` if it has some that are not known, or that are set anyway.
    fn made(&self, book: &Book, id: &str, r: &RemedyText) -> Option<RemedyReport> {
        let mut made = text(id, r);
        made.why = self.filled(&r.why)?;
        made.commands = r.command.iter().map(|c| self.filled(c)).collect::<Option<_>>()?;
        let hints = r.hints.iter().filter_map(|(name, v)| Some((name.clone(), self.filled(v)?)));
        made.settings = hints.filter(|(name, value)| !self.is_set(book, name, value)).collect();
        (r.hints.is_empty() || !made.settings.is_empty()).then_some(made)
    }
}

fn text(id: &str, r: &RemedyText) -> RemedyReport {
    RemedyReport {
        id: id.to_owned(),
        system: r.system.clone(),
        commands: r.command.iter().cloned().collect(),
        settings: r.hints.clone(),
        why: r.why.clone(),
        url: r.url.clone(),
    }
}

fn named<'b>(book: &'b Book, rule: &'b Rule) -> impl Iterator<Item = (&'b str, &'b RemedyText)> {
    let of = rule.remedies.iter().filter_map(|id| Some((id.as_str(), book.remedy.get(id)?)));
    of.flat_map(|(id, all)| all.iter().map(move |r| (id, r)))
}

/// All remedies of a rule, for any file.
pub(super) fn texts(book: &Book, rule: &Rule) -> Vec<RemedyReport> {
    named(book, rule).map(|(id, r)| text(id, r)).collect()
}

/// The remedies whose conditions hold, and the advice of the access classes of the costliest files that is about what was found;
/// `all` also those for libraries and file systems that the trace does not show.
pub(super) fn of(uses: &Uses, book: &Book, rule: &Rule, files: &[FileShare], all: bool) -> Vec<RemedyReport> {
    let holds = |when: &[When]| when.iter().all(|w| uses.holds(*w));
    let offered = named(book, rule).filter(|(_, r)| (all || uses.sees(&r.system)) && holds(&r.when));
    let mut made: Vec<RemedyReport> = offered.filter_map(|(id, r)| uses.made(book, id, r)).collect();
    for a in advice(uses.f, rule, files) {
        let Some(policy) = book.policy.get(&a.policy).filter(|p| holds(&p.when)) else { continue };
        let (commands, mut settings, why) = a.parts();
        settings.retain(|name, value| !uses.is_set(book, name, value));
        if made.iter().all(|r| r.id != a.policy) {
            let (id, system, url) = (a.policy.clone(), "any".to_owned(), policy.url.clone());
            made.push(RemedyReport { id, system, commands, settings, why, url });
        }
    }
    made
}

/// The advice that fits a rule: from the access classes of the costliest family's first file.
fn advice(f: &Facts, rule: &Rule, files: &[FileShare]) -> Vec<Advice> {
    let (Some(q), Some(family)) = (&f.requests, files.first().filter(|_| !rule.policies.is_empty())) else {
        return Vec::new();
    };
    let of_family = |id: FileId| {
        let name = f.trace.files.name(id);
        !f.trace.files.is_system(id) && (name == family.file || family.files > 1 && stem(name) == family.file)
    };
    let begins = |s: &Stream| s.span_s[0].0.min(s.span_s[1].0);
    let all = q.streams.all.iter().filter(|((file, _), _)| of_family(*file)).map(|((file, _), s)| (*file, begins(s)));
    let by_start = |a: &(FileId, f64), b: &(FileId, f64)| {
        a.1.total_cmp(&b.1).then_with(|| f.trace.files.name(a.0).cmp(f.trace.files.name(b.0)))
    };
    let first = all.min_by(by_start).map(|(file, _)| f.advice_of(file));
    first.iter().flat_map(|all| all.iter()).filter(|a| rule.policies.contains(&a.policy)).cloned().collect()
}
