//! Replaces the names in a profile, depending on their kind.

use super::common_words::{Reach, is_of_code, may_have_pseudonym};
use super::pseudonyms::{Named, RedactedKind};
use super::redactor::Redactor;
use crate::profile::{Category, Rename};
use crate::recording::is_hex_address;

impl Redactor {
    pub(super) fn process_name(&mut self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        if self.kept.contains(name) {
            return self.changed_words(name, Reach::Everywhere).unwrap_or_else(|| name.to_owned());
        }
        self.pseudonyms.exact(RedactedKind::Process, name)
    }

    pub(crate) fn signpost_name(&mut self, name: &str) -> Option<String> {
        self.by_rule(RedactedKind::Signpost, name)
            .or_else(|| self.apart(Named::Code(RedactedKind::Signpost), name, Reach::OwnTexts))
    }

    /// Returns the new name and path of a binary. Its category does not change.
    pub(super) fn binary_name(&mut self, name: &str, path: &str) -> (String, String) {
        let category = Category::of_path(path, name);
        let is_public = category != Category::User && category != Category::Unknown;
        let ruled = if is_public { None } else { self.by_rule(RedactedKind::Binary, name) };
        let new_name = match ruled {
            Some(ruled) => ruled,
            None if self.is_program_of_other(name, path) => self.pseudonyms.exact(RedactedKind::Process, name),
            None => {
                let reach = if is_public { Reach::Everywhere } else { Reach::OwnTexts };
                let new = self.changed_words(name, reach);
                self.kept_apart(Named::Code(RedactedKind::Binary), name, new).unwrap_or_else(|| name.to_owned())
            }
        };
        // If a binary has no path, readers use its name instead.
        if !path.contains(['/', '\\']) {
            let new_path = if path == name { new_name.clone() } else { self.path(path) };
            return self.of_category(category, name, path, (new_name, new_path));
        }
        let new_path = renamed(&self.binary_path(path, name, category), name, &new_name);
        self.of_category(category, name, path, (new_name, new_path))
    }

    /// Returns the new path of a binary. The bundle is kept if the category depends on it.
    fn binary_path(&mut self, path: &str, name: &str, category: Category) -> String {
        let short = self.path(path);
        let short = match category {
            Category::User | Category::Unknown => self.changed_words(&short, Reach::OwnTexts).unwrap_or(short),
            _ => short,
        };
        if Category::of_path(&short, name) == category {
            return short;
        }
        let parts: Vec<&str> = path.split('/').filter(is_bundle).collect();
        let bundles = parts.join("/");
        let bundles = self.changed_words(&bundles, Reach::Paths).unwrap_or(bundles);
        with_bundles(&short, &bundles)
    }

    /// Returns the new name and path, unless they change the category: if a program has the name of a runtime, it would then be categorised as a
    /// runtime. In that case, less is replaced, but the folder is always hidden.
    fn of_category(&mut self, category: Category, name: &str, path: &str, new: (String, String)) -> (String, String) {
        let is_same = |(name, path): &(String, String)| Category::of_path(path, name) == category;
        if is_same(&new) {
            return new;
        }
        let by_path = (new.0.clone(), self.binary_path(path, name, category));
        if is_same(&by_path) {
            return by_path;
        }
        let by_parts = (new.0, self.path_by_parts(path, name, category));
        if is_same(&by_parts) {
            return by_parts;
        }
        (name.to_owned(), if path == name { name.to_owned() } else { by_parts.1 })
    }

    /// Hides the folder of a binary's path. Names are replaced in all remaining parts, except in the parts that determine the category.
    fn path_by_parts(&mut self, path: &str, name: &str, category: Category) -> String {
        let is_same = |path: &str| Category::of_path(path, name) == category;
        let short = self.without_folder(path);
        let bundles: Vec<&str> = path.split('/').filter(is_bundle).collect();
        let short = if is_same(&short) { short } else { with_bundles(&short, &bundles.join("/")) };
        self.replaced_by_parts(&short, is_same)
    }

    /// Redacts a name, and keeps the result distinct from other names; `None` if it is unchanged.
    pub(super) fn apart(&mut self, named: Named, name: &str, reach: Reach) -> Option<String> {
        let new = self.changed_text(name, reach);
        self.kept_apart(named, name, new)
    }

    fn kept_apart(&mut self, named: Named, name: &str, new: Option<String>) -> Option<String> {
        // Another name may have become identical to this one.
        let new = new.or_else(|| may_have_pseudonym(name).then(|| name.to_owned()))?;
        Some(self.pseudonyms.apart(named, name, new))
    }

    /// Redacts the name of a function, by a rule if one matches; `None` if it is unchanged.
    fn function_name(&mut self, name: &str, reach: Reach) -> Option<String> {
        if let Some(ruled) = self.by_rule(RedactedKind::Function, name) {
            return Some(ruled);
        }
        if is_of_code(name) {
            return None;
        }
        self.apart(Named::Code(RedactedKind::Function), name, reach)
    }
}

/// True for a folder name that determines the category.
fn is_bundle(part: &&str) -> bool {
    [".kext", ".framework", ".plugin", ".bundle", ".app"].iter().any(|end| part.ends_with(end))
}

/// Inserts bundles before the last part of a path.
fn with_bundles(path: &str, bundles: &str) -> String {
    let (folder, last) = path.rsplit_once('/').unwrap_or(("", path));
    format!("{folder}/{bundles}/{last}")
}

/// Renames the last part of a path, and the bundle that is named after it.
fn renamed(path: &str, name: &str, new: &str) -> String {
    if name == new || name.is_empty() {
        return path.to_owned();
    }
    let is_extension = |rest: &str| [".app", ".framework", ".appex", ".xpc", ".bundle", ".dylib"].contains(&rest);
    with_renamed_parts(path, name, new, is_extension)
}

/// Renames the parts of a path that are called `name`, with or without an extension.
pub(super) fn with_renamed_parts(path: &str, name: &str, new: &str, is_extension: impl Fn(&str) -> bool) -> String {
    let part = |part: &str| match part.strip_prefix(name) {
        Some(rest) if rest.is_empty() || is_extension(rest) => format!("{new}{rest}"),
        _ => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

impl Rename for Redactor {
    fn input(&mut self, name: &str) -> Option<String> {
        Some(self.input_name(name))
    }

    fn process(&mut self, name: &str) -> Option<String> {
        Some(self.process_name(name))
    }

    fn thread(&mut self, name: &str) -> Option<String> {
        self.by_rule(RedactedKind::Thread, name).or_else(|| {
            if is_of_code(name) { None } else { self.apart(Named::Code(RedactedKind::Thread), name, Reach::OwnTexts) }
        })
    }

    fn binary(&mut self, name: &str, path: &str) -> (String, String) {
        self.binary_name(name, path)
    }

    fn function(&mut self, name: &str, category: Category) -> Option<String> {
        if is_hex_address(name) {
            return None;
        }
        let is_own = matches!(category, Category::User | Category::Unknown);
        self.function_name(name, if is_own { Reach::OwnTexts } else { Reach::Everywhere })
    }

    fn source(&mut self, path: &str) -> Option<String> {
        let new = self.path(path);
        Some(self.pseudonyms.apart(Named::Source, path, new))
    }
}
