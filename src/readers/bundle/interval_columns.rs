//! The columns of a table that hold the parts of intervals and hang risks, if their types are supported.
//!
//! They are found by name, since their order and number depend on the version.

use super::layout::{Layout, Place};
use crate::recording::RowKind;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The time when it begins, or happens.
    Start,
    Duration,
    Name,
    Subsystem,
    Category,
    Identifier,
    Process,
    Thread,
    /// The type of an event or a hang, the class of a region.
    Kind,
    Scope,
    Message,
    Severity,
}

const ROLES: usize = Role::Severity as usize + 1;

/// A column that is looked for.
struct Wanted {
    role: Role,
    mnemonic: &'static str,
    /// The supported types, which are stored in the same way.
    types: &'static [&'static str],
    /// True if rows are useless without it.
    is_needed: bool,
}

const fn needed(role: Role, mnemonic: &'static str, types: &'static [&'static str]) -> Wanted {
    Wanted { role, mnemonic, types, is_needed: true }
}

const fn optional(role: Role, mnemonic: &'static str, types: &'static [&'static str]) -> Wanted {
    Wanted { role, mnemonic, types, is_needed: false }
}

/// Signposts are named by either, which are both strings.
const NAME: &[&str] = &["XRSignpostNameTypeID", "XRPrototypeStringTypeID"];
const START: Wanted = needed(Role::Start, "start", &["XRStartTimeTypeID"]);
const DURATION: Wanted = needed(Role::Duration, "duration", &["XRDurationTypeID"]);
const MOMENT: Wanted = needed(Role::Start, "time", &["XRRecordedEventTimestampTypeID"]);
const PROCESS: &[&str] = &["XRProcessTypeID"];
const THREAD: &[&str] = &["XRThreadTypeID"];
const SUBSYSTEM: &[&str] = &["XROSLogSubsystemTypeID"];
const CATEGORY: &[&str] = &["XROSLogCategoryTypeID"];
const IDENTIFIER: &[&str] = &["XROSSignpostIdentifierTypeID"];
const EVENT_TYPE: &[&str] = &["XROSLogEventTypeID"];

const SIGNPOSTS: [Wanted; 8] = [
    START,
    DURATION,
    needed(Role::Name, "name", NAME),
    optional(Role::Subsystem, "subsystem", SUBSYSTEM),
    optional(Role::Category, "category", CATEGORY),
    optional(Role::Identifier, "identifier", IDENTIFIER),
    optional(Role::Process, "process", PROCESS),
    optional(Role::Thread, "start-thread", THREAD),
];

/// Ends are paired by most of these columns, so without one of them the wrong ends would be paired.
const EVENTS: [Wanted; 9] = [
    MOMENT,
    needed(Role::Kind, "event-type", EVENT_TYPE),
    needed(Role::Name, "name", NAME),
    needed(Role::Subsystem, "subsystem", SUBSYSTEM),
    needed(Role::Category, "category", CATEGORY),
    needed(Role::Identifier, "identifier", IDENTIFIER),
    needed(Role::Process, "process", PROCESS),
    needed(Role::Scope, "scope", &["XRPrototypeStringTypeID"]),
    needed(Role::Thread, "thread", THREAD),
];

const REGIONS: [Wanted; 7] = [
    START,
    DURATION,
    needed(Role::Kind, "class", &["XRRegionOfInterestClassTypeID"]),
    needed(Role::Name, "name", NAME),
    optional(Role::Subsystem, "subsystem", SUBSYSTEM),
    optional(Role::Process, "process", PROCESS),
    optional(Role::Thread, "start-thread", THREAD),
];

const HANGS: [Wanted; 5] = [
    START,
    DURATION,
    optional(Role::Kind, "hang-type", &["XRHangTypeTypeID"]),
    optional(Role::Process, "process", PROCESS),
    optional(Role::Thread, "thread", THREAD),
];

const RISKS: [Wanted; 6] = [
    MOMENT,
    optional(Role::Message, "message", &["XRNarrativeEntryTypeID"]),
    optional(Role::Severity, "severity", &["XRPrototypeShortStringTypeID"]),
    optional(Role::Kind, "event-type", EVENT_TYPE),
    optional(Role::Process, "process", PROCESS),
    optional(Role::Thread, "thread", THREAD),
];

fn wanted(kind: RowKind) -> &'static [Wanted] {
    match kind {
        RowKind::Signpost => &SIGNPOSTS,
        RowKind::SignpostEvent => &EVENTS,
        RowKind::Region => &REGIONS,
        RowKind::Hang => &HANGS,
        RowKind::HangRisk => &RISKS,
    }
}

/// The places of a row's parts.
#[derive(Clone, Debug)]
pub(super) struct IntervalColumns {
    pub(super) kind: RowKind,
    /// By role.
    places: [Option<Place>; ROLES],
    /// The reasons why parts are absent from every row.
    pub(super) unread: Vec<String>,
}

impl IntervalColumns {
    /// The columns of a table, or the reason why its rows cannot be used.
    pub(super) fn of(layout: &Layout) -> Result<Self, String> {
        let kind = RowKind::of_schema(&layout.schema.name).ok_or("its rows are not intervals")?;
        let mut columns = Self { kind, places: [None; ROLES], unread: Vec::new() };
        for Wanted { role, mnemonic, types, is_needed } in wanted(kind) {
            match layout.typed_column(mnemonic, types) {
                Ok(place) => columns.places[*role as usize] = Some(place),
                Err(reason) if *is_needed => return Err(reason),
                Err(reason) => columns.unread.push(reason),
            }
        }
        Ok(columns)
    }

    /// The place of a part in a row, and its value, unless it is absent.
    pub(super) fn find(&self, role: Role, row: &[u8]) -> Option<(Place, u64)> {
        let place = self.places[role as usize]?;
        Some((place, place.value(row)?))
    }

    /// The value of a part of a row.
    pub(super) fn value(&self, role: Role, row: &[u8]) -> Option<u64> {
        Some(self.find(role, row)?.1)
    }
}
