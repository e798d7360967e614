//! `traceparse diff --format html`: the content of the page. `web/test/page/compared_cases.mjs` compares what the page shows with the command's JSON.

use serde_json::Value;

use crate::command::{Folder, fails, fixture, json, ok, orchard, read_text};
use crate::workbench::Payload;

fn page(args: &[&str]) -> String {
    ok(&[&["diff", "--format", "html"], args].concat())
}

/// The information in the page, apart from both payloads.
pub(crate) fn facts(page: &str) -> Value {
    let (_, rest) = page.split_once("<script id=\"diff\" type=\"application/json\">").expect("facts");
    serde_json::from_str(rest.split_once("</script>").unwrap().0).expect("JSON")
}

#[test]
fn the_page_holds_both_recordings_and_what_changed() {
    let (before, after) = (fixture("26.4/time-profile"), orchard());
    let options = ["--force", "--normalize", "samples"];
    let page = page(&[&[&before as &str, &after], &options[..]].concat());
    for (id, path) in [("before", &before), ("profile", &after)] {
        let payload = Payload::named(id, &page);
        let samples = json(&[path, "--view", "samples"]);
        let weights = samples["samples"].as_array().unwrap().iter().map(|row| row["weight"].as_u64().unwrap());
        assert_eq!(payload.column("samples.weight").iter().sum::<u64>(), weights.sum::<u64>(), "{id}");
    }
    let mut facts = facts(&page);
    let json = json(&[&["diff", &before as &str, &after, "--view", "overview"], &options[..]].concat());
    // A page has only the folder that distinguishes the files.
    let json = json
        .to_string()
        .replace(&before as &str, "time-profile/input.xml")
        .replace(&after as &str, "orchard/input.xml");
    for (name, value) in serde_json::from_str::<serde_json::Value>(&json).unwrap().as_object().unwrap() {
        assert_eq!(&facts[name].take(), value, "{name}");
    }
    assert_eq!(facts["is_scaled"], true);
    assert_eq!(facts["beyond_noise"], 1.96);
    assert!(facts["sentences"]["answer"].as_str().unwrap().starts_with("Too few to compare: there are only 7"));
    assert!(page.contains("<title>time-profile/input.xml → orchard/input.xml – traceparse</title>"));
}

#[test]
fn the_time_of_runs_is_the_selected_time() {
    let (path, toc) = (orchard(), fixture("toc/two-runs"));
    let times = |options: &[&str]| {
        let page = page(&[&[&path as &str, &path, "--after-toc", &toc], options].concat());
        ["before", "profile"].map(|id| Payload::named(id, &page).head["runs"][0]["time"].take())
    };
    let end = json(&[&path, "--view", "summary"])["series"][0]["length_ns"].as_u64().unwrap() + 312_400_369;
    let [before, after] = times(&[]);
    assert_eq!(before, serde_json::json!({"parts": [[312_400_369, end]], "source": "samples", "is_part": false}));
    // Its samples are a little later than the table of contents says.
    assert_eq!(after, serde_json::json!({"parts": [[0, end]], "source": "toc", "is_part": false}));
    let [before, after] = times(&["--time", "0.05..0.4"]);
    assert_eq!(
        before,
        serde_json::json!({"parts": [[312_400_369, 400_000_000]], "source": "samples", "is_part": true})
    );
    assert_eq!(after, serde_json::json!({"parts": [[50_000_000, 400_000_000]], "source": "toc", "is_part": true}));
}

#[test]
fn each_side_has_its_own_signposts() {
    let (path, signposts) = (orchard(), fixture("27/signposts"));
    let named = page(&[&path, &path, "--before-intervals", &signposts]);
    let intervals = |payload: Payload| payload.head["interval_labels"].as_array().map(Vec::len);
    let expected = intervals(Payload::of(&ok(&[&signposts, "--format", "html"])));
    assert!(expected > Some(0));
    let [before, after] = ["before", "profile"].map(|id| intervals(Payload::named(id, &named)));
    assert_eq!((before, after), (expected, None));
    let error = fails(2, &["diff", &path, &path, "--before-intervals", &signposts]);
    assert!(error.contains("--before-intervals only applies to"), "{error}");
}

#[test]
fn names_end_no_element() {
    let folder = Folder::new();
    let attack = "&lt;/script>&lt;script>alert(1)&lt;/script>";
    let after = folder.edited("27/orchard", &[("orchard::checksum", attack)]);
    let page = page(&[&orchard(), &after]);
    assert!(!page.contains("alert(1)</script>"), "names are escaped in JSON");
    let facts = facts(&page);
    let is_attack = |row: &Value| row["function"].as_str().unwrap().contains("</script><script>alert(1)");
    assert!(facts["own_functions"].as_array().unwrap().iter().any(is_attack), "{facts}");
}

#[test]
fn alerts_are_judged_and_decide_the_exit_code() {
    let folder = Folder::new();
    let path = folder.path("page.html");
    let rule = "function(*).all > 0%";
    let args = ["diff", &fixture("27/orchard"), &orchard(), "--alert", rule, "-o", &path];
    ok(&args);
    let facts = facts(&read_text(&path));
    assert_eq!((&facts["alerts"][0]["rule"], &facts["alerts"][0]["state"]), (&rule.into(), &"quiet".into()));
}
