//! Recipes of package managers agree with Cargo.toml and with the package of `scripts/release`.

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

/// No crate links a library of the system.
#[test]
fn recipes_depend_on_rust_alone_and_have_the_features_of_the_package() {
    let release = read("scripts/release");
    let (_, options) = release.split_once("--features ").expect("scripts/release names features");
    let features = options.split_whitespace().next().unwrap_or_default();
    let conda = read("packaging/conda/meta.yaml");
    let (_, requirements) = conda.split_once("requirements:").expect("the conda recipe has requirements");
    let (requirements, _) = requirements.split_once("\ntest:").expect("the conda recipe has a test");
    let spack = read("packaging/spack/package.py");
    for (recipe, text, part, begin) in [
        ("packaging/conda/meta.yaml", &*conda, requirements, "- "),
        ("packaging/spack/package.py", &*spack, &*spack, "depends_on("),
    ] {
        let needed: Vec<&str> = part.lines().map(str::trim).filter(|l| l.starts_with(begin)).collect();
        assert!(needed.len() == 1 && needed[0].contains("rust"), "{recipe} depends on {needed:?}");
        assert!(text.contains(features), "{recipe} builds without {features}");
    }
}
