//! The performance counters of a recording, and their names.
//!
//! Rows contain only values, in the order of the table's attribute `pmc-events` in a table of contents:
//!
//! ```xml
//! <table schema="counters-profile" trigger="time" pmc-events="&quot;INST_ALL&quot; &quot;CORE_ACTIVE_CYCLE&quot;" …/>
//! ```

use std::convert::Infallible;
use std::str::FromStr;

use super::{Recording, Table, TocRun};
use crate::profile::SeriesId;

/// A performance counter, as selected by a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// By its position among the values of a sample, from 1.
    Number(u32),
    /// By its name in a table of contents, such as `INST_ALL`.
    Name(String),
}

/// Parses digits as a number, and anything else as a name.
impl FromStr for Counter {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

impl Recording {
    /// Returns the names of each series' performance counters, in the order of their values. A list is empty unless a table of contents has
    /// exactly one name per value, and all tables of contents agree.
    pub fn counter_names(&self) -> Vec<Vec<String>> {
        let counts = self.profile.counter_counts();
        let mut names: Vec<Option<Vec<String>>> = vec![None; counts.len()];
        // A single pass, since a recording may have thousands of tables.
        for table in self.tables() {
            for &series in &table.series {
                let count = counts[series.index()];
                names[series.index()].get_or_insert_with(|| self.names_in(table, series, count).unwrap_or_default());
            }
        }
        names.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Returns the number of performance counter values per sample of each series.
    pub fn counter_counts(&self) -> Vec<usize> {
        self.profile.counter_counts()
    }

    fn names_in(&self, table: &Table, series: SeriesId, count: usize) -> Option<Vec<String>> {
        let toc = self.toc_of_run(self.profile.series(series).run).filter(|_| count > 0)?;
        let names = words(events(toc, table)?);
        (names.len() == count).then_some(names)
    }

    /// Returns the index of a counter among the values of each series, or `None` if the series does not have it.
    pub(crate) fn places_of_counter(&self, counter: &Counter) -> Vec<Option<u32>> {
        match counter {
            Counter::Number(number) => {
                let place = number.checked_sub(1);
                let is_there = |count| place.filter(|&place| (place as usize) < count);
                self.profile.counter_counts().into_iter().map(is_there).collect()
            }
            Counter::Name(wanted) => {
                let place = |names: Vec<String>| names.iter().position(|name| name == wanted);
                self.counter_names()
                    .into_iter()
                    .map(|names| place(names).and_then(|at| u32::try_from(at).ok()))
                    .collect()
            }
        }
    }
}

/// Returns the counters of a table from the run's table of contents.
fn events<'t>(run: &'t TocRun, table: &Table) -> Option<&'t str> {
    let of_schema = || run.tables.iter().filter(|row| Some(&row.schema) == table.schema.as_ref());
    // Unlike an export, a recording contains no positions.
    let row = match of_schema().find(|row| row.position.is_some() && row.position == table.position) {
        Some(row) => row,
        None if of_schema().all(|row| row.position.is_none() || table.position.is_none()) => {
            of_schema().next().filter(|_| of_schema().count() == 1)?
        }
        None => return None,
    };
    row.attribute("pmc-events")
}

/// Splits a list into words, with or without quotes.
fn words(list: &str) -> Vec<String> {
    if list.contains('"') {
        return list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    }
    list.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_in_quotes() {
        assert_eq!(words(r#""INST_ALL" "Two words""#), ["INST_ALL", "Two words"]);
        assert_eq!(words("INST_ALL  CORE_ACTIVE_CYCLE"), ["INST_ALL", "CORE_ACTIVE_CYCLE"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn digits_are_a_number() {
        assert_eq!("2".parse(), Ok(Counter::Number(2)));
        assert_eq!("INST_ALL".parse(), Ok(Counter::Name("INST_ALL".to_owned())));
    }
}
