//! Pictures of two trees.

use libtest_mimic::Failed;
use serde_json::Value;
use traceparse::output::{self, DiffReport, DiffView, FlameGraphOptions, FlameNode, Format};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::report::ReportOptions;
use traceparse::report::diff::{Change, Diff, Normalize};
use traceparse::units::Unit;

use super::drawn::Drawn;
use support::{RenderOptions, Shape, Table, orchard, render};

/// A node, its all weight and self weight before, and the change.
type Node = (FlameNode<'static>, (u64, u64), Change);

/// A node of samples that weigh one each.
fn node(depth: u32, name: &'static str, before: (u64, u64), after: (u64, u64)) -> Node {
    let (binary, category) = (Some("Orchard"), None);
    let (all_weight, self_weight, hidden_weight) = (after.0, after.1, 0);
    let change = Change { weight: after.0 as f64 - before.0 as f64, noise: ((before.0 + after.0) as f64).sqrt() };
    (FlameNode { depth, name, binary, category, all_weight, self_weight, hidden_weight }, before, change)
}

/// Before 1,000 and after 2,000 samples.
fn nodes() -> [Node; 9] {
    [
        node(0, "all", (1_000, 0), (2_000, 0)),
        node(1, "grew", (100, 100), (600, 600)),
        node(1, "same", (500, 450), (500, 500)),
        node(2, "gone", (50, 20), (0, 0)),
        node(3, "gone too", (30, 30), (0, 0)),
        node(1, "shrank", (320, 320), (200, 200)),
        node(1, "noisy", (30, 30), (44, 44)),
        node(1, "new", (0, 0), (6, 6)),
        node(1, "gone below", (50, 50), (0, 0)),
    ]
}

pub(crate) fn picture() -> Result<String, Failed> {
    let mut out = Vec::new();
    FlameGraphOptions::default().write_differential(nodes(), Unit::Samples, &mut out)?;
    Ok(String::from_utf8(out)?)
}

pub(crate) fn changes_are_shown() -> Result<(), Failed> {
    let drawn = Drawn::read(&picture()?)?;
    let found = drawn.frames.iter();
    let found: Vec<_> =
        found.map(|frame| (frame.name.as_str(), frame.class.as_str(), frame.width, frame.before)).collect();
    // From 1,000 before: 100 % more, 50 % more, unchanged, 12 % less, 1.4 % more (1.6 deviations), 0.6 % more.
    let wanted = [
        ("all", "r3", 1180.0, Some((1_000, 0))),
        ("grew", "r3", 354.0, Some((100, 100))),
        ("same", "n", 295.0, Some((500, 450))),
        ("shrank", "b3", 118.0, Some((320, 320))),
        ("noisy", "n", 25.96, Some((30, 30))),
        ("new", "r0", 3.54, Some((0, 0))),
    ];
    ensure!(found == wanted, "{found:?}");
    let grew = &drawn.frames[1].numbers;
    ensure!(
        *grew
            == [
                "change +500 samples, 26 samples by sampling: beyond noise",
                "before 100 samples (10.00 %), after 600 samples (30.00 %)",
                "self before 100 samples (10.00 %), after 600 samples (30.00 %)"
            ],
        "{grew:?}"
    );
    let shrank = &drawn.frames[3].numbers[0];
    ensure!(*shrank == "change −120 samples, 23 samples by sampling: beyond noise", "{shrank}");
    let same = &drawn.frames[2].numbers[0];
    ensure!(*same == "change 0 samples, 32 samples by sampling: within noise", "{same}");
    let legend =
        [("−10 %", "b3"), ("−3 %", "b2"), ("−1 %", "b1"), ("less", "b0"), ("within noise", "n"), ("more", "r0")];
    let more = [("+1 %", "r1"), ("+3 %", "r2"), ("+10 % of the total before, or more", "r3")];
    let found = drawn.legend.iter().map(String::as_str).zip(drawn.legend_classes.iter().map(String::as_str));
    ensure!(found.eq(legend.into_iter().chain(more)), "{:?}", drawn.legend);
    Ok(())
}

fn session(milliseconds: u64, seed: u64) -> Result<Recording, Failed> {
    let invented = orchard::session(milliseconds, seed);
    let xml = render(&invented, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &invented));
    Ok(read(xml.as_bytes(), "input.xml", &Options::default())?)
}

/// The class of a node in the JSON of the same comparison.
fn class(node: &Value, whole: f64) -> String {
    let number = |name: &str| node["all_change"][name].as_f64().expect("a number");
    let (weight, noise) = (number("weight"), number("noise"));
    let is_beyond = node["all_change"]["beyond_noise"].as_bool().expect("a verdict");
    assert_eq!(is_beyond, weight.abs() > 1.96 * noise);
    let percent = weight.abs() * 100.0 / whole;
    let step = [10.0, 3.0, 1.0].iter().position(|&least| percent >= least).map_or(0, |at| 3 - at);
    match (is_beyond, weight > 0.0) {
        (false, _) => "n".to_owned(),
        (true, true) => format!("r{step}"),
        (true, false) => format!("b{step}"),
    }
}

/// Frames are the nodes of the tree in JSON that are still there, in their order; the colour of each follows from its verdict there.
pub(crate) fn colours_agree_with_the_table() -> Result<(), Failed> {
    let mut seen = std::collections::BTreeMap::new();
    for (before, after) in [((300, 1), (900, 2)), ((900, 2), (300, 1)), ((800, 3), (800, 4))] {
        let recordings = [session(before.0, before.1)?, session(after.0, after.1)?];
        let options = ReportOptions::default();
        let [before, after] = [recordings[0].report(&options), recordings[1].report(&options)];
        for normalize in [Normalize::None, Normalize::Samples] {
            let diff = &Diff::new(&before, &after, normalize);
            let (before, after, view) = (&before, &after, DiffView::Tree);
            let report = DiffReport { before, after, diff, normalize, view, top: None, min_percent: 0.0, alerts: &[] };
            let mut document = Vec::new();
            output::write(&report, &Format::Json, &mut document)?;
            let document: Value = serde_json::from_slice(&document)?;
            let mut picture = Vec::new();
            let options = FlameGraphOptions { narrowest: 0.0, ..FlameGraphOptions::default() };
            output::write(&report, &Format::FlameGraph(options), &mut picture)?;
            let drawn = Drawn::read(std::str::from_utf8(&picture)?)?;
            let whole = document["total"]["before"]["all_weight"].as_f64().ok_or("no total")?;
            let nodes = document["nodes"].as_array().ok_or("no nodes")?.iter();
            let nodes = nodes.filter(|node| node["after"]["all_weight"] != 0);
            let wanted = nodes.map(|node| {
                let name = node["function"].as_str().unwrap_or("all").to_owned();
                (node["depth"].as_u64(), name, node["after"]["all_weight"].as_u64(), class(node, whole))
            });
            let wanted: Vec<_> = wanted.collect();
            let found = drawn.frames.iter();
            let found =
                found.map(|frame| (Some(frame.depth as u64), frame.name.clone(), Some(frame.all), frame.class.clone()));
            let found: Vec<_> = found.collect();
            ensure!(found == wanted, "{normalize:?}: {found:#?} and not {wanted:#?}");
            for (frame, node) in drawn.frames.iter().zip(&wanted) {
                let said = frame.numbers[0].ends_with("beyond noise");
                ensure!(said == (node.3 != "n"), "{frame:?}");
                *seen.entry(node.3.clone()).or_insert(0) += 1;
            }
        }
    }
    for class in ["n", "r0", "r1", "r2", "r3", "b0", "b1", "b2", "b3"] {
        ensure!(seen.contains_key(class), "no frame has {class}: {seen:?}");
    }
    Ok(())
}

pub(crate) fn scaled_weights_are_said() -> Result<(), Failed> {
    let nodes = |factor: f64| {
        let scaled = move |(node, before, change): Node| {
            let weight = node.all_weight as f64 * factor - before.0 as f64;
            (node, before, Change { weight, ..change })
        };
        nodes().into_iter().map(scaled)
    };
    for (factor, line) in [
        (
            1.0,
            "Before 1000 samples, after 2000 samples (+100.00 %); change +1000 samples, 55 samples by sampling: beyond noise. The width of a frame is its weight after.",
        ),
        (
            0.45,
            "Before 1000 samples, after 2000 samples (−10.00 %); change −100 samples, 55 samples by sampling: within noise. Weights after are multiplied by 0.4500 for changes. The width of a frame is its weight after.",
        ),
    ] {
        let mut out = Vec::new();
        FlameGraphOptions::default().write_differential(nodes(factor), Unit::Samples, &mut out)?;
        let drawn = Drawn::read(std::str::from_utf8(&out)?)?;
        ensure!(drawn.sentences[0] == line, "{}", drawn.sentences[0]);
    }
    Ok(())
}

pub(crate) fn what_vanished_is_said() -> Result<(), Failed> {
    let drawn = Drawn::read(&picture()?)?;
    let wanted = "3 frames of the first recording no longer exist: 100 samples (10.00 % of its total).";
    ensure!(drawn.sentences.iter().any(|text| text == wanted), "{:?}", drawn.sentences);
    // Nothing before, and nothing after.
    for (before, after) in [(0, 10), (10, 0), (0, 0)] {
        let nodes = [node(0, "all", (before, 0), (after, 0)), node(1, "a", (before, before), (after, after))];
        let mut out = Vec::new();
        FlameGraphOptions::default().write_differential(nodes, Unit::Cycles, &mut out)?;
        let drawn = Drawn::read(std::str::from_utf8(&out)?)?;
        let frames = if after > 0 { 2 } else { 1 };
        ensure!(drawn.frames.len() == frames, "{before} and {after}: {:?}", drawn.frames);
        let said = drawn.sentences.iter().any(|text| text.contains(" no longer exist"));
        ensure!(said == (before > 0 && after == 0), "{:?}", drawn.sentences);
    }
    Ok(())
}
