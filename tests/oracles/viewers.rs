//! Files for viewers, read by programs of these viewers.

mod crate_oracle;
mod firefox;
mod node;
mod pprof;
mod speedscope;
mod trace;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [firefox::trials(), pprof::trials(), speedscope::trials(), trace::trials()].into_iter().flatten().collect()
}
