//! Flame graphs.

use serde_json::Value;

use crate::command::{Folder, fails, fixture, json, ok, orchard, read_text};

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
    assert!(plain.contains(" data-icicle=\"true\"") && plain.contains(" data-fixed=\"false\""));
    assert_eq!(ok(&[&orchard(), "--format", "svg", "--icicle"]), plain);
    assert!(ok(&[&orchard(), "--format", "svg", "--flame"]).contains(" data-icicle=\"false\""));
    assert!(ok(&[&orchard(), "--format", "svg", "--width", "1200"]).contains(" data-fixed=\"true\""));
    for (colour_by, is_plain) in [("function", false), ("binary", false), ("category", true)] {
        let text = ok(&[&orchard(), "--format", "svg", "--color-by", colour_by]);
        assert_eq!(text == plain, is_plain, "{colour_by}");
    }
    // Limits and scopes are those of every tree.
    let text = ok(&[&orchard(), "--format", "svg", "--separate-by", "none", "--depth", "2"]);
    assert!(!text.contains("Orchard (4150)\n") && text.contains(" hidden by the limits "));
}

/// The weights of all nodes of a tree in JSON.
fn weights(node: &Value, found: &mut Vec<u64>) {
    found.push(node["all_weight"].as_u64().expect("a weight"));
    node["children"].as_array().expect("children").iter().for_each(|child| weights(child, found));
}

#[test]
fn narrow_frames_are_written_where_they_are_asked_for() {
    let frames = |args: &[&str]| ok(&[&["--format", "svg"], args].concat()).matches(" data-depth=").count();
    let orchard = orchard();
    let tree = json(&[&orchard, "--no-threads"]);
    let mut found = Vec::new();
    weights(&tree["trees"][0]["tree"], &mut found);
    // A pixel of 380 is more than one of 485 samples.
    let wide = found.iter().filter(|&&weight| weight * 380 >= found[0]).count();
    assert!(wide < found.len() && found[0] == 485_000_000, "{wide} of {}", found.len());
    let usual = [orchard.as_str(), "--no-threads", "--width", "400"];
    assert_eq!(frames(&usual), wide);
    let said = format!("{} frames narrower than a pixel are not drawn: ", found.len() - wide);
    let text = ok(&[&usual[..], &["--format", "svg"]].concat());
    assert!(text.contains(&said), "{said} is not in the picture");
    // A limit of trees takes the place of that of pixels.
    for (limit, least) in [("0", 0), ("0.1", 485_000), ("1", 4_850_000)] {
        let wanted = found.iter().filter(|&&weight| weight >= least).count();
        assert_eq!(frames(&[&usual[..], &["--min-percent", limit]].concat()), wanted, "{limit}");
    }
    // A comparison has a limit of its own for text: only 0 is for pictures.
    let compared = ["diff", &orchard, &orchard, "--width", "400"];
    for (args, wanted) in [(&[][..], wide), (&["--min-percent", "2"], wide), (&["--min-percent", "0"], found.len())] {
        let text = ok(&[&compared[..], &["--format", "svg"], args].concat());
        assert_eq!(text.matches(" data-depth=").count(), wanted, "{args:?}");
    }
}

#[test]
fn what_does_not_go_together_is_said() {
    for (arguments, part) in [
        (&["--format", "svg", "--view", "functions"][..], "--format svg writes call trees only"),
        (&["--icicle"], "--icicle only applies to flame graphs"),
        (&["--flame"], "--flame only applies to flame graphs"),
        (&["--format", "svg", "--flame", "--icicle"], "cannot be used with"),
        (&["--format", "json", "--width", "900"], "--width only applies to flame graphs"),
        (&["--format", "svg", "--width", "10"], "400..=20000"),
    ] {
        let error = fails(2, &[&[orchard().as_str()], arguments].concat());
        assert!(error.contains(part), "{error}");
    }
    let error = fails(1, &[&orchard(), &fixture("27/cpu-profile"), "--format", "svg"]);
    assert!(error.contains("cannot be summed"), "{error}");
}
