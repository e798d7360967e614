//! The independent reader: a Python process that remembers bundles and answers what it makes of their mutants.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::mutants::{Base, Edit, Mutant};

pub(crate) struct Oracle {
    child: Child,
    asked: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

fn python() -> String {
    std::env::var("TRACEPARSE_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

impl Oracle {
    pub(crate) fn is_there() -> bool {
        Command::new(python()).arg("--version").output().is_ok_and(|output| output.status.success())
    }

    pub(crate) fn start() -> Result<Oracle, Failed> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/bundle/serve.py");
        let mut child =
            Command::new(python()).arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no answers")?);
        Ok(Oracle { asked: child.stdin.take(), answers, child })
    }

    fn ask(&mut self, question: &Value) -> Result<Value, Failed> {
        let asked = self.asked.as_mut().ok_or("it has ended")?;
        serde_json::to_writer(&mut *asked, question)?;
        asked.write_all(b"\n")?;
        asked.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// Sends a bundle; returns its reading, and the objects of `form.template` that it has seen.
    pub(crate) fn remember(&mut self, base: &Base) -> Result<Value, Failed> {
        let files: BTreeMap<&str, String> =
            base.files.iter().map(|(path, bytes)| (path.as_str(), hexadecimal(bytes))).collect();
        self.ask(&json!({"bundle": base.name, "files": files}))
    }

    /// Its reading of a mutant, run by run.
    pub(crate) fn read(&mut self, base: &Base, mutant: &Mutant) -> Result<Vec<Value>, Failed> {
        let stretch = |edit: &Edit| json!([edit.at, edit.length, hexadecimal(&edit.new)]);
        let edits: BTreeMap<&str, Value> = mutant
            .edits
            .iter()
            .map(|(path, edits)| {
                (path.as_str(), edits.as_ref().map_or(Value::Null, |edits| edits.iter().map(stretch).collect()))
            })
            .collect();
        let mut answer = self.ask(&json!({"of": base.name, "edits": edits}))?;
        match answer["runs"].take() {
            Value::Array(runs) => Ok(runs),
            other => Err(format!("no runs: {other}").into()),
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.asked.take());
        let _ = self.child.wait();
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
