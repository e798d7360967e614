//! Identifiers of the profile's tables: small, `Copy`, opaque. An `Option` of one takes no more room than the id.

use std::num::NonZeroU32;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id of row `index`; `None` when the table is full (2³² − 1 rows).
            pub(crate) fn from_index(index: usize) -> Option<Self> {
                u32::try_from(index).ok().and_then(|index| index.checked_add(1)).and_then(NonZeroU32::new).map(Self)
            }

            /// The row in the id's table, from 0, dense: usable as an index of a side table.
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }
    };
}

id! {
    /// A string of the profile ([`Profile::string`](super::Profile::string)).
    StringId
}
id! {
    /// A run of a recording ([`Profile::run`](super::Profile::run)).
    RunId
}
id! {
    /// The samples of one table in one unit ([`Profile::series`](super::Profile::series)).
    SeriesId
}
id! {
    /// A process of a run ([`Profile::process`](super::Profile::process)).
    ProcessId
}
id! {
    /// A thread of a process ([`Profile::thread`](super::Profile::thread)).
    ThreadId
}
id! {
    /// A CPU core ([`Profile::core`](super::Profile::core)).
    CoreId
}
id! {
    /// A binary at a load address ([`Profile::binary`](super::Profile::binary)).
    BinaryId
}
id! {
    /// A function of a binary ([`Profile::function`](super::Profile::function)).
    FunctionId
}
id! {
    /// A frame: an address in a function ([`Profile::frame`](super::Profile::frame)).
    FrameId
}
id! {
    /// A stack: a parent stack and a frame ([`Profile::stack`](super::Profile::stack)).
    StackId
}

impl StackId {
    /// The stack in the row before; `None` for the first one.
    #[inline]
    pub(super) fn before(self) -> Option<Self> {
        NonZeroU32::new(self.0.get() - 1).map(Self)
    }
}
