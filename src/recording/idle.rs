//! Idle runs: their CPU tables exist but are empty, since no recorded thread ran.

use super::{Document, DocumentContent, Table, TableKind};
use crate::profile::{Full, ProfileBuilder, Run, Series};
use crate::units::Unit;

/// The CPU tables in order of preference: the first one that exists measures the run.
const PREFERENCE: [&str; 4] = ["time-profile", "cpu-profile", "counters-profile", "time-sample"];

impl Table {
    /// Returns the rank of a table in the order of preference. The table with the lowest rank measures the run.
    pub(crate) fn preference(schema: &str) -> usize {
        PREFERENCE.iter().position(|known| *known == schema).unwrap_or(PREFERENCE.len())
    }

    /// Returns the unit of a CPU table's weights, determined from its columns; `None` if they do not define it.
    fn unit(&self) -> Option<Unit> {
        let weight = self.columns.iter().find(|column| column.mnemonic == "weight");
        match weight.map(|column| column.engineering_type.as_str()) {
            Some("weight") => Some(Unit::Nanoseconds),
            Some("cycle-weight") => Some(Unit::Cycles),
            None if self.schema.as_deref() == Some("time-sample") => Some(Unit::Samples),
            _ => None,
        }
    }
}

/// For each run whose CPU tables are all empty, adds an empty series to the preferred table. A run with unreadable rows is not idle, since its
/// CPU use is unknown.
pub(super) fn add_idle_runs(profile: &mut ProfileBuilder, documents: &mut [Document]) -> Result<(), Full> {
    for (index, document) in documents.iter_mut().enumerate() {
        let DocumentContent::Tables(tables) = &mut document.content else { continue };
        if document.cut_at.is_some() {
            continue;
        }
        let cpu = |position: &usize| tables[*position].kind == TableKind::Cpu;
        let mut places: Vec<usize> = (0..tables.len()).filter(cpu).collect();
        places.sort_by_key(|&place| {
            let table = &tables[place];
            (table.run, Table::preference(table.schema.as_deref().unwrap_or_default()), place)
        });
        let idle = places
            .chunk_by(|&a, &b| tables[a].run == tables[b].run)
            .filter(|of_run| of_run.iter().all(|&place| tables[place].rows == 0));
        let idle: Vec<(usize, Unit)> =
            idle.filter_map(|of_run| of_run.iter().find_map(|&place| Some((place, tables[place].unit()?)))).collect();
        for (place, unit) in idle {
            let table = &mut tables[place];
            let input = profile.string(&document.input)?;
            let run = profile.run(Run { input, document: index as u32, number: table.run })?;
            let schema = profile.string(table.schema.as_deref().unwrap_or_default())?;
            table.series.push(profile.series(Series::new(run, schema, place as u32, unit))?);
        }
    }
    Ok(())
}
