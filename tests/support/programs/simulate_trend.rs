//! Counts how often `traceparse trend` is wrong, and how often it finds what is there: `benches/trend/README.md`.
//!
//! ```text
//! cargo run --release --example simulate-trend -- SERIES
//! ```

use std::process::ExitCode;

use support::trend_series::{
    FirstAlarms, Noise, coverage, false_alarms, false_alarms_over_nights, first_alarms, ramps,
};
use traceparse::stats::Looks;

fn main() -> ExitCode {
    let Some(series) = std::env::args().nth(1).and_then(|count| count.parse().ok()) else {
        eprintln!("usage: simulate-trend SERIES");
        return ExitCode::from(2);
    };
    for looks in [Looks::EveryPoint, Looks::Once] {
        println!("{looks:?}: false alarms, by the number of points, and in any night from 10 to 100");
        print_false_alarms(looks, series);
        println!("\n{looks:?}: first alarms, by the points before the step and its size in standard deviations");
        print_first_alarms(looks, series / 10);
        println!();
    }
    println!("ramps: rise over all points; changed / of these, as a ramp");
    for (points, from, rise) in [(40, 0, 4.0), (60, 0, 6.0), (60, 40, 6.0)] {
        let [changed, ramp] = ramps(points, from, rise, series / 10);
        println!("{points} points, {rise} sd from point {from}: {} / {}", percent(changed), percent(ramp));
    }
    println!("\n95 % intervals with the step, 20 points after it");
    for (noise, step) in [(Noise::Normal, 2.0), (Noise::Normal, 4.0), (Noise::StronglyCorrelated, 4.0)] {
        println!("{noise:?}, {step} sd: {}", percent(coverage(noise, 30, 20, step, series / 10)));
    }
    ExitCode::SUCCESS
}

fn print_false_alarms(looks: Looks, series: u64) {
    let lengths = [10, 16, 20, 30, 60, 100, 200];
    println!("{:<20}{}  nights", "", lengths.map(|points| format!("{points:>8}")).concat());
    for noise in Noise::ALL {
        let rates = lengths.map(|points| percent(false_alarms(noise, points, looks, series)));
        let nights = percent(false_alarms_over_nights(noise, looks, series / 5));
        println!("{:<20}{}{nights}", format!("{noise:?}"), rates.concat());
    }
}

fn print_first_alarms(looks: Looks, series: u64) {
    println!("found, points (median / 90 %), right, contains, at most four, median of plausible points");
    for (before, step) in [(30, 4.0), (30, 2.0), (100, 2.0)] {
        for noise in Noise::ALL {
            let alarms = first_alarms(noise, before, step, looks, series);
            let FirstAlarms { found, points: [half, most], right, contains, at_most_four, plausible } = alarms;
            let shares = [found, right, contains, at_most_four].map(percent).concat();
            println!("{before} {step} {:<20}{shares}  {half} / {most}  {plausible}", format!("{noise:?}"));
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:>7.2}%", 100.0 * share)
}
