//! How much sums of samples vary by chance. This is the single definition for two recordings (`report::diff`) and for sums of many runs
//! (`fleet::compare`).
//!
//! A sum of sampled weights is a compound Poisson process, whose variance is estimated by Σw² (Campbell's theorem). This covers only sampling: how
//! much the result would differ if the same execution were sampled again. Runs of identical code also vary because machines vary, by a factor that
//! only several runs can show. Two recordings therefore never prove that code became slower; many runs may.

/// The number of standard deviations from which a change is marked: 95 of 100 changes by chance alone are smaller.
pub(crate) const BEYOND_NOISE: f64 = 1.96;

/// One standard deviation of `after × factor − before`, from the sums of squared sample weights.
pub(crate) fn sampling_noise(before: u128, after: u128, factor: f64) -> f64 {
    let deviation = |squares: u128| (squares as f64).sqrt();
    deviation(before).hypot(deviation(after) * factor)
}

/// The sums of a run.
#[cfg(feature = "fleet")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunSum {
    pub(crate) weight: f64,
    pub(crate) samples: f64,
    /// The recorded time.
    pub(crate) time: f64,
}

/// The factor, at least 1, by which the standard deviation of the summed weight of runs exceeds the sampling noise. It is the square root of
/// Pearson's χ² per degree of freedom for the weights of runs, assuming that all runs of a group have the same rate (McCullagh and Nelder 1989).
#[cfg(feature = "fleet")]
pub(crate) fn overdispersion(groups: impl IntoIterator<Item = Vec<RunSum>>) -> f64 {
    let (mut chi_squared, mut degrees) = (0.0, 0);
    for runs in groups {
        let sum = |value: fn(&RunSum) -> f64| runs.iter().map(value).sum::<f64>();
        let (weight, samples, time) = (sum(|run| run.weight), sum(|run| run.samples), sum(|run| run.time));
        if weight == 0.0 || samples == 0.0 {
            continue;
        }
        for run in &runs {
            let expected = weight * run.time / time;
            chi_squared += (run.weight - expected).powi(2) / (expected * weight / samples);
        }
        degrees += runs.len() - 1;
    }
    if degrees == 0 { 1.0 } else { (chi_squared / degrees as f64).max(1.0).sqrt() }
}
