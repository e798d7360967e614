//! Formats of other programs' viewers, through the command. Their contents are compared with other programs in `tests/viewers_*.rs`.

use std::fs;

use serde_json::Value;

use crate::command::{Folder, fails, ok, orchard};

fn parsed(args: &[&str]) -> Value {
    serde_json::from_str(&ok(args)).expect("it is JSON")
}

fn lines(args: &[&str]) -> Vec<Value> {
    ok(args).lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

#[test]
fn a_profile_for_pprof_is_a_gzip_file() {
    let folder = Folder::new();
    let (path, again) = (folder.path("cpu.pb.gz"), folder.path("again.pb.gz"));
    for path in [&path, &again] {
        assert_eq!(ok(&[&orchard(), "--format", "pprof", "-o", path]), "");
    }
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    assert_eq!(bytes, fs::read(&again).unwrap(), "equal input gives equal output");
}

/// The command keeps the times of samples, although no view of samples is asked for.
#[test]
fn a_trace_for_chrome_has_every_sample() {
    let trace = parsed(&[&orchard(), "--format", "chrome-trace"]);
    let events = trace["traceEvents"].as_array().unwrap();
    let own = events.iter().filter_map(|event| event["args"]["self_weight"].as_u64());
    assert_eq!(own.sum::<u64>(), 485_000_000);
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    assert!(names.len() == 4 && names.contains(&"com.orchard.render (0x2a11f)"), "{names:?}");
}

#[test]
fn a_flame_chart_of_a_range_begins_in_it() {
    let args = [&orchard(), "--view", "flame-chart", "--time", "400ms..500ms", "--format", "ndjson"];
    let spans: Vec<Value> = lines(&args).into_iter().filter(|line| line.get("start_ns").is_some()).collect();
    assert!(spans.len() > 10, "only {} spans", spans.len());
    for span in spans {
        assert!((400_000_000..500_000_000).contains(&span["start_ns"].as_u64().unwrap()), "{span}");
    }
    let text = ok(&[&orchard(), "--view", "flame-chart", "--thread", "Main Thread"]);
    assert!(text.contains("Main Thread (0x2a101) · Orchard (4150) · 122.00 ms"), "{text}");
}

#[test]
fn a_tree_for_d3_has_all_weight() {
    let tree = parsed(&[&orchard(), "--format", "d3"]);
    assert_eq!((&tree["name"], &tree["value"]), (&"all".into(), &485_000_000.into()));
    assert_eq!(tree["children"].as_array().unwrap().len(), 4, "one for each thread");
}

#[test]
fn lines_are_as_many_as_rows() {
    let rows = lines(&[&orchard(), "--view", "samples", "--format", "ndjson"]);
    assert_eq!(rows[0]["format"], "traceparse-lines");
    assert_eq!(rows.len(), 1 + 485);
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (args, words) in [
        (&["--format", "pprof", "--view", "functions"][..], ["pprof", "--view"]),
        (&["--format", "pprof", "--depth", "3"], ["pprof", "--depth"]),
        (&["--format", "pprof", "--min-percent", "3"], ["pprof", "--min-percent"]),
        (&["--format", "pprof", "--min-weight", "3"], ["pprof", "--min-weight"]),
        (&["--format", "chrome-trace", "--separate-by", "process"], ["chrome-trace", "--separate-by"]),
        (&["--format", "chrome-trace", "--view", "tree"], ["chrome-trace", "flame-chart"]),
        (&["--format", "d3", "--view", "functions"], ["d3", "--view tree"]),
        (&["--format", "ndjson"], ["ndjson", "--view"]),
    ] {
        let message = fails(2, &[&["no-such-file.xml"], args].concat());
        assert!(words.iter().all(|word| message.contains(word)), "{args:?}: {message}");
    }
}
