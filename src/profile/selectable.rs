//! Lists the possible selections, for messages.

use super::{Id, Profile, SampledTime};
use crate::units::{Nanos, first_of};

impl Profile {
    /// Lists the runs, tables, processes, threads, states and times that a [`Selection`](super::Selection) can choose from, for messages.
    pub fn selectable(&self) -> String {
        let list = |mut names: Vec<String>| {
            names.sort();
            names.dedup();
            first_of(&names)
        };
        let runs = self.run_ids().map(|id| self.run(id).number.to_string()).collect();
        let tables = self.series_ids().map(|id| self.string(self.series(id).schema).to_owned()).collect();
        let processes = self.process_ids().map(|id| self.string(self.process(id).name).to_owned()).collect();
        let threads = self.thread_ids().map(|id| self.string(self.thread(id).name).to_owned()).collect();
        let mut states: Vec<Id<str>> = self.sums_or_samples().filter_map(|sum| sum.state).collect();
        states.sort_unstable();
        states.dedup();
        let states = states.into_iter().map(|state| self.string(state).to_owned()).collect();
        let seconds = |time: Nanos| time.as_nanos() as f64 / 1e9;
        let times = self.sums_or_samples().filter_map(|sum| sum.times).reduce(SampledTime::join);
        let times = times.map_or_else(String::new, |times| {
            format!("; times: {:.3}s to {:.3}s", seconds(times.first), seconds(times.last))
        });
        let [runs, tables, processes, threads, states] = [runs, tables, processes, threads, states].map(list);
        format!("runs: {runs}; tables: {tables}; processes: {processes}; threads: {threads}; states: {states}{times}")
    }
}
