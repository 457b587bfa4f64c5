//! Fuzz targets of iophase. `scripts/fuzz` runs them; `cargo test` of iophase runs their corpora.

#[path = "../../tests/common/fuzz_targets/mod.rs"]
pub mod targets;
