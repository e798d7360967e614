//! Finds the columns of a CPU table that contain the parts of a sample, and checks that their types are supported.

use super::engineering_types::StackKind;
use super::layout::{Layout, Place, unknown};
use super::schema::SchemaColumn;
use crate::units::Unit;

#[derive(Clone, Copy, Debug)]
pub(super) struct StackColumn {
    pub(super) place: Place,
    pub(super) kind: StackKind,
}

/// The places of a sample's parts in a row.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) time: Place,
    pub(super) thread: Option<Place>,
    pub(super) process: Option<Place>,
    pub(super) core: Option<Place>,
    pub(super) state: Option<Place>,
    /// `None` in `time-sample`, where each row is one sample.
    pub(super) weight: Option<(Place, Unit)>,
    pub(super) stack: StackColumn,
    /// The kernel stack, if it has a separate column.
    pub(super) kernel_stack: Option<StackColumn>,
    pub(super) kind: Option<Place>,
    pub(super) counters: Option<Place>,
    /// Messages about columns that may contain a missing value under another name.
    pub(super) renamed: Vec<String>,
}

impl Columns {
    /// Finds the columns of a CPU table, or returns the reason why its rows cannot be samples.
    pub(super) fn of(layout: &Layout) -> Result<Self, String> {
        let optional = |mnemonic: &str, expected: &str| {
            layout.column(mnemonic).map(|_| layout.typed_column(mnemonic, &[expected])).transpose()
        };
        let stack = |mnemonic: &str| match layout.column(mnemonic) {
            None => Ok(None),
            Some((place, name)) => match StackKind::of_type(name) {
                Some(kind) => Ok(Some(StackColumn { place, kind })),
                None => Err(unknown(mnemonic, name)),
            },
        };
        let has = |mnemonic: &str| layout.column(mnemonic).is_some();
        let core = if has("core") { "core" } else { "core-index" };
        let own_stack = if has("stack") { "stack" } else { "cp-user-callstack" };
        let kernel_stack = stack("cp-kernel-callstack")?;
        Ok(Self {
            time: layout.typed_column("time", &["XRSampleTimestampTypeID"])?,
            thread: Some(layout.typed_column("thread", &["XRThreadTypeID"])?),
            process: optional("process", "XRProcessTypeID")?,
            core: optional(core, "XRCPUCoreTypeID")?,
            state: optional("thread-state", "XRThreadStateTypeID")?,
            weight: weight(layout)?,
            stack: stack(own_stack)?.ok_or("it has no stack column")?,
            renamed: renamed_stack(layout, own_stack, kernel_stack.is_some())
                .into_iter()
                .chain(OPTIONAL.iter().filter_map(|&(mnemonic, of_type)| {
                    renamed(layout, if mnemonic == "core" { core } else { mnemonic }, of_type)
                }))
                .collect(),
            kernel_stack,
            kind: optional("sample-type", "XRTimeSampleTypeID")?,
            counters: optional("counters-array", "XRCoreProfilePMCEventsArrayTypeID")?,
        })
    }
}

/// Optional columns; if a table lacks one, the value is absent.
const OPTIONAL: [(&str, &str); 5] = [
    ("process", "XRProcessTypeID"),
    ("core", "XRCPUCoreTypeID"),
    ("thread-state", "XRThreadStateTypeID"),
    ("counters-array", "XRCoreProfilePMCEventsArrayTypeID"),
    ("sample-type", "XRTimeSampleTypeID"),
];

/// The message if the missing kernel stack may be in a column with another name.
fn renamed_stack(layout: &Layout, own_stack: &str, has_kernel_stack: bool) -> Option<String> {
    let is_other =
        |column: &&SchemaColumn| column.mnemonic != own_stack && StackKind::of_type(&column.engineering_type).is_some();
    let other = layout.schema.columns.iter().find(is_other).filter(|_| !has_kernel_stack)?;
    Some(format!("its column {} also contains stacks, and is not read", other.mnemonic))
}

/// The message if a column is missing and another column has its type.
fn renamed(layout: &Layout, mnemonic: &str, engineering_type: &str) -> Option<String> {
    let is_of_type = |column: &&SchemaColumn| column.engineering_type == engineering_type;
    let other = layout.schema.columns.iter().find(is_of_type).filter(|_| layout.column(mnemonic).is_none())?;
    let other = &other.mnemonic;
    Some(format!("it has no column {mnemonic}, and its column {other}, which has the same type, is not read"))
}

fn weight(layout: &Layout) -> Result<Option<(Place, Unit)>, String> {
    match layout.column("weight") {
        Some((place, "XRTimeSampleWeightTypeID")) => Ok(Some((place, Unit::Nanoseconds))),
        Some((place, "XRCycleWeightTypeID")) => Ok(Some((place, Unit::Cycles))),
        Some((_, other)) => Err(unknown("weight", other)),
        None if layout.schema.name == "time-sample" => Ok(None),
        None => Err("it has no weight column".to_owned()),
    }
}
