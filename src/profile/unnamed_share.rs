//! Whether the functions of two profiles can be compared, by the shares of their samples that have no name.

/// The maximum difference between the unnamed shares of both sides for which they are comparable.
const DIFFERENCE: f64 = 0.05;
/// A difference of fewer standard errors may be chance.
const ERRORS: f64 = 3.0;

/// True if the unnamed shares of two sides differ, by more than chance. Each side has the number of all samples, and of unnamed ones. A side without
/// samples cannot be compared.
pub(crate) fn unnamed_differ(sides: [[u64; 2]; 2]) -> bool {
    let sides = sides.map(|side| side.map(|count| count as f64));
    let [before, after] = sides.map(|[all, unnamed]| unnamed / all);
    // With one success and one failure more on each side, since the error of an extreme share is unknown (Agresti and Caffo 2000).
    let variances = sides.map(|[all, unnamed]| {
        let share = (unnamed + 1.0) / (all + 2.0);
        share * (1.0 - share) / (all + 2.0)
    });
    let difference = (before - after).abs();
    // Not a number if a side has no samples.
    difference > DIFFERENCE && difference > ERRORS * variances.iter().sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::unnamed_differ;

    #[test]
    fn shares_differ_beyond_chance() {
        for (sides, expected) in [
            ([[100, 0], [100, 100]], true),
            ([[100, 100], [100, 100]], false),
            ([[1_000, 0], [1_000, 60]], true),
            ([[1_000, 0], [1_000, 49]], false),
            ([[7, 1], [485, 5]], false),
            ([[7, 7], [485, 0]], true),
            ([[0, 0], [10, 10]], false),
        ] {
            assert_eq!(unnamed_differ(sides), expected, "{sides:?}");
        }
    }
}
