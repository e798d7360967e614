//! A trend with its changes, as sentences, JSON and CSV. `docs/fleet-formats.md` describes every field.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::comparison::json::document;
use super::comparison::sentences::{change, confidence, interval, level, quantity_name};
use super::json::{inputs, selection};
use super::many;
use super::measures::value_unit;
use crate::fleet::compare::Quantity;
use crate::fleet::{
    TrendChange, TrendDoubt, TrendOver, TrendReport, TrendSeries, TrendShift, TrendValue, TrendVerdict,
};
use crate::output::csv::{Cells, Csv, Field};
use crate::settings::{self, MEASURE, WHERE};
use crate::stats::{ChangePoints, Looks};
use crate::units::{counted, first_of};

/// The version of the format. Added fields keep the version; removed fields and changed meanings increase it.
const VERSION: u64 = 1;

/// The answer about a quantity, as a sentence.
pub(super) fn verdict(trend: &TrendReport<'_>, series: &TrendSeries) -> String {
    match &series.doubt {
        None => {}
        Some(TrendDoubt::Lengths(lengths, time)) => {
            let time = match time {
                Some(time) => numbers_of(&quantity_name(&Quantity::CpuTime, trend.unit), time),
                None => format!("no change{} in CPU time", above(series)),
            };
            return format!(
                "Cannot tell: {}, but lengths of recordings changed by {}: {time}. If they last until the work is done, add \
                 {MEASURE} cpu-time.",
                seen(trend, series),
                change(lengths.ratio)
            );
        }
        Some(TrendDoubt::Shorter(lengths)) => {
            return format!(
                "Cannot tell: {}, but recordings became shorter ({}), as after a crash; if they did all of their work, add \
                 {MEASURE} {}.",
                seen(trend, series),
                change(lengths.ratio),
                series.quantity
            );
        }
    }
    let Some(since) = &series.since else {
        let from = trend.options.accepted.as_ref().map_or(String::new(), |accepted| format!(" since {accepted}"));
        let none = || {
            let (above, points) = (above(series), points(trend, series));
            format!("No change{above} in {}{from} was shown in {points}.", name(trend, series))
        };
        return series.problem.clone().unwrap_or_else(none);
    };
    if let Some(change) = series.only_change() {
        return sentence(trend, series, change);
    }
    let numbers = numbers(trend, series, since);
    let (lower, upper) = since.interval;
    // A clear difference may be too small to matter.
    let is_clear = lower > 1.0 || upper < 1.0;
    let none = |noun: &str| match is_clear {
        true => format!("No {noun}{}", above(series)),
        false => format!("No clear {noun}"),
    };
    if series.is_gradual {
        let word = match series.verdict() {
            TrendVerdict::Slower => "Gradually slower".to_owned(),
            TrendVerdict::Faster => "Gradually faster".to_owned(),
            _ => none("change"),
        };
        let [first, last] =
            [&series.points[since.from], &series.points[series.points.len() - 1]].map(|point| &point.name);
        return format!("{word} from {first} to {last}: {numbers}. No single {} stands out.", noun(trend));
    }
    let word = match series.verdict() {
        TrendVerdict::Slower => "Slower than".to_owned(),
        TrendVerdict::Faster => "Faster than".to_owned(),
        _ => none("difference") + " from",
    };
    let base = match &trend.options.accepted {
        Some(accepted) => accepted.clone(),
        None if series.verdict() == TrendVerdict::NoChange => "the start".to_owned(),
        None => "at the start".to_owned(),
    };
    let [then, now] = since.runs;
    format!("{word} {base}: {numbers}, {} then, {} now.", many(then, "run"), counted(now))
}

/// The change of a quantity, or a note that there is none.
fn seen(trend: &TrendReport<'_>, series: &TrendSeries) -> String {
    match &series.since {
        Some(since) => numbers(trend, series, since),
        None => format!("no change{} in {} in {}", above(series), name(trend, series), points(trend, series)),
    }
}

/// ` above 3 %`: smaller changes were ignored. Empty if none were.
fn above(series: &TrendSeries) -> String {
    let least = series.min_effect;
    if least > 0.0 { format!(" above {}", level(least)) } else { String::new() }
}

/// `Slower since 2.3: +8.1 % CPU use (95 %: +5.0 to +11.2 %), 41 runs before, 24 after.`
pub(super) fn sentence(trend: &TrendReport<'_>, series: &TrendSeries, changed: &TrendChange) -> String {
    let word = if changed.shift.ratio > 1.0 { "Slower" } else { "Faster" };
    let [before, after] = changed.shift.runs;
    let mut text = format!(
        "{word} since {}: {}, {} before, {} after.",
        place(trend, series, changed),
        numbers(trend, series, &changed.shift),
        many(before, "run"),
        counted(after)
    );
    if changed.is_provisional {
        text += &format!(" Provisional: fewer than {} {}s so far.", ChangePoints::PERSISTENCE, noun(trend));
    }
    for (key, [before, after]) in &changed.confounders {
        let (before, after) = (first_of(before), first_of(after));
        text += &format!(" The {key} also changed at this point, from {before} to {after}: either can be the cause.");
    }
    text
}

/// `CPU use`, `duration of Checkout`.
fn name(trend: &TrendReport<'_>, series: &TrendSeries) -> Cow<'static, str> {
    quantity_name(&series.quantity, trend.unit)
}

/// `+8.1 % CPU use (95 %: +5.0 to +11.2 %)`
fn numbers(trend: &TrendReport<'_>, series: &TrendSeries, shift: &TrendShift) -> String {
    numbers_of(&name(trend, series), shift)
}

fn numbers_of(name: &str, shift: &TrendShift) -> String {
    let (level, interval) = (confidence(1.0 - shift.confidence), interval(shift.interval));
    format!("{} {name} ({level}: {interval})", change(shift.ratio))
}

/// `2.3`, `2.2 or 2.3`, `a version between 2.2 and 2.5`.
fn place(trend: &TrendReport<'_>, series: &TrendSeries, changed: &TrendChange) -> String {
    let name = |point: usize| series.points[point].name.as_str();
    match changed.plausible[..] {
        [_] => name(changed.point).to_owned(),
        [first, second] => format!("{} or {}", name(first), name(second)),
        ref points => {
            format!("a {} between {} and {}", noun(trend), name(points[0]), name(points[points.len() - 1]))
        }
    }
}

fn noun(trend: &TrendReport<'_>) -> &'static str {
    match &trend.over {
        TrendOver::Label(key) if key == "app_version" => "version",
        TrendOver::Label(_) => "value",
        TrendOver::Day => "day",
        TrendOver::Week => "week",
    }
}

/// `30 versions`, `12 weeks`, `30 values of ring`.
fn points(trend: &TrendReport<'_>, series: &TrendSeries) -> String {
    let count = series.points.iter().filter(|point| point.value.is_some()).count();
    let points = many(count, noun(trend));
    match &trend.over {
        TrendOver::Label(key) if key != "app_version" => format!("{points} of {key}"),
        _ => points,
    }
}

/// The words of the command that compares the functions on both sides of a change; empty if its inputs are unknown.
pub(super) fn comparison(trend: &TrendReport<'_>, shift: &TrendShift) -> Vec<String> {
    let Some(command) =
        settings::command().filter(|_| !trend.options.inputs.is_empty() && !shift.comparison.is_empty())
    else {
        return Vec::new();
    };
    let only = trend.fleet.options.only.iter().flat_map(|(key, value)| [WHERE.to_string(), format!("{key}={value}")]);
    let words = [command, "compare"].map(str::to_owned).into_iter().chain(trend.options.inputs.iter().cloned());
    words.chain(shift.comparison.iter().cloned()).chain(only).collect()
}

/// Writes the trend as one JSON document.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write_json(trend: &TrendReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (over, label) = match &trend.over {
        TrendOver::Label(key) => ("label", Some(key)),
        TrendOver::Day => ("day", None),
        TrendOver::Week => ("week", None),
    };
    let point = |point: &TrendValue| {
        let TrendValue { name, runs, idle, blocks, value } = point;
        json!({"name": name, "runs": runs, "idle_runs": idle, "blocks": blocks, "value": value})
    };
    let shift = |shift: &TrendShift| {
        json!({
            "from": shift.from,
            "ratio": shift.ratio,
            "lower": shift.interval.0,
            "upper": shift.interval.1,
            "confidence": shift.confidence,
            "runs_before": shift.runs[0],
            "runs_after": shift.runs[1],
            "compare": shift.comparison,
        })
    };
    let change = |series: &TrendSeries, change: &TrendChange| {
        let names: Vec<&str> = change.plausible.iter().map(|&point| series.points[point].name.as_str()).collect();
        let confounder = |(key, [before, after]): &(String, [Vec<String>; 2])| json!({"label": key, "before": before, "after": after});
        let mut fields = json!({
            "point": change.point,
            "name": series.points[change.point].name,
            "plausible": names,
            "provisional": change.is_provisional,
            "accepted": change.is_accepted,
            "p": change.p,
            "confounders": change.confounders.iter().map(confounder).collect::<Value>(),
        });
        if let (Value::Object(fields), Value::Object(shift)) = (&mut fields, shift(&change.shift)) {
            fields.extend(shift);
        }
        fields
    };
    let series = |series: &TrendSeries| {
        json!({
            "measure": series.quantity.to_string(),
            "value_unit": value_unit(&series.quantity, trend.unit),
            "verdict": series.verdict().name(),
            "sentence": verdict(trend, series),
            "problem": series.problem,
            "since": series.since.as_ref().map(shift),
            "gradual": series.is_gradual,
            "doubt": series.doubt.as_ref().map(|doubt| match doubt {
                TrendDoubt::Lengths(lengths, time) => {
                    json!({"because": "lengths", "lengths": shift(lengths), "cpu_time": time.as_ref().map(shift)})
                }
                TrendDoubt::Shorter(lengths) => json!({"because": "shorter", "lengths": shift(lengths)}),
            }),
            "changes": series.changes.iter().map(|of| change(series, of)).collect::<Value>(),
            "points": series.points.iter().map(point).collect::<Value>(),
        })
    };
    let document = json!({
        "format": "traceparse-trend",
        "version": VERSION,
        "verdict": trend.verdict().name(),
        "over": over,
        "label": label,
        "block": trend.options.block,
        "alpha": trend.options.alpha,
        "once": trend.options.looks == Looks::Once,
        "accepted": trend.options.accepted,
        "min_effect": trend.options.min_effect,
        "choice": trend.choice.name(),
        "unit": trend.unit.name(),
        "measures": trend.series.iter().map(series).collect::<Value>(),
        "comparison": trend.comparison.as_ref().map(document),
        "selection": selection(trend.fleet),
        "inputs": inputs(trend.fleet),
        "notes": trend.notes,
    });
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// Writes a table with a row for each quantity and point.
///
/// # Errors
/// If `out` fails.
pub(in crate::output) fn write_csv(trend: &TrendReport<'_>, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
    let records = trend.series.iter().flat_map(|series| {
        let point = move |(index, point)| record(trend, series, index, point);
        series.points.iter().enumerate().map(point)
    });
    Csv::write(COLUMNS.split(','), records, cells, out)
}

const COLUMNS: &str = "measure,point,value,value_unit,runs,idle_runs,blocks,change,ratio,lower,upper,p";

fn record<'t>(
    trend: &TrendReport<'_>,
    series: &'t TrendSeries,
    index: usize,
    point: &'t TrendValue,
) -> [Field<'t>; 12] {
    let change = series.changes.iter().find(|change| change.point == index);
    // A ramp ends at the last point.
    let is_end = series.is_gradual && index + 1 == series.points.len();
    let ramp = series.since.as_ref().filter(|_| is_end);
    let shift = change.map(|change| &change.shift).or(ramp);
    let plausible = series.changes.iter().find(|change| change.plausible.contains(&index));
    let decimal = |value: Option<f64>| value.filter(|value| value.is_finite()).into();
    [
        series.quantity.to_string().into(),
        (&point.name).into(),
        decimal(point.value),
        value_unit(&series.quantity, trend.unit).into(),
        point.runs.into(),
        point.idle.into(),
        point.blocks.into(),
        plausible.map(|change| &series.points[change.point].name).into(),
        decimal(shift.map(|shift| shift.ratio)),
        decimal(shift.map(|shift| shift.interval.0)),
        decimal(shift.map(|shift| shift.interval.1)),
        decimal(change.map(|change| change.p)),
    ]
}
