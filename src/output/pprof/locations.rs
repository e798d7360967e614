//! The locations of stacks, with their functions and mappings.
//!
//! Frames with the same address are inlined into each other and form one location with several lines. Ids start at 1; 0 means none.

use std::collections::BTreeMap;
use std::io;

use super::message::{Strings, put_bytes, put_number};
use crate::hash::{HashMap, IndexSet};
use crate::output::byte_writer::ByteWriter;
use crate::output::recorded::Programs;
use crate::profile::{BinaryId, Frame, FrameId, FunctionId, Profile, StackId, StringId};
use crate::report::NO_STACK;

/// The locations used so far.
pub(super) struct Locations<'p> {
    profile: &'p Profile,
    /// The frames of each location, innermost first; empty for stacks that were not recorded.
    places: IndexSet<Vec<FrameId>>,
}

/// The properties of a mapping that depend on its locations.
struct Mapping {
    id: u64,
    /// The highest address of a location.
    last: u64,
    has_lines: bool,
    has_inlined: bool,
}

impl<'p> Locations<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self { profile, places: IndexSet::default() }
    }

    /// Appends the locations of a stack, leaf first.
    pub(super) fn push(&mut self, stack: Option<StackId>, ids: &mut Vec<u64>) {
        let profile = self.profile;
        let path = std::iter::successors(stack, |&id| profile.stack(id).parent).map(|id| profile.stack(id).frame);
        let path: Vec<FrameId> = path.collect();
        let mut rest = path.as_slice();
        while !rest.is_empty() {
            let (frames, callers) = rest.split_at(frames_of_location(profile, rest));
            ids.push(self.id(frames));
            rest = callers;
        }
        if path.is_empty() {
            ids.push(self.id(&[]));
        }
    }

    fn id(&mut self, frames: &[FrameId]) -> u64 {
        let known = self.places.get_index_of(frames);
        known.unwrap_or_else(|| self.places.insert_full(frames.to_vec()).0) as u64 + 1
    }

    /// Writes the locations, then the functions and mappings that they refer to.
    pub(super) fn write(
        &self,
        programs: &Programs<'p>,
        strings: &mut Strings<'p>,
        writer: &mut ByteWriter<'_>,
    ) -> io::Result<()> {
        // Readers treat the first mapping as the main program, even if it contains no location.
        let has_program = self.binaries().any(|id| programs.rank(self.profile, id) == 0);
        let unsampled = programs.first().filter(|_| !has_program);
        let mappings = self.mappings(programs, if unsampled.is_some() { 2 } else { 1 });
        let mut functions = Functions { profile: self.profile, ids: HashMap::default() };
        let (mut message, mut line) = (Vec::new(), Vec::new());
        for (index, place) in self.places.iter().enumerate() {
            message.clear();
            put_number(1, index as u64 + 1, &mut message);
            let frames = place.iter().map(|&id| self.profile.frame(id));
            if let Some(innermost) = frames.clone().next() {
                let mapping = innermost.binary.and_then(|binary| mappings.get(&binary));
                put_number(2, mapping.map_or(0, |mapping| mapping.id), &mut message);
                put_number(3, innermost.lookup_address.get(), &mut message);
            }
            let no_stack = place.is_empty().then_some((None, None));
            for (function, source) in frames.map(|frame| (Some(frame.function), frame.source)).chain(no_stack) {
                line.clear();
                let path = source.map(|source| source.path);
                put_number(1, functions.id(function, path, strings, writer), &mut line);
                put_number(2, source.map_or(0, |source| source.line.into()), &mut line);
                put_bytes(4, &line, &mut message);
            }
            put_bytes(4, &message, &mut writer.text);
            writer.flush_if_full()?;
        }
        if let Some(program) = unsampled {
            message.clear();
            put_number(1, 1, &mut message);
            put_number(5, strings.id(program), &mut message);
            put_number(7, 1, &mut message);
            put_bytes(3, &message, &mut writer.text);
        }
        self.write_mappings(&mappings, strings, writer)
    }

    /// The binary of every location that has one.
    fn binaries(&self) -> impl Iterator<Item = BinaryId> {
        let innermost = self.places.iter().filter_map(|place| place.first());
        innermost.filter_map(|&id| self.profile.frame(id).binary)
    }

    /// The binaries of locations. Main executables come first, with numbers from `first`.
    fn mappings(&self, programs: &Programs<'_>, first: u64) -> BTreeMap<BinaryId, Mapping> {
        let mut mappings: BTreeMap<BinaryId, Mapping> = BTreeMap::new();
        for place in &self.places {
            for (level, &id) in place.iter().enumerate() {
                let frame = self.profile.frame(id);
                let Some(binary) = frame.binary else { continue };
                let known = Mapping { id: 0, last: 0, has_lines: true, has_inlined: false };
                let mapping = mappings.entry(binary).or_insert(known);
                mapping.last = mapping.last.max(frame.lookup_address.get());
                mapping.has_lines &= frame.source.is_some();
                mapping.has_inlined |= level > 0;
            }
        }
        let mut order: Vec<BinaryId> = mappings.keys().copied().collect();
        order.sort_by_key(|&id| programs.rank(self.profile, id));
        for (id, binary) in (first..).zip(order) {
            if let Some(mapping) = mappings.get_mut(&binary) {
                mapping.id = id;
            }
        }
        mappings
    }

    fn write_mappings(
        &self,
        mappings: &BTreeMap<BinaryId, Mapping>,
        strings: &mut Strings<'p>,
        writer: &mut ByteWriter<'_>,
    ) -> io::Result<()> {
        let profile = self.profile;
        let mut starts: Vec<u64> = profile.binary_ids().map(|id| profile.binary(id).load_address.get()).collect();
        starts.sort_unstable();
        let mut order: Vec<(&BinaryId, &Mapping)> = mappings.iter().collect();
        order.sort_by_key(|(_, mapping)| mapping.id);
        let mut message = Vec::new();
        for (&id, mapping) in order {
            let binary = profile.binary(id);
            let start = binary.load_address.get();
            let last = mapping.last.max(start);
            // The end of the binary is not recorded.
            let next = starts.get(starts.partition_point(|&start| start <= last)).copied();
            let path = if profile.string(binary.path).is_empty() { binary.name } else { binary.path };
            message.clear();
            put_number(1, mapping.id, &mut message);
            put_number(2, start, &mut message);
            put_number(3, next.unwrap_or(last.saturating_add(1)), &mut message);
            put_number(5, strings.id(profile.string(path)), &mut message);
            put_number(6, binary.uuid.map_or(0, |uuid| strings.id(uuid.to_string())), &mut message);
            // An unnamed function is named by its address. If a mapping had no functions, pprof would look for its file, which is on another
            // machine, and report an error.
            put_number(7, 1, &mut message);
            put_number(8, mapping.has_lines.into(), &mut message);
            put_number(9, mapping.has_lines.into(), &mut message);
            put_number(10, mapping.has_inlined.into(), &mut message);
            put_bytes(3, &message, &mut writer.text);
            writer.flush_if_full()?;
        }
        Ok(())
    }
}

/// The number of frames, from the leaf on, that belong to the same location as the first one.
///
/// Symbolicated profiles mark the inner frames of an address, recordings the outer ones.
fn frames_of_location(profile: &Profile, frames: &[FrameId]) -> usize {
    let marks_inner = frames.first().is_some_and(|&id| profile.frame(id).is_inlined);
    let is_joined = |callee: &Frame, caller: &Frame| match marks_inner {
        true => callee.is_inlined && (callee.binary, callee.address) == (caller.binary, caller.address),
        false => caller.is_inlined_beside(callee),
    };
    let pairs = frames.windows(2).map(|pair| (profile.frame(pair[0]), profile.frame(pair[1])));
    1 + pairs.take_while(|(callee, caller)| is_joined(callee, caller)).count()
}

/// The functions written so far. A function with several source files is written once for each file.
struct Functions<'p> {
    profile: &'p Profile,
    ids: HashMap<(Option<FunctionId>, Option<StringId>), u64>,
}

impl<'p> Functions<'p> {
    /// Returns the id of a function in a file, or of the function for stacks that were not recorded. Writes the function if it is new.
    fn id(
        &mut self,
        function: Option<FunctionId>,
        path: Option<StringId>,
        strings: &mut Strings<'p>,
        writer: &mut ByteWriter<'_>,
    ) -> u64 {
        let next = self.ids.len() as u64 + 1;
        let id = *self.ids.entry((function, path)).or_insert(next);
        if id == next {
            let file = path.map_or(0, |path| strings.id(self.profile.string(path)));
            let name = strings.id(function.map_or(NO_STACK, |function| self.profile.function_name(function)));
            let mut message = Vec::new();
            for (field, number) in [(1, id), (2, name), (3, name), (4, file)] {
                put_number(field, number, &mut message);
            }
            put_bytes(5, &message, &mut writer.text);
        }
        id
    }
}
