#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| iophase_fuzz::read_as(data));

#[cfg(not(fuzzing))]
fn main() {}
