//! Facts about a report's recording other than its samples: the run, and the program that ran.

use crate::hash::IndexMap;
use crate::profile::{Binary, BinaryId, ProcessId, Profile, RunId};
use crate::recording::TocRun;
use crate::report::{Report, SeriesReport};

/// The table of contents of the selected run; `None` if several runs are selected.
pub(super) fn recorded_run<'e>(report: &Report<'e>) -> Option<&'e TocRun> {
    let profile = &report.recording.profile;
    let asked = || report.series.iter().filter(|series| !series.is_filtered_out());
    let mut runs: Vec<RunId> = asked().map(|series| profile.series(series.series).run).collect();
    runs.dedup();
    let &[run] = runs.as_slice() else { return None };
    report.recording.toc_of_run(run)
}

/// The main executable of each process, heaviest process first.
pub(super) struct Programs<'e> {
    /// The name of the program, and its path if a table of contents records it.
    programs: Vec<(&'e str, Option<&'e str>)>,
}

impl<'e> Programs<'e> {
    pub(super) fn new(report: &Report<'e>) -> Self {
        let profile = &report.recording.profile;
        let toc = recorded_run(report);
        let program = |id: ProcessId| {
            let process = profile.process(id);
            let listed = toc.into_iter().flat_map(|toc| &toc.processes);
            let mut listed = listed.filter(|row| row.pid.is_some() && row.pid == process.pid && !row.path.is_empty());
            (profile.string(process.name), listed.next().map(|row| row.path.as_str()))
        };
        Self { programs: processes_by_weight(report).into_iter().map(program).collect() }
    }

    /// 0 for the executable of the heaviest process, 1 for executables of other processes, 2 for all other binaries.
    pub(super) fn rank(&self, profile: &Profile, id: BinaryId) -> u8 {
        let binary = profile.binary(id);
        match self.programs.iter().position(|&(name, path)| is_program(profile, binary, name, path)) {
            Some(0) => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    /// The path of the heaviest process's executable, or else its name.
    #[cfg(feature = "compression")]
    pub(super) fn first(&self) -> Option<&'e str> {
        let &(name, path) = self.programs.first()?;
        Some(path.unwrap_or(name)).filter(|text| !text.is_empty())
    }
}

fn is_program(profile: &Profile, binary: &Binary, name: &str, path: Option<&str>) -> bool {
    path == Some(profile.string(binary.path)) || (!name.is_empty() && profile.string(binary.name) == name)
}

/// The processes in the tables with the first series' unit, heaviest first. Equal processes keep the order of the report.
fn processes_by_weight(report: &Report<'_>) -> Vec<ProcessId> {
    let profile = &report.recording.profile;
    let asked: Vec<&SeriesReport> = report.series.iter().filter(|series| series.counted.samples > 0).collect();
    let unit = asked.first().map(|series| series.unit);
    let mut weights: IndexMap<ProcessId, u128> = IndexMap::default();
    for series in &asked {
        for row in series.all_threads() {
            let id = profile.thread(row.thread).process;
            *weights.entry(id).or_default() +=
                if Some(series.unit) == unit { u128::from(row.counted.weight.value) } else { 0 };
        }
    }
    weights.sort_by(|_, a, _, b| b.cmp(a));
    weights.into_keys().collect()
}
