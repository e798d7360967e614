//! Operations on stacks, through the command. Expected results are computed here, sample by sample, from `--view samples`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::command::{csv, fails, finish, fixture, json, ok, orchard, stderr_of, stdout_of, traceparse, warns};

/// Name and binary of a function.
type Function = (String, String);
type Stack = Vec<Function>;
/// By function: self weight, all weight, and samples of both.
type Functions = BTreeMap<Function, [u64; 4]>;

struct Sample {
    thread: String,
    weight: u64,
    /// Root first; of samples without stack, nothing.
    stack: Stack,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn function(row: &Value) -> Function {
    (text(&row["function"]), text(&row["binary"]))
}

/// The samples of an export, as they are without operations.
fn samples(args: &[&str]) -> Vec<Sample> {
    let answer = json(&[args, &["--view", "samples"]].concat());
    let rows = answer["samples"].as_array().expect("samples").iter();
    let sample = |row: &Value| Sample {
        thread: text(&row["thread"]),
        weight: number(&row["weight"]),
        stack: row["stack"].as_array().map(|stack| stack.iter().map(function).collect()).unwrap_or_default(),
    };
    rows.map(sample).collect()
}

/// The samples that `operate` leaves; `None` removes one.
fn left(samples: &[Sample], operate: impl Fn(Stack) -> Option<Stack>) -> Vec<Sample> {
    let left = |sample: &Sample| {
        let stack = operate(sample.stack.clone())?;
        Some(Sample { thread: sample.thread.clone(), weight: sample.weight, stack })
    };
    samples.iter().filter_map(left).collect()
}

fn functions(samples: &[Sample]) -> Functions {
    let mut functions = Functions::new();
    for Sample { weight, stack, .. } in samples {
        let mut stack = stack.clone();
        if stack.is_empty() {
            stack.push(("[no stack recorded]".to_owned(), String::new()));
        }
        let own = functions.entry(stack.last().expect("a leaf").clone()).or_default();
        *own = [own[0] + weight, own[1], own[2] + 1, own[3]];
        for function in BTreeSet::from_iter(stack) {
            let all = functions.entry(function).or_default();
            *all = [all[0], all[1] + weight, all[2], all[3] + 1];
        }
    }
    functions
}

fn functions_shown(answer: &Value) -> Functions {
    let fields = ["self_weight", "all_weight", "self_samples", "samples"];
    let rows = answer["functions"].as_array().expect("functions").iter();
    rows.map(|row| (function(row), fields.map(|field| number(&row[field])))).collect()
}

fn weight(samples: &[Sample]) -> u64 {
    samples.iter().map(|sample| sample.weight).sum()
}

/// The command with `options` shows what `operate` leaves, and says what the operation did.
#[track_caller]
fn check(export: &[&str], options: &[&str], operate: impl Fn(Stack) -> Option<Stack>) {
    let before = samples(export);
    let after = left(&before, &operate);
    let answer = json(&[export, &["--view", "functions"], options].concat());
    assert_eq!(functions_shown(&answer), functions(&after), "{options:?}");
    let removed = (weight(&before) - weight(&after), (before.len() - after.len()) as u64);
    let moved = before
        .iter()
        .filter(|sample| operate(sample.stack.clone()).is_some_and(|stack| stack.last() != sample.stack.last()));
    let changed = before
        .iter()
        .filter(|sample| operate(sample.stack.clone()).is_some_and(|stack| stack.len() < sample.stack.len()));
    let (moved, changed) = (moved.map(|sample| sample.weight).sum::<u64>(), changed.count() as u64);
    assert!(removed.0 + moved + changed > 0, "{options:?} does nothing here");
    let operations = answer["operations"].as_array().expect("operations");
    assert_eq!(operations.len(), 1, "{options:?}");
    let shown = &operations[0]["series"][0];
    let amount = |name: &str| (number(&shown[name]["weight"]), number(&shown[name]["samples"]));
    assert_eq!(amount("removed"), removed, "{options:?}");
    assert_eq!(amount("moved").0, moved, "{options:?}");
    assert_eq!(number(&shown["changed_samples"]), changed, "{options:?}");
    assert_eq!(operations[0]["operation"], options_as_typed(options));
    assert_eq!(answer["series"][0]["all_weight"], weight(&after), "{options:?}");
}

fn options_as_typed(options: &[&str]) -> String {
    match options {
        [name, value] => format!("{name} '{value}'"),
        _ => options.join(" "),
    }
}

fn has(part: &'static str) -> impl Fn(&Function) -> bool {
    move |(name, _)| name.contains(part)
}

/// Without chosen functions; where nothing else is there, the outermost one stays.
fn charged(stack: Stack, is_chosen: impl Fn(&Function) -> bool) -> Stack {
    let rest: Stack = stack.iter().filter(|function| !is_chosen(function)).cloned().collect();
    if rest.is_empty() { stack.into_iter().take(1).collect() } else { rest }
}

/// These are the binaries of the fixtures in `/usr/lib`; the others lie in the app.
fn is_system((_, binary): &Function) -> bool {
    binary == "dyld" || binary.starts_with("libsystem_")
}

/// Removes everything between two calls of one function: each function is followed by the callee of its last call.
fn without_recursion(stack: Stack) -> Stack {
    let mut rest = Stack::new();
    let mut next = 0;
    while next < stack.len() {
        let last = stack.iter().rposition(|function| *function == stack[next]).expect("it is there");
        rest.push(stack[next].clone());
        next = last + 1;
    }
    rest
}

#[test]
fn samples_are_kept_or_removed_by_their_functions() {
    let export = orchard();
    let export = [export.as_str()];
    check(&export, &["--focus", "fruit_"], |stack| stack.iter().any(has("fruit_")).then_some(stack));
    check(&export, &["--prune", "fruit_(copy|free)"], |stack| {
        let is_chosen = |function: &Function| has("fruit_copy")(function) || has("fruit_free")(function);
        (!stack.iter().any(is_chosen)).then_some(stack)
    });
    check(&export, &["--root-at", "grind"], |stack| {
        stack.iter().position(has("grind")).map(|root| stack[root..].to_vec())
    });
    check(&export, &["--focus", "^main$"], |stack| stack.iter().any(|(name, _)| name == "main").then_some(stack));
}

#[test]
fn functions_are_taken_out_of_stacks() {
    let export = orchard();
    let export = [export.as_str()];
    check(&export, &["--charge", "fruit_"], |stack| Some(charged(stack, has("fruit_"))));
    check(&export, &["--charge", "."], |stack| Some(charged(stack, |_| true)));
    check(&export, &["--charge-binary", "Orchard"], |stack| Some(charged(stack, |(_, binary)| binary == "Orchard")));
    check(&export, &["--charge-system"], |stack| Some(charged(stack, is_system)));
    check(&export, &["--collapse", "grind|fruit_"], |mut stack| {
        let end = stack.iter().position(|function| has("grind")(function) || has("fruit_")(function));
        stack.truncate(end.map_or(usize::MAX, |end| end + 1));
        Some(stack)
    });
    check(&export, &["--flatten-binary", "Orchard"], |mut stack| {
        stack.dedup_by(|callee, caller| callee.1 == "Orchard" && caller.1 == "Orchard");
        Some(stack)
    });
    check(&export, &["--flatten-recursion"], |stack| Some(without_recursion(stack)));
    check(&export, &["--hide-system"], |stack| {
        let rest: Stack = stack.iter().filter(|function| !is_system(function)).cloned().collect();
        (stack.is_empty() || !rest.is_empty()).then_some(rest)
    });
}

/// A stack of system functions only: charged, its outermost function stays; hidden, its weight goes.
#[test]
fn stacks_of_the_systems_functions_only_are_charged_or_hidden() {
    let export = orchard();
    let others = ["--charge-binary", "Orchard", "--charge-binary", "OrchardKit", "--charge-binary", "libfruit.dylib"];
    let args = |last: &'static str| [&[export.as_str(), "--view", "functions"], &others[..], &[last]].concat();
    // The rest of most stacks is in libsystem_pthread.dylib or dyld; two samples have code in no binary.
    let whole = weight(&samples(&[&export]));
    let left_over = |stack: Stack| {
        let binaries = ["Orchard", "OrchardKit", "libfruit.dylib"];
        binaries.iter().fold(stack, |stack, name| charged(stack, |(_, binary)| binary == name))
    };
    let expected = left(&samples(&[&export]), |stack| {
        let rest = left_over(stack);
        (rest.is_empty() || !rest.iter().all(is_system)).then(|| rest.into_iter().filter(|f| !is_system(f)).collect())
    });
    let hidden = json(&args("--hide-system"));
    assert_eq!(functions_shown(&hidden), functions(&expected));
    let removed = number(&hidden["operations"][3]["series"][0]["removed"]["weight"]);
    assert_eq!(removed, whole - weight(&expected));
    assert!(removed > 0);
    let charged_system = json(&args("--charge-system"));
    assert_eq!(number(&charged_system["series"][0]["all_weight"]), whole);
    let expected = left(&samples(&[&export]), |stack| Some(charged(left_over(stack), is_system)));
    assert_eq!(functions_shown(&charged_system), functions(&expected));
}

#[test]
fn threads_that_wait_are_left_out() {
    let export = fixture("27/time-profile-waiting");
    let export = [export.as_str(), "--state", "all"];
    check(&export, &["--skip-idle"], |stack| {
        stack.last().is_none_or(|(name, _)| name != "__psynch_cvwait").then_some(stack)
    });
    // Two of six wait in that function.
    assert_eq!(json(&[&export[..], &["--view", "summary", "--skip-idle"]].concat())["series"][0]["samples"], 4);
}

#[test]
fn the_order_of_the_command_line_tells() {
    let export = orchard();
    let copy = "fruit_copy_fast";
    // Taken out first, nobody has it.
    let error = fails(1, &[&export, "--charge", copy, "--focus", copy]);
    assert!(error.contains("--focus 'fruit_copy_fast' removed the last ones"), "{error}");
    let answer = json(&[&export, "--view", "functions", "--focus", copy, "--charge", copy]);
    let focused = left(&samples(&[&export]), |stack| {
        stack.iter().any(has("fruit_copy_fast")).then(|| charged(stack, has("fruit_copy_fast")))
    });
    assert_eq!(functions_shown(&answer), functions(&focused));
    let told: Vec<&Value> = answer["operations"].as_array().unwrap().iter().map(|row| &row["operation"]).collect();
    assert_eq!(told, ["--focus 'fruit_copy_fast'", "--charge 'fruit_copy_fast'"]);

    // The same with options of other kinds between them, and one of them twice.
    let order = ["--flatten-recursion", "--root-at", "grind", "--charge-binary", "Orchard", "--root-at", "fruit"];
    let answer = json(&[&[export.as_str(), "--view", "functions"], &order[..]].concat());
    let root_at = |stack: &Stack, part: &'static str| stack.iter().position(has(part)).map(|at| stack[at..].to_vec());
    let expected = left(&samples(&[&export]), |stack| {
        let stack = root_at(&without_recursion(stack), "grind")?;
        root_at(&charged(stack, |(_, binary)| binary == "Orchard"), "fruit")
    });
    assert_eq!(functions_shown(&answer), functions(&expected));
}

#[test]
fn what_is_removed_is_said() {
    let export = orchard();
    let prune = [export.as_str(), "--prune", "^main$"];
    let removed = left(&samples(&[&export]), |stack| stack.iter().any(|(name, _)| name == "main").then_some(stack));
    let millis = weight(&removed) / 1_000_000;
    let said = format!("removed by --prune '^main$': {millis}.00 ms in {} samples", removed.len());
    for view in ["summary", "tree", "functions", "threads"] {
        let text = ok(&[&prune[..], &["--view", view]].concat());
        assert!(text.contains(&said), "{view}: {text}");
    }
    let others =
        ["folded", "svg", "d3", "firefox", "speedscope", "chrome-trace", "pprof"].map(|format| ["--format", format]);
    let tables = ["csv", "ndjson"].map(|format| ["--view", "functions", "--format", format]);
    for args in others.iter().map(|args| &args[..]).chain(tables.iter().map(|args| &args[..])) {
        let assert = finish(&mut traceparse(&[&prune[..], args].concat())).success();
        assert_eq!(stderr_of(&assert).trim_end(), format!("note: {said}"), "{args:?}");
    }
    // What only changes stacks removes nothing.
    ok(&[&export, "--view", "functions", "--format", "csv", "--charge", "fruit"]);
}

#[test]
fn functions_that_are_not_there_are_warned_of() {
    let export = orchard();
    for option in ["--prune", "--charge", "--charge-binary", "--flatten-binary"] {
        let table = [export.as_str(), "--view", "functions", "--format", "csv"];
        let (text, message) = warns(&[&table[..], &[option, "nobody"]].concat());
        assert_eq!(message, format!("warning: {option} 'nobody': matches no function of the recording\n"));
        assert_eq!(text, ok(&table));
    }
    for option in ["--focus", "--root-at"] {
        let message = fails(1, &[&export, option, "nobody"]);
        assert!(message.contains("matches no function of the recording"), "{message}");
        assert!(message.contains(&format!("no samples are left: {option} 'nobody'")), "{message}");
    }
    // Part of a binary's name is none.
    warns(&[&export, "--view", "functions", "--charge-binary", "Orch"]);
}

#[test]
fn regular_expressions_must_be_some() {
    for option in ["--focus", "--root-at", "--prune", "--charge", "--collapse"] {
        assert!(fails(2, &["no-such-file.xml", option, "("]).contains(option));
    }
}

/// Samples of threads that wait are left, but they do not count.
#[test]
fn nothing_left_is_an_error() {
    let waiting = fixture("27/time-profile-waiting");
    for options in [&["--prune", "."][..], &["--focus", "cvwait"], &["--thread", "Main Thread", "--prune", "."]] {
        let message = fails(1, &[&[waiting.as_str()], options].concat());
        assert!(message.contains("no samples are left: --"), "{message}");
    }
    ok(&[&waiting, "--focus", "cvwait", "--state", "all"]);
    ok(&[&waiting, "--focus", "cvwait", "--view", "states"]);
}

/// Trees that start at the leaves: weights of their first level are self weights, and all nodes are those of turned stacks.
#[test]
fn trees_are_turned_round() {
    let export = orchard();
    let mut nodes: BTreeMap<Stack, u64> = BTreeMap::new();
    for sample in samples(&[&export]).iter().filter(|sample| !sample.stack.is_empty()) {
        let turned: Stack = sample.stack.iter().rev().cloned().collect();
        for end in 1..=turned.len() {
            *nodes.entry(turned[..end].to_vec()).or_default() += sample.weight;
        }
    }
    let tree = |args: &[&str]| csv(&[&[export.as_str(), "--no-threads"], args].concat());
    let rows = tree(&["--view", "bottom-up"]);
    assert_eq!(rows, tree(&["--view", "tree", "--invert"]));
    let at = |name: &str| rows[0].iter().position(|title| title == name).expect("the column is there");
    let (depth, all, name, binary) = (at("depth"), at("all_weight"), at("function"), at("binary"));
    let mut path = Stack::new();
    for row in rows[1..].iter().filter(|row| row[depth] != "0" && row[name] != "[no stack recorded]") {
        path.truncate(row[depth].parse::<usize>().unwrap() - 1);
        path.push((row[name].clone(), row[binary].clone()));
        assert_eq!(nodes.remove(&path).map(|weight| weight.to_string()).as_ref(), Some(&row[all]), "{path:?}");
    }
    assert!(nodes.is_empty(), "{nodes:?}");
    // Turning round comes last, wherever it stands.
    let order = |args: &[&str]| tree(&[&["--view", "tree"], args].concat());
    let last = order(&["--charge", "grind", "--invert"]);
    assert_eq!(order(&["--invert", "--charge", "grind"]), last);
    assert_ne!(last, order(&["--invert"]));
}

#[test]
fn the_main_thread_is_chosen() {
    let export = orchard();
    let main = |args: &[&str]| ok(&[&[export.as_str(), "--view", "full"], args].concat());
    assert_eq!(main(&["--only-main-thread"]), main(&["--thread", "Main Thread"]));
    assert_eq!(
        main(&["--only-main-thread", "--process", "Orchard", "--thread", "Main Thread"]),
        main(&["--thread", "Main Thread"])
    );
    assert!(fails(1, &[&export, "--only-main-thread", "--thread", "render"]).contains("no sample passes the filters"));
    let rows = csv(&[&export, "--view", "threads", "--only-main-thread"]);
    let weight =
        weight(&samples(&[&export]).into_iter().filter(|sample| sample.thread == "Main Thread").collect::<Vec<_>>());
    assert_eq!(rows.len(), 2);
    assert!(rows[1].contains(&weight.to_string()), "{rows:?}");
}

#[test]
fn light_nodes_are_hidden() {
    let export = orchard();
    let nodes = |args: &[&str]| -> Vec<[String; 3]> {
        let rows = csv(&[&[export.as_str(), "--view", "tree", "--no-threads"], args].concat());
        let at = |name: &str| rows[0].iter().position(|title| title == name).expect("the column is there");
        let places = ["depth", "all_weight", "function"].map(at);
        rows[1..].iter().map(|row| places.map(|place| row[place].clone())).collect()
    };
    let all = nodes(&[]);
    let heavy: Vec<_> = all.iter().filter(|row| row[1].parse::<u64>().unwrap() >= 20_000_000).cloned().collect();
    assert!(heavy.len() > 5 && heavy.len() < all.len());
    for limit in ["20ms", "20000000", "20M", "20000k", "0.02s"] {
        assert_eq!(nodes(&["--min-weight", limit]), heavy, "{limit}");
    }
    let cycles = fixture("27/cpu-profile");
    let message = fails(2, &[&cycles, "--min-weight", "5ms"]);
    assert!(message.contains("--min-weight") && message.contains("cycles"), "{message}");
    let number = csv(&[&cycles, "--view", "tree", "--min-weight", "1M"]);
    assert!(number.len() > 1 && number.len() < csv(&[&cycles, "--view", "tree"]).len());
    assert!(fails(2, &[&cycles, "--min-weight", "much"]).contains("--min-weight"));
}

#[test]
fn tables_may_have_their_first_rows_only() {
    let views = ["functions", "binaries", "lines", "transitions", "threads"].map(|view| ("27/orchard", view));
    let system_wide = [("26.4/time-profile", "processes"), ("27/time-profile-waiting", "states")];
    for (case, view) in views.into_iter().chain(system_wide) {
        let export = fixture(case);
        let all = csv(&[&export, "--view", view]);
        assert!(all.len() > 2, "{view}");
        let args = [export.as_str(), "--view", view, "--format", "csv"];
        let first = stdout_of(&finish(&mut traceparse(&[&args[..], &["--top", "1"]].concat())).success());
        assert!(first.lines().eq(ok(&args).lines().take(2)), "{view}: {first}");
        assert_eq!(csv(&[&export, "--view", view, "--top", "9999"]), all, "{view}");
        let text = ok(&[&export, "--view", view, "--top", "1", "--min-percent", "0"]);
        let more = match (all.len() - 2, view) {
            (1, "processes") => "1 more process after".to_owned(),
            (1, _) => format!("1 more {}", view.trim_end_matches('s')),
            (more, _) => format!("{more} more {view}"),
        };
        assert!(text.contains(&more), "{text}");
    }
}

/// From the root on, always the heaviest callee, of equal ones the first by name.
#[test]
fn the_heaviest_stack_of_each_thread() {
    let export = orchard();
    let samples = samples(&[&export]);
    let rows = csv(&[&export, "--view", "heaviest"]);
    let at = |name: &str| rows[0].iter().position(|title| title == name).expect("the column is there");
    let places = ["thread", "depth", "all_weight", "self_weight", "samples", "function", "binary"].map(at);
    let shown: BTreeSet<[String; 7]> = rows[1..].iter().map(|row| places.map(|place| row[place].clone())).collect();
    let mut expected = BTreeSet::new();
    for thread in BTreeSet::from_iter(samples.iter().map(|sample| &sample.thread)) {
        let mut path = Stack::new();
        loop {
            let below = samples.iter().filter(|s| s.thread == *thread && s.stack.starts_with(&path));
            let mut callees: BTreeMap<&Function, [u64; 3]> = BTreeMap::new();
            for sample in below.filter(|sample| sample.stack.len() > path.len()) {
                let [all, own, count] = callees.entry(&sample.stack[path.len()]).or_default();
                *all += sample.weight;
                *own += if sample.stack.len() == path.len() + 1 { sample.weight } else { 0 };
                *count += 1;
            }
            let heaviest = callees.iter().rev().max_by_key(|(_, numbers)| numbers[0]);
            let Some((&function, [all, own, count])) = heaviest else { break };
            path.push(function.clone());
            let [all, own, count, depth] = [*all, *own, *count, path.len() as u64].map(|number| number.to_string());
            expected.insert([thread.clone(), depth, all, own, count, function.0.clone(), function.1.clone()]);
        }
    }
    assert_eq!(shown, expected);
    assert_eq!(rows.len() - 1, expected.len());
}

/// The callers and callees of a function: with recursion, those outside of it.
#[test]
fn callers_and_callees_of_a_function() {
    let export = orchard();
    let samples = samples(&[&export]);
    for name in ["fruit_copy_fast", "orchard::Press::grind(orchard::Apple const*, unsigned long)", "start"] {
        let mut expected: BTreeMap<(String, Function), [u64; 2]> = BTreeMap::new();
        let mut add = |relation: &str, function: &Function, weight: u64| {
            let [all, count] = expected.entry((relation.to_owned(), function.clone())).or_default();
            (*all, *count) = (*all + weight, *count + 1);
        };
        for Sample { weight, stack, .. } in &samples {
            let Some(first) = stack.iter().position(|function| function.0 == name) else { continue };
            let last = stack.iter().rposition(|function| function.0 == name).expect("the same");
            add("all", &stack[first], *weight);
            let nobody = ("[the thread itself]".to_owned(), String::new());
            add("caller", first.checked_sub(1).map_or(&nobody, |caller| &stack[caller]), *weight);
            match stack.get(last + 1) {
                Some(callee) => add("callee", callee, *weight),
                None => add("self", &stack[last], *weight),
            }
        }
        let answer = json(&[&export, "--function", name]);
        let rows = answer["sandwich"].as_array().expect("rows").iter();
        let row = |row: &Value| {
            let key = (text(&row["relation"]), function(row));
            (key, [number(&row["weight"]), number(&row["samples"])])
        };
        // A function that is never the leaf has a row that says so.
        let shown: BTreeMap<_, _> = rows.map(row).filter(|(key, numbers)| key.0 != "self" || numbers[1] > 0).collect();
        assert_eq!(shown, expected, "{name}");
        assert_eq!(answer, json(&[&export, "--function", name, "--view", "functions"]));
    }
    let filtered = ok(&[&export, "--function", "_pthread_start", "--thread", "Main Thread"]);
    assert!(filtered.contains("no sample that counts has \"_pthread_start\""), "{filtered}");
}

#[test]
fn a_function_that_is_not_there_is_an_error() {
    let export = orchard();
    for format in ["text", "json", "csv"] {
        let args = [export.as_str(), "--view", "functions", "--format", format, "--function"];
        let message = fails(1, &[&args[..], &["fruit_copy_slow"]].concat());
        assert!(
            message.contains("no function is named 'fruit_copy_slow'; the nearest: 'fruit_copy_fast'"),
            "{message}"
        );
        let message = fails(1, &[&args[..], &["fruit_copy_fast(float*)"]].concat());
        assert!(message.contains("the nearest: 'fruit_copy_fast'"), "{message}");
        let message = fails(1, &[&args[..], &["nope"]].concat());
        assert!(message.contains("no function is named 'nope'; list all functions with --view functions"), "{message}");
    }
    // One input that has it is enough.
    let other = fixture("27/time-profile-waiting");
    assert!(fails(1, &[&other, "--function", "fruit_copy_fast"]).contains("no function is named"));
    assert!(ok(&[&export, &other, "--function", "fruit_copy_fast"]).contains("fruit_copy_fast"));
}

/// Every format has the samples that operations leave, and no others.
#[test]
fn formats_have_what_is_left() {
    let export = orchard();
    let options = [export.as_str(), "--focus", "grind", "--charge-system"];
    let whole = weight(&left(&samples(&[&export]), |stack| stack.iter().any(has("grind")).then_some(stack)));
    let folded = stdout_of(&finish(&mut traceparse(&[&options[..], &["--format", "folded"]].concat())).success());
    let weights =
        folded.lines().map(|line| line.rsplit(' ').next().and_then(|n| n.parse::<u64>().ok()).expect("a weight"));
    assert_eq!(weights.sum::<u64>(), whole);
    assert!(folded.contains("grind") && !folded.contains("thread_start"), "{folded}");
    let speedscope =
        stdout_of(&finish(&mut traceparse(&[&options[..], &["--format", "speedscope"]].concat())).success());
    let file: Value = serde_json::from_str(&speedscope).expect("JSON");
    let profiles = file["profiles"].as_array().expect("profiles").iter();
    assert_eq!(profiles.map(|profile| number(&profile["endValue"])).sum::<u64>(), whole);
}
