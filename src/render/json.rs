//! Reports as JSON, and the JSON Schemas of all outputs.

use serde::Serialize;
use serde_json::Value;

use crate::analysis::{INFO_SCHEMA, Info, PATTERNS_SCHEMA, PatternsOfTrace, REPORT_SCHEMA, Report};
use crate::classify::{CLASSES_SCHEMA, Classes};
use crate::compare::{COMPARISON_SCHEMA, Comparison};
use crate::dfg::{DFG_SCHEMA, DfgReport};
use crate::error::{Error, ErrorKind, Result};
use crate::findings::{FINDINGS_SCHEMA, Findings};
use crate::online::live::{LIVE_SCHEMA, Snapshot};
use crate::online::{PREDICTION_SCHEMA, Prediction};
#[cfg(feature = "generate")]
use crate::workload::{TRUTH_SCHEMA, Truth};

/// One line of JSON.
///
/// # Errors
/// [`ErrorKind::Output`] if a value has no JSON form.
pub fn line<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::new(ErrorKind::Output, format!("cannot be written as JSON: {e}")))
}

/// One line of JSON with only these fields; all if there are none. A path such as `signals.period.dominant` goes through objects
/// and through every element of arrays.
///
/// # Errors
/// As [`line()`]; [`ErrorKind::Usage`] if there is no such field.
pub fn line_of<T: Serialize>(value: &T, fields: &[String]) -> Result<String> {
    if fields.is_empty() {
        return line(value);
    }
    let whole = serde_json::to_value(value)
        .map_err(|e| Error::new(ErrorKind::Output, format!("cannot be written as JSON: {e}")))?;
    let mut kept = Value::Null;
    for field in fields {
        let path: Vec<&str> = field.split('.').collect();
        if !keep(&whole, &path, &mut kept) {
            return Err(Error::new(ErrorKind::Usage, format!("the JSON has no field {field}"))
                .remedy("`iophase schema` lists the fields"));
        }
    }
    line(&kept)
}

/// Copies what a path leads to; false if an object on the way has no such key.
fn keep(from: &Value, path: &[&str], to: &mut Value) -> bool {
    match (from, path) {
        (_, []) => {
            *to = from.clone();
            true
        }
        (Value::Object(object), [key, rest @ ..]) => {
            let Some(inner) = object.get(*key) else { return false };
            if to.is_null() {
                *to = Value::Object(serde_json::Map::new());
            }
            // what an earlier path has copied whole stays
            to.as_object_mut().is_none_or(|o| keep(inner, rest, o.entry(*key).or_insert(Value::Null)))
        }
        (Value::Array(elements), _) => {
            if to.is_null() {
                *to = Value::Array(vec![Value::Null; elements.len()]);
            }
            let pairs = elements.iter().zip(to.as_array_mut().into_iter().flatten());
            pairs.fold(true, |all, (element, to)| keep(element, path, to) && all)
        }
        (Value::Null, _) => true,
        _ => false,
    }
}

/// Names of the schemas that [`schema`] knows.
pub const SCHEMAS: &[&str] =
    &["report", "info", "patterns", "classes", "dfg", "findings", "comparison", "truth", "prediction", "live"];

/// The JSON Schema of an output by its short name.
pub fn schema(name: &str) -> Option<String> {
    fn of<T: schemars::JsonSchema>() -> Value {
        // Output, not input: a field that may be null is still always there.
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }
    let (schema, version) = match name {
        "report" => (of::<Report>(), REPORT_SCHEMA),
        "patterns" => (of::<PatternsOfTrace>(), PATTERNS_SCHEMA),
        "classes" => (of::<Classes>(), CLASSES_SCHEMA),
        "info" => (of::<Info>(), INFO_SCHEMA),
        "findings" => (of::<Findings>(), FINDINGS_SCHEMA),
        "comparison" => (of::<Comparison>(), COMPARISON_SCHEMA),
        "dfg" => (of::<DfgReport>(), DFG_SCHEMA),
        "prediction" => (of::<Prediction>(), PREDICTION_SCHEMA),
        "live" => (of::<Snapshot>(), LIVE_SCHEMA),
        #[cfg(feature = "generate")]
        "truth" => (of::<Truth>(), TRUTH_SCHEMA),
        _ => return None,
    };
    serde_json::to_string_pretty(&identified(schema, version)).ok()
}

/// Adds an identifier, and says that field `schema` has one value only.
fn identified(mut schema: Value, version: &str) -> Value {
    schema["$id"] = format!("urn:{}", version.replace('.', ":")).into();
    schema["title"] = version.into();
    if let Some(field) = schema.pointer_mut("/properties/schema") {
        field["const"] = version.into();
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_kept() {
        let whole = json!({"a": 1, "b": [{"c": {"d": 2.5, "e": null}}, {"c": null}], "f": {"g": 3}});
        let kept = |fields: &[&str]| line_of(&whole, &fields.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>());
        assert_eq!(kept(&["a", "b.c.d"]).unwrap(), r#"{"a":1,"b":[{"c":{"d":2.5}},{"c":null}]}"#);
        assert_eq!(kept(&["f.g", "f"]).unwrap(), r#"{"f":{"g":3}}"#);
        for wrong in ["x", "a.x", "b.c.x"] {
            assert_eq!(kept(&[wrong]).unwrap_err().kind(), ErrorKind::Usage, "{wrong}");
        }
    }
}
