//! Parses a run's `table-manager/tables.plist`: its tables, their recording settings, and their stores.
//!
//! A table is listed once for its writer and once for its readers, and tables that were requested twice share a store. The first entry of a store
//! describes it.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use super::budget::Budget;
use super::keyed_archive::{KeyedArchive, Node};
use super::keyed_collections::Kind;
use crate::symbols::Broken;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredTable {
    /// The name of its schema, such as `time-profile`.
    pub(super) schema: String,
    /// The recording settings, sorted by name, and spelled as in the XML of a table of contents.
    pub(super) attributes: Vec<(String, String)>,
    /// The folder of the table, relative to `corespace`, or the reason why it is unknown.
    pub(super) folder: Result<PathBuf, Broken>,
}

/// Parses the tables of the run with this folder name, sorted by the number of their store.
pub(super) fn read(bytes: &[u8], run_folder: &str) -> Result<Vec<StoredTable>, Broken> {
    let archive = KeyedArchive::read(bytes)?;
    let missing = |what: &str| Broken::rule(format_args!("{what}: it is missing"));
    let root = archive.top("root")?.ok_or_else(|| missing("root"))?;
    let details = root.member("tableDetails")?.ok_or_else(|| missing("tableDetails"))?;
    let (mut tables, mut budget) = (Vec::new(), Budget::new(&archive));
    let mut seen = HashSet::new();
    for (_, table) in details.entries()? {
        let spec = table.member("spec")?.ok_or_else(|| missing("spec"))?;
        let path = table.member("storeSubpath")?.and_then(|node| node.text().transpose()).transpose()?;
        // The table was requested but never written.
        let Some(path) = path.filter(|path| !path.is_empty()) else { continue };
        budget.take(table, path.len())?;
        if seen.insert(PathBuf::from(&*path)) {
            let folder = store_folder(&path, run_folder);
            let rule = format_args!("its storeSubpath {path:?} is not a store of {run_folder}");
            let folder = folder.ok_or_else(|| table.broken("table", rule));
            let schema = spec.member("schemaName")?.and_then(|node| node.text().transpose()).transpose()?;
            let schema = schema.ok_or_else(|| missing("schemaName"))?.into_owned();
            budget.take(spec, schema.len())?;
            tables.push(StoredTable { schema, attributes: attributes(spec, &mut budget)?, folder });
        }
    }
    tables.sort_by_key(|table| {
        let folder = table.folder.clone().ok();
        let name = folder.as_ref().and_then(|folder| folder.file_name()?.to_str()).unwrap_or_default();
        let number = name.rsplit('-').next().and_then(|number| number.parse::<u64>().ok());
        // Tables without a store come last.
        (folder.is_none(), number, folder)
    });
    Ok(tables)
}

/// Returns the folder of a store if it belongs to this run.
fn store_folder(path: &str, run_folder: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(path);
    let is_plain = folder.components().all(|component| matches!(component, Component::Normal(_)));
    let is_of_run = folder.components().next() == Path::new(run_folder).components().next();
    (is_plain && is_of_run).then_some(folder)
}

/// Formats the attributes of a table as in the XML of a table of contents: lists as quoted words, booleans as 1 and 0.
fn attributes(spec: Node<'_>, budget: &mut Budget) -> Result<Vec<(String, String)>, Broken> {
    let Some(all) = spec.member("attributes")?.filter(|node| !node.is_nil()) else { return Ok(Vec::new()) };
    let mut attributes = Vec::new();
    for (name_node, value) in all.entries()? {
        let Some(name) = name_node.text()? else { continue };
        budget.take(name_node, name.len())?;
        if let Some(value) = spelled(&name, value, budget)? {
            attributes.push((name.into_owned(), value));
        }
    }
    attributes.sort();
    Ok(attributes)
}

/// True if words are quoted. Exports decide this by the meaning of some attributes, not by their type. These were found in a recording and its
/// export.
fn is_in_quotes(name: &str, is_list: bool) -> bool {
    match name {
        "callstack" => false,
        "pmi-event" => true,
        _ => is_list,
    }
}

fn spelled(name: &str, value: Node<'_>, budget: &mut Budget) -> Result<Option<String>, Broken> {
    let is_list = value.kind()? == Kind::List;
    let items = if is_list { value.items()? } else { vec![value] };
    let mut words = Vec::new();
    for item in items {
        words.extend(word(item, budget)?);
    }
    if is_in_quotes(name, is_list) {
        words.iter_mut().for_each(|word| *word = format!("\"{word}\""));
    }
    Ok((is_list || !words.is_empty()).then(|| words.join(" ")))
}

/// Formats a scalar value. Nested lists are not supported, since a list could contain itself.
fn word(value: Node<'_>, budget: &mut Budget) -> Result<Option<String>, Broken> {
    Ok(match value.kind()? {
        Kind::Text => budget.text(value)?,
        Kind::Boolean => value.boolean()?.map(|answer| u8::from(answer).to_string()),
        Kind::Integer => value.integer()?.map(|number| number.to_string()),
        Kind::Real => value.real()?.map(|number| number.to_string()),
        Kind::List | Kind::Other => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::ArchiveWriter;
    use super::*;

    /// A list of tables, each with these attributes.
    fn written(mut writer: ArchiveWriter, paths: &[&str], attributes: u64) -> Vec<u8> {
        let schema = writer.add("tick");
        let spec = writer.named(&[("schemaName", schema), ("attributes", attributes)]);
        let mut tables = Vec::new();
        for (path, number) in paths.iter().zip(1..) {
            let path = writer.add(*path);
            tables.push((number, writer.named(&[("storeSubpath", path), ("spec", spec)])));
        }
        let details = writer.integer_keyed(&tables);
        let root = writer.named(&[("tableDetails", details)]);
        writer.finish(&[("root", root)])
    }

    #[test]
    fn attributes_are_spelled_as_exports_do() {
        let mut writer = ArchiveWriter::new();
        let (yes, number, text) = (writer.add(true), writer.add(7_u64), writer.add("0x31,*"));
        let list = writer.array(&[text, number, text]);
        let attributes = writer.named(&[("needs", yes), ("rate", number), ("codes", list)]);
        let paths = [
            "run1/core/stores/indexed-store-10",
            "run1/core/stores/indexed-store-9",
            "run1/core/stores/indexed-store-9",
        ];
        let tables = read(&written(writer, &paths, attributes), "run1").unwrap();
        let folders: Vec<_> = tables.iter().map(|table| table.folder.as_ref().unwrap().to_str().unwrap()).collect();
        assert_eq!(folders, [paths[1], paths[0]], "by number, each once");
        let expected = [("codes", r#""0x31,*" "7" "0x31,*""#), ("needs", "1"), ("rate", "7")];
        assert_eq!(tables[0].attributes, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    /// An invalid path only affects its own table.
    #[test]
    fn stores_are_those_of_the_run() {
        let good = "run1/core/stores/indexed-store-1";
        for path in ["run2/core/stores/indexed-store-1", "/run1/core", "run1/../run2", "../run1"] {
            let mut writer = ArchiveWriter::new();
            let attributes = writer.named(&[]);
            let tables = read(&written(writer, &[path, good], attributes), "run1").unwrap();
            let folders: Vec<_> = tables.iter().map(|table| table.folder.as_ref()).collect();
            let [Ok(folder), Err(told)] = folders[..] else { panic!("{path}: {folders:?}") };
            assert_eq!(folder, Path::new(good));
            assert!(told.message.contains("is not a store of run1") && told.at > 0, "{path}: {told}");
        }
    }

    #[test]
    fn lists_in_themselves_are_no_words() {
        let mut writer = ArchiveWriter::new();
        // The object after the class is the list itself.
        let itself = writer.add("before") + 2;
        assert_eq!(writer.array(&[itself, itself]), itself);
        let attributes = writer.named(&[("codes", itself)]);
        let tables = read(&written(writer, &["run1/core/stores/indexed-store-1"], attributes), "run1").unwrap();
        assert_eq!(tables[0].attributes, [("codes".to_owned(), String::new())]);
    }

    #[test]
    fn texts_do_not_multiply() {
        let mut writer = ArchiveWriter::new();
        let text = writer.add("a".repeat(50_000));
        let list = writer.array(&[text; 1_000]);
        let attributes = writer.named(&[("codes", list)]);
        let told = read(&written(writer, &["run1/core/stores/indexed-store-1"], attributes), "run1").unwrap_err();
        assert!(told.message.contains("more than 16 times the file"), "{told}");
    }
}
