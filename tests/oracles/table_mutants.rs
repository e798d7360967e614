//! Well-formed mutants of exports and bundles, of which all tables are read with all columns, and compared with independent readers.
//!
//! The library and the other reader must find the same columns, rows and values. If a value leads nowhere or contradicts another one, the library must report
//! it: with an error, a rejected row, or a diagnostic at that place.
//!
//! There are few mutants by default, and 10,000 with `TRACEPARSE_THOROUGH=10`, some of them of real bundles. Another
//! `TRACEPARSE_ORACLE_SEED` (1) makes other mutants. Without Python, the tests report themselves as ignored. With `TRACEPARSE_CORPUS`, real
//! files are changed as well.

mod bundles;
mod exports;

use libtest_mimic::Trial;

use crate::programs::{corpus, has_python, number};

/// The numbers of mutants: of exports, of invented bundles, and of real ones, which take much longer.
const THOROUGH: [u64; 3] = [6_000, 3_940, 60];

pub(crate) fn trials() -> Vec<Trial> {
    let seed = number("TRACEPARSE_ORACLE_SEED").unwrap_or(1);
    let is_thorough = std::env::var_os("TRACEPARSE_THOROUGH").is_some();
    let count = |all| if is_thorough { support::rounds(all) } else { all / 40 };
    let [of_exports, of_invented, of_real] = THOROUGH.map(count);
    let exports = trial!("exports", move || exports::try_mutants(of_exports, seed));
    let invented = trial!("invented_bundles", move || bundles::try_invented(of_invented, seed));
    let real = trial!("real_bundles", move || bundles::try_real(of_real, seed));
    let is_there = has_python();
    let has_real = is_there && is_thorough && corpus().is_some();
    vec![exports.with_ignored_flag(!is_there), invented.with_ignored_flag(!is_there), real.with_ignored_flag(!has_real)]
}
