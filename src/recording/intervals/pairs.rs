//! Pairs the beginnings and ends of signposts.
//!
//! Two events are a pair if name, subsystem, category, identifier and process are equal. With the scope `Thread`, the thread must be equal as
//! well; with the scope `System`, the process may differ. An interval with the scope `Process` may end on another thread, as some do in real
//! recordings. If several intervals are open, the last to begin ends first.

use crate::hash::HashMap;
use crate::memory::of_vec;

/// A process: its interned name and its pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessCell {
    pub(crate) name: u32,
    pub(crate) pid: Option<u64>,
}

/// The identity of a signpost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) name: Option<u32>,
    pub(crate) subsystem: Option<u32>,
    pub(crate) category: Option<u32>,
    pub(crate) identifier: Option<u64>,
    pub(crate) process: Option<ProcessCell>,
    pub(crate) tid: Option<u64>,
}

/// An event, and the byte offset at which its row starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) time: u64,
    pub(super) at: u64,
    pub(super) identity: Identity,
}

/// The fields that must be equal in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    texts: [Option<u32>; 3],
    identifier: Option<u64>,
    /// A process without a pid is identified by its name.
    process: Option<(Option<u64>, Option<u32>)>,
    tid: Option<u64>,
    scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    Thread,
    Process,
    System,
}

impl Scope {
    fn of(text: Option<&str>) -> Self {
        match text {
            Some(text) if text.eq_ignore_ascii_case("thread") => Self::Thread,
            Some(text) if text.eq_ignore_ascii_case("system") => Self::System,
            _ => Self::Process,
        }
    }
}

impl Key {
    fn new(identity: &Identity, scope: Scope) -> Self {
        let process = identity.process.map(|process| (process.pid, process.pid.is_none().then_some(process.name)));
        Self {
            texts: [identity.name, identity.subsystem, identity.category],
            identifier: identity.identifier,
            process: process.filter(|_| scope != Scope::System),
            tid: identity.tid.filter(|_| scope == Scope::Thread),
            scope,
        }
    }
}

/// The events of one table.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    events: Vec<(Event, Key, bool)>,
    points: u64,
}

/// The result of pairing events.
#[derive(Debug, Default)]
pub(super) struct Paired {
    /// The intervals in the order in which they began, each with its beginning and end.
    pub(super) intervals: Vec<(Identity, u64, Option<u64>)>,
    /// Ends without a beginning.
    pub(super) lone_ends: Vec<Event>,
    /// The number of events that are points in time.
    pub(super) points: u64,
}

impl Pairs {
    /// Returns the approximate size in bytes, including memory that pairing needs.
    pub(super) fn memory(&self) -> u64 {
        2 * of_vec(&self.events)
    }

    /// Adds an event. Returns false if its recorded kind is unknown.
    pub(super) fn add(&mut self, event: Event, kind: &str, scope: Option<&str>) -> bool {
        let is_end = match kind {
            "Begin" => false,
            "End" => true,
            "Event" => {
                self.points += 1;
                return true;
            }
            _ => return false,
        };
        self.events.push((event, Key::new(&event.identity, Scope::of(scope)), is_end));
        true
    }

    pub(super) fn finish(mut self) -> Paired {
        // Rows may be out of order. The sort is stable.
        self.events.sort_by_key(|(event, ..)| (event.time, event.at));
        let mut paired = Paired { points: self.points, ..Paired::default() };
        let mut open: HashMap<Key, Vec<usize>> = HashMap::default();
        for (event, key, is_end) in self.events {
            if !is_end {
                open.entry(key).or_default().push(paired.intervals.len());
                paired.intervals.push((event.identity, event.time, None));
            } else if let Some(begun) = open.get_mut(&key).and_then(Vec::pop) {
                paired.intervals[begun].2 = Some(event.time);
            } else {
                paired.lone_ends.push(event);
            }
        }
        paired
    }
}
