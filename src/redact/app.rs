//! The processes that are the app's, and its folders.
//!
//! 1. Processes that were named (`--process`).
//! 2. The target of a recording: the process that was launched, or attached to.
//! 3. The only process, if there is one only.
//! 4. The processes with one name whose program belongs neither to the system nor to a runtime, if there is only one such name.
//!
//! If none of these rules applies, no process belongs to the app. Processes whose program is inside the app's bundle also belong to the
//! app.

use std::collections::BTreeSet;

use super::redactor::Redactor;
use crate::profile::{Category, Profile};
use crate::recording::{Toc, TocRun};

impl Redactor {
    /// Finds out which processes of a recording are the app's.
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

/// The names of the processes that were recorded.
fn targets(tocs: &[&Toc]) -> BTreeSet<String> {
    let single = runs(tocs).filter(|run| !run.is_all_processes);
    single.filter_map(|run| run.process_attribute("name")).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn all_processes(profile: &Profile, tocs: &[&Toc]) -> BTreeSet<String> {
    let sampled = profile.process_ids().map(|id| profile.string(profile.process(id).name));
    let listed = runs(tocs).flat_map(|run| &run.processes).map(|process| process.name.as_str());
    sampled.chain(listed).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The names, if there is one only.
fn only(names: BTreeSet<String>) -> BTreeSet<String> {
    if names.len() == 1 { names } else { BTreeSet::new() }
}

/// The names and paths of programs that processes may run: binaries with the name of a process, and programs listed in tables of contents.
fn programs(profile: &Profile, tocs: &[&Toc]) -> BTreeSet<(String, String)> {
    let names = all_processes(profile, tocs);
    let binaries = profile.binary_ids().map(|id| profile.binary(id));
    let sampled = binaries.map(|binary| (profile.string(binary.name), profile.string(binary.path)));
    let sampled = sampled.filter(|(name, path)| names.contains(*name) && path.contains('/'));
    let listed = runs(tocs).flat_map(|run| &run.processes).map(|row| (row.name.as_str(), row.path.as_str()));
    sampled.chain(listed).map(|(name, path)| (name.to_owned(), path.to_owned())).collect()
}

/// Processes that run app code.
fn own_processes(profile: &Profile, tocs: &[&Toc], programs: &BTreeSet<(String, String)>) -> BTreeSet<String> {
    let names = all_processes(profile, tocs);
    let is_own = |(name, path): &&(String, String)| {
        names.contains(name) && Category::of_path(path, name) == Category::User && !super::paths::is_system(path)
    };
    programs.iter().filter(is_own).map(|(name, _)| name.clone()).collect()
}

/// `Orchard` of `/Applications/Orchard.app`.
fn stem(bundle: &str) -> &str {
    let name = bundle.rsplit('/').next().unwrap_or(bundle);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The outermost bundle that contains a program, unless it belongs to the system.
fn bundle(path: &str) -> Option<String> {
    if super::paths::is_system(path) {
        return None;
    }
    let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
    let is_bundle = |folder: &&str| [".app", ".appex", ".xpc", ".framework"].iter().any(|end| folder.ends_with(end));
    ends.filter(|folder| !folder.is_empty()).find(is_bundle).map(str::to_owned)
}
