//! Counts how often `traceparse trend` is wrong, and how often it finds what is there: `benches/trend/README.md`.
//!
//! ```text
//! cargo run --release --example simulate-trend -- SERIES
//! ```

use std::process::ExitCode;

use support::trend_series::{Noise, false_alarms, found_steps};

fn main() -> ExitCode {
    let Some(series) = std::env::args().nth(1).and_then(|count| count.parse().ok()) else {
        eprintln!("usage: simulate-trend SERIES");
        return ExitCode::from(2);
    };
    println!("false alarms, by the number of points");
    let lengths = [10, 16, 20, 30, 60, 100, 200];
    println!("{:<12} {}", "", lengths.map(|points| format!("{points:>8}")).concat());
    for noise in Noise::ALL {
        let rates = lengths.map(|points| format!("{:>6.2} %", 100.0 * false_alarms(noise, points, series)));
        println!("{:<12} {}", format!("{noise:?}"), rates.concat());
    }
    println!(
        "\nsteps of 2 standard deviations found within 8 points: anywhere / at most 2 points off, by the points before"
    );
    let before = [15, 22, 30];
    println!("{:<12} {}", "", before.map(|points| format!("{points:>20}")).concat());
    for noise in Noise::ALL {
        let rates = before.map(|points| {
            let [found, near] = found_steps(noise, points, series / 4);
            format!("{:>20}", format!("{:.1} / {:.1} %", 100.0 * found, 100.0 * near))
        });
        println!("{:<12} {}", format!("{noise:?}"), rates.concat());
    }
    ExitCode::SUCCESS
}
