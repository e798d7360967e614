//! Converts stacks (frames, address fragments and raw `kperf` lists) to parent pointers.
//!
//! | written by | shape |
//! |---|---|
//! | Xcode 12 to 14.2 | `<backtrace>` of `<text-addresses>`: addresses in decimal; the leaf's name is in `fmt` |
//! | 14.3 to 26.3 | `<backtrace>` of `<frame>` |
//! | 26.4, 26.5 | `<tagged-backtrace>` around such a `<backtrace>` |
//! | 27 | `<tagged-backtrace>` of `<frame>` |
//! | `time-sample`, all | `<kperf-bt>` with `<text-address>` (the leaf) and `<text-addresses>` (its callers) |
//!
//! All are leaf first; stacks are interned from the root.

use super::anomaly::Oddity;
use super::definitions::{Definitions, Element};
use super::display_names;
use super::tag::Tag;
use super::value::Value;
use crate::profile::{FrameId, Full};
use crate::recording::{FrameForm, RejectReason, is_hex_address, kperf_callers};

impl Definitions {
    /// Interns a frame that only has an address.
    fn bare_frame(&mut self, form: FrameForm, address: u64) -> Result<FrameId, Full> {
        if let Some(&frame) = self.bare_frames.get(&(form, address)) {
            return Ok(frame);
        }
        let name = self.recording.profile.string(&format!("{address:#x}"))?;
        let function = self.recording.profile.function(name, None, false)?;
        let frame = self.recording.add_frame(form, function, None, address, None, false)?;
        self.bare_frames.insert((form, address), frame);
        Ok(frame)
    }

    /// Interns the leaf of a fragmented stack, whose name is in the display string.
    fn named_leaf(&mut self, address: u64, fmt: &str) -> Result<FrameId, Full> {
        let name = display_names::leaf_name(fmt);
        if name.is_empty() || is_hex_address(name) {
            return self.bare_frame(FrameForm::Fragment, address);
        }
        let name = self.recording.function_name(name)?;
        let function = self.recording.profile.function(name, None, true)?;
        self.recording.add_frame(FrameForm::Fragment, function, None, address, None, false)
    }

    /// Decodes the stack of an element that contains frames, address fragments, or another stack, all leaf first.
    pub(super) fn stack(&mut self, element: Element<'_>) -> Result<Value, Full> {
        let mut frames = std::mem::take(&mut self.scratch);
        frames.clear();
        let result = match element.tag {
            Tag::KperfBacktrace => self.collect_kperf_stack(element, &mut frames),
            _ => self.collect_stack(element, &mut frames),
        };
        self.scratch = frames;
        result
    }

    fn collect_stack(&mut self, element: Element<'_>, frames: &mut Vec<FrameId>) -> Result<Value, Full> {
        let (mut nested, mut others, mut has_frames, mut has_fragments, mut is_absent) =
            (None, 0_usize, false, false, false);
        for &child in element.children {
            match child {
                Value::Frame(frame) => {
                    has_frames = true;
                    frames.push(frame);
                }
                Value::Addresses(list) => {
                    has_fragments = true;
                    self.push_fragment(list, element.fmt, frames)?;
                }
                Value::Stack(stack) if nested.is_none() => nested = Some(stack),
                // With two stacks, it is unknown which one called the other.
                Value::Stack(_) => return Ok(Value::Bad(RejectReason::UnknownStack)),
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                Value::Absent => is_absent = true,
                Value::Process(_) | Value::Companion => {}
                _ => others += 1,
            }
            if frames.len() > self.max_stack_depth {
                return Ok(Value::Bad(RejectReason::StackTooDeep));
            }
        }
        let is_unknown = Value::Bad(RejectReason::UnknownStack);
        if element.tag == Tag::Other && (nested.is_some() || has_frames || has_fragments) {
            self.note_oddity(Oddity::StackName);
        }
        Ok(match nested {
            Some(_) if has_frames || has_fragments => is_unknown,
            None if has_frames && has_fragments => is_unknown,
            _ if others > 0 && (nested.is_some() || !frames.is_empty()) && element.tag == Tag::Backtrace => {
                // The frames are known. The next Xcode may have added the other element.
                self.note_oddity(Oddity::InStack);
                Value::Stack(match nested {
                    Some(stack) => stack,
                    None => self.recording.intern_stack(None, frames)?,
                })
            }
            Some(stack) => Value::Stack(stack),
            // An unknown element without frames is not a stack. A backtrace of only unknown elements is a stack of an unknown shape.
            None if frames.is_empty() && element.tag == Tag::Other => Value::Other,
            None if frames.is_empty() && !has_fragments && others > 0 => is_unknown,
            None if frames.is_empty() && !has_fragments && !is_absent => Value::Bad(RejectReason::EmptyCell),
            None => Value::Stack(self.recording.intern_stack(None, frames)?),
        })
    }

    /// Adds the frames of one `text-addresses`. The very first frame is the leaf, whose name is in `fmt`.
    fn push_fragment(&mut self, list: u32, fmt: &str, frames: &mut Vec<FrameId>) -> Result<(), Full> {
        let (start, end) = self.recording.number_lists[list as usize];
        for index in start..end {
            let address = self.recording.numbers[index];
            if address == 0 && index + 1 == end {
                self.recording.conventions.fragments_end_with_zero = true;
                break;
            }
            frames.push(match frames.is_empty() {
                true => self.named_leaf(address, fmt)?,
                false => self.bare_frame(FrameForm::Fragment, address)?,
            });
            if frames.len() > self.max_stack_depth {
                break;
            }
        }
        Ok(())
    }

    /// Decodes a `kperf-bt`: the program counter, then the return addresses.
    fn collect_kperf_stack(&mut self, element: Element<'_>, frames: &mut Vec<FrameId>) -> Result<Value, Full> {
        let (mut pc, mut has_addresses) = (None, false);
        for &child in element.children {
            match child {
                Value::Address(_) if pc.is_some() => return Ok(Value::Bad(RejectReason::UnknownStack)),
                Value::Address(address) => pc = Some(address),
                Value::Addresses(_) => has_addresses = true,
                Value::Bad(reason) => return Ok(Value::Bad(reason)),
                Value::Absent | Value::Process(_) | Value::Companion => {}
                _ => self.note_oddity(Oddity::InStack),
            }
        }
        if pc.is_none() && !has_addresses {
            return Ok(Value::Bad(RejectReason::EmptyCell));
        }
        if let Some(pc) = pc {
            frames.push(self.bare_frame(FrameForm::KperfLeaf, pc)?);
        }
        for &child in element.children {
            let Value::Addresses(list) = child else { continue };
            let (start, end) = self.recording.number_lists[list as usize];
            // A second list would continue the first one, so the program counter does not precede it.
            let pc = pc.filter(|_| frames.len() == 1);
            for index in kperf_callers(pc, &self.recording.numbers[start..end]) {
                let address = self.recording.numbers[start + index];
                frames.push(self.bare_frame(FrameForm::KperfCaller, address)?);
                if frames.len() > self.max_stack_depth {
                    return Ok(Value::Bad(RejectReason::StackTooDeep));
                }
            }
        }
        Ok(Value::Stack(self.recording.intern_stack(None, frames)?))
    }
}
