//! Reads intervals of signposts and hangs, from the exports or from separate files: intervals that select samples (`--during`, `--during-hang`,
//! `--during-all`), and intervals that an output format shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use traceparse::profile::IntervalFilter;
use traceparse::recording::{HangRisk, Interval, Intervals, Recording, SampleDetail, Table};
use traceparse::report::{ReportOptions, SeparateBy};
use traceparse::units::{first_of, several};

use crate::arguments::{FileArgs, ReadingArgs};
use crate::filters::WhenArgs;
use crate::inputs::Inputs;
use crate::recording::Opened;
use crate::{Failure, note, redacted, warning};

/// The number of hang risks that are listed; the rest is counted.
const RISKS: usize = 5;
/// The files that may contain the intervals of a recording.
pub(crate) struct IntervalFiles {
    /// The exports and recordings that are also read for their samples.
    pub(crate) exports: Vec<PathBuf>,
    /// Files passed only for their intervals. If there are any, the exports are not searched.
    pub(crate) named: Vec<PathBuf>,
    /// The option for these files.
    pub(crate) option: &'static str,
    /// True to read the rows of all tables with a start and a duration, not only signposts and hangs.
    pub(crate) are_all: bool,
    /// True if the output shows intervals.
    pub(crate) are_shown: bool,
}

/// The options restricted to the requested intervals, and all intervals that were read for it; `None` if no option requests intervals.
pub(crate) fn limited(
    inputs: &Inputs<'_>,
    files: &IntervalFiles,
    args: &ReadingArgs,
    options: &ReportOptions,
) -> Result<(ReportOptions, Option<Intervals>), Failure> {
    let mut options = options.clone();
    if !args.when.asks_intervals() {
        return Ok((options, None));
    }
    let sources = if files.named.is_empty() { &files.exports } else { &files.named };
    let sources_of_both: Vec<PathBuf> = sources.iter().filter(|path| files.exports.contains(path)).cloned().collect();
    check_twice(&sources_of_both, &format!("pass a file with the intervals as {}", files.option))?;
    let all = read(inputs, sources, files.are_all, &args.files)?;
    options.selection.intervals = Some(filter(&all, &Sources { inputs, paths: sources }, &args.when)?);
    Ok((options, Some(all)))
}

/// Fails if one of these files cannot be read twice.
pub(crate) fn check_twice(files: &[PathBuf], advice: &str) -> Result<(), Failure> {
    let Some(once) = files.iter().find(|path| can_be_read_once(path)) else { return Ok(()) };
    let name = shown_name(once);
    Err(Failure::Usage(format!("{name} cannot be read twice, for its samples and for its intervals; {advice}")))
}

/// All intervals of the inputs, if the output shows them. Uses `known` or reads the inputs again. Exports are read again only if the first reading
/// (`export`) found rows of interval tables. Prints a note about inputs that can be read only once.
pub(crate) fn shown_intervals(
    inputs: &Inputs<'_>,
    files: &IntervalFiles,
    args: &FileArgs,
    export: &Recording,
    known: Option<Intervals>,
) -> Result<Intervals, Failure> {
    match known {
        _ if !files.are_shown => return Ok(Intervals::default()),
        Some(known) => return Ok(known),
        None if !files.named.is_empty() => return read(inputs, &files.named, files.are_all, args),
        None => {}
    }
    let has_rows = |path: &Path| export.has_intervals(&path.display().to_string(), files.are_all);
    let with_intervals = files.exports.iter().filter(|path| inputs.is_bundle(path) || has_rows(path));
    let (once, sources): (Vec<PathBuf>, Vec<PathBuf>) =
        with_intervals.cloned().partition(|path| can_be_read_once(path));
    for path in once {
        let (name, option) = (shown_name(&path), files.option);
        note(&format!(
            "{name} cannot be read twice, so its signposts and hangs are not shown; pass a file with {option}"
        ));
    }
    read(inputs, &sources, files.are_all, args)
}

/// Labels samples with signposts or tasks, if --separate-by needs that. Redacts the labels if requested.
pub(crate) fn label_samples(
    opened: &mut Opened,
    inputs: &Inputs<'_>,
    files: &IntervalFiles,
    args: &FileArgs,
    separate_by: SeparateBy,
) -> Result<(), Failure> {
    if !separate_by.needs_labels() {
        return Ok(());
    }
    // Dart user tags are labels, not intervals.
    let is_labelled = files.named.is_empty() && files.exports.len() == 1 && opened.recording().profile.has_labels();
    if is_labelled && separate_by == SeparateBy::Interval {
        return Ok(());
    }
    let paths = if files.named.is_empty() { &files.exports } else { &files.named };
    check_twice(paths, &format!("pass a file with the intervals as {}", files.option))?;
    let (mut found, schemas): (_, &[&str]) = match separate_by {
        SeparateBy::Task => {
            (inputs.read_all_intervals(paths, &args.options(SampleDetail::Each))?, &[Intervals::TASK_STATES])
        }
        _ => (read(inputs, paths, false, args)?, &Intervals::SIGNPOSTS),
    };
    redacted::with(|redactor| {
        redactor.collect_intervals(&found);
        redactor.intervals(&mut found);
    });
    if opened.label_by(separate_by, &found)? == 0 {
        let sources = Sources { inputs, paths };
        let advice = sources.what_to_do(schemas, &found);
        let what = if separate_by == SeparateBy::Task { "running task" } else { "signpost interval of a thread" };
        return Err(anyhow!("no {what} in {}; {advice}", sources.list()).into());
    }
    Ok(())
}

fn shown_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// True for a pipe or a similar input.
fn can_be_read_once(path: &Path) -> bool {
    path.as_os_str() == "-" || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn read(inputs: &Inputs<'_>, sources: &[PathBuf], are_all: bool, input: &FileArgs) -> Result<Intervals, Failure> {
    let options = input.options(SampleDetail::Each);
    let found = match are_all {
        true => inputs.read_all_intervals(sources, &options)?,
        false => inputs.read_intervals(sources, &options)?,
    };
    redacted::with(|redactor| redactor.collect_intervals(&found));
    for diagnostic in &found.diagnostics {
        warning(&diagnostic.to_string());
    }
    let rejected: u64 = found.tables.iter().map(|table| table.rejected.total()).sum();
    if rejected > 0 && input.strict {
        let rows: u64 = found.tables.iter().map(|table| table.rows).sum();
        let reason = anyhow!("{rejected} of {rows} rows of intervals could not be read (--strict makes this an error)");
        return Err(reason.into());
    }
    if let Some(run) = found.unread_runs.first().filter(|_| input.strict) {
        return Err(anyhow!("run {run} is damaged and was not read (--strict makes this an error)").into());
    }
    Ok(found)
}

fn filter(found: &Intervals, sources: &Sources<'_, '_>, when: &WhenArgs) -> Result<IntervalFilter> {
    let all = found.distinct();
    if when.during_hang {
        say_risks(found);
    }
    if let Some(missing) = when.during.iter().find(|name| !all.iter().any(|interval| interval.is_named(name))) {
        return Err(no_interval(missing, &all, found, sources));
    }
    if when.during_hang && !all.iter().any(|interval| interval.is_hang()) {
        bail!("no potential hang in {}; {}", sources.list(), sources.what_to_do(&Intervals::HANGS, found));
    }
    let filter = found.filter(&when.during, when.during_hang, when.during_all);
    say_unpaired(found, &filter);
    if filter.is_intersection() && filter.ranges().is_empty() {
        note("they are never all open at the same time (--during-all), so no sample is selected");
    }
    Ok(filter)
}

/// Prints notes about events without a matching start or end.
fn say_unpaired(found: &Intervals, filter: &IntervalFilter) {
    if filter.open() > 0 {
        let (open, count) = (filter.open(), filter.count());
        note(&format!(
            "{open} of {count} intervals have no recorded end; they are assumed to last until the recording ends"
        ));
    }
    let is_asked = |name: Option<&str>| filter.names().iter().any(|asked| Some(asked.as_str()) == name);
    let lone = found.distinct_lone_ends().into_iter().filter(|end| is_asked(end.name.as_deref())).count();
    if lone > 0 {
        note(&format!("{lone} more have an end but no recorded beginning; they are left out"));
    }
}

/// Lists hang risks. They have no duration, so they select no samples, but they are relevant for anyone who looks for hangs.
fn say_risks(found: &Intervals) {
    let risks = &found.hang_risks;
    if risks.is_empty() {
        return;
    }
    let listed: Vec<String> = risks.iter().take(RISKS).map(HangRisk::to_string).collect();
    let more = risks.len().saturating_sub(RISKS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let count = risks.len();
    note(&format!(
        "hang-risks has {count}; hang risks are moments and do not select samples: {}{more}",
        listed.join("; ")
    ));
}

fn no_interval(missing: &str, all: &[&Interval], found: &Intervals, sources: &Sources<'_, '_>) -> anyhow::Error {
    let signposts = all.iter().filter(|interval| !interval.is_hang());
    let names: Vec<&str> =
        signposts.filter_map(|interval| interval.name.as_deref()).collect::<BTreeSet<_>>().into_iter().collect();
    let files = sources.list();
    if names.is_empty() {
        let recorded = sources.recorded_categories();
        return anyhow!(
            "no signpost interval in {files}; {}{recorded}",
            sources.what_to_do(&Intervals::SIGNPOSTS, found)
        );
    }
    let (names, recorded) = (first_of(&names), sources.recorded_categories());
    anyhow!("no signpost interval is named {missing:?} in {files}; known names: {names}{recorded}")
}

/// The inputs from which intervals were read.
struct Sources<'a, 'f> {
    inputs: &'a Inputs<'f>,
    paths: &'a [PathBuf],
}

impl Sources<'_, '_> {
    fn list(&self) -> String {
        self.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Advice if tables with these schemas contain no interval. An export may lack tables that its recording has; a recording contains all tables.
    fn what_to_do(&self, schemas: &[&str], found: &Intervals) -> String {
        if self.paths.iter().any(|path| !self.inputs.is_bundle(path)) {
            return format!("export them with: {}", Table::export_command("X.trace", None, &schemas[..1]));
        }
        let tables = || found.tables.iter().filter(|table| schemas.contains(&table.schema.as_str()));
        let names: Vec<&str> =
            tables().map(|table| table.schema.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
        let names = names.join(" and ");
        let rejected: u64 = tables().map(|table| table.rejected.total()).sum();
        match tables().map(|table| table.rows).sum::<u64>() {
            _ if names.is_empty() => {
                format!("there is no readable table {}; they were not recorded", schemas.join(" or "))
            }
            0 => format!("no rows in {names}: none happened during the recording"),
            _ if rejected > 0 => {
                let rows = several(rejected, "row");
                format!("{rows} of {names} could not be read, and no other row is an interval with this name")
            }
            rows => {
                format!("none of {} of {names} is an interval with this name, or the end of one", several(rows, "row"))
            }
        }
    }

    /// A note that tables record only some categories of signposts. A Time Profiler records `PointsOfInterest`, but not what apps log in other
    /// categories. Empty if all categories were recorded, or if they are unknown.
    fn recorded_categories(&self) -> String {
        let tocs = self.paths.iter().filter_map(|path| self.inputs.toc(path));
        let tables = tocs.flat_map(|toc| toc.runs).flat_map(|run| run.tables);
        let mut categories = BTreeMap::new();
        for table in tables.filter(|table| table.schema == "os-signpost") {
            let Some(category) = table.attribute("category") else { return String::new() };
            let subsystem = table.attribute("subsystem").map(|name| format!(" of {name}")).unwrap_or_default();
            categories.insert(category.to_owned(), subsystem);
        }
        if categories.is_empty() {
            return String::new();
        }
        let categories: Vec<String> = categories.into_iter().map(|(category, of)| format!("{category}{of}")).collect();
        format!(
            " (only signposts of these categories were recorded: {}; the os_signpost instrument records others)",
            categories.join(", ")
        )
    }
}
