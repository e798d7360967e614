//! The size of the library's interface: the items that another crate can name, with all features on. A small interface is easier
//! to learn and to maintain.
//!
//! `TRACEPARSE_PUBLIC_ITEMS=1 cargo test --test public_items -- --nocapture` prints them. Methods and fields are not counted.

use super::rust_sources::{Source, sources};
use reachable::Interface;

mod definitions;
mod reachable;

/// The number of public items, which may only fall. If you need a new one, make another private first: an item is public if the command, the engine of
/// the page, an example or another program uses it. Items that only a neighbouring module or a test needs are private.
const CEILING: usize = 416;

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
