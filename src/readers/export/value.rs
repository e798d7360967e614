//! Packs a [`Value`] into 8 bytes.
//!
//! ```text
//! bits 63 … 5   payload: a number, an index, or an id's index
//! bits  4 … 0   kind, from 1; a word of 0 is no value
//! ```
//!
//! A document defines millions of values. Almost all fit: a time of up to 18 years, any id, a source line below 2²⁷. A value that does not
//! fit is stored in a separate list, and its word contains the index.

use crate::profile::{BinaryId, CoreId, FrameId, SampleKind, SourceLine, StackId, StringId};
use crate::recording::RejectReason;

/// The value of an element. It is small and `Copy`, since children are collected by value until their parent closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// `<sentinel/>`: the column has no value in this row.
    Absent,
    /// An element that CPU samples do not use.
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
    /// A thread's tid.
    Tid(u64),
    /// A process's pid.
    Pid(u64),
    /// A process; an index of [`Definitions::processes`](super::definitions::Definitions).
    Process(u32),
    /// A thread; an index of [`Definitions::threads`](super::definitions::Definitions).
    Thread(u32),
    Core(CoreId),
    State(StringId),
    /// What triggered a `time-sample`.
    Kind(SampleKind),
    /// A binary at its load address.
    Binary(BinaryId),
    /// The path of a source file.
    Path(StringId),
    Source(SourceLine),
    Frame(FrameId),
    /// A code address (`text-address`).
    Address(u64),
    /// Code addresses; an index of [`Definitions::number_lists`](super::definitions::Definitions).
    Addresses(u32),
    /// A stack; `None` if it has no frames.
    Stack(Option<StackId>),
    /// An unreadable element; rows that use it are rejected.
    Bad(RejectReason),
}

/// The number of bits for the kind.
const KIND_BITS: u32 = 5;

/// The number of bits for a source line. The path uses the remaining bits of the payload.
const LINE_BITS: u32 = 64 - KIND_BITS - 32;

/// The kinds of values in a word.
mod kind {
    pub(super) const ABSENT: u64 = 1;
    pub(super) const OTHER: u64 = 2;
    pub(super) const COMPANION: u64 = 3;
    pub(super) const TIME: u64 = 4;
    pub(super) const NANOS: u64 = 5;
    pub(super) const CYCLES: u64 = 6;
    pub(super) const PMC_EVENTS: u64 = 7;
    pub(super) const COUNTERS: u64 = 8;
    pub(super) const TID: u64 = 9;
    pub(super) const PID: u64 = 10;
    pub(super) const PROCESS: u64 = 11;
    pub(super) const THREAD: u64 = 12;
    pub(super) const CORE: u64 = 13;
    pub(super) const STATE: u64 = 14;
    pub(super) const SAMPLE_KIND: u64 = 15;
    pub(super) const BINARY: u64 = 16;
    pub(super) const PATH: u64 = 17;
    pub(super) const SOURCE: u64 = 18;
    pub(super) const FRAME: u64 = 19;
    pub(super) const ADDRESS: u64 = 20;
    pub(super) const ADDRESSES: u64 = 21;
    pub(super) const STACK: u64 = 22;
    pub(super) const STACK_ABSENT: u64 = 23;
    pub(super) const BAD: u64 = 24;
    /// The payload is an index into the list of values that do not fit.
    pub(super) const LARGE: u64 = 25;
}

/// An optional [`Value`] in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed(u64);

impl Packed {
    /// No value.
    pub(super) const NONE: Self = Self(0);

    /// Packs `value`; if it does not fit, adds it to `large`.
    #[inline(always)]
    pub(super) fn new(value: Value, large: &mut Vec<Value>) -> Self {
        let (kind, payload) = parts(value);
        if payload >> (64 - KIND_BITS) == 0 {
            return Self(payload << KIND_BITS | kind);
        }
        large.push(value);
        Self((large.len() as u64 - 1) << KIND_BITS | kind::LARGE)
    }

    /// Returns the frame, if this is one.
    #[inline(always)]
    pub(super) fn frame(self) -> Option<FrameId> {
        let is_frame = self.0 & ((1 << KIND_BITS) - 1) == kind::FRAME;
        if is_frame { FrameId::from_index((self.0 >> KIND_BITS) as usize) } else { None }
    }

    /// Returns the stack, if this is one; it may have no frames (`None`).
    #[inline(always)]
    pub(super) fn stack(self) -> Option<Option<StackId>> {
        match self.0 & ((1 << KIND_BITS) - 1) {
            kind::STACK => Some(StackId::from_index((self.0 >> KIND_BITS) as usize)),
            kind::STACK_ABSENT => Some(None),
            _ => None,
        }
    }

    /// Unpacks the value. `large` is the list passed to [`new`](Self::new).
    #[inline]
    pub(super) fn value(self, large: &[Value]) -> Option<Value> {
        let payload = self.0 >> KIND_BITS;
        let (number, index) = (payload as u32, payload as usize);
        Some(match self.0 & ((1 << KIND_BITS) - 1) {
            kind::FRAME => Value::Frame(FrameId::from_index(index)?),
            kind::ABSENT => Value::Absent,
            kind::OTHER => Value::Other,
            kind::COMPANION => Value::Companion,
            kind::TIME => Value::Time(payload),
            kind::NANOS => Value::Nanos(payload),
            kind::CYCLES => Value::Cycles(payload),
            kind::PMC_EVENTS => Value::PmcEvents(payload),
            kind::COUNTERS => Value::Counters(number),
            kind::TID => Value::Tid(payload),
            kind::PID => Value::Pid(payload),
            kind::PROCESS => Value::Process(number),
            kind::THREAD => Value::Thread(number),
            kind::CORE => Value::Core(CoreId::from_index(index)?),
            kind::STATE => Value::State(StringId::from_index(index)?),
            kind::SAMPLE_KIND => Value::Kind(*SAMPLE_KINDS.get(index)?),
            kind::BINARY => Value::Binary(BinaryId::from_index(index)?),
            kind::PATH => Value::Path(StringId::from_index(index)?),
            kind::SOURCE => {
                let path = StringId::from_index(index >> LINE_BITS)?;
                Value::Source(SourceLine { path, line: number & ((1 << LINE_BITS) - 1) })
            }
            kind::ADDRESS => Value::Address(payload),
            kind::ADDRESSES => Value::Addresses(number),
            kind::STACK => Value::Stack(Some(StackId::from_index(index)?)),
            kind::STACK_ABSENT => Value::Stack(None),
            kind::BAD => Value::Bad(*RejectReason::ALL.get(index)?),
            kind::LARGE => *large.get(index)?,
            _ => return None,
        })
    }
}

/// Sample kinds, by their number in a payload.
const SAMPLE_KINDS: [SampleKind; 5] = [
    SampleKind::Periodic,
    SampleKind::EveryThread,
    SampleKind::EveryThreadLightweight,
    SampleKind::Stackshot,
    SampleKind::Other,
];

/// Returns the kind and payload of a value. A payload fits unless one of its upper [`KIND_BITS`] bits is set.
#[inline(always)]
fn parts(value: Value) -> (u64, u64) {
    match value {
        Value::Absent => (kind::ABSENT, 0),
        Value::Other => (kind::OTHER, 0),
        Value::Companion => (kind::COMPANION, 0),
        Value::Time(number) => (kind::TIME, number),
        Value::Nanos(number) => (kind::NANOS, number),
        Value::Cycles(number) => (kind::CYCLES, number),
        Value::PmcEvents(number) => (kind::PMC_EVENTS, number),
        Value::Counters(list) => (kind::COUNTERS, u64::from(list)),
        Value::Tid(number) => (kind::TID, number),
        Value::Pid(number) => (kind::PID, number),
        Value::Process(index) => (kind::PROCESS, u64::from(index)),
        Value::Thread(index) => (kind::THREAD, u64::from(index)),
        Value::Core(id) => (kind::CORE, id.index() as u64),
        Value::State(id) => (kind::STATE, id.index() as u64),
        Value::Kind(kind) => (kind::SAMPLE_KIND, kind as u64),
        Value::Binary(id) => (kind::BINARY, id.index() as u64),
        Value::Path(id) => (kind::PATH, id.index() as u64),
        Value::Source(SourceLine { path, line }) if line >> LINE_BITS == 0 => {
            (kind::SOURCE, (path.index() as u64) << LINE_BITS | u64::from(line))
        }
        Value::Source(_) => (kind::LARGE, u64::MAX),
        Value::Frame(id) => (kind::FRAME, id.index() as u64),
        Value::Address(number) => (kind::ADDRESS, number),
        Value::Addresses(list) => (kind::ADDRESSES, u64::from(list)),
        Value::Stack(Some(id)) => (kind::STACK, id.index() as u64),
        Value::Stack(None) => (kind::STACK_ABSENT, 0),
        Value::Bad(reason) => (kind::BAD, reason as u64),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values of every kind, with this number and this index.
    fn values(number: u64, index: u32) -> Vec<Value> {
        let row = (index as usize).min(u32::MAX as usize - 1);
        let string = StringId::from_index(row).unwrap();
        let mut values = vec![
            Value::Absent,
            Value::Other,
            Value::Companion,
            Value::Time(number),
            Value::Nanos(number),
            Value::Cycles(number),
            Value::PmcEvents(number),
            Value::Counters(index),
            Value::Tid(number),
            Value::Pid(number),
            Value::Process(index),
            Value::Thread(index),
            Value::Core(CoreId::from_index(row).unwrap()),
            Value::State(string),
            Value::Binary(BinaryId::from_index(row).unwrap()),
            Value::Path(string),
            Value::Source(SourceLine { path: string, line: number as u32 }),
            Value::Source(SourceLine { path: string, line: number as u32 >> (32 - LINE_BITS) }),
            Value::Frame(FrameId::from_index(row).unwrap()),
            Value::Address(number),
            Value::Addresses(index),
            Value::Stack(StackId::from_index(row)),
            Value::Stack(None),
        ];
        values.extend(SAMPLE_KINDS.map(Value::Kind));
        values.extend(RejectReason::ALL.map(Value::Bad));
        values
    }

    fn check(number: u64, index: u32) {
        let mut large = Vec::new();
        let values = values(number, index);
        let words: Vec<Packed> = values.iter().map(|&value| Packed::new(value, &mut large)).collect();
        for (value, word) in values.into_iter().zip(words) {
            assert_eq!(word.value(&large), Some(value), "{word:?}");
            assert_ne!(word, Packed::NONE);
        }
    }

    #[test]
    fn every_value_comes_back() {
        assert_eq!(Packed::NONE.value(&[Value::Absent]), None);
        let fits = u64::MAX >> KIND_BITS;
        for number in
            [0, 1, 31, 32, u64::from(u32::MAX), 1 << LINE_BITS, (1 << LINE_BITS) - 1, fits, fits + 1, u64::MAX]
        {
            for index in [0, 1, 31, u32::MAX - 1, u32::MAX] {
                check(number, index);
            }
        }
    }

    #[test]
    fn usual_values_take_a_word_and_no_more() {
        let mut large = Vec::new();
        let year = 365 * 24 * 3_600 * 1_000_000_000;
        for value in values(year, u32::MAX).into_iter().filter(|value| !matches!(value, Value::Source(_))) {
            Packed::new(value, &mut large);
        }
        assert_eq!(large, []);
        Packed::new(Value::Address(0xffff_fe00_0000_0000), &mut large);
        assert_eq!(large.len(), 1, "a kernel address has all 64 bits");
    }

    proptest! {
        #[test]
        fn any_value_comes_back(number in any::<u64>(), shift in 0..64_u32, index in any::<u32>()) {
            check(number >> shift, index);
        }
    }
}
