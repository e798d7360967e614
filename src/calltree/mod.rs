//! Call trees: the stacks of many samples, merged by common callers.
//!
//! 1. [`StackWeights`] sums the weights of equal stacks in each thread, so the cost of all later steps depends on the number of distinct stacks,
//!    not of samples.
//! 2. [`Merger`] merges the stacks level by level: frames of the same function (same binary, same name) below one node become one node.
//! 3. [`CallTree`] is the result. [`FunctionRow`] contains the sums by function, which need no tree.
//!
//! All values are integers, and in every node `all_weight = self_weight + Σ children's all_weight (+ hidden_weight, if pruned)`.

mod callers;
mod calls;
mod categories;
mod draft;
mod forest;
mod functions;
mod heavy_tree;
mod key_sums;
mod keyed;
mod lines;
mod merge;
mod operations;
mod path_visitor;
mod preorder;
mod sandwich;
mod stack_numbers;
mod stack_runs;
mod tree;
mod weights;

pub use callers::{CallerNode, Callers};
pub(crate) use calls::Calls;
pub use categories::{CategoryRow, TransitionRow};
pub(crate) use categories::{categories_of_stacks, transitions_of_stacks};
pub(crate) use draft::Draft;
pub use forest::{Forest, ForestWeights, WeighedForest};
pub use functions::FunctionRow;
pub(crate) use functions::functions_of_stacks;
pub(crate) use heavy_tree::{HeavyNode, heavy_tree};
pub use key_sums::KeySums;
pub(crate) use keyed::{WeighedStacks, sum_stacks_by_key};
pub use lines::{LineRow, SourceFileRow};
pub(crate) use lines::{lines_of_stacks, source_files_of_stacks};
pub(crate) use merge::MergePlan;
pub use merge::Merger;
pub use operations::{
    Action, AtPlace, Change, FunctionSet, Operation, OperationEffects, OperationSummary, PlaceAction, TreeDirection,
};
pub use sandwich::Sandwich;
pub(crate) use stack_numbers::StackNumbers;
pub(crate) use tree::percent;
pub use tree::{CallTree, Label, Node, Pruning};
pub use weights::{Metric, StackWeight, StackWeights};
