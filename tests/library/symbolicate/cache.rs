//! Symbols of a batch: a cache returns the same as a separate look-up, and opens a file once.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use rayon::prelude::*;
use traceparse::files::Files;
use traceparse::profile::Profile;
use traceparse::read;
use traceparse::recording::Options;
use traceparse::symbolicate::{BinarySummary, SymbolCache, SymbolicateOptions, SymbolicationSummary};
use traceparse::symbols::{Found, Locator, SymbolFinder};
use traceparse::units::Uuid;

use super::{Stack, built, locator, stacks};
use support::Rng;

/// Counts how often each image is loaded, and may fail.
struct Counting<'l> {
    locator: &'l Locator<'l>,
    loads: Mutex<BTreeMap<(PathBuf, Uuid), u64>>,
    /// The loads that fail, from the first on, and how.
    failures: Mutex<Vec<io::ErrorKind>>,
    /// True to query the file with the least information first.
    is_reversed: bool,
}

impl<'l> Counting<'l> {
    fn new(locator: &'l Locator<'l>) -> Self {
        Self { locator, loads: Mutex::default(), failures: Mutex::default(), is_reversed: false }
    }

    /// The number of loads, and the most of one image.
    fn loads(&self) -> (u64, u64) {
        let loads = self.loads.lock().unwrap();
        (loads.values().sum(), loads.values().max().copied().unwrap_or(0))
    }
}

impl SymbolFinder for Counting<'_> {
    fn find(&self, uuid: Uuid) -> Vec<Found> {
        let mut found = self.locator.find(uuid);
        if self.is_reversed {
            found.reverse();
        }
        found
    }

    fn find_by_name(&self, name: &str) -> Vec<Found> {
        self.locator.find_by_name(name)
    }

    fn image_count(&self) -> Option<u64> {
        self.locator.image_count()
    }

    fn files(&self, found: &Found) -> io::Result<&dyn Files> {
        *self.loads.lock().unwrap().entry((found.path.clone(), found.uuid)).or_default() += 1;
        match self.failures.lock().unwrap().pop() {
            Some(kind) => Err(kind.into()),
            None => self.locator.files(found),
        }
    }
}

/// An export with a row for each of these stacks: addresses of an image, from the root on.
fn export(rows: &[(&Stack, Vec<u64>)]) -> Profile {
    let columns = ["time", "weight", "stack"].map(|name| format!("<col><mnemonic>{name}</mnemonic></col>")).concat();
    let mut xml = format!("<trace-query-result><node><schema name=\"time-profile\">{columns}</schema>");
    for (stack, addresses) in rows {
        xml += "<row><sample-time>1</sample-time><weight>1</weight><tagged-backtrace>";
        for address in addresses.iter().rev().map(|address| address + 0x1_0000_0000) {
            let (uuid, arch) = (&stack.uuid, &stack.arch);
            xml += &format!(
                "<frame name=\"{address:#x}\" addr=\"{address:#x}\"><binary name=\"Demo\" UUID=\"{uuid}\" arch=\"{arch}\" \
                 load-addr=\"0x100000000\" path=\"/Demo\"/></frame>"
            );
        }
        xml += "</tagged-backtrace></row>";
    }
    xml += "</node></trace-query-result>";
    read(xml.as_bytes(), "", &Options::default()).unwrap().profile
}

fn addresses(stack: &Stack) -> Vec<u64> {
    stack.frames.iter().map(|&(address, ..)| address).collect()
}

/// The stacks of the fixtures, and one of an image that no file has.
fn all_stacks() -> Vec<Stack> {
    let mut all = stacks();
    let uuid = "11111111-2222-3333-4444-555555555555".to_owned();
    let frames = vec![(0x10, false, Vec::new()), (0x20, true, Vec::new())];
    all.push(Stack { name: "unknown".to_owned(), uuid, arch: "arm64".to_owned(), frames, lines: vec![None; 2] });
    all
}

/// Exports with some addresses from some of the stacks, and some addresses outside of functions.
fn varied(stacks: &[Stack], count: usize) -> Vec<Profile> {
    let mut rng = Rng::new(7);
    let rows = |rng: &mut Rng| -> Vec<(&Stack, Vec<u64>)> {
        let mut rows = Vec::new();
        for stack in stacks {
            let mut some = addresses(stack);
            some.retain(|_| rng.one_in(2));
            if rng.one_in(4) {
                some.push(rng.below(0x8000));
            }
            if rng.one_in(3) && !some.is_empty() {
                rows.push((stack, some));
            }
        }
        rows
    };
    (0..count).map(|_| export(&rows(&mut rng))).collect()
}

/// Everything in which two profiles may differ, except strings without references.
fn assert_same(ours: &(Profile, SymbolicationSummary), expected: &(Profile, SymbolicationSummary)) {
    let ((ours, our_summary), (expected, expected_summary)) = (ours, expected);
    assert_eq!(our_summary, expected_summary);
    assert_eq!(ours.samples(), expected.samples());
    macro_rules! assert_tables {
        ($($ids:ident, $get:ident);*) => {$(
            let rows = |profile: &Profile| profile.$ids().map(|id| profile.$get(id).to_owned()).collect::<Vec<_>>();
            assert_eq!(rows(ours), rows(expected));
        )*};
    }
    assert_tables!(stack_ids, stack; frame_ids, frame; function_ids, function; binary_ids, binary);
    let texts = |profile: &Profile| -> Vec<String> {
        let functions = profile.function_ids().map(|id| profile.function_name(id).to_owned());
        let sources = profile.frame_ids().filter_map(|id| profile.frame(id).source);
        let binaries = profile.binary_ids().map(|id| profile.string(profile.binary(id).name).to_owned());
        functions.chain(sources.map(|source| profile.string(source.path).to_owned())).chain(binaries).collect()
    };
    assert_eq!(texts(ours), texts(expected));
}

fn options(with_inlines: bool) -> SymbolicateOptions {
    SymbolicateOptions { with_inlines, ..SymbolicateOptions::default() }
}

#[test]
fn a_cache_gives_what_a_look_up_gives_in_every_order() {
    let (locator, stacks) = (locator(&built()), all_stacks());
    let profiles = varied(&stacks, 40);
    for is_worst_first in [false, true] {
        let finder = Counting { is_reversed: is_worst_first, ..Counting::new(&locator) };
        let alone = |profile: &Profile, with_inlines| profile.symbolicate(&finder, &options(with_inlines)).unwrap();
        let expected = [true, false].map(|inlines| profiles.iter().map(|p| alone(p, inlines)).collect::<Vec<_>>());
        let rows: Vec<&BinarySummary> = expected[0].iter().flat_map(|(_, summary)| &summary.binaries).collect();
        let named: u64 = rows.iter().map(|row| row.named_now).sum();
        let by_files = |wanted: usize| rows.iter().filter(|row| row.used.len() == wanted).count();
        // Asked second, a dSYM answers better than the symbol table before it.
        assert_eq!(by_files(2) > 20, is_worst_first);
        assert!(named > 500 && rows.len() - by_files(0) > 50 && by_files(0) > 5, "{named} {}", by_files(0));
        // Forgets nothing, forgets often, forgets at once.
        for limit in [SymbolCache::DEFAULT_LIMIT, 20_000, 0] {
            for is_backwards in [false, true] {
                let cache = SymbolCache::with_limit(&finder, limit);
                for round in 0..profiles.len() {
                    let index = if is_backwards { profiles.len() - 1 - round } else { round };
                    let inlines = round % 3 == 0;
                    let ours = cache.symbolicate(&profiles[index], &options(inlines)).unwrap();
                    assert_same(&ours, &expected[usize::from(!inlines)][index]);
                }
            }
        }
    }
}

#[test]
fn a_file_is_loaded_once_for_many_exports() {
    let (locator, stacks) = (locator(&built()), all_stacks());
    let whole: Vec<(&Stack, Vec<u64>)> = stacks.iter().map(|stack| (stack, addresses(stack))).collect();
    let finder = Counting::new(&locator);
    let cache = SymbolCache::new(&finder);
    drop(cache.symbolicate(&export(&whole), &options(true)).unwrap());
    let (all, most) = finder.loads();
    assert!(all > 5 && most == 1, "{all} loads, {most} of one file");
    for with_inlines in [true, false] {
        for row in &whole {
            drop(cache.symbolicate(&export(std::slice::from_ref(row)), &options(with_inlines)).unwrap());
        }
    }
    assert_eq!(finder.loads(), (all, 1));

    // Without memory it is as often as there are exports.
    let forgetful = Counting::new(&locator);
    let cache = SymbolCache::with_limit(&forgetful, 0);
    (0..3).for_each(|_| drop(cache.symbolicate(&export(&whole), &options(true)).unwrap()));
    assert_eq!(forgetful.loads(), (3 * all, 3));
}

#[test]
fn threads_share_a_cache() {
    let (locator, stacks) = (locator(&built()), all_stacks());
    let whole: Vec<(&Stack, Vec<u64>)> = stacks.iter().map(|stack| (stack, addresses(stack))).collect();
    let mut profiles = vec![export(&whole); 24];
    profiles.extend(varied(&stacks, 24));
    let expected: Vec<_> = profiles.iter().map(|p| p.symbolicate(&locator, &options(true)).unwrap()).collect();
    for _ in 0..10 {
        let finder = Counting::new(&locator);
        let cache = SymbolCache::new(&finder);
        // The first ones want the same files at the same time; a worker that waits takes up other exports.
        let ours: Vec<_> = profiles[..24].par_iter().map(|p| cache.symbolicate(p, &options(true)).unwrap()).collect();
        assert_eq!(finder.loads().1, 1, "a file was loaded twice");
        ours.iter().zip(&expected).for_each(|(ours, expected)| assert_same(ours, expected));
        let small = SymbolCache::with_limit(&locator, 30_000);
        let ours: Vec<_> = profiles.par_iter().map(|p| small.symbolicate(p, &options(true)).unwrap()).collect();
        ours.iter().zip(&expected).for_each(|(ours, expected)| assert_same(ours, expected));
    }
}

#[test]
fn a_file_that_could_not_be_read_is_asked_again() {
    let (locator, stacks) = (locator(&built().join("arm64-dwarf4")), stacks());
    let stack = stacks.iter().find(|stack| stack.name == "arm64-dwarf4/draw").unwrap();
    let profile = export(&[(stack, addresses(stack))]);
    let named = |result: (Profile, SymbolicationSummary)| (result.1.binaries[0].named_now, result.1.notes.len());
    let all = named(profile.symbolicate(&locator, &options(true)).unwrap());
    assert!(all.0 > 0 && all.1 == 0);
    for (kind, then) in [(io::ErrorKind::NotFound, all), (io::ErrorKind::InvalidData, (0, 1))] {
        let finder = Counting::new(&locator);
        finder.failures.lock().unwrap().push(kind);
        let cache = SymbolCache::new(&finder);
        assert_eq!(named(cache.symbolicate(&profile, &options(true)).unwrap()), (0, 1), "{kind}");
        assert_eq!(named(cache.symbolicate(&profile, &options(true)).unwrap()), then, "{kind}");
    }
}
