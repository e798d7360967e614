//! The hand-made cases behind `fixtures/<version>/<case>/`.
//!
//! [`fixtures`] returns the contents of every `input.xml`, [`readme`] the text next to it. A test compares both with the files and, with
//! `TRACEPARSE_BLESS=1`, writes them.

use super::cases_27::{
    toc_two_runs, xcode_27_cpu_profile, xcode_27_orchard, xcode_27_pretty_printed, xcode_27_several_tables,
    xcode_27_signposts, xcode_27_time_profile_waiting, xcode_27_track_detail,
};
use super::orchard::{HELPER, MAIN, RENDER, WORKER_1, WORKER_2, scene};
use super::recording::{CoreKind, Invented, Row, SampleKind};
use super::shape::{Shape, Table};
use super::writer::{RenderOptions, concatenate, render};

/// One folder under `fixtures/`.
#[derive(Clone, Debug)]
pub struct Case {
    /// `version/case`
    pub path: &'static str,
    pub title: &'static str,
    /// Sentences that describe the point of the case.
    pub shows: &'static str,
    /// The recording from which it was made, to compare with the library's result.
    pub recording: Invented,
    /// `input.xml`
    pub input: String,
}

/// The command that regenerates all fixtures.
pub const COMMAND: &str = "TRACEPARSE_BLESS=1 cargo test --test library fixtures";

/// Path (`version/case`) and `input.xml` of every case.
pub fn fixtures() -> Vec<(&'static str, String)> {
    cases().into_iter().map(|case| (case.path, case.input)).collect()
}

/// The `README.md` of a case.
pub fn readme(case: &Case) -> String {
    format!(
        "# {}\n\n{}\n\nMade by the fixture writer in `tests/support`:\n\n```\n{COMMAND}\n```\n",
        case.title, case.shows
    )
}

/// Every case, oldest Xcode first.
pub fn cases() -> Vec<Case> {
    vec![
        xcode_12_time_profile(),
        xcode_14_0_cpu_profile(),
        xcode_14_3_time_profile(),
        xcode_14_3_counters_profile(),
        xcode_14_3_counters_by_cycles(),
        xcode_14_3_concatenated(),
        xcode_26_2_cpu_profile(),
        xcode_26_4_time_profile(),
        xcode_26_4_time_sample(),
        xcode_27_cpu_profile(),
        xcode_27_pretty_printed(),
        xcode_27_time_profile_waiting(),
        xcode_27_several_tables(),
        xcode_27_signposts(),
        xcode_27_track_detail(),
        xcode_27_orchard(),
        toc_two_runs(),
    ]
}

pub const HARVEST: &str = "start:62 main:3 app_run:1 handle harvest:2 walk:1 walk:1 walk:1 shake:1";
pub const SORTING: &str = "start:62 main:3 app_run:1 handle:1 harvest:4 sort:1 sort:2 split:1 less:2";
pub const PRESSING: &str = "thread_start pthread_start:4 worker:2 work:1 press:2 grind:1 filter:4";
pub const GRINDING: &str = "thread_start pthread_start:4 worker:2 work:1 press:2 grind:3 grind:3 hidden:1";
pub const WAITING: &str = "thread_start pthread_start:4 worker:1 cond_wait:1 wait";
pub const DRAWING: &str = "thread_start pthread_start:4 tick:2 frame:1 scene:1 draw_leaf:1 blend:1";

/// Samples with thread, core and stack, one millisecond apart.
pub fn samples(plan: &[(usize, u32, &str)]) -> Invented {
    let mut builder = scene();
    for (position, &(thread, core, stack)) in plan.iter().enumerate() {
        let row = builder.row(104_250_083 + position as u64 * 1_000_041, thread, stack);
        row.core = Some((core, if core < 4 { CoreKind::Efficiency } else { CoreKind::Performance }));
    }
    builder.recording
}

/// Like [`samples`], with cycles as weights.
pub fn cycles(plan: &[(usize, u32, &str)]) -> Invented {
    let mut recording = samples(plan);
    for (row, weight) in
        recording.rows.iter_mut().zip([834_112, 1_000_037, 1_000_004, 42_907, 311, 1_000_090].iter().cycle())
    {
        row.weight = *weight;
    }
    recording
}

pub fn one_table(
    path: &'static str,
    title: &'static str,
    shows: &'static str,
    recording: Invented,
    shape: Shape,
    table: Table,
) -> Case {
    let input = render(&recording, &RenderOptions::new(shape, table, &recording));
    Case { path, title, shows, recording, input }
}

fn xcode_12_time_profile() -> Case {
    one_table(
        "12/time-profile",
        "Xcode 12: time-profile with text addresses",
        "Stacks are decimal addresses in two fragments: the leaf, and the rest with a final 0, which other stacks may\n\
         share. Only the leaf has a name, in the display string. No images are listed.",
        samples(&[
            (MAIN, 4, HARVEST),
            (MAIN, 4, HARVEST),
            (MAIN, 6, "start:62 main:3 app_run:1 handle harvest:2 walk:1 walk:1 walk:1 shake:3"),
            (MAIN, 6, SORTING),
            (WORKER_2, 0, GRINDING),
            (MAIN, 6, HARVEST),
        ]),
        Shape::Xcode12,
        Table::TimeProfile,
    )
}

fn xcode_14_0_cpu_profile() -> Case {
    one_table(
        "14.0/cpu-profile",
        "Xcode 14.0: cpu-profile with text addresses",
        "As in Xcode 12, but without the final 0, and with the leaf address one byte past the instruction. Weights are\n\
         cycles; the last weights before a context switch are small.",
        cycles(&[
            (MAIN, 8, HARVEST),
            (MAIN, 8, SORTING),
            (WORKER_2, 1, PRESSING),
            (WORKER_2, 9, GRINDING),
            (MAIN, 8, SORTING),
        ]),
        Shape::Xcode14_0,
        Table::CpuProfile,
    )
}

fn xcode_14_3_time_profile() -> Case {
    let mut recording = samples(&[
        (MAIN, 5, HARVEST),
        (MAIN, 5, "start:62 main:3 app_run:1 handle harvest:2 walk:1 walk:1 walk:1 walk:1 walk:1 walk:2 shake:3"),
        (WORKER_1, 2, ""),
        (WORKER_1, 2, PRESSING),
        (MAIN, 7, HARVEST),
        (WORKER_1, 6, GRINDING),
        (WORKER_1, 6, "thread_start pthread_start:4 worker:2 work:1 press:5 jit:3 jit2:1"),
        (MAIN, 7, SORTING),
    ]);
    recording.rows[3].thread_name = 1;
    recording.rows[5].thread_name = 1;
    recording.rows[6].thread_name = 1;
    recording.rows[6].weight = 1_127_125;
    one_table(
        "14.3/time-profile",
        "Xcode 14.3: time-profile with frames",
        "Two threads; a recursive function (one frame several times in a stack); a sample without a stack, which still\n\
         has a weight; a thread that changes its name; code outside every image; a function without a symbol, named\n\
         by its address; a weight that is not one millisecond.",
        recording,
        Shape::Xcode14_3,
        Table::TimeProfile,
    )
}

fn counted() -> Invented {
    let mut recording =
        samples(&[(MAIN, 5, ""), (MAIN, 5, HARVEST), (WORKER_2, 0, PRESSING), (MAIN, 6, SORTING), (MAIN, 6, SORTING)]);
    for (row, counters) in
        recording.rows.iter_mut().zip([[120_511, 214_003], [2_400_100, 980], [0, 0], [75, 1_000_000], [0, 0]])
    {
        row.counters = counters.to_vec();
    }
    recording
}

fn xcode_14_3_counters_profile() -> Case {
    one_table(
        "14.3/counters-profile",
        "Xcode 14.3: counters-profile triggered by time",
        "The stack comes before the weight, whose column has type `any` and whose cells are `weight` in nanoseconds;\n\
         the last column contains two counter values per row.",
        counted(),
        Shape::Xcode14_3,
        Table::CountersProfile { pmi: false },
    )
}

fn xcode_14_3_counters_by_cycles() -> Case {
    one_table(
        "14.3/counters-profile-by-cycles",
        "Xcode 14.3: counters-profile triggered by a counter",
        "Like counters-profile, but the weight cells are `pmc-event`: the number of events after which a sample is taken.",
        counted(),
        Shape::Xcode14_3,
        Table::CountersProfile { pmi: true },
    )
}

fn xcode_14_3_concatenated() -> Case {
    let first = samples(&[(MAIN, 5, HARVEST), (MAIN, 5, SORTING), (WORKER_2, 3, PRESSING)]);
    let second = samples(&[(WORKER_2, 4, PRESSING), (MAIN, 7, SORTING), (MAIN, 7, SORTING)]);
    let document =
        |recording: &Invented| render(recording, &RenderOptions::new(Shape::Xcode14_3, Table::TimeProfile, recording));
    let input = concatenate(&[document(&first), document(&second)]);
    Case {
        path: "14.3/concatenated",
        title: "Two documents in one file",
        shows: "The second document follows the end of the first without an XML declaration, and its ids begin at 1\n\
                again: id 2 is a different thread in each document.",
        recording: joined(first, second),
        input,
    }
}

/// Combines two recordings of the same scene. Only the frames have to be renumbered.
fn joined(mut first: Invented, second: Invented) -> Invented {
    let offset = first.frames.len();
    first.frames.extend(second.frames);
    first.rows.extend(second.rows.into_iter().map(|mut row| {
        row.stack.iter_mut().flatten().for_each(|frame| *frame += offset);
        row
    }));
    first
}

fn xcode_26_2_cpu_profile() -> Case {
    let mut recording = cycles(&[
        (RENDER, 1, DRAWING),
        (RENDER, 8, "thread_start pthread_start:4 tick:2 frame:1 leaves:2 scene:5 draw_leaf:4 hidden:2"),
        (RENDER, 8, "thread_start pthread_start:4 tick:2 frame:1 leaves:2 scene:5 draw_leaf:4 hidden:5 hidden2:3"),
        (MAIN, 5, SORTING),
        (MAIN, 5, "start:62 main:3 app_run:1 handle:5 jit:3 jit2:1"),
    ]);
    let signed = recording
        .frames
        .iter()
        .position(|frame| frame.function.as_deref().is_some_and(|name| name.starts_with("-[ORRenderer drawFrame")));
    recording.frames[signed.expect("the frame is in use")].signature = 0x2b59 << 47;
    let options = RenderOptions::new(Shape::Xcode26_2, Table::CpuProfile, &recording).pointer_authentication();
    let input = render(&recording, &options);
    Case {
        path: "26.2/cpu-profile",
        title: "Xcode 26.2: cpu-profile",
        shows: "The weight column is called Cycles. Threads have one space before the number. Pointer-authentication bits\n\
                leak into the address of `-[ORRenderer drawFrame:inView:]`. Functions without a symbol are named by their\n\
                first instruction, so two frames share a name; code outside every image is named by its address.",
        recording,
        input,
    }
}

fn xcode_26_4_time_profile() -> Case {
    one_table(
        "26.4/time-profile",
        "Xcode 26.4: time-profile with tagged backtraces",
        "The stack is a `tagged-backtrace` around a `backtrace`, usually only a reference. The schema has a\n\
         `documentation` attribute; thread numbers are in parentheses. Two processes use one framework at two\n\
         addresses, and two samples have the same time.",
        {
            let mut recording = samples(&[
                (MAIN, 7, HARVEST),
                (HELPER, 2, "start:62 helper:1 helper_wait:2"),
                (MAIN, 7, HARVEST),
                (WORKER_1, 4, PRESSING),
                (WORKER_1, 4, GRINDING),
                (RENDER, 8, DRAWING),
                (MAIN, 7, ""),
            ]);
            recording.rows[1].time_ns = recording.rows[0].time_ns;
            recording
        },
        Shape::Xcode26_4,
        Table::TimeProfile,
    )
}

fn xcode_26_4_time_sample() -> Case {
    let snapshot = |row: &mut Row| {
        row.time_ns = 98_300_125;
        row.kind = SampleKind::Stackshot;
        row.state = "Blocked";
        row.core = None;
    };
    let mut recording = samples(&[
        (MAIN, 0, "start"),
        (WORKER_1, 0, WAITING),
        (MAIN, 8, HARVEST),
        (MAIN, 6, SORTING),
        (WORKER_1, 6, PRESSING),
        (WORKER_1, 6, PRESSING),
        (MAIN, 6, ""),
    ]);
    recording.rows[..2].iter_mut().for_each(snapshot);
    recording.rows[2].core = Some((8, CoreKind::Super));
    recording.rows[5].kind = SampleKind::Lpet;
    one_table(
        "26.4/time-sample",
        "Xcode 26.4: raw time samples",
        "No process and no weight column. Stacks are a program counter and the callers' return addresses, ending in 0.\n\
         The first two rows are the snapshot of all threads: the same time, no core, and no CPU time.",
        recording,
        Shape::TimeSample,
        Table::TimeSample,
    )
}
