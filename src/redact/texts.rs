//! Replaces the names in text and paths.

use super::common_words::Reach;
use super::paths::{is_identifier, split, split_encoded};
use super::profile_names::with_renamed_parts;
use super::pseudonyms::RedactedKind;
use super::redactor::Redactor;
use super::sentences::in_sentence;
use crate::profile::Category;

impl Redactor {
    /// Replaces names, inputs and paths in text about a recording, such as a message. Pseudonyms in it are kept.
    pub fn text(&mut self, text: &str) -> String {
        let (mut changed, mut copied) = (String::new(), 0);
        while let Some((start, end, index)) = self.inputs.first_in(text, copied, |name| self.kept.contains(name)) {
            changed.push_str(&self.sentence(&text[copied..start]));
            changed.push_str(&self.pseudonyms.used(index));
            copied = end;
        }
        changed + &self.sentence(&text[copied..])
    }

    fn sentence(&mut self, text: &str) -> String {
        self.changed_pieces(text, Reach::OwnTexts, true).unwrap_or_else(|| text.to_owned())
    }

    /// Replaces names and paths in a string of a recording; `None` if nothing changes.
    pub(super) fn changed_text(&mut self, text: &str, at_least: Reach) -> Option<String> {
        self.changed_pieces(text, at_least, false)
    }

    pub(super) fn changed_words(&mut self, text: &str, at_least: Reach) -> Option<String> {
        let Self { words, pseudonyms, .. } = self;
        words.replaced(text, at_least, |index| pseudonyms.used(index))
    }

    /// Replaces the paths in text, and the words between them.
    fn changed_pieces(&mut self, text: &str, at_least: Reach, may_be_redacted: bool) -> Option<String> {
        if !text.contains(['/', '\\', '%']) {
            return self.changed_words(text, at_least);
        }
        let (mut changed, mut copied, mut at, mut is_new) = (String::new(), 0, 0, false);
        while let Some((start, end)) = in_sentence(text, at) {
            at = end;
            let path = &text[start..end];
            if may_be_redacted && self.is_redacted(path) {
                continue;
            }
            let before = self.changed_words(&text[copied..start], at_least);
            changed.push_str(before.as_deref().unwrap_or(&text[copied..start]));
            changed.push_str(&self.path(path));
            (copied, is_new) = (end, true);
        }
        let rest = self.changed_words(&text[copied..], at_least);
        is_new |= rest.is_some();
        is_new.then(|| changed + rest.as_deref().unwrap_or(&text[copied..]))
    }

    /// True for a path whose folder is already a pseudonym.
    fn is_redacted(&self, path: &str) -> bool {
        let hidden = split_encoded(path).map_or_else(|| split(path, &[]).hidden, |(_, folder, _)| folder);
        let folder = hidden.split(['/', '\\', '%']).next().unwrap_or_default();
        self.pseudonyms.is_folder(folder)
    }

    /// Redacts a path: a folder that does not belong to the system becomes a pseudonym, and the last part is kept. In the app's bundle, everything
    /// inside is kept.
    pub fn path(&mut self, path: &str) -> String {
        if let Some((start, hidden, kept)) = split_encoded(path) {
            let folder = self.pseudonyms.exact(RedactedKind::Path, hidden);
            let new = self.changed_words(kept, Reach::Paths);
            return format!("{start}{folder}{}", new.as_deref().unwrap_or(kept));
        }
        if !path.contains(['/', '\\']) {
            return self.changed_words(path, Reach::Paths).unwrap_or_else(|| path.to_owned());
        }
        let parts = split(path, &self.bundles);
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        if parts.hidden.is_empty() {
            let kept = self.kept_part(parts.kept, name);
            return format!("{}{kept}", parts.start);
        }
        let folder = self.pseudonyms.exact(RedactedKind::Path, parts.hidden);
        let kept = self.changed_words(parts.kept, Reach::Paths);
        let kept = self.without_identifiers(kept.as_deref().unwrap_or(parts.kept));
        format!("{}{folder}{}{kept}", parts.start, parts.separator)
    }

    /// Replaces the folder of a path with a pseudonym; names in the rest are kept.
    pub(super) fn without_folder(&mut self, path: &str) -> String {
        let parts = split(path, &self.bundles);
        if parts.hidden.is_empty() {
            return path.to_owned();
        }
        let folder = self.pseudonyms.exact(RedactedKind::Path, parts.hidden);
        format!("{}{folder}{}{}", parts.start, parts.separator, parts.kept)
    }

    /// Redacts a system path, which may contain a user's name, or the name of a process outside the app if it is the program of that process.
    fn kept_part(&mut self, path: &str, name: &str) -> String {
        let mut kept = self.changed_words(path, Reach::Everywhere).unwrap_or_else(|| path.to_owned());
        if self.is_program_of_other(name, path) {
            let process = self.pseudonyms.exact(RedactedKind::Process, name);
            kept = with_renamed_parts(&kept, name, &process, |rest| rest.starts_with('.'));
        }
        let kept = self.without_identifiers(&kept);
        // A part of a system path may have the same name as a person.
        let category = |path: &str| Category::of_path(path, path);
        let is_same = |kept: &str| category(kept) == category(path);
        if is_same(&kept) { kept } else { self.replaced_by_parts(path, is_same) }
    }

    /// Replaces names in the parts of a path, except in parts that must not change.
    pub(super) fn replaced_by_parts(&mut self, path: &str, is_same: impl Fn(&str) -> bool) -> String {
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        for at in 0..parts.len() {
            let new = self.changed_words(&parts[at], Reach::Paths);
            let new = self.without_identifiers(new.as_deref().unwrap_or(&parts[at]));
            let old = std::mem::replace(&mut parts[at], new);
            if !is_same(&parts.join("/")) {
                parts[at] = old;
            }
        }
        parts.join("/")
    }

    /// True if a binary is the program of a process outside the app, and not a framework with the same name.
    pub(super) fn is_program_of_other(&self, name: &str, path: &str) -> bool {
        self.others.contains(name) && !path.contains(&format!("/{name}.framework/"))
    }

    /// Replaces numbers in a path that identify a device, a volume or a copy of an app.
    fn without_identifiers(&mut self, path: &str) -> String {
        if !path.split(['/', '\\']).any(is_identifier) {
            return path.to_owned();
        }
        let part = |part| match is_identifier(part) {
            true => self.pseudonyms.of(RedactedKind::Identifier, part),
            false => part.to_owned(),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let mut redactor = Redactor::new(Vec::new());
        redactor.hide_users(
            "/Users/jane/x c:\\users\\bobwin\\x ~carol/x %2FUsers%2Fmary%20smith%2Fx /Users/path/x /Users/123/x",
        );
        redactor
    }

    #[test]
    fn folders_that_differ_are_not_one() {
        let mut redactor = redactor();
        let paths = ["/m/Src/x.c", "/m/src/x.c", "/m/Müller/x.c", "/m/Muller/x.c"].map(|path| redactor.path(path));
        assert_eq!(paths, ["/path-1/x.c", "/path-2/x.c", "/path-3/x.c", "/path-4/x.c"]);
    }

    #[test]
    fn users_are_known_from_any_home() {
        let mut redactor = redactor();
        for (text, expected) in
            [("bobwin work", "user-2 work"), ("mary_smith", "user-4_smith"), ("carol", "user-3"), ("jane", "user-1")]
        {
            let shown = redactor.text(text);
            let name = text.split([' ', '_']).next().unwrap();
            assert!(!shown.contains(name) && shown.contains("user-"), "{text} {expected}: {shown}");
        }
        assert!(!redactor.text("mary smith and smith").contains("smith"));
    }

    #[test]
    fn texts_that_are_redacted_stay() {
        let mut redactor = redactor();
        let once =
            redactor.text("12 rows of /Users/jane/a b/x.c, and 123 of file%3A%2F%2FUsers%2Fjane%2Fd%2Fx by jane");
        assert_eq!(once, "12 rows of /path-1/x.c, and 123 of file%3A%2F%2Fpath-2%2Fx by user-1");
        assert_eq!(redactor.text(&once), once);
        assert_eq!(redactor.text("/path-77/secret/x"), "/path-3/x", "this one is a folder's own name");
    }

    #[test]
    fn inputs_are_replaced_where_they_are_printed() {
        let mut redactor = redactor();
        redactor.hide_input("1");
        redactor.hide_input("/Users/jane/rec.xml");
        assert_eq!(
            redactor.text("closure #1 of 1 input in /Users/jane/rec.xml: 1"),
            "closure #1 of 1 input in input-2.xml: 1"
        );
        assert_eq!(redactor.input_name("1"), "input-1");
    }
}
