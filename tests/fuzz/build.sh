#!/bin/sh
# Builds the fuzz programs for libFuzzer with a stable compiler and no cargo-fuzz: target/guided/release/TARGET.
set -eu
cd "$(dirname "$0")"
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
# The crate libfuzzer-sys has the functions that instrumented code calls; build scripts run without them, so they are built
# apart (--target).
host="$(rustc -vV | sed -n 's/^host: //p')"
RUSTFLAGS="--cfg fuzzing $coverage -Ccodegen-units=4" exec cargo build --release --locked --target "$host" --target-dir target/guided "$@"
