//! Concepts that the code defines once: units, options, formats, alert outcomes, CSV, colours. If another file contains a part of such a
//! definition, a list below names the file and the reason.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, LitStr};

use super::options::Options;
use super::rust_sources::{Source, of_tests, sources};

/// The literals and enums of a file, without its tests.
#[derive(Default)]
struct Definitions {
    literals: Vec<(String, usize)>,
    enums: Vec<String>,
}

impl Definitions {
    fn read(source: &Source) -> Self {
        let mut found = Self::default();
        found.visit_file(&syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path)));
        found
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item(&mut self, item: &'ast Item) {
        if !of_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !matches!(item, ImplItem::Fn(function) if of_tests(&function.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.enums.push(item.ident.to_string());
        visit::visit_item_enum(self, item);
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        let span: Span = literal.span();
        self.literals.push((literal.value(), span.start().line));
    }

    // The arguments of `format!` and similar macros are tokens.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let parse = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = call.parse_body_with(parse) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}

fn all() -> Vec<(String, Definitions)> {
    let files = ["src", "bin"].into_iter().flat_map(sources);
    files.map(|source| (source.path.clone(), Definitions::read(&source))).collect()
}

/// The places of literals that match a rule, except in files whose paths have one of these prefixes.
fn literals(rule: impl Fn(&str) -> bool, except: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, definitions) in all().iter().filter(|(path, _)| !except.iter().any(|start| path.starts_with(start))) {
        let matching = definitions.literals.iter().filter(|(text, _)| rule(text));
        found.extend(matching.map(|(text, line)| format!("{path}:{line}: {text:?}")));
    }
    found
}

#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "{} second definitions:\n{}", found.len(), found.join("\n"));
}

#[test]
fn amounts_are_written_by_the_table_of_units() {
    const UNITS: [&str; 16] =
        ["ns", "µs", "us", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "KiB", "MiB", "kcycles", "Mcycles", "Gcycles"];
    // `ms` and `{} ms`, but not `{name}s`.
    let is_amount = |text: &str| {
        text.split("} ").skip(1).any(|rest| {
            let word = rest.split([' ', ',']).next().unwrap();
            word.len() > 1 && UNITS.contains(&word)
        })
    };
    let is_unit = |text: &str| UNITS.contains(&text.trim_start());
    none(&literals(|text| is_unit(text) || is_amount(text), &OTHER_UNITS));
}

/// Files in which these words are not units of our output.
const OTHER_UNITS: [&str; 14] = [
    "src/units/",
    // `2G` is `2GB`.
    "src/memory.rs",
    // Tests of alert rules.
    "src/alert/rule_tests.rs",
    // `min` is the minimum.
    "src/alert/statistic.rs",
    // The names of units in fields of CSV, JSON and other programs' formats.
    "src/recording/column.rs",
    "src/output/firefox/mod.rs",
    "src/output/fleet/",
    // Words in reports: in all languages, in a header, and in Dart's wording.
    "src/readers/metrickit/locales.rs",
    "src/report/hangs/presence.rs",
    "src/readers/dart/record.rs",
    // Apple's measure of hitches, with a plural, the module `Swift` in a mangled name, and ends of labels such as `duration_s`.
    "src/output/hangs/text.rs",
    "src/output/svg/trees.rs",
    "src/demangle/names/swift_types.rs",
    "src/fleet/inputs/input_list.rs",
];

#[test]
fn formats_are_chosen_in_one_enum_each() {
    let formats = all().into_iter().flat_map(|(path, found)| {
        found.enums.into_iter().filter(|name| name.ends_with("Format")).map(move |name| (path.clone(), name))
    });
    // The settings of the command, the format of a report with its options, and the format of rows.
    let expected =
        [("bin/formats.rs", "Format"), ("src/output/format.rs", "Format"), ("src/output/rows/mod.rs", "RowFormat")];
    let expected: BTreeSet<_> = expected.map(|(path, name)| (path.to_owned(), name.to_owned())).into();
    assert_eq!(formats.collect::<BTreeSet<_>>(), expected);
}

#[test]
fn outcomes_of_alerts_have_one_name() {
    let states = ["fired", "quiet", "undecided", "Fired", "Quiet", "Undecided", "FIRED", "UNDECIDED"];
    none(&literals(|text| states.contains(&text), &["src/alert/outcome.rs", "src/output/fleet/json/parts.rs"]));
}

#[test]
fn colours_are_in_the_palette() {
    let is_colour =
        |text: &str| text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    // The background and text colours of a picture, which has no page around it.
    none(&literals(is_colour, &["src/output/svg/colours.rs"]));
}

#[test]
fn options_are_declared_once() {
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, place) in Options::declared() {
        declared.entry(name).or_default().push(place);
    }
    declared.retain(|name, places| {
        places.len()
            > OTHER_MEANINGS.iter().find(|(of, _)| name.strip_prefix("--") == Some(of)).map_or(1, |(_, count)| *count)
    });
    assert!(declared.is_empty(), "share the description of an option:\n{declared:#?}");
}

/// Options of the same name with other values or another meaning, and how many there are: a label with a value or recordings (`against`),
/// rules about intervals, runs or growth (`alert`), a report that keeps its form by default (`format`), the address or the name of an image
/// (`image`), a folder or a file (`output`), names of threads in one recording or in all (`thread`).
const OTHER_MEANINGS: [(&str, usize); 18] = [
    ("against", 2),
    ("alert", 3),
    ("allow-incomplete", 2),
    ("alpha", 2),
    ("block", 2),
    ("format", 2),
    ("image", 2),
    ("measure", 2),
    ("min-percent", 2),
    ("normalize", 2),
    ("output", 4),
    ("process", 2),
    ("run", 2),
    ("sort", 3),
    ("thread", 2),
    ("top", 4),
    ("view", 4),
    ("where", 3),
];

#[test]
fn definitions_are_found() {
    let text = "const A: &str = \"ms\"; fn f() { format!(\"{} kB\", \"#ffffff\") } enum RowFormat {} #[cfg(test)] mod tests { const B: &str = \"s\"; }";
    let found = Definitions::read(&Source { path: "a.rs".into(), text: text.into() });
    let literals: Vec<_> = found.literals.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!((literals, found.enums), (vec!["ms", "{} kB", "#ffffff"], vec!["RowFormat".to_owned()]));
}
