//! The samples of a bundle, decoded slowly from its checked tables.

use super::check::{Table, table};
use super::check_images::{Images, images};
use super::expected::ExpectedImage;
use super::registry::Registry;
use super::uniquer::NONE;
use super::unpacked::Unpacked;

/// A sample.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedRow {
    pub run: u32,
    pub time_ns: u64,
    pub tid: u64,
    pub pid: u32,
    pub core: Option<u32>,
    pub state: String,
    /// `None` for `time-sample`.
    pub weight: Option<u64>,
    /// The addresses as recorded, leaf first, and the image that contains each.
    pub stack: Option<Vec<(u64, Option<ExpectedImage>)>>,
}

/// The bits of an address without its authentication code.
const ADDRESS: u64 = 0x7fff_ffff_ffff;

/// The samples of all tables with this schema, by run and table.
pub fn samples(bundle: &Unpacked, schema: &str) -> Result<Vec<DecodedRow>, String> {
    let images = images(bundle)?;
    let mut samples = Vec::new();
    for run in bundle.runs() {
        let registry = Registry::read(bundle, run)?;
        for store in bundle.stores(run) {
            let table = table(bundle, run, store)?;
            if table.schema == schema {
                for row in table.rows.chunks(table.row_size) {
                    samples.push(sample(run, &table, row, &registry, &images)?);
                }
            }
        }
    }
    Ok(samples)
}

fn sample(run: u32, table: &Table<'_>, row: &[u8], registry: &Registry, images: &Images) -> Result<DecodedRow, String> {
    let cell = |name: &str| table.column(name)?.cell(row);
    let (tid, pid) = registry.thread(cell("thread")?)?;
    let is_raw = table.schema == "time-sample";
    let core = cell(if is_raw { "core-index" } else { "core" })?;
    let addresses = addresses(table, row, registry, if is_raw { "cp-user-callstack" } else { "stack" })?;
    if !is_raw && registry.process(cell("process")?)? != pid {
        return Err("a sample of two processes".to_owned());
    }
    let find = |(index, address): (usize, u64)| {
        let back = if is_raw && index == 0 { 0 } else { 1 };
        (address, images.find(run, pid, (address & ADDRESS) - back).cloned())
    };
    Ok(DecodedRow {
        run,
        time_ns: cell("time")?,
        tid,
        pid,
        core: u32::try_from(core).ok().filter(|&core| core != NONE),
        state: registry.string(cell("thread-state")?)?.to_owned(),
        weight: if is_raw { None } else { Some(cell("weight")?) },
        stack: addresses.map(|addresses| addresses.into_iter().enumerate().map(find).collect()),
    })
}

fn addresses(table: &Table<'_>, row: &[u8], registry: &Registry, name: &str) -> Result<Option<Vec<u64>>, String> {
    let column = table.column(name)?;
    let stack = match column.cell(row)? {
        none if none == u64::from(NONE) => return Ok(None),
        stack => stack,
    };
    match (column.kind.as_str(), registry.array(stack)?) {
        ("XRCoreProfileCallstackTypeID", _) => registry.raw_stack(stack).map(Some),
        ("XRTaggedBacktraceTypeID", [chunks, _]) => registry.stack(*chunks).map(Some),
        ("XRBacktraceTypeID", _) => registry.stack(stack).map(Some),
        other => Err(format!("a stack is {other:?}")),
    }
}
