//! Finds contradictions between an export and a table of contents, which show that the table of contents belongs to another recording.
//!
//! Only contradictions count. Facts that only one of them records prove nothing. A later run of the same recording may be missing in a table of
//! contents, so the number of runs proves nothing either.

use std::collections::BTreeSet;

use super::TableKind;
use super::toc::{SLACK, TocRun, lookup, seconds};
use crate::profile::{ProcessId, Profile, SeriesId};
use crate::units::{Nanos, first_of};

/// The kernel and launchd have these pids in every recording.
const LAST_SHARED_PID: u64 = 1;

/// What an export records about a run.
#[derive(Clone, Copy)]
pub(super) struct RunFacts<'p> {
    pub(super) profile: &'p Profile,
    pub(super) number: u32,
    pub(super) processes: &'p [ProcessId],
    pub(super) series: &'p [SeriesId],
    /// The time of the last sample.
    pub(super) last: Nanos,
}

impl RunFacts<'_> {
    /// Explains why a table of contents cannot describe this run; `None` if it can. If both are in one input (`is_own`), only times are compared:
    /// such an input was recorded or combined as one.
    pub(super) fn contradiction(&self, toc: &TocRun, is_own: bool) -> Option<String> {
        let of_others = || self.other_program(toc).or_else(|| self.other_table(toc));
        let (listed, found) = self.later_sample(toc).or_else(|| if is_own { None } else { of_others() })?;
        Some(format!(
            "According to a table of contents, run {} {listed}, but the export has {found}; it belongs to another \
             recording and is not used.",
            self.number
        ))
    }

    /// The duration, and a sample after it.
    fn later_sample(&self, toc: &TocRun) -> Option<(String, String)> {
        let duration = toc.duration().filter(|duration| duration.as_nanos() > 0)?;
        let is_later = self.last.since(duration) > SLACK;
        is_later.then(|| (format!("took {} s", seconds(duration)), format!("samples up to {} s", seconds(self.last))))
    }

    /// The recorded processes and the sampled ones, if none is in both.
    fn other_program(&self, toc: &TocRun) -> Option<(String, String)> {
        let target = lookup(&toc.process, "pid").and_then(|pid| pid.parse().ok());
        let target = target.map(|pid| (pid, lookup(&toc.process, "name").unwrap_or_default()));
        let others = toc.processes.iter().filter_map(|process| Some((process.pid?, process.name.as_str())));
        let others = others.filter(|(pid, _)| target.is_none_or(|(target, _)| target != *pid));
        let processes = self.processes.iter().map(|&id| self.profile.process(id));
        let sampled = processes.filter_map(|process| Some((process.pid?, self.profile.string(process.name))));
        let [recorded, sampled] = [own(target.into_iter().chain(others)), own(sampled)];
        let pids: BTreeSet<u64> = recorded.iter().map(|&(pid, _)| pid).collect();
        let is_other = !pids.is_empty() && !sampled.is_empty() && !sampled.iter().any(|(pid, _)| pids.contains(pid));
        is_other.then(|| (format!("recorded {}", listed(&recorded)), format!("samples of {}", listed(&sampled))))
    }

    /// The CPU tables of the run, and a table that is not listed.
    fn other_table(&self, toc: &TocRun) -> Option<(String, String)> {
        let listed: BTreeSet<&str> = toc.tables.iter().map(|table| table.schema.as_str()).collect();
        let schemas = self.series.iter().map(|&id| self.profile.string(self.profile.series(id).schema));
        let found = schemas.into_iter().find(|schema| !listed.contains(schema)).filter(|_| !listed.is_empty())?;
        let is_cpu = |schema: &&str| TableKind::of_schema(schema) == TableKind::Cpu;
        let cpu: Vec<&str> = listed.into_iter().filter(is_cpu).collect();
        let has = if cpu.is_empty() { "has no CPU table".to_owned() } else { format!("has {}", first_of(&cpu)) };
        Some((has, found.to_owned()))
    }
}

/// The processes that a recording need not share with others, by pid.
fn own<'n>(processes: impl Iterator<Item = (u64, &'n str)>) -> Vec<(u64, &'n str)> {
    processes.filter(|&(pid, _)| pid > LAST_SHARED_PID).collect()
}

/// `Orchard (pid 4150), Safari (pid 99)`
fn listed(processes: &[(u64, &str)]) -> String {
    let names: Vec<String> = processes.iter().map(|(pid, name)| format!("{name:.100} (pid {pid})")).collect();
    first_of(&names)
}
