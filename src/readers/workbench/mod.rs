//! Reads a page's payload, written by `output::workbench` (`docs/workbench.md`), back into a recording. The caller decodes the base64 and
//! decompresses the gzip.
//!
//! ```text
//! "TPWB" ─► length of the head (LEB128) ─► head (JSON) ─► lengths of the texts ─► the texts (UTF-8) ─► columns, as the head lists them
//! ```
//!
//! Reports of this recording equal reports of the original, if the page contains its samples. A page contains neither rejected rows nor the
//! addresses needed to look up frames in symbol files.
//!
//! A browser recompiles an entire function once one of its loops is hot, and the page waits for that: 300 ms when all of this was one function.
//! The loops are therefore never inlined.
//!
//! Columns are read side by side. Apart from the profile, memory holds the JSON of the head, six bytes per stack, and four more bytes per stack
//! with samples.

mod columns;
mod damage;
mod head;
mod intervals;
mod named_rows;
mod samples;
mod stacks;
mod symbolication;

use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::profile::ProfileBuilder;
use crate::recording::{Intervals, Recording};
use crate::symbolicate::SymbolicationSummary;
use crate::varint;
use columns::Columns;
use damage::Damage;
use head::Head;
use named_rows::NamedRows;

const MAGIC: &[u8] = b"TPWB";
/// The supported version of the payload.
const VERSION: u64 = 2;

/// The content of a page, which `output::Format::Workbench` writes from one recording.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Payload<'b> {
    /// The samples and everything they refer to.
    pub recording: Recording,
    /// Signposts, hangs, rows of other tables with a duration, and hang risks.
    pub intervals: Intervals,
    /// Why binaries have no names, if symbol files were used.
    pub symbolication: Option<SymbolicationSummary>,
    /// The head: a JSON object that also contains answers and source text. `docs/workbench.md` lists its fields.
    pub head: &'b str,
}

impl<'b> Payload<'b> {
    /// Reads the payload of a page, which must be decoded from base64 and decompressed. `name` identifies it in errors.
    ///
    /// # Errors
    /// If the payload is damaged, or was written by another version of traceparse.
    pub fn read(bytes: &'b [u8], name: &str) -> Result<Self, Error> {
        let damage = Damage { input: name, head: 0 };
        // Errors about full tables have no position, so add one.
        Self::read_at(bytes, damage).map_err(|error| Error { at: error.at.or(damage.in_head("").at), ..error })
    }

    fn read_at(bytes: &'b [u8], damage: Damage<'_>) -> Result<Self, Error> {
        let (text, rest) = split(bytes).ok_or_else(|| damage.at(0, "it does not begin with a head"))?;
        let start = bytes.len() - rest.len();
        let damage = Damage { head: start - text.len(), ..damage };
        let text = std::str::from_utf8(text).map_err(|_| damage.in_head("the head is not UTF-8"))?;
        let value: Value = serde_json::from_str(text).map_err(|error| damage.in_head(format!("the head: {error}")))?;
        check_version(&value, damage)?;
        let head = Head { value: &value, damage };
        let lists = value["columns"].as_array().map_or(&[][..], Vec::as_slice);
        let columns = Columns::new(lists, rest, start, damage)?;
        let mut profile = ProfileBuilder::new();
        let named = NamedRows::read(head, &mut profile)?;
        let stacks = stacks::read(&columns, damage, named.binaries, &mut profile)?;
        samples::read(head, &columns, (&named, stacks), &mut profile)?;
        let (runs, tables) = (named_rows::runs(head)?, named_rows::tables(head, &named));
        let recording = Recording::of_page(profile.finish(), runs, &tables);
        let symbolication = symbolication::read(&value);
        Ok(Self { recording, intervals: intervals::read(head, &columns)?, symbolication, head: text })
    }
}

/// Splits a payload into the head and the rest.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let length = usize::try_from(varint::read(&mut rest)?).ok()?;
    rest.split_at_checked(length)
}

fn check_version(head: &Value, damage: Damage<'_>) -> Result<(), Error> {
    if head["version"].as_u64() == Some(VERSION) {
        return Ok(());
    }
    let producer = head["producer"].as_str().unwrap_or("an unknown program");
    let text = format!("the page was written by {producer}; read it with that version, or write it again");
    Err(Error { kind: ErrorKind::NotAnExport(text), ..damage.in_head("") })
}
