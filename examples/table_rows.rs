//! Prints the rows of a table, such as system calls, while a recording or an export is read:
//!
//! ```sh
//! cargo run --example table_rows --features bundle -- Recording.trace fs-syscall
//! ```
use traceparse::tables::TableQuery;

fn main() -> Result<(), traceparse::Error> {
    let [path, schema] = [1, 2].map(|place| std::env::args().nth(place).unwrap_or_default());
    let query = TableQuery { schema, ..TableQuery::default() };
    let notes = query.read(path, |row| {
        let cells: Vec<String> = row.iter().map(|(field, value)| format!("{field}={value}")).collect();
        println!("{}", cells.join("\t"));
    })?;
    notes.iter().for_each(|note| eprintln!("{note}"));
    Ok(())
}
