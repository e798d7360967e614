//! The arguments of `traceparse table`, and the plan resolved from them.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use traceparse::output::RowFormat;
use traceparse::recording::{Options, SampleDetail};
use traceparse::tables::{Conditions, TableQuery};

use crate::arguments::{ImageArgs, SymbolArgs, TruncatedArgs};
use crate::exit_codes::EXIT_CODES;
use crate::formats::ROWS;
use crate::output::Output;
use crate::output_args::OutputArgs;
use crate::recording::check_distinct;
use crate::weight_limit::{number, parse_top};

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

/// The long help of `--output`.
const OUTPUT_HELP: &str = "\
Write to this file instead of standard output

For CSV, NDJSON and Parquet, the frames of stacks are written next to it: hangs.stacks.csv for hangs.csv.";

#[derive(Debug, Args)]
#[command(after_long_help = format!("{ROW_EXAMPLES}\n\n{EXIT_CODES}"), mut_arg("output", |arg| arg.long_help(OUTPUT_HELP)))]
pub(crate) struct TableArgs {
    /// Recordings (.trace) and exports; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Name of the table, such as potential-hangs
    ///
    /// NAME comes right after the files. `traceparse tables FILE` lists the tables.
    #[arg(required = true, value_name = "NAME")]
    name: String,
    /// Use this run only
    #[arg(long, value_name = "N", value_parser = number::<u32>(0, None))]
    run: Option<u32>,
    /// Only rows for which this is true
    ///
    /// Comparisons are FIELD, an operator (=, !=, <, <=, >, >=) and a value, joined by `and`: 'duration > 5ms and thread = "Main Thread"'.
    /// Times and durations have a unit (ns, us, ms, s, min), sizes may have one (B, KB, KiB, MB, MiB, GB, GiB), and other numbers have none
    /// (17, 0x11). `none` means that no value was recorded.
    #[arg(long = "where", value_name = "CONDITIONS")]
    conditions: Option<Conditions>,
    /// Fields to write, such as start,duration
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',', value_parser = parse_field)]
    columns: Vec<String>,
    /// Sort by a field; :desc puts the largest value first
    #[arg(long, value_name = "FIELD[:desc]", value_parser = parse_sort)]
    sort: Option<(String, bool)>,
    /// Write only the first N rows; 0 writes all
    ///
    /// The default is 20 in text, and all rows in other formats.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_top)]
    top: Option<usize>,
    #[command(flatten)]
    output: OutputArgs<ROWS>,
    #[command(flatten)]
    truncated: TruncatedArgs,
    #[command(flatten)]
    symbols: SymbolArgs,
    #[command(flatten)]
    images: ImageArgs,
}

/// Accepts `time, duration`.
fn parse_field(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
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

/// The query, and the destination of its rows.
pub(super) struct TablePlan {
    pub(super) files: Vec<PathBuf>,
    pub(super) query: TableQuery,
    /// The format for programs; `None` for text.
    pub(super) row_format: Option<RowFormat>,
    pub(super) output: Output,
    /// The file for the frames of stacks, next to the output; `None` if the output contains them or is not a file.
    pub(super) frames_path: Option<PathBuf>,
    pub(super) reading: Options,
    pub(super) symbols: SymbolArgs,
    pub(super) images: ImageArgs,
}

impl TablePlan {
    pub(super) fn new(args: TableArgs) -> Result<Self, String> {
        let output = args.output.resolve()?;
        check_distinct(&args.files)?;
        if let Some(pipe) = args.files.iter().find(|path| is_pipe(path)) {
            let name = pipe.display();
            return Err(format!("{name} cannot be read twice; pass it as standard input: - < {name}"));
        }
        let row_format = output.row_format();
        let is_separate = row_format.is_some_and(|format| !format.holds_frames());
        let is_stream = |path: &&Path| path.metadata().is_ok_and(|known| !known.is_file());
        Ok(Self {
            query: TableQuery {
                schema: args.name,
                run: args.run,
                conditions: args.conditions.unwrap_or_default(),
                columns: args.columns,
                sort: args.sort,
                top: match args.top {
                    None => output.is_text().then_some(ROWS_OF_TEXT),
                    top => top.filter(|&top| top < usize::MAX),
                },
            },
            frames_path: output.file().filter(|path| is_separate && !is_stream(path)).map(beside),
            files: args.files,
            row_format,
            output,
            reading: args.truncated.options(SampleDetail::Summed),
            symbols: args.symbols,
            images: args.images,
        })
    }
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
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
