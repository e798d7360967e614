//! Colour, and control characters of terminals.

use crate::command::{Folder, finish, ok, orchard, stderr_of, stdout_of, traceparse};

const ESCAPE: char = '\x1b';

#[test]
fn a_pipe_gets_no_colour() {
    let path = orchard();
    for args in [&[path.as_str()][..], &[&path, "--view", "functions"], &["toc", &path], &["--help"]] {
        assert!(!ok(args).contains(ESCAPE), "{args:?}");
    }
    let assert = finish(&mut traceparse(&["missing.xml"])).code(1);
    assert!(!stderr_of(&assert).contains(ESCAPE));
}

#[test]
fn colour_always_and_never_are_obeyed() {
    let path = orchard();
    for view in ["summary", "threads", "tree", "functions", "samples"] {
        let coloured = ok(&[&path, "--view", view, "--color", "always"]);
        assert!(coloured.contains("\x1b["), "{view}");
        let plain =
            finish(traceparse(&[&path, "--view", view, "--color", "never"]).env("CLICOLOR_FORCE", "1")).success();
        assert_eq!(stdout_of(&plain), without_colour(&coloured), "{view}: colour changes nothing else");
    }
    let assert = finish(&mut traceparse(&["missing.xml", "--color", "always"])).code(1);
    assert!(stderr_of(&assert).contains("\x1b["));
}

#[test]
fn machine_formats_have_no_colour() {
    let path = orchard();
    for format in [&["--format", "json"][..], &["--format", "csv", "--view", "samples"], &["--format", "folded"]] {
        assert!(!ok(&[&[path.as_str(), "--color", "always"], format].concat()).contains(ESCAPE), "{format:?}");
    }
}

#[test]
fn no_color_is_honoured() {
    let forced = finish(traceparse(&[&orchard()]).env("CLICOLOR_FORCE", "1")).success();
    assert!(stdout_of(&forced).contains(ESCAPE), "without it there would be colour");
    let plain = finish(traceparse(&[&orchard()]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")).success();
    assert!(!stdout_of(&plain).contains(ESCAPE));
    let always = finish(traceparse(&[&orchard(), "--color", "always"]).env("NO_COLOR", "1")).success();
    assert!(stdout_of(&always).contains(ESCAPE), "an argument says more than the environment");
}

/// Removes `ESC [ … m`.
fn without_colour(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').expect("only colours are written").1)
}

/// Clears the screen, goes to the start of the line, deletes a character, and renames the window: in the controls that XML
/// allows, which are those of eight bits.
const ATTACK: &str = "\u{9b}2J&#13;&#127;\u{9d}0;title\u{9c}";

/// A copy of a fixture with [`ATTACK`] appended to each of `texts`.
fn attacked(folder: &Folder, case: &str, texts: &[&str]) -> String {
    let edits: Vec<(&str, String)> = texts.iter().map(|text| (*text, format!("{text}{ATTACK}"))).collect();
    let edits: Vec<(&str, &str)> = edits.iter().map(|(from, to)| (*from, to.as_str())).collect();
    folder.edited(case, &edits)
}

/// Lines with control characters that are not the command's own colours.
fn steering_lines(text: &str) -> Vec<String> {
    let colours = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[36m"];
    let plain = colours.iter().fold(text.to_owned(), |text, colour| text.replace(colour, ""));
    plain.lines().filter(|line| line.chars().any(char::is_control)).map(str::to_owned).collect()
}

/// Runs the command with and without colour (without, escape codes may be filtered on the way), and checks all it prints.
#[track_caller]
fn check(args: &[&str]) {
    for colour in ["always", "never"] {
        let assert = finish(&mut traceparse(&[args, &["--color", colour]].concat()));
        assert!(!stderr_of(&assert).contains("not allowed in XML"), "the attack is read");
        let lines = [steering_lines(&stdout_of(&assert)), steering_lines(&stderr_of(&assert))].concat();
        assert!(lines.is_empty(), "{args:?} {colour}: {lines:#?}");
    }
}

const NAMES: [&str; 4] = ["fmt=\"Main", "fmt=\"Orch", "name=\"orchard::Tree", "name=\"dy"];

#[test]
fn names_cannot_steer_the_terminal() {
    let folder = Folder::new();
    let path = attacked(&folder, "27/time-profile-waiting", &NAMES);
    check(&[&path]);
    check(&[&path, "--no-threads"]);
    for view in ["summary", "threads", "tree", "functions", "samples"] {
        check(&[&path, "--view", view]);
    }
}

#[test]
fn thread_states_cannot_steer_the_terminal() {
    let folder = Folder::new();
    let path = attacked(&folder, "27/time-profile-waiting", &["\"Blocked\">Blo"]);
    check(&[&path, "--view", "summary"]);
    check(&[&path, "--view", "samples"]);
}

#[test]
fn schemas_cannot_steer_the_terminal() {
    let folder = Folder::new();
    let path = attacked(&folder, "27/several-tables", &["schema name=\"fs-"]);
    check(&[&path, "--view", "summary"]);
    check(&["toc", &path]);
    let path = attacked(&folder, "27/time-profile-waiting", &["schema name=\"time-"]);
    check(&[&path]);
}

#[test]
fn messages_cannot_steer_the_terminal() {
    let folder = Folder::new();
    check(&[&attacked(&folder, "27/time-profile-waiting", &NAMES), "--run", "9"]);
}

#[test]
fn tables_of_contents_cannot_steer_the_terminal() {
    let folder = Folder::new();
    let path = attacked(&folder, "toc/two-runs", &["model=\"Mac", "schema=\"kde", "name=\"Orch", "<duration>0"]);
    check(&["toc", &path]);
    check(&[&path, &orchard()]);
    check(&[&path]);
}

#[test]
fn json_escapes_control_characters() {
    let folder = Folder::new();
    let path = folder.edited("27/time-profile-waiting", &[(NAMES[0], &format!("{}&#13;&#10;&#9;", NAMES[0]))]);
    let text = ok(&[&path, "--format", "json", "--color", "never"]);
    assert_eq!(steering_lines(&text), [""; 0]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("the output is JSON");
    assert_eq!(answer["threads"][0]["thread"], "Main\r\n\t Thread", "nothing is lost");
}
