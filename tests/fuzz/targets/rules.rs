//! Text that users type: alert rules of fleets and of comparisons, times, weights, percentiles, images, UUIDs.
//!
//! An input is one byte that chooses the kind (modulo their number, from the digit `0`), then the text, UTF-8; other bytes are replaced.

// Its tests are not run here.
#[allow(unused_imports)]
#[path = "../../../bin/weight_limit.rs"]
mod weight_limit;

use std::sync::LazyLock;

use traceparse::alert::{AlertOutcome, AlertRule, AlertState};
use traceparse::fleet::{FleetBuilder, FleetOptions, RunMeasures};
use traceparse::profile::TimeRange;
use traceparse::stats::Quantile;
use traceparse::symbolicate::ImageSpec;
use traceparse::units::{Nanos, Uuid};

use support::fleet;
use weight_limit::WeightLimit;

/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let Some((&kind, text)) = input.split_first() else { return };
    let text = &*String::from_utf8_lossy(text);
    let checks: [fn(&str); 7] = [alert, diff_alert, image, time, range, weight, quantile];
    checks[usize::from(kind.wrapping_sub(b'0')) % checks.len()](text);
}

/// Four runs on which rules are evaluated.
static RUNS: LazyLock<Vec<RunMeasures>> = LazyLock::new(|| fleet::runs(1, 4));

/// True if an error reports an invalid part of a rule, a part from the other command's grammar, or a missing part.
fn says_why(error: &str) -> bool {
    ["is not", "does not apply to", "is incomplete: it needs"].iter().any(|words| error.contains(words))
}

fn alert(text: &str) {
    let rule = match AlertRule::of_runs(text) {
        Ok(rule) => rule,
        Err(error) => return assert!(says_why(&error.to_string()), "{error}"),
    };
    assert_eq!(AlertRule::of_runs(&rule.to_string()).as_ref(), Ok(&rule), "written and read");
    assert_eq!(rule.text, text.trim());
    let options = FleetOptions { alerts: vec![rule.clone()], top: Some(3), ..FleetOptions::default() };
    let mut builder = FleetBuilder::new(options);
    RUNS.iter().for_each(|run| builder.add(run));
    let report = builder.finish();
    assert!(!report.alerts.is_empty() && report.alerts.iter().all(|outcome| outcome.rule == rule), "{rule:?}");
    report.alerts.iter().for_each(check_causes);
}

/// Each cause of a rule about any function that fired is beyond its threshold, and so is the first of it.
fn check_causes(outcome: &AlertOutcome) {
    let AlertOutcome { rule, causes, causes_count, judged, .. } = outcome;
    assert!(causes.len() as u64 <= *judged && causes_count <= judged, "{outcome:?}");
    let is_beyond = |value: f64| rule.is_broken_by(value);
    if *causes_count > 0 {
        assert!(causes.iter().all(|cause| is_beyond(cause.value)), "{outcome:?}");
    }
    if let Some(first) = causes.first() {
        assert_eq!(outcome.value, Some(first.value), "{outcome:?}");
        assert!(*causes_count > 0 || outcome.state != AlertState::Fired, "{outcome:?}");
    }
}

fn diff_alert(text: &str) {
    match AlertRule::of_growth(text) {
        Ok(rule) => {
            assert_eq!(AlertRule::of_growth(&rule.to_string()).as_ref(), Ok(&rule), "written and read");
            assert_eq!(rule.text, text.trim());
        }
        Err(error) => assert!(says_why(&error.to_string()), "{error}"),
    }
}

fn image(text: &str) {
    let Ok(spec) = text.parse::<ImageSpec>() else { return };
    let ImageSpec { uuid, load_address, path } = &spec;
    let path = path.as_ref().map(|path| format!("={}", path.display())).unwrap_or_default();
    let written = format!("{uuid}@{:#x}{path}", load_address.get());
    assert_eq!(written.parse().as_ref(), Ok(&spec), "{written}");
    assert_eq!(Uuid::parse(&uuid.to_string()), Some(*uuid));
}

fn time(text: &str) {
    match text.parse::<Nanos>() {
        Ok(time) => check_time(text, time),
        Err(error) => assert!(error.contains("is not a time"), "{error}"),
    }
}

/// Nanoseconds are written and read exactly; a time is not more than what `f64` makes of its text.
fn check_time(text: &str, time: Nanos) {
    assert_eq!(format!("{}ns", time.as_nanos()).parse(), Ok(time), "{text:?}");
    let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (number, scale) =
        units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale))).unwrap_or((text, 1e9));
    if let Ok(number) = number.trim_end().parse::<f64>() {
        let (expected, found) = (number * scale, time.as_nanos() as f64);
        assert!((expected - found).abs() <= 1.0 + expected.abs() * 1e-9, "{text:?}: {found} and not {expected}");
    }
}

fn range(text: &str) {
    let Ok(range) = text.parse::<TimeRange>() else { return };
    assert!(range.end.is_none_or(|end| range.start < end), "{text:?}");
    let end = range.end.map(|end| format!("{}ns", end.as_nanos())).unwrap_or_default();
    let written = format!("{}ns..{end}", range.start.as_nanos());
    assert_eq!(written.parse(), Ok(range), "{written}");
}

fn weight(text: &str) {
    match weight_limit::parse_weight(text) {
        Ok(WeightLimit::Plain(number)) => {
            assert_eq!(weight_limit::parse_weight(&number.to_string()), Ok(WeightLimit::Plain(number)), "{text:?}");
        }
        Ok(WeightLimit::Time(time)) => check_time(text, time),
        Err(error) => assert!(error.contains("is not a weight"), "{error}"),
    }
}

fn quantile(text: &str) {
    let Some(quantile) = Quantile::from_percent(text) else { return };
    let name = quantile.name();
    let percent = name.trim_start_matches(['p', 'P']);
    assert_eq!(Quantile::from_percent(percent), Some(quantile), "{text:?} is {name}");
}
