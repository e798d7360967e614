//! The structure of the crate, read from its code (`docs/architecture.md`): a module uses only lower layers, files do not depend on each
//! other in cycles, the library does not use the terminal, the environment or the process, and the command opens files in few places.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::rust_sources::sources;
use code::Code;
use order::Floors;
use world::Door;

mod circles;
mod code;
mod order;
mod places;
mod resolve;
mod teeth;
mod world;

/// Each module and its layer, as in `docs/architecture.md`. `output` is above `report`, which it writes.
const FLOORS: [(&str, u32); 31] = [
    ("calendar", 0),
    ("chunked_vec", 0),
    ("decompress", 0),
    ("demangle", 0),
    ("error", 0),
    ("files", 0),
    ("hash", 0),
    ("memory", 0),
    ("noise", 0),
    ("ordered_pool", 0),
    ("ranked_bits", 0),
    ("settings", 0),
    ("units", 0),
    ("varint", 0),
    ("profile", 1),
    ("recording", 2),
    ("stats", 2),
    ("symbols", 2),
    ("alert", 3),
    ("calltree", 3),
    ("symbolicate", 3),
    ("tables", 3),
    ("intervals", 4),
    ("readers", 4),
    ("redact", 4),
    ("fleet", 5),
    ("report", 6),
    ("output", 7),
    ("analysis", 7),
    ("open", 8),
    ("run_pages", 8),
];

/// The one file of the library that touches a file system, behind a trait.
const FILE_SYSTEM: &str = "src/files/file_system.rs";

/// Ways to open, create and rename files, and where the command may use them. All other code uses `unchanged.rs`, which tracks the written
/// files and detects changes, and `sink.rs`, which never replaces an input.
const DOORS: [Door; 14] = [
    Door {
        name: "std::fs::File::open",
        files: &["bin/objects/copies.rs", "bin/objects/remote.rs", "bin/resource_limits.rs", "bin/unchanged.rs"],
    },
    Door { name: "std::fs::File::create", files: &["bin/objects/copies.rs"] },
    Door { name: "std::fs::File::create_new", files: &[] },
    Door { name: "std::fs::File::options", files: &["bin/objects/copies.rs"] },
    // Targets that are not files, such as pipes.
    Door { name: "std::fs::OpenOptions", files: &["bin/sink.rs"] },
    Door { name: "std::fs::copy", files: &[] },
    Door { name: "std::fs::read", files: &[] },
    Door { name: "std::fs::read_to_string", files: &[] },
    Door { name: "std::fs::rename", files: &["bin/interrupt.rs"] },
    Door { name: "std::fs::write", files: &[] },
    Door { name: "std::io::stdin", files: &["bin/guard.rs", "bin/unchanged.rs"] },
    Door {
        name: "traceparse::files::FileSystem",
        files: &["bin/fleet/with_runs/folder.rs", "bin/guard.rs", "bin/sink.rs", "bin/unchanged.rs"],
    },
    Door { name: "tempfile", files: &["bin/fleet/host.rs", "bin/interrupt.rs"] },
    Door { name: ".persist", files: &["bin/interrupt.rs"] },
];

/// Files in one folder that depend on each other: the first file of each cycle.
const KNOWN_CIRCLES: [&str; 1] = [
    // A unit has scales, which format weights; a weight has a unit; and a time is parsed as a weight.
    "src/units/nanos.rs",
];

static LIBRARY: LazyLock<Code> = LazyLock::new(|| Code::read("src/lib.rs", &sources("src")));
static COMMAND: LazyLock<Code> = LazyLock::new(|| Code::read("bin/main.rs", &sources("bin")));

#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn all_code_is_read() {
    for (code, uses) in [(&LIBRARY, 20_000), (&COMMAND, 5_000)] {
        none(&code.faults);
        assert!(code.uses.len() > uses, "{} uses found", code.uses.len());
    }
}

#[test]
fn modules_use_lower_floors_only() {
    let floors = FLOORS.into_iter().collect::<BTreeMap<_, _>>();
    none(&order::faults(&LIBRARY, &Floors { floors, readers: "readers", tests_of: &[("bundle", "export")] }));
}

#[test]
fn the_library_leaves_the_world_alone() {
    none(&world::library_faults(&LIBRARY, &[FILE_SYSTEM]));
}

#[test]
fn the_command_opens_and_replaces_files_in_few_places() {
    none(&world::door_faults(&COMMAND, &DOORS));
}

#[test]
fn no_folders_of_the_library_need_each_other() {
    none(&circles::faults(&LIBRARY, &KNOWN_CIRCLES));
}

#[test]
fn no_folders_of_the_command_need_each_other() {
    none(&circles::faults(&COMMAND, &KNOWN_CIRCLES));
}

#[test]
fn the_graph_of_files_is_the_whole_crate() {
    for (code, files, edges) in [(&LIBRARY, 300, 1_200), (&COMMAND, 40, 150)] {
        let graph = circles::graph(code);
        let count: usize = graph.values().map(BTreeMap::len).sum();
        assert!(graph.len() > files && count > edges, "{} files with {count} uses of others", graph.len());
    }
}
