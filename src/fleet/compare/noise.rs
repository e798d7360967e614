//! By how much runs vary more than sampling explains.

use super::side::Side;
use super::units::Units;
use crate::fleet::report::RunRow;

/// The factor by which one standard deviation of the summed weight of runs exceeds that of sampling, at least 1: the root of Pearson's χ²
/// of the weights of runs, in which runs of a block and side have one rate, per degree of freedom (McCullagh and Nelder 1989).
pub(super) fn noise_factor(units: &Units, sides: &[Side; 2]) -> f64 {
    let (mut chi_squared, mut degrees) = (0.0, 0);
    for runs in units.runs_of_blocks(sides).iter().flatten() {
        let sum = |value: fn(&RunRow) -> f64| runs.iter().map(|run| value(run)).sum::<f64>();
        let (weight, samples) = (sum(|run| run.weight as f64), sum(|run| run.samples as f64));
        let time = sum(|run| run.wall.as_nanos() as f64);
        if weight == 0.0 || samples == 0.0 {
            continue;
        }
        for run in runs {
            let expected = weight * run.wall.as_nanos() as f64 / time;
            chi_squared += (run.weight as f64 - expected).powi(2) / (expected * weight / samples);
        }
        degrees += runs.len() - 1;
    }
    if degrees == 0 { 1.0 } else { (chi_squared / degrees as f64).max(1.0).sqrt() }
}
