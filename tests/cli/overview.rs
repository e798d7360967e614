//! The output that users see by default.

use crate::command::{Folder, VIEWS, all_exports, finish, stderr_of, stdout_of, traceparse};

/// Every fixture in every view and format: no complaint. (That commands write the same bytes each time is seen in transcripts.)
#[test]
fn every_fixture_is_shown_in_every_view_and_format() {
    let mut shapes = vec![vec!["--view", "tree", "--format", "folded"]];
    for format in ["text", "json", "folded"] {
        shapes.extend(["thread", "process", "none"].map(|what| vec!["--format", format, "--separate-by", what]));
    }
    for view in VIEWS {
        shapes.extend(["text", "json", "csv"].map(|format| vec!["--view", view, "--format", format]));
    }
    let mut bad = Vec::new();
    for export in all_exports() {
        for shape in &shapes {
            let args = [&[export.as_str()], shape.as_slice()].concat();
            let output = traceparse(&args).output().expect("the command starts");
            if !output.status.success() || !output.stderr.is_empty() || output.stdout.is_empty() {
                let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                bad.push(format!("{args:?}: {} {}", output.status, message.lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn keeps_weights_over_time_without_each_sample() {
    let folder = Folder::new();
    let rows: String = (1..=100_000)
        .map(|index| {
            format!(
                "<row><sample-time>{index}00000</sample-time><weight>1000000</weight><backtrace><frame name=\"work\" \
                 addr=\"0x1001\"/></backtrace></row>"
            )
        })
        .collect();
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let table = format!("<schema name=\"time-profile\">{columns}</schema>{rows}");
    let path = folder.file(
        "large.xml",
        format!(
            "<?xml version=\"1.0\"?><trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{table}\
             </node></trace-query-result>"
        ),
    );
    let of = |memory: &str, options: &[&str]| {
        let assert = finish(&mut traceparse(&[&[&*path, "--memory", memory], options].concat())).success();
        (stdout_of(&assert), stderr_of(&assert))
    };
    let (small, note) = of("4M", &[]);
    assert!(
        small.contains("100.00 s in 100,000 samples") && small.contains("peak ") && note.is_empty(),
        "{small}{note}"
    );
    let answer = |text: &str| text.lines().filter(|line| !line.starts_with("traceparse ")).collect::<String>();
    assert_eq!(answer(&of("64M", &[]).0), answer(&small));
    let text = std::fs::read(&path).expect("it was written");
    let piped = finish(traceparse(&["-", "--memory", "4M"]).write_stdin(&*text)).success();
    assert!(stdout_of(&piped).contains("peak "), "{}", stdout_of(&piped));
    // Operations change the weights of samples, so each is kept, if there is room.
    let (small, note) = of("4M", &["--charge-system"]);
    assert!(note.contains("too large to keep each sample in memory") && !small.contains("peak "), "{small}{note}");
    assert!(of("64M", &["--charge-system"]).0.contains("peak "));
    // A pipe cannot be read again.
    let piped = finish(traceparse(&["-", "--memory", "4M", "--charge-system"]).write_stdin(text)).code(1);
    assert!(stderr_of(&piped).contains("--view full"), "{}", stderr_of(&piped));
}
