//! Recipes of package managers say what Cargo.toml says.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn recipes_have_the_version_toolchain_licence_and_summary_of_the_crate() {
    let cargo = read("Cargo.toml");
    let of_crate = |key: &str| {
        let line = cargo.lines().find_map(|l| l.strip_prefix(&format!("{key} = \"")));
        line.and_then(|l| l.strip_suffix('"')).unwrap_or_else(|| panic!("Cargo.toml has no {key}")).to_owned()
    };
    let (version, rust) = (of_crate("version"), of_crate("rust-version"));
    let (licence, summary) = (of_crate("license"), of_crate("description"));
    for (recipe, said) in [
        ("packaging/conda/meta.yaml", [format!("version: \"{version}\""), format!(">={rust}")]),
        ("packaging/spack/package.py", [format!("version(\"{version}\")"), format!("rust@{rust}:")]),
    ] {
        let text = read(recipe);
        for what in said.iter().chain([&licence, &summary]) {
            assert!(text.contains(what.as_str()), "{recipe} lacks {what}");
        }
    }
}
