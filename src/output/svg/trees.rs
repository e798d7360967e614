//! Draws a single tree, or the trees of a report.

use std::convert::Infallible;
use std::io::{self, Write};

use super::colours::{Colour, ColourBy};
use super::frames::{Frame, Laid};
use super::letters::fitted;
use super::measured;
use super::page::{FlameGraphOptions, Page, within};
use crate::calltree::{Draft, Label};
use crate::hash::HashMap;
use crate::output::flame_layout::{FlameBox, FlameLayout};
use crate::output::inert::inert;
use crate::output::text::base_text;
use crate::profile::{Category, ProcessId, Profile, Run};
use crate::report::{Report, Scope, ScopeReport, SeriesReport, binary_of, function_of, process_label, scope_labels};
use crate::units::{Unit, Weight};

/// A node of a tree to draw. Nodes come in tree order: each is followed by its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameNode<'n> {
    /// The number of levels below the root; 0 for the root, which comes first.
    pub depth: u32,
    /// The name, which is escaped when it is written.
    pub name: &'n str,
    /// The name of the binary, if any.
    pub binary: Option<&'n str>,
    /// The category of its binary; `None` for a group of functions: the total, a process or a thread.
    pub category: Option<Category>,
    /// The total weight, which is the width. Children weigh at most as much as their parent; any excess is cut off.
    pub all_weight: u64,
    /// The self weight.
    pub self_weight: u64,
    /// The weight of the children that pruning hid; 0 in a tree that was not pruned.
    pub hidden_weight: u64,
}

impl<'n> FlameNode<'n> {
    pub(super) fn frame(&self, colour: Colour) -> Frame<'n> {
        let (own, hidden) = (self.self_weight, self.hidden_weight);
        Frame { name: self.name, binary: self.binary, colour, own, hidden, before: None }
    }
}

impl FlameGraphOptions {
    /// Draws any tree. The first node is the root with depth 0. Without any node, the picture is empty.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write_tree<'n>(
        &self,
        nodes: impl IntoIterator<Item = FlameNode<'n>>,
        unit: Unit,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut picture = Picture::new(self);
        nodes.into_iter().for_each(|node| picture.push_node(&node));
        let legend = |frames: &[FlameBox<Frame<'_>>]| legend(frames, self.colour_by);
        picture.write([measured(unit).to_owned(), String::new()], None, legend, unit, out)
    }
}

/// Draws the trees of a report of [`View::Tree`](crate::report::View::Tree). Below the root are processes with their threads, only processes, or
/// functions, depending on how trees are separated. If several recordings were read, each has a frame below the root.
///
/// # Errors
/// If `out` fails, or the series of the report cannot be added up ([`Report::check_one_measurement`]).
pub(crate) fn write(report: &Report<'_>, options: &FlameGraphOptions, out: &mut dyn Write) -> io::Result<()> {
    report.check_one_measurement()?;
    let profile = &report.recording.profile;
    let counted: Vec<&SeriesReport> = report.series.iter().filter(|series| series.counted.samples > 0).collect();
    let unit = report.series.first().map_or(Unit::Samples, |series| series.unit);
    let groups: Vec<SeriesGroups> = counted.iter().map(|series| SeriesGroups::new(profile, series)).collect();
    let mut picture = Picture::new(options);
    let total = groups.iter().fold(0_u64, |sum, group| sum.saturating_add(group.weight));
    picture.push_node(&group(0, "all", total));
    let categories = Category::of_functions(profile);
    for (series, groups) in counted.iter().zip(&groups) {
        let base = u32::from(counted.len() > 1);
        if base > 0 {
            picture.push_node(&group(1, &groups.name, groups.weight));
        }
        let mut labels = groups.labels.iter();
        let walked: Result<(), Infallible> = report.walk_trees(series, &groups.scopes, |_, tree| {
            let above = push_labels(&mut picture, base, labels.next().map_or(&[], Vec::as_slice));
            push_tree(&mut picture, profile, &categories, above, tree);
            Ok(())
        });
        let Ok(()) = walked;
    }
    let texts = [title(report, &counted, unit), subtitle(report, &counted, total, unit)];
    picture.write(texts, None, |frames| legend(frames, options.colour_by), unit, out)
}

/// Adds a tree. Its root is already in the picture, at this depth.
fn push_tree<'n>(
    picture: &mut Picture<'n, '_>,
    profile: &'n Profile,
    categories: &[Category],
    above: u32,
    tree: &Draft,
) {
    let walked: Result<(), Infallible> = tree.walk(|chain| {
        for node in chain.nodes() {
            if node.label == Label::Root {
                picture.hidden = picture.hidden.saturating_add(node.hidden_weight);
                continue;
            }
            picture.push_node(&FlameNode {
                depth: above + node.depth,
                name: function_of(profile, node.label),
                binary: binary_of(profile, node.label),
                category: Some(category_of(categories, node.label)),
                all_weight: node.all_weight,
                self_weight: node.self_weight,
                hidden_weight: node.hidden_weight,
            });
        }
        Ok(())
    });
    let Ok(()) = walked;
}

fn group<'n>(depth: u32, name: &'n str, weight: u64) -> FlameNode<'n> {
    let (binary, category) = (None, None);
    FlameNode { depth, name, binary, category, all_weight: weight, self_weight: 0, hidden_weight: 0 }
}

/// Adds the frames above a tree, and returns the depth of its root.
fn push_labels<'n>(picture: &mut Picture<'n, '_>, base: u32, labels: &'n [GroupLabel]) -> u32 {
    for label in labels.iter().filter(|label| label.is_new) {
        picture.push_node(&group(base + label.level, &label.name, label.weight));
    }
    base + labels.last().map_or(0, |label| label.level)
}

/// The trees of one series. Trees of the same process are next to each other.
struct SeriesGroups {
    /// The label of the recording.
    name: String,
    weight: u64,
    scopes: Vec<ScopeReport>,
    /// By scope: the frames above it.
    labels: Vec<Vec<GroupLabel>>,
}

/// A process or thread above functions.
struct GroupLabel {
    level: u32,
    name: String,
    weight: u64,
    /// True unless the previous tree is below the same frame.
    is_new: bool,
}

impl SeriesGroups {
    fn new(profile: &Profile, series: &SeriesReport) -> Self {
        let run = profile.run(profile.series(series.series).run);
        let name = name_of_run(profile, run);
        let process_of = |scope: Scope| match scope {
            Scope::Thread(id) => Some(profile.thread(id).process),
            _ => None,
        };
        // Scopes are sorted by weight. Processes with equal weights keep the order of their first threads.
        let mut weights: HashMap<Option<ProcessId>, (u64, usize)> = HashMap::default();
        for (index, row) in series.scopes.iter().enumerate() {
            let (weight, _) = weights.entry(process_of(row.scope)).or_insert((0, index));
            *weight = weight.saturating_add(row.counted.weight.value);
        }
        let mut scopes = series.scopes.clone();
        let key = |row: &ScopeReport| {
            let (weight, first) = weights.get(&process_of(row.scope)).copied().unwrap_or_default();
            (std::cmp::Reverse(weight), first)
        };
        scopes.sort_by_key(key);
        let mut before = None;
        let labels = scopes.iter().map(|row| {
            let process = process_of(row.scope);
            let is_new = process.is_none() || before != process;
            before = process;
            group_labels(profile, row, key(row).0.0, is_new)
        });
        let labels = labels.collect();
        Self { name, weight: series.counted.weight.value, scopes, labels }
    }
}

fn group_labels(profile: &Profile, row: &ScopeReport, process_weight: u64, is_new: bool) -> Vec<GroupLabel> {
    let names = scope_labels(profile, row.scope);
    let last = names.len();
    let label = |(name, level): (String, usize)| {
        let (weight, is_new) = if level == last { (row.counted.weight.value, true) } else { (process_weight, is_new) };
        GroupLabel { level: level as u32, name, weight, is_new }
    };
    names.into_iter().zip(1..).map(label).collect()
}

fn category_of(categories: &[Category], label: Label) -> Category {
    match label {
        Label::Function(id) => categories[id.index()],
        Label::Root | Label::NoStack => Category::Unknown,
    }
}

/// The measure and the measured processes.
fn title(report: &Report<'_>, counted: &[&SeriesReport], unit: Unit) -> String {
    let profile = &report.recording.profile;
    let mut processes: Vec<ProcessId> =
        counted.iter().flat_map(|series| series.all_threads()).map(|row| profile.thread(row.thread).process).collect();
    processes.sort_unstable();
    processes.dedup();
    // Of threads that waited, too.
    let measured = if unit == Unit::Nanoseconds && !report.is_running() { "Time" } else { measured(unit) };
    match processes.as_slice() {
        [] => measured.to_owned(),
        [one] => format!("{measured} of {}", process_label(profile, profile.process(*one))),
        more => format!("{measured} of {} processes", more.len()),
    }
}

/// `export.xml, run 1`, or the name of several runs.
fn name_of_run(profile: &Profile, run: &Run) -> String {
    let input = profile.string(run.input);
    if run.is_several() { input.to_owned() } else { format!("{input}, run {}", run.number) }
}

/// The table, the total and, for CPU time, its rate.
fn subtitle(report: &Report<'_>, counted: &[&SeriesReport], total: u64, unit: Unit) -> String {
    let profile = &report.recording.profile;
    let Some(first) = counted.first() else { return "No sample counts.".to_owned() };
    let samples: u64 = counted.iter().map(|series| series.counted.samples).sum();
    let number = match counted.len() {
        1 => name_of_run(profile, profile.run(profile.series(first.series).run)),
        more => format!("{more} recordings"),
    };
    let schema = profile.string(profile.series(first.series).schema);
    let plural = if samples == 1 { "" } else { "s" };
    match unit {
        Unit::Samples => format!("{schema} of {number}: {}.", Weight::new(total, unit)),
        _ => {
            let only = Some(first).filter(|_| counted.len() == 1);
            let rate = only.and_then(|series| report.cpu_use(series)).map_or_else(String::new, |(percent, length)| {
                format!(", {percent:.1}% of one core over {}", base_text(length))
            });
            let has_counts = counted.iter().all(|series| profile.series(series.series).has_sample_counts());
            let samples = if has_counts { format!(" in {samples} sample{plural}") } else { String::new() };
            format!("{schema} of {number}: {}{samples}{rate}.", Weight::new(total, unit))
        }
    }
}

/// A picture while frames are added.
pub(super) struct Picture<'n, 'o> {
    options: &'o FlameGraphOptions,
    layout: FlameLayout<Frame<'n>>,
    /// The hidden weight of a root that has no frame.
    hidden: u64,
}

impl<'n, 'o> Picture<'n, 'o> {
    pub(super) fn new(options: &'o FlameGraphOptions) -> Self {
        Self { options, layout: FlameLayout::of_width(options.room(), options.narrowest), hidden: 0 }
    }

    pub(super) fn push(&mut self, depth: u32, all: u64, frame: impl FnOnce() -> Frame<'n>) {
        self.layout.push(depth, all, frame);
    }

    fn push_node(&mut self, node: &FlameNode<'n>) {
        let by = self.options.colour_by;
        let colour =
            || node.category.map_or(Colour::Group, |category| Colour::of(by, node.name, node.binary, category));
        self.push(node.depth, node.all_weight, || node.frame(colour()));
    }

    /// Writes the picture with this title and subtitle, unless the options contain others, and a `note` below.
    pub(super) fn write(
        self,
        [title, subtitle]: [String; 2],
        note: Option<String>,
        legend: impl FnOnce(&[FlameBox<Frame<'_>>]) -> Vec<(Colour, String)>,
        unit: Unit,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let options = self.options;
        let title = options.title.clone().unwrap_or(title);
        let subtitle = options.subtitle.clone().unwrap_or(subtitle);
        let (mut frames, left_out) = within(Laid::new(self.layout), options, unit, [&title, &subtitle]);
        if let Some(root) = frames.first_mut() {
            root.what.hidden = root.what.hidden.saturating_add(self.hidden);
        }
        let mut lines: Vec<String> = std::iter::once(subtitle).chain(note).collect();
        lines.extend(options.left_out_lines(&frames, left_out, unit));
        let legend = legend(&frames);
        Page { options, unit, title, lines, legend, frames }.write(out)
    }
}

/// The maximum number of binaries in a legend.
const LONGEST_LEGEND: usize = 12;

fn legend(frames: &[FlameBox<Frame<'_>>], by: ColourBy) -> Vec<(Colour, String)> {
    match by {
        ColourBy::Function => Vec::new(),
        ColourBy::Binary => binaries_legend(frames),
        ColourBy::Category => {
            let has = |colour: Colour| frames.iter().any(|frame| frame.what.colour.plain() == colour);
            let entries = Category::ALL.map(|category| (Colour::Owner(category, 1), owner(category).to_owned()));
            entries.into_iter().filter(|entry| has(entry.0)).collect()
        }
    }
}

/// The owner of a category's code, as text.
fn owner(category: Category) -> &'static str {
    match category {
        Category::User => "your code",
        Category::System => "system",
        Category::Runtime => "language runtime",
        Category::Kernel => "kernel",
        Category::Unknown => "unknown",
    }
}

/// The binaries with the most self weight in the picture.
fn binaries_legend(frames: &[FlameBox<Frame<'_>>]) -> Vec<(Colour, String)> {
    let mut weights: HashMap<&str, (u64, Colour)> = HashMap::default();
    for frame in frames {
        let Frame { binary: Some(binary), colour, own, .. } = frame.what else { continue };
        let (weight, _) = weights.entry(binary).or_insert((0, colour.plain()));
        *weight = weight.saturating_add(own);
    }
    let mut binaries: Vec<(&str, (u64, Colour))> = weights.into_iter().collect();
    binaries.sort_unstable_by(|a, b| b.1.0.cmp(&a.1.0).then(a.0.cmp(b.0)));
    let more = binaries.len().saturating_sub(LONGEST_LEGEND);
    binaries.truncate(LONGEST_LEGEND);
    let entries = binaries.into_iter().map(|(name, (_, colour))| (colour, fitted(&inert(name), 40)));
    let mut legend: Vec<(Colour, String)> = entries.collect();
    if let Some(last) = legend.last_mut().filter(|_| more > 0) {
        last.1.push_str(&format!(" and {more} more binaries"));
    }
    legend
}
