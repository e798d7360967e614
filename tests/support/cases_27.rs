//! The cases of Xcode 27, and the table of contents.

use super::cases::{Case, DRAWING, GRINDING, HARVEST, PRESSING, SORTING, WAITING, cycles, one_table, samples};
use super::orchard::{MAIN, RENDER, WORKER_1, session};
use super::other_tables::Hang;
use super::recording::Invented;
use super::shape::{Shape, Table};
use super::signposts::Signpost;
use super::toc::{Target, TocOptions, render_toc};
use super::writer::{Content, Node, RenderOptions, render};
use super::xml::Layout;

fn xcode_27_recording() -> Invented {
    let mut recording = cycles(&[
        (MAIN, 5, HARVEST),
        (MAIN, 5, SORTING),
        (WORKER_1, 2, PRESSING),
        (WORKER_1, 9, GRINDING),
        (RENDER, 9, "thread_start pthread_start:4 tick:2 frame:1 layout:2 scene:1 draw_leaf:1 blend:1"),
        (RENDER, 9, DRAWING),
        (MAIN, 5, "start:62 main:3 app_run:1 handle:5 jit:3 jit2:1"),
    ]);
    recording.rows[5].truncated = true;
    let layout = recording
        .frames
        .iter()
        .position(|frame| frame.function.as_deref() == Some("closure #1 in CanopyView.layout(in:)"));
    recording.frames[layout.expect("the frame is in use")].inlined = true;
    recording
}

pub fn xcode_27_cpu_profile() -> Case {
    one_table(
        "27/cpu-profile",
        "Xcode 27: cpu-profile",
        "Frames are direct children of `tagged-backtrace`, without a display string. Callers' addresses are one less than the\n\
         return address. One stack is marked as truncated; one frame is marked as inlined and has the address of the\n\
         frame before it.",
        xcode_27_recording(),
        Shape::Xcode27,
        Table::CpuProfile,
    )
}

pub fn xcode_27_pretty_printed() -> Case {
    let recording = xcode_27_recording();
    let options = RenderOptions::new(Shape::Xcode27, Table::CpuProfile, &recording).layout(Layout::Pretty);
    let input = render(&recording, &options);
    Case {
        path: "27/pretty-printed",
        title: "A document that went through a formatter",
        shows: "The same recording as cpu-profile with one element per line, a declaration that names the encoding, and\n\
                double quotes around the xpath.",
        recording,
        input,
    }
}

pub fn xcode_27_time_profile_waiting() -> Case {
    let mut recording = samples(&[
        (MAIN, 5, HARVEST),
        (WORKER_1, 0, WAITING),
        (MAIN, 5, HARVEST),
        (WORKER_1, 0, WAITING),
        (MAIN, 7, SORTING),
        (WORKER_1, 4, PRESSING),
    ]);
    for row in [1, 3] {
        recording.rows[row].state = "Blocked";
        recording.rows[row].core = None;
    }
    recording.rows[4].state = "Preempted";
    one_table(
        "27/time-profile-waiting",
        "Xcode 27: time-profile with waiting threads",
        "Rows of a blocked thread, without a core, among rows of running threads, as in recordings of waiting threads.",
        recording,
        Shape::Xcode27,
        Table::TimeProfile,
    )
}

fn two_runs() -> Invented {
    let mut recording = samples(&[
        (MAIN, 5, HARVEST),
        (WORKER_1, 4, PRESSING),
        (MAIN, 5, SORTING),
        (MAIN, 6, SORTING),
        (WORKER_1, 4, GRINDING),
        (MAIN, 6, HARVEST),
    ]);
    for row in &mut recording.rows[3..] {
        row.run = 2;
        row.time_ns -= 3_000_000;
    }
    recording
}

fn several_tables(recording: &Invented) -> RenderOptions {
    let mut late = Node::samples(2, Table::TimeProfile, recording);
    late.table_index = 13;
    let calls = Node { run: 1, table_index: 8, content: Content::FileCalls(vec![0, 3]) };
    let hang = Hang { start_ns: 120_000_000, duration_ns: 710_250_000, row: 4 };
    let hangs = Node { run: 2, table_index: 9, content: Content::PotentialHangs(vec![hang]) };
    let first = Node::samples(1, Table::TimeProfile, recording);
    let empty = Node { run: 2, table_index: 4, content: Content::Empty("hang-risks") };
    RenderOptions::with_nodes(Shape::Xcode27, vec![calls, first, hangs, empty, late])
}

pub fn xcode_27_several_tables() -> Case {
    let recording = two_runs();
    let input = render(&recording, &several_tables(&recording));
    Case {
        path: "27/several-tables",
        title: "Several tables and two runs in one document",
        shows: "Five nodes: file system calls, the samples of run 1, hangs, a table without rows, and the samples of run 2.\n\
                Ids are numbered across all of them, so the samples refer to processes, threads, images and frames that\n\
                tables without samples define.",
        recording,
        input,
    }
}

pub fn xcode_27_track_detail() -> Case {
    let recording = two_runs();
    let detail = Node { run: 1, table_index: 0, content: Content::TrackDetail };
    let input = render(&recording, &several_tables(&recording).insert(2, detail));
    Case {
        path: "27/track-detail",
        title: "A track detail among the tables",
        shows: "Like several-tables, with a track detail after the first samples: rows of attributes without a schema. One\n\
                attribute is `resident-%`, so this file is **not well-formed XML**. Real exports also contain such rows.",
        recording,
        input,
    }
}

/// Intervals of both tables: `Layout` twice in run 1 (nested, on two threads), once in run 2, and an interval that stays open.
pub fn xcode_27_signposts() -> Case {
    let recording = two_runs();
    let times: Vec<u64> = recording.rows.iter().map(|row| row.time_ns).collect();
    let first = vec![
        Signpost::new("Layout", times[0], times[0] + 900_000, 0),
        Signpost { rows: (0, 1), ..Signpost::new("Layout", times[2] - 100_000, times[2] + 400_000, 0) },
        Signpost { identifier: 7, ..Signpost::new("Draw", times[1] - 5_000, times[2] + 5_000, 1) },
        Signpost { start_ns: None, ..Signpost::new("Launch", 0, times[0] + 1_000, 0) },
    ];
    let second = vec![
        Signpost::new("Layout", times[3] - 1_000, times[3] + 1_000, 3),
        Signpost { end_ns: None, ..Signpost::new("Sync", times[5], 0, 4) },
    ];
    let node = |run, table_index, content| Node { run, table_index, content };
    let nodes = vec![
        node(1, 2, Content::SignpostIntervals(first.clone())),
        node(1, 7, Content::SignpostEvents(first)),
        Node::samples(1, Table::TimeProfile, &recording),
        node(2, 7, Content::SignpostEvents(second)),
        Node::samples(2, Table::TimeProfile, &recording),
    ];
    let input = render(&recording, &RenderOptions::with_nodes(Shape::Xcode27, nodes));
    Case {
        path: "27/signposts",
        title: "Signposts next to the samples of two runs",
        shows: "Signpost intervals as rows of os-signpost-interval and as pairs in os-signpost: run 1 has both, run 2 only\n\
                the pairs. One interval ends on another thread, one has no recorded start, and one has no recorded end.\n\
                Samples refer to threads that signposts define.",
        recording,
        input,
    }
}

pub fn xcode_27_orchard() -> Case {
    one_table(
        "27/orchard",
        "Orchard at work",
        "A quarter of a second of a small app: a main thread that handles events, two workers that press juice, and a\n\
         render thread. Made for the examples in the documentation.",
        session(260, 20_310_506),
        Shape::Xcode27,
        Table::TimeProfile,
    )
}

pub fn toc_two_runs() -> Case {
    let recording = two_runs();
    let mut options = TocOptions::new(Shape::Xcode27, vec![Table::TimeProfile, Table::CpuProfile]);
    options.target = Target::Launched;
    options.waiting_threads = true;
    let input = render_toc(&recording, &options);
    Case {
        path: "toc/two-runs",
        title: "A table of contents with two runs",
        shows: "Written by `export --toc`. The order of attributes differs from line to line; most tables contain no\n\
                samples; waiting threads were recorded.",
        recording,
        input,
    }
}
