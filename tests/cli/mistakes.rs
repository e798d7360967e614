//! Likely mistakes: each gets a message with the right form, and no output under a misleading name.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::bundle_case::{recording, write_forms};
use crate::command::{Folder, fails, finish, ok, orchard, read_text, stderr_of, traceparse};
use support::Table;

/// Fails with `code` and a message that contains all of these strings.
fn fails_with(code: i32, args: &[&str], texts: &[&str]) {
    let message = fails(code, args);
    for text in texts {
        assert!(message.contains(text), "{args:?} has no {text:?}: {message}");
    }
}

#[test]
fn names_the_right_form_of_commands_that_do_not_exist() {
    let x = orchard();
    fails_with(2, &["report", &x], &["no command and no file report", &format!("run: traceparse {x}"), "fleet report"]);
    fails_with(2, &["report"], &["run: traceparse FILE"]);
    fails_with(2, &["report", "my app.trace"], &["run: traceparse 'my app.trace'"]);
    fails_with(2, &["flamegraph", &x], &[&format!("run: traceparse {x} -o flame.svg")]);
    fails_with(2, &["version"], &["run: traceparse --version"]);
    fails_with(2, &["--color", "never", "hangs", &x], &["comes before all options: traceparse hangs"]);
}

#[test]
fn recognises_mistyped_commands() {
    let x = orchard();
    for (typed, meant) in [("hang", "hangs"), ("intervalls", "intervals"), ("dif", "diff"), ("compaer", "compare")] {
        fails_with(
            2,
            &[typed, &x],
            &[&format!("there is no command and no file {typed}; run: traceparse {meant} {x}\n")],
        );
    }
    fails_with(1, &["hang.xml"], &["hang.xml: cannot be opened"]);
    fails_with(1, &["zzz"], &["zzz: cannot be opened"]);
}

#[test]
fn names_the_command_of_an_option_or_format() {
    let x = orchard();
    fails_with(2, &["fleet", "report", &x, "--beyond", "p95"], &["tip: --beyond is an option of 'fleet tree'\n"]);
    fails_with(2, &["hangs", &x, "--normalize", "none"], &["is an option of 'diff'"]);
    let unknown = fails(2, &["uuid", &x, "--zzz"]);
    assert!(!unknown.contains("tip:"), "nobody means a file named --zzz: {unknown}");
    for format in ["parquet", "sql"] {
        fails_with(2, &[&x, "--format", format], &["tip: `traceparse table FILE NAME -o rows."]);
        fails_with(2, &[&x, "-o", &format!("x.{format}")], &["cannot be written here; `traceparse table FILE NAME"]);
    }
    fails_with(2, &[&x, "--format", "parquet"], &["traceparse fleet extract FILE -o DIR"]);
    fails_with(2, &["table", &x], &["tip: write the name of a table after the files; 'traceparse tables FILE' lists"]);
}

#[test]
fn names_the_filters_that_no_sample_passes() {
    let x = orchard();
    fails_with(1, &[&x, "--thread", "zzz"], &["no sample passes --thread 'zzz'; the input has runs: 1"]);
    // An operation that would remove all other samples has nothing to do with it.
    fails_with(
        1,
        &[&x, "--thread", "zzz", "--focus", "^none$"],
        &["no sample passes --thread 'zzz'; the input has runs: 1"],
    );
    let both = ["--time", "100s..", "--run", "1", "--state", "Blocked"];
    fails_with(1, &[&[x.as_str()], &both[..]].concat(), &["passes --run '1' --time '100s..' --state 'Blocked'; the"]);
}

#[test]
fn suggests_limits_that_are_enough() {
    let x = orchard();
    fails_with(1, &[&x, "--max-output", "10"], &["and the limit is 10B; show less, or pass --max-output 1MB"]);
    ok(&[&x, "--max-output", "1MB"]);
    fails_with(1, &[&x, "--memory", "10"], &["for example with --memory 64MB"]);
    ok(&[&x, "--memory", "64MB"]);
}

#[test]
fn names_the_option_of_invalid_rules() {
    let folder = Folder::new();
    let rules = folder.file("my-rules.conf", "foo\n");
    let message = fails(1, &[&orchard(), "--redact-rules", &rules]);
    let expected =
        "the file of --redact-rules cannot be used\n  caused by: line 1: this is not a rule; write KIND /REGEX/";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn gives_advice_that_suits_the_file() {
    let folder = Folder::new();
    let empty = fails(1, &[&folder.file("empty.json", "")]);
    assert!(empty.contains("the file is empty: the program that wrote it failed") && !empty.contains("xctrace"));
    for (name, start) in [("xz", &b"\xfd7zXZ\0\0\x04"[..]), ("bzip2", b"BZh91AY&SY\x01")] {
        let symbols = folder.file("App.dSYM", start);
        let expected = format!("compressed with {name}; unpack it first ({name} -d)");
        fails_with(1, &[&orchard(), "--dsym", &symbols], &[&expected]);
    }
    fails_with(
        1,
        &["intervals", &orchard(), "--name", "x"],
        &["no interval is named x, since no interval has a name; leave out --name"],
    );
    fails_with(1, &[&orchard(), "--metric", "counter:9"], &["no table has performance counters; record with"]);
    fails_with(2, &["fleet", "merge", &folder.path("none"), "-o", &folder.path("d")], &["none: does not exist; name"]);
    fails_with(1, &["fleet", "extract", &orchard(), "-o", &folder.file("f", "")], &["choose a new or empty folder"]);
    fails_with(1, &["fleet", "report", "x", "--manifest", &orchard()], &["pass an export as an input"]);
}

#[cfg(unix)]
#[test]
fn names_the_output_on_a_full_disk() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let x = orchard();
    for args in [&["table", &x, "time-profile", "--format", "csv"][..], &[&x], &["fleet", "report", &x]] {
        fails_with(1, &[args, &["-o", "/dev/full"]].concat(), &["/dev/full: cannot be written", "No space left"]);
    }
}

#[test]
fn reads_a_file_that_is_named_like_a_command() {
    let folder = Folder::new();
    folder.file("report", read_text(&orchard()));
    finish(traceparse(&["report"]).current_dir(folder.path(""))).success();
    finish(traceparse(&["report", "report", "flamegraph"]).current_dir(folder.path(""))).code(2);
}

#[test]
fn names_the_right_form_of_options_that_do_not_exist() {
    let x = orchard();
    for (option, advice) in [
        ("--json", "--format json"),
        ("--html", "-o report.html"),
        ("--svg", "-o flame.svg"),
        ("--main-thread", "--only-main-thread"),
        ("--functions", "--view functions"),
    ] {
        fails_with(2, &[&x, option], &[&format!("unexpected argument '{option}'"), &format!("tip: use '{advice}'\n")]);
    }
    fails_with(2, &["toc", &x, "--json"], &["tip: use '--format json'"]);
    fails_with(2, &["fleet", "report", "--main-thread", &x], &["tip: use '--only-main-thread'"]);
    let together = "tip: write <FILE>... <NAME> without options between them\n";
    fails_with(2, &["table", &x, "--top", "3", "time-profile"], &["unexpected argument 'time-profile'", together]);
    let other = fails(2, &["toc", &x, "--html"]);
    assert!(!other.contains("report.html"), "toc writes no page: {other}");
}

#[test]
fn never_writes_text_under_a_name_that_shows_no_format() {
    let folder = Folder::new();
    let x = orchard();
    for (name, text) in [
        ("r.xyz", "cannot write XYZ here"),
        ("r", "does not identify a format"),
        (".json", "does not identify a format"),
    ] {
        let path = folder.path(name);
        fails_with(2, &[&x, "-o", &path], &[text, "name a file .txt, ", "--format text"]);
        fails_with(2, &["diff", &x, &x, "-o", &path], &[]);
        assert!(!Path::new(&path).exists(), "{name}");
        ok(&[&x, "-o", &path, "--format", "text"]);
        assert!(Path::new(&path).exists(), "{name}");
    }
    #[cfg(unix)]
    ok(&[&x, "-o", "/dev/null"]);
}

#[test]
fn writes_the_functions_into_a_table_without_a_view() {
    let folder = Folder::new();
    for (name, format) in [("r.csv", "csv"), ("r.ndjson", "ndjson")] {
        let path = folder.path(name);
        let message = stderr_of(&finish(&mut traceparse(&[&orchard(), "-o", &path])).success());
        assert!(message.contains("functions") && message.contains("--view"), "{message}");
        let expected = ok(&[&orchard(), "--view", "functions", "--format", format]);
        assert_eq!(read_text(&path), expected);
    }
}

#[test]
fn names_the_input_in_a_folder() {
    let folder = Folder::new();
    let forms = write_forms(&folder, &recording(), Table::TimeProfile);
    let only = folder.path("only");
    fs::create_dir(&only).expect("a folder");
    fs::rename(&forms.folder, format!("{only}/app.trace")).expect("it can be moved");
    fs::write(format!("{only}/._app.trace"), "attributes").expect("a file");
    fails_with(1, &[&only], &["is a folder with one recording", &format!("traceparse {only}/app.trace")]);
    fs::write(format!("{only}/b.xml"), "").expect("a file");
    fails_with(1, &[&only], &["is a folder; name the exports or recordings in it", "fleet report"]);
}

#[test]
fn knows_a_dsym_that_is_given_in_place_of_a_recording() {
    let folder = Folder::new();
    for (name, inside) in [("App.dSYM", "x"), ("renamed", "Contents/Resources/DWARF")] {
        let dsym = folder.path(name);
        fs::create_dir_all(Path::new(&dsym).join(inside)).expect("folders");
        fails_with(1, &[&dsym], &["is a dSYM, which has names but no samples", &format!("app.trace --dsym {dsym}")]);
    }
    let binary = folder.file("App", b"\xcf\xfa\xed\xfe\x0c\0\0\x01");
    fails_with(1, &[&binary], &["Mach-O binary", "--dsym"]);
}

#[test]
fn names_the_tool_for_inputs_that_are_recognised() {
    let folder = Folder::new();
    let inputs: [(&[u8], &str); 8] = [
        (b"PERFILE2xxxxxxxxxxxxxxxx", "perf report"),
        (b"SIMPLEPERF\x01", "simpleperf report"),
        (b"\x0a\x04\x08\x01\x10\x02\x0a\x04", "go tool pprof"),
        (b"{\"bug_type\":\"288\"}\n{}", "Console"),
        (b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}", "www.speedscope.app"),
        (b"{\"meta\":{\"preprocessedProfileVersion\":24}}", "profiler.firefox.com"),
        (b"[{\"ph\":\"X\"}]", "ui.perfetto.dev"),
        (b"a;b 12\na;c 1\n", "inferno-flamegraph"),
    ];
    for (content, tool) in inputs {
        fails_with(1, &[&folder.file("input", content)], &["which traceparse cannot read; ", tool]);
    }
}

#[test]
fn does_not_treat_results_of_jmh_as_folded_stacks() {
    let folder = Folder::new();
    let semicolons = "\"Benchmark\";\"Mode\";\"Threads\";\"Score\";\"Param: text\"\n\"a.B.c\";\"thrpt\";1;2,5;x 10\n\"a.B.c\";\"thrpt\";1;2,5;x 20\n";
    for content in [semicolons, "Benchmark,Mode,Threads\na.B.c;d,thrpt,1 1\n"] {
        let message = fails(1, &[&folder.file("jmh.csv", content)]);
        assert!(message.contains("JMH") && !message.contains("folded"), "{message}");
    }
}

#[test]
fn skips_what_macos_adds_to_archives() {
    let folder = Folder::new();
    let forms = write_forms(&folder, &recording(), Table::TimeProfile);
    let expected = ok(&[&forms.archives[0], "--view", "functions"]);
    let archive = fs::File::options().read(true).write(true).open(&forms.archives[0]).expect("the archive");
    let mut archive = zip::ZipWriter::new_append(archive).expect("it is a zip");
    for name in ["__MACOSX/app.trace/._form.template", "__MACOSX/._app.trace", "._app.trace", "app.trace/._corespace"] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
        archive.write_all(b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ").expect("in a file");
    }
    archive.finish().expect("the archive is complete");
    assert_eq!(ok(&[&forms.archives[0], "--view", "functions"]), expected);
    let apart = folder.file("._app.trace", b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ");
    fails_with(1, &[&apart], &["AppleDouble", "without ._"]);
}

/// Until traceparse is published, `cargo install` needs a folder. The README has a section for the time after that.
#[test]
fn advises_no_installation_that_fails() {
    let root = support::repository("");
    let mut open = ["README.md", "SECURITY.md", "docs", "src", "bin"].map(|name| root.join(name)).to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            for line in text.lines().filter(|line| !line.contains("# once released")) {
                for advice in ["cargo install traceparse", "brew install traceparse", "pip install traceparse"] {
                    assert!(!line.contains(advice), "{}: {advice}", path.display());
                }
            }
        }
    }
}

#[test]
fn separates_user_tags_of_dart_and_refuses_its_cores() {
    let dart = support::repository("tests/fuzz/corpus/dart/samples").display().to_string();
    let trees = ok(&[&dart, "--view", "tree", "--separate-by", "interval"]);
    assert!(trees.contains("Pressing · 2 samples") && trees.contains("in none · 3 samples"), "{trees}");
    for options in [&["--view", "cores"], &["--separate-by", "core-kind"]] {
        fails_with(1, &[&[dart.as_str()], &options[..]].concat(), &["do not record cores", &options.join(" ")]);
    }
}
