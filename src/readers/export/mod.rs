//! Reads the output of `xcrun xctrace export` from Xcode 12 to 27.
//!
//! A document contains tables; a row has one cell for each column of the schema:
//!
//! ```xml
//! <trace-query-result>
//! <node xpath='//trace-toc[1]/run[1]/data[1]/table[9]'><schema name="time-profile">
//!   <col><mnemonic>time</mnemonic>…</col><col><mnemonic>thread</mnemonic>…</col>…</schema>
//! <row><sample-time id="1" fmt="00:00.648.438">648438208</sample-time><thread id="2" fmt="main (0x51) (app, pid: 7)">…
//!   </thread><weight id="9" fmt="1.00 ms">1000000</weight><tagged-backtrace id="10"><frame id="11" name="run"
//!   addr="0x104bfc505"><binary id="12" name="app" UUID="…" load-addr="0x104bfc000" …/></frame>…</tagged-backtrace></row>
//! <row><sample-time id="21" fmt="00:00.649.439">649439375</sample-time><thread ref="2"/><weight ref="9"/>
//!   <tagged-backtrace ref="10"/></row>
//! </node></trace-query-result>
//! ```
//!
//! Rules that hold for every version:
//!
//! * An element has an `id` at the first use of its value, and is a `ref` to that id afterwards. Ids count 1, 2, 3 … over the complete
//!   document with all its tables and runs, including rows that are not read.
//! * Only `<sentinel/>` means that a value is absent: any other cell without a value rejects its row. A row with a sentinel as its stack
//!   still has a weight.
//! * A `ref` has the same kind as the element that defined its id. Each id is defined once.
//! * Numbers are in the text of elements; `fmt` is for display and depends on the locale.
//! * The shape of a stack decides how it is read, not the version: frames or fragments of addresses, unwrapped, wrapped once or wrapped twice.
//! * rows = samples + rejected, for every CPU table, with a reason for each rejection.
//!
//! ```
//! use traceparse::read;
//! use traceparse::recording::Options;
//!
//! let xml = r#"<?xml version="1.0"?>
//! <trace-query-result>
//! <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="time-profile"><col><mnemonic>time</mnemonic></col>
//! <col><mnemonic>weight</mnemonic></col><col><mnemonic>stack</mnemonic></col></schema>
//! <row><sample-time id="1" fmt="00:00.001">1000000</sample-time><weight id="2" fmt="1.00 ms">1000000</weight><backtrace
//! id="3"><frame id="4" name="work" addr="0x1001"/><frame id="5" name="main" addr="0x2004"/></backtrace></row>
//! </node></trace-query-result>"#;
//! let export = read(xml.as_bytes(), "export.xml", &Options::default())?;
//! assert_eq!(export.profile.samples().len(), 1);
//! let leaf = export.profile.frames_leaf_first(export.profile.samples()[0].stack).next().unwrap();
//! assert_eq!(export.profile.function_name(leaf.function), "work");
//! # Ok::<(), traceparse::Error>(())
//! ```

mod anomaly;
mod attributes;
mod blocks;
mod definitions;
mod display_names;
mod document;
mod feed;
mod id_map;
mod not_an_export;
mod pipeline;
mod position;
mod replay;
mod scan;
mod stacks;
mod table_ids;
mod table_rows;
mod tag;
mod tape;
mod toc;
mod value;

use std::io::Read;

use crate::error::{Diagnostic, Error};
use crate::profile::StringId;
use crate::recording::{Document, Options, RecordingBuilder};
use crate::tables::{SampleVisitor, TableVisitor};
use blocks::{Block, BlockReader};
use definitions::Definitions;
use document::{DocumentReader, Samples};
use feed::{Taken, take_block};
use position::Place;
use table_rows::TableRows;

/// Reads all documents of an input into a recording. `name` identifies the input in results and errors.
///
/// The source is read in large pieces, so it does not need a `BufReader`.
///
/// # Errors
/// If the input is not an export, is truncated or malformed, or exceeds a limit. Do not use the builder after an error.
pub(crate) fn read_into<R: Read + Send>(source: R, name: &str, recording: &mut RecordingBuilder) -> Result<(), Error> {
    if let Some(choice) = recording.options.table.clone() {
        return read_tables(source, name, recording, &mut SampleVisitor::new(&choice));
    }
    let input = recording.start_input(name)?;
    let options = recording.options.clone();
    let mut definitions = Definitions::new(std::mem::take(recording));
    let result = read_documents(source, name, &mut definitions, &options, input);
    *recording = definitions.recording;
    let (documents, noted) = result?;
    recording.end_input(documents, noted);
    Ok(())
}

/// Passes the rows of all tables of an export to a visitor. Adds the objects that rows refer to, and the samples that the visitor creates, to
/// the recording. `name` identifies the input in results and errors.
///
/// # Errors
/// As [`read_into`], and if the visitor fails.
pub(crate) fn read_tables(
    source: impl Read,
    name: &str,
    recording: &mut RecordingBuilder,
    visitor: &mut dyn TableVisitor,
) -> Result<(), Error> {
    let input = recording.start_input(name)?;
    let options = recording.options.clone();
    let mut definitions = Definitions::new(std::mem::take(recording));
    let result = read_rows(source, name, TableRows::new(&mut definitions, input, visitor), &options);
    *recording = definitions.recording;
    let (documents, noted) = result?;
    if !visitor.makes_samples() {
        noted.iter().for_each(|note| visitor.note(note.clone()));
    }
    recording.end_input(documents, noted);
    Ok(())
}

fn read_rows(
    source: impl Read,
    name: &str,
    rows: TableRows<'_>,
    options: &Options,
) -> Result<(Vec<Document>, Vec<Diagnostic>), Error> {
    let mut reader = DocumentReader::new(rows, options, name);
    let (mut place, mut block) = (Place::new(name, options), Block::default());
    let mut blocks = BlockReader::new(source, options.buffer_size);
    loop {
        blocks.read(&mut block);
        let taken = take_block(&mut reader, &mut place, &mut block, 0, |reader, block| {
            Taken::default().read(reader, block, |_, _| Ok(()))
        });
        if let Some(failure) = reader.content.failure.take() {
            return Err(failure);
        }
        if taken?.is_some() {
            return Ok((std::mem::take(&mut reader.documents), reader.notes.take()));
        }
    }
}

fn read_documents<R: Read + Send>(
    source: R,
    name: &str,
    definitions: &mut Definitions,
    options: &Options,
    input: StringId,
) -> Result<(Vec<Document>, Vec<Diagnostic>), Error> {
    let mut reader = DocumentReader::new(Samples::new(definitions, input), options, name);
    let read = pipeline::read_documents(source, name, &mut reader, options)?;
    let found = (std::mem::take(&mut reader.documents), reader.notes.take());
    definitions.recording.bytes += read;
    Ok(found)
}
