//! Comparisons, recomputed with numpy and scipy by the formulas of `docs/statistics.md`.
//!
//! | ours | theirs (`tests/oracle/compare.py`) |
//! |---|---|
//! | effect of one block without floors | `scipy.stats.ttest_ind`, both with `equal_var` and without: p of each `alternative`, interval |
//! | effect of pairs | `scipy.stats.ttest_rel`: p of each `alternative` |
//! | effect of several blocks, some with one value, and with floors | the formula in numpy, with `scipy.special.stdtr` |
//! | units needed | their power by `scipy.stats.nct` |
//! | rank test | `scipy.stats.rankdata` and the formula; with one block also `mannwhitneyu` without continuity correction |
//! | exact test | `scipy.stats.fisher_exact` of each `alternative`; over blocks, `numpy.convolve` of `scipy.stats.hypergeom` |
//! | ratio of shares | the formula in numpy; with one block also `scipy.stats.contingency.relative_risk` |
//!
//! All are equal to 10⁻⁹ on 9,000 random cases in `.ci/run`, and a tenth of them otherwise, with ties, zeros and blocks of one value.
//!
//! `tests/oracle/compare_command.py` invents 2,000 pairs of sides (otherwise 200), compares them with the command, and computes every number,
//! claim and verdict from what it invented.

use std::fs;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use support::rounds;
use support::runs::Numbers;
use traceparse::stats::{Block, Effect, Exact, Exceedance, StandardError};

use crate::programs::{oracle, python, runs};

pub(crate) fn trials() -> Vec<Trial> {
    let has_packages = runs(python().args(["-c", "import numpy, scipy.stats.contingency"]));
    trials![if has_packages; comparisons, commands]
}

fn commands() -> Result<(), Failed> {
    oracle("compare_command.py", [env!("CARGO_BIN_EXE_traceparse"), &rounds(500).to_string()])?;
    Ok(())
}

fn comparisons() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("compare.json");
    let mut numbers = Numbers::new(40);
    let effects: Vec<Value> = (0..rounds(6_000)).map(|index| effect(&mut numbers, index)).collect();
    let exact: Vec<Value> = (0..rounds(3_000)).map(|index| shares(&mut numbers, index)).collect();
    fs::write(&path, json!({"effects": effects, "exact": exact}).to_string())?;
    oracle("compare.py", [path])?;
    Ok(())
}

/// One to four blocks: any values, sides of one value, pairs, or full of ties; every other case has floors.
fn effect(numbers: &mut Numbers, index: u64) -> Value {
    let value = |numbers: &mut Numbers| match index % 4 {
        3 => numbers.below(4) as f64 / 2.0,
        _ => numbers.below(1_000_000) as f64 / 250_000.0 + numbers.below(1_000_000) as f64 / 500_000.0,
    };
    let side = |numbers: &mut Numbers| -> Vec<f64> {
        let count = match index % 4 {
            1 => 1 + numbers.below(3),
            2 => 1,
            _ => 2 + numbers.below(11),
        };
        (0..count).map(|_| value(numbers)).collect()
    };
    let floor = |numbers: &mut Numbers| (index / 4 % 2 * numbers.below(1_000)) as f64 / 400.0;
    let block = |numbers: &mut Numbers| Block {
        base: side(numbers),
        new: side(numbers),
        floors: [floor(numbers), floor(numbers)],
    };
    let blocks: Vec<Block> = (0..=numbers.below(4)).map(|_| block(numbers)).collect();
    let error = |error: StandardError| json!([error.error, error.degrees]);
    let ours = Effect::of(&blocks).filter(Effect::has_error).map(|effect| {
        json!({
            "difference": effect.difference,
            "welch": error(effect.welch),
            "pooled": error(effect.pooled),
            "p_above": effect.p_above(),
            "p_below": effect.p_below(),
            "p": effect.p(0.0),
            "interval": effect.interval(0.01),
            "bound": effect.upper_bound(0.05),
            "needed": Block::needed_factor(&blocks, 0.03_f64.ln_1p(), 0.025),
        })
    });
    let values: Vec<Value> = blocks.iter().map(|block| json!([block.base, block.new])).collect();
    let floors: Vec<[f64; 2]> = blocks.iter().map(|block| block.floors).collect();
    json!({"blocks": values, "floors": floors, "effect": ours, "ranks": Block::rank_test(&blocks)})
}

/// One to four blocks of counts, some of them large.
fn shares(numbers: &mut Numbers, index: u64) -> Value {
    let largest = if index.is_multiple_of(20) { 3_000 } else { 60 };
    let blocks: Vec<Exceedance> = (0..=numbers.below(4))
        .map(|_| {
            let (of_base, of_new) = (1 + numbers.below(largest), 1 + numbers.below(largest));
            Exceedance { base: numbers.below(of_base + 1), of_base, new: numbers.below(of_new + 1), of_new }
        })
        .collect();
    let rows: Vec<[u64; 4]> = blocks.iter().map(|block| [block.base, block.of_base, block.new, block.of_new]).collect();
    let Exact { more, fewer, two_sided } = Exact::of(&blocks);
    json!({"blocks": rows, "p": [more, fewer, two_sided], "bound": Exceedance::ratio_bound(&blocks, 0.025)})
}
