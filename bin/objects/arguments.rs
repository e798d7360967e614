//! URLs among the arguments. They are refused in one place, for every command and option with a file or folder that
//! would otherwise treat a URL as a folder named `s3:`.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, ValueHint};

use super::url::{SCHEMES, scheme_of};

/// Ends every refusal.
const MANUAL: &str = "docs/object-stores.md";

/// Checks that no argument is a URL that the command cannot read or write there.
///
/// # Errors
/// A sentence for the user.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<(), String> {
    for arg in command.get_arguments().filter(|arg| may_be_a_path(arg)) {
        let values = matches.try_get_raw(arg.get_id().as_str()).ok().flatten();
        let is_only = values.as_ref().is_some_and(|values| values.len() == 1);
        values.into_iter().flatten().try_for_each(|value| check_value(command.get_name(), arg, is_only, value))?;
    }
    match matches.subcommand() {
        Some((name, matches)) => command.find_subcommand(name).map_or(Ok(()), |command| check(command, matches)),
        None => Ok(()),
    }
}

/// True for arguments that name something in a file system, and for `--image UUID@ADDRESS=PATH`.
fn may_be_a_path(arg: &Arg) -> bool {
    let hints = [ValueHint::AnyPath, ValueHint::FilePath, ValueHint::DirPath];
    hints.contains(&arg.get_value_hint()) || ["image", "dataset"].contains(&arg.get_id().as_str())
}

fn check_value(command: &str, arg: &Arg, is_only: bool, value: &OsStr) -> Result<(), String> {
    let id = arg.get_id().as_str();
    let path = match value.to_str() {
        Some(text) if id == "image" => Path::new(text.split_once('=').map_or("", |(_, path)| path)),
        _ => Path::new(value),
    };
    let Some(scheme) = scheme_of(path) else { return Ok(()) };
    // The statement is run by an engine, which may read there what this machine does not see. A statement on several datasets has the names
    // of their files, which are read here.
    let is_statement = command == "sql" && is_only && ["source", "dataset"].contains(&id);
    let is_known = SCHEMES.contains(&scheme);
    let name = path.display();
    if !is_known && !is_statement {
        let advice = match scheme {
            "file" => "name its path".to_owned(),
            _ => format!("download it, and name the file ({MANUAL} has recipes)"),
        };
        return Err(format!("{name}: {scheme}:// cannot be read or written; {advice}"));
    }
    if cfg!(feature = "object-store") {
        return check_use(command, id, path);
    }
    match is_statement {
        true => Ok(()),
        false => Err(format!("{name}: {}", no_feature())),
    }
}

/// The sentence about a URL of an object store, if the command was built without the feature.
pub(super) fn no_feature() -> String {
    format!(
        "this traceparse reads and writes files only; `cargo install --path . --locked --features object-store`, in a copy of its \
         source, builds one for s3://, gs:// and az://, or copy the files here or mount the bucket ({MANUAL} has recipes)"
    )
}

/// Objects are inputs and datasets, and nothing else.
fn check_use(command: &str, id: &str, path: &Path) -> Result<(), String> {
    let name = path.display();
    match (command, id) {
        ("extract" | "merge", "output") => Ok(()),
        (_, "output") => Err(format!(
            "{name}: only a dataset, of `fleet extract` or `fleet merge`, can be written to an object store; write a file, and copy it ({MANUAL} has \
             recipes)"
        )),
        ("sql", _) => Ok(()),
        (_, "source") => Err(format!("{name}: --source searches folders of this machine; copy the sources here")),
        _ => Ok(()),
    }
}
