//! The source files of the crate, for tests that read code: what belongs to tests, and what `use` names.

use std::fs;
use std::path::Path;

use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token, UseTree};

/// A source file: its path from the root of the repository, with `/`, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All code below a folder of the repository.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    fn walk(path: &Path, name: &str, found: &mut Vec<Source>) {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                walk(&path, &name, found);
            } else if name.ends_with(".rs") {
                found.push(Source { text: fs::read_to_string(&path).unwrap(), path: name });
            }
        }
    }
    let mut found = Vec::new();
    walk(&support::repository(folder), folder, &mut found);
    found
}

/// True where attributes leave an item to tests: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
pub(crate) fn of_tests(attributes: &[Attribute]) -> bool {
    fn needs_tests(meta: &Meta) -> bool {
        let Meta::List(list) = meta else {
            return meta.path().is_ident("test") || meta.path().is_ident("doctest");
        };
        let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
        match list.path.get_ident().map(ToString::to_string).as_deref() {
            Some("all") => parts.iter().any(needs_tests),
            Some("any") => !parts.is_empty() && parts.iter().all(needs_tests),
            _ => false,
        }
    }
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        attribute.path().is_ident("test") || is_cfg && attribute.parse_args().is_ok_and(|meta| needs_tests(&meta))
    })
}

/// The leaves of a `use`: the name that each gives (`*` of all in a module), its path, and its line.
pub(crate) fn imports(tree: &UseTree) -> Vec<(String, Vec<String>, usize)> {
    fn walk(tree: &UseTree, path: &[String], found: &mut Vec<(String, Vec<String>, usize)>) {
        let mut leaf = |name: String, ident: &syn::Ident| {
            // `use a::{self}` is `use a`.
            let path = match ident.to_string().as_str() {
                "self" if !path.is_empty() => path.to_vec(),
                last => [path, &[last.to_owned()]].concat(),
            };
            let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
            found.push((name, path, ident.span().start().line));
        };
        match tree {
            UseTree::Path(part) => walk(&part.tree, &[path, &[part.ident.to_string()]].concat(), found),
            UseTree::Name(part) => leaf(part.ident.to_string(), &part.ident),
            UseTree::Rename(part) => leaf(part.rename.to_string(), &part.ident),
            UseTree::Glob(part) => found.push(("*".into(), path.to_vec(), part.star_token.span.start().line)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, path, found)),
        }
    }
    let mut found = Vec::new();
    walk(tree, &[], &mut found);
    found
}
