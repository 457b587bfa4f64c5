//! Devices whose bytes others of the same table count too: partitions, totals, and what stands on disks (device mapper, LVM, multipath, RAID).

use std::collections::HashMap;

use super::sheet::{Group, Meaning};
use crate::formats::rates::ValueKind;
use crate::record::{Op, Warning};
use crate::remedy::Remedy;

/// Rounding of readings: a device stands on disks if it moves at most this share more than they; a total equals their sum within it.
const ROUNDING: f64 = 0.02;
/// Names that tools give to the total of all devices.
const TOTALS: [&str; 3] = ["ALL", "total", "all"];

/// Columns of groups that count what others count.
#[derive(Default)]
pub(super) struct Stacked {
    /// Groups and their columns, in order.
    pub(super) left_out: Vec<(usize, usize)>,
    /// Names of what is left out, each once.
    names: Vec<String>,
}

impl Stacked {
    /// The warning about these devices; `counted`: nothing is left out.
    pub(super) fn warning(&self, counted: bool) -> Option<Warning> {
        const SHOWN: usize = 4;
        let named: Vec<&str> =
            self.names.iter().take(SHOWN).map(|n| if n.is_empty() { "the total" } else { n }).collect();
        let more = if self.names.len() > SHOWN { ", …" } else { "" };
        let what = match counted {
            true => "are counted by other devices too: bytes count on both",
            false => "are counted by other devices too and were left out, so that bytes count once",
        };
        let message = format!("the bytes of {}{more} {what}", named.join(", "));
        (!named.is_empty()).then(|| Warning::new("stacked-devices", message).remedy(Remedy::ChooseDevices))
    }
}

/// The layer of a device, by its name.
#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Disk,
    /// Stands on disks.
    Above,
    Other,
}

fn layer(name: &str) -> Layer {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let lettered = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_lowercase()))
    };
    let is_nvme = || {
        let rest = name.strip_prefix("nvme")?.trim_start_matches(|c: char| c.is_ascii_digit());
        Some(rest.starts_with(['n', 'c']) && !rest.contains('p'))
    };
    if ["dm-", "md", "loop", "drbd", "bcache"].iter().any(|p| numbered(p)) || name.starts_with("mpath") {
        Layer::Above
    } else if ["sd", "vd", "xvd", "hd", "dasd", "ubd"].iter().any(|p| lettered(p))
        || ["mmcblk", "pmem", "nbd", "rbd"].iter().any(|p| numbered(p))
        || is_nvme().unwrap_or(false)
    {
        Layer::Disk
    } else {
        Layer::Other
    }
}

/// The device that a partition is of, by its name.
fn disk_of(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() {
        return None;
    }
    match stem.strip_suffix('p').filter(|disk| disk.ends_with(|c: char| c.is_ascii_digit())) {
        Some(disk) => Some(disk),
        None => (layer(stem) == Layer::Disk).then_some(stem),
    }
}

/// One device of one node: its columns, and what it moved in each direction, in any unit.
struct Device {
    columns: Vec<(usize, usize)>,
    moved: [f64; 2],
}

/// The host and the rank of a node.
type Node<'g> = (&'g str, Option<u32>);

/// Finds the devices of each node that stand on others or add them up.
pub(super) fn find(groups: &[Group], meanings: &[Meaning], tool: &str) -> Stacked {
    let mut nodes: HashMap<Node<'_>, Vec<(&str, Device)>> = HashMap::new();
    let mut places: HashMap<(Node<'_>, &str), usize> = HashMap::new();
    for (g, group) in groups.iter().enumerate() {
        let Some(meaning) = meanings.get(group.meaning) else { continue };
        for (c, ((op, device), values)) in meaning.columns.iter().zip(&group.columns).enumerate() {
            let name = if device.is_empty() { group.device.as_str() } else { device.as_str() };
            let node = (group.host.as_str(), group.rank);
            let devices = nodes.entry(node).or_default();
            let at = *places.entry((node, name)).or_insert(devices.len());
            if at == devices.len() {
                devices.push((name, Device { columns: Vec::new(), moved: [0.0; 2] }));
            }
            devices[at].1.columns.push((g, c));
            devices[at].1.moved[usize::from(*op == Op::Write)] += moved(meaning.kind, values);
        }
    }
    let mut all = Stacked::default();
    for devices in nodes.values() {
        let (names, columns) = of_node(devices, tool);
        all.left_out.extend(columns);
        all.names.extend(names);
    }
    all.left_out.sort_unstable();
    all.names.sort_unstable();
    all.names.dedup();
    all
}

fn moved(kind: ValueKind, values: &[f64]) -> f64 {
    let mut there = values.iter().copied().filter(|v| v.is_finite());
    match kind {
        ValueKind::Cumulative => there.next().zip(there.next_back()).map_or(0.0, |(a, b)| (b - a).max(0.0)),
        _ => there.sum(),
    }
}

/// Names and columns of what is counted by other devices of the node.
fn of_node(devices: &[(&str, Device)], tool: &str) -> (Vec<String>, Vec<(usize, usize)>) {
    let moved: Vec<(&str, [f64; 2])> = devices.iter().map(|(name, d)| (*name, d.moved)).collect();
    let is_counted = counted_by_others(&moved, tool);
    let counted: Vec<_> = devices.iter().zip(&moved).filter(|(_, m)| is_counted(m)).map(|(d, _)| d).collect();
    let columns = counted.iter().flat_map(|(_, d)| d.columns.clone()).collect();
    (counted.iter().map(|(n, _)| (*n).to_owned()).collect(), columns)
}

/// Tells which of the devices of a node, with what they read and wrote, are counted by others of them.
fn counted_by_others<N: AsRef<str>>(devices: &[(N, [f64; 2])], tool: &str) -> impl Fn(&(N, [f64; 2])) -> bool {
    let has = move |name: &str| devices.iter().any(|(n, _)| n.as_ref() == name);
    let mut disks = devices.iter().filter(|(n, _)| layer(n.as_ref()) == Layer::Disk).peekable();
    let any_disk = disks.peek().is_some();
    let (below, number) = disks.fold(([0.0; 2], 0), |(sum, n), (_, d)| ([0, 1].map(|i| sum[i] + d[i]), n + 1));
    let within = move |d: &[f64; 2]| (0..2).all(|i| d[i] <= below[i] * (1.0 + ROUNDING));
    let equal = move |d: &[f64; 2]| (0..2).all(|i| (d[i] - below[i]).abs() <= below[i] * ROUNDING);
    let (several, of_tool) = (devices.len() > 1, matches!(tool, "sadf" | "sar"));
    let groups = tool == "iostat" && number > 1;
    move |(name, moved)| {
        let name = name.as_ref();
        let is_total = several && (TOTALS.contains(&name) || name.is_empty() && of_tool);
        let is_partition = disk_of(name).is_some_and(has);
        let is_above = any_disk && layer(name) == Layer::Above && within(moved);
        // iostat -g names a total as the user likes
        let is_group = groups && layer(name) == Layer::Other && equal(moved) && disk_of(name).is_none();
        is_total || is_partition || is_above || is_group
    }
}

/// The devices of a table that grows, with what they have moved so far.
#[derive(Default)]
pub(super) struct Devices {
    nodes: HashMap<(String, Option<u32>), Vec<MovedBytes>>,
}

/// A device and the bytes that it has read and written.
type MovedBytes = (String, [f64; 2]);

impl Devices {
    /// Takes note of the device of a group, or of one of its columns.
    pub(super) fn see(&mut self, group: &Group, device: &str) {
        let name = if device.is_empty() { group.device.as_str() } else { device };
        let devices = self.nodes.entry((group.host.clone(), group.rank)).or_default();
        if devices.iter().all(|(n, _)| n != name) {
            devices.push((name.to_owned(), [0.0; 2]));
        }
    }

    /// Counts what such a device moved; true if others count it, as what all moved before shows.
    pub(super) fn count(&mut self, group: &Group, (device, op): (&str, Op), bytes: f64, tool: &str) -> bool {
        let name = if device.is_empty() { group.device.as_str() } else { device };
        let devices = self.nodes.entry((group.host.clone(), group.rank)).or_default();
        let Some(at) = devices.iter().position(|(n, _)| n == name) else { return false };
        let counted = counted_by_others(devices, tool)(&devices[at]);
        devices[at].1[usize::from(op == Op::Write)] += bytes;
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(tool: &str, devices: &[(&str, f64)]) -> Vec<String> {
        let group = |&(device, written): &(&str, f64)| {
            let mut group = Group::new(0, None, String::new(), device.to_owned());
            group.push(1.0, &[0.0, written]);
            group
        };
        let meanings = [Meaning::read_and_written(ValueKind::Rate)];
        find(&devices.iter().map(group).collect::<Vec<_>>(), &meanings, tool).names
    }

    #[test]
    fn what_others_count_is_told_by_names_and_amounts() {
        for (devices, expected) in [
            (&[("sda", 9.0), ("sda1", 4.0), ("sda2", 5.0)][..], &["sda1", "sda2"][..]),
            (&[("nvme0n1", 9.0), ("nvme0n1p1", 9.0), ("nvme1n1", 1.0)], &["nvme0n1p1"]),
            (&[("mmcblk0", 9.0), ("mmcblk0p2", 9.0)], &["mmcblk0p2"]),
            (&[("sda1", 4.0), ("sda2", 5.0)], &[]),
            (&[("sda", 9.0), ("sdb", 1.0), ("ALL", 10.0)], &["ALL"]),
            (&[("sda", 9.0), ("sdb", 1.0), ("scratch disks", 10.0)], &["scratch disks"]),
            (&[("sda", 9.0), ("dm-0", 9.0), ("dm-1", 3.0)], &["dm-0", "dm-1"]),
            (&[("sda", 9.0), ("sdb", 9.0), ("mpatha", 18.0), ("md127", 9.0)], &["md127", "mpatha"]),
            // it stands on disks that are not here
            (&[("sda", 9.0), ("dm-0", 90.0)], &[]),
            (&[("dm-0", 9.0), ("dm-1", 9.0)], &[]),
            (&[("", 9.0)], &[]),
            (&[("job.1", 9.0), ("job.2", 9.0)], &[]),
        ] {
            assert_eq!(left_out("iostat", devices), expected, "{devices:?}");
        }
    }
}
