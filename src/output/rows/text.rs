//! The first rows of a table as text. Columns are as wide as their cells, and as many are shown as fit.

use std::io::{self, Write};

use super::values::text_of;
use crate::output::text::clock;
use crate::output::text::style::{Style, Tone, clean, fit};
use crate::output::text::table::{Cell, Column, KEPT, Row, Table, left_out};
use crate::settings::TOP;
use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn, StackNames};
use crate::units::{Unit, Weight, choice_of, counted};

/// The maximum width of a column if the width of lines is unlimited.
const WIDEST: usize = 120;
/// The width to which strings are shortened before columns are dropped.
const NARROW: usize = 14;

/// Types whose numbers are usually written in hexadecimal.
const HEXADECIMAL: [&str; 11] = [
    "address",
    "text-address",
    "register-content",
    "kdebug-arg",
    "syscall-arg",
    "syscall-return",
    "uint64-hex-lowercase",
    "mach-o-vm-offset",
    "mach-port",
    "vnode",
    "os-signpost-identifier",
];

/// Writes rows, followed by the total number of rows. Unless `has_all_columns`, parts of columns (`thread.tid`) and columns without values are
/// omitted. `elsewhere` names the place to find columns that do not fit.
pub(super) fn write(
    (columns, rows): (&[OutputColumn], &[Vec<FieldValue<'_>>]),
    total: u64,
    (has_all_columns, elsewhere): (bool, &str),
    stacks: &StackNames,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut shown, mut cells, mut empty) = (Vec::new(), vec![Vec::new(); rows.len()], Vec::new());
    for (index, column) in columns.iter().enumerate() {
        if !column.is_required && !has_all_columns && column.is_part() {
            continue;
        }
        // The name of a number is more informative than the number.
        let is_name = |next: &&OutputColumn| next.name.strip_suffix(".name") == Some(&column.name) && !has_all_columns;
        let named = columns.get(index + 1).filter(is_name);
        let index = index + usize::from(named.is_some());
        let is_empty = rows.iter().all(|row| row.get(index).is_none_or(|value| *value == FieldValue::None));
        if is_empty && !has_all_columns && !rows.is_empty() {
            empty.push(column.name.as_str());
            continue;
        }
        let values = named.unwrap_or(column);
        shown.push(text_column(&column.name, &values.kind, shown.len(), style));
        for (cells, row) in cells.iter_mut().zip(rows) {
            cells.push(row.get(index).map_or_else(|| String::new().into(), |value| cell(value, values, stacks)));
        }
    }
    let rows = cells.into_iter().map(|cells| Row { cells, ..Row::default() }).collect::<Vec<_>>();
    let shown_rows = rows.len() as u64;
    let mut table = Table::new(shown, "", 0, rows);
    let hidden = table.fit(style.width);
    writeln!(out, "{}", table.header(style))?;
    table.rows.iter().try_for_each(|row| writeln!(out, "{}", table.line(row, style)))?;
    let empty = (!empty.is_empty()).then(|| format!("without values: {}", choice_of(&empty)));
    let hidden = left_out(&hidden, elsewhere);
    let notes = [Some(count(shown_rows, total)), empty, hidden];
    notes.iter().flatten().try_for_each(|note| style.write_wrapped(Some(Tone::Dim), 0, note, out))
}

fn count(shown: u64, total: u64) -> String {
    let plural = if total == 1 { "row" } else { "rows" };
    match shown < total {
        true => format!("{} of {} {plural}; {TOP} 0 shows all", counted(shown), counted(total)),
        false => format!("{} {plural}", counted(total)),
    }
}

/// Creates a column. If space is short, columns are dropped from the end, with stacks dropped last.
fn text_column(name: &str, kind: &FieldKind, index: usize, style: &Style) -> Column {
    let is_late = index > 1 && *kind != FieldKind::Stack;
    let rank = if is_late { u32::MAX / 2 } else { KEPT - 1 } - index as u32;
    // If the width of lines is unlimited, the width of columns is limited.
    let widest = style.width.map_or(WIDEST, |_| usize::MAX);
    match kind {
        FieldKind::Number(_) => Column::new(name, rank),
        _ => Column::label(name, rank, [NARROW, widest.max(name.len())]),
    }
}

fn cell(value: &FieldValue<'_>, column: &OutputColumn, stacks: &StackNames) -> Cell {
    let text = match *value {
        FieldValue::Number(number) => match column.kind {
            FieldKind::Number(ColumnKind::Time) => clock(number),
            FieldKind::Number(ColumnKind::Duration) => Weight::nanos(number).to_string(),
            FieldKind::Number(ColumnKind::Cycles) => Weight::cycles(number).to_string(),
            FieldKind::Number(ColumnKind::Bytes) => Weight::new(number, Unit::Bytes).to_string(),
            _ if HEXADECIMAL.contains(&column.engineering_type.as_str()) => format!("{number:#x}"),
            _ => number.to_string(),
        },
        FieldValue::Boolean(is_true) => if is_true { "yes" } else { "no" }.to_owned(),
        FieldValue::Stack(stack) => return leaf(stack, stacks),
        ref value => fit(&text_of(value, stacks).unwrap_or_default(), None),
    };
    text.into()
}

/// The leaf of a stack: `fsync (libsystem_kernel.dylib)`, without the binary if space is short.
fn leaf(stack: crate::profile::Id<crate::profile::Stack>, stacks: &StackNames) -> Cell {
    let Some(frame) = stacks.frames(stack).next() else { return String::new().into() };
    let profile = stacks.profile();
    let function = clean(profile.function_name(frame.function));
    match frame.binary.map(|id| profile.string(profile.binary(id).name)) {
        Some(binary) => Cell { short: Some(function.clone()), ..format!("{function} ({})", clean(binary)).into() },
        None => function.into(),
    }
}
