//! Evaluates alert rules about the durations of intervals.

use crate::alert::{AlertOutcome, AlertRule, AlertState, AlertStatistic, Candidate, MOST_UNMEASURED, judge};
use crate::units::Nanos;

/// Evaluates a rule about sorted durations. `open` is the number of intervals that were open when their recording ended, and `unread` the number
/// of unreadable rows.
pub(super) fn outcome(rule: &AlertRule, durations: &[Nanos], open: usize, unread: u64) -> AlertOutcome {
    let outcome = judged(rule, value(rule, durations, (0, 0)), durations.len() as u64, open);
    let unread_share = unread as f64 / (durations.len() as u64 + unread).max(1) as f64;
    let extremes = match rule.statistic {
        // A single unreadable row could be as long as the recording, and change any mean.
        AlertStatistic::Mean if unread_share <= MOST_UNMEASURED => return outcome,
        AlertStatistic::Mean => [Some(0.0), Some(f64::MAX)],
        // The unreadable rows may all be shorter, or all be longer, than the others.
        _ => [(unread, 0), (0, unread)].map(|unread| value(rule, durations, unread)),
    };
    extremes.into_iter().fold(outcome, |outcome, value| {
        let extreme = judged(rule, value, durations.len() as u64, open);
        outcome.or_undecided(extreme.state)
    })
}

/// The value of a statistic of sorted durations, if this many more are shorter and longer.
fn value(rule: &AlertRule, durations: &[Nanos], (shorter, longer): (u64, u64)) -> Option<f64> {
    let all = shorter + durations.len() as u64 + longer;
    let rank = match rule.statistic {
        AlertStatistic::Quantile(quantile) => quantile.nearest_rank(all).checked_sub(1)?,
        AlertStatistic::Min => 0,
        AlertStatistic::Max => all.checked_sub(1)?,
        AlertStatistic::Mean | AlertStatistic::Growth => {
            let sum: f64 = durations.iter().map(|duration| duration.as_nanos() as f64).sum();
            return (all > 0).then(|| sum / all as f64);
        }
    };
    let Some(index) = rank.checked_sub(shorter) else { return Some(0.0) };
    Some(durations.get(index as usize).map_or(f64::MAX, |duration| duration.as_nanos() as f64)).filter(|_| all > 0)
}

/// Compares a value with the limit. A value within the limit is undecided if intervals were open, since they may be longer.
fn judged(rule: &AlertRule, value: Option<f64>, count: u64, open: usize) -> AlertOutcome {
    let is_upper = rule.comparison.is_upper();
    let needed = rule.statistic.quantile().map_or(1, |quantile| quantile.needed_count());
    let undecided = AlertOutcome { value, count, ..AlertOutcome::undecided(rule, Some(needed), None) };
    let Some(value) = value.filter(|_| count >= needed) else { return undecided };
    let mut values = vec![Candidate { of: (), value, is_sure: open == 0 || is_upper }];
    let state = match judge(rule, rule.limit, &mut values).0 {
        AlertState::Quiet if open > 0 && is_upper => AlertState::UNSURE,
        state => state,
    };
    let note = (open > 0 && state.is_undecided()).then(|| "intervals that were still open may decide it".to_owned());
    AlertOutcome { state, note, ..undecided }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_judged() {
        let durations: Vec<Nanos> = (1..=40).map(Nanos::from_millis).collect();
        let judged = |text: &str, durations: &[Nanos], open: usize| {
            let rule = AlertRule::of_intervals(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let outcome = outcome(&rule, durations, open, 0);
            (outcome.value.map(|value| value / 1e6), outcome.state)
        };
        let closed = |text: &str| judged(text, &durations, 0);
        let (fired, quiet) = (AlertState::Fired, AlertState::Quiet);
        let too_few = |needed| AlertState::Undecided { needed: Some(needed) };
        assert_eq!(closed(r#"interval("Check out").p95 > 37ms"#), (Some(38.0), fired));
        assert_eq!(closed("interval(Checkout).p95 > 38ms"), (Some(38.0), quiet));
        assert_eq!(closed("interval(Checkout).p99 > 1ms"), (Some(40.0), too_few(100)));
        assert_eq!(closed("interval(x).mean>=0.0205s"), (Some(20.5), fired));
        assert_eq!((closed("interval(x).min < 2ms").0, closed("interval(x).max < 2ms").0), (Some(1.0), Some(40.0)));
        assert_eq!(judged("interval(x).max > 1s", &[], 0), (None, too_few(1)));
        let open = |text: &str| judged(text, &durations, 1).1;
        let rules =
            ["interval(x).max > 1s", "interval(x).max > 39ms", "interval(x).max < 1s", "interval(x).mean < 1ms"];
        assert_eq!(rules.map(open), [AlertState::UNSURE, fired, AlertState::UNSURE, quiet]);
    }

    #[test]
    fn rows_that_could_not_be_read_may_decide() {
        let durations: Vec<Nanos> = (1..=40).map(Nanos::from_millis).collect();
        let state = |text: &str, unread: u64| {
            outcome(&AlertRule::of_intervals(text).unwrap(), &durations, 0, unread).state.name()
        };
        for (text, expected) in [
            ("interval(x).max > 39ms", ["fired", "fired", "fired"]),
            ("interval(x).max > 1s", ["quiet", "undecided", "undecided"]),
            ("interval(x).max < 1s", ["fired", "undecided", "undecided"]),
            ("interval(x).max < 1ms", ["quiet", "quiet", "quiet"]),
            ("interval(x).min < 2ms", ["fired", "fired", "fired"]),
            ("interval(x).min > 2ms", ["quiet", "quiet", "quiet"]),
            // Of 40 to 45 durations, the median is the 20th to 23rd, and P90 the 36th to 41st.
            ("interval(x).p50 > 1s", ["quiet", "quiet", "quiet"]),
            ("interval(x).p50 > 19ms", ["fired", "undecided", "undecided"]),
            ("interval(x).p90 > 38ms", ["quiet", "undecided", "undecided"]),
            ("interval(x).p90 > 39ms", ["quiet", "undecided", "undecided"]),
            ("interval(x).p90 > 40ms", ["quiet", "quiet", "undecided"]),
            ("interval(x).mean > 1ms", ["fired", "fired", "undecided"]),
        ] {
            assert_eq!([0, 4, 5].map(|unread| state(text, unread)), expected, "{text}");
        }
    }

    #[test]
    fn other_rules_are_refused() {
        for text in [
            "cpu.p95 > 80",
            "interval(*).max > 1s",
            "interval(a b).max > 1s",
            "interval(x).p95 > 80",
            "interval(x).p95 > 80 %",
            "interval(x) > 80ms",
            "interval(x).p95.lower > 80ms",
            "function(x).max > 1s",
        ] {
            assert!(AlertRule::of_intervals(text).is_err(), "{text}");
        }
    }
}
