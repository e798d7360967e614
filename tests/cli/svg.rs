//! Flame graphs.

use crate::command::{Folder, fails, fixture, ok, orchard, read_text};

#[test]
fn a_flame_graph_is_one_file() {
    let folder = Folder::new();
    let path = folder.path("flame.svg");
    ok(&[&orchard(), "--format", "svg", "-o", &path, "--width", "800", "--title", "Pressing"]);
    let text = read_text(&path);
    assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\""), "{}", &text[..80]);
    assert!(text.contains("<title>Pressing</title>") && text.ends_with("</svg>\n"));
    assert!(text.contains("<title>Orchard (4150)\n\n485.00 ms (100.00 %), self 0 ns (0.00 %)</title>"));
    assert_eq!(ok(&[&orchard(), "--format", "svg"]), ok(&[&orchard(), "--format", "svg", "--view", "tree"]));
}

#[test]
fn looks_are_asked_for() {
    let plain = ok(&[&orchard(), "--format", "svg"]);
    assert!(plain.contains(" data-icicle=\"false\""));
    assert!(ok(&[&orchard(), "--format", "svg", "--icicle"]).contains(" data-icicle=\"true\""));
    for (colour_by, is_plain) in [("function", false), ("binary", true), ("category", false)] {
        let text = ok(&[&orchard(), "--format", "svg", "--color-by", colour_by]);
        assert_eq!(text == plain, is_plain, "{colour_by}");
    }
    // Limits and scopes are those of every tree.
    let text = ok(&[&orchard(), "--format", "svg", "--separate-by", "none", "--depth", "2"]);
    assert!(!text.contains("Orchard (4150)\n") && text.contains(" hidden by the limits "));
}

#[test]
fn what_does_not_go_together_is_said() {
    for (arguments, part) in [
        (&["--format", "svg", "--view", "functions"][..], "--format svg writes call trees only"),
        (&["--icicle"], "--icicle only applies to flame graphs"),
        (&["--format", "json", "--width", "900"], "--width only applies to flame graphs"),
        (&["--format", "svg", "--width", "10"], "400..=20000"),
    ] {
        let error = fails(2, &[&[orchard().as_str()], arguments].concat());
        assert!(error.contains(part), "{error}");
    }
    let error = fails(1, &[&orchard(), &fixture("27/cpu-profile"), "--format", "svg"]);
    assert!(error.contains("cannot be summed"), "{error}");
}
