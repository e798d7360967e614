//! Every command that `docs/ci.md`, `docs/cli.md` and `README.md` show is run, with files that have the documented names and are made of fixtures.
//!
//! ```` ```sh ```` blocks are split into commands. traceparse commands run in a shell, in a folder with the files below. Other programs
//! in the same pipe are the real ones ([`BESIDE`]) or stubs that discard their input ([`CUT_OFF`]). A command fails if it uses a file
//! that [`make_files`] does not create, or a program that is in none of the lists.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bundle_case;
use crate::command::{BINARY, Folder, fixture, orchard, read_text};
use crate::crash_reports::crash_report;
use crate::field_reports;
use crate::fleet_case;
use crate::symbols_case::{INLINING, built};
use support::Table;
use support::dyld_cache_writer::{CODE, CacheForm, CacheModel, CachedFunction, CachedImage, Visible};

const DOCUMENTS: [&str; 3] = ["docs/ci.md", "docs/cli.md", "README.md"];
/// Programs whose commands are not run.
const SKIPPED: [&str; 8] = ["/usr/bin/time", "brew", "cargo", "jq", "npx", "pipx", "sqlite3", "xcrun"];
/// Programs that are replaced if they follow a pipe: the stubs only read the output of traceparse.
const CUT_OFF: [&str; 6] = ["flamegraph.pl", "inferno-flamegraph", "jq", "less", "speedscope", "sqlite3"];
/// A program from both lists that is run nevertheless if it is installed, since recipes are written in its language.
const JQ: &str = "jq";
/// Programs that are run, since every system has them.
const BESIDE: [&str; 7] = ["cat", "cut", "grep", "head", "mkdir", "sort", "traceparse"];
/// Stubs for programs that need a Mac, a screen or another machine. `xcrun` prints an export.
const STAND_INS: [(&str, &str); 3] =
    [("xdg-open", ":"), ("ssh", "shift\nexec \"$@\""), ("xcrun", "exec cat export.xml")];

/// A command of a document.
struct Shown {
    document: &'static str,
    line: usize,
    text: String,
}

impl Shown {
    /// The exit codes that the document mentions.
    fn codes(&self) -> &'static [i32] {
        match &self.text {
            text if ["--alert", "traceparse compare", "traceparse trend"].iter().any(|asked| text.contains(asked)) => {
                &[0, 3, 4]
            }
            // The exit code is the answer.
            text if text.contains("jq -e") => &[0, 1],
            _ => &[0],
        }
    }
}

/// Reads a file of the project.
pub(crate) fn read_project(name: &str) -> String {
    read_text(&support::repository(name).display().to_string())
}

/// The commands of the blocks of a document. A command continues on the next line if a quotation is open, or after `\` and `|`.
fn commands(document: &'static str) -> Vec<Shown> {
    let text = read_project(document);
    let mut commands: Vec<Shown> = Vec::new();
    let (mut is_shell, mut goes_on) = (false, false);
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            assert!(!goes_on, "{document}:{}: the block ends within a command", index + 1);
            is_shell = line.trim() == "```sh";
            continue;
        }
        if !is_shell || (!goes_on && (line.trim().is_empty() || line.trim_start().starts_with('#'))) {
            continue;
        }
        if goes_on {
            let command = &mut commands.last_mut().expect("it has begun").text;
            command.push('\n');
            command.push_str(line);
        } else {
            commands.push(Shown { document, line: index + 1, text: line.trim_start().to_owned() });
        }
        let command = &commands.last().expect("there is one").text;
        goes_on = command.ends_with(['\\', '|']) || stages(command).is_none();
    }
    commands
}

/// The first words of a command, split at pipes, `;`, `&&` and `||`; `None` if a quotation is open.
fn stages(command: &str) -> Option<Vec<String>> {
    let mut stages = vec![String::new()];
    let mut quotation = None;
    let mut previous = ' ';
    for letter in command.chars() {
        let is_escaped = previous == '\\' && quotation != Some('\'');
        match (quotation, letter) {
            (None, '#') if previous.is_whitespace() => break,
            (None, '|' | ';' | '&') if !is_escaped => stages.push(String::new()),
            (None, '\'' | '"') if !is_escaped => quotation = Some(letter),
            (Some(open), _) if open == letter && !is_escaped => quotation = None,
            _ => stages.last_mut().expect("there is one").push(if letter == '\\' { ' ' } else { letter }),
        }
        previous = if is_escaped { ' ' } else { letter };
    }
    let first = |stage: String| stage.split_whitespace().next().map(str::to_owned);
    quotation.is_none().then(|| stages.into_iter().filter_map(first).collect())
}

/// An export of three seconds, in which some threads wait: the orchard, twelve times slower.
fn long_export() -> String {
    let text = read_text(&orchard());
    let mut pieces = text.split("<sample-time id=\"");
    let mut long = pieces.next().expect("what is before the rows").to_owned();
    for (index, piece) in pieces.enumerate() {
        let (start, rest) = piece.split_once('>').expect("a tag");
        let (time, rest) = rest.split_once('<').expect("its text");
        let time = (time.parse::<u64>().expect("a time") - 312_000_000) * 12;
        let (blocked, state) = match index {
            100 => ("<thread-state id=\"100001\" fmt=\"Blocked\">Blocked</thread-state>", true),
            101..110 => ("<thread-state ref=\"100001\"/>", true),
            _ => ("", false),
        };
        let rest = if state { rest.replacen("<thread-state ref=\"8\"/>", blocked, 1) } else { rest.to_owned() };
        long.push_str(&format!("<sample-time id=\"{start}>{time}<{rest}"));
    }
    long
}

/// Writes a dyld shared cache with one image.
fn write_cache(folder: &Folder) {
    let function = CachedFunction { name: "objc_msgSend".to_owned(), offset: CODE, visible: Visible::External };
    let image = CachedImage { path: "/usr/lib/libobjc.A.dylib".to_owned(), uuid: [7; 16], functions: vec![function] };
    let model = CacheModel { form: CacheForm::Suffixed, images: vec![image], has_locals: true, stride: 0x4000 };
    for file in model.write() {
        folder.file(&format!("dyld_shared_cache_arm64e{}", file.suffix), file.bytes());
    }
}

/// The file names in the documents, and their contents in this test.
pub(crate) fn make_files(folder: &Folder) {
    let write = |name: &str, content: &str| fleet_case::write(folder, name, content);
    let bundle = |name: &str, case: &str| copy_folder(Path::new(&built(case)), Path::new(&folder.path(name)));
    // With a separate export, which other commands here replace.
    let forms = bundle_case::write_forms(folder, &bundle_case::recording(), Table::TimeProfile);
    assert!(forms.folder.ends_with("/app.trace") && forms.archives[0].ends_with("/app.trace.zip"));
    let export = long_export();
    for name in ["export.xml", "export.xml.gz", "after.xml"] {
        write(name, &export);
    }
    write("crashed.xml", export.rsplit_once("<row>").expect("rows").0);
    write("before.xml", &read_text(&fixture("26.4/time-profile")));
    for name in ["toc.xml", "before-toc.xml", "after-toc.xml"] {
        write(name, &read_text(&fixture("toc/two-runs")));
    }
    for name in ["signposts.xml", "hangs.xml", "b.xml", "a.xml"] {
        write(name, &intervals());
    }
    for (name, schema) in [("syscalls.xml", "fs-syscall"), ("memory.xml", "virtual-memory")] {
        write(name, &intervals().replace("potential-hangs", schema));
    }
    bundle("App.dSYM", "inlining/Inlining.dSYM");
    bundle("Inlining.dSYM", "inlining/Inlining.dSYM");
    bundle("Demo.dSYM", "arm64-dwarf4/Demo.dSYM");
    bundle("FatDemo.dSYM", "fat/FatDemo.dSYM");
    write_cache(folder);
    for name in ["App.xcarchive/dSYMs", "home/symbols", "home/Library/Developer/Xcode/Archives/App.xcarchive/dSYMs"] {
        bundle(&format!("{name}/Demo.dSYM"), "arm64-dwarf4/Demo.dSYM");
    }
    write("app.spin", include_str!("../../fixtures/sample/demo.sample.txt"));
    write("rules.txt", "function /Tree/ => Plant\n");
    write("addresses.tsv", "main\t564\nrun\t50b\n");
    write("App.ips", &crash_report("3.1", INLINING, 0x3c9));
    write("crash.txt", "0 App 0x102a4040f __ZN5paint4tickEi + 12\n");
    for name in ["home/code/app/Sources/Press.cpp", "home/code/lib/Sources/Tree.cpp"] {
        write(name, "// what was compiled\n");
    }
    for below in ["exports", "results", "fleet", "base"] {
        fleet_case::fleet(folder, below, 3);
    }
    // The sides of a comparison have different recordings, with intervals.
    for index in 0..3 {
        write(&format!("new/{index:02}.xml"), &fleet_case::export(15 + index));
        write(&format!("new/{index:02}-toc.xml"), &fleet_case::toc(15 + index));
        for below in ["base", "new"] {
            write(&format!("{below}/{index:02}-intervals.xml"), &intervals());
        }
    }
    for (name, version) in [("diagnostics/a.json", "1.9"), ("diagnostics/b.json", "2.0")] {
        write(name, &field_reports::payload("hang", "hangDuration", "9 sec", version));
    }
    for (name, samples) in [("runs/one/a.xml.gz", 20), ("runs/two/b.xml.gz", 21)] {
        write(name, &fleet_case::export(samples));
    }
    for index in 0..3 {
        write(&format!("exports/{index:02}-intervals.xml"), &intervals());
    }
    let lines = (0..3).map(|index| format!("results/{index:02}.xml,{},{index}\n", ["1.9", "2.0", "2.0"][index]));
    write("lab.csv", &format!("path,app_version,device_id\n{}", lines.collect::<String>()));
    let lines = (0..3).map(|index| format!("exports/{index:02}.xml,1.{index},Mac mini\n"));
    write("fleet.csv", &format!("path,app_version,device\n{}", lines.collect::<String>()));
}

/// A hang and signposts that last as long as any of the recordings.
fn intervals() -> String {
    let table = |schema: &str, columns: &[&str], rows: String| {
        let column = |name: &&str| {
            let kind = match *name {
                "start" => "start-time",
                "name" => "signpost-name",
                "start-thread" => "thread",
                kind => kind,
            };
            format!("<col><mnemonic>{name}</mnemonic><engineering-type>{kind}</engineering-type></col>")
        };
        let columns = columns.iter().map(column).collect::<String>();
        format!(
            "<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name=\"{schema}\">{columns}</schema>{rows}</node>"
        )
    };
    let row = |id: usize, element: &str, name: &str| {
        let (duration, text) = (id + 1, id + 2);
        let thread = r#"<thread fmt="Main Thread 0x1 (Orchard, pid: 1)"><tid fmt="0x1">1</tid></thread>"#;
        format!(
            "<row><start-time id=\"{id}\" fmt=\"00:00.000\">0</start-time><duration id=\"{duration}\" fmt=\"1 h\">3600000000000\
             </duration><{element} id=\"{text}\" fmt=\"{name}\">{name}</{element}>{thread}</row>"
        )
    };
    let names = ["Layout", "Draw", "Launch", "FeedScroll", "Checkout"].into_iter().enumerate();
    let signposts = names.map(|(index, name)| row(3 * index + 1, "signpost-name", name)).collect();
    let signposts = table("os-signpost-interval", &["start", "duration", "name", "start-thread"], signposts);
    let hangs = table("potential-hangs", &["start", "duration", "hang-type", "thread"], row(16, "hang-type", "Hang"));
    format!("<?xml version=\"1.0\"?>\n<trace-query-result>{signposts}{hangs}</trace-query-result>\n")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it can be read").map(|entry| entry.expect("and its entries").path()) {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy_folder(&entry, &target);
        } else {
            fs::copy(&entry, &target).expect("files can be copied");
        }
    }
}

/// True for a program that the tests run if it is installed, and that is installed.
fn is_used(name: &str) -> bool {
    let runs = |name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    name == JQ && runs(name)
}

fn is_cut_off(name: &str) -> bool {
    CUT_OFF.contains(&name) && !is_used(name)
}

/// A folder of programs: traceparse, and these stubs for other programs or for traceparse.
pub(crate) fn make_programs(folder: &Folder, stand_ins: &[(&str, &str)]) {
    fs::create_dir(folder.path("bin")).expect("a folder can be made");
    if stand_ins.iter().all(|(name, _)| *name != "traceparse") {
        symlink(BINARY, folder.path("bin/traceparse")).expect("a link can be made");
    }
    for (name, body) in stand_ins {
        let path = folder.file(&format!("bin/{name}"), format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    }
}

/// The stubs for the programs in documents.
pub(crate) fn stand_ins() -> Vec<(&'static str, &'static str)> {
    let cut_off = CUT_OFF.into_iter().filter(|&name| is_cut_off(name)).map(|name| (name, "exec cat >/dev/null"));
    cut_off.chain(STAND_INS).collect()
}

/// A shell with these programs, which ends at the first error as in CI.
pub(crate) fn shell(folder: &Folder, script: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]).current_dir(folder.path("."));
    shell
        .env("PATH", format!("{}:{path}", folder.path("bin")))
        .env("HOME", folder.path("home"))
        .env("TMPDIR", folder.path("bin"));
    for name in ["XDG_CACHE_HOME", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        shell.env_remove(name);
    }
    shell.stdin(Stdio::null());
    shell
}

#[test]
fn every_command_of_the_documents_runs() {
    let mut wrong: Vec<String> = Vec::new();
    let (mut skipped, mut cut_off) = (BTreeSet::new(), BTreeSet::new());
    let mut run_count = 0;
    for document in DOCUMENTS {
        let folder = Folder::new();
        make_files(&folder);
        make_programs(&folder, &stand_ins());
        for shown in commands(document) {
            let place = format!("{}:{}: {}", shown.document, shown.line, shown.text);
            let programs = stages(&shown.text).expect("quotations are closed");
            let is_others = SKIPPED.contains(&programs[0].as_str()) && !is_used(&programs[0]);
            if is_others && !programs.iter().any(|name| name == "traceparse") {
                skipped.insert(place);
                continue;
            }
            let known = |name: &String| {
                let stand_ins = STAND_INS.map(|(name, _)| name);
                [&BESIDE[..], &CUT_OFF, &stand_ins].concat().contains(&name.as_str())
            };
            if let Some(unknown) = programs.iter().find(|name| !known(name)) {
                wrong.push(format!("{place}\n  the program {unknown} is in no list of tests/cli/documented.rs"));
                continue;
            }
            cut_off.extend(programs.iter().filter(|name| is_cut_off(name)).cloned());
            let output = shell(&folder, &shown.text).output().expect("there is a shell");
            run_count += usize::from(programs.iter().any(|name| name == "traceparse"));
            let said = String::from_utf8_lossy(&output.stderr);
            let is_right = output.status.code().is_some_and(|code| shown.codes().contains(&code));
            if !is_right || said.contains("panicked") {
                wrong.push(format!(
                    "{place}\n  {}, and {:?} was expected; files that commands name are in make_files of \
                     tests/cli/documented.rs\n  {}",
                    output.status,
                    shown.codes(),
                    said.trim().replace('\n', "\n  ")
                ));
            }
        }
    }
    println!("{run_count} commands were run. Behind pipes stood for nothing: {cut_off:?}. Not run:");
    skipped.iter().for_each(|command| println!("  {command}"));
    assert!(run_count > 40, "only {run_count} commands of traceparse were found");
    assert!(wrong.is_empty(), "{} of {run_count} commands do not work:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn commands_are_read_as_a_shell_reads_them() {
    let programs = |command| stages(command).map(|names| names.join(" "));
    assert_eq!(programs("traceparse a.xml | jq '.a | .b'").as_deref(), Some("traceparse jq"));
    assert_eq!(programs("traceparse a.xml --focus 'a|b;c' # x | y").as_deref(), Some("traceparse"));
    assert_eq!(programs("cut -f 2 a \\\n | traceparse -").as_deref(), Some("cut traceparse"));
    assert_eq!(programs("mkdir a && traceparse b").as_deref(), Some("mkdir traceparse"));
    assert_eq!(programs("traceparse 'a"), None);
    assert_eq!(programs("traceparse \"it's\"").as_deref(), Some("traceparse"));
}
