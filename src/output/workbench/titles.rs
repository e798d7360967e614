//! The names of inputs in a page: file names without folders, which are private to the sender.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::report::Report;

/// The name in the page of each input.
#[derive(Debug, Default)]
pub(super) struct Titles(BTreeMap<String, String>);

impl Titles {
    /// Names the inputs of each side of a page. A name has the last folder that distinguishes the file from a file with the same name on another
    /// side: `14.3.1/time-profile.xml`.
    pub(super) fn of<const N: usize>(sides: [&Report<'_>; N]) -> [Self; N] {
        let inputs = sides.map(inputs);
        std::array::from_fn(|side| {
            let others = (0..N).filter(|&other| other != side).flat_map(|other| inputs[other].iter().copied());
            let others: Vec<&str> = others.collect();
            Self(inputs[side].iter().map(|&input| (input.to_owned(), title(input, &others))).collect())
        })
    }

    /// The name of an input.
    pub(super) fn get<'t>(&'t self, input: &'t str) -> &'t str {
        self.0.get(input).map_or(input, String::as_str)
    }

    /// Replaces inputs in JSON text; numbers are unchanged.
    pub(super) fn apply_to_text(&self, text: &str) -> String {
        let field = |input: &str| format!("\"input\":{}", Value::from(input));
        self.0.iter().fold(text.to_owned(), |text, (input, title)| text.replace(&field(input), &field(title)))
    }

    /// Replaces inputs in JSON.
    pub(super) fn apply(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if name == "input" => *text = self.get(text).to_owned(),
                        value => self.apply(value),
                    }
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.apply(value)),
            _ => {}
        }
    }
}

fn inputs<'r>(report: &'r Report<'_>) -> Vec<&'r str> {
    report.recording.documents.iter().map(|document| document.input.as_str()).collect()
}

/// The last name on a path.
pub(super) fn file_name(path: &str) -> &str {
    parts(path).first().copied().unwrap_or(path)
}

fn title(input: &str, others: &[&str]) -> String {
    let (runs, path) = without_runs(input);
    let parts = parts(path);
    let Some(name) = parts.first() else { return input.to_owned() };
    let alike = others.iter().map(|other| self::parts(without_runs(other).1)).find(|other| other.first() == Some(name));
    let place = alike.and_then(|alike| (0..parts.len()).find(|&at| parts.get(at) != alike.get(at)));
    let separator = if path.contains('/') { "/" } else { "\\" };
    let shown = match place {
        None | Some(0) => (*name).to_owned(),
        Some(1) => [parts[1], name].join(separator),
        // The part between is the same on both sides.
        Some(2) => [parts[2], parts[1], name].join(separator),
        Some(place) => [parts[place], "…", name].join(separator),
    };
    format!("{runs}{shown}")
}

/// Sums of runs have their number before the path: `142 runs of base`.
fn without_runs(input: &str) -> (&str, &str) {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit() || digit == ',');
    let found = [" run of ", " runs of "].into_iter().find_map(|words| {
        let at = input.find(words)?;
        is_number(&input[..at]).then(|| input.split_at(at + words.len()))
    });
    found.unwrap_or(("", input))
}

/// The names on a path, the last one first.
fn parts(path: &str) -> Vec<&str> {
    path.rsplit(['/', '\\']).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_by_their_file_and_what_distinguishes_it() {
        let cases = [
            ("/home/me/app.trace", "/home/me/other.trace", "app.trace"),
            ("/r/14.3.1/x.xml", "/r/16/x.xml", "14.3.1/x.xml"),
            ("C:\\a\\x.xml", "C:\\b\\x.xml", "a\\x.xml"),
            ("/a/runs/x.xml", "/b/runs/x.xml", "a/runs/x.xml"),
            ("/a/m/n/x.xml", "/b/m/n/x.xml", "a/…/x.xml"),
            ("1,142 runs of /home/me/base/", "8 runs of /home/me/new", "1,142 runs of base"),
            ("-", "", "-"),
            ("/home/me/x.xml", "/home/me/x.xml", "x.xml"),
        ];
        for (input, other, expected) in cases {
            assert_eq!(title(input, &[other]), expected);
        }
    }
}
