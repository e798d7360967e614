//! Native symbols: the functions that hold the code, into which others may be inlined.

use std::io;

use super::columns::{column, length};
use crate::hash::HashMap;
use crate::output::byte_writer::{ByteWriter, push_number};
use crate::profile::FunctionId;

/// A function of a library.
struct Symbol {
    library: u32,
    /// The lowest of its addresses that was sampled: where it starts is not recorded.
    address: u32,
    /// The place of its name among the strings of the file.
    name: u32,
}

/// The rows of the table.
#[derive(Default)]
pub(super) struct NativeSymbols {
    rows: Vec<Symbol>,
    row_of: HashMap<(u32, FunctionId), u32>,
}

impl NativeSymbols {
    /// The row of a function of a library, in which an address was sampled; it is added if it is new.
    pub(super) fn add(&mut self, library: u32, function: FunctionId, name: u32, address: u32) -> u32 {
        let rows = &mut self.rows;
        let row = *self.row_of.entry((library, function)).or_insert_with(|| {
            rows.push(Symbol { library, address, name });
            rows.len() as u32 - 1
        });
        let lowest = &mut rows[row as usize].address;
        *lowest = address.min(*lowest);
        row
    }

    /// Writes the columns. The length of a function is not recorded, either.
    pub(super) fn write(&self, writer: &mut ByteWriter<'_>) -> io::Result<()> {
        let rows = || self.rows.iter();
        length(self.rows.len(), writer);
        column(writer, "libIndex", rows().map(|symbol| symbol.library.into()), push_number)?;
        column(writer, "address", rows().map(|symbol| symbol.address.into()), push_number)?;
        column(writer, "name", rows().map(|symbol| symbol.name.into()), push_number)?;
        column(writer, "functionSize", rows(), |_, out| out.extend_from_slice(b"-1"))
    }
}
