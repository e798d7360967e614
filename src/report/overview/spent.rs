//! How the heaviest function spends its time: in itself, in the functions that it calls, and in kinds of work that stacks show.

use super::own_code::Place;
use crate::calltree::{Label, StackWeight, WeighedForest};
use crate::hash::HashMap;
use crate::profile::{FunctionId, Profile};
use crate::report::Amount;
use crate::units::{Unit, Weight};

/// The time of a function of app code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// Samples in the function itself.
    pub itself: Amount,
    /// The heaviest functions that it called, with all samples below these calls.
    pub callees: Vec<(FunctionId, Amount)>,
    /// Samples of system code that it called, by the kind of work, heaviest first. A sample can be of a kind and also in generic code.
    pub work: Vec<(Work, Amount)>,
}

/// A kind of work that the names of functions show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Work {
    /// Generic code of Swift's standard library that the compiler did not specialise, as in a debug build.
    UnspecializedGenerics,
    /// Retaining and releasing objects of Swift and Objective-C.
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
    /// A name for programs.
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

    /// The work of a function, by its name and binary.
    fn of(profile: &Profile, id: FunctionId) -> Option<Self> {
        let (name, binary) = (profile.function_name(id), profile.binary_name(id).unwrap_or_default());
        let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
        if binary == "libswiftCore.dylib" && is_generic(name) {
            Some(Self::UnspecializedGenerics)
        } else if starts(&REFERENCE_COUNTING) {
            Some(Self::ReferenceCounting)
        } else if starts(&["objc_msgSend", "lookUpImpOrForward", "_objc_msgForward", "cache_getImp"]) {
            Some(Self::MessageSending)
        } else if binary == "libsystem_malloc.dylib" || starts(&ALLOCATION) {
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
const ALLOCATION: [&str; 12] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "operator new",
    "operator delete",
    "swift_allocObject",
    "swift_slowAlloc",
    "swift_slowDealloc",
    "swift_deallocClassInstance",
    "_Block_copy",
    "class_createInstance",
];
const LOCKING: [&str; 9] = [
    "os_unfair_lock_",
    "_os_unfair_lock_",
    "pthread_mutex_",
    "_pthread_mutex_",
    "pthread_rwlock_",
    "__psynch_",
    "__ulock_wait",
    "-[NSLock lock]",
    "-[NSRecursiveLock lock]",
];
/// Witnesses and metadata are looked up where generic code is not specialised.
const LOOK_UPS: [&str; 5] = [
    "protocol witness for ",
    "swift_getGenericMetadata",
    "swift_getWitnessTable",
    "swift_getAssociatedTypeWitness",
    "swift_getAssociatedConformanceWitness",
];

/// True if a function of Swift's standard library is generic: its specialisations are in the program that they were made for.
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

/// Callees that are listed.
const CALLEES: usize = 2;

/// How a function spends its time. `rows` are those whose time belongs to it, with the stack that ends in it.
pub(super) fn spent<'r>(
    tree: WeighedForest<'_>,
    function: FunctionId,
    rows: impl Iterator<Item = (&'r StackWeight, Place)>,
    unit: Unit,
) -> Spent {
    let amount = |(weight, samples)| Amount { weight: Weight::new(weight, unit), samples };
    let (itself, callees) = callees(tree, function);
    let mut callees: Vec<_> = callees.into_iter().collect();
    callees.sort_unstable_by_key(|&(id, sum)| (std::cmp::Reverse(sum), tree.profile.function_name(id), id));
    callees.truncate(CALLEES);
    let mut work: Vec<_> = work(tree.profile, rows).into_iter().collect();
    work.sort_unstable_by_key(|&(kind, sum)| (std::cmp::Reverse(sum), kind));
    Spent {
        itself: amount(itself),
        callees: callees.into_iter().map(|(id, sum)| (id, amount(sum))).collect(),
        work: work.into_iter().map(|(kind, sum)| (kind, amount(sum))).collect(),
    }
}

/// The outermost nodes of a function.
pub(super) fn outermost(tree: WeighedForest<'_>, function: FunctionId) -> Vec<u32> {
    let forest = tree.forest;
    let is_outermost = |&node: &u32| {
        forest.label_number(node) == function.index() && forest.is_outermost(node) && tree.sums(node).all_samples > 0
    };
    (1..forest.len() as u32).filter(is_outermost).collect()
}

/// The self weight of a function's outermost calls, and the weight of what they call. Direct recursion is the function itself.
fn callees(tree: WeighedForest<'_>, function: FunctionId) -> ((u64, u64), HashMap<FunctionId, (u64, u64)>) {
    let forest = tree.forest;
    let mut open = outermost(tree, function);
    let (mut itself, mut callees) = ((0, 0), HashMap::default());
    while let Some(node) = open.pop() {
        let own = tree.sums(node);
        add(&mut itself, own.self_weight, own.self_samples);
        for child in tree.children(node, 0.0) {
            match forest.label(child) {
                Label::Function(id) if id == function => open.push(child),
                Label::Function(id) => {
                    let sums = tree.sums(child);
                    add(callees.entry(id).or_default(), sums.all_weight, sums.all_samples);
                }
                Label::Root | Label::NoStack => {}
            }
        }
    }
    (itself, callees)
}

/// The kinds of work in rows.
fn work<'r>(profile: &Profile, rows: impl Iterator<Item = (&'r StackWeight, Place)>) -> HashMap<Work, (u64, u64)> {
    let mut work: HashMap<Work, (u64, u64)> = HashMap::default();
    let mut kinds: HashMap<FunctionId, Option<Work>> = HashMap::default();
    for (row, place) in rows {
        let below = std::iter::successors(row.stack, |&at| profile.stack(at).parent);
        let (mut kind, mut is_generic) = (None, None);
        for at in below.take_while(|&at| at != place.stack) {
            let id = profile.frame(profile.stack(at).frame).function;
            // The outermost function tells what is done: `swift_release` may free memory.
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
