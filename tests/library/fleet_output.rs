//! Fleet reports as JSON and CSV: they contain the numbers of the report, and the query.

use serde_json::{Value, json};
use support::fleet;
use support::fleet_reports::{ascending, by, every_kind, one_heavy, report, run_of};
use traceparse::alert::AlertRule;
use traceparse::fleet::{
    Completeness, FleetOptions, FleetReport, FleetScope, Measure, RunMeasures, ScopeTable, SortKey, Summary,
};
use traceparse::output::{self, Cells, Format};
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::Millionths;

fn json_of(report: &FleetReport) -> Value {
    serde_json::from_slice(&json_bytes(report)).unwrap()
}

fn json_bytes(report: &FleetReport) -> Vec<u8> {
    let mut out = Vec::new();
    output::write(report, &Format::Json, &mut out).unwrap();
    out
}

/// The rows of the CSV, by column name.
fn csv_of(report: &FleetReport) -> Vec<Vec<(String, String)>> {
    let mut out = Vec::new();
    output::write(report, &Format::Csv(Cells::AsTheyAre), &mut out).unwrap();
    let mut reader = ::csv::Reader::from_reader(out.as_slice());
    let header = reader.headers().unwrap().clone();
    let row = |row: ::csv::StringRecord| header.iter().zip(row.iter()).map(|(k, v)| (k.into(), v.into())).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn field<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    &row.iter().find(|(column, _)| column == name).unwrap_or_else(|| panic!("no column {name}")).1
}

/// The reader of JSON in this test may miss a number by its last bit; the writer does not.
fn is_near(value: &Value, number: Option<f64>) {
    let (value, number) = (value.as_f64(), number);
    let is_near = match (value, number) {
        (Some(value), Some(number)) => (value - number).abs() <= number.abs() * f64::EPSILON,
        (value, number) => value == number,
    };
    assert!(is_near, "{value:?} {number:?}");
}

#[test]
fn json_says_what_the_report_says() {
    for (name, report) in every_kind() {
        let json = json_of(&report);
        assert_eq!((json["format"].as_str(), json["version"].as_u64()), (Some("traceparse-fleet"), Some(1)));
        assert_eq!(json["inputs"]["runs"].as_u64(), Some(report.inputs.runs), "{name}");
        assert_eq!(json["inputs"]["failed"].as_array().unwrap().len(), report.inputs.failed.len());
        assert_eq!(json["notes"].as_array().unwrap().len(), report.notes.len());
        assert_eq!(json["cohorts"].as_array().unwrap().len(), report.cohorts.len(), "{name}");
        for (cohort, value) in report.cohorts.iter().zip(json["cohorts"].as_array().unwrap()) {
            assert_eq!(value["name"], cohort.cohort.name());
            assert_eq!(value["bins"].as_array().unwrap().len(), cohort.bins.len());
            is_near(&value["box_plot"]["median"], cohort.box_plot.as_ref().map(|plot| plot.median));
            assert_eq!(value["timeline"].as_array().unwrap().len(), cohort.timeline.len());
            summary_is(&value["across_runs"], &cohort.across_runs);
            if let Some(windows) = &cohort.within_runs {
                summary_is(&value["within_runs"]["pooled"], &windows.pooled);
                summary_is(&value["within_runs"]["peaks"], &windows.peaks);
            }
            for (table, value) in cohort.tables.iter().zip(value["tables"].as_array().unwrap()) {
                assert_eq!(value["hidden"].as_u64(), Some(table.hidden));
                assert_eq!(value["rows"].as_array().unwrap().len(), table.rows.len());
                for (row, value) in table.rows.iter().zip(value["rows"].as_array().unwrap()) {
                    summary_is(&value["summary"], &row.summary);
                    assert_eq!(value.get("function").and_then(Value::as_str), row.name.function.as_deref());
                    let worst = row.summary.max_run.map(|run| report.runs[run].source.as_str());
                    assert_eq!(value["worst_run"]["source"].as_str(), worst);
                    let percentiles = value["summary"]["percentiles"].as_array().unwrap();
                    for (index, percentile) in percentiles.iter().enumerate() {
                        is_near(&percentile["noise"], row.noise[index]);
                        assert_eq!(percentile["is_noise"].as_bool(), Some(row.is_noise(index)));
                    }
                }
            }
        }
        rest_is(&json, &report);
    }
}

fn rest_is(json: &Value, report: &FleetReport) {
    for (contrast, value) in report.contrasts.iter().zip(json["contrasts"].as_array().unwrap()) {
        assert_eq!(value["by"], contrast.by.as_str());
        assert_eq!(value["cohorts"].as_array().unwrap().len(), contrast.cohorts.len());
        for (row, value) in contrast.rows.iter().zip(value["rows"].as_array().unwrap()) {
            is_near(&value["difference"], Some(row.difference));
            assert_eq!(value["values"].as_array().unwrap().len(), contrast.cohorts.len());
        }
    }
    assert_eq!(json["alerts"].as_array().unwrap().len(), report.alerts.len());
    for (alert, value) in report.alerts.iter().zip(json["alerts"].as_array().unwrap()) {
        assert_eq!(
            (&value["state"], &value["rule"]),
            (&Value::from(alert.state.name()), &Value::from(alert.rule.text.as_str()))
        );
        is_near(&value["value"], alert.value);
        assert_eq!(value["count"].as_u64(), Some(alert.count));
        assert_eq!(value["beyond_count"].as_u64(), Some(alert.beyond_count));
        assert_eq!(value["judged"].as_u64(), Some(alert.judged).filter(|&judged| judged > 0));
        assert_eq!(value["causes_count"].as_u64(), Some(alert.causes_count));
        assert_eq!(value["causes"].as_array().unwrap().len(), alert.causes.len());
        for (found, cause) in alert.causes.iter().zip(value["causes"].as_array().unwrap()) {
            assert_eq!(cause["name"], found.name.as_str());
            is_near(&cause["value"], Some(found.value));
        }
        for (run, value) in alert.beyond.iter().zip(value["beyond"].as_array().unwrap()) {
            assert_eq!(value["run_id"], report.runs[run.0].run_id.as_str());
            is_near(&value["value"], Some(run.1.as_f64()));
        }
    }
    assert_eq!(json["runs"].as_array().unwrap().len(), report.runs.len());
    for (run, value) in report.runs.iter().zip(json["runs"].as_array().unwrap()) {
        assert_eq!((&value["run_id"], &value["source"]), (&run.run_id.as_str().into(), &run.source.as_str().into()));
        is_near(&value["value"], Some(run.rate.as_f64()));
        assert_eq!(value["weight"].as_u64(), Some(run.weight));
        assert_eq!(value["labels"], json["cohorts"][run.cohort]["labels"]);
    }
}

/// Every number in JSON names runs from the list of runs that have this value, by nearest rank and between ranks.
#[test]
fn percentiles_name_the_runs_that_have_them() {
    let weights = |runs: &mut Vec<RunMeasures>| {
        runs.iter_mut().enumerate().for_each(|(index, run)| {
            run.record.run_weight = Millionths::new([0, 1_000_000, 2_500_000][index % 3]);
        });
    };
    let mut weighted = fleet::runs(4, 90);
    weights(&mut weighted);
    // For equal values, the first run is named.
    let mut equal = ascending(40);
    equal.extend(ascending(40).into_iter().enumerate().map(|(index, mut run)| {
        (run.record.run_id, run.record.source) = (format!("again {index}"), format!("again/{index:02}.xml"));
        run
    }));
    let linear = FleetOptions { method: QuantileMethod::Linear, ..FleetOptions::default() };
    let by_weight = FleetOptions { is_weighted: true, ..FleetOptions::default() };
    for report in [
        report(&fleet::runs(4, 90), FleetOptions::default()),
        report(&fleet::runs(4, 90), linear.clone()),
        report(&equal, FleetOptions::default()),
        report(&equal, linear),
        report(&weighted, by_weight),
    ] {
        let json = json_of(&report);
        let runs = json["runs"].as_array().unwrap();
        let value_of = |source: &str| {
            runs.iter().find(|run| run["source"] == source).and_then(|run| run["value"].as_f64()).unwrap()
        };
        let across = &json["cohorts"][0]["across_runs"];
        for percentile in across["percentiles"].as_array().unwrap() {
            let value = percentile["value"].as_f64().unwrap();
            let named: Vec<&str> =
                percentile["runs"].as_array().unwrap().iter().map(|run| run["source"].as_str().unwrap()).collect();
            let values: Vec<f64> = named.iter().map(|source| value_of(source)).collect();
            let is_between = values[0] - 1e-9 <= value && value <= values[values.len() - 1] + 1e-9;
            assert!(is_between && values.len() <= 2 && values.is_sorted(), "{percentile}: {values:?}");
            assert!(values.len() == 2 || (values[0] - value).abs() < 1e-9, "{percentile}: {values:?}");
            for (name, value) in named.iter().zip(&values) {
                // No earlier run has the same value, and no run has a value between the two.
                let counts = |run: &&Value| !report.options.is_weighted || run["run_weight"].as_f64() > Some(0.0);
                let first = runs.iter().filter(counts).find(|run| run["value"].as_f64() == Some(*value)).unwrap();
                assert_eq!(first["source"], *name);
            }
            let inside = |value: f64| values[0] < value && value < values[values.len() - 1];
            assert!(!runs.iter().any(|run| inside(run["value"].as_f64().unwrap())), "{percentile}");
        }
        let max = across["max"].as_f64().unwrap();
        assert_eq!(value_of(json["cohorts"][0]["worst_run"]["source"].as_str().unwrap()), max);
    }
    // A value of zero names no run, and windows are not runs.
    let names = |function| ["App", "Main Thread", "App", function];
    let runs: Vec<RunMeasures> =
        (0..50).map(|index| run_of(index, 100, names(if index < 9 { "rare()" } else { "usual()" }))).collect();
    let json = json_of(&report(&runs, FleetOptions::default()));
    let rows = json["cohorts"][0]["tables"].as_array().unwrap().iter().find(|table| table["scope"] == "function");
    let rare = rows.unwrap()["rows"].as_array().unwrap().iter().find(|row| row["function"] == "rare()").unwrap();
    let runs_of = |index: usize| rare["summary"]["percentiles"][index]["runs"].as_array().unwrap().len();
    assert_eq!((runs_of(0), runs_of(2)), (0, 1));
    assert_eq!(json["cohorts"][0]["within_runs"]["pooled"]["percentiles"][3]["runs"], Value::Array(Vec::new()));
    assert_eq!(json["cohorts"][0]["within_runs"]["peaks"]["percentiles"][3]["runs"].as_array().unwrap().len(), 1);
}

fn summary_is(value: &Value, summary: &Summary) {
    assert_eq!((value["count"].as_u64(), value["zeros"].as_u64()), (Some(summary.count), Some(summary.zeros)));
    is_near(&value["min"], summary.min);
    is_near(&value["max"], summary.max);
    is_near(&value["mean"], summary.mean);
    is_near(&value["weighted_mean"], summary.weighted_mean);
    assert_eq!(value["cautions"].as_array().unwrap().len(), summary.cautions.len());
    let percentiles = value["percentiles"].as_array().unwrap();
    assert_eq!(percentiles.len(), summary.estimates.len());
    for (estimate, value) in summary.estimates.iter().zip(percentiles) {
        assert_eq!(value["name"], estimate.quantile.name());
        is_near(&value["quantile"], Some(estimate.quantile.fraction()));
        is_near(&value["value"], estimate.value);
        assert_eq!(value["support"], estimate.support.name());
        is_near(&value["lower"], estimate.interval.lower);
        is_near(&value["upper"], estimate.interval.upper);
    }
}

#[test]
fn json_states_the_options() {
    let odd = FleetOptions {
        only: vec![("device".to_owned(), "iPhone=15".to_owned())],
        threads: Some(vec!["it's \"a\" thread".to_owned()]),
        only_main_threads: true,
        measure: Measure::AllWeight,
        scopes: vec![FleetScope::Thread],
        quantiles: vec![Quantile::from_percent("7").unwrap(), Quantile::from_percent("99.9999").unwrap()],
        is_weighted: true,
        sort: SortKey::WeightedMean,
        top: Some(3),
        alerts: vec![AlertRule::of_runs("process(*).cpu.p99 >= 50").unwrap()],
        ..by(&["device"])
    };
    let expected = json!({
        "by": ["device"], "only": ["device=iPhone=15"], "processes": [], "threads": ["it's \"a\" thread"],
        "only_main_threads": true, "measure": "all", "scopes": ["thread"], "quantiles": ["p7", "p99.9999"],
        "method": "nearest-rank", "confidence": 0.95, "is_weighted": true, "is_approximate": false,
        "sort": "weighted-mean", "top": 3, "alerts": ["process(*).cpu.p99 >= 50"],
    });
    assert_eq!(json_of(&report(&fleet::runs(1, 9), odd))["options"], expected);
}

#[test]
fn csv_says_what_the_report_says() {
    for (name, report) in every_kind() {
        let rows = csv_of(&report);
        let has_runs = usize::from(report.options.scopes.contains(&FleetScope::Run));
        let tables = |tables: &[ScopeTable]| tables.iter().map(|table| table.rows.len()).sum::<usize>();
        let expected: usize = report.cohorts.iter().map(|cohort| has_runs + tables(&cohort.tables)).sum();
        assert_eq!(rows.len(), expected, "{name}");
        let mut rows = rows.iter();
        for cohort in &report.cohorts {
            if has_runs == 1 {
                let row = rows.next().unwrap();
                assert_eq!(field(row, "scope"), "run");
                csv_row_is(row, &cohort.across_runs);
            }
            for table in &cohort.tables {
                for scope in &table.rows {
                    let row = rows.next().unwrap();
                    assert_eq!(field(row, "scope"), table.scope.name());
                    assert_eq!(field(row, "function"), scope.name.function.as_deref().unwrap_or_default());
                    assert_eq!(field(row, "samples"), scope.samples.to_string());
                    csv_row_is(row, &scope.summary);
                    for (key, value) in &cohort.cohort.labels {
                        assert_eq!(field(row, key), value.as_deref().unwrap_or_default());
                    }
                }
            }
        }
    }
}

fn csv_row_is(row: &[(String, String)], summary: &Summary) {
    let number = |name: &str| Some(field(row, name)).filter(|text| !text.is_empty()).map(|text| text.parse().unwrap());
    assert_eq!(field(row, "runs"), summary.count.to_string());
    assert_eq!(field(row, "zero_runs"), summary.zeros.to_string());
    assert_eq!([number("min"), number("max"), number("mean")], [summary.min, summary.max, summary.mean]);
    assert_eq!(number("weighted_mean"), summary.weighted_mean);
    for estimate in &summary.estimates {
        let name = estimate.quantile.name();
        assert_eq!(number(&name), estimate.value);
        assert_eq!(number(&format!("{name}_lower")), estimate.interval.lower);
        assert_eq!(number(&format!("{name}_upper")), estimate.interval.upper);
        assert_eq!(field(row, &format!("{name}_support")), estimate.support.name());
    }
}

#[test]
fn csv_has_its_columns_in_order_and_plain_decimals() {
    let quantiles = vec![Quantile::P50, Quantile::P999];
    let options = FleetOptions { quantiles, ..by(&["device"]) };
    let mut report = report(&one_heavy()[60..62], options);
    report.inputs.completeness =
        Completeness { is_complete: Some(false), inputs_expected: Some(250), inputs_done: Some(49) };
    let mut out = Vec::new();
    output::write(&report, &Format::Csv(Cells::AsTheyAre), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "device,unit,scope,measure,process,thread,binary,function,runs,zero_runs,min,p50,p99.9,max,mean,weighted_mean,\
         samples,p50_lower,p50_upper,p50_support,p50_noise,p99.9_lower,p99.9_upper,p99.9_support,p99.9_noise,\
         worst_run,p50_run,p99.9_run,shared_label,complete,inputs_expected,inputs_done"
    );
    assert_eq!(
        lines[1],
        "iPhone 15,ns,run,cpu,,,,,2,0,1,1,99,99,50,50,100000,,,upper-unknown,,99,,too-few,,runs/00061.xml,\
         runs/00060.xml,runs/00061.xml,,false,250,49"
    );
}
