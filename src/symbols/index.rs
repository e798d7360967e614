//! Remembers the contents of folders, so 10,000 dSYMs are not searched again for every export.
//!
//! The caller stores the index as bytes. Its lines have tab-separated fields: each folder with its times, then its entries with the lengths and
//! times of files, and after each file its contents: images, notes, and the files that these depend on. Everything is in the order of the walk,
//! and paths are relative to the root.
//!
//! ```text
//! traceparse-symbols 3
//! D  1772731658879000000  1772731658879000000  App.dSYM/Contents/Resources/DWARF
//! f  48213  1772731658879000000  1772731658881000000  App
//! i  dSYM  6E2B1F0C-…  arm64  4294967296  16384  0  48213  App
//! D  1772731658879000000  1772731658879000000  dyld
//! f  917504  1772731658879000000  1772731658881000000  dyld_shared_cache_arm64e
//! i  dyld cache  0A1B2C3D-…  arm64e  6442500096  16384  0  917504  /usr/lib/libSystem.B.dylib
//! p  65536  1772731658879000000  1772731658881000000  dyld_shared_cache_arm64e.01
//! end
//! ```
//!
//! A file counts as unchanged if its length and both times are the same; a folder, if both times are. A folder whose times were so recent that a
//! later change might not alter them is stored without times, and listed again. Contents count as unchanged if their file and its parts are.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::found::{Contents, Image, SourceKind};
use super::stamp::Stamp;
use crate::files::{EntryKind, FolderTimes};
use crate::hash::HashMap;
use crate::units::Uuid;

/// The first line. Other versions are not accepted.
const HEADER: &str = "traceparse-symbols 3\n";
/// The last line. Without it, the file is truncated.
const TRAILER: &str = "end\n";

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
    /// The contents of a file or link target when it had this stamp; `None` if unknown.
    pub(super) known: Option<(Stamp, Contents)>,
}

/// The letters for entry kinds.
const LETTERS: [(&str, EntryKind); 4] =
    [("d", EntryKind::Folder), ("o", EntryKind::Other), ("f", EntryKind::File), ("l", EntryKind::Link)];

/// A folder of the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FolderRow {
    /// The path relative to the root, and empty for the root.
    pub(super) path: String,
    /// `None` if the entries must be listed again next time.
    pub(super) times: Option<FolderTimes>,
    pub(super) items: Vec<Item>,
}

/// The remembered contents of a folder.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The text that was read; empty if it was incomplete.
    text: String,
    /// The folders of the last walk; `None` before the first.
    walked: Option<Vec<FolderRow>>,
}

impl Index {
    /// Reads an index. Invalid bytes become an empty index, since everything can be found again.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let text = String::from_utf8(bytes).unwrap_or_default();
        let is_whole = text.starts_with(HEADER) && text.ends_with(TRAILER);
        Self { text: if is_whole { text } else { String::new() }, walked: None }
    }

    /// Returns the index to store: the result of the last walk, or the index that was read.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(folders) = &self.walked else { return self.text.clone().into_bytes() };
        let mut text = HEADER.to_owned();
        folders.iter().for_each(|folder| push_folder(folder, &mut text));
        text.push_str(TRAILER);
        text.into_bytes()
    }

    /// True if a walk found anything different from the index that was read.
    pub fn is_changed(&self) -> bool {
        self.walked.is_some() && self.to_bytes() != self.text.as_bytes()
    }

    /// The remembered folders by path, or none if any line is malformed.
    pub(super) fn folders(&self) -> HashMap<String, FolderRow> {
        let mut folders = HashMap::default();
        let mut rest = self.remembered().unwrap_or("");
        while !rest.is_empty() {
            let (lines, later) = rest.split_at(rest.find("\nD\t").map_or(rest.len(), |end| end + 1));
            let Some(folder) = parse_folder(lines) else { return HashMap::default() };
            folders.insert(folder.path.clone(), folder);
            rest = later;
        }
        folders
    }

    /// Sets the result of a walk.
    pub(super) fn set(&mut self, folders: Vec<FolderRow>) {
        self.walked = Some(folders);
    }

    /// The lines that were read, for callers that need only a few; `None` without an index.
    pub(super) fn remembered(&self) -> Option<&str> {
        self.text.strip_prefix(HEADER)?.strip_suffix(TRAILER)
    }
}

/// Writes a folder and its contents. Paths that contain separators or are not UTF-8 are skipped, and their folder is written without times so
/// that it is listed again.
fn push_folder(folder: &FolderRow, text: &mut String) {
    use std::fmt::Write as _;
    if field(OsStr::new(&folder.path)).is_none() {
        return;
    }
    let names = || folder.items.iter().map(|item| (field(&item.name), item));
    let is_whole = names().all(|(name, _)| name.is_some());
    let FolderTimes { modified, changed } = folder.times.filter(|_| is_whole).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "D\t{modified}\t{changed}\t{}", folder.path);
    for (name, item) in names().filter_map(|(name, item)| Some((name?, item))) {
        let letter = LETTERS.iter().find(|(_, kind)| *kind == item.kind).map_or("o", |(letter, _)| letter);
        let Some((stamp, contents)) = &item.known else {
            let _ = writeln!(text, "{letter}\t{name}");
            continue;
        };
        push_file(letter, *stamp, name, text);
        contents.images.iter().for_each(|image| push_image(image, text));
        for what in &contents.notes {
            let _ = writeln!(text, "k\t{}", what.replace(['\t', '\n', '\r'], " "));
        }
        contents.parts.iter().for_each(|(name, stamp)| push_file("p", *stamp, name, text));
    }
}

fn push_file(letter: &str, stamp: Stamp, name: &str, text: &mut String) {
    use std::fmt::Write as _;
    let Stamp { length, modified, changed } = stamp;
    let _ = writeln!(text, "{letter}\t{length}\t{modified}\t{changed}\t{name}");
}

/// Returns a name, if a field can store it.
fn field(name: &OsStr) -> Option<&str> {
    name.to_str().filter(|text| !text.contains(['\t', '\n', '\r']))
}

/// Returns the name of an image without characters that would end its line or field.
pub(super) fn line_text(name: &str) -> String {
    name.replace(char::is_control, "\u{FFFD}")
}

fn push_image(image: &Image, text: &mut String) {
    use std::fmt::Write as _;
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let Image { kind, uuid, arch, name, text_address, text_size, range } = image;
    let (address, size) = (number(*text_address), number(*text_size));
    let _ = write!(text, "i\t{}\t{uuid}\t{arch}\t{address}\t{size}\t{}\t{}", kind.name(), range.0, range.1);
    if let Some(name) = name {
        let _ = write!(text, "\t{name}");
    }
    text.push('\n');
}

fn parse_folder(lines: &str) -> Option<FolderRow> {
    let mut lines = lines.lines();
    let mut folder = parse_folder_line(lines.next()?)?;
    for line in lines {
        let (letter, fields) = line.split_once('\t')?;
        match letter {
            "i" => last_contents(&mut folder.items)?.images.push(parse_image(fields)?),
            "k" => last_contents(&mut folder.items)?.notes.push(fields.to_owned()),
            "p" => last_contents(&mut folder.items)?.parts.push(parse_part(fields)?),
            _ => folder.items.push(parse_item(letter, fields)?),
        }
    }
    Some(folder)
}

/// The contents of the last file, which the current line adds to.
fn last_contents(items: &mut [Item]) -> Option<&mut Contents> {
    items.last_mut()?.known.as_mut().map(|(_, contents)| contents)
}

/// Parses a line with the letter `D`: a folder without its entries.
pub(super) fn parse_folder_line(line: &str) -> Option<FolderRow> {
    let mut fields = line.strip_prefix("D\t")?.splitn(3, '\t');
    let (modified, changed) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let times = (modified > 0).then_some(FolderTimes { modified, changed });
    Some(FolderRow { path: fields.next()?.to_owned(), times, items: Vec::new() })
}

/// Parses the line of an entry, without its letter.
pub(super) fn parse_item(letter: &str, fields: &str) -> Option<Item> {
    let parsed: Vec<&str> = fields.splitn(4, '\t').collect();
    let (name, known) = match *parsed.as_slice() {
        [name] => (name, None),
        [length, modified, changed, name] => {
            let stamp = Stamp {
                length: length.parse().ok()?,
                modified: modified.parse().ok()?,
                changed: changed.parse().ok()?,
            };
            (name, Some((stamp, Contents::default())))
        }
        _ => return None,
    };
    let (_, kind) = LETTERS.into_iter().find(|(known, _)| *known == letter)?;
    let known = known.filter(|_| matches!(kind, EntryKind::File | EntryKind::Link));
    // Rejects names that are paths, which are never written.
    let is_name = !name.is_empty() && Path::new(name).components().count() == 1 && !matches!(name, "." | "..");
    is_name.then(|| Item { name: name.into(), kind, known })
}

/// Parses a line with the letter `p`, without that letter.
pub(super) fn parse_part(fields: &str) -> Option<(String, Stamp)> {
    let item = parse_item("f", fields)?;
    Some((item.name.into_string().ok()?, item.known?.0))
}

/// Parses a line with the letter `i`, without that letter.
pub(super) fn parse_image(fields: &str) -> Option<Image> {
    let mut fields = fields.splitn(8, '\t');
    let kind = fields.next()?;
    let kind = SourceKind::ALL.into_iter().find(|known| known.name() == kind)?;
    let (uuid, arch) = (Uuid::parse(fields.next()?)?, fields.next()?.to_owned());
    let mut number = || match fields.next()? {
        "-" => Some(None),
        digits => digits.parse::<u64>().ok().map(Some),
    };
    let (text_address, text_size) = (number()?, number()?);
    let range = (number()??, number()??);
    Some(Image { kind, uuid, arch, name: fields.next().map(str::to_owned), text_address, text_size, range })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: Option<&str>) -> Image {
        Image {
            kind: SourceKind::Dsym,
            uuid: Uuid::from_bytes([7; 16]),
            arch: "arm64e".to_owned(),
            name: name.map(str::to_owned),
            text_address: Some(0x1_0000_0000),
            text_size: None,
            range: (16, 4096),
        }
    }

    type Known = Option<(Stamp, Contents)>;

    fn folder(path: &str, times: u64, items: &[(&str, EntryKind, Known)]) -> FolderRow {
        let item = |(name, kind, known): &(&str, EntryKind, Known)| Item {
            name: name.into(),
            kind: *kind,
            known: known.clone(),
        };
        let items = items.iter().map(item).collect();
        let times = (times > 0).then_some(FolderTimes { modified: times, changed: times + 1 });
        FolderRow { path: path.to_owned(), times, items }
    }

    fn index(folders: Vec<FolderRow>) -> Index {
        let mut index = Index::default();
        index.set(folders);
        index
    }

    #[test]
    fn an_index_comes_back() {
        let stamp = Stamp { length: 5000, modified: 99, changed: 98 };
        let file = |name, contents| (name, EntryKind::File, Some((stamp, contents)));
        let cache = Contents {
            images: vec![Image { kind: SourceKind::DyldCache, ..image(Some("/usr/lib/libSystem.B.dylib")) }],
            notes: vec!["one part is missing".to_owned(), "another is broken".to_owned()],
            parts: vec![("cache.01".to_owned(), stamp), ("cache.02".to_owned(), Stamp::default())],
        };
        let folders = vec![
            folder(
                "",
                7,
                &[
                    ("a b.dSYM", EntryKind::Folder, None),
                    ("link", EntryKind::Link, None),
                    ("pipe", EntryKind::Other, None),
                ],
            ),
            folder(
                "a b.dSYM",
                9,
                &[
                    file("App", Contents { images: vec![image(Some("App")), image(None)], ..Contents::default() }),
                    file("b.zip", Contents::note("a zip")),
                    ("c", EntryKind::Link, Some((stamp, Contents::default()))),
                    file("cache", cache),
                    ("unread", EntryKind::File, None),
                ],
            ),
            folder("recent", 0, &[]),
        ];
        let bytes = index(folders.clone()).to_bytes();
        let read = Index::from_bytes(bytes.clone());
        assert!(!read.is_changed() && read.to_bytes() == bytes);
        let mut read: Vec<FolderRow> = read.folders().into_values().collect();
        read.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(read, folders);
    }

    #[test]
    fn a_folder_of_names_that_are_no_fields_is_listed_again() {
        let text =
            index(vec![folder("", 7, &[("a\nD\t1\t1\tb", EntryKind::Folder, None), ("c", EntryKind::Folder, None)])])
                .to_bytes();
        assert_eq!(String::from_utf8(text).unwrap(), format!("{HEADER}D\t0\t0\t\nd\tc\n{TRAILER}"));
    }

    #[test]
    fn what_makes_no_sense_is_forgotten() {
        let folders = |text: &str| Index::from_bytes(format!("{HEADER}{text}{TRAILER}").into_bytes()).folders().len();
        assert_eq!(folders("D\t1\t1\t\nf\tname\n"), 1);
        for text in [
            "D\t1\t1\n",
            "D\tx\t1\t\n",
            "f\tname\n",
            "D\t1\t1\t\nx\tname\n",
            "D\t1\t1\t\nf\t1\t2\tname\n",
            "D\t1\t1\t\nd\t..\n",
            "D\t1\t1\t\nd\ta/b\n",
            "D\t1\t1\t\ni\tdSYM\n",
            "D\t1\t1\t\nd\ta\nk\twhat\n",
            "D\t1\t1\t\nf\t1\t2\t3\ta\ni\tdSYM\t7\tarm64\t1\t1\t1\t1\n",
            "D\t1\t1\t\nf\t1\t2\t3\ta\np\t1\t2\t3\t../b\n",
            "D\t1\t1\t\nf\t1\t2\t3\ta\np\tb\n",
        ] {
            assert_eq!(folders(text), 0, "{text:?}");
        }
        let whole = index(vec![folder("", 7, &[])]).to_bytes();
        for cut in 0..whole.len() {
            assert_eq!(Index::from_bytes(whole[..cut].to_vec()).remembered(), None);
        }
        assert!(Index::from_bytes(vec![0xff, 0xfe]).remembered().is_none());
    }
}
