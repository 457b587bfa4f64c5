//! Writes small traces in the layouts of Recorder.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A rule and its symbols: a signature or a rule, and how often it comes.
pub type Rule = (i32, Vec<(i32, i32)>);

/// The calls of one rank.
#[derive(Default, Clone)]
pub struct Rank {
    /// Function names and arguments, each argument followed by a blank.
    pub signatures: Vec<(&'static str, String)>,
    pub rules: Vec<Rule>,
    /// Differences of times to the start of the call before, in units of 0.1 us.
    pub times: Vec<(u32, u32)>,
}

impl Rank {
    /// Calls as `name arguments`, with start and end in units of 0.1 us.
    pub fn of(calls: &[(&'static str, u32, u32)]) -> Rank {
        let mut rank = Rank::default();
        let (mut symbols, mut before) = (Vec::new(), 0u32);
        for &(call, start, end) in calls {
            let (name, args) = call.split_once(' ').unwrap_or((call, ""));
            let signature = (name, if args.is_empty() { String::new() } else { format!("{args} ") });
            let known = rank.signatures.iter().position(|s| *s == signature);
            let id = known.unwrap_or_else(|| {
                rank.signatures.push(signature);
                rank.signatures.len() - 1
            });
            symbols.push((id as i32, 1));
            rank.times.push((start.wrapping_sub(before), end.wrapping_sub(before)));
            before = start;
        }
        rank.rules = vec![(-1, symbols)];
        rank
    }

    fn functions(ranks: &[Rank]) -> Vec<&'static str> {
        let mut all: Vec<&str> = ranks.iter().flat_map(|r| r.signatures.iter().map(|s| s.0)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Signatures; `layout` is 2 for version 2.3, else the number of bytes between call depth and arguments of version 3.
    fn signatures(&self, functions: &[&str], old: bool, call_sites: bool) -> Vec<u8> {
        let mut out = (self.signatures.len() as i32).to_le_bytes().to_vec();
        for (id, (name, args)) in self.signatures.iter().enumerate() {
            let function = functions.iter().position(|f| f == name).unwrap();
            let mut key = vec![0; 8];
            if old {
                key.push(function as u8)
            } else {
                key.extend((function as i32).to_le_bytes())
            }
            key.push(0);
            if call_sites {
                key.extend(u32::MAX.to_le_bytes());
            }
            key.push(args.bytes().filter(|b| *b == b' ').count() as u8);
            key.extend((args.len() as i32).to_le_bytes());
            key.extend(args.bytes());
            out.extend((id as i32).to_le_bytes());
            if !old {
                out.extend(0i32.to_le_bytes());
            }
            out.extend((key.len() as i32).to_le_bytes());
            if !old {
                out.extend(1u32.to_le_bytes());
            }
            out.extend(key);
        }
        out
    }

    fn grammar(&self) -> Vec<u8> {
        let mut numbers = vec![self.rules.len() as i32];
        for (id, symbols) in &self.rules {
            numbers.extend([*id, symbols.len() as i32]);
            symbols.iter().for_each(|s| numbers.extend([s.0, s.1]));
        }
        numbers.into_iter().flat_map(i32::to_le_bytes).collect()
    }

    fn times(&self) -> Vec<u8> {
        self.times.iter().flat_map(|t| [t.0, t.1]).flat_map(u32::to_le_bytes).collect()
    }
}

/// A compressed block.
pub fn packed(plain: &[u8]) -> Vec<u8> {
    let mut z = ZlibEncoder::new(Vec::new(), Compression::fast());
    z.write_all(plain).unwrap();
    let stored = z.finish().unwrap();
    let mut block = (stored.len() as u64).to_le_bytes().to_vec();
    block.extend((plain.len() as u64).to_le_bytes());
    block.extend(stored);
    block
}

/// Metadata of version 3.x; `differences`: offsets are differences.
fn metadata(functions: &[&str], ranks: usize, differences: bool) -> Vec<u8> {
    let mut m: Vec<u8> =
        [3, 1, 0, ranks as i32, functions.len() as i32].into_iter().flat_map(i32::to_le_bytes).collect();
    m.extend([1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    m.extend(1.7e9f64.to_le_bytes());
    m.extend(1e-7f64.to_le_bytes());
    m.extend(100i32.to_le_bytes());
    m.extend([1, 0, 0, u8::from(differences)]);
    for name in functions {
        let mut fixed = [0; 64];
        fixed[..name.len()].copy_from_slice(name.as_bytes());
        m.extend(fixed);
    }
    m
}

fn all_times(ranks: &[Rank]) -> Vec<u8> {
    let pieces: Vec<Vec<u8>> = ranks.iter().map(|r| packed(&r.times())).collect();
    let mut out: Vec<u8> = pieces.iter().flat_map(|p| (p.len() as u64).to_le_bytes()).collect();
    out.extend(pieces.concat());
    out
}

/// `recorder.dat` of version 1 or 2.
pub fn one_file(ranks: &[Rank], version: u32, differences: bool) -> Vec<u8> {
    let functions = Rank::functions(ranks);
    let mut sections = vec![(0u32, -1i32, metadata(&functions, ranks.len(), differences))];
    for (i, rank) in ranks.iter().enumerate() {
        sections.push((5, i as i32, packed(&rank.signatures(&functions, false, version == 2))));
        sections.push((6, i as i32, packed(&rank.grammar())));
    }
    sections.push((1, -1, all_times(ranks)));
    let mut out = b"RECORDER".to_vec();
    out.extend([version, sections.len() as u32].into_iter().flat_map(u32::to_le_bytes));
    let mut at = 16 + 24 * sections.len() as u64;
    for (kind, rank, data) in &sections {
        out.extend(kind.to_le_bytes());
        out.extend(rank.to_le_bytes());
        out.extend(at.to_le_bytes());
        out.extend((data.len() as u64).to_le_bytes());
        at += data.len() as u64;
    }
    sections.into_iter().for_each(|(_, _, data)| out.extend(data));
    out
}

/// A folder of version 3.0.
pub fn folder(path: &Path, ranks: &[Rank]) {
    let functions = Rank::functions(ranks);
    let write = |name: String, bytes: Vec<u8>| std::fs::write(path.join(name), bytes).unwrap();
    write("VERSION".into(), b"3.0.0".to_vec());
    let mut m = (ranks.len() as i32).to_le_bytes().to_vec();
    m.extend([1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    m.extend(1.7e9f64.to_le_bytes());
    m.extend(1e-7f64.to_le_bytes());
    m.extend(100i32.to_le_bytes());
    m.extend([1, 0, 0, 0]);
    m.resize(1024, 0);
    functions.iter().for_each(|f| m.extend(format!("{f}\n").bytes()));
    write("recorder.mt".into(), m);
    for (i, rank) in ranks.iter().enumerate() {
        write(format!("{i}.cst"), packed(&rank.signatures(&functions, false, false)));
        write(format!("{i}.cfg"), packed(&rank.grammar()));
    }
    write("recorder.ts".into(), all_times(ranks));
}

/// A folder of version 2.3.
pub fn old_folder(path: &Path, ranks: &[Rank]) {
    let functions = Rank::functions(ranks);
    let write = |name: String, bytes: Vec<u8>| std::fs::write(path.join(name), bytes).unwrap();
    write("VERSION".into(), b"2.3.3".to_vec());
    let mut m: Vec<u8> = [ranks.len() as i32, 0].into_iter().flat_map(i32::to_le_bytes).collect();
    m.extend(1.7e9f64.to_le_bytes());
    m.extend(1e-7f64.to_le_bytes());
    m.extend([0; 8]);
    functions.iter().for_each(|f| m.extend(format!("{f}\n").bytes()));
    write("recorder.mt".into(), m);
    for (i, rank) in ranks.iter().enumerate() {
        write(format!("{i}.cst"), rank.signatures(&functions, true, false));
        write(format!("{i}.cfg"), rank.grammar());
        write(format!("{i}.ts"), rank.times());
    }
}
