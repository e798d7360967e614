//! Anomalies of elements whose value is still known: they produce a note, but do not reject the row.
//!
//! No known CPU table contains any of these. If the next Xcode renames an element or attribute, its old name simply disappears, and these notes
//! are the only sign.

/// Something that no known version of `xctrace` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// An unknown element next to the frames of a stack.
    InStack,
    /// Frames in an element whose name is not a stack's.
    StackName,
    /// An element inside a thread, a process, a frame, a binary or a source.
    Child,
    /// A thread, process or core without a display string.
    NoDisplayName,
    /// A thread without a process.
    NoProcess,
    /// A frame without a name.
    NoFrameName,
    /// A binary without a name, UUID, architecture or path.
    NoBinaryField,
    /// A binary without a readable load address.
    LoadAddress,
    /// A binary with an unreadable UUID.
    Uuid,
    /// An unknown attribute of a frame or binary.
    Attribute,
}

impl Oddity {
    /// Returns the topic under which diagnostics count the anomaly, and the sentence to print.
    pub(super) const fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::InStack => {
                ("odd stack", "a stack contains an element that this version does not recognise; its frames are used")
            }
            Self::StackName => (
                "odd stack name",
                "a stack is an element with a name that this version does not recognise; its frames are used",
            ),
            Self::Child => (
                "odd child",
                "a thread, process or frame contains an element that this version does not recognise; the rest is \
                 used",
            ),
            Self::NoDisplayName => (
                "no display name",
                "a thread, process or core has no display string (fmt), or an empty one, so its name is unknown",
            ),
            Self::NoProcess => ("no process", "a thread names no process; only the row may name it"),
            Self::NoFrameName => ("no frame name", "a frame has no name; its address is shown instead"),
            Self::NoBinaryField => {
                ("no binary field", "a binary lacks its name, UUID, architecture or path; its frames may not be named")
            }
            Self::LoadAddress => {
                ("load address", "a binary has no readable load-addr attribute; symbol files cannot name its frames")
            }
            Self::Uuid => {
                ("UUID", "a binary has a UUID attribute that cannot be read; symbol files cannot name its frames")
            }
            Self::Attribute => {
                ("odd attribute", "a frame or binary has an attribute that this version does not recognise")
            }
        }
    }
}
