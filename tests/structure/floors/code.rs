//! The code of a crate as the checks see it: its modules, the names in each, and every place where code names something.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use super::places::{Places, Use};
use crate::rust_sources::{Source, imports, of_tests};

/// The meaning of a name in a module.
#[derive(Debug)]
pub(crate) enum Name {
    Module(usize),
    /// A type, a trait or a macro.
    Type,
    /// A function, a constant or a static.
    Value,
    /// A `use`, with its path.
    Alias(Vec<String>),
}

/// A module: a file, or a part of one.
pub(crate) struct Module {
    pub(crate) parent: Option<usize>,
    pub(crate) file: String,
    /// The folder of the files of its children.
    folder: String,
    pub(crate) is_test: bool,
    pub(crate) names: BTreeMap<String, Vec<Name>>,
    /// The paths of `use PATH::*`.
    pub(crate) globs: Vec<Vec<String>>,
}

/// A crate. The first module is its root.
pub(crate) struct Code {
    pub(crate) modules: Vec<Module>,
    pub(crate) uses: Vec<Use>,
    /// Files that cannot be parsed or found, or that no module declares.
    pub(crate) faults: Vec<String>,
}

impl Code {
    /// Reads the crate whose root is a file of the sources, with all files that its modules declare.
    pub(crate) fn read(root: &str, sources: &[Source]) -> Self {
        let mut code = Self { modules: Vec::new(), uses: Vec::new(), faults: Vec::new() };
        let texts = sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
        code.file(root, None, false, &texts);
        let read: BTreeSet<&str> = code.modules.iter().map(|module| module.file.as_str()).collect();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        for path in texts.keys().filter(|path| path.starts_with(folder) && !read.contains(*path)) {
            code.faults.push(format!("{path}: no module declares this file: declare it, or remove it"));
        }
        code
    }

    /// The place as `file:line`.
    pub(crate) fn place(&self, used: &Use) -> String {
        format!("{}:{}", self.modules[used.module].file, used.line)
    }

    /// The file of a place.
    pub(crate) fn file_of(&self, used: &Use) -> &str {
        &self.modules[used.module].file
    }

    /// Files that declare modules, whose re-exports are a table of contents.
    pub(crate) fn declaring_files(&self) -> BTreeSet<&str> {
        let parents = self.modules.iter().filter_map(|module| Some((module, &self.modules[module.parent?])));
        parents.filter(|(child, parent)| child.file != parent.file).map(|(_, parent)| parent.file.as_str()).collect()
    }

    fn file(&mut self, path: &str, parent: Option<usize>, is_test: bool, texts: &BTreeMap<&str, &str>) -> usize {
        let folder = match path.rsplit_once('/') {
            Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
            _ => path.trim_end_matches(".rs"),
        };
        let parsed = syn::parse_file(texts[path]).unwrap_or_else(|error| {
            self.faults.push(format!("{path}:{}: {error}", error.span().start().line));
            syn::File { frontmatter: None, shebang: None, attrs: Vec::new(), items: Vec::new() }
        });
        let is_test = is_test || of_tests(&parsed.attrs);
        self.module(path.to_owned(), folder.to_owned(), parent, is_test, &parsed.items, texts)
    }

    fn module(
        &mut self,
        file: String,
        folder: String,
        parent: Option<usize>,
        is_test: bool,
        items: &[Item],
        texts: &BTreeMap<&str, &str>,
    ) -> usize {
        let index = self.modules.len();
        self.modules.push(Module { parent, file, folder, is_test, names: BTreeMap::new(), globs: Vec::new() });
        let mut places = Places::new(index, is_test);
        for item in items {
            match item {
                Item::Mod(child) => self.child(index, child, is_test || of_tests(&child.attrs), texts),
                item => {
                    self.declare(index, item);
                    places.read(item);
                }
            }
        }
        self.uses.extend(places.found);
        index
    }

    fn child(&mut self, parent: usize, child: &syn::ItemMod, is_test: bool, texts: &BTreeMap<&str, &str>) {
        let name = child.ident.to_string();
        let module = &self.modules[parent];
        let folder = format!("{}/{name}", module.folder);
        let index = if let Some((_, items)) = &child.content {
            self.module(module.file.clone(), folder, Some(parent), is_test, items, texts)
        } else {
            let candidates = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
            let Some(path) = candidates.iter().find(|path| texts.contains_key(path.as_str())) else {
                self.faults.push(format!("{}: the file of `mod {name}` is missing", module.file));
                return;
            };
            self.file(path, Some(parent), is_test, texts)
        };
        self.name(parent, name, Name::Module(index));
    }

    fn declare(&mut self, module: usize, item: &Item) {
        let (name, meaning) = match item {
            Item::Use(item) => {
                for (name, path, _) in imports(&item.tree) {
                    match name.as_str() {
                        "*" => self.modules[module].globs.push(path),
                        _ => self.name(module, name, Name::Alias(path)),
                    }
                }
                return;
            }
            Item::Const(item) => (&item.ident, Name::Value),
            Item::Static(item) => (&item.ident, Name::Value),
            Item::Fn(item) => (&item.sig.ident, Name::Value),
            Item::Enum(item) => (&item.ident, Name::Type),
            Item::Struct(item) => (&item.ident, Name::Type),
            Item::Trait(item) => (&item.ident, Name::Type),
            Item::TraitAlias(item) => (&item.ident, Name::Type),
            Item::Type(item) => (&item.ident, Name::Type),
            Item::Union(item) => (&item.ident, Name::Type),
            Item::Macro(syn::ItemMacro { ident: Some(ident), .. }) => (ident, Name::Type),
            _ => return,
        };
        self.name(module, name.to_string(), meaning);
    }

    fn name(&mut self, module: usize, name: String, meaning: Name) {
        self.modules[module].names.entry(name).or_default().push(meaning);
    }
}
