//! Fleets of MetricKit diagnostics: the report and the summed tree of 1,000 generated inputs, compared with `tests/oracle/field_reports.py`, which
//! reads the files itself; and of its metrics.

use std::fs;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use support::Rng;

use crate::metrickit::document;
use crate::programs::{corpus, files, has_python, in_corpus, number, oracle, traceparse};

pub(crate) fn trials() -> Vec<Trial> {
    trials![if has_python(); fleets_of_diagnostics_are_those_of_the_oracle, metrics_are_those_of_the_oracle]
}

fn fleets_of_diagnostics_are_those_of_the_oracle() -> Result<(), Failed> {
    let seed = number("TRACEPARSE_SEED").unwrap_or(1);
    println!("to repeat: TRACEPARSE_SEED={seed}");
    let folder = tempfile::tempdir()?;
    let inputs = folder.path().join("diagnostics");
    fs::create_dir(&inputs)?;
    for input in 0..1_000 {
        let mut rng = Rng::new(seed.wrapping_add(input));
        let version = *rng.pick(&["1.9", "1.10", "2.0"]);
        // One in ten has a few documents, one a line.
        let (documents, extension) = if input % 10 == 0 { (3, "ndjson") } else { (1, "json") };
        let documents: Vec<String> = (0..documents).map(|_| document(&mut rng).to_string()).collect();
        let text = documents.join("\n").replace("\"3.1\"", &format!("\"{version}\""));
        fs::write(inputs.join(format!("{input:04}.{extension}")), text)?;
    }
    let inputs = inputs.display().to_string();
    let [report, tree, runs] =
        ["report.json", "tree.folded", "runs.csv"].map(|name| folder.path().join(name).display().to_string());
    let by = ["fleet", "report", &inputs, "--by", "app_version", "--format", "json", "-o", &report];
    traceparse(by)?;
    let hangs = ["fleet", "tree", &inputs, "--where", "diagnostic=hang"];
    traceparse(hangs.into_iter().chain(["--format", "folded", "-o", &tree]))?;
    let call = ["--runs-of", "(unnamed) (in App)", "--runs-of", "(unnamed) (in UIKitCore)"];
    traceparse(hangs.into_iter().chain(call).chain(["-o", &runs]))?;
    oracle("field_reports.py", [&inputs, &report, &tree, &runs])?;
    Ok(())
}

/// The metrics of 300 days and of the corpus, compared with what `tests/oracle/field_metrics.py` reads.
fn metrics_are_those_of_the_oracle() -> Result<(), Failed> {
    let seed = number("TRACEPARSE_SEED").unwrap_or(1);
    println!("to repeat: TRACEPARSE_SEED={seed}");
    let folder = tempfile::tempdir()?;
    let inputs = folder.path().join("metrics");
    fs::create_dir(&inputs)?;
    for input in 0..300 {
        let mut rng = Rng::new(seed.wrapping_add(input));
        let day = if rng.one_in(2) { payload_of_day(&mut rng) } else { report_of_day(&mut rng) };
        fs::write(inputs.join(format!("{input:03}.json")), day.to_string())?;
    }
    for path in corpus().iter().flat_map(|_| files(&in_corpus("inputs/metrickit"), "json")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("metric") {
            fs::copy(&path, inputs.join(name))?;
        }
    }
    let report = folder.path().join("report.json").display().to_string();
    let inputs = inputs.display().to_string();
    traceparse(["fleet", "report", &inputs, "--by", "app_version", "--format", "json", "-o", &report])?;
    oracle("field_metrics.py", [&inputs, &report])?;
    Ok(())
}

const VERSIONS: [&str; 3] = ["1.9", "1.10", "2.0"];

/// Bins: start, end and count, either with the gaps that the system leaves, or wide and adjacent.
fn bins(rng: &mut Rng) -> Vec<(u64, u64, u64)> {
    let is_fine = rng.one_in(2);
    let bin = |rng: &mut Rng| match is_fine {
        true => (10 * rng.below(1_100), 9),
        false => (100 * rng.below(20), 100 * (1 + rng.below(4))),
    };
    let bins = (0..rng.below(6)).map(|_| {
        let (start, width) = bin(rng);
        (start, start + width, rng.below(5))
    });
    bins.collect()
}

/// A payload of iOS 13 to 26.
fn payload_of_day(rng: &mut Rng) -> Value {
    let mut histogram = || {
        let bins = bins(rng).into_iter().enumerate().map(|(index, (start, end, count))| {
            (
                index.to_string(),
                json!({"bucketCount": count, "bucketStart": format!("{start} ms"), "bucketEnd": format!("{end} ms")}),
            )
        });
        json!({"histogramNumBuckets": 3, "histogramValue": bins.collect::<serde_json::Map<_, _>>()})
    };
    let (hangs, launches, resumes) = (histogram(), histogram(), histogram());
    let signposts: Vec<Value> = ["Checkout", "Search"]
        .map(|name| {
            json!({"signpostName": name, "signpostCategory": "Shop", "totalSignpostCount": 3,
                "signpostIntervalData": {"histogrammedSignpostDurations": histogram(), "signpostCumulativeCPUTime": "30 ms"}})
        })
        .into();
    let mut day = json!({
        "timeStampBegin": "2024-05-01 07:00:00 +0000", "appVersion": rng.pick(&VERSIONS), "metaData": {"regionFormat": "US"},
        "applicationResponsivenessMetrics": {"histogrammedAppHangTime": hangs},
        "applicationLaunchMetrics": {"histogrammedTimeToFirstDrawKey": launches, "histogrammedResumeTime": resumes},
        "applicationTimeMetrics": {"cumulativeForegroundTime": format!("{} sec", rng.below(9_000)), "cumulativeBackgroundTime": "40 sec"},
    });
    if !rng.one_in(4) {
        day["cpuMetrics"] = json!({"cumulativeCPUTime": format!("{},{:03} sec", rng.below(9) + 1, rng.below(1_000))});
    }
    if rng.one_in(2) {
        day["signpostMetrics"] = Value::Array(signposts);
        day["memoryMetrics"] = json!({"peakMemoryUsage": format!("{},{:03} kB", rng.below(900) + 1, rng.below(1_000))});
        day["applicationExitMetrics"] = json!({
            "foregroundExitData": {"cumulativeNormalAppExitCount": 7, "cumulativeBadAccessExitCount": rng.below(3)},
            "backgroundExitData": {"cumulativeMemoryResourceLimitExitCount": rng.below(4), "cumulativeNewReasonExitCount": 1},
        });
    }
    if rng.one_in(2) {
        day["animationMetrics"] = json!({"scrollHitchTimeRatio": format!("{} ms per s", rng.below(1_000))});
    }
    day
}

/// A report of iOS 27, whose day may be missing.
fn report_of_day(rng: &mut Rng) -> Value {
    let amount = |value: u64, unit: &str| json!({"value": value, "unit": unit});
    let histogram = |rng: &mut Rng| {
        let bins = bins(rng).into_iter().map(|(start, end, count)| {
            json!({"lowerBound": amount(start, "ms"), "upperBound": amount(end, "ms"), "count": count})
        });
        json!({"histogram": {"buckets": bins.collect::<Vec<_>>()}})
    };
    let mut entry = |hours: u64| {
        json!({"values": [
            {"cpuTimeMetric": {"value": amount(rng.below(9_000), "s")}}, {"totalForegroundTimeMetric": {"value": amount(rng.below(9_000), "s")}},
            {"hangTimeMetric": histogram(rng)}, {"extendedLaunchMetric": histogram(rng)},
            {"peakMemoryMetric": {"value": {"unit": "MB", "value": rng.below(9_000) as f64 / 8.0}}},
            {"foregroundTerminationMetric": {"memoryLimitTerminationCount": rng.below(4), "normalTerminationCount": 2}},
            {"signpostIntervalMetric": {"signpostName": "Checkout", "signpostCategory": "Shop", "totalCount": 3,
                "signpostDuration": histogram(rng)["histogram"]}},
            {"signpostIntervalMetric": {"signpostName": "Bare", "signpostDuration": histogram(rng)["histogram"]}},
        ], "duration": amount(3_600 * hours, "s"), "states": []})
    };
    let mut entries = vec![entry(3), entry(24), entry(3)];
    entries.truncate(if rng.one_in(8) { 1 } else { 3 });
    json!({
        "intervalEntries": entries, "stateEntries": [], "version": "2.0.0", "timeRange": {"begin": 810_918_462.5, "end": 811_004_862.5},
        "environment": {"latestApplicationVersion": rng.pick(&VERSIONS), "bundleIdentifier": "org.example.App"},
    })
}
