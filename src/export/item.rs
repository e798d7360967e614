//! What elements of an export decode to, and the map from an id to its element.
//!
//! `xctrace` writes a value once, with an `id`, and afterwards as a `ref` to it:
//!
//! ```xml
//! <weight id="9" fmt="1.00 ms">1000000</weight>   …   <weight ref="9"/>
//! ```
//!
//! Ids count 1, 2, 3 … over the whole document in the order of the start tags, so the map is a vector.

use super::reject::RejectReason;
use crate::hash::HashMap;
use crate::profile::{BinaryId, CoreId, FrameId, SampleKind, SourceLine, StackId, StringId};

/// What an element stands for. Small and `Copy`: children are collected by value until their parent closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// `<sentinel/>`: the column has no value in this row.
    Absent,
    /// An element that plays no part in CPU samples.
    Other,
    /// An element that is known to stand beside frames and to say nothing of them.
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
    /// What made a `time-sample`.
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

/// The map id → element of one document.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// By id, from 1; `None` where the id was not defined (yet).
    dense: Vec<Option<Value>>,
    /// Ids far beyond the dense ones: excerpts and hostile files.
    sparse: HashMap<u64, Value>,
    defined: usize,
}

/// Gaps in the numbering that are filled freely; beyond, gaps may take no more room than definitions do.
const FREE_GAP: usize = 1024;

impl Ids {
    /// Registers `value` under `id`; a later definition replaces an earlier one.
    pub(super) fn define(&mut self, id: u64, value: Value) {
        self.defined += 1;
        let room = 2 * self.defined + FREE_GAP;
        match usize::try_from(id) {
            Ok(index) if index < self.dense.len() => self.dense[index] = Some(value),
            Ok(index) if index < room => {
                self.dense.resize(index, None);
                self.dense.push(Some(value));
            }
            _ => {
                self.sparse.insert(id, value);
            }
        }
    }

    /// What `id` was defined as.
    pub(super) fn get(&self, id: u64) -> Option<Value> {
        let dense = usize::try_from(id).ok().and_then(|index| self.dense.get(index).copied().flatten());
        dense.or_else(|| self.sparse.get(&id).copied())
    }

    /// The id that follows all that were defined, where they have no gaps; `None` where they do.
    pub(super) fn next(&self) -> Option<u32> {
        let next = self.dense.len().max(1);
        (self.sparse.is_empty() && self.defined + 1 == next).then(|| u32::try_from(next).ok()).flatten()
    }

    /// Forgets everything: the next document counts from 1 again.
    pub(super) fn clear(&mut self) {
        self.dense.clear();
        self.sparse.clear();
        self.defined = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_small() {
        assert!(size_of::<Option<Value>>() <= 16, "{}", size_of::<Option<Value>>());
    }

    #[test]
    fn ids_may_be_dense_out_of_order_far_apart_and_redefined() {
        let mut ids = Ids::default();
        for id in [2, 1, 5, u64::MAX, 4_000_000_000, 3] {
            ids.define(id, Value::Time(id));
        }
        ids.define(5, Value::Time(50));
        for id in [1, 2, 3, 4_000_000_000, u64::MAX] {
            assert_eq!(ids.get(id), Some(Value::Time(id)));
        }
        assert_eq!(ids.get(5), Some(Value::Time(50)));
        assert_eq!(ids.get(4), None);
        assert!(ids.dense.len() < 10_000, "a far id must not grow the dense part");
        ids.clear();
        assert_eq!(ids.get(1), None);
    }

    #[test]
    fn gaps_take_no_more_room_than_definitions() {
        let mut ids = Ids::default();
        for step in 1..=1_000 {
            ids.define(step * 100_000, Value::Other);
        }
        assert!(ids.dense.len() <= 2 * 1_000 + FREE_GAP);
    }
}
