//! The names of the frames of a crash report.

use std::ops::Range;

use crate::error::Error;
use crate::hash::{HashMap, IndexMap};
use crate::profile::{Profile, RebuildError};
use crate::readers::crash::{CrashReport, Frame};
use crate::recording::{FrameKind, Options, RecordingBuilder, SampleDetail};
use crate::symbolicate::{SymbolicateOptions, SymbolicationSummary};
use crate::symbols::SymbolFinder;
use crate::units::Uuid;

/// A crash report with the names of its frames.
#[derive(Debug)]
pub(super) struct NamedReport<'r> {
    pub(super) report: &'r CrashReport,
    /// The new functions at each address, innermost first; empty without a new name.
    functions: Vec<Vec<Function>>,
    /// The index in `functions` for each frame.
    of_frames: HashMap<FrameKey, usize>,
    pub(super) summary: SymbolicationSummary,
}

/// A function at the address of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The distance from its start to the address; unknown for inlined functions.
    pub(super) offset: Option<u64>,
    /// The name of the source file, without its folder, and the line.
    pub(super) source: Option<(String, u32)>,
}

/// Identifies a frame: the start of its text, which all frames of a list share, its image and its address.
type FrameKey = (usize, Option<usize>, u64);

fn key(frame: &Frame) -> FrameKey {
    (frame.span.start, frame.image, frame.address)
}

/// A change to the text of a report.
pub(super) type Edit = (Range<usize>, String);

/// The addresses to look up in an image, with the index of their functions and the distance to the recorded address.
type LookUps = HashMap<Uuid, Vec<(u64, usize, u64)>>;

impl<'r> NamedReport<'r> {
    /// Names the frames of a report.
    ///
    /// # Errors
    /// If the names exceed the memory budget.
    pub(super) fn new(
        report: &'r CrashReport,
        finder: &dyn SymbolFinder,
        options: &SymbolicateOptions,
    ) -> Result<Self, Error> {
        let (frames, of_frames) = different_frames(report);
        let mut recording = RecordingBuilder::new(Options { samples: SampleDetail::Summed, ..report.options.clone() });
        report.add_frames(&frames, &mut recording)?;
        let profile = recording.finish()?.profile;
        let (named, summary) = profile.symbolicate(finder, options).map_err(|error| match error {
            RebuildError::Memory(over) => Error::memory(over, None),
            other => Error::limit(other),
        })?;
        let (before, _) = functions(&profile, frames.len());
        let (mut functions, mut look_ups) = functions(&named, frames.len());
        for (new, old) in functions.iter_mut().zip(before) {
            if *new == old {
                new.clear();
            }
        }
        look_ups.values_mut().for_each(|rows| rows.retain(|&(_, index, _)| !functions[index].is_empty()));
        add_offsets(&mut functions, look_ups, finder, report);
        Ok(Self { report, functions, of_frames, summary })
    }

    /// The new functions of a frame, innermost first; empty without a new name.
    pub(super) fn of(&self, frame: &Frame) -> &[Function] {
        self.of_frames.get(&key(frame)).and_then(|&index| self.functions.get(index)).map_or(&[], Vec::as_slice)
    }
}

/// The different frames to name, each once, and the index of each.
fn different_frames(report: &CrashReport) -> (Vec<(&Frame, FrameKind)>, HashMap<FrameKey, usize>) {
    let mut different = IndexMap::default();
    let mut of_frames = HashMap::default();
    for stack in report.report.stacks() {
        let (mut kind, mut is_inside) = (report.report.kind_of_first(stack), false);
        for frame in &stack.frames {
            // A line inside of a JSON string stays as it is.
            if !frame.is_inlined && !is_inside && !frame.span.is_empty() {
                let is_leaf = kind == FrameKind::RawLeaf;
                let entry = different.entry((frame.image, frame.address, is_leaf, &frame.name, &frame.source));
                of_frames.insert(key(frame), entry.index());
                entry.or_insert((frame, kind));
            }
            is_inside = frame.is_inlined;
            if !is_inside {
                kind = FrameKind::RawCaller;
            }
        }
    }
    (different.into_values().collect(), of_frames)
}

/// The named functions at the address of each frame. Each frame is in a separate thread with the same index.
fn functions(profile: &Profile, count: usize) -> (Vec<Vec<Function>>, LookUps) {
    let (mut functions, mut look_ups) = (vec![Vec::new(); count], LookUps::default());
    for sum in profile.sums_or_samples() {
        let index = sum.thread.index();
        let Some(of_frame) = functions.get_mut(index) else { continue };
        for frame in profile.frames_leaf_first(sum.stack) {
            if !profile.function(frame.function).is_named && !frame.is_inlined {
                of_frame.clear();
                break;
            }
            let source = frame.source.map(|source| {
                let path = profile.string(source.path);
                (path.rsplit('/').next().unwrap_or(path).to_owned(), source.line)
            });
            of_frame.push(Function { name: profile.function_name(frame.function).to_owned(), offset: None, source });
            let uuid = frame.binary.and_then(|binary| profile.binary(binary).uuid);
            if let Some(uuid) = uuid.filter(|_| !frame.is_inlined) {
                let address = frame.lookup_address.get();
                look_ups.entry(uuid).or_default().push((address, index, frame.address.get().saturating_sub(address)));
            }
        }
    }
    (functions, look_ups)
}

/// Looks up the distance of each address from the start of its function, since recordings do not contain it.
fn add_offsets(functions: &mut [Vec<Function>], look_ups: LookUps, finder: &dyn SymbolFinder, report: &CrashReport) {
    for (uuid, rows) in look_ups {
        let mut addresses: Vec<u64> = rows.iter().map(|&(address, ..)| address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let mut offsets = vec![None; addresses.len()];
        finder.look_up(uuid, &addresses, &report.options.memory, &mut |index, frames| {
            offsets[index] = frames.last().and_then(|frame| frame.offset);
        });
        for (address, index, distance) in rows {
            let offset = addresses.binary_search(&address).ok().and_then(|index| offsets[index]);
            if let Some(function) = functions[index].last_mut() {
                function.offset = offset.and_then(|offset: u64| offset.checked_add(distance));
            }
        }
    }
}
