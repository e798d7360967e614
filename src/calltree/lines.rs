//! The weights of source lines: by line and function, and by file and line for annotated source.

use super::key_sums::KeySums;
use super::keyed::{WeighedStacks, sum_stacks_by_key};
use super::tree::Label;
use super::tree::order_labels;
use crate::hash::{HashMap, IndexSet};
use crate::profile::{Profile, SourceLine, StringId};

/// The weights of a function on one of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineRow {
    /// The function, or [`Label::NoStack`] for samples without a stack.
    pub label: Label,
    /// The line; `None` for frames without a known source. Its number is 0 if only the file is known.
    pub source: Option<SourceLine>,
    /// The weights of samples with the line in their stack. Each sample is counted once, even if the line recurs in its stack.
    pub sums: KeySums,
}

/// The weights of a source file and its lines, over all functions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFileRow {
    /// The path on the machine that compiled the file.
    pub path: StringId,
    /// The weights of the file. Each sample is counted once, even if several of its frames are in the file.
    pub sums: KeySums,
    /// The sampled lines, sorted by line number, from 1. Compiler-generated code (line 0) is not included.
    pub lines: Vec<(u32, KeySums)>,
}

/// Returns the lines of stacks, sorted by self weight, then all weight, then path and line, then function.
pub(crate) fn lines_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<LineRow> {
    let keys = Keys::new(profile.frame_ids().map(|id| {
        let frame = profile.frame(id);
        (frame.source, frame.function)
    }));
    let (sums, no_stack) = sum_stacks_by_key(profile, stacks, &keys.of_frame, keys.keys.len());
    let rows = keys.keys.iter().zip(sums).map(|(&(source, function), sums)| (Label::Function(function), source, sums));
    let rows = rows.chain([(Label::NoStack, None, no_stack)]).filter(|(_, _, sums)| sums.all_samples > 0);
    let mut rows: Vec<LineRow> = rows.map(|(label, source, sums)| LineRow { label, source, sums }).collect();
    let place = |row: &LineRow| row.source.map(|source| (profile.string(source.path), source.line));
    rows.sort_unstable_by(|a, b| {
        let by_weight = a.sums.heaviest_first().cmp(&b.sums.heaviest_first());
        let by_place = by_weight.then_with(|| place(a).cmp(&place(b)));
        by_place.then_with(|| order_labels(profile, a.label, b.label))
    });
    rows
}

/// Returns the source files of stacks, sorted by self weight, then all weight, then path. Frames without a source are not included.
pub(crate) fn source_files_of_stacks(profile: &Profile, stacks: WeighedStacks<'_>) -> Vec<SourceFileRow> {
    let source = |id| profile.frame(id).source;
    let files = Keys::new(profile.frame_ids().map(|id| source(id).map(|source| source.path)));
    let lines = Keys::new(profile.frame_ids().map(source));
    let (sums_of_files, _) = sum_stacks_by_key(profile, stacks, &files.of_frame, files.keys.len());
    let (sums_of_lines, _) = sum_stacks_by_key(profile, stacks, &lines.of_frame, lines.keys.len());
    let mut rows: Vec<SourceFileRow> = Vec::new();
    let mut row_of: HashMap<StringId, usize> = HashMap::default();
    for (path, sums) in files.keys.iter().zip(sums_of_files) {
        let Some(path) = path.filter(|_| sums.all_samples > 0) else { continue };
        row_of.insert(path, rows.len());
        rows.push(SourceFileRow { path, sums, lines: Vec::new() });
    }
    for (source, sums) in lines.keys.iter().zip(sums_of_lines) {
        let Some(source) = source.filter(|source| source.line > 0 && sums.all_samples > 0) else { continue };
        if let Some(&row) = row_of.get(&source.path) {
            rows[row].lines.push((source.line, sums));
        }
    }
    for row in &mut rows {
        row.lines.sort_unstable_by_key(|&(line, _)| line);
    }
    rows.sort_unstable_by(|a, b| {
        let by_weight = a.sums.heaviest_first().cmp(&b.sums.heaviest_first());
        by_weight.then_with(|| profile.string(a.path).cmp(profile.string(b.path)))
    });
    rows
}

/// The distinct keys of frames, in order of first appearance.
struct Keys<K> {
    keys: IndexSet<K>,
    /// For each frame, the index of its key.
    of_frame: Vec<usize>,
}

impl<K: Copy + Eq + std::hash::Hash> Keys<K> {
    fn new(frames: impl Iterator<Item = K>) -> Self {
        let mut keys = IndexSet::default();
        let of_frame = frames.map(|key| keys.insert_full(key).0).collect();
        Self { keys, of_frame }
    }
}
