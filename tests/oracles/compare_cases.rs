//! Every case of `benches/compare/cases.py`: verdicts that were once wrong, on invented recordings and on recordings of the corpus.

use std::process::Command;

use libtest_mimic::Trial;

use crate::programs::{has_python, python, repository, said};

pub(crate) fn trials() -> Vec<Trial> {
    if !has_python() {
        return vec![trial!("cases", || Ok(())).with_ignored_flag(true)];
    }
    let names = said(script().arg("--list")).expect("the names of the cases");
    names.lines().map(|name| trial_of(name.to_owned())).collect()
}

fn trial_of(name: String) -> Trial {
    trial!(name.clone(), move || {
        println!("{}", said(script().arg(env!("CARGO_BIN_EXE_traceparse")).arg(name))?);
        Ok(())
    })
}

fn script() -> Command {
    let mut script = python();
    script.arg(repository("benches/compare/cases.py"));
    script
}
