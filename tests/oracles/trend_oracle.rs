//! Change points, compared with numpy and scipy by `tests/oracle/trend.py`, which finds them in another way.
//!
//! | ours | theirs |
//! |---|---|
//! | the bound of the largest t | `scipy.stats.t` and `scipy.integrate.quad`; the largest t of simulated series is above it as rarely |
//! | values without blocks | `numpy.linalg.lstsq` |
//! | correlated values | the mean of a Toeplitz matrix of correlations |
//! | differences of levels, and ramps | `scipy.stats.ttest_ind` and `scipy.stats.linregress`, wider if values are correlated |
//! | change points | positions, plausible points and p of the complete procedure in numpy |
//!
//! Numbers are equal to 10⁻⁹ on 10,000 random cases in `.ci/run`, and a tenth of them otherwise, with ties, outliers and several blocks.

use std::fs;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use support::trend_series::Noise;
use support::{Rng, rounds};
use traceparse::stats::{CellMean, ChangePoint, ChangePoints, Looks, Shift};

use crate::programs::{oracle, python, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let has_packages = runs(python().args(["-c", "import numpy, scipy.stats, scipy.integrate"]));
    trials![if has_packages; trends]
}

fn trends() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trend.json");
    let mut numbers = Rng::new(41);
    let bounds: Vec<Value> = (0..rounds(4_000)).map(|_| bound(&mut numbers)).collect();
    let series: Vec<Value> = (0..rounds(3_000)).map(|index| series(&mut numbers, index)).collect();
    fs::write(&path, json!({"bounds": bounds, "series": series}).to_string())?;
    oracle("trend.py", [path])?;
    Ok(())
}

fn bound(numbers: &mut Rng) -> Value {
    let (t, values) = (numbers.below(12_000) as f64 / 1_000.0, 8 + numbers.below(200) as usize);
    json!({"t": t, "values": values, "p": ChangePoints::p_of_largest_t(t, values)})
}

/// A series of any noise with up to two steps, or a ramp, continuous or full of ties.
fn series(numbers: &mut Rng, index: u64) -> Value {
    let points = 8 + numbers.below(60) as usize;
    let (noise, step) = (Noise::ALL[(index % 7) as usize], numbers.below(6) as f64);
    let later = numbers.below(points as u64) as usize;
    let mut cells = noise.series(numbers, points, points - later, step);
    let second = numbers.below(points as u64) as usize;
    for cell in cells.iter_mut().filter(|cell| cell.point >= second) {
        cell.mean -= step / 2.0;
    }
    if index % 5 == 1 {
        cells.iter_mut().for_each(|cell| cell.mean += step * cell.point as f64 / points as f64);
    }
    if index.is_multiple_of(5) {
        cells.iter_mut().for_each(|cell| cell.mean = cell.mean.round());
    }
    // Every point has a value.
    if (0..points).any(|point| cells.iter().all(|cell| cell.point != point)) {
        cells = (0..points).map(|point| CellMean { point, block: 0, mean: (point % 5) as f64 }).collect();
    }
    let alpha = [0.001, 0.01, 0.05][(index % 3) as usize];
    let found = ChangePoints::find(&cells, alpha, Looks::EveryPoint, |difference| difference.abs() >= 0.5);
    let shift = |shift: &Shift| {
        let (lower, upper) = shift.interval(0.05);
        json!([shift.difference, lower, upper])
    };
    let change = |change: &ChangePoint| {
        json!({
            "position": change.position,
            "plausible": change.plausible,
            "p": change.p,
            "shift": shift(&change.shift),
        })
    };
    let triples: Vec<_> = cells.iter().map(|cell| json!([cell.point, cell.block, cell.mean])).collect();
    json!({
        "cells": triples,
        "alpha": alpha,
        "values": found.values,
        "changes": found.changes.iter().map(change).collect::<Vec<_>>(),
        "slope": found.slope.as_ref().map(shift),
        "since": found.shift(0, found.tested() - 1).as_ref().map(shift),
    })
}
