//! The library names no option of the command: sentences name settings (`traceparse::settings`), which the command writes as its options.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Expr, ExprLit, Field, Lit, Token, punctuated::Punctuated};
use traceparse::settings::ALL;

use super::rust_sources::sources;

/// Options of other programs with the same name, and the file that names them.
const OF_OTHERS: [(&str, &str); 1] = [("src/recording/export_command.rs", "--output")];

/// The options that fields of arguments define, in the order of the code.
#[derive(Default)]
pub(super) struct Options(Vec<String>);

impl Options {
    /// All options of the command, each with its file.
    pub(super) fn declared() -> Vec<(String, String)> {
        let mut found = Vec::new();
        for source in sources("bin") {
            let mut options = Self::default();
            options.visit_file(&syn::parse_file(&source.text).unwrap());
            found.extend(options.0.into_iter().map(|name| (name, source.path.clone())));
        }
        found
    }
}

impl Visit<'_> for Options {
    fn visit_field(&mut self, field: &Field) {
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("arg")) {
            let parts = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
            self.0.extend(
                parts.unwrap().iter().filter_map(|part| long_name(part, field)).map(|name| format!("--{name}")),
            );
        }
        visit::visit_field(self, field);
    }
}

/// The name of an option, by the part `long` or `long = "name"` of its attribute.
fn long_name(part: &Expr, field: &Field) -> Option<String> {
    let is_long = |part: &Expr| matches!(part, Expr::Path(path) if path.path.is_ident("long"));
    match part {
        Expr::Assign(assign) if is_long(&assign.left) => match &*assign.right {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Some(name.value()),
            _ => None,
        },
        part if is_long(part) => Some(field.ident.as_ref()?.to_string().replace('_', "-")),
        _ => None,
    }
}

/// The options that a line names.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.map(|word| word.trim_end_matches('-')).filter(|word| word.starts_with("--"))
}

#[test]
fn the_library_names_no_option() {
    let options: BTreeSet<String> = Options::declared().into_iter().map(|(name, _)| name).collect();
    assert!(["--view", "--min-percent", "--where"].iter().all(|name| options.contains(*name)), "{options:?}");
    let mut found = Vec::new();
    for source in sources("src") {
        for (index, line) in source.text.lines().enumerate() {
            let names = named(line)
                .filter(|name| options.contains(*name) && !OF_OTHERS.contains(&(source.path.as_str(), name)));
            found.extend(names.map(|name| format!("{}:{}: {name}", source.path, index + 1)));
        }
    }
    let found = found.join("\n");
    assert!(found.is_empty(), "name a setting of src/settings.rs, or a field of the library:\n{found}");
}

#[test]
fn fields_of_settings_exist() {
    let code: String = sources("src").into_iter().map(|source| source.text).collect();
    for field in ALL.iter().map(|setting| setting.field) {
        let name = field.rsplit("::").next().unwrap();
        let forms = [
            format!("pub {name}: "),
            format!("pub fn {name}("),
            format!("pub struct {name}"),
            format!("pub enum {name}"),
        ];
        assert!(forms.iter().any(|form| code.contains(form)), "{field} does not exist");
    }
}

#[test]
fn options_are_found() {
    let found = |line| named(line).collect::<Vec<_>>();
    assert_eq!(found(r#""pass --dsym PATH (--view=tree), a--b - -- --x.""#), ["--dsym", "--view", "--x"]);
}
