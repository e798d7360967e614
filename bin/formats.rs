//! The output formats and their properties.

use std::path::Path;

use clap::ValueEnum;
use traceparse::output::{self, Answer, Syntax};

use crate::sink::{Colour, style, write_inert};

/// The formats of what is not a report: contents, and lists of symbols.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TocFormat {
    Text,
    Json,
}

impl TocFormat {
    /// Writes an answer to `path`, or to standard output.
    pub(crate) fn write(self, answer: Answer<'_, '_>, path: Option<&Path>, colour: Colour) -> anyhow::Result<()> {
        let format = match self {
            Self::Text => output::Format::Text(style(path, colour)),
            Self::Json => output::Format::Json,
        };
        write_inert(path, syntax_of(self), |out| output::write(answer, &format, out))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/formats.md
    Json,
    /// A table: the functions, or another --view
    Csv,
    /// JSON lines, one object per line: the functions, or another --view
    Ndjson,
    /// Folded stacks for flame graphs: process;thread;frame;…;leaf WEIGHT
    Folded,
    /// A flame graph: one interactive file for a browser
    Svg,
    /// A page for exploring the recording: a single file that works offline in any browser
    Html,
    /// A profile for the Firefox Profiler (profiler.firefox.com)
    Firefox,
    /// A profile for speedscope (speedscope.app)
    Speedscope,
    /// For pprof and other readers of its format: stacks with addresses, lines and threads (gzip; use -o)
    Pprof,
    /// For d3-flame-graph: one tree of name, value and children
    D3,
    /// For Perfetto and chrome://tracing: what each thread did, in order of time
    ChromeTrace,
}

/// The file extensions of formats, with the name on the command line. Messages suggest the first extension of a format.
const EXTENSIONS: [(&str, &str); 15] = [
    (".txt", "text"),
    (".speedscope.json", "speedscope"),
    (".json", "json"),
    (".csv", "csv"),
    (".ndjson", "ndjson"),
    (".jsonl", "ndjson"),
    (".svg", "svg"),
    (".folded", "folded"),
    (".pb.gz", "pprof"),
    (".html", "html"),
    (".htm", "html"),
    (".md", "markdown"),
    (".xml", "junit"),
    (".parquet", "parquet"),
    (".sql", "sql"),
];

/// The format for the extension of an output, if the command has it: `json` for `functions.json`. [`check_name`] rejects extensions of
/// other formats.
pub(crate) fn format_of<F: ValueEnum>(output: Option<&Path>) -> Option<F> {
    F::from_str(told_by(&lower_name(output)?)?, false).ok()
}

/// Without a requested format, checks that the name of the output shows a format that the command writes. A file that is named like nothing
/// it writes would be mistaken for something else. Pipes and devices have any name.
pub(crate) fn check_name<F: ValueEnum>(asked: Option<F>, output: Option<&Path>) -> Result<(), String> {
    let is_stream = |path: &Path| path.as_os_str() == "-" || path.metadata().is_ok_and(|known| !known.is_file());
    let Some(path) = output.filter(|path| asked.is_none() && !is_stream(path)) else { return Ok(()) };
    if format_of::<F>(Some(path)).is_some() {
        return Ok(());
    }
    let is_written = |told: &str| F::from_str(told, false).is_ok();
    let written: Vec<&str> = EXTENSIONS.iter().filter(|(_, told)| is_written(told)).map(|(end, _)| *end).collect();
    let what = match path.extension() {
        Some(extension) => format!("cannot write {} here", extension.display().to_string().to_uppercase()),
        None => format!("the name {} shows no format", path.display()),
    };
    Err(format!(
        "{what}; name a file {}, or pass --format, such as --format text to write text into this name",
        written.join(", ")
    ))
}

/// The last part of a path, in lower case; none of standard output.
fn lower_name(output: Option<&Path>) -> Option<String> {
    Some(output?.file_name()?.to_str()?.to_ascii_lowercase())
}

/// The format for a file name, among the formats of all commands.
fn told_by(name: &str) -> Option<&'static str> {
    let is_told = |end: &str| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
    EXTENSIONS.iter().find(|(end, _)| is_told(end)).map(|(_, format)| *format)
}

/// The [syntax](Format::syntax) of a format that a command has under the same name as reports.
pub(crate) fn syntax_of(format: impl ValueEnum) -> Option<Syntax> {
    Format::from_str(format.to_possible_value()?.get_name(), false).ok()?.syntax()
}

/// The content that a format is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The requested view.
    Views,
    /// Call trees.
    Trees,
    /// Samples with their complete stacks, from which a viewer builds its trees.
    Stacks,
    /// The functions of each thread, in order of time.
    FlameCharts,
}

impl Format {
    /// The content that it is made of.
    pub(crate) fn content(self) -> Content {
        match self {
            Self::Text | Self::Json | Self::Csv | Self::Ndjson => Content::Views,
            Self::Folded | Self::Svg | Self::D3 => Content::Trees,
            Self::Html | Self::Firefox | Self::Speedscope | Self::Pprof => Content::Stacks,
            Self::ChromeTrace => Content::FlameCharts,
        }
    }

    /// True if it holds each sample with its time.
    pub(crate) fn needs_times(self) -> bool {
        matches!(self, Self::Firefox | Self::Speedscope)
    }

    /// True if it shows signposts and hangs.
    pub(crate) fn has_intervals(self) -> bool {
        matches!(self, Self::Firefox | Self::Html)
    }

    /// True if it shows events on their threads, as Firefox's markers.
    pub(crate) fn has_markers(self) -> bool {
        self == Self::Firefox
    }

    /// True if it is a single table.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Ndjson)
    }

    /// True if all its weights are added up, so that there must be one measurement only.
    pub(crate) fn is_one_measurement(self) -> bool {
        matches!(self, Self::Folded | Self::Svg | Self::D3 | Self::Pprof)
    }

    /// True for binary formats, which a terminal cannot show.
    pub(crate) fn is_binary(self) -> bool {
        self == Self::Pprof
    }

    /// The syntax in which characters that a terminal must not be shown are escaped. Text has no such characters, and binary formats go to
    /// no terminal.
    pub(crate) fn syntax(self) -> Option<Syntax> {
        match self {
            Self::Text | Self::Pprof => None,
            Self::Json | Self::Ndjson | Self::Firefox | Self::Speedscope | Self::D3 | Self::ChromeTrace => {
                Some(Syntax::Json)
            }
            Self::Csv => Some(Syntax::Csv),
            Self::Folded | Self::Svg | Self::Html => Some(Syntax::Lines),
        }
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_formats_by_extension() {
        let told = |name: &str| format_of::<Format>(Some(Path::new(name)));
        for (name, format) in [
            ("out/functions.JSON", Format::Json),
            ("a.b.csv", Format::Csv),
            ("rows.jsonl", Format::Ndjson),
            ("rows.ndjson", Format::Ndjson),
            ("flame.svg", Format::Svg),
            ("stacks.folded", Format::Folded),
            ("report.html", Format::Html),
            ("x.speedscope.json", Format::Speedscope),
            ("x.pb.gz", Format::Pprof),
        ] {
            assert_eq!(told(name), Some(format), "{name}");
        }
        assert_eq!(told("out.txt"), Some(Format::Text));
        for name in ["-", "json", ".json", "out.text", "out.log", "out.firefox", "out", "v1.2", "out.d"] {
            assert_eq!(told(name), None, "{name}");
        }
        assert_eq!(format_of::<Format>(None), None);
        assert_eq!(check_name::<Format>(None, Some(Path::new("-"))), Ok(()));
    }

    #[test]
    fn names_of_what_is_not_written_are_refused() {
        for name in ["x.png", "x.PDF", "x.xyz", "x", ".json", "x.gz", "a.b.xlsx", "x.trace", "v1.2"] {
            let path = Some(Path::new(name));
            assert!(check_name::<Format>(None, path).is_err(), "{name}");
            assert_eq!(check_name(Some(Format::Text), path), Ok(()), "{name}");
        }
        let toc = |name: &str| check_name::<TocFormat>(None, Some(Path::new(name)));
        assert_eq!((toc("x.json"), toc("x.txt")), (Ok(()), Ok(())));
        let message = toc("x.svg").unwrap_err();
        assert!(message.starts_with("cannot write SVG here; name a file .txt, .json, or pass --format"), "{message}");
    }
}
