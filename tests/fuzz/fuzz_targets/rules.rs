//! The target `rules` for libFuzzer: `tests/fuzz/targets/rules.rs`; `tests/fuzz/README.md` explains how to run it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| traceparse_fuzz::check("rules", data));
