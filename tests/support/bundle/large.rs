//! Bundles of any size, for benchmarks: the rows and stacks of the exports that [`super::super::large`] writes.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::super::large_code::{self, IMAGES, SITES, Step};
use super::super::large_model::{
    CORES, EFFICIENCY_CORES, LargeModel, LargeRow, LargeSize, LargeStack, PID, Passthrough, THREADS, WEIGHTS,
};
use super::super::recording::{CoreKind, Frame, Invented, Process, Row, Thread};
use super::samples::{RunWriter, time_attributes};
use super::store::{Cell, Store};
use super::uniquer::NONE;
use super::{BundleOptions, Compression, Files, Run, assemble, schemas};

/// Arrays with the frames from the caller of the leaf to the root, by hash. Stacks share them.
type Callers = HashMap<u64, u32, BuildHasherDefault<Passthrough>>;

/// Writes a bundle with one table of samples. The same arguments always produce the same bytes.
pub fn write_large_bundle(size: LargeSize, compression: Compression) -> Files {
    let mut model = LargeModel::new(size);
    let mut store = Store::new(schemas::time_profile(false), time_attributes());
    let options = BundleOptions { compression, ..BundleOptions::with_nodes(Vec::new()) };
    let mut recording = code(&model);
    recording.rows = (0..CORES.max(THREADS)).map(|number| overview(number, &recording)).collect();
    // The same writer also makes the references of rows. It only reads threads and names of the recording.
    let described = recording.clone();
    let mut writer = RunWriter::new(&described, &options, 1);
    let mut stores = writer.stores(1);
    let mut stacks: Vec<u32> = Vec::new();
    let mut callers = Callers::default();
    let mut end_ns = 0;
    while let Some(row) = model.next() {
        end_ns = row.time_ns;
        if let LargeStack::New(path) = &row.stack {
            let stack = stack(&model, path, &mut writer, &mut callers);
            stacks.push(stack);
        }
        store.row(&cells(&row, &stacks, &mut writer));
    }
    stores.insert(2, store);
    // The length of the recording.
    recording.rows.push(Row { time_ns: end_ns, ..Row::sample(0, 0, None) });
    assemble(&recording, &options, vec![Run { number: 1, stores, writer }])
}

fn cells(row: &LargeRow, stacks: &[u32], writer: &mut RunWriter<'_>) -> [Cell; 7] {
    let stack = match &row.stack {
        LargeStack::None => NONE,
        LargeStack::Earlier(number) => stacks[*number],
        LargeStack::New(_) => *stacks.last().expect("the stack of this row"),
    };
    let (thread, process, state) = (writer.thread(row.thread), writer.process(0), writer.strings.add("Running"));
    let references = [thread, process, row.core as u32, state].map(Cell::from);
    let [thread, process, core, state] = references;
    [row.time_ns, thread, process, core, state, WEIGHTS[row.weight].0, Cell::from(stack)]
}

/// Writes a stack with the leaf in one chunk and its callers in another.
fn stack(model: &LargeModel, path: &[Step], writer: &mut RunWriter<'_>, callers: &mut Callers) -> u32 {
    let (&leaf, others) = path.split_last().expect("paths are not empty");
    let process = Cell::from(writer.process(0)) << 32;
    let leaf = writer.arrays.add(&[model.leaf_pc(leaf) + 1]);
    if others.is_empty() {
        return writer.arrays.append(&[process | Cell::from(leaf)]);
    }
    let rest = *callers.entry(large_code::hash(others)).or_insert_with(|| {
        let returns: Vec<u64> = others.iter().rev().map(|&step| model.caller_pc(step) + 4).collect();
        writer.arrays.append(&returns)
    });
    writer.arrays.append(&[process | Cell::from(leaf), process | Cell::from(rest)])
}

/// The images, threads and all frames that stacks can have, without rows.
fn code(model: &LargeModel) -> Invented {
    let mut frames = Vec::new();
    for (number, function) in model.functions.iter().enumerate() {
        for site in 0..SITES as u8 {
            let step = (number as u32, site);
            let source = |(path, line): (usize, u64)| (large_code::source_path(path), line as u32 + u32::from(site));
            let frame = Frame {
                function: function.plain_name.clone(),
                function_start: Some(function.start),
                image: Some(function.image),
                source: function.source.map(source),
                ..Frame::default()
            };
            frames.push(Frame { pc: model.leaf_pc(step), ..frame.clone() });
            frames.push(Frame { pc: model.caller_pc(step), ..frame });
        }
    }
    let path = "/Users/dev/Orchard/Build/Orchard".to_owned();
    let thread =
        |thread| Thread { tid: LargeModel::tid(thread), process: 0, names: vec![LargeModel::thread_name(thread)] };
    Invented {
        images: (0..IMAGES).map(large_code::image).collect(),
        frames,
        processes: vec![Process { pid: PID, name: "Orchard".to_owned(), path }],
        threads: (0..THREADS).map(thread).collect(),
        rows: Vec::new(),
    }
}

/// A row with a core and a thread; the first such row hits every image.
fn overview(number: usize, recording: &Invented) -> Row {
    let kind = if number < EFFICIENCY_CORES { CoreKind::Efficiency } else { CoreKind::Performance };
    let first_of = |image| recording.frames.iter().position(|frame| frame.image == Some(image));
    let stack = (number == 0).then(|| (0..IMAGES).filter_map(first_of).collect());
    let core = (number < CORES).then_some((number as u32, kind));
    Row { core, ..Row::sample(0, number % THREADS, stack) }
}
