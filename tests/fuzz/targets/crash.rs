//! Crash reports: an input is one report. Without symbols, it is written unchanged; naming it twice equals naming it once.

use std::sync::LazyLock;

use traceparse::CrashReport;
use traceparse::files::FileSystem;
use traceparse::recording::Options;
use traceparse::symbolicate::SymbolicateOptions;
use traceparse::symbols::{Index, Locator};

use super::sample;

/// The symbols of an image that a seed has.
static SYMBOLS: LazyLock<Locator<'static>> = LazyLock::new(|| {
    let mut locator = Locator::new(&FileSystem);
    let path = support::repository("fixtures/symbols/built/inlining/Inlining.dSYM");
    locator.add(&path, &mut Index::default()).expect("the symbols can be read");
    locator
});

/// Reads the input as a recording, and names it.
///
/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    sample::check(input);
    let none = Locator::new(&FileSystem);
    let Some(same) = named(input.to_vec(), &none) else { return };
    assert!(same == input, "without symbols, nothing changes");
    let once = named(input.to_vec(), &SYMBOLS).expect("it was parsed before");
    let twice = named(once.clone(), &SYMBOLS).expect("a named report is one");
    assert!(once == twice, "naming it again changes it");
}

fn named(input: Vec<u8>, symbols: &Locator<'_>) -> Option<Vec<u8>> {
    let report = CrashReport::parse(input, "fuzz", &Options::default()).ok()?;
    let (named, _) = report.symbolicate(symbols, &SymbolicateOptions::default()).expect("memory is unlimited");
    Some(named)
}
