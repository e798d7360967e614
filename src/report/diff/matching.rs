//! Matches the functions of two recordings.

use super::super::NO_STACK;
use crate::hash::IndexSet;
use crate::profile::{FunctionId, Profile};
use crate::units::Uuid;

/// The key by which a function is matched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionKey {
    /// Its binary and name, so that different builds of the function match. Only its name, if a recording has no binaries.
    Named,
    /// For an unnamed function: the UUID of its binary, and the offset from the load address. Different builds never match.
    Offset(Uuid, u64),
    /// For an unnamed function in no binary, or one without a UUID: the address in place of its name.
    Address,
    /// Samples without a stack.
    NoStack,
}

/// A function or binary of either recording.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// The name, or an address in its place; empty for a binary.
    pub name: String,
    /// The name of its binary, if any.
    pub binary: Option<String>,
    /// The key by which the row is matched.
    pub key: FunctionKey,
}

impl Function {
    /// The displayed name of the function or binary.
    pub(crate) fn title(&self) -> &str {
        match (&self.key, self.name.as_str()) {
            (FunctionKey::NoStack, _) => NO_STACK,
            (_, "") => self.binary.as_deref().unwrap_or("[no known binary]"),
            (_, name) => name,
        }
    }

    /// The binary of a function, displayed next to its name.
    pub(crate) fn owner(&self) -> Option<&str> {
        self.binary.as_deref().filter(|_| !self.name.is_empty())
    }
}

/// The functions of both recordings without duplicates. The first entry represents samples without a stack.
#[derive(Clone, Debug)]
pub struct Functions {
    names: IndexSet<Function>,
    /// False if a recording has no binaries, so that names alone are compared, and no function is known to be yours.
    pub(super) has_binaries: bool,
    /// By side and function: the number of the matched function.
    of_side: [Vec<usize>; 2],
    /// By function number: the number of its binary.
    binary_of: Vec<usize>,
    binaries: IndexSet<Function>,
}

/// The function number of samples without a stack.
pub(super) const STACKLESS: usize = 0;

impl Functions {
    /// Matches the functions of the first and the second recording.
    pub fn new(sides: [&Profile; 2]) -> Self {
        let no_stack = Function { name: String::new(), binary: None, key: FunctionKey::NoStack };
        let mut names: IndexSet<Function> = [no_stack].into_iter().collect();
        // Exports of Xcode 12 contain no binaries. Then only names are compared.
        let has_binaries = sides.iter().all(|profile| {
            let mut functions = profile.function_ids();
            functions.len() == 0 || functions.any(|id| profile.binary_name(id).is_some())
        });
        let of_side = sides.map(|profile| {
            let whole = |id: FunctionId| function(profile, id);
            let bare = |id: FunctionId| match whole(id) {
                Function { name, key: FunctionKey::Named, .. } => {
                    Function { name, binary: None, key: FunctionKey::Named }
                }
                unnamed => unnamed,
            };
            let number = |id: FunctionId| names.insert_full(if has_binaries { whole(id) } else { bare(id) }).0;
            profile.function_ids().map(number).collect::<Vec<usize>>()
        });
        let mut binaries = IndexSet::default();
        let binary_of = names.iter().map(|function| {
            let binary = match function.key {
                FunctionKey::NoStack => function.clone(),
                _ => Function { name: String::new(), binary: function.binary.clone(), key: FunctionKey::Named },
            };
            binaries.insert_full(binary).0
        });
        let binary_of = binary_of.collect();
        Self { names, has_binaries, of_side, binary_of, binaries }
    }

    /// The number of a side's function. Side 0 is the first recording, 1 the second.
    pub fn number(&self, side: usize, function: FunctionId) -> usize {
        self.of_side[side][function.index()]
    }

    /// The functions in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Function> {
        self.names.iter()
    }

    pub(super) fn names(&self) -> &IndexSet<Function> {
        &self.names
    }

    pub(super) fn binary_of(&self, number: usize) -> usize {
        self.binary_of[number]
    }

    pub(super) fn binaries(&self) -> &IndexSet<Function> {
        &self.binaries
    }
}

fn function(profile: &Profile, id: FunctionId) -> Function {
    let row = profile.function(id);
    let name = profile.function_name(id).to_owned();
    let binary = profile.binary_name(id).map(str::to_owned);
    if row.is_named {
        return Function { name, binary, key: FunctionKey::Named };
    }
    let at = row.binary.map(|binary| profile.binary(binary));
    let address = name.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let offset = at.and_then(|binary| {
        let offset = address?.checked_sub(binary.load_address.get())?;
        Some((binary.uuid.filter(|uuid| !uuid.is_nil())?, offset))
    });
    match offset {
        // Load addresses differ between launches, so only the offset identifies the function in both recordings.
        Some((uuid, offset)) => {
            let name = format!("{}+{offset:#x}", binary.as_deref().unwrap_or_default());
            Function { name, binary, key: FunctionKey::Offset(uuid, offset) }
        }
        None => Function { name, binary, key: FunctionKey::Address },
    }
}
