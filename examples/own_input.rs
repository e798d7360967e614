//! A custom input format: lines like `main;work;parse 12` become a recording that supports every view.

use traceparse::Analysis;
use traceparse::profile::Meaning;
use traceparse::recording::{FrameKind, Options, RecordingBuilder, Table, TableKind, Toc};
use traceparse::report::{ReportOptions, View};

const LINES: &str = "main;work;parse 12\nmain;work 3\nmain;idle 5\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut recording = RecordingBuilder::new(Options::default());
    let mut input = recording.input("lines")?;
    let process = input.process(Some(1), "app")?;
    let thread = input.thread(None, Some(process), "main")?;
    let table = Table { run: 1, schema: Some("lines".to_owned()), kind: TableKind::Cpu, ..Table::default() };
    // The times of these samples are unknown, so views of time are refused.
    input.start_sums(table, Meaning::OnCpu, "lines".to_owned());
    for line in LINES.lines() {
        let (stack, count) = line.rsplit_once(' ').ok_or("a line without a count")?;
        let mut leaf_first = Vec::new();
        for name in stack.rsplit(';') {
            leaf_first.push(input.named_frame((FrameKind::RawLeaf, 0), None, name, None)?);
        }
        let stack = input.stack(None, &leaf_first)?;
        input.add_samples(thread, stack, count.parse()?)?;
    }
    input.finish(Toc::default());

    let analysis = Analysis::new(recording.finish()?);
    let report = analysis.report(&ReportOptions { view: View::Functions, ..ReportOptions::default() });
    for function in report.named_functions(&report.series[0]) {
        println!(
            "{:>4} {:>4}  {}",
            function.self_weight.value,
            function.all_weight.value,
            function.name.unwrap_or_default()
        );
    }
    Ok(())
}
