//! For tests: every command, its kind of output, and the arguments that name its inputs. A test in `cli.rs` compares the list with clap, and
//! `tests/cli/guard.rs` tries every line of it, so no command and no option can be added without being guarded.

/// A command that does something itself.
pub(crate) struct Guarded {
    /// `fleet report`; empty for the default command.
    pub(crate) command: &'static str,
    pub(crate) writes: Writes,
    /// The arguments that name inputs: `--dsym`, or the name of a positional argument.
    pub(crate) inputs: &'static [&'static str],
}

/// The destination of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Standard output, or the file after `-o`.
    File,
    /// The folder after `-o`.
    Folder,
    /// Standard output only.
    Stdout,
}

/// The input arguments of commands that measure runs of a fleet.
const RUNS: [&str; 6] = ["INPUT", "--manifest", "--files-from", "--dsym", "--symbols", "--redact-rules"];

const fn guarded(command: &'static str, writes: Writes, inputs: &'static [&'static str]) -> Guarded {
    Guarded { command, writes, inputs }
}

pub(crate) const GUARDED: &[Guarded] = &[
    guarded("", Writes::File, &["FILE", "--source", "--intervals", "--dsym", "--symbols", "--image", "--redact-rules"]),
    guarded(
        "diff",
        Writes::File,
        &[
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
    ),
    guarded(
        "compare",
        Writes::File,
        &["INPUT", "--against", "--manifest", "--files-from", "--dsym", "--symbols", "--redact-rules"],
    ),
    guarded("trend", Writes::File, &RUNS),
    guarded("hangs", Writes::File, &["FILE", "--dsym", "--symbols", "--image", "--redact-rules"]),
    guarded("intervals", Writes::File, &["FILE", "--redact-rules"]),
    guarded("toc", Writes::File, &["FILE", "--redact-rules"]),
    guarded("tables", Writes::File, &["FILE", "--redact-rules"]),
    guarded("table", Writes::File, &["FILE", "--dsym", "--symbols", "--image"]),
    guarded("symbolicate", Writes::Stdout, &["REPORT|ADDRESS", "--object", "--dsym", "--symbols"]),
    guarded("demangle", Writes::Stdout, &[]),
    guarded("uuid", Writes::File, &["PATH"]),
    guarded("symbols", Writes::Folder, &["SOURCE"]),
    guarded("fleet report", Writes::File, &RUNS),
    guarded("fleet tree", Writes::File, &RUNS),
    guarded("fleet intervals", Writes::File, &["INPUT", "--manifest", "--files-from", "--redact-rules"]),
    guarded(
        "fleet extract",
        Writes::Folder,
        &["INPUT", "--manifest", "--files-from", "--root", "--plan", "--dsym", "--symbols", "--redact-rules"],
    ),
    guarded("fleet merge", Writes::Folder, &["DATASET"]),
    #[cfg(feature = "mcp")]
    guarded("mcp", Writes::Stdout, &[]),
    guarded("completions", Writes::Stdout, &[]),
    guarded("man", Writes::Stdout, &[]),
];
