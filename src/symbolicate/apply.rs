//! Builds the symbolicated profile from the answers.

use super::answers::{AnswerFrame, Answers, StringKind};
use super::images::{ImageMap, Key, SymbolicateOptions, first_binaries, key};
use super::same_function::is_same_function;
use super::summary::{BinarySummary, Missing, SymbolicationSummary};
use crate::demangle::mangled_swift;
use crate::hash::HashMap;
use crate::profile::{
    Binary, BinaryId, Frame, FrameId, FrameKey, Full, Profile, ProfileBuilder, RebuildError, Replacement, SourceLine,
};
use crate::symbols::{AppleSymbols, SymbolFinder};
use crate::units::Uuid;

pub(super) fn apply(
    profile: &Profile,
    map: &ImageMap,
    answers: HashMap<Uuid, Answers>,
    finder: &dyn SymbolFinder,
    options: &SymbolicateOptions,
) -> Result<(Profile, SymbolicationSummary), RebuildError> {
    let mut writer = Writer {
        profile,
        map,
        answers: &answers,
        options,
        first: first_binaries(profile),
        tallies: HashMap::default(),
        without_binary: 0,
        is_grouped: grouped_frames(profile),
    };
    let new = profile.with_frames(|builder, id| writer.replace(builder, id))?;
    let summary = writer.summary(&new, finder);
    Ok((new, summary))
}

/// Marks frames that are adjacent to an inlined frame with the same address in any stack.
fn grouped_frames(profile: &Profile) -> Vec<bool> {
    let mut is_grouped = vec![false; profile.frame_ids().len()];
    if !profile.frame_ids().any(|id| profile.frame(id).is_inlined) {
        return is_grouped;
    }
    for stack in profile.stack_ids().map(|id| profile.stack(id)) {
        let Some(parent) = stack.parent.map(|parent| profile.stack(parent).frame) else { continue };
        if profile.frame(parent).is_inlined_beside(profile.frame(stack.frame)) {
            is_grouped[parent.index()] = true;
            is_grouped[stack.frame.index()] = true;
        }
    }
    is_grouped
}

/// An image's answer for one address; has at least one frame.
struct Answer<'a> {
    answers: &'a Answers,
    chain: &'a [AnswerFrame],
}

/// What happened to the name of one frame.
#[derive(Clone, Copy)]
struct Outcome {
    is_named: bool,
    /// True if its function has no name.
    is_nameless: bool,
    disagrees: bool,
}

struct Writer<'a> {
    profile: &'a Profile,
    map: &'a ImageMap,
    answers: &'a HashMap<Uuid, Answers>,
    options: &'a SymbolicateOptions,
    first: HashMap<Uuid, BinaryId>,
    tallies: HashMap<BinaryId, BinarySummary>,
    without_binary: u64,
    /// By frame: true if the recording itself lists it with other frames of the same address, inlined into each other.
    is_grouped: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn replace(&mut self, builder: &mut ProfileBuilder, id: FrameId) -> Result<Replacement, Full> {
        let frame = self.profile.frame(id);
        let binary = self.binary_of(builder, frame)?;
        let was_named = self.profile.function(frame.function).is_named;
        let answer = self.answer(id);
        let (frames, outcome) = match &answer {
            Some(answer) => self.expand(builder, frame, binary, answer)?,
            None => {
                let outcome = Outcome { is_named: was_named, is_nameless: false, disagrees: false };
                (vec![copy(self.profile, builder, frame, binary)?], outcome)
            }
        };
        self.count(builder, binary, |tally| {
            tally.frames += 1;
            tally.named_before += u64::from(was_named);
            tally.named_now += u64::from(outcome.is_named);
            tally.nameless += u64::from(outcome.is_nameless);
            tally.disagreements += u64::from(outcome.disagrees);
            tally.frames_now += frames.len() as u64;
        });
        let covers_callers = answer.is_some_and(|answer| answer.chain.len() > 1);
        Ok(Replacement { frames, covers_callers })
    }

    /// Returns the symbol files' answer for a frame's address, if it is better than the recorded name.
    fn answer(&self, id: FrameId) -> Option<Answer<'a>> {
        let frame = self.profile.frame(id);
        let Key { uuid, address } = key(self.profile, self.map, frame)?;
        let answers = self.answers.get(&uuid)?;
        let chain = answers.at(address);
        let outermost = chain.last()?;
        // For functions folded by the linker, symbol files do not show which one ran. A recorded name is better than such an answer, and a
        // recorded `<deduplicated_symbol>` is kept.
        let is_folded = answers.kind(outermost.function) == Some(StringKind::Folded);
        let function = self.profile.function(frame.function);
        let recorded = self.profile.string(function.name);
        if recorded == AppleSymbols::DEDUPLICATED || (is_folded && function.is_named) {
            return None;
        }
        // A recording that lists inlined functions is more precise than a file that lists one function.
        let is_poorer = chain.len() == 1 && self.is_grouped[id.index()];
        (!is_poorer).then_some(Answer { answers, chain })
    }

    /// Creates the frames of an answer.
    fn expand(
        &mut self,
        builder: &mut ProfileBuilder,
        frame: &Frame,
        binary: Option<BinaryId>,
        answer: &Answer<'_>,
    ) -> Result<(Vec<FrameId>, Outcome), Full> {
        let &Answer { answers, chain } = answer;
        let function = *self.profile.function(frame.function);
        let (kept, was_named) = (function.name, function.is_named);
        let recorded = self.profile.string(kept);
        let is_known = |frame: &AnswerFrame| answers.is_named(frame.function);
        // If a function in the answer matches the recorded name, it keeps the recorded spelling.
        let agreed = if was_named { agreement(recorded, chain, answers) } else { None };
        let knows_name = chain.iter().any(is_known);
        let is_named = was_named || knows_name;
        let is_nameless = !is_named && chain.last().is_some_and(|outermost| outermost.offset.is_some());
        let outcome = Outcome { is_named, is_nameless, disagrees: was_named && agreed.is_none() && knows_name };
        let first_shown = if self.options.with_inlines { 0 } else { chain.len() - 1 };
        let mut frames = Vec::with_capacity(chain.len());
        for (index, answer) in chain.iter().enumerate().skip(first_shown) {
            let is_outermost = index + 1 == chain.len();
            let (name, is_named) = match (answers.text(answer.function), is_known(answer)) {
                _ if agreed == Some(index) => (kept, true),
                (Some(name), true) => (builder.string(name)?, true),
                // Like Instruments, name an unnamed function after its start address.
                _ if is_outermost && !was_named && answer.offset.is_some() => {
                    let start = frame.lookup_address.get().wrapping_sub(answer.offset.unwrap_or(0).into());
                    (builder.string(&format!("{start:#x}"))?, false)
                }
                _ if is_outermost => (kept, was_named),
                // Old Swift compilers left inlined functions unnamed. The caller's name would be wrong.
                _ => (builder.string("<unknown>")?, false),
            };
            let path = answers.text(answer.file).map(|file| builder.string(file)).transpose()?;
            let source = match path {
                Some(path) => Some(SourceLine { path, line: answer.line.unwrap_or(0) }),
                None => frame.source.filter(|_| is_outermost),
            };
            let function = builder.function(name, binary, is_named)?;
            let (address, is_inlined) = (frame.address, !is_outermost);
            let key = FrameKey { function, binary, address, source, is_inlined, group: 0 };
            frames.push(add_frame(builder, frame, key)?);
        }
        Ok((frames, outcome))
    }

    /// Returns the frame's binary, or the image that the user specified for its address.
    fn binary_of(&self, builder: &mut ProfileBuilder, frame: &Frame) -> Result<Option<BinaryId>, Full> {
        if frame.binary.is_some() {
            return Ok(frame.binary);
        }
        let Some(image) = self.map.image(frame.lookup_address) else { return Ok(None) };
        let binary = Binary {
            name: builder.string(&image.name)?,
            uuid: Some(image.uuid),
            arch: Some(builder.string(&image.arch)?),
            load_address: image.load_address,
            path: builder.string(&image.path)?,
        };
        builder.binary(binary).map(Some)
    }

    fn count(&mut self, builder: &ProfileBuilder, binary: Option<BinaryId>, add: impl FnOnce(&mut BinarySummary)) {
        let Some(binary) = binary else {
            self.without_binary += 1;
            return;
        };
        let row = builder.get_binary(binary);
        let first = row.uuid.and_then(|uuid| self.first.get(&uuid).copied()).unwrap_or(binary);
        let tally = self.tallies.entry(first).or_insert_with(|| BinarySummary {
            name: builder.text(row.name).to_owned(),
            uuid: row.uuid,
            arch: row.arch.map(|arch| builder.text(arch).to_owned()).unwrap_or_default(),
            ..BinarySummary::default()
        });
        add(tally);
    }

    fn summary(self, profile: &Profile, finder: &dyn SymbolFinder) -> SymbolicationSummary {
        let mut ids: Vec<BinaryId> = self.tallies.keys().copied().collect();
        ids.sort_unstable();
        let mut tallies = self.tallies;
        let mut binaries: Vec<BinarySummary> = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(mut tally) = tallies.remove(&id) else { continue };
            let answers = tally.uuid.and_then(|uuid| self.answers.get(&uuid));
            tally.used = answers.map(|answers| answers.used.clone()).unwrap_or_default();
            if tally.named_now < tally.frames {
                let has_file = tally.uuid.is_some_and(|uuid| !finder.find(uuid).is_empty());
                let name = profile.string(profile.binary(id).name);
                tally.missing = Some(match has_file {
                    true if tally.named_now + tally.nameless == tally.frames => Missing::Nameless,
                    true => Missing::OutsideFunctions,
                    false => {
                        let mut same_name = finder.find_by_name(name);
                        same_name.sort_by_key(|found| found.arch != tally.arch);
                        Missing::NoFile { same_name }
                    }
                });
            }
            binaries.push(tally);
        }
        binaries.sort_by_key(|tally| std::cmp::Reverse(tally.frames - tally.named_now));
        let mut notes: Vec<_> = self.answers.values().flat_map(|answers| answers.notes.iter().cloned()).collect();
        // Mangled names in the recording are reported elsewhere.
        if mangled_swift(self.profile.named_functions()).is_none() {
            notes.extend(mangled_swift(profile.named_functions()));
        }
        notes.sort_by(|a, b| a.message.cmp(&b.message));
        // Images in one dyld shared cache may have the same note.
        notes.dedup_by(|next, kept| {
            let is_same = next.message == kept.message;
            kept.count += if is_same { next.count } else { 0 };
            is_same
        });
        SymbolicationSummary {
            binaries,
            images: finder.image_count(),
            frames_without_binary: self.without_binary,
            notes,
        }
    }
}

/// Returns the position of the recorded function in an answer. An exact match wins. Otherwise it is the outermost function, if a symbol at its
/// start has the recorded name, or if its name, and no inlined function's, is equivalent.
fn agreement(recorded: &str, chain: &[AnswerFrame], answers: &Answers) -> Option<usize> {
    let named = |frame: &AnswerFrame| answers.text(frame.function).filter(|_| answers.is_named(frame.function));
    if let Some(exact) = chain.iter().rposition(|frame| named(frame) == Some(recorded)) {
        return Some(exact);
    }
    let is_same = |frame: &AnswerFrame| named(frame).is_some_and(|name| is_same_function(recorded, name));
    let (outermost, inlined) = chain.split_last()?;
    let is_alias = answers.aliases(outermost).any(|alias| is_same_function(recorded, alias));
    (is_alias || (is_same(outermost) && !inlined.iter().any(is_same))).then_some(inlined.len())
}

/// Adds a frame unchanged.
fn copy(
    profile: &Profile,
    builder: &mut ProfileBuilder,
    frame: &Frame,
    binary: Option<BinaryId>,
) -> Result<FrameId, Full> {
    let function = profile.function(frame.function);
    let function = builder.function(function.name, binary, function.is_named)?;
    let Frame { address, source, is_inlined, .. } = *frame;
    add_frame(builder, frame, FrameKey { function, binary, address, source, is_inlined, group: 0 })
}

/// Adds a frame, with the lookup address of the frame that it replaces.
fn add_frame(builder: &mut ProfileBuilder, old: &Frame, key: FrameKey) -> Result<FrameId, Full> {
    // Documents with different address conventions keep distinct frames, even for equal addresses.
    let group = old.address.get().wrapping_sub(old.lookup_address.get()) as u32;
    let id = builder.frame(FrameKey { group, ..key })?;
    builder.set_lookup_address(id, old.lookup_address);
    Ok(id)
}
