//! Every folder `fixtures/<version>/<case>/`: the input equals the output of the fixture writer, and each output format
//! equals the file next to the input. A new case needs no code here.
//!
//! `TRACEPARSE_BLESS=1 cargo test --test library fixtures` writes all files again; review the difference before you keep it.

use std::fs;
use std::path::{Path, PathBuf};

use traceparse::output::{self, Cells, Format, Markers, Style};
use traceparse::profile::Selection;
use traceparse::read;
use traceparse::recording::{Intervals, Options, Recording};
use traceparse::report::{ReportOptions, View};

/// Inputs above this are shown as a whole only where that stays readable.
const LARGE: usize = 60_000;
/// The cases whose views that are tables are shown as text.
const TABLES: [&str; 2] = ["27/orchard", "27/time-profile-waiting"];

fn root() -> PathBuf {
    support::repository("fixtures")
}

fn is_blessing() -> bool {
    std::env::var_os("TRACEPARSE_BLESS").is_some_and(|value| value == "1")
}

/// Compares a file with what it should hold, or writes it.
fn expect(path: &Path, text: &str, wrong: &mut Vec<String>) {
    if is_blessing() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    } else if fs::read_to_string(path).ok().as_deref() != Some(text) {
        wrong.push(path.strip_prefix(root()).unwrap().display().to_string());
    }
}

/// One test, since blessing writes the inputs before their outputs are made.
#[test]
fn inputs_and_outputs_are_as_expected() {
    let mut wrong = Vec::new();
    inputs(&mut wrong);
    outputs(&mut wrong);
    assert!(
        wrong.is_empty(),
        "{wrong:#?}\ndiffer; if the new files are right: TRACEPARSE_BLESS=1 cargo test --test library fixtures"
    );
}

/// The inputs are what the fixture writer makes.
fn inputs(wrong: &mut Vec<String>) {
    for case in support::cases() {
        expect(&root().join(case.path).join("input.xml"), &case.input, wrong);
        expect(&root().join(case.path).join("README.md"), &support::readme(&case), wrong);
    }
}

fn folders() -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_dir()).collect()
    };
    // Symbol files have separate tables and another test.
    let versions = list(&root()).into_iter().filter(|version| !version.ends_with("symbols"));
    let mut folders: Vec<PathBuf> = versions.flat_map(|version| list(&version)).collect();
    folders.sort();
    assert!(folders.len() >= 15, "only {} cases", folders.len());
    folders
}

fn outputs(wrong: &mut Vec<String>) {
    for folder in folders() {
        let input = fs::read(folder.join("input.xml")).unwrap();
        let export = read(input.as_slice(), "input.xml", &Options::default()).unwrap();
        if export.tables().next().is_none() {
            expect(&folder.join("expected.txt"), &contents(&export), wrong);
            continue;
        }
        expect(&folder.join("expected.txt"), &overview(&export), wrong);
        expect(&folder.join("expected.folded"), &folded_stacks(&export), wrong);
        expect(&folder.join("expected.svg"), &flame_graph(&export), wrong);
        expect(&folder.join("expected.json"), &json_document(&export), wrong);
        if folder.ends_with("27/orchard") {
            for (name, view) in [("categories", View::Categories), ("lines", View::Lines)] {
                expect(&folder.join(format!("expected.{name}.txt")), &view_text(&export, view), wrong);
            }
        }
        if TABLES.iter().any(|case| folder.ends_with(case)) {
            expect(&folder.join("expected.views.txt"), &tables(&export), wrong);
        }
        if input.len() <= LARGE {
            expect(&folder.join("expected.samples.csv"), &samples(&export), wrong);
            expect(&folder.join("expected.firefox.json"), &firefox_profile(&export), wrong);
            expect(&folder.join("expected.speedscope.json"), &speedscope_file(&export), wrong);
        }
    }
}

fn options(view: View) -> ReportOptions {
    ReportOptions { selection: Selection::default(), view, ..ReportOptions::default() }
}

fn utf8(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    match write(&mut out) {
        Ok(()) => String::from_utf8(out).unwrap(),
        Err(error) => format!("error: {error}\n"),
    }
}

fn overview(export: &Recording) -> String {
    let mut options = options(View::Full);
    options.pruning.min_percent = 1.0;
    let style = Style { width: Some(120), ..Style::default() };
    utf8(|out| output::write(&export.report(&options), &Format::Text(style), out))
}

fn view_text(export: &Recording, view: View) -> String {
    let style = Style { width: Some(120), ..Style::default() };
    utf8(|out| output::write(&export.report(&options(view)), &Format::Text(style), out))
}

/// The views that are tables, at the usual width of a terminal.
fn tables(export: &Recording) -> String {
    let views = [View::Binaries, View::Processes, View::States, View::Cores, View::Timeline];
    let texts = views.into_iter().map(|view| {
        let mut options = options(view);
        options.pruning.min_percent = 1.0;
        let style = Style { width: Some(80), ..Style::default() };
        utf8(|out| output::write(&export.report(&options), &Format::Text(style), out))
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn contents(export: &Recording) -> String {
    utf8(|out| output::write(&export.documents, &Format::Text(Style { width: Some(120), ..Style::default() }), out))
}

fn folded_stacks(export: &Recording) -> String {
    utf8(|out| output::write(&export.report(&options(View::Tree)), &Format::Folded, out))
}

/// Without its script, which is the same everywhere: a picture, as an image shows it.
fn flame_graph(export: &Recording) -> String {
    let options = traceparse::output::FlameGraphOptions::default();
    let picture = utf8(|out| {
        output::write(&export.report(&self::options(View::Tree)), &Format::FlameGraph(options.clone()), out)
    });
    let Some((picture, _)) = picture.split_once("<script>") else { return picture };
    format!("{picture}</svg>\n")
}

fn firefox_profile(export: &Recording) -> String {
    let (options, intervals) = (options(View::Tree), Intervals::default());
    let report = export.report(&options);
    utf8(|out| output::write(&report, &Format::Firefox(&Markers::new(&report, &intervals)), out))
}

fn speedscope_file(export: &Recording) -> String {
    utf8(|out| output::write(&export.report(&options(View::Tree)), &Format::Speedscope, out))
}

fn json_document(export: &Recording) -> String {
    utf8(|out| output::write(&export.report(&options(View::Full)), &Format::Json, out))
}

fn samples(export: &Recording) -> String {
    utf8(|out| output::write(&export.report(&options(View::Samples)), &Format::Csv(Cells::AsTheyAre), out))
}
