//! Finds the function whose callers and callees are shown, from the part of its name that the user typed.

use std::collections::HashMap;
use std::fmt;

use anyhow::{Result, bail};
use traceparse::profile::Matcher;
use traceparse::report::{Report, ReportOptions, View};
use traceparse::units::Weight;

use crate::messages::nearest;
use crate::note;
use crate::recording::Opened;

/// The maximum number of candidates that are listed.
const LISTED: usize = 10;

/// An error with a list of candidate functions.
#[derive(Debug)]
pub(crate) struct Candidates {
    message: String,
    /// A line for each function, heaviest first.
    pub(crate) lines: Vec<String>,
}

impl fmt::Display for Candidates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Candidates {}

/// The name of the function that `asked` matches, preferably in selected stacks, or else among all functions. `None` if nothing is selected.
pub(crate) fn choose_function(recording: &Opened, report: &Report<'_>, asked: &Matcher) -> Result<Option<String>> {
    if report.series.is_empty() {
        return Ok(None);
    }
    let profile = &report.recording.profile;
    let mut names: Vec<&str> = asked.functions(profile).into_iter().map(|id| profile.function_name(id)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        bail!(nothing_is_named(asked, profile.function_ids().map(|id| profile.function_name(id))));
    }
    if names.iter().any(|name| asked.is_exact(None, name)) {
        return Ok(names.into_iter().find(|name| asked.is_exact(None, name)).map(str::to_owned));
    }
    // An Objective-C method may be typed without its brackets.
    let is_method = |name: &&&str| {
        let inside = name.strip_prefix(['-', '+']).and_then(|name| name.strip_prefix('[')?.strip_suffix(']'));
        inside == Some(asked.text())
    };
    let methods: Vec<&&str> = names.iter().filter(is_method).collect();
    if let [name] = methods.as_slice() {
        note(&format!("--function '{}': {name}", asked.text()));
        return Ok(Some((**name).to_owned()));
    }
    let functions = recording.report(&ReportOptions { view: View::Functions, top: None, ..report.options.clone() });
    let weights = weights_of(&functions);
    if names.iter().any(|name| weights.contains_key(name)) {
        names.retain(|name| weights.contains_key(name));
    }
    if let [name] = names.as_slice() {
        note(&format!("--function '{}': {name}", asked.text()));
        return Ok(Some((*name).to_owned()));
    }
    names.sort_by_key(|name| std::cmp::Reverse(weights.get(name).map_or(0, |weight| weight.value)));
    let is_pattern = asked.text().starts_with('/');
    let matches = if is_pattern { "matches" } else { "is a part of the names of" };
    let message = format!("'{}' {matches} {} functions; pass one of these complete names:", asked.text(), names.len());
    Err(Candidates { message, lines: lines(&names, &weights) }.into())
}

fn nothing_is_named<'p>(asked: &Matcher, names: impl Iterator<Item = &'p str>) -> String {
    let there_are = nearest(asked, names).unwrap_or_else(|| "list all functions with --view functions".to_owned());
    format!("no function is named '{}'; {there_are}", asked.text())
}

/// By name: the weight of the function in selected stacks, in the first table that contains it.
fn weights_of<'p>(report: &Report<'p>) -> HashMap<&'p str, Weight> {
    let mut weights: HashMap<&str, (usize, Weight)> = HashMap::new();
    for (place, series) in report.series.iter().enumerate() {
        for function in report.named_functions(series) {
            let weight = function.all_weight;
            let heaviest = weights.entry(function.name.unwrap_or_default()).or_insert((place, weight));
            // Functions in several binaries may have the same name.
            if heaviest.0 == place && heaviest.1.value < weight.value {
                heaviest.1 = weight;
            }
        }
    }
    weights.into_iter().map(|(name, (_, weight))| (name, weight)).collect()
}

fn lines(names: &[&str], weights: &HashMap<&str, Weight>) -> Vec<String> {
    let shown = names.iter().take(LISTED);
    let mut lines: Vec<String> = shown
        .map(|name| {
            let weight = weights.get(name).map(Weight::to_string).unwrap_or_default();
            format!("{weight:>14}  {name}")
        })
        .collect();
    if let Some(more) = names.len().checked_sub(LISTED).filter(|&more| more > 0) {
        lines.push(format!("{:>14}  {more} more", "…"));
    }
    lines
}
