//! The columns of tables that hold the parts of intervals and hang risks.
//!
//! They are found by name, since their order and number depend on the version.

use super::values::RowKind;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
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

pub(crate) const ROLES: usize = Role::Severity as usize + 1;

/// A column that is looked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) role: Role,
    pub(crate) mnemonic: &'static str,
    /// The supported types in recordings, which are stored in the same way.
    #[cfg_attr(not(feature = "bundle"), expect(dead_code, reason = "exports are not read by types"))]
    pub(crate) types: &'static [&'static str],
    /// True if rows are useless without it.
    pub(crate) is_needed: bool,
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

impl RowKind {
    /// Returns the columns of such rows.
    pub(crate) fn wanted(self) -> &'static [Wanted] {
        match self {
            Self::Signpost => &SIGNPOSTS,
            Self::SignpostEvent => &EVENTS,
            Self::Region => &REGIONS,
            Self::Hang => &HANGS,
            Self::HangRisk => &RISKS,
        }
    }
}
