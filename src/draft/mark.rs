//! The mark of a trace that this program wrote: an extended attribute of the file with its length and the time of its last change.
//!
//! A file that was changed since, or copied without its attributes, has no mark that fits, and counts as somebody else's. So does every
//! file where the system or the file system has no such attributes.

use std::fs::File;

/// Name of the attribute.
#[cfg(all(target_os = "linux", feature = "cli"))]
const NAME: &str = "user.iophase.wrote";

/// Marks a file whose content is whole. Not every file system can.
#[cfg(all(target_os = "linux", feature = "cli"))]
pub(crate) fn set(file: &File) {
    if let Ok(meta) = file.metadata() {
        let _ = rustix::fs::fsetxattr(file, NAME, text(&meta).as_bytes(), rustix::fs::XattrFlags::empty());
    }
}

/// True if this program wrote the file, and nobody changed it since.
#[cfg(all(target_os = "linux", feature = "cli"))]
pub(super) fn is_set(file: &File) -> bool {
    let mut found = [0; 64];
    let (Ok(meta), Ok(n)) = (file.metadata(), rustix::fs::fgetxattr(file, NAME, &mut found)) else { return false };
    found.get(..n) == Some(text(&meta).as_bytes())
}

#[cfg(all(target_os = "linux", feature = "cli"))]
fn text(meta: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("{} {}.{:09}", meta.len(), meta.mtime(), meta.mtime_nsec())
}

#[cfg(not(all(target_os = "linux", feature = "cli")))]
pub(crate) fn set(_: &File) {}

#[cfg(not(all(target_os = "linux", feature = "cli")))]
pub(super) fn is_set(_: &File) -> bool {
    false
}
