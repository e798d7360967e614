//! Evaluates alert rules about the durations of intervals.

use crate::alert::{
    AlertOutcome, AlertRule, AlertState, AlertStatistic, Candidate, MOST_UNMEASURED, UNREAD_ROWS, judge,
};
use crate::units::Nanos;

/// Evaluates a rule about sorted durations. If any intervals were still open when their recording ended, a statistic within the limit is undecided,
/// because those intervals may be longer. `unread` is the number of rows that could not be read: one of them may be the maximum.
pub(super) fn outcome(rule: &AlertRule, durations: &[Nanos], open: usize, unread: u64) -> AlertOutcome {
    let count = durations.len() as u64;
    let nanos = |duration: &Nanos| duration.as_nanos() as f64;
    let value = match rule.statistic {
        AlertStatistic::Quantile(quantile) => {
            let rank = quantile.nearest_rank(count).checked_sub(1);
            rank.and_then(|rank| durations.get(rank as usize)).map(nanos)
        }
        AlertStatistic::Min => durations.first().map(nanos),
        AlertStatistic::Max => durations.last().map(nanos),
        AlertStatistic::Mean | AlertStatistic::Growth => {
            (count > 0).then(|| durations.iter().map(nanos).sum::<f64>() / count as f64)
        }
    };
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
    let outcome = AlertOutcome { state, note, ..undecided };
    let is_extreme = matches!(rule.statistic, AlertStatistic::Max | AlertStatistic::Min);
    let most = if is_extreme { 0.0 } else { MOST_UNMEASURED * (count + unread) as f64 };
    if unread as f64 <= most || outcome.is_settled() {
        return outcome;
    }
    AlertOutcome { state: AlertState::UNSURE, note: Some(UNREAD_ROWS.to_owned()), ..outcome }
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
            ("interval(x).p50 > 1s", ["quiet", "quiet", "undecided"]),
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
