//! Stretches of time that a recording names: intervals of signposts, and potential hangs.
//!
//! Several tables have them. Instruments writes an interval of signposts as one row of `os-signpost-interval` (and some
//! instruments of Xcode 27 of `OSSignpostIntervals`), and as two rows of `os-signpost`, which are paired here:
//!
//! ```xml
//! <row><start-time id="1" …>573703666</start-time><duration id="2" …>21779500</duration><layout-id …/><string id="4"
//!   fmt="Layout">Layout</string><category …/><subsystem …/><os-signpost-identifier id="7" fmt="0x7">7</os-signpost-identifier>…</row>
//! <row><event-time …>573703666</event-time><thread …/><process …/><event-type id="7" fmt="Begin">Begin</event-type>…</row>
//! <row><start-time …>4933931583</start-time><duration …>234838875</duration><hang-type id="3" fmt="Hang">Hang</hang-type>…</row>
//! ```
//!
//! Points of interest are repeated in `region-of-interest`. In addition to hangs, `hang-risks` contains moments that may lead to hangs.
//!
//! Columns are identified by the mnemonics of the schema. All other tables are skipped, except for elements that a row may refer to: ids
//! are numbered over the complete document.
//!
//! ```
//! use traceparse::recording::{Intervals, Options};
//!
//! let xml = r#"<?xml version="1.0"?>
//! <trace-query-result>
//! <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="potential-hangs"><col><mnemonic>start</mnemonic></col>
//! <col><mnemonic>duration</mnemonic></col><col><mnemonic>hang-type</mnemonic></col></schema>
//! <row><start-time id="1">2000</start-time><duration id="2">500</duration><hang-type id="3">Hang</hang-type></row>
//! </node></trace-query-result>"#;
//! let found = Intervals::read(xml.as_bytes(), "hangs.xml", &Options::default())?;
//! let hang = &found.intervals[0];
//! assert_eq!((hang.start.as_nanos(), hang.end.map(|end| end.as_nanos())), (2_000, Some(2_500)));
//! assert_eq!(hang.hang_type.as_deref(), Some("Hang"));
//! # Ok::<(), traceparse::Error>(())
//! ```

mod content;
mod rows;

use std::io::Read;

use super::blocks::{Block, BlockReader};
use super::document::DocumentReader;
use super::feed::{Taken, take_block};
use super::position::Place;
use crate::error::Error;
use crate::recording::{Intervals, Options};
use content::FoundIntervals;

/// Reads the intervals and hang risks of an export with all its documents. `input` is how results and errors call it.
///
/// Rows that cannot be read are diagnostics, and are counted. An interval without a recorded end has no end. Only the options
/// `buffer_size`, `allow_truncated` and the limits are used. Exports without such tables, and tables of contents, have no intervals.
///
/// # Errors
/// As [`read_into`](super::read_into).
pub(crate) fn read_intervals(source: impl Read, input: &str, options: &Options) -> Result<Intervals, Error> {
    let mut reader = DocumentReader::new(FoundIntervals::new(input, &options.memory), options, input);
    let (mut place, mut block) = (Place::new(input, options), Block::default());
    let mut blocks = BlockReader::new(source, options.buffer_size);
    loop {
        blocks.read(&mut block);
        let taken = take_block(&mut reader, &mut place, &mut block, 0, |reader, block| {
            Taken::default().read(reader, block, |_, _| Ok(()))
        });
        if taken?.is_some() {
            return Ok(reader.content.into_intervals(reader.notes.take()));
        }
    }
}
