//! A comparison as one JSON document. `docs/fleet-formats.md` describes every field.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::fleet::RunRow;
use crate::fleet::compare::{ComparedBlock, ComparedFunction, Comparison, Functions, Reason, ShareTest, Verdict};
use crate::output::fleet::measure_unit;
use crate::report::diff::Presence;
use crate::stats::Quantile;

/// The version of the format. A new field keeps it; a field that goes or changes its meaning raises it.
const VERSION: u64 = 1;

const QUARTILES: [Quantile; 3] = [Quantile::P25, Quantile::P50, Quantile::P75];

/// Writes the comparison.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &document(comparison))?;
    out.write_all(b"\n")
}

pub(super) fn document(comparison: &Comparison) -> Value {
    let Comparison { options, verdict, total, .. } = comparison;
    let (could_hide, needed, because) = match verdict {
        Verdict::CannotTell { could_hide, needed, because } => (*could_hide, *needed, because.clone()),
        _ => (None, None, None),
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
        "reasons": reasons,
        "could_hide": could_hide,
        "because": because,
        "alpha": options.alpha,
        "min_effect": options.min_effect,
        "value_unit": measure_unit(comparison.unit),
        "unit": options.unit,
        "block": options.blocks,
        "blocks": comparison.blocks.iter().map(|block| json!({
            "labels": block.labels,
            "base": block.values[0],
            "new": block.values[1],
            "runs": {"base": runs(&block.runs[0]), "new": runs(&block.runs[1])},
            "summary": {"base": summary(block, 0), "new": summary(block, 1)},
        })).collect::<Vec<_>>(),
        "n": {"base": comparison.units[0], "new": comparison.units[1]},
        "runs": {"base": comparison.runs[0], "new": comparison.runs[1]},
        "mean": {"base": total.means[0], "new": total.means[1]},
        "effect": total.effect.zip(total.interval()).map(|(effect, (lower, upper))| json!({
            "ratio": effect.difference.exp(),
            "lower": lower.exp(),
            "upper": upper.exp(),
            "confidence": 1.0 - total.level,
            "p": effect.p(0.0),
            "degrees": effect.degrees,
            "upper_bound": total.upper_bound.map(f64::exp),
            "rank_p": total.rank_p,
        })),
        "needed_runs": needed,
        "idle": total.idle.as_ref().map(share),
        "tail": total.tail.iter().map(share).collect::<Vec<_>>(),
        "family": comparison.functions.as_ref().map(|functions| json!({"size": functions.tested.len(), "method": "holm"})),
        "functions": comparison.functions.as_ref().map(|of| functions(of, &of.tested)),
        "differences": comparison.differences.iter().map(|difference| json!({
            "key": difference.key,
            "base": values(&difference.values[0]),
            "new": values(&difference.values[1]),
        })).collect::<Vec<_>>(),
        "noise_factor": comparison.noise_factor,
        "warnings": comparison.warnings,
    })
}

pub(super) fn runs<'r>(runs: impl IntoIterator<Item = &'r RunRow>) -> Value {
    runs.into_iter().map(|run| json!({"source": run.source, "cpu_use": run.rate.as_f64()})).collect()
}

/// The box of a side of a block.
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
        "p": test.p,
        "level": test.level,
    })
}

pub(super) fn functions<'f>(
    functions: &Functions,
    shown: impl IntoIterator<Item = &'f ComparedFunction>,
) -> Vec<Value> {
    let slower: Vec<&ComparedFunction> = functions.slower().collect();
    let row = |function: &ComparedFunction| {
        json!({
            "binary": function.name.binary,
            "function": function.name.function,
            "is_slower": slower.iter().any(|slower| slower.name == function.name),
            "presence": Presence::of(function.samples).name(),
            "has_moved": function.has_moved,
            "mean": {"base": function.means[0], "new": function.means[1]},
            "samples": {"base": function.samples[0], "new": function.samples[1]},
            "ratio": function.ratio,
            "lower": function.interval.0,
            "upper": Some(function.interval.1).filter(|upper| upper.is_finite()),
            "all_ratio": function.all_ratio,
            "p": function.p,
            "p_holm": function.p_holm,
            "q": function.q,
        })
    };
    shown.into_iter().map(row).collect()
}
