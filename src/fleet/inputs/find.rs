//! Finds the exports specified by the arguments: files, folders, patterns and lists.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folders::{Walked, expand, export_names, intervals_names, is_pattern, is_report, toc_names, toc_of, walk};
use super::input_list;
use super::task::{Task, differing_labels, display};
use crate::files::{Entry, Files};
use crate::fleet::error::Result;
use crate::fleet::fingerprint::{of_missing, of_unread};
use crate::fleet::host::FleetHost;
use crate::fleet::store::Store;
use crate::fleet::{FailedInput, FailureKind};
use crate::memory::Reservation;
use crate::readers::names::{is_export_name, is_recording_name};
use crate::units::{counted, several};

/// The arguments that name inputs.
#[derive(Clone, Debug, Default)]
pub struct InputRequest {
    /// Files, folders, patterns, and input lists whose name ends in `.csv`, `.jsonl` or `.ndjson`.
    pub inputs: Vec<PathBuf>,
    /// Input lists with any name.
    pub input_lists: Vec<PathBuf>,
    /// A list of paths.
    pub files_from: Option<PathBuf>,
    /// True if NUL characters terminate the paths in that list.
    pub is_null_separated: bool,
    /// True if that list may be empty even as the only input.
    pub may_be_empty: bool,
}

/// The inputs that were found.
#[derive(Debug, Default)]
pub struct FleetInputs {
    /// The exports to measure: first those in an input list, then those with a table of contents, then the rest, each sorted by path. If files
    /// have the same content, the first is used, which has the most metadata.
    pub tasks: Vec<Task>,
    /// Named inputs that cannot be measured.
    pub failures: Vec<FailedInput>,
    /// Sentences for the user.
    pub notes: Vec<String>,
    /// The memory reserved for lists of paths.
    _reserved: Reservation,
    /// Datasets found in folders or through patterns.
    datasets: Vec<PathBuf>,
    /// The paths, patterns and folders in the arguments.
    asked: Vec<PathBuf>,
}

impl FleetInputs {
    /// Finds the exports specified by the arguments.
    ///
    /// # Errors
    /// If a list is unusable.
    pub fn find(host: &dyn FleetHost, request: &InputRequest) -> Result<Self> {
        let mut finder = Finder::new(host);
        // Lists have precedence: their lines apply even if other arguments name the same export.
        for path in &request.input_lists {
            finder.add_list(path)?;
        }
        let is_list = |path: &&PathBuf| {
            input_list::is_list_name(path)
                && !host.is_folder(path)
                && !finder.is_glob(path)
                && is_report(host.files(), path).is_none()
        };
        let (lists, others): (Vec<&PathBuf>, Vec<&PathBuf>) = request.inputs.iter().partition(is_list);
        for path in lists {
            finder.add_list(path)?;
        }
        for path in others {
            finder.add(path);
        }
        if let Some(list) = &request.files_from {
            let is_only = request.inputs.is_empty() && request.input_lists.is_empty() && !request.may_be_empty;
            let list = input_list::read_paths(host, list, request.is_null_separated, is_only)?;
            finder.inputs._reserved = list.reserved;
            for path in list.paths {
                finder.insert(task(host, &path), Origin::Named, String::new());
            }
        }
        Ok(finder.finish())
    }

    /// Finds a measured file again, with the files next to it. `None` if it no longer exists, or is not an input by itself.
    pub fn again(host: &dyn FleetHost, path: &Path) -> Option<Task> {
        let mut finder = Finder::new(host);
        finder.insert(task(host, path), Origin::Named, String::new());
        finder.finish().tasks.pop().filter(|task| host.exists(&task.path))
    }

    /// Announces all files to the host before the first is read, so it can check that the output does not overwrite any.
    ///
    /// # Errors
    /// If the host rejects a file.
    pub fn will_read(&self, host: &dyn FleetHost) -> Result<()> {
        self.tasks.iter().flat_map(Task::files).try_for_each(|path| host.will_read(path))
    }

    /// Replaces paths by canonical ones, since a dataset outlives the folder that relative paths refer to.
    pub fn use_real_paths(&mut self, host: &dyn FleetHost) {
        for task in &mut self.tasks {
            if let Ok(path) = real(host, &task.path) {
                task.display = display(host, &path);
            }
        }
        // Sorted again, so that copies have the same order in every part of a fleet, regardless of the working directory.
        self.tasks.sort_by(|a, b| a.display.cmp(&b.display));
        for failed in &mut self.failures {
            if let Ok(path) = real(host, Path::new(&failed.source)) {
                failed.source = display(host, &path);
            }
            failed.fingerprint = of_missing(&failed.source);
        }
    }

    /// Replaces file names by hashes if names are redacted, so that a dataset recognises files without revealing their paths. Tasks keep their
    /// order.
    pub fn redact(&mut self, host: &dyn FleetHost) {
        if !host.is_redacting() {
            return;
        }
        for task in &mut self.tasks {
            for path in task.files().skip(1) {
                hidden(host, &display(host, path));
            }
            let path = display(host, &task.path);
            host.with_redactor(&mut |redactor| drop(redactor.hide_input_as(&path, &pseudonym(&task.display))));
            task.display = hidden(host, &task.display);
            for (_, value) in &mut task.labels {
                *value = host.redacted(value);
            }
        }
        for failed in &mut self.failures {
            failed.source = hidden(host, &failed.source);
            failed.reason = host.redacted(&failed.reason);
            failed.fingerprint = of_missing(&failed.source);
        }
    }

    /// True if the arguments name this input, which was missing before and is now either found or a failure.
    pub(crate) fn asks_for(&self, host: &dyn FleetHost, source: &str) -> bool {
        self.asked.iter().any(|asked| {
            let Ok(asked) = real(host, asked) else { return false };
            let asked = display(host, &asked);
            if host.is_redacting() {
                return source == hidden(host, &asked);
            }
            source.strip_prefix(asked.as_str()).is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    }

    /// Fails if only datasets were found, which are otherwise skipped.
    ///
    /// # Errors
    /// Advises to report on the dataset.
    pub fn check(&self) -> Result<(), String> {
        match self.datasets.as_slice() {
            [only] if self.tasks.is_empty() => {
                let only = only.display();
                Err(format!("found no exports, only a dataset, {only}; pass that to `fleet report`"))
            }
            [first, ..] if self.tasks.is_empty() => {
                let (datasets, first) = (counted(self.datasets.len()), first.display());
                let advice = "pass them to `fleet report`";
                Err(format!("found no exports, only {datasets} datasets, such as {first}; {advice}"))
            }
            _ => Ok(()),
        }
    }
}

/// How an export was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Manifest,
    /// Named by an argument, or matched by a pattern.
    Named,
    /// Found in a named folder.
    Folder,
}

/// An export, and how it was found.
struct Found {
    task: Task,
    origin: Origin,
    /// The line that names it, such as `fleet.csv, line 7`; empty for other origins.
    place: String,
    canonical: PathBuf,
}

struct Finder<'h> {
    host: &'h dyn FleetHost,
    /// The result, without the tasks.
    inputs: FleetInputs,
    found: Vec<Found>,
    /// Maps canonical paths to indices of `found`.
    known: HashMap<PathBuf, usize>,
    walked: Walked,
    /// Notes about files named more than once, by canonical path.
    repeated: BTreeMap<PathBuf, String>,
    /// Notes about exports with contradictory lines in several manifests.
    contradicted: Vec<String>,
    folders: Siblings,
}

impl<'h> Finder<'h> {
    fn new(host: &'h dyn FleetHost) -> Self {
        Self {
            host,
            inputs: FleetInputs::default(),
            found: Vec::new(),
            known: HashMap::new(),
            walked: Walked::default(),
            repeated: BTreeMap::new(),
            contradicted: Vec::new(),
            folders: Siblings::default(),
        }
    }

    /// True if a path is a pattern that the shell did not expand.
    fn is_glob(&self, path: &Path) -> bool {
        is_pattern(path) && !self.host.exists(path)
    }

    fn add_list(&mut self, path: &Path) -> Result<()> {
        for (task, place) in input_list::read(self.host, path)? {
            self.insert(task, Origin::Manifest, place);
        }
        Ok(())
    }

    fn add(&mut self, path: &Path) {
        self.inputs.asked.push(path.to_owned());
        if !self.is_glob(path) {
            return self.add_path(path);
        }
        match expand(self.host.files(), path) {
            Ok(matches) if matches.is_empty() => self.fail(path, "no file matches this pattern"),
            Ok(matches) => matches.iter().for_each(|path| self.add_path(path)),
            Err(reason) => self.fail(path, &format!("not a pattern: {reason}")),
        }
    }

    fn add_path(&mut self, path: &Path) {
        if self.host.is_folder(path) && !is_recording_name(path) {
            self.add_folder(path);
        } else {
            self.insert(task(self.host, path), Origin::Named, String::new());
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        let files = walk(self.host.files(), folder, &mut self.walked);
        let host = self.host;
        let unmeasured = &mut self.walked.unmeasured;
        let is_input = |path: &&PathBuf| {
            is_export_name(path) || is_recording_name(path) || {
                let is_measured = is_report(host.files(), path);
                unmeasured.extend((is_measured == Some(false)).then(|| path.to_path_buf()));
                is_measured == Some(true)
            }
        };
        let exports: Vec<&PathBuf> = files.iter().filter(is_input).collect();
        let folders: BTreeSet<&Path> = files.iter().filter_map(|path| path.parent()).collect();
        self.inputs.datasets.extend(
            folders.into_iter().filter(|path| Store::is_dataset(self.host.storage(), path)).map(Path::to_owned),
        );
        if exports.is_empty() && self.inputs.datasets.is_empty() {
            let folder = folder.display();
            self.inputs.notes.push(format!(
                "{folder}: found no exports (*.xml, also .gz, .zst, .zip or .tar), no recordings (*.trace, also .zip, .tar, .tar.gz, .tgz or .tar.zst), no \
                 crash reports (*.ips, *.crash, *.ips.ca.synced) and no MetricKit diagnostics or Dart profiles (*.json, *.ndjson, *.jsonl, \
                 *.mxdiagnostic, also .gz or .zst)"
            ));
        }
        let folder: Arc<Path> = folder.into();
        for path in exports {
            let task = Task { folder: Some(Arc::clone(&folder)), ..task(self.host, path) };
            self.insert(task, Origin::Folder, String::new());
        }
    }

    /// Adds a file, unless it was already added.
    fn insert(&mut self, task: Task, origin: Origin, place: String) {
        let canonical = self.host.canonical(&task.path);
        let Some(&index) = self.known.get(&canonical) else {
            self.known.insert(canonical.clone(), self.found.len());
            self.found.push(Found { task, origin, place, canonical });
            return;
        };
        let first = &mut self.found[index];
        first.task.folder = first.task.folder.take().or_else(|| task.folder.clone());
        let first = &self.found[index];
        let name = &first.task.display;
        // A manifest next to a folder describes the folder's contents, so this is not a repetition.
        if (first.origin == Origin::Manifest) != (origin == Origin::Manifest) {
            return;
        }
        if let Some([counting, other]) = differing_labels(&first.task.labels, &task.labels) {
            let first = &first.place;
            self.contradicted.push(format!("{name}: {first} has {counting}, which is used, but {place} has {other}"));
            return;
        }
        let also = if first.task.path == task.path { String::new() } else { format!(" (also as {})", task.display) };
        let by = if first.place.is_empty() { String::new() } else { format!(", as {} says", first.place) };
        let note = format!("{name}: given more than once{also}; it is used once{by}");
        self.repeated.entry(canonical).or_insert(note);
    }

    /// Combines the notes of each kind into one.
    fn summary(&self) -> Vec<String> {
        let one_of = |notes: &[String], what: &str| match notes {
            [] => None,
            [note] => Some(note.clone()),
            [note, ..] => Some(format!("{} {what}, such as {note}", counted(notes.len()))),
        };
        // Tables of contents are no longer among the exports, so their notes are dropped.
        let exports = self.found.iter().filter_map(|found| self.repeated.get(&found.canonical));
        let repeated = match exports.clone().count() {
            0 | 1 => exports.clone().next().cloned(),
            count => Some(format!("{} exports are given more than once; each is used once", counted(count))),
        };
        let contradicted = one_of(&self.contradicted, "exports have different lines in different manifests");
        repeated.into_iter().chain(contradicted).collect()
    }

    fn fail(&mut self, path: &Path, reason: &str) {
        self.inputs.failures.push(unreadable(display(self.host, path), reason.to_owned()));
    }

    fn finish(mut self) -> FleetInputs {
        self.found.sort_by(|a, b| a.task.display.cmp(&b.task.display));
        let orphans = self.pair();
        let (summary, exported) = (self.summary(), exported_recordings(&self.found));
        let Self { mut inputs, found, walked, .. } = self;
        let FleetInputs { tasks, failures, notes, .. } = &mut inputs;
        notes.extend(summary);
        notes.extend(exported);
        if let Some(first) = orphans.first() {
            let what = several(orphans.len(), "TOC file");
            notes.push(format!("{what} without an export next to it, such as {first}"));
        }
        notes.extend(walked.notes());
        failures.extend(walked.unreadable.into_iter().map(|(path, reason)| unreadable(path, reason)));
        failures.sort_by(|a, b| a.source.cmp(&b.source));
        tasks.extend(found.into_iter().map(|found| found.task));
        inputs
    }

    /// Assigns the tables of contents and intervals next to exports, and removes these files from the exports. Returns the tables of contents in
    /// folders that belong to no export.
    fn pair(&mut self) -> Vec<String> {
        let mut used = HashSet::new();
        for Found { task, .. } in &mut self.found {
            if task.toc.is_none() && toc_of(&task.path).is_none() {
                task.toc = self.folders.toc_beside(self.host.files(), &task.path);
            }
            used.extend(task.toc.as_deref().map(|toc| self.host.canonical(toc)));
            task.intervals_beside = self.folders.intervals_beside(self.host.files(), &task.path);
            used.extend(task.intervals.iter().chain(&task.intervals_beside).map(|path| self.host.canonical(path)));
        }
        let mut orphans = Vec::new();
        self.found.retain(|Found { task, origin, canonical, .. }| {
            let is_used = used.contains(canonical);
            let is_orphan = !is_used && *origin == Origin::Folder && toc_of(&task.path).is_some();
            if is_orphan {
                orphans.push(task.display.clone());
            }
            !is_used && !is_orphan
        });
        orphans
    }
}

/// Warns if a folder contains a recording and an export with the same name, which are probably the same run. Their contents differ, so only the
/// names show this.
fn exported_recordings(found: &[Found]) -> Vec<String> {
    let key = |found: &Found| {
        let name = export_names(&found.canonical).into_iter().next()?;
        Some((found.canonical.parent()?.to_owned(), name))
    };
    let mut recordings: HashMap<_, Vec<&str>> = HashMap::new();
    for recording in found.iter().filter(|found| is_recording_name(&found.canonical)) {
        recordings.entry(key(recording)).or_default().push(&recording.task.display);
    }
    let exports = found.iter().filter(|found| is_export_name(&found.canonical));
    let pairs = exports.flat_map(|export| {
        let of_name = key(export).and_then(|key| recordings.get(&Some(key))).into_iter().flatten();
        of_name.map(|recording| (export.task.display.as_str(), *recording))
    });
    let say = |(export, recording)| {
        format!(
            "{export} is probably the export of {recording}, so the run would be counted twice; leave one of them \
             out, for example with a pattern ('*.trace')"
        )
    };
    pairs.map(say).collect()
}

/// The canonical path, or the absolute path if the file does not exist.
fn real(host: &dyn FleetHost, path: &Path) -> std::io::Result<PathBuf> {
    host.files().canonical(path).or_else(|_| std::path::absolute(path))
}

fn task(host: &dyn FleetHost, path: &Path) -> Task {
    Task::new(path.to_owned(), display(host, path))
}

/// Returns the pseudonym for a file name, and registers it with the redactor.
fn hidden(host: &dyn FleetHost, name: &str) -> String {
    let mut hidden = pseudonym(name);
    host.with_redactor(&mut |redactor| hidden = redactor.hide_input_as(name, &hidden));
    hidden
}

/// A stable pseudonym: `input-1f3870be274f`.
fn pseudonym(name: &str) -> String {
    format!("input-{}", &blake3::hash(name.as_bytes()).to_hex()[..12])
}

/// The failure for an input that was never opened.
fn unreadable(source: String, reason: String) -> FailedInput {
    let fingerprint = of_unread(&source);
    let (kind, labels) = (FailureKind::Unreadable, Vec::new());
    FailedInput { source, source_bytes: 0, run_id: None, fingerprint, kind, reason, labels }
}

/// The names in each folder, listed only once.
#[derive(Default)]
struct Siblings(HashMap<PathBuf, HashSet<String>>);

impl Siblings {
    /// The table of contents next to an export.
    fn toc_beside(&mut self, files: &dyn Files, export: &Path) -> Option<PathBuf> {
        let names = export_names(export);
        self.first_beside(files, export, names.iter().flat_map(|name| toc_names(name)))
    }

    /// The intervals file next to an export, recognised by its name.
    fn intervals_beside(&mut self, files: &dyn Files, export: &Path) -> Option<PathBuf> {
        let names = export_names(export);
        self.first_beside(files, export, names.iter().flat_map(|name| intervals_names(name)))
    }

    /// The first of these names that exists in the folder of an export. Pipes and devices are read only if they are named.
    fn first_beside(
        &mut self,
        files: &dyn Files,
        export: &Path,
        names: impl Iterator<Item = String>,
    ) -> Option<PathBuf> {
        let folder = export.parent()?;
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let siblings = self.0.entry(folder.to_owned()).or_insert_with(|| list(files, listed));
        let mut paths = names.filter(|name| siblings.contains(name)).map(|name| folder.join(name));
        paths.find(|path| !matches!(files.entry(path), Ok(Entry::Other)))
    }
}

fn list(files: &dyn Files, folder: &Path) -> HashSet<String> {
    let paths = files.list(folder).unwrap_or_default();
    paths.iter().filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect()
}
