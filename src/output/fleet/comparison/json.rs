//! A comparison as one JSON document. `docs/fleet-formats.md` describes every field.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::sentences;
use crate::fleet::ScopeName;
use crate::fleet::compare::{
    CommonGrowth, ComparedBlock, ComparedFunction, ComparedRun, Comparison, Functions, Measured, Obstacle, Quantity,
    Reason, ShareTest, Total, Verdict,
};
use crate::output::fleet::measures::value_unit;
use crate::report::diff::Presence;
use crate::stats::Quantile;
use crate::stats::StandardError;
use crate::units::Nanos;

/// The version of the format. Added fields keep the version; removed fields and changed meanings increase it.
const VERSION: u64 = 1;

const QUARTILES: [Quantile; 3] = [Quantile::P25, Quantile::P50, Quantile::P75];

/// Writes the comparison.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &document(comparison))?;
    out.write_all(b"\n")
}

pub(in crate::output::fleet) fn document(comparison: &Comparison) -> Value {
    let Comparison { options, verdict, levels, .. } = comparison;
    let (could_hide, needed) = match verdict {
        Verdict::Unknown { could_hide, needed, .. } => (*could_hide, *needed),
        _ => (None, None),
    };
    let reasons: Vec<String> = match verdict {
        Verdict::Slower(reasons) | Verdict::Faster(reasons) => {
            reasons.iter().map(|reason| Reason::name(*reason)).collect()
        }
        _ => Vec::new(),
    };
    json!({
        "format": "traceparse-comparison",
        "version": VERSION,
        "verdict": verdict.name(),
        "sentence": sentences::verdict(comparison),
        "reasons": reasons,
        "because": because(verdict),
        "could_hide": could_hide,
        "needed_runs": needed.map(|[base, new]| json!({"base": base, "new": new})),
        "choice": comparison.choice.name(),
        "alpha": options.alpha,
        "levels": {"slower": levels.slower, "faster": levels.faster, "functions": levels.functions},
        "min_effect": options.min_effect,
        "unit": options.unit,
        "block": options.blocks,
        "n": {"base": comparison.units[0], "new": comparison.units[1]},
        "runs": {"base": comparison.runs[0], "new": comparison.runs[1]},
        "measures": comparison.measures.iter().map(|of| measured(comparison, of)).collect::<Vec<_>>(),
        "lengths": comparison.lengths.map(|lengths| json!({
            "ratio": lengths.ratio,
            "p": lengths.p,
            "differ": lengths.differ,
            "are_equal": lengths.are_equal,
            "are_estimated": lengths.are_estimated,
            "deviation": lengths.deviation,
        })),
        "blocks": comparison.blocks.iter().map(|block| json!({
            "labels": block.labels,
            "base": block.values[0],
            "new": block.values[1],
            "runs": {"base": runs(&block.runs[0]), "new": runs(&block.runs[1])},
            "summary": {"base": summary(block, 0), "new": summary(block, 1)},
        })).collect::<Vec<_>>(),
        "family": comparison.functions.as_ref().map(|functions| json!({
            "size": functions.tested.len(),
            "method": "holm",
            "common_growth": functions.growth.map(|growth| match growth {
                CommonGrowth::All => "all",
                CommonGrowth::Most => "most",
            }),
            "unnamed": functions.unnamed.iter().map(|(binary, [base, new])| {
                json!({"binary": binary, "base": base, "new": new})
            }).collect::<Vec<_>>(),
        })),
        "functions": comparison.functions.as_ref().map(|of| functions(of, &of.tested)),
        "confounders": comparison.confounders,
        "differences": comparison.differences.iter().map(|difference| json!({
            "key": difference.key,
            "base": values(&difference.values[0]),
            "new": values(&difference.values[1]),
        })).collect::<Vec<_>>(),
        "noise_factor": comparison.noise_factor,
        "warnings": comparison.warnings,
    })
}

/// The reason why there is no conclusion: a sentence for an invalid comparison, or else the name of an obstacle.
fn because(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Invalid { because } => Some(because),
        Verdict::Unknown { because, .. } => because.map(|obstacle| match obstacle {
            Obstacle::FewUnits => "few-units",
            Obstacle::Shorter => "shorter",
            Obstacle::MoreIdle => "more-idle",
            Obstacle::Confounded => "confounded",
            Obstacle::Saturated => "saturated",
        }),
        _ => None,
    }
}

fn measured(comparison: &Comparison, Measured { quantity, total, guard, needs_guard, .. }: &Measured) -> Value {
    let mut fields = tests(comparison, quantity, total);
    fields["guard"] = json!(guard.as_ref().map(|guard| {
        let mut fields = tests(comparison, &guard.quantity, &guard.total);
        fields["confirms_claims"] = json!(needs_guard);
        fields
    }));
    fields
}

/// The test results for a quantity.
fn tests(comparison: &Comparison, quantity: &Quantity, total: &Total) -> Value {
    let error = |error: StandardError| json!({"error": error.error, "degrees": error.degrees});
    json!({
        "measure": quantity.to_string(),
        "value_unit": value_unit(quantity, comparison.unit),
        "mean": {"base": total.means[0], "new": total.means[1]},
        "effect": total.effect.zip(total.interval()).map(|(effect, (lower, upper))| json!({
            "ratio": effect.difference.exp(),
            "lower": lower.exp(),
            "upper": upper.exp(),
            "confidence": 1.0 - 2.0 * total.levels.slower,
            "p_slower": effect.p_above(),
            "p_faster": effect.p_below(),
            "level_slower": total.levels.slower,
            "level_faster": total.levels.faster,
            "welch": error(effect.welch),
            "pooled": error(effect.pooled),
            "upper_bound": total.upper_bound.map(f64::exp),
            "needed_factor": total.needed,
            "rank_p": total.rank_p,
        })),
        "idle": total.idle.as_ref().map(share),
        "tail": total.tail.iter().map(share).collect::<Vec<_>>(),
    })
}

pub(super) fn runs<'r>(runs: impl IntoIterator<Item = &'r ComparedRun>) -> Value {
    let run = |ComparedRun { value, row }: &ComparedRun| {
        json!({
            "source": row.title(),
            "path": row.source,
            "value": value,
            "cpu_time": row.weight,
            "recorded_ns": row.recorded().map(Nanos::as_nanos),
            "cpu_use": row.rate.as_f64(),
        })
    };
    runs.into_iter().map(run).collect()
}

/// The box plot values of one side of a block.
fn summary(block: &ComparedBlock, side: usize) -> Value {
    let [p25, p50, p75] = QUARTILES.map(|quantile| block.quantile(side, quantile));
    json!({"p25": p25, "p50": p50, "p75": p75, "geometric_mean": block.geometric_mean(side)})
}

fn values(values: &[(String, u64)]) -> Vec<Value> {
    values.iter().map(|(value, runs)| json!({"value": value, "runs": runs})).collect()
}

fn share(test: &ShareTest) -> Value {
    json!({
        "quantile": test.quantile.map(|quantile| quantile.name()),
        "base": {"count": test.counts[0], "of": test.of[0], "value": test.quantile.map(|_| test.values[0])},
        "new": {"count": test.counts[1], "of": test.of[1], "value": test.quantile.map(|_| test.values[1])},
        "p": test.p.two_sided,
        "p_more": test.p.more,
        "p_fewer": test.p.fewer,
    })
}

pub(super) fn functions<'f>(
    functions: &Functions,
    shown: impl IntoIterator<Item = &'f ComparedFunction>,
) -> Vec<Value> {
    let name = |name: &ScopeName| json!({"binary": name.binary, "function": name.function});
    let row = |function: &ComparedFunction| {
        json!({
            "binary": function.name.binary,
            "function": function.name.function,
            "is_slower": function.is_slower,
            "fails": functions.fails(function),
            "presence": Presence::of(function.samples).name(),
            "moved_from": function.moved_from.iter().map(name).collect::<Vec<_>>(),
            "mean": {"base": function.means[0], "new": function.means[1]},
            "samples": {"base": function.samples[0], "new": function.samples[1]},
            "ratio": function.ratio,
            "lower": function.interval.0,
            "upper": Some(function.interval.1).filter(|upper| upper.is_finite()),
            "p": function.p,
            "p_holm": function.p_holm,
            "q": function.q,
        })
    };
    shown.into_iter().map(row).collect()
}
