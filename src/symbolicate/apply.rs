//! Makes the new profile from the answers.

use super::images::ImageMap;
use super::lookup::{AnswerFrame, Answers};
use super::names::{is_hex_address, is_same_function};
use super::summary::{BinarySummary, Missing, SymbolicationSummary};
use super::{SymbolicateOptions, first_binaries, key};
use crate::hash::HashMap;
use crate::profile::{
    Binary, BinaryId, Frame, FrameId, FrameKey, Full, Profile, ProfileBuilder, Replacement, SourceLine,
};
use crate::symbols::{DEDUPLICATED, SymbolFinder};
use crate::units::Uuid;

pub(super) fn apply(
    profile: &Profile,
    map: &ImageMap,
    answers: HashMap<Uuid, Answers>,
    finder: &dyn SymbolFinder,
    options: &SymbolicateOptions,
) -> Result<(Profile, SymbolicationSummary), Full> {
    let mut writer = Writer {
        profile,
        map,
        answers: &answers,
        options,
        first: first_binaries(profile),
        tallies: HashMap::default(),
        without_binary: 0,
    };
    let new = profile.with_frames(|builder, id| writer.replace(builder, id))?;
    let summary = writer.summary(&new, finder);
    Ok((new, summary))
}

struct Writer<'a> {
    profile: &'a Profile,
    map: &'a ImageMap,
    answers: &'a HashMap<Uuid, Answers>,
    options: &'a SymbolicateOptions,
    first: HashMap<Uuid, BinaryId>,
    tallies: HashMap<BinaryId, BinarySummary>,
    without_binary: u64,
}

impl Writer<'_> {
    fn replace(&mut self, builder: &mut ProfileBuilder, id: FrameId) -> Result<Replacement, Full> {
        let frame = self.profile.frame(id);
        let binary = self.binary_of(builder, frame)?;
        let key = key(self.profile, self.map, frame);
        let found = key.and_then(|key| self.answers.get(&key.uuid).map(|answers| (answers, answers.at(key.address))));
        // Where the linker folded functions into one, no file knows which of them ran; a name that the recording has is
        // better, and one that it does not have cannot be had.
        let recorded = self.profile.function_name(frame.function);
        let is_folded = |answers: &Answers, chain: &[AnswerFrame]| {
            let name = chain.last().and_then(|frame| frame.function);
            name.is_some_and(|name| answers.strings[name as usize] == DEDUPLICATED)
        };
        let was_named = self.profile.function(frame.function).is_named;
        let is_known = |answers: &Answers, chain: &[AnswerFrame]| {
            !chain.is_empty() && recorded != DEDUPLICATED && !(was_named && is_folded(answers, chain))
        };
        let (answers, chain) = found.filter(|(answers, chain)| is_known(answers, chain)).unzip();
        let (mut disagrees, mut is_named_now) = (false, was_named);
        let frames = match (answers, chain) {
            (Some(answers), Some(chain)) => {
                let chain = self.shown(chain);
                let text = |frame: &AnswerFrame| frame.function.map(|id| answers.strings[id as usize].as_str());
                let named = |frame: &AnswerFrame| text(frame).filter(|name| !is_hex_address(name));
                // Which of the functions the recording named, if any; that one keeps its spelling.
                let agreed = chain
                    .iter()
                    .rposition(|frame| was_named && named(frame).is_some_and(|name| is_same_function(recorded, name)));
                disagrees = was_named && agreed.is_none() && chain.iter().any(|frame| named(frame).is_some());
                is_named_now = was_named || chain.iter().any(|frame| named(frame).is_some());
                let mut frames = Vec::with_capacity(chain.len());
                for (index, answer) in chain.iter().enumerate() {
                    let is_outermost = index + 1 == chain.len();
                    // The function that holds the code keeps what stood for its name, if the file has none either.
                    let keeps = agreed == Some(index) || (is_outermost && named(answer).is_none());
                    let (name, is_named) = match named(answer) {
                        // Instruments keeps functions without a name under the address at which they start.
                        None if is_outermost && !was_named => (text(answer).unwrap_or(recorded), false),
                        _ if keeps => (recorded, was_named),
                        Some(name) => (name, true),
                        // Swift once left inlined functions without a name: the caller's instead would be wrong.
                        None => ("<unknown>", false),
                    };
                    frames.push(add(builder, frame, binary, answer, (name, is_named), answers, !is_outermost)?);
                }
                frames
            }
            _ => vec![copy(self.profile, builder, frame, binary)?],
        };
        // The frame on its leaf side has the same address, and so the same answer.
        let is_covered = frame.is_inlined && chain.is_some();
        self.count(builder, binary, |tally| {
            tally.frames += 1;
            tally.named_before += u64::from(was_named);
            tally.named_now += u64::from(is_named_now);
            tally.disagreements += u64::from(disagrees);
            tally.frames_now += if is_covered { 0 } else { frames.len() as u64 };
        });
        Ok(Replacement { frames, is_covered })
    }

    /// The frames of an answer that are shown.
    fn shown<'f>(&self, chain: &'f [AnswerFrame]) -> &'f [AnswerFrame] {
        if self.options.with_inlines { chain } else { &chain[chain.len() - 1..] }
    }

    /// The frame's binary, or the image that the user named for its address.
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
        notes.sort_by(|a, b| a.message.cmp(&b.message));
        SymbolicationSummary { binaries, frames_without_binary: self.without_binary, notes }
    }
}

/// Adds one function of an answer as a frame.
fn add(
    builder: &mut ProfileBuilder,
    frame: &Frame,
    binary: Option<BinaryId>,
    answer: &AnswerFrame,
    (name, is_named): (&str, bool),
    answers: &Answers,
    is_inlined: bool,
) -> Result<FrameId, Full> {
    let text = builder.string(name)?;
    let function = builder.function(text, binary, is_named)?;
    let source = match (answer.file, answer.line) {
        (Some(file), line) => {
            let path = builder.string(&answers.strings[file as usize])?;
            Some(SourceLine { path, line: line.unwrap_or(0) })
        }
        (None, _) if !is_inlined => frame.source,
        (None, _) => None,
    };
    add_frame(builder, frame, FrameKey { function, binary, address: frame.address, source, is_inlined, group: 0 })
}

/// Adds a frame that no file knows, as it was.
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

/// Adds a frame with the lookup address of the one it stands for.
fn add_frame(builder: &mut ProfileBuilder, old: &Frame, key: FrameKey) -> Result<FrameId, Full> {
    // Frames of one address differ where their documents followed other rules.
    let group = old.address.get().wrapping_sub(old.lookup_address.get()) as u32;
    let id = builder.frame(FrameKey { group, ..key })?;
    builder.set_lookup_address(id, old.lookup_address);
    Ok(id)
}
