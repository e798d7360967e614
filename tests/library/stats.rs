//! Statistics of invented fleets, compared with results counted by hand or by a slow implementation.

use support::Rng;
use traceparse::stats::{BinnedValues, BoxPlot, Confidence, Distribution, Quantile, QuantileMethod, Support};
use traceparse::units::Millionths;

const STANDARD: [Quantile; 6] =
    [Quantile::P50, Quantile::P75, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P999];

/// Random numbers, the same in every run.
struct Random(Rng);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// In (0, 1].
    fn share(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A percentage as fleets have it: most small, few large, one in fifty 0.
    fn skewed(&mut self) -> Millionths {
        let value = match self.bits() % 100 {
            0..2 => 0.0,
            2..4 => 60.0 + 40.0 * self.share(),
            _ => 0.02 / self.share().powf(1.2),
        };
        Millionths::from_f64(value.min(900.0)).unwrap()
    }
}

fn percent(text: &str) -> Quantile {
    Quantile::from_percent(text).unwrap()
}

fn hundredths(values: &[u64]) -> Vec<Millionths> {
    values.iter().map(|value| Millionths::new(value * 10_000)).collect()
}

#[test]
fn ninety_nine_small_runs_and_a_large_one() {
    let mut runs = vec![Millionths::ONE; 99];
    runs.insert(40, Millionths::new(99_000_000));
    let runs = Distribution::new(runs, 0);
    assert_eq!(runs.mean(), Some(Millionths::new(1_980_000)));
    for quantile in [Quantile::P50, Quantile::P95, Quantile::P99] {
        assert_eq!(runs.quantile(quantile, QuantileMethod::NearestRank), Some(1.0), "{quantile}");
    }
    let linear = runs.quantile(Quantile::P99, QuantileMethod::Linear).unwrap();
    assert_eq!(format!("{linear:.6}"), "1.980000");

    let estimate = |quantile| runs.estimate(quantile, QuantileMethod::NearestRank, Confidence::default());
    let tail = estimate(Quantile::P999);
    assert_eq!((tail.value, tail.support), (Some(99.0), Support::TooFew { needed: 1000 }));
    assert_eq!((tail.interval.lower, tail.interval.upper), (Some(1.0), None));
    assert_eq!(estimate(Quantile::P99).support, Support::UpperUnknown);
    let median = estimate(Quantile::P50);
    assert_eq!((median.support, median.interval.lower, median.interval.upper), (Support::Enough, Some(1.0), Some(1.0)));
}

#[test]
fn collects_numbers_and_omits_those_that_are_not_measures() {
    let numbers = [1.5, f64::NAN, -1.0, 0.0, f64::INFINITY, 0.25];
    let expected = Distribution::new([1_500_000, 250_000].map(Millionths::new).to_vec(), 1);
    assert_eq!(numbers.into_iter().collect::<Distribution>(), expected);
}

#[test]
fn nothing_one_value_and_zeros() {
    let none = Distribution::new(Vec::new(), 0);
    let estimate = none.estimate(Quantile::P50, QuantileMethod::Linear, Confidence::default());
    assert_eq!((none.count(), none.min(), none.max(), none.mean()), (0, None, None, None));
    assert_eq!((estimate.value, estimate.support), (None, Support::TooFew { needed: 2 }));
    assert_eq!((none.value_at_rank(0), none.value_at_rank(1), none.values().count()), (None, None, 0));
    assert!(none.bins(10).is_empty() && BoxPlot::new(&none).is_none());

    let one = Distribution::new(hundredths(&[198]), 0);
    for quantile in STANDARD.into_iter().chain([percent("0"), percent("100")]) {
        for method in [QuantileMethod::NearestRank, QuantileMethod::Linear] {
            assert_eq!(one.quantile(quantile, method), Some(1.98), "{quantile} {method}");
        }
    }

    // Zeros given as values and as a number are the same.
    let zeros = Distribution::new(hundredths(&[0, 500, 0, 300]), 2);
    assert_eq!(zeros, Distribution::new(hundredths(&[300, 500]), 4));
    assert_eq!((zeros.count(), zeros.zeros(), zeros.nearest(percent("66.6"))), (6, 4, Some(Millionths::default())));
    assert_eq!(zeros.quantile(percent("66.7"), QuantileMethod::NearestRank), Some(3.0));
    assert_eq!(zeros.mean(), Millionths::of_ratio(8, 6));
    assert_eq!((zeros.value_at_rank(6), zeros.value_at_rank(7)), (Some(Millionths::new(5_000_000)), None));
    let values: Vec<_> = zeros.values().map(|(value, count)| (value.to_string(), count)).collect();
    assert_eq!(values, [("0".to_owned(), 4), ("3".to_owned(), 1), ("5".to_owned(), 1)]);
    assert_eq!(Distribution::new(Vec::new(), u64::MAX).nearest(Quantile::P99), Some(Millionths::default()));
}

#[test]
fn equal_weights_are_none_and_whole_weights_are_repetition() {
    let mut random = Random(Rng::new(1));
    for round in 0..200 {
        let values: Vec<_> = (0..1 + random.bits() % 60).map(|_| random.skewed()).collect();
        let zeros = random.bits() % 4;
        let weights: Vec<u64> = values.iter().map(|_| random.bits() % 5).collect();
        let plain = Distribution::new(values.clone(), zeros);
        let equal = values.iter().map(|value| (*value, Millionths::new(2_500_000))).collect();
        let equal = Distribution::weighted(equal, zeros, u128::from(zeros) * 2_500_000);
        let repeated = values.iter().zip(&weights).flat_map(|(value, weight)| vec![*value; *weight as usize]).collect();
        let repeated = Distribution::new(repeated, zeros);
        let whole = values.iter().zip(&weights).map(|(value, weight)| (*value, Millionths::new(weight * 1_000_000)));
        let whole = Distribution::weighted(whole.collect(), zeros, u128::from(zeros) * 1_000_000);
        for tenth in 0..=1000 {
            let quantile = Quantile::from_parts_per_million(tenth * 1000).unwrap();
            assert_eq!(equal.nearest(quantile), plain.nearest(quantile), "{round} {quantile}");
            assert_eq!(whole.nearest(quantile), repeated.nearest(quantile), "{round} {quantile}");
        }
        assert_eq!((equal.count(), equal.zeros(), equal.mean()), (plain.count(), plain.zeros(), plain.mean()));
        assert_eq!(equal.weighted_mean(), plain.mean());
        assert_eq!(whole.weighted_mean(), repeated.mean());
        assert!((equal.effective_count() - plain.count() as f64).abs() < 1e-9);
    }
}

#[test]
fn weights_have_neither_lines_nor_intervals() {
    // One value outweighs 99 others, so they say as much as four or so.
    let pairs =
        (0..100).map(|i| (Millionths::new(i * 10_000), Millionths::new(if i == 50 { 99_000_000 } else { 1_000_000 })));
    let weighted = Distribution::weighted(pairs.collect(), 0, 0);
    assert!(weighted.is_weighted());
    assert!((weighted.effective_count() - 198.0 * 198.0 / (99.0 * 99.0 + 99.0)).abs() < 1e-9);
    assert_eq!(weighted.quantile(Quantile::P50, QuantileMethod::NearestRank), Some(0.5));
    assert_eq!(weighted.quantile(Quantile::P50, QuantileMethod::Linear), None);
    let estimate = weighted.estimate(Quantile::P90, QuantileMethod::NearestRank, Confidence::default());
    assert_eq!((estimate.support, estimate.interval.upper), (Support::TooFew { needed: 10 }, None));

    // Equal weights count in full, though never for an interval.
    let equal = Distribution::weighted(vec![(Millionths::ONE, Millionths::new(333_333)); 1000], 0, 0);
    let support = |quantile| equal.estimate(quantile, QuantileMethod::NearestRank, Confidence::default()).support;
    assert_eq!((support(Quantile::P999), support(Quantile::P50)), (Support::UpperUnknown, Support::UpperUnknown));

    // Values without weight are ignored.
    let light = Distribution::weighted(vec![(Millionths::ONE, Millionths::new(0))], 7, 0);
    assert_eq!((light.count(), light.effective_count(), light.weighted_mean()), (0, 0.0, None));
    assert_eq!(light.quantile(Quantile::P50, QuantileMethod::NearestRank), None);
    let heavy = Distribution::weighted(vec![(Millionths::new(u64::MAX), Millionths::new(u64::MAX)); 3], 1, u128::MAX);
    assert_eq!(
        (heavy.nearest(Quantile::P999), heavy.nearest(percent("100")).is_some()),
        (Some(Millionths::default()), true)
    );
}

#[test]
fn ends_of_intervals_at_the_edges() {
    let ranks = |count, text| percent(text).interval_ranks(count, Confidence::default());
    assert_eq!(ranks(0, "50"), (None, None));
    assert_eq!(ranks(1, "50"), (None, None));
    assert_eq!((ranks(5, "50"), ranks(6, "50")), ((None, None), (Some(1), Some(6))));
    assert_eq!((ranks(10, "0"), ranks(10, "100")), ((None, Some(1)), (Some(10), None)));
    assert_eq!((ranks(3687, "99.9").1, ranks(3688, "99.9").1), (None, Some(3688)));
    assert_eq!(ranks(u64::MAX, "50"), (None, None), "no hang");
    // With 50 %, two values have a quarter beyond each, exactly.
    let half = Confidence::from_percent("50").unwrap();
    assert_eq!(Quantile::P50.interval_ranks(2, half), (Some(1), Some(2)));
    for bad in ["0", "100", "-1", "", "95%"] {
        assert_eq!(Confidence::from_percent(bad), None, "{bad}");
    }
    assert_eq!((Confidence::default().to_string(), Confidence::default().tail()), ("95 %".to_owned(), 0.025));
}

#[test]
fn bins_have_nice_edges_and_lose_nothing() {
    let edges = |values: &[u64], zeros, most| {
        let bins = Distribution::new(hundredths(values), zeros).bins(most);
        bins.iter().map(|bin| (bin.lower, bin.upper, bin.count)).collect::<Vec<_>>()
    };
    assert_eq!(
        edges(&[0, 2500, 4900, 5000, 10000], 0, 4),
        [(0.0, 25.0, 1), (25.0, 50.0, 2), (50.0, 75.0, 1), (75.0, 100.0, 1)]
    );
    assert_eq!(edges(&[100, 300], 3, 3), [(0.0, 1.0, 3), (1.0, 2.0, 1), (2.0, 3.0, 1)]);
    assert_eq!(edges(&[198], 0, 50), [(1.0, 2.0, 1)]);
    assert_eq!(edges(&[], 5, 50), [(0.0, 1.0, 5)]);
    assert_eq!(edges(&[198, 9900], 0, 1), [(0.0, 100.0, 2)]);
    assert_eq!(edges(&[198, 9900], 0, 0), [(0.0, 100.0, 2)]);

    let mut random = Random(Rng::new(2));
    for round in 0..300 {
        let values: Vec<_> =
            (0..1 + random.bits() % 500).map(|_| Millionths::new(random.bits() >> (random.bits() % 64))).collect();
        let distribution = Distribution::new(values, random.bits() % 3);
        let most = 1 + (random.bits() % 60) as usize;
        let bins = distribution.bins(most);
        assert!(bins.len() <= most, "{round}");
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), distribution.count(), "{round}");
        assert!(bins.windows(2).all(|pair| pair[0].upper == pair[1].lower), "{round}");
        let (min, max) = (distribution.min().unwrap().as_f64(), distribution.max().unwrap().as_f64());
        assert!(bins[0].lower <= min && max <= bins[bins.len() - 1].upper, "{round}");
        let counted = |bin: &traceparse::stats::Bin, is_last: bool| -> u64 {
            let inside = |value: f64| bin.lower <= value && (value < bin.upper || is_last && value == bin.upper);
            distribution.values().filter(|(value, _)| inside(value.as_f64())).map(|(_, count)| count).sum()
        };
        // Above 2^53 millionths, doubles round values over edges.
        if max < 9e9 {
            for (index, bin) in bins.iter().enumerate() {
                assert_eq!(bin.count, counted(bin, index + 1 == bins.len()), "{round} {index}");
            }
        }
    }
    assert!(
        Distribution::new(vec![Millionths::new(1), Millionths::new(u64::MAX)], 0).bins(usize::MAX).len()
            <= Distribution::MAX_BINS
    );
}

#[test]
fn boxes_and_whiskers() {
    let plot = |values: &[u64], zeros| BoxPlot::new(&Distribution::new(hundredths(values), zeros)).unwrap();
    let hand = plot(&[1, 200, 300, 400, 500, 600, 700, 800, 1400, 1500, 1500], 0);
    assert_eq!((hand.p25, hand.median, hand.p75), (3.0, 6.0, 14.0));
    assert_eq!((hand.min, hand.max, hand.outlier_count), (0.01, 15.0, 0));
    let far = plot(&[100, 200, 200, 300, 300, 400, 400, 500, 900, 1000, 1000], 0);
    // The box is from 2 to 9.
    assert_eq!((far.p25, far.p75, far.whisker_low, far.whisker_high), (2.0, 9.0, 1.0, 10.0));
    let rare = plot(&[500, 700, 700], 97);
    assert_eq!((rare.p75, rare.whisker_low, rare.whisker_high), (0.0, 0.0, 0.0));
    assert_eq!((rare.outliers, rare.outlier_count), (vec![5.0, 7.0], 3));
    // The box is from 10 to 12: 7 and 15 are just inside.
    let fence = plot(&[699, 700, 1000, 1000, 1000, 1200, 1200, 1200, 1200, 1500, 1501], 0);
    assert_eq!((fence.p25, fence.p75, fence.outliers), (10.0, 12.0, vec![6.99, 15.01]));
    assert_eq!((fence.whisker_low, fence.whisker_high), (7.0, 15.0));
    let many = BoxPlot::new(&Distribution::new((1..=2000).map(Millionths::new).collect(), 100_000)).unwrap();
    assert_eq!((many.outliers.len(), many.outliers[0], many.outlier_count), (1000, 0.001_001, 2000));
}

#[test]
fn noise_of_runs_that_are_all_alike() {
    // 5 s at 1 kHz of a function at 0.1 %: five samples expected. P99.9 is 13 of them: 0.26 %.
    let floor = Quantile::P999.noise_floor(5.0, Millionths::new(100_000)).unwrap();
    assert!((floor - 0.26).abs() < 1e-12, "{floor}");
    // With 300 samples a run, 95 % of runs are within 11 % or so.
    let upper = percent("97.5").noise_floor(300.0, Millionths::ONE).unwrap();
    assert!((1.10..1.13).contains(&upper), "{upper}");
    assert_eq!(Quantile::P99.noise_floor(0.0, Millionths::ONE), None);
    assert_eq!(Quantile::P99.noise_floor(f64::NAN, Millionths::ONE), None);
    assert_eq!(Quantile::P99.noise_floor(1e-6, Millionths::ONE), Some(0.0), "one run of a million has it");

    assert_eq!(Quantile::P99.of_poisson(0.0), Some(0));
    assert_eq!(percent("0").of_poisson(0.5), Some(0));
    assert_eq!(percent("100").of_poisson(0.5), None);
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(Quantile::P50.of_poisson(bad), None, "{bad}");
    }
    // Near the largest mean it is the mean and three standard deviations.
    let far = Quantile::P999.of_poisson(1e10).unwrap();
    assert!((far as f64 - (1e10 + 3.090_232 * 1e5)).abs() < 10.0, "{far}");
}

/// The quantile of values is in the interval of their bins, whose ends are quantiles of values that have these bins.
#[test]
fn quantiles_of_bins_hold_those_of_the_values() {
    for seed in 0..1_000 {
        let mut rng = Rng::new(seed);
        let mut binned = BinnedValues::default();
        let mut values = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..1 + rng.below(40) {
            // Bins overlap, have gaps, and are wide or narrow.
            let (lower, width, count) = (rng.below(1_000), rng.below(200), rng.below(6));
            let upper = if rng.one_in(10) { None } else { Some(lower + width) };
            binned.add(lower, upper, count);
            for _ in 0..count {
                let value = lower + rng.below(upper.map_or(5_000, |upper| upper - lower) + 1);
                for (values, value) in values.iter_mut().zip([lower, value, upper.unwrap_or(u64::MAX)]) {
                    values.push(value);
                }
            }
        }
        values.iter_mut().for_each(|values| values.sort_unstable());
        assert_eq!(binned.count(), values[0].len() as u64, "seed {seed}");
        for quantile in [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999] {
            let rank = quantile.nearest_rank(binned.count()) as usize;
            let expected =
                values.each_ref().map(|values| rank.checked_sub(1).and_then(|index| values.get(index)).copied());
            let found = binned.quantile(quantile);
            let (lower, upper) = (found.map(|found| found.0), found.map(|found| found.1.unwrap_or(u64::MAX)));
            assert_eq!([lower, upper], [expected[0], expected[2]], "seed {seed}");
            assert!(lower <= expected[1] && expected[1] <= upper, "seed {seed}: {found:?} and {expected:?}");
        }
    }
}
