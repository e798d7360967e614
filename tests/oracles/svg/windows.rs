//! Pictures in windows of several widths, and the content of their first screen.

use libtest_mimic::Failed;
use serde_json::{Value, json};
use traceparse::output::FlameGraphOptions;

use super::browser::{Visit, fixed, orchard};
use super::differential;
use super::drawn::Drawn;
use super::invented::{Node, hostile, picture_of};

/// The windows of a phone, a laptop and a large screen.
const WINDOWS: [u32; 3] = [390, 1280, 2200];

pub(crate) fn pictures_open_full() -> Result<(), Failed> {
    let long = FlameGraphOptions { title: Some("An orchard with a rather long name ".repeat(9)), ..Default::default() };
    let mut deep_pictures = 0;
    let deep: Vec<Node> = (0..200).map(|depth| level(depth, 1_000 - u64::from(depth))).collect();
    for text in [
        orchard(&long)?.0,
        picture_of(&hostile(), &FlameGraphOptions::default())?,
        picture_of(&deep, &FlameGraphOptions::default())?,
        differential::picture()?,
    ] {
        let frames = Drawn::read(&text)?.frames;
        let is_deep = frames.iter().any(|frame| frame.depth == 199);
        deep_pictures += usize::from(is_deep);
        for window in WINDOWS {
            let steps = json!([
                ["click", 1],
                ["reset", 0],
                ["key", "/"],
                ["type", "e"],
                ["resize", 700],
                ["resize", window],
                ["scroll", 300],
            ]);
            let visit = Visit::new(&text, window, "light", &steps)?;
            for step in [0, 1, 2, 4, 5, 6] {
                let width = if step == 5 { 700 } else { window };
                check_first_screen(&visit.states[step], width)
                    .map_err(|fault| format!("{window}, step {step}: {fault}"))?;
            }
            for (step, zoomed) in [(0, 0), (1, 1), (2, 0), (6, 0)] {
                visit.check_zoom(step, &frames, zoomed, f64::from(window))?;
            }
            visit.check_zoom(5, &frames, 0, 700.0)?;
            let end = visit.states.last().ok_or("no state")?;
            let (scrolled, bar) = (end["scroll"]["top"].as_f64(), end["places"]["bar"]["top"].as_f64());
            ensure!(bar.is_some_and(|top| top >= -0.5), "the line about a frame is out of sight: {end}");
            ensure!(!is_deep || scrolled == Some(300.0), "a deep picture does not scroll: {scrolled:?}");
        }
    }
    ensure!(deep_pictures == 1, "{deep_pictures} pictures are deep");
    Ok(())
}

fn level(depth: u32, weight: u64) -> Node {
    Node { depth, name: format!("level_{depth}"), binary: None, all: weight, own: 1 }
}

/// Checks that the root, the legend, the title and the search are in sight and apart, and that nothing is wider than the window.
fn check_first_screen(state: &Value, width: u32) -> Result<(), String> {
    let side = |name: &str, side: &str| state["places"][name][side].as_f64().unwrap_or(f64::NAN);
    let window = state["window"]["height"].as_f64().unwrap_or_default();
    let is_wide = |found: &Value| found.as_f64() == Some(f64::from(width));
    if !is_wide(&state["window"]["width"]) || !is_wide(&state["scroll"]["width"]) {
        return Err(format!("{} and {} are not {width}", state["window"], state["scroll"]));
    }
    for name in ["root", "legend", "title", "search", "lines", "bar"] {
        let is_inside = side(name, "left") >= 0.0 && side(name, "right") <= f64::from(width) + 0.01;
        let is_seen = side(name, "top") >= 0.0 && side(name, "bottom") <= window;
        if !is_inside || !is_seen {
            return Err(format!("{name} is not in the first screen: {}", state["places"]));
        }
    }
    for (above, below) in
        [("title", "lines"), ("lines", "legend"), ("legend", "bar"), ("bar", "root"), ("search", "legend")]
    {
        // A picture of any tree may have no lines.
        let is_there = |name: &str| name != "lines" || side(name, "right") > 0.0;
        if is_there(above) && is_there(below) && side(above, "bottom") > side(below, "top") + 1.5 {
            return Err(format!("{above} covers {below}: {}", state["places"]));
        }
    }
    let covers =
        side("title", "right") > side("search", "left") && side("title", "bottom") > side("search", "top") + 1.5;
    if covers || state["textsEnd"].as_f64().is_none_or(|end| end > f64::from(width) - 9.0) {
        return Err(format!("a text is too long: {}, {}", state["places"], state["textsEnd"]));
    }
    let is_full =
        (side("root", "left") - 10.0).abs() < 1.0 && (side("root", "right") - f64::from(width) + 10.0).abs() < 1.0;
    if is_full { Ok(()) } else { Err(format!("the root is not as wide as the window: {}", state["places"]["root"])) }
}

/// A picture of a fixed width is that wide in every window.
pub(crate) fn widths_can_be_fixed() -> Result<(), Failed> {
    let (text, frames) = orchard(&fixed(900))?;
    for window in [600, 1280] {
        let visit = Visit::new(&text, window, "light", &json!([["click", 3], ["resize", 1000]]))?;
        for (step, zoomed) in [(0, 0), (1, 3), (2, 3)] {
            visit.check_zoom(step, &frames, zoomed, 900.0)?;
        }
    }
    Ok(())
}
