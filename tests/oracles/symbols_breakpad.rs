//! Breakpad files: written ones are read by `tests/oracle/breakpad.py` and compared with llvm-symbolizer, and those of the corpus's dSYMs answer
//! the same as the dSYMs.

use libtest_mimic::{Failed, Trial};
use support::breakpad::round_trip;
use support::dsym;
use traceparse::files::FileSystem;
use traceparse::symbols::{Index, Locator};

use crate::programs::{corpus, has_python, in_corpus, oracle, repository};

pub(crate) fn trials() -> Vec<Trial> {
    let of_python = trials![if has_python(); another_reader_finds_what_llvm_finds];
    let of_corpus = trials![if corpus().is_some(); dsyms_of_the_corpus_come_back];
    of_python.into_iter().chain(of_corpus).collect()
}

fn another_reader_finds_what_llvm_finds() -> Result<(), Failed> {
    let built = repository("fixtures/symbols/built");
    oracle("breakpad.py", [env!("CARGO_BIN_EXE_traceparse").as_ref(), built.as_os_str()]).map(drop)
}

fn dsyms_of_the_corpus_come_back() -> Result<(), Failed> {
    let mut all = 0;
    for path in dsym::files(&in_corpus("dsym")) {
        let mut locator = Locator::new(&FileSystem);
        locator.add(&path, &mut Index::default())?;
        for found in locator.found() {
            let (text, count) =
                round_trip(&locator, found.uuid).map_err(|error| format!("{}: {error}", path.display()))?;
            println!("{} {}: {count} addresses, {} bytes", path.display(), found.arch, text.len());
            all += count;
        }
    }
    ensure!(all > 100_000, "{all} addresses");
    Ok(())
}
