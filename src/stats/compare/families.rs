//! Adjusts the p-values of many tests to limit the number of false claims.

/// Holm's adjustment. Rejecting all hypotheses with an adjusted value of at most alpha makes any false claim with a probability of at most alpha.
pub(crate) fn holm(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let mut adjusted = vec![0.0; count];
    let mut largest = 0.0_f64;
    for (rank, at) in ascending(values).into_iter().enumerate() {
        largest = largest.max((values[at] * (count - rank) as f64).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's adjustment. Among values of at most q, the expected share of false claims is at most q.
pub(crate) fn benjamini_hochberg(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let mut adjusted = vec![0.0; count];
    let mut smallest = 1.0_f64;
    for (rank, at) in ascending(values).into_iter().enumerate().rev() {
        smallest = smallest.min(values[at] * count as f64 / (rank + 1) as f64);
        adjusted[at] = smallest;
    }
    adjusted
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Few distinct values, so that many are equal.
        #[test]
        fn adjusts_as_defined(values in prop::collection::vec((0..=30_u32).prop_map(|value| f64::from(value * value) / 900.0), 1..40)) {
            let count = |is: &dyn Fn(f64) -> bool| values.iter().filter(|value| is(**value)).count() as f64;
            let holms = |value: f64| (value * (values.len() as f64 - count(&|other| other < value))).min(1.0);
            let benjaminis = |value: f64| (value * values.len() as f64 / count(&|other| other <= value)).min(1.0);
            for (index, value) in values.iter().enumerate() {
                let (smaller, larger) = values.iter().partition::<Vec<f64>, _>(|other| *other <= value);
                assert_eq!(holm(&values)[index], smaller.into_iter().map(holms).fold(0.0, f64::max));
                let at_least = larger.into_iter().chain([*value]);
                assert_eq!(benjamini_hochberg(&values)[index], at_least.map(benjaminis).fold(1.0, f64::min));
            }
        }
    }
}
