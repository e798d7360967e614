//! The size of the library's interface: the items that another crate can name, with all features on. Fewer of them are easier to
//! learn, and to keep.
//!
//! `TRACEPARSE_PUBLIC_ITEMS=1 cargo test --test public_items -- --nocapture` prints them. Methods and fields are not counted.

use super::rust_sources::{Source, sources};
use reachable::Interface;

mod definitions;
mod reachable;

/// Two thirds of the 396 items that there were in commit e054fa0, the 8 that the overview brought, the order of tables (`SortBy`), 4 for
/// what reports on fleets begin with (findings and trends as data), and the selection that the runs of a fleet were measured with, which
/// reports and datasets say; the share of its inputs that a fleet is of (`Completeness`), which every form of a report says; the run of a data
/// file that shares its names (`DatasetRun`), the file that values are spilled to (`SpillFile`), and the runs of files that an engine rewrote
/// (`RewrittenRuns`), which are in no order; what a page of a recording shows (`WorkbenchOptions`), and what it leaves out to be smaller
/// (`WorkbenchReduction`); 5 for redaction: its module, what replaces names, its rules, and what it says of itself; and the performance counter
/// that somebody asks for (`Counter`); the page of a run beside the report of a fleet (`RunPage`), and the part of it that a number links to
/// (`RunPlace`); and what extracts, merges and reports on fleets (`FleetHost`, `FleetInputs`, `Extract`, `Datasets`, `Store`, `Collector`, `RunPages`
/// and their options), which was in the command before; what a page holds, read back (`Payload`); and 20 for programs that ask a recording many
/// times, as the page does: merged stacks, what reports share (`ReportCache`), rows of tables, boxes of flame graphs, and operations at one place (`AtPlace`); and three
/// for the answer: subtrees, and what a function spends its time on. Then 31 for tables: their heads, columns, cells and visitors (8), fields and
/// queries as the command has them (13), the table that becomes samples (2), hangs and intervals by name (5), and three of their reports.
/// And nine for sums of intervals: their module, rules and instances, Swift tasks, what hangs waited for, and the sentence about unknown tables.
/// And two for hangs: the word for what a thread did, and a stack. And four for reports from the field: metrics of a day with their durations, values that are known by bins, and the report on them.
const CEILING: usize = 466;

#[test]
fn the_interface_is_small() {
    let interface = Interface::read(&sources("src"));
    if std::env::var_os("TRACEPARSE_PUBLIC_ITEMS").is_some() {
        println!("{interface}");
    }
    let count = interface.items.len();
    assert!(
        count <= CEILING,
        "{count} public items, and {CEILING} are enough; make one private, or merge two:\n{interface}"
    );
}

/// The items of a crate of one or two files, as paths from its root.
fn items(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<_> =
        files.iter().map(|(path, text)| Source { path: (*path).into(), text: (*text).into() }).collect();
    Interface::read(&sources).items.into_keys().collect()
}

#[test]
fn an_item_with_two_paths_counts_once() {
    let root =
        "mod inner; pub mod outer { pub use crate::inner::Both; } pub use inner::{Both, Other as Renamed, count};";
    let inner = "pub struct Both; pub(crate) struct Hidden; pub struct Other; pub struct Unused; pub fn count() {}";
    let files = [("src/lib.rs", root), ("src/inner.rs", inner)];
    assert_eq!(items(&files), ["Both", "Renamed", "count", "outer"]);
}

#[test]
fn items_of_tests_and_of_missing_features_are_not_counted() {
    let root = "#[cfg(test)] pub mod tests {} #[cfg(doctest)] pub struct Readme; #[cfg(not(feature = \"a\"))] pub fn without() {}
        #[cfg(feature = \"a\")] pub fn with() {} #[doc(hidden)] pub fn hidden() {} pub type Alias = u8; pub const A: u8 = 1;
        pub static B: u8 = 1; pub trait T {} pub enum E {} pub union U { a: u8 } fn private() {}";
    assert_eq!(items(&[("src/lib.rs", root)]), ["A", "Alias", "B", "E", "T", "U", "hidden", "with"]);
}

#[test]
fn items_of_macros_and_globs_are_counted() {
    let root = "mod ids; pub mod all { pub use crate::ids::*; } #[macro_export] macro_rules! told { () => {} }
        macro_rules! untold { () => {} } pub use ids::MadeByMacro;";
    let files = [("src/lib.rs", root), ("src/ids.rs", "id! { MadeByMacro } pub struct Id; struct Hidden;")];
    assert_eq!(items(&files), ["MadeByMacro", "all", "all::Id", "told"]);
}
