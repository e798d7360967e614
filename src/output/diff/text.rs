//! Changes for people.

use std::io::{self, Write};

use super::alerts::AlertLine;
use super::{DiffReport, DiffView, alerts, name, owner};
use crate::output::text::{
    Lines, OVERVIEW_WIDTH, OverviewContext, Scale, Style, Tone, TreeLine, counted_text, during, fit, wrap,
};
use crate::report::Report;
use crate::report::diff::{Change, Diff, DiffNode, DiffRow, Presence, Sides};
use crate::units::Weight;

/// The least width of text that shows noise and all weights.
const WIDE: usize = 100;
/// Columns of `alert   UNDECIDED  `.
const ALERT: usize = 19;
/// The least width of a name at any depth, if the terminal is wide enough.
const NAME: usize = 24;

/// Writes both sides, the change of the totals, and the rows of the view.
///
/// # Errors
/// When `out` fails.
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

/// Writes the short answer, in lines of 80 columns unless the style has another width.
///
/// # Errors
/// When `out` fails.
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
    /// Smaller changes are not shown.
    limit: f64,
    is_wide: bool,
}

impl<'a, 'r, 'e> Text<'a, 'r, 'e> {
    pub(super) fn new(report: &'a DiffReport<'r, 'e>, style: &'a Style) -> Self {
        let total = report.diff.total;
        let heavier = total.heavier();
        let scale = Scale::of(Weight::new(heavier, report.diff.unit));
        let limit = heavier as f64 * report.min_percent / 100.0;
        let is_wide = style.width.is_none_or(|width| width >= WIDE);
        Self { report, style, scale, limit, is_wide }
    }
}

impl Text<'_, '_, '_> {
    /// A line for each side, with the intervals in which its samples count.
    pub(super) fn both_sides(&self, out: &mut dyn Write) -> io::Result<()> {
        let common = common_folders([self.report.before, self.report.after].map(input));
        for (label, report) in [("before", self.report.before), ("after ", self.report.after)] {
            let room = self.style.width.map(|width| width.saturating_sub(8));
            let line = fit(&format!("{label}  {}", recording(report, common, room)), self.style.width);
            writeln!(out, "{}", self.style.paint(Tone::Title, &line))?;
            if let Some(intervals) = &report.options.selection.intervals {
                writeln!(out, "        {}", during(intervals))?;
            }
        }
        let Diff { factor, .. } = *self.report.diff;
        if factor != 1.0 {
            let why = format!("--normalize {}", self.report.normalize_name());
            writeln!(out, "        weights after are multiplied by {factor:.4} for changes ({why})")?;
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
        let unit = self.scale.title();
        let (weight, noise) = (self.signed(change.weight), self.number(change.noise));
        writeln!(out, "change  {weight} {unit}{share}; one standard deviation by chance: {noise} {unit}")?;
        self.alerts(out)
    }

    fn alerts(&self, out: &mut dyn Write) -> io::Result<()> {
        alerts::lines(self.report).try_for_each(|alert| self.alert(&alert, out))
    }

    pub(super) fn alert(&self, line: &AlertLine, out: &mut dyn Write) -> io::Result<()> {
        let &AlertLine { tone, word, ref text } = line;
        let lines = wrap(text, ALERT, self.style.width).join("\n");
        writeln!(out, "alert   {}{}", self.style.paint(tone, word), &lines["alert   ".len() + word.len()..])
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

    /// A weight; `?` if it is unknown.
    fn number(&self, weight: f64) -> String {
        if weight.is_infinite() {
            return "?".to_owned();
        }
        self.scale.number(weight.round() as u64)
    }

    /// `+1.200 *`: the star is for changes that chance would hardly explain.
    fn change(&self, change: &Change) -> String {
        let text = format!("{:>10} {}", self.signed(change.weight), if change.is_beyond_noise() { '*' } else { ' ' });
        match (change.is_beyond_noise(), change.weight > 0.0) {
            (true, true) => self.style.paint(Tone::Warning, &text),
            (true, false) => self.style.paint(Tone::Weight, &text),
            (false, _) => text,
        }
    }

    /// Both weights; nothing if it does not exist there.
    fn weights(&self, sides: &Sides, before: u64, after: u64) -> String {
        let (before, after) = (self.scale.number(before), self.scale.number(after));
        match sides.presence() {
            Presence::Both => format!("{before:>10} {after:>10}"),
            Presence::New => format!("{:>10} {after:>10}", "new"),
            Presence::Vanished => format!("{before:>10} {:>10}", "gone"),
        }
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let what = if self.report.view == DiffView::Binaries { "binary" } else { "function" };
        self.header("Δ self", what, out)?;
        let is_large = |row: &&DiffRow| row.self_change.weight.abs().max(row.all_change.weight.abs()) >= self.limit;
        let rows = self.report.rows();
        let large = rows.iter().filter(is_large).count();
        let shown = large.min(self.report.top.unwrap_or(usize::MAX));
        for row in rows.iter().filter(is_large).take(shown) {
            self.row(row, out)?;
        }
        let after_top = (large > shown).then(|| format!("{} more after the first {shown}", large - shown));
        let small = (rows.len() > large)
            .then(|| format!("{} more, with smaller changes; --min-percent 0 shows all", rows.len() - large));
        for note in after_top.into_iter().chain(small) {
            writeln!(out, "{}", self.style.paint(Tone::Dim, &format!("{:>36}{note}", "")))?;
        }
        self.legend(out)
    }

    /// The names of the columns of rows, where self weight is called `own`.
    pub(super) fn header(&self, own: &str, what: &str, out: &mut dyn Write) -> io::Result<()> {
        let unit = self.scale.title();
        let mut header = format!("{:>10}   {:>10} {:>10}", format!("{own} {unit}"), "before", "after");
        if self.is_wide {
            header.push_str(&format!(" {:>9} {:>10}  ", "by chance", format!("Δ all {unit}")));
        }
        writeln!(out, "{}", self.style.paint(Tone::Dim, &fit(&format!("{header}  {what}"), self.style.width)))
    }

    pub(super) fn legend(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = "* more than 1.96 standard deviations: chance alone rarely does that";
        writeln!(out, "{}", self.style.paint(Tone::Dim, &fit(text, self.style.width)))
    }

    pub(super) fn row(&self, row: &DiffRow, out: &mut dyn Write) -> io::Result<()> {
        let weights = self.weights(&row.sides, row.sides.before.sums.self_weight, row.sides.after.sums.self_weight);
        let mut line = format!("{} {weights}", self.change(&row.self_change));
        let mut used = 12 + 1 + 21 + 2;
        if self.is_wide {
            line.push_str(&format!(" {:>9} {}", self.number(row.self_change.noise), self.change(&row.all_change)));
            used += 1 + 9 + 1 + 12;
        }
        let (name, binary) = self.style.two_parts(name(&row.function), owner(&row.function).unwrap_or_default(), used);
        writeln!(out, "{line}  {name}{binary}")
    }

    fn tree(&self, out: &mut dyn Write) -> io::Result<()> {
        let header =
            format!("{:>10}   {:>10} {:>10}  function", format!("Δ all {}", self.scale.title()), "before", "after");
        writeln!(out, "{}", self.style.paint(Tone::Dim, &header))?;
        let nodes = &self.report.diff.nodes;
        let tree = Children::new(nodes, |node| self.report.diff.all_change(&node.sides).weight.abs() >= self.limit);
        let room = self.style.width.map_or(usize::MAX, |width| width.saturating_sub(36 + NAME));
        let children = |index: usize| tree.shown[index].clone();
        let mut lines = Lines::below(&tree.shown[0], room);
        while let Some(line) = lines.next(children) {
            match line {
                TreeLine::Node { index, lead, part } => self.node(&nodes[index], &lead, part, out)?,
                TreeLine::Part { index, part } => self.part(&nodes[index], part, out)?,
            }
        }
        if tree.hidden > 0 {
            let note = format!("{} nodes with smaller changes are not shown; --min-percent 0 shows all", tree.hidden);
            writeln!(out, "{}", self.style.paint(Tone::Dim, &format!("{:>36}{note}", "")))?;
        }
        Ok(())
    }

    /// The line that a part begins with.
    fn part(&self, node: &DiffNode, part: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(function) = self.report.diff.function(node) else { return Ok(()) };
        let room = self.style.width.map(|width| width.saturating_sub(36).max(NAME));
        let line = format!("{:>29} below {}", format!("▶{part}"), self.style.name(name(function), room));
        writeln!(out, "{}", self.style.paint(Tone::Title, &line))
    }

    fn node(&self, node: &DiffNode, lead: &str, part: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
        let diff = self.report.diff;
        let sides = &node.sides;
        let weights = self.weights(sides, sides.before.sums.all_weight, sides.after.sums.all_weight);
        let Some(function) = diff.function(node) else { return Ok(()) };
        let behind = part.map_or_else(String::new, |part| format!("  ▶{part}"));
        let used = 36 + lead.chars().count() + behind.chars().count();
        let (name, binary) = self.style.two_parts(name(function), owner(function).unwrap_or_default(), used);
        let change = self.change(&diff.all_change(sides));
        writeln!(out, "{change} {weights}  {}{name}{binary}{behind}", self.style.paint(Tone::Dim, lead))
    }
}

/// `export.xml · time-profile · 9.58 s in 9581 samples · recorded for 10.2 s`. If there is too little space, the path is shortened: first
/// by the folders that both recordings share, then in its middle.
fn recording(report: &Report<'_>, common: usize, room: Option<usize>) -> String {
    let profile = &report.recording.profile;
    let mut parts = Vec::new();
    for series in report.series.iter().filter(|series| series.counted.samples > 0) {
        let origin = profile.series(series.series);
        let run = profile.run(origin.run);
        parts.push(profile.string(run.input).to_owned());
        parts.push(profile.string(origin.schema).to_owned());
        parts.push(counted_text(origin, series));
    }
    // Reports have no recorded time, and the path says how many there are.
    let is_recording = report.series.iter().all(|series| !series.unit.is_of_reports());
    if let Some(length) = report.length().filter(|length| length.is_recorded && is_recording) {
        parts.push(format!("recorded for {}", Weight::nanos(length.nanos.as_nanos())));
    }
    let columns = parts.join(" · ").chars().count();
    if let (Some(room), Some(first)) = (room, parts.first_mut()) {
        let least = first.chars().count().min(NAME);
        let left = (first.chars().count() + room).saturating_sub(columns);
        if first.chars().count() > left && common > 0 && first.is_char_boundary(common) {
            first.replace_range(..common, "…/");
        }
        *first = fit(first, Some(left.max(least)));
    }
    parts.join(" · ")
}

/// The path of the first input of a report.
fn input<'r>(report: &'r Report<'_>) -> &'r str {
    let profile = &report.recording.profile;
    let first = report.series.first();
    first.map_or("", |series| profile.string(profile.run(profile.series(series.series).run).input))
}

/// The bytes of the folders that both paths begin with.
fn common_folders([before, after]: [&str; 2]) -> usize {
    let equal = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    before.as_bytes()[..equal].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)
}

/// The nodes shown below each node: nodes that changed enough, and the nodes above them.
struct Children {
    shown: Vec<Vec<usize>>,
    hidden: usize,
}

impl Children {
    fn new(nodes: &[DiffNode], is_large: impl Fn(&DiffNode) -> bool) -> Self {
        let mut parents = vec![0; nodes.len()];
        let mut path: Vec<usize> = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            path.truncate(node.depth as usize);
            parents[index] = path.last().copied().unwrap_or(0);
            path.push(index);
        }
        let mut is_shown: Vec<bool> = nodes.iter().map(is_large).collect();
        for index in (1..nodes.len()).rev() {
            if is_shown[index] {
                is_shown[parents[index]] = true;
            }
        }
        let mut shown = vec![Vec::new(); nodes.len()];
        for index in (1..nodes.len()).filter(|&index| is_shown[index]) {
            shown[parents[index]].push(index);
        }
        let hidden = is_shown.iter().skip(1).filter(|shown| !**shown).count();
        Self { shown, hidden }
    }
}
