//! The output of a command: its destination and its format.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use traceparse::output::{self, Answer, Cells, FlameGraphOptions, OverviewContext, RowFormat, Style, WorkbenchOptions};

use crate::formats::Format;
use crate::guard::will_write;
use crate::short_json::Short;
use crate::sink::{style, write_inert};
use crate::{complain, interrupt, is_closed_pipe, note, printable, warning};

/// An output with the options of its format.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) format: Format,
    /// `None` or `-` for standard output.
    pub(crate) path: Option<PathBuf>,
    /// True to open the file in the browser.
    pub(crate) is_opened: bool,
    pub(crate) cells: Cells,
    pub(crate) has_full_names: bool,
    pub(crate) flame_graph: FlameGraphOptions,
    /// The maximum size of a page, in bytes.
    pub(crate) max_size: u64,
    /// How JSON is cut; `None` for complete JSON.
    pub(crate) short: Option<Short>,
}

impl Output {
    /// The file to write; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| path.as_os_str() != "-")
    }

    pub(crate) fn is_text(&self) -> bool {
        self.format == Format::Text
    }

    pub(crate) fn is_page(&self) -> bool {
        self.format == Format::Html
    }

    /// Registers the output before inputs are read.
    pub(crate) fn will_write(&self) {
        will_write(self.path.as_deref());
    }

    /// The style of text.
    pub(crate) fn style(&self) -> Style {
        Style { has_full_names: self.has_full_names, ..style(self.path.as_deref()) }
    }

    /// The format, if it needs no more than the options of the output; text for all others.
    pub(crate) fn plain(&self) -> output::Format<'static> {
        match self.format {
            Format::Json => output::Format::Json,
            Format::Csv => output::Format::Csv(self.cells),
            Format::Ndjson => output::Format::JsonLines,
            Format::Folded => output::Format::Folded,
            Format::D3 => output::Format::D3,
            Format::ChromeTrace => output::Format::ChromeTrace,
            Format::Speedscope => output::Format::Speedscope,
            Format::Pprof => output::Format::Pprof,
            Format::Markdown => output::Format::Markdown,
            Format::Junit => output::Format::JUnit,
            _ => output::Format::Text(self.style()),
        }
    }

    /// The format for rows; `None` for text.
    pub(crate) fn row_format(&self) -> Option<RowFormat> {
        match self.format {
            Format::Csv => Some(RowFormat::Csv(self.cells)),
            Format::Json => Some(RowFormat::Json),
            Format::Ndjson => Some(RowFormat::JsonLines),
            Format::Parquet => Some(RowFormat::Parquet),
            Format::Sql => Some(RowFormat::Sql),
            _ => None,
        }
    }

    /// The format for reports and comparisons: an overview if there is a context, a [page](Self::page), or a flame graph. If the tree is limited by
    /// options, the picture has no limits on pixels and bytes.
    pub(crate) fn of_trees<'o>(
        &self,
        overview: Option<OverviewContext<'o>>,
        has_limit: bool,
        fitting: impl FnOnce(u64) -> io::Result<WorkbenchOptions<'o>>,
    ) -> io::Result<output::Format<'o>> {
        let picture = self.flame_graph.clone();
        Ok(match (self.format, overview) {
            (Format::Text, Some(context)) => output::Format::Overview(self.style(), context),
            (Format::Html, _) => self.page(fitting)?,
            (Format::Svg, _) if has_limit => {
                output::Format::FlameGraph(FlameGraphOptions { narrowest: 0.0, max_bytes: usize::MAX, ..picture })
            }
            (Format::Svg, _) => output::Format::FlameGraph(picture),
            _ => self.plain(),
        })
    }

    /// The format for a page within the maximum size. Prints a note about omitted content. `fitting` finds the options for a size in bytes.
    pub(crate) fn page<'o>(
        &self,
        fitting: impl FnOnce(u64) -> io::Result<WorkbenchOptions<'o>>,
    ) -> io::Result<output::Format<'o>> {
        let options = fitting(self.max_size)?;
        options.note(self.max_size).iter().for_each(|reduced| note(reduced));
        Ok(output::Format::Workbench(options))
    }

    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let (path, syntax) = (self.path.as_deref(), self.format.syntax());
        match &self.short {
            Some(short) if self.format == Format::Json => {
                let value = short.shorten(write)?;
                write_inert(path, syntax, |out| writeln!(out, "{value}"))?;
            }
            _ => write_inert(path, syntax, write)?,
        }
        self.file().filter(|_| self.is_opened).into_iter().for_each(open_page);
        Ok(())
    }

    /// Writes an answer in a [plain](Self::plain) format.
    pub(crate) fn write_plain<'a>(&self, answer: impl Into<Answer<'a, 'a>>) -> Result<()> {
        self.write(|out| output::write(answer, &self.plain(), out))
    }
}

/// Opens a page in the default browser, which continues without this process. Since the page is complete, a failure is only a warning: the exit
/// code depends only on the answer.
fn open_page(page: &Path) {
    page.parent().into_iter().for_each(interrupt::keep);
    // A relative path such as `https:a.html` would be an address.
    let page = std::path::absolute(page).unwrap_or_else(|_| page.to_owned());
    match open::that_detached(&page) {
        Ok(()) => note(&format!("opening {}", page.display())),
        Err(_) => warning(&format!("no browser could be started; open {} in one", page.display())),
    }
}

/// Repeats alerts on standard error, for a log, unless the answer is text on standard output that contains all of them.
pub(crate) fn tell_alerts(output: &Output, has_all: bool, lines: impl FnOnce() -> Vec<String>) {
    if !output.is_text() || output.file().is_some() || !has_all {
        lines().iter().for_each(|line| complain(&format!("alert {}", printable(line))));
    }
}

/// The result of writing an answer that determines the exit code. It remains a success if the reader closed the pipe.
pub(crate) fn unless_closed(written: Result<()>) -> Result<()> {
    match written {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        written => written,
    }
}
