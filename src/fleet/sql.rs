//! The report as SQL over a dataset: the same numbers, bit for bit, by an engine that reads Parquet.
//!
//! The statement only uses sums, counts and orders of integers, and one division at the end, so engines cannot differ:
//! measures are integers in millionths, the nearest rank is a row number, and runs without a row are counted, not
//! joined. Intervals, noise and alerts need distributions that SQL does not have; only the report has them.

use std::fmt::Write;

use super::measures::Measure;
use super::options::FleetOptions;
use super::scope::FleetScope;
use crate::stats::{Quantile, QuantileMethod};
use crate::units::Unit;

/// The engine that SQL is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum SqlEngine {
    /// DuckDB 1.0 or later.
    #[default]
    #[cfg_attr(feature = "cli", value(name = "duckdb"))]
    DuckDb,
    /// Apache Spark 3.4 or later, or another engine with its SQL.
    Spark,
}

impl SqlEngine {
    /// An integer type of at least 126 bits.
    const fn huge(self) -> &'static str {
        match self {
            Self::DuckDb => "HUGEINT",
            Self::Spark => "DECIMAL(38, 0)",
        }
    }

    /// The whole part of a quotient of two integers that are not negative, as a 64-bit integer.
    fn quotient(self, numerator: &str, denominator: &str) -> String {
        match self {
            Self::DuckDb => format!("CAST(({numerator}) // ({denominator}) AS BIGINT)"),
            Self::Spark => format!("(({numerator}) DIV ({denominator}))"),
        }
    }

    /// A name that is not a keyword.
    fn quoted(self, name: &str) -> String {
        match self {
            Self::DuckDb => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::Spark => format!("`{}`", name.replace('`', "``")),
        }
    }

    /// Quotes a string.
    fn text(self, text: &str) -> String {
        match self {
            Self::DuckDb => format!("'{}'", text.replace('\'', "''")),
            Self::Spark => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }

    /// A table of a dataset: all files of its folder, or its listed data files.
    fn table(self, datasets: &[(String, Vec<String>)], table: &str) -> String {
        if let Some(dataset) = only_folder(datasets) {
            let folder = dataset.trim_end_matches('/');
            return match self {
                Self::DuckDb => format!("read_parquet({})", self.text(&format!("{folder}/{table}/*.parquet"))),
                Self::Spark => format!("parquet.{}", self.quoted(&spark_pattern(&format!("{folder}/{table}")))),
            };
        }
        let paths = datasets.iter().flat_map(|(dataset, ids)| {
            let folder = dataset.trim_end_matches('/');
            ids.iter().map(move |id| format!("{folder}/{table}/{id}.parquet"))
        });
        match self {
            Self::DuckDb => {
                let paths: Vec<String> = paths.map(|path| self.text(&path)).collect();
                format!("read_parquet([{}])", paths.join(", "))
            }
            // A list of files would be planned as a union of as many tables; see `Query::selected`.
            Self::Spark => selected(table),
        }
    }
}

impl SqlEngine {
    /// The statement for the rows of the report on these datasets: the rows of its CSV form, with the same names, up to
    /// `weighted_mean`, in the order of cohorts, scopes and names. Rows that [`FleetOptions::top`] would leave out are
    /// included; you can add a `LIMIT`.
    ///
    /// A dataset is a folder and the ids of the data files to read there. If there is only one, without ids, the
    /// statement reads all files in the folder. It fails in the engine if a run is duplicated, for example if two
    /// datasets were copied into one folder.
    pub fn query(self, options: &FleetOptions, datasets: &[(String, Vec<String>)]) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = Query { options, datasets, engine: self }.write(&mut text);
        text
    }
}

/// The folder of which all files are read.
fn only_folder(datasets: &[(String, Vec<String>)]) -> Option<&str> {
    match datasets {
        [(folder, ids)] if ids.is_empty() => Some(folder),
        _ => None,
    }
}

struct Query<'q> {
    options: &'q FleetOptions,
    /// The folder of each dataset, and the ids of its data files.
    datasets: &'q [(String, Vec<String>)],
    engine: SqlEngine,
}

/// Names of a scope, in the order of the columns.
const NAMES: [&str; 4] = ["process", "thread", "binary", "function"];

impl Query<'_> {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "-- How {} is distributed across runs: {}.", self.subject(), self.method())?;
        writeln!(
            out,
            "-- Percent of one core if the unit is ns, milliseconds or megabytes of each report from the field,"
        )?;
        writeln!(
            out,
            "-- otherwise units per second. A scope that a run does not have is zero there: runs counts all runs"
        )?;
        writeln!(out, "-- of the cohort.")?;
        let (measured, used) = (self.measured(), self.used());
        writeln!(out, "WITH {}measured AS (\n{measured}\n),", self.selected(&[&measured, &used]))?;
        writeln!(out, "used AS (\n{used}\n),")?;
        writeln!(out, "valued AS (\n{}\n),", self.valued())?;
        writeln!(out, "ranked AS (\n{}\n)", self.ranked())?;
        writeln!(out, "{};", self.answer())
    }

    /// The queries for the tables in these statements, if an engine has no lists of files: the rows of the listed files
    /// in a folder.
    ///
    /// Spark plans a list as a union of as many tables (50 s for 300 files), and a name that is not there it leaves out. So the files are
    /// counted, too.
    fn selected(&self, users: &[&String]) -> String {
        if self.engine != SqlEngine::Spark || only_folder(self.datasets).is_some() {
            return String::new();
        }
        let missing = self.engine.text("a file of the dataset is missing: write the statement again");
        let rows = |table: &str, dataset: &str, ids: &[String]| {
            let path = self.engine.quoted(&spark_pattern(&format!("{}/{table}", dataset.trim_end_matches('/'))));
            let names: Vec<String> = ids.iter().map(|id| self.engine.text(&format!("{id}.parquet"))).collect();
            let names = names.join(", ");
            format!(
                "  SELECT * FROM parquet.{path}\n  WHERE _metadata.file_name IN ({names})\n    AND (\
                 SELECT CASE WHEN COUNT(*) = {} THEN TRUE ELSE raise_error({missing}) END\n      \
                 FROM binaryFile.{path} WHERE _metadata.file_name IN ({names}))",
                ids.len()
            )
        };
        let query = |table: &str| {
            let datasets = self.datasets.iter().filter(|(_, ids)| !ids.is_empty());
            let rows: Vec<String> = datasets.map(|(dataset, ids)| rows(table, dataset, ids)).collect();
            format!("{} AS (\n{}\n),\n", selected(table), rows.join("\n  UNION ALL\n"))
        };
        let tables = ["runs", "labels", "frames", "modules"].into_iter();
        tables.filter(|table| users.iter().any(|text| text.contains(&selected(table)))).map(query).collect()
    }

    fn table(&self, table: &str) -> String {
        self.engine.table(self.datasets, table)
    }

    fn subject(&self) -> &'static str {
        match self.options.measure {
            Measure::Cpu => "CPU use",
            Measure::SelfWeight => "self weight",
            Measure::AllWeight => "all weight",
        }
    }

    fn method(&self) -> &'static str {
        match (self.options.is_weighted, self.options.method) {
            (true, _) => "nearest rank, weighted by run_weight",
            (false, QuantileMethod::NearestRank) => "nearest rank",
            (false, QuantileMethod::Linear) => "linear interpolation",
        }
    }

    /// The columns that define a cohort, by their internal names.
    fn keys(&self) -> Vec<String> {
        let labels = (0..self.options.by.len()).map(|index| format!("k{index}"));
        labels.chain(std::iter::once("unit".to_owned())).collect()
    }

    /// The query for the runs with the facts about their cohorts: the number of runs, and the recorded time.
    fn measured(&self) -> String {
        let (huge, keys) = (self.engine.huge(), self.keys().join(", "));
        let mut columns = String::new();
        let mut joins = String::new();
        for (index, key) in self.options.by.iter().enumerate() {
            let _ = write!(columns, "l{index}.value AS k{index}, ");
            let labels = self.table("labels");
            let key = self.engine.text(key);
            let _ = write!(
                joins,
                "\n    LEFT JOIN {labels} l{index} ON l{index}.run_id = r.run_id AND l{index}.key = {key}"
            );
        }
        let runs = self.table("runs");
        format!(
            "  SELECT *,\n    COUNT(*) OVER (PARTITION BY {keys}) AS runs,\n    \
             SUM(run_weight) OVER (PARTITION BY {keys}) AS all_run_weight,\n    \
             SUM(run_weight * CAST(wall AS {huge})) OVER (PARTITION BY {keys}) AS all_wall\n  FROM (\n    \
             SELECT r.run_id, {columns}r.unit, r.wall_ns AS wall, r.weight,\n      \
             CAST(r.run_weight_millionths AS {huge}) AS run_weight,\n      \
             CASE WHEN r.unit = 'ns' THEN {} WHEN r.wall_source = 'report' AND r.unit <> '{}' THEN {} ELSE {} END AS per_nano\n    \
             FROM {runs} r{joins}\n    WHERE r.status = 'ok' AND r.wall_ns > 0{}{}{}\n  ) known",
            Unit::Nanoseconds.rate_per_nano(),
            Unit::Exits,
            Unit::HangTime.rate_per_nano(),
            Unit::Cycles.rate_per_nano(),
            self.label_filter(),
            self.thread_filter(),
            self.once()
        )
    }

    /// A condition that fails if a run is in the dataset twice, as in the files of two datasets that were copied into one folder.
    fn once(&self) -> String {
        let fails = match self.engine {
            SqlEngine::DuckDb => "error",
            SqlEngine::Spark => "raise_error",
        };
        let runs = self.table("runs");
        let twice = self.engine.text("the dataset has a run twice: two datasets in one folder?");
        format!(
            "\n      AND CASE WHEN (SELECT COUNT(*) - COUNT(DISTINCT run_id) FROM {runs} WHERE status = 'ok') = 0 \
             THEN TRUE ELSE {fails}({twice}) END"
        )
    }

    /// The condition that runs have the requested labels.
    fn label_filter(&self) -> String {
        let mut keys: Vec<&String> = self.options.only.iter().map(|(key, _)| key).collect();
        keys.sort();
        keys.dedup();
        let filter = |key: &String| {
            let of_key = self.options.only.iter().filter(|(other, _)| other == key);
            let values: Vec<String> = of_key.map(|(_, value)| self.engine.text(value)).collect();
            format!(
                "\n      AND r.run_id IN (SELECT run_id FROM {} WHERE key = {} AND value IN ({}))",
                self.table("labels"),
                self.engine.text(key),
                values.join(", ")
            )
        };
        keys.into_iter().map(filter).collect()
    }

    /// The query for the use of each scope in each run that has it.
    fn used(&self) -> String {
        let scopes = FleetScope::ALL.into_iter().filter(|scope| self.options.scopes.contains(scope));
        scopes.map(|scope| self.used_by(scope)).collect::<Vec<_>>().join("\n  UNION ALL\n")
    }

    fn used_by(&self, scope: FleetScope) -> String {
        let (names, table): (&[&str], _) = match scope {
            FleetScope::Run => return self.used_by_runs(),
            FleetScope::Process => (&["process"], "frames"),
            FleetScope::Thread => (&["process", "thread"], "frames"),
            FleetScope::Binary => (&["binary"], "modules"),
            FleetScope::Function => (&["binary", "function"], "frames"),
        };
        let is_all =
            self.options.measure == Measure::AllWeight && matches!(scope, FleetScope::Binary | FleetScope::Function);
        let weight = if is_all { "all_weight" } else { "self_weight" };
        let columns: Vec<String> = NAMES
            .iter()
            .map(|name| {
                let column = self.engine.quoted(name);
                if names.contains(name) {
                    format!("{} AS {column}", column_of(name))
                } else {
                    format!("CAST(NULL AS {}) AS {column}", self.string())
                }
            })
            .collect();
        let grouped: Vec<&str> = names.iter().map(|name| column_of(name)).collect();
        format!(
            "  SELECT '{}' AS scope, {}, run_id, SUM({weight}) AS used\n  FROM {}{}\n  GROUP BY run_id, {}\n  HAVING SUM({weight}) > 0",
            scope.name(),
            columns.join(", "),
            self.table(table),
            self.name_filter(" WHERE "),
            grouped.join(", ")
        )
    }

    fn used_by_runs(&self) -> String {
        let none: Vec<String> = NAMES
            .iter()
            .map(|name| format!("CAST(NULL AS {}) AS {}", self.string(), self.engine.quoted(name)))
            .collect();
        let none = none.join(", ");
        if self.options.processes.is_empty() && !self.options.narrows_threads() {
            return format!("  SELECT 'run' AS scope, {none}, run_id, weight AS used\n  FROM measured");
        }
        // A run without these processes is there, and used nothing.
        format!(
            "  SELECT 'run' AS scope, {none}, m.run_id, COALESCE(SUM(f.self_weight), 0) AS used\n  FROM measured m\n    \
             LEFT JOIN {} f ON f.run_id = m.run_id{}\n  GROUP BY m.run_id",
            self.table("frames"),
            self.name_filter(" AND ")
        )
    }

    const fn string(&self) -> &'static str {
        match self.engine {
            SqlEngine::DuckDb => "VARCHAR",
            SqlEngine::Spark => "STRING",
        }
    }

    /// The condition that processes and threads have selected names.
    fn name_filter(&self, before: &str) -> String {
        let processes = Some(&self.options.processes).filter(|names| !names.is_empty());
        let processes = processes.map(|names| self.is_one_of("process", names));
        let conditions: Vec<String> = processes.into_iter().chain(self.thread_conditions()).collect();
        if conditions.is_empty() { String::new() } else { format!("{before}{}", conditions.join(" AND ")) }
    }

    /// The conditions that threads are selected.
    fn thread_conditions(&self) -> impl Iterator<Item = String> {
        let names = self.options.threads.as_ref().map(|names| self.is_one_of("thread", names));
        names.into_iter().chain(self.options.only_main_threads.then(|| "is_main_thread = 1".to_owned()))
    }

    fn is_one_of(&self, column: &str, names: &[String]) -> String {
        if names.is_empty() {
            return "1 = 0".to_owned();
        }
        let names: Vec<String> = names.iter().map(|name| self.engine.text(name)).collect();
        format!("{} IN ({})", self.engine.quoted(column), names.join(", "))
    }

    /// The condition that runs have a selected thread; other runs are ignored.
    fn thread_filter(&self) -> String {
        let conditions: Vec<String> = self.thread_conditions().collect();
        if conditions.is_empty() {
            return String::new();
        }
        let frames = self.table("frames");
        format!("\n      AND r.run_id IN (SELECT run_id FROM {frames} WHERE {})", conditions.join(" AND "))
    }

    /// The measure of each, in millionths, rounded to the nearest.
    fn valued(&self) -> String {
        let huge = self.engine.huge();
        let value = self.engine.quotient(
            &format!("2000000 * CAST(m.per_nano AS {huge}) * CAST(u.used AS {huge}) + CAST(m.wall AS {huge})"),
            &format!("2 * CAST(m.wall AS {huge})"),
        );
        let keys: Vec<String> = self.keys().iter().map(|key| format!("m.{key}")).collect();
        let names: Vec<String> = NAMES.iter().map(|name| format!("u.{}", self.engine.quoted(name))).collect();
        format!(
            "  SELECT {}, u.scope, {}, u.run_id, u.used, m.runs, m.run_weight, m.all_run_weight, m.all_wall, m.per_nano,\n    \
             {value} AS value\n  FROM used u JOIN measured m ON m.run_id = u.run_id",
            keys.join(", "),
            names.join(", ")
        )
    }

    /// The columns that make a row of the answer.
    fn group(&self) -> String {
        let names = NAMES.iter().map(|name| self.engine.quoted(name));
        let group: Vec<String> =
            self.keys().into_iter().chain(std::iter::once("scope".to_owned())).chain(names).collect();
        group.join(", ")
    }

    /// The order of values within the runs of a cohort.
    fn ranked(&self) -> String {
        let group = self.group();
        format!(
            "  SELECT *,\n    ROW_NUMBER() OVER (PARTITION BY {group} ORDER BY value, run_id) AS position,\n    \
             COUNT(*) OVER (PARTITION BY {group}) AS present,\n    \
             SUM(run_weight) OVER (PARTITION BY {group}) AS present_weight,\n    \
             SUM(run_weight) OVER (PARTITION BY {group} ORDER BY value) AS weight_up_to\n  FROM valued"
        )
    }

    fn answer(&self) -> String {
        let (engine, huge, group) = (self.engine, self.engine.huge(), self.group());
        let mut columns: Vec<String> = Vec::new();
        for (index, key) in self.options.by.iter().enumerate() {
            columns.push(format!("k{index} AS {}", engine.quoted(key)));
        }
        columns.extend(["unit".to_owned(), "scope".to_owned()]);
        columns.push(format!("'{}' AS measure", self.options.measure.name()));
        columns.extend(NAMES.iter().map(|name| engine.quoted(name)));
        columns.push("MAX(runs) AS runs".to_owned());
        columns.push("MAX(runs) - SUM(CASE WHEN value > 0 THEN 1 ELSE 0 END) AS zero_runs".to_owned());
        let least = "CASE WHEN MAX(present) < MAX(runs) THEN 0 ELSE MIN(value) END";
        columns.push(format!("{} AS {}", number(least), engine.quoted("min")));
        for &quantile in &self.options.quantiles {
            columns.push(format!("{} AS {}", self.quantile(quantile), engine.quoted(&quantile.name())));
        }
        columns.push(format!("{} AS {}", number("MAX(value)"), engine.quoted("max")));
        let mean = engine.quotient(
            &format!("2 * SUM(CAST(value AS {huge})) + MAX(runs)"),
            &format!("2 * CAST(MAX(runs) AS {huge})"),
        );
        columns.push(format!("{} AS mean", number(&mean)));
        columns.push(format!("{} AS weighted_mean", number(&self.weighted_mean())));
        format!("SELECT\n  {}\nFROM ranked\nGROUP BY {group}\nORDER BY {group}", columns.join(",\n  "))
    }

    /// The total use over the total recorded time, with whole numbers and millionths separately: their product would
    /// not fit.
    fn weighted_mean(&self) -> String {
        let (engine, huge) = (self.engine, self.engine.huge());
        let used = format!("CAST(MAX(per_nano) AS {huge}) * SUM(run_weight * CAST(used AS {huge}))");
        let whole = engine.quotient(&used, "MAX(all_wall)");
        let rest = format!("2000000 * (({used}) % MAX(all_wall)) + MAX(all_wall)");
        format!("1000000 * {whole} + {}", engine.quotient(&rest, "2 * MAX(all_wall)"))
    }

    fn quantile(&self, quantile: Quantile) -> String {
        let parts = quantile.parts_per_million();
        if self.options.is_weighted {
            return number(&weighted_rank(parts));
        }
        match self.options.method {
            QuantileMethod::NearestRank => {
                let huge = self.engine.huge();
                let rank = self.engine.quotient(&format!("CAST(runs AS {huge}) * {parts} + 999999"), "1000000");
                number(&value_at(&format!("GREATEST({rank}, 1)")))
            }
            QuantileMethod::Linear => linear(parts),
        }
    }
}

/// The name of the query for the rows of a table in listed files.
fn selected(table: &str) -> String {
    format!("{table}_of_files")
}

/// A path as a pattern that means this path only.
fn spark_pattern(path: &str) -> String {
    let mut pattern = String::new();
    for sign in path.chars() {
        if r"\*?[]{}^,".contains(sign) {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern
}

/// The name of a column in datasets, which have no column named after a keyword (`binary` is one).
fn column_of(name: &'static str) -> &'static str {
    if name == "binary" { "module" } else { name }
}

/// Millionths as a number.
fn number(millionths: &str) -> String {
    format!("CAST({millionths} AS DOUBLE) / CAST(1000000 AS DOUBLE)")
}

/// The value at a rank among all runs of the cohort, from 1; missing runs come first, and are zero.
fn value_at(rank: &str) -> String {
    format!("COALESCE(MAX(CASE WHEN position = {rank} - (runs - present) THEN value END), 0)")
}

/// The smallest value up to which the runs have this much weight.
fn weighted_rank(parts: u32) -> String {
    format!(
        "CASE WHEN MAX(all_run_weight - present_weight) * 1000000 >= MAX(all_run_weight) * {parts} \
         AND MAX(all_run_weight - present_weight) > 0 THEN 0 ELSE \
         MIN(CASE WHEN (all_run_weight - present_weight + weight_up_to) * 1000000 >= all_run_weight * {parts} \
         THEN value END) END"
    )
}

/// Interpolates between the two values around (n - 1) q, from the nearer end, as numpy does: the same operations on
/// doubles.
fn linear(parts: u32) -> String {
    let place = format!("(CAST(runs - 1 AS DOUBLE) * (CAST({parts} AS DOUBLE) / CAST(1000000 AS DOUBLE)))");
    let below = format!("CAST(FLOOR({place}) AS BIGINT)");
    let low = number(&value_at(&format!("({below} + 1)")));
    let high = number(&value_at(&format!("LEAST({below} + 2, runs)")));
    let (low, high) = (format!("({low})"), format!("({high})"));
    let part = format!("(MAX({place}) - FLOOR(MAX({place})))");
    let one = "CAST(1 AS DOUBLE)";
    format!(
        "CASE WHEN {part} >= CAST(0.5 AS DOUBLE) THEN {high} - ({high} - {low}) * ({one} - {part}) \
         ELSE {low} + ({high} - {low}) * {part} END"
    )
}
