//! Pictures in Chromium, driven by mouse and keyboard (`browser.cjs`).

use std::fs;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use traceparse::output::{ColourBy, FlameGraphOptions};
use traceparse::report::SeparateBy;

use super::drawn::{Drawn, Frame};
use super::invented::{HOSTILE, hostile, picture_of, random_tree};
use super::{differential, fixture, picture, tree_options};
use crate::hostile::shown;
use crate::programs::{chromium, repository, runs, said};
use support::Rng;

fn node() -> Command {
    let mut node = Command::new("node");
    node.env("NODE_PATH", std::env::var_os("TRACEPARSE_NODE_MODULES").unwrap_or_default()).env("CHROMIUM", chromium());
    node
}

/// True if Chromium, node and playwright-core are installed.
pub(crate) fn is_there() -> bool {
    runs(Command::new(chromium()).arg("--version")) && runs(node().args(["-e", "require('playwright-core')"]))
}

/// The state of a picture before the first step and after each step.
pub(crate) struct Visit {
    pub(crate) states: Vec<Value>,
}

impl Visit {
    /// Opens a picture and performs these steps. The page must not log anything, or load any other file.
    pub(crate) fn new(text: &str, width: u32, scheme: &str, steps: &Value) -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("flame.svg");
        fs::write(&path, text)?;
        let script = repository("tests/svg/browser.cjs");
        let told = said(node().arg(script).arg(&path).args([&width.to_string(), scheme, &steps.to_string()]))?;
        let mut told: Value = serde_json::from_str(&told)?;
        ensure!(told["errors"] == json!([]), "{}", told["errors"]);
        let own = format!("file://{}", path.display());
        let requests = told["requests"].as_array().ok_or("no requests")?;
        // The picture as an image is opened in a separate page.
        // The file contains the worker that tests regular expressions.
        let is_of_file = |request: &str| request.starts_with(&own) || request.starts_with("blob:");
        let is_own = |request: &Value| request.as_str().is_some_and(is_of_file);
        ensure!(!requests.is_empty() && requests.iter().all(is_own), "{requests:?}");
        let states = told["states"].as_array_mut().map(std::mem::take).ok_or("no states")?;
        for state in &states {
            check_texts(state)?;
        }
        Ok(Self { states })
    }

    fn found(&self, step: usize) -> &str {
        self.states[step]["found"].as_str().unwrap_or_default()
    }

    fn hash(&self, step: usize) -> &str {
        self.states[step]["hash"].as_str().unwrap_or_default()
    }

    fn focus(&self, step: usize) -> Option<usize> {
        self.states[step]["frames"].as_array()?.iter().position(|frame| frame["hasFocus"] == true)
    }

    /// Checks that zooming to a frame shows exactly the expected frames, in the expected places.
    pub(crate) fn check_zoom(&self, step: usize, frames: &[Frame], zoomed: usize, width: f64) -> Result<(), Failed> {
        let end = end_of(frames, zoomed);
        let below = below(frames, zoomed);
        let scale = (width - 20.0) / frames[zoomed].all as f64;
        for (index, (frame, state)) in
            frames.iter().zip(self.states[step]["frames"].as_array().ok_or("no frames")?).enumerate()
        {
            let is_shown = below.contains(&index) || (zoomed..end).contains(&index);
            ensure!(state["isShown"] == is_shown, "step {step}, zoom {zoomed}: {state}");
            let wanted = if below.contains(&index) {
                (10.0, width - 20.0)
            } else {
                (10.0 + (frame.start as f64 - frames[zoomed].start as f64) * scale, frame.all as f64 * scale)
            };
            let found = (state["x"].as_f64().unwrap_or(-1.0), state["width"].as_f64().unwrap_or(-1.0));
            let is_there = (found.0 - wanted.0).abs() < 1e-6 && (found.1 - wanted.1).abs() < 1e-6;
            ensure!(!is_shown || is_there, "step {step}, zoom {zoomed}: {state} and not {wanted:?}");
        }
        Ok(())
    }
}

/// Labels are prefixes of names, followed by the share if there is space, and stay within their frames.
fn check_texts(state: &Value) -> Result<(), Failed> {
    for frame in state["frames"].as_array().ok_or("no frames")? {
        let (name, text) = (frame["name"].as_str().unwrap_or_default(), frame["text"].as_str().unwrap_or_default());
        if frame["isShown"] != true {
            continue;
        }
        let weight = |frame: &Value| frame["all"].as_f64().unwrap_or(f64::NAN);
        let share = weight(frame) * 100.0 / weight(&state["frames"][0]);
        let share = format!("  {share:.2} %");
        let has_share = text.ends_with(&share) && frame["isCompared"] == false;
        let text = if has_share { text.trim_end_matches(&share) } else { text };
        ensure!(text == name || text.is_empty() || name.starts_with(text.trim_end_matches('…')), "{frame}");
        let (wide, room) = (frame["textWidth"].as_f64().unwrap_or(0.0), frame["width"].as_f64().unwrap_or(0.0));
        ensure!(wide <= room - 5.9 || text.is_empty(), "{frame}");
        ensure!(room < 40.0 || !text.is_empty(), "{frame} has room and no text");
        // Characters are at most this wide.
        let has_room = name.is_ascii() && room > 6.0 + 7.45 * (name.len() + share.len()).min(32) as f64;
        ensure!(has_share || !has_room || frame["isCompared"] == true, "{frame} has room for{share}");
    }
    Ok(())
}

/// The index after the last frame in the subtree of a frame.
fn end_of(frames: &[Frame], index: usize) -> usize {
    let on = frames[index + 1..].iter().take_while(|frame| frame.depth > frames[index].depth);
    index + 1 + on.count()
}

/// The callers of a frame.
fn below(frames: &[Frame], index: usize) -> Vec<usize> {
    (0..index).filter(|&other| end_of(frames, other) > index).collect()
}

/// The weight of matching frames in the subtree of a frame, counting only the outermost matches.
fn found_weight(frames: &[Frame], from: usize, word: &str) -> u64 {
    let has = |frame: &Frame| frame.name.contains(word) || frame.binary.contains(word);
    if below(frames, from).iter().any(|&index| has(&frames[index])) {
        return frames[from].all;
    }
    let matching = (from..end_of(frames, from)).filter(|&index| has(&frames[index]));
    let outermost = matching.filter(|&index| !below(frames, index).iter().any(|&below| has(&frames[below])));
    outermost.map(|index| frames[index].all).sum()
}

/// A picture with this width, regardless of the window's width.
pub(crate) fn fixed(width: u32) -> FlameGraphOptions {
    FlameGraphOptions { width: Some(width), ..FlameGraphOptions::default() }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2} %", part as f64 * 100.0 / whole as f64)
}

pub(crate) fn orchard(options: &FlameGraphOptions) -> Result<(String, Vec<Frame>), Failed> {
    let text = picture(&fixture("27/orchard"), &tree_options(SeparateBy::Thread), options)?;
    let frames = Drawn::read(&text)?.frames;
    Ok((text, frames))
}

pub(crate) fn frames_zoom_and_come_back() -> Result<(), Failed> {
    for (width, is_icicle) in [(1200, false), (800, true)] {
        let options = FlameGraphOptions { is_icicle, ..fixed(width) };
        let (text, frames) = orchard(&options)?;
        let named = |part: &str| frames.iter().position(|frame| frame.name.contains(part)).ok_or("no such frame");
        let (deep, middle) = (named("sort_by_size")?, named("orchard::App::run")?);
        ensure!(below(&frames, deep).contains(&middle), "{deep} does not stand on {middle}");
        let steps =
            json!([["click", deep], ["click", middle], ["reset", 0], ["click", deep], ["click", 0], ["back", 0]]);
        let visit = Visit::new(&text, width + 20, "light", &steps)?;
        for (step, zoomed) in [0, deep, middle, 0, deep, 0, deep].into_iter().enumerate() {
            visit.check_zoom(step, &frames, zoomed, f64::from(width)).or_else(|fault| {
                // Until the script runs, frames are in the positions in the file.
                if step == 0 { Ok(()) } else { Err(fault) }
            })?;
            let hash = if zoomed == 0 { String::new() } else { format!("#zoom={zoomed}") };
            ensure!(visit.hash(step) == hash, "step {step}: {} and not {hash}", visit.hash(step));
            ensure!(visit.states[step]["canReset"] == (zoomed != 0), "step {step}: {}", visit.states[step]["canReset"]);
        }
        let details = visit.states[1]["details"].as_str().unwrap_or_default();
        ensure!(details.contains(&frames[deep].binary), "{details}");
    }
    Ok(())
}

pub(crate) fn keys_do_what_the_mouse_does() -> Result<(), Failed> {
    for is_icicle in [false, true] {
        let (text, frames) = orchard(&FlameGraphOptions { is_icicle, ..fixed(1200) })?;
        let (up, down) = if is_icicle { ("ArrowDown", "ArrowUp") } else { ("ArrowUp", "ArrowDown") };
        // Tab goes to the search (since there is nothing to reset), then to the root.
        let steps = json!([
            ["key", "Tab"],
            ["key", "Tab"],
            ["key", up],
            ["key", up],
            ["key", "ArrowRight"],
            ["key", "Enter"],
            ["key", "ArrowLeft"],
            ["key", down],
            ["key", " "],
            ["key", "Escape"],
            ["key", "Home"],
            ["key", "/"],
            ["type", "a/b"],
            ["key", "Escape"],
            ["key", "Escape"],
            ["key", "Control+f"],
        ]);
        let visit = Visit::new(&text, 1220, "dark", &steps)?;
        let threads: Vec<usize> = (0..frames.len()).filter(|&index| frames[index].depth == 2).collect();
        let focus = [None, Some(0), Some(1), Some(threads[0]), Some(threads[1]), Some(threads[1])];
        for (index, wanted) in focus.into_iter().enumerate() {
            ensure!(
                visit.focus(index + 1) == wanted,
                "step {}: {:?} and not {wanted:?}",
                index + 1,
                visit.focus(index + 1)
            );
        }
        ensure!(visit.states[1]["isSearching"] == true, "Tab does not go to the search");
        visit.check_zoom(6, &frames, threads[1], 1200.0)?;
        // Its neighbour is hidden now.
        ensure!(visit.focus(7) == Some(threads[1]) && visit.focus(8) == Some(1), "{:?}", visit.focus(8));
        visit.check_zoom(9, &frames, 1, 1200.0)?;
        visit.check_zoom(10, &frames, 0, 1200.0)?;
        ensure!(visit.focus(11) == Some(0), "{:?}", visit.focus(11));
        let is_searching: Vec<bool> = (11..=16).map(|step| visit.states[step]["isSearching"] == true).collect();
        ensure!(is_searching == [false, true, true, true, false, true], "{is_searching:?}");
        ensure!(visit.found(13) == "none found" && visit.found(14).is_empty(), "{:?}", visit.found(13));
        let details = visit.states[3]["details"].as_str().unwrap_or_default();
        ensure!(details.starts_with(&frames[1].name), "{details}");
    }
    Ok(())
}

pub(crate) fn search_finds_and_counts_once() -> Result<(), Failed> {
    let (orchard, frames) = orchard(&fixed(1200))?;
    let random = picture_of(&random_tree(&mut Rng::new(3), 300), &fixed(1200))?;
    let random_frames = Drawn::read(&random)?.frames;
    // Words whose frames are nested, that occur only in binaries, and that do not occur.
    for (text, frames, words) in [
        (orchard, frames, ["Press", "libfruit", "sort_by_size", "Orchard", "nobody"]),
        (random, random_frames, ["function_4", "lib3", "function_16", "function_", "nobody"]),
    ] {
        let zoomed =
            frames.iter().position(|frame| frame.depth == 3 && frame.all * 20 > frames[0].all).ok_or("none")?;
        let mut steps = Vec::new();
        for word in words {
            steps.extend([json!(["key", "/"]), json!(["type", word]), json!(["click", zoomed]), json!(["reset", 0])]);
        }
        steps.extend([json!(["key", "/"]), json!(["type", "("])]);
        let visit = Visit::new(&text, 1220, "light", &json!(steps))?;
        for (index, word) in words.into_iter().enumerate() {
            let (all, part) = (found_weight(&frames, 0, word), found_weight(&frames, zoomed, word));
            let has = |frame: &Frame| frame.name.contains(word) || frame.binary.contains(word);
            // A search in lower case ignores case.
            let is_exact = word.contains(char::is_uppercase)
                || !frames.iter().any(|frame| {
                    !has(frame) && format!("{} {}", frame.name, frame.binary).to_lowercase().contains(word)
                });
            ensure!(is_exact, "{word} is no word for this test");
            let mut whole = format!("found {}", percent(all, frames[0].all));
            let mut in_part = format!("{whole}, {} of zoom", percent(part, frames[zoomed].all));
            if !frames.iter().any(has) {
                (whole, in_part) = ("none found".to_owned(), "none found".to_owned());
            }
            let step = 4 * index + 2;
            ensure!(visit.found(step) == whole, "{word}: {} and not {whole}", visit.found(step));
            ensure!(visit.found(step + 1) == in_part, "{word}: {} and not {in_part}", visit.found(step + 1));
            let marked = visit.states[step]["frames"].as_array().ok_or("no frames")?;
            for (state, frame) in marked.iter().zip(&frames) {
                ensure!(state["isFound"] == has(frame), "{word}: {state}");
            }
        }
        let last = visit.states.len() - 1;
        ensure!(visit.found(last) == "no expression", "{}", visit.found(last));
    }
    Ok(())
}

pub(crate) fn addresses_keep_what_is_shown() -> Result<(), Failed> {
    let (text, frames) = orchard(&fixed(1200))?;
    let steps = json!([
        ["click", 4],
        ["key", "/"],
        ["type", "^orchard::(Press|Tree)\\b"],
        ["open", "#zoom=1"],
        ["open", "#search=press%3A%3AGRIND&zoom=5"],
        ["open", "#zoom=999999&search=["],
        ["open", "#zoom=x"],
        ["open", "#"],
    ]);
    let visit = Visit::new(&text, 1220, "light", &steps)?;
    ensure!(visit.hash(3) == "#zoom=4&search=%5Eorchard%3A%3A%28Press%7CTree%29%5Cb", "{}", visit.hash(3));
    let wanted: u64 = ["orchard::Press", "orchard::Tree"].iter().map(|word| found_weight(&frames, 0, word)).sum();
    ensure!(visit.found(3).starts_with(&format!("found {}", percent(wanted, frames[0].all))), "{}", visit.found(3));
    for (step, zoomed) in [(3, 4), (4, 1), (5, 5), (6, 0), (7, 0), (8, 0)] {
        visit.check_zoom(step, &frames, zoomed, 1200.0)?;
    }
    // A search with capital letters is case-sensitive.
    ensure!(visit.found(5) == "none found" && visit.found(6) == "no expression", "{}", visit.found(5));
    ensure!(visit.found(4).is_empty() && visit.found(8).is_empty(), "{}", visit.found(4));
    Ok(())
}

/// The work of this expression doubles with each character of a name: the tab must stay responsive, and the next search must be answered.
pub(crate) fn no_expression_hangs_the_picture() -> Result<(), Failed> {
    let (text, frames) = orchard(&fixed(1200))?;
    let long = "w".repeat(60);
    let text = text.replace("orchard::Press", &format!("{long}::Press"));
    let steps =
        json!([["open", "#search=(%5Cw%2B)%2B!"], ["key", "/"], ["type", "PRESS"], ["open", "#search=%5BP%5Dress"]]);
    let visit = Visit::new(&text, 1220, "light", &steps)?;
    ensure!(visit.found(1) == "too slow; search for plain text", "{}", visit.found(1));
    ensure!(visit.found(3) == "none found", "{}", visit.found(3));
    let wanted = format!("found {}", percent(found_weight(&frames, 0, "Press"), frames[0].all));
    ensure!(visit.found(4) == wanted, "{} and not {wanted}", visit.found(4));
    Ok(())
}

pub(crate) fn text_is_legible_in_light_and_dark() -> Result<(), Failed> {
    let by = |colour_by| FlameGraphOptions { colour_by, ..FlameGraphOptions::default() };
    let mut pictures = vec![differential::picture()?];
    for colour_by in [ColourBy::Function, ColourBy::Binary, ColourBy::Category] {
        pictures.push(orchard(&by(colour_by))?.0);
    }
    for text in pictures {
        let mut papers = Vec::new();
        for scheme in ["light", "dark"] {
            let steps = json!([
                ["contrast", 0],
                ["click", 1],
                ["key", "/"],
                ["type", "e"],
                ["contrast", 0],
                ["print", true],
                ["contrast", 0]
            ]);
            let visit = Visit::new(&text, 1220, scheme, &steps)?;
            for step in [1, 5, 7] {
                let told = &visit.states[step]["told"];
                for part in ["frames", "lines", "tools"] {
                    let is_printed = step == 7 && part == "tools";
                    let contrast = told[part].as_f64().unwrap_or(0.0);
                    ensure!(contrast >= 4.5 || is_printed, "{scheme}, step {step}: {part} has {contrast}");
                }
            }
            papers.push(visit.states[1]["told"]["paper"].clone());
            ensure!(visit.states[7]["told"]["paper"] == "rgb(255, 255, 255)", "what is printed is dark");
        }
        ensure!(papers[0] != papers[1], "dark is not dark: {papers:?}");
    }
    Ok(())
}

pub(crate) fn names_are_shown_and_do_nothing() -> Result<(), Failed> {
    for width in [600, 1200] {
        let text = picture_of(&hostile(), &fixed(width))?;
        let count = Drawn::read(&text)?.frames.len();
        let mut steps = Vec::new();
        for index in 1..count {
            steps.extend([json!(["hover", index]), json!(["click", index]), json!(["reset", 0])]);
        }
        let visit = Visit::new(&text, width + 20, "light", &json!(steps))?;
        let last = &visit.states[visit.states.len() - 1];
        ensure!(last["hacked"] == "undefined", "{}", last["hacked"]);
        for (index, name) in HOSTILE.iter().enumerate() {
            let details = visit.states[6 * index + 1]["details"].as_str().unwrap_or_default();
            let start: String = shown(name).chars().take(5).collect();
            ensure!(details.starts_with(&start), "{details} does not start with {start}");
        }
    }
    Ok(())
}

pub(crate) fn an_image_shows_the_same() -> Result<(), Failed> {
    let (text, frames) = orchard(&FlameGraphOptions::default())?;
    let top = Drawn::read(&text)?.top;
    // To the right of the labels of the root and a thread, and outside of all frames.
    let thread = &frames[2];
    let points = json!([
        [1100, (top + frames[0].y) as u32 + 8],
        [(thread.x + thread.width) as u32 - 3, (top + thread.y) as u32 + 8],
        [5, 5]
    ]);
    let visit = Visit::new(&text, 1220, "light", &json!([["image", points]]))?;
    let told = &visit.states[1]["told"];
    let fill = text.split_once("\n.g{fill:").and_then(|(_, rest)| rest.split_once('}')).ok_or("no colour")?.0;
    ensure!(told["size"][0] == 1200, "{told}");
    ensure!(told["colours"] == json!([fill, fill, "#ffffff"]), "{told} and not {fill}");
    Ok(())
}
