//! The function rows that a report on an invented fleet must have, computed from the fleet's events.
//!
//! Sums, sorts and selects in the simplest way, in integers of millionths. It shares no code with the library.

use std::collections::{BTreeMap, BTreeSet};

use super::fleet_exports::FleetExport;

/// The report's default percentiles, in thousandths.
const PERMILLE: [u64; 5] = [500, 900, 950, 990, 999];

/// The weights of functions (binary and name) in the runs of each version.
#[derive(Default)]
pub struct Expected {
    runs: BTreeMap<String, Vec<Run>>,
}

struct Run {
    wall: u64,
    weights: BTreeMap<(String, String), u64>,
}

/// A row of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedRow {
    pub version: String,
    pub binary: String,
    pub function: String,
    pub runs: u64,
    pub zero_runs: u64,
    /// The percentiles, the maximum and the mean.
    pub values: Vec<f64>,
}

impl Expected {
    /// Adds a run.
    pub fn add(&mut self, run: &FleetExport) {
        let recording = &run.recording;
        let mut weights = BTreeMap::new();
        for row in &recording.rows {
            let leaf = row.stack.as_ref().and_then(|stack| stack.last()).map(|&frame| &recording.frames[frame]);
            let binary =
                leaf.and_then(|leaf| leaf.image).map_or(String::new(), |image| recording.images[image].name.clone());
            let function = match leaf {
                None => "(no stack)".to_owned(),
                Some(leaf) => leaf.function.clone().unwrap_or_else(|| "(unnamed)".to_owned()),
            };
            *weights.entry((binary, function)).or_insert(0) += row.weight;
        }
        // The table of contents has microseconds, and ends 12.345678 ms after the last sample.
        let last = recording.rows.iter().map(|row| row.time_ns).max().unwrap_or(0);
        let wall = (last + 12_345_678) / 1_000 * 1_000;
        self.runs.entry(run.version.clone()).or_default().push(Run { wall, weights });
    }

    /// The rows of all functions, by version, binary and name.
    pub fn rows(&self) -> Vec<ExpectedRow> {
        let mut rows = Vec::new();
        for (version, runs) in &self.runs {
            let functions: BTreeSet<&(String, String)> = runs.iter().flat_map(|run| run.weights.keys()).collect();
            rows.extend(functions.into_iter().map(|function| row(version, function, runs)));
        }
        rows
    }

    /// The rows as CSV.
    pub fn csv(&self) -> String {
        let mut text = "app_version,binary,function,runs,zero_runs,p50,p90,p95,p99,p99.9,max,mean\n".to_owned();
        for row in self.rows() {
            let ExpectedRow { version, binary, function, runs, zero_runs, values } = row;
            text += &format!("{version},{binary},\"{function}\",{runs},{zero_runs}");
            values.iter().for_each(|value| text += &format!(",{value}"));
            text.push('\n');
        }
        text
    }
}

fn row(version: &str, function: &(String, String), runs: &[Run]) -> ExpectedRow {
    // Percent in millionths, rounded to nearest.
    let rate = |run: &Run| {
        let weight = u128::from(run.weights.get(function).copied().unwrap_or(0));
        (weight * 200_000_000 + u128::from(run.wall)) / (2 * u128::from(run.wall))
    };
    let mut rates: Vec<u128> = runs.iter().map(rate).collect();
    rates.sort_unstable();
    let count = rates.len() as u64;
    let at_rank = |permille: u64| rates[(count * permille).div_ceil(1_000) as usize - 1];
    let (sum, count_wide) = (rates.iter().sum::<u128>(), u128::from(count));
    let mut values: Vec<u128> = PERMILLE.into_iter().map(at_rank).collect();
    values.push(rates[rates.len() - 1]);
    values.push((2 * sum + count_wide) / (2 * count_wide));
    ExpectedRow {
        version: version.to_owned(),
        binary: function.0.clone(),
        function: function.1.clone(),
        runs: count,
        zero_runs: rates.iter().filter(|&&rate| rate == 0).count() as u64,
        values: values.into_iter().map(|value| value as f64 / 1e6).collect(),
    }
}
