//! Generates TypeScript for the page: the types of questions and answers (`web/src/host/generated.ts`), and the units for numbers
//! (`web/src/units.ts`).

use std::collections::BTreeMap;
use std::fs;

use traceparse::units::Unit;
use ts_rs::{Config, TS, TypeVisitor};

use crate::open::{FunctionColumns, IntervalColumns};
use crate::pair::MatchedColumns;
use crate::protocol::{Answer, Ask, Place};

const HEAD: &str = "\
// The questions of the page and the answers of the engine, written from the types in `web/engine/src/`. After changing them:
//
//   TRACEPARSE_BLESS=1 cargo test -p traceparse-engine

import type { FlameModel } from '../canvas/types.ts';
import type { Column, Exact, Metric } from './protocol.ts';
import type { Category } from './tables.ts';
";

/// Declares the types and all types in them, sorted by name.
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
        // Arrays are read-only, since the page does not modify answers. An enum of structs gets a line for each variant.
        let declaration =
            T::decl(&self.config).replace("Array<", "ReadonlyArray<").replace(" | { \"kind\"", "\n  | { \"kind\"");
        let text = format!("\n{}export {declaration}\n", T::docs().unwrap_or_default());
        self.by_name.insert(T::ident(&self.config), text);
        T::visit_dependencies(self);
    }
}

const UNITS_HEAD: &str = "\
// The units of displayed numbers, smallest first, each with its size in the smallest unit. Written from the table in
// `src/units/scale.rs`. After changing it:
//
//   TRACEPARSE_BLESS=1 cargo test -p traceparse-engine

export const SCALES = {
";

/// Declares the units of weights.
fn units() -> String {
    let scales = |unit: Unit| unit.scales().map(|(factor, name)| format!("[{factor}, '{name}']")).collect::<Vec<_>>();
    let line = |unit: Unit| format!("  {}: [{}],\n", unit.name(), scales(unit).join(", "));
    UNITS_HEAD.to_owned()
        + &Unit::ALL.map(line).concat()
        + "} as const satisfies Record<string, readonly (readonly [number, string])[]>;\n"
}

#[test]
fn the_page_has_the_same_types_and_units() {
    for (name, text) in [("host/generated.ts", typescript()), ("units.ts", units())] {
        let path = format!("{}/../src/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("TRACEPARSE_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let is_equal = fs::read_to_string(&path).is_ok_and(|written| written == text);
        assert!(is_equal, "{path} is out of date; run: TRACEPARSE_BLESS=1 cargo test -p traceparse-engine");
    }
}
