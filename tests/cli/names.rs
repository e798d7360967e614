//! Processes, threads, binaries and functions by what people type: whole names first, then parts of names in any case, then `/REGEX/`.

use serde_json::Value;

use crate::command::{Folder, fails, finish, fixture, json, ok, orchard, stderr_of, stdout_of, traceparse};

/// The samples that count, and standard error.
#[track_caller]
fn counted(args: &[&str]) -> (u64, String) {
    let args = [args, &["--view", "summary", "--format", "json"]].concat();
    let assert = finish(&mut traceparse(&args)).success();
    let answer: Value = serde_json::from_str(&stdout_of(&assert)).expect("JSON");
    (answer["series"][0]["samples"].as_u64().expect("a number"), stderr_of(&assert))
}

/// A part of a name counts what it should, and one note says what it means.
#[track_caller]
fn check(args: &[&str], samples: u64, note: &str) {
    let note = if note.is_empty() { String::new() } else { format!("note: {note}\n") };
    assert_eq!(counted(&[&[orchard().as_str()], args].concat()), (samples, note), "{args:?}");
}

#[test]
fn threads_are_found_by_a_part_of_their_name_in_any_case() {
    check(&["--thread", "main"], 122, "--thread 'main': Main Thread (Orchard)");
    let press = "press worker #1 (pool) (Orchard), press worker #2 (pool) (Orchard)";
    check(&["--thread", "PRESS"], 260, &format!("--thread 'PRESS': {press}"));
    check(&["--thread", "/^press.*[12] /"], 260, &format!("--thread '/^press.*[12] /': {press}"));
    check(&["--thread", "/#2/"], 141, "--thread '/#2/': press worker #2 (pool) (Orchard)");
    let render = "--thread 'render': com.orchard.render (Orchard)";
    check(&["--thread", "Main Thread", "--thread", "render"], 225, render);
}

#[test]
fn processes_are_found_by_a_part_of_their_name() {
    check(&["--process", "orch"], 485, "--process 'orch': Orchard (4150)");
    let several = fixture("26.4/time-profile");
    let (samples, note) = counted(&[&several, "--process", "helper"]);
    assert_eq!(note, "note: --process 'helper': Orchard Helper (Labels) (4162)\n");
    assert_eq!(samples, counted(&[&several, "--process", "4162"]).0);
}

/// `Orchard` is a part of the other name, too.
#[test]
fn a_whole_name_or_number_means_nothing_else() {
    let several = fixture("26.4/time-profile");
    let all = counted(&[&several]).0;
    let (samples, said) = counted(&[&several, "--process", "Orchard"]);
    assert_eq!((samples, said), (counted(&[&several, "--process", "4150"]).0, String::new()));
    assert!(samples < all);
    assert_eq!(counted(&[&several, "--process", "ORCHARD"]).0, all, "no process is named so");
    for number in ["2", "0x2", "17"] {
        assert!(
            fails(1, &[&orchard(), "--thread", number]).contains("matches no thread"),
            "{number} is a part of tids"
        );
    }
}

#[test]
fn names_that_mean_nothing_are_answered_with_the_nearest() {
    for (option, asked, said) in [
        ("--thread", "Mian Thread", "--thread 'Mian Thread' matches no thread; the nearest: 'Main Thread'\n"),
        ("--process", "Orchid", "--process 'Orchid' matches no process; the nearest: 'Orchard'\n"),
        ("--binary", "libfriut", "--binary 'libfriut' matches no binary; the nearest: 'libfruit.dylib'\n"),
        ("--thread", "/^zzz$/", "--thread '/^zzz$/' matches no thread\n"),
    ] {
        let message = fails(1, &[&orchard(), option, asked]);
        assert!(message.contains(&format!("warning: {said}")), "{message}");
    }
    let (samples, said) = counted(&[&orchard(), "--thread", "Main Thread", "--thread", "rendre"]);
    assert_eq!(samples, 122, "the other one counts");
    assert_eq!(said, "warning: --thread 'rendre' matches no thread; the nearest: 'com.orchard.render'\n");
}

#[test]
fn names_that_would_match_everything_are_refused() {
    for option in ["--thread", "--process", "--binary", "--leaf-binary", "--function"] {
        for (name, said) in [("", "/^$/"), ("//", "empty regular expression"), ("/(/", "unclosed group")] {
            let message = fails(2, &["no-such-file.xml", option, name]);
            assert!(message.contains(said) && message.contains(option), "{option} {name}: {message}");
        }
    }
}

#[test]
fn many_matches_are_counted_in_the_note() {
    let (_, said) = counted(&[&orchard(), "--thread", "/./", "--binary", "/./"]);
    let threads = "--thread '/./': press worker #1 (pool) (Orchard), press worker #2 (pool) (Orchard), Main Thread (Orchard), com.orchard.render (Orchard)";
    assert!(said.contains(threads), "{said}");
    let listed = said.lines().find(|line| line.contains("--binary")).expect("a note of binaries");
    assert!(listed.matches(", ").count() == 5 && listed.ends_with(", … 1 more"), "{listed}");
}

#[test]
fn matches_of_one_name_are_counted() {
    let folder = Folder::new();
    let pool = folder.edited("27/orchard", &[("press worker #1 (pool)", "pool"), ("press worker #2 (pool)", "pool")]);
    let (samples, said) = counted(&[&pool, "--thread", "poo"]);
    assert_eq!((samples, said.as_str()), (260, "note: --thread 'poo': pool (Orchard) ×2\n"));
}

#[test]
fn samples_with_a_binary_in_their_stack_count() {
    check(&["--binary", "libfruit.dylib"], 106, "");
    check(&["--binary", "fruit"], 106, "--binary 'fruit': libfruit.dylib");
    check(&["--binary", "orchardKIT"], 98, "--binary 'orchardKIT': OrchardKit");
    check(&["--binary", "/usr/lib/system/libsystem_pthread.dylib"], 362, "");
    let system = "libsystem_pthread.dylib, libsystem_kernel.dylib";
    check(&["--binary", "/usr/lib/system/libsystem"], 366, &format!("--binary '/usr/lib/system/libsystem': {system}"));
    check(&["--binary", "dyld", "--binary", "libfruit.dylib"], 195, "");
}

#[test]
fn samples_taken_in_a_binary_count() {
    check(&["--leaf-binary", "Orchard"], 294, "");
    check(&["--leaf-binary", "/^Orchard/"], 370, "--leaf-binary '/^Orchard/': Orchard, OrchardKit");
    check(&["--leaf-binary", "OrchardKit", "--binary", "dyld"], 2, "");
    check(&["--leaf-binary", "dyld", "--leaf-binary", "libfruit.dylib"], 106, "");
}

/// They are told like the operations before which they are applied.
#[test]
fn what_binaries_leave_out_is_told() {
    let args =
        [&orchard(), "--view", "functions", "--charge-binary", "libfruit.dylib", "--leaf-binary", "libfruit.dylib"];
    let answer = json(&args);
    let operations = answer["operations"].as_array().expect("operations");
    let filter = &operations[0];
    assert_eq!(
        filter["operation"], "--leaf-binary 'libfruit.dylib'",
        "before the operation that stands in front of it"
    );
    assert_eq!(filter["series"][0]["removed"], serde_json::json!({"weight": 379_000_000, "samples": 379}));
    assert_eq!(operations[1]["series"][0]["moved"]["samples"], 106);
    assert!(ok(&args).contains("removed by --leaf-binary 'libfruit.dylib': 379.00 ms in 379 samples"));
    let message = fails(1, &[&orchard(), "--leaf-binary", "dyld"]);
    assert!(message.contains("--leaf-binary 'dyld' removed the last ones"), "{message}");
    let folder = Folder::new();
    let again = folder.edited("27/orchard", &[]);
    let said = ok(&["diff", &orchard(), &again, "--binary", "libfruit.dylib", "--format", "json"]);
    assert!(said.contains("--binary 'libfruit.dylib'"), "{said}");
}

#[test]
fn exports_mark_main_threads_by_name_only() {
    check(&["--only-main-thread"], 122, "");
    let folder = Folder::new();
    let main = |name: &str| folder.edited("27/orchard", &[("\"Main Thread (", &format!("\"{name} ("))]);
    assert_eq!(
        counted(&[&main("main"), "--only-main-thread"]),
        (122, "note: --only-main-thread: main (Orchard)\n".to_owned())
    );
    for name in ["com.apple.main", "mainly", "main thread", "Orchard"] {
        let message = fails(1, &[&main(name), "--only-main-thread"]);
        assert!(
            message.contains("warning: --only-main-thread: the recording marks no thread as a main thread"),
            "{message}"
        );
        assert!(message.contains("error: no sample passes the filters") && message.contains(name), "{message}");
    }
    // A thread that runs `main` is another one where one is known.
    let both = folder.edited("27/orchard", &[("\"com.orchard.render (", "\"main (")]);
    assert_eq!(counted(&[&both, "--only-main-thread"]), (122, String::new()));
}

/// Name and self weight of the row between callers and callees, and standard error.
#[track_caller]
fn function(args: &[&str]) -> (String, u64, String) {
    let export = orchard();
    let assert = finish(&mut traceparse(&[&[&export, "--format", "json", "--function"], args].concat())).success();
    let answer: Value = serde_json::from_str(&stdout_of(&assert)).expect("JSON");
    let rows = answer["sandwich"].as_array().expect("rows");
    let own = rows.iter().find(|row| row["relation"] == "all").expect("a row of the function itself");
    let name = own["function"].as_str().expect("a name").to_owned();
    assert_eq!(answer["asked"]["function"], *name, "what is shown");
    (name, own["samples"].as_u64().expect("a number"), stderr_of(&assert))
}

#[test]
fn a_function_is_found_by_a_part_of_its_name() {
    let whole = "orchard::Press::squeeze(orchard::Crate const&)";
    for asked in ["SQUEEZE", "Press::squeeze", "/::squeeze[(]/"] {
        let note = format!("note: --function '{asked}': {whole}\n");
        assert_eq!(function(&[asked]), (whole.to_owned(), 260, note));
    }
    // A part of other names, too.
    assert_eq!(function(&["main"]), ("main".to_owned(), 122, String::new()));
    // Another one that has it is in other threads only.
    let name = "orchard::operator<(orchard::Apple const&, orchard::Apple const&)";
    let note = format!("note: --function 'operator': {name}\n");
    assert_eq!(function(&["operator", "--thread", "Main Thread"]), (name.to_owned(), 31, note));
}

#[test]
fn functions_of_which_one_is_meant_are_listed_by_weight() {
    let message = fails(1, &[&orchard(), "--function", "fruit_"]);
    let listed = "error: 'fruit_' is a part of the names of 3 functions; pass one of these whole:
      69.00 ms  fruit_copy_fast
      20.00 ms  fruit_alloc
      17.00 ms  fruit_free
";
    assert_eq!(message, listed);
    let many = fails(1, &[&orchard(), "--function", "/./"]);
    let lines: Vec<&str> = many.lines().collect();
    assert_eq!(lines[0], "error: '/./' matches 43 functions; pass one of these whole:");
    assert_eq!((lines.len(), lines[11].trim()), (1 + 10 + 1, "…  33 more"), "{many}");
}
