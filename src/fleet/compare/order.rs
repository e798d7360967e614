//! Checks whether the runs of the sides were recorded alternately.
//!
//! A machine changes while it records: it gets warm, and other programs start. If one side is recorded first, this looks like a change in the
//! code. Runs are not corrected for time: a regression on time would lose most of the power.

use std::collections::BTreeSet;

use super::side::Side;
use super::units::Units;
use crate::fleet::trend::day_of;

/// A warning if the sides were not recorded alternately. At most 4 % of random orders cause it (5 runs against 5).
pub(super) fn warning(sides: &[Side; 2], units: &Units) -> Option<String> {
    let start = |side: usize, run: usize| Some((instant_of(sides[side].report.runs[run].start.as_deref()?)?, side));
    let mut starts: Vec<(f64, usize)> = units.runs_of(start).collect();
    let counts = [0, 1].map(|side| starts.iter().filter(|(_, of)| *of == side).count());
    if counts.map(|count| count as u64) != units.runs() {
        return None;
    }
    let key = |start: &(f64, usize)| (start.0.to_bits(), start.1);
    let distinct: BTreeSet<(u64, usize)> = starts.iter().map(key).collect();
    let times: BTreeSet<u64> = distinct.iter().map(|(time, _)| *time).collect();
    // Runs with the same start time have no order.
    if times.len() < distinct.len() {
        return None;
    }
    starts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let changes = starts.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    let [base, new] = counts.map(|count| count as f64);
    if changes == 0 || changes as f64 > base * new / (base + new) {
        return None;
    }
    const WHY: &str =
        "so a change in the machine would look like a change in the code; record both sides in one job, in turn";
    let days = (starts.last()?.0 - starts.first()?.0) / 86_400.0;
    Some(match changes {
        1 if days >= 1.5 => format!(
            "All runs of one side were recorded before those of the other, over a period of {days:.0} days, {WHY}."
        ),
        1 => format!("All runs of one side were recorded before those of the other, {WHY}."),
        _ => format!("The runs were not recorded in turn: the side changes only {changes} times, {WHY}."),
    })
}

/// Parses a time such as `2026-06-04T07:00:06.002-07:00` to seconds since 1970.
fn instant_of(text: &str) -> Option<f64> {
    let day = day_of(text)? as f64;
    let time = text.get(11..)?;
    let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(end);
    let seconds = |text: &str, units: &[f64]| {
        let mut parts = text.split(':');
        units.iter().map(|unit| Some(parts.next().unwrap_or("0").parse::<f64>().ok()? * unit)).sum::<Option<f64>>()
    };
    let offset = match zone.trim_start_matches(['Z', '+', '-']) {
        "" => 0.0,
        text if text.len() == 4 => seconds(&format!("{}:{}", &text[..2], &text[2..]), &[3600.0, 60.0])?,
        text => seconds(text, &[3600.0, 60.0])?,
    };
    let offset = if zone.starts_with('-') { -offset } else { offset };
    Some(day * 86_400.0 + seconds(clock, &[3600.0, 60.0, 1.0])? - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_instants_with_zones() {
        let base = instant_of("2026-06-04T14:00:06.500Z").unwrap();
        for same in ["2026-06-04T07:00:06.500-07:00", "2026-06-04T16:00:06.5+0200", "2026-06-04T14:00:06.500"] {
            assert_eq!(instant_of(same), Some(base), "{same}");
        }
        assert_eq!(instant_of("2026-06-05T00:00:00Z").unwrap() - base, 35_993.5);
        assert_eq!(instant_of("2026-06-04"), None);
        assert_eq!(instant_of("2026-06-04T1x:00:00Z"), None);
    }
}
