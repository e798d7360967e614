//! The activity of threads in recordings of waiting threads: the state decides, or else the stack.

use serde_json::{Value, json};

use crate::command::{Folder, json as answer_of, ok};

/// A thread of a spindump report: its head, and its frames with their states from the root to the leaf. `*` precedes a frame of the kernel.
fn thread(tid: u32, head: &str, frames: &[&str]) -> String {
    let lines = frames.iter().enumerate().map(|(depth, frame)| {
        let (mark, frame) = frame.strip_prefix('*').map_or(("", *frame), |frame| ("*", frame));
        format!("{:>width$}50  {frame}\n", mark, width = 2 + 2 * depth)
    });
    format!(
        "  Thread {tid:#x}    {head}    50 samples (1-50)    priority 46 (base 46)\n{}\n",
        lines.collect::<String>()
    )
}

const IMAGES: &str = "\
\x20          0x100000000 -        0x1000fffff  App (1.0)              <11111111-2222-3333-4444-555555555555>  /Applications/App.app/Contents/MacOS/App\n\
\x20          0x300000000 -        0x3000fffff  libsystem_kernel.dylib <11111111-2222-3333-4444-555555555557>  /usr/lib/system/libsystem_kernel.dylib\n\
\x20  *0xffffff8000000000 - 0xffffff8000ffffff  pthread (1)            <11111111-2222-3333-4444-555555555559>  /System/Library/Extensions/pthread.kext/Contents/MacOS/pthread\n\
";

/// A report of a hang of `App`, in a version with states, or without.
fn report(version: u32, threads: &[String]) -> String {
    format!(
        "Date/Time:        2025-12-17 19:00:41.615 -0500\nEnd time:         2025-12-17 19:00:48.846 -0500\n\
         OS Version:       macOS 14.5 (Build 23F79)\nArchitecture:     arm64e\nReport Version:   {version}\n\n\
         Data Source:      Stackshots\n\nCommand:          App\nPath:             /Applications/App.app/Contents/MacOS/App\n\
         PID:              100\n\nEvent:            hang\nDuration:         5.00s\nSteps:            50 (100ms sampling interval)\n\n\
         Process:          App [100]\nPath:             /Applications/App.app/Contents/MacOS/App\nNum samples:      50 (1-50)\n\n\
         {}  Binary Images:\n{IMAGES}\n",
        threads.concat()
    )
}

const MAIN: &str = "DispatchQueue \"com.apple.main-thread\"(1)";
const SAVE: [&str; 2] = ["main + 20 (App + 4096) [0x100001000]", "Store.save() + 8 (App + 8192) [0x100002000]"];
const LOCK: &str = "__psynch_mutexwait + 8 (libsystem_kernel.dylib + 300) [0x30000012c]";
const POOL: &str = "Pool.run() + 4 (App + 20480) [0x100005000]";
const PARKED: &str = "__psynch_cvwait + 8 (libsystem_kernel.dylib + 500) [0x3000001f4]";

/// A hang in a lock, below frames of the kernel; a worker that runs; and parked workers.
fn hang(version: u32) -> String {
    let in_lock = "*psynch_mtxcontinue + 0 (pthread + 100) [0xffffff8000000064]";
    let parked = "*psynch_cvcontinue + 0 (pthread + 200) [0xffffff80000000c8]";
    let state = if version >= 25 { " (running)" } else { "" };
    let run = format!("compress + 4 (App + 16384) [0x100004000]{state}");
    let mut threads = vec![
        thread(1, MAIN, &[SAVE[0], SAVE[1], LOCK, in_lock]),
        thread(2, "Thread name \"saver\"", &["Store.flush() + 4 (App + 12288) [0x100003000]", &run]),
    ];
    threads.extend((3..=12).map(|tid| thread(tid, &format!("Thread name \"pool {tid}\""), &[POOL, PARKED, parked])));
    report(version, &threads)
}

fn overview(path: &str, options: &[&str]) -> (Value, String) {
    let answer = answer_of(&[&[path, "--view", "overview"], options].concat());
    let overview = answer["overview"][0].clone();
    let lines = overview["sentences"]["answer"].as_array().expect("lines");
    let sentence = lines.iter().map(|line| line.as_str().expect("a text")).collect::<Vec<_>>().join(" ");
    (overview, sentence)
}

fn samples(overview: &Value, share: &str) -> u64 {
    overview["shares"][share]["samples"].as_u64().expect("a number")
}

#[test]
fn the_hung_thread_and_the_running_worker_are_the_answer() {
    let folder = Folder::new();
    let by_functions = ", by the functions that threads are in";
    for (version, runs, by) in [(35, "runs", ""), (20, "runs or could run", by_functions)] {
        let path = folder.file("hang.txt", hang(version));
        let (found, sentence) = overview(&path, &[]);
        assert_eq!(
            sentence,
            format!(
                "Waiting: 91.7% of the samples{by}. Main: Main Thread waits for a lock in 50 of 50 samples, below Store.save(). \
                 Running: compress (App) {runs} on thread saver in 50 of 50 samples, called by Store.flush()."
            )
        );
        assert_eq!([samples(&found, "waiting"), samples(&found, "own")], [550, 50]);
        let main = &found["main_thread"];
        assert_eq!([&main["waits_for"], &main["asked_by"]], [&json!("a lock"), &json!("Store.save()")]);
        let skipped = ok(&[&path, "--skip-idle", "--view", "threads"]);
        assert!(
            skipped.contains("saver") && !skipped.contains("Main Thread") && !skipped.contains("pool"),
            "{skipped}"
        );
        // A thread's activity stays known, even if its stack no longer shows it.
        let (charged, sentence) = overview(&path, &["--charge-system"]);
        assert_eq!([samples(&charged, "waiting"), samples(&charged, "own")], [550, 50], "{sentence}");
        assert!(sentence.contains("compress (App)"), "{sentence}");
        let (skipped, _) = overview(&path, &["--charge-system", "--skip-idle"]);
        assert_eq!([samples(&skipped, "waiting"), samples(&skipped, "own")], [0, 50]);
    }
}

#[test]
fn states_win_over_stacks() {
    let folder = Folder::new();
    // A thread that runs in a system call, a thread that waits in app code, a thread without a core, and the thread of an idle core.
    let spins = format!("{LOCK} (running)");
    let queued = "work + 4 (App + 16384) [0x100004000] (runnable)";
    let threads = [
        thread(1, MAIN, &[SAVE[0], SAVE[1], &spins]),
        thread(2, "Thread name \"faults\"", &["fault + 4 (App + 16384) [0x100004000]"]),
        thread(3, "Thread name \"starved\"", &[queued]),
        thread(4, "Thread name \"idle core\"", &["idle_thread + 4 (App + 20480) [0x100005000] (running)"])
            .replace("priority 46 (base 46)", "priority 0 (base 0)    cpu time <0.001s  idle time 4.9s"),
    ];
    let (found, sentence) = overview(&folder.file("states.txt", report(35, &threads)), &[]);
    let shares = ["waiting", "queued", "idle", "own"].map(|share| samples(&found, share));
    assert_eq!(shares, [50, 50, 50, 50], "{sentence}");
    assert_eq!(
        sentence,
        "Main: Main Thread runs in 50 of 50 samples. Running: Store.save() (App) runs on Main Thread in 50 of 50 samples."
    );
    let tree = ok(&[&folder.path("states.txt"), "--view", "tree", "--color", "never"]);
    assert!(!tree.contains("~__psynch_mutexwait"), "{tree}");
    let left = ok(&[&folder.path("states.txt"), "--skip-idle", "--view", "threads"]);
    assert!(left.contains("starved") && left.contains("Main Thread") && !left.contains("faults"), "{left}");
    assert!(!left.contains("idle core"), "{left}");
}

#[test]
fn an_endless_loop_runs_although_it_is_in_every_sample() {
    let folder = Folder::new();
    let path = folder.file(
        "loop.txt",
        "Analysis of sampling App (pid 100) every 1 millisecond\nProcess:         App [100]\n\
         Path:            /Applications/App.app/Contents/MacOS/App\nReport Version:  7\nAnalysis Tool:   /usr/bin/sample\n----\n\n\
         Call graph:\n    800 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)\n    \
         + 800 main  (in App) + 20  [0x100001014]\n    +   800 Store.save()  (in App) + 8  [0x100002008]\n    \
         +     800 __psynch_mutexwait  (in libsystem_kernel.dylib) + 8  [0x300000008]\n    800 Thread_2: saver\n      \
         800 Store.flush()  (in App) + 4  [0x100003004]\n        800 spinForever()  (in App) + 4  [0x100004004]\n\n\
         Total number in stack (recursive counted multiple, when >=5):\n\n\
         Sort by top of stack, same collapsed (when >= 5):\n        __psynch_mutexwait  (in libsystem_kernel.dylib)        800\n        \
         spinForever()  (in App)        800\n\nBinary Images:\n       0x100000000 -        0x10000ffff +App (1.0 - 1) \
         <11111111-2222-3333-4444-555555555555> /Applications/App.app/Contents/MacOS/App\n",
    );
    let (found, sentence) = overview(&path, &[]);
    assert_eq!([samples(&found, "waiting"), samples(&found, "own")], [800, 800]);
    assert_eq!(
        sentence,
        "Main: Main Thread waits for a lock in 800 of 800 samples, below Store.save(). Running: spinForever() (App) runs or could run on \
         thread saver in 800 of 800 samples, called by Store.flush()."
    );
    let tree = ok(&[&path, "--view", "tree", "--color", "never"]);
    assert!(tree.contains("~__psynch_mutexwait") && tree.contains("*spinForever()"), "{tree}");
    let inverted = ok(&[&path, "--invert", "--view", "tree", "--color", "never"]);
    assert!(inverted.contains("~__psynch_mutexwait") && !inverted.contains("~main"), "{inverted}");
}
