//! The limits of a run: memory and output size. Generated bombs end in errors.

use std::fs::File;
use std::io::Write as _;
#[cfg(unix)]
use std::{
    path::Path,
    process::{Command, Stdio},
};

#[cfg(unix)]
use crate::command::BINARY;
use crate::command::{Folder, fails, finish, ok, orchard, traceparse};
use crate::fleet_case::{export, failures, reason, report_with, sources, write};

/// A compressed tar with one file of zeros.
fn tar_of_zeros(path: &str, bytes: u64) {
    let mut out = zstd::Encoder::new(File::create(path).unwrap(), 3).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_path("zeros").unwrap();
    header.set_size(bytes);
    header.set_cksum();
    out.write_all(header.as_bytes()).unwrap();
    (0..bytes >> 20).for_each(|_| out.write_all(&[0; 1 << 20]).unwrap());
    out.finish().unwrap();
}

/// An export of stacks with one frame each, compressed.
fn export_of_frames(path: &str, count: u64, name: &str) {
    let mut out = zstd::Encoder::new(File::create(path).unwrap(), 3).unwrap();
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    write!(out, "<trace-query-result><node><schema name=\"time-profile\">{columns}</schema>").unwrap();
    for index in 0..count {
        write!(out, "<row><sample-time>{index}</sample-time><weight>1</weight><backtrace>").unwrap();
        write!(out, "<frame name=\"{name}{index:#x}\" addr=\"{index:#x}\"/></backtrace></row>").unwrap();
    }
    out.write_all(b"</node></trace-query-result>").unwrap();
    out.finish().unwrap();
}

/// An export whose functions have long names, each another one, compressed.
fn export_of_long_names(path: &str, count: u64) {
    export_of_frames(path, count, &"x".repeat(60_000));
}

#[test]
fn lists_and_rules_stay_within_the_budget() {
    let folder = Folder::new();
    let list: String = (0..50_000).map(|index| format!("/nowhere/run-{index}.xml\n")).collect();
    let list = write(&folder, "list", list);
    let said = fails(1, &["fleet", "report", "--files-from", &list, "--memory", "8MiB"]);
    assert!(said.contains("list, line ") && said.contains("--memory 64MB"), "{said}");
    let rules: String = (0..30).map(|index| format!("function /\\w{{{}}}/ => x\n", 100 + index)).collect();
    let rules = write(&folder, "rules", rules);
    let said = fails(1, &[&orchard(), "--redact-rules", &rules, "--memory", "16MiB"]);
    assert!(said.contains("line 2") && said.contains("--memory 64MiB"), "{said}");
}

#[test]
fn bombs_of_a_batch_are_rows_with_their_reasons() {
    let folder = Folder::new();
    for index in 0..200 {
        write(&folder, &format!("x/{index:03}.xml"), export(11 + index));
    }
    let bombs = ["bomb-1.trace.tar.zst", "bomb-2.trace.tar.zst", "bomb-3.xml.zst", "bomb-4.xml.zst", "bomb-5.xml.zst"];
    for (index, name) in bombs.iter().enumerate() {
        let path = folder.path(&format!("x/{name}"));
        match index {
            0 | 1 => tar_of_zeros(&path, (90 + index as u64) << 20),
            _ => export_of_long_names(&path, 1_500 + index as u64),
        }
    }
    // Together they need more than there is, and each alone less. A fleet keeps nothing of addresses without names.
    for index in 0..3 {
        export_of_frames(&folder.path(&format!("x/large-{index}.xml.zst")), 100_000 + index, "");
    }
    let path = folder.path("x");
    let report = |jobs: &str| report_with(0, &[&path, "--memory", "64MiB", "--jobs", jobs]).1;
    let answer = report("1");
    assert_eq!(answer["inputs"]["runs"], 203);
    assert!(sources(&answer).contains(&"large-2.xml.zst".to_owned()));
    assert_eq!(failures(&answer), bombs.map(|name| (name.to_owned(), "malformed".to_owned())));
    for name in bombs {
        let reason = reason(&answer, name);
        assert!(
            reason.contains("more memory is needed than the limit of 32MiB allows here, of 64MiB in all")
                && reason.contains("--memory"),
            "{reason}"
        );
    }
    for jobs in ["2", "8"] {
        assert_eq!(report(jobs), answer, "{jobs} jobs");
    }
}

#[test]
fn what_a_fleet_keeps_has_a_bound() {
    let folder = Folder::new();
    for index in 0..9 {
        // Names that several files have count once.
        export_of_frames(&folder.path(&format!("{index}.xml.zst")), 40, &index.to_string().repeat(60_000));
    }
    let path = folder.path("");
    for jobs in ["1", "8"] {
        let error = fails(1, &["fleet", "report", &path, "--memory", "64MiB", "--jobs", jobs]);
        assert!(
            error.contains("of 9 files do not fit in the memory for a report") && error.contains(".xml.zst"),
            "{error}"
        );
        assert!(error.contains("16MiB allows here, of 64MiB in all") && error.contains("--memory 256MiB"), "{error}");
    }
    assert_eq!(report_with(0, &[&path, "--memory", "256MiB"]).1["inputs"]["runs"], 9);
    // On disk there is room.
    let dataset = folder.path("dataset");
    finish(&mut traceparse(&["fleet", "extract", &path, "-o", &dataset, "--memory", "64MiB"])).success();
    let error = fails(1, &["fleet", "report", &dataset, "--memory", "64MiB"]);
    assert!(error.contains("16MiB allows here"), "{error}");
    // A file that has more of it than others may is a row.
    export_of_long_names(&folder.path("0.xml.zst"), 90);
    let few = [folder.path("0.xml.zst"), folder.path("1.xml.zst")];
    let answer = report_with(0, &[&few[0], &few[1], "--memory", "64MiB"]).1;
    assert_eq!(failures(&answer), [("0.xml.zst".to_owned(), "malformed".to_owned())]);
    let reason = reason(&answer, "0.xml.zst");
    assert!(reason.contains("functions and names") && reason.contains("4MiB allows here"), "{reason}");
}

#[test]
fn a_table_of_contents_counts() {
    let folder = Folder::new();
    let path = folder.path("toc.xml.zst");
    let mut out = zstd::Encoder::new(File::create(&path).unwrap(), 3).unwrap();
    let long = "x".repeat(60_000);
    write!(out, "<trace-toc><run number=\"1\"><processes>").unwrap();
    (0..700).for_each(|pid| write!(out, "<process name=\"{long}\" pid=\"{pid}\" path=\"/{long}\"/>").unwrap());
    write!(out, "</processes></run></trace-toc>").unwrap();
    out.finish().unwrap();
    let error = fails(1, &["toc", &path, "--memory", "64MiB"]);
    assert!(error.contains("more memory is needed than the limit of 64MiB allows"), "{error}");
    ok(&["toc", &path, "--memory", "256MiB"]);
}

#[test]
fn a_bomb_is_an_error_that_says_what_to_do() {
    let folder = Folder::new();
    let (tar, names) = (folder.path("bomb.tar.zst"), folder.path("bomb.xml.zst"));
    tar_of_zeros(&tar, 70 << 20);
    export_of_long_names(&names, 1_500);
    for path in [&tar, &names] {
        for command in [&[path.as_str()][..], &["toc", path], &["diff", &orchard(), path]] {
            let error = fails(1, &[command, &["--memory", "64MiB"]].concat());
            assert!(error.contains(path.as_str()), "{error}");
            assert!(error.contains("more memory is needed than the limit of 64MiB allows"), "{error}");
            assert!(error.contains("--memory 256MiB"), "{error}");
        }
    }
    ok(&[&names, "--memory", "256MiB", "--view", "threads"]);
}

#[cfg(unix)]
#[test]
fn files_without_an_end_are_refused() {
    let zeros = "/dev/zero";
    for args in [
        &["fleet", "report", "--manifest", zeros][..],
        &["fleet", "report", zeros],
        &["toc", zeros],
        &[zeros],
        &[&orchard(), "--intervals", zeros, "--during", "x"],
    ] {
        let bounded = bounded(args, Stdio::null());
        assert!(!bounded.contains("panicked") && !bounded.contains("memory allocation"), "{args:?}: {bounded}");
    }
    let error = fails(1, &["fleet", "report", "--manifest", zeros]);
    assert!(error.contains("larger than 64MiB"), "{error}");
    let dsym = "fixtures/symbols/built/inlining/Inlining.dSYM/Contents/Resources/DWARF/Inlining";
    let dsym = support::repository(dsym).display().to_string();
    let said = bounded(&["symbolicate", "-o", &dsym], File::open(zeros).unwrap().into());
    assert!(said.contains("larger than 64MiB"), "{said}");
}

/// Standard error of a run that fails, and may not have more than 1.5 GB of addresses.
#[cfg(unix)]
fn bounded(args: &[&str], input: Stdio) -> String {
    let script = "ulimit -v 1500000 2>/dev/null; exec \"$0\" \"$@\"";
    let output = Command::new("sh").args(["-c", script, BINARY]).args(args).stdin(input).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}: {:?} {said}", output.status);
    said
}

/// The files that the budget was made for, where the corpus is.
#[cfg(unix)]
#[test]
fn bombs_of_the_corpus_end_below_the_budget() {
    let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") else { return };
    let file = |name: &str| Path::new(&corpus).join("reproducers").join(name).into_os_string().into_string().unwrap();
    let said = bounded(&[&file("bomb.tar.zst")], Stdio::null());
    assert!(said.contains("--memory"), "{said}");
    let (xml, dylib) = (file("demangle-bomb.xml"), file("demangle-bomb.dylib"));
    let shown = ok(&[&xml, "--symbols", &dylib, "--no-cache", "--view", "functions", "--memory", "128MiB"]);
    assert!(shown.lines().all(|line| line.len() < 5_000), "no name is longer than it may be");
}
