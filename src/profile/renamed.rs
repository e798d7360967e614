//! Replaces the names in a profile. Rows, ids and numbers do not change.

use super::strings::Strings;
use super::{BinaryId, Category, Full, FunctionId, Profile, RebuildError, StringId};
use crate::hash::HashMap;

/// Supplies new names. `None` keeps the old name.
pub(crate) trait Rename {
    /// Renames an input.
    fn input(&mut self, name: &str) -> Option<String>;
    /// Renames a process.
    fn process(&mut self, name: &str) -> Option<String>;
    /// Renames a thread.
    fn thread(&mut self, name: &str) -> Option<String>;
    /// Renames a binary and its path.
    fn binary(&mut self, name: &str, path: &str) -> (String, String);
    /// Renames a named function in a binary of this category.
    fn function(&mut self, name: &str, category: Category) -> Option<String>;
    /// Renames the path of a source file.
    fn source(&mut self, path: &str) -> Option<String>;
}

/// The strings of a profile before and after its names are replaced.
struct Names {
    old: Strings,
    new: Strings,
    /// The new string for each old one of one kind.
    known: HashMap<StringId, StringId>,
}

impl Names {
    /// Returns the new string for an old one. Calls `rename` once for each.
    fn of(&mut self, id: StringId, rename: impl FnOnce(&str) -> Option<String>) -> Result<StringId, Full> {
        if let Some(&known) = self.known.get(&id) {
            return Ok(known);
        }
        let old = self.old.get(id);
        let new = rename(old);
        let new = self.new.intern(new.as_deref().unwrap_or(old)).ok_or(Full)?;
        self.known.insert(id, new);
        Ok(new)
    }
}

impl Profile {
    /// Replaces all names that [`Rename`] covers, and keeps none of the old ones. If `merges` is set, functions of one binary that receive the
    /// same name are merged. The names of schemas, states, core kinds and architectures do not change. Samples lose their labels.
    pub(crate) fn rename(&mut self, names: &mut dyn Rename, merges: bool) -> Result<(), RebuildError> {
        self.labels.clear();
        let new = self.kept_strings()?;
        let mut strings = Names { old: std::mem::take(&mut self.strings), new, known: HashMap::default() };
        let renamed = self.rename_rows(names, merges, &mut strings);
        self.strings = strings.new;
        self.strings.shrink_to_fit();
        renamed?;
        Ok(self.hold()?)
    }

    /// Returns every string of the profile.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &str> {
        self.strings.all()
    }

    fn rename_rows(&mut self, names: &mut dyn Rename, merges: bool, strings: &mut Names) -> Result<(), Full> {
        let categories: Vec<Category> = self.categories(&strings.old);
        for run in &mut self.runs {
            run.input = strings.of(run.input, |name| names.input(name))?;
        }
        strings.known.clear();
        for process in &mut self.processes {
            process.name = strings.of(process.name, |name| names.process(name))?;
        }
        strings.known.clear();
        for thread in &mut self.threads {
            thread.name = strings.of(thread.name, |name| names.thread(name))?;
        }
        for binary in &mut self.binaries {
            let (name, path) = names.binary(strings.old.get(binary.name), strings.old.get(binary.path));
            (binary.name, binary.path) =
                (strings.new.intern(&name).ok_or(Full)?, strings.new.intern(&path).ok_or(Full)?);
        }
        strings.known.clear();
        for frame in &mut self.frames {
            if let Some(source) = &mut frame.source {
                source.path = strings.of(source.path, |path| names.source(path))?;
            }
        }
        for function in &mut self.functions {
            let old = strings.old.get(function.name);
            let category = function.binary.map_or(Category::Unknown, |binary| categories[binary.index()]);
            let new = if function.is_named { names.function(old, category) } else { None };
            function.name = strings.new.intern(new.as_deref().unwrap_or(old)).ok_or(Full)?;
        }
        if merges {
            self.merge_functions();
        }
        Ok(())
    }

    /// Returns the category of each binary, judged by its old name.
    fn categories(&self, strings: &Strings) -> Vec<Category> {
        let category = |binary: &super::Binary| {
            Category::of_loaded(binary.load_address, strings.get(binary.path), strings.get(binary.name))
        };
        self.binaries.iter().map(category).collect()
    }

    /// Merges functions with the same name and binary. Duplicates remain in the table, but no frame refers to them.
    fn merge_functions(&mut self) {
        let mut first: HashMap<(Option<BinaryId>, StringId), FunctionId> = HashMap::default();
        let ids = self.function_ids();
        let merged: Vec<FunctionId> = ids
            .map(|id| {
                let function = self.functions[id.index()];
                if function.is_named { *first.entry((function.binary, function.name)).or_insert(id) } else { id }
            })
            .collect();
        for frame in &mut self.frames {
            frame.function = merged[frame.function.index()];
        }
    }

    /// Copies the strings that are not renamed, with their ids.
    fn kept_strings(&self) -> Result<Strings, Full> {
        let mut is_kept = vec![false; self.strings.all().len()];
        let states =
            self.samples.iter().map(|sample| sample.state).chain(self.sum_groups.iter().map(|group| group.state));
        let kinds = self.cores.iter().map(|core| core.kind);
        let schemas = self.series.iter().map(|series| Some(series.schema));
        let archs = self.binaries.iter().map(|binary| binary.arch);
        for id in states.chain(kinds).chain(schemas).chain(archs).flatten() {
            is_kept[id.index()] = true;
        }
        let mut kept = Strings::default();
        for (text, is_kept) in self.strings.all().zip(is_kept) {
            if is_kept {
                kept.intern(text).ok_or(Full)?;
            } else {
                kept.skip();
            }
        }
        Ok(kept)
    }
}
