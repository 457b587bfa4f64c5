//! All targets in one binary: `IOPHASE_FUZZ_TARGET` names the one.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    static TARGET: std::sync::LazyLock<fn(&[u8])> = std::sync::LazyLock::new(|| {
        let name = std::env::var("IOPHASE_FUZZ_TARGET").unwrap_or_default();
        iophase_fuzz::named(&name).unwrap_or_else(|| panic!("no target is called `{name}`"))
    });
    TARGET(data);
});

#[cfg(not(fuzzing))]
fn main() {}
