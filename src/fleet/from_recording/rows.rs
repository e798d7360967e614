//! The rows of a run: the weights of functions, binaries and seconds, by the names of process and thread.
//!
//! The cost depends on the number of distinct stacks. Stacks refer to their parents, so samples below every caller are summed from the leaves to
//! the roots, once per thread name. A function counts once per stack, at its outermost occurrence, which is the same for every thread and
//! computed once.

use super::tally::{Sum, Tally};
use super::trees::Trees;
use crate::fleet::run::{FrameRow, NameId, NamesBuilder, RunMeasures, RunRecord, StackRow, WindowRow};
use crate::memory::{OverBudget, of_vec};
use crate::profile::{FunctionId, Profile, StackId, ThreadId};

/// Creates the rows for the runs of one profile, one after another.
pub(super) struct Rows<'p> {
    profile: &'p Profile,
    functions: Axis<'p>,
    binaries: Axis<'p>,
    /// Builds the call trees, if they are kept.
    trees: Option<Trees<'p>>,
    /// By stack: the samples at and below it. Reset to zero between threads.
    below: Vec<Sum>,
    is_touched: Vec<bool>,
    touched: Vec<StackId>,
}

/// The keys that stacks are summed by: binaries, or functions of binaries.
struct Axis<'p> {
    /// The distinct pairs of binary and function, sorted. Keys are indices of this list, so they sort like the strings.
    texts: Vec<(&'p str, &'p str)>,
    /// Indexed by function.
    key_of: Vec<u32>,
    /// The key of samples without a stack.
    no_stack: u32,
    /// By stack: true if no caller has the same key.
    is_outermost: Vec<bool>,
    /// By key. Reset to zero between threads.
    sums: Vec<KeySums>,
    touched: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct KeySums {
    own: Sum,
    all: Sum,
    is_touched: bool,
}

/// Threads grouped by process name, thread name, and whether they are main threads: the sorted groups, and each thread's group.
struct Groups<'p> {
    /// Process, thread, and whether these are main threads.
    names: Vec<(&'p str, &'p str, bool)>,
    of_thread: Vec<u32>,
}

impl<'p> Rows<'p> {
    pub(super) fn new(profile: &'p Profile, with_stacks: bool) -> Self {
        let name = |id: FunctionId| profile.string(profile.function(id).name);
        let binary = |id: FunctionId| profile.binary_name(id).unwrap_or_default();
        let shown = |id: FunctionId| if profile.function(id).is_named { name(id) } else { FrameRow::UNNAMED };
        let mut functions = Axis::new(profile, |id| (binary(id), shown(id)), ("", FrameRow::STACKLESS));
        let mut binaries = Axis::new(profile, |id| (binary(id), ""), ("", ""));
        mark_outermost(profile, [&mut functions, &mut binaries]);
        let stacks = profile.stack_ids().len();
        let (below, is_touched) = (vec![Sum::default(); stacks], vec![false; stacks]);
        let trees = with_stacks.then(|| Trees::new(profile, &functions.key_of));
        Self { profile, functions, binaries, trees, below, is_touched, touched: Vec::new() }
    }

    /// The approximate memory use in bytes, if every stack is used.
    pub(super) fn memory(&self) -> u64 {
        let touched = self.below.len() * size_of::<StackId>();
        self.functions.memory()
            + self.binaries.memory()
            + of_vec(&self.below)
            + of_vec(&self.is_touched)
            + touched as u64
    }

    /// Returns the run with its rows. A selected thread without selected samples has a row, which shows that it exists.
    ///
    /// # Errors
    /// If its trees exceed the memory budget.
    pub(super) fn measures(
        &mut self,
        record: RunRecord,
        tally: &Tally,
        threads: &[ThreadId],
    ) -> Result<RunMeasures, OverBudget> {
        let counted = tally.stacks.keys().map(|&(thread, _)| thread);
        let groups = Groups::new(self.profile, counted.chain(threads.iter().copied()));
        let mut names = NamesBuilder::default();
        let (mut frames, mut binaries, mut trees) = (Vec::new(), Vec::new(), Vec::new());
        let mut reserved = self.profile.budget().nothing();
        let stacks = tally.stacks.iter().map(|(&(thread, stack), &sum)| (groups.of(thread), stack, sum));
        let mut stacks: Vec<(u32, Option<StackId>, Sum)> = stacks.collect();
        stacks.sort_unstable_by_key(|&(group, stack, _)| (group, stack));
        let mut by_group = stacks.chunk_by(|a, b| a.0 == b.0).peekable();
        for group in 0..groups.names.len() as u32 {
            let (process, thread, is_main_thread) = groups.ids(group, &mut names);
            let row = |binary, function, sums: KeySums| FrameRow {
                process,
                thread,
                is_main_thread,
                binary,
                function,
                self_weight: sums.own.weight,
                all_weight: sums.all.weight,
                self_samples: sums.own.samples,
                all_samples: sums.all.samples,
            };
            let Some(rows) = by_group.next_if(|rows| rows[0].0 == group) else {
                frames.push(row(names.id(""), names.id(FrameRow::STACKLESS), KeySums::default()));
                continue;
            };
            if let Some(all) = &self.trees {
                let row = |key: u32, category| {
                    let (binary, function) = self.functions.texts[key as usize];
                    let (binary, function) = (names.id(binary), names.id(function));
                    let (parent, self_weight, self_samples) = (None, 0, 0);
                    StackRow {
                        process,
                        thread,
                        is_main_thread,
                        parent,
                        binary,
                        category,
                        function,
                        self_weight,
                        self_samples,
                    }
                };
                all.add(rows, self.functions.no_stack, row, (&mut trees, &mut reserved))?;
            }
            self.sum_up(rows);
            let functions = self.functions.take();
            frames.extend(functions.map(|((binary, function), sums)| row(names.id(binary), names.id(function), sums)));
            let of_binaries = self.binaries.take();
            binaries.extend(of_binaries.map(|((binary, _), sums)| row(names.id(binary), NameId::NONE, sums)));
        }
        let windows = windows(tally, &groups, &mut names);
        Ok(RunMeasures {
            record,
            names: names.finish(),
            frames,
            binaries,
            windows,
            stacks: trees,
            intervals: None,
            histograms: Vec::new(),
        })
    }

    /// Sums the stacks of a group by the keys of both axes.
    fn sum_up(&mut self, rows: &[(u32, Option<StackId>, Sum)]) {
        let Self { profile, functions, binaries, below, is_touched, touched, .. } = self;
        for &(_, stack, sum) in rows {
            let Some(stack) = stack else {
                for axis in [&mut *functions, &mut *binaries] {
                    axis.add(axis.no_stack, sum, sum);
                }
                continue;
            };
            below[stack.index()].add(sum);
            let leaf = profile.function_of_stack(stack);
            for axis in [&mut *functions, &mut *binaries] {
                axis.add(axis.key_of[leaf.index()], sum, Sum::default());
            }
            let mut next = Some(stack);
            while let Some(id) = next.filter(|id| !std::mem::replace(&mut is_touched[id.index()], true)) {
                touched.push(id);
                next = profile.stack(id).parent;
            }
        }
        // Parents precede their children.
        touched.sort_unstable();
        while let Some(id) = touched.pop() {
            is_touched[id.index()] = false;
            let sum = std::mem::take(&mut below[id.index()]);
            let stack = profile.stack(id);
            if let Some(parent) = stack.parent {
                below[parent.index()].add(sum);
            }
            let function = profile.frame(stack.frame).function;
            for axis in [&mut *functions, &mut *binaries] {
                if axis.is_outermost[id.index()] {
                    axis.add(axis.key_of[function.index()], Sum::default(), sum);
                }
            }
        }
    }
}

impl<'p> Axis<'p> {
    fn new(
        profile: &'p Profile,
        texts_of: impl Fn(FunctionId) -> (&'p str, &'p str),
        no_stack: (&'p str, &'p str),
    ) -> Self {
        let mut texts: Vec<(&str, &str)> = profile.function_ids().map(&texts_of).collect();
        texts.push(no_stack);
        texts.sort_unstable();
        texts.dedup();
        let key = |pair| texts.binary_search(&pair).unwrap_or_default() as u32;
        let key_of = profile.function_ids().map(|id| key(texts_of(id))).collect();
        let (no_stack, sums) = (key(no_stack), vec![KeySums::default(); texts.len()]);
        Self { texts, key_of, no_stack, is_outermost: Vec::new(), sums, touched: Vec::new() }
    }

    fn memory(&self) -> u64 {
        of_vec(&self.texts) + of_vec(&self.key_of) + of_vec(&self.is_outermost) + of_vec(&self.sums)
    }

    fn add(&mut self, key: u32, own: Sum, all: Sum) {
        let sums = &mut self.sums[key as usize];
        sums.own.add(own);
        sums.all.add(all);
        if !std::mem::replace(&mut sums.is_touched, true) {
            self.touched.push(key);
        }
    }

    /// Returns the sums of all keys with samples, sorted by their strings, and resets the sums.
    fn take(&mut self) -> impl Iterator<Item = ((&'p str, &'p str), KeySums)> {
        let Self { texts, sums, touched, .. } = self;
        touched.sort_unstable();
        touched.drain(..).map(|key| (texts[key as usize], std::mem::take(&mut sums[key as usize])))
    }
}

/// Finds the stacks whose key no caller has, walking the stacks as a tree.
fn mark_outermost(profile: &Profile, mut axes: [&mut Axis<'_>; 2]) {
    enum Step {
        Enter(StackId),
        Leave(FunctionId),
    }
    let (roots, children) = children(profile);
    let mut on_path = axes.each_ref().map(|axis| vec![0_u32; axis.texts.len()]);
    for axis in &mut axes {
        axis.is_outermost = vec![false; profile.stack_ids().len()];
    }
    let mut todo: Vec<Step> = siblings(roots, &children).map(Step::Enter).collect();
    while let Some(step) = todo.pop() {
        match step {
            Step::Enter(id) => {
                let function = profile.function_of_stack(id);
                for (axis, on_path) in axes.iter_mut().zip(&mut on_path) {
                    let times = &mut on_path[axis.key_of[function.index()] as usize];
                    axis.is_outermost[id.index()] = *times == 0;
                    *times += 1;
                }
                todo.push(Step::Leave(function));
                todo.extend(siblings(children[id.index()].first, &children).map(Step::Enter));
            }
            Step::Leave(function) => {
                for (axis, on_path) in axes.iter().zip(&mut on_path) {
                    on_path[axis.key_of[function.index()] as usize] -= 1;
                }
            }
        }
    }
}

/// The first child and the next sibling of a stack.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    first: Option<StackId>,
    next: Option<StackId>,
}

/// The first root, and the links of each stack.
fn children(profile: &Profile) -> (Option<StackId>, Vec<Links>) {
    let mut links = vec![Links::default(); profile.stack_ids().len()];
    let mut first_root = None;
    for id in profile.stack_ids() {
        let first = match profile.stack(id).parent {
            Some(parent) => &mut links[parent.index()].first,
            None => &mut first_root,
        };
        links[id.index()].next = first.replace(id);
    }
    (first_root, links)
}

fn siblings(first: Option<StackId>, links: &[Links]) -> impl Iterator<Item = StackId> {
    std::iter::successors(first, |id| links[id.index()].next)
}

impl<'p> Groups<'p> {
    fn new(profile: &'p Profile, threads: impl Iterator<Item = ThreadId>) -> Self {
        let texts = |id: ThreadId| {
            let thread = profile.thread(id);
            (profile.string(profile.process(thread.process).name), profile.string(thread.name), thread.is_main)
        };
        let mut used: Vec<ThreadId> = threads.collect();
        used.sort_unstable();
        used.dedup();
        let mut names: Vec<(&str, &str, bool)> = used.iter().map(|&id| texts(id)).collect();
        names.sort_unstable();
        names.dedup();
        let mut of_thread = vec![0; profile.thread_ids().len()];
        for id in used {
            of_thread[id.index()] = names.binary_search(&texts(id)).unwrap_or_default() as u32;
        }
        Self { names, of_thread }
    }

    fn of(&self, thread: ThreadId) -> u32 {
        self.of_thread[thread.index()]
    }

    /// The names of process and thread, and whether these are main threads.
    fn ids(&self, group: u32, names: &mut NamesBuilder) -> (NameId, NameId, bool) {
        let (process, thread, is_main_thread) = self.names[group as usize];
        (names.id(process), names.id(thread), is_main_thread)
    }
}

/// The rows for the seconds of every group.
fn windows(tally: &Tally, groups: &Groups<'_>, names: &mut NamesBuilder) -> Vec<WindowRow> {
    let seconds = tally.seconds.iter().map(|(&(thread, second), &sum)| (groups.of(thread), second, sum));
    let mut seconds: Vec<(u32, u32, Sum)> = seconds.collect();
    seconds.sort_unstable_by_key(|&(group, second, _)| (group, second));
    let rows = seconds.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|rows| {
        let (group, second, _) = rows[0];
        let (process, thread, is_main_thread) = groups.ids(group, names);
        let mut total = Sum::default();
        rows.iter().for_each(|&(_, _, sum)| total.add(sum));
        WindowRow { process, thread, is_main_thread, second, weight: total.weight, samples: total.samples }
    });
    rows.collect()
}
