//! FTIO's form: each pattern is searched once in the whole text, and its first group is an array or a number.

use std::collections::BTreeMap;

use super::super::limits::Limits;
use super::super::number::parse_f64;
use super::super::op_name::op_of;
use super::super::options::ReadOptions;
use super::super::phases::Mode;
use super::super::sections::{Arrays, of_arrays};

use super::super::source::Source;
use super::patterns::WholePatterns;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Op, RowSink, Trace, Warning};

/// Reads text by such patterns, as FTIO 0.0.9 does: the first match counts; a group with a comma is a list.
///
/// # Errors
/// Malformed if an array is missing or holds something else than numbers; limits; errors of the system; those of the sink.
pub(super) fn read(
    patterns: &WholePatterns,
    source: &Source,
    options: &ReadOptions,
    format: &'static str,
    sink: &dyn RowSink,
) -> Result<Trace> {
    let text = source.read_all(options)?;
    let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut missing = Vec::new();
    for (name, regex) in &patterns.patterns {
        match regex.captures(&text).and_then(|c| c.get(1)) {
            Some(group) => {
                let values = numbers(group.as_bytes(), group.start(), name, &options.limits)?;
                found.insert(name, values);
            }
            None => missing.push(name.as_str()),
        }
    }
    let op = patterns.op.as_deref().map(|op| op_of(op.as_bytes())).filter(|op| op.moves_bytes());
    let mode = Mode { op: op.unwrap_or(Op::Write), asynchronous: false };
    let mut arrays = Arrays::new(mode);
    for (field, source, factor) in &patterns.targets {
        let Some(values) = found.get(source.as_str()) else { continue };
        arrays.add(field, values.iter().map(|x| x * factor).collect());
    }
    if !arrays.are_useful() {
        let names = missing.join(", ");
        return Err(Error::new(
            ErrorKind::Malformed,
            format!("rates with their times are missing; no match for: {names}"),
        )
        .expected("arrays for b_rank_avr, t_rank_s and t_rank_e, or b_overlap_avr and t_overlap")
        .remedy("check the patterns, and that `translate` names these fields"));
    }
    let mut trace = of_arrays(arrays, format, &options.limits, sink)?;
    if !missing.is_empty() {
        let message = format!("patterns without a match: {}", missing.join(", "));
        trace.warnings.push(Warning::new("unmatched-patterns", message));
    }
    if op.is_none() {
        let message = "the patterns do not say whether the text holds reads or writes: taken as writes, as FTIO does";
        let remedy = "add a map `constants` with op = \"read\" or \"write\" to the file of patterns";
        trace.warnings.push(Warning::new("direction-unknown", message).remedy(remedy));
    }
    Ok(trace)
}

/// The numbers of a group: a list if it has a comma. Leading zeros are met.
fn numbers(group: &[u8], at: usize, name: &str, limits: &Limits) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    let mut place = at;
    for item in group.split(|&b| b == b',') {
        let text = item.trim_ascii();
        // A comma may follow the last number.
        if !text.is_empty() || place + item.len() < at + group.len() {
            let x = parse_f64(text).ok_or_else(|| {
                let found = format!("{} in the group of pattern {name}", super::super::lines::quote(text));
                Error::malformed(Place::Byte(place as u64), found).expected("numbers with commas between them")
            })?;
            values.push(x);
        }
        place += item.len() + 1;
        if values.len() > limits.records {
            return Err(Error::limit(
                format!("pattern {name} finds more numbers"),
                format!("{} records", limits.records),
            ));
        }
    }
    Ok(values)
}
