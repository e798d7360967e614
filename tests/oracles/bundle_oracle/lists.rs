//! The positions of the objects in a binary property list, for changing one of them.

/// An object, and the meaning of its first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    /// The position of its content, after the bytes with its kind and count.
    pub(crate) at: usize,
    pub(crate) count: usize,
    /// The upper half of the first byte: 1 is an integer, 2 a real, 4 data, 5 ASCII, 6 UTF-16, 8 a reference, 0xa an array, 0xd a
    /// dictionary.
    pub(crate) kind: u8,
    /// The bytes of each thing.
    pub(crate) width: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct List {
    /// The position of the table of offsets, and the bytes of each offset.
    pub(crate) table: usize,
    pub(crate) offset_width: usize,
    pub(crate) objects: Vec<Object>,
}

pub(crate) fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

impl List {
    pub(crate) fn read(bytes: &[u8]) -> List {
        let trailer = &bytes[bytes.len() - 32..];
        let (offset_width, reference) = (usize::from(trailer[6]), usize::from(trailer[7]));
        let (count, table) = (number(&trailer[8..16]), number(&trailer[24..32]));
        let offsets = bytes[table..].chunks(offset_width).take(count).map(number);
        List { table, offset_width, objects: offsets.map(|at| object(bytes, at, reference)).collect() }
    }

    /// The text of an object; empty for others.
    pub(crate) fn text<'b>(&self, bytes: &'b [u8], object: usize) -> &'b str {
        let Object { at, count, kind, .. } = self.objects[object];
        if kind == 5 { std::str::from_utf8(&bytes[at..at + count]).unwrap_or_default() } else { "" }
    }
}

fn object(bytes: &[u8], at: usize, reference: usize) -> Object {
    let (kind, low) = (bytes[at] >> 4, usize::from(bytes[at] & 15));
    let (at, count) = match (kind, low) {
        (4.., 15) => {
            let width = 1 << (bytes[at + 1] & 15);
            (at + 2 + width, number(&bytes[at + 2..at + 2 + width]))
        }
        _ => (at + 1, low),
    };
    let (count, width) = match kind {
        0 => (0, 0),
        1..=3 => (1, 1 << low),
        6 => (count, 2),
        8 => (1, count + 1),
        0xa.. => (if kind == 0xd { 2 * count } else { count }, reference),
        _ => (count, 1),
    };
    Object { at, count, kind, width }
}
