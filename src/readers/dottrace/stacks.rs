//! Instances become sums of a recording.

use super::function::{Element, Time, Times};
use super::report::{Fault, Names};
use crate::error::ErrorKind;
use crate::hash::HashMap;
use crate::profile::{Full, StackId};
use crate::recording::{FrameKind, InputBuilder};
use crate::units::{Unit, Weight};

/// The function whose instances follow.
struct Function {
    name: String,
    at: usize,
    own: Time,
    expected: Option<u64>,
    instances: u64,
    of_instances: u64,
    /// The most by which the sum of rounded times may differ.
    tolerance: u64,
}

/// A node of the call tree.
#[derive(Default)]
struct Node {
    at: usize,
    total: u64,
    own: u64,
    /// The total of the callees that are in the report.
    of_callees: u64,
    tolerance: u64,
    is_reported: bool,
}

/// Adds instances to an input.
pub(super) struct Stacks<'n, 'i> {
    names: &'n Names,
    max_depth: usize,
    pub(super) input: InputBuilder<'i>,
    thread: u32,
    function: Option<Function>,
    nodes: HashMap<StackId, Node>,
    /// The first function with own time and without instances, how many there are, and their own time.
    unplaced: Option<(usize, u64, u64)>,
}

impl<'n, 'i> Stacks<'n, 'i> {
    pub(super) fn new(names: &'n Names, max_depth: usize, mut input: InputBuilder<'i>) -> Result<Self, ErrorKind> {
        let process = input.process(None, "").map_err(limit)?;
        let thread = input.thread(None, Some(process), "").map_err(limit)?;
        Ok(Self { names, max_depth, input, thread, function: None, nodes: HashMap::default(), unplaced: None })
    }

    /// Adds an element of the report.
    pub(super) fn take(&mut self, element: Element<'_>, at: usize) -> Result<(), Fault> {
        match element {
            Element::Function { name, times: Times { own, .. }, instances: expected } => {
                self.end_function()?;
                let (name, tolerance) = (name.to_owned(), own.digit);
                self.function = Some(Function { name, at, own, expected, instances: 0, of_instances: 0, tolerance });
                Ok(())
            }
            Element::Instance { stack, times } => self.instance(stack, &times, at).map_err(|kind| (at, kind)),
        }
    }

    fn instance(&mut self, text: &str, times: &Times, at: usize) -> Result<(), ErrorKind> {
        let Some(function) = &mut self.function else { return Ok(()) };
        function.instances += 1;
        function.of_instances = function.of_instances.saturating_add(times.own.nanos);
        function.tolerance = function.tolerance.saturating_add(times.own.digit);
        let callers = callers_of(text, &function.name, self.names)?;
        if callers.len() >= self.max_depth {
            return Err(ErrorKind::Limit(format!("a stack has more than {} frames", self.max_depth)));
        }
        let mut frames = Vec::new();
        for name in [function.name.as_str()].into_iter().chain(callers.iter().rev().copied()) {
            frames.push(self.input.named_frame((FrameKind::RawLeaf, 0), None, name, None).map_err(limit)?);
        }
        let caller = self.input.stack(None, frames.get(1..).unwrap_or_default()).map_err(limit)?;
        let stack = self.input.stack(caller, frames.get(..1).unwrap_or_default()).map_err(limit)?;
        if times.own.nanos > 0 {
            let weight = Weight::new(times.own.nanos, Unit::Elapsed);
            self.input.add_weight(self.thread, stack, weight).map_err(limit)?;
        }
        self.add_node(caller, stack, times, at)
    }

    fn add_node(
        &mut self,
        caller: Option<StackId>,
        stack: Option<StackId>,
        Times { total, own }: &Times,
        at: usize,
    ) -> Result<(), ErrorKind> {
        if let Some(caller) = caller {
            let caller = self.nodes.entry(caller).or_default();
            caller.of_callees = caller.of_callees.saturating_add(total.nanos);
            caller.tolerance = caller.tolerance.saturating_add(total.digit);
        }
        let Some(stack) = stack else { return Ok(()) };
        let node = self.nodes.entry(stack).or_default();
        node.total = node.total.saturating_add(total.nanos);
        node.own = node.own.saturating_add(own.nanos);
        node.tolerance = node.tolerance.saturating_add(total.digit).saturating_add(own.digit);
        (node.at, node.is_reported) = (at, true);
        let bytes = (self.nodes.capacity() * size_of::<(StackId, Node)>()) as u64;
        if self.nodes.len().is_multiple_of(1 << 10) {
            self.input.recording.reserve(bytes).map_err(ErrorKind::Memory)?;
        }
        Ok(())
    }

    /// Compares a function with its instances.
    fn end_function(&mut self) -> Result<(), Fault> {
        let Some(function) = self.function.take() else { return Ok(()) };
        let Function { name, at, own, expected, instances, of_instances, tolerance } = function;
        let wrong =
            |what: &str| Err((at, ErrorKind::Malformed(format!("the function {name} {what}; write the report again"))));
        if expected.is_some_and(|expected| expected != instances) {
            return wrong("has another number of instances than its attribute Instances");
        }
        if instances == 0 && own.nanos > 0 {
            let unplaced = self.unplaced.get_or_insert((at, 0, 0));
            unplaced.1 += 1;
            unplaced.2 = unplaced.2.saturating_add(own.nanos);
        } else if own.nanos.abs_diff(of_instances) > tolerance {
            return wrong("has another OwnTime than its instances together");
        }
        Ok(())
    }

    /// Checks the complete report. Returns a message about functions without instances, with the place of the first and their number.
    pub(super) fn check(&mut self) -> Result<Option<(usize, String, u64)>, Fault> {
        self.end_function()?;
        let is_wrong = |node: &&Node| {
            node.is_reported && node.own.saturating_add(node.of_callees) > node.total.saturating_add(node.tolerance)
        };
        if let Some(node) = self.nodes.values().filter(is_wrong).min_by_key(|node| node.at) {
            let text = "the OwnTime of an instance and its callees are more than its TotalTime; was the report edited?";
            return Err((node.at, ErrorKind::Malformed(text.to_owned())));
        }
        Ok(self.unplaced.map(|(at, count, nanos)| {
            let time = Weight::new(nanos, Unit::Elapsed);
            let text =
                format!("functions have no instances, so their stacks are unknown: {time} of self time is left out");
            (at, text, count)
        }))
    }
}

fn limit(full: Full) -> ErrorKind {
    ErrorKind::Limit(full.to_string())
}

/// The callers in a stack, outermost first.
fn callers_of<'s>(stack: &'s str, function: &str, names: &Names) -> Result<Vec<&'s str>, ErrorKind> {
    let malformed = |text: &str| Err(ErrorKind::Malformed(text.to_owned()));
    let Some(before) = stack.strip_suffix(function) else {
        return malformed("the CallStack of an instance does not end with the FQN of its function");
    };
    let callers = match before.strip_suffix('/') {
        Some(callers) => callers,
        None if before.is_empty() => return Ok(Vec::new()),
        None => return malformed("the CallStack of an instance does not end with the FQN of its function"),
    };
    let split: Vec<&str> = callers.split('/').collect();
    if split.iter().any(|name| name.is_empty()) {
        return malformed("the CallStack of an instance has an empty name");
    }
    let between = format!("/{callers}/");
    let is_joined = |name: &String| between.contains(&format!("/{name}/"));
    let is_ambiguous = !names.with_slash.is_empty()
        && (names.with_slash.iter().any(is_joined) || split.iter().any(|&name| !names.all.contains(name)));
    if is_ambiguous {
        return malformed(
            "names of functions contain /, so the callers in this CallStack are unclear; open the snapshot in dotTrace",
        );
    }
    Ok(split)
}
