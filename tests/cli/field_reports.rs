//! Fleets of MetricKit diagnostics, with the command. `tests/oracles/field_reports.rs` compares all numbers with an oracle.

use serde_json::{Value, json};

use crate::command::{Folder, fails, finish, ok, stdout_of, traceparse, warns};
use crate::fleet_case::write;

/// A payload with one diagnostic, whose attributed thread has 3 samples in `work` and 1 in `wait`, and another thread has 4.
pub(crate) fn payload(kind: &str, key: &str, quantity: &str, version: &str) -> String {
    let frame = |offset: u64, count: u64, callees: &[Value]| {
        json!({"binaryUUID": "1672554C-5C48-3600-AEF8-97F330B62C10", "binaryName": "Orchard", "address": 0x1_0000_0000 + offset,
               "offsetIntoBinaryTextSegment": offset, "sampleCount": count, "subFrames": callees})
    };
    let main = frame(0x100, 4, &[frame(0x200, 3, &[]), frame(0x300, 1, &[])]);
    let threads = json!([{"threadAttributed": true, "callStackRootFrames": [main]},
                         {"threadAttributed": false, "callStackRootFrames": [frame(0x400, 4, &[])]}]);
    json!({"timeStampBegin": "2024-05-01 00:00:00 +0000", (format!("{kind}Diagnostics")): [{
        "callStackTree": {"callStackPerThread": true, "callStacks": threads},
        "diagnosticMetaData": {(key): quantity, "appVersion": version, "bundleIdentifier": "com.example.Orchard"},
    }]})
    .to_string()
}

/// Everything in an app runs below `main`, which is recognised by its caller if it has no name.
#[test]
fn main_without_a_name_owns_only_its_own_work() {
    let frame = |binary: &str, offset: u64, count: u64, callees: &[Value]| {
        json!({"binaryUUID": format!("1672554C-5C48-3600-AEF8-97F330B62C{:02}", binary.len()), "binaryName": binary, "subFrames": callees,
               "address": if binary == "Orchard" { 0x1_0000_0000 } else { 0x1_9000_0000 + 0x100_0000 * binary.len() as u64 } + offset, "offsetIntoBinaryTextSegment": offset, "sampleCount": count})
    };
    let answer = |callees: &[Value]| {
        let uikit = frame("UIKitCore", 0x40, 9, callees);
        let stack = frame("dyld", 0x10, 10, &[frame("Orchard", 0x100, 10, &[uikit, frame("Orchard", 0x900, 1, &[])])]);
        let text = json!({"hangDiagnostics": [{
            "callStackTree": {"callStackPerThread": true, "callStacks": [{"threadAttributed": true, "callStackRootFrames": [stack]}]},
            "diagnosticMetaData": {"hangDuration": "2 sec", "bundleIdentifier": "com.example.Orchard"},
        }]});
        let folder = Folder::new();
        write(&folder, "hang.json", text.to_string());
        ok(&[&folder.path("hang.json")])
    };
    let system = answer(&[]);
    for part in ["10.0% your code, with the system code that it calls", "90.0% other system and runtime code"] {
        assert!(system.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {system}");
    }
    let own = answer(&[frame("Orchard", 0x300, 9, &[frame("UIKitCore", 0x50, 9, &[])])]);
    assert!(own.contains(" 90.0%   90.0%  0x300  Orchard"), "{own}");
}

/// Three hangs of one to three seconds in version 1.0, one hang in 2.0, and diagnostics without a quantity.
fn diagnostics() -> (Folder, String) {
    let folder = Folder::new();
    let hang = |length: &str, version: &str| payload("hang", "hangDuration", length, version);
    let three = ["1 sec", "2,0 s", "3000 ms"].map(|length| hang(length, "1.0"));
    write(&folder, "diagnostics/1.0.ndjson", three.join("\n"));
    write(&folder, "diagnostics/2.0.json", hang("20秒", "2.0"));
    write(&folder, "diagnostics/unclear.json", hang("1,234 ms", "2.0"));
    write(&folder, "diagnostics/launch.json", payload("appLaunch", "launchDuration", "soon", "2.0"));
    write(&folder, "diagnostics/writes.json", payload("diskWriteException", "writesCaused", "2 MB", "2.0"));
    write(&folder, "diagnostics/settings.json", "{}");
    let path = folder.path("diagnostics");
    (folder, path)
}

fn report(input: &str) -> Value {
    let args = ["fleet", "report", input, "--by", "app_version", "--format", "json"];
    serde_json::from_slice(&finish(&mut traceparse(&args)).success().get_output().stdout).unwrap()
}

/// The hangs of a week in one file, one per line.
#[test]
fn reads_files_with_many_diagnostics() {
    let folder = Folder::new();
    let hang = |length: &str| payload("hang", "hangDuration", length, "1.0") + "\n";
    write(&folder, "hangs/week1.ndjson", hang("90 sec").repeat(10_001));
    write(&folder, "hangs/week2.ndjson", hang("2 sec").repeat(30));
    let input = folder.path("hangs");
    for (rule, code) in [("hang.p50 > 60 s", 3), ("hang.p50 > 100 s", 0)] {
        let args = ["fleet", "report", &input, "--alert", rule];
        let text = crate::command::stdout_of(&finish(&mut traceparse(&args)).code(code));
        assert!(text.contains("Fleet: 10,031 reports in 1 cohort"), "{text}");
    }
    let args = ["fleet", "report", &input, "--format", "csv"];
    let csv = crate::command::stdout_of(&finish(&mut traceparse(&args)).success());
    assert!(csv.contains("week1.ndjson (run 1)"), "{csv}");
    let zipped = folder.path("hangs/week1.ndjson.gz");
    let mut writer = flate2::write::GzEncoder::new(std::fs::File::create(zipped).unwrap(), flate2::Compression::fast());
    std::io::Write::write_all(&mut writer, hang("90 sec").repeat(10_001).as_bytes()).unwrap();
    writer.finish().unwrap();
    std::fs::remove_file(folder.path("hangs/week1.ndjson")).unwrap();
    finish(&mut traceparse(&["fleet", "report", &input, "--alert", "hang.p50 > 60 s"])).code(3);
    // The largest part of the reports is in a file that cannot be read.
    write(&folder, "hangs/week1.ndjson", hang("90 sec").repeat(10) + "{");
    let args = ["fleet", "report", &folder.path("hangs/week1.ndjson"), "--alert", "hang.p50 > 60 s"];
    finish(&mut traceparse(&args)).code(1);
}

#[test]
fn reports_are_measured_by_what_they_state() {
    let (folder, input) = diagnostics();
    let found = report(&input);
    let cohort = |row: &Value| {
        let across = &row["across_runs"];
        json!([
            row["unit"],
            row["labels"]["app_version"],
            across["count"],
            across["mean"],
            across["max"],
            row["within_runs"]
        ])
    };
    let cohorts: Vec<Value> = found["cohorts"].as_array().unwrap().iter().map(cohort).collect();
    let expected = [
        json!(["hang_ns", "1.0", 3, 2000.0, 3000.0, null]),
        json!(["hang_ns", "2.0", 1, 20000.0, 20000.0, null]),
        json!(["written_bytes", "2.0", 1, 2.0, 2.0, null]),
    ];
    assert_eq!(cohorts, expected);
    assert_eq!(found["inputs"]["failed"].as_array().unwrap().len(), 2, "what has no quantity gives no run");
    assert!(found["runs"].as_array().unwrap().iter().all(|run| run["wall_ns"].is_null()));
    let dataset = folder.path("dataset");
    finish(&mut traceparse(&["fleet", "extract", &input, "-o", &dataset, "--stacks"])).success();
    assert_eq!(report(&dataset)["cohorts"][0]["across_runs"]["mean"], 2000.0);
    let said = fails(1, &["fleet", "tree", &dataset]);
    assert!(said.contains("--where diagnostic=hang"), "{said}");
    let (tree, warning) = warns(&["fleet", "tree", &dataset, "--where", "diagnostic=hang", "--format", "folded"]);
    assert!(warning.contains("1 file produced no run"), "{warning}");
    let tree: Vec<&str> = tree.lines().collect();
    // One function has three of the four main thread samples in 26 s. All unnamed code of a binary is one function.
    let stack = "com.example.Orchard;Main Thread;(unnamed) (in Orchard);(unnamed) (in Orchard) 26000000000";
    assert_eq!(tree, [stack]);
}

#[test]
fn reports_have_alerts_and_comparisons() {
    let (_folder, input) = diagnostics();
    for (rule, code) in
        [("hang.max > 10 s", 3), ("hang.max > 1 hour", 2), ("hang.mean > 0.5 min", 4), ("writes.max >= 2 MB", 3)]
    {
        finish(&mut traceparse(&["fleet", "report", &input, "--alert", rule])).code(code);
    }
    let sides = ["compare", &input, "--base", "app_version=1.0", "--new", "app_version=2.0"];
    let said = fails(1, &[&sides[..], &["--where", "diagnostic=disk-write"]].concat());
    assert!(said.contains("base"), "{said}");
    let compared = finish(&mut traceparse(&[&sides[..], &["--where", "diagnostic=hang", "--format", "json"]].concat()));
    let compared: Value = serde_json::from_slice(&compared.get_output().stdout).unwrap();
    assert_eq!(compared["measures"][0]["value_unit"], "ms/hang", "{compared:#}");
}

#[test]
fn runs_behind_a_function_are_listed() {
    let (_folder, input) = diagnostics();
    let tree = ["fleet", "tree", &input, "--where", "diagnostic=hang"];
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&warns(&[&tree[..], args, &["--format", "json"]].concat()).0).unwrap()
    };
    let name = "(unnamed) (in Orchard)";
    let runs = json(&["--runs-of", name]);
    let weights: Vec<u64> =
        runs["rows"].as_array().unwrap().iter().map(|row| row["weight"].as_u64().unwrap()).collect();
    assert_eq!(weights, [20, 3, 2, 1].map(|seconds| seconds * 1_000_000_000), "{runs:#}");
    // No function has both a caller and a callee.
    let chain = ["--runs-of", name].repeat(3);
    let said = fails(1, &[&tree[..], &chain].concat());
    assert!(said.contains("in no run does each call the next one"), "{said}");
    let said = fails(1, &[&tree[..], &["--runs-of", &name[..name.len() - 2]]].concat());
    assert!(said.contains(&format!("similar: {name}")), "{said}");
    let said = fails(2, &[&tree[..], &["--runs-of", name, "--format", "svg"]].concat());
    assert!(said.contains("--runs-of only applies to --format text, json and csv"), "{said}");
}

#[test]
fn reports_have_their_position_as_number_whatever_is_read() {
    let folder = Folder::new();
    let day = json!({"timeStampBegin": "2024-05-01 07:00:00 +0000", "metaData": {}, "appVersion": "1.0",
        "cpuMetrics": {"cumulativeCPUTime": "9 sec"},
        "applicationTimeMetrics": {"cumulativeForegroundTime": "90 sec", "cumulativeBackgroundTime": "0 sec"}});
    let hang = |length: &str| payload("hang", "hangDuration", length, "1.0");
    write(&folder, "all.ndjson", [day.to_string(), hang("1 sec"), day.to_string(), hang("2 sec")].join("\n"));
    let input = folder.path("all.ndjson");
    let json = |args: &[&str]| -> Value {
        let output = finish(&mut traceparse(args)).success().get_output().stdout.clone();
        serde_json::from_slice(&output).unwrap()
    };
    let hangs = ["--where", "diagnostic=hang", "--format", "json"];
    let report = json(&[&["fleet", "report", &input][..], &hangs].concat());
    let numbers: Vec<&Value> = report["runs"].as_array().unwrap().iter().map(|run| &run["run"]).collect();
    assert_eq!(numbers, [2, 4]);
    let name = "(unnamed) (in Orchard)";
    let runs = json(&[&["fleet", "tree", &input, "--runs-of", name][..], &hangs].concat());
    let numbers: Vec<&Value> = runs["rows"].as_array().unwrap().iter().map(|run| &run["run"]).collect();
    assert_eq!(numbers, [4, 2]);
    let (text, _) = warns(&[&input, "--run", "4"]);
    assert!(text.contains("hang of 2 sec"), "{text}");
    let text = ok(&["fleet", "report", &input, "--where", "diagnostic=hang"]);
    assert!(text.contains("all.ndjson --run 4 --view functions"), "{text}");
}

/// A day of metrics in Canada, with a launch in each of these bins.
fn day(foreground: &str, bins: &[(&str, &str)]) -> String {
    let bins = bins.iter().enumerate().map(|(index, (start, end))| {
        (index.to_string(), json!({"bucketCount": 1, "bucketStart": start, "bucketEnd": end}))
    });
    let bins: serde_json::Map<String, Value> = bins.collect();
    json!({
        "timeStampBegin": "2024-05-01 00:00:00 +0000", "metaData": {"regionFormat": "CA"},
        "cpuMetrics": {"cumulativeCPUTime": "100 sec"},
        "applicationTimeMetrics": {"cumulativeForegroundTime": foreground},
        "applicationLaunchMetrics": {"histogrammedTimeToFirstDrawKey": {"histogramValue": bins}},
    })
    .to_string()
}

#[test]
fn values_from_1000_on_count_and_unread_ones_fail_if_strict() {
    let folder = Folder::new();
    let launches = [("1,970 ms", "1,979 ms"), ("2,970 ms", "2,979 ms")];
    let input = folder.path("metrics.json");
    write(&folder, "metrics.json", day("2,000 sec", &launches));
    let args = ["fleet", "report", &input, "--strict", "--format", "json"];
    let output = finish(&mut traceparse(&args)).success();
    let report: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert_eq!(report["cohorts"][0]["across_runs"]["max"], 50.0, "{report:#}");
    let text = ok(&["fleet", "report", &input]);
    assert!(text.contains("1.97 – 1.98 s"), "{text}");
    for (foreground, bins, word) in [
        ("many sec", launches, "\"many sec\" is not a time or size"),
        ("2,000 sec", [("1 ms", "2 ms"), ("3 ms", "9 parsecs")], "\"9 parsecs\""),
    ] {
        write(&folder, "metrics.json", day(foreground, &bins));
        let (_, warnings) = warns(&["fleet", "report", &input]);
        assert!(warnings.contains(word), "{warnings}");
        finish(&mut traceparse(&args)).code(1);
    }
    write(&folder, "hang.json", payload("hang", "hangDuration", "1,234 ms", "1.0"));
    let hang = folder.path("hang.json");
    assert!(warns(&[&hang]).1.contains("has a different value in different languages"));
    assert!(fails(1, &[&hang, "--strict"]).contains("1 value could not be read"));
    assert!(fails(1, &["fleet", "report", &hang]).contains("of hang-diagnostic could not be read"));
}

#[test]
fn a_dataset_says_that_bins_are_missing() {
    let folder = Folder::new();
    let bins = json!({"0": {"bucketCount": 3, "bucketStart": "250 ms", "bucketEnd": "260 ms"}});
    let mut day = json!({"timeStampBegin": "2024-05-01 07:00:00 +0000", "metaData": {}, "appVersion": "2.0",
        "applicationResponsivenessMetrics": {"histogrammedAppHangTime": {"histogramNumBuckets": 1, "histogramValue": bins}}});
    write(&folder, "metrics/day.json", day.to_string());
    let only_bins = ok(&["fleet", "report", &folder.path("metrics")]);
    assert!(only_bins.contains("Only binned hang and launch times are known.\n"), "{only_bins}");
    let judged = finish(&mut traceparse(&["fleet", "report", &folder.path("metrics"), "--alert", "cpu.p95 > 80"]));
    assert!(stdout_of(&judged.code(4)).contains("binned durations have no measure"));
    day["cpuMetrics"] = json!({"cumulativeCPUTime": "9 sec"});
    day["applicationTimeMetrics"] = json!({"cumulativeForegroundTime": "90 sec", "cumulativeBackgroundTime": "0 sec"});
    write(&folder, "metrics/day.json", day.to_string());
    let [metrics, dataset] = ["metrics", "metrics.dataset"].map(|name| folder.path(name));
    finish(&mut traceparse(&["fleet", "extract", &metrics, "-o", &dataset])).success();
    let said = |input: &str| {
        let output = finish(&mut traceparse(&["fleet", "report", input])).success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    let (direct, stored) = (said(&metrics), said(&dataset));
    assert!(direct.contains("hang times from metrics") && !direct.contains("are missing"), "{direct}");
    assert!(
        stored.contains("binned hang and launch times are missing") && !stored.contains("hang times from metrics"),
        "{stored}"
    );
}

#[test]
fn times_cannot_be_selected() {
    let (folder, _) = diagnostics();
    let said = fails(1, &["fleet", "report", &folder.path("diagnostics/2.0.json"), "--time", "0s..1s"]);
    assert!(said.contains("no times"), "{said}");
}

/// A crash of a version in a function of the app at an offset, below a function of the system; another thread has a stack, too.
fn crash(version: &str, offset: u64) -> String {
    let frame = |name: &str, address: u64, callers: &[Value]| json!({"binaryName": name, "address": address, "offsetIntoBinaryTextSegment": address & 0xfff, "sampleCount": 1, "subFrames": callers});
    let app = frame("Orchard", 0x1_0000_0000 + offset, &[frame("dyld", 0x1_9000_0010, &[])]);
    let crashed = frame("libsystem_kernel.dylib", 0x1_a000_0020, &[app]);
    let other = frame("libsystem_kernel.dylib", 0x1_a000_0030, &[]);
    let threads = json!([{"threadAttributed": false, "callStackRootFrames": [other]},
                         {"threadAttributed": true, "callStackRootFrames": [crashed]}]);
    json!({"timeStampBegin": "2024-05-01 00:00:00 +0000", "crashDiagnostics": [{
        "callStackTree": {"callStackPerThread": true, "callStacks": threads},
        "diagnosticMetaData": {"exceptionType": 10, "exceptionCode": 0, "signal": 6, "terminationReason": "Namespace SIGNAL, Code 0x6",
            "exceptionReason": {"exceptionName": "NSRangeException", "composedMessage": "5 is beyond bounds"},
            "virtualMemoryRegionInfo": "0 is not in any region.\n  REGION TYPE", "appVersion": version, "bundleIdentifier": "com.example.Orchard",
            "osVersion": "iPhone OS 17.5 (21F79)"},
    }]})
    .to_string()
}

#[test]
fn a_crash_shows_what_happened_and_no_shares() {
    let folder = Folder::new();
    write(&folder, "crash.json", crash("1.0", 0x200));
    let text = ok(&[&folder.path("crash.json")]);
    for part in [
        "crash exception EXC_CRASH (10) · code 0 · signal SIGABRT (6)",
        "Namespace SIGNAL, Code 0x6",
        "NSRangeException: 5 is beyond bounds",
        "0 is not in any region.",
        "Thread 1 crashed in 0x20",
        "0x200 (Orchard)",
        "   0   0x20  libsystem_kernel.dylib\n   1 * 0x200  Orchard\n   2   0x10  dyld\n",
    ] {
        let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(part) || text.contains(part), "{part}: {text}");
    }
    for word in ["%", "sample", "CPU", "REGION TYPE"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let json: Value =
        serde_json::from_str(&ok(&[&folder.path("crash.json"), "--view", "overview", "--format", "json"])).unwrap();
    let overview = &json["overview"][0];
    assert_eq!(json["series"][0]["meaning"], "stop");
    assert_eq!(overview["stop"]["facts"]["exception"], "EXC_CRASH (10)");
    assert_eq!(overview["stop"]["facts"]["termination"], "Namespace SIGNAL, Code 0x6");
    assert_eq!((&overview["stop"]["app_function"], &overview["shares"]), (&json!(1), &Value::Null));
    let stack: Vec<&Value> = overview["stop"]["stack"].as_array().unwrap().iter().map(|row| &row["category"]).collect();
    assert_eq!(stack, ["system", "user", "runtime"]);
    assert!(overview["sentences"]["shares"].as_str().unwrap().starts_with("Its stack: 0x20 (libsystem_"));
    // Only one thread can have caused it.
    write(&folder, "two.json", crash("1.0", 0x200).replace("\"threadAttributed\":false", "\"threadAttributed\":true"));
    let text = ok(&[&folder.path("two.json")]).replace("\n  ", " ");
    assert!(text.contains("does not identify the thread"), "{text}");
}

#[test]
fn fleets_count_crashes_by_the_innermost_function_of_the_app() {
    let folder = Folder::new();
    let of = |version: &str| format!("{}\n{}", crash(version, 0x200), crash(version, 0x300));
    write(&folder, "crashes/1.0.ndjson", of("1.0"));
    write(
        &folder,
        "crashes/1.1.ndjson",
        format!("{}\n{}", of("1.1"), crash("1.1", 0x200).replace("\"Orchard\"", "\"CFNetwork\"")),
    );
    write(&folder, "crashes/hang.json", payload("hang", "hangDuration", "2 sec", "1.0"));
    let input = folder.path("crashes");
    let text = ok(&["fleet", "report", &input]);
    assert!(text.contains("5 crashes in 2 places; 4 in code without names (Orchard)."), "{text}");
    assert!(text.contains("Fleet: 1 report in 1 cohort"), "{text}");
    let counted = |input: &str| report(input)["crashes"].clone();
    let row = |version: &str, place: &str, count: u64| json!({"labels": {"app_version": version}, "crashed_in": place, "crashes": count});
    let without = "(unnamed) (libsystem_kernel.dylib), without app code";
    let expected =
        json!([row("1.0", "(unnamed) (Orchard)", 2), row("1.1", "(unnamed) (Orchard)", 2), row("1.1", without, 1)]);
    assert_eq!(counted(&input), expected);
    // A dataset contains them as well.
    finish(&mut traceparse(&["fleet", "extract", &input, "-o", &folder.path("dataset")])).success();
    assert_eq!(counted(&folder.path("dataset")), expected);
    // Crashes alone also make a report.
    std::fs::remove_file(folder.path("crashes/hang.json")).unwrap();
    assert!(ok(&["fleet", "report", &input]).contains("5 crashes in 2 places"));
    let judged = finish(&mut traceparse(&["fleet", "report", &input, "--alert", "cpu.p95 > 80"])).code(4);
    let text = stdout_of(&judged);
    assert!(
        text.contains("5 crashes in 2 places") && text.contains("crashes and binned durations have no measure"),
        "{text}"
    );
}

#[test]
fn files_of_app_store_connect_are_read() {
    let folder = Folder::new();
    let frame = |symbol: &str, binary: &str, count: u64, callees: &[Value]| {
        json!({"symbolName": symbol, "binaryName": binary, "binaryUUID": "1672554C-5C48-3600-AEF8-97F330B62C10", "address": "1f00",
               "offsetIntoBinaryTextSegment": "7000", "lineNumber": "", "sampleCount": count, "subFrames": callees})
    };
    let roots = json!([frame("start", "Orchard", 12, &[frame("Store.save()", "Orchard", 9, &[])])]);
    let log = json!({"callStackTree": [{"callStackPerThread": false, "callStacks": [{"callStackRootFrames": roots}]}],
        "diagnosticMetaData": {"bundleId": "com.example.Orchard", "event": "hang", "eventDetail": "2 sec", "buildVersion": "3", "appVersion": "1.2"}});
    let logs = json!({"productData": [{"signatureId": "s1", "diagnosticLogs": [log]}], "version": "1.0"});
    write(&folder, "logs.json", logs.to_string());
    let text = ok(&[&folder.path("logs.json")]);
    assert!(text.contains("hang of 2 sec") && text.contains("75.0%   75.0%  Store.save()  Orchard"), "{text}");
    let fleet = ok(&["fleet", "report", &folder.path("logs.json"), "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&fleet).unwrap()["cohorts"][0]["across_runs"]["mean"], 2000.0);
    let points = json!([{"version": "1.1", "value": 1.5, "errorMargin": 0.1}, {"version": "1.2", "value": 2}]);
    let filter =
        json!({"percentile": "percentile.ninety", "device": "all_iphones", "deviceMarketingName": "All iPhones"});
    let metric = json!({"identifier": "hangRate", "unit": {"identifier": "s/hr"}, "datasets": [{"filterCriteria": filter, "points": points}]});
    let metrics = json!({"productData": [{"platform": "IOS", "metricCategories": [{"identifier": "HANG", "metrics": [metric]}]}]});
    write(&folder, "metrics.json", metrics.to_string());
    let text = ok(&[&folder.path("metrics.json")]);
    assert!(text.contains("    1.5 s/hr ± 0.1  hangRate · P90 · All iPhones · version 1.1\n"), "{text}");
    assert!(text.contains("            2 s/hr  hangRate · P90 · All iPhones · version 1.2\n"), "{text}");
    let said =
        crate::command::stderr_of(&finish(&mut traceparse(&["fleet", "report", &folder.path("metrics.json")])).code(1));
    assert!(said.contains("percentiles over all users, which cannot be added to others"), "{said}");
}

#[test]
fn a_tree_names_the_missing_symbols_of_the_app() {
    let (_folder, input) = diagnostics();
    let (tree, _) = warns(&["fleet", "tree", &input, "--where", "diagnostic=hang"]);
    assert!(
        tree.contains("\n\nCode of Orchard has no names: pass its dSYM with --dsym PATH; traceparse uuid FILE has"),
        "{tree}"
    );
}

#[test]
fn reports_of_all_kinds_fit_on_a_screen() {
    let folder = Folder::new();
    let kinds = [
        ("hang", "hangDuration", "s"),
        ("appLaunch", "launchDuration", "s"),
        ("cpuException", "totalCPUTime", "s"),
        ("diskWriteException", "writesCaused", "MB"),
    ];
    for (kind, key, unit) in kinds {
        let lines: Vec<String> = (1..=12).map(|value| payload(kind, key, &format!("{value} {unit}"), "1.0")).collect();
        write(&folder, &format!("reports/{kind}.ndjson"), lines.join("\n"));
    }
    write(&folder, "reports/crash.ndjson", (1..6).map(|at| crash("1.0", at << 4)).collect::<Vec<_>>().join("\n"));
    let input = folder.path("reports");
    for by in [&[][..], &["--by", "app_version"]] {
        let text = ok(&[&["fleet", "report", &input][..], by].concat());
        assert!(text.lines().count() <= 40, "{text}");
        assert!(text.contains("5 crashes") && text.contains("Hang time across reports"), "{text}");
    }
}

/// The first lines, JSON and `--strict` report what a report leaves out.
#[test]
fn tells_what_is_left_out_of_reports() {
    let folder = Folder::new();
    let sample = include_str!("../../fixtures/sample/demo.sample.txt");
    let spindump = include_str!("../fuzz/corpus/spindump/heavy");
    let hang = payload("hang", "hangDuration", "1 sec", "1.0");
    for (name, text, left_out, all, reason) in [
        (
            "sample.txt",
            sample.replace("    1998 Thread_172301", "    1998 Novel_172301"),
            1_998,
            4_005,
            "unread-thread",
        ),
        ("spindump.txt", spindump.replace("Thread 0xec0,0xec1", "Thread novel"), 4, 26, "unread-thread"),
        (
            "spindump2.txt",
            spindump.replace("Process:          kernel", "Novel:            kernel"),
            11,
            26,
            "unread-process",
        ),
        (
            "hang.json",
            hang.replacen("\"sampleCount\":4,\"subFrames\":[]", "\"samples\":4,\"subFrames\":[]", 1),
            1,
            5,
            "unread-thread",
        ),
        (
            "hang2.json",
            format!("{hang}\n{}", hang.replace("hangDiagnostics", "novelDiagnostics")),
            1,
            1,
            "unread-process",
        ),
    ] {
        write(&folder, name, text);
        let path = folder.path(name);
        let (overview, warning) = warns(&[&path]);
        assert!(warning.contains("left out: "), "{name}: {warning}");
        let rejected = format!("{left_out} of {} row", traceparse::units::counted(all));
        assert!(!name.ends_with(".txt") || overview.contains(&rejected), "{name}: {overview}");
        let report = finish(&mut traceparse(&[&path, "--format", "json"])).success();
        let report: Value = serde_json::from_slice(&report.get_output().stdout).unwrap();
        let tables = report["tables"].as_array().unwrap();
        let table = tables.iter().find(|table| table["rejected"]["total"] != 0).unwrap_or_else(|| panic!("{report:#}"));
        assert_eq!((&table["rejected"]["reasons"][reason], &table["rows"]), (&json!(left_out), &json!(all)), "{name}");
        let text = fails(1, &[&path, "--strict"]);
        assert!(text.contains("could not be read (--strict makes this an error)"), "{name}: {text}");
    }
}

#[test]
fn counts_reports_in_folders_that_fleets_do_not_measure() {
    let (folder, path) = diagnostics();
    write(&folder, "diagnostics/a.sample.txt", include_str!("../../fixtures/sample/demo.sample.txt"));
    write(&folder, "diagnostics/b.spin", include_str!("../fuzz/corpus/spindump/heavy"));
    write(&folder, "diagnostics/c.ips", "{\"bug_type\":\"298\"}\n{}");
    write(&folder, "diagnostics/copy.txt", "Weight\tSelf Weight\t\tSymbol Name\n4.93 s  100.0%\t4.93 s\t \tmain\n");
    write(&folder, "diagnostics/readme.txt", "a text");
    let (_, warning) = warns(&["fleet", "report", &path]);
    assert!(warning.contains("4 reports skipped, such as ") && warning.contains("a.sample.txt"), "{warning}");
}

/// The symbols of a system binary depend on the system.
#[test]
fn lists_the_systems_of_binaries_without_symbols() {
    let folder = Folder::new();
    let binary = "\"binaryName\":\"libsystem_kernel.dylib\"";
    let with_uuid = format!("{binary},\"binaryUUID\":\"1672554C-5C48-3600-AEF8-97F330B62C10\"");
    let report = crash("1.0", 0x200).replace(binary, &with_uuid);
    write(&folder, "17.json", &report);
    write(&folder, "18.json", report.replace("17.5 (21F79)", "18.0 (22A3354)"));
    let [seventeen, eighteen] = ["17.json", "18.json"].map(|name| folder.path(name));
    let wanted = |paths: &[&str]| -> Value {
        let json = ok(&[&["uuid", "--format", "json"][..], paths].concat());
        serde_json::from_str::<Value>(&json).unwrap()["wanted"].clone()
    };
    let systems = ["iPhone OS 17.5 (21F79)", "iPhone OS 18.0 (22A3354)"];
    assert_eq!(wanted(&[&seventeen])[0]["systems"], json!(systems[..1]));
    assert_eq!(wanted(&[&seventeen, &eighteen])[0]["systems"], json!(systems));
    let text = ok(&["uuid", &seventeen, &eighteen]);
    assert!(text.contains("libsystem_kernel.dylib · iPhone OS 17.5 (21F79) · iPhone OS 18.0 (22A3354)\n"), "{text}");
}

/// A file with metrics does not prevent the list of the other files' UUIDs.
#[test]
fn lists_the_uuids_of_reports_beside_one_with_metrics() {
    let folder = Folder::new();
    write(&folder, "hang.json", payload("hang", "hangDuration", "1 sec", "1.0"));
    let day = json!({"timeStampBegin": "2024-05-01 07:00:00 +0000", "metaData": {}, "cpuMetrics": {"cumulativeCPUTime": "9 sec"}});
    write(&folder, "day.json", day.to_string());
    let [day, hang] = ["day.json", "hang.json"].map(|name| folder.path(name));
    let (text, warning) = warns(&["uuid", &day, &hang]);
    assert!(text.contains("1672554C-5C48-3600-AEF8-97F330B62C10"), "{text}");
    assert!(warning.contains("left out: ") && warning.contains("have no stacks"), "{warning}");
    assert!(fails(1, &["uuid", &day]).contains("have no stacks"));
}
