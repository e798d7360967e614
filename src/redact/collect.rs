//! Collects the names in a recording before any of them is replaced.

use super::common_words::{Reach, reach_of};
use super::people::{host, people};
use super::pseudonyms::RedactedKind;
use super::redactor::Redactor;
use crate::profile::Profile;
use crate::recording::{Intervals, Recording, Toc, TocRun, lookup};

impl Redactor {
    /// Collects the names in a recording: devices, people, and which processes belong to the app. Call it again if the recording has more
    /// names.
    pub fn collect(&mut self, recording: &Recording) {
        self.collect_with(recording, &[]);
    }

    /// The same, with tables of contents that are not a part of the recording.
    pub fn collect_with(&mut self, recording: &Recording, beside: &[&Toc]) {
        for document in &recording.documents {
            self.hide_input(&document.input);
        }
        let tocs: Vec<&Toc> = recording.tocs().chain(beside.iter().copied()).collect();
        self.find_app(&recording.profile, &tocs);
        self.collect_tocs(&tocs);
        self.collect_profile(&recording.profile);
    }

    fn collect_tocs(&mut self, tocs: &[&Toc]) {
        for run in tocs.iter().flat_map(|toc| &toc.runs) {
            self.collect_device(&run.device);
            self.collect_device(&run.host_device);
            self.collect_run(run);
        }
    }

    /// Collects the names in intervals.
    pub fn collect_intervals(&mut self, intervals: &Intervals) {
        for table in &intervals.tables {
            self.has_intervals = true;
            self.hide_input(&table.input);
        }
        let texts = intervals.intervals.iter().flat_map(|row| [&row.name, &row.subsystem, &row.category]);
        let texts = texts.chain(intervals.hang_risks.iter().map(|risk| &risk.message));
        texts.flatten().for_each(|text| self.hide_users(text));
        let processes = intervals.intervals.iter().map(|row| &row.process);
        let processes = processes.chain(intervals.hang_risks.iter().map(|risk| &risk.process));
        processes.flatten().for_each(|name| self.collect_process(name));
    }

    fn collect_device(&mut self, device: &[(String, String)]) {
        let model = lookup(device, "model").unwrap_or_default();
        for key in ["name", "host-name", "hostname"] {
            let Some(name) = lookup(device, key).filter(|name| !name.is_empty()) else { continue };
            let index = self.pseudonyms.index(RedactedKind::Device, name);
            let mut same = None;
            for person in people(name) {
                same = Some(self.hide_person(&person, same));
            }
            // Unless the device has only its model name.
            if name != model {
                let reach = reach_of(name, Reach::Everywhere);
                self.words.add(name, index, reach);
                self.words.add(&host(name), index, reach_of(&host(name), reach));
            }
        }
        for key in ["uuid", "udid", "serial", "serial-number", "ecid"] {
            if let Some(number) = lookup(device, key).filter(|number| !number.is_empty()) {
                let index = self.pseudonyms.index(RedactedKind::Identifier, number);
                self.words.add(number, index, reach_of(number, Reach::Everywhere));
            }
        }
    }

    fn collect_run(&mut self, run: &TocRun) {
        let pairs = [&run.device, &run.host_device, &run.process, &run.summary].into_iter().flatten();
        pairs.for_each(|(_, value)| self.hide_users(value));
        for process in &run.processes {
            self.hide_users(&process.path);
            self.collect_process(&process.name);
        }
        if let Some(name) = run.process_attribute("name") {
            self.collect_process(name);
        }
    }

    fn collect_profile(&mut self, profile: &Profile) {
        profile.strings().for_each(|text| self.hide_users(text));
        for id in profile.process_ids() {
            self.collect_process(profile.string(profile.process(id).name));
        }
    }

    fn collect_process(&mut self, name: &str) {
        if name.is_empty() || self.kept.contains(name) || self.others.contains(name) {
            return;
        }
        let index = self.pseudonyms.exact_index(RedactedKind::Process, name);
        self.words.add(name, index, reach_of(name, Reach::OwnTexts));
        self.others.insert(name.to_owned());
    }
}
