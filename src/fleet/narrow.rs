//! A run narrowed to some of its threads.

use super::run::{NameId, RunMeasures, RunRecord};

impl RunMeasures {
    /// The run with the threads of the names that are wanted, and nothing of the others: rows, weight and samples are those of the wanted
    /// threads, over the same recorded time. The number of effective samples is taken in proportion, and that of cores is unknown. `None` for
    /// a run without such a thread; a thread that is there and idle used nothing.
    pub fn of_threads(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let wanted: Vec<bool> = self.names.iter().map(|name| is_wanted(name)).collect();
        let is_nameless_wanted = is_wanted("");
        let has = |id: NameId| wanted.get(id.0 as usize).copied().unwrap_or(is_nameless_wanted);
        let frames: Vec<_> = self.frames.iter().filter(|row| has(row.thread)).copied().collect();
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
            binaries: self.binaries.iter().filter(|row| has(row.thread)).copied().collect(),
            windows: self.windows.iter().filter(|row| has(row.thread)).copied().collect(),
        })
    }

    /// The sentence about a run that has none of these threads.
    pub fn no_thread(names: &[String]) -> String {
        match names {
            [] => "There is no thread of the requested names.".to_owned(),
            [name] => format!("There is no thread named {name:?}."),
            names => format!("There is no thread of the names {}.", names.join(", ")),
        }
    }
}
