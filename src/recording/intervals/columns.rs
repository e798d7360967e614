//! The columns with the properties of intervals and hang risks.
//!
//! Columns are found by name, because their order and number depend on the version.

use super::values::RowKind;

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// When it begins or happens.
    Start,
    Duration,
    Name,
    Subsystem,
    Category,
    Identifier,
    Process,
    Thread,
    /// The type of an event or hang, or the class of a region.
    Kind,
    Scope,
    Message,
    Severity,
}

pub(crate) const ROLES: usize = Role::Severity as usize + 1;

/// A column to look for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) role: Role,
    pub(crate) mnemonic: &'static str,
    /// True if rows are useless without it.
    pub(crate) is_needed: bool,
}

const fn needed(role: Role, mnemonic: &'static str) -> Wanted {
    Wanted { role, mnemonic, is_needed: true }
}

const fn optional(role: Role, mnemonic: &'static str) -> Wanted {
    Wanted { role, mnemonic, is_needed: false }
}

const START: Wanted = needed(Role::Start, "start");
const DURATION: Wanted = needed(Role::Duration, "duration");
const MOMENT: Wanted = needed(Role::Start, "time");

const SIGNPOSTS: [Wanted; 8] = [
    START,
    DURATION,
    needed(Role::Name, "name"),
    optional(Role::Subsystem, "subsystem"),
    optional(Role::Category, "category"),
    optional(Role::Identifier, "identifier"),
    optional(Role::Process, "process"),
    optional(Role::Thread, "start-thread"),
];

/// Most of these columns are needed to pair events: without one of them, the wrong events would be paired.
const EVENTS: [Wanted; 9] = [
    MOMENT,
    needed(Role::Kind, "event-type"),
    needed(Role::Name, "name"),
    needed(Role::Subsystem, "subsystem"),
    needed(Role::Category, "category"),
    needed(Role::Identifier, "identifier"),
    needed(Role::Process, "process"),
    needed(Role::Scope, "scope"),
    needed(Role::Thread, "thread"),
];

const REGIONS: [Wanted; 7] = [
    START,
    DURATION,
    needed(Role::Kind, "class"),
    needed(Role::Name, "name"),
    optional(Role::Subsystem, "subsystem"),
    optional(Role::Process, "process"),
    optional(Role::Thread, "start-thread"),
];

const HANGS: [Wanted; 5] = [
    START,
    DURATION,
    optional(Role::Kind, "hang-type"),
    optional(Role::Process, "process"),
    optional(Role::Thread, "thread"),
];

/// Other tables have different name columns.
const OTHERS: [Wanted; 4] = [START, DURATION, optional(Role::Process, "process"), optional(Role::Thread, "thread")];

const RISKS: [Wanted; 6] = [
    MOMENT,
    optional(Role::Message, "message"),
    optional(Role::Severity, "severity"),
    optional(Role::Kind, "event-type"),
    optional(Role::Process, "process"),
    optional(Role::Thread, "thread"),
];

impl RowKind {
    /// Returns the columns for this kind of row.
    pub(crate) fn wanted(self) -> &'static [Wanted] {
        match self {
            Self::Signpost => &SIGNPOSTS,
            Self::SignpostEvent => &EVENTS,
            Self::Region => &REGIONS,
            Self::Hang => &HANGS,
            Self::HangRisk => &RISKS,
            Self::Table => &OTHERS,
        }
    }
}
