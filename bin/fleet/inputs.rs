//! The exports of a fleet: files, folders, patterns and manifests become tasks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use traceparse::fleet::{FailedInput, FailureKind};
use traceparse::units::Millionths;

use super::cli::InputArgs;
use super::file_list;
use super::fingerprint::{of_missing, of_unread};
use super::manifest;
use super::names::{export_names, intervals_names, is_export_name, is_recording_name, toc_names, toc_of};
use super::notes::{counted, several};
use super::store::Store;
use super::task::{Task, differing_labels};
use super::walk::{Walked, expand, is_pattern, walk};
use crate::guard::will_read;
use crate::objects::shown;
use crate::redacted;

/// Notes all files before the first is read: none of them may be an output.
pub(super) fn will_read_tasks(tasks: &[Task]) -> Result<()> {
    let all = |task: &'_ Task| {
        [Some(task.path.clone()), task.toc.clone(), task.intervals.clone(), task.intervals_beside.clone()]
    };
    tasks.iter().flat_map(all).flatten().try_for_each(|path| will_read(&path))
}

/// Everything that was named.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Those that a manifest describes, then those with a table of contents, then the others; by path. Of files with the same
    /// content the first counts, so that is the one of which most is known.
    pub(super) tasks: Vec<Task>,
    /// Named inputs that cannot be a task.
    pub(super) failures: Vec<FailedInput>,
    /// Notes for the user, in sentences.
    pub(super) notes: Vec<String>,
    /// Datasets that folders and patterns led to.
    datasets: Vec<PathBuf>,
    /// The patterns and folders that were named.
    asked: Vec<PathBuf>,
}

impl Inputs {
    /// Calls files by their real paths: a dataset outlives the folder that names were relative to.
    pub(super) fn use_real_paths(&mut self) {
        for task in &mut self.tasks {
            if let Ok(path) = real(&task.path) {
                task.display = display(&path);
            }
        }
        // Copies have the same order in every part of a fleet, and in every folder that a part is started in.
        self.tasks.sort_by(|a, b| (a.rank(), &a.display).cmp(&(b.rank(), &b.display)));
        for failed in &mut self.failures {
            if let Ok(path) = real(Path::new(&failed.source)) {
                failed.source = display(&path);
            }
            failed.fingerprint = of_missing(&failed.source);
        }
    }

    /// Calls files by hashes of their names, if names are replaced: a dataset knows them again, and does not tell where they lie. They stay
    /// in the order of their names.
    pub(super) fn redact(&mut self) {
        if !redacted::is_asked() {
            return;
        }
        for task in &mut self.tasks {
            let beside = [&task.toc, &task.intervals, &task.intervals_beside];
            beside.into_iter().flatten().for_each(|path| {
                hidden(&display(path));
            });
            let path = display(&task.path);
            redacted::with(|redactor| redactor.hide_input_as(&path, &pseudonym(&task.display)));
            task.display = hidden(&task.display);
            for (_, value) in &mut task.labels {
                *value = redacted::shown(value).into_owned();
            }
        }
        for failed in &mut self.failures {
            failed.source = hidden(&failed.source);
            failed.reason = redacted::shown(&failed.reason).into_owned();
            failed.fingerprint = of_missing(&failed.source);
        }
    }

    /// True if an input that could not be found before was asked for again: it is found now, or among the failures.
    pub(super) fn asks_for(&self, source: &str) -> bool {
        self.asked.iter().any(|asked| {
            let Ok(asked) = real(asked) else { return false };
            let asked = display(&asked);
            if redacted::is_asked() {
                return source == hidden(&asked);
            }
            source.strip_prefix(asked.as_str()).is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    }

    /// A dataset among folders is left out; where there is nothing else, it may be what was meant.
    pub(super) fn check(&self) -> Result<(), String> {
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

/// Finds the exports that arguments name. `may_be_empty` is true if a list may name none.
pub(super) fn find(args: &InputArgs, may_be_empty: bool) -> Result<Inputs> {
    let mut finder = Finder::default();
    // Manifests first: their lines count, even if other inputs name the export, too.
    for path in &args.manifest {
        finder.add_manifest(path)?;
    }
    let (manifests, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        args.inputs.iter().partition(|path| manifest::is_manifest_name(path) && !path.is_dir() && !is_glob(path));
    for path in manifests {
        finder.add_manifest(path)?;
    }
    for path in others {
        finder.add(path);
    }
    if let Some(list) = &args.files_from {
        let is_only = args.inputs.is_empty() && args.manifest.is_empty() && !may_be_empty;
        for path in file_list::read(list, args.null, is_only)? {
            finder.insert(task(&path), Origin::Named, String::new());
        }
    }
    Ok(finder.finish())
}

/// A file that was measured before, with what is beside it; `None` if it is not there, or is no input by itself.
pub(super) fn again(path: &Path) -> Option<Task> {
    let mut finder = Finder::default();
    finder.insert(task(path), Origin::Named, String::new());
    finder.finish().tasks.pop().filter(|task| task.path.exists())
}

/// True if a path is a pattern that the shell left to us.
fn is_glob(path: &Path) -> bool {
    is_pattern(path) && !path.exists()
}

/// The way in which an export was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Manifest,
    /// By an argument, or by a pattern.
    Named,
    /// It is in a folder that was named.
    Folder,
}

/// An export that was found, and by whom.
struct Found {
    task: Task,
    origin: Origin,
    /// `fleet.csv, line 7`; empty for other origins.
    place: String,
    canonical: PathBuf,
}

#[derive(Default)]
struct Finder {
    found: Vec<Found>,
    /// By canonical path: the position in `found`.
    known: HashMap<PathBuf, usize>,
    walked: Walked,
    failures: Vec<FailedInput>,
    notes: Vec<String>,
    datasets: Vec<PathBuf>,
    asked: Vec<PathBuf>,
    /// Notes on files that are named more than once, by canonical path.
    repeated: BTreeMap<PathBuf, String>,
    /// Notes on those about which manifests contradict each other.
    contradicted: Vec<String>,
    folders: Siblings,
}

impl Finder {
    fn add_manifest(&mut self, path: &Path) -> Result<()> {
        for entry in manifest::read(path)? {
            let manifest::Entry { path, toc, intervals, labels, run_weight, duration, place } = entry;
            let display = display(&path);
            let task =
                Task { display, toc, intervals, labels, run_weight, duration, is_described: true, ..task(&path) };
            self.insert(task, Origin::Manifest, place);
        }
        Ok(())
    }

    fn add(&mut self, path: &Path) {
        self.asked.push(path.to_owned());
        if !is_glob(path) {
            return self.add_path(path);
        }
        match expand(path) {
            Ok(matches) if matches.is_empty() => self.fail(path, "no file matches this pattern"),
            Ok(matches) => matches.iter().for_each(|path| self.add_path(path)),
            Err(reason) => self.fail(path, &format!("not a pattern: {reason}")),
        }
    }

    fn add_path(&mut self, path: &Path) {
        if path.is_dir() && !is_recording_name(path) {
            self.add_folder(path);
        } else {
            self.insert(task(path), Origin::Named, String::new());
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        let files = walk(folder, &mut self.walked);
        let exports: Vec<&PathBuf> =
            files.iter().filter(|path| is_export_name(path) || is_recording_name(path)).collect();
        let folders: BTreeSet<&Path> = files.iter().filter_map(|path| path.parent()).collect();
        self.datasets.extend(folders.into_iter().filter(|path| Store::is_dataset(path)).map(Path::to_owned));
        if exports.is_empty() && self.datasets.is_empty() {
            let folder = folder.display();
            self.notes.push(format!(
                "{folder}: found no exports and no recordings (*.xml, *.xml.gz, *.xml.zst, *.trace, and *.trace.zip, .tar, .tar.gz, .tgz, .tar.zst)"
            ));
        }
        let folder: Arc<Path> = folder.into();
        for path in exports {
            let task = Task { folder: Some(Arc::clone(&folder)), ..task(path) };
            self.insert(task, Origin::Folder, String::new());
        }
    }

    /// A file that is there already counts once.
    fn insert(&mut self, task: Task, origin: Origin, place: String) {
        let canonical = canonical(&task.path);
        let Some(&index) = self.known.get(&canonical) else {
            self.known.insert(canonical.clone(), self.found.len());
            self.found.push(Found { task, origin, place, canonical });
            return;
        };
        let first = &mut self.found[index];
        first.task.folder = first.task.folder.take().or_else(|| task.folder.clone());
        let first = &self.found[index];
        let name = &first.task.display;
        // A manifest beside a folder describes what is in the folder.
        if (first.origin == Origin::Manifest) != (origin == Origin::Manifest) {
            return;
        }
        if let Some([counting, other]) = differing_labels(&first.task.labels, &task.labels) {
            let first = &first.place;
            self.contradicted.push(format!("{name}: {first} says {counting}, which is used, but {place} says {other}"));
            return;
        }
        let also = if first.task.path == task.path { String::new() } else { format!(" (also as {})", task.display) };
        let by = if first.place.is_empty() { String::new() } else { format!(", as {} says", first.place) };
        let note = format!("{name}: named more than once{also}; it counts once{by}");
        self.repeated.entry(canonical).or_insert(note);
    }

    /// Notes of a kind, as one.
    fn summary(&self) -> Vec<String> {
        let one_of = |notes: &[String], what: &str| match notes {
            [] => None,
            [note] => Some(note.clone()),
            [note, ..] => Some(format!("{} {what}, such as {note}", counted(notes.len()))),
        };
        // Tables of contents are no exports any more.
        let exports = self.found.iter().filter_map(|found| self.repeated.get(&found.canonical));
        let repeated = match exports.clone().count() {
            0 | 1 => exports.clone().next().cloned(),
            count => Some(format!("{} exports are named more than once; each counts once", counted(count))),
        };
        let contradicted = one_of(&self.contradicted, "exports have different lines in different manifests");
        repeated.into_iter().chain(contradicted).collect()
    }

    fn fail(&mut self, path: &Path, reason: &str) {
        self.failures.push(unreadable(display(path), reason.to_owned()));
    }

    fn finish(mut self) -> Inputs {
        self.found.sort_by(|a, b| a.task.display.cmp(&b.task.display));
        let orphans = self.pair();
        // By path within each rank.
        self.found.sort_by_key(|found| found.task.rank());
        let (summary, exported) = (self.summary(), exported_recordings(&self.found));
        let Self { found, walked, mut failures, mut notes, datasets, asked, .. } = self;
        notes.extend(summary);
        notes.extend(exported);
        if let Some(first) = orphans.first() {
            let what = several(orphans.len(), "TOC file");
            notes.push(format!("{what} without an export beside it, such as {first}"));
        }
        notes.extend(walked.notes());
        failures.extend(walked.unreadable.into_iter().map(|(path, reason)| unreadable(path, reason)));
        failures.sort_by(|a, b| a.source.cmp(&b.source));
        Inputs { tasks: found.into_iter().map(|found| found.task).collect(), failures, notes, datasets, asked }
    }

    /// Gives each export the table of contents and the intervals beside it, and takes those away from the exports. Returns the
    /// tables of contents in folders that belong to none.
    fn pair(&mut self) -> Vec<String> {
        let mut used = HashSet::new();
        for Found { task, .. } in &mut self.found {
            if task.toc.is_none() && toc_of(&task.path).is_none() {
                task.toc = self.folders.toc_beside(&task.path);
            }
            used.extend(task.toc.as_deref().map(canonical));
            task.intervals_beside = self.folders.intervals_beside(&task.path);
            used.extend(task.intervals.iter().chain(&task.intervals_beside).map(|path| canonical(path)));
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

/// A recording and an export of one name in one folder are probably one run. Their contents differ, so nothing else tells.
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
            "{export} is probably the export of {recording}, so the run would count twice; leave one of them out, such as with a pattern ('*.trace')"
        )
    };
    pairs.map(say).collect()
}

/// A path as text. Bytes that are not UTF-8 are written as `\xff`: two files must not have one name.
fn display(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    shown(&text).into_owned()
}

/// The real path, or that of what is not there.
fn real(path: &Path) -> std::io::Result<PathBuf> {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path))
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn task(path: &Path) -> Task {
    Task {
        path: path.to_owned(),
        display: display(path),
        toc: None,
        intervals: None,
        intervals_beside: None,
        labels: Vec::new(),
        run_weight: Millionths::ONE,
        duration: None,
        is_described: false,
        folder: None,
    }
}

/// What stands for the name of a file, which is replaced from now on.
fn hidden(name: &str) -> String {
    let pseudonym = pseudonym(name);
    redacted::with(|redactor| redactor.hide_input_as(name, &pseudonym)).unwrap_or(pseudonym)
}

/// `input-1f3870be274f`: the same for the same name.
fn pseudonym(name: &str) -> String {
    format!("input-{}", &blake3::hash(name.as_bytes()).to_hex()[..12])
}

/// A failure of something that was never opened.
pub(super) fn unreadable(source: String, reason: String) -> FailedInput {
    let fingerprint = of_unread(&source);
    let (kind, labels) = (FailureKind::Unreadable, Vec::new());
    FailedInput { source, source_bytes: 0, run_id: None, fingerprint, kind, reason, labels }
}

/// The names in folders, each folder listed once.
#[derive(Default)]
struct Siblings(HashMap<PathBuf, HashSet<String>>);

impl Siblings {
    /// The table of contents beside an export.
    fn toc_beside(&mut self, export: &Path) -> Option<PathBuf> {
        let names = export_names(export);
        self.first_beside(export, names.iter().flat_map(|name| toc_names(name)))
    }

    /// The file beside an export that is named as that with its intervals.
    fn intervals_beside(&mut self, export: &Path) -> Option<PathBuf> {
        let names = export_names(export);
        self.first_beside(export, names.iter().flat_map(|name| intervals_names(name)))
    }

    /// The first of these names that is in the folder of an export.
    fn first_beside(&mut self, export: &Path, mut names: impl Iterator<Item = String>) -> Option<PathBuf> {
        let folder = export.parent()?;
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let siblings = self.0.entry(folder.to_owned()).or_insert_with(|| list(listed));
        names.find(|name| siblings.contains(name)).map(|name| folder.join(name))
    }
}

fn list(folder: &Path) -> HashSet<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return HashSet::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}
