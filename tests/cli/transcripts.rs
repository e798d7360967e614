//! Shell sessions that use standard Linux programs: the files in `transcripts/` are replayed and compared byte for byte.
//!
//! Lines that begin with two spaces are commands (`$ …`, continued by `> …`), each followed by its output: lines of standard output, lines of
//! standard error (`! …`), and the exit code unless it is 0 (`[2]`). All other lines are prose. Commands run in a separate folder with links to
//! the fixtures and to `transcripts/inputs`, and can use the programs in `transcripts/bin`. In their output, `$PWD` replaces the path of this
//! folder. `TRACEPARSE_BLESS=1` rewrites the files: review the differences before you keep them.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::BINARY;

macro_rules! transcripts {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })*

        const ALL: &[&str] = &[$(stringify!($name)),*];
    };
}

transcripts! {
    contents counters diff filters fleet_datasets fleet_inputs fleet_merge fleet_report fleet_selection formats intervals lines names operations
    reading rows symbol_commands symbols unusable usage views writing
}

#[test]
fn every_transcript_is_replayed() {
    let files = fs::read_dir(folder()).expect("the transcripts are there").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = files
        .filter(|path| path.is_file())
        .map(|path| path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ALL);
}

fn folder() -> PathBuf {
    support::repository("tests/cli/transcripts")
}

fn replay(name: &str) {
    let path = folder().join(name).with_extension("txt");
    let expected = fs::read_to_string(&path).expect("the transcript can be read");
    let place = Place::new();
    let mut found = String::new();
    let mut lines = expected.lines().peekable();
    while let Some(line) = lines.next() {
        found += &format!("{line}\n");
        let Some(first) = line.strip_prefix("  $ ") else { continue };
        let mut script = first.to_owned();
        while let Some(line) = lines.next_if(|line| line.starts_with("  > ")) {
            found += &format!("{line}\n");
            script += &format!("\n{}", &line[4..]);
        }
        while lines.next_if(|line| line.starts_with("  ") && !line.starts_with("  $ ")).is_some() {}
        found += &place.run(&script);
    }
    if env::var_os("TRACEPARSE_BLESS").is_some() {
        fs::write(&path, found).expect("the transcript can be written");
        return;
    }
    let differs = expected.lines().zip(found.lines()).take_while(|(expected, found)| expected == found).count();
    let there = |text: &str| text.lines().skip(differs).take(5).collect::<Vec<_>>().join("\n");
    assert!(
        expected == found,
        "{name}.txt, line {}: expected\n{}\nfound\n{}\n(TRACEPARSE_BLESS=1 rewrites the file)",
        differs + 1,
        there(&expected),
        there(&found)
    );
}

/// The folder in which commands run.
struct Place {
    // Removed when dropped.
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        // Messages contain the canonical path.
        let path = folder.path().canonicalize().expect("it is there");
        let link = |target: &Path, name: &str| symlink(target, path.join(name)).expect("a link can be made");
        for entry in fs::read_dir(support::repository("fixtures")).expect("the fixtures are there") {
            let entry = entry.expect("an entry");
            symlink(entry.path(), path.join(entry.file_name())).expect("a link can be made");
        }
        link(&self::folder().join("inputs"), "inputs");
        fs::create_dir(path.join(".bin")).expect("a folder can be made");
        link(Path::new(BINARY), ".bin/traceparse");
        Self { _folder: folder, path }
    }

    /// Runs a command, and returns its output as lines of a transcript.
    fn run(&self, script: &str) -> String {
        let programs = [self.path.join(".bin"), folder().join("bin")];
        let others = env::var_os("PATH").expect("there is a PATH");
        let all = env::join_paths(programs.into_iter().chain(env::split_paths(&others))).expect("no colons");
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&self.path).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TRACEPARSE_CORPUS"] {
            command.env_remove(name);
        }
        let home = self.path.join(".home");
        command.env("PATH", all).env("HOME", &home).env("XDG_CACHE_HOME", home);
        command.env("COLUMNS", "80").env("RUST_BACKTRACE", "0").env("LC_ALL", "C");
        let output = command.output().expect("there is a shell");
        let lines = |prefix: &str, bytes: &[u8]| -> String {
            let text = String::from_utf8_lossy(bytes).replace(self.path.to_str().expect("UTF-8"), "$PWD");
            let lines = text.strip_suffix('\n').unwrap_or(&text).split('\n');
            if text.is_empty() { String::new() } else { lines.map(|line| format!("{prefix}{line}\n")).collect() }
        };
        let code = match output.status.code() {
            Some(0) => String::new(),
            Some(code) => format!("  [{code}]\n"),
            None => format!("  [{}]\n", output.status),
        };
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{script}: {output:?}");
        lines("  ", &output.stdout) + &lines("  ! ", &output.stderr) + &code
    }
}
