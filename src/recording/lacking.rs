//! Explains why a recording has no CPU samples.

use std::collections::BTreeSet;

use super::{Recording, Table, TableKind};
use crate::settings::for_command;
use crate::units::{first_of, several};

/// The command prints warnings before the sentence.
const REASON: &str = "; see the warnings for the reason";

impl Recording {
    /// Explains why there is no CPU table, and what to do. A table that a bundle lacks cannot be exported from it either. `None` if there is one, or
    /// [percentiles](Self::has_percentiles).
    pub fn no_cpu_table(&self, is_bundle: bool) -> Option<String> {
        let has_table = self.tables().any(|table| table.kind == TableKind::Cpu);
        let explain = || if is_bundle { no_cpu_table_recorded(self) } else { no_cpu_table(self) };
        (!has_table && !self.has_percentiles()).then(explain)
    }

    /// True if an input contains percentiles computed by another tool instead of samples.
    pub fn has_percentiles(&self) -> bool {
        self.tocs().flat_map(|toc| &toc.runs).any(|run| run.stated_percentiles().next().is_some())
    }

    /// Reports that no row of the CPU tables could be read; `None` if one could, or if there are no rows.
    pub fn no_readable_row(&self) -> Option<String> {
        let rows: u64 = self.tables().filter(|table| table.kind == TableKind::Cpu).map(|table| table.rows).sum();
        let is_nothing_read = rows > 0 && self.rejected() == rows;
        is_nothing_read.then(|| format!("none of the {rows} rows could be read{}", for_command(REASON)))
    }

    /// Returns the warnings from reading, and those about tables of contents of other recordings.
    pub fn warnings(&self) -> Vec<String> {
        let cut = self.documents.iter().filter_map(|document| {
            let (input, byte) = (&document.input, document.cut_at?);
            // Readers of other tables use the same words, so the warning is printed once.
            Some(format!("{input}:{byte}: the file is truncated here; only complete rows are used"))
        });
        let input = |run| self.profile.string(self.profile.run(run).input);
        let refused =
            self.profile.run_ids().filter_map(|run| Some(format!("{}: {}", input(run), self.refused_toc(run)?)));
        self.diagnostics.iter().map(ToString::to_string).chain(cut).chain(refused).collect()
    }
}

fn no_cpu_table_recorded(recording: &Recording) -> String {
    let recorded = recording.tocs().flat_map(|toc| &toc.runs).flat_map(|run| &run.tables);
    let recorded: BTreeSet<&str> = recorded
        .map(|table| table.schema.as_str())
        .filter(|schema| TableKind::of_schema(schema) == TableKind::Cpu)
        .collect();
    if recorded.is_empty() {
        return match old_version(recording) {
            Some(version) => format!(
                "the recording was made with Instruments {version}, whose samples traceparse cannot read; record again \
                 with Instruments 11 or later, or open it in Instruments, copy its call tree (Edit > Deep Copy) into a \
                 text file, and pass this file"
            ),
            None => "the recording has no CPU table; record with the Time Profiler or CPU Profiler template".to_owned(),
        };
    }
    let names = recorded.into_iter().collect::<Vec<_>>().join(", ");
    format!("the recording has {names}, but none of them can be read{}", for_command(REASON))
}

/// The version of Instruments, if it is 10 or older: Time Profiler then stored its samples outside of all tables.
fn old_version(recording: &Recording) -> Option<&str> {
    let mut summaries = recording.tocs().flat_map(|toc| &toc.runs).flat_map(|run| &run.summary);
    let (_, version) = summaries.find(|(key, _)| key == "instruments-version")?;
    let major = version.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()?;
    (major <= 10).then_some(version)
}

fn no_cpu_table(recording: &Recording) -> String {
    let schemas = ["time-profile", "cpu-profile", "counters-profile", "time-sample"];
    let how = |schema: &str| Table::export_command("X.trace", None, &[schema]);
    let recorded = recording.tocs().flat_map(|toc| &toc.runs).flat_map(|run| &run.tables);
    let recorded: Vec<&str> = recorded.map(|table| table.schema.as_str()).collect();
    let tables: Vec<String> = recording
        .tables()
        .map(|table| {
            format!("{} ({})", table.schema.as_deref().unwrap_or("details of a track"), several(table.rows, "row"))
        })
        .collect();
    if !tables.is_empty() {
        return format!("no CPU table here, only: {}. Export one with: {}", first_of(&tables), how(schemas[0]));
    }
    let shows = for_command(" (traceparse toc shows it)");
    match schemas.iter().find(|schema| recorded.contains(schema)) {
        Some(schema) => {
            format!("this is a table of contents{shows}; export the samples with: {}", how(schema))
        }
        None if !recorded.is_empty() => format!(
            "this is a table of contents{shows}, of a recording without CPU tables; record with the Time Profiler or \
             CPU Profiler template"
        ),
        None => format!("no CPU table here; export one with: {}", how(schemas[0])),
    }
}
