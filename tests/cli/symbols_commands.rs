//! `traceparse uuid` and `traceparse symbolicate`.

use std::collections::BTreeMap;

use traceparse::demangle::display_name;

use crate::command::{finish, lines_of_words, read_text, stdout_of};
use crate::symbols_case::{
    Case, DEMO, DEMO_X86, FAT_ARM64, FAT_X86, INLINED_NAMES, INLINING, LOAD_ADDRESS, assert_one_sentence, built,
    dwarf_file,
};

#[test]
fn uuids_of_a_thin_file_a_fat_file_and_a_bundle() {
    let case = Case::new();
    let check = |path: &str, expected: &[String]| {
        let mut lines = lines_of_words(&case.ok(&["uuid", path]));
        lines.sort();
        assert_eq!(lines, expected, "{path}");
    };
    let thin = built("x86_64-dwarf4/Demo");
    check(&thin, &[format!("{DEMO_X86} x86_64 Mach-O {thin}")]);
    let fat = built("fat/FatDemo");
    check(&fat, &[format!("{FAT_ARM64} arm64 Mach-O {fat}"), format!("{FAT_X86} x86_64 Mach-O {fat}")]);
    let file = dwarf_file("fat", "FatDemo");
    check(
        &built("fat/FatDemo.dSYM"),
        &[format!("{FAT_ARM64} arm64 dSYM {file}"), format!("{FAT_X86} x86_64 dSYM {file}")],
    );
}

#[test]
fn uuids_of_a_folder_and_of_several_paths() {
    let case = Case::new();
    let text = case.ok(&["uuid", &built("")]);
    // `fixtures/symbols/README.md` lists the slices.
    for uuid in [DEMO, DEMO_X86, FAT_ARM64, FAT_X86, INLINING] {
        assert!(text.contains(uuid), "{uuid} is not in {text}");
    }
    assert_eq!(text.lines().filter(|line| line.contains(" dSYM ")).count(), 14, "{text}");
    assert_eq!(text.lines().filter(|line| line.contains(" Mach-O ")).count(), 15, "{text}");
    let two = case.ok(&["uuid", &built("bare/Demo"), &built("bare/Inlining")]);
    assert_eq!(lines_of_words(&two).len(), 2);
    assert!(two.starts_with(DEMO) && two.contains(INLINING), "{two}");
}

#[test]
fn uuids_are_json_too() {
    let case = Case::new();
    let path = built("x86_64-dwarf4/Demo");
    let text = case.ok(&["uuid", &path, "--format", "json"]);
    for part in [&format!("\"uuid\":\"{DEMO_X86}\""), "\"arch\":\"x86_64\"", "\"kind\":\"Mach-O\"", "\"name\":\"Demo\""]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let value: serde_json::Value = serde_json::from_str(&text).expect("the output is JSON");
    let rows = value.get("images").unwrap_or(&value).as_array().expect("there are rows");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["path"], path);
    assert_eq!(rows[0]["text_address"], 0x1_0000_0000_u64);
}

#[test]
fn uuids_where_there_are_none() {
    let case = Case::new();
    std::fs::create_dir(case.folder.path("empty")).expect("a folder can be made");
    assert_one_sentence(&case.fails(1, &["uuid", &case.folder.path("empty")]), &["no symbols found"]);
    let missing = case.folder.path("missing");
    assert_one_sentence(&case.fails(1, &["uuid", &missing]), &[&missing, "No such file"]);
    assert_one_sentence(&case.fails(2, &["uuid"]), &["<PATH>"]);
}

#[test]
fn addresses_are_named_in_the_form_of_atos() {
    let case = Case::new();
    let dsym = built("inlining/Inlining.dSYM");
    let check = |args: &[&str], expected: &str| {
        assert_eq!(case.ok(&[&["symbolicate", "-o", &dsym], args].concat()), expected, "{args:?}");
    };
    let outermost = format!("{} (in Inlining) (inlining.cpp:37)\n", INLINED_NAMES[0]);
    let tick = "paint::tick(int) (in Inlining) (inlining.cpp:15)\n";
    check(&["--offset", "3c8"], &outermost);
    check(&["--offset", "0x3c8", "0X310"], &format!("{outermost}{tick}"));
    check(&["--offset", "310", "3c8", "310"], &format!("{tick}{outermost}{tick}"));
    check(&["--offset", "--full-path", "0x310"], "paint::tick(int) (in Inlining) (/src/inlining.cpp:15)\n");
    let inlined = format!(
        "{} (in Inlining) (inlining.cpp:19)\n{} (in Inlining) (inlining.cpp:24)\n{} (in Inlining) (inlining.cpp:30)\n\
         {outermost}",
        INLINED_NAMES[3], INLINED_NAMES[2], INLINED_NAMES[1]
    );
    check(&["--offset", "-i", "3c8", "310"], &format!("{inlined}\n{tick}"));
}

#[test]
fn addresses_are_taken_as_they_are() {
    let case = Case::new();
    // At 0x31f ends the call of line 15; nothing is subtracted, so 0x31f and 0x320 are different places of `tick`, and
    // the first address of a function is that function.
    let dsym = built("inlining/Inlining.dSYM");
    let text = case.ok(&["symbolicate", "-o", &dsym, "--offset", "0x328", "0x327"]);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split('(').next()).collect();
    assert_eq!(names, ["paint::blend_image", "paint::tick"]);
}

#[test]
fn addresses_of_a_process_of_a_file_and_of_an_image() {
    let case = Case::new();
    // `__TEXT` of this one is at 0x100000000, of `Moved` at 0x40000; `fill_span` has line 24 at 0x564.
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let place = "fill_span (in Demo) (demo.c:24)\n";
    let loaded = format!("{LOAD_ADDRESS:x}");
    for args in [&["100000564"][..], &["--offset", "564"], &["-l", &loaded, "0x102a40564"]] {
        assert_eq!(case.ok(&[&["symbolicate", "-o", &dsym], args].concat()), place, "{args:?}");
    }
    let message = case.fails(2, &["symbolicate", "-o", &dsym, "--offset", "-l", &loaded, "564"]);
    assert_one_sentence(&message, &["--offset", "--load-address"]);
}

#[test]
fn addresses_come_from_standard_input_too() {
    let case = Case::new();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let mut command = case.command(&["symbolicate", "-o", &dsym, "--offset"]);
    let assert = finish(command.write_stdin("0x564 50b\n\n  713\n0x0\n")).success().stderr("");
    let lines: Vec<String> = stdout_of(&assert).lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        ["fill_span (in Demo) (demo.c:24)", "draw_shape (in Demo) (demo.c:31)", "main (in Demo) (demo.c:72)", "0x0"]
    );
    let mut command = case.command(&["symbolicate", "-o", &dsym, "--offset"]);
    let assert = finish(command.write_stdin("0x564 main\n")).code(1);
    assert_one_sentence(&crate::command::stderr_of(&assert), &["\"main\" is not a hexadecimal address"]);
}

/// The starts of the stripped binary's functions are those that `llvm-objdump --function-starts` prints.
#[test]
fn a_symbol_table_tells_offsets_and_a_stripped_binary_tells_where_functions_start() {
    let case = Case::new();
    let addresses = ["500", "564", "100000565", "7000"];
    for (file, base, expected) in [
        ("Demo", &["--offset"][..], "draw_shape (in Demo) + 44\nfill_span (in Demo) + 28\n"),
        ("Demo-stripped", &["--offset"], "0x4d4 (in Demo-stripped) + 44\n0x548 (in Demo-stripped) + 28\n"),
    ] {
        let file = built(&format!("bare/{file}"));
        let text = case.ok(&[&["symbolicate", "-o", &file], base, &addresses].concat());
        assert_eq!(text, format!("{expected}0x100000565\n0x7000\n"));
    }
    let text = case.ok(&["symbolicate", "-o", &built("bare/Demo-stripped"), "100000565"]);
    assert_eq!(text, "0x100000548 (in Demo-stripped) + 29\n");
}

#[test]
fn names_are_demangled_as_arguments_and_in_a_text() {
    let case = Case::new();
    let names = ["__ZN3foo3barEi", "_RNvCs1234_7orchard3foo", "main", "_Z1", "a\u{1b}[2J"];
    assert_eq!(case.ok(&[&["demangle"], &names[..]].concat()), "foo::bar(int)\norchard::foo\nmain\n_Z1\na\\u{1b}[2J\n");
    let mut command = case.command(&["demangle"]);
    let assert = finish(command.write_stdin(b"3 App \xff __ZN3foo3barEi+4\r\nno name".to_vec())).success().stderr("");
    assert_eq!(assert.get_output().stdout, b"3 App \xff foo::bar(int)+4\r\nno name");
}

#[test]
fn an_address_that_nothing_names_is_printed() {
    let case = Case::new();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    // The header, far behind the text, and before the load address.
    for (args, expected) in [
        (&["--offset", "0", "0x7000000"][..], "0x0\n0x7000000\n"),
        (&["-l", "0x102a40000", "0x1000"], "0x1000\n"),
        (&["--offset", "-i", "0", "564", "7000000"], "0x0\n\nfill_span (in Demo) (demo.c:24)\n\n0x7000000\n"),
        (&["ffffffffffffffff"], "0xffffffffffffffff\n"),
    ] {
        assert_eq!(case.ok(&[&["symbolicate", "-o", &dsym], args].concat()), expected, "{args:?}");
    }
}

#[test]
fn the_architecture_chooses_a_slice() {
    let case = Case::new();
    let dsym = built("fat/FatDemo.dSYM");
    for (arch, expected) in
        [("arm64", "draw_shape (in FatDemo) (demo.c:30)\n"), ("x86_64", "fail_budget (in FatDemo) (demo.c:15)\n")]
    {
        assert_eq!(case.ok(&["symbolicate", "-o", &dsym, "--arch", arch, "--offset", "500"]), expected);
    }
    let message = case.fails(1, &["symbolicate", "-o", &dsym, "--offset", "500"]);
    assert_one_sentence(&message, &[&dsym, "several images", "arm64", "x86_64", FAT_ARM64, FAT_X86, "--arch"]);
    let message = case.fails(1, &["symbolicate", "-o", &dsym, "--arch", "armv7", "500"]);
    assert_one_sentence(&message, &["armv7", "arm64", "x86_64"]);
    let message = case.fails(1, &["symbolicate", "-o", &built("several-files"), "--arch", "arm64", "500"]);
    assert_one_sentence(&message, &["several images", "name one file"]);
}

#[test]
fn the_best_file_of_one_image_is_asked() {
    let case = Case::new();
    // The folder has the binary, which has no lines, and the dSYM, of one UUID.
    let text = case.ok(&["symbolicate", "-o", &built("arm64-dwarf5"), "--offset", "480"]);
    assert_eq!(text, "fail_budget (in Demo5) (demo.c:15)\n");
    let text = case.ok(&["symbolicate", "-o", &built("arm64-dwarf5/Demo5"), "--offset", "480"]);
    assert_eq!(text, "fail_budget (in Demo5) + 0\n");
}

#[test]
fn symbolicate_needs_symbols_and_addresses() {
    let case = Case::new();
    let missing = case.folder.path("missing.dSYM");
    assert_one_sentence(&case.fails(1, &["symbolicate", "-o", &missing, "500"]), &[&missing, "No such file"]);
    let text = case.folder.file("notes.txt", "Dear diary");
    assert_one_sentence(&case.fails(1, &["symbolicate", "-o", &text, "500"]), &[&text, "no symbols"]);
    assert_one_sentence(&case.fails(2, &["symbolicate", "500"]), &["--object"]);
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    for bad in ["main", "0x", "12345678901234567", "-1"] {
        case.fails(2, &["symbolicate", "-o", &dsym, bad]);
    }
    assert_eq!(stdout_of(&finish(case.command(&["symbolicate", "-o", &dsym]).write_stdin("")).success()), "");
}

/// A frame as it is printed: function, and file and line where they are known.
type Line = (String, Option<String>);

/// Every address of a table, named by the command, compared with llvm-symbolizer's answer.
#[track_caller]
fn check_table(name: &str, file: &str, arch: &str, least: usize) {
    let case = Case::new();
    let mut by_address: BTreeMap<u64, Vec<Line>> = BTreeMap::new();
    for line in read_text(&built(&format!("{name}/expected.tsv"))).lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[symbols, row_arch, _, address, _, _, function, source, line, _, note] = &cells[..] else {
            panic!("{line} has eleven cells")
        };
        // A note says that llvm-symbolizer names what it should not.
        if symbols != file || row_arch != arch || note != "-" {
            continue;
        }
        let address = u64::from_str_radix(&address[2..], 16).expect("addresses are in hex");
        let place = (source != "-").then(|| format!("{source}:{line}"));
        by_address.entry(address).or_default().push((display_name(function).into_owned(), place));
    }
    assert!(by_address.len() >= least, "{name} has {} addresses", by_address.len());

    let addresses: Vec<String> = by_address.keys().map(|address| format!("{address:#x}")).collect();
    let path = built(&format!("{name}/{file}"));
    let mut args = vec!["symbolicate", "-o", &path, "--arch", arch, "-i", "--offset", "--full-path"];
    args.extend(addresses.iter().map(String::as_str));
    let text = case.ok(&args);
    let answers: Vec<&str> = text.trim_end_matches('\n').split("\n\n").collect();
    assert_eq!(answers.len(), by_address.len(), "one answer for each address");
    let module = path.rsplit('/').next().expect("the path has a name");
    for ((address, expected), answer) in by_address.iter().zip(answers) {
        let lines: Vec<Line> = answer.lines().map(|line| parse(line, module)).collect();
        let same = |(ours, theirs): (&Line, &Line)| {
            // llvm strips one more underscore from names that only the symbol table has.
            ours.0.trim_start_matches('_') == theirs.0.trim_start_matches('_') && ours.1 == theirs.1
        };
        assert!(
            lines.len() == expected.len() && lines.iter().zip(expected).all(same),
            "{path} {address:#x}: {lines:?}, expected {expected:?}"
        );
    }
}

/// Takes `function (in Module) (file:line)` apart.
fn parse(line: &str, module: &str) -> Line {
    let (function, rest) = line.split_once(&format!(" (in {module})")).unwrap_or_else(|| panic!("{line:?}"));
    let place = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    (function.to_owned(), place.map(str::to_owned))
}

#[test]
fn symbolicate_answers_as_llvm_symbolizer_does() {
    for (name, bundle, arch, least) in [
        ("arm64-dwarf4", "Demo", "arm64", 20),
        ("arm64-dwarf5", "Demo5", "arm64", 20),
        ("x86_64-dwarf4", "Demo", "x86_64", 20),
        ("fat", "FatDemo", "arm64", 20),
        ("fat", "FatDemo", "x86_64", 20),
        ("inlining", "Inlining", "arm64", 20),
        ("objcxx", "Widgets", "arm64", 20),
        ("rust", "Shapes", "arm64", 20),
        ("names", "Names", "arm64", 5),
        ("noreturn", "NoReturn", "arm64", 5),
        ("moved", "Moved", "arm64", 5),
    ] {
        check_table(name, &format!("{bundle}.dSYM/Contents/Resources/DWARF/{bundle}"), arch, least);
    }
}
