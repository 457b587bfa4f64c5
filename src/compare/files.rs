//! Families of files of a run, and which of them belong together in two runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::classify::{Axis, Classes, GlobalClass};
use crate::facts::{self, FileFamily};
use crate::record::{Trace, stem};

/// Files whose names differ in digits only.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FamilyFacts {
    /// Name without the folder that all files of the run are in; digits are `#`.
    pub name: String,
    pub files: u64,
    /// Read, written.
    pub bytes: [u64; 2],
    /// Seconds of all ranks.
    pub time_s: f64,
    /// Access class of most of the bytes: mix, order, sizes.
    pub class: Option<String>,
    /// Stripe unit and count of its first file.
    pub stripes: Option<(u64, u64)>,
    /// File system.
    pub mount: Option<String>,
}

impl FamilyFacts {
    pub fn moved(&self) -> u64 {
        self.bytes[0].saturating_add(self.bytes[1])
    }
}

/// The families of a trace, from its counters, or else from its rows, and the folder that all files are in.
pub(super) fn families(trace: &Trace, classes: Option<&Classes>) -> (Vec<FamilyFacts>, String) {
    let counters = trace.counters.as_deref();
    let counted = counters.map(facts::files_of_counters).filter(|files| !files.is_empty());
    let (files, all_names) = match (counted, counters) {
        (Some(files), Some(c)) => (files, &c.files),
        _ => (facts::files_of_rows(trace), &trace.files),
    };
    let length = common_folder(files.iter().map(|f| all_names.name(f.file)));
    let folder = files.first().map_or(String::new(), |f| all_names.name(f.file)[..length].to_owned());
    let names = |name: &str| family_name(name, &folder);
    let mut of_class: HashMap<String, BTreeMap<String, u64>> = HashMap::new();
    for f in classes.iter().flat_map(|c| &c.files) {
        let Some(name) = &f.file else { continue };
        let all = of_class.entry(names(name)).or_default();
        f.global.iter().for_each(|g| *all.entry(class(g)).or_default() += g.bytes);
    }
    let of_family = |f: FileFamily| {
        let first = all_names.name(f.sum.file);
        let name = names(first);
        FamilyFacts {
            class: of_class.get(&name).and_then(|c| c.iter().max_by_key(|x| x.1)).map(|c| c.0.clone()),
            stripes: stripes(trace, first),
            mount: trace.counters.as_ref().and_then(|c| c.mount(first)).map(|m| m.kind.clone()),
            files: f.files.len() as u64,
            bytes: f.sum.bytes,
            time_s: f.sum.spent(),
            name,
        }
    };
    (facts::families(files, all_names, names).into_iter().map(of_family).collect(), folder)
}

/// The name of the family of a file of a run whose files are in this folder.
pub(super) fn family_name(file: &str, folder: &str) -> String {
    stem(file.strip_prefix(folder).unwrap_or(file))
}

fn class(g: &GlobalClass) -> String {
    format!("{} {} {}", g.mix.name(), g.sequentiality.name(), g.size.name())
}

fn stripes(trace: &Trace, name: &str) -> Option<(u64, u64)> {
    let c = trace.counters.as_ref()?;
    c.layouts.iter().find(|l| c.files.name(l.file) == name).map(|l| (l.stripe_bytes, l.stripes))
}

/// Length of the path that all names begin with, up to and with its last `/`.
fn common_folder<'a>(mut names: impl Iterator<Item = &'a str>) -> usize {
    let Some(first) = names.next() else { return 0 };
    let mut common = first.rfind('/').map_or(0, |i| i + 1);
    for name in names {
        let same = first.bytes().zip(name.bytes()).take(common).take_while(|(a, b)| a == b).count();
        common = first.as_bytes()[..same].iter().rposition(|b| *b == b'/').map_or(0, |i| i + 1);
    }
    common
}

/// Families of both runs side by side.
pub(super) type Pair<'a> = (Option<&'a FamilyFacts>, Option<&'a FamilyFacts>);

/// Pairs families by name; of those left over, by what is moved and how often, if that leaves one choice.
pub(super) fn pair<'a>(before: &'a [FamilyFacts], after: &'a [FamilyFacts]) -> Vec<Pair<'a>> {
    let by_name: HashMap<&str, &FamilyFacts> = after.iter().map(|f| (f.name.as_str(), f)).collect();
    let names: HashSet<&str> = before.iter().map(|f| f.name.as_str()).collect();
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let mut alone: Vec<&FamilyFacts> = Vec::new();
    for f in before {
        match by_name.get(f.name.as_str()) {
            Some(other) => pairs.push((Some(f), Some(other))),
            None => alone.push(f),
        }
    }
    let mut others: Vec<&FamilyFacts> = after.iter().filter(|f| !names.contains(f.name.as_str())).collect();
    let similar = |a: &FamilyFacts, b: &FamilyFacts| a.files == b.files && a.bytes == b.bytes && a.class == b.class;
    for f in alone.clone() {
        let mut like = others.iter().enumerate().filter(|(_, o)| similar(f, o)).map(|(i, _)| i);
        let unique = alone.iter().filter(|o| similar(f, o)).count() == 1;
        if let (Some(i), None, true) = (like.next(), like.next(), unique) {
            pairs.push((Some(f), Some(others.remove(i))));
        } else {
            pairs.push((Some(f), None));
        }
    }
    pairs.extend(others.into_iter().map(|f| (None, Some(f))));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str, written: u64) -> FamilyFacts {
        FamilyFacts { name: name.into(), files: 1, bytes: [0, written], ..FamilyFacts::default() }
    }

    #[test]
    fn the_folder_of_a_run_is_no_part_of_a_name() {
        assert_eq!(common_folder(["/s/run1/a.h5", "/s/run1/b/c"].into_iter()), 8);
        assert_eq!(common_folder(["/s/run1/a.h5"].into_iter()), 8);
        assert_eq!(common_folder(["/s/a1/x", "/s/a2/x"].into_iter()), 3);
        assert_eq!(common_folder(["a", "/b"].into_iter()), 0);
    }

    #[test]
    fn families_pair_by_name_and_then_by_what_is_moved() {
        let before = [family("out.#", 100), family("old", 7), family("x", 3), family("y", 3)];
        let after = [family("out.#", 900), family("new", 7), family("z", 3)];
        let names: Vec<_> = pair(&before, &after)
            .into_iter()
            .map(|(a, b)| (a.map_or("", |f| &f.name).to_owned(), b.map_or("", |f| &f.name).to_owned()))
            .collect();
        let want = [("out.#", "out.#"), ("old", "new"), ("x", ""), ("y", ""), ("", "z")];
        assert_eq!(names, want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
