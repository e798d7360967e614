//! Converts instances to sums in a recording.

use super::report::{Element, Fault, Kind, Names};
use crate::error::ErrorKind;
use crate::hash::HashMap;
use crate::profile::StackId;
use crate::readers::rounded::Rounded;
use crate::readers::stack_sums::StackSums;
use crate::units::{Unit, Weight};

/// The function whose instances are being read.
struct Function {
    name: String,
    at: usize,
    own: Rounded,
    expected: Option<u64>,
    instances: u64,
    of_instances: u64,
    /// The maximum rounding error of the sum of times.
    tolerance: u64,
}

#[derive(Default)]
struct Node {
    /// `None` if the report does not list the function.
    at: Option<usize>,
    total: u64,
    /// The node's `OwnTime`, plus the totals of its callees that are in the report.
    of_parts: u64,
    tolerance: u64,
    caller: Option<StackId>,
}

/// Adds instances to sums.
pub(super) struct Stacks<'s, 'r> {
    names: &'s Names,
    max_depth: usize,
    sums: &'s mut StackSums<'r>,
    function: Option<Function>,
    nodes: HashMap<StackId, Node>,
    /// The total `OwnTime` of all instances.
    own: u64,
    /// Functions with an `OwnTime` but without instances: the first one's offset, their number, and their total `OwnTime`.
    unplaced: Option<(usize, u64, u64)>,
    /// Instances with a caller that the report does not list: the first one's offset, and their number.
    unlisted: Option<(usize, u64)>,
}

impl<'s, 'r> Stacks<'s, 'r> {
    pub(super) fn new(names: &'s Names, max_depth: usize, sums: &'s mut StackSums<'r>) -> Self {
        Self {
            names,
            max_depth,
            sums,
            function: None,
            nodes: HashMap::default(),
            own: 0,
            unplaced: None,
            unlisted: None,
        }
    }

    /// Adds an element of the report.
    pub(super) fn take(&mut self, element: Element, at: usize) -> Result<(), Fault> {
        let Kind::Function { instances: expected } = element.kind else {
            return self.instance(&element, at).map_err(|kind| (at, kind));
        };
        self.end_function()?;
        let Element { text: name, own, .. } = element;
        let tolerance = own.digit;
        self.function = Some(Function { name, at, own, expected, instances: 0, of_instances: 0, tolerance });
        Ok(())
    }

    fn instance(&mut self, Element { text, total, own, .. }: &Element, at: usize) -> Result<(), ErrorKind> {
        let Some(function) = &mut self.function else { return Ok(()) };
        function.instances += 1;
        function.of_instances = function.of_instances.saturating_add(own.value);
        function.tolerance = function.tolerance.saturating_add(own.digit);
        let callers = self.names.callers(text, &function.name)?;
        if callers.len() >= self.max_depth {
            return Err(ErrorKind::Limit(format!("a stack has more than {} frames", self.max_depth)));
        }
        if callers.iter().any(|&name| !self.names.plain.contains(name)) {
            self.unlisted.get_or_insert((at, 0)).1 += 1;
        }
        let mut caller = None;
        for name in callers {
            let stack = self.sums.callee(caller, name)?;
            stack.map(|stack| self.nodes.entry(stack).or_insert(Node { caller, ..Node::default() }));
            caller = stack;
        }
        let stack = self.sums.callee(caller, &function.name)?;
        stack.map(|stack| self.nodes.entry(stack).or_insert(Node { caller, ..Node::default() }));
        self.own = self.own.saturating_add(own.value);
        self.sums.add(stack, Weight::new(own.value, Unit::Elapsed))?;
        for (node, part) in [(caller, total), (stack, own)] {
            let Some(node) = node.map(|node| self.nodes.entry(node).or_default()) else { continue };
            node.of_parts = node.of_parts.saturating_add(part.value);
            node.tolerance = node.tolerance.saturating_add(part.digit);
        }
        if let Some(node) = stack.and_then(|stack| self.nodes.get_mut(&stack)) {
            node.at = Some(at);
            node.total = node.total.saturating_add(total.value);
            node.tolerance = node.tolerance.saturating_add(total.digit);
        }
        self.sums.reserve(self.nodes.capacity() * size_of::<(StackId, Node)>())
    }

    /// Compares a function with its instances.
    fn end_function(&mut self) -> Result<(), Fault> {
        let Some(function) = self.function.take() else { return Ok(()) };
        let Function { name, at, own, expected, instances, of_instances, tolerance } = function;
        let wrong = |what: &str| {
            Err((at, ErrorKind::Malformed(format!("the function {name} has {what}; write the report again"))))
        };
        if expected.is_some_and(|expected| expected != instances) {
            return wrong("a number of instances that differs from its attribute Instances");
        }
        if instances == 0 && own.value > 0 {
            let unplaced = self.unplaced.get_or_insert((at, 0, 0));
            *unplaced = (unplaced.0, unplaced.1 + 1, unplaced.2.saturating_add(own.value));
        } else if own.value.abs_diff(of_instances) > tolerance {
            return wrong("an OwnTime that differs from the sum of its instances");
        }
        Ok(())
    }

    /// Checks the complete report. Returns warnings: the first offset, a message, and a count.
    pub(super) fn check(mut self) -> Result<Vec<(usize, String, u64)>, Fault> {
        self.end_function()?;
        let is_wrong = |node: &&Node| node.of_parts > node.total.saturating_add(node.tolerance);
        if let Some(at) = self.nodes.values().filter(is_wrong).filter_map(|node| node.at).min() {
            let text = "the OwnTime of an instance and its callees are more than its TotalTime; was the report edited?";
            return Err((at, ErrorKind::Malformed(text.to_owned())));
        }
        let unplaced = self.unplaced.map(|(at, count, nanos)| {
            let time = Weight::new(nanos, Unit::Elapsed);
            let text =
                format!("functions have no instances, so their stacks are unknown: {time} of self time is left out");
            (at, text, count)
        });
        let outside = self.outside().map(|(at, count, nanos)| {
            let time = Weight::new(nanos, Unit::Elapsed);
            let text =
                format!("{time} of these functions is in callees that the report does not contain, and is left out");
            (at, text, count)
        });
        let unlisted = self.unlisted.map(|(at, count)| (at, UNLISTED.to_owned(), count));
        Ok(unlisted.into_iter().chain(unplaced).chain(outside).collect())
    }

    /// Returns the time in outermost instances that is not the `OwnTime` of any instance, the offset of the first such instance, and their
    /// number. `None` if rounding explains the difference.
    fn outside(&self) -> Option<(usize, u64, u64)> {
        let caller = |node: &Node| node.caller.and_then(|caller| self.nodes.get(&caller));
        let is_outermost =
            |node: &&Node| std::iter::successors(caller(node), |node| caller(node)).all(|above| above.at.is_none());
        let outermost: Vec<&Node> = self.nodes.values().filter(|node| node.at.is_some()).filter(is_outermost).collect();
        let missing =
            outermost.iter().fold(0, |sum: u64, node| sum.saturating_add(node.total)).checked_sub(self.own)?;
        let tolerance = self.nodes.values().fold(0, |sum: u64, node| sum.saturating_add(node.tolerance));
        let first = outermost.iter().filter_map(|node| node.at).min()?;
        (missing > tolerance).then_some((first, outermost.len() as u64, missing))
    }
}

const UNLISTED: &str =
    "a CallStack has callers that are not functions of the report, so it is assumed that their names contain no /";

/// The maximum number of slashes in a name. More would take too long to split.
const MOST_SLASHES: usize = 8;

impl Names {
    /// Splits the stack of a function into its callers, outermost first.
    fn callers<'t>(&self, stack: &'t str, function: &str) -> Result<Vec<&'t str>, ErrorKind> {
        let malformed = |text: &str| Err(ErrorKind::Malformed(text.to_owned()));
        if stack == function {
            return Ok(Vec::new());
        }
        let Some(callers) = stack.strip_suffix(function).and_then(|callers| callers.strip_suffix('/')) else {
            return malformed("the CallStack of an instance does not end with the FQN of its function");
        };
        let names: Vec<&str> = callers.split('/').collect();
        if names.contains(&"") {
            return malformed("the CallStack of an instance has an empty name");
        }
        let is_joined =
            |slashes: usize| names.windows(slashes + 1).any(|joined| self.with_slash.contains(&joined.join("/")));
        let is_unclear = self.most_slashes > MOST_SLASHES
            || names.iter().any(|&name| !self.plain.contains(name))
            || (1..=self.most_slashes).any(is_joined);
        if self.most_slashes > 0 && is_unclear {
            return malformed(
                "names of functions contain /, so the callers in this CallStack are unclear; open the snapshot in dotTrace",
            );
        }
        Ok(names)
    }
}
