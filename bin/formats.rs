//! Output formats, their properties, and the file extensions that select them.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use traceparse::output::Syntax;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people to read
    Text,
    /// For programs; every field is documented in docs/formats.md and docs/fleet-formats.md
    Json,
    /// A table
    Csv,
    /// JSON lines, one object per line
    Ndjson,
    /// Folded stacks for flame graphs: process;thread;frame;…;leaf WEIGHT
    Folded,
    /// A flame graph: one interactive file for a browser
    Svg,
    /// For a comment on a pull request
    Markdown,
    /// For CI systems that show tests
    Junit,
    /// A page: a single file that works offline in any browser
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
    /// Columns for DuckDB and data frames (use -o)
    Parquet,
    /// CREATE TABLE and INSERT, for DuckDB, SQLite and PostgreSQL
    Sql,
}

/// A set of formats as bits.
pub(crate) type FormatSet = u32;

pub(crate) const JSON: FormatSet = Format::Json.bit();
pub(crate) const TEXT_OR_JSON: FormatSet = Format::Text.bit() | Format::Json.bit();
pub(crate) const TABLES: FormatSet = TEXT_OR_JSON | Format::Csv.bit();
pub(crate) const ROWS: FormatSet = TABLES | Format::Ndjson.bit() | Format::Parquet.bit() | Format::Sql.bit();
pub(crate) const COMPARISONS: FormatSet = TABLES | Format::Markdown.bit() | Format::Junit.bit() | Format::Html.bit();
pub(crate) const FLEETS: FormatSet = TABLES | Format::Html.bit();
pub(crate) const CHANGES: FormatSet = FLEETS | Format::Svg.bit();
pub(crate) const FLEET_TREES: FormatSet = CHANGES | Format::Folded.bit();
pub(crate) const REPORTS: FormatSet = FLEET_TREES
    | Format::Ndjson.bit()
    | Format::Firefox.bit()
    | Format::Speedscope.bit()
    | Format::Pprof.bit()
    | Format::D3.bit()
    | Format::ChromeTrace.bit();

/// The file extensions of formats. Messages suggest the first extension of a format.
const EXTENSIONS: [(&str, Format); 15] = [
    (".txt", Format::Text),
    (".speedscope.json", Format::Speedscope),
    (".json", Format::Json),
    (".csv", Format::Csv),
    (".ndjson", Format::Ndjson),
    (".jsonl", Format::Ndjson),
    (".svg", Format::Svg),
    (".folded", Format::Folded),
    (".pb.gz", Format::Pprof),
    (".html", Format::Html),
    (".htm", Format::Html),
    (".md", Format::Markdown),
    (".xml", Format::Junit),
    (".parquet", Format::Parquet),
    (".sql", Format::Sql),
];

/// The format that the extension of an output selects among `formats`: JSON for `functions.json`. For pipes and devices without a known
/// extension, it is text.
///
/// # Errors
/// If the extension selects none of `formats`: the file would be mistaken for something else.
pub(crate) fn format_of(formats: FormatSet, path: &Path) -> Result<Format, String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let is_shown = |end: &str| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
    let shown = EXTENSIONS.iter().find(|(end, _)| is_shown(end)).map(|(_, format)| *format);
    if let Some(format) = shown.filter(|format| format.is_in(formats)) {
        return Ok(format);
    }
    if path.as_os_str() == "-" || path.metadata().is_ok_and(|known| !known.is_file()) {
        return Ok(Format::Text);
    }
    if let Some(other) = shown.and_then(Format::elsewhere) {
        return Err(format!("{} cannot be written here; {other}", path.display()));
    }
    let written = EXTENSIONS.iter().filter(|(_, format)| format.is_in(formats)).map(|(end, _)| *end);
    let what = match path.extension() {
        Some(extension) => format!("cannot write {} here", extension.display().to_string().to_uppercase()),
        None => format!("the name {} does not identify a format", path.display()),
    };
    Err(format!(
        "{what}; name a file {}, or pass --format, such as --format text to write text into this name",
        written.collect::<Vec<_>>().join(", ")
    ))
}

/// The content of a format.
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
    const fn bit(self) -> FormatSet {
        1 << self as u32
    }

    pub(crate) fn is_in(self, formats: FormatSet) -> bool {
        formats & self.bit() != 0
    }

    /// A parser that accepts these formats.
    pub(crate) fn parser(formats: FormatSet) -> impl TypedValueParser<Value = Self> {
        let values = Self::value_variants().iter().filter(|format| format.is_in(formats));
        let values = values.filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(values).try_map(|name| Self::from_str(&name, false))
    }

    pub(crate) fn content(self) -> Content {
        match self {
            Self::Folded | Self::Svg | Self::D3 => Content::Trees,
            Self::Html | Self::Firefox | Self::Speedscope | Self::Pprof => Content::Stacks,
            Self::ChromeTrace => Content::FlameCharts,
            _ => Content::Views,
        }
    }

    /// True if the format contains each sample with its time.
    pub(crate) fn needs_times(self) -> bool {
        matches!(self, Self::Firefox | Self::Speedscope)
    }

    /// True if the format shows signposts and hangs.
    pub(crate) fn has_intervals(self) -> bool {
        matches!(self, Self::Firefox | Self::Html)
    }

    /// True if the format shows events on their threads, like Firefox markers.
    pub(crate) fn has_markers(self) -> bool {
        self == Self::Firefox
    }

    /// True if the format is a single table.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Ndjson)
    }

    /// True if the format adds up all weights, so it requires a single measurement.
    pub(crate) fn is_one_measurement(self) -> bool {
        matches!(self, Self::Folded | Self::Svg | Self::D3 | Self::Pprof)
    }

    /// True for binary formats, which a terminal cannot show.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Self::Pprof | Self::Parquet)
    }

    /// The syntax for escaping characters that are unsafe on a terminal. `None` for text, which contains no such characters, and for binary
    /// formats, which are never written to a terminal.
    pub(crate) fn syntax(self) -> Option<Syntax> {
        match self {
            Self::Text | Self::Markdown | Self::Junit | Self::Pprof | Self::Parquet => None,
            Self::Json | Self::Ndjson | Self::Firefox | Self::Speedscope | Self::D3 | Self::ChromeTrace => {
                Some(Syntax::Json)
            }
            Self::Csv => Some(Syntax::Csv),
            Self::Folded | Self::Svg | Self::Html | Self::Sql => Some(Syntax::Lines),
        }
    }

    /// The commands that write a format which most commands lack.
    pub(crate) fn elsewhere(self) -> Option<&'static str> {
        match self {
            Self::Parquet => Some(
                "`traceparse table FILE NAME -o rows.parquet` writes the rows of a table, and `traceparse fleet extract \
                 FILE -o DIR` a dataset of Parquet files",
            ),
            Self::Sql => Some("`traceparse table FILE NAME -o rows.sql` writes the rows of a table"),
            Self::Markdown | Self::Junit => Some("`traceparse compare` writes it"),
            _ => None,
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

    fn told(name: &str) -> Result<Format, String> {
        format_of(FormatSet::MAX, Path::new(name))
    }

    #[test]
    fn finds_formats_by_extension() {
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
            ("out.txt", Format::Text),
            ("-", Format::Text),
        ] {
            assert_eq!(told(name), Ok(format), "{name}");
        }
    }

    #[test]
    fn names_of_what_is_not_written_are_refused() {
        let names =
            ["x.png", "x.PDF", "x.xyz", "x", "json", ".json", "x.gz", "a.b.xlsx", "x.trace", "v1.2", "out.firefox"];
        for name in names {
            assert!(told(name).is_err(), "{name}");
        }
        let list = |name: &str| format_of(TEXT_OR_JSON, Path::new(name));
        assert_eq!((list("x.json"), list("x.txt")), (Ok(Format::Json), Ok(Format::Text)));
        let message = list("x.svg").unwrap_err();
        assert!(message.starts_with("cannot write SVG here; name a file .txt, .json, or pass --format"), "{message}");
        let message = list("x.parquet").unwrap_err();
        assert!(message.contains("x.parquet cannot be written here; `traceparse table FILE NAME"), "{message}");
    }
}
