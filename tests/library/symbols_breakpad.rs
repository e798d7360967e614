//! Breakpad files: what is written from other symbol files answers the same at every address, and hostile files cost no more than their size.

use std::fs;

use support::Rng;
use support::apple_symbols_model::random_image;
use support::apple_symbols_writer::{Form, write_container};
use support::breakpad::{OneFile, answers, round_trip, written};
use support::dsym;
use traceparse::files::FileSystem;
use traceparse::memory::MemoryBudget;
use traceparse::symbols::{Found, Index, Locator, SymbolFinder};

use crate::symbolicate::{built, locator};

#[test]
fn a_written_file_answers_the_same_as_its_sources() {
    let (mut compared, mut with_inlinees) = (0, 0);
    // Each file alone, then all files of an image together.
    for path in dsym::files(&built()).into_iter().chain([built()]) {
        let locator = locator(&path);
        for Found { uuid, name, .. } in locator.found() {
            let (text, count) =
                round_trip(&locator, *uuid).unwrap_or_else(|error| panic!("{}: {name}: {error}", path.display()));
            let text = String::from_utf8(text).unwrap();
            assert!(text.starts_with(&format!("MODULE mac {} {}", locator.find(*uuid)[0].arch, uuid.breakpad_id())));
            compared += count;
            with_inlinees += usize::from(text.contains("\nINLINE 1 "));
        }
    }
    assert!(compared > 15_000 && with_inlinees > 10, "{compared} {with_inlinees}");
}

#[test]
fn a_file_that_is_written_again_stays_the_same() {
    for path in dsym::files(&built()) {
        let locator = locator(&path);
        for found in locator.found() {
            let first = OneFile(written(&locator, found.uuid).unwrap());
            let second = written(&first.locator(), found.uuid).unwrap();
            assert_eq!(String::from_utf8(second).unwrap(), String::from_utf8(first.0).unwrap(), "{}", path.display());
        }
    }
}

#[test]
fn symbols_of_apples_formats_come_back() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let form = Form::ALL[seed as usize % Form::ALL.len()];
        let file = OneFile(write_container(&[random_image(&mut rng, 4)], form, 7));
        let locator = file.locator();
        for found in locator.found() {
            round_trip(&locator, found.uuid).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
}

/// A file of a dSYM with inlined functions.
fn inlining() -> Vec<u8> {
    let locator = locator(&built().join("inlining"));
    written(&locator, locator.found()[0].uuid).unwrap()
}

#[test]
fn mutants_are_read_within_their_budget() {
    let text = inlining();
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let addresses: Vec<u64> = (0..0x1000).step_by(4).collect();
    let mut rng = Rng::new(1);
    let mut found = 0;
    for mutant in 0..2_000 {
        let mut lines: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        let mut below = |limit: usize| rng.below(limit as u64) as usize;
        for _ in 0..1 + below(4) {
            let [at, other] = [1 + below(lines.len() - 1), 1 + below(lines.len() - 1)];
            match below(5) {
                0 => lines.swap(at, other),
                1 => drop(lines.remove(at)),
                2 => lines.insert(at, lines[other].clone()),
                3 => lines[at].truncate(other % 20),
                _ => {
                    let place = below(lines[at].len().max(1));
                    let byte = *b" \n\r0f9-mF\xff\0".get(below(11)).unwrap();
                    lines[at].get_mut(place).into_iter().for_each(|old| *old = byte);
                }
            }
        }
        let file = OneFile(lines.concat());
        let locator = file.locator();
        let budget = MemoryBudget::new(2 << 20);
        for image in locator.found() {
            let asked = locator.look_up(image.uuid, &addresses, &budget, &mut |_, frames| found += frames.len());
            assert!(asked.iter().all(|asked| asked.result.is_ok()), "{mutant}: {asked:?}");
            assert_eq!(budget.used(), 0);
            written(&locator, image.uuid).unwrap_or_else(|error| panic!("{mutant}: {error}"));
        }
    }
    assert!(found > 100_000, "{found}");
}

#[test]
fn memory_and_time_grow_with_the_file_only() {
    let head = "MODULE mac arm64 4C4C443B55553144A14B1553F2DDDC050 Demo\nFILE 0 a.c\nINLINE_ORIGIN 0 i\n";
    // Functions around all others, a function with all lines, and inlined calls around all others.
    let nested = (0..50_000).map(|at| format!("FUNC {at:x} {:x} 0 f{at}\n", 200_000 - 2 * at)).collect::<String>();
    let lines = (0..200_000).map(|at| format!("{at:x} {:x} {at} 0\n", 400_000 - at)).collect::<String>();
    let inlined = (0..100_000).map(|at| format!("INLINE {} 1 0 0 0 {:x}\n", at % 300, 400_000 - at));
    let same = "PUBLIC m 500000 0 alias\n".repeat(100_000);
    let inlined = inlined.collect::<String>();
    for body in [nested, format!("FUNC 0 61a80 0 f\n{lines}"), format!("FUNC 0 61a80 0 f\n{inlined}"), same] {
        let file = OneFile(format!("{head}{body}").into_bytes());
        let locator = file.locator();
        let addresses: Vec<u64> = (0..5_000).map(|index| index * 80).chain([0x500001]).collect();
        let budget = MemoryBudget::new(8 * file.0.len() as u64);
        let started = std::time::Instant::now();
        let asked = locator.look_up(locator.found()[0].uuid, &addresses, &budget, &mut |_, _| {});
        assert!(asked[0].result.is_ok(), "{:?}", asked[0].result);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        let tight = MemoryBudget::new(file.0.len() as u64 / 8);
        let asked = locator.look_up(locator.found()[0].uuid, &addresses, &tight, &mut |_, _| {});
        assert!(asked[0].result.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::OutOfMemory));
        assert_eq!((budget.used(), tight.used()), (0, 0));
    }
}

/// The folders of symbol servers next to a dSYM: the dSYM has columns, so it comes first.
#[test]
fn files_are_found_by_content_in_any_folder_and_after_the_dsym() {
    let folder = tempfile::tempdir().unwrap();
    let dsym = locator(&built().join("inlining"));
    let uuid = dsym.found()[0].uuid;
    let store = folder.path().join("Inlining").join(uuid.breakpad_id());
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("Inlining.sym"), inlining()).unwrap();
    let mut index = Index::default();
    let mut alone = Locator::new(&FileSystem);
    assert_eq!(alone.add(folder.path(), &mut index).unwrap(), 1);
    let addresses: Vec<u64> = (0..0x1000).collect();
    assert_eq!(answers(&alone, uuid, &addresses).unwrap(), answers(&dsym, uuid, &addresses).unwrap());
    let mut both = Locator::new(&FileSystem);
    both.add(folder.path(), &mut Index::from_bytes(index.to_bytes())).unwrap();
    both.add(&built().join("inlining"), &mut Index::default()).unwrap();
    let kinds: Vec<&str> = both.find(uuid).iter().map(|found| found.kind.name()).collect();
    assert_eq!(kinds, ["dSYM", "Breakpad"]);
}
