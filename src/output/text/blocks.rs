//! Weights over time as a line of block characters.

use super::name::MIN_NAME;
use super::style::Style;
use crate::report::{Timeline, TimelineLine, TimelinePart, highest_rate};
use crate::units::Nanos;

/// Blocks of an eighth of the height to the whole of it.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A column with samples, none of which is selected.
pub(super) const WAITING: char = '·';
/// The greatest length of a line, regardless of the width of the text.
const MOST: usize = 100;
const LEAST: usize = 13;
/// The approximate width of the numbers left of the blocks, which may not give way.
const NUMBERS: usize = 30;

/// The columns into which the bins of a timeline are put.
pub(super) struct Columns<'t> {
    timeline: &'t Timeline,
    /// The number of bins in a column; the last one may have fewer.
    pub(super) bins_each: u64,
    pub(super) count: usize,
}

/// A line of a timeline, or the sum of several, in columns.
pub(super) struct Blocks {
    /// The weight of selected samples.
    pub(super) weight: u64,
    /// The weight of the bin with the highest rate, and the selected time in it.
    pub(super) peak: (u64, Nanos),
    /// By column: the weight of selected samples, and true if there are any samples.
    columns: Vec<(u64, bool)>,
    /// The heaviest column.
    pub(super) highest: u64,
}

impl<'t> Columns<'t> {
    /// One column for each bin, or as many as fit next to numbers and names.
    pub(super) fn new(timeline: &'t Timeline, style: &Style) -> Self {
        let most = style.width.map_or(MOST, |width| {
            let room = width.saturating_sub(NUMBERS);
            (room / 2).min(room.saturating_sub(MIN_NAME + 1)).clamp(LEAST, MOST)
        });
        let bins = timeline.bins.end - timeline.bins.start;
        let bins_each = bins.div_ceil(most as u64).max(1);
        Self { timeline, bins_each, count: bins.div_ceil(bins_each) as usize }
    }

    /// The time of a column, in nanoseconds.
    pub(super) fn length(&self) -> u64 {
        self.timeline.bin.as_nanos().saturating_mul(self.bins_each)
    }

    /// The sum of some lines. If only a part of a column is selected, its height is extrapolated from the rate of the part. The part is
    /// counted as at least one bin long, since one sample may weigh more than a short part.
    pub(super) fn of<'l>(&self, lines: impl Iterator<Item = &'l TimelineLine> + Clone) -> Blocks {
        let mut parts: Vec<&TimelinePart> = lines.clone().flat_map(|line| &line.parts).collect();
        parts.sort_unstable_by_key(|part| part.bin);
        let mut columns = vec![(0, false); self.count];
        let bin = self.timeline.bin.as_nanos();
        let mut bins = Vec::new();
        for parts in parts.chunk_by(|a, b| a.bin == b.bin) {
            let counted = parts.iter().filter(|part| part.is_counted);
            let weight: u64 = counted.map(|part| part.amount.weight.value).sum();
            bins.push((weight, self.timeline.length_of(parts[0].bin)));
            let column = (parts[0].bin - self.timeline.bins.start) / self.bins_each;
            if let Some((sum, is_sampled)) = columns.get_mut(column as usize) {
                *sum += weight;
                *is_sampled = true;
            }
        }
        for (column, (sum, _)) in (0..).zip(&mut columns) {
            let start = (self.timeline.bins.start + column * self.bins_each).saturating_mul(bin);
            let [start, end] = [start, start.saturating_add(self.length())].map(Nanos::from_nanos);
            let selected = self.timeline.selected.length_between(start, end).as_nanos().max(bin);
            let whole = u128::from(*sum) * u128::from(self.length()) / u128::from(selected);
            *sum = u64::try_from(whole).unwrap_or(u64::MAX);
        }
        let weight = lines.map(|line| line.counted.weight.value).sum();
        let highest = columns.iter().map(|&(weight, _)| weight).max().unwrap_or(0);
        Blocks { weight, peak: highest_rate(bins.into_iter(), self.timeline.bin).unwrap_or_default(), columns, highest }
    }
}

impl Blocks {
    /// A block for each column, as high as its share of `full`. A column with any weight has at least the lowest block, and a column with
    /// more than `full` the highest.
    pub(super) fn text(&self, full: u64) -> String {
        let block = |&(weight, is_sampled): &(u64, bool)| match (weight, is_sampled) {
            (0, false) => ' ',
            (0, true) => WAITING,
            _ => {
                let eighths = (u128::from(weight) * 8).div_ceil(u128::from(full.max(1)));
                BLOCKS[eighths.clamp(1, 8) as usize - 1]
            }
        };
        self.columns.iter().map(block).collect()
    }

    /// True if there are columns with samples of which none counts.
    pub(super) fn is_waiting(&self) -> bool {
        self.columns.contains(&(0, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::SelectedTime;
    use crate::report::{Amount, Scope};
    use crate::units::Weight;

    fn part(bin: u64, weight: u64, is_counted: bool) -> TimelinePart {
        TimelinePart { bin, state: None, is_counted, amount: Amount { weight: Weight::nanos(weight), samples: 1 } }
    }

    /// A timeline whose bins are all selected.
    fn timeline(bins: std::ops::Range<u64>, line: TimelineLine) -> Timeline {
        let selected = SelectedTime::until(Nanos::from_nanos(10 * bins.end));
        Timeline { bin: Nanos::from_nanos(10), bins, selected, lines: vec![line] }
    }

    #[test]
    fn blocks_are_eighths_of_the_full_height() {
        let parts = vec![part(5, 10, true), part(6, 3, false), part(8, 1, true), part(9, 25, true), part(10, 5, true)];
        let counted = Amount { weight: Weight::nanos(41), samples: 4 };
        let line = TimelineLine { scope: Scope::All, counted, parts };
        let timeline = timeline(5..11, line);
        let columns = Columns::new(&timeline, &Style::default());
        let blocks = columns.of(timeline.lines.iter());
        assert_eq!(
            (columns.count, blocks.weight, blocks.peak, blocks.highest),
            (6, 41, (25, Nanos::from_nanos(10)), 25)
        );
        assert_eq!((blocks.text(10).as_str(), blocks.is_waiting()), ("█· ▁█▄", true));
        assert_eq!(blocks.text(25), "▄· ▁█▂");
    }

    #[test]
    fn joins_bins_into_columns_if_space_is_short() {
        let parts = (0..33).map(|bin| part(bin, 10, true)).collect();
        let counted = Amount { weight: Weight::nanos(330), samples: 33 };
        let line = TimelineLine { scope: Scope::All, counted, parts };
        let timeline = timeline(0..33, line);
        let columns = Columns::new(&timeline, &Style { width: Some(20), ..Style::default() });
        assert_eq!((columns.bins_each, columns.count, columns.length()), (3, 11, 30));
        assert_eq!(columns.of(timeline.lines.iter()).text(30), "█".repeat(11));
        let timeline = Timeline { bins: 0..26, ..timeline };
        let columns = Columns::new(&timeline, &Style { width: Some(20), ..Style::default() });
        assert_eq!((columns.bins_each, columns.count), (2, 13));
    }
}
