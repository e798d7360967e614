//! The target `symbols` for libFuzzer: `tests/fuzz/targets/symbols.rs`; `tests/fuzz/README.md` explains how to run it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| traceparse_fuzz::check("symbols", data));
