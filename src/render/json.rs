//! Reports as JSON, and the JSON Schemas of all outputs.

use serde::Serialize;
use serde_json::Value;

use crate::analysis::{Info, PatternsOfTrace, Report};
use crate::classify::Classes;
use crate::dfg::DfgReport;
use crate::error::{Error, ErrorKind, Result};
use crate::online::Prediction;
use crate::online::live::Snapshot;
#[cfg(feature = "generate")]
use crate::workload::Truth;

/// One line of JSON.
///
/// # Errors
/// [`ErrorKind::Output`] if a value has no JSON form.
pub fn line<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::new(ErrorKind::Output, format!("cannot be written as JSON: {e}")))
}

/// Names of the schemas that [`schema`] knows.
pub const SCHEMAS: &[&str] = &["report", "info", "patterns", "classes", "dfg", "truth", "prediction", "live"];

/// The JSON Schema of an output by its short name.
pub fn schema(name: &str) -> Option<String> {
    // Output, not input: a field that may be null is still always there.
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = match name {
        "report" => Some(settings.into_generator().into_root_schema_for::<Report>()),
        "patterns" => Some(settings.into_generator().into_root_schema_for::<PatternsOfTrace>()),
        "classes" => Some(settings.into_generator().into_root_schema_for::<Classes>()),
        "info" => Some(settings.into_generator().into_root_schema_for::<Info>()),
        "dfg" => Some(settings.into_generator().into_root_schema_for::<DfgReport>()),
        "prediction" => Some(settings.into_generator().into_root_schema_for::<Prediction>()),
        "live" => Some(settings.into_generator().into_root_schema_for::<Snapshot>()),
        #[cfg(feature = "generate")]
        "truth" => Some(settings.into_generator().into_root_schema_for::<Truth>()),
        _ => None,
    };
    schema.and_then(|s| serde_json::to_string_pretty(&identified(s.to_value(), name)).ok())
}

/// Adds an identifier, and says that field `schema` has one value only.
fn identified(mut schema: Value, name: &str) -> Value {
    let version = format!("iophase.{name}.v1");
    schema["$id"] = format!("urn:iophase:{name}:v1").into();
    schema["title"] = version.as_str().into();
    if let Some(field) = schema.pointer_mut("/properties/schema") {
        field["const"] = version.into();
    }
    schema
}
