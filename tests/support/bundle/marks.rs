//! The signpost and hang tables of a run, with the peculiarities of several versions of Instruments.

use super::super::hang_risks::{HangRisk, Part};
use super::super::other_tables::Hang;
use super::super::signposts::Signpost;
use super::samples::{RunWriter, cell};
use super::schemas::{self, Version};
use super::store::{Attribute, Cell, Store};
use super::uniquer::NONE;

/// Intervals are in the order in which they ended.
fn by_end(signposts: &[Signpost]) -> Vec<(u64, u64, &Signpost)> {
    let mut whole: Vec<(u64, u64, &Signpost)> =
        signposts.iter().filter_map(|signpost| Some((signpost.start_ns?, signpost.end_ns?, signpost))).collect();
    whole.sort_by_key(|(start, end, _)| (*end, *start));
    whole
}

/// The attributes with which the table was requested, if all its signposts have one category.
fn attributes(signposts: &[Signpost]) -> Vec<(&'static str, Attribute)> {
    let all = |category: &str| signposts.iter().all(|signpost| signpost.category == category);
    let subsystem = ("subsystem", Attribute::Text("com.apple.ConditionInducer.LowSeverity"));
    match () {
        () if all("PointsOfInterest") => vec![("category", Attribute::Text("PointsOfInterest"))],
        () if all("InduceCondition") => vec![("category", Attribute::Text("InduceCondition")), subsystem],
        () => Vec::new(),
    }
}

impl RunWriter<'_> {
    /// The processes and threads of both ends: start process, end process, start thread, end thread.
    fn ends(&mut self, signpost: &Signpost) -> [Cell; 4] {
        let recording = self.recording;
        let [first, last] = [signpost.rows.0, signpost.rows.1].map(|row| self.common(&recording.rows[row]));
        [first[2], last[2], first[1], last[1]]
    }

    fn texts<const N: usize>(&mut self, texts: [&str; N]) -> [Cell; N] {
        texts.map(|text| cell(self.strings.add(text)))
    }

    pub fn potential_hangs(&mut self, hangs: &[Hang]) -> Store {
        let attributes = vec![("hangs-threshold", Attribute::Number(250)), ("target-pid", Attribute::Text("SINGLE"))];
        let mut store = Store::new(schemas::potential_hangs(), attributes);
        let mut hangs: Vec<&Hang> = hangs.iter().collect();
        hangs.sort_by_key(|hang| (hang.start_ns + hang.duration_ns, hang.start_ns));
        for hang in hangs {
            let row = &self.recording.rows[hang.row];
            let kind = if hang.duration_ns > 500_000_000 { "Hang" } else { "Potential Interaction Delay" };
            let [kind] = self.texts([kind]);
            let [_, thread, process, ..] = self.common(row);
            store.row(&[hang.start_ns, hang.duration_ns, kind, thread, process]);
        }
        store
    }

    /// Intervals with both ends. Instruments of Xcode 27 write the same table with another name.
    pub fn signpost_intervals(&mut self, signposts: &[Signpost], is_recent: bool) -> Store {
        let mut store = Store::new(schemas::signpost_intervals(is_recent), Vec::new());
        for (start, end, signpost) in by_end(signposts) {
            let named = self.texts([&signpost.name, &signpost.category, &signpost.subsystem]);
            let messages = [self.message(&signpost.name), self.message(&signpost.name)];
            let mut cells = vec![start, end - start, 0];
            cells.extend(named);
            cells.push(signpost.identifier);
            cells.extend(self.ends(signpost));
            cells.extend(messages);
            cells.extend([cell(NONE), cell(NONE), u64::MAX, u64::MAX, cell(NONE)]);
            store.row(&cells);
        }
        store
    }

    /// Ends of intervals, and a single point with every third beginning, in order of time except for some late rows.
    pub fn signpost_events(&mut self, signposts: &[Signpost]) -> Store {
        let version = self.options.version;
        let mut store = Store::new(schemas::signpost_events(version), attributes(signposts));
        for (time, kind, row, signpost) in Signpost::events(signposts) {
            let [_, thread, process, ..] = self.common(&self.recording.rows[row]);
            let [kind, scope, name] = self.texts([kind, signpost.scope, &signpost.name]);
            let [format, subsystem, category] = self.texts(["%{public}s", &signpost.subsystem, &signpost.category]);
            let message = self.message(&signpost.name);
            let none = cell(NONE);
            let mut cells = vec![time, thread, process, kind, scope, signpost.identifier, name, format, none];
            cells.extend([subsystem, category, message]);
            cells.extend((version == Version::V26).then_some(u64::MAX));
            store.row(&cells);
        }
        store
    }

    /// Regions, and for every third of them a point of 1 ns at its beginning.
    pub fn regions(&mut self, signposts: &[Signpost]) -> Store {
        let version = self.options.version;
        let attributes =
            vec![("exclude-os-logs", Attribute::Boolean(false)), ("target-pid", Attribute::Text("SINGLE"))];
        let mut store = Store::new(schemas::regions(version), attributes);
        for (index, (start, end, signpost)) in by_end(signposts).into_iter().enumerate() {
            let mut row = |class: &str, duration: u64| {
                let [class, name, kind, concept, subsystem] =
                    self.texts([class, &signpost.name, "Signpost", "Blue", &signpost.subsystem]);
                let message = self.message(&signpost.name);
                let [process, end_process, thread, end_thread] = self.ends(signpost);
                let none = cell(NONE);
                let cells = |mnemonic: &str| match mnemonic {
                    "start" => start,
                    "duration" => duration,
                    "class" => class,
                    "name" => name,
                    "kind" => kind,
                    "concept" => concept,
                    "subsystem" => subsystem,
                    "start-message" | "end-message" => message,
                    "process" => process,
                    "end-process" => end_process,
                    "start-thread" => thread,
                    "end-thread" => end_thread,
                    "start-emit-location" | "end-emit-location" => u64::MAX,
                    _ => none,
                };
                let cells: Vec<Cell> = store.schema.columns.iter().map(|column| cells(column.mnemonic)).collect();
                store.row(&cells);
            };
            row("Interval", end - start);
            if index % 3 == 0 {
                row("Point", 1);
            }
        }
        store
    }

    pub fn hang_risks(&mut self, risks: &[HangRisk]) -> Store {
        let attributes = vec![("detect-priority-inversions", Attribute::Boolean(false))];
        let mut store = Store::new(schemas::hang_risks(), attributes);
        for risk in risks {
            let [_, thread, process, ..] = self.common(&self.recording.rows[risk.row]);
            let message = cell(self.typed_array(&risk.message));
            let [severity, kind] = self.texts([risk.severity, risk.event_type]);
            store.row(&[risk.time_ns, process, message, severity, kind, cell(NONE), thread]);
        }
        store
    }

    /// The message logged with a signpost.
    fn message(&mut self, text: &str) -> Cell {
        cell(self.typed_array(&[Part::Text(text.to_owned()), Part::Number(7)]))
    }

    /// Writes a typed array with these parts, and returns its number.
    fn typed_array(&mut self, parts: &[Part]) -> u32 {
        let mut words = Vec::new();
        for part in parts {
            let value = match part {
                Part::Text(text) | Part::Name(text) => self.strings.add(text).into(),
                Part::Number(number) | Part::Duration(number) => *number,
                Part::Log(parts) => self.typed_array(parts).into(),
                Part::None => u64::MAX,
            };
            words.extend([self.type_of(part), value]);
        }
        self.typed_arrays.add(&words)
    }

    /// The index of a part's type in the list of types.
    fn type_of(&mut self, part: &Part) -> u64 {
        let name = match part {
            Part::Text(_) | Part::None => "XRNarrativeTextTypeID",
            Part::Name(_) => "XRSignpostNameTypeID",
            Part::Number(_) => "XRPrototypeValueTypeID",
            Part::Duration(_) => "XRDurationTypeID",
            Part::Log(_) => "XROSLogMetadataTypeID",
        };
        let known = self.types.iter().position(|known| *known == name);
        let place = known.unwrap_or_else(|| {
            self.types.push(name);
            self.types.len() - 1
        });
        place as u64
    }
}
