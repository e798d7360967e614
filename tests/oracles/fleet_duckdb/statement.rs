//! The report as SQL for DuckDB, over the tables of a dataset: the rows and numbers of its CSV, up to `weighted_mean`.
//!
//! The statement only uses sums, counts and orders of integers, and one division at the end, so the numbers must be equal bit for bit.
//! Measures are integers in millionths, the nearest rank is a row number, and runs without a row are counted, not joined.

use traceparse::fleet::{FleetOptions, FleetScope, Measure};
use traceparse::stats::{Quantile, QuantileMethod};

pub(super) fn statement(options: &FleetOptions) -> String {
    let scopes = FleetScope::ALL.into_iter().filter(|scope| options.scopes.contains(scope));
    let used: Vec<String> = scopes.map(|scope| used_by(options, scope)).collect();
    let labels: String = (0..options.by.len()).map(|index| format!("k{index}, ")).collect();
    let keys = format!("{labels}unit");
    let group = format!("{keys}, scope, process, thread, \"binary\", \"function\"");
    format!(
        "WITH measured AS (
            SELECT *, COUNT(*) OVER cohort AS runs, SUM(run_weight) OVER cohort AS all_run_weight,
                SUM(run_weight * wall) OVER cohort AS all_wall
            FROM ({}) WINDOW cohort AS (PARTITION BY {keys})
        ),
        used AS ({}),
        valued AS (
            SELECT *, ((2000000 * per_nano * used + wall) // (2 * wall))::BIGINT AS value
            FROM used JOIN measured USING (run_id)
        ),
        ranked AS (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY {group} ORDER BY value, run_id) AS position,
                COUNT(*) OVER alike AS present, SUM(run_weight) OVER alike AS present_weight,
                SUM(run_weight) OVER (PARTITION BY {group} ORDER BY value) AS weight_up_to
            FROM valued WINDOW alike AS (PARTITION BY {group})
        )
        SELECT {} FROM ranked GROUP BY {group} ORDER BY {group}",
        measured(options),
        used.join(" UNION ALL "),
        columns(options).join(",\n"),
    )
}

/// The selected runs, with their labels and recorded time.
fn measured(options: &FleetOptions) -> String {
    let label = |(index, key): (usize, &String)| {
        let key = text(key);
        format!("(SELECT value FROM labels l WHERE l.run_id = r.run_id AND key = {key}) AS k{index}, ")
    };
    let labels: String = options.by.iter().enumerate().map(label).collect();
    let alternatives = |key: &String| {
        let values = options.only.iter().filter(|(other, _)| other == key).map(|(_, value)| value);
        let (key, values) = (text(key), list(values));
        format!(" AND run_id IN (SELECT run_id FROM labels WHERE key = {key} AND value IN ({values}))")
    };
    let only: String = options.only.iter().map(|(key, _)| alternatives(key)).collect();
    let names = options.threads.as_ref();
    let threads = names.map(|names| format!(" AND run_id IN (SELECT run_id FROM frames WHERE {})", is_thread(names)));
    // 100 is the percentage of one core for a nanosecond in a nanosecond; other units are shown per second.
    format!(
        "SELECT run_id, {labels}unit, wall_ns::HUGEINT AS wall, weight, run_weight_millionths::HUGEINT AS run_weight,
            CASE WHEN unit = 'ns' THEN 100::HUGEINT ELSE 1000000000 END AS per_nano
        FROM runs r WHERE status = 'ok' AND wall_ns > 0{only}{}",
        threads.unwrap_or_default()
    )
}

/// The use of each row of a scope in each run that has it.
fn used_by(options: &FleetOptions, scope: FleetScope) -> String {
    // Datasets have no column named after a keyword, and `binary` is one.
    let (names, table) = match scope {
        FleetScope::Run => (["NULL"; 4], "frames"),
        FleetScope::Process => (["process", "NULL", "NULL", "NULL"], "frames"),
        FleetScope::Thread => (["process", "thread", "NULL", "NULL"], "frames"),
        FleetScope::Binary => (["NULL", "NULL", "module", "NULL"], "modules"),
        FleetScope::Function => (["NULL", "NULL", "module", "function"], "frames"),
    };
    let columns = ["process", "thread", "\"binary\"", "\"function\""];
    let names: Vec<String> =
        names.iter().zip(columns).map(|(name, column)| format!("{name}::VARCHAR AS {column}")).collect();
    let head = format!("SELECT '{}' AS scope, {}, run_id", scope.name(), names.join(", "));
    let processes = Some(&options.processes).filter(|names| !names.is_empty());
    let processes = processes.map(|names| format!(" AND process IN ({})", list(names)));
    let threads = options.threads.as_ref().map(|names| format!(" AND {}", is_thread(names)));
    let filter = processes.into_iter().chain(threads).collect::<String>();
    if scope == FleetScope::Run && filter.is_empty() {
        return format!("{head}, weight::HUGEINT AS used FROM measured");
    }
    if scope == FleetScope::Run {
        // A run without these processes used nothing.
        let rows = format!("SELECT run_id, process, thread, self_weight FROM {table} WHERE TRUE{filter}");
        let sums = format!("SELECT run_id, SUM(self_weight) AS used FROM ({rows}) GROUP BY run_id");
        return format!("{head}, COALESCE(used, 0) AS used FROM measured LEFT JOIN ({sums}) USING (run_id)");
    }
    let is_all = options.measure == Measure::AllWeight && matches!(scope, FleetScope::Binary | FleetScope::Function);
    let weight = if is_all { "all_weight" } else { "self_weight" };
    format!("{head}, SUM({weight}) AS used FROM {table} WHERE TRUE{filter} GROUP BY ALL HAVING SUM({weight}) > 0")
}

/// The columns of the answer.
fn columns(options: &FleetOptions) -> Vec<String> {
    let labels = options.by.iter().enumerate();
    let mut columns: Vec<String> = labels.map(|(index, key)| format!("k{index} AS {}", quoted(key))).collect();
    columns.push(format!("unit, scope, '{}' AS measure, process, thread", options.measure.name()));
    columns.push("\"binary\", \"function\", MAX(runs) AS runs".to_owned());
    columns.push("MAX(runs) - SUM(CASE WHEN value > 0 THEN 1 ELSE 0 END) AS zero_runs".to_owned());
    columns.push(format!("{} AS \"min\"", number("CASE WHEN MAX(present) < MAX(runs) THEN 0 ELSE MIN(value) END")));
    columns
        .extend(options.quantiles.iter().map(|&one| format!("{} AS {}", quantile(options, one), quoted(&one.name()))));
    columns.push(format!("{} AS \"max\"", number("MAX(value)")));
    columns.push(format!("{} AS mean", number("(2 * SUM(value) + MAX(runs)) // (2 * MAX(runs))")));
    // Whole numbers and millionths separately: their product would not fit.
    let used = "(MAX(per_nano) * SUM(run_weight * used))";
    let weighted = format!(
        "1000000 * ({used} // MAX(all_wall)) + (2000000 * ({used} % MAX(all_wall)) + MAX(all_wall)) // (2 * MAX(all_wall))"
    );
    columns.push(format!("{} AS weighted_mean", number(&weighted)));
    columns
}

fn quantile(options: &FleetOptions, quantile: Quantile) -> String {
    let parts = quantile.parts_per_million();
    match options.method {
        _ if options.is_weighted => number(&weighted_rank(parts)),
        QuantileMethod::NearestRank => number(&value_at(&format!("GREATEST((runs * {parts} + 999999) // 1000000, 1)"))),
        _ => linear(parts),
    }
}

/// The value at a rank among all runs of the cohort, from 1; missing runs come first, and are zero.
fn value_at(rank: &str) -> String {
    format!("COALESCE(MAX(CASE WHEN position = {rank} - (runs - present) THEN value END), 0)")
}

/// The smallest value up to which the runs have this much weight.
fn weighted_rank(parts: u32) -> String {
    let missing = "(all_run_weight - present_weight)";
    format!(
        "CASE WHEN MAX({missing}) * 1000000 >= MAX(all_run_weight) * {parts} AND MAX({missing}) > 0 THEN 0
        ELSE MIN(CASE WHEN ({missing} + weight_up_to) * 1000000 >= all_run_weight * {parts} THEN value END) END"
    )
}

/// Interpolates between the two values around (n - 1) q, from the nearer end, as numpy does: the same operations on doubles.
fn linear(parts: u32) -> String {
    let place = format!("((runs - 1)::DOUBLE * ({parts}::DOUBLE / 1e6))");
    let below = format!("FLOOR({place})::BIGINT");
    let low = number(&value_at(&format!("({below} + 1)")));
    let high = number(&value_at(&format!("LEAST({below} + 2, runs)")));
    let part = format!("(MAX({place}) - FLOOR(MAX({place})))");
    format!(
        "CASE WHEN {part} >= 0.5::DOUBLE THEN {high} - ({high} - {low}) * (1::DOUBLE - {part})
        ELSE {low} + ({high} - {low}) * {part} END"
    )
}

/// Millionths as a number.
fn number(millionths: &str) -> String {
    format!("(({millionths})::DOUBLE / 1e6)")
}

fn is_thread(names: &[String]) -> String {
    format!("thread IN ({})", list(names))
}

fn list<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    texts.into_iter().map(|one| text(one)).collect::<Vec<_>>().join(", ")
}

fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
