//! The verdict in words.

use crate::fleet::compare::{ComparedFunction, Comparison, LabelDifference, Reason, ShareTest, Verdict};
use crate::output::fleet::many;
use crate::output::fleet::measures::Measures;
use crate::output::fleet::opening::name_of;
use crate::output::fleet::sentences::measure_name;
use crate::report::diff::Presence;
use crate::units::{counted, first_of};

/// Names of blocks in a sentence.
const BLOCKS: usize = 4;

/// `+7.2 %`, of a ratio.
pub(in crate::output::fleet) fn change(ratio: f64) -> String {
    format!("{} %", signed(ratio))
}

fn signed(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let decimals = usize::from(percent.abs() < 99.95);
    let text = format!("{percent:+.decimals$}");
    // No change has no sign.
    if text.chars().all(|c| matches!(c, '+' | '-' | '.' | '0')) { "0".to_owned() } else { text.replace('-', "−") }
}

/// `+3.1 to +11.5 %`, of ratios.
pub(in crate::output::fleet) fn interval((lower, upper): (f64, f64)) -> String {
    match upper.is_finite() {
        true => format!("{} to {} %", signed(lower), signed(upper)),
        false => "unknown".to_owned(),
    }
}

/// `95 %`, of the probability of a miss.
pub(in crate::output::fleet) fn confidence(level: f64) -> String {
    let text = format!("{:.1}", 100.0 * (1.0 - level));
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `2.8 %`, of a share.
fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `0.003`, or `< 0.0001`.
pub(in crate::output::fleet) fn probability(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p => format!("{p:.3}"),
    }
}

/// The change of a function: `+104 %`, or that only one side has it.
pub(in crate::output::fleet) fn function_change(function: &ComparedFunction) -> String {
    match Presence::of(function.samples) {
        Presence::Both => change(function.ratio),
        Presence::New => "new".to_owned(),
        Presence::Vanished => "gone".to_owned(),
    }
}

/// Numbers up to the largest mean of the total.
pub(in crate::output::fleet) fn measures(comparison: &Comparison) -> Measures {
    Measures::of(comparison.unit, comparison.total.means.into_iter().fold(0.0, f64::max))
}

/// The verdict, in at most three sentences.
pub(in crate::output::fleet) fn verdict(comparison: &Comparison) -> String {
    match &comparison.verdict {
        Verdict::Slower(reasons) => format!("Slower: {}", claims(comparison, reasons)),
        Verdict::Faster(reasons) => format!("Faster: {}", claims(comparison, reasons)),
        Verdict::NoSlowdown { above } => {
            let level = confidence(comparison.options.alpha);
            format!("No slowdown above {} ({level}, one-sided), {}.", share(*above), of(comparison))
        }
        Verdict::CannotTell { because: Some(because), .. } => format!("Cannot tell: {because}."),
        Verdict::CannotTell { could_hide, needed, .. } => {
            format!("Cannot tell: {}.", unknown(comparison, *could_hide, *needed))
        }
    }
}

/// `up to +9.0 % could hide; 31 runs a side would show 3.0 %`.
fn unknown(comparison: &Comparison, could_hide: Option<f64>, needed: Option<u64>) -> String {
    let (Some(hidden), Some(needed)) = (could_hide, needed) else {
        return format!("{} cannot show how much runs vary", of(comparison));
    };
    let limit = share(comparison.options.min_effect);
    let needed = match needed.max(2) {
        // A typical unit can be told, but not the share of idle ones.
        needed if comparison.units.into_iter().all(|count| count >= needed) => {
            format!("{} are enough for a change of {limit} in most cases", units(comparison, needed))
        }
        needed => format!("{} a side would show {limit}", units(comparison, needed)),
    };
    format!("up to {} could hide in {}; {needed}", change(1.0 + hidden), of(comparison))
}

/// `31 runs`, or `31 values of device_id`.
fn units(comparison: &Comparison, count: u64) -> String {
    match &comparison.options.unit {
        None => many(count, "run"),
        Some(label) => format!("{} of {label}", many(count, "value")),
    }
}

/// `10 against 10 runs on 2 devices, blocked by device`.
pub(in crate::output::fleet) fn of(comparison: &Comparison) -> String {
    let [base, new] = comparison.units;
    let counts = match &comparison.options.unit {
        None => format!("{} against {}", counted(base), many(new, "run")),
        Some(label) => {
            let [of_base, of_new] = comparison.runs;
            format!("{} against {} of {label} ({of_base} and {of_new} runs)", counted(base), many(new, "value"))
        }
    };
    if comparison.options.blocks.is_empty() {
        return counts;
    }
    let by = comparison.options.blocks.join(" and ");
    let blocks = comparison.blocks.len() as u64;
    match comparison.options.blocks.as_slice() {
        [label] if label == "device" => format!("{counts} on {}, blocked by {by}", many(blocks, "device")),
        _ => format!("{counts} in {}, blocked by {by}", many(blocks, "block")),
    }
}

fn claims(comparison: &Comparison, reasons: &[Reason]) -> String {
    let total = &comparison.total;
    let mut sentences: Vec<String> = Vec::new();
    for reason in reasons {
        match reason {
            Reason::Total => {
                let Some((effect, (lower, upper))) = total.effect.zip(total.interval()) else { continue };
                let interval = interval((lower.exp(), upper.exp()));
                sentences.push(format!(
                    "{} CPU ({}: {interval})",
                    change(effect.difference.exp()),
                    confidence(total.level)
                ));
            }
            Reason::Idle => sentences.extend(total.idle.as_ref().map(idle)),
            Reason::Tail(quantile) => {
                let test = total.tail.iter().find(|test| test.quantile == Some(*quantile));
                sentences.extend(test.map(|test| tail(test, measures(comparison))));
            }
            Reason::Function => {}
        }
    }
    let functions = functions(comparison);
    if sentences.is_empty() {
        // Functions alone.
        return format!("{functions}, {}. {}", of(comparison), in_total(comparison));
    }
    let first = sentences.join("; ");
    let functions = if functions.is_empty() { functions } else { format!(" {functions}.") };
    format!("{first}, {}.{functions}", of(comparison))
}

/// The total, where only functions are slower.
fn in_total(comparison: &Comparison) -> String {
    let level = confidence(comparison.options.alpha);
    match comparison.total.upper_bound {
        Some(bound) if bound <= 0.0 => format!("The total did not grow ({level})."),
        Some(bound) => format!("The total did not grow for certain; at most {} ({level}).", change(bound.exp())),
        None => "There are too few runs to know about the total.".to_owned(),
    }
}

fn idle(test: &ShareTest) -> String {
    let [base, new] = [0, 1].map(|side| share(test.counts[side] as f64 / test.of[side] as f64));
    format!("{base} of the base were idle, and {new} of the new ones (p {})", probability(test.p))
}

fn tail(test: &ShareTest, measures: Measures) -> String {
    let quantile = test.quantile.map(|quantile| quantile.to_string()).unwrap_or_default();
    let [base, new] = test.values.map(|value| measures.text(value));
    format!("the mean beyond {quantile} went from {base} to {new} {} (p {})", measures.unit(), probability(test.p))
}

/// `shop::total +104 %, 61 % of the growth`; the two that grew most, and the number of others.
fn functions(comparison: &Comparison) -> String {
    let slower: Vec<&ComparedFunction> = comparison.slower_functions().collect();
    let growth = comparison.total.means[1] - comparison.total.means[0];
    let text = |function: &&ComparedFunction| {
        let part = function.growth() / growth;
        let part = match part {
            _ if growth <= 0.0 || part < 0.01 => String::new(),
            part if part < 0.995 => format!(", {:.0} % of the growth", 100.0 * part),
            _ => ", all of the growth".to_owned(),
        };
        format!("{} {}{part}", name_of(&function.name).0, function_change(function))
    };
    let mut parts: Vec<String> = slower.iter().take(2).map(text).collect();
    match slower.len().saturating_sub(parts.len()) {
        0 => {}
        more => parts.push(many(more as u64, "more function")),
    }
    parts.join("; ")
}

/// What the verdict is about.
pub(in crate::output::fleet) fn scope(comparison: &Comparison) -> String {
    let options = &comparison.options;
    let names: Vec<String> = comparison.blocks.iter().map(|block| block_name(&block.labels)).collect();
    let blocks = match names.len() {
        0 => String::new(),
        _ if options.blocks.is_empty() => String::new(),
        count if count <= BLOCKS => format!(" with {} {}", options.blocks.join(", "), first_of(&names)),
        count => format!(" with the {count} values of {} that both sides have", options.blocks.join(", ")),
    };
    match &options.unit {
        Some(unit) => format!(
            "The verdict is about every {unit} like these {}{blocks}.",
            comparison.units.iter().min().unwrap_or(&0)
        ),
        None => format!("The verdict is about runs like these{blocks}."),
    }
}

/// The labels of a block.
pub(in crate::output::fleet) fn block_name(labels: &[Option<String>]) -> String {
    labels.iter().map(|value| value.as_deref().unwrap_or("none")).collect::<Vec<_>>().join(" · ")
}

/// `os: iOS 17.0 (10 runs) in the base, iOS 17.1 (10 runs) in the new side`.
pub(in crate::output::fleet) fn differences(comparison: &Comparison) -> Vec<String> {
    let difference = |difference: &LabelDifference| {
        let side = |(values, name): (&Vec<(String, u64)>, &str)| {
            let shown = values.iter().take(BLOCKS).map(|(value, runs)| format!("{value} ({})", many(*runs, "run")));
            let mut shown: Vec<String> = shown.collect();
            if values.len() > BLOCKS {
                shown.push(format!("{} more", values.len() - BLOCKS));
            }
            (!shown.is_empty()).then(|| format!("{} only in {name}", first_of(&shown)))
        };
        let sides = difference.values.iter().zip(["the base", "the new side"]).filter_map(side);
        format!("{}: {}", difference.key, sides.collect::<Vec<_>>().join("; "))
    };
    comparison.differences.iter().map(difference).collect()
}

/// How the numbers were made, for reports that are read far from the manual.
pub(in crate::output::fleet) fn method(comparison: &Comparison) -> Vec<String> {
    let options = &comparison.options;
    let mut lines = vec![format!(
        "Welch's test on logarithms of {} within blocks; changes below {} do not count; wrong claims in at most {} of comparisons.",
        measure_name(comparison.unit),
        share(options.min_effect),
        share(options.alpha)
    )];
    lines.extend(comparison.total.rank_p.map(|p| format!("Rank test (van Elteren), a check: p {}.", probability(p))));
    lines.extend(comparison.total.idle.as_ref().map(|test| format!("Idle: {}.", idle(test))));
    lines.extend(comparison.total.tail.iter().map(|test| format!("Tail: {}.", tail(test, measures(comparison)))));
    lines.extend(comparison.functions.as_ref().map(|functions| {
        format!(
            "{} with at least 5 samples a run were tested (Holm for claims, Benjamini and Hochberg for the list).",
            many(functions.tested.len() as u64, "function")
        )
    }));
    lines
}
