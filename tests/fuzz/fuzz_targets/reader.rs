//! Any bytes through the reader, the reports and the writers; `tests/fuzz/body.rs` says what must hold.
//!
//! ```text
//! cargo install cargo-fuzz
//! mkdir -p target/fuzz-corpus
//! RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir tests/fuzz reader target/fuzz-corpus tests/fuzz/corpus/reader \
//!     -- -dict=tests/fuzz/reader.dict -max_len=16384 -max_total_time=300
//! ```
//!
//! What the fuzzer finds worth keeping goes to the first folder. An input that failed belongs to the second one, under a
//! name that says what was wrong; `cargo test --test fuzz_corpus` replays it from then on.
#![no_main]

#[path = "../body.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
