//! Pictures of two trees.

use libtest_mimic::Failed;
use traceparse::output::{FlameGraphOptions, FlameNode};
use traceparse::units::Unit;

use crate::drawn::Drawn;

/// A node, and its all weight and self weight before.
type Node = (FlameNode<'static>, (u64, u64));

const fn node(depth: u32, name: &'static str, before: (u64, u64), after: (u64, u64)) -> Node {
    let (binary, category) = (Some("Orchard"), None);
    let (all_weight, self_weight, hidden_weight) = (after.0, after.1, 0);
    (FlameNode { depth, name, binary, category, all_weight, self_weight, hidden_weight }, before)
}

/// Before 1,000 and after 2,000 samples.
pub(crate) const NODES: [Node; 8] = [
    node(0, "all", (1_000, 0), (2_000, 0)),
    node(1, "grew", (100, 100), (600, 600)),
    node(1, "same", (250, 200), (500, 500)),
    node(2, "gone", (50, 20), (0, 0)),
    node(3, "gone too", (30, 30), (0, 0)),
    node(1, "shrank", (600, 600), (899, 899)),
    node(1, "new", (0, 0), (1, 1)),
    node(1, "gone below", (50, 50), (0, 0)),
];

pub(crate) fn picture() -> Result<String, Failed> {
    let mut out = Vec::new();
    FlameGraphOptions::default().write_differential(NODES, Unit::Samples, &mut out)?;
    Ok(String::from_utf8(out)?)
}

pub(crate) fn changes_are_shown() -> Result<(), Failed> {
    let drawn = Drawn::read(&picture()?)?;
    let found = drawn.frames.iter();
    let found: Vec<_> =
        found.map(|frame| (frame.name.as_str(), frame.class.as_str(), frame.width, frame.before)).collect();
    // 10 % became 30 %, 60 % became 44.95 %, nothing became 0.05 %.
    let wanted = [
        ("all", "r0", 1180.0, Some((1_000, 0))),
        ("grew", "r6", 354.0, Some((100, 100))),
        ("same", "r0", 295.0, Some((250, 200))),
        ("shrank", "b6", 530.41, Some((600, 600))),
        ("new", "r1", 0.59, Some((0, 0))),
    ];
    ensure!(found == wanted, "{found:?}");
    let grew = &drawn.frames[1].numbers;
    ensure!(
        *grew
            == [
                "before 100 samples (10.00 %), after 600 samples (30.00 %), change +20.00 points",
                "self before 100 samples (10.00 %), after 600 samples (30.00 %)"
            ],
        "{grew:?}"
    );
    let shrank = &drawn.frames[3].numbers[0];
    ensure!(shrank.ends_with("change -15.05 points"), "{shrank}");
    ensure!(drawn.legend.len() == 13, "{:?}", drawn.legend);
    Ok(())
}

pub(crate) fn what_vanished_is_said() -> Result<(), Failed> {
    let drawn = Drawn::read(&picture()?)?;
    ensure!(
        drawn.texts[1].starts_with("Before 1000 samples, after 2000 samples (+1000 samples, +100.00 %)."),
        "{:?}",
        drawn.texts
    );
    let wanted = "3 frames of before are no more: 100 samples (10.00 % of before).";
    ensure!(drawn.texts.iter().any(|text| text == wanted), "{:?}", drawn.texts);
    // Nothing before, and nothing after.
    for (before, after) in [(0, 10), (10, 0), (0, 0)] {
        let nodes = [node(0, "all", (before, 0), (after, 0)), node(1, "a", (before, before), (after, after))];
        let mut out = Vec::new();
        FlameGraphOptions::default().write_differential(nodes, Unit::Cycles, &mut out)?;
        let drawn = Drawn::read(std::str::from_utf8(&out)?)?;
        let frames = if after > 0 { 2 } else { 1 };
        ensure!(drawn.frames.len() == frames, "{before} and {after}: {:?}", drawn.frames);
        let said = drawn.texts.iter().any(|text| text.contains(" no more"));
        ensure!(said == (before > 0 && after == 0), "{:?}", drawn.texts);
    }
    Ok(())
}
