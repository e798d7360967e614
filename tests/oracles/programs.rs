//! The external programs that tests use, and the corpus. If one of them is missing, tests that need it report themselves as ignored.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;

use libtest_mimic::Failed;
use serde_json::Value;

/// The folder of real recordings and symbol files, which `TRACEPARSE_CORPUS` names.
pub(crate) fn corpus() -> Option<PathBuf> {
    std::env::var_os("TRACEPARSE_CORPUS").map(PathBuf::from)
}

/// A number from an environment variable.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// A path in the corpus, if there is a corpus.
pub(crate) fn in_corpus(path: &str) -> PathBuf {
    corpus().unwrap_or_default().join(path)
}

/// A path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    support::repository(path)
}

/// All files below a folder whose names have this suffix, sorted.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// True if a program exists and succeeds.
pub(crate) fn runs(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The output of a program, which must succeed.
pub(crate) fn said(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(said) } else { Err(format!("{command:?}: {said}").into()) }
}

/// The command with these arguments.
pub(crate) fn traceparse(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceparse"));
    let output = command.args(arguments).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output)
}

/// The interpreter that `TRACEPARSE_PYTHON` names, or `python3`.
pub(crate) fn python() -> Command {
    let mut python = Command::new(std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned()));
    // Leaves no compiled modules in the repository.
    python.arg("-B").env("SPARK_LOCAL_IP", "127.0.0.1");
    python
}

pub(crate) fn has_python() -> bool {
    static HAS_PYTHON: LazyLock<bool> = LazyLock::new(|| runs(python().arg("--version")));
    *HAS_PYTHON
}

/// True if Spark and the required Java version are installed.
pub(crate) fn has_spark() -> bool {
    runs(python().args(["-c", "import pyspark"])) && runs(Command::new("java").arg("-version"))
}

/// Runs a script of `tests/oracle`, and returns its output. The script fails if there is a difference.
pub(crate) fn oracle(script: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<String, Failed> {
    let said = said(python().arg(repository("tests/oracle").join(script)).args(arguments))?;
    println!("{said}");
    Ok(said)
}

pub(crate) fn chromium() -> PathBuf {
    std::env::var_os("TRACEPARSE_CHROMIUM").map_or_else(|| PathBuf::from("chromium"), PathBuf::from)
}

/// A script of `tests/oracle` that answers each request with a line of JSON, and ends with its input.
pub(crate) struct Server {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(script: &str) -> Result<Self, Failed> {
        let mut command = python();
        command.arg(repository("tests/oracle").join(script)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no answers")?);
        Ok(Self { requests: child.stdin.take(), answers, child })
    }

    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Value, Failed> {
        let requests = self.requests.as_mut().ok_or("it has ended")?;
        requests.write_all(request)?;
        requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}

/// A writer that accepts this many bytes and then fails.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks that `write` returns an error, regardless of when the disk becomes full.
pub(crate) fn full_disks_are_errors(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Failed> {
    let mut whole = Vec::new();
    write(&mut whole)?;
    for room in [0, 1, 1_000, whole.len() / 2, whole.len() - 1] {
        let kind = write(&mut Full(room)).map_err(|error| error.kind());
        ensure!(kind == Err(io::ErrorKind::StorageFull), "room for {room} bytes: {kind:?}");
    }
    Ok(write(&mut Full(whole.len()))?)
}
