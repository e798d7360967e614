//! A comparison as one JSON document. `docs/fleet-formats.md` describes every field.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::sentences;
use crate::fleet::RunRow;
use crate::fleet::compare::{ComparedBlock, ComparedFunction, Comparison, Functions, Reason, ShareTest, Verdict};
use crate::output::fleet::measure_unit;
use crate::output::fleet::opening::name_of;
use crate::report::diff::Presence;
use crate::stats::Quantile;

/// The version of the format. A new field keeps it; a field that goes or changes its meaning raises it.
const VERSION: u64 = 1;

const QUARTILES: [Quantile; 3] = [Quantile::P25, Quantile::P50, Quantile::P75];

/// Runs of a side that a page shows at most.
#[cfg(feature = "compression")]
const PAGE_RUNS: usize = 2_000;

/// Writes the comparison.
///
/// # Errors
/// When `out` fails.
pub(in crate::output) fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &document(comparison))?;
    out.write_all(b"\n")
}

/// The document for a page that shows it: in addition the verdict and its scope in words, and how to write CPU use. Its functions are those
/// that changed, the largest change first, and it has at most 2,000 runs a side, evenly chosen among those of each block.
#[cfg(feature = "compression")]
pub(in crate::output) fn page_document(comparison: &Comparison, root: Option<&str>) -> Value {
    let mut page = document(comparison);
    page["sentence"] = json!(sentences::verdict(comparison));
    page["scope"] = json!(sentences::scope(comparison));
    page["differences"] = json!(sentences::differences(comparison));
    page["root"] = json!(root);
    page["shown_unit"] = sentences::measures(comparison).head();
    page["functions"] = comparison.functions.as_ref().map(|of| functions(of, of.changed())).into();
    let changed = comparison.functions.iter().flat_map(Functions::changed);
    for (shown, function) in page["functions"].as_array_mut().into_iter().flatten().zip(changed) {
        shown["name"] = json!(name_of(&function.name).0);
    }
    let steps = comparison.runs.map(|count| (count as usize).div_ceil(PAGE_RUNS).max(1));
    for (shown, block) in page["blocks"].as_array_mut().into_iter().flatten().zip(&comparison.blocks) {
        shown["name"] = json!(sentences::block_name(&block.labels));
        for (side, name) in ["base", "new"].into_iter().enumerate() {
            shown["count"][name] = json!(block.runs[side].len());
            let count = block.runs[side].len();
            let is_shown = |place: usize| place.is_multiple_of(steps[side]) || place + 1 == count;
            let chosen = block.runs[side].iter().enumerate().filter(|(place, _)| is_shown(*place));
            shown["runs"][name] = runs(chosen.map(|(_, run)| run));
            // Only programs need units.
            shown[name].take();
        }
    }
    page
}

fn document(comparison: &Comparison) -> Value {
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

fn runs<'r>(runs: impl IntoIterator<Item = &'r RunRow>) -> Value {
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

fn functions<'f>(functions: &Functions, shown: impl IntoIterator<Item = &'f ComparedFunction>) -> Vec<Value> {
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
