//! Walks a folder. Paths are joined from parent folders, and only links are resolved, so each file is examined once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::found::Contents;
use super::index::{FolderRow, Index, Item};
use super::locate::{Locator, MAX_DEPTH, MAX_ENTRIES};
use super::stamp::Stamp;
use crate::files::{Entry, EntryKind};
use crate::hash::HashMap;

struct Folder {
    /// The root as specified by the user, joined with the names below it.
    path: PathBuf,
    canonical: PathBuf,
    /// The path relative to the root; `None` if a name is not UTF-8.
    relative: Option<String>,
    depth: usize,
}

impl Folder {
    /// Returns an entry of this folder as a folder.
    fn child(&self, name: &OsString, canonical: PathBuf) -> Self {
        let relative = self.relative.as_deref().zip(name.to_str()).map(|(above, name)| match above {
            "" => name.to_owned(),
            above => format!("{above}/{name}"),
        });
        Self { path: self.path.join(name), canonical, relative, depth: self.depth + 1 }
    }
}

type Remembered = HashMap<String, FolderRow>;

impl Locator<'_> {
    pub(super) fn walk(&mut self, root: &Path, index: &mut Index) {
        let base = self.files.canonical(root).unwrap_or_else(|_| root.to_owned());
        let first = Folder { path: root.to_owned(), canonical: base.clone(), relative: Some(String::new()), depth: 0 };
        let (mut todo, mut seen) = (vec![first], Vec::new());
        let mut remembered = index.folders();
        self.walks += 1;
        self.is_partial = false;
        while let Some(folder) = todo.pop() {
            // A link to an ancestor could lead through the entire disk.
            let is_above = folder.depth > 0 && base.starts_with(&folder.canonical);
            if folder.depth > MAX_DEPTH || is_above {
                continue;
            }
            if let Some(&walk) = self.folders.get(folder.canonical.as_os_str()) {
                self.is_partial |= walk != self.walks;
                continue;
            }
            self.folders.insert(folder.canonical.clone().into_os_string(), self.walks);
            let Some(mut row) = self.list(&folder, &mut remembered) else { continue };
            let first_folder = todo.len();
            if !self.look_at_items(&folder, &mut row.items, &mut todo) {
                self.note(root, "the folder contains too many files; the remaining ones are ignored");
                return index.set(Vec::new());
            }
            todo[first_folder..].reverse();
            seen.extend(folder.relative.is_some().then_some(row));
        }
        if let Some(first) = seen.first_mut().filter(|_| self.is_partial) {
            first.times = None;
        }
        index.set(seen);
    }

    /// Lists the entries of a folder, sorted by name so that the result is the same on every machine. Entries of an unchanged folder come from
    /// the index. If the folder has changed, the index only supplies the contents of its files.
    fn list(&mut self, folder: &Folder, remembered: &mut Remembered) -> Option<FolderRow> {
        // Read before listing, so that any later change has a different time.
        let times = self.files.folder_times(&folder.path);
        let path = folder.relative.clone().unwrap_or_default();
        let known = folder.relative.as_ref().and_then(|relative| remembered.remove(relative));
        let items = match known {
            Some(row) if times.is_some() && row.times == times => return Some(row),
            known => known.map(|row| row.items).unwrap_or_default(),
        };
        let mut known: HashMap<OsString, _> = items.into_iter().map(|item| (item.name, item.known)).collect();
        let entries = match self.files.list_kinds(&folder.path) {
            Ok(entries) => entries,
            Err(error) => {
                self.note(&folder.path, &error.to_string());
                self.is_partial = true;
                return None;
            }
        };
        let item = |(name, kind): (OsString, EntryKind)| {
            let known = known.remove(&name).flatten();
            Item { known: known.filter(|_| matches!(kind, EntryKind::File | EntryKind::Link)), name, kind }
        };
        let mut items: Vec<Item> = entries.into_iter().map(item).collect();
        items.sort_by(|a, b| a.name.cmp(&b.name));
        Some(FolderRow { path, times, items })
    }

    /// Examines the files of a folder, and queues its folders. Returns false if there are too many entries.
    fn look_at_items(&mut self, folder: &Folder, items: &mut [Item], todo: &mut Vec<Folder>) -> bool {
        let is_recording = items.iter().any(|item| item.name == "form.template" || item.name == "corespace");
        for Item { name, kind, known } in items {
            // Private data of instruments, with archives that are not symbol files.
            if is_recording && name == "instrument_data" {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return false;
            }
            let canonical = || folder.canonical.join(&*name);
            match kind {
                EntryKind::Folder => todo.push(folder.child(name, canonical())),
                EntryKind::File | EntryKind::Link => {
                    let canonical = (*kind == EntryKind::File).then(canonical);
                    *known = self.look_at_item(folder, name, canonical, known.take(), todo);
                }
                EntryKind::Other => {}
            }
        }
        true
    }

    /// Examines a file or the target of a link, whose canonical path is unknown.
    fn look_at_item(
        &mut self,
        folder: &Folder,
        name: &OsString,
        canonical: Option<PathBuf>,
        known: Option<(Stamp, Contents)>,
        todo: &mut Vec<Folder>,
    ) -> Option<(Stamp, Contents)> {
        let path = folder.path.join(name);
        let entry = self.files.entry(&path).ok()?;
        // Resolves links, and entries that were replaced after their folder was listed.
        let canonical = canonical.filter(|_| matches!(entry, Entry::File { .. }));
        let canonical = || canonical.unwrap_or_else(|| self.files.canonical(&path).unwrap_or_else(|_| path.clone()));
        match entry {
            Entry::Folder => todo.push(folder.child(name, canonical())),
            Entry::File { length, modified, changed } => {
                let canonical = canonical();
                return self.look_at(&path, canonical, Stamp { length, modified, changed }, known, false);
            }
            Entry::Other => {}
        }
        None
    }
}
