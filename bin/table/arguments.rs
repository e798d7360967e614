//! The arguments of `traceparse table`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use traceparse::output::{RowFormat, Syntax};
use traceparse::tables::{Conditions, TableQuery};

use crate::arguments::SymbolArgs;
use crate::exit_codes::EXIT_CODES;
use crate::format_options::CsvArgs;
use crate::formats::{check_name, format_of};
use crate::sink::is_terminal;

const ROW_EXAMPLES: &str = "\
Examples:
  traceparse table app.trace potential-hangs
      The first hangs, as text
  traceparse table app.trace potential-hangs --where 'duration > 250ms and process.pid = 512' --sort duration:desc
      Long hangs of one process, the longest first
  traceparse table app.trace os-signpost --columns time,name,message --top 0
      Three columns of all rows
  traceparse table *.trace fs-syscall -o syscalls.parquet
      The rows of many recordings for DuckDB or a data frame, and their stacks in syscalls.stacks.parquet
  traceparse table app.trace virtual-memory --format sql | sqlite3 vm.db
      A table in a database";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableFormat {
    /// For people to read: the first 20 rows, unless --top is given
    Text,
    /// A record per row
    Csv,
    /// One document; every field is documented in docs/formats.md
    Json,
    /// JSON lines, one object per row
    Ndjson,
    /// Columns for DuckDB and data frames (use -o)
    Parquet,
    /// CREATE TABLE and INSERT, for DuckDB, SQLite and PostgreSQL
    Sql,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ROW_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct TableArgs {
    /// Recordings (.trace) and exports; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// The schema of the table, such as potential-hangs; `traceparse tables FILE` lists them
    #[arg(required = true, value_name = "NAME")]
    pub(crate) name: String,
    /// Use this run only
    #[arg(long, value_name = "N")]
    run: Option<u32>,
    /// Use only rows for which these comparisons are true
    ///
    /// Comparisons are FIELD, an operator (=, !=, <, <=, >, >=) and a value, joined by `and`: 'duration > 5ms and thread = "Main Thread"'.
    /// Times and durations have a unit (ns, us, ms, s, min), sizes may have one (B, KB, KiB, MB, MiB, GB, GiB), and other numbers have none
    /// (17, 0x11). `none` means that no value was recorded.
    #[arg(long = "where", value_name = "CONDITIONS")]
    conditions: Option<Conditions>,
    /// Fields to write, separated by commas [default: all]
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Sort by a field; FIELD:desc puts the largest value first
    #[arg(long, value_name = "FIELD[:desc]", value_parser = parse_sort)]
    sort: Option<(String, bool)>,
    /// Write this many rows; 0 writes all [default: 20 in text, else all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Output format [default: from the extension of -o, else text]
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    #[command(flatten)]
    csv: CsvArgs,
    /// Write to this file instead of standard output
    ///
    /// For CSV, NDJSON and Parquet, the frames of stacks are written next to it: hangs.stacks.csv for hangs.csv.
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Use the complete rows of a truncated file
    #[arg(long)]
    pub(crate) allow_truncated: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

fn parse_sort(text: &str) -> Result<(String, bool), String> {
    let (field, is_descending) = match text.rsplit_once(':') {
        Some((field, "desc")) => (field, true),
        Some((field, "asc")) => (field, false),
        Some((_, other)) => return Err(format!("{other:?} is not an order; write FIELD, or FIELD:desc")),
        None => (text, false),
    };
    Ok((field.to_owned(), is_descending))
}

/// The number of rows that text shows by default.
const ROWS_OF_TEXT: usize = 20;

impl TableArgs {
    pub(super) fn check(&self) -> Result<(), String> {
        check_name(self.format, self.output.as_deref())?;
        let format = self.format();
        self.csv.check(format == TableFormat::Csv)?;
        if format == TableFormat::Parquet && is_terminal(self.output.as_deref()) {
            return Err("--format parquet is binary; write it to a file with -o".to_owned());
        }
        Ok(())
    }

    fn format(&self) -> TableFormat {
        self.format.or_else(|| format_of(self.output.as_deref())).unwrap_or(TableFormat::Text)
    }

    /// The format for programs; `None` for text.
    pub(super) fn row_format(&self) -> Option<RowFormat> {
        Some(match self.format() {
            TableFormat::Text => return None,
            TableFormat::Csv => RowFormat::Csv(self.csv.cells()),
            TableFormat::Json => RowFormat::Json,
            TableFormat::Ndjson => RowFormat::JsonLines,
            TableFormat::Parquet => RowFormat::Parquet,
            TableFormat::Sql => RowFormat::Sql,
        })
    }

    /// The syntax in which a terminal gets characters that it must not be shown.
    pub(super) fn syntax(&self) -> Option<Syntax> {
        match self.format() {
            TableFormat::Text | TableFormat::Parquet => None,
            TableFormat::Csv => Some(Syntax::Csv),
            TableFormat::Json | TableFormat::Ndjson => Some(Syntax::Json),
            TableFormat::Sql => Some(Syntax::Lines),
        }
    }

    pub(super) fn query(&self) -> TableQuery {
        let top = match self.top {
            Some(0) => None,
            Some(top) => Some(top),
            None => (self.format() == TableFormat::Text).then_some(ROWS_OF_TEXT),
        };
        TableQuery {
            schema: self.name.clone(),
            run: self.run,
            conditions: self.conditions.clone().unwrap_or_default(),
            columns: self.columns.clone(),
            sort: self.sort.clone(),
            top,
        }
    }

    /// True if fields were selected.
    pub(super) fn has_columns(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The file for the frames of stacks, next to the output; `None` if the output holds them, or is not a file.
    pub(super) fn frames_path(&self) -> Option<PathBuf> {
        let path = self.output.as_deref().filter(|path| path.as_os_str() != "-")?;
        let is_stream = path.metadata().is_ok_and(|known| !known.is_file());
        let is_separate = self.row_format().is_some_and(|format| !format.holds_frames());
        (is_separate && !is_stream).then(|| beside(path))
    }
}

/// `hangs.stacks.csv` for `hangs.csv`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".stacks");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}
