//! Output arguments: destination, format, and options for single formats.

use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueHint};
use traceparse::memory::Size;
use traceparse::output::{Cells, ColourBy, FlameGraphOptions};

use crate::choices;
use crate::formats::{Format, FormatSet, format_of};
use crate::given::Given;
use crate::interrupt::private_folder;
use crate::output::Output;
use crate::short_json::{LEAST_BYTES, Pointer, Short};
use crate::sink::is_terminal;
use crate::weight_limit::number;

/// The default maximum size of a page.
const MAX_SIZE: u64 = 64_000_000;
const DRAWN: &str = "Flame graphs (--format svg)";

/// The output arguments of a command with these formats. Options of other formats are not options of the command.
#[derive(Debug)]
pub(crate) struct OutputArgs<const FORMATS: FormatSet> {
    given: Given,
    format: Option<Format>,
    paths: Vec<PathBuf>,
    is_opened: bool,
    /// The options, with the default format and no path.
    options: Output,
}

/// The output arguments of all commands, from which each command selects its own.
#[derive(Args)]
struct AllArgs {
    /// Output format, such as json or csv
    ///
    /// The default is the format of the extension of -o, or else text.
    #[arg(long)]
    format: Option<Format>,
    /// Output file; the extension is the format
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath, action = ArgAction::Set)]
    output: Vec<PathBuf>,
    /// Open the page in the default browser
    ///
    /// The page is a temporary file unless -o names a page. Nothing leaves your machine.
    #[arg(long)]
    open: bool,
    /// In CSV, put an apostrophe before text that looks like a formula
    ///
    /// A spreadsheet would evaluate it as a formula. Names such as -[Widget draw:] look like formulas.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    csv_safe: bool,
    /// In text, write complete function names
    ///
    /// By default, names that are too long for the line lose their template arguments, then their middle.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    full_names: bool,
    /// Width in pixels [default: as wide as the window]
    #[arg(long, value_name = "PX", value_parser = number::<u32>(400, Some(20_000)), help_heading = DRAWN, hide_short_help = true)]
    width: Option<u32>,
    /// Colour frames by this [default: category]
    #[arg(long, value_parser = choices::colour_by(), value_name = "WHAT", help_heading = DRAWN, hide_short_help = true)]
    color_by: Option<ColourBy>,
    /// Put the root at the bottom, with callees above their callers
    #[arg(long, help_heading = DRAWN, hide_short_help = true)]
    flame: bool,
    /// Put the root at the top, with callees below their callers [default]
    #[arg(long, conflicts_with = "flame", help_heading = DRAWN, hide_short_help = true)]
    icicle: bool,
    /// Title [default: the measurement and the process]
    #[arg(long, value_name = "TEXT", help_heading = DRAWN, hide_short_help = true)]
    title: Option<String>,
    /// Largest page or JSON, such as 16MB or 4kB [default: 64MB for pages]
    ///
    /// Pages: samples of a thread that have the same stack and are close in time are joined. Their total weight stays exact.
    /// JSON: lists and texts are cut, and the field left_out has what is missing (docs/formats.md).
    #[arg(long, value_name = "SIZE", help_heading = "Output", hide_short_help = true)]
    max_size: Option<Size>,
    /// Continue short JSON here, such as /functions/5
    ///
    /// The field left_out of the answer before has the places.
    #[arg(long, value_name = "POINTER", value_parser = Pointer::parse, requires = "max_size", help_heading = "Output", hide_short_help = true)]
    from: Option<Pointer>,
}

impl<const FORMATS: FormatSet> Args for OutputArgs<FORMATS> {
    fn augment_args(command: Command) -> Command {
        let all = AllArgs::augment_args(Command::new("all"));
        let is_option = |id: &str| match id {
            "format" | "output" => true,
            "csv_safe" => Format::Csv.is_in(FORMATS),
            "open" => Format::Html.is_in(FORMATS),
            // Every command that writes pages also writes JSON.
            "max_size" | "from" => Format::Json.is_in(FORMATS),
            // All commands that write flame graphs also have the drawing options.
            _ => Format::Svg.is_in(FORMATS),
        };
        let options = all.get_arguments().filter(|arg| is_option(arg.get_id().as_str())).cloned();
        // List these options after the command's other options.
        let options = options.map(|arg| arg.display_order(None));
        command.args(options).mut_arg("format", |arg| arg.value_parser(Format::parser(FORMATS)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const FORMATS: FormatSet> FromArgMatches for OutputArgs<FORMATS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_set = |id: &str| value(matches, id).unwrap_or(false);
        let max_size = value(matches, "max_size").map(|Size(size)| size);
        Ok(Self {
            given: Given::from_arg_matches(matches)?,
            format: value(matches, "format"),
            paths: matches.get_many("output").into_iter().flatten().cloned().collect(),
            is_opened: is_set("open"),
            options: Output {
                format: Format::Text,
                path: None,
                is_opened: false,
                cells: if is_set("csv_safe") { Cells::ForSpreadsheets } else { Cells::AsTheyAre },
                has_full_names: is_set("full_names"),
                flame_graph: FlameGraphOptions {
                    width: value(matches, "width"),
                    colour_by: value(matches, "color_by").unwrap_or_default(),
                    is_icicle: !is_set("flame"),
                    title: value(matches, "title"),
                    ..FlameGraphOptions::default()
                },
                max_size: max_size.unwrap_or(MAX_SIZE),
                short: max_size.map(|most| Short {
                    most: usize::try_from(most).unwrap_or(usize::MAX),
                    from: value(matches, "from"),
                }),
            },
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|args| *self = args)
    }
}

/// The path of a page in a new folder. The page stays there, since the browser may read it again.
fn temporary_page() -> Result<PathBuf, String> {
    let folder = private_folder()
        .map_err(|error| format!("--open cannot create a temporary folder: {error}; use -o report.html"))?;
    Ok(folder.join("report.html"))
}

/// The value of an option; `None` if the command lacks the option or it was not passed.
fn value<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> Option<T> {
    matches.try_get_one(id).ok().flatten().cloned()
}

impl<const FORMATS: FormatSet> OutputArgs<FORMATS> {
    /// Resolves the only output.
    pub(crate) fn resolve(&self) -> Result<Output, String> {
        match <[Output; 1]>::try_from(self.resolve_all()?) {
            Ok([only]) => Ok(only),
            Err(_) => Err("--open shows a page, and -o has another format: leave one of them out".to_owned()),
        }
    }

    /// Resolves the outputs of a command that accepts several; standard output if none was passed.
    pub(crate) fn resolve_all(&self) -> Result<Vec<Output>, String> {
        if self.format.is_some() && self.paths.len() > 1 {
            return Err("--format is for one output; leave it out, and name each -o by its format, such as compare.md"
                .to_owned());
        }
        let is_stdout = self.paths.is_empty() && (!self.is_opened || self.format.is_some());
        let paths = self.paths.iter().cloned().map(Some).chain(is_stdout.then_some(None));
        let mut outputs = paths.map(|path| self.output(path)).collect::<Result<Vec<_>, _>>()?;
        if self.is_opened {
            match outputs.iter_mut().find(|output| output.is_page() && output.file().is_some()) {
                Some(page) => page.is_opened = true,
                None if self.format.is_some_and(|format| format != Format::Html) => {
                    return Err("--open shows a page: leave out --format".to_owned());
                }
                None => {
                    outputs.retain(|output| !output.is_page());
                    outputs.push(Output { is_opened: true, ..self.output(Some(temporary_page()?))? });
                }
            }
        }
        let has = |format| outputs.iter().any(|output| output.format == format);
        self.given.check(&[
            ("--full-names", has(Format::Text), "text"),
            ("--width --color-by --flame --icicle --title", has(Format::Svg), "--format svg"),
            ("--csv-safe", has(Format::Csv), "--format csv"),
            ("--max-size", has(Format::Html) || has(Format::Json), "--format html and json"),
            ("--from", has(Format::Json), "--format json"),
        ])?;
        let is_too_small = |short: &Short| short.most < LEAST_BYTES;
        if has(Format::Json) && self.options.short.as_ref().is_some_and(is_too_small) {
            return Err("--max-size of JSON is at least 1kB".to_owned());
        }
        Ok(outputs)
    }

    /// Resolves an output with the requested format, or else with the format of its extension.
    fn output(&self, path: Option<PathBuf>) -> Result<Output, String> {
        let format = match (self.format, &path) {
            (Some(format), _) => format,
            (None, Some(path)) => format_of(FORMATS, path)?,
            (None, None) => Format::Text,
        };
        if format.is_binary() && is_terminal(path.as_deref()) {
            return Err(format!("--format {} is binary; write it to a file with -o", format.name()));
        }
        Ok(Output { format, path, ..self.options.clone() })
    }
}
