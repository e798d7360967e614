//! The answers of `traceparse hangs` about invented recordings and reports whose truth is known, judged by `tests/oracle/hang_truth.py`.
//!
//! There are 600 with `TRACEPARSE_THOROUGH=10`, and a tenth of them by default. `TRACEPARSE_ORACLE_SEED` (1) selects different ones.

use libtest_mimic::{Failed, Trial};

use crate::programs::{has_python, number, oracle};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if has_python(); no_answer_contradicts_the_truth]
}

fn no_answer_contradicts_the_truth() -> Result<(), Failed> {
    let seed = number("TRACEPARSE_ORACLE_SEED").unwrap_or(1).to_string();
    let count = support::rounds(600).to_string();
    oracle("hang_truth.py", [env!("CARGO_BIN_EXE_traceparse"), seed.as_str(), count.as_str()]).map(drop)
}
