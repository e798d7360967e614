//! The overview has the same shares as the other views, answers flat profiles with subtrees, and shows the work of the heaviest function.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::answer::recordings;
use crate::command::{Folder, finish, ok, orchard, stderr_of, stdout_of, traceparse};

/// An export of stacks, each with its thread and milliseconds. Frames are `BINARY!FUNCTION`, the outermost first.
fn export(stacks: &[(&str, u64, Vec<String>)]) -> String {
    let mut rows = String::new();
    for (at, (thread, weight, frames)) in stacks.iter().enumerate() {
        let mut backtrace = String::new();
        for frame in frames.iter().rev() {
            let (binary, name) = frame.split_once('!').expect("BINARY!FUNCTION");
            let path = match binary {
                "Shop" => "/private/var/containers/Bundle/Application/A/Shop.app/Shop".to_owned(),
                library => format!("/usr/lib/{library}"),
            };
            let name = name.replace('<', "&lt;").replace('>', "&gt;");
            write!(
                backtrace,
                r#"<frame name="{name}" addr="0x1000"><binary name="{binary}" path="{path}" UUID="00000000-0000-0000-0000-0000000000{:02}" arch="arm64" load-addr="0x1000"/></frame>"#,
                // Binaries with the same UUID are one.
                binary.bytes().map(u64::from).sum::<u64>() % 100
            )
            .expect("a string");
        }
        let backtrace = match frames.is_empty() {
            true => "<sentinel/>".to_owned(),
            false => format!("<backtrace>{backtrace}</backtrace>"),
        };
        let tid = 1 + u64::from(*thread != "Main Thread");
        write!(
            rows,
            r#"<row><sample-time>{at}000000</sample-time><thread fmt="{thread} {tid:#x} (Shop, pid: 7)"><tid>{tid}</tid><process fmt="Shop (7)"><pid>7</pid></process></thread><weight>{weight}000000</weight>{backtrace}</row>"#
        )
        .expect("a string");
    }
    let column = |name: &str| format!("<col><mnemonic>{name}</mnemonic></col>");
    let columns: String = ["time", "thread", "weight", "stack"].map(column).concat();
    let table = format!(r#"<schema name="time-profile">{columns}</schema>{rows}"#);
    let node = format!("<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{table}</node>");
    format!(r#"<?xml version="1.0"?><trace-query-result>{node}</trace-query-result>"#)
}

fn stack(frames: &[&str]) -> Vec<String> {
    frames.iter().map(|&frame| frame.to_owned()).collect()
}

fn text(path: &str) -> String {
    stdout_of(&finish(traceparse(&[path]).env("COLUMNS", "80")).success())
}

/// The text of the overview without its line breaks.
fn overview(folder: &Folder, stacks: &[(&str, u64, Vec<String>)]) -> String {
    let path = folder.file("shop.xml", export(stacks));
    text(&path).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_flat_profile_is_answered_by_its_subtrees() {
    let mut stacks = Vec::new();
    for part in 0..11 {
        let draw = format!("Shop!-[Renderer draw{part}]");
        let link = [
            "dyld!start",
            "Shop!main",
            "UIKitCore!UIApplicationMain",
            "QuartzCore!CA::Display::DisplayLinkItem::dispatch",
        ];
        stacks.push(("Main Thread", 2, [stack(&link), stack(&["Shop!-[Renderer tick:]"]), vec![draw]].concat()));
    }
    for part in 0..13 {
        let frames = ["libsystem_pthread.dylib!_pthread_start", "Shop!IndexPass::run()"];
        stacks.push(("com.example.index", 1, [stack(&frames), vec![format!("Shop!IndexPass::step{part}()")]].concat()));
    }
    for part in 0..65 {
        let frames = ["dyld!start", "Shop!main", "UIKitCore!UIApplicationMain"];
        stacks.push(("Main Thread", 1, [stack(&frames), vec![format!("Shop!sdk_{part}")]].concat()));
    }
    let folder = Folder::new();
    let text = overview(&folder, &stacks);
    let expected = "no single function of yours dominates 22.0% -[Renderer tick:] Main Thread, for each frame of the screen \
                    13.0% IndexPass::run() com.example.index 65.0% or more in other code";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("-[Renderer draw3] Main Thread 2.0% in at least one more function"), "{text}");
}

#[test]
fn the_heaviest_function_is_answered_with_its_work() {
    let total = ["dyld!start", "Shop!main", "Shop!Report.total(of:)"];
    let below = |frames: &[&str]| [stack(&total), stack(frames)].concat();
    let map = "libswiftCore.dylib!Collection.map<A>(_:)";
    let stacks = [
        ("Main Thread", 20, below(&[])),
        ("Main Thread", 50, below(&[map])),
        ("Main Thread", 30, below(&[map, "libswiftCore.dylib!swift_retain"])),
    ];
    let text = overview(&Folder::new(), &stacks);
    let expected = "100.0% 100.0% Report.total(of:) Shop 20.0% itself 80.0% calls to Collection.map<A>(_:) \
                    80.0% work: unspecialised Swift generics, as in debug builds 30.0% work: retaining and releasing objects";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn freeing_an_address_is_no_allocation() {
    let stack_of = |leaf: &str| stack(&["Shop!main", "Shop!look_up", leaf]);
    let stacks = [
        ("Main Thread", 60, stack_of("libsystem_info.dylib!freeaddrinfo")),
        ("Main Thread", 40, stack_of("libsystem_c.dylib!free")),
    ];
    let text = overview(&Folder::new(), &stacks);
    assert!(text.contains("40.0% work: allocating and freeing memory"), "{text}");
}

#[test]
fn samples_without_a_stack_are_no_other_code() {
    let part = |part: u32| ("Main Thread", 4, stack(&["Shop!main", "Shop!run", &format!("Shop!g{part}")]));
    let mut stacks: Vec<_> = (0..10).map(part).collect();
    stacks.push(("Main Thread", 60, Vec::new()));
    let text = overview(&Folder::new(), &stacks);
    assert!(text.contains("40.0% run Shop") && !text.contains("in other code"), "{text}");
}

#[test]
fn callers_have_the_weight_of_their_calls() {
    let below = |frames: &[&str]| [stack(&["Shop!main", "Shop!run"]), stack(frames)].concat();
    let part = |part: u32| ("Main Thread", 18, below(&["Shop!a", "Shop!f", &format!("Shop!g{part}")]));
    // Most samples with it as the leaf are below `b`, and most of its calls come from `a`, through a system function.
    let mut stacks: Vec<_> = (0..4).map(part).collect();
    stacks.push(("Main Thread", 10, below(&["Shop!a", "libfruit.dylib!apply", "Shop!f"])));
    stacks.push(("Main Thread", 45, below(&["Shop!b", "Shop!f"])));
    let text = overview(&Folder::new(), &stacks);
    let expected = "43.3% 100.0% f Shop 64.6% called by a 35.4% called by b 100.0% below run 14.2%";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_recursive_function_has_its_self_weight() {
    let stacks = [
        ("Main Thread", 50, stack(&["Shop!main", "Shop!hot", "Shop!mid", "Shop!hot"])),
        ("Main Thread", 50, stack(&["Shop!main", "Shop!hot"])),
    ];
    let text = overview(&Folder::new(), &stacks);
    assert!(text.contains("100.0% 100.0% hot Shop 100.0% itself 50.0% calls to mid"), "{text}");
}

/// The recordings that can be read, each with its overview as JSON.
fn overviews() -> impl Iterator<Item = (String, Vec<u8>)> {
    recordings().into_iter().filter_map(|path| {
        let output =
            traceparse(&[&path, "--view", "overview", "--format", "json"]).output().expect("the command starts");
        output.status.success().then_some((path, output.stdout))
    })
}

#[test]
fn shares_are_those_of_the_table_of_functions() {
    let mut compared = 0;
    for (path, json) in overviews() {
        assert!(json.len() <= 8 << 10, "{path}: {} bytes", json.len());
        let answer: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        let table = finish(&mut traceparse(&[&path, "--view", "functions", "--format", "json"]));
        let table: serde_json::Value = serde_json::from_str(&stdout_of(&table)).expect("JSON");
        let mut all: HashMap<(u64, &str), Vec<u64>> = HashMap::new();
        for row in table["functions"].as_array().expect("functions") {
            let key = (row["series"].as_u64().expect("an index"), row["function"].as_str().expect("a name"));
            all.entry(key).or_default().push(row["all_weight"].as_u64().expect("a weight"));
        }
        for overview in answer["overview"].as_array().expect("series") {
            let named = ["answers", "subtrees"].iter().flat_map(|list| overview[list].as_array().expect("a list"));
            for function in named {
                let key =
                    (overview["series"].as_u64().expect("an index"), function["function"].as_str().expect("a name"));
                assert!(all[&key].contains(&function["all_weight"].as_u64().expect("a weight")), "{path}: {function}");
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared} functions");
}

/// The rows of `traceparse uuid FILE`: name, samples and percentage.
fn wanted(path: &str) -> Vec<(String, u64, f64)> {
    let answer = finish(&mut traceparse(&["uuid", path, "--format", "json"]));
    let answer: serde_json::Value = serde_json::from_str(&stdout_of(&answer)).expect("JSON");
    let rows = answer["wanted"].as_array().expect("wanted").iter().map(|row| {
        let name = row["name"].as_str().expect("a name").to_owned();
        (name, row["samples"].as_u64().expect("samples"), row["percent"].as_f64().expect("a percentage"))
    });
    rows.collect()
}

#[test]
fn wanted_symbols_are_listed_by_their_share_of_the_samples() {
    let sampled = |count: usize, frames: &[&str]| vec![("Main Thread", 1, stack(frames)); count];
    let stacks = [
        sampled(2, &["Shop!main", "Shop!0x1000", "libobjc.dylib!objc_retain"]),
        sampled(3, &["Shop!main", "Shop!0x1000", "libicucore.dylib!0x1000"]),
        sampled(1, &["dyld!0x1000", "Shop!main", "Shop!draw", "libicucore.dylib!0x1000"]),
        sampled(4, &["dyld!0x1000", "Shop!main", "Shop!draw"]),
    ];
    let path = Folder::new();
    let path = path.file("shop.xml", export(&stacks.concat()));
    let expected = [("Shop", 5, 50.0), ("libicucore.dylib", 1, 10.0), ("dyld", 0, 0.0)];
    assert_eq!(wanted(&path), expected.map(|(name, samples, percent)| (name.to_owned(), samples, percent)));
    let text = text(&path);
    assert!(
        text.contains("have no name and hide 60.0% of the weight") && text.contains("traceparse uuid FILE"),
        "{text}"
    );
}

#[test]
fn wanted_symbols_and_the_overview_count_the_same_samples() {
    let mut compared = 0;
    for (path, json) in overviews() {
        let answer: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        let samples = |overview: &serde_json::Value| overview["nameless"]["samples"].as_u64().expect("samples");
        let nameless: u64 = answer["overview"].as_array().expect("series").iter().map(samples).sum();
        let wanted: u64 = wanted(&path).iter().map(|(_, samples, _)| samples).sum();
        match answer["unnamed"]["without_binary"].as_u64() {
            Some(0) => assert_eq!(wanted, nameless, "{path}"),
            _ => assert!(wanted <= nameless, "{path}: {wanted} of {nameless}"),
        }
        compared += usize::from(wanted > 0);
    }
    assert!(compared > 3, "{compared} recordings");
}

#[test]
fn a_recording_without_app_code_is_answered_by_its_subtree() {
    let Some(corpus) = std::env::var_os("TRACEPARSE_CORPUS") else { return };
    let path = std::path::Path::new(&corpus).join("xctrace/26.2/finder.trace.zip");
    let text = text(path.to_str().expect("UTF-8"));
    let start: String = text.lines().take(14).collect();
    assert!(start.contains("91.6%") && start.contains("98.3%"), "{text}");
}

#[test]
fn shares_of_a_part_name_their_whole() {
    let x = orchard();
    let function = ok(&[&x, "--function", "orchard::Press::squeeze(orchard::Crate const&)"]);
    let whole = "  the function: 260.00 ms, 53.6% of 485.00 ms; the percentages below are relative to the 260.00 ms\n";
    assert!(function.contains(whole), "{function}");
    let focus = ok(&[&x, "--focus", "squeeze", "--view", "functions"]);
    assert!(focus.contains("  all percentages are relative to the 260.00 ms that are left\n"), "{focus}");
    assert!(!ok(&[&x, "--charge", "squeeze", "--view", "functions"]).contains("that are left"), "nothing is removed");
}

#[test]
fn finds_methods_without_their_brackets() {
    let folder = Folder::new();
    let methods = [("orchard::checksum(unsigned char const*, unsigned long)", "-[TreeView draw]")];
    let x = folder.edited("27/orchard", &[&methods[..], &[("fruit_free", "-[TreeView drawAll]")]].concat());
    let run = finish(&mut traceparse(&[&x, "--function", "TreeView draw"])).success();
    let (shown, note) = (stdout_of(&run), stderr_of(&run));
    assert!(shown.contains("-[TreeView draw]") && !shown.contains("drawAll"), "{shown}");
    assert!(note.contains("note: --function 'TreeView draw': -[TreeView draw]"), "{note}");
}
