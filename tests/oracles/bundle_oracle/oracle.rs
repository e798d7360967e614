//! The independent reader: a Python process that keeps bundles, and returns its reading of their mutants.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::mutants::{Base, Edit, Mutant};
use crate::programs::Server;

pub(crate) struct Oracle(Server);

impl Oracle {
    pub(crate) fn start() -> Result<Oracle, Failed> {
        Server::start("bundle/serve.py").map(Oracle)
    }

    fn ask(&mut self, question: &Value) -> Result<Value, Failed> {
        self.0.ask(format!("{question}\n").as_bytes())
    }

    /// Sends a bundle; returns its reading, and the objects of `form.template` that it has seen.
    pub(crate) fn remember(&mut self, base: &Base) -> Result<Value, Failed> {
        let files: BTreeMap<&str, String> =
            base.files.iter().map(|(path, bytes)| (path.as_str(), hexadecimal(bytes))).collect();
        self.ask(&json!({"bundle": base.name, "files": files, "tables": base.is_of_all_tables}))
    }

    /// The oracle's reading of a mutant, run by run.
    pub(crate) fn read(&mut self, base: &Base, mutant: &Mutant) -> Result<Vec<Value>, Failed> {
        let stretch = |edit: &Edit| json!([edit.at, edit.length, hexadecimal(&edit.new)]);
        let edits = mutant.edits.iter().map(|(path, edits)| {
            (path.as_str(), edits.as_ref().map_or(Value::Null, |edits| edits.iter().map(stretch).collect()))
        });
        let edits: BTreeMap<_, _> = edits.collect();
        let mut answer = self.ask(&json!({"of": base.name, "edits": edits, "tables": base.is_of_all_tables}))?;
        match answer["runs"].take() {
            Value::Array(runs) => Ok(runs),
            other => Err(format!("no runs: {other}").into()),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
