//! An output never destroys an input. Covers every command, every argument that names an input (`bin/guarded.rs`), and every form of a file's name.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::Stdio;

use assert_cmd::assert::Assert;

use crate::bundle_case::{recording, write_forms};
use crate::command::{Folder, finish, orchard, read_text, stderr_of, traceparse};
use crate::crash_reports::crash_report;
use crate::fleet_case::{export, fleet, toc, write};
use crate::guarded::{GUARDED, Writes};
use crate::symbols_case::{Case, DEMO, LOAD_ADDRESS, dwarf_file};
use support::Table;

/// A command line, and the file that it reads.
struct Use {
    args: Vec<String>,
    input: String,
}

fn of(input: &str, args: &[&str]) -> Use {
    Use { args: args.iter().map(|arg| (*arg).to_owned()).collect(), input: input.to_owned() }
}

/// Command lines, one per argument that names an input: a file in the folder, or a folder from which a file is read.
fn example(command: &str, argument: &str, case: &Case) -> Use {
    let folder = &case.folder;
    let symbols = |name: &str| {
        let path = folder.path(name);
        fs::copy(dwarf_file("arm64-dwarf4", "Demo"), &path).expect("it can be copied");
        path
    };
    match (command, argument) {
        ("table", "FILE") => {
            let export = folder.file("a.xml", read_text(&orchard()));
            of(&export, &[command, &export, "time-profile"])
        }
        ("table", option) => {
            let mut example = example("", option, case);
            example.args.splice(0..1, ["table", &example.args[0].clone(), "time-profile"].map(str::to_owned));
            example
        }
        ("" | "toc" | "hangs" | "intervals" | "tables", "FILE") => {
            let export = folder.file("a.xml", read_text(&orchard()));
            of(&export, &[command, &export])
        }
        ("", "--source") => {
            let (export, dsym) = (case.draw(), dwarf_file("arm64-dwarf4", "Demo"));
            let source = write(folder, "src/demo.c", "int main(void);\n");
            of(&source, &[&export, "--dsym", &dsym, "--view", "lines", "--source", &folder.path("src")])
        }
        ("", "--intervals") => {
            let forms = write_forms(folder, &recording(), Table::TimeProfile);
            of(&forms.export, &[&forms.folder, "--during", "Layout", "--intervals", &forms.export])
        }
        ("" | "diff" | "hangs", "--dsym" | "--symbols") => {
            let (export, dsym) = (case.draw(), symbols("dw"));
            match command {
                "" => of(&dsym, &[&export, argument, &dsym]),
                "hangs" => of(&dsym, &[command, &export, argument, &dsym]),
                _ => of(&dsym, &["diff", &export, &folder.file("b.xml", read_text(&export)), argument, &dsym]),
            }
        }
        ("" | "diff" | "hangs", "--image") => {
            let (export, dsym) = (case.draw_of_xcode_13(), symbols("dw"));
            let image = format!("{DEMO}@{LOAD_ADDRESS:#x}={dsym}");
            match command {
                "" => of(&dsym, &[&export, "--image", &image]),
                "hangs" => of(&dsym, &[command, &export, "--image", &image]),
                _ => of(&dsym, &["diff", &export, &folder.file("b.xml", read_text(&export)), "--image", &image]),
            }
        }
        ("diff", "BEFORE" | "AFTER") => {
            let [before, after] = ["a.xml", "b.xml"].map(|name| folder.file(name, read_text(&orchard())));
            of(if argument == "BEFORE" { &before } else { &after }, &["diff", &before, &after])
        }
        ("diff", "--before-toc" | "--after-toc") => {
            let [before, after] = ["a.xml", "b.xml"].map(|name| folder.file(name, export(20)));
            let toc = folder.file("contents.xml", toc(20));
            of(&toc, &["diff", &before, &after, argument, &toc])
        }
        ("diff", "--before-intervals" | "--after-intervals") => {
            let forms = write_forms(folder, &recording(), Table::TimeProfile);
            let [before, after] = ["b.xml", "i.xml"].map(|name| folder.file(name, read_text(&forms.export)));
            of(&after, &["diff", &before, &forms.folder, "--force", "--during", "Layout", argument, &after])
        }
        ("symbolicate", "--object") => {
            let object = symbols("dw");
            of(&object, &["symbolicate", "-o", &object, "0x565"])
        }
        ("symbolicate", _) => {
            let (report, dsym) = (folder.file("a.crash", crash_report("1.0", DEMO, 0x565)), symbols("dw"));
            let input = if argument.starts_with('-') { &dsym } else { &report };
            let option = if argument.starts_with('-') { argument } else { "--dsym" };
            of(input, &[command, &report, option, &dsym])
        }
        ("uuid", "PATH") => {
            let object = symbols("dw");
            of(&object, &["uuid", &object])
        }
        ("symbols", "SOURCE") => {
            // A file of a symbol store, which would be rewritten without its comment.
            let text = format!("MODULE mac arm64 {}0 Demo\nINFO x\nFUNC 10 8 0 f\n", DEMO.replace('-', ""));
            let path = format!("store/Demo/{}0/Demo.sym", DEMO.replace('-', ""));
            let path = write(folder, &path, &text);
            of(&path, &["symbols", &path])
        }
        ("trend", _) => {
            let mut example = example("fleet report", argument, case);
            let options = ["trend", "--over", "date", "--fail-on", "slower"];
            example.args.splice(..2, options.map(str::to_owned));
            example
        }
        ("compare", "--against") => {
            let [base, new] = ["base", "runs"].map(|name| fleet(folder, name, 3));
            of(&folder.path("runs/01.xml"), &["compare", &base, "--fail-on", "slower", "--against", &new])
        }
        ("compare", _) => {
            let mut example = example("fleet report", argument, case);
            let new = fleet(folder, "new", 2);
            example.args.splice(..2, ["compare", "--fail-on", "slower"].map(str::to_owned));
            example.args.extend(["--against".to_owned(), new]);
            example
        }
        ("fleet report" | "fleet extract" | "fleet tree" | "fleet intervals", "INPUT") => {
            let runs = fleet(folder, "runs", 3);
            of(&folder.path("runs/01.xml"), &["fleet", action(command), &runs])
        }
        ("fleet report" | "fleet extract" | "fleet tree" | "fleet intervals", "--manifest") => {
            let runs = fleet(folder, "runs", 2);
            let manifest = folder.file("m.txt", "path,ring\nruns/00.xml,beta\nruns/01.xml,alpha\n");
            of(&manifest, &["fleet", action(command), &runs, "--manifest", &manifest])
        }
        ("fleet report" | "fleet extract" | "fleet tree" | "fleet intervals", "--files-from") => {
            let list = folder.file("list", format!("{}/00.xml\n", fleet(folder, "runs", 2)));
            of(&list, &["fleet", action(command), "--files-from", &list])
        }
        ("fleet extract", "--root") => {
            let runs = fleet(folder, "runs", 2);
            of(&folder.path("runs/01.xml"), &["fleet", "extract", &runs, "--shard", "1/1", "--root", &folder.path(".")])
        }
        ("fleet extract", "--plan") => {
            let (runs, plan) = (fleet(folder, "runs", 2), folder.file("plan.json", "{\"inputs\": 2, \"lists\": {}}"));
            of(&plan, &["fleet", "extract", &runs, "--shard", "1/1", "--root", &folder.path("."), "--plan", &plan])
        }
        ("fleet merge", "DATASET") => {
            let dataset = dataset(folder);
            of(&format!("{dataset}/traceparse-dataset.json"), &["fleet", "merge", &dataset])
        }
        (_, "--redact-rules") => {
            let rules = folder.file("rules.txt", "function /secret/ => public\n");
            let [export, other] = ["a.xml", "b.xml"].map(|name| folder.file(name, read_text(&orchard())));
            let runs = fleet(folder, "runs", 2);
            let inputs: Vec<&str> = match command {
                "" => vec![&export],
                "diff" => vec!["diff", &export, &other],
                "toc" | "hangs" | "intervals" | "tables" => vec![command, &export],
                _ => vec!["fleet", action(command), &runs],
            };
            of(&rules, &[&inputs[..], &[argument, &rules]].concat())
        }
        ("fleet report" | "fleet extract" | "fleet tree", "--dsym" | "--symbols") => {
            let (runs, dsym) = (fleet(folder, "runs", 2), symbols("dw"));
            of(&dsym, &["fleet", action(command), &runs, argument, &dsym])
        }
        _ => panic!("`{command}` takes files by {argument}: add a use of it here"),
    }
}

fn action(command: &str) -> &str {
    command.split_once(' ').expect("two words").1
}

fn dataset(folder: &Folder) -> String {
    let (runs, dataset) = (fleet(folder, "runs", 2), folder.path("ds"));
    finish(&mut traceparse(&["fleet", "extract", &runs, "-o", &dataset])).success();
    dataset
}

/// All files below a folder, with their contents.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("it is a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(content(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).expect("it can be read")));
        }
    }
    found.sort();
    found
}

/// Runs a command that must be refused with both names, and must not change a file.
#[track_caller]
fn refused(case: &Case, args: &[String], output: &str, input: &str, run: impl FnOnce(&[&str]) -> Assert) -> String {
    let root = case.folder.path("");
    let content = || {
        let mut files = content(Path::new(&root));
        // An extract may begin, and must not touch the file.
        let is_of_dataset = |name: &str| name.contains("/dataset/") && !name.ends_with(input);
        files.retain(|(name, _)| !name.contains("/cache/") && !is_of_dataset(name));
        files
    };
    let before = content();
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| !arg.is_empty()).collect();
    let said = stderr_of(&run(&args));
    // With --redact, messages contain no folders.
    let is_redacted = args.iter().any(|arg| arg.starts_with("--redact"));
    let shown = |path: &str| match is_redacted {
        true => path.rsplit('/').next().unwrap_or_default().to_owned(),
        false => path.to_owned(),
    };
    let (output, input) = (shown(output), shown(input));
    assert!(said.contains(&output) && said.contains(&input), "{args:?}: {output} and {input} are to be named: {said}");
    assert!(said.contains("error: "), "{args:?}: {said}");
    assert!(before == content(), "{args:?}: files were changed");
    said
}

#[track_caller]
fn refused_with(case: &Case, example: &Use, output: &str, input: &str) -> String {
    let mut args = [&example.args[..], &["-o".to_owned(), output.to_owned()]].concat();
    if example.args.get(1).is_none_or(|arg| arg != "extract") {
        // The name of an input selects another format, so it would be refused for that reason.
        args.extend(["--format", "text"].map(str::to_owned));
    }
    refused(case, &args, output, input, |args| finish(&mut case.command(args)).code(1).stdout(""))
}

/// Runs the command with standard output appended to a file.
#[track_caller]
fn refused_appending(case: &Case, example: &Use) {
    refused(case, &example.args, "standard output", &example.input, |args| {
        let file = OpenOptions::new().append(true).open(&example.input).expect("it can be written");
        let output = std::process::Command::new(crate::command::BINARY)
            .args(args)
            .env("XDG_CACHE_HOME", case.folder.path("cache"))
            .stdout(Stdio::from(file))
            .output()
            .expect("it starts");
        Assert::new(output).code(1)
    });
}

#[test]
fn every_command_refuses_to_replace_whatever_it_reads() {
    for guarded in GUARDED {
        for argument in guarded.inputs {
            let case = Case::new();
            let example = example(guarded.command, argument, &case);
            match guarded.writes {
                Writes::Stdout => refused_appending(&case, &example),
                Writes::File => {
                    refused_with(&case, &example, &example.input, &example.input);
                    #[cfg(unix)]
                    for name in ["hard.json", "soft.json"] {
                        let link = case.folder.path(name);
                        match name {
                            "hard.json" => fs::hard_link(&example.input, &link).expect("links can be made"),
                            _ => std::os::unix::fs::symlink(&example.input, &link).expect("links can be made"),
                        }
                        refused_with(&case, &example, &link, &example.input);
                    }
                    #[cfg(unix)]
                    refused_appending(&case, &example);
                }
                // It writes only into new folders, and its only inputs are datasets.
                Writes::Folder if guarded.command == "fleet merge" => {
                    let (before, dataset) = (fs::read(&example.input).expect("a file"), &example.args[2]);
                    finish(&mut case.command(&["fleet", "merge", dataset, "-o", dataset])).code(2);
                    assert_eq!(fs::read(&example.input).expect("a file"), before);
                }
                Writes::Folder if guarded.command == "symbols" => {
                    let args = [example.args, vec!["-o".to_owned(), case.folder.path("store")]].concat();
                    let run = |args: &[&str]| finish(&mut case.command(args)).code(1).stdout("");
                    refused(&case, &args, &example.input, &example.input, run);
                }
                Writes::Folder => refused_in_a_dataset(&case, example),
            }
        }
    }
}

/// The input has the name of a file that every extract writes into the dataset.
fn refused_in_a_dataset(case: &Case, example: Use) {
    let dataset = case.folder.path("dataset");
    let other = write(&case.folder, "other/other.xml", export(50));
    finish(&mut traceparse(&["fleet", "extract", &other, "-o", &dataset])).success();
    let moved = format!("{dataset}/sources.json");
    fs::rename(&example.input, &moved).expect("it can be moved");
    let renamed = |arg: &String| if *arg == example.input { moved.clone() } else { arg.clone() };
    let mut args: Vec<String> = example.args.iter().map(renamed).collect();
    if !args.contains(&moved) {
        args.push(moved.clone());
    }
    if let Ok(text) = fs::read_to_string(&moved) {
        // Paths of a manifest are relative to it.
        fs::write(&moved, text.replace("\nruns/", "\n../runs/")).expect("it can be written");
    }
    let args = [args, vec!["-o".to_owned(), dataset]].concat();
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| !arg.is_empty()).collect();
    // Refused because of the file, or because the dataset was measured with another selection.
    let before = fs::read(&moved).ok();
    finish(&mut case.command(&args)).failure();
    assert_eq!(fs::read(&moved).ok(), before, "{args:?}");
}

#[test]
fn a_recording_is_all_that_is_in_it() {
    let case = Case::new();
    let forms = write_forms(&case.folder, &recording(), Table::TimeProfile);
    let example = of(&forms.folder, &[&forms.folder]);
    refused_with(&case, &example, &format!("{}/form.template", forms.folder), &forms.folder);
    refused_with(&case, &example, &format!("{}/new.txt", forms.folder), &forms.folder);
    refused_with(&case, &of("", &["toc", &forms.folder]), &format!("{}/form.template", forms.folder), &forms.folder);
    refused_with(
        &case,
        &of("", &["diff", &forms.export, &forms.folder]),
        &format!("{}/form.template", forms.folder),
        &forms.folder,
    );
    refused_with(
        &case,
        &of("", &["fleet", "report", &case.folder.path("")]),
        &format!("{}/form.template", forms.folder),
        &forms.folder,
    );
    refused_with(
        &case,
        &of("", &["fleet", "extract", &forms.folder]),
        &format!("{}/dataset", forms.folder),
        &forms.folder,
    );
    for archive in &forms.archives {
        refused_with(&case, &of(archive, &[archive]), archive, archive);
        refused_with(&case, &of(archive, &["fleet", "report", archive]), archive, archive);
    }
    // Files with similar names may be next to it.
    let beside = format!("{}.json", forms.folder);
    finish(&mut case.command(&[&forms.folder, "-o", &beside])).success().stderr("");
    assert!(read_text(&beside).starts_with('{'));
}

#[cfg(unix)]
#[test]
fn standard_input_is_an_input() {
    let case = Case::new();
    let path = case.folder.file("a.xml", read_text(&orchard()));
    let from = |args: &[&str], stdin: &str, stdout: Stdio| {
        let stdin = fs::File::open(stdin).expect("it is there");
        let mut command = std::process::Command::new(crate::command::BINARY);
        Assert::new(command.args(args).stdin(stdin).stdout(stdout).output().expect("it starts"))
    };
    let before = read_text(&path);
    for args in [&["-"][..], &["toc", "-"]] {
        let said = stderr_of(
            &from(&[args, &["-o", &path, "--format", "text"]].concat(), &path, Stdio::piped()).code(1).stdout(""),
        );
        assert!(said.contains(&path) && said.contains("standard input"), "{said}");
        let append = OpenOptions::new().append(true).open(&path).expect("it can be written");
        let said = stderr_of(&from(args, &path, append.into()).code(1));
        assert!(said.contains("standard output") && said.contains("standard input"), "{said}");
    }
    let addresses = case.folder.file("addresses", "0x565\n");
    let append = OpenOptions::new().append(true).open(&addresses).expect("it can be written");
    from(&["symbolicate", "-o", &dwarf_file("arm64-dwarf4", "Demo")], &addresses, append.into()).code(1);
    assert!(read_text(&path) == before && read_text(&addresses) == "0x565\n", "an input was changed");
}

/// A file that the shell has already emptied need not be protected: `> A.xml` results in an empty input, as with `cat`.
#[cfg(unix)]
#[test]
fn an_emptied_file_is_an_empty_input() {
    let case = Case::new();
    let path = case.folder.file("a.xml", read_text(&orchard()));
    let emptied = fs::File::create(&path).expect("it can be written");
    let output = std::process::Command::new(crate::command::BINARY).arg(&path).stdout(emptied).output();
    let said = stderr_of(&Assert::new(output.expect("it starts")).code(1));
    assert!(said.contains("empty"), "{said}");
}

/// The refusal itself would be appended to the input.
#[cfg(unix)]
#[test]
fn messages_do_not_go_into_an_input() {
    let case = Case::new();
    let path = case.folder.file("a.xml", read_text(&orchard()));
    let before = read_text(&path);
    let append = || OpenOptions::new().append(true).open(&path).expect("it can be written");
    let mut command = std::process::Command::new(crate::command::BINARY);
    let output = command.arg(&path).stdout(append()).stderr(append()).output().expect("it starts");
    Assert::new(output).code(1);
    let mut command = std::process::Command::new(crate::command::BINARY);
    Assert::new(command.arg(&path).stderr(append()).output().expect("it starts")).code(1).stdout("");
    assert!(read_text(&path) == before, "the export was changed");
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_loses_nothing() {
    let case = Case::new();
    let path = orchard();
    for null in ["/dev/null", "/dev/stdout"] {
        finish(&mut case.command(&[&path, "-o", null])).success().stderr("");
    }
    // Two pipes.
    let mut piped = case.command(&["-", "--view", "full", "-o", "/dev/stdout"]);
    let answer = crate::command::stdout_of(&finish(piped.write_stdin(read_text(&path))).success());
    assert_eq!(
        answer.lines().skip(1).collect::<Vec<_>>(),
        case.ok(&[&path, "--view", "full"]).lines().skip(1).collect::<Vec<_>>()
    );
}

/// Symbol files without a match, sources without samples, links to them, and all other files are protected. New files may be written there.
#[test]
fn no_file_of_a_searched_folder_is_replaced() {
    for (option, view) in [("--dsym", "full"), ("--symbols", "full"), ("--source", "lines")] {
        let case = Case::new();
        let (export, searched, dsym) = (case.draw(), case.folder.path("searched"), dwarf_file("arm64-dwarf4", "Demo"));
        fs::create_dir_all(case.folder.path("searched/deep")).expect("folders can be made");
        fs::copy(&dsym, case.folder.path("searched/dw")).expect("it can be copied");
        let unmatched = case.folder.path("searched/deep/other");
        fs::copy(dwarf_file("arm64-dwarf5", "Demo5"), &unmatched).expect("it can be copied");
        let source = case.folder.file("searched/demo.c", "int main(void);\n");
        let inside = [
            unmatched,
            source,
            #[cfg(unix)]
            {
                let link = case.folder.path("searched/deep/link");
                std::os::unix::fs::symlink(case.folder.file("outside", "int main(void);\n"), &link)
                    .expect("links can be made");
                link
            },
        ];
        let args = ["--dsym", &dsym, "--view", view, option, &searched];
        for out in &inside {
            refused_with(&case, &of(out, &[&[export.as_str()], &args[..]].concat()), out, &searched);
            if option == "--source" {
                refused_with(&case, &of(out, &[&export, "--view", "lines", "--source", out]), out, out);
            } else {
                refused_with(&case, &of(out, &["diff", &export, &orchard(), option, &searched]), out, &searched);
                refused_with(&case, &of(out, &["fleet", "report", &export, option, &searched]), out, &searched);
            }
        }
        let out = case.folder.path("searched/report.json");
        finish(&mut case.command(&[&[export.as_str(), "-o", &out], &args[..]].concat())).success();
        assert!(read_text(&out).starts_with('{'));
        // A dataset in the same folder may be continued.
        for _ in 0..2 {
            let dataset = case.folder.path("searched/dataset");
            finish(&mut case.command(&["fleet", "extract", &export, "--dsym", &searched, "-o", &dataset])).success();
        }
    }
}

/// The folder of a dataset may contain other files, such as the last report.
#[test]
fn files_that_nobody_reads_are_no_inputs() {
    let case = Case::new();
    let dataset = dataset(&case.folder);
    let out = format!("{dataset}/report.json");
    for _ in 0..3 {
        finish(&mut case.command(&["fleet", "report", &dataset, "-o", &out])).success();
    }
    for entry in fs::read_dir(format!("{dataset}/frames")).expect("it is there").flatten() {
        let file = entry.path().display().to_string();
        refused_with(&case, &of(&file, &["fleet", "report", &dataset]), &file, &file);
    }
}

/// The files that a fleet command finds are also protected.
#[test]
fn files_that_a_fleet_finds_are_inputs() {
    let case = Case::new();
    let runs = fleet(&case.folder, "runs", 2);
    let manifest = case.folder.file("fleet.csv", "path,toc\nruns/00.xml,toc.xml\n");
    let toc = case.folder.file("toc.xml", toc(11));
    for (input, named) in [
        (case.folder.path("runs/00-toc.xml"), &runs),
        (case.folder.path("runs/01.xml"), &runs),
        (toc, &manifest),
        (manifest.clone(), &manifest),
        (case.folder.path("runs/00.xml"), &manifest),
    ] {
        refused_with(&case, &of(&input, &["fleet", "report", named]), &input, &input);
    }
}

/// The input is a data file of the dataset, and has the name of the file that the extract would write for it.
#[test]
fn a_dataset_does_not_replace_its_inputs() {
    let case = Case::new();
    let (runs, dataset) = (fleet(&case.folder, "runs", 1), case.folder.path("dataset"));
    finish(&mut traceparse(&["fleet", "extract", &runs, "-o", &dataset])).success();
    let entry = fs::read_dir(format!("{dataset}/runs")).expect("it is there").flatten().next().expect("and not empty");
    let file = entry.path().display().to_string();
    fs::rename(case.folder.path("runs/00.xml"), &file).expect("it can be moved");
    for input in [&file, &format!("{dataset}/.x.tmp")] {
        if *input != file {
            fs::rename(&file, input).expect("it can be moved");
        }
        refused_with(&case, &of(input, &["fleet", "extract", input]), &dataset, input);
    }
}
