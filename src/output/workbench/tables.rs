//! The columns of a payload, in the order in which they are written. Row numbers of other tables start at 0. If a value may be missing, 0
//! means missing, and other values are increased by one.

use super::columns::Column;
use super::rows::{Row, Rows};
use super::stacks::{Callees, SampledStacks};
use crate::calltree::is_idle;
use crate::hash::IndexSet;
use crate::profile::{Frame, FrameId, Function, FunctionId, Profile, SampleKind, Stack, StringId};
use crate::report::{is_entry_point, is_run_loop};

/// A function with a real name; without one it is named by its address.
const IS_NAMED: u64 = 1;
/// A function in which threads wait.
const IS_IDLE: u64 = 2;
/// A function named as one in which a run loop of the system waits and calls others.
const IS_RUN_LOOP: u64 = 4;
/// A function named as one where a program starts.
const IS_ENTRY_POINT: u64 = 8;

/// The columns of functions, frames and stacks.
pub(super) fn of_profile<'c>(profile: &'c Profile, texts: &'c Texts, callees: &'c Callees) -> Vec<Column<'c>> {
    vec![
        function_column("functions.name", profile, |row| texts.place(row.name)),
        function_column("functions.binary", profile, |row| optional(row.binary.map(|id| id.index()))),
        function_column("functions.flags", profile, |row| {
            let name = profile.string(row.name);
            u64::from(row.is_named) * IS_NAMED
                + u64::from(is_idle(name)) * IS_IDLE
                + u64::from(is_run_loop(name)) * IS_RUN_LOOP
                + u64::from(is_entry_point(name)) * IS_ENTRY_POINT
        }),
        frame_column("frames.function", profile, |row| row.function.index() as u64),
        frame_column("frames.binary", profile, |row| optional(row.binary.map(|id| id.index()))),
        frame_column("frames.address", profile, |row| row.address.get()),
        frame_column("frames.path", profile, |row| row.source.map_or(0, |source| texts.place(source.path) + 1)),
        frame_column("frames.line", profile, |row| row.source.map_or(0, |source| u64::from(source.line))),
        frame_column("frames.inlined", profile, |row| u64::from(row.is_inlined)),
        Column::new("stacks.parent", move || {
            // Most stacks directly follow their parent, with a distance of 1; 0 means no parent.
            let distance =
                |(index, stack): (usize, Stack)| stack.parent.map_or(0, |parent| (index - parent.index()) as u64);
            profile.stack_ids().map(|id| profile.stack(id)).enumerate().map(distance)
        }),
        listed("stacks.callee", &callees.places),
        listed("stacks.new_frame", &callees.frames),
    ]
}

/// The columns of samples, or of their sums.
pub(super) fn of_rows<'c>(rows: &'c Rows<'c>, stacks: &'c SampledStacks) -> Vec<Column<'c>> {
    let counters = rows.counters.kept().iter().enumerate();
    let counters = counters.map(|(place, counter)| {
        Column::new(format!("samples.counter.{}", counter + 1), move || rows.counters.of(place))
    });
    let columns = vec![
        row_column("samples.time", rows, |row| row.time),
        row_column("samples.weight", rows, |row| row.weight),
        row_column("samples.count", rows, |row| row.samples),
        row_column("samples.thread", rows, |row| row.thread as u64),
        listed("samples.stack", &stacks.places),
        listed("samples.new_stack", &stacks.stacks),
        row_column("samples.state", rows, |row| row.state.map_or(0, |state| rows.place_of_state(state) + 1)),
        row_column("samples.core", rows, |row| optional(row.core.map(|id| id.index()))),
        row_column("samples.kind", rows, |row| match row.kind {
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

fn function_column<'c>(
    name: &'static str,
    profile: &'c Profile,
    value: impl Fn(&Function) -> u64 + Clone + 'c,
) -> Column<'c> {
    Column::new(name, move || {
        let value = value.clone();
        profile.function_ids().map(move |id: FunctionId| value(profile.function(id)))
    })
}

fn frame_column<'c>(
    name: &'static str,
    profile: &'c Profile,
    value: impl Fn(&Frame) -> u64 + Clone + 'c,
) -> Column<'c> {
    Column::new(name, move || {
        let value = value.clone();
        profile.frame_ids().map(move |id: FrameId| value(profile.frame(id)))
    })
}

fn row_column<'c>(name: &'static str, rows: &'c Rows<'c>, value: impl Fn(&Row) -> u64 + Clone + 'c) -> Column<'c> {
    Column::new(name, move || {
        let value = value.clone();
        rows.iter().map(move |row| value(&row))
    })
}

/// The strings that columns refer to, in the order of their first use.
pub(super) struct Texts {
    pub(super) ids: IndexSet<StringId>,
}

impl Texts {
    pub(super) fn new(profile: &Profile) -> Self {
        let names = profile.function_ids().map(|id| profile.function(id).name);
        let paths = profile.frame_ids().filter_map(|id| Some(profile.frame(id).source?.path));
        Self { ids: names.chain(paths).collect() }
    }

    /// The number of a string.
    pub(super) fn place(&self, id: StringId) -> u64 {
        self.ids.get_index_of(&id).unwrap_or_default() as u64
    }
}
