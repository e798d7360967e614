//! Prevents outputs from overwriting inputs. All inputs are recorded, and every output is checked against them.
//!
//! ```text
//! traceparse A.xml -o A.xml        refused: the report would replace the export
//! traceparse A.xml >> A.xml        refused: the report would be appended to it
//! traceparse X.trace -o X.trace/n  refused: all files in the folder of a recording belong to it
//! traceparse A.xml --symbols D -o D/f  refused if D/f exists: it may be a symbol file
//! ```
//!
//! Files are compared by device and inode, so links and alternative names make no difference. Only regular files are compared, since writing to a
//! pipe, a terminal or `/dev/null` destroys nothing. The check runs when an input is opened, before time is spent on reading it, and again right
//! before a file is replaced, since names may have changed in the meantime.
//!
//! The list is global, so that no command can forget to pass it on.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use traceparse::files::{FileSystem, Storage};

use crate::resource_limits;

/// The identity of a file, independent of its name.
#[cfg(unix)]
type FileId = (u64, u64);
/// The real path of a file, on systems without device and inode numbers.
#[cfg(not(unix))]
type FileId = PathBuf;

static GUARD: LazyLock<Mutex<Guard>> = LazyLock::new(Mutex::default);
/// True if messages would be appended to an input. The command then fails without printing the reason.
static IS_STDERR_AN_INPUT: AtomicBool = AtomicBool::new(false);

/// The files that this process reads and writes.
#[derive(Debug, Default)]
struct Guard {
    outputs: Vec<Output>,
    files: HashMap<FileId, Box<Path>>,
    /// Folders of recordings: their real paths, and their names on the command line.
    folders: Vec<(PathBuf, Box<Path>)>,
}

impl Guard {
    fn will_write(&mut self, path: &Path) {
        let file = fs::metadata(path).ok().and_then(|metadata| file_id(path, &metadata));
        self.outputs.push(Output { name: format!("-o {}", path.display()), file, places: real_places(path) });
    }

    fn will_read(&mut self, path: &Path) -> Result<()> {
        let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
        if metadata.is_dir() {
            return self.will_read_folder(path);
        }
        file_id(path, &metadata).map_or(Ok(()), |id| self.note(id, path))
    }

    /// Adds all files of a recording to the inputs, including unread ones, and its folder, in which no output may be created.
    fn will_read_folder(&mut self, path: &Path) -> Result<()> {
        if let Ok(real) = fs::canonicalize(path) {
            if let Some(output) = self.outputs.iter().find(|output| output.place_in(&real).is_some()) {
                bail!(inside(&output.name, path));
            }
            self.folders.push((real, path.into()));
        }
        let mut open = vec![path.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                if kind.is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else if let Some(id) = fs::metadata(&path).ok().and_then(|metadata| file_id(&path, &metadata)) {
                    self.note(id, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Fails if the folder contains a file that an output would replace, even if the file is not used. New files may be created in the folder.
    fn will_search(&self, path: &Path) -> Result<()> {
        let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
        let existing = self.outputs.iter().filter(|output| output.file.is_some());
        match existing.filter_map(|output| Some((output, output.place_in(&real)?))).next() {
            Some((output, place)) => bail!(searched(&output.name, place, path)),
            None => Ok(()),
        }
    }

    /// Adds a file to the inputs. Fails if it is also an output.
    fn note(&mut self, id: FileId, path: &Path) -> Result<()> {
        let outputs = self.outputs.iter().filter(|output| output.file.as_ref() == Some(&id));
        let names: Vec<&str> = outputs.map(|output| output.name.as_str()).collect();
        self.files.entry(id).or_insert_with(|| path.into());
        if names.contains(&Stream::Errors.name()) {
            IS_STDERR_AN_INPUT.store(true, Ordering::Relaxed);
        }
        names.first().map_or(Ok(()), |output| bail!(same(output, path)))
    }

    fn check(&self, target: &Path) -> Result<()> {
        let name = || {
            let option = format!("-o {}", target.display());
            let is_option = self.outputs.iter().any(|output| output.name == option);
            if is_option { option } else { target.display().to_string() }
        };
        let id = fs::metadata(target).ok().and_then(|metadata| file_id(target, &metadata));
        if let Some(input) = id.and_then(|id| self.files.get(&id)) {
            bail!(same(&name(), input));
        }
        let places = if self.folders.is_empty() { Vec::new() } else { real_places(target) };
        let is_around = |(folder, _): &&(PathBuf, _)| places.iter().any(|place| place.starts_with(folder));
        match self.folders.iter().find(is_around) {
            Some((_, input)) => bail!(inside(&name(), input)),
            None => Ok(()),
        }
    }
}

/// A planned output.
#[derive(Debug)]
struct Output {
    /// The name in messages.
    name: String,
    /// The file that currently exists there.
    file: Option<FileId>,
    /// The [real paths](real_places) of the output.
    places: Vec<PathBuf>,
}

impl Output {
    /// The real path of the output, if it is in this folder.
    fn place_in(&self, folder: &Path) -> Option<&Path> {
        self.places.iter().map(PathBuf::as_path).find(|place| place.starts_with(folder))
    }
}

/// Registers the destination of the result before anything is read; `None` is standard output.
pub(crate) fn will_write(path: Option<&Path>) {
    let mut guard = guard();
    match path.filter(|path| path.as_os_str() != "-") {
        Some(path) => guard.will_write(path),
        None => guard.outputs.extend(stream(Stream::Output)),
    }
    guard.outputs.extend(stream(Stream::Errors));
}

/// Registers an input before it is opened: a file, the folder of a recording, or `-` for standard input. A path that does not exist is ignored.
///
/// # Errors
/// If the output would replace the input.
pub(crate) fn will_read(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        let id = stream_file(Stream::Input).map(|(id, _)| id);
        return id.map_or(Ok(()), |id| guard().note(id, Path::new("standard input")));
    }
    resource_limits::check_named_place(path)?;
    guard().will_read(path)
}

/// Registers a path that is searched for symbols or sources: a file, as in [`will_read`], or a folder, in which no file may be replaced.
///
/// # Errors
/// If the output would replace the file, or a file in the folder.
pub(crate) fn will_search(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return will_read(path);
    }
    resource_limits::check_named_place(path)?;
    guard().will_search(path)
}

/// Checks whether a file may be replaced, deleted or modified. Call this directly before doing so.
///
/// # Errors
/// If the file is an input.
pub(crate) fn check(target: &Path) -> Result<()> {
    resource_limits::check_named_place(target)?;
    guard().check(target)
}

/// Storage for the files of datasets that refuses to modify inputs.
pub(crate) fn storage() -> Arc<dyn Storage> {
    let may_read = |path: &Path| resource_limits::check_place(path).map_err(|error| error.to_string());
    let may_change = |path: &Path| check(path).map_err(|error| format!("{error:#}"));
    FileSystem::checked_storage(may_read, may_change, resource_limits::memory())
}

/// The same check for standard output.
///
/// # Errors
/// If standard output is a nonempty file that is also an input.
pub(crate) fn check_stdout() -> Result<()> {
    let Some((id, _)) = stream_file(Stream::Output).filter(|(_, length)| *length > 0) else { return Ok(()) };
    match guard().files.get(&id) {
        Some(input) => bail!(same(Stream::Output.name(), input)),
        None => Ok(()),
    }
}

/// True if messages would be written into an input.
pub(crate) fn is_stderr_an_input() -> bool {
    IS_STDERR_AN_INPUT.load(Ordering::Relaxed)
}

fn guard() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn same(output: &str, input: &Path) -> String {
    let input = input.display();
    format!("{output} and {input} are one file: the output would destroy the input; write to another file")
}

fn inside(output: &str, recording: &Path) -> String {
    format!("{output} is in the recording {}, which is an input; write to another folder", recording.display())
}

fn searched(output: &str, place: &Path, folder: &Path) -> String {
    let (place, folder) = (place.display(), folder.display());
    format!(
        "{output} would replace {place}, and {folder} is searched for symbols or sources; write to another folder, or remove the file first"
    )
}

/// The real paths of a file that exists or would be created: the target of a link, and the link itself.
fn real_places(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = fs::canonicalize(folder).ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
    fs::canonicalize(path).ok().into_iter().chain(named).collect()
}

/// The identity of a regular file; `None` for anything else.
#[cfg(unix)]
fn file_id(_: &Path, metadata: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn file_id(path: &Path, metadata: &Metadata) -> Option<FileId> {
    if metadata.is_file() { fs::canonicalize(path).ok() } else { None }
}

/// The standard streams of the process.
#[derive(Clone, Copy)]
enum Stream {
    Input,
    Output,
    Errors,
}

impl Stream {
    const fn name(self) -> &'static str {
        match self {
            Self::Input => "standard input",
            Self::Output => "standard output",
            Self::Errors => "standard error",
        }
    }
}

/// An output for a stream that is a nonempty file. After `> A.xml`, the file is already empty, so nothing can be lost; `cat` does the same.
fn stream(stream: Stream) -> Option<Output> {
    let (id, _) = stream_file(stream).filter(|(_, length)| *length > 0)?;
    Some(Output { name: stream.name().to_owned(), file: Some(id), places: Vec::new() })
}

/// The file behind a stream, and its length.
#[cfg(unix)]
fn stream_file(stream: Stream) -> Option<(FileId, u64)> {
    use std::io;
    use std::os::fd::AsFd;
    let handle = match stream {
        Stream::Input => io::stdin().as_fd().try_clone_to_owned(),
        Stream::Output => io::stdout().as_fd().try_clone_to_owned(),
        Stream::Errors => io::stderr().as_fd().try_clone_to_owned(),
    };
    let metadata = fs::File::from(handle.ok()?).metadata().ok()?;
    Some((file_id(Path::new(""), &metadata)?, metadata.len()))
}

/// Not supported on this system.
#[cfg(not(unix))]
fn stream_file(_: Stream) -> Option<(FileId, u64)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn refused(result: Result<()>) -> String {
        result.expect_err("it is refused").to_string()
    }

    #[test]
    fn every_name_of_an_input_is_the_input() {
        let (mut guard, folder) = (Guard::default(), tempfile::tempdir().unwrap());
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.xml"), "a").unwrap();
        fs::write(path("b.xml"), "b").unwrap();
        fs::hard_link(path("a.xml"), path("hard")).unwrap();
        std::os::unix::fs::symlink(path("a.xml"), path("soft")).unwrap();
        guard.will_read(&path("a.xml")).unwrap();
        for name in ["a.xml", "hard", "soft", "../x/a.xml"] {
            let name = name.replace("../x", &format!("../{}", folder.path().file_name().unwrap().display()));
            let message = refused(guard.check(&path(&name)));
            assert!(message.contains(&name) && message.contains("the input") && message.contains("a.xml"), "{message}");
        }
        for free in ["b.xml", "new", "no folder/new"] {
            guard.check(&path(free)).unwrap();
        }
        guard.check(Path::new("/dev/null")).unwrap();
        // Only the current target of a name matters, not its target when the process started.
        fs::remove_file(path("b.xml")).unwrap();
        std::os::unix::fs::symlink(path("soft"), path("b.xml")).unwrap();
        refused(guard.check(&path("b.xml")));
    }

    #[test]
    fn nothing_is_written_into_a_recording() {
        let (mut guard, folder) = (Guard::default(), tempfile::tempdir().unwrap());
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("x.trace/deep")).unwrap();
        fs::write(path("x.trace/deep/file"), "f").unwrap();
        std::os::unix::fs::symlink(path("x.trace"), path("link")).unwrap();
        fs::hard_link(path("x.trace/deep/file"), path("hard")).unwrap();
        guard.check(&path("x.trace/new")).unwrap();
        guard.will_read(&path("link")).unwrap();
        for name in ["x.trace/new", "x.trace/deep/file", "link/deep/new", "hard"] {
            let message = refused(guard.check(&path(name)));
            assert!(message.contains("link"), "{message}");
        }
        guard.check(&path("x.trace.json")).unwrap();
    }

    #[test]
    fn what_will_be_replaced_is_not_even_opened() {
        let (mut guard, folder) = (Guard::default(), tempfile::tempdir().unwrap());
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("y.trace")).unwrap();
        fs::write(path("c.xml"), "c").unwrap();
        guard.will_write(&path("c.xml"));
        guard.will_write(&path("y.trace/new"));
        let message = refused(guard.will_read(&path("c.xml")));
        assert!(message.starts_with("-o ") && message.matches("c.xml").count() == 2, "{message}");
        let message = refused(guard.will_read(&path("y.trace")));
        assert!(message.contains("y.trace/new is in the recording"), "{message}");
    }
}
