//! Closed patterns that are parts of one: goes on where another was closed, another pass of its loops, passes at a constant
//! distance.

use std::collections::HashMap;

use super::nest::{Level, Nest, canonical};
use super::pattern::{Body, Pattern};
use crate::record::{FileId, Op};

/// Passes at a constant distance that make a loop, if they do not follow each other directly.
const PASSES: usize = 3;

/// Patterns ahead that are tried as the second pass.
const AHEAD: usize = 32;

/// Earlier patterns that a pattern may go on, at most: the latest ones that lead to where it begins.
const LATEST: usize = 64;

/// Stream and size; patterns of different ones have nothing to do with each other.
type Key = (Op, FileId, u64);

/// Merges the patterns of one rank. Those that come out are in the order of their first record.
pub(super) fn merge(patterns: Vec<Pattern>) -> Vec<Pattern> {
    let mut groups: HashMap<Key, Vec<Pattern>> = HashMap::new();
    let mut out = Vec::new();
    for p in patterns {
        match p.access_size() {
            Some(size) => groups.entry((p.op, p.file, size)).or_default().push(p),
            None => out.push(p),
        }
    }
    for mut group in groups.into_values() {
        if group.len() > 1 {
            group = join_sequels(group);
            group = join_passes(group);
        }
        out.append(&mut group);
    }
    out.sort_by_key(|p| (p.span, p.start_offset));
    out
}

/// Joins a pattern that is another pass, or other passes, of one that has ended.
fn join_sequels(mut group: Vec<Pattern>) -> Vec<Pattern> {
    group.sort_by_key(|p| (p.span, p.start_offset));
    let mut done: Vec<Pattern> = Vec::with_capacity(group.len());
    // Where the next pass of a pattern is due, to its number.
    let mut due: HashMap<u64, Vec<usize>> = HashMap::new();
    for p in group {
        let fits = due.get(&p.start_offset).and_then(|ids| {
            let latest = ids.iter().enumerate().rev().take(LATEST);
            latest.map(|(at, &i)| (i, at)).find(|&(i, _)| sequel(&done[i], &p).is_some())
        });
        let i = match fits {
            Some((i, at)) => {
                if let Some(ids) = due.get_mut(&p.start_offset) {
                    ids.remove(at);
                }
                if let Some(levels) = sequel(&done[i], &p) {
                    absorb(&mut done[i], p, levels);
                }
                i
            }
            None => {
                done.push(p);
                done.len() - 1
            }
        };
        let next = Nest::from_levels(done[i].start_offset, done[i].levels()).next();
        due.entry(next).or_default().push(i);
        let again = due.entry(done[i].start_offset).or_default();
        if again.last() != Some(&i) {
            again.push(i);
        }
    }
    done
}

/// The levels of both patterns together, if `b` is further passes of the outermost loop of `a`, or `a` is one pass over the places
/// that `b` goes over again and again.
fn sequel(a: &Pattern, b: &Pattern) -> Option<Vec<Level>> {
    let (top, inner) = a.levels().split_last()?;
    if a.span.1 >= b.span.0 {
        return None;
    }
    if let Some((passes, one)) = b.levels().split_last()
        && one == a.levels()
        && passes.stride == 0
        && a.start_offset == b.start_offset
    {
        let mut levels = one.to_vec();
        levels.push(Level { count: passes.count + 1, stride: 0 });
        return Some(levels);
    }
    if Nest::from_levels(a.start_offset, a.levels()).next() != b.start_offset {
        return None;
    }
    let passes = match b.levels().split_last() {
        Some((other, rest)) if rest == inner && other.stride == top.stride => other.count,
        _ if b.levels() == inner && b.records == inner.iter().map(|l| l.count).product::<u64>() => 1,
        _ => return None,
    };
    let mut levels = inner.to_vec();
    levels.push(Level { count: top.count + passes, ..*top });
    Some(levels)
}

fn absorb(a: &mut Pattern, b: Pattern, levels: Vec<Level>) {
    a.records += b.records;
    a.bytes = a.bytes.saturating_add(b.bytes);
    a.end = a.end.max(b.end);
    a.span.1 = a.span.1.max(b.span.1);
    a.steps.append(b.steps);
    a.cursor = None;
    if let Body::Strided { levels: mine, .. } = &mut a.body {
        *mine = canonical(&levels);
    }
}

/// Makes a loop of patterns of equal levels at a constant distance, one after the other.
fn join_passes(mut group: Vec<Pattern>) -> Vec<Pattern> {
    loop {
        let mut alike: HashMap<Vec<Level>, Vec<usize>> = HashMap::new();
        group.sort_by_key(|p| (p.span, p.start_offset));
        for (i, p) in group.iter().enumerate() {
            alike.entry(p.levels().to_vec()).or_default().push(i);
        }
        let mut chains: Vec<Vec<usize>> =
            alike.into_values().filter(|a| a.len() >= 2).flat_map(|a| passes(&group, &a)).collect();
        if chains.is_empty() {
            return group;
        }
        chains.sort();
        let mut slots: Vec<Option<Pattern>> = group.into_iter().map(Some).collect();
        for chain in chains {
            let mut parts: Vec<Pattern> = chain.into_iter().filter_map(|i| slots[i].take()).collect();
            if parts.len() < 2 {
                continue;
            }
            let stride = parts[1].start_offset.wrapping_sub(parts[0].start_offset) as i64;
            let mut levels = parts[0].levels().to_vec();
            levels.push(Level { count: parts.len() as u64, stride });
            let rest = parts.split_off(1);
            let Some(mut whole) = parts.pop() else { continue };
            rest.into_iter().for_each(|p| absorb(&mut whole, p, levels.clone()));
            slots.push(Some(whole));
        }
        group = slots.into_iter().flatten().collect();
    }
}

/// Chains of patterns, given in order, that begin after the one before has ended, at a constant distance.
fn passes(group: &[Pattern], alike: &[usize]) -> Vec<Vec<usize>> {
    let base = |i: usize| group[i].start_offset;
    let after = |a: usize, b: usize| group[a].span.1 < group[b].span.0;
    let mut at: HashMap<u64, Vec<usize>> = HashMap::new();
    alike.iter().for_each(|&i| at.entry(base(i)).or_default().push(i));
    let mut used = vec![false; group.len()];
    let mut chains = Vec::new();
    for (n, &first) in alike.iter().enumerate() {
        if used[first] {
            continue;
        }
        for &second in alike[n + 1..].iter().take(AHEAD) {
            if used[second] || !after(first, second) {
                continue;
            }
            let stride = base(second).wrapping_sub(base(first));
            let mut chain = vec![first, second];
            let mut last = second;
            let next = |last: usize, used: &[bool]| {
                at.get(&base(last).wrapping_add(stride))?
                    .iter()
                    .copied()
                    .find(|&i| !used[i] && i != last && after(last, i))
            };
            while let Some(i) = next(last, &used) {
                chain.push(i);
                last = i;
            }
            // The same place again is a pass even if it is only the second.
            if chain.len() >= PASSES || stride == 0 {
                chain.iter().for_each(|&i| used[i] = true);
                chains.push(chain);
                break;
            }
        }
    }
    chains
}
