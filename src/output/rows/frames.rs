//! The second table: the frames of stacks.

use std::borrow::Cow;
use std::io;

use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn, StackNames};

/// The table of the frames of stacks.
pub(super) const FRAMES: &str = "stacks";

pub(super) fn frame_columns() -> [OutputColumn; 8] {
    let number = FieldKind::Number(ColumnKind::Number);
    let mut columns = [
        ("stack.id", FieldKind::Number(ColumnKind::Stack), true),
        ("depth", number, true),
        ("function", FieldKind::Text, true),
        ("binary", FieldKind::Text, false),
        ("address", number, true),
        ("source", FieldKind::Text, false),
        ("line", number, false),
        ("is_inlined", FieldKind::Boolean, true),
    ]
    .map(|(name, kind, is_required)| OutputColumn::new(name, kind, is_required));
    columns[4].engineering_type = "address".to_owned();
    columns
}

/// Calls `each` with a row for each frame, leaf first.
pub(super) fn each_frame(
    stacks: &StackNames,
    mut each: impl FnMut([FieldValue<'_>; 8]) -> io::Result<()>,
) -> io::Result<()> {
    let profile = stacks.profile();
    let text = |text| FieldValue::Text(Cow::Borrowed(text));
    for (number, stack) in stacks.written().enumerate() {
        for (depth, frame) in stacks.frames(stack).enumerate() {
            let binary = frame.binary.map(|id| profile.string(profile.binary(id).name));
            let binary = binary.or_else(|| profile.binary_name(frame.function));
            let source = frame.source.map(|source| profile.string(source.path));
            let line = frame.source.map(|source| u64::from(source.line)).filter(|&line| line > 0);
            each([
                FieldValue::Number(number as u64 + 1),
                FieldValue::Number(depth as u64),
                text(profile.function_name(frame.function)),
                binary.map_or(FieldValue::None, text),
                FieldValue::Number(frame.address.get()),
                source.map_or(FieldValue::None, text),
                line.map_or(FieldValue::None, FieldValue::Number),
                FieldValue::Boolean(frame.is_inlined),
            ])?;
        }
    }
    Ok(())
}
