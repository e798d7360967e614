//! The pictures of the README (`docs/pictures`): they show the command's current output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use crate::command::{BINARY, Folder, json, orchard, read_text};

const PICTURES: [&str; 2] = ["overview.svg", "flame-graph.svg"];

fn folder() -> PathBuf {
    support::repository("docs/pictures")
}

fn committed(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("a picture")
}

#[test]
fn pictures_are_those_of_this_command() {
    let python = std::env::var_os("TRACEPARSE_PYTHON").unwrap_or_else(|| "python3".into());
    let made = Folder::new();
    for name in PICTURES {
        fs::write(made.path(name), "not made").expect("the folder can be written");
    }
    let into = Path::new(&made.path(PICTURES[0])).parent().expect("a folder").to_owned();
    let done = Command::new(python).arg(folder().join("make.py")).arg(BINARY).arg(into).output().expect("Python runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for name in PICTURES {
        assert!(
            read_text(&made.path(name)) == committed(name),
            "{name} is out of date; run: cargo build && python3 docs/pictures/make.py target/debug/traceparse"
        );
    }
}

/// The strings in a picture, one for each `text` element.
fn texts(picture: &str) -> Vec<String> {
    let mut reader = Reader::from_str(picture);
    let (mut texts, mut is_open) = (Vec::new(), false);
    loop {
        match reader.read_event().expect("a picture is XML") {
            Event::Start(element) if element.name().as_ref() == "text" => {
                is_open = true;
                texts.push(String::new());
            }
            Event::End(element) if element.name().as_ref() == "text" => is_open = false,
            Event::Text(part) if is_open => texts.last_mut().expect("a text").push_str(&part),
            Event::GeneralRef(entity) if is_open => texts.last_mut().expect("a text").push_str(match &*entity {
                "amp" => "&",
                "lt" => "<",
                "gt" => ">",
                "#39" => "'",
                "quot" => "\"",
                other => panic!("&{other};"),
            }),
            Event::Eof => return texts,
            _ => {}
        }
    }
}

#[test]
fn the_picture_of_the_overview_shows_its_text() {
    let output = Command::new(BINARY)
        .arg("fixtures/27/orchard/input.xml")
        .current_dir(support::repository(""))
        .env("COLUMNS", "80")
        .args(["--color", "never"])
        .output()
        .expect("the command runs");
    let shown = String::from_utf8(output.stdout).expect("text");
    let shown = shown.lines().filter(|line| !line.is_empty());
    let wanted: Vec<&str> = std::iter::once("$ traceparse fixtures/27/orchard/input.xml").chain(shown).collect();
    assert!(wanted.len() > 15, "{wanted:?}");
    assert_eq!(texts(&committed("overview.svg")), wanted);
}

#[test]
fn the_picture_of_the_flame_graph_shows_its_numbers() {
    let picture = committed("flame-graph.svg");
    assert!(!picture.contains("href") && !picture.contains("@import"), "GitHub loads nothing for a picture");
    let texts = texts(&picture);
    let tree = json(&[&orchard(), "--no-threads"])["trees"][0]["tree"].clone();
    let (all, mut seen) = (weight(&tree), 0);
    for outer in tree["children"].as_array().expect("children") {
        for node in outer["children"].as_array().expect("children") {
            let (name, share) = (node["function"].as_str().expect("a name"), weight(node) * 100.0 / all);
            // The picture is 820 pixels wide, and letters are about 7.
            if share < 10.0 {
                continue;
            }
            let said = format!("{name}  {share:.2} %");
            assert!(texts.contains(&said), "{said:?} is not in {texts:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 2);
}

fn weight(node: &Value) -> f64 {
    node["all_weight"].as_f64().expect("a weight")
}
