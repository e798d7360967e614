//! Columns, and the meaning of their numbers.

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The name in the schema, such as `hang-type`.
    pub mnemonic: String,
    /// The type of its cells, such as `start-time`. In bundles, a type without a known export name keeps its internal name (`XRCauseSetTypeID`).
    pub engineering_type: String,
    /// The kind of its cells.
    pub kind: ColumnKind,
}

/// The kind of a column's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// A time: nanoseconds since the start of the run.
    Time,
    /// A duration in nanoseconds.
    Duration,
    /// A size in bytes.
    Bytes,
    /// CPU cycles.
    Cycles,
    /// A number without a unit, or with a unit that its type does not define.
    Number,
    /// 0 or 1.
    Boolean,
    /// A string.
    Text,
    /// A number with a display string, such as a task with its name.
    Named,
    /// A process.
    Process,
    /// A thread.
    Thread,
    /// A list of numbers.
    Numbers,
    /// A stack.
    Stack,
    /// Numbers or strings, depending on the cell: the type is unknown.
    #[default]
    Unknown,
}

impl ColumnKind {
    /// Returns the kind of a column with this type, in the spelling of exports.
    ///
    /// Columns of a type that is not listed contain strings or numbers, depending on the cell. A string cell has the element's text as its value,
    /// or the display string if the text is an internal number.
    pub fn of_type(engineering_type: &str) -> Self {
        match engineering_type {
            "sample-time" | "event-time" | "start-time" => Self::Time,
            "duration" | "weight" | "duration-on-core" | "duration-waiting" => Self::Duration,
            "size-in-bytes" | "network-size-in-bytes" => Self::Bytes,
            "cycle-weight" => Self::Cycles,
            "boolean" => Self::Boolean,
            "core"
            | "uint64"
            | "uint32"
            | "uint64-hex-lowercase"
            | "address"
            | "vnode"
            | "syscall-arg"
            | "syscall-return"
            | "kdebug-arg"
            | "kdebug-func"
            | "fd"
            | "tid"
            | "pid"
            | "event-count"
            | "pmc-event"
            | "layout-id"
            | "containment-level"
            | "os-signpost-identifier"
            | "packed-identifier"
            | "connection-uuid64"
            | "mach-o-vm-offset"
            | "mach-port"
            | "text-address"
            | "register-content"
            | "swift-task-id"
            | "swift-actor-id"
            | "time-sample-kind"
            | "render-buffer-depth"
            | "displayed-surface-swap"
            | "metal-workload-priority"
            | "metal-nesting-level"
            | "cfrunloop-result" => Self::Number,
            "thread" => Self::Thread,
            "process" => Self::Process,
            "backtrace" | "tagged-backtrace" | "text-backtrace" | "kperf-bt" => Self::Stack,
            "pmc-events" | "text-addresses" => Self::Numbers,
            "swift-task"
            | "analysis-core-swift-task"
            | "swift-actor"
            | "swift-task-priority"
            | "text-symbol"
            | "return-location" => Self::Named,
            "string"
            | "short-string"
            | "medium-length-string"
            | "word-string"
            | "raw-string"
            | "narrative-text"
            | "narrative"
            | "formatted-label"
            | "os-log-metadata"
            | "typed-array"
            | "thread-state"
            | "signpost-name"
            | "event-type"
            | "format-string"
            | "subsystem"
            | "category"
            | "event-concept"
            | "file-path"
            | "hang-type"
            | "thermal-state"
            | "display-name"
            | "vsync-event"
            | "display-event-name"
            | "network-protocol"
            | "network-interface"
            | "swift-task-state"
            | "swift-actor-class"
            | "swiftui-update"
            | "domain-name"
            | "metal-object-label"
            | "vm-op"
            | "gpu-channel-name"
            | "gpu-state"
            | "gpu-performance-state"
            | "core-state"
            | "syscall"
            | "sockaddr"
            | "uuid"
            | "view-hierarchy"
            | "description-set"
            | "size-in-pixels" => Self::Text,
            _ => Self::Unknown,
        }
    }

    /// True if its cells are numbers.
    pub fn is_numeric(self) -> bool {
        matches!(
            self,
            Self::Time | Self::Duration | Self::Bytes | Self::Cycles | Self::Number | Self::Boolean | Self::Named
        )
    }

    /// Returns the unit of its numbers for machine-readable formats.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Time | Self::Duration => Some("ns"),
            Self::Bytes => Some("bytes"),
            Self::Cycles => Some("cycles"),
            _ => None,
        }
    }
}
