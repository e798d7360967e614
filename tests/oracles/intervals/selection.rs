//! The samples that intervals select.

use libtest_mimic::Trial;
use traceparse::profile::{IntervalFilter, Sample, Selection, StateFilter, TimeRange};
use traceparse::read;
use traceparse::recording::{Options, Recording, SampleDetail};
use traceparse::report::ReportOptions;
use traceparse::units::Nanos;

use support::{Invented, RenderOptions, Rng, Shape, Size, Table, render};

pub(crate) fn trials() -> Vec<Trial> {
    panicking![
        samples_that_count_are_those_in_an_interval_of_every_group,
        filters_sum_and_join_what_they_are_given,
        filters_share_what_all_groups_have,
        of_sums_nothing_counts,
        intervals_narrow_other_filters,
    ]
}

type Ranges = Vec<(u32, TimeRange)>;

fn range(start: u64, end: Option<u64>) -> TimeRange {
    TimeRange { start: Nanos::from_nanos(start), end: end.map(Nanos::from_nanos) }
}

fn filter(ranges: &Ranges) -> IntervalFilter {
    IntervalFilter::new(vec!["Layout".to_owned()], false, ranges.iter().copied())
}

fn recording(seed: u64) -> (Invented, Recording) {
    let recording = Invented::random(seed, &Size { runs: 3, rows: 200, ..Size::small() });
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording).shuffled(seed));
    (recording, read(xml.as_bytes(), "random.xml", &Options::default()).unwrap())
}

/// Intervals of all kinds: of the length of samples, of none, overlapping, without an end, of runs that are not there; some start
/// or end at the very time of a sample.
fn random_ranges(recording: &Invented, rng: &mut Rng) -> Ranges {
    let count = rng.below(30);
    let mut ranges = Vec::new();
    for _ in 0..count {
        let time = |rng: &mut Rng| rng.pick(&recording.rows).time_ns + rng.below(3).saturating_sub(1);
        let start = time(rng);
        let end = match rng.below(12) {
            0 => None,
            1 => Some(start),
            2 => Some(time(rng).max(start)),
            _ => Some(start + rng.below(3_000_000)),
        };
        ranges.push((1 + rng.below(4) as u32, range(start, end)));
    }
    ranges
}

/// Of one group, and of several; by the filter of intervals alone and of their intersection.
fn samples_that_count_are_those_in_an_interval_of_every_group() {
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..300 {
        let (recording, export) = recording(seed % 20);
        let mut rng = Rng::new(seed ^ 0x1a11);
        let groups: Vec<Ranges> = (0..seed % 4).map(|_| random_ranges(&recording, &mut rng)).collect();
        let names = groups.iter().enumerate().map(|(index, _)| index.to_string()).collect();
        let intervals = match &groups[..] {
            [one] if rng.one_in(2) => filter(one),
            groups => IntervalFilter::intersection(names, false, groups.to_vec()),
        };
        let selection = Selection { intervals: Some(intervals), states: StateFilter::All, ..Selection::default() };
        let profile = &export.profile;
        let counts = |sample: &&Sample| {
            let run = profile.run(profile.series(sample.series).run).number;
            let has = |(of, range): &(u32, TimeRange)| {
                *of == run && range.start <= sample.time && range.end.is_none_or(|end| sample.time < end)
            };
            !groups.is_empty() && groups.iter().all(|group| group.iter().any(has))
        };
        let expected: Vec<&Sample> = profile.samples().iter().filter(counts).collect();
        let selected = selection.on(profile);
        assert_eq!(selected.iter().collect::<Vec<_>>(), expected, "seed {seed}");
        let weight = expected.iter().map(|sample| sample.weight).sum::<u64>();
        assert_eq!(selected.sums().map(|sum| sum.weight).sum::<u64>(), weight);
        let answer = export.report(&ReportOptions { selection, ..ReportOptions::default() });
        let counted: u64 = answer.series.iter().map(|series| series.counted.samples).sum();
        let left_out: u64 = answer.series.iter().map(|series| series.out_of_scope.samples).sum();
        assert_eq!((counted, counted + left_out), (expected.len() as u64, recording.rows.len() as u64));
        (inside, outside) = (inside + counted, outside + left_out);
    }
    assert!(inside > 5_000 && outside > 5_000, "{inside} in, {outside} out");
}

fn filters_share_what_all_groups_have() {
    let groups = vec![
        vec![(1, range(10, Some(20))), (1, range(20, Some(30))), (2, range(5, None)), (3, range(0, Some(9)))],
        vec![(2, range(0, Some(7))), (2, range(9, None)), (1, range(29, Some(40))), (1, range(0, Some(11)))],
        vec![(1, range(0, None)), (2, range(6, Some(6))), (2, range(6, None))],
    ];
    let share = |groups: &[Ranges]| IntervalFilter::intersection(Vec::new(), true, groups.to_vec());
    let all = share(&groups);
    assert_eq!((all.count(), all.open(), all.length(), all.covered()), (11, 4, 58, 3));
    let shared = [(1, range(10, Some(11))), (1, range(29, Some(30))), (2, range(6, Some(7))), (2, range(9, None))];
    assert_eq!(all.ranges(), shared);
    groups.iter().for_each(|group| assert_eq!(share(std::slice::from_ref(group)).ranges(), filter(group).ranges()));
    let reversed: Vec<Ranges> = groups.iter().rev().cloned().collect();
    assert_eq!(share(&reversed), all, "in any order");
    assert_eq!(share(&[]).ranges(), []);
    assert_eq!(share(&[groups[0].clone(), Vec::new()]).ranges(), []);
}

fn filters_sum_and_join_what_they_are_given() {
    let ranges = vec![
        (2, range(10, Some(20))),
        (1, range(30, Some(40))),
        (1, range(10, Some(20))),
        (1, range(15, Some(25))),
        (1, range(12, Some(13))),
        (1, range(25, Some(26))),
        (1, range(50, Some(50))),
        (2, range(30, None)),
        (2, range(35, Some(45))),
    ];
    let filter = filter(&ranges);
    assert_eq!((filter.count(), filter.open(), filter.length(), filter.covered()), (9, 1, 52, 36));
    let joined = [(1, range(10, Some(26))), (1, range(30, Some(40))), (2, range(10, Some(20))), (2, range(30, None))];
    assert_eq!(filter.ranges(), joined);
    let nothing = IntervalFilter::new(Vec::new(), true, []);
    assert_eq!((nothing.count(), nothing.covered(), nothing.has_hangs()), (0, 0, true));
    let (_, export) = recording(1);
    let selection = Selection { intervals: Some(nothing), ..Selection::default() };
    assert_eq!(selection.on(&export.profile).iter().count(), 0);
}

fn of_sums_nothing_counts() {
    let (recording, _) = recording(2);
    let xml = render(&recording, &RenderOptions::new(Shape::Xcode27, Table::TimeProfile, &recording));
    let options = Options { samples: SampleDetail::Summed, ..Options::default() };
    let export = read(xml.as_bytes(), "summed.xml", &options).unwrap();
    let ranges = (1..4).map(|run| (run, range(0, None))).collect();
    let selection = Selection { intervals: Some(filter(&ranges)), ..Selection::default() };
    assert!(selection.needs_times());
    let answer = export.report(&ReportOptions { selection, ..ReportOptions::default() });
    assert!(answer.series.iter().all(|series| series.counted.samples == 0 && series.out_of_scope.samples > 0));
}

fn intervals_narrow_other_filters() {
    let (recording, export) = recording(3);
    let middle = recording.rows[recording.rows.len() / 2].time_ns;
    let later = Some(range(middle, None));
    let ranges = vec![(1, range(0, Some(middle))), (2, range(0, None))];
    let every = Selection { states: StateFilter::All, ..Selection::default() };
    let ids = |selection: &Selection| selection.on(&export.profile).indexed().map(|(id, _)| id).collect::<Vec<_>>();
    let (by_time, by_intervals) =
        (Selection { time: later, ..every.clone() }, Selection { intervals: Some(filter(&ranges)), ..every.clone() });
    let both = Selection { time: later, ..by_intervals.clone() };
    let expected: Vec<usize> = ids(&by_time).into_iter().filter(|id| ids(&by_intervals).contains(id)).collect();
    assert!(!expected.is_empty() && expected.len() < ids(&by_time).len());
    assert_eq!(ids(&both), expected);
    let run = Selection { runs: vec![1], ..both };
    assert_eq!(ids(&run), [0_usize; 0], "run 1 has intervals before that time only");
}
