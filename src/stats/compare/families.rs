//! Probabilities of many tests, adjusted so that the number of false claims is known.

/// Holm's adjustment: rejecting what is at most alpha makes any false claim with a probability of at most alpha.
pub fn holm(values: &[f64]) -> Vec<f64> {
    let count = values.len();
    let mut adjusted = vec![0.0; count];
    let mut largest = 0.0_f64;
    for (rank, at) in ascending(values).into_iter().enumerate() {
        largest = largest.max((values[at] * (count - rank) as f64).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's adjustment: of what is at most q, on average at most the share q is a false claim.
pub fn benjamini_hochberg(values: &[f64]) -> Vec<f64> {
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
