//! Crash reports through the command: what happened, fleets of them, and names in place of addresses.

use std::fs;

use serde_json::{Value, json};

use crate::bundle_case::{gzip, zip_of};
use crate::command::{Folder, fails, finish, ok, stderr_of, stdout_of, traceparse};
use crate::fleet_case::write;
use crate::symbols_case::{Case, DEMO, INLINING, built};

/// A report of a crash in system code. The app called it before this offset in its image, and 0x601 before that.
pub(crate) fn crash_report(version: &str, uuid: &str, offset: u64) -> String {
    let frame = |number: u64, name: &str, base: u64, offset: u64| {
        format!("{number:<4}{name:<30}\t{:#018x} {base:#x} + {offset}\n", base + offset)
    };
    let (app, kernel) = (0x1_02a4_0000, 0x1_a000_0000);
    format!(
        "Process:             Orchard [517]\nPath:                /private/var/containers/Bundle/Application/0/Orchard.app/Orchard\n\
         Version:             {version} (42)\nHardware Model:      iPhone14,2\n\nDate/Time:           2026-04-19 10:30:00.00 -0700\n\
         OS Version:          iPhone OS 17.5 (21F79)\n\nException Type:  EXC_BAD_ACCESS (SIGSEGV)\n\
         Exception Subtype: KERN_INVALID_ADDRESS at 0x0000000000000008\nTermination Reason: SIGNAL 11 Segmentation fault: 11\n\
         Triggered by Thread:  1\n\nThread 0:\n{}\nThread 1 name:  worker\nThread 1 Crashed:\n{}{}{}\n\
         Thread 1 crashed with ARM Thread State (64-bit):\n    x0: 0x0000000000000008\n\nBinary Images:\n\
         {app:#x} - {:#x} Orchard arm64  <{uuid}> /private/var/containers/Bundle/Application/0/Orchard.app/Orchard\n\
         {kernel:#x} - {:#x} libsystem_kernel.dylib arm64e  <00000000-0000-3000-8000-000000000001> /usr/lib/system/libsystem_kernel.dylib\n\nEOF\n",
        frame(0, "libsystem_kernel.dylib", kernel, 0x30),
        frame(0, "libsystem_kernel.dylib", kernel, 0x20),
        frame(1, "Orchard", app, offset),
        frame(2, "Orchard", app, 0x601),
        app + 0xf_ffff,
        kernel + 0xf_ffff
    )
}

#[test]
fn a_report_shows_what_happened_and_no_shares() {
    let folder = Folder::new();
    let report = folder.file("a.crash", crash_report("3.1", DEMO, 0x565));
    let text = ok(&[&report]);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "crash exception EXC_BAD_ACCESS · code KERN_INVALID_ADDRESS at 0x0000000000000008 · signal SIGSEGV",
        "termination SIGNAL 11 Segmentation fault: 11",
        "Thread 1 (worker) crashed in 0x20",
        "the innermost function of your code is 0x565",
    ] {
        assert!(unwrapped.contains(part), "{part}: {text}");
    }
    let named = ok(&[&report, "--dsym", &built("arm64-dwarf4/Demo.dSYM")]);
    assert!(named.contains("   1 * fill_span ") && named.contains("   2 * "), "{named}");
    let json: Value = serde_json::from_str(&ok(&[&report, "--view", "overview", "--format", "json"])).unwrap();
    assert_eq!(json["overview"][0]["stop"]["facts"]["signal"], "SIGSEGV");
    let wanted = ok(&["uuid", &report]);
    assert!(wanted.contains(DEMO) && wanted.contains("libsystem_kernel.dylib · iPhone OS 17.5 (21F79)"), "{wanted}");
}

#[test]
fn fleets_count_reports_by_the_innermost_function_of_the_app() {
    let folder = Folder::new();
    for (name, version, offset) in
        [("a.crash", "3.1", 0x565), ("b.crash", "3.1", 0x569), ("c.ips.ca.synced", "3.2", 0x565)]
    {
        write(&folder, &format!("crashes/{name}"), crash_report(version, DEMO, offset));
    }
    write(&folder, "crashes/memory.ips", "{\"bug_type\":\"298\"}\n{}");
    let input = folder.path("crashes");
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let by = ["--by", "app_version,os_build", "--format", "json"];
    let report = finish(&mut traceparse(&[&["fleet", "report", &input, "--dsym", &dsym][..], &by].concat())).success();
    let said = stderr_of(&report);
    assert!(said.contains("1 report skipped, such as ") && said.contains("memory.ips"), "{said}");
    let report: Value = serde_json::from_str(&stdout_of(&report)).unwrap();
    let row = |version: &str, count: u64| json!({"labels": {"app_version": version, "os_build": "21F79"}, "crashed_in": "fill_span (Orchard)", "crashes": count});
    assert_eq!(report["crashes"], json!([row("3.1", 2), row("3.2", 1)]));
}

#[test]
fn an_exception_is_where_the_app_crashed() {
    let folder = Folder::new();
    let report = folder.file("a.ips", include_str!("../fuzz/corpus/crash/json"));
    let text = ok(&[&report]);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let thrown = "Last exception of Thread 0 was thrown in __exceptionPreprocess (CoreFoundation); the innermost function of \
                  your code is clamp(_:)";
    assert!(unwrapped.contains(thrown), "{text}");
    write(&folder, "crashes/a.ips", fs::read(&report).unwrap());
    let fleet = ok(&["fleet", "report", &folder.path("crashes")]);
    assert!(fleet.contains("1 crash") && fleet.contains("clamp(_:)"), "{fleet}");
}

#[test]
fn symbolicate_writes_the_report_with_names() {
    let case = Case::new();
    let text = crash_report("3.1", INLINING, 0x3c9);
    let report = case.folder.file("a.crash", &text);
    let dsym = built("inlining/Inlining.dSYM");
    let named = case.answer(&["symbolicate", &report, "--dsym", &dsym]);
    let frames: Vec<&str> = named.lines().filter(|line| line.contains("Orchard  ") && line.contains('\t')).collect();
    assert!(frames.len() >= 5, "{named}");
    assert!(
        frames[0]
            .starts_with("1   Orchard                       \t0x0000000102a403c9 paint::clamp_channel(int) (inlining."),
        "{}",
        frames[0]
    );
    assert!(frames[3].starts_with("4   Orchard ") && frames[3].contains("paint::blend_image("), "{}", frames[3]);
    // The named report can be read again.
    let again = case.folder.file("named.crash", &named);
    assert!(ok(&[&again]).contains("* paint::clamp_channel(int)"));
    let mut piped = case.command(&["symbolicate", "-", "--symbols", &dsym]);
    assert_eq!(stdout_of(&finish(piped.write_stdin(text.as_bytes())).success()), named);
    let outer = case.answer(&["symbolicate", &report, "--dsym", &dsym, "--no-inlines"]);
    assert_eq!(outer.lines().count(), text.lines().count());
}

#[test]
fn symbolicate_lists_missing_symbols() {
    let case = Case::new();
    let text = crash_report("3.1", DEMO, 0x565);
    let report = case.folder.file("a.crash", &text);
    let said = |dsym: &str| {
        let done = finish(&mut case.command(&["symbolicate", &report, "--dsym", &built(dsym)])).success();
        (stdout_of(&done), stderr_of(&done))
    };
    let (same, warning) = said("inlining/Inlining.dSYM");
    assert!(same == text && warning.contains("no frame is named by") && warning.contains(DEMO), "{warning}");
    let (_, note) = said("arm64-dwarf4/Demo.dSYM");
    assert!(
        note.contains("00000000-0000-3000-8000-000000000001 (libsystem_kernel.dylib)") && !note.contains(DEMO),
        "{note}"
    );
}

#[test]
fn symbolicate_decompresses_reports_and_writes_objects() {
    let case = Case::new();
    let text = crash_report("3.1", DEMO, 0x565);
    let report = case.folder.file("a.crash", &text);
    let packed = case.folder.file("a.crash.gz", gzip(text.as_bytes()));
    let dsym = built("arm64-dwarf4/Demo.dSYM");
    let named = case.answer(&["symbolicate", &report, "--dsym", &dsym]);
    let zipped = case.folder.file("a.zip", zip_of(&[("a.crash", text.as_bytes())]));
    for report in [&packed, &zipped] {
        assert_eq!(case.answer(&["symbolicate", report, "--dsym", &dsym]), named);
    }
    let json = case.answer(&["symbolicate", &report, "--dsym", &dsym, "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["summary"]["termination-reason"], "SIGNAL 11 Segmentation fault: 11");
    let thread = &json["threads"][1];
    assert_eq!(thread["thread"], "Thread 1 (worker), attributed");
    let frame = &thread["frames"][1];
    assert_eq!(
        (&frame["function"], &frame["binary"], &frame["uuid"]),
        (&json!("fill_span"), &json!("Orchard"), &json!(DEMO))
    );
    assert_eq!((&frame["address"], &thread["frames"][0]["function"]), (&json!("0x102a40565"), &Value::Null));
}

#[test]
fn symbolicate_advises_what_it_accepts() {
    let case = Case::new();
    let text = "Process: App [1]\nException Type:  EXC_CRASH\n\nThread 0 Crashed:\n0   ???  0x0000000000000010 ???\n";
    let report = case.folder.file("a.crash", text);
    let mut command = case.command(&["symbolicate", &report, "--dsym", &built("inlining/Inlining.dSYM")]);
    let said = stderr_of(&finish(&mut command).success());
    assert!(said.contains("pass the complete report") && !said.contains("--image"), "{said}");
}

#[test]
fn symbolicate_refuses_with_a_reason() {
    let folder = Folder::new();
    let report = folder.file("a.crash", crash_report("3.1", DEMO, 0x565));
    let memory = folder.file("memory.ips", "{\"bug_type\":\"298\"}\n{}");
    let (dsym, missing) = (built("arm64-dwarf4/Demo.dSYM"), folder.path("missing"));
    for (code, args, word) in [
        (2, &["symbolicate", &report][..], "pass them with --dsym"),
        (2, &["symbolicate"], "name one crash report"),
        (2, &["symbolicate", &report, &report, "--dsym", &dsym], "name one crash report"),
        (2, &["symbolicate", &report, "--dsym", &dsym, "--offset"], "--offset only applies to addresses"),
        (2, &["symbolicate", "-o", &dsym, "0x1", "--no-inlines"], "--no-inlines only applies to crash reports"),
        (2, &["symbolicate", "-o", &dsym, "0x1", "--format", "json"], "--format only applies to crash reports"),
        (2, &["symbolicate", "-o", &dsym, &report], "not a hexadecimal address"),
        (1, &["symbolicate", &memory, "--dsym", &dsym], "Jetsam"),
        (1, &["symbolicate", &missing, "--dsym", &dsym], "cannot be opened"),
        (1, &["symbolicate", &report, "--dsym", &missing], "cannot be searched"),
    ] {
        let said = fails(code, args);
        assert!(said.contains(word), "{args:?}: {said}");
    }
}
