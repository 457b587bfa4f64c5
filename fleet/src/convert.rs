//! A fleet of an earlier form, whose batches are listed in files beside the tables, becomes one of Delta tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Context, input};
use crate::store::{Batch, Store};
use iophase::Result;

/// The batches of some moment.
#[derive(Deserialize)]
struct Snapshot {
    batches: Vec<Batch>,
}

/// Whether a folder has batches that were not converted.
pub(crate) fn is_earlier(folder: &Path) -> bool {
    folder.join("_snapshot.json").exists() || folder.join("_done").exists()
}

/// Converts a fleet; its files stay. Gives the number of its batches.
///
/// # Errors
/// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the folder cannot be read, [`ErrorKind::Output`](iophase::ErrorKind::Output) if it cannot
/// be written.
pub fn convert(folder: &Path) -> Result<u64> {
    if !is_earlier(folder) {
        return Store::open(folder).map(|_| 0);
    }
    let batches = batches(folder)?;
    let mut whole = Batch { id: "converted".into(), version: env!("CARGO_PKG_VERSION").into(), ..Batch::default() };
    for batch in batches.values() {
        whole.logs += batch.logs;
        whole.bad += batch.bad;
        for (table, files) in &batch.parts.0 {
            whole.parts.0.entry(table.clone()).or_default().extend(files.iter().cloned());
        }
    }
    let store = Store::at(folder).with_tables()?;
    // unless it was killed after that
    if store.batches()?.is_empty() {
        store.commit(&whole, &[])?;
    }
    store.follow()?;
    for name in ["_done", "_snapshot.json"] {
        let path = folder.join(name);
        let gone = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if path.exists() {
            gone.or_output(&path)?;
        }
    }
    Ok(batches.len() as u64)
}

/// The batches that count.
fn batches(folder: &Path) -> Result<BTreeMap<String, Batch>> {
    let mut all = BTreeMap::new();
    let path = folder.join("_snapshot.json");
    if let Ok(text) = fs::read_to_string(&path) {
        let snapshot: Snapshot = serde_json::from_str(&text).or_input(&path)?;
        all.extend(snapshot.batches.into_iter().map(|b| (b.id.clone(), b)));
    }
    for entry in fs::read_dir(folder.join("_done")).into_iter().flatten() {
        let path = entry.or_input(folder)?.path();
        if path.extension().is_some_and(|e| e == "json") {
            let text = fs::read_to_string(&path).map_err(|e| input(&path, e))?;
            let batch: Batch = serde_json::from_str(&text).or_input(&path)?;
            all.insert(batch.id.clone(), batch);
        }
    }
    let replaced: Vec<String> = all.values().flat_map(|b| b.replaces.clone()).collect();
    replaced.iter().for_each(|id| _ = all.remove(id));
    Ok(all)
}
