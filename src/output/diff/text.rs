//! Changes for people.

use std::io::{self, Write};

use super::{DiffReport, DiffView, alerts};
use crate::output::text::table::{Cell, Column, FUNCTIONS, IN_FORMATS, KEPT, Row, Table, write_left_out};
use crate::output::text::{
    LEAST_NAME, Lines, OVERVIEW_WIDTH, OverviewContext, Style, Tone, TreeLine, counted_text, during, heading, labelled,
};
use crate::report::Report;
use crate::report::diff::{Change, Diff, DiffNode, DiffRow, Presence, Sides};
use crate::settings::{MIN_PERCENT, NORMALIZE};
use crate::units::{Scale, Weight, several};

/// The width of the labels before the lines at the top.
const LABEL: usize = 8;
/// The label before the outcome of a rule.
pub(super) const ALERT: &str = "alert   ";
/// The minimum width of a name at any depth, if the terminal is wide enough.
const NAME: usize = 24;

/// Writes both sides, the change of the totals, and the rows of the view.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write(report: &DiffReport<'_, '_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if report.view == DiffView::Overview {
        return write_overview(report, &OverviewContext::default(), style, out);
    }
    let text = Text::new(report, style);
    text.head(out)?;
    writeln!(out)?;
    match report.view {
        DiffView::Tree => text.tree(out),
        _ => text.table(out),
    }
}

/// Writes the overview, in lines of 80 columns unless the style has another width.
///
/// # Errors
/// If `out` fails.
pub(crate) fn write_overview(
    report: &DiffReport<'_, '_>,
    context: &OverviewContext<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = Style { width: Some(style.width.unwrap_or(OVERVIEW_WIDTH)), ..*style };
    Text::new(report, &style).overview(context.command, out)
}

pub(super) struct Text<'a, 'r, 'e> {
    pub(super) report: &'a DiffReport<'r, 'e>,
    pub(super) style: &'a Style,
    scale: Scale,
    /// The minimum change that is shown.
    limit: f64,
}

impl<'a, 'r, 'e> Text<'a, 'r, 'e> {
    pub(super) fn new(report: &'a DiffReport<'r, 'e>, style: &'a Style) -> Self {
        let total = report.diff.total;
        let heavier = total.heavier();
        let scale = Scale::of(Weight::new(heavier, report.diff.unit));
        let limit = heavier as f64 * report.min_percent / 100.0;
        Self { report, style, scale, limit }
    }
}

impl Text<'_, '_, '_> {
    /// Writes a line for each side, and the intervals to which its samples are limited.
    pub(super) fn both_sides(&self, out: &mut dyn Write) -> io::Result<()> {
        let common = common_folders([self.report.before, self.report.after].map(input));
        for (label, report) in [("before", self.report.before), ("after", self.report.after)] {
            let width = self.style.width.map(|width| width.saturating_sub(LABEL));
            for (index, line) in recording(report, common, width).iter().enumerate() {
                let label = if index == 0 { label } else { "" };
                writeln!(out, "{}", self.style.paint(Tone::Title, &format!("{label:LABEL$}{line}")))?;
            }
            if let Some(intervals) = &report.options.selection.intervals {
                self.style.write_wrapped(None, LABEL, &during(intervals), out)?;
            }
            if let rejected @ 1.. = report.rejected() {
                let text = format!("{} could not be read", several(rejected, "row"));
                self.style.write_wrapped(Some(Tone::Warning), LABEL, &text, out)?;
            }
        }
        let Diff { factor, .. } = *self.report.diff;
        if factor != 1.0 {
            let why = format!("{NORMALIZE} {}", self.report.normalize.name());
            let text = format!("weights after are multiplied by {factor:.4} for changes ({why})");
            self.style.write_wrapped(None, LABEL, &text, out)?;
        }
        Ok(())
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        self.both_sides(out)?;
        let diff = self.report.diff;
        let change = diff.all_change(&diff.total);
        let share = if diff.total.before.sums.all_weight == 0 {
            String::new()
        } else {
            format!(" ({:+.1}%)", change.weight * 100.0 / diff.total.before.sums.all_weight as f64)
        };
        let unit = self.scale.short();
        let (weight, noise) = (self.signed(change.weight), self.number(change.noise));
        let change = format!("{weight} {unit}{share}; one standard deviation of {}: {noise} {unit}", self.noise());
        self.style.write_lines(None, &labelled("change  ", &change, self.style.width), out)?;
        for sentence in self.lacking_names() {
            self.style.write_wrapped(Some(Tone::Warning), 0, &sentence, out)?;
        }
        alerts::lines(self.report).iter().try_for_each(|alert| writeln!(out, "{}", alert.lines(ALERT, self.style)))
    }

    fn signed(&self, weight: f64) -> String {
        let sign = if weight > 0.0 {
            "+"
        } else if weight < 0.0 {
            "-"
        } else {
            ""
        };
        sign.to_owned() + &self.number(weight.abs())
    }

    /// Formats a weight; `?` if unknown.
    fn number(&self, weight: f64) -> String {
        if weight.is_infinite() {
            return "?".to_owned();
        }
        self.scale.number(weight.round() as u64)
    }

    /// The columns of the change and of the weights on both sides.
    fn columns(&self, title: &str) -> Vec<Column> {
        let side = |title| Column::new(title, KEPT).sized(self.widest().max(self.style.least(10)), 1);
        vec![self.change_column(title, KEPT, 2), side("before"), side("after")]
    }

    /// The width of the heavier total. The columns of a tree are made before its rows, so they use it for every weight.
    fn widest(&self) -> usize {
        self.scale.number(self.report.diff.total.heavier()).len()
    }

    /// A column of changes. The title ends with a space, which keeps marks apart from numbers.
    fn change_column(&self, title: &str, rank: u32, gap: usize) -> Column {
        Column::new(&format!("{title} {} ", self.scale.short()), rank)
            .sized((self.widest() + 2).max(self.style.least(11)), gap)
    }

    /// `+1.200 *`: the star marks changes that chance hardly explains, unless there are too few samples to compare.
    fn change(&self, change: &Change) -> Cell {
        let is_beyond = change.is_beyond_noise() && !self.is_too_few();
        let tone = if change.weight > 0.0 { Tone::Warning } else { Tone::Weight };
        let mark = if is_beyond { '*' } else { ' ' };
        Cell { tone: is_beyond.then_some(tone), mark, ..format!("{} ", self.signed(change.weight)).into() }
    }

    /// The cells of the change and both weights. A weight is replaced by a word on a side without samples.
    fn cells(&self, change: &Change, sides: &Sides, before: u64, after: u64) -> [Cell; 3] {
        let presence = sides.presence();
        let before = if presence == Presence::New { "new".to_owned() } else { self.scale.number(before) };
        let after = if presence == Presence::Vanished { "gone".to_owned() } else { self.scale.number(after) };
        [self.change(change), before.into(), after.into()]
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let what = if self.report.view == DiffView::Binaries { "binary" } else { "function" };
        let is_large = |row: &&DiffRow| row.self_change.weight.abs().max(row.all_change.weight.abs()) >= self.limit;
        let rows = self.report.rows();
        let large: Vec<&DiffRow> = rows.iter().filter(is_large).collect();
        let shown = large.len().min(self.report.top.unwrap_or(usize::MAX));
        let Table { columns, rows: mut lines, .. } = self.rows("Δ self", what, &large[..shown]);
        let after_top = (large.len() > shown).then(|| format!("{} more after the first {shown}", large.len() - shown));
        let small = (rows.len() > large.len())
            .then(|| format!("{} more, with smaller changes; {MIN_PERCENT} 0 shows all", rows.len() - large.len()));
        lines.extend(after_top.iter().chain(&small).map(|note| Row::more([""; 0], note)));
        Table::new(columns, what, FUNCTIONS, lines).write(IN_FORMATS, self.style, out)?;
        self.legend(out)
    }

    /// A table of functions or binaries. `own` is the title of the change of self weight.
    pub(super) fn rows(&self, own: &str, what: &str, rows: &[&DiffRow]) -> Table {
        let mut columns = self.columns(own);
        columns.push(Column::new(self.noise(), 1).sized(9, 1));
        columns.push(self.change_column("Δ total", 2, 3));
        let row = |row: &&DiffRow| {
            let [before, after] = [row.sides.before.sums.self_weight, row.sides.after.sums.self_weight];
            let mut cells = self.cells(&row.self_change, &row.sides, before, after).to_vec();
            cells.extend([self.number(row.self_change.noise).into(), self.change(&row.all_change)]);
            Row::new(cells, row.function.title(), row.function.owner().unwrap_or_default())
        };
        Table::new(columns, what, FUNCTIONS, rows.iter().map(row).collect())
    }

    pub(super) fn legend(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_too_few() {
            return Ok(());
        }
        let text = format!("* more than 1.96 standard deviations: {} alone rarely does that", self.noise());
        self.style.write_wrapped(Some(Tone::Dim), 0, &text, out)
    }

    fn tree(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(self.columns("Δ total"), "function", FUNCTIONS, Vec::new());
        // Tree lines and part numbers take space in addition to names.
        let left_out = table.fit(self.style.width.map(|width| width.saturating_sub(8)));
        writeln!(out, "{}", table.header(self.style))?;
        let tree = ShownNodes::new(self.report.diff, self.limit);
        let room = self.style.width.map_or(usize::MAX, |width| width.saturating_sub(table.used() + NAME));
        let children = |index: usize| tree.children[index].clone();
        let mut lines = Lines::below(&tree.children[0], room);
        while let Some(line) = lines.next(children) {
            match line {
                TreeLine::Node { index, lead, part } => self.node(&table, &tree.nodes[index], &lead, part, out)?,
                TreeLine::Part { index, part } => self.part(&table, &tree.nodes[index], part, out)?,
            }
        }
        if tree.hidden > 0 {
            let note = format!("{} nodes with smaller changes are not shown; {MIN_PERCENT} 0 shows all", tree.hidden);
            self.style.write_wrapped(Some(Tone::Dim), 0, &note, out)?;
        }
        write_left_out(&left_out, "", self.style, out)
    }

    /// Writes the first line of a part.
    fn part(&self, table: &Table, node: &DiffNode, part: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(function) = self.report.diff.function(node) else { return Ok(()) };
        let room = self.style.width.map(|width| width.saturating_sub(table.used()).max(LEAST_NAME));
        let name = self.style.name(function.title(), room);
        let line = format!("{:>left$} below {name}", format!("▶{part}"), left = table.used() - 7);
        writeln!(out, "{}", self.style.paint(Tone::Title, &line))
    }

    fn node(
        &self,
        table: &Table,
        node: &DiffNode,
        lead: &str,
        part: Option<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let diff = self.report.diff;
        let sides = &node.sides;
        let Some(function) = diff.function(node) else { return Ok(()) };
        let [before, after] = [sides.before.sums.all_weight, sides.after.sums.all_weight];
        let numbers = table.numbers(&self.cells(&diff.all_change(sides), sides, before, after), self.style);
        let behind = part.map_or_else(String::new, |part| format!("  ▶{part}"));
        let used = table.used() + lead.chars().count() + behind.chars().count();
        let (name, binary) = self.style.two_parts(function.title(), function.owner().unwrap_or_default(), used);
        writeln!(out, "{numbers}{}{name}{binary}{behind}", self.style.paint(Tone::Dim, lead))
    }
}

/// `export.xml · time-profile · 9.58 s in 9581 samples · recorded for 10.2 s`. If space is short, the path first loses the folders that both
/// recordings share, then its middle. If that is not enough, there are several lines.
fn recording(report: &Report<'_>, common: usize, width: Option<usize>) -> Vec<String> {
    let profile = &report.recording.profile;
    let mut parts = Vec::new();
    for series in report.series.iter().filter(|series| series.counted.samples > 0) {
        let origin = profile.series(series.series);
        let run = profile.run(origin.run);
        parts.push(profile.string(run.input).to_owned());
        parts.push(profile.string(origin.schema).to_owned());
        parts.push(counted_text(origin, series));
    }
    // Field reports have no recorded time, and the number of reports is part of the path.
    let is_recording = report.series.iter().all(|series| !series.unit.is_of_reports());
    if let Some(length) = report.length().filter(|length| length.is_recorded && is_recording) {
        parts.push(format!("recorded for {}", Weight::nanos(length.nanos.as_nanos())));
    }
    let is_path = |index: usize| index.is_multiple_of(3);
    if heading(&parts, |_| false, width).len() > 1
        && let Some(first) = parts.first_mut().filter(|first| common > 0 && first.is_char_boundary(common))
    {
        first.replace_range(..common, "…/");
    }
    heading(&parts, is_path, width)
}

/// The path of a report's first input.
fn input<'r>(report: &'r Report<'_>) -> &'r str {
    let profile = &report.recording.profile;
    let first = report.series.first();
    first.map_or("", |series| profile.string(profile.run(profile.series(series.series).run).input))
}

/// The length in bytes of the folders with which both paths begin.
fn common_folders([before, after]: [&str; 2]) -> usize {
    let equal = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    before.as_bytes()[..equal].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)
}

/// The nodes that changed enough, and their ancestors, in preorder.
struct ShownNodes {
    nodes: Vec<DiffNode>,
    /// By node: its children.
    children: Vec<Vec<usize>>,
    /// The number of other nodes.
    hidden: usize,
}

impl ShownNodes {
    /// Visits all nodes twice instead of storing them.
    fn new(diff: &Diff, limit: f64) -> Self {
        let (mut parents, mut is_shown): (Vec<u32>, Vec<bool>) = Default::default();
        let mut path = Vec::new();
        for node in diff.nodes() {
            path.truncate(node.depth as usize);
            parents.push(path.last().copied().unwrap_or(0));
            path.push(is_shown.len() as u32);
            is_shown.push(node.depth == 0 || diff.all_change(&node.sides).weight.abs() >= limit);
        }
        for (index, &parent) in parents.iter().enumerate().rev() {
            is_shown[parent as usize] |= is_shown[index];
        }
        let hidden = is_shown.iter().filter(|shown| !**shown).count();
        let mut tree = Self { nodes: Vec::new(), children: Vec::new(), hidden };
        let mut path: Vec<usize> = Vec::new();
        for (node, _) in diff.nodes().zip(is_shown).filter(|(_, is_shown)| *is_shown) {
            path.truncate(node.depth as usize);
            let index = tree.nodes.len();
            if let Some(&parent) = path.last() {
                tree.children[parent].push(index);
            }
            path.push(index);
            tree.nodes.push(node);
            tree.children.push(Vec::new());
        }
        tree
    }
}
