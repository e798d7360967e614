//! The types of questions and answers in TypeScript, with which the page is checked: `web/src/host/generated.ts`.

use std::collections::BTreeMap;
use std::fs;

use ts_rs::{Config, TS, TypeVisitor};

use crate::open::{FunctionColumns, IntervalColumns};
use crate::pair::MatchedColumns;
use crate::protocol::{Answer, Ask, Place};

const HEAD: &str = "\
// The questions of the page and the answers of the engine, written from the types in `web/engine/src/`. After changing them:
//
//   cd web/engine && TRACEPARSE_BLESS=1 cargo test

import type { FlameModel } from '../canvas/types.ts';
import type { Column, Exact, Metric } from './protocol.ts';
import type { Category } from './tables.ts';
";

/// Declares the types, and all that they consist of, in the order of their names.
fn typescript() -> String {
    // Integers are below 2^53 unless they are `Exact`.
    let mut declarations = Declarations { config: Config::new().with_large_int("number"), by_name: BTreeMap::new() };
    declarations.visit::<Place>();
    declarations.visit::<Ask>();
    declarations.visit::<Answer>();
    declarations.visit::<FunctionColumns>();
    declarations.visit::<IntervalColumns>();
    declarations.visit::<MatchedColumns>();
    let mut text = HEAD.to_owned();
    declarations.by_name.into_values().for_each(|declaration| text += &declaration);
    text
}

struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only types with a derived declaration have a path.
        if T::output_path().is_none() || self.by_name.contains_key(&T::ident(&self.config)) {
            return;
        }
        // The page changes no answer. An enum of structs has a line for each variant.
        let declaration =
            T::decl(&self.config).replace("Array<", "ReadonlyArray<").replace(" | { \"kind\"", "\n  | { \"kind\"");
        let text = format!("\n{}export {declaration}\n", T::docs().unwrap_or_default());
        self.by_name.insert(T::ident(&self.config), text);
        T::visit_dependencies(self);
    }
}

#[test]
fn the_page_has_the_same_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/host/generated.ts");
    if std::env::var_os("TRACEPARSE_BLESS").is_some() {
        fs::write(path, typescript()).unwrap();
    }
    let is_equal = fs::read_to_string(path).is_ok_and(|text| text == typescript());
    assert!(is_equal, "{path} is out of date; run: cd web/engine && TRACEPARSE_BLESS=1 cargo test");
}
