//! Profiles of other tools: each is refused with a sentence that names what it is.

use std::fs::{self, File};
use std::path::Path;

use libtest_mimic::Failed;
use traceparse::ErrorKind;
use traceparse::decompress;
use traceparse::memory::MemoryBudget;
use traceparse::read;
use traceparse::recording::{Intervals, Options};

/// The folders of the corpus, and a word of the sentence.
const FORMATS: [(&str, &str); 12] = [
    ("dart", "Dart"),
    ("deepcopy", "Deep Copy"),
    ("dottrace", "dotTrace"),
    ("firefox", "Firefox Profiler"),
    ("folded", "folded stacks"),
    ("metrickit", "MetricKit"),
    ("perf-script", "perf script"),
    ("pprof", "pprof"),
    ("sample", "a report of sample"),
    ("simpleperf", "simpleperf"),
    ("speedscope", "speedscope"),
    ("spindump", "spindump"),
];

pub(crate) fn are_told_by_their_names(folder: &Path) -> Result<(), Failed> {
    let mut count = 0;
    for (format, word) in FORMATS {
        for entry in fs::read_dir(folder.join("../inputs").join(format))? {
            let path = entry?.path();
            // The name of the file says nothing.
            let open = || Ok::<_, Failed>(decompress(File::open(&path)?, &MemoryBudget::unlimited())?);
            let errors = [
                // Reports of `sample` are read, but they have no intervals.
                (format != "sample").then_some(read(open()?, "input", &Options::default()).err()),
                Some(Intervals::read(open()?, "input", &Options::default()).err()),
            ];
            for error in errors.into_iter().flatten() {
                let error = error.ok_or_else(|| format!("{} was read", path.display()))?;
                let is_told = matches!(&error.kind, ErrorKind::NotAnExport(text) if text.contains(word));
                if !is_told {
                    return Err(format!("{}: {error}", path.display()).into());
                }
            }
            count += 1;
        }
    }
    println!("{count} files");
    if count < 35 { Err(format!("only {count} files").into()) } else { Ok(()) }
}
