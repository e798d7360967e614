//! A run narrowed to some of its threads.

use super::options::FleetOptions;
use super::run::{NameId, RunMeasures, RunRecord};

impl RunMeasures {
    /// The run reduced to the selected threads, by name and by whether they are main threads: rows, weight and samples
    /// only cover these threads, over the same recorded time. The number of effective samples is reduced in proportion,
    /// and the number of cores is unknown. `None` for a run without such a thread; an existing thread that is idle has
    /// the weight 0.
    pub fn of_threads(&self, is_wanted: impl Fn(&str, bool) -> bool) -> Option<Self> {
        let wanted = |is_main: bool| self.names.iter().map(|name| is_wanted(name, is_main)).collect::<Vec<bool>>();
        let wanted = [wanted(false), wanted(true)];
        let has = |id: NameId, is_main: bool| {
            let known = wanted[usize::from(is_main)].get(id.0 as usize).copied();
            known.unwrap_or_else(|| is_wanted("", is_main))
        };
        let frames: Vec<_> = self.frames.iter().filter(|row| has(row.thread, row.is_main_thread)).copied().collect();
        if frames.is_empty() {
            return None;
        }
        let add = |sum: (u64, u64), own: (u64, u64)| (sum.0.saturating_add(own.0), sum.1.saturating_add(own.1));
        let own = frames.iter().map(|row| (row.self_weight, row.self_samples));
        let (weight, samples) = own.fold((0, 0), add);
        let effective = u128::from(samples) * u128::from(self.record.effective_samples);
        let effective = effective / u128::from(self.record.samples.max(1));
        let effective_samples = u64::try_from(effective).unwrap_or(u64::MAX);
        Some(Self {
            record: RunRecord { weight, samples, effective_samples, cores: 0, ..self.record.clone() },
            names: self.names.clone(),
            frames,
            binaries: self.binaries.iter().filter(|row| has(row.thread, row.is_main_thread)).copied().collect(),
            windows: self.windows.iter().filter(|row| has(row.thread, row.is_main_thread)).copied().collect(),
        })
    }

    /// The sentence about a run without a thread with these names, or without a main thread with such a name.
    pub fn no_thread(names: &[String], only_main_threads: bool) -> String {
        let thread = if only_main_threads { "main thread" } else { "thread" };
        match names {
            [] => format!("There is no known {thread}."),
            [name] => format!("There is no {thread} named {name:?}."),
            names => format!("There is no {thread} of the names {}.", names.join(", ")),
        }
    }
}

impl FleetOptions {
    /// True if only some threads are selected.
    pub fn narrows_threads(&self) -> bool {
        self.threads.is_some() || self.only_main_threads
    }

    /// True for a thread with this name, main thread or not.
    pub fn selects_thread(&self, name: &str, is_main: bool) -> bool {
        (is_main || !self.only_main_threads)
            && self.threads.as_ref().is_none_or(|names| names.iter().any(|asked| asked == name))
    }
}
