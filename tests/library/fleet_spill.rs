//! Fleet reports that do not fit in memory: the same bytes in every format, whether values are in memory or in a file.

// Other tests use the rest.
#[allow(dead_code)]
use support::runs as odd_runs;

use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use support::{Rng, fleet};
use traceparse::alert::AlertRule;
use traceparse::files::StorageFile;
use traceparse::fleet::{
    DatasetError, DatasetRow, DatasetTable, FleetBuilder, FleetOptions, FleetReport, Measure, NameId, RunMeasures,
    SortKey,
};
use traceparse::output::{self, Cells, Format};
use traceparse::stats::{Quantile, QuantileMethod};
use traceparse::units::{Millionths, Nanos, Unit};

/// Runs that differ in everything that is kept of them: units, weights, estimates, processes, runs that are there twice, runs without time.
fn runs() -> Vec<RunMeasures> {
    let mut rng = Rng::new(7);
    let mut runs = fleet::runs(5, 120);
    for run in &mut runs {
        match rng.below(12) {
            0 => run.record.unit = Unit::Cycles,
            1 => run.record.wall = None,
            2 => run.record.effective_samples /= 3,
            3 => run.record.run_weight = Millionths::new(1 + rng.below(5_000_000)),
            4 => run.record.run_weight = Millionths::default(),
            5 => run.record.usual_weight = 0,
            6 => run.record.labels.retain(|(key, _)| key != "app_version"),
            7 => run.record.wall = Some(Nanos::from_millis(4_000_000_000_000)),
            _ => {}
        }
        run.names.push("Helper".to_owned());
        let helper = NameId(run.names.len() as u32 - 1);
        run.frames.iter_mut().filter(|_| rng.one_in(4)).for_each(|row| row.process = helper);
        run.windows.iter_mut().filter(|_| rng.one_in(4)).for_each(|row| row.process = helper);
        let odd = 1 + rng.below(1 << 40);
        run.frames.iter_mut().filter(|_| rng.one_in(6)).for_each(|row| row.self_weight += odd);
    }
    runs.extend((0..15).map(|seed| odd_runs::run(seed, 20)));
    runs.push(runs[3].clone());
    rng.shuffle(&mut runs);
    runs
}

/// Every kind of question.
fn questions() -> Vec<(&'static str, FleetOptions)> {
    let by = || vec!["app_version".to_owned(), "device".to_owned()];
    let rules = [
        "function(\"Cache::evict\").self.p95 > 0.01",
        "function(*).self.p50 > 0.01",
        "function(*).all.max > 2",
        "function(*).self.mean < 0.5",
        "binary(*).all.p90.lower > 5",
        "process(*).cpu.max > 80",
        "window(5s).max > 80",
        "cpu.p95 > 80",
    ];
    let alerts: Vec<AlertRule> = rules.iter().map(|rule| AlertRule::of_runs(rule).unwrap()).collect();
    let plain = FleetOptions::default;
    vec![
        ("plain", plain()),
        ("by", FleetOptions { by: by(), ..plain() }),
        ("top", FleetOptions { by: by(), top: Some(3), ..plain() }),
        ("top of one", FleetOptions { top: Some(1), sort: SortKey::Mean, ..plain() }),
        ("all weight", FleetOptions { by: by(), measure: Measure::AllWeight, ..plain() }),
        ("weighted", FleetOptions { by: by(), is_weighted: true, top: Some(4), alerts: alerts.clone(), ..plain() }),
        ("linear", FleetOptions { method: QuantileMethod::Linear, sort: SortKey::Max, ..plain() }),
        ("threads", FleetOptions { threads: Some(vec!["Worker".to_owned(), "Render".to_owned()]), ..plain() }),
        ("processes", FleetOptions { processes: vec!["Helper".to_owned()], alerts: alerts.clone(), ..plain() }),
        ("alerts", FleetOptions { alerts, ..plain() }),
        (
            "only",
            FleetOptions {
                only: vec![("app_version".to_owned(), "1.2".to_owned())],
                sort: SortKey::Quantile(Quantile::P50),
                ..plain()
            },
        ),
    ]
}

/// The report as text and JSON, which has all that there is; and in the other formats, if rows are few.
fn written(report: &FleetReport) -> Vec<u8> {
    let mut out = Vec::new();
    let mut write = |format| output::write(report, &format, &mut out).unwrap();
    write(Format::Json);
    write(Format::Text(output::Style::default()));
    if report.options.top.is_some() {
        write(Format::Csv(Cells::AsTheyAre));
        #[cfg(feature = "fleet")]
        write(Format::Html(&[]));
    }
    out
}

fn open() -> io::Result<Box<dyn StorageFile>> {
    Ok(Box::new(Faulty { inner: Cursor::default(), writes_left: usize::MAX, cut: None }))
}

/// The report if values are spilled once every `every` runs.
fn spilled(runs: &[RunMeasures], options: &FleetOptions, every: usize) -> (FleetReport, u64) {
    let mut builder = FleetBuilder::new(options.clone());
    for (index, run) in runs.iter().enumerate() {
        builder.add(run);
        if index % every == 0 {
            builder.spill(open).unwrap();
        }
    }
    let bytes = builder.spilled();
    (builder.try_finish().unwrap(), bytes)
}

/// The report on the runs of data files, of which each has some.
fn of_files(runs: &[RunMeasures], options: &FleetOptions) -> FleetReport {
    let mut builder = FleetBuilder::new(options.clone());
    for part in runs.chunks(50) {
        let table = |table: DatasetTable| {
            let mut bytes = Vec::new();
            table.write(part, &[], &mut bytes).map(|()| Cursor::new(bytes))
        };
        for row in DatasetRow::read(table).unwrap() {
            let DatasetRow::Run(run) = row.unwrap() else { panic!("a file that gave no run") };
            builder.add_shared(*run);
        }
    }
    builder.finish()
}

#[test]
fn spilled_values_make_the_same_report() {
    let runs = runs();
    for (name, options) in questions() {
        let mut whole = FleetBuilder::new(options.clone());
        runs.iter().for_each(|run| whole.add(run));
        assert!(whole.spillable() > 0);
        let whole = written(&whole.finish());
        for every in [3, 100_000] {
            let (report, bytes) = spilled(&runs, &options, every);
            assert!(bytes > 0 || every > 3, "{name}: nothing was spilled");
            assert!(written(&report) == whole, "{name}: another report with values spilled after {every} runs");
        }
    }
}

#[test]
fn names_that_a_file_shares_make_the_same_report() {
    let runs = runs();
    for (name, options) in questions() {
        let mut whole = FleetBuilder::new(options.clone());
        runs.iter().for_each(|run| whole.add(run));
        assert!(written(&of_files(&runs, &options)) == written(&whole.finish()), "{name}: another report");
    }
}

/// Runs read back from a spill file have the same names as before, limited to the names that rows refer to.
#[test]
fn shared_names_are_those_of_each_run() {
    let runs: Vec<RunMeasures> = (0..50).map(|seed| odd_runs::run(seed, 30)).collect();
    let table = |table: DatasetTable| -> Result<_, DatasetError> {
        let mut bytes = Vec::new();
        table.write(&runs, &[], &mut bytes).map(|()| Cursor::new(bytes))
    };
    let mut rows = DatasetRow::read(table).unwrap();
    for run in &runs {
        let Some(Ok(DatasetRow::Run(found))) = rows.next() else { panic!("{} is not there", run.record.run_id) };
        assert_eq!((found.record(), &found.record().labels), (&run.record, &run.record.labels));
        assert_eq!(found.into_measures(), *run);
    }
    assert!(rows.next().is_none());
}

/// A file that fails at some point, as a full disk does, or is shorter than what was written.
struct Faulty {
    inner: Cursor<Vec<u8>>,
    writes_left: usize,
    cut: Option<usize>,
}

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        self.writes_left = self.writes_left.checked_sub(1).ok_or_else(full)?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Faulty {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(place) = self.cut {
            self.inner.get_mut().truncate(place);
        }
        self.inner.read(bytes)
    }
}

impl Seek for Faulty {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl StorageFile for Faulty {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_that_fails_is_an_error() {
    let runs = runs();
    let asked = Cell::new(0);
    let faulty = |writes_left, cut| -> io::Result<Box<dyn StorageFile>> {
        asked.set(asked.get() + 1);
        Ok(Box::new(Faulty { inner: Cursor::default(), writes_left, cut }))
    };
    let mut builder = FleetBuilder::new(FleetOptions::default());
    runs[..100].iter().for_each(|run| builder.add(run));
    let full = builder.spill(|| faulty(0, None)).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    let mut builder = FleetBuilder::new(FleetOptions::default());
    runs[..100].iter().for_each(|run| builder.add(run));
    builder.spill(|| faulty(100, Some(10))).unwrap();
    builder.spill(|| faulty(100, Some(10))).unwrap();
    assert_eq!(asked.get(), 2, "the file is opened once for each builder");
    assert_eq!(builder.try_finish().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}
