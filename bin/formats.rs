//! The formats of answers, and what each is made of.

use std::path::Path;

use clap::ValueEnum;
use traceparse::output::Syntax;

use crate::warning;

/// The formats of what is not a report: contents, and lists of symbols.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TocFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/formats.md
    Json,
    /// A table; needs --view
    Csv,
    /// JSON lines, one object per line; needs --view
    Ndjson,
    /// Folded stacks for flame graphs: process;thread;frame;…;leaf WEIGHT
    Folded,
    /// A flame graph: one interactive file for a browser
    Svg,
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

/// The format that the name of an output tells, of those that a command has: `json` of `functions.json`. A name that tells one it does
/// not have is warned of.
pub(crate) fn format_of<F: ValueEnum>(output: Option<&Path>) -> Option<F> {
    let name = output?.file_name()?.to_str()?.to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())?;
    let inner = stem.rsplit_once('.').map_or("", |(_, inner)| inner);
    let format = match (inner, extension) {
        ("speedscope", "json") => "speedscope",
        ("pb", "gz") => "pprof",
        (_, "htm") => "html",
        (_, "jsonl") => "ndjson",
        // Any other name of a format would be a guess, and most are no extensions.
        (_, extension @ ("json" | "csv" | "ndjson" | "svg" | "folded" | "html")) => extension,
        _ => return None,
    };
    let found = F::from_str(format, false).ok();
    if found.is_none() {
        warning(&format!(
            "this command cannot write {format}, so {name} is written as text; name another file, or pass --format text to silence this warning"
        ));
    }
    found
}

/// The content that a format is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Whatever view was asked for.
    Views,
    /// Call trees.
    Trees,
    /// Samples with their whole stacks, of which a viewer makes its own trees.
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
            Self::Firefox | Self::Speedscope | Self::Pprof => Content::Stacks,
            Self::ChromeTrace => Content::FlameCharts,
        }
    }

    /// True if it holds each sample with its time.
    pub(crate) fn needs_times(self) -> bool {
        matches!(self, Self::Firefox | Self::Speedscope)
    }

    /// True if it shows signposts and hangs.
    pub(crate) fn has_markers(self) -> bool {
        self == Self::Firefox
    }

    /// True if it is a table of something, so that a view must be named.
    pub(crate) fn needs_view(self) -> bool {
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
            Self::Folded | Self::Svg => Some(Syntax::Lines),
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
    fn names_of_outputs_tell_formats() {
        let told = |name: &str| format_of::<Format>(Some(Path::new(name)));
        for (name, format) in [
            ("out/functions.JSON", Format::Json),
            ("a.b.csv", Format::Csv),
            ("rows.jsonl", Format::Ndjson),
            ("rows.ndjson", Format::Ndjson),
            ("flame.svg", Format::Svg),
            ("stacks.folded", Format::Folded),
            ("x.speedscope.json", Format::Speedscope),
            ("x.pb.gz", Format::Pprof),
        ] {
            assert_eq!(told(name), Some(format), "{name}");
        }
        for name in ["-", "out.txt", "json", ".json", "out.text", "out.gz", "out.firefox", "out"] {
            assert_eq!(told(name), None, "{name}");
        }
        assert_eq!(format_of::<Format>(None), None);
    }
}
