//! Writes `.trace` bundles: an invented recording in the form in which Instruments stores it.
//!
//! ```text
//! let options = BundleOptions::new(Table::CpuProfile, &recording);
//! let files = write_bundle(&recording, &options);      // path and bytes of each file
//! to_folder(&files, &folder.join("orchard.trace"));    // or to_zip, to_tar
//! recording.bundled_row(row, Table::CpuProfile)        // what a reader should make of it
//! ```
//!
//! The writer shares no code with the library. ([`found`] and [`memory`], which pass files to the library and convert its results, are not
//! part of the writer.) `tests/oracle/bundle`, a separate reader that also reads real bundles, checks that it writes the same as Instruments.

pub mod archive;
pub mod expected;
pub mod found;
pub mod images;
pub mod large;
pub mod marks;
pub mod memory;
pub mod mutations;
pub mod other_files;
pub mod pack;
pub mod samples;
pub mod schemas;
pub mod store;
pub mod symbols;
pub mod template;
pub mod uniquer;
pub mod unpacked;

pub use super::apple_symbols_writer;

pub use expected::{ExpectedFrame, ExpectedImage, ExpectedRow};
pub use found::{FoundFrame, FoundRow, found_rows};
pub use large::write_large_bundle;
pub use memory::{BUNDLE, Memory};
pub use pack::{Files, to_folder, to_tar, to_zip};
pub use unpacked::from_zip;

use super::other_tables::Hang;
use super::random::Rng;
use super::recording::Invented;
use super::shape::Table;
use super::writer::{Content, Node};
use super::{HangRisk, Part, Signpost};
use samples::RunWriter;
pub use schemas::Version;
use store::Store;
use template::START_TIME;

/// The compression of the files of `corespace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Plain,
    Zlib,
    /// A random part of the files is compressed.
    Mixed,
}

/// How stacks are divided into arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkedVec {
    One,
    /// Divided at random depths.
    Several,
    /// The same, followed by a chunk without frames.
    SeveralWithEnd,
}

/// The options for writing a bundle.
#[derive(Clone, Debug)]
pub struct BundleOptions {
    /// The tables, in the order of their numbers. File system tables are not written.
    pub nodes: Vec<Node>,
    /// When the first run started, in nanoseconds since 1970.
    pub start_time: u64,
    pub instruments_version: &'static str,
    pub end_reason: &'static str,
    pub compression: Compression,
    /// 65,536 in real bundles.
    pub rows_per_block: usize,
    /// 1 MiB in real bundles. It grows if a stack needs more.
    pub array_block_size: usize,
    /// The number of blocks of zeros after the rows and arrays.
    pub spare_blocks: usize,
    pub chunks: ChunkedVec,
    /// Whether stacks follow a tag.
    pub tagged: bool,
    /// Whether pointer authentication bits of frames leak into the addresses of callers.
    pub signed: bool,
    /// Images from 0x180000000 on are in the shared cache; otherwise every process lists them all.
    pub shared_cache: bool,
    /// Whether a second device has the same pids with other images.
    pub other_device: bool,
    /// Whether a process has five numbers instead of two.
    pub long_process_arrays: bool,
    /// Whether the strings are a binary property list instead of XML.
    pub binary_strings: bool,
    /// Rows begin with bits instead of bytes, as in Instruments 9 and 10.
    pub packed: bool,
    /// The number of a thread follows its name, as in Instruments 13.4 and 16.0.
    pub numbered_threads: bool,
    /// Whether the recording has environment variables and arguments: `QUAXTOKEN=hunter2 Orchard --password swordfish`.
    pub launch_data: bool,
    /// The version of signpost tables.
    pub version: Version,
    /// Whether to write symbol archives, and in which form.
    pub symbols: Option<apple_symbols_writer::Form>,
    /// Decides everything that the options leave open.
    pub seed: u64,
}

impl BundleOptions {
    /// Creates a table for each run of the recording, in the form of Instruments 26.
    pub fn new(table: Table, recording: &Invented) -> BundleOptions {
        let nodes = recording.runs().into_iter().map(|run| Node::samples(run, table, recording)).collect();
        BundleOptions::with_nodes(nodes)
    }

    pub fn with_nodes(nodes: Vec<Node>) -> BundleOptions {
        BundleOptions {
            nodes,
            start_time: START_TIME,
            instruments_version: "26.0 (17C529)",
            end_reason: "Time limit reached",
            compression: Compression::Zlib,
            rows_per_block: 0x1_0000,
            array_block_size: 0x10_0000,
            spare_blocks: 0,
            chunks: ChunkedVec::Several,
            tagged: false,
            signed: false,
            shared_cache: true,
            other_device: false,
            long_process_arrays: false,
            binary_strings: false,
            packed: false,
            numbered_threads: false,
            launch_data: false,
            version: Version::V26,
            symbols: Some(apple_symbols_writer::Form::Long),
            seed: 1,
        }
    }

    /// The same tables in any of the forms that bundles can have.
    pub fn random(nodes: Vec<Node>, seed: u64) -> BundleOptions {
        let mut rng = Rng::new(seed);
        BundleOptions {
            compression: *rng.pick(&[Compression::Plain, Compression::Zlib, Compression::Mixed]),
            rows_per_block: *rng.pick(&[1, 7, 64, 0x1_0000]),
            array_block_size: *rng.pick(&[128, 1_000, 0x1_0000, 0x10_0000]),
            spare_blocks: rng.index(3),
            chunks: *rng.pick(&[ChunkedVec::One, ChunkedVec::Several, ChunkedVec::SeveralWithEnd]),
            tagged: rng.one_in(2),
            signed: rng.one_in(2),
            shared_cache: !rng.one_in(3),
            other_device: rng.one_in(3),
            long_process_arrays: rng.one_in(3),
            binary_strings: rng.one_in(2),
            version: [Version::V13, Version::V16, Version::V26][seed as usize % 3],
            symbols: [None, Some(*rng.pick(&apple_symbols_writer::Form::ALL))][rng.index(2)],
            seed,
            ..BundleOptions::with_nodes(nodes)
        }
    }

    /// The run numbers of all tables, ascending.
    pub fn runs(&self) -> Vec<u32> {
        let mut runs: Vec<u32> = self.nodes.iter().map(|node| node.run).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }
}

/// A run with its tables.
pub struct Run<'a> {
    pub number: u32,
    pub stores: Vec<Store>,
    pub writer: RunWriter<'a>,
}

/// Tables with one hang, two signposts of each kind, and a risk of a hang.
pub fn nodes_of_marks() -> Vec<Node> {
    let hang = Hang { start_ns: 5, duration_ns: 600_000_000, row: 0 };
    let signposts = vec![Signpost::new("load", 10, 90, 1), Signpost::new("store", 20, 30, 2)];
    let message =
        vec![Part::Text("waited ".to_owned()), Part::Log(vec![Part::Duration(1_280_000_000), Part::Number(7)])];
    let risk = HangRisk { time_ns: 6, message, severity: "High", event_type: "Wait", row: 0 };
    let contents = [
        Content::PotentialHangs(vec![hang]),
        Content::SignpostIntervals(signposts.clone()),
        Content::SignpostEvents(signposts.clone()),
        Content::Regions(signposts),
        Content::HangRisks(vec![risk]),
    ];
    let nodes = contents.into_iter().zip(80..);
    nodes.map(|(content, table_index)| Node { run: 1, table_index, content }).collect()
}

/// Every file of the bundle: its path in the `.trace` folder, and its bytes.
pub fn write_bundle(recording: &Invented, options: &BundleOptions) -> Files {
    let run = |number| {
        let mut writer = RunWriter::new(recording, options, number);
        Run { number, stores: writer.stores(number), writer }
    };
    assemble(recording, options, options.runs().into_iter().map(run).collect())
}

/// The files of a bundle with these runs. The rows in the tables need not be in the recording.
pub fn assemble(recording: &Invented, options: &BundleOptions, runs: Vec<Run<'_>>) -> Files {
    let mut files = Files::new();
    let mut folders = Vec::new();
    let mut rng = Rng::new(options.seed ^ 0xf11e5);
    let numbers: Vec<u32> = runs.iter().map(|run| run.number).collect();
    for run in runs {
        let core = format!("run{}/core", run.number);
        folders.extend(["core-config", "table-manager", "uniquing"].map(|folder| format!("{core}/{folder}")));
        folders.extend((0..run.stores.len()).map(|store| format!("{core}/stores/indexed-store-{store}")));
        for (path, mut bytes) in run_files(options, run) {
            pack::compress(&mut bytes, options.compression, &mut rng);
            files.push((format!("corespace/{core}/{path}"), bytes));
        }
    }
    for uniquer in ["arrayUniquer", "typedArrayUniquer"] {
        let folder = format!("corespace/currentRun/core/uniquing/{uniquer}");
        files.push((format!("{folder}/integeruniquer.index"), Vec::new()));
        let mut data = uniquer::without_arrays(0x1000);
        pack::compress(&mut data, options.compression, &mut rng);
        files.push((format!("{folder}/integeruniquer.data"), data));
    }
    folders.push("currentRun/core/uniquing".to_owned());
    let is_compressed = options.compression != Compression::Plain;
    files.push(("corespace/MANIFEST.plist".to_owned(), pack::manifest(&folders, is_compressed)));
    files.push(("form.template".to_owned(), template::template(recording, options, &numbers)));
    files.push(("open.creq".to_owned(), pack::required_features()));
    files.push(("symbols/MANIFEST.plist".to_owned(), pack::manifest(&["stores".to_owned()], false)));
    files.extend(symbols::archives(recording, options));
    files.extend(other_files::other_files(&numbers));
    files
}

/// The files of a run in its folder `core`.
fn run_files(options: &BundleOptions, run: Run<'_>) -> Files {
    let Run { number, stores, writer } = run;
    let mut files = Files::new();
    for (index, store) in stores.iter().enumerate() {
        let folder = format!("stores/indexed-store-{index}");
        files.push((format!("{folder}/schema.xml"), store.schema_xml()));
        files.push((format!("{folder}/bulkstore_descriptor"), store.descriptor()));
        files.push((format!("{folder}/bulkstore"), store.bulkstore(options.rows_per_block, options.spare_blocks)));
        files.push((format!("{folder}/spec.plist"), store.spec_plist()));
        files.extend(other_files::time_index(store).map(|index| (format!("{folder}/spindex.0"), index)));
    }
    files.push(("core-config/exposedTableInfo.plist".to_owned(), other_files::exposed_tables(&stores)));
    files.push(("table-manager/tables.plist".to_owned(), store::tables_plist(number, &stores)));
    files.push(("uniquing/TOC".to_owned(), store::registry_toc()));
    files.push(("uniquing/EngineeringTypes.etypes".to_owned(), store::engineering_types(writer.types, &stores)));
    files.push(("uniquing/strings".to_owned(), writer.strings.finish(options.binary_strings)));
    for (name, arrays) in [("arrayUniquer", writer.arrays), ("typedArrayUniquer", writer.typed_arrays)] {
        let (index, data) = arrays.finish(options.spare_blocks);
        files.push((format!("uniquing/{name}/integeruniquer.index"), index));
        files.push((format!("uniquing/{name}/integeruniquer.data"), data));
    }
    files
}
