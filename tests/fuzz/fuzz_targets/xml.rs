//! The target `xml` for libFuzzer: `tests/fuzz/targets/xml.rs`; `tests/fuzz/README.md` explains how to run it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| traceparse_fuzz::check("xml", data));
