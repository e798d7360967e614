//! For tests: every command, what it writes to, and the arguments by which it names what it reads. A test in `cli.rs` holds it against
//! clap, and `tests/cli/guard.rs` tries every line of it, so that no command and no option can be added without the guard of outputs.

/// A command that does something by itself.
pub(crate) struct Guarded {
    /// `fleet report`; empty for reports.
    pub(crate) command: &'static str,
    pub(crate) writes: Writes,
    /// Arguments that name inputs: `--dsym`, or the name of a positional one.
    pub(crate) inputs: &'static [&'static str],
}

/// The kind of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Standard output, or the file after `-o`.
    File,
    /// The folder after `-o`.
    Folder,
    /// Standard output only.
    Stdout,
}

pub(crate) const GUARDED: [Guarded; 20] = [
    Guarded {
        command: "",
        writes: Writes::File,
        inputs: &["FILE", "--source", "--intervals", "--dsym", "--symbols", "--image", "--redact-rules"],
    },
    Guarded {
        command: "diff",
        writes: Writes::File,
        inputs: &[
            "BEFORE",
            "AFTER",
            "--before-toc",
            "--after-toc",
            "--before-intervals",
            "--after-intervals",
            "--dsym",
            "--symbols",
            "--image",
            "--redact-rules",
        ],
    },
    Guarded {
        command: "compare",
        writes: Writes::File,
        inputs: &["INPUT", "--against", "--manifest", "--files-from", "--dsym", "--symbols", "--redact-rules"],
    },
    Guarded {
        command: "trend",
        writes: Writes::File,
        inputs: &["INPUT", "--manifest", "--files-from", "--dsym", "--symbols", "--redact-rules"],
    },
    Guarded {
        command: "hangs",
        writes: Writes::File,
        inputs: &["FILE", "--dsym", "--symbols", "--image", "--redact-rules"],
    },
    Guarded { command: "intervals", writes: Writes::File, inputs: &["FILE", "--redact-rules"] },
    Guarded { command: "toc", writes: Writes::File, inputs: &["FILE", "--redact-rules"] },
    Guarded { command: "tables", writes: Writes::File, inputs: &["FILE", "--redact-rules"] },
    Guarded { command: "table", writes: Writes::File, inputs: &["FILE", "--dsym", "--symbols", "--image"] },
    Guarded { command: "symbolicate", writes: Writes::Stdout, inputs: &["--object"] },
    Guarded { command: "demangle", writes: Writes::Stdout, inputs: &[] },
    Guarded { command: "uuid", writes: Writes::Stdout, inputs: &["PATH"] },
    Guarded {
        command: "fleet report",
        writes: Writes::File,
        inputs: &["INPUT", "--manifest", "--files-from", "--dsym", "--symbols", "--redact-rules"],
    },
    Guarded {
        command: "fleet tree",
        writes: Writes::File,
        inputs: &["INPUT", "--manifest", "--files-from", "--dsym", "--symbols", "--redact-rules"],
    },
    Guarded {
        command: "fleet intervals",
        writes: Writes::File,
        inputs: &["INPUT", "--manifest", "--files-from", "--redact-rules"],
    },
    Guarded {
        command: "fleet extract",
        writes: Writes::Folder,
        inputs: &["INPUT", "--manifest", "--files-from", "--root", "--plan", "--dsym", "--symbols", "--redact-rules"],
    },
    Guarded { command: "fleet merge", writes: Writes::Folder, inputs: &["DATASET"] },
    Guarded { command: "fleet sql", writes: Writes::File, inputs: &["DIR|REPORT.json", "--dataset"] },
    Guarded { command: "completions", writes: Writes::Stdout, inputs: &[] },
    Guarded { command: "man", writes: Writes::Stdout, inputs: &[] },
];
