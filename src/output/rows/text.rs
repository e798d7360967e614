//! The first rows of a table as text: columns as wide as their cells, as many as fit.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::text_of;
use crate::output::text::clock;
use crate::output::text::style::{Style, Tone, clean, fit, pad, wrap};
use crate::tables::{ColumnKind, FieldKind, FieldValue, OutputColumn, StackNames};
use crate::units::{Weight, counted};

/// The greatest width of a column without a limit on lines.
const WIDEST: usize = 120;
/// The width to which strings are shortened before columns are left out.
const NARROW: usize = 14;

/// Types whose numbers people know in hexadecimal digits.
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

/// A column on its way to the screen.
struct TextColumn<'c> {
    name: &'c str,
    cells: Vec<String>,
    width: usize,
    is_right: bool,
    /// True if its cells are leaves of stacks, whose binaries give way.
    has_stacks: bool,
}

/// Writes rows, and how many there are in all. Unless `has_all_columns`, parts of columns (`thread.tid`) and columns without values are left
/// out.
pub(super) fn write(
    (columns, rows): (&[OutputColumn], &[Vec<FieldValue<'_>>]),
    total: u64,
    has_all_columns: bool,
    stacks: &StackNames,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut shown = Vec::new();
    let (mut empty, mut narrow) = (Vec::new(), Vec::new());
    for (index, column) in columns.iter().enumerate() {
        if !column.is_required && !has_all_columns && column.is_part() {
            continue;
        }
        // The name of a number says more than the number.
        let is_name = |next: &&OutputColumn| next.name.strip_suffix(".name") == Some(&column.name) && !has_all_columns;
        let named = columns.get(index + 1).filter(is_name);
        let index = index + usize::from(named.is_some());
        let is_empty = rows.iter().all(|row| row.get(index).is_none_or(|value| *value == FieldValue::None));
        if is_empty && !has_all_columns && !rows.is_empty() {
            empty.push(column.name.as_str());
        } else {
            let values = rows.iter().filter_map(|row| row.get(index));
            shown.push(TextColumn { name: &column.name, ..text_column(named.unwrap_or(column), values, stacks) });
        }
    }
    fit_columns(&mut shown, style.width, &mut narrow);
    let line = |cell: &dyn Fn(&TextColumn<'_>) -> String| {
        let cells: Vec<String> = shown.iter().map(|column| column.align(&cell(column))).collect();
        cells.join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", style.paint(Tone::Dim, &line(&|column| column.name.to_owned())))?;
    for row in 0..rows.len() {
        writeln!(out, "{}", line(&|column| column.cells[row].clone()))?;
    }
    let mut notes = vec![count(rows.len() as u64, total)];
    if !empty.is_empty() {
        notes.push(format!("without values: {}", empty.join(", ")));
    }
    if !narrow.is_empty() {
        notes.push(format!("not shown: {} (--columns selects)", narrow.join(", ")));
    }
    for note in notes {
        wrap(&note, 0, style.width).iter().try_for_each(|line| writeln!(out, "{}", style.paint(Tone::Dim, line)))?;
    }
    Ok(())
}

fn count(shown: u64, total: u64) -> String {
    let plural = if total == 1 { "row" } else { "rows" };
    match shown < total {
        true => format!("{} of {} {plural}; --top 0 shows all", counted(shown), counted(total)),
        false => format!("{} {plural}", counted(total)),
    }
}

fn text_column<'c, 'v>(
    column: &'c OutputColumn,
    values: impl Iterator<Item = &'v FieldValue<'v>>,
    stacks: &StackNames,
) -> TextColumn<'c> {
    let cells: Vec<String> = values.map(|value| cell(value, column, stacks)).collect();
    let width = cells.iter().map(|cell| cell.width()).max().unwrap_or(0).max(column.name.width());
    let (is_right, has_stacks) = (matches!(column.kind, FieldKind::Number(_)), column.kind == FieldKind::Stack);
    TextColumn { name: &column.name, cells, width, is_right, has_stacks }
}

fn cell(value: &FieldValue<'_>, column: &OutputColumn, stacks: &StackNames) -> String {
    match *value {
        FieldValue::Number(number) => match column.kind {
            FieldKind::Number(ColumnKind::Time) => clock(number),
            FieldKind::Number(ColumnKind::Duration) => Weight::nanos(number).to_string(),
            FieldKind::Number(ColumnKind::Cycles) => Weight::cycles(number).to_string(),
            FieldKind::Number(ColumnKind::Bytes) => size(number),
            _ if HEXADECIMAL.contains(&column.engineering_type.as_str()) => format!("{number:#x}"),
            _ => number.to_string(),
        },
        FieldValue::Boolean(is_true) => if is_true { "yes" } else { "no" }.to_owned(),
        FieldValue::Stack(stack) => leaf(stack, stacks),
        ref value => fit(&text_of(value, stacks).unwrap_or_default(), None),
    }
}

/// `1.50 KiB`, `12 B`.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(bits, _)| bytes >> bits > 0) {
        Some((bits, unit)) => {
            let hundredths = (u128::from(bytes) * 100 + (1 << (bits - 1))) >> bits;
            format!("{}.{:02} {unit}", hundredths / 100, hundredths % 100)
        }
        None => format!("{bytes} B"),
    }
}

/// The leaf of a stack: `fsync (libsystem_kernel.dylib)`.
fn leaf(stack: crate::profile::Id<crate::profile::Stack>, stacks: &StackNames) -> String {
    let Some(frame) = stacks.frames(stack).next() else { return String::new() };
    let profile = stacks.profile();
    let function = clean(profile.function_name(frame.function));
    match frame.binary.map(|id| profile.string(profile.binary(id).name)) {
        Some(binary) => format!("{function} ({})", clean(binary)),
        None => function,
    }
}

/// Leaves out columns at the end, stacks last, and shortens strings, until a line has this width.
fn fit_columns<'c>(columns: &mut Vec<TextColumn<'c>>, width: Option<usize>, left_out: &mut Vec<&'c str>) {
    let used =
        |columns: &[TextColumn<'_>]| columns.iter().map(|column| column.width + 2).sum::<usize>().saturating_sub(2);
    let Some(width) = width else {
        columns.iter_mut().for_each(|column| column.width = column.width.min(WIDEST).max(column.name.width()));
        return;
    };
    let least = |column: &TextColumn<'_>| match column.is_right {
        true => column.width,
        false => column.width.min(NARROW.max(column.name.width())),
    };
    while columns.len() > 1 && columns.iter().map(|column| least(column) + 2).sum::<usize>() > width + 2 {
        let last = columns.iter().rposition(|column| !column.has_stacks).filter(|&last| last > 1);
        left_out.insert(0, columns.remove(last.unwrap_or(columns.len() - 1)).name);
    }
    while used(columns) > width {
        let over = used(columns) - width;
        let widest = columns.iter_mut().filter(|column| column.width > least(column)).max_by_key(|column| column.width);
        let Some(column) = widest else { return };
        // Little by little, so that the widest columns get equally wide.
        column.width = least(column).max(column.width - over.div_ceil(4));
    }
}

impl TextColumn<'_> {
    fn align(&self, text: &str) -> String {
        let without_binary = text.rsplit_once(" (").filter(|_| self.has_stacks && text.width() > self.width);
        let text = fit(without_binary.map_or(text, |(function, _)| function), Some(self.width));
        if self.is_right { " ".repeat(self.width.saturating_sub(text.width())) + &text } else { pad(&text, self.width) }
    }
}
