//! Operations on one place of a call tree: a single node, rather than every node with its function.

use super::function_set::FunctionSet;
use crate::profile::{FrameId, Profile};

/// The kind of tree that contains a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeDirection {
    /// From the outermost callers to the leaves.
    Down,
    /// From the leaves to their callers.
    Up,
}

/// The action at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceAction {
    /// Keeps samples that pass through the place. Stacks then start there in the tree of callees, and end there in the tree of callers.
    RootAt,
    /// Removes samples that pass through the place.
    Prune,
    /// Removes the frame at the place, unless nothing would be left.
    Charge,
}

/// An action at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtPlace {
    /// The action.
    pub action: PlaceAction,
    /// The tree.
    pub direction: TreeDirection,
    /// The functions on the path from the tree's root to the place. All functions of one level are treated as one.
    pub path: Vec<FunctionSet>,
}

impl AtPlace {
    /// Creates an action at the place with these names, from the tree's root and separated by semicolons. A semicolon in a name is written as
    /// `%3B`, as in folded stacks.
    pub fn of_names(profile: &Profile, action: PlaceAction, direction: TreeDirection, path: &str) -> Self {
        let names = path.split(';').map(|name| name.replace("%3B", ";"));
        Self {
            action,
            direction,
            path: names.map(|wanted| FunctionSet::of_names(profile, |name| name == wanted)).collect(),
        }
    }

    /// True if no function of the profile matches a level of the path.
    pub(super) fn is_without_function(&self) -> bool {
        self.path.iter().any(FunctionSet::is_empty)
    }

    /// Changes a stack, ordered from the root to the leaf. Returns false to remove its samples.
    pub(super) fn act(&self, profile: &Profile, path: &mut Vec<FrameId>) -> bool {
        let Some(place) = self.place_in(profile, path) else { return self.action != PlaceAction::RootAt };
        match self.action {
            PlaceAction::RootAt if self.direction == TreeDirection::Down => drop(path.drain(..place)),
            PlaceAction::RootAt => path.truncate(place + 1),
            PlaceAction::Prune => return false,
            PlaceAction::Charge if path.len() > 1 => drop(path.remove(place)),
            PlaceAction::Charge => {}
        }
        true
    }

    /// Returns the index of the place's frame in a stack; `None` if the stack does not pass through the place.
    fn place_in(&self, profile: &Profile, path: &[FrameId]) -> Option<usize> {
        let last = self.path.len().checked_sub(1).filter(|&last| last < path.len())?;
        let position = |level: usize| match self.direction {
            TreeDirection::Down => level,
            TreeDirection::Up => path.len() - 1 - level,
        };
        let is_on_path = |(level, functions): (usize, &FunctionSet)| {
            functions.contains(profile.frame(path[position(level)]).function)
        };
        self.path.iter().enumerate().all(is_on_path).then(|| position(last))
    }
}
