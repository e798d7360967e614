//! Tables of contents that contradict the export next to them: a warning names both values, and nothing in them is used.

use std::fs;

use traceparse::recording::{Options, Recording, RecordingBuilder};

/// An export with the table `time-profile`, the process Orchard (pid 4150), and a last sample at 9.571 s.
fn export() -> String {
    let text = fs::read_to_string(support::repository("fixtures/27/orchard/input.xml")).unwrap();
    text.replace(">571400861<", ">9571400861<")
}

fn toc(content: &str) -> String {
    format!("<trace-toc><run number=\"1\">{content}</run></trace-toc>")
}

/// Reads a table of contents in another file than the export.
fn beside(content: &str) -> Recording {
    let mut recording = RecordingBuilder::new(Options::default());
    for (name, text) in [("run.xml", export()), ("toc.xml", toc(content))] {
        recording.read(text.as_bytes(), name).unwrap();
    }
    recording.finish().unwrap()
}

/// Returns the warnings, and whether the table of contents is used.
fn judged(recording: &Recording) -> (Vec<String>, bool) {
    let is_used = recording.profile.run_ids().any(|run| recording.toc_of_run(run).is_some());
    (recording.warnings(), is_used)
}

#[test]
fn contradictions_name_both_values() {
    const TARGET: &str = "<info><target><process name=\"Finder\" pid=\"751\"/></target></info>";
    let kernel = "<processes><process name=\"kernel\" pid=\"0\"/><process name=\"launchd\" pid=\"1\"/>\
                  <process name=\"Finder\" pid=\"751\"/></processes>";
    let table = |schema: &str| format!("<data><table schema=\"tick\"/><table schema=\"{schema}\"/></data>");
    let duration = "<info><summary><duration>0.1</duration></summary></info>";
    let finder = "recorded Finder (pid 751), but the export has samples of Orchard (pid 4150)";
    for (content, contradiction) in [
        (format!("{TARGET}{}", table("time-profile")), finder),
        (format!("{TARGET}{kernel}"), finder),
        (kernel.to_owned(), finder),
        (table("cpu-profile"), "has cpu-profile, but the export has time-profile"),
        (table("potential-hangs"), "has no CPU table, but the export has time-profile"),
        (duration.to_owned(), "took 0.100 s, but the export has samples up to 9.571 s"),
    ] {
        let (warnings, is_used) = judged(&beside(&content));
        let expected = format!("run.xml: According to a table of contents, run 1 {contradiction}");
        assert!(warnings.len() == 1 && warnings[0].starts_with(&expected), "{warnings:?}");
        assert!(
            warnings[0].ends_with("; it belongs to another recording and is not used.") && !is_used,
            "{warnings:?}"
        );
    }
}

#[test]
fn missing_facts_contradict_nothing() {
    let own = "<process name=\"Orchard\" pid=\"4150\"/>";
    for content in [
        String::new(),
        "<info><target><device model=\"Mac\"/><all-processes/></target></info><data/>".to_owned(),
        "<info><target><process name=\"Finder\"/></target></info>".to_owned(),
        // The target was idle, and another process ran.
        format!("<info><target><process name=\"Finder\" pid=\"751\"/></target></info><processes>{own}</processes>"),
        // The name of a process changes when it starts another program.
        "<info><target><process name=\"sh\" pid=\"4150\"/></target></info>".to_owned(),
        format!("<info><target>{own}</target><summary><duration>60</duration></summary></info>"),
        "<processes><process name=\"kernel\" pid=\"0\"/></processes>".to_owned(),
        "<data><table schema=\"tick\"/><table schema=\"time-profile\"/></data>".to_owned(),
    ] {
        assert_eq!(judged(&beside(&content)), (Vec::new(), true), "{content}");
    }
    // The table of contents describes another run.
    let other = beside("").documents.len();
    let text = toc("<info><target><process name=\"Finder\" pid=\"751\"/></target></info>").replace("\"1\"", "\"9\"");
    let mut recording = RecordingBuilder::new(Options::default());
    recording.read(export().as_bytes(), "run.xml").unwrap();
    recording.read(text.as_bytes(), "toc.xml").unwrap();
    let recording = recording.finish().unwrap();
    assert_eq!((recording.documents.len(), judged(&recording)), (other, (Vec::new(), false)));
}

/// A file that contains both was combined on purpose.
#[test]
fn one_file_has_one_recording() {
    let text = toc("<info><target><process name=\"Finder\" pid=\"751\"/></target></info>") + &export();
    let recording = traceparse::read(text.as_bytes(), "run.xml", &Options::default()).unwrap();
    assert_eq!(judged(&recording), (Vec::new(), true));
}
