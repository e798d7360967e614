//! The flame chart of a thread.

use super::amount;
use super::flame::label_place;
use super::label_number;
use crate::protocol::{Answer, Detail, Model, NoLabels, Range, SeparateBy};
use crate::view::View;
use crate::wire::Refused;

/// `thread` is the requested thread; by default, the heaviest.
pub(crate) fn chart(
    view: &View,
    series: usize,
    thread: Option<i32>,
    (unit, key, range): (&str, &str, Range),
) -> Result<Answer, Refused> {
    let functions = view.profile().function_ids().len();
    view.report(series, SeparateBy::Thread, |report, row| {
        let threads = view.threads(row);
        let wanted = threads.iter().find(|part| Some(part.id) == thread).or(threads.first()).map(|part| part.id);
        let total = amount(row.counted);
        let has_samples = view.profile().sums().len() == 0;
        let chart = report.flame_chart(row);
        let found = chart.threads().find(|chart| Some(chart.thread().index() as i32) == wanted).filter(|_| has_samples);
        let Some(found) = found else {
            return Answer::Chart { total, threads, thread: None, typical_gap: None, model: None };
        };
        let spans: Vec<_> = found.spans().collect();
        let nanos = |time: traceparse::units::Nanos| time.as_nanos() as f64;
        let model = Model {
            key: key.to_owned(),
            tree: key.to_owned(),
            unit: unit.to_owned(),
            total: found.row.counted.weight.value as f64,
            range: Some(range),
            detail: Some(Detail { from: range.start, to: range.end, least: 0.0 }),
            labels: NoLabels::default(),
            count: spans.len(),
            // Spans have no stable identities.
            node: (0..spans.len() as i32).collect(),
            depth: spans.iter().map(|span| span.depth as i32 - 1).collect(),
            start: spans.iter().map(|span| nanos(span.start)).collect(),
            width: spans.iter().map(|span| nanos(span.end) - nanos(span.start)).collect(),
            weight: Some(spans.iter().map(|span| span.all_weight as f64).collect()),
            own: spans.iter().map(|span| span.self_weight as f64).collect(),
            label: spans.iter().map(|span| label_place(functions, label_number(span.label))).collect(),
            ..Model::default()
        };
        let typical_gap = chart.typical_gap().map(nanos);
        Answer::Chart { total, thread: wanted, threads, typical_gap, model: Some(model) }
    })
}
