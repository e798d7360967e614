//! The target `crash` for libFuzzer: `tests/fuzz/targets/crash.rs`; `tests/fuzz/README.md` says how to run it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| traceparse_fuzz::check("crash", data));
