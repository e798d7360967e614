//! Checks what a verdict covers, and collects warnings about it.

use std::collections::{BTreeMap, BTreeSet};

use super::error::CompareError;
use super::functions::FUNCTION_UNITS;
use super::options::CompareOptions;
use super::order;
use super::quantity::{Quantity, QuantityValues};
use super::side::Side;
use super::units::Units;
use crate::alert::{MOST_UNMEASURED, too_many_unmeasured};
use crate::fleet::identity::recording;
use crate::settings::{BLOCK, UNIT};
use crate::units::{Unit, several};

/// Labels with more values are not compared, since they identify runs.
const MOST_VALUES: usize = 50;

/// A label with different values on the two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelDifference {
    /// The label, or `table` or `sampling interval`.
    pub key: String,
    /// The values of the base, and of the new side, that the other side lacks, with their numbers of runs.
    pub values: [Vec<(String, u64)>; 2],
}

/// The unit of all runs.
pub(super) fn common_unit(sides: &[Side; 2]) -> Result<Unit, CompareError> {
    let units = sides.each_ref().map(|side| {
        let cohorts = side.report.cohorts.iter().filter(|cohort| cohort.runs > 0);
        cohorts.map(|cohort| cohort.cohort.unit).collect::<BTreeSet<Unit>>()
    });
    match units.each_ref().map(|units| units.first().copied()) {
        [Some(base), Some(new)] if base == new && units.iter().all(|units| units.len() == 1) => Ok(base),
        _ => Err(CompareError::Units(units.map(|units| units.into_iter().collect()))),
    }
}

/// The labels with different values on both sides.
pub(super) fn differences(sides: &[Side; 2], options: &CompareOptions) -> Vec<LabelDifference> {
    let labels = sides.each_ref().map(|side| &side.runs.labels);
    let keys: BTreeSet<&String> = labels.iter().flat_map(|labels| labels.keys()).collect();
    let keys = keys.into_iter().filter(|key| options.unit.as_ref() != Some(key));
    let nothing = BTreeMap::new();
    let difference = |key: &String| {
        let values = labels.map(|labels| labels.get(key).unwrap_or(&nothing));
        let only = |side: usize| {
            let lacks = |value: &&String| !values[1 - side].contains_key(*value);
            let values = values[side].iter().filter(|(value, _)| lacks(value));
            values.map(|(value, runs)| (value.clone(), *runs)).collect::<Vec<_>>()
        };
        let only = [only(0), only(1)];
        let is_of_runs = values.iter().any(|values| values.len() > MOST_VALUES);
        (!is_of_runs && only.iter().any(|only| !only.is_empty()))
            .then(|| LabelDifference { key: key.clone(), values: only })
    };
    keys.filter_map(difference).collect()
}

/// Labels other than the version that may explain a change. Runs are not compared within their values.
const CONFOUNDERS: [&str; 2] = ["os", "instruments"];

/// The labels that separate the sides completely, so their effect cannot be distinguished from the version's.
pub(super) fn confounders(sides: &[Side; 2]) -> Vec<String> {
    CONFOUNDERS.into_iter().filter(|key| is_separated(sides, key)).map(str::to_owned).collect()
}

/// True if both sides have values of a label, but none in common.
fn is_separated(sides: &[Side; 2], key: &str) -> bool {
    let [base, new] = sides.each_ref().map(|side| side.runs.labels.get(key));
    base.zip(new).is_some_and(|(base, new)| {
        !base.is_empty() && !new.is_empty() && base.keys().all(|value| !new.contains_key(value))
    })
}

/// True if nine out of ten runs keep a whole number of cores busy throughout.
pub(super) fn are_saturated(sides: &[Side; 2], units: &Units) -> bool {
    const NEAR: f64 = 0.03;
    let cores = |side: usize, run: usize| Some(sides[side].report.runs[run].rate.as_f64() / 100.0);
    let (near, all) = units.runs_of(cores).fold((0, 0), |(near, all), cores| {
        (near + u64::from(cores.round() >= 1.0 && (cores - cores.round()).abs() <= NEAR), all + 1)
    });
    all > 0 && 10 * near >= 9 * all
}

/// Explains, without a full stop, why the sides cannot be compared.
pub(super) fn invalid(
    sides: &[Side; 2],
    units: &Units,
    (options, measures): (&CompareOptions, &[(Quantity, [QuantityValues; 2])]),
) -> Option<String> {
    if let Some((quantity, _)) = measures.iter().find(|(_, values)| values.iter().all(QuantityValues::is_missing)) {
        return Some(missing(quantity));
    }
    if units.counts() == [0, 0] {
        return Some(format!("the sides have no {} in common", options.blocks.join(" and ")));
    }
    if is_separated(sides, "device") {
        return Some(
            "the sides have no device in common, so the device may explain any change; record both on the same devices"
                .to_owned(),
        );
    }
    let ids = sides.each_ref().map(|side| {
        let runs = side.report.runs.iter().filter(|run| run.samples > 0);
        runs.map(|run| recording(&run.run_id)).collect::<BTreeSet<_>>()
    });
    match ids[0].intersection(&ids[1]).count() {
        0 => measures.iter().find_map(|(_, values)| unmeasured(sides, units, values)).or_else(|| failed(sides)),
        count => Some(format!("both sides have the same {}; pass each to only one side", several(count, "recording"))),
    }
}

const SIDES: [&str; 2] = ["the base", "the new side"];

/// The sentence if no run has a quantity.
fn missing(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Interval(name) => {
            format!("no run has a complete interval named {name:?} (datasets do not keep intervals)")
        }
        _ => format!("no run has the quantity {quantity}"),
    }
}

/// The sentence if too few runs have a quantity, or a side has no CPU time at all.
fn unmeasured(sides: &[Side; 2], units: &Units, values: &[QuantityValues; 2]) -> Option<String> {
    let too_many = |(number, (side, name)): (usize, (&Side, &str))| {
        let unmeasured = side.report.inputs.unmeasured();
        let all = unmeasured + side.report.runs.len();
        too_many_unmeasured(unmeasured + values[number].unmeasured(), all, &format!(" of {name}"))
    };
    let idle = |(number, name): (usize, &str)| {
        let weight = |side: usize, run: usize| (side == number).then(|| sides[side].report.runs[run].weight);
        let is_idle = units.runs_of(weight).all(|weight| weight == 0);
        is_idle.then(|| format!("no run of {name} used the CPU in the selected time; the app may not have started"))
    };
    let failed = sides.iter().zip(SIDES).enumerate().find_map(too_many);
    failed.or_else(|| SIDES.into_iter().enumerate().find_map(idle))
}

/// The sentence for sides with different shares of runs whose app failed: these may not have completed their work.
fn failed(sides: &[Side; 2]) -> Option<String> {
    let shares = sides.each_ref().map(|side| side.runs.share_with("exit_status", |status| status != "0"));
    ((shares[1] - shares[0]).abs() > MOST_UNMEASURED).then(|| {
        let [base, new] = shares.map(|share| format!("{:.0} %", 100.0 * share));
        format!("the app exited with a status other than 0 in {base} of the base runs and {new} of the new runs, so some may not have done their work")
    })
}

/// Reasons to distrust the verdict, one sentence each.
pub(super) fn warnings(
    sides: &[Side; 2],
    units: &Units,
    (options, measures): (&CompareOptions, &[(Quantity, [QuantityValues; 2])]),
) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for (number, (side, name)) in sides.iter().zip(SIDES).enumerate() {
        let inputs = &side.report.inputs;
        let failed = inputs.unmeasured();
        warnings.extend((failed > 0).then(|| format!("{} of {name} could not be measured.", several(failed, "input"))));
        let rows = inputs.rejected_rows;
        warnings.extend((rows > 0).then(|| format!("{} or values of {name} could not be read.", several(rows, "row"))));
        let damaged = side.report.runs.iter().filter(|run| run.is_damaged).count();
        let text =
            || format!("{} of {name} with more than 1 % of unreadable rows are not compared.", several(damaged, "run"));
        warnings.extend((damaged > 0).then(text));
        for (quantity, values) in measures {
            let missing = values[number].unmeasured() - if quantity.is_sampled() { damaged } else { 0 };
            let text = || format!("{} of {name} without {quantity} are not compared.", several(missing, "run"));
            warnings.extend((missing > 0).then(text));
        }
    }
    warnings.extend(measures.iter().filter_map(|(quantity, _)| unequal_counts(sides, quantity)));
    let names = SIDES;
    warnings.extend(order::warning(sides, units));
    warnings.extend(unequal_tables(sides));
    if let Some(label) = repeated(sides, options) {
        warnings.push(label);
    }
    for (alone, name) in units.alone.iter().zip(names).filter(|(alone, _)| !alone.is_empty()) {
        let runs: u64 = alone.values().sum();
        let text = |labels: &Vec<Option<String>>| {
            labels.iter().map(|value| value.as_deref().unwrap_or("none")).collect::<Vec<_>>().join(", ")
        };
        let blocks: Vec<String> = alone.keys().take(3).map(text).collect();
        let more = if alone.len() > blocks.len() { " and others" } else { "" };
        let by = options.blocks.join(", ");
        let are = if runs == 1 { "is" } else { "are" };
        warnings.push(format!(
            "{} of {name} {are} not used, since only this side has {by} {}{more}.",
            several(runs, "run"),
            blocks.join("; ")
        ));
    }
    for (&without, name) in units.without_label.iter().zip(names).filter(|(without, _)| **without > 0) {
        let unit = options.unit.as_deref().unwrap_or_default();
        warnings.push(format!("{} of {name} have no {unit}; each counts as one.", several(without, "run")));
    }
    if let Some(unit) = options.unit.as_ref().filter(|_| units.repeated > 0) {
        let by = options.blocks.join(", ");
        warnings.push(format!(
            "Some values of {unit} are in several blocks and count in each, so results look more certain than they are: leave out {BLOCK} {by}, or use {BLOCK} {unit}."
        ));
    }
    if let Some(unit) = options.unit.as_ref().filter(|unit| units.shared > 0 && !options.blocks.contains(unit)) {
        let shared = several(units.shared, "value");
        warnings.push(format!(
            "Both sides have {shared} of {unit}: {BLOCK} {unit} compares each with itself, and detects smaller changes."
        ));
    }
    for (side, name) in sides.iter().zip(names) {
        let of_side = |note: &String| format!("In {name}: {note}");
        warnings
            .extend(side.report.inputs.completeness.sentence(&side.report.inputs.missing_shards).as_ref().map(of_side));
    }
    warnings
}

/// A warning if runs of the sides differ in the number of intervals whose mean duration is compared.
fn unequal_counts(sides: &[Side; 2], quantity: &Quantity) -> Option<String> {
    let Quantity::Interval(name) = quantity else { return None };
    let [base, new] = sides.each_ref().map(|side| side.runs.intervals_per_run(name));
    let differs = (base / new - 1.0).abs() > 0.1;
    differs.then(|| {
        format!("On average, a base run has {base:.1} intervals named {name}, and a new run {new:.1}; their mean duration is compared.")
    })
}

/// A warning if tables or sampling intervals differ.
fn unequal_tables(sides: &[Side; 2]) -> Option<String> {
    let differs = |key: &&str| {
        let values =
            sides.each_ref().map(|side| side.runs.labels.get(*key).map(|values| values.keys().collect::<Vec<_>>()));
        values[0] != values[1] && values.iter().all(Option::is_some)
    };
    // Cycles per sample vary from run to run.
    let keys = if sides[0].report.cohorts.first()?.cohort.unit == Unit::Nanoseconds {
        &["table", "sampling interval"][..]
    } else {
        &["table"]
    };
    let key = keys.iter().copied().find(|key| differs(key))?;
    Some(format!("The sides differ in their {key}, so part of the change may come from the measurement."))
}

/// A warning, with a remedy, if each run is a unit although several runs share a device, for example.
fn repeated(sides: &[Side; 2], options: &CompareOptions) -> Option<String> {
    if options.unit.is_some() {
        return None;
    }
    let key = &sides.iter().find_map(|side| side.report.shared_label.as_ref())?.key;
    let values = sides.each_ref().map(|side| side.runs.labels.get(key));
    let [Some(base), Some(new)] = values else { return None };
    let shared = base.keys().filter(|value| new.contains_key(*value)).count();
    let are_shared = 2 * shared >= base.len().max(new.len());
    // With fewer units, hardly any change can be detected.
    let are_units = base.len().min(new.len()) as u64 >= FUNCTION_UNITS;
    let blocks = options.blocks.iter().chain([key]).map(String::as_str).collect::<Vec<_>>().join(",");
    let remedy = match (are_shared, are_units) {
        (true, true) if !options.blocks.is_empty() => {
            format!("use {UNIT} {key}, since its values repeat within blocks")
        }
        (true, _) => format!("use {BLOCK} {blocks}, since both sides have {shared} of its values"),
        (false, true) => format!("use {UNIT} {key}, since its values differ between the sides"),
        (false, false) => format!("record more values of {key}, since the sides have too few in common"),
    };
    Some(format!(
        "Several runs have the same {key}. If runs of one {key} are similar, random variation is reported as a change too often: {remedy}."
    ))
}
