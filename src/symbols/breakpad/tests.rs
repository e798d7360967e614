use std::path::PathBuf;

use super::*;
use crate::symbols::SymbolFrame;

const HEAD: &str = "MODULE mac arm64 4C4C443B55553144A14B1553F2DDDC050 Demo\n";

/// The frames of each address, such as `clamp a.c:3 < draw a.c:12 +8`, and the notes. Addresses without an answer have `-`.
fn look_up(records: &str, addresses: &[u64]) -> (Vec<String>, Vec<String>) {
    let text = format!("{HEAD}{records}");
    let file = FileBytes::from(text.as_bytes());
    let mut answers = vec!["-".to_owned(); addresses.len()];
    let shown = |frame: &SymbolFrame<'_>| {
        let function = frame.function.unwrap_or("?");
        let place = frame.file.map(|file| format!(" {file}:{}", frame.line.unwrap_or(99))).unwrap_or_default();
        let offset = frame.offset.map(|offset| format!(" +{offset}")).unwrap_or_default();
        let aliases: String = frame.aliases.iter().map(|alias| format!(" = {alias}")).collect();
        format!("{function}{place}{offset}{aliases}")
    };
    let notes = BreakpadSymbols::read(&file).look_up(addresses, &mut |index, frames| {
        assert_eq!(answers[index], "-", "answered once");
        answers[index] = frames.iter().map(shown).collect::<Vec<_>>().join(" < ");
    });
    (answers, notes.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn check(records: &str, expected: &[(u64, &str)]) {
    let addresses: Vec<u64> = expected.iter().map(|(address, _)| *address).collect();
    let (answers, notes) = look_up(records, &addresses);
    let answers: Vec<(u64, &str)> = addresses.into_iter().zip(answers.iter().map(String::as_str)).collect();
    assert_eq!((answers.as_slice(), notes), (expected, Vec::new()), "{records}");
}

const DEMO: &str = "\
INFO CODE_ID 1
FILE 0 /src/a b.cpp
FILE 7 /src/b.h
INLINE_ORIGIN 0 clamp(int)
INLINE_ORIGIN 1 Image::scale<a, b>()
FUNC 100 40 0 draw(int, char)
INLINE 0 12 0 1 110 10 130 8
INLINE 1 88 7 0 114 4
100 10 11 0
110 4 89 7
114 4 3 0
118 8 90 7
120 10 0 0
130 8 89 7
FUNC m 200 10 8 _ZN3foo3barEv
PUBLIC 300 0 -[Widget draw]
PUBLIC m 310 0 one
PUBLIC 310 0 two
STACK CFI INIT 100 40 .cfa: $rsp 8 +
STACK CFI 104 .cfa: $rsp 16 +
";

const ANSWERS: [(u64, &str); 14] = [
    (0xff, "-"),
    (0x100, "draw(int, char) /src/a b.cpp:11 +0"),
    (0x10f, "draw(int, char) /src/a b.cpp:11 +15"),
    (0x110, "Image::scale<a, b>() /src/b.h:89 < draw(int, char) /src/a b.cpp:12 +16"),
    (0x117, "clamp(int) /src/a b.cpp:3 < Image::scale<a, b>() /src/b.h:88 < draw(int, char) /src/a b.cpp:12 +23"),
    (0x11f, "Image::scale<a, b>() /src/b.h:90 < draw(int, char) /src/a b.cpp:12 +31"),
    (0x120, "draw(int, char) /src/a b.cpp:0 +32"),
    (0x137, "Image::scale<a, b>() /src/b.h:89 < draw(int, char) /src/a b.cpp:12 +55"),
    (0x138, "draw(int, char) +56"),
    (0x140, "-"),
    (0x20f, "_ZN3foo3barEv +15"),
    (0x210, "-"),
    (0x300, "-[Widget draw] +0"),
    (0x31f, "one +15 = two"),
];

#[test]
fn functions_lines_and_inlined_functions_have_their_names() {
    check(DEMO, &ANSWERS);
    check(&DEMO.replace('\n', "\r\n"), &ANSWERS);
}

#[test]
fn records_may_have_any_order() {
    let (names, code): (Vec<&str>, Vec<&str>) =
        DEMO.lines().partition(|line| line.starts_with("FILE") || line.starts_with("INLINE_ORIGIN"));
    check(&[&code[11..14], &code[1..11], &names[..]].concat().join("\n"), &ANSWERS);
}

#[test]
fn a_public_symbol_ends_at_the_next_symbol_of_any_kind() {
    let records = "PUBLIC 0 0 _mh_execute_header\nPUBLIC 100 0 a\nFUNC 120 10 0 f\nPUBLIC 120 0 g\nPUBLIC 140 0 b\nFUNC 160 x\nPUBLIC 200 0 \n";
    let far = 0x200 + crate::units::LONGEST_FUNCTION;
    let expected = [
        (0xff, "-"),
        (0x100, "a +0"),
        (0x11f, "a +31"),
        (0x12f, "f +15 = g"),
        (0x130, "-"),
        (0x15f, "b +31"),
        (0x160, "-"),
        (0x200, "? +0"),
        (far + 1, "-"),
    ];
    let (answers, notes) = look_up(records, &expected.map(|(address, _)| address));
    assert_eq!(answers, expected.map(|(_, answer)| answer));
    assert_eq!(notes, ["a FUNC record has no valid size or no name"]);
}

#[test]
fn the_last_function_to_start_wins_if_several_overlap() {
    let records = "FUNC 100 100 0 outer\nFUNC 120 10 0 inner\nFUNC 100 8 0 short\n";
    check(records, &[(0x107, "short +7"), (0x108, "outer +8"), (0x125, "inner +5"), (0x130, "outer +48")]);
}

/// What lookups do not use is never left out silently.
#[test]
fn records_that_are_not_used_have_a_note() {
    let module = "MODULE mac arm64 4C4C443B55553144A14B1553F2DDDC060 Other\n";
    let nested = "an INLINE record is not inside of its function, or of the call around it";
    for (records, address, expected, note) in [
        (
            format!("FUNC 10 4 0 f\n{module}FUNC 20 4 0 g\n"),
            0x20,
            "-",
            "the file contains a second module, which is left out; write each to a file of its own",
        ),
        (format!("FUNC 10 4 0 f\n{module}10 4 9 0\n"), 0x10, "f +0", "a second module"),
        (
            "FILE 0 a.c\nFUNC 10 8 0 f\n10 4 9 0\nSTACK CFI INIT 10 8 x\n14 4 10 0\n".to_owned(),
            0x14,
            "f +4",
            "a line or INLINE record follows the STACK records of its function, and is left out",
        ),
        ("INLINE_ORIGIN 0 g\nFUNC 10 8 0 f\nINLINE 1 9 0 0 10 4\n".to_owned(), 0x10, "f +0", nested),
        ("INLINE_ORIGIN 0 g\nFILE 0 a\nFUNC 10 8 0 f\nINLINE 0 9 0 0 10 c\n".to_owned(), 0x10, "g < f a:9 +0", nested),
        (
            "FILE 0 a.c\nFUNC 10 20 0 f\n10 20 9 0\n14 4 10 0\n".to_owned(),
            0x18,
            "f +8",
            "line records overlap: the last to start is used",
        ),
    ] {
        let (answers, notes) = look_up(&records, &[address]);
        assert_eq!(answers, [expected], "{records}");
        assert!(notes.iter().any(|said| said.contains(note)), "{records}: {notes:?}");
    }
}

#[test]
fn placeholders_are_not_names() {
    let records = "FILE 0 <unknown>\nFILE 1 a.c\nINLINE_ORIGIN 0 <name omitted>\nFUNC 10 8 0 <name omitted>\n10 4 5 0\n\
                   INLINE 0 7 0 0 14 4\n14 4 3 1\nFUNC 20 4 0 <unknown>\n20 4 9 1\n";
    check(records, &[(0x10, "? +0"), (0x14, "? a.c:3 < ? +4"), (0x20, "? a.c:9")]);
}

#[test]
fn malformed_records_are_left_out_with_a_note() {
    for (record, note) in [
        ("FUNC zz 4 0 f", "a record is malformed"),
        ("FUNC 30 4 operator new", "a FUNC record has no valid size or no name"),
        ("FUNC ffffffffffffffff 2 0 f", "a FUNC record has no valid size or no name"),
        ("PUBLIC", "a record is malformed"),
        ("FILE x a.c", "a record is malformed"),
        ("FILE 4294967296 a.c", "a record is malformed"),
        ("WHAT 1", "a record is malformed"),
        ("10 4 5", "a line record is malformed"),
        ("10 4 5 0 0", "a line record is malformed"),
        ("10 0 5 0", "a line record is malformed"),
        ("10 +4 5 0", "a line record is malformed"),
        ("10 4 4294967296 0", "a line record is malformed"),
        ("40 4 5 0", "a line record is not inside of its function"),
        ("INLINE 0 1 0 0 10", "an INLINE record is malformed or too deep"),
        ("INLINE 0 1 0 10 4", "an INLINE record is malformed or too deep"),
        ("INLINE 4000 1 0 0 10 4", "an INLINE record is malformed or too deep"),
    ] {
        let records = format!("FILE 0 a.c\nINLINE_ORIGIN 0 i\nFUNC 10 8 0 good\n14 4 7 0\n{record}\n");
        let (answers, notes) = look_up(&records, &[0x10, 0x14, 0x30]);
        let has_start = record.starts_with("FUNC 30");
        assert_eq!(answers, ["good +0", "good a.c:7 +4", if has_start { "? +0" } else { "-" }], "{record}");
        assert_eq!(notes, [note], "{record}");
    }
    let (answers, notes) = look_up("10 4 5 0\nFUNC 10 8 0 good\n10 8 1 5\n", &[0x10]);
    let missing = "a record refers to a FILE or INLINE_ORIGIN that does not exist";
    assert_eq!((answers, notes), (vec!["good +0".to_owned()], vec![BEFORE.to_owned(), missing.to_owned()]));
}

const BEFORE: &str = "a line is before the first function";

#[test]
fn only_apple_modules_with_a_uuid_are_listed() {
    let kinds = |line: &str| {
        let Contents { images, mut notes, .. } = contents(line.as_bytes(), 100);
        match images.as_slice() {
            [image] => image.name.clone().unwrap_or_default() + "/" + &image.arch,
            _ => notes.pop().expect("a reason"),
        }
    };
    assert_eq!(kinds(HEAD), "Demo/arm64");
    assert_eq!(kinds(&HEAD.replace("mac arm64", "ios x86").replace("Demo\n", "My App\r\n")), "My App/i386");
    assert_eq!(kinds(&HEAD.replace("mac", "Mac")), "Demo/arm64");
    assert!(kinds(&HEAD.replace("mac", "Linux")).contains("for Linux"));
    assert!(["MODULE Mac", "MODULE windows x86"].iter().all(|head| is_start_of_file(head.as_bytes())));
    let others = ["MODULE char_test", "MODULE macro\n", "MODULE ", "module mac"];
    assert!(!others.iter().any(|head| is_start_of_file(head.as_bytes())), "Fortran has modules too");
    for broken in [
        HEAD.replace("050", "051"),
        HEAD.replace("050", "05"),
        HEAD.replace("4C4C443B55553144A14B1553F2DDDC05", &"0".repeat(32)),
        HEAD.replace("4C4C", "4C4-"),
        HEAD.replace("arm64", "arm\t64"),
        "MODULE mac arm64".to_owned(),
    ] {
        assert!(kinds(&broken).contains("without a readable MODULE record"), "{broken}");
    }
}

#[test]
fn a_file_that_changed_its_image_is_an_error() {
    let Contents { images, .. } = contents(HEAD.as_bytes(), 0);
    let Image { kind, uuid, arch, text_address, text_size, range, .. } = images[0].clone();
    let (path, name) = (PathBuf::new(), String::new());
    let found = Found { path, kind, uuid, arch, name, image_path: None, text_address, text_size, range };
    let text = HEAD.replace("DC050", "DC060");
    let asked = ask(&FileBytes::from(text.as_bytes()), &found, |_| Vec::new());
    assert!(asked.unwrap_err().to_string().contains("no longer has this UUID"));
}
