//! The order of the modules: each has a layer and uses only lower layers. Readers are next to each other.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::places::Kind;
use super::resolve::Target;

/// The layers of a library.
pub(crate) struct Floors {
    /// Each folder or file below the root, and its layer.
    pub(crate) floors: BTreeMap<&'static str, u32>,
    /// The folder whose subfolders do not use each other; files next to them may use all of them.
    pub(crate) readers: &'static str,
    /// Readers whose tests may ask another reader, which was written apart from them.
    pub(crate) tests_of: &'static [(&'static str, &'static str)],
}

/// Every use of a layer that is not lower, every use of one reader by another, and every module without a layer.
pub(crate) fn faults(code: &Code, rules: &Floors) -> Vec<String> {
    let mut faults = BTreeSet::new();
    for used in code.uses.iter().filter(|used| !matches!(used.kind, Kind::Method)) {
        let Some((own, own_child)) = names_of(code, used.module) else { continue };
        let resolved = code.resolve(used);
        let places = resolved.targets.iter().filter_map(|target| match target {
            Target::Item(module) | Target::Module(module) => Some(*module),
            Target::Outside(_) => None,
        });
        for module in places.chain(resolved.on_the_way.iter().copied()) {
            let Some((other, other_child)) = names_of(code, module) else { continue };
            let at = format!("{}: {}", code.place(used), used.path.join("::"));
            if own == other {
                let is_allowed = used.is_test && rules.tests_of.contains(&(&own_child, &other_child));
                let are_readers = own == rules.readers && is_folder(code, used.module) && is_folder(code, module);
                if are_readers && own_child != other_child && !is_allowed {
                    faults.insert(format!(
                        "{at}: the reader {own_child} uses the reader {other_child}: put what both need on a lower floor"
                    ));
                }
                continue;
            }
            let (Some(floor), Some(below)) = (rules.floors.get(own.as_str()), rules.floors.get(other.as_str())) else {
                continue;
            };
            if below >= floor && (*floor, *below) != (0, 0) {
                faults.insert(format!(
                    "{at}: {own} (floor {floor}) uses {other} (floor {below}): hand it in, or move the item to a lower floor"
                ));
            }
        }
    }
    let modules: BTreeSet<String> =
        (0..code.modules.len()).filter_map(|module| Some(names_of(code, module)?.0)).collect();
    for module in modules.iter().filter(|module| !rules.floors.contains_key(module.as_str())) {
        faults.insert(format!(
            "{module} has no floor: give it one in tests/structure/floors.rs and docs/architecture.md"
        ));
    }
    for gone in rules.floors.keys().filter(|floor| !modules.contains(**floor)) {
        faults.insert(format!(
            "{gone} has a floor and no code: take it out of tests/structure/floors.rs and docs/architecture.md"
        ));
    }
    faults.into_iter().collect()
}

/// The top-level module that contains a module, and its child on the path to it. The root itself is in none.
fn names_of(code: &Code, module: usize) -> Option<(String, String)> {
    let root = code.modules[0].file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let inside = code.modules[module].file.strip_prefix(root)?.trim_start_matches('/');
    let mut parts = inside.split('/').map(|part| part.trim_end_matches(".rs").to_owned());
    let first = parts.next()?;
    (first != "lib" && first != "main").then(|| (first, parts.next().unwrap_or_default()))
}

/// True below a folder of a folder of the root.
fn is_folder(code: &Code, module: usize) -> bool {
    let root = code.modules[0].file.matches('/').count();
    code.modules[module].file.matches('/').count() > root + 1
}
