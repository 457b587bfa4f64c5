//! Grammars: the calls of a rank, written as rules that repeat.

use std::collections::HashMap;

use crate::error::Result;
use crate::formats::bytes::Cursor;

/// The rule that stands for all calls.
const START: i32 = -1;

/// One place of a rule: a call or another rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A call, by the number of its signature.
    Call(u32),
    /// Another rule, by its place.
    Rule(usize),
}

/// Something that comes several times in a row.
#[derive(Debug, Clone, Copy)]
struct Symbol {
    what: What,
    times: u64,
}

/// The rules, checked: every name exists, none contains itself, and the number of calls is known.
///
/// Rules without calls and rules that only stand for one symbol are replaced where they are used. So each step of the expansion
/// either gives a call or opens a rule of two symbols or more, and the whole takes time in proportion to the calls.
#[derive(Debug)]
pub(super) struct Grammar {
    rules: Vec<Vec<Symbol>>,
    start: usize,
    /// Number of calls.
    pub len: u64,
}

impl Grammar {
    /// Parses the rules; `signatures` is the number of signatures they may name.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed).
    pub(super) fn parse(bytes: &[u8], signatures: usize) -> Result<Grammar> {
        let mut c = Cursor::new(bytes, "grammar");
        let count = c.count(8, "rules")?;
        let mut index = HashMap::new();
        let mut raw: Vec<Vec<(i32, i32)>> = Vec::new();
        for place in 0..count {
            let id = c.i32()?;
            let n = c.count(8, "symbols")?;
            if id >= 0 || index.insert(id, place).is_some() {
                return Err(c.malformed(format_args!("a rule has the number {id}, which is taken or not below 0")));
            }
            raw.push((0..n).map(|_| Ok((c.i32()?, c.i32()?))).collect::<Result<_>>()?);
        }
        if c.left() > 0 {
            return Err(c.malformed(format_args!("{} bytes follow the last rule", c.left())));
        }
        let symbol = |(value, times): (i32, i32)| {
            let what = match u32::try_from(value) {
                Ok(call) => Some(What::Call(call)).filter(|_| (call as usize) < signatures),
                Err(_) => index.get(&value).copied().map(What::Rule),
            };
            let symbol = what.zip(u64::try_from(times).ok().filter(|t| *t > 0));
            let symbol = symbol.map(|(what, times)| Symbol { what, times });
            symbol.ok_or_else(|| c.malformed(format_args!("a rule names {value}, {times} times, which is nothing")))
        };
        let rules: Vec<Vec<Symbol>> =
            raw.into_iter().map(|r| r.into_iter().map(symbol).collect()).collect::<Result<_>>()?;
        let start = *index.get(&START).ok_or_else(|| c.malformed("there is no start rule"))?;
        simplify(rules, start).map_err(|found| c.malformed(found))
    }

    /// The calls in order, in runs of equal ones.
    pub(super) fn calls(&self) -> Expansion<'_> {
        Expansion { grammar: self, stack: vec![Frame { rule: self.start, at: 0, left: 1 }] }
    }

    /// The signatures that are used, each once.
    pub(super) fn used(&self, signatures: usize) -> Vec<u32> {
        let (mut seen, mut rules) = (vec![false; signatures], vec![false; self.rules.len()]);
        let mut waiting = vec![self.start];
        while let Some(rule) = waiting.pop() {
            for symbol in &self.rules[rule] {
                match symbol.what {
                    What::Call(call) => seen[call as usize] = true,
                    What::Rule(r) if !std::mem::replace(&mut rules[r], true) => waiting.push(r),
                    What::Rule(_) => {}
                }
            }
        }
        (0..signatures as u32).filter(|&call| seen[call as usize]).collect()
    }
}

/// Checks that no rule contains itself, counts the calls and replaces rules of less than two symbols.
fn simplify(mut rules: Vec<Vec<Symbol>>, start: usize) -> Result<Grammar, String> {
    let mut lengths: Vec<Option<u64>> = vec![None; rules.len()];
    let mut open = vec![false; rules.len()];
    let mut stack = vec![(start, 0)];
    open[start] = true;
    while let Some((rule, at)) = stack.last_mut() {
        let rule = *rule;
        let next = rules[rule][*at..].iter().position(|s| matches!(s.what, What::Rule(r) if lengths[r].is_none()));
        if let Some(n) = next {
            *at += n;
            if let What::Rule(r) = rules[rule][*at].what {
                if std::mem::replace(&mut open[r], true) {
                    return Err("a rule contains itself".into());
                }
                stack.push((r, 0));
            }
            continue;
        }
        let symbols = std::mem::take(&mut rules[rule]);
        let (mut short, mut length) = (Vec::with_capacity(symbols.len()), 0u64);
        for Symbol { what, times } in symbols {
            let (what, each, times) = match what {
                What::Call(_) => (what, 1, Some(times)),
                What::Rule(r) => match rules[r][..] {
                    [] => continue,
                    [only] => (only.what, lengths[r].unwrap_or(0) / only.times, times.checked_mul(only.times)),
                    _ => (what, lengths[r].unwrap_or(0), Some(times)),
                },
            };
            let more = times.and_then(|t| each.checked_mul(t)?.checked_add(length).map(|l| (t, l)));
            let Some((times, sum)) = more else { return Err("the rules stand for more than 2^64 calls".into()) };
            length = sum;
            short.push(Symbol { what, times });
        }
        rules[rule] = short;
        lengths[rule] = Some(length);
        stack.pop();
    }
    Ok(Grammar { rules, start, len: lengths[start].unwrap_or(0) })
}

#[derive(Debug)]
struct Frame {
    rule: usize,
    at: usize,
    /// How often the rule comes yet, this time included.
    left: u64,
}

/// Goes through the calls of a grammar.
#[derive(Debug)]
pub(super) struct Expansion<'g> {
    grammar: &'g Grammar,
    stack: Vec<Frame>,
}

impl Iterator for Expansion<'_> {
    /// A signature, and how often it comes in a row.
    type Item = (u32, u64);

    #[inline]
    fn next(&mut self) -> Option<(u32, u64)> {
        loop {
            let frame = self.stack.last_mut()?;
            match self.grammar.rules[frame.rule].get(frame.at) {
                Some(&Symbol { what, times }) => {
                    frame.at += 1;
                    match what {
                        What::Call(call) => return Some((call, times)),
                        What::Rule(rule) => self.stack.push(Frame { rule, at: 0, left: times }),
                    }
                }
                None if frame.left > 1 => (frame.at, frame.left) = (0, frame.left - 1),
                None => {
                    self.stack.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Rules = Vec<(i32, Vec<(i32, i32)>)>;

    fn bytes(rules: &Rules) -> Vec<u8> {
        let mut numbers = vec![rules.len() as i32];
        for (id, symbols) in rules {
            numbers.extend([*id, symbols.len() as i32]);
            symbols.iter().for_each(|s| numbers.extend([s.0, s.1]));
        }
        numbers.into_iter().flat_map(i32::to_le_bytes).collect()
    }

    /// By the definition, rule within rule.
    fn expand(rules: &Rules, id: i32) -> Vec<u32> {
        let symbols = &rules.iter().find(|r| r.0 == id).unwrap().1;
        let one = |&(value, times): &(i32, i32)| {
            let part = if value >= 0 { vec![value as u32] } else { expand(rules, value) };
            part.repeat(times as usize)
        };
        symbols.iter().flat_map(one).collect()
    }

    fn calls(g: &Grammar) -> Vec<u32> {
        g.calls().flat_map(|(call, times)| std::iter::repeat_n(call, times as usize)).collect()
    }

    prop_compose! {
        /// Rules that name later rules only.
        fn rules()(sizes in prop::collection::vec(prop::collection::vec((0u8..9, 1i32..3), 0..4), 1..7)) -> Rules {
            let count = sizes.len() as i32;
            let symbol = |rule: i32, (value, times): (u8, i32)| {
                let later = rule + 1 + i32::from(value);
                (if value % 2 == 0 && later < count { -1 - later } else { i32::from(value) }, times)
            };
            let rule = |(i, s): (usize, Vec<(u8, i32)>)| {
                (-1 - i as i32, s.into_iter().map(|s| symbol(i as i32, s)).collect())
            };
            sizes.into_iter().enumerate().map(rule).collect()
        }
    }

    proptest! {
        #[test]
        fn the_expansion_is_that_of_the_definition(rules in rules()) {
            let g = Grammar::parse(&bytes(&rules), 9).unwrap();
            let expected = expand(&rules, -1);
            prop_assert_eq!(g.len, expected.len() as u64);
            prop_assert_eq!(calls(&g), expected.clone());
            let mut used = expected;
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(g.used(9), used);
        }
    }

    #[test]
    fn rules_that_cannot_be_expanded_are_refused() {
        let doubling: Rules =
            (1..70).map(|i| (-i, if i < 69 { vec![(-i - 1, 1), (-i - 1, 1)] } else { vec![(0, 1)] })).collect();
        for (rules, found) in [
            (vec![(-1, vec![(-2, 1)]), (-2, vec![(0, 1), (-2, 1)])], "contains itself"),
            (vec![(-1, vec![(-2, 1)])], "names -2"),
            (vec![(-1, vec![(3, 1)])], "names 3"),
            (vec![(-1, vec![(0, 0)])], "0 times"),
            (vec![(-1, vec![(0, -1)])], "-1 times"),
            (vec![(-2, vec![(0, 1)])], "no start rule"),
            (vec![(-1, vec![]), (-1, vec![])], "which is taken"),
            (vec![(1, vec![])], "not below 0"),
            (doubling, "2^64"),
        ] {
            let e = Grammar::parse(&bytes(&rules), 3).unwrap_err().to_string();
            assert!(e.contains(found), "{e}");
        }
        let mut more = bytes(&vec![(-1, vec![(0, 1)])]);
        more.push(0);
        assert!(Grammar::parse(&more, 3).is_err() && Grammar::parse(&[], 3).is_err());
    }

    #[test]
    fn empty_rules_cost_nothing_however_often_they_come() {
        let rules: Rules = vec![(-1, vec![(-2, i32::MAX), (1, 1)]), (-2, vec![(-3, i32::MAX)]), (-3, vec![])];
        let g = Grammar::parse(&bytes(&rules), 3).unwrap();
        assert_eq!((g.len, calls(&g)), (1, vec![1]));
    }
}
