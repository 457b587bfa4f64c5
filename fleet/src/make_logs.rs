//! Many Darshan logs from few: each copy has its own job id, user, start and version of the application, and, if wanted, a damage.
//!
//! Only the job region is written anew; all other regions are copied and their places in the header moved. Times in a log count from
//! its start, so that they stay right; `--stretch` makes them longer or shorter. `truth.csv` holds what was written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::error::{Context, output, usage};
use crate::tables::Time;
use iophase::{Error, ErrorKind, Place, Result};

/// Arguments of `make-logs`.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Folder of the new logs
    #[arg(value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Number of new logs
    pub count: usize,
    /// Logs that are copied (Darshan 3, compressed with zlib)
    #[arg(required = true, value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub logs: Vec<PathBuf>,
    /// Seed of all that is random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Share of logs that are damaged
    #[arg(long, default_value_t = 0.01)]
    pub bad: f64,
    /// Days over which the jobs start, from 2026-01-01
    #[arg(long, default_value_t = 30)]
    pub days: u64,
    /// Stretches segments and heat maps by a factor from this range, the same for all runs of a version of an application; counters keep
    /// their times (logs of Darshan 3.4.1 or later)
    #[arg(long, value_name = "LOW..HIGH", default_value = "1..1", value_parser = range)]
    pub stretch: (f64, f64),
}

/// Reads `LOW..HIGH`.
fn range(text: &str) -> Result<(f64, f64)> {
    let ends = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.filter(|(low, high)| 0.001 <= *low && low <= high && *high <= 1000.0)
        .ok_or_else(|| usage(format!("{text} is no range of factors")).expected("LOW..HIGH, such as 0.8..1.25"))
}

const APPS: [&str; 8] = ["climate", "plasma", "genome", "train", "lattice", "flame", "ocean", "cosmo"];
/// 2026-01-01 00:00 UTC.
const FIRST: i64 = 1_767_225_600;
/// Bytes of a job record.
const JOB_BYTES: usize = 4096;
/// Bytes of a region that is stretched, at most.
const REGION_BYTES: usize = 256 << 20;
/// Numbers of the modules with segments and heat maps.
const SEGMENTS: [usize; 2] = [10, 11];
const HEAT_MAP: usize = 15;

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`, which is not 0.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A log that is copied.
struct Template {
    name: String,
    bytes: Vec<u8>,
    big: bool,
    wide: bool,
    /// Places of the (offset, length) pairs in the header.
    maps: Vec<usize>,
    /// Bytes of the header, and where the first region behind the job's begins.
    head: usize,
    first: usize,
    job: Vec<u8>,
}

impl Template {
    fn read(path: &Path) -> Result<Template> {
        let name = path.display().to_string();
        let bytes = fs::read(path).or_input(path)?;
        let refuse = |found: &str, at: u64| {
            Error::malformed(Place::Byte(at), found)
                .expected("a log of Darshan 3 compressed with zlib")
                .in_file(path.display().to_string())
        };
        let version = bytes.get(..8).ok_or_else(|| refuse("too short", 0))?;
        let wide = match version {
            [b'3', b'.', b'4', b'1', 0, ..] => true,
            [b'3', b'.', b'0'..=b'2', ..] => false,
            _ => return Err(refuse("another version", 0)),
        };
        let magic: [u8; 8] = bytes.get(8..16).and_then(|b| b.try_into().ok()).ok_or_else(|| refuse("too short", 8))?;
        let big = match (u64::from_le_bytes(magic), u64::from_be_bytes(magic)) {
            (6_567_223, _) => false,
            (_, 6_567_223) => true,
            _ => return Err(refuse("no magic number", 8)),
        };
        if bytes.get(16) != Some(&0) {
            return Err(refuse("another compression", 16));
        }
        let (modules, map) = if wide { (64, 32) } else { (16, 24) };
        let head = map + 16 * (modules + 1) + 4 * modules;
        let maps: Vec<usize> = (0..=modules).map(|i| map + 16 * i).collect();
        let mut t = Template { name, bytes, big, wide, maps, head, first: 0, job: Vec::new() };
        let used = t.maps.iter().map(|&at| Some((t.get(at)?, t.get(at + 8)?))).collect::<Option<Vec<_>>>();
        let used = used.ok_or_else(|| refuse("the header is cut", t.bytes.len() as u64))?;
        let first = used.iter().filter(|u| u.0 > 0 && u.1 > 0).map(|u| u.0).min();
        t.first = first.and_then(|f| usize::try_from(f).ok()).unwrap_or(t.bytes.len());
        let region =
            t.bytes.get(t.head..t.first).ok_or_else(|| refuse("the first region is outside", t.head as u64))?;
        t.job = inflate(region, JOB_BYTES)
            .filter(|j| j.len() > t.text_at())
            .ok_or_else(|| refuse("no job record", t.head as u64))?;
        Ok(t)
    }

    fn text_at(&self) -> usize {
        if self.wide { 1080 } else { 1064 }
    }

    fn get(&self, at: usize) -> Option<u64> {
        let bytes: [u8; 8] = self.bytes.get(at..at + 8)?.try_into().ok()?;
        Some(if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn put(&self, to: &mut [u8], at: usize, value: i64) {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        to[at..at + 8].copy_from_slice(&bytes);
    }

    fn job_number(&self, at: usize) -> i64 {
        let bytes: [u8; 8] = self.job[at..at + 8].try_into().unwrap_or_default();
        if self.big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) }
    }

    fn value(&self, bytes: &[u8]) -> u64 {
        let bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
        if self.big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }

    /// Multiplies times in records.
    fn scale(&self, time: &mut [u8], factor: f64) {
        let scaled = f64::from_bits(self.value(time)) * factor;
        let bits = scaled.to_bits();
        time.copy_from_slice(&if self.big { bits.to_be_bytes() } else { bits.to_le_bytes() });
    }

    /// The regions behind the job's, with their maps in the header: those with times stretched.
    fn regions(&self, factor: f64) -> Option<Vec<(usize, Vec<u8>)>> {
        let mut used: Vec<(u64, u64, usize)> =
            self.maps.iter().filter_map(|&at| Some((self.get(at)?, self.get(at + 8)?, at))).collect();
        used.retain(|u| u.0 > 0 && u.1 > 0);
        used.sort_unstable();
        let region = |&(offset, length, at): &(u64, u64, usize)| {
            let from = usize::try_from(offset).ok()?;
            let bytes = self.bytes.get(from..from.checked_add(usize::try_from(length).ok()?)?)?;
            // the map of the names comes first
            let module = self.maps.iter().position(|m| *m == at)?.wrapping_sub(1);
            if module != HEAT_MAP && !SEGMENTS.contains(&module) {
                return Some((at, bytes.to_vec()));
            }
            let mut records = inflate(bytes, REGION_BYTES)?;
            match module {
                HEAT_MAP => self.stretch_heat_map(&mut records, factor)?,
                _ => self.stretch_segments(&mut records, self.has_threads(module), factor)?,
            }
            Some((at, deflate(&records)))
        };
        used.iter().map(region).collect()
    }

    /// Whether the segments of a module name threads.
    fn has_threads(&self, module: usize) -> bool {
        let at = self.head - 4 * (self.maps.len() - 1) + 4 * module;
        let bytes: [u8; 4] = self.bytes[at..at + 4].try_into().unwrap_or_default();
        let version = if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        version >= if module == SEGMENTS[0] { 2 } else { 3 }
    }

    fn stretch_heat_map(&self, mut records: &mut [u8], factor: f64) -> Option<()> {
        while !records.is_empty() {
            let bins = usize::try_from(self.value(records.get(24..32)?)).ok()?;
            self.scale(&mut records[16..24], factor);
            records = records.get_mut(bins.checked_mul(16)?.checked_add(48)?..)?;
        }
        Some(())
    }

    fn stretch_segments(&self, mut records: &mut [u8], threads: bool, factor: f64) -> Option<()> {
        let width = if threads { 40 } else { 32 };
        while !records.is_empty() {
            let count = |at: usize| usize::try_from(self.value(records.get(at..at + 8)?)).ok();
            let segments = count(88)?.checked_add(count(96)?)?;
            let end = segments.checked_mul(width)?.checked_add(104)?;
            for segment in records.get_mut(104..end)?.chunks_exact_mut(width) {
                self.scale(&mut segment[16..24], factor);
                self.scale(&mut segment[24..32], factor);
            }
            records = &mut records[end..];
        }
        Some(())
    }

    /// A copy with another identity, and its run time in whole seconds.
    fn copy(&self, who: &Identity) -> Result<(Vec<u8>, i64)> {
        let mut job = self.job.clone();
        let (end_at, id_at) = if self.wide { (24, 48) } else { (16, 32) };
        let run = self.job_number(end_at).saturating_sub(self.job_number(8));
        let run = (run as f64 * who.stretch).ceil() as i64;
        self.put(&mut job, 0, who.user);
        self.put(&mut job, 8, who.start);
        self.put(&mut job, end_at, who.start.saturating_add(run));
        self.put(&mut job, id_at, who.job);
        let text_at = self.text_at();
        let end = job[text_at..].iter().position(|b| *b == 0).map_or(job.len(), |i| text_at + i);
        let mounts = job[text_at..end].iter().position(|b| *b == b'\n').map_or(end, |i| text_at + i);
        let mut text = who.command.clone().into_bytes();
        text.extend_from_slice(&job[mounts..end]);
        text.truncate(JOB_BYTES - text_at - 1);
        job.truncate(text_at);
        job.extend(text);
        job.push(0);
        let region = deflate(&job);
        let mut log = self.bytes[..self.head].to_vec();
        log.extend(&region);
        if who.stretch == 1.0 {
            let shift = region.len() as i64 - (self.first - self.head) as i64;
            for &at in &self.maps {
                if let Some(offset) = self.get(at).filter(|o| *o > 0) {
                    self.put(&mut log, at, (offset as i64).saturating_add(shift));
                }
            }
            log.extend_from_slice(&self.bytes[self.first..]);
            return Ok((log, run));
        }
        let regions = if self.wide { self.regions(who.stretch) } else { None };
        for (at, bytes) in regions.ok_or_else(|| {
            usage("the times of this log cannot be stretched")
                .expected("a sound log of Darshan 3.4.1 or later")
                .in_file(&self.name)
        })? {
            let offset = log.len() as i64;
            self.put(&mut log, at, offset);
            self.put(&mut log, at + 8, bytes.len() as i64);
            log.extend(bytes);
        }
        Ok((log, run))
    }
}

struct Identity {
    user: i64,
    start: i64,
    job: i64,
    command: String,
    /// Factor of its times.
    stretch: f64,
}

/// All zlib streams of a region, up to about as many bytes.
fn inflate(region: &[u8], most: usize) -> Option<Vec<u8>> {
    use std::io::Read;
    let (mut out, mut rest) = (Vec::new(), region);
    while !rest.is_empty() && out.len() < most {
        let mut d = flate2::bufread::ZlibDecoder::new(rest);
        (&mut d).take(most as u64).read_to_end(&mut out).ok()?;
        rest = d.into_inner();
    }
    Some(out)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    // writing to memory cannot fail
    let _ = e.write_all(bytes);
    e.finish().unwrap_or_default()
}

/// Makes the logs; gives their number.
///
/// # Errors
/// [`ErrorKind::Malformed`] for a log that cannot be copied, [`ErrorKind::Output`] if one cannot be written.
pub fn run(a: &Arguments) -> Result<usize> {
    if !(0.0..=1.0).contains(&a.bad) || a.days == 0 {
        return Err(usage("--bad is a share between 0 and 1, --days at least 1"));
    }
    let templates = a.logs.iter().map(|p| Template::read(p)).collect::<Result<Vec<_>>>()?;
    let mut random = Random(a.seed);
    let mut starts: Vec<u64> = (0..a.count).map(|_| random.below(a.days * 86_400)).collect();
    starts.sort_unstable();
    let mut truth = String::from("path,source,job_id,uid,start_unix_s,run_time_s,version,damage,stretch\n");
    let mut stretches: BTreeMap<(&str, String), f64> = BTreeMap::new();
    // a sequence of its own: the same seed gives the same logs, stretched or not
    let mut factors = Random(!a.seed);
    for (i, s) in starts.into_iter().enumerate() {
        let t = random.below(templates.len() as u64) as usize;
        let user = random.below(200);
        let app = APPS[(user as usize + t) % APPS.len()];
        let version = format!("{}.{}", 1 + u64::from(s > a.days * 43_200), random.below(3));
        let command = format!("/sw/{app}/{version}/bin/{app} --case {}", random.below(20));
        let (low, high) = a.stretch;
        let stretch = *stretches.entry((app, version.clone())).or_insert_with(|| low + (high - low) * factors.share());
        let job = 4_000_000 + i as i64;
        let who = Identity { user: 20_000 + user as i64, start: FIRST + s as i64, job, command, stretch };
        let (mut bytes, run) = templates[t].copy(&who)?;
        let damage = if random.share() < a.bad { damage(&mut bytes, &mut random) } else { "none" };
        let day = Time::of_seconds(who.start as f64).date_time().unwrap_or_default();
        let name = format!(
            "{}/user{user}_{app}_id{}_{}-{}-{}_1.darshan",
            day.format("%Y/%-m/%-d"),
            who.job,
            day.format("%-m-%-d"),
            who.start.rem_euclid(86_400),
            random.next() >> 1
        );
        let path = a.out.join(&name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).or_output(folder)?;
        }
        fs::write(&path, &bytes).map_err(|e| output(&path, e))?;
        let source = Path::new(&templates[t].name).file_name().unwrap_or_default().to_string_lossy().into_owned();
        // writing to a string cannot fail
        let _ = writeln!(
            truth,
            "{name},{source},{},{},{},{run},{version},{damage},{stretch}",
            who.job, who.user, who.start
        );
    }
    let path = a.out.join("truth.csv");
    fs::write(&path, truth)
        .map_err(|e| Error::new(ErrorKind::Output, e.to_string()).in_file(path.display().to_string()))?;
    Ok(a.count)
}

/// Damages a log: cuts it, flips a bit, or empties it.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    match random.below(3) {
        0 => {
            bytes.truncate(1 + random.below(bytes.len().max(2) as u64 - 1) as usize);
            "cut"
        }
        1 => {
            let at = random.below(bytes.len().max(1) as u64) as usize;
            if let Some(b) = bytes.get_mut(at) {
                *b ^= 1 << random.below(8);
            }
            "flip"
        }
        _ => {
            bytes.clear();
            "empty"
        }
    }
}
