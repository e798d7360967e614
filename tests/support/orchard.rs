//! Orchard: the invented app in all fixtures.
//!
//! The app shakes trees, sorts apples and presses juice. A main thread handles events, two workers press, and a render thread draws.
//! [`scene`] declares its processes, threads, images and functions; [`session`] samples it for some time.

use super::builder::Builder;
use super::random::Rng;
use super::recording::{CoreKind, Invented};

pub const MAIN: usize = 0;
pub const WORKER_1: usize = 1;
pub const WORKER_2: usize = 2;
pub const RENDER: usize = 3;
/// The only thread of the second process.
pub const HELPER: usize = 4;

const SOURCES: &str = "/Users/dev/Orchard/Sources";

/// (key, image, name, source file, line); a function with an empty name has no symbol.
type Declaration = (&'static str, usize, &'static str, &'static str, u32);

const DYLD: usize = 0;
const KERNEL: usize = 1;
const PTHREAD: usize = 2;
const APP: usize = 3;
const KIT: usize = 4;
const FRUIT: usize = 5;
const HELPER_KIT: usize = 6;

const FUNCTIONS: [Declaration; 42] = [
    ("start", DYLD, "start", "", 0),
    ("wait", KERNEL, "__psynch_cvwait", "", 0),
    ("read", KERNEL, "read", "", 0),
    ("thread_start", PTHREAD, "thread_start", "", 0),
    ("pthread_start", PTHREAD, "_pthread_start", "", 0),
    ("cond_wait", PTHREAD, "_pthread_cond_wait", "", 0),
    ("main", APP, "main", "main.cpp", 14),
    ("app_run", APP, "orchard::App::run()", "App.cpp", 61),
    ("loop", APP, "orchard::EventLoop::spin(std::chrono::milliseconds)", "EventLoop.cpp", 88),
    ("once", APP, "orchard::EventLoop::once()", "EventLoop.cpp", 120),
    ("dispatch", APP, "orchard::EventLoop::dispatch(orchard::Event const&)", "EventLoop.cpp", 143),
    ("handle", APP, "orchard::App::handle(orchard::Event const&)", "App.cpp", 102),
    ("harvest", APP, "orchard::Season::harvest(orchard::Grove&, unsigned long)", "Season.cpp", 37),
    ("walk", APP, "orchard::Tree::visit(orchard::Branch const&, int) const", "Tree.cpp", 52),
    ("shake", APP, "orchard::Tree::shake(double)", "Tree.cpp", 91),
    (
        "pick",
        APP,
        "invocation function for block in orchard::Tree::pick(void (orchard::Apple&&) block_pointer)",
        "Tree.cpp",
        130,
    ),
    ("push", APP, "std::vector<orchard::Apple, std::allocator<orchard::Apple>>::push_back(orchard::Apple&&)", "", 0),
    ("sort", APP, "void orchard::sort_by_size<orchard::Basket>(orchard::Basket&)", "Sort.hpp", 20),
    (
        "split",
        APP,
        "orchard::partition(orchard::Apple*, orchard::Apple*, bool (*)(orchard::Apple const&, orchard::Apple const&))",
        "Sort.hpp",
        44,
    ),
    ("less", APP, "orchard::operator<(orchard::Apple const&, orchard::Apple const&)", "Apple.cpp", 18),
    ("worker", APP, "orchard::Worker::main(void*)", "Worker.cpp", 25),
    ("work", APP, "orchard::Worker::next_task()", "Worker.cpp", 49),
    ("task", APP, "std::function<void (orchard::Crate const&)>::operator()(orchard::Crate const&) const", "", 0),
    ("press", APP, "orchard::Press::squeeze(orchard::Crate const&)", "Press.cpp", 33),
    ("grind", APP, "orchard::Press::grind(orchard::Apple const*, unsigned long)", "Press.cpp", 71),
    ("filter", APP, "orchard::Press::filter(float*, unsigned long, float)", "Press.cpp", 109),
    ("checksum", APP, "orchard::checksum(unsigned char const*, unsigned long)", "Checksum.cpp", 9),
    (
        "label",
        APP,
        "_$LT$orchard_labels..Label$u20$as$u20$core..fmt..Display$GT$::fmt::h3c1d92ab04e7f655",
        "labels.rs",
        27,
    ),
    ("tick", APP, "-[ORRenderer displayLinkDidFire:]", "ORRenderer.mm", 40),
    ("frame", APP, "-[ORRenderer drawFrame:inView:]", "ORRenderer.mm", 66),
    ("leaves", APP, "-[ORCanopyLayer drawLeaves:]", "ORCanopyLayer.mm", 31),
    ("layout", KIT, "closure #1 in CanopyView.layout(in:)", "", 0),
    ("scene", KIT, "OrchardKit.Scene.render(into: inout OrchardKit.Canvas) -> ()", "", 0),
    ("draw_leaf", KIT, "specialized Canvas.fill<A>(_:with:)", "", 0),
    ("blend", KIT, "ok_blend_row_neon", "", 0),
    ("hidden", KIT, "", "", 0),
    ("hidden2", KIT, "", "", 0),
    ("alloc", FRUIT, "fruit_alloc", "", 0),
    ("free", FRUIT, "fruit_free", "", 0),
    ("copy", FRUIT, "fruit_copy_fast", "", 0),
    ("helper", HELPER_KIT, "ok_helper_main", "", 0),
    ("helper_wait", HELPER_KIT, "", "", 0),
];

/// The app with all declarations and without samples.
pub fn scene() -> Builder {
    let mut builder = Builder::default();
    let bundle = "/Users/dev/Orchard/Build/Orchard.app/Contents";
    let app = builder.process("Orchard", 4_150, &format!("{bundle}/MacOS/Orchard"));
    let helper = builder.process("Orchard Helper (Labels)", 4_162, &format!("{bundle}/MacOS/Orchard Helper"));
    builder.thread(app, 0x2_a101, &["Main Thread"]);
    builder.thread(app, 0x2_a117, &["thread_start", "press worker #1 (pool)"]);
    builder.thread(app, 0x2_a118, &["press worker #2 (pool)"]);
    builder.thread(app, 0x2_a11f, &["com.orchard.render"]);
    builder.thread(helper, 0x2_b004, &["Main Thread"]);

    builder.image("/usr/lib/dyld", "arm64e", "6B0D0D5E-51C2-3A0F-9E1B-20C7A6F4D811", 0x1_8a0c_0000);
    builder.image(
        "/usr/lib/system/libsystem_kernel.dylib",
        "arm64e",
        "0F5C8B1A-7C1E-3C55-8D5A-9A41E0B7C6D2",
        0x1_8a41_0000,
    );
    builder.image(
        "/usr/lib/system/libsystem_pthread.dylib",
        "arm64e",
        "A1D9E6F2-03B7-3F4C-B8C0-5E2D7F60918A",
        0x1_8a45_0000,
    );
    builder.image(&format!("{bundle}/MacOS/Orchard"), "arm64", "3D6F2C90-8E4B-34A7-A5D1-C07B19E82F46", 0x1_00c4_0000);
    let kit = format!("{bundle}/Frameworks/OrchardKit.framework/Versions/A/OrchardKit");
    builder.image(&kit, "arm64", "C2A4E1B7-5D90-3E6F-8B13-7F0A6D4C95E8", 0x1_0140_8000);
    builder.image(
        &format!("{bundle}/Frameworks/libfruit.dylib"),
        "arm64",
        "91B7D3F5-2A6C-3148-9C0E-84E5F1A2B3D7",
        0x1_0159_c000,
    );
    builder.image(&kit, "arm64", "C2A4E1B7-5D90-3E6F-8B13-7F0A6D4C95E8", 0x1_04b1_c000);

    for (key, image, name, file, line) in FUNCTIONS {
        let path = format!("{SOURCES}/{file}");
        let source = (!file.is_empty()).then_some((path.as_str(), line));
        builder.function(key, image, (!name.is_empty()).then_some(name), source);
    }
    builder.code("jit", 0x1_3000_4000);
    builder.code("jit2", 0x1_3000_4800);
    builder
}

const EVENTS: &str = "start:62 main:3 app_run:1 loop:2 once dispatch:1";
const POOL: &str = "thread_start pthread_start:4 worker:2 work:1 task";
const DRAWING: &str = "thread_start pthread_start:4 worker:3 loop:4 once:1 tick:2";

/// The work of the app: thread, number of times, and the stack below the thread's entry.
const WORK: [(usize, u64, &str, &str); 34] = [
    (MAIN, 6, EVENTS, "handle harvest:2 walk:1 walk:1 walk:1 walk:2 shake:1"),
    (MAIN, 9, EVENTS, "handle harvest:2 walk:1 walk:1 walk:1 walk:1 walk:1 walk:2 shake:3"),
    (MAIN, 8, EVENTS, "handle harvest:2 walk:1 walk:1 walk:1 walk:1 walk:1 walk:1 walk:2 shake:3 pick:1 push copy:2"),
    (MAIN, 4, EVENTS, "handle harvest:2 walk:1 walk:1 walk:1 walk:1 walk:2 shake:3 pick:1 push alloc:1"),
    (MAIN, 3, EVENTS, "handle harvest:2 walk:1 walk:1 walk:1 walk:3 shake:3 pick:1 push:2 free"),
    (MAIN, 10, EVENTS, "handle:1 harvest:4 sort:1 sort:2 sort:2 split:1 less:1"),
    (MAIN, 12, EVENTS, "handle:1 harvest:4 sort:1 sort:2 sort:2 sort:3 sort:2 split:1 less:2"),
    (MAIN, 11, EVENTS, "handle:1 harvest:4 sort:1 sort:2 sort:2 sort:3 sort:2 sort:2 sort:3 split:2"),
    (MAIN, 5, EVENTS, "handle:1 harvest:4 sort:1 sort:3 sort:2 sort:2 sort:2 sort:3 sort:3 split:1 copy"),
    (MAIN, 2, EVENTS, "handle:3 harvest:6 label:2 hidden:1 hidden2:3"),
    (MAIN, 2, EVENTS, "handle:3 harvest:6 label:2 hidden:1 hidden2:5 alloc"),
    (MAIN, 1, EVENTS, "handle:5 jit:3 jit2:1"),
    (MAIN, 2, EVENTS, "handle:4 harvest:7 read:1"),
    (WORKER_1, 14, POOL, "press:2 grind:1 grind:3 grind:3 filter:1 filter:4"),
    (WORKER_1, 19, POOL, "press:2 grind:1 grind:3 grind:3 filter:1 filter:5"),
    (WORKER_1, 7, POOL, "press:2 grind:1 grind:3 grind:3 grind:3 filter:1 copy:1"),
    (WORKER_1, 6, POOL, "press:3 grind:4 grind:4 filter:2 checksum:1"),
    (WORKER_1, 5, POOL, "press:3 grind:4 grind:4 filter:2 checksum:2"),
    (WORKER_1, 2, POOL, "press:5 grind:6 filter:7 alloc:2"),
    (WORKER_2, 15, POOL, "press:2 grind:1 grind:3 grind:3 filter:1 filter:4"),
    (WORKER_2, 17, POOL, "press:2 grind:1 grind:3 grind:3 filter:1 filter:6"),
    (WORKER_2, 7, POOL, "press:2 grind:1 grind:3 grind:3 grind:3 filter:1 copy:3"),
    (WORKER_2, 8, POOL, "press:3 grind:4 grind:4 filter:2 checksum:2"),
    (WORKER_2, 3, POOL, "press:5 grind:6 filter:7 free:1"),
    (WORKER_2, 1, POOL, "press:6 jit:3 jit2:2 jit:5 jit2:4"),
    (RENDER, 12, DRAWING, "frame:1 scene:1 layout:2 scene:3 layout:2 draw_leaf:1 blend:1"),
    (RENDER, 16, DRAWING, "frame:1 scene:1 layout:2 scene:3 layout:2 scene:3 layout:4 draw_leaf:1 blend:2"),
    (RENDER, 9, DRAWING, "frame:1 scene:1 layout:2 scene:3 layout:2 draw_leaf:3 blend:3 copy:4"),
    (RENDER, 4, DRAWING, "frame:1 leaves:2 scene:5 layout:6 draw_leaf:4"),
    (RENDER, 5, DRAWING, "frame:1 leaves:2 scene:5 layout:6 draw_leaf:4 hidden:2"),
    (RENDER, 2, DRAWING, "frame:1 leaves:3 scene:5 layout:7 hidden:4 hidden2:1 alloc:3"),
    (RENDER, 2, DRAWING, "frame:4 leaves:5 free:2"),
    (RENDER, 1, DRAWING, "frame:6 label:4 hidden:6 copy:5"),
    (RENDER, 1, DRAWING, "frame:7"),
];

/// The app for some milliseconds, with at most one sample per millisecond and running thread.
pub fn session(milliseconds: u64, seed: u64) -> Invented {
    let mut rng = Rng::new(seed);
    let mut builder = scene();
    for tick in 0..milliseconds {
        let time_ns = 312_400_000 + tick * 1_000_000;
        for thread in MAIN..=RENDER {
            // Each thread has its own phase of work and rest.
            let busy = !(tick / 40 + thread as u64 * 3).is_multiple_of([5, 4, 4, 3][thread]);
            if busy && !rng.one_in(3) {
                sample(&mut builder, &mut rng, time_ns + 40 + lateness(tick, thread), thread);
            }
        }
    }
    builder.recording.rows.sort_by_key(|row| row.time_ns);
    builder.recording
}

fn sample(builder: &mut Builder, rng: &mut Rng, time_ns: u64, thread: usize) {
    let row = match rng.one_in(90) {
        true => builder.row(time_ns, thread, ""),
        false => {
            let (entry, stack) = activity(rng, thread);
            builder.row(time_ns, thread, &format!("{entry} {stack}"))
        }
    };
    let core = rng.below(10) as u32;
    row.core = Some((core, if core < 4 { CoreKind::Efficiency } else { CoreKind::Performance }));
    row.thread_name = usize::from(thread == WORKER_1 && time_ns > 350_000_000);
}

fn activity(rng: &mut Rng, thread: usize) -> (&'static str, &'static str) {
    let choices = WORK.iter().filter(|work| work.0 == thread);
    let total: u64 = choices.clone().map(|work| work.1).sum();
    let mut left = rng.below(total);
    for &(_, often, entry, stack) in choices {
        if left < often {
            return (entry, stack);
        }
        left -= often;
    }
    unreachable!("the shares add up to the total")
}

/// Timers fire slightly late, by an amount that depends on the thread.
fn lateness(tick: u64, thread: usize) -> u64 {
    (tick * 7_919 + thread as u64 * 104_729) % 900
}
