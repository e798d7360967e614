//! Intervals of signposts and hangs, read from the exports or from files of their own: those in which samples count (`--during`,
//! `--during-hang`), and those that a format shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use traceparse::export::{
    DocumentContent, Export, Interval, Intervals, Options, SampleDetail, export_command, read_intervals,
};
use traceparse::profile::{IntervalFilter, TimeRange};

use crate::arguments::{InputArgs, SelectionArgs};
use crate::bundles::Inputs;
use crate::inputs::read_with;
use crate::{Failure, note, warning};

/// Names that are listed before the rest is only counted.
const NAMES: usize = 8;

/// Where the intervals of a recording may be.
pub(crate) struct IntervalFiles<'f> {
    /// The exports and recordings that are read for their samples, too.
    pub(crate) exports: &'f [PathBuf],
    /// Files that were named for their intervals: where there are some, only they count.
    pub(crate) named: &'f [PathBuf],
    /// The option that names them.
    pub(crate) option: &'static str,
}

/// The intervals in which samples count; `None` if none were asked for.
pub(crate) fn asked_intervals(
    inputs: &Inputs<'_>,
    files: &IntervalFiles<'_>,
    selection: &SelectionArgs,
    input: &InputArgs,
) -> Result<Option<AskedIntervals>, Failure> {
    if !selection.asks_intervals() {
        return Ok(None);
    }
    let sources = if files.named.is_empty() { files.exports } else { files.named };
    if let Some(once) = sources.iter().find(|path| files.exports.contains(path) && can_be_read_once(path)) {
        return Err(Failure::Usage(format!(
            "{} cannot be read twice, for its samples and for its intervals: name a file that has the intervals with {}",
            shown_name(once),
            files.option
        )));
    }
    let all = read(inputs, sources, input)?;
    let filter = filter(&all, &Sources { inputs, paths: sources }, selection)?;
    Ok(Some(AskedIntervals { filter, all }))
}

/// Those in which samples count, and all that were read to find them.
pub(crate) struct AskedIntervals {
    pub(crate) filter: IntervalFilter,
    pub(crate) all: Intervals,
}

/// The tables that have intervals.
const SCHEMAS: [&str; 3] = ["os-signpost", "os-signpost-interval", "potential-hangs"];

/// All intervals of the inputs, for formats that show them. Exports are read once more, but only those of which the first reading
/// (`export`) found rows of such tables. Of inputs that can be read once only, it is said that theirs are missing.
pub(crate) fn shown_intervals(
    inputs: &Inputs<'_>,
    files: &IntervalFiles<'_>,
    input: &InputArgs,
    export: &Export,
) -> Result<Intervals, Failure> {
    if !files.named.is_empty() {
        return read(inputs, files.named, input);
    }
    let has_rows = |path: &Path| {
        let name = path.display().to_string();
        let documents = export.documents.iter().filter(|document| document.input == name);
        let tables = documents.flat_map(|document| match &document.content {
            DocumentContent::Tables(tables) => tables.as_slice(),
            DocumentContent::Toc(_) => &[],
        });
        let mut schemas = tables.filter(|table| table.rows > 0).filter_map(|table| table.schema.as_deref());
        schemas.any(|schema| SCHEMAS.contains(&schema))
    };
    let with_intervals = files.exports.iter().filter(|path| inputs.bundle(path).is_some() || has_rows(path));
    let (once, sources): (Vec<PathBuf>, Vec<PathBuf>) =
        with_intervals.cloned().partition(|path| can_be_read_once(path));
    for path in once {
        let (name, option) = (shown_name(&path), files.option);
        note(&format!("{name} cannot be read twice: its signposts and hangs are not shown; name a file with {option}"));
    }
    read(inputs, &sources, input)
}

fn shown_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Whether it is a pipe, or something of that kind.
fn can_be_read_once(path: &Path) -> bool {
    path.as_os_str() == "-" || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn read(inputs: &Inputs<'_>, sources: &[PathBuf], input: &InputArgs) -> Result<Intervals, Failure> {
    let found = inputs.unless_changed(read_all(inputs, sources, &input.options(SampleDetail::Each)))?;
    let rejected: u64 = found.tables.iter().map(|table| table.rejected.total()).sum();
    if rejected > 0 && input.strict {
        let rows: u64 = found.tables.iter().map(|table| table.rows).sum();
        let reason = anyhow!("{rejected} of {rows} rows of intervals could not be read, and --strict was given");
        return Err(reason.into());
    }
    if let Some(run) = found.unread_runs.first().filter(|_| input.strict) {
        return Err(anyhow!("run {run} is damaged and was not read, and --strict was given").into());
    }
    Ok(found)
}

fn read_all(inputs: &Inputs<'_>, sources: &[PathBuf], options: &Options) -> Result<Intervals> {
    let mut found = Intervals::default();
    for path in sources {
        let name = path.display().to_string();
        if let Some(bundle) = inputs.bundle(path) {
            found.append(inputs.read_intervals(bundle, &name)?);
            continue;
        }
        found.append(read_with(path, |source| Ok(read_intervals(source, &name, options)?))?);
    }
    for diagnostic in &found.diagnostics {
        warning(&diagnostic.to_string());
    }
    Ok(found)
}

fn filter(found: &Intervals, sources: &Sources<'_, '_>, selection: &SelectionArgs) -> Result<IntervalFilter> {
    let all = found.distinct();
    let is_named = |interval: &Interval, name: &str| !interval.is_hang() && interval.name.as_deref() == Some(name);
    if let Some(missing) = selection.during.iter().find(|name| !all.iter().any(|interval| is_named(interval, name))) {
        return Err(no_interval(missing, &all, found, sources));
    }
    if selection.during_hang && !all.iter().any(|interval| interval.is_hang()) {
        bail!("no potential hang in {}; {}", sources.list(), sources.what_to_do("potential-hangs", found));
    }
    let is_asked = |interval: &&Interval| {
        let is_asked_hang = selection.during_hang && interval.is_hang();
        is_asked_hang || selection.during.iter().any(|name| is_named(interval, name))
    };
    let asked = all.into_iter().filter(is_asked);
    let ranges = asked.map(|interval| (interval.run, TimeRange { start: interval.start, end: interval.end }));
    let filter = IntervalFilter::new(selection.during.clone(), selection.during_hang, ranges);
    say_unpaired(found, &filter);
    Ok(filter)
}

/// Events without their partner.
fn say_unpaired(found: &Intervals, filter: &IntervalFilter) {
    if filter.open() > 0 {
        let (open, count) = (filter.open(), filter.count());
        note(&format!("the end of {open} of {count} intervals was not recorded: they last until the recording ends"));
    }
    let is_asked = |name: Option<&str>| filter.names().iter().any(|asked| Some(asked.as_str()) == name);
    let lone = found.lone_ends.iter().filter(|end| is_asked(end.name.as_deref())).count();
    if lone > 0 {
        note(&format!("the beginning of {lone} more was not recorded, only the end: they are no intervals"));
    }
}

fn no_interval(missing: &str, all: &[&Interval], found: &Intervals, sources: &Sources<'_, '_>) -> anyhow::Error {
    let signposts = all.iter().filter(|interval| !interval.is_hang());
    let mut names: Vec<&str> =
        signposts.filter_map(|interval| interval.name.as_deref()).collect::<BTreeSet<_>>().into_iter().collect();
    let files = sources.list();
    if names.is_empty() {
        return anyhow!("no signpost interval in {files}; {}", sources.what_to_do("os-signpost-interval", found));
    }
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    anyhow!("no signpost interval is named {missing:?} in {files}; there are: {}{more}", names.join(", "))
}

/// What intervals were read from.
struct Sources<'a, 'f> {
    inputs: &'a Inputs<'f>,
    paths: &'a [PathBuf],
}

impl Sources<'_, '_> {
    fn list(&self) -> String {
        self.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// What to do where no interval of a table is there. An export may lack what its recording has; a recording has all there is.
    fn what_to_do(&self, schema: &str, found: &Intervals) -> String {
        let of_table: Vec<_> = found.tables.iter().filter(|table| table.schema == schema).collect();
        let rejected: u64 = of_table.iter().map(|table| table.rejected.total()).sum();
        if self.paths.iter().any(|path| self.inputs.bundle(path).is_none()) {
            return format!("export them with: {}", export_command("X.trace", None, &[schema]));
        }
        // Of recordings, intervals that are written as two events each are not read.
        if schema == "os-signpost-interval" && of_table.is_empty() && self.has_rows("os-signpost") {
            let mut names = self.paths.iter().filter_map(|path| self.inputs.bundle(path)?.path().file_name());
            let name = names.next().map_or("X.trace".into(), |name| name.to_string_lossy());
            let export = export_command(&name, None, &["os-signpost"]);
            return format!("there is only os-signpost, which is read of exports and not of recordings: {export}");
        }
        match of_table.len() {
            0 => format!("there is no table {schema} that can be read: nothing recorded them"),
            _ if rejected > 0 => format!("none of the {rejected} rows of {schema} could be read"),
            _ => format!("there are no rows in {schema}: none happened while it was recorded"),
        }
    }

    fn has_rows(&self, schema: &str) -> bool {
        let tocs = self.paths.iter().filter_map(|path| self.inputs.bundle(path)?.toc().ok());
        let tables = tocs.flat_map(|toc| toc.runs).flat_map(|run| run.tables);
        tables.into_iter().any(|table| table.schema == schema && table.rows.is_some_and(|rows| rows > 0))
    }
}
