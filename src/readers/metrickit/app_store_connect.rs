//! Files from App Store Connect: `diagnosticLogs` are diagnostics from users, with symbols; `perfPowerMetrics` are percentiles over all users, by
//! version and device.
//!
//! ```text
//! {"productData": [{"diagnosticLogs": [{"callStackTree": [{"callStacks": [{"callStackRootFrames": [{"symbolName": "main", …}]}]}],
//!    "diagnosticMetaData": {"event": "hang", "eventDetail": "2 sec", "bundleId": …}}]}]}
//!
//! {"productData": [{"metricCategories": [{"metrics": [{"identifier": "hangRate", "unit": {"identifier": "s/hr"}, "datasets": [
//!    {"filterCriteria": {"percentile": "percentile.ninety", "deviceMarketingName": "All iPhones"},
//!     "points": [{"version": "1.1", "value": 1.0, "errorMargin": 0.1}]}]}]}]}]}
//! ```

use super::diagnostic::{Fact, Kind};
use super::metrics::Leaf;
use crate::hash::HashMap;
use crate::recording::{RecordingBuilder, STATED_PERCENTILE, Toc, TocRun};

/// Keys in these files, and the MetricKit keys for the same facts.
const ALIASES: [(&str, &str); 2] = [("bundleId", "bundleIdentifier"), ("buildVersion", "appBuildVersion")];

/// Returns the MetricKit key for a fact.
pub(super) fn usual_key(key: String) -> String {
    ALIASES.iter().find(|(known, _)| *known == key).map_or(key, |(_, usual)| (*usual).to_owned())
}

/// Returns the kind of a log with this `event`.
pub(super) fn kind_of_event(event: &str) -> Option<Kind> {
    let event = event.to_lowercase();
    let words = [("hang", Kind::Hang), ("launch", Kind::Launch), ("disk", Kind::DiskWrite), ("write", Kind::DiskWrite)];
    words.into_iter().find(|(word, _)| event.contains(word)).map(|(_, kind)| kind)
}

/// Renames the quantity of a log, such as `"eventDetail": "2 sec"`, to the key that diagnostics of this kind use.
pub(super) fn name_detail(facts: &mut [Fact], kind: Kind) {
    let key = match kind {
        Kind::Hang => "hangDuration",
        Kind::Launch => "launchDuration",
        Kind::DiskWrite => "writesCaused",
        _ => return,
    };
    if let Some(detail) = facts.iter_mut().find(|fact| fact.key == "eventDetail") {
        detail.key = key.to_owned();
    }
}

/// True if a metric value with this path is used.
pub(super) fn is_known(path: &[String]) -> bool {
    const LAST: [&str; 7] =
        ["identifier", "percentile", "device", "deviceMarketingName", "version", "value", "errorMargin"];
    path.last().is_some_and(|last| LAST.contains(&last.as_str()))
}

/// Adds a product's percentiles as a run without samples, formatted in its summary. Returns false if there are none.
///
/// # Errors
/// If the recording is full.
pub(super) fn add_percentiles(
    leaves: &[Leaf],
    number: u32,
    name: &str,
    recording: &mut RecordingBuilder,
) -> Result<bool, crate::error::Error> {
    let summary = percentiles(leaves);
    if summary.is_empty() {
        return Ok(false);
    }
    let process = vec![("name".to_owned(), "App Store Connect".to_owned())];
    recording.input(name)?.finish(Toc { runs: vec![TocRun { number, process, summary, ..TocRun::default() }] });
    Ok(true)
}

/// Formats percentiles as `hangRate · P90 · All iPhones · version 1.1` and `1.0 s/hr ± 0.1`, in document order.
fn percentiles(leaves: &[Leaf]) -> Vec<(String, String)> {
    let known: HashMap<&[String], &str> =
        leaves.iter().map(|(path, value)| (path.as_slice(), value.as_str())).collect();
    let at = |path: &[String], names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned());
        known.get(path.iter().cloned().chain(names).collect::<Vec<String>>().as_slice()).copied()
    };
    let row = |(path, value): &Leaf| {
        // … metrics K datasets D points P value
        let [metric @ .., datasets, _, points, _, last] = path.as_slice() else { return None };
        if [datasets, points, last] != ["datasets", "points", "value"] {
            return None;
        }
        let (point, dataset) = (path.get(..path.len() - 1)?, path.get(..path.len() - 3)?);
        let of_filter = |name: &str| at(dataset, &["filterCriteria", name]);
        let percentile = of_filter("percentile").map(|percentile| match percentile {
            "percentile.fifty" => "P50",
            "percentile.ninety" => "P90",
            other => other,
        });
        let device = of_filter("deviceMarketingName").or_else(|| of_filter("device"));
        let version = at(point, &["version"]).map(|version| format!("version {version}"));
        let parts = [at(metric, &["identifier"]), percentile, device, version.as_deref()];
        let unit = at(metric, &["unit", "identifier"]).map(|unit| format!(" {unit}")).unwrap_or_default();
        let margin = at(point, &["errorMargin"]).map(|margin| format!(" ± {margin}")).unwrap_or_default();
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        Some((format!("{STATED_PERCENTILE}{}", parts.join(" · ")), format!("{value}{unit}{margin}")))
    };
    leaves.iter().filter_map(row).collect()
}
