//! Reads functions, frames and stacks.

use super::columns::Columns;
use super::damage::Damage;
use super::named_rows::string;
use crate::error::Error;
use crate::profile::{Frame, FrameId, Function, ProfileBuilder, SourceLine, Stack, StackId, StringId};
use crate::units::Address;

/// The maximum depth of a stack; real ones have up to 1,024 recorded frames, plus inlined functions.
const MAX_DEPTH: u16 = 1 << 14;

/// Adds functions, frames and stacks to the profile, and returns the number of stacks.
pub(super) fn read(
    columns: &Columns<'_>,
    damage: Damage<'_>,
    binaries: usize,
    profile: &mut ProfileBuilder,
) -> Result<usize, Error> {
    let texts = texts(columns, damage, profile)?;
    let functions = functions(columns, &texts, binaries, profile)?;
    let frames = frames(columns, &texts, (functions, binaries), profile)?;
    stacks(columns, frames, profile)
}

#[inline(never)]
fn texts(columns: &Columns<'_>, damage: Damage<'_>, profile: &mut ProfileBuilder) -> Result<Vec<StringId>, Error> {
    let (rows, [mut lengths]) = columns.table(["texts.length"])?;
    let (mut rest, mut at) = columns.texts;
    let mut texts = Vec::with_capacity(rows);
    for _ in 0..rows {
        let length = usize::try_from(lengths.next()?).ok();
        let (text, others) = length.and_then(|length| rest.split_at_checked(length)).unwrap_or((rest, &[]));
        let text = std::str::from_utf8(text).map_err(|_| damage.at(at, "a text is not UTF-8"))?;
        texts.push(string(profile, text)?);
        (rest, at) = (others, at + text.len());
    }
    Ok(texts)
}

#[inline(never)]
fn functions(
    columns: &Columns<'_>,
    texts: &[StringId],
    binaries: usize,
    profile: &mut ProfileBuilder,
) -> Result<usize, Error> {
    let (rows, [mut name, mut binary, mut named]) =
        columns.table(["functions.name", "functions.binary", "functions.named"])?;
    for _ in 0..rows {
        let (name, is_named) = (texts[name.id::<str>(texts.len())?.index()], named.next()? != 0);
        let function = Function { name, binary: binary.optional_id(binaries)?, is_named };
        profile.push_function(function).map_err(Error::limit)?;
    }
    Ok(rows)
}

#[inline(never)]
fn frames(
    columns: &Columns<'_>,
    texts: &[StringId],
    (functions, binaries): (usize, usize),
    profile: &mut ProfileBuilder,
) -> Result<usize, Error> {
    let (rows, [mut function, mut binary, mut address, mut path, mut line, mut inlined]) = columns.table([
        "frames.function",
        "frames.binary",
        "frames.address",
        "frames.path",
        "frames.line",
        "frames.inlined",
    ])?;
    profile.reserve(rows, 0);
    for _ in 0..rows {
        let (path, line) = (path.optional_id::<str>(texts.len())?, line.next_u32()?);
        let address = Address::new(address.next()?);
        let frame = Frame {
            function: function.id(functions)?,
            binary: binary.optional_id(binaries)?,
            address,
            lookup_address: address,
            source: path.map(|path| SourceLine { path: texts[path.index()], line }),
            is_inlined: inlined.next()? > 0,
        };
        profile.push_frame(frame).map_err(Error::limit)?;
    }
    Ok(rows)
}

#[inline(never)]
fn stacks(columns: &Columns<'_>, frames: usize, profile: &mut ProfileBuilder) -> Result<usize, Error> {
    let (rows, [mut distance, mut place]) = columns.table(["stacks.parent", "stacks.callee"])?;
    let (_, [mut new_frame]) = columns.table(["stacks.new_frame"])?;
    // The callees seen so far of each frame. The first list is for stacks without a parent.
    let mut callees: Vec<Vec<FrameId>> = vec![Vec::new(); frames + 1];
    let mut depths: Vec<u16> = Vec::with_capacity(rows);
    for row in 0..rows {
        let parent = match distance.next()? {
            0 => None,
            back => {
                let parent = usize::try_from(back).ok().and_then(|back| row.checked_sub(back));
                Some(parent.ok_or_else(|| distance.wrong("a stack has no parent"))?)
            }
        };
        let depth = parent.map_or(0, |parent| depths[parent] + 1);
        let parent = parent.and_then(StackId::from_index);
        let caller = parent.map_or(0, |parent| profile.get_stack(parent).frame.index() + 1);
        let frame = match place.next()? {
            0 => {
                let frame = new_frame.id(frames)?;
                callees[caller].push(frame);
                frame
            }
            known => {
                let known = usize::try_from(known - 1).ok().and_then(|known| callees[caller].get(known));
                *known.ok_or_else(|| place.wrong("it refers to a missing row"))?
            }
        };
        if depth == MAX_DEPTH {
            return Err(distance.wrong("a stack is too deep"));
        }
        depths.push(depth);
        profile.push_stack(Stack { parent, frame }).map_err(Error::limit)?;
    }
    Ok(rows)
}
