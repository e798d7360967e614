//! The targets: the form of an input, and the rules that hold for any input.
//!
//! A check is a function of bytes that panics if a rule does not hold. libFuzzer calls it (`fuzz_targets/`), the loop in
//! `tests/fuzz/main.rs` calls it for new inputs and for the inputs in the corpora.

// Tests and fuzz programs use a part each.
#![allow(dead_code, unreachable_pub)]

pub(crate) mod archive;
pub(crate) mod bundle;
pub(crate) mod crash;
pub(crate) mod dataset;
pub(crate) mod demangle;
pub(crate) mod dwarf;
pub(crate) mod edits;
pub(crate) mod look_ups;
pub(crate) mod reports;
pub(crate) mod rules;
pub(crate) mod sample;
pub(crate) mod symbols;
pub(crate) mod tables;
pub(crate) mod xml;

/// A target.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// The name of the target, its corpus, its dictionary and its program.
    pub(crate) name: &'static str,
    /// Panics where something does not hold for these bytes.
    pub(crate) check: fn(&[u8]),
    /// The same with all that is too slow for millions of inputs.
    pub(crate) replay: fn(&[u8]),
    /// The longest input that is worth its time.
    pub(crate) longest: usize,
    /// The most memory that an input may take, in MiB.
    pub(crate) memory: usize,
}

impl Target {
    const fn new(name: &'static str, check: fn(&[u8]), longest: usize, memory: usize) -> Self {
        Self { name, check, replay: check, longest, memory }
    }
}

/// All targets.
pub(crate) const TARGETS: [Target; 16] = [
    Target { replay: xml::check_everything, ..Target::new("xml", xml::check, 16_384, 256) },
    Target::new("bundle", bundle::check, 512, 256),
    Target::new("tables", tables::check, 16_384, 256),
    Target::new("archive", archive::check, 16_384, 256),
    Target::new("symbols", symbols::check, 4_096, 256),
    Target::new("dwarf", dwarf::check, 512, 256),
    Target::new("dataset", dataset::check, 1_024, 256),
    Target::new("sample", sample::check, 8_192, 256),
    Target::new("dart", sample::check, 8_192, 256),
    Target::new("metrickit", sample::check, 8_192, 256),
    Target::new("crash", crash::check, 8_192, 256),
    Target::new("spindump", sample::check, 8_192, 256),
    Target::new("deep_copy", sample::check, 4_096, 256),
    Target::new("dottrace", sample::check, 8_192, 256),
    Target::new("rules", rules::check, 2_048, 256),
    // A name of a few hundred bytes may expand to a megabyte, and take several megabytes while it is demangled.
    Target::new("demangle", demangle::check, 512, 1_024),
];

/// Checks an input of a target.
///
/// # Panics
/// When something does not hold, or there is no such target.
pub fn check(target: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|known| known.name == target).expect("a target");
    (target.check)(input);
}
