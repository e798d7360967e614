//! Collects the names in a recording before any of them is replaced.

use std::collections::BTreeSet;

use super::common_words::{Reach, reach_of};
use super::people::{host, people};
use super::pseudonyms::RedactedKind;
use super::redactor::Redactor;
use crate::profile::{Category, Profile};
use crate::recording::{Intervals, Recording, Toc, TocRun, lookup};

impl Redactor {
    /// Collects the names in a recording: devices, people, and the processes that belong to the app. Call it again if the recording has more
    /// names.
    pub fn collect(&mut self, recording: &Recording) {
        self.collect_with(recording, &[]);
    }

    /// Like [`collect`](Self::collect), with additional tables of contents that are not part of the recording.
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
            // A device whose name is only its model name is skipped.
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

impl Redactor {
    /// Determines which processes of a recording belong to the app.
    pub(super) fn find_app(&mut self, profile: &Profile, tocs: &[&Toc]) {
        let mut names = self.named_processes(profile);
        if names.is_empty() {
            names = targets(tocs);
        }
        if names.is_empty() {
            names = only(all_processes(profile, tocs));
        }
        let programs = programs(profile, tocs);
        if names.is_empty() {
            names = only(own_processes(profile, tocs, &programs));
        }
        for path in programs.iter().filter(|(name, _)| names.contains(name)).map(|(_, path)| path) {
            self.bundles.extend(bundle(path).filter(|bundle| !self.bundles.contains(bundle)));
        }
        let is_inside = |path: &String| self.bundles.iter().any(|bundle| path.starts_with(&format!("{bundle}/")));
        names.extend(programs.iter().filter(|(_, path)| is_inside(path)).map(|(name, _)| name.clone()));
        // In another recording, this name may not belong to the app.
        self.others.retain(|name| !names.contains(name));
        // A person may have the same name.
        names.iter().for_each(|name| self.words.spare(name));
        for bundle in &self.bundles {
            self.words.spare(stem(bundle));
        }
        self.kept.extend(names);
    }

    fn named_processes(&self, profile: &Profile) -> BTreeSet<String> {
        let named = self.named.iter().flat_map(|matcher| matcher.processes(profile));
        named.map(|id| profile.string(profile.process(id).name).to_owned()).filter(|name| !name.is_empty()).collect()
    }
}

fn runs<'t>(tocs: &[&'t Toc]) -> impl Iterator<Item = &'t TocRun> {
    tocs.iter().flat_map(|toc| &toc.runs)
}

/// Returns the names of the processes that were recorded.
fn targets(tocs: &[&Toc]) -> BTreeSet<String> {
    let single = runs(tocs).filter(|run| !run.is_all_processes);
    single.filter_map(|run| run.process_attribute("name")).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn all_processes(profile: &Profile, tocs: &[&Toc]) -> BTreeSet<String> {
    let sampled = profile.process_ids().map(|id| profile.string(profile.process(id).name));
    let listed = runs(tocs).flat_map(|run| &run.processes).map(|process| process.name.as_str());
    sampled.chain(listed).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns the names if there is exactly one.
fn only(names: BTreeSet<String>) -> BTreeSet<String> {
    if names.len() == 1 { names } else { BTreeSet::new() }
}

/// Returns the names and paths of programs that processes may run: binaries with the name of a process, and programs listed in tables of
/// contents.
fn programs(profile: &Profile, tocs: &[&Toc]) -> BTreeSet<(String, String)> {
    let names = all_processes(profile, tocs);
    let binaries = profile.binary_ids().map(|id| profile.binary(id));
    let sampled = binaries.map(|binary| (profile.string(binary.name), profile.string(binary.path)));
    let sampled = sampled.filter(|(name, path)| names.contains(*name) && path.contains('/'));
    let listed = runs(tocs).flat_map(|run| &run.processes).map(|row| (row.name.as_str(), row.path.as_str()));
    sampled.chain(listed).map(|(name, path)| (name.to_owned(), path.to_owned())).collect()
}

/// Returns the processes that run app code.
fn own_processes(profile: &Profile, tocs: &[&Toc], programs: &BTreeSet<(String, String)>) -> BTreeSet<String> {
    let names = all_processes(profile, tocs);
    let is_own = |(name, path): &&(String, String)| {
        names.contains(name) && Category::of_path(path, name) == Category::User && !super::paths::is_system(path)
    };
    programs.iter().filter(is_own).map(|(name, _)| name.clone()).collect()
}

/// Returns `Orchard` for `/Applications/Orchard.app`.
fn stem(bundle: &str) -> &str {
    let name = bundle.rsplit('/').next().unwrap_or(bundle);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the outermost bundle that contains a program, unless it belongs to the system.
fn bundle(path: &str) -> Option<String> {
    if super::paths::is_system(path) {
        return None;
    }
    let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
    let is_bundle = |folder: &&str| [".app", ".appex", ".xpc", ".framework"].iter().any(|end| folder.ends_with(end));
    ends.filter(|folder| !folder.is_empty()).find(is_bundle).map(str::to_owned)
}
