//! The weights in a picture, compared with the JSON of the same report.

use std::collections::BTreeMap;

use libtest_mimic::Failed;
use serde_json::Value;
use traceparse::output::{self, FlameGraphOptions, Format};
use traceparse::report::SeparateBy;

use super::drawn::{Drawn, Frame};
use super::{CASES, fixture, picture, tree_options};

/// By path of names from the root: all and self weight. Nodes with the same name in two binaries are distinguished by the binary.
type Weights = BTreeMap<Vec<(String, String)>, (u64, u64)>;

/// The nodes of all trees in a JSON document, below the groups that contain them.
fn weights_of_json(document: &Value, separate_by: SeparateBy) -> Weights {
    let name = |value: &Value, number: String| match value.as_str() {
        Some(name) => format!("{name} ({number})"),
        None => number,
    };
    let group = |name: String| (name, String::new());
    let mut weights = Weights::new();
    let root = vec![group("all".to_owned())];
    let field = match separate_by {
        SeparateBy::Thread => "threads",
        SeparateBy::Process => "processes",
        SeparateBy::State => "states",
        SeparateBy::CoreKind => "core_kinds",
        SeparateBy::Interval => "intervals",
        SeparateBy::Task => "tasks",
        SeparateBy::Nothing => "trees",
    };
    for row in document[field].as_array().expect("trees") {
        let tree = &row["tree"];
        let mut path = root.clone();
        if separate_by != SeparateBy::Nothing {
            path.push(group(name(&row["process"], row["pid"].to_string())));
        }
        if separate_by == SeparateBy::Thread {
            path.push(group(name(&row["thread"], format!("{:#x}", row["tid"].as_u64().expect("a tid")))));
        }
        let all = tree["all_weight"].as_u64().expect("a weight");
        for end in 1..=path.len() {
            weights.entry(path[..end].to_vec()).or_default().0 += all;
        }
        children(tree, &mut path, &mut weights);
    }
    weights.retain(|_, weight| weight.0 > 0);
    weights
}

fn children(node: &Value, path: &mut Vec<(String, String)>, weights: &mut Weights) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for child in node["children"].as_array().expect("children") {
        path.push((text(&child["function"]), text(&child["binary"])));
        let number = |field: &str| child[field].as_u64().expect("a weight");
        weights.insert(path.clone(), (number("all_weight"), number("self_weight")));
        children(child, path, weights);
        path.pop();
    }
}

pub(crate) fn widths_are_those_of_the_json_trees() -> Result<(), Failed> {
    for (index, case) in CASES.into_iter().enumerate() {
        let export = fixture(case);
        for separate_by in [SeparateBy::Thread, SeparateBy::Process, SeparateBy::Nothing] {
            let asked = tree_options(separate_by);
            let mut document = Vec::new();
            output::write(&export.report(&asked), &Format::Json, &mut document)?;
            let wanted = weights_of_json(&serde_json::from_slice(&document)?, separate_by);
            let (width, is_icicle) = (700 + 300 * index as u32, index % 2 == 1);
            let options =
                FlameGraphOptions { width: Some(width), is_icicle, narrowest: 0.0, ..FlameGraphOptions::default() };
            let drawn = Drawn::read(&picture(&export, &asked, &options)?)?;
            let found: Weights = drawn.paths().map(|(path, frame)| (path, (frame.all, frame.own))).collect();
            ensure!(found == wanted, "{case} {separate_by:?}: {found:#?} and not {wanted:#?}");
            check_places(&drawn, f64::from(width), is_icicle).map_err(|fault| format!("{case}: {fault}"))?;
        }
    }
    Ok(())
}

/// Checks that rectangles are as wide as their weights, are on top of their callers, and do not overlap.
fn check_places(drawn: &Drawn, width: f64, is_icicle: bool) -> Result<(), String> {
    let root = &drawn.frames[0];
    let per_weight = (width - 20.0) / root.all as f64;
    // Numbers in the file have two decimals.
    let is_near = |a: f64, b: f64| (a - b).abs() < 0.006;
    let mut below: Vec<(&Frame, u64)> = Vec::new();
    for frame in &drawn.frames {
        below.truncate(frame.depth);
        if !is_near(frame.width, frame.all as f64 * per_weight) {
            return Err(format!("{frame:?} is not as wide as it weighs"));
        }
        if !is_near(frame.x, 10.0 + frame.start as f64 * per_weight) {
            return Err(format!("{frame:?} does not stand where it starts"));
        }
        if let Some((parent, taken)) = below.last_mut() {
            if frame.start < *taken || frame.start + frame.all > parent.start + parent.all {
                return Err(format!("{frame:?} does not stand on {parent:?} alone"));
            }
            *taken = frame.start + frame.all;
            let step = if is_icicle { 17.0 } else { -17.0 };
            if !is_near(frame.y, parent.y + step) {
                return Err(format!("{frame:?} is not next to {parent:?}"));
            }
        }
        below.push((frame, frame.start));
    }
    let is_inside =
        |frame: &Frame| frame.x >= 10.0 && frame.x + frame.width <= width - 9.98 && drawn.top + frame.y > 30.0;
    if drawn.frames.iter().all(is_inside) { Ok(()) } else { Err("a frame is not in the picture".to_owned()) }
}
