//! The payload: a recording as columns, which the script of the page reads.
//!
//! ```text
//! "TPWB" ─► length of the head (LEB128) ─► head (JSON) ─► lengths of the texts ─► the texts (UTF-8) ─► columns in the order of the head
//! ```
//!
//! The payload is streamed. Memory contains the order of the samples and a number for each sample and each stack, four bytes each. If samples are
//! merged, it also contains the merged rows, and the values of performance counters, eight bytes each. `docs/workbench.md` describes every field.

use std::io::{self, Write};

use super::columns::Column;
use super::head::head;
use super::intervals::PageIntervals;
use super::reduction::WorkbenchReduction;
use super::rows::Rows;
use super::titles::Titles;
use crate::hash::{HashMap, IndexSet};
use crate::profile::{FrameId, Profile, SampleKind, Stack, StackId, StringId};
use crate::recording::Intervals;
use crate::report::Report;
use crate::varint;

const MAGIC: &[u8; 4] = b"TPWB";

/// The content of a payload.
#[derive(Clone, Copy)]
pub(super) struct Content<'c, 'e> {
    pub(super) report: &'c Report<'e>,
    pub(super) intervals: &'c Intervals,
    pub(super) titles: &'c Titles,
}

/// Writes the uncompressed payload of a report.
pub(super) fn write(content: Content<'_, '_>, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
    made(content, reduction, |made| made.write(&content.report.recording.profile, out))
}

/// Returns the uncompressed payload of a report. Fails before writing anything if its size exceeds the memory budget.
pub(super) fn bytes(content: Content<'_, '_>, reduction: WorkbenchReduction) -> io::Result<Vec<u8>> {
    let profile = &content.report.recording.profile;
    made(content, reduction, |made| {
        let size = made.size(profile);
        let _reserved = profile.budget().reserve(size).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(size as usize);
        made.write(profile, &mut bytes)?;
        Ok(bytes)
    })
}

/// Writes everything except the columns of rows. Apart from some numbers in the head, it is the same for every reduction.
pub(super) fn write_recording(content: Content<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = &content.report.recording.profile;
    made(content, WorkbenchReduction::None, |made| made.write_recording(profile, out))
}

/// Writes only the columns of rows.
pub(super) fn write_rows(report: &Report<'_>, reduction: WorkbenchReduction, out: &mut dyn Write) -> io::Result<()> {
    let rows = Rows::new(report, reduction);
    let stacks = SampledStacks::new(&report.recording.profile, rows.iter().map(|row| row.stack));
    of_rows(&rows, &stacks).iter().try_for_each(|column| column.write(out))
}

/// The number of bytes that [`write`] writes.
pub(super) fn size(content: Content<'_, '_>, reduction: WorkbenchReduction) -> io::Result<u64> {
    let profile = &content.report.recording.profile;
    made(content, reduction, |made| Ok(made.size(profile)))
}

/// A payload that is ready to be written.
struct Made<'m, 'c> {
    /// The bytes up to the end of the head.
    start: &'m [u8],
    /// The columns of functions, frames, stacks and intervals, which follow the column of strings.
    recording: &'m [Column<'c>],
    rows: &'m [Column<'c>],
    texts: &'m Texts,
}

impl Made<'_, '_> {
    fn size(&self, profile: &Profile) -> u64 {
        let texts: usize = self.texts.ids.iter().map(|&id| profile.string(id).len()).sum();
        let columns: u64 = self.recording.iter().chain(self.rows).map(Column::bytes).sum();
        columns + (self.start.len() + texts) as u64
    }

    fn write(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        self.write_recording(profile, out)?;
        self.rows.iter().try_for_each(|column| column.write(out))
    }

    fn write_recording(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.start)?;
        let (lengths, columns) = self.recording.split_at(1);
        lengths.iter().try_for_each(|column| column.write(out))?;
        self.texts.ids.iter().try_for_each(|&id| out.write_all(profile.string(id).as_bytes()))?;
        columns.iter().try_for_each(|column| column.write(out))
    }
}

/// Prepares the payload and passes it to a closure.
fn made<T>(
    Content { report, intervals, titles }: Content<'_, '_>,
    reduction: WorkbenchReduction,
    done: impl FnOnce(&Made<'_, '_>) -> io::Result<T>,
) -> io::Result<T> {
    let profile = &report.recording.profile;
    let (rows, texts, callees) = (Rows::new(report, reduction), Texts::new(profile), Callees::new(profile));
    let stacks = SampledStacks::new(profile, rows.iter().map(|row| row.stack));
    let shown = PageIntervals::new(report.recording, intervals);
    let lengths = Column::new("texts.length", || texts.ids.iter().map(|&id| profile.string(id).len() as u64));
    let mut columns: Vec<Column<'_>> = [lengths].into_iter().chain(of_profile(profile, &texts, &callees)).collect();
    columns.extend(shown.columns());
    let recorded = columns.len();
    columns.extend(of_rows(&rows, &stacks));
    let head =
        serde_json::to_vec(&head((report, titles), (&shown, &intervals.hang_risks), &rows, reduction, &columns)?)?;
    let mut start = MAGIC.to_vec();
    varint::write(&mut start, head.len() as u64);
    start.extend(head);
    let (recording, rows) = columns.split_at(recorded);
    done(&Made { start: &start, recording, rows, texts: &texts })
}

/// The columns of functions, frames and stacks.
pub(super) fn of_profile<'c>(profile: &'c Profile, texts: &'c Texts, callees: &'c Callees) -> Vec<Column<'c>> {
    let functions = || profile.function_ids().map(|id| profile.function(id));
    let frames = || profile.frame_ids().map(|id| profile.frame(id));
    vec![
        mapped("functions.name", functions, |row| texts.place(row.name)),
        mapped("functions.binary", functions, |row| optional(row.binary.map(|id| id.index()))),
        mapped("functions.named", functions, |row| u64::from(row.is_named)),
        mapped("frames.function", frames, |row| row.function.index() as u64),
        mapped("frames.binary", frames, |row| optional(row.binary.map(|id| id.index()))),
        mapped("frames.address", frames, |row| row.address.get()),
        mapped("frames.path", frames, |row| row.source.map_or(0, |source| texts.place(source.path) + 1)),
        mapped("frames.line", frames, |row| row.source.map_or(0, |source| u64::from(source.line))),
        mapped("frames.inlined", frames, |row| u64::from(row.is_inlined)),
        Column::new("stacks.parent", move || {
            // Most stacks directly follow their parent, at a distance of 1; 0 means that there is no parent.
            let distance =
                |(index, stack): (usize, Stack)| stack.parent.map_or(0, |parent| (index - parent.index()) as u64);
            profile.stack_ids().map(|id| profile.stack(id)).enumerate().map(distance)
        }),
        listed("stacks.callee", &callees.places),
        listed("stacks.new_frame", &callees.frames),
    ]
}

/// The columns of samples or sums.
pub(super) fn of_rows<'c>(rows: &'c Rows<'c>, stacks: &'c SampledStacks) -> Vec<Column<'c>> {
    let counters = rows.counters.kept().iter().enumerate();
    let counters = counters.map(|(place, counter)| {
        Column::new(format!("samples.counter.{}", counter + 1), move || rows.counters.of(place))
    });
    let each = || rows.iter();
    let columns = vec![
        mapped("samples.time", each, |row| row.time),
        mapped("samples.weight", each, |row| row.weight),
        mapped("samples.count", each, |row| row.samples),
        mapped("samples.thread", each, |row| row.thread as u64),
        listed("samples.stack", &stacks.places),
        listed("samples.new_stack", &stacks.stacks),
        mapped("samples.state", each, |row| row.state.map_or(0, |state| rows.place_of_state(state) + 1)),
        mapped("samples.core", each, |row| optional(row.core.map(|id| id.index()))),
        mapped("samples.kind", each, |row| match row.kind {
            SampleKind::Periodic => 0,
            SampleKind::EveryThread => 1,
            SampleKind::EveryThreadLightweight => 2,
            SampleKind::Stackshot => 3,
            SampleKind::Other => 4,
        }),
    ];
    columns.into_iter().chain(counters).collect()
}

fn listed<'c>(name: &'static str, values: &'c [u32]) -> Column<'c> {
    Column::new(name, move || values.iter().map(|&value| u64::from(value)))
}

fn optional(index: Option<usize>) -> u64 {
    index.map_or(0, |index| index as u64 + 1)
}

/// Creates a column with one value per row.
fn mapped<'c, R: 'c, I: Iterator<Item = R> + 'c>(
    name: &'static str,
    rows: impl Fn() -> I + 'c,
    value: impl Fn(R) -> u64 + Clone + 'c,
) -> Column<'c> {
    Column::new(name, move || rows().map(value.clone()))
}

/// The strings that columns refer to, in the order of first use.
pub(super) struct Texts {
    pub(super) ids: IndexSet<StringId>,
}

impl Texts {
    pub(super) fn new(profile: &Profile) -> Self {
        let names = profile.function_ids().map(|id| profile.function(id).name);
        let paths = profile.frame_ids().filter_map(|id| Some(profile.frame(id).source?.path));
        Self { ids: names.chain(paths).collect() }
    }

    /// The index of a string.
    pub(super) fn place(&self, id: StringId) -> u64 {
        self.ids.get_index_of(&id).unwrap_or_default() as u64
    }
}

/// The frames of stacks, numbered separately for each calling frame.
#[derive(Default)]
pub(super) struct Callees {
    /// By stack: the number of its frame, from 1, among the frames that the parent's frame (or the thread, for stacks without a parent) has
    /// called so far; 0 if it calls the frame for the first time.
    pub(super) places: Vec<u32>,
    /// The frames of the stacks whose place is 0.
    pub(super) frames: Vec<u32>,
}

impl Callees {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut callees = Self::default();
        let mut place_of: HashMap<(Option<FrameId>, FrameId), u32> = HashMap::default();
        let mut counts: HashMap<Option<FrameId>, u32> = HashMap::default();
        for id in profile.stack_ids() {
            let stack = profile.stack(id);
            let caller = stack.parent.map(|parent| profile.stack(parent).frame);
            let place = place_of.get(&(caller, stack.frame)).copied().unwrap_or_default();
            if place == 0 {
                let count = counts.entry(caller).or_default();
                *count += 1;
                place_of.insert((caller, stack.frame), *count);
                callees.frames.push(stack.frame.index() as u32);
            }
            callees.places.push(place);
        }
        callees
    }
}

/// The stacks of samples, numbered by recency.
#[derive(Default)]
pub(super) struct SampledStacks {
    /// By row: 0 without a stack; 1 for a stack that no earlier row has; otherwise 2 plus the number of stacks that first occurred after this one.
    pub(super) places: Vec<u32>,
    /// The stacks of the rows with a new stack.
    pub(super) stacks: Vec<u32>,
}

impl SampledStacks {
    pub(super) fn new(profile: &Profile, rows: impl Iterator<Item = Option<StackId>>) -> Self {
        let mut sampled = Self::default();
        // By stack: its number, from 1, among the stacks of samples; 0 before its first sample.
        let mut number_of = vec![0_u32; profile.stack_ids().len()];
        for stack in rows {
            let Some(stack) = stack else {
                sampled.places.push(0);
                continue;
            };
            let count = sampled.stacks.len() as u32;
            let number = &mut number_of[stack.index()];
            if *number == 0 {
                *number = count + 1;
                sampled.stacks.push(stack.index() as u32);
                sampled.places.push(1);
            } else {
                sampled.places.push(count - *number + 2);
            }
        }
        sampled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{FrameKey, ProfileBuilder};
    use crate::units::Address;

    /// A profile of stacks with these parents and frames.
    fn profile(rows: &[(Option<usize>, u64)]) -> Profile {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("name").unwrap();
        let function = builder.function(name, None, true).unwrap();
        let mut stacks: Vec<StackId> = Vec::new();
        for &(parent, address) in rows {
            let address = Address::new(address);
            let key = FrameKey { function, binary: None, address, source: None, is_inlined: false, group: 0 };
            let frame = builder.frame(key).unwrap();
            stacks.push(builder.stack(parent.map(|parent| stacks[parent]), frame).unwrap());
        }
        builder.finish()
    }

    #[test]
    fn a_frame_is_named_once_by_each_caller() {
        // main, main › run, main › run › main, main › run › main › run, main › run › run, run
        let profile = profile(&[(None, 1), (Some(0), 2), (Some(1), 1), (Some(2), 2), (Some(1), 2), (None, 2)]);
        let callees = Callees::new(&profile);
        assert_eq!(callees.places, [0, 0, 0, 1, 0, 0]);
        assert_eq!(callees.frames, [0, 1, 0, 1, 1]);
    }

    #[test]
    fn identifies_a_stack_by_its_recency() {
        let profile = profile(&[(None, 1), (None, 2), (None, 3)]);
        let ids: Vec<StackId> = profile.stack_ids().collect();
        let rows = [Some(ids[2]), None, Some(ids[2]), Some(ids[0]), Some(ids[2]), Some(ids[0])];
        let sampled = SampledStacks::new(&profile, rows.into_iter());
        assert_eq!(sampled.places, [1, 0, 2, 1, 3, 2]);
        assert_eq!(sampled.stacks, [2, 0]);
    }
}
