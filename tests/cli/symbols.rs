//! `--dsym`, `--symbols`, `--image` and `--no-inlines`: names for the frames of an export.

use std::fs;

use crate::command::{finish, stdout_of};
use crate::symbols_case::{
    Case, DEMO, DEMO_X86, DRAW, DRAW_NAMES, FAT_ARM64, FAT_X86, INLINED_LEAF, INLINED_NAMES, INLINING, LOAD_ADDRESS,
    SAME_ADDRESS, SEVERAL, addresses, assert_one_sentence, built, dwarf_file, frame, macho,
};

#[test]
fn a_bundle_a_file_and_a_folder_name_the_frames() {
    let case = Case::new();
    let export = case.draw();
    assert_eq!(case.stack(&[&export]), addresses(&DRAW), "without symbols");
    for path in [
        built("arm64-dwarf4/Demo.dSYM"),
        dwarf_file("arm64-dwarf4", "Demo"),
        built("arm64-dwarf4"),
        built(""),
        built("bare/Demo"),
    ] {
        for option in ["--dsym", "--symbols"] {
            assert_eq!(case.stack(&[&export, option, &path]), DRAW_NAMES, "{option} {path}");
        }
    }
}

#[test]
fn every_view_and_format_shows_the_names() {
    let case = Case::new();
    let export = case.draw();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    for args in [
        &["--view", "tree"][..],
        &["--view", "functions"],
        &["--view", "tree", "--format", "csv"],
        &["--view", "functions", "--format", "csv"],
        &["--view", "samples", "--format", "csv"],
        &["--format", "folded"],
        &["--format", "json"],
        &["--view", "full"],
    ] {
        let text = case.ok(&[&[export.as_str(), "--dsym", &dsym], args].concat());
        for name in DRAW_NAMES {
            assert!(text.contains(name), "{args:?}: {name} is not in {text}");
        }
        // The samples of JSON and CSV show the recorded addresses, too.
        if !args.contains(&"samples") {
            assert!(!text.contains("0x102a40"), "{args:?}: an address is left in {text}");
        }
    }
}

#[test]
fn the_summary_counts_what_was_named() {
    let case = Case::new();
    let text = case.ok(&[&case.draw(), "--dsym", &built("arm64-dwarf4/Demo.dSYM"), "--view", "summary"]);
    assert!(text.contains("symbols: 5 of 5 frames"), "{text}");
    assert!(!text.contains("no name"), "{text}");
}

#[test]
fn inlined_functions_become_frames_unless_they_are_not_wanted() {
    let case = Case::new();
    let export = case.export("Inlining", INLINING, &[INLINED_LEAF]);
    let dsym = built("inlining/Inlining.dSYM");
    assert_eq!(case.stack(&[&export, "--dsym", &dsym]), INLINED_NAMES);
    assert_eq!(case.stack(&[&export, "--dsym", &dsym, "--no-inlines"]), INLINED_NAMES[..1]);
    // The weight is that of the sample, in the innermost function and once in each.
    let answer = case.json(&[&export, "--dsym", &dsym, "--view", "functions"]);
    for row in answer["functions"].as_array().expect("functions") {
        let is_leaf = row["function"] == INLINED_NAMES[3];
        assert_eq!(row["self_weight"], if is_leaf { 1_000_000 } else { 0 }, "{row}");
        assert_eq!((&row["all_weight"], &row["binary"]), (&1_000_000.into(), &"Inlining".into()));
    }
}

#[test]
fn each_slice_of_a_fat_file_names_its_own_frames() {
    let case = Case::new();
    // 0x500 lies in other functions in either slice; `expected.tsv` has both.
    for (uuid, function) in [(FAT_ARM64, "draw_shape"), (FAT_X86, "fail_budget")] {
        let export = case.export("FatDemo", uuid, &[(0x501, "")]);
        assert_eq!(case.stack(&[&export, "--dsym", &built("fat/FatDemo.dSYM"), "--no-inlines"]), [function], "{uuid}");
    }
}

#[test]
fn a_name_of_the_recording_stays_where_the_symbols_agree() {
    let case = Case::new();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let export = case.export("Demo", DEMO, &[(0x565, "fill_span"), (0x50c, ""), (0x714, "main")]);
    let text = case.ok(&[&export, "--dsym", &dsym, "--view", "summary"]);
    assert!(text.contains("3 of 3 frames") && text.contains("2 had one before"), "{text}");
    assert!(!text.contains("another name"), "{text}");
    assert_eq!(case.stack(&[&export, "--dsym", &dsym]), ["main", "draw_shape", "fill_span"]);
}

#[test]
fn symbols_win_over_another_name_of_the_recording_and_that_is_said() {
    let case = Case::new();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let export = case.export("Demo", DEMO, &[(0x565, "sort"), (0x50c, "draw_shape"), (0x714, "main")]);
    assert_eq!(case.stack(&[&export, "--dsym", &dsym]), ["main", "draw_shape", "fill_span"]);
    let text = case.ok(&[&export, "--dsym", &dsym, "--view", "summary"]);
    assert!(text.contains("1 frame") && text.contains("another name"), "{text}");
    let answer = case.json(&[&export, "--dsym", &dsym, "--view", "summary"]);
    assert_eq!(answer["symbolication"]["binaries"][0]["disagreements"], 1);
}

#[test]
fn another_build_names_nothing_and_both_uuids_are_said() {
    let case = Case::new();
    let export = case.export("Demo", "11111111-2222-3333-4444-555555555555", &DRAW);
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    assert_eq!(case.stack(&[&export, "--dsym", &dsym]), addresses(&DRAW));
    let (_, warnings) = case.warns(&[&export, "--dsym", &dsym]);
    let line = warnings.lines().find(|line| line.contains("different build")).expect("it is said");
    for word in ["Demo", "11111111-2222-3333-4444-555555555555", "arm64", DEMO, "arm64-dwarf4/Demo.dSYM"] {
        assert!(line.contains(word), "{word} is not in {line}");
    }
}

#[test]
fn symbols_of_other_binaries_name_nothing_and_are_no_error() {
    let case = Case::new();
    let (text, warnings) = case.warns(&[&case.draw(), "--dsym", &built("inlining"), "--view", "summary"]);
    assert!(text.contains("symbols: 0 of 5 frames"), "{text}");
    assert_eq!(warnings.lines().count(), 1, "{warnings}");
    assert!(text.contains("5 of 5 frames have no name") && text.contains(DEMO), "{text}");
    assert!(!text.contains("different build"), "{text}");
}

#[test]
fn every_view_reports_a_path_that_names_no_frame_with_the_uuids_of_both() {
    let case = Case::new();
    let (export, other, right) = (case.draw(), built("inlining"), built("arm64-dwarf4/Demo.dSYM"));
    for view in ["overview", "tree", "functions", "samples", "threads", "timeline"] {
        for option in ["--dsym", "--symbols"] {
            let (_, warnings) = case.warns(&[&export, option, &other, "--view", view]);
            let line = warnings.strip_suffix('\n').expect("a line");
            for word in [other.as_str(), INLINING, &format!("{DEMO} (Demo)")] {
                assert!(line.contains(word) && !line.contains('\n'), "{view}: {word} is not in {line}");
            }
        }
    }
    let (_, warnings) = case.warns(&[&export, "--dsym", &right, "--dsym", &other, "--no-cache"]);
    assert!(warnings.contains(&other) && !warnings.contains(&right), "{warnings}");
}

#[test]
fn keeps_a_recorded_name_that_any_symbol_at_the_address_has() {
    let case = Case::new();
    let symbols = [("__Z3foov", 0x1000), ("__Z3barv", 0x1000), ("_plain", 0x1100), ("_twin", 0x1100)];
    let library = case.folder.file("libsame.dylib", macho(&symbols));
    let names = ["foo()", "bar()", "plain", "twin", "other", ""];
    let shown = ["foo()", "bar()", "plain", "twin", "plain", "plain"];
    for (index, (name, shown)) in names.into_iter().zip(shown).enumerate() {
        let address = if index < 2 { 0x1010 } else { 0x1110 };
        let export = case.export("libsame.dylib", SAME_ADDRESS, &[(address + 1, name)]);
        assert_eq!(case.stack(&[&export, "--dsym", &library]), [shown], "{name}");
        let answer = case.json(&[&export, "--dsym", &library, "--view", "summary"]);
        let disagreements = &answer["symbolication"]["binaries"][0]["disagreements"];
        assert_eq!(disagreements, u32::from(name == "other"), "{name}");
    }
}

#[test]
fn stubs_have_the_demangled_name_of_their_target_and_are_not_the_programs_code() {
    let case = Case::new();
    let export = case.export("Demo", DEMO, &[(0x565, "DYLD-STUB$$_ZN3foo3barEi"), (0x50c, "work")]);
    assert_eq!(case.stack(&[&export]), ["work", "DYLD-STUB$$foo::bar(int)"]);
    let tree = case.ok(&[&export, "--view", "tree"]);
    let lines: Vec<&str> = tree.lines().filter(|line| line.contains('*')).collect();
    assert!(lines.len() == 1 && lines[0].contains("work"), "{tree}");
    let categories = case.ok(&[&export, "--view", "categories", "--format", "csv"]);
    let of = |name: &str| categories.lines().any(|line| line.split(',').any(|cell| cell == name));
    assert!(of("system") && of("user"), "{categories}");
    let overview = case.ok(&[&export]);
    assert!(overview.contains("work"), "{overview}");
}

#[test]
fn several_paths_are_searched_together() {
    let case = Case::new();
    let export = case.draw();
    let (other, right) = (built("inlining"), built("arm64-dwarf4/Demo.dSYM"));
    for args in [["--dsym", &other, "--dsym", &right], ["--symbols", &right, "--dsym", &other]] {
        assert_eq!(case.stack(&[&[export.as_str()], &args[..]].concat()), DRAW_NAMES);
    }
}

#[test]
fn a_path_that_another_one_holds_is_no_error() {
    let case = Case::new();
    let export = case.draw();
    let (folder, bundle) = (built("arm64-dwarf4"), built("arm64-dwarf4/Demo.dSYM"));
    for (one, other) in [(&folder, &bundle), (&bundle, &folder), (&bundle, &bundle)] {
        assert_eq!(case.stack(&[&export, "--dsym", one, "--symbols", other]), DRAW_NAMES);
    }
}

#[test]
fn a_cut_file_does_not_stand_before_a_complete_one() {
    let case = Case::new();
    // The file `Cut` sorts before `Several`, and has its UUID and its symbol table, but no DWARF.
    let export = case.export("Several", SEVERAL, &[(0x4ed, "")]);
    for path in [dwarf_file("several-files", "Several"), built("several-files/Several.dSYM"), built("several-files")] {
        let args = [&export, "--dsym", &path, "--view", "samples", "--format", "csv"];
        let text = stdout_of(&finish(&mut case.command(&args)).success());
        assert!(text.contains("draw_shape;shape_inset"), "{path}: {text}");
    }
}

#[test]
fn a_path_that_is_not_there() {
    let case = Case::new();
    let export = case.draw();
    let missing = case.folder.path("missing.dSYM");
    for option in ["--dsym", "--symbols"] {
        let message = case.fails(1, &[&export, option, &missing]);
        assert_one_sentence(&message, &[&missing, "No such file"]);
    }
    let image = format!("{DEMO}@{LOAD_ADDRESS:#x}={missing}");
    assert_one_sentence(&case.fails(1, &[&export, "--image", &image]), &[&missing, "No such file"]);
}

#[test]
fn a_folder_without_symbols() {
    let case = Case::new();
    let export = case.draw();
    std::fs::create_dir(case.folder.path("empty")).expect("a folder can be made");
    case.folder.file("empty/notes.txt", "Dear diary");
    for path in [case.folder.path("empty"), export.clone()] {
        let message = case.fails(1, &[&export, "--dsym", &path]);
        assert_one_sentence(&message, &[&path, "no symbols", "dSYM"]);
    }
}

#[test]
fn files_of_other_kinds_get_a_word_each_and_do_no_harm() {
    let case = Case::new();
    let export = case.draw();
    std::fs::create_dir(case.folder.path("mixed")).expect("a folder can be made");
    let others = [
        ("mixed/Demo.dSYM.zip", &b"PK\x03\x04\x14\0\0\0\x08\0"[..], "zip archive"),
        ("mixed/libdemo.so", b"\x7fELF\x02\x01\x01\0\0\0\0\0", "ELF"),
        ("mixed/Demo.sym", b"MODULE mac arm64 4C4C443B555531440 Demo\n", "Breakpad"),
        ("mixed/Demo.bcsymbolmap", b"BCSymbolMap Version: 2.0\n", "bitcode symbol map"),
        ("mixed/Demo.symcache", b"SYMC\x08\0\0\0", "SymCache"),
        ("mixed/broken", b"\xcf\xfa\xed\xfe\0\0\0", "Mach-O"),
    ];
    for (name, content, _) in others {
        case.folder.file(name, content);
    }
    let mixed = case.folder.path("mixed");
    // On their own they are no symbols; beside a binary they are in nobody's way.
    let alone = case.fails(1, &[&export, "--dsym", &mixed]);
    assert_one_sentence(&alone, &["no symbols found"]);
    std::fs::copy(built("bare/Demo"), case.folder.path("mixed/Demo")).expect("a file can be copied");
    let (text, notes) = case.warns(&[&export, "--dsym", &mixed, "--view", "functions"]);
    assert!(text.contains("draw_frame"), "{text}");
    for (name, _, word) in others {
        for notes in [&alone, &notes] {
            let found: Vec<&str> =
                notes.lines().filter(|line| line.contains(&format!("{}: ", case.folder.path(name)))).collect();
            let &[line] = &found[..] else { panic!("one note on {name}, not {found:?}") };
            assert!(line.starts_with("warning: ") && line.contains(word), "{word} is not in {line}");
        }
    }
    assert_eq!(notes.lines().count(), others.len(), "{notes}");
}

#[test]
fn many_notes_are_cut_short() {
    let case = Case::new();
    std::fs::create_dir(case.folder.path("mixed")).expect("a folder can be made");
    for index in 0..25 {
        case.folder.file(&format!("mixed/{index:02}.zip"), b"PK\x03\x04\x14\0\0\0\x08\0");
    }
    std::fs::copy(built("bare/Demo"), case.folder.path("mixed/Demo")).expect("a file can be copied");
    let args = [&case.draw(), "--dsym", &case.folder.path("mixed")];
    let (_, notes) = case.warns(&[args[0], args[1], args[2], "--view", "functions"]);
    assert!(notes.lines().count() <= 11 && notes.contains("15 more files"), "{notes}");
    // An overview is to fit on a screen with its warnings.
    let (_, notes) = case.warns(&[args[0], args[1], args[2]]);
    assert!(notes.lines().count() == 3 && notes.contains("9 more warnings; any other --view"), "{notes}");
}

#[test]
fn an_image_that_the_user_names_holds_the_addresses_of_old_exports() {
    let case = Case::new();
    let export = case.draw_of_xcode_13();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    assert_eq!(case.stack(&[&export, "--dsym", &dsym]), addresses(&DRAW), "where it was loaded is not known");
    let places = [format!("{DEMO}@{LOAD_ADDRESS:#x}"), format!("{}@{LOAD_ADDRESS:x}", DEMO.to_lowercase())];
    for place in places {
        assert_eq!(case.stack(&[&export, "--dsym", &dsym, "--image", &place]), DRAW_NAMES, "{place}");
        assert_eq!(case.stack(&[&export, "--image", &format!("{place}={dsym}")]), DRAW_NAMES, "{place}");
    }
    let text = case.ok(&[&export, "--image", &format!("{DEMO}@{LOAD_ADDRESS:#x}={dsym}"), "--view", "functions"]);
    assert!(text.contains("fill_span  Demo"), "the image is the binary: {text}");
}

#[test]
fn the_image_next_to_it_holds_its_own_addresses() {
    let case = Case::new();
    let export = case.draw_of_xcode_13();
    let demo = format!("{DEMO}@{LOAD_ADDRESS:#x}={}", built("arm64-dwarf4/Demo.dSYM"));
    // Before, behind, and far away: none of these may name a frame of the other.
    let x86 = built("x86_64-dwarf4/Demo.dSYM");
    for address in [LOAD_ADDRESS - 0x4000, LOAD_ADDRESS + 0x4000, 0x2_0000_0000] {
        let other = format!("{DEMO_X86}@{address:#x}={x86}");
        assert_eq!(case.stack(&[&export, "--image", &other, "--image", &demo]), DRAW_NAMES, "{other}");
    }
}

#[test]
fn an_image_needs_symbols() {
    let case = Case::new();
    let message = case.fails(1, &[&case.draw_of_xcode_13(), "--image", &format!("{DEMO}@{LOAD_ADDRESS:#x}")]);
    assert_one_sentence(&message, &["--image", "--dsym"]);
}

#[test]
fn an_image_is_a_uuid_at_an_address() {
    let case = Case::new();
    let export = case.draw_of_xcode_13();
    for bad in ["Demo", DEMO, &format!("{DEMO}@"), &format!("{DEMO}@main"), "Demo@0x1000", "@0x1000"] {
        let message = case.fails(2, &[&export, "--image", bad]);
        assert_one_sentence(&message, &["--image", "UUID@LOAD_ADDRESS"]);
    }
}

#[test]
fn json_says_what_became_of_each_binary() {
    let case = Case::new();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let export = case.export("Demo", DEMO, &[(0x565, "sort"), (0x50c, "draw_shape"), (0x714, "")]);
    let file = dwarf_file("arm64-dwarf4", "Demo");
    for view in ["summary", "threads", "tree", "functions", "samples"] {
        let answer = case.json(&[&export, "--dsym", &dsym, "--view", view]);
        let expected = serde_json::json!({
            "binaries": [{
                "name": "Demo", "uuid": DEMO, "arch": "arm64",
                "frames": 3, "named_before": 2, "named_now": 3, "nameless": 0, "disagreements": 1, "frames_now": 3,
                "files": [{"path": file, "kind": "dSYM", "uuid": DEMO, "arch": "arm64"}],
                "missing": null, "other_builds": [],
            }],
            "images": 1,
            "frames_without_binary": 0,
            "notes": [],
        });
        assert_eq!(answer["symbolication"], expected, "{view}");
        assert_eq!(answer["version"], 1);
    }
    let answer = case.json(&[&export, "--view", "summary"]);
    assert!(answer.get("symbolication").is_none(), "without symbols there is nothing to say");
}

#[test]
fn json_says_why_frames_have_no_name() {
    let case = Case::new();
    let wrong = built("x86_64-dwarf4/Demo.dSYM");
    let answer = case.json(&[&case.draw(), "--dsym", &wrong, "--view", "summary"]);
    let row = &answer["symbolication"]["binaries"][0];
    assert_eq!((&row["missing"], &row["named_now"], &row["files"]), (&"no-file".into(), &0.into(), &[0; 0][..].into()));
    let file = dwarf_file("x86_64-dwarf4", "Demo");
    let other = serde_json::json!([{"path": file, "kind": "dSYM", "uuid": DEMO_X86, "arch": "x86_64"}]);
    assert_eq!(row["other_builds"], other);

    // Far behind the end of the text.
    let export = case.export("Demo", DEMO, &[(0x565, ""), (0x3f00, "")]);
    let answer = case.json(&[&export, "--dsym", &built("arm64-dwarf4/Demo.dSYM"), "--view", "summary"]);
    let row = &answer["symbolication"]["binaries"][0];
    assert_eq!((&row["missing"], &row["named_now"]), (&"outside-functions".into(), &1.into()));
    assert_eq!((&row["frames"], &row["other_builds"]), (&2.into(), &[0; 0][..].into()));
    assert_eq!(answer["unnamed"]["unnamed"], 1);

    let export = case.draw_of_xcode_13();
    let answer = case.json(&[&export, "--dsym", &built("arm64-dwarf4/Demo.dSYM"), "--view", "summary"]);
    let symbolication = &answer["symbolication"];
    assert_eq!(symbolication["frames_without_binary"], 5);
    assert_eq!(symbolication["binaries"], serde_json::json!([]));
}

/// Code without a name is one function for each place where one starts, under its address, as in Instruments.
#[test]
fn functions_of_a_stripped_binary_are_named_by_where_they_start() {
    let case = Case::new();
    let export = case.export("Demo", "4C4C443B-5555-3144-A14B-1553F2DDDC05", &[(0x565, ""), (0x570, ""), (0x501, "")]);
    let before = case.json(&[&export, "--view", "functions"]);
    let answer = case.json(&[&export, "--dsym", &built("bare/Demo-stripped"), "--view", "functions"]);
    let names = |answer: &serde_json::Value| {
        let rows = answer["functions"].as_array().expect("functions");
        let mut names: Vec<_> = rows.iter().map(|row| row["function"].as_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&before).len(), 3, "{before:#}");
    let names = names(&answer);
    assert!(matches!(&names[..], [one, other] if one.ends_with("4d4") && other.ends_with("548")), "{names:?}");
    let row = &answer["symbolication"]["binaries"][0];
    assert_eq!((&row["missing"], &row["named_now"], &row["nameless"]), (&"nameless".into(), &0.into(), &3.into()));
    let text = case.ok(&[&export, "--dsym", &built("bare/Demo-stripped"), "--view", "summary"]);
    let said =
        "the symbols of Demo have no names for the functions of 3 frames, which are named by the address where they";
    assert!(text.replace("\n  ", " ").contains(said), "{text}");
}

/// Frames that their own symbols do not name are named by no others: only binaries without symbols are listed.
#[test]
fn binaries_whose_symbols_are_there_are_not_asked_for() {
    let case = Case::new();
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let export = case.export("Demo", DEMO, &[(0x565, ""), (0x3f00, "")]);
    let without = case.ok(&[&export, "--view", "summary"]);
    assert!(
        without.contains("\n2 of 2 frames have no name; symbols of these binaries would name them:\n  Demo "),
        "{without}"
    );
    let text = case.ok(&[&export, "--dsym", &dsym, "--view", "summary"]);
    assert!(text.contains("the symbols of Demo know no function at the addresses of 1 frame\n"), "{text}");
    assert!(text.ends_with("\n1 of 2 frames has no name\n"), "{text}");
    // The symbols of another binary are missing.
    let other = frame("Inlining", INLINING, 0x100, "");
    let both = fs::read_to_string(&export)
        .expect("the export")
        .replace("</tagged-backtrace>", &(other + "</tagged-backtrace>"));
    let both = case.folder.file("both.xml", both);
    let text = case.ok(&[&both, "--dsym", &dsym, "--view", "summary"]);
    let said = "\n2 of 3 frames have no name; symbols of these binaries would name 1 of them:\n  Inlining ";
    assert!(text.contains(said) && !text.contains("\n  Demo "), "{text}");
}

#[test]
fn json_counts_the_frames_that_inlining_makes() {
    let case = Case::new();
    let export = case.export("Inlining", INLINING, &[INLINED_LEAF]);
    let dsym = built("inlining/Inlining.dSYM");
    for (args, frames) in [(&[][..], 4), (&["--no-inlines"], 1)] {
        let answer = case.json(&[&[export.as_str(), "--dsym", &dsym, "--view", "summary"], args].concat());
        let row = &answer["symbolication"]["binaries"][0];
        assert_eq!((&row["frames"], &row["frames_now"]), (&1.into(), &frames.into()));
    }
}

#[test]
fn the_overview_says_what_was_found_for_own_code() {
    const OTHER: &str = "12345678-5555-3144-A14B-1553F2DDDC05";
    let case = Case::new();
    let of = |uuid: &str, args: &[&str]| -> String {
        let export = case.export("Demo", uuid, &DRAW);
        let output = case.command(&[&[export.as_str()][..], args].concat()).output().expect("the command starts");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = of(DEMO, &[]);
    assert!(text.contains(&format!("in Demo: give its dSYM (UUID {DEMO}) with --dsym.")), "{text}");
    // Nothing of that name, another architecture, and another build, of which both UUIDs are told.
    let text = of(DEMO, &["--dsym", &built("arm64-dwarf5")]);
    let found = "of 2 symbol files that were found none is of";
    assert!(text.contains(&format!("{found} it; give its dSYM (UUID {DEMO}) with --dsym.")), "{text}");
    let text = of(DEMO, &["--dsym", &built("x86_64-dwarf4")]);
    assert!(text.contains(&format!("{found} arm64 (UUID {DEMO}): that of the same name is of x86_64.")), "{text}");
    for _ in 0..2 {
        // The second time the folder is remembered.
        let text = of(OTHER, &["--dsym", &built("arm64-dwarf4")]);
        let found = format!("is not of this build, whose UUID is {OTHER}: that of the same name has {DEMO}.");
        assert!(text.contains(&format!("the only symbol file that was found {found}")), "{text}");
    }
    assert!(!of(DEMO, &["--dsym", &built("arm64-dwarf4")]).contains("have no name"));
}
