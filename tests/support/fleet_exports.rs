//! Invented fleets as exports, like the files of a lab.
//!
//! Versions 1.0 to 1.3 of one app do the same work in every recording. In version 1.3, one run in twenty-five spends seconds in [`SLOW`]: a
//! regression in the tail of one function, which the mean does not show.

use super::builder::Builder;
use super::random::Rng;
use super::recording::{Invented, Row};
use super::shape::{Shape, Table};
use super::toc::{TocOptions, render_toc};
use super::writer::{RenderOptions, render};

/// The function with the regression.
pub const SLOW: &str = "Cache::evict(unsigned long)";
const VERSIONS: u32 = 4;
const SHAPES: [Shape; 4] = [Shape::Xcode14_3, Shape::Xcode26_2, Shape::Xcode26_4, Shape::Xcode27];
const THREADS: [&str; 3] = ["Main Thread", "com.orchard.render", "com.orchard.worker"];
/// The number of functions of the app and of the system in stacks.
const APP_FUNCTIONS: u64 = 160;
const SYSTEM_FUNCTIONS: u64 = 60;
/// The number of sampled instructions of a function.
const SITES: u64 = 12;

/// A run: its exports, and its events.
pub struct FleetExport {
    pub export: String,
    pub toc: String,
    pub version: String,
    pub device: &'static str,
    pub recording: Invented,
}

/// The name of a run's files, without extension.
pub fn file_name(index: u32) -> String {
    format!("run-{index:05}")
}

/// The run with this number; about 275 bytes per row.
pub fn fleet_export(seed: u64, index: u32, rows: u32) -> FleetExport {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ u64::from(index) << 20);
    let version = index % VERSIONS;
    let is_slow = version == VERSIONS - 1 && rng.one_in(25);
    let recording = recording(&mut rng, rows, is_slow);
    let shape = SHAPES[(index as usize / 7) % SHAPES.len()];
    let export = render(&recording, &RenderOptions::new(shape, Table::TimeProfile, &recording));
    let toc = render_toc(&recording, &TocOptions::new(shape, vec![Table::TimeProfile]));
    let device = ["iPhone 15", "iPhone SE", "iPad Air"][(index / VERSIONS % 3) as usize];
    FleetExport { export, toc, version: format!("1.{version}"), device, recording }
}

/// The manifest of runs `0..count`: columns `path`, `app_version`, `device`, `lab`.
pub fn manifest(seed: u64, count: u32) -> String {
    let mut text = "path,app_version,device,lab\n".to_owned();
    for index in 0..count {
        let device = ["iPhone 15", "iPhone SE", "iPad Air"][(index / VERSIONS % 3) as usize];
        let lab = if Rng::new(seed ^ u64::from(index)).one_in(2) { "north" } else { "south, upstairs" };
        text += &format!("{}.xml,1.{},{device},\"{lab}\"\n", file_name(index), index % VERSIONS);
    }
    text
}

fn recording(rng: &mut Rng, rows: u32, is_slow: bool) -> Invented {
    let mut builder = Builder::default();
    let process = builder.process("Orchard", 4_711, "/private/var/containers/Bundle/Application/Orchard.app/Orchard");
    for (index, name) in THREADS.into_iter().enumerate() {
        builder.thread(process, 0x51_000 + index as u64, &[name]);
    }
    declare(&mut builder);
    // The paths of this run. Most of them occur a few times, since real stacks repeat.
    let paths: Vec<(usize, String)> = (0..rows / 6 + 1).map(|_| path(rng)).collect();
    let slow = "start main run cache slow:3";
    let load = 2 + rng.below(6);
    let mut time = 30_000_000;
    for row in 0..rows {
        time += 1_000_000 * (1 + rng.below(load));
        if is_slow && row % 3 == 0 {
            builder.row(time, 1, slow);
        } else if rng.one_in(200) {
            builder.row(time, 0, "");
        } else {
            let (thread, keys) = &paths[rng.index(paths.len()).min(rng.index(paths.len()))];
            builder.row(time, *thread, keys);
        }
    }
    let mut recording = builder.recording;
    recording
        .rows
        .iter_mut()
        .filter(|row: &&mut Row| row.time_ns.is_multiple_of(7))
        .for_each(|row| row.weight = 2_000_000);
    recording
}

fn declare(builder: &mut Builder) {
    let app = builder.image(
        "/private/var/containers/Bundle/Application/Orchard.app/Orchard",
        "arm64",
        "7A1B0C2D-3E4F-4A5B-8C6D-7E8F90A1B2C3",
        0x1_0240_0000,
    );
    let system = builder.image(
        "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore",
        "arm64e",
        "0F1E2D3C-4B5A-3968-8776-655443322110",
        0x1_8a00_0000,
    );
    builder.function("start", system, Some("start"), None);
    builder.function("main", app, Some("main"), None);
    builder.function("run", app, Some("Orchard::run()"), None);
    builder.function("cache", app, Some("Cache::trim()"), None);
    builder.function("slow", app, Some(SLOW), None);
    builder.function("nameless", app, None, None);
    for index in 0..APP_FUNCTIONS {
        builder.function(&format!("a{index}"), app, Some(&format!("Tree{}::step{index}(int)", index % 9)), None);
    }
    for index in 0..SYSTEM_FUNCTIONS {
        builder.function(&format!("s{index}"), system, Some(&format!("-[UIView job{index}:<&>]")), None);
    }
}

/// A thread and a stack of 5 to 24 frames. Some functions are leaves more often than others.
fn path(rng: &mut Rng) -> (usize, String) {
    let mut keys = "start main run".to_owned();
    for _ in 0..1 + rng.below(20) {
        let function = rng.below(APP_FUNCTIONS).min(rng.below(APP_FUNCTIONS));
        keys += &format!(" a{function}:{}", rng.below(SITES));
    }
    match rng.below(40) {
        0 => keys += " slow",
        1..4 => keys += " nameless:2",
        4..16 => {
            keys += &format!(" s{}:{}", rng.below(SYSTEM_FUNCTIONS).min(rng.below(SYSTEM_FUNCTIONS)), rng.below(SITES))
        }
        _ => keys += &format!(" a{}", rng.below(12)),
    }
    (rng.index(THREADS.len()), keys)
}
