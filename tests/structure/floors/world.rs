//! The outside world: the library does not touch it, and the command opens and replaces files only in a few places.

use std::collections::BTreeSet;

use super::code::Code;
use super::places::{Kind, Use};
use super::resolve::Target;

/// Paths of the standard library that belong to the command.
const OF_THE_COMMAND: [&str; 7] =
    ["std::env", "std::fs", "std::io::stderr", "std::io::stdin", "std::io::stdout", "std::net", "std::process"];

/// Macros that print, end the program, or mark missing code.
const FORBIDDEN_MACROS: [&str; 8] = ["dbg", "eprint", "eprintln", "panic", "print", "println", "todo", "unimplemented"];

/// Methods of paths that ask a file system.
const FORBIDDEN_METHODS: [&str; 5] = ["canonicalize", "read_dir", "read_link", "symlink_metadata", "try_exists"];

/// A way to open, make or rename files, and the files that may use it.
pub(crate) struct Door {
    /// The path of a function or type; `.name` is a method.
    pub(crate) name: &'static str,
    pub(crate) files: &'static [&'static str],
}

/// Every place of a library that prints, reads files or the environment, or ends the program, but in the files that may.
pub(crate) fn library_faults(code: &Code, except: &[&str]) -> Vec<String> {
    let mut faults = BTreeSet::new();
    for used in code.uses.iter().filter(|used| !used.is_test && !except.contains(&code.file_of(used))) {
        let last = used.path.last().map_or("", String::as_str);
        let forbidden = match used.kind {
            Kind::Macro => FORBIDDEN_MACROS.contains(&last).then(|| format!("{last}!")),
            Kind::Method => FORBIDDEN_METHODS.contains(&last).then(|| format!(".{last}()")),
            _ => outside(code, used).into_iter().find(|path| OF_THE_COMMAND.iter().any(|door| begins(path, door))),
        };
        if let Some(forbidden) = forbidden {
            let place = code.place(used);
            faults.insert(format!(
                "{place}: {forbidden}: the library leaves it to the command; return it, or take it as an argument"
            ));
        }
    }
    faults.into_iter().collect()
}

/// Every file that uses an entry point reserved for other files, and every listed file that does not use its entry point.
pub(crate) fn door_faults(code: &Code, doors: &[Door]) -> Vec<String> {
    let (mut faults, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for used in code.uses.iter().filter(|used| !used.is_test && matches!(used.kind, Kind::Path | Kind::Method)) {
        let file = code.file_of(used);
        let method = (used.kind == Kind::Method).then(|| format!(".{}", used.path[0]));
        let paths = if method.is_some() { BTreeSet::new() } else { outside(code, used) };
        for door in doors {
            if method.as_deref() != Some(door.name) && !paths.iter().any(|path| begins(path, door.name)) {
                continue;
            }
            if door.files.contains(&file) {
                seen.insert((door.name, file));
            } else if door.files.is_empty() {
                faults.insert(format!(
                    "{}: {}: nothing may use it; write through bin/sink.rs",
                    code.place(used),
                    door.name
                ));
            } else {
                let files = door.files.join(", ");
                faults.insert(format!("{}: {} belongs to {files}: ask one of them", code.place(used), door.name));
            }
        }
    }
    for door in doors {
        for file in door.files.iter().filter(|file| !seen.contains(&(door.name, **file))) {
            faults.insert(format!(
                "{file} does not use {}: take it out of this door in tests/structure/floors.rs",
                door.name
            ));
        }
    }
    faults.into_iter().collect()
}

fn outside(code: &Code, used: &Use) -> BTreeSet<String> {
    let targets = code.resolve(used).targets.into_iter();
    targets.filter_map(|target| if let Target::Outside(path) = target { Some(path.join("::")) } else { None }).collect()
}

/// True of the path itself and of everything below it.
fn begins(path: &str, door: &str) -> bool {
    path.strip_prefix(door).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
