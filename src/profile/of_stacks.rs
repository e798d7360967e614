//! Creates a small profile of only some stacks.

use super::rebuild::{RebuildError, held};
use super::{
    Binary, BinaryId, Frame, FrameId, FrameKey, Full, Profile, ProfileBuilder, Run, Sample, SampleKind, Series,
    SourceLine, StackId, StringId,
};
use crate::hash::HashMap;
use crate::units::{Nanos, Unit};

impl Profile {
    /// Returns a profile in which sample `i` has the `i`-th of these stacks. It contains only their frames, so symbolication looks up only their
    /// addresses.
    ///
    /// # Errors
    /// If the profile exceeds the memory budget.
    pub fn of_stacks(&self, stacks: &[StackId]) -> Result<Self, RebuildError> {
        let mut copy = Copy::new(self);
        let empty = copy.to.string("")?;
        let run = copy.to.run(Run { input: empty, document: 0, number: 1 })?;
        let series = copy.to.series(Series::new(run, empty, 0, Unit::Samples))?;
        let process = copy.to.process(run, None, empty)?;
        let thread = copy.to.thread(process, None, empty)?;
        for &stack in stacks {
            let stack = Some(copy.stack(stack)?);
            let (time, core, state) = (Nanos::from_nanos(0), None, None);
            let kind = SampleKind::default();
            copy.to.add_sample(Sample { time, weight: 1, series, thread, stack, core, state, kind, samples: 1 })?;
        }
        held(copy.to.finish())
    }
}

/// Copies frames and everything they refer to.
struct Copy<'p> {
    from: &'p Profile,
    to: ProfileBuilder,
    frames: HashMap<FrameId, FrameId>,
    binaries: HashMap<BinaryId, BinaryId>,
    path: Vec<FrameId>,
}

impl<'p> Copy<'p> {
    fn new(from: &'p Profile) -> Self {
        let to = ProfileBuilder::new().within(from.budget.clone());
        Self { from, to, frames: HashMap::default(), binaries: HashMap::default(), path: Vec::new() }
    }

    fn stack(&mut self, stack: StackId) -> Result<StackId, Full> {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        for id in std::iter::successors(Some(stack), |&id| self.from.stack(id).parent) {
            path.push(self.frame(self.from.stack(id).frame)?);
        }
        let new = self.to.stack_path(None, path.iter().rev().copied())?;
        self.path = path;
        new.ok_or(Full)
    }

    fn frame(&mut self, id: FrameId) -> Result<FrameId, Full> {
        if let Some(&known) = self.frames.get(&id) {
            return Ok(known);
        }
        let Frame { function, binary, address, lookup_address, source, is_inlined } = *self.from.frame(id);
        let of = self.from.function(function);
        // The function's binary is copied first, so it becomes the first load address of its UUID.
        let of_function = of.binary.map(|id| self.binary(id)).transpose()?;
        let binary = binary.map(|id| self.binary(id)).transpose()?;
        let name = self.string(of.name)?;
        let function = self.to.function(name, of_function, of.is_named)?;
        let source = source.map(|source| Ok(SourceLine { path: self.string(source.path)?, ..source })).transpose()?;
        let group = id.index() as u32;
        let new = self.to.frame(FrameKey { function, binary, address, source, is_inlined, group })?;
        self.to.set_lookup_address(new, lookup_address);
        self.frames.insert(id, new);
        Ok(new)
    }

    fn binary(&mut self, id: BinaryId) -> Result<BinaryId, Full> {
        if let Some(&known) = self.binaries.get(&id) {
            return Ok(known);
        }
        let binary = *self.from.binary(id);
        let (name, path) = (self.string(binary.name)?, self.string(binary.path)?);
        let arch = binary.arch.map(|arch| self.string(arch)).transpose()?;
        let new = self.to.binary(Binary { name, path, arch, ..binary })?;
        self.binaries.insert(id, new);
        Ok(new)
    }

    fn string(&mut self, id: StringId) -> Result<StringId, Full> {
        self.to.string(self.from.string(id))
    }
}
