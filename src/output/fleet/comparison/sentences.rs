//! Sentences for the verdict.

use std::borrow::Cow;
use std::fmt::{Display, Formatter};

use crate::fleet::compare::{
    Choice, CommonGrowth, ComparedFunction, Comparison, FUNCTION_UNITS, LabelDifference, Measured, Obstacle, Quantity,
    Reason, ShareTest, TOTAL_UNITS, Total, Verdict,
};
use crate::output::fleet::many;
use crate::output::fleet::measures::{Measures, measure_name, noun};
use crate::output::fleet::opening::name_of;
use crate::settings::{DSYM, DURING, MEASURE};

use crate::recording::shell_word;
use crate::report::diff::Presence;
use crate::units::{Unit, counted, first_of};

/// The maximum number of block names in a sentence.
const BLOCKS: usize = 4;

/// Formats a ratio as a change: `+7.2 %`.
pub(in crate::output::fleet) fn change(ratio: f64) -> String {
    format!("{} %", signed(ratio))
}

fn signed(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0);
    let decimals = usize::from(percent.abs() < 99.95);
    let text = format!("{percent:+.decimals$}");
    // A change of zero has no sign.
    if text.chars().all(|c| matches!(c, '+' | '-' | '.' | '0')) { "0".to_owned() } else { text.replace('-', "−") }
}

/// Formats two ratios as an interval of changes: `+3.1 to +11.5 %`.
pub(in crate::output::fleet) fn interval((lower, upper): (f64, f64)) -> String {
    match upper.is_finite() {
        true => format!("{} to {} %", signed(lower), signed(upper)),
        false => "unknown".to_owned(),
    }
}

/// Formats the confidence for a probability of error: `95 %` for 0.05.
pub(in crate::output::fleet) fn confidence(level: f64) -> String {
    self::level(1.0 - level)
}

/// Formats a share: `2.8 %`.
fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a probability: `0.003`, or `< 0.0001`.
pub(in crate::output::fleet) fn probability(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p => format!("{p:.3}"),
    }
}

/// The change of a function: `+104 %`, or the word for a function that only one side has.
pub(in crate::output::fleet) fn function_change(function: &ComparedFunction) -> String {
    match Presence::of(function.samples) {
        Presence::Both => change(function.ratio),
        Presence::New => "new".to_owned(),
        Presence::Vanished => "gone".to_owned(),
    }
}

/// The interval of a function that both sides have; empty for other functions.
pub(in crate::output::fleet) fn function_interval(function: &ComparedFunction) -> String {
    match Presence::of(function.samples) {
        Presence::Both => interval(function.interval),
        Presence::New | Presence::Vanished => String::new(),
    }
}

/// `CPU time`, `hang time`, `duration of Checkout`.
pub(in crate::output::fleet) fn quantity_name(quantity: &Quantity, unit: Unit) -> Cow<'static, str> {
    match quantity {
        Quantity::Elapsed => "elapsed time".into(),
        Quantity::Interval(name) => format!("duration of {name}").into(),
        Quantity::CpuTime => match unit {
            Unit::Cycles => "CPU cycles".into(),
            Unit::PmcEvents => "counted events".into(),
            Unit::Samples => "samples".into(),
            Unit::Elapsed => "time".into(),
            Unit::Bytes => "bytes".into(),
            unit if unit.is_of_reports() => measure_name(unit).into(),
            _ => "CPU time".into(),
        },
        Quantity::CpuUse => match unit {
            Unit::Elapsed => "time per second".into(),
            Unit::Bytes => "bytes per second".into(),
            unit => measure_name(unit).into(),
        },
    }
}

/// The number format for values up to the largest mean of a quantity.
pub(super) fn measures_of(comparison: &Comparison, measured: &Measured) -> Measures {
    let largest = measured.total.means.into_iter().fold(0.0, f64::max);
    Measures::of_quantity(&measured.quantity, comparison.unit, largest)
}

/// The number format for the first quantity.
pub(in crate::output::fleet) fn measures(comparison: &Comparison) -> Measures {
    measures_of(comparison, comparison.first())
}

/// The number format for functions: CPU use or CPU time.
pub(in crate::output::fleet) fn function_measures(comparison: &Comparison) -> Measures {
    let quantity = match comparison.first().quantity {
        Quantity::CpuUse => Quantity::CpuUse,
        _ => Quantity::CpuTime,
    };
    let largest = comparison.functions.as_ref().map_or(0.0, |functions| functions.base_total);
    Measures::of_quantity(&quantity, comparison.unit, largest)
}

impl Display for Comparison {
    /// Writes the verdict with its evidence, like the first line of the command's text.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&verdict(self))
    }
}

/// The verdict with its evidence and limitations.
pub(in crate::output::fleet) fn verdict(comparison: &Comparison) -> String {
    let total = || of_measured(comparison, comparison.first());
    let sides = of(comparison);
    let mut sentences = match &comparison.verdict {
        Verdict::Invalid { because } => vec![format!("No comparison is possible: {because}.")],
        Verdict::Slower(reasons) if reasons.as_slice() == [Reason::Function] => {
            vec![format!("Slower function: {}.", functions(comparison)), format!("Total: {}, {sides}.", total())]
        }
        Verdict::Slower(reasons) => claims("Slower", comparison, reasons),
        Verdict::Faster(reasons) => claims("Faster", comparison, reasons),
        Verdict::NoSlowdown { above } => {
            let level = confidence(comparison.options.alpha);
            vec![format!("No slowdown above {} ({level}, one-sided): {}, {sides}.", share(*above), total())]
        }
        Verdict::Unknown { could_hide, needed, because } => {
            vec![format!("Cannot tell: {}.", unknown(comparison, *could_hide, *needed, *because))]
        }
    };
    let is_said = matches!(&comparison.verdict, Verdict::Slower(reasons) if reasons.contains(&Reason::Function));
    let named = if is_said { String::new() } else { functions(comparison) };
    sentences.extend((!named.is_empty()).then(|| format!("{named}.")));
    sentences.extend(comparison.functions.as_ref().and_then(|functions| functions.growth).map(|growth| match growth {
        CommonGrowth::All => "Functions grew by about the same factor: none stands out.".to_owned(),
        CommonGrowth::Most => "Several functions grew, none by clearly more than all others.".to_owned(),
    }));
    if !matches!(comparison.verdict, Verdict::Invalid { .. }) {
        sentences.extend(cautions(comparison));
    }
    sentences.join(" ")
}

/// `+1.2 % CPU time (95 %: −2.0 to +4.5 %)`.
fn of_total(comparison: &Comparison, quantity: &Quantity, total: &Total) -> String {
    let name = quantity_name(quantity, comparison.unit);
    let is_faster = matches!(comparison.verdict, Verdict::Faster(_));
    let level = 2.0 * if is_faster { total.levels.faster } else { total.levels.slower };
    match total.effect {
        Some(effect) => {
            let (lower, upper) = effect.interval(level);
            let interval = interval((lower.exp(), upper.exp()));
            format!("{} {name} ({}: {interval})", change(effect.difference.exp()), confidence(level))
        }
        None => format!("unknown {name}"),
    }
}

fn of_measured(comparison: &Comparison, measured: &Measured) -> String {
    of_total(comparison, &measured.quantity, &measured.total)
}

/// Sentences about what is unknown, and what would show it.
fn unknown(
    comparison: &Comparison,
    could_hide: Option<f64>,
    needed: Option<[u64; 2]>,
    because: Option<Obstacle>,
) -> String {
    let (total, sides) = (of_measured(comparison, comparison.first()), of(comparison));
    match because {
        Some(Obstacle::FewUnits) => {
            format!("{total}, {sides}; a claim needs at least {}", units(comparison, [TOTAL_UNITS; 2]))
        }
        Some(Obstacle::Shorter) => format!(
            "{total}, {sides}, and {}, as after a crash; if they did all of their work, add {MEASURE} cpu-time",
            match comparison.choice {
                Choice::UnknownLengths => "samples of new recordings cover less time",
                _ => "new recordings are shorter",
            }
        ),
        Some(Obstacle::MoreIdle) => {
            let mut totals = comparison.measures.iter().flat_map(|measured| &measured.total.idle);
            let idle = totals.next().map(idle).unwrap_or_default();
            format!("{total}, {sides}, but {idle}: check that each app started")
        }
        Some(Obstacle::Confounded) => {
            format!("{total}, {sides}, but {} may explain it", comparison.confounders.join(" and "))
        }
        Some(Obstacle::Saturated) => format!(
            "{total}, {sides}, but runs were busy throughout, so CPU use could not grow; record until the work is done, or add {MEASURE} interval:NAME"
        ),
        None => {
            let limit = share(comparison.options.min_effect);
            let (hidden, show) = match (could_hide, needed) {
                (Some(hidden), Some(needed)) => {
                    let has_enough = needed.iter().zip(comparison.units).all(|(needed, count)| *needed <= count);
                    let units = units(comparison, needed);
                    let show = match has_enough {
                        true => format!("{units} suffice for a change of {limit} in most cases"),
                        false => format!("about {units} would show {limit}"),
                    };
                    (hidden, show)
                }
                (Some(hidden), None) => {
                    (hidden, format!("how many would show {limit} is unknown, since idle ones are among them"))
                }
                (None, _) => return format!("{sides} cannot show how much runs vary"),
            };
            format!(
                "{total}, so up to {} ({}, one-sided) could hide in {sides}; {show}",
                change(1.0 + hidden),
                confidence(comparison.options.alpha)
            )
        }
    }
}

/// `31 runs per side`, `31 and 12 runs`, or `31 values of device_id per side`.
fn units(comparison: &Comparison, [base, new]: [u64; 2]) -> String {
    let noun = match &comparison.options.unit {
        None => "runs".to_owned(),
        Some(label) => format!("values of {label}"),
    };
    if base == new {
        format!("{} {noun} per side", counted(base))
    } else {
        format!("{} and {} {noun}", counted(base), counted(new))
    }
}

/// `10 against 10 runs on 2 devices, blocked by device`.
pub(in crate::output::fleet) fn of(comparison: &Comparison) -> String {
    let [base, new] = comparison.units;
    let counts = match &comparison.options.unit {
        None => format!("{} against {}", counted(base), many(new, noun(comparison.unit))),
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

/// The total with the tests that make it slower or faster, then the functions.
fn claims(word: &str, comparison: &Comparison, reasons: &[Reason]) -> Vec<String> {
    let measured = |index: usize| &comparison.measures[index];
    let mut parts: Vec<String> = Vec::new();
    if !reasons.iter().any(|reason| matches!(reason, Reason::Total(_))) {
        parts.push(of_measured(comparison, comparison.first()));
    }
    for reason in reasons {
        match reason {
            Reason::Total(index) => parts.push(of_measured(comparison, measured(*index))),
            Reason::Idle(index) => parts.extend(measured(*index).total.idle.as_ref().map(idle)),
            Reason::Tail(index, quantile) => {
                let mut tests = measured(*index).total.tail.iter();
                let test = tests.find(|test| test.quantile == Some(*quantile));
                parts.extend(test.map(|test| tail(test, measures_of(comparison, measured(*index)))));
            }
            Reason::Function => {}
        }
    }
    let named = if reasons.contains(&Reason::Function) { functions(comparison) } else { String::new() };
    let mut sentences = vec![format!("{word}: {}, {}.", parts.join("; "), of(comparison))];
    sentences.extend((!named.is_empty()).then(|| format!("{named}.")));
    sentences
}

/// The limitations of the comparison, regardless of its verdict.
fn cautions(comparison: &Comparison) -> Vec<String> {
    let mut cautions = Vec::new();
    let obstacle = match comparison.verdict {
        Verdict::Unknown { because, .. } => because,
        _ => None,
    };
    let has_said = obstacle == Some(Obstacle::Shorter);
    let has_said = has_said || comparison.measures.iter().any(|measured| measured.quantity == Quantity::Elapsed);
    if let Some(lengths) = comparison.lengths.filter(|lengths| lengths.differ && !has_said) {
        let is_longer = lengths.ratio > 1.0;
        let by = share((lengths.ratio - 1.0).abs());
        let what = if comparison.selection.is_partial() { "selected times" } else { "recordings" };
        let (word, p) = (if is_longer { "longer" } else { "shorter" }, probability(lengths.p.unwrap_or_default()));
        let then = match comparison.verdict {
            Verdict::Slower(_) | Verdict::Faster(_) => String::new(),
            _ if is_longer => format!(": if they last until the work is done, add {MEASURE} elapsed"),
            _ => ", which the verdict allows for".to_owned(),
        };
        cautions.push(format!("New {what} are {by} {word} (p {p}){then}."));
    }
    if comparison.choice == Choice::UnknownLengths {
        cautions.push("Lengths of recordings are unknown, so a difference of lengths may explain a change.".to_owned());
    }
    if obstacle != Some(Obstacle::Confounded) && !comparison.confounders.is_empty() {
        let labels = comparison.confounders.join(" and ");
        cautions.push(format!(
            "The sides have no {labels} in common, so the {labels} may explain the result instead of the build: record both with one {labels}."
        ));
    }
    let is_said = match &comparison.verdict {
        Verdict::Slower(reasons) | Verdict::Faster(reasons) => {
            reasons.iter().any(|reason| matches!(reason, Reason::Idle(_)))
        }
        _ => obstacle == Some(Obstacle::MoreIdle),
    };
    let differs = |test: &&ShareTest| test.p.two_sided <= comparison.options.alpha;
    if let Some(test) = comparison.first().total.idle.as_ref().filter(differs).filter(|_| !is_said) {
        cautions.push(format!("Not in these numbers: {}.", idle(test)));
    }
    cautions.extend(comparison.functions.iter().flat_map(|functions| unnamed(&functions.unnamed)));
    cautions
}

/// What cannot be compared for lack of names.
fn unnamed(found: &[(String, [f64; 2])]) -> Vec<String> {
    let (lost, binaries): (Vec<_>, Vec<_>) = found.iter().partition(|(binary, _)| binary.is_empty());
    let text = |(_, shares): &(String, [f64; 2])| shares.map(share);
    let lost = lost.first().map(|found| {
        let [base, new] = text(found);
        format!(
            "{base} of the weight in the base and {new} in the new side have no binary or no stack, which may explain changes of functions; record both sides in the same way."
        )
    });
    let of_binary = binaries.first().map(|found| {
        let [base, new] = text(found);
        let more = match binaries.len() - 1 {
            0 => String::new(),
            1 => ", and so has 1 other binary".to_owned(),
            more => format!(", and so have {more} other binaries"),
        };
        let name = &found.0;
        format!(
            "{name} has unnamed code, {base} of its weight in the base and {new} in the new side{more}, so functions there are not compared; pass the symbols of both builds with {DSYM}."
        )
    });
    lost.into_iter().chain(of_binary).collect()
}

/// The reason why a quantity is compared. `deviation` is the deviation of run lengths, if known.
pub(in crate::output::fleet) fn reason(choice: Choice, deviation: Option<f64>) -> Option<String> {
    let why = match choice {
        Choice::Report => return None,
        Choice::Requested => "as requested",
        Choice::Exited => "since the recorded apps exited, so recordings last until the work is done",
        Choice::Stopped => "since a limit or a person ended the recordings",
        Choice::UnknownLengths => {
            "since lengths of recordings are unknown (export their tables of contents, or name `duration` in a manifest)"
        }
        Choice::OneLength => "since all recordings have the same length",
        Choice::FreeLengths => "since lengths of recordings vary freely",
        Choice::Window => "since lengths of recordings vary much less than CPU time",
        Choice::Work => "since lengths of recordings vary like CPU time, as if they last until the work is done",
    };
    let by =
        deviation.filter(|_| choice == Choice::FreeLengths).map_or(String::new(), |by| format!(" (by {})", share(by)));
    Some(format!("{why}{by}"))
}

/// The compared quantity, the reason for it, and the other quantities that were compared.
pub(in crate::output::fleet) fn compared(comparison: &Comparison) -> Vec<String> {
    let names = comparison.measures.iter().map(|measured| quantity_name(&measured.quantity, comparison.unit));
    let names = names.collect::<Vec<_>>().join(", ");
    let why = reason(comparison.choice, comparison.lengths.map(|lengths| lengths.deviation));
    let mut lines: Vec<String> = why.map(|why| format!("Compared: {names}, {why}.")).into_iter().collect();
    let others: Vec<String> =
        others(comparison).map(|(quantity, total)| of_total(comparison, quantity, total)).collect();
    lines.extend((!others.is_empty()).then(|| format!("Also: {}.", others.join("; "))));
    let selection = &comparison.selection;
    let is_measured = |name: &str| comparison.options.intervals().iter().any(|measured| measured == name);
    for name in selection.values(DURING).filter(|name| !is_measured(name)) {
        lines.push(format!(
            "Only samples within {name} are used; to compare how long it takes, add {MEASURE} {}.",
            shell_word(&format!("interval:{name}"))
        ));
    }
    lines
}

/// The totals that the verdict does not state: of other quantities, and of the quantities that "no slowdown" depends on.
fn others(comparison: &Comparison) -> impl Iterator<Item = (&Quantity, &Total)> {
    let measures = &comparison.measures;
    let stated: Vec<usize> = match &comparison.verdict {
        Verdict::Slower(reasons) | Verdict::Faster(reasons) => reasons
            .iter()
            .filter_map(|reason| if let Reason::Total(index) = reason { Some(*index) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    let stated = if stated.is_empty() { vec![0] } else { stated };
    let unstated = measures.iter().enumerate().filter(move |(index, _)| !stated.contains(index));
    let guards = measures.iter().filter_map(|measured| measured.guard.as_ref());
    let is_measured = |quantity: &Quantity| measures.iter().any(|measured| measured.quantity == *quantity);
    // All guards of a comparison have the same second quantity.
    let guard = guards.filter(move |guard| !is_measured(&guard.quantity)).take(1);
    unstated
        .map(|(_, measured)| (&measured.quantity, &measured.total))
        .chain(guard.map(|guard| (&guard.quantity, &guard.total)))
}

fn idle(test: &ShareTest) -> String {
    let [base, new] = [0, 1].map(|side| share(test.counts[side] as f64 / test.of[side] as f64));
    format!("{base} of the base runs and {new} of the new runs were idle (p {})", probability(test.p.two_sided))
}

fn tail(test: &ShareTest, measures: Measures) -> String {
    let quantile = test.quantile.map(|quantile| quantile.to_string()).unwrap_or_default();
    let [base, new] = test.values.map(|value| measures.text(value));
    format!(
        "the mean beyond {quantile} went from {base} to {new} {} (p {})",
        measures.unit(),
        probability(test.p.two_sided)
    )
}

/// `shop::total +104 %, 61 % of the growth`: the two functions that grew most, and the number of others.
fn functions(comparison: &Comparison) -> String {
    let Some(all) = &comparison.functions else { return String::new() };
    let slower: Vec<&ComparedFunction> = all.slower().collect();
    let is_total = |reason: &Reason| matches!(reason, Reason::Total(0));
    let is_slower = matches!(&comparison.verdict, Verdict::Slower(reasons) if reasons.iter().any(is_total));
    let [base, new] = comparison.first().total.means;
    let growth = if is_slower && comparison.first().quantity.is_sampled() { new - base } else { 0.0 };
    let text = |function: &&ComparedFunction| {
        let grown = share(all.growth_of_total(function));
        let part = match growth > 0.0 {
            true if function.growth() >= 0.995 * growth => "all of the growth".to_owned(),
            true => format!("{} of the growth", share(function.growth() / growth)),
            false if comparison.first().quantity.is_sampled() => format!("{grown} of the total"),
            false => format!("{grown} of the CPU time"),
        };
        format!("{} {}, {part}", name_of(&function.name).0, function_change(function))
    };
    let mut parts: Vec<String> = slower.iter().take(2).map(text).collect();
    match slower.len().saturating_sub(parts.len()) {
        0 => {}
        more => parts.push(many(more as u64, "more function")),
    }
    parts.join("; ")
}

/// The scope of the verdict.
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

/// The label values of a block.
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

/// A description of the method, for readers without the manual at hand.
pub(in crate::output::fleet) fn method(comparison: &Comparison) -> Vec<String> {
    let (options, levels, total) = (&comparison.options, comparison.levels, &comparison.first().total);
    let mut lines = vec![format!(
        "Welch's and Student's t-test on logarithms within blocks; changes below {} are ignored. Wrong claims in at most {} of comparisons of identical builds: slower {}, faster {}, functions {} (one-sided).",
        level(options.min_effect),
        level(options.alpha),
        level(levels.slower * comparison.measures.len() as f64),
        level(levels.faster * comparison.measures.len() as f64),
        level(levels.functions),
    )];
    lines.extend(total.rank_p.map(|p| format!("Rank test (van Elteren), a check: p {}.", probability(p))));
    lines.extend(total.idle.as_ref().map(|test| format!("Idle: {}.", idle(test))));
    lines.extend(total.tail.iter().map(|test| format!("Tail: {}.", tail(test, measures(comparison)))));
    lines.extend(comparison.functions.as_ref().map(|functions| match functions.tested.len() {
        0 if comparison.units.iter().any(|count| *count < FUNCTION_UNITS) => {
            format!("Functions were not tested: a claim needs at least {}.", units(comparison, [FUNCTION_UNITS; 2]))
        }
        0 => "No function could be tested.".to_owned(),
        count => format!(
            "{} with at least 5 samples per run were tested: p (Holm) of growth for claims, Benjamini and Hochberg for the list.",
            many(count as u64, "function")
        ),
    }));
    lines
}

/// Formats a probability or an option in percent: `2.5 %`.
pub(in crate::output::fleet) fn level(level: f64) -> String {
    let text = format!("{:.2}", 100.0 * level);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
