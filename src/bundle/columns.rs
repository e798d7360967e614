//! Which columns of a CPU table hold what a sample needs, and whether they are of types that this crate knows.

use super::layout::{Layout, Place};
use super::stacks::StackKind;
use crate::units::Unit;

/// Where the parts of a sample are in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) time: Place,
    pub(super) thread: Option<Place>,
    pub(super) process: Option<Place>,
    pub(super) core: Option<Place>,
    pub(super) state: Option<Place>,
    /// `None` in `time-sample`, where a row is one sample.
    pub(super) weight: Option<(Place, Unit)>,
    pub(super) stack: (Place, StackKind),
    /// The stack in the kernel, where it has a column of its own.
    pub(super) kernel_stack: Option<(Place, StackKind)>,
    pub(super) kind: Option<Place>,
    pub(super) counters: Option<Place>,
}

impl Columns {
    /// The columns of a CPU table; else why its rows cannot be samples.
    pub(super) fn of(layout: &Layout) -> Result<Self, String> {
        let typed = |mnemonic: &str, expected: &str| match layout.column(mnemonic) {
            None => Ok(None),
            Some((place, known)) if known == expected => Ok(Some(place)),
            Some((_, other)) => Err(unknown(mnemonic, other)),
        };
        let stack = |mnemonic: &str| match layout.column(mnemonic) {
            None => Ok(None),
            Some((place, name)) => match StackKind::of_type(name) {
                Some(kind) => Ok(Some((place, kind))),
                None => Err(unknown(mnemonic, name)),
            },
        };
        let has = |mnemonic: &str| layout.column(mnemonic).is_some();
        let core = if has("core") { "core" } else { "core-index" };
        let own_stack = if has("stack") { "stack" } else { "cp-user-callstack" };
        let kernel_stack = stack("cp-kernel-callstack")?;
        Ok(Self {
            time: typed("time", "XRSampleTimestampTypeID")?.ok_or("it has no column of times")?,
            thread: Some(typed("thread", "XRThreadTypeID")?.ok_or("it has no column of threads")?),
            process: typed("process", "XRProcessTypeID")?,
            core: typed(core, "XRCPUCoreTypeID")?,
            state: typed("thread-state", "XRThreadStateTypeID")?,
            weight: weight(layout)?,
            stack: stack(own_stack)?.ok_or("it has no column of stacks")?,
            kernel_stack,
            kind: layout.column("sample-type").map(|(place, _)| place),
            counters: typed("counters-array", "XRCoreProfilePMCEventsArrayTypeID")?,
        })
    }
}

/// The column of weights and their unit.
fn weight(layout: &Layout) -> Result<Option<(Place, Unit)>, String> {
    match layout.column("weight") {
        Some((place, "XRTimeSampleWeightTypeID")) => Ok(Some((place, Unit::Nanoseconds))),
        Some((place, "XRCycleWeightTypeID")) => Ok(Some((place, Unit::Cycles))),
        Some((_, other)) => Err(unknown("weight", other)),
        None if layout.schema.name == "time-sample" => Ok(None),
        None => Err("it has no column of weights".to_owned()),
    }
}

/// Says that a column is of a type that is not known.
pub(super) fn unknown(mnemonic: &str, engineering_type: &str) -> String {
    format!("its column {mnemonic} is of type {engineering_type}, which this version cannot read")
}
