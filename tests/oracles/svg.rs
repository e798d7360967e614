//! Flame graphs: the content of the file, and how a browser shows it.
//!
//! The tests in a browser need Chromium (`TRACEPARSE_CHROMIUM`, else `chromium` on the path), `node` on the path, and the
//! package `playwright-core` in the folder that `TRACEPARSE_NODE_MODULES` names. Without them they report themselves as
//! ignored.

mod browser;
mod differential;
mod drawn;
mod invented;
mod json_trees;
mod windows;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::process::Command;

use crate::hostile::{ACTING, shown};
use drawn::{Drawn, Frame};
use invented::{HOSTILE, Node, hostile, picture_of, random_tree};
use libtest_mimic::{Failed, Trial};
use support::Rng;
use traceparse::output::{self, ColourBy, FlameGraphOptions, Format};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::{Report, ReportOptions, SeparateBy, View};

use crate::programs::{corpus, files, full_disks_are_errors, has_python, in_corpus, python, repository, said};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials![
        json_trees::widths_are_those_of_the_json_trees,
        a_file_is_whole_and_loads_nothing,
        several_recordings_stand_side_by_side,
        what_cannot_be_added_up_is_refused,
        names_from_input_are_text,
        small_trees_are_pictures,
        what_is_left_out_is_said,
        what_pruning_hid_is_said,
        large_trees_make_files_of_bounded_size,
        colours_say_what_was_asked,
        a_writer_that_fails_is_told_of,
        differential::changes_are_shown,
        differential::colours_agree_with_the_table,
        differential::scaled_weights_are_said,
        differential::what_vanished_is_said,
    ];
    trials.extend(trials![if browser::is_there();
        browser::frames_zoom_and_come_back,
        browser::keys_do_what_the_mouse_does,
        browser::search_finds_and_counts_once,
        browser::no_expression_hangs_the_picture,
        browser::addresses_keep_what_is_shown,
        browser::text_is_legible_in_light_and_dark,
        browser::names_are_shown_and_do_nothing,
        browser::an_image_shows_the_same,
        windows::pictures_open_full,
        windows::widths_can_be_fixed,
    ]);
    trials.extend(trials![if corpus().is_some(); real_recordings_make_small_files]);
    trials.extend(trials![if has_python(); python_reads_the_file]);
    trials
}

fn input(case: &str) -> Vec<u8> {
    fs::read(repository("fixtures").join(case).join("input.xml")).expect("a fixture")
}

/// An input of the fixtures, read.
pub(crate) fn fixture(case: &str) -> Recording {
    read(input(case).as_slice(), "input.xml", &Options::default()).expect("a fixture can be read")
}

pub(crate) fn tree_options(separate_by: SeparateBy) -> ReportOptions {
    ReportOptions { view: View::Tree, separate_by, ..ReportOptions::default() }
}

/// The picture of an export.
pub(crate) fn picture(
    export: &Recording,
    asked: &ReportOptions,
    options: &FlameGraphOptions,
) -> Result<String, Failed> {
    let mut out = Vec::new();
    write(&export.report(asked), options, &mut out)?;
    Ok(String::from_utf8(out)?)
}

/// The fixtures whose samples may be added up.
pub(crate) const CASES: [&str; 6] = [
    "27/orchard",
    "27/cpu-profile",
    "27/time-profile-waiting",
    "26.4/time-profile",
    "14.3/counters-profile",
    "12/time-profile",
];

fn a_file_is_whole_and_loads_nothing() -> Result<(), Failed> {
    for case in CASES {
        let export = fixture(case);
        let asked = tree_options(SeparateBy::Thread);
        let text = picture(&export, &asked, &FlameGraphOptions::default())?;
        let outside = text.replacen("xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        // The names of the two kinds of elements that the script makes.
        let outside = outside.replacen("\"http://www.w3.org/2000/svg\"", "", 1);
        let outside = outside.replacen("\"http://www.w3.org/1999/xhtml\"", "", 1);
        for part in ["http:", "https:", "href", "src=", "url(", "@import", "fetch(", "localStorage", "<!DOCTYPE"] {
            ensure!(!outside.contains(part), "{case}: {part}");
        }
        let drawn = Drawn::read(&text)?;
        ensure!(drawn.frames.len() > 5, "{case}: {} frames", drawn.frames.len());
        ensure!(text == picture(&export, &asked, &FlameGraphOptions::default())?, "{case}: not the same again");
        let options = FlameGraphOptions {
            title: Some("Pressing & <peeling>".to_owned()),
            subtitle: Some("Before lunch.".to_owned()),
            ..FlameGraphOptions::default()
        };
        let drawn = Drawn::read(&picture(&export, &asked, &options)?)?;
        ensure!(drawn.texts[0] == "Pressing & <peeling>" && drawn.texts[1] == "Before lunch.", "{:?}", drawn.texts);
    }
    Ok(())
}

fn several_recordings_stand_side_by_side() -> Result<(), Failed> {
    let export = fixture("14.3/concatenated");
    let asked = tree_options(SeparateBy::Nothing);
    let report = export.report(&asked);
    ensure!(report.check_one_measurement().is_ok() && report.series.len() > 1, "the fixture has no two recordings");
    let drawn = Drawn::read(&picture(&export, &asked, &FlameGraphOptions::default())?)?;
    let found: Vec<(u64, bool)> = drawn
        .frames
        .iter()
        .filter(|frame| frame.depth == 1)
        .map(|frame| (frame.all, frame.name.starts_with("input.xml, run ")))
        .collect();
    let wanted: Vec<(u64, bool)> =
        report.series.iter().map(|series| (series.counted.weight.value, true)).filter(|row| row.0 > 0).collect();
    ensure!(found == wanted, "{found:?} and not {wanted:?}");
    Ok(())
}

fn what_cannot_be_added_up_is_refused() -> Result<(), Failed> {
    let input = [input("27/orchard"), input("27/cpu-profile")].concat();
    let export = read(input.as_slice(), "input.xml", &Options::default())?;
    let report = export.report(&tree_options(SeparateBy::Thread));
    let mut out = Vec::new();
    let kind = write(&report, &FlameGraphOptions::default(), &mut out).map_err(|error| error.kind());
    ensure!(kind == Err(io::ErrorKind::InvalidInput) && out.is_empty(), "{kind:?}");
    Ok(())
}

fn names_from_input_are_text() -> Result<(), Failed> {
    let text = picture_of(&hostile(), &FlameGraphOptions { title: Some(HOSTILE[0].to_owned()), ..Default::default() })?;
    let drawn = Drawn::read(&text)?;
    ensure!(text.matches("<script").count() == 1 && text.matches("<style").count() == 1, "a second script or style");
    for part in ["<img", " onerror=window", "\u{202e}", "\u{2066}", "\u{ffff}", "\0", "\u{1b}"] {
        ensure!(!text.contains(part), "{part:?}");
    }
    for c in ACTING.chars() {
        ensure!(!text.contains(c), "{c:?}");
    }
    for name in HOSTILE {
        ensure!(drawn.frames.iter().any(|frame| frame.name == shown(name)), "{name:?} is not there");
    }
    let long = drawn.frames.iter().find(|frame| frame.name.len() >= 5_000).ok_or("the long name is not whole")?;
    ensure!(long.text.chars().count() < 200 && long.text.ends_with('…'), "{}", long.text);
    Ok(())
}

fn small_trees_are_pictures() -> Result<(), Failed> {
    let node = |depth, name: &str, all, own| Node { depth, name: name.to_owned(), binary: None, all, own };
    for (nodes, frames) in [
        (vec![], 0),
        (vec![node(0, "all", 0, 0)], 1),
        (vec![node(0, "all", 0, 0), node(1, "a", 0, 0)], 1),
        (vec![node(0, "all", 1, 1)], 1),
        (vec![node(0, "all", u64::MAX, 0), node(1, "a", u64::MAX, u64::MAX)], 2),
    ] {
        for width in [0, 400, 20_000] {
            let text = picture_of(&nodes, &FlameGraphOptions { width: Some(width), ..FlameGraphOptions::default() })?;
            let drawn = Drawn::read(&text)?;
            ensure!(drawn.frames.len() == frames, "{nodes:?}: {} frames", drawn.frames.len());
            let wanted = f64::from(width.max(400)) - 20.0;
            ensure!(drawn.frames.iter().all(|frame| frame.width == wanted), "{nodes:?}: {:?}", drawn.frames);
        }
    }
    Ok(())
}

/// The number of nodes that are not drawn, and the weight that ends in them, the slow way.
fn left_out(nodes: &[Node], least: f64) -> (usize, u64) {
    let is_drawn: Vec<bool> = nodes.iter().map(|node| node.all as f64 >= least && node.all > 0).collect();
    let ends: u64 = nodes.iter().zip(&is_drawn).filter(|(_, is_drawn)| !**is_drawn).map(|(node, _)| node.own).sum();
    (is_drawn.iter().filter(|is_drawn| !**is_drawn).count(), ends)
}

fn what_is_left_out_is_said() -> Result<(), Failed> {
    let mut said = 0;
    for seed in 0..40 {
        let nodes = random_tree(&mut Rng::new(seed), 400);
        let options = FlameGraphOptions { width: Some(820), narrowest: 3.0, ..FlameGraphOptions::default() };
        let drawn = Drawn::read(&picture_of(&nodes, &options)?)?;
        let (count, weight) = left_out(&nodes, nodes[0].all as f64 * 3.0 / 800.0);
        ensure!(drawn.frames.len() + count == nodes.len(), "seed {seed}: {} and {count}", drawn.frames.len());
        let shown: u64 = drawn.frames.iter().map(|frame| frame.own).sum();
        ensure!(shown + weight == nodes[0].all, "seed {seed}: weight is lost");
        let line = drawn.sentences.iter().find(|text| text.contains(" narrower than 3 pixels "));
        let share = weight as f64 * 100.0 / nodes[0].all as f64;
        let (frames, are, them) = if count == 1 { ("frame", "is", "it") } else { ("frames", "are", "them") };
        let wanted = format!(
            "{count} {frames} narrower than 3 pixels {are} not drawn: {weight} samples ({share:.2} %) ends in {them}; --min-percent 0 draws all."
        )
        .replace(": 1 samples", ": 1 sample");
        match line {
            Some(line) => ensure!(*line == wanted, "seed {seed}: {line} and not {wanted}"),
            None => ensure!(count == 0, "seed {seed}: {count} frames are left out, and nothing says it"),
        }
        said += usize::from(line.is_some());
    }
    ensure!(said > 10, "only {said} trees had narrow frames");
    Ok(())
}

fn what_pruning_hid_is_said() -> Result<(), Failed> {
    let export = fixture("27/orchard");
    for separate_by in [SeparateBy::Thread, SeparateBy::Nothing] {
        for depth in [0, 3] {
            let mut asked = tree_options(separate_by);
            asked.pruning.depth = Some(depth);
            let drawn = Drawn::read(&picture(&export, &asked, &FlameGraphOptions::default())?)?;
            let own: u64 = drawn.frames.iter().map(|frame| frame.own).sum();
            let hidden = traceparse::units::Weight::nanos(drawn.frames[0].all - own).to_string();
            let line = drawn.sentences.iter().find(|text| text.contains(" hidden by the limits ")).ok_or("no line")?;
            ensure!(line.starts_with(&hidden), "{line} and not {hidden}");
        }
    }
    Ok(())
}

fn large_trees_make_files_of_bounded_size() -> Result<(), Failed> {
    // 300,000 stacks of 12 levels with long names: 15 bushes of 20,000 leaves.
    let mut nodes = vec![Node { depth: 0, name: "all".to_owned(), binary: None, all: 0, own: 0 }];
    for bush in 0..15_u64 {
        let first = nodes.len();
        for level in 1..11 {
            nodes.push(Node {
                depth: level,
                name: format!("{}{level}", "bush::".repeat(30)),
                binary: None,
                all: 0,
                own: 0,
            });
        }
        for leaf in 0..20_000_u64 {
            let weight = 1 + 40_000 / (leaf + 1) + bush % 3;
            let name = format!("{}{leaf}", "leaf<\"&>::".repeat(10));
            nodes.push(Node { depth: 11, name, binary: Some("libleaf.dylib".to_owned()), all: weight, own: weight });
            nodes[first..first + 10].iter_mut().for_each(|node| node.all += weight);
            nodes[0].all += weight;
        }
    }
    let usual = FlameGraphOptions::default().max_bytes;
    ensure!(usual == 1_500_000, "{usual} bytes");
    for (width, max_bytes, is_cut) in [(1200, 8 << 20, false), (20_000, usual, true), (20_000, 300_000, true)] {
        let options =
            FlameGraphOptions { width: Some(width), max_bytes, narrowest: 0.01, ..FlameGraphOptions::default() };
        let text = picture_of(&nodes, &options)?;
        let drawn = Drawn::read(&text)?;
        println!("300,000 stacks, {width} px: {} frames, {} bytes", drawn.frames.len(), text.len());
        ensure!(text.len() <= max_bytes, "{} bytes", text.len());
        // The available space is used.
        ensure!(!is_cut || text.len() > max_bytes - 40_000, "{} bytes", text.len());
        ensure!(drawn.frames.len() > 300, "{} frames", drawn.frames.len());
        let said = drawn.sentences.iter().any(|line| line.contains(", the narrowest, are left out"));
        ensure!(said == is_cut, "{:?}", drawn.sentences);
        let own: u64 = drawn.frames.iter().map(|frame| frame.own).sum();
        let share = (nodes[0].all - own) as f64 * 100.0 / nodes[0].all as f64;
        let wanted = format!("({share:.2} %) ends in them; --min-percent 0 draws all.");
        ensure!(drawn.sentences.iter().any(|line| line.ends_with(&wanted)), "{:?} and not {wanted}", drawn.sentences);
    }
    Ok(())
}

/// Real recordings, as the command draws them.
fn real_recordings_make_small_files() -> Result<(), Failed> {
    let mut drawn = 0;
    for path in ["xctrace", "inputs"].into_iter().flat_map(|folder| files(&in_corpus(folder), "")) {
        let done = Command::new(env!("CARGO_BIN_EXE_traceparse")).arg(&path).args(["--format", "svg"]).output()?;
        // Most files do not record CPU use.
        if done.status.success() {
            ensure!(done.stdout.len() <= 1_500_000, "{}: {} bytes", path.display(), done.stdout.len());
            Drawn::read(std::str::from_utf8(&done.stdout)?)?;
            drawn += 1;
        }
    }
    ensure!(drawn >= 12, "only {drawn} pictures");
    Ok(())
}

fn colours_say_what_was_asked() -> Result<(), Failed> {
    let export = fixture("27/orchard");
    let asked = tree_options(SeparateBy::Thread);
    // The last letter is the shade, which distinguishes functions.
    let hue = |frame: &Frame| frame.class.trim_end_matches(['a', 'b', 'c']).to_owned();
    for colour_by in [ColourBy::Function, ColourBy::Binary, ColourBy::Category] {
        let options = FlameGraphOptions { colour_by, ..FlameGraphOptions::default() };
        let drawn = Drawn::read(&picture(&export, &asked, &options)?)?;
        let mut hues: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
        let mut classes: BTreeMap<(String, String), String> = BTreeMap::new();
        for frame in drawn.frames.iter().filter(|frame| frame.depth > 2) {
            hues.entry(frame.binary.clone()).or_default().insert(hue(frame));
            let key = (frame.name.clone(), frame.binary.clone());
            let class = classes.entry(key).or_insert_with(|| frame.class.clone());
            ensure!(*class == frame.class, "{colour_by:?}: {} has two colours", frame.name);
        }
        let is_one = hues.values().all(|hues| hues.len() == 1);
        ensure!(is_one == (colour_by != ColourBy::Function), "{colour_by:?}: {hues:?}");
        ensure!(drawn.frames.iter().take(3).all(|frame| frame.class == "g"), "groups have no colour");
        let legend = !drawn.legend.is_empty();
        ensure!(legend == (colour_by != ColourBy::Function), "{colour_by:?}: {:?}", drawn.legend);
        if colour_by == ColourBy::Category {
            let legend = ["your code", "system", "language runtime", "unknown"];
            ensure!(drawn.legend == legend, "{:?}", drawn.legend);
            ensure!(drawn.legend_classes == ["userb", "systemb", "runtimeb", "unknownb"], "{:?}", drawn.legend_classes);
            let owners =
                [("Orchard", "user"), ("libsystem_pthread.dylib", "system"), ("dyld", "runtime"), ("", "unknown")];
            for (binary, owner) in owners {
                ensure!(hues[binary].iter().eq([owner]), "{binary}: {:?}", hues[binary]);
            }
            ensure!(hues["Orchard"] != hues["libsystem_kernel.dylib"], "{hues:?}");
        }
    }
    Ok(())
}

fn a_writer_that_fails_is_told_of() -> Result<(), Failed> {
    let export = fixture("27/orchard");
    let report = export.report(&tree_options(SeparateBy::Thread));
    full_disks_are_errors(|out| write(&report, &FlameGraphOptions::default(), out))
}

/// Python's reader finds the frames that ours finds, with the same names.
fn python_reads_the_file() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let script = "import json, sys\nimport xml.etree.ElementTree as ET\n\
        root = ET.parse(sys.argv[1]).getroot()\nns = '{http://www.w3.org/2000/svg}'\n\
        rows = [[g.get('data-all'), g.find(ns + 'title').text, g.find(ns + 'rect').get('width')]\n\
        for g in root.iter(ns + 'g') if g.get('data-depth')]\nprint(json.dumps(rows))";
    let orchard = picture(&fixture("27/orchard"), &tree_options(SeparateBy::Thread), &FlameGraphOptions::default())?;
    for (index, text) in [orchard, picture_of(&hostile(), &FlameGraphOptions::default())?].into_iter().enumerate() {
        let path = folder.path().join(format!("{index}.svg"));
        fs::write(&path, &text)?;
        let found = said(python().args(["-c", script]).arg(&path))?;
        let found: Vec<(String, String, String)> = serde_json::from_str(&found)?;
        let wanted = Drawn::read(&text)?.frames;
        ensure!(found.len() == wanted.len() && found.len() > 5, "{} and {} frames", found.len(), wanted.len());
        for ((all, title, width), frame) in found.iter().zip(&wanted) {
            let is_same = all.parse() == Ok(frame.all)
                && title.lines().next() == Some(frame.name.as_str())
                && width.parse() == Ok(frame.width);
            ensure!(is_same, "{title:?} and {frame:?}");
        }
    }
    Ok(())
}

fn write(report: &Report<'_>, options: &FlameGraphOptions, out: &mut dyn Write) -> io::Result<()> {
    output::write(report, &Format::FlameGraph(options.clone()), out)
}
