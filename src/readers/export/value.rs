//! The values that elements of an export decode to.

use crate::profile::{BinaryId, CoreId, FrameId, SampleKind, SourceLine, StackId, StringId};
use crate::recording::RejectReason;

/// The value of an element. Small and `Copy`: children are collected by value until their parent closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// `<sentinel/>`: the column has no value in this row.
    Absent,
    /// An element that plays no part in CPU samples.
    Other,
    /// An element that may be next to frames and carries no information.
    Companion,
    /// A time in nanoseconds.
    Time(u64),
    /// A weight in nanoseconds.
    Nanos(u64),
    /// A weight in cycles.
    Cycles(u64),
    /// A weight in events of a performance counter.
    PmcEvents(u64),
    /// Counter values; an index of [`Definitions::number_lists`](super::definitions::Definitions).
    Counters(u32),
    /// A thread's number.
    Tid(u64),
    /// A process's number.
    Pid(u64),
    /// A process; an index of [`Definitions::processes`](super::definitions::Definitions).
    Process(u32),
    /// A thread; an index of [`Definitions::threads`](super::definitions::Definitions).
    Thread(u32),
    /// A core.
    Core(CoreId),
    /// A thread state.
    State(StringId),
    /// The source of a `time-sample`.
    Kind(SampleKind),
    /// A binary at its load address.
    Binary(BinaryId),
    /// The path of a source file.
    Path(StringId),
    /// A source line.
    Source(SourceLine),
    /// A frame.
    Frame(FrameId),
    /// A code address (`text-address`).
    Address(u64),
    /// Code addresses; an index of [`Definitions::number_lists`](super::definitions::Definitions).
    Addresses(u32),
    /// A stack; `None` has no frames.
    Stack(Option<StackId>),
    /// An element that could not be read; rows that use it are rejected.
    Bad(RejectReason),
}
