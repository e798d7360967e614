//! The flame chart of a thread: the spans that its width can show.

use traceparse::report::Span;
use traceparse::units::Nanos;

use super::flame::{Frame, label_place, model};
use super::{amount, label_number};
use crate::protocol::{Answer, Boxes, Model, Range, SeparateBy};
use crate::view::View;
use crate::wire::Refused;

/// `thread` is the requested thread; by default, the heaviest.
pub(crate) fn chart(
    view: &View,
    series: usize,
    thread: Option<i32>,
    range: Range,
    ask: &Boxes,
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
        let frame = Frame::new(ask, range);
        let mut columns = Columns::new(frame);
        for (number, span) in (0..).zip(found.spans()) {
            columns.add(number, &span);
        }
        let mut model = model(ask, found.row.counted.weight.value as f64, range, frame);
        fill(&mut model, &columns.boxes, functions);
        Answer::Chart {
            total,
            thread: wanted,
            threads,
            typical_gap: chart.typical_gap().map(nanos),
            model: Some(model),
        }
    })
}

fn fill(model: &mut Model, boxes: &[SpanBox], functions: usize) {
    model.count = boxes.len();
    model.node = boxes.iter().map(|span| span.number).collect();
    model.depth = boxes.iter().map(|span| span.longest.depth as i32 - 1).collect();
    model.start = boxes.iter().map(|span| span.start).collect();
    model.width = boxes.iter().map(|span| span.end - span.start).collect();
    model.weight = Some(boxes.iter().map(|span| span.all_weight as f64).collect());
    model.own = boxes.iter().map(|span| span.self_weight as f64).collect();
    model.label = boxes.iter().map(|span| label_place(functions, label_number(span.longest.label))).collect();
    model.spans = Some(boxes.iter().map(|span| span.count).collect());
    model.covered = Some(boxes.iter().map(|span| span.covered).collect());
}

/// A span, or spans of one depth in a column that are too narrow to be seen separately.
struct SpanBox {
    /// The number of its first span among all spans of the thread, which identifies it.
    number: i32,
    start: f64,
    end: f64,
    /// The time that its spans cover, and their number.
    covered: f64,
    count: i32,
    all_weight: u64,
    self_weight: u64,
    longest: Span,
}

/// Merges narrow spans by depth and column of the drawing.
struct Columns {
    frame: Frame,
    boxes: Vec<SpanBox>,
    /// By depth: the last box and its column, if more spans may be merged into it.
    open: Vec<Option<(usize, f64)>>,
}

impl Columns {
    fn new(frame: Frame) -> Self {
        Self { frame, boxes: Vec::new(), open: Vec::new() }
    }

    fn add(&mut self, number: i32, span: &Span) {
        let (start, end) = (nanos(span.start), nanos(span.end));
        if end < self.frame.from || start > self.frame.to {
            return;
        }
        let depth = span.depth as usize;
        if self.open.len() <= depth {
            self.open.resize(depth + 1, None);
        }
        let width = end - start;
        let column = (width < self.frame.least).then(|| (start / self.frame.least).floor());
        if let (Some((place, last)), Some(column)) = (self.open[depth], column)
            && last == column
        {
            let merged = &mut self.boxes[place];
            merged.end = end;
            merged.covered += width;
            merged.count += 1;
            merged.all_weight += span.all_weight;
            merged.self_weight += span.self_weight;
            if width > length(&merged.longest) {
                merged.longest = *span;
            }
            return;
        }
        self.open[depth] = column.map(|column| (self.boxes.len(), column));
        let Span { all_weight, self_weight, .. } = *span;
        let longest = *span;
        self.boxes.push(SpanBox { number, start, end, covered: width, count: 1, all_weight, self_weight, longest });
    }
}

fn length(span: &Span) -> f64 {
    nanos(span.end) - nanos(span.start)
}

fn nanos(time: Nanos) -> f64 {
    time.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceparse::calltree::Label;

    fn columns(least: f64, spans: &[(u32, u64, u64)]) -> Vec<(i32, f64, f64, f64, i32)> {
        let mut columns = Columns::new(Frame { least, from: 0.0, to: 100.0 });
        for (number, &(depth, start, end)) in (0..).zip(spans) {
            let (start, end) = (Nanos::from_nanos(start), Nanos::from_nanos(end));
            let span = Span { label: Label::NoStack, depth, start, end, all_weight: 1, self_weight: 1, samples: 1 };
            columns.add(number, &span);
        }
        columns.boxes.iter().map(|found| (found.number, found.start, found.end, found.covered, found.count)).collect()
    }

    #[test]
    fn merges_narrow_spans_of_one_depth_and_column() {
        let spans = [(1, 0, 30), (2, 0, 2), (3, 1, 2), (2, 5, 8), (2, 9, 11), (2, 12, 24), (2, 25, 26), (1, 200, 300)];
        let expected = [
            (0, 0.0, 30.0, 30.0, 1),
            (1, 0.0, 11.0, 7.0, 3),
            (2, 1.0, 2.0, 1.0, 1),
            (5, 12.0, 24.0, 12.0, 1),
            (6, 25.0, 26.0, 1.0, 1),
        ];
        assert_eq!(columns(10.0, &spans), expected);
        assert_eq!(columns(1.0, &spans).len(), spans.len() - 1, "what can be seen is not merged");
    }

    #[test]
    fn the_number_of_boxes_depends_on_the_width_and_not_on_the_spans() {
        let spans: Vec<_> = (0..100_000).map(|at| (1, at / 1_000, at / 1_000)).collect();
        assert_eq!(columns(10.0, &spans).len(), 10);
    }
}
