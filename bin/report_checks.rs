//! Checks that the arguments of a report go together.

use traceparse::report::{SeparateBy, View};

use crate::format_options::first_given;
use crate::formats::{Content, Format};
use crate::report_args::{ReportArgs, ViewArg};
use crate::view_limits;

impl ReportArgs {
    /// Checks that the arguments go together.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_name()?;
        self.recording.selection.check()?;
        if self.bin.is_some() && self.view != Some(ViewArg::Of(View::Timeline)) {
            return Err("--bin only applies to --view timeline".to_owned());
        }
        let uses_intervals = self.recording.selection.when.asks_intervals()
            || self.separate_by.needs_labels()
            || self.format().has_intervals();
        if !self.intervals.is_empty() && !uses_intervals {
            return Err("--intervals only applies to --during, --during-hang, --separate-by interval and task, --format html and \
                        --format firefox"
                .to_owned());
        }
        let is_listed = matches!(self.format(), Format::Text | Format::Json);
        let shows_source = (self.view == Some(ViewArg::Of(View::Lines)) && is_listed) || self.format() == Format::Html;
        if !self.source.is_empty() && !shows_source {
            return Err("--source only applies to --view lines, in text or JSON, and to --format html".to_owned());
        }
        if self.full_names && self.format() != Format::Text {
            return Err("--full-names only applies to text; other formats always have full names".to_owned());
        }
        if self.format() != Format::Svg {
            self.flame_graph.check_unused()?;
        }
        self.csv.check(self.format() == Format::Csv)?;
        self.page.check(self.format() == Format::Html)?;
        self.check_function()?;
        self.check_inverted()?;
        if self.view == Some(ViewArg::Of(View::Overview)) && !matches!(self.format(), Format::Text | Format::Json) {
            return Err(format!(
                "--view overview is text or JSON; leave it out with --format {}",
                self.format().name()
            ));
        }
        let format = self.format().name();
        match (self.format().content(), self.view) {
            (Content::Trees, Some(view)) if !matches!(view, ViewArg::Of(View::Tree) | ViewArg::BottomUp) => {
                Err(format!("--format {format} writes call trees only; leave out --view, or use --view tree"))
            }
            (Content::FlameCharts, Some(view)) if view != ViewArg::Of(View::FlameChart) => {
                Err(format!("--format {format} writes flame charts only; leave out --view, or use --view flame-chart"))
            }
            (Content::FlameCharts, _) if self.no_threads || self.separate_by != SeparateBy::Thread => Err(format!(
                "--format {format} always writes one flame chart per thread; leave out --separate-by and --no-threads"
            )),
            (Content::Stacks, view) => self.check_for_viewers(view),
            _ => view_limits::check(self),
        }
    }

    /// Callers and callees are a separate view.
    fn check_function(&self) -> Result<(), String> {
        if self.function.is_some() && self.view() != View::Sandwich {
            return Err(
                "--function only applies to text, JSON and CSV, with --view functions or without --view".to_owned()
            );
        }
        Ok(())
    }

    /// Refuses `--invert` in views of stacks that are not trees: in stacks that are turned round, the last function is the outermost one,
    /// and other views would show its weight as the function's own.
    fn check_inverted(&self) -> Result<(), String> {
        let is_tree = matches!(self.view(), View::Full | View::Tree);
        let has_no_stacks = matches!(
            self.view(),
            View::Overview
                | View::Summary
                | View::Threads
                | View::Processes
                | View::States
                | View::Cores
                | View::Timeline
        );
        if self.recording.operations.invert && !is_tree && !has_no_stacks {
            return Err("--invert only applies to call trees; leave it out, or use --view tree".to_owned());
        }
        Ok(())
    }

    /// Viewers make their own trees.
    fn check_for_viewers(&self, view: Option<ViewArg>) -> Result<(), String> {
        let format = self.format().name();
        let refused = [
            ("--view", view.is_some_and(|view| view != ViewArg::Of(View::Tree))),
            ("--min-percent", self.min_percent.is_some()),
            ("--min-weight", self.min_weight.is_some()),
            ("--depth", self.depth.is_some()),
            ("--top", self.top.is_some()),
            ("--sort", self.sort.is_some()),
            ("--separate-by", self.separate_by != SeparateBy::Thread),
            ("--no-threads", self.no_threads),
            ("--invert", self.recording.operations.invert),
        ];
        match first_given(refused) {
            Some(option) => Err(format!(
                "--format {format} writes all samples and the viewer builds its own trees; leave out {option}"
            )),
            None => Ok(()),
        }
    }
}
