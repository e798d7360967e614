//! How the heaviest function spends its time: in itself, in its callees, and by kinds of work that function names reveal.

use super::own_code::Place;
use crate::calltree::{Calls, StackWeight};
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile};
use crate::report::Amount;
use crate::units::{Unit, Weight};

/// How a function of app code spends its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// Samples in the function itself.
    pub itself: Amount,
    /// The heaviest callees, with all samples below them.
    pub callees: Vec<(FunctionId, Amount)>,
    /// Samples of the system code that it called, by kind of work, heaviest first. A sample in generic code may count as another kind as well.
    pub work: Vec<(Work, Amount)>,
}

/// A kind of work, recognised by function names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Work {
    /// Generic code of Swift's standard library that the compiler did not specialise, as in a debug build.
    UnspecializedGenerics,
    /// Retaining and releasing Swift and Objective-C objects.
    ReferenceCounting,
    /// The dispatch of Objective-C messages.
    MessageSending,
    /// Allocating and freeing memory.
    Allocation,
    /// Taking locks, and waiting for them.
    Locking,
    /// Page faults.
    PageFaults,
    /// Copying and filling memory.
    Copying,
}

impl Work {
    /// The name in machine-readable formats.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnspecializedGenerics => "unspecialized-generics",
            Self::ReferenceCounting => "reference-counting",
            Self::MessageSending => "message-sending",
            Self::Allocation => "allocation",
            Self::Locking => "locking",
            Self::PageFaults => "page-faults",
            Self::Copying => "copying",
        }
    }

    /// Returns a function's kind of work, by its name and binary.
    fn of(profile: &Profile, id: FunctionId) -> Option<Self> {
        let (name, binary) = (profile.function_name(id), profile.binary_name(id).unwrap_or_default());
        let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
        if binary == "libswiftCore.dylib" && is_generic(name) {
            Some(Self::UnspecializedGenerics)
        } else if starts(&REFERENCE_COUNTING) {
            Some(Self::ReferenceCounting)
        } else if starts(&["objc_msgSend", "lookUpImpOrForward", "_objc_msgForward", "cache_getImp"]) {
            Some(Self::MessageSending)
        } else if binary == "libsystem_malloc.dylib" || name == "free" || starts(&ALLOCATION) {
            Some(Self::Allocation)
        } else if starts(&LOCKING) {
            Some(Self::Locking)
        } else if starts(&["vm_fault", "arm_vm_fault"]) {
            Some(Self::PageFaults)
        } else if starts(&["_platform_memmove", "_platform_memset", "_platform_bzero", "__bzero"]) {
            Some(Self::Copying)
        } else {
            None
        }
    }
}

const REFERENCE_COUNTING: [&str; 15] = [
    "swift_retain",
    "swift_release",
    "_swift_retain",
    "_swift_release",
    "swift_bridgeObjectRetain",
    "swift_bridgeObjectRelease",
    "swift_unknownObjectRetain",
    "swift_unknownObjectRelease",
    "objc_retain",
    "objc_release",
    "objc_autorelease",
    "objc_storeStrong",
    "-[NSObject retain]",
    "-[NSObject release]",
    "_objc_rootRelease",
];
const ALLOCATION: [&str; 11] = [
    "malloc",
    "calloc",
    "realloc",
    "operator new",
    "operator delete",
    "swift_allocObject",
    "swift_slowAlloc",
    "swift_slowDealloc",
    "swift_deallocClassInstance",
    "_Block_copy",
    "class_createInstance",
];
const LOCKING: [&str; 10] = [
    "os_unfair_lock_",
    "_os_unfair_lock_",
    "pthread_mutex_",
    "_pthread_mutex_",
    "pthread_rwlock_",
    "__psynch_mutex",
    "__psynch_rw",
    "__ulock_wait",
    "-[NSLock lock]",
    "-[NSRecursiveLock lock]",
];
/// How lookups of witnesses and metadata begin, which only unspecialised generic code needs.
const LOOK_UPS: [&str; 5] = [
    "protocol witness for ",
    "swift_getGenericMetadata",
    "swift_getWitnessTable",
    "swift_getAssociatedTypeWitness",
    "swift_getAssociatedConformanceWitness",
];

/// True if a function of Swift's standard library is generic. Specialised functions are in the program that uses them.
fn is_generic(name: &str) -> bool {
    !name.contains("specialized") && (name.contains("<A") || LOOK_UPS.iter().any(|start| name.starts_with(start)))
        || GENERIC_TYPES.iter().any(|start| name.starts_with(start))
}

const GENERIC_TYPES: [&str; 8] = [
    "Array.",
    "ArraySlice.",
    "Collection.",
    "ContiguousArray.",
    "Dictionary.",
    "IndexingIterator.",
    "Sequence.",
    "Set.",
];

/// The maximum number of callees listed.
const CALLEES: usize = 2;

/// Returns how a function spends its time. `rows` are the rows whose time belongs to it, each with the function's place in the stack.
pub(super) fn spent<'r>(
    profile: &Profile,
    Calls { callees }: Calls,
    rows: impl Iterator<Item = (&'r StackWeight, Place)> + Clone,
    unit: Unit,
) -> Spent {
    let amount = |(weight, samples)| Amount { weight: Weight::new(weight, unit), samples };
    let mut callees: Vec<_> = callees.into_iter().collect();
    callees.sort_unstable_by_key(|&(id, sum)| (std::cmp::Reverse(sum), profile.function_name(id), id));
    callees.truncate(CALLEES);
    let mut work: Vec<_> = work(profile, rows.clone()).into_iter().collect();
    work.sort_unstable_by_key(|&(kind, sum)| (std::cmp::Reverse(sum), kind));
    Spent {
        // In all calls of the function, including recursive calls below its callees.
        itself: Amount::of_rows(rows.filter(|(row, place)| row.stack == Some(place.stack)).map(|(row, _)| row), unit),
        callees: callees.into_iter().map(|(id, sum)| (id, amount(sum))).collect(),
        work: work.into_iter().map(|(kind, sum)| (kind, amount(sum))).collect(),
    }
}

/// The weight and samples of each kind of work.
fn work<'r>(profile: &Profile, rows: impl Iterator<Item = (&'r StackWeight, Place)>) -> HashMap<Work, (u64, u64)> {
    let mut work: HashMap<Work, (u64, u64)> = HashMap::default();
    let mut kinds: HashMap<FunctionId, Option<Work>> = HashMap::default();
    for (row, place) in rows {
        let below = std::iter::successors(row.stack, |&at| profile.stack(at).parent);
        let (mut kind, mut is_generic) = (None, None);
        for at in below.take_while(|&at| at != place.stack) {
            let id = profile.function_of_stack(at);
            // The outermost function decides: `swift_release` may free memory.
            match *kinds.entry(id).or_insert_with(|| Work::of(profile, id)) {
                Some(Work::UnspecializedGenerics) => is_generic = Some(Work::UnspecializedGenerics),
                found => kind = found.or(kind),
            }
        }
        for kind in [kind, is_generic].into_iter().flatten() {
            add(work.entry(kind).or_default(), row.weight, row.samples);
        }
    }
    work
}

fn add(sum: &mut (u64, u64), weight: u64, samples: u64) {
    *sum = (sum.0.saturating_add(weight), sum.1 + samples);
}
