//! Look-ups in files of a few hundred bytes with hand-written DWARF.

use super::Layout;
use crate::files::FileBytes;
use crate::symbols::Symbols;
use crate::symbols::macho::Slice;
use crate::symbols::testing::{CODE, Macho, TEXT};

const EXTERNAL: u8 = 0xF;

/// Abbreviations. 1: a unit with contiguous code and a line table; 2: a function; 3: an inlined function, 4: the same without attributes;
/// 5: a function without code; 6: a unit without lines; 7: a function with a list of ranges.
#[rustfmt::skip]
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, /* low_pc */ 0x11, 0x01, /* high_pc */ 0x12, 0x06, /* stmt_list */ 0x10, 0x17, /* comp_dir */ 0x1B, 0x08, 0, 0,
    2, 0x2E, 1, /* low_pc */ 0x11, 0x01, /* high_pc */ 0x12, 0x06, /* name */ 0x03, 0x08, 0, 0,
    3, 0x1D, 1, /* low_pc */ 0x11, 0x01, /* high_pc */ 0x12, 0x06, /* origin */ 0x31, 0x13,
                /* call_file */ 0x58, 0x0B, /* call_line */ 0x59, 0x0B, 0, 0,
    4, 0x1D, 1, 0, 0,
    5, 0x2E, 0, /* linkage_name */ 0x6E, 0x08, /* name */ 0x03, 0x08, 0, 0,
    6, 0x11, 1, /* low_pc */ 0x11, 0x01, /* high_pc */ 0x12, 0x06, 0, 0,
    7, 0x2E, 0, /* ranges */ 0x55, 0x17, 0, 0,
    0,
];

/// A DWARF 4 line table for the file `dir/a.c`: line 10 at the start of the code, line 0 at 0x10, line 30 at 0x20, and the end at 0x100.
#[rustfmt::skip]
fn line_table() -> Vec<u8> {
    let mut program = vec![0, 9, 2];
    program.extend(CODE.to_le_bytes());
    program.extend([
        3, 9, 1,                       // line 10
        2, 0x10, 3, 0x76, 1,           // 10 lines back: 0
        2, 0x10, 3, 30, 1,             // line 30
        2, 0xE0, 0x01, 0, 1, 1,        // the end
    ]);
    let mut header = vec![1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.extend(b"dir\0\0a.c\0\x01\0\0\0");
    let mut table = ((2 + 4 + header.len() + program.len()) as u32).to_le_bytes().to_vec();
    table.extend([4, 0]);
    table.extend((header.len() as u32).to_le_bytes());
    table.extend(header);
    table.extend(program);
    table
}

/// Writes the entries of a unit.
struct Unit(Vec<u8>);

impl Unit {
    /// A unit with 0x100 bytes of code.
    fn new(with_lines: bool) -> Self {
        let mut unit = Self(vec![0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8]);
        unit.code(if with_lines { 1 } else { 6 }, 0, 0x100);
        if with_lines {
            unit.0.extend([0; 4]);
            unit.0.extend(b"/src\0");
        }
        unit
    }

    fn code(&mut self, abbreviation: u8, start: u64, size: u32) {
        self.0.push(abbreviation);
        self.0.extend((CODE + start).to_le_bytes());
        self.0.extend(size.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn inlined(&mut self, start: u64, size: u32, origin: u32, line: u8) {
        self.code(3, start, size);
        self.0.extend(origin.to_le_bytes());
        self.0.extend([1, line]);
    }

    fn finish(mut self) -> Vec<u8> {
        let length = (self.0.len() - 4) as u32;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}

/// `draw` at 0..0x40 with `scale` inlined at 0x08..0x30, which has `clamp` inlined at 0x10..0x18; `lone` at 0x80..0x90.
fn unit() -> Vec<u8> {
    let mut unit = Unit::new(true);
    let scale = unit.0.len() as u32;
    unit.0.push(5);
    unit.text("_Z5scalei");
    unit.text("scale");
    let clamp = unit.0.len() as u32;
    unit.0.push(5);
    unit.text("");
    unit.text("");
    unit.code(2, 0, 0x40);
    unit.text("draw");
    unit.inlined(0x08, 0x28, scale, 77);
    unit.inlined(0x10, 0x08, clamp, 88);
    unit.0.extend([0, 0, 0]);
    unit.code(2, 0x80, 0x10);
    unit.text("lone");
    unit.0.extend([0, 0]);
    unit.finish()
}

/// Returns the answers, one frame per line (`function [linkage] file:line inlined`), and the notes.
fn look_up(macho: &Macho<'_>, offsets: &[u64]) -> (Vec<String>, Vec<String>) {
    let file = macho.write();
    let slices = Slice::all(&file).unwrap();
    let addresses: Vec<u64> = offsets.iter().map(|offset| CODE - TEXT + offset).collect();
    let mut lines = Vec::new();
    let file = FileBytes::from(file);
    let notes = Layout::read(&file, &slices[0]).unwrap().look_up(&addresses, &mut |index, frames| {
        for frame in frames {
            let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
            let line = frame.line.map_or("-".to_owned(), |line| line.to_string());
            let inlined = if frame.is_inlined { " inlined" } else { "" };
            let linkage = frame.linkage_name.map(|name| format!(" [{name}]")).unwrap_or_default();
            let (function, file) = (text(frame.function), text(frame.file));
            lines.push(format!("{:x} {function}{linkage} {file}:{line}{inlined}", offsets[index]));
        }
    });
    (lines, notes.iter().map(ToString::to_string).collect())
}

fn sections<'a>(info: &'a [u8], line: &'a [u8]) -> [(&'static str, &'a [u8]); 3] {
    [("__debug_info", info), ("__debug_abbrev", ABBREVIATIONS), ("__debug_line", line)]
}

#[test]
fn inlined_functions_stand_before_their_callers_and_calls_have_lines() {
    let (info, line) = (unit(), line_table());
    let dwarf = sections(&info, &line);
    let symbols = [(EXTERNAL, 1, CODE, "__Z4drawv"), (EXTERNAL, 1, CODE + 0x84, "_inside")];
    let (lines, notes) =
        look_up(&Macho { dwarf: &dwarf, symbols: &symbols, ..Macho::default() }, &[0, 0x10, 0x20, 0x84]);
    assert_eq!(
        lines,
        [
            "0 _Z4drawv /src/dir/a.c:10",
            // Line 0 keeps its file, and a function without a name does not take another function's name.
            "10 - /src/dir/a.c:0 inlined",
            "10 _Z5scalei /src/dir/a.c:88 inlined",
            "10 _Z4drawv /src/dir/a.c:77",
            "20 _Z5scalei /src/dir/a.c:30 inlined",
            "20 _Z4drawv /src/dir/a.c:77",
            // The symbol and the function start at different addresses.
            "84 lone /src/dir/a.c:30",
        ]
    );
    assert_eq!(notes, [""; 0]);
}

#[test]
fn code_without_dwarf_is_named_by_its_symbol_and_the_rest_not_at_all() {
    let (info, line) = (unit(), line_table());
    let dwarf = sections(&info, &line);
    let symbols = [(EXTERNAL, 1, CODE + 0x200, "_plain")];
    let offsets = [0x60, 0x100, 0x1FF, 0x200, 0xFFF, 0x1000, u64::MAX - CODE - TEXT];
    let (lines, _) = look_up(&Macho { dwarf: &dwarf, symbols: &symbols, ..Macho::default() }, &offsets);
    // 0x60 is in no function but has a line.
    assert_eq!(lines, ["60 - /src/dir/a.c:30", "200 plain -:-", "fff plain -:-"]);
}

#[test]
fn a_broken_debug_aranges_is_ignored() {
    let (info, line) = (unit(), line_table());
    let mut dwarf = sections(&info, &line).to_vec();
    dwarf.push(("__debug_aranges", &[0xFF, 0, 0, 0, 2, 0]));
    let (lines, notes) = look_up(&Macho { dwarf: &dwarf, ..Macho::default() }, &[0x80]);
    assert_eq!(lines, ["80 lone /src/dir/a.c:30"]);
    assert_eq!(notes, [".debug_aranges was ignored: unexpected end of input"]);
}

#[test]
fn a_broken_unit_costs_only_its_own_names() {
    let line = line_table();
    // The first unit has an abbreviation that does not exist; the second is intact.
    let mut info = Unit(vec![0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 99]).finish();
    info.extend(unit());
    let symbols = [(EXTERNAL, 1, CODE + 0x200, "_plain")];
    let dwarf = sections(&info, &line);
    let (lines, notes) = look_up(&Macho { dwarf: &dwarf, symbols: &symbols, ..Macho::default() }, &[0x80, 0x200]);
    assert_eq!(lines, ["80 lone /src/dir/a.c:30", "200 plain -:-"]);
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn without_usable_dwarf_the_symbol_table_remains() {
    let symbols = [(EXTERNAL, 1, CODE, "_plain")];
    let info = [0xFF; 64];
    let dwarf = sections(&info, &[]);
    let (lines, notes) = look_up(&Macho { dwarf: &dwarf, symbols: &symbols, ..Macho::default() }, &[4]);
    assert_eq!(lines, ["4 plain -:-"]);
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn a_broken_line_table_leaves_the_functions() {
    let info = unit();
    let dwarf = sections(&info, &[1, 2, 3]);
    let (lines, notes) = look_up(&Macho { dwarf: &dwarf, ..Macho::default() }, &[0x20, 0x80]);
    assert_eq!(lines, ["20 _Z5scalei -:- inlined", "20 draw -:77", "80 lone -:-"]);
    assert_eq!(notes.len(), 1, "{notes:?}");
}

/// A recursive reader would overflow its stack (addr2line 0.27.1 at 5,000 levels in a thread of 2 MiB).
#[test]
fn a_million_nested_functions_are_no_danger() {
    let mut unit = Unit::new(false);
    unit.code(2, 0, 0x100);
    unit.text("deep");
    unit.0.extend(std::iter::repeat_n(4, 1_000_000));
    let info = unit.finish();
    let dwarf = sections(&info, &[]);
    let (lines, _) = look_up(&Macho { dwarf: &dwarf, ..Macho::default() }, &[0x20]);
    assert_eq!(lines, ["20 deep -:-"]);
}

/// 10,000 functions that share one list of 10,000 ranges: 400 KB that would expand to several GB.
#[test]
fn ranges_are_no_more_than_the_file_has_bytes() {
    let mut unit = Unit::new(false);
    for _ in 0..10_000 {
        unit.0.push(7);
        unit.0.extend([0; 4]);
    }
    let info = unit.finish();
    let mut ranges = Vec::new();
    for index in 0..10_000_u64 {
        ranges.extend(index.to_le_bytes());
        ranges.extend((index + 1).to_le_bytes());
    }
    let mut dwarf = sections(&info, &[]).to_vec();
    dwarf.push(("__debug_ranges", &ranges));
    let symbols = [(EXTERNAL, 1, CODE, "_plain")];
    let (lines, notes) = look_up(&Macho { dwarf: &dwarf, symbols: &symbols, ..Macho::default() }, &[0x20]);
    assert_eq!(lines, ["20 plain -:-"]);
    assert!(notes[0].contains("too large for the file"), "{notes:?}");
}

/// Thousands of nested levels that all claim the same code.
#[test]
fn frames_are_no_more_than_the_deepest_inlining_that_is_read() {
    let mut unit = Unit::new(false);
    let origin = unit.0.len() as u32;
    unit.0.push(5);
    unit.text("");
    unit.text("again");
    unit.code(2, 0, 0x100);
    unit.text("deep");
    (0..5000).for_each(|_| unit.inlined(0, 0x100, origin, 1));
    unit.0.extend([0; 5002]);
    let info = unit.finish();
    let dwarf = sections(&info, &[]);
    let (lines, notes) = look_up(&Macho { dwarf: &dwarf, ..Macho::default() }, &[0x20]);
    assert_eq!(lines.len(), 201);
    assert_eq!(notes, [""; 0]);
}

#[test]
fn references_in_a_circle_end() {
    let mut unit = Unit::new(false);
    unit.code(2, 0, 0x100);
    unit.text("round");
    let own = unit.0.len() as u32;
    unit.inlined(0, 0x100, own, 1);
    unit.0.extend([0; 3]);
    let info = unit.finish();
    let dwarf = sections(&info, &[]);
    let (lines, _) = look_up(&Macho { dwarf: &dwarf, ..Macho::default() }, &[0x20]);
    assert_eq!(lines, ["20 - -:- inlined", "20 round -:1"]);
}
