//! Runs restricted to intervals, whose time replaces the recorded time, and to threads, including idle threads. Cases are
//! counted by hand.

use support::builder::Builder;
use support::{RenderOptions, Shape, Table, fleet, render};
use traceparse::fleet::{FailureKind, FrameRow, MeasureOptions, Measured, NotMeasured, RunContext, RunMeasures};
use traceparse::profile::{IntervalFilter, Selection, TimeRange};
use traceparse::read;
use traceparse::recording::{Options, Recording};
use traceparse::units::Nanos;

const MILLISECOND: u64 = 1_000_000;

/// `Main Thread` has samples of 1 ms each 10 ms up to 4 s, `Worker` one at 100 ms; `Waiter` waits all the time.
fn recording() -> Recording {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 501, "/Applications/Orchard");
    let app = builder.image("/Applications/Orchard", "arm64", "11111111-2222-3333-4444-555555555555", 0x1_0000_0000);
    builder.function("main", app, Some("main"), None);
    let names = [(1, "Main Thread"), (2, "Worker"), (3, "Waiter")];
    let [main, worker, waiter] = names.map(|(tid, name)| builder.thread(process, tid, &[name]));
    for time in 0..400 {
        builder.row(time * 10 * MILLISECOND, main, "main");
    }
    builder.row(100 * MILLISECOND, worker, "main");
    builder.row(100 * MILLISECOND, waiter, "main").state = "Blocked";
    let recording = builder.recording;
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode26_4, Table::TimeProfile, &recording));
    read(xml.as_bytes(), "test.xml", &Options::default()).unwrap()
}

/// Measured in these intervals of run 1, in milliseconds, of a recording of five seconds.
fn during(intervals: &[(u64, Option<u64>)], time: Option<(u64, u64)>) -> Result<Measured, NotMeasured> {
    let time_of =
        |start: u64, end: Option<u64>| TimeRange { start: Nanos::from_millis(start), end: end.map(Nanos::from_millis) };
    let ranges = intervals.iter().map(|&(start, end)| (1, time_of(start, end)));
    let intervals = IntervalFilter::new(vec!["Scroll".to_owned()], false, ranges);
    let time = time.map(|(start, end)| time_of(start, Some(end)));
    let selection = Selection { intervals: Some(intervals), time, ..Selection::default() };
    recording().measure(&context(), &MeasureOptions { selection, ..MeasureOptions::default() })
}

fn context() -> RunContext {
    RunContext { duration: Some(Nanos::from_millis(5_000)), ..fleet::context(Vec::new()) }
}

fn whole() -> RunMeasures {
    recording().measure(&context(), &MeasureOptions::default()).unwrap().runs.remove(0)
}

/// Weight and recorded time in milliseconds, and the whole seconds.
fn told(run: &RunMeasures) -> (u64, u64, Vec<u32>) {
    let record = &run.record;
    let wall = record.wall.unwrap().as_nanos() / MILLISECOND;
    (record.weight / MILLISECOND, wall, record.whole_seconds().into_iter().flatten().collect())
}

#[test]
fn the_time_of_intervals_counts_once() {
    let run = |intervals: &[(u64, Option<u64>)], time| told(&during(intervals, time).unwrap().runs[0]);
    assert_eq!(run(&[(1_000, Some(2_000))], None), (100, 1_000, vec![1]));
    assert_eq!(run(&[(900, Some(1_500)), (1_200, Some(3_100))], None), (220, 2_200, vec![1, 2]));
    assert_eq!(run(&[(500, Some(1_700)), (1_800, Some(3_000))], None), (240, 2_400, vec![2]));
    // Adjacent parts become one part. An open part ends with the recording, as does a part that extends beyond it.
    assert_eq!(run(&[(500, Some(1_500)), (1_500, Some(2_500))], None), (200, 2_000, vec![1]));
    assert_eq!(run(&[(3_000, None)], None), (100, 2_000, vec![3, 4]));
    assert_eq!(run(&[(4_500, Some(9_000))], None), (0, 500, vec![]));
    assert_eq!(run(&[(1_000, Some(4_000)), (0, Some(500))], Some((250, 2_250))), (150, 1_500, vec![1]));
    let parts = during(&[(500, Some(1_700)), (1_800, Some(3_000))], None).unwrap().runs.remove(0).record.parts;
    let parts: Vec<_> =
        parts.iter().map(|(start, end)| (start.as_nanos() / MILLISECOND, end.as_nanos() / MILLISECOND)).collect();
    assert_eq!(parts, [(500, 1_700), (1_800, 3_000)]);
}

#[test]
fn a_run_of_which_nothing_is_selected_is_excluded() {
    for (intervals, time, reason) in [
        (
            &[(5_000, Some(6_000))][..],
            None,
            "Run 1 was recorded from 0.000 s to 5.000 s, which does not overlap the selected intervals.",
        ),
        (&[(100, Some(100))], None, "Run 1 has no interval named \"Scroll\"."),
        (
            &[(100, Some(200))],
            Some((200, 300)),
            "Run 1 was recorded from 0.000 s to 5.000 s, which does not overlap the selected intervals within the selected time.",
        ),
    ] {
        let error = during(intervals, time).unwrap_err();
        assert_eq!((error.kind, error.reason.as_str()), (FailureKind::NotSelected, reason));
    }
    let time = Some(TimeRange { start: Nanos::from_millis(5_000), end: None });
    let options = MeasureOptions { selection: Selection { time, ..Selection::default() }, ..MeasureOptions::default() };
    let error = recording().measure(&context(), &options).unwrap_err();
    assert_eq!(error.kind, FailureKind::NotSelected);
    assert!(error.reason.ends_with("which does not overlap the selected time."), "{}", error.reason);
}

#[test]
fn idle_threads_are_there() {
    let idle = |run: &RunMeasures| -> Vec<String> {
        let is_idle = |row: &&FrameRow| row.all_samples == 0;
        let rows = run.frames.iter().filter(is_idle);
        rows.map(|row| format!("{} {}", run.name(row.thread), run.name(row.function))).collect()
    };
    assert_eq!(idle(&whole()), ["Waiter (no stack)"]);
    let scroll = during(&[(1_000, Some(2_000))], None).unwrap().runs.remove(0);
    assert_eq!(idle(&scroll), ["Waiter (no stack)", "Worker (no stack)"]);
    for name in ["Worker", "Waiter"] {
        let thread = scroll.of_threads(|thread, _| thread == name).unwrap();
        assert_eq!(told(&thread), (0, 1_000, vec![1]));
        assert_eq!((thread.record.samples, thread.windows.len(), thread.binaries.len()), (0, 0, 0));
    }
    assert_eq!(scroll.of_threads(|thread, _| thread == "Nobody"), None);
}
