//! URLs among the arguments. This is the only place that refuses them: every command and option with a file or folder would otherwise treat a URL as
//! a folder named `s3:`.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, ValueHint};

use super::url::{SCHEMES, scheme_of};

/// The documentation that every refusal refers to.
const MANUAL: &str = "docs/object-stores.md";

/// Checks that no argument is a URL that the command cannot read or write in this place.
///
/// # Errors
/// A message for the user.
pub(crate) fn check(command: &Command, matches: &ArgMatches) -> Result<(), String> {
    for arg in command.get_arguments().filter(|arg| may_be_a_path(arg)) {
        let values = matches.try_get_raw(arg.get_id().as_str()).ok().flatten();
        values.into_iter().flatten().try_for_each(|value| check_value(command.get_name(), arg, value))?;
    }
    match matches.subcommand() {
        Some((name, matches)) => command.find_subcommand(name).map_or(Ok(()), |command| check(command, matches)),
        None => Ok(()),
    }
}

/// True for arguments that name something in the file system, and for `--image UUID@ADDRESS=PATH`.
fn may_be_a_path(arg: &Arg) -> bool {
    let hints = [ValueHint::AnyPath, ValueHint::FilePath, ValueHint::DirPath];
    hints.contains(&arg.get_value_hint()) || arg.get_id() == "image"
}

fn check_value(command: &str, arg: &Arg, value: &OsStr) -> Result<(), String> {
    let id = arg.get_id().as_str();
    let path = match value.to_str() {
        Some(text) if id == "image" => Path::new(text.split_once('=').map_or("", |(_, path)| path)),
        _ => Path::new(value),
    };
    let Some(scheme) = scheme_of(path) else { return Ok(()) };
    let name = path.display();
    if !SCHEMES.contains(&scheme) {
        let advice = match scheme {
            "file" => "name its path".to_owned(),
            _ => format!("download it, and name the file ({MANUAL} has recipes)"),
        };
        return Err(format!("{name}: {scheme}:// cannot be read or written; {advice}"));
    }
    if cfg!(feature = "object-store") {
        return check_use(command, id, path);
    }
    Err(format!("{name}: {}", no_feature()))
}

/// The message about an object store URL, if the command was built without the feature.
pub(super) fn no_feature() -> String {
    format!(
        "this build of traceparse reads and writes files only; `cargo install --path bin --locked --features object-store`, in a copy of its \
         source, builds one for s3://, gs:// and az://, or copy the files here or mount the bucket ({MANUAL} has recipes)"
    )
}

/// Checks that objects are only used as inputs and datasets.
fn check_use(command: &str, id: &str, path: &Path) -> Result<(), String> {
    let name = path.display();
    match (command, id) {
        ("extract" | "merge", "output") => Ok(()),
        (_, "output") => Err(format!(
            "{name}: only a dataset, of `fleet extract` or `fleet merge`, can be written to an object store; write a file, and copy it ({MANUAL} has \
             recipes)"
        )),
        (_, "source") => Err(format!("{name}: --source searches folders of this machine; copy the sources here")),
        _ => Ok(()),
    }
}
