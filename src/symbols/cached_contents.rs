//! Looks up images in the remembered contents of a folder, without walking it.
//!
//! The remembered contents are trusted unless something contradicts them. The files of wanted images, and files with notes, must have their old
//! lengths and times, as must the other parts of dyld shared caches. Folders outside `.dSYM` bundles must have their old times, so no bundle was added or removed. The inside of bundles is not
//! checked, since a bundle is created in one go and has many folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::found::Image;
use super::index::{Index, parse_folder_line, parse_image, parse_item, parse_part};
use super::locate::Locator;
use super::stamp::Stamp;
use crate::units::Uuid;

#[derive(Default)]
struct Recalled {
    /// The files of the wanted images, in the order of the walk. Images of one file are adjacent.
    images: Vec<(PathBuf, Image)>,
    notes: Vec<(PathBuf, String)>,
    /// The files that the contents of other files depend on.
    parts: Vec<PathBuf>,
    /// The number of images, wanted or not.
    count: usize,
}

impl Locator<'_> {
    /// Finds the wanted images. Returns the total number of images, and the number of unwanted ones. `None` if the folder must be walked:
    /// something changed, no image is wanted, or a wanted image is neither remembered nor already found.
    pub(super) fn recall(&mut self, root: &Path, index: &Index, wanted: &BTreeSet<Uuid>) -> Option<(usize, u64)> {
        let Recalled { images, notes, parts, count } = self.recalled(root, index.remembered()?, wanted)?;
        let remembered: BTreeSet<Uuid> = images.iter().map(|(_, image)| image.uuid).collect();
        // A user who passes a folder without any wanted image is told which images are there.
        if images.is_empty() || wanted.iter().any(|uuid| !remembered.contains(uuid) && !self.has(*uuid)) {
            return None;
        }
        let paths: BTreeSet<&PathBuf> =
            images.iter().map(|(path, _)| path).chain(notes.iter().map(|(path, _)| path)).collect();
        let new: BTreeSet<&PathBuf> = paths.into_iter().filter(|path| self.is_new(path)).collect();
        for of_file in images.chunk_by(|(path, _), (other, _)| path == other) {
            let path = &of_file[0].0;
            if new.contains(path) {
                let images: Vec<Image> = of_file.iter().map(|(_, image)| image.clone()).collect();
                self.push_all(path, &images);
            }
        }
        notes.iter().filter(|(path, _)| new.contains(path)).for_each(|(path, what)| self.note(path, what));
        self.parts.extend(parts);
        Some((count, (count - images.len()) as u64))
    }

    /// Marks the file as seen. True if it had not been examined before.
    fn is_new(&mut self, path: &Path) -> bool {
        let canonical = self.files.canonical(path).unwrap_or_else(|_| path.to_owned());
        self.seen.insert(canonical.into_os_string(), 0).is_none()
    }

    fn recalled(&self, root: &Path, text: &str, wanted: &BTreeSet<Uuid>) -> Option<Recalled> {
        let mut recalled = Recalled::default();
        let (mut folder, mut item) = (root.to_owned(), ("", ""));
        for line in text.lines() {
            let (letter, fields) = line.split_once('\t')?;
            match letter {
                "D" => folder = self.unchanged_folder(root, line)?,
                "i" => {
                    recalled.count += 1;
                    let uuid = fields.split('\t').nth(1).and_then(Uuid::parse)?;
                    if wanted.contains(&uuid) {
                        let path = self.unchanged_file(&folder, item.0, item.1)?;
                        recalled.images.push((path, parse_image(fields)?));
                    }
                }
                "p" => {
                    let (name, stamp) = parse_part(fields)?;
                    let path = folder.join(name);
                    (Stamp::of(self.files, &path) == stamp).then(|| recalled.parts.push(path))?;
                }
                "k" => recalled.notes.push((self.unchanged_file(&folder, item.0, item.1)?, fields.to_owned())),
                _ => item = (letter, fields),
            }
        }
        Some(recalled)
    }

    /// Returns the path of a folder, if its entries have not changed.
    fn unchanged_folder(&self, root: &Path, line: &str) -> Option<PathBuf> {
        let row = parse_folder_line(line)?;
        let path = if row.path.is_empty() { root.to_owned() } else { root.join(&row.path) };
        row.times?;
        let is_in_bundle = row.path.split('/').any(|name| name.ends_with(".dSYM"));
        (is_in_bundle || self.files.folder_times(&path) == row.times).then_some(path)
    }

    /// Returns the path of a file, if it has not changed.
    fn unchanged_file(&self, folder: &Path, letter: &str, fields: &str) -> Option<PathBuf> {
        let item = parse_item(letter, fields)?;
        let (known, _) = item.known.filter(|(stamp, _)| stamp.modified > 0)?;
        let path = folder.join(&item.name);
        (known == Stamp::of(self.files, &path)).then_some(path)
    }
}
