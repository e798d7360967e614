//! Writes `.symbols` and `.symbolsarchive` files in every known form, from a model that tests can query.
//!
//! The layout is described in `src/symbols/apple_record.rs` and `apple_container.rs`; this file shares no code with them.

// Each test binary uses only a part of it.
#![allow(dead_code, unreachable_pub)]

use std::collections::HashMap;

/// Flags found in real files.
pub const IS_LAST_SIBLING: u32 = 0x4000_0000;
pub const IS_FOLDED: u32 = 0x800;
pub const FUNCTION: u32 = 0x334a_4411;
pub const FOLDED_FUNCTION: u32 = 0x0348_4c21;
pub const STUB: u32 = 0x0348_4502;
pub const DATA: u32 = 0x034a_4000;
const INLINED: u32 = 0x8500_0401;

/// The form of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Version 1, short header, strings relative to the entry that refers to them.
    Oldest,
    /// Version 1, short header.
    Short,
    /// Version 1, long header.
    Long,
    /// Version 7.
    Seven,
}

impl Form {
    pub const ALL: [Form; 4] = [Form::Oldest, Form::Short, Form::Long, Form::Seven];

    fn is_long(self) -> bool {
        matches!(self, Form::Long | Form::Seven)
    }
}

/// A binary, as described by the file.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pub uuid: [u8; 16],
    pub cputype: u32,
    pub cpusubtype: u32,
    pub path: String,
    /// At linked addresses; one segment is `__TEXT`.
    pub segments: Vec<Segment>,
    /// The first section is everything before the first real one.
    pub sections: Vec<Section>,
    /// Sorted by address, starting with `__TEXT`.
    pub symbols: Vec<Symbol>,
    /// Sorted by address.
    pub lines: Vec<Line>,
    /// True if there is a record.
    pub has_record: bool,
}

#[derive(Clone, Debug)]
pub struct Segment {
    pub name: &'static str,
    /// The linked address.
    pub address: u64,
    pub size: u64,
}

#[derive(Clone, Debug)]
pub struct Section {
    pub name: String,
    /// The address in the record.
    pub address: u64,
    pub size: u64,
}

/// A symbol or an inlined call; addresses are relative to the start of `__TEXT`.
#[derive(Clone, Debug, Default)]
pub struct Symbol {
    pub address: u64,
    pub size: u32,
    pub flags: u32,
    pub display_name: Option<String>,
    pub linker_name: Option<String>,
    pub inlined: Vec<Inlined>,
    /// True if it has the inlined calls of the previous symbol.
    pub shares_inlined: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Inlined {
    pub function: Symbol,
    pub call: Place,
}

#[derive(Clone, Debug, Default)]
pub struct Place {
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Line {
    pub address: u64,
    pub size: u32,
    pub place: Place,
}

impl Image {
    /// The linked start address of `__TEXT`.
    pub fn text(&self) -> u64 {
        self.segments.iter().find(|segment| segment.name == "__TEXT").unwrap().address
    }

    /// The address of each segment in the record: `__TEXT` at 0, then segments with symbols, then the others.
    pub fn record_addresses(&self) -> Vec<u64> {
        let text = self.text();
        let has_symbols = |segment: &Segment| {
            self.symbols.iter().any(|symbol| {
                let address = text + symbol.address;
                segment.address <= address && address < segment.address + segment.size
            })
        };
        let mut order: Vec<usize> = (0..self.segments.len()).collect();
        order.sort_by_key(|&index| {
            let segment = &self.segments[index];
            (segment.name != "__TEXT", !has_symbols(segment), index)
        });
        let mut addresses = vec![0; order.len()];
        let mut next = 0;
        for index in order {
            addresses[index] = next;
            next += self.segments[index].size;
        }
        addresses
    }

    /// Converts an address relative to `__TEXT` to an address in the record.
    fn record_address(&self, relative: u64) -> u32 {
        let address = self.text() + relative;
        let inside = |segment: &Segment| segment.address <= address && address < segment.address + segment.size;
        let index = self.segments.iter().position(inside).expect("symbols lie in segments");
        u32::try_from(self.record_addresses()[index] + address - self.segments[index].address).unwrap()
    }
}

fn put(bytes: &mut Vec<u8>, words: &[u32]) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn put_name(bytes: &mut Vec<u8>, name: &str) {
    let mut padded = [0; 16];
    padded[..name.len()].copy_from_slice(name.as_bytes());
    bytes.extend(padded);
}

/// The strings of a record, each written once.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    known: HashMap<String, u32>,
}

impl Strings {
    fn offset(&mut self, text: &str) -> u32 {
        if let Some(&offset) = self.known.get(text) {
            return offset;
        }
        let offset = self.bytes.len() as u32;
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        self.known.insert(text.to_owned(), offset);
        offset
    }
}

/// A row of the table of inlined calls: the call, whether it is the last sibling, and its first child.
struct InlinedRow<'a> {
    inlined: &'a Inlined,
    is_last: bool,
    first: i32,
}

/// Appends siblings to the table, followed by the calls inlined into them. Returns the index of the first.
fn lay_out<'a>(siblings: &'a [Inlined], rows: &mut Vec<InlinedRow<'a>>) -> i32 {
    if siblings.is_empty() {
        return -1;
    }
    let first = rows.len();
    for (index, inlined) in siblings.iter().enumerate() {
        rows.push(InlinedRow { inlined, is_last: index + 1 == siblings.len(), first: -1 });
    }
    for (index, inlined) in siblings.iter().enumerate() {
        rows[first + index].first = lay_out(&inlined.function.inlined, rows);
    }
    first as i32
}

/// Writes the record of an image. A record without a container is a `.symbolsarchive`.
pub fn write_record(image: &Image, form: Form) -> Vec<u8> {
    let is_64_bit = image.cputype & 0x0100_0000 != 0;
    let mut rows = Vec::new();
    let mut firsts: Vec<i32> = Vec::new();
    for symbol in &image.symbols {
        let first = if symbol.shares_inlined { *firsts.last().unwrap() } else { lay_out(&symbol.inlined, &mut rows) };
        firsts.push(first);
    }
    let named = image.symbols.iter().filter(|symbol| symbol.display_name.is_some()).count();
    let header = if form.is_long() { 0x60 } else { 0x58 };
    let sections_at = header + 32 * image.segments.len();
    let symbols_at = sections_at + if is_64_bit { 24 } else { 16 } * image.sections.len();
    let inlined_at = symbols_at + 24 * image.symbols.len();
    let lines_at = inlined_at + 36 * rows.len();
    let index_at = lines_at + 20 * image.lines.len();
    let index_size = if form == Form::Seven { 4 * (image.symbols.len() + named) } else { 8 * image.symbols.len() };
    let strings_at = index_at + index_size;

    let mut strings = Strings::default();
    // The offset 0 means "none", so the first string must be one that no entry, or only this one, refers to by offset 0.
    strings.offset("MACH_HEADER");
    let mut offset = |entry: usize, text: Option<&str>| {
        let offset = text.map(|text| strings.offset(text));
        match form {
            Form::Oldest => offset.map_or(0, |offset| (strings_at - entry) as u32 + offset),
            _ => offset.unwrap_or(0),
        }
    };

    let mut tables = Vec::new();
    for (segment, address) in image.segments.iter().zip(image.record_addresses()) {
        tables.extend(address.to_le_bytes());
        tables.extend(segment.size.to_le_bytes());
        put_name(&mut tables, segment.name);
    }
    for section in &image.sections {
        let name = offset(header + tables.len(), Some(&section.name));
        if is_64_bit {
            tables.extend([section.address, section.size, u64::from(name)].iter().flat_map(|word| word.to_le_bytes()));
        } else {
            put(&mut tables, &[section.address as u32, section.size as u32, name, 0]);
        }
    }
    let mut put_symbol = |tables: &mut Vec<u8>, symbol: &Symbol, flags: u32, first: i32, call: Option<&Place>| {
        let entry = header + tables.len();
        let display_name = offset(entry, symbol.display_name.as_deref());
        let linker_name = offset(entry, symbol.linker_name.as_deref());
        let address = image.record_address(symbol.address);
        put(tables, &[address, symbol.size, flags, display_name, linker_name, first as u32]);
        if let Some(call) = call {
            put(tables, &[offset(entry, call.file.as_deref()), call.line, call.column]);
        }
    };
    for (symbol, &first) in image.symbols.iter().zip(&firsts) {
        put_symbol(&mut tables, symbol, symbol.flags, first, None);
    }
    for InlinedRow { inlined, is_last, first } in &rows {
        let flags = INLINED | if *is_last { IS_LAST_SIBLING } else { 0 };
        put_symbol(&mut tables, &inlined.function, flags, *first, Some(&inlined.call));
    }
    for line in &image.lines {
        let file = offset(header + tables.len(), line.place.file.as_deref());
        put(&mut tables, &[image.record_address(line.address), line.size, file, line.place.line, line.place.column]);
    }
    assert_eq!(header + tables.len(), index_at);
    let all = 0..image.symbols.len();
    let with_name = all.clone().filter(|&index| image.symbols[index].display_name.is_some());
    for symbol in all.chain(with_name) {
        let position = header + tables.len();
        put(&mut tables, &[(position - (symbols_at + 24 * symbol)) as u32]);
    }
    tables.resize(strings_at - header, 0);

    // Strings of the header are relative to the record in the oldest form.
    let path = if form == Form::Seven { 0 } else { offset(0, Some("/Applications/Some.app/Some")) };
    let version = offset(0, Some("1732.6.2"));
    let trailer = if form == Form::Long { 24 } else { 0 };
    let strings = strings.bytes;
    let size = strings_at + strings.len() + trailer;
    let counts = [image.segments.len(), image.sections.len(), image.symbols.len(), rows.len(), image.lines.len()];
    let mut bytes = Vec::with_capacity(size);
    put(&mut bytes, &[if form == Form::Seven { 7 } else { 1 }, size as u32]);
    put(&mut bytes, &counts.map(|count| count as u32));
    put(&mut bytes, &[0x11, 0, 0, path, version, 0x4711]);
    bytes.extend(image.uuid);
    put(&mut bytes, &[image.cputype, image.cpusubtype, 0, 0]);
    if form.is_long() {
        put(&mut bytes, &[strings.len() as u32, if form == Form::Seven { 4 * named as u32 } else { 0 }, 0]);
    } else {
        put(&mut bytes, &[0]);
    }
    bytes.extend(tables);
    bytes.extend(strings);
    if trailer > 0 {
        put(&mut bytes, &[0x00c0_ffee, 1, 24, 0, 0x2224, 0]);
    }
    assert_eq!(bytes.len(), size);
    bytes
}

/// Writes a container of these images. Images with a record have a chunk of `kind`.
pub fn write_container(images: &[Image], form: Form, kind: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, &[0xff01_ff02, 1, u32::MAX, 0, 0x2204, images.len() as u32]);
    for image in images {
        bytes.extend(image.uuid);
        put(&mut bytes, &[0x5eba_7758, 0x1000_0101]);
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(i64::MAX.to_le_bytes());
        let length = (image.path.len() + 1).next_multiple_of(16);
        put(&mut bytes, &[image.cputype, image.cpusubtype, image.segments.len() as u32, length as u32]);
        bytes.extend(image.path.as_bytes());
        bytes.resize(bytes.len() + length - image.path.len(), 0);
        for segment in &image.segments {
            put_name(&mut bytes, segment.name);
            bytes.extend(segment.address.to_le_bytes());
            bytes.extend(segment.size.to_le_bytes());
        }
    }
    for image in images.iter().filter(|image| image.has_record) {
        let record = write_record(image, form);
        let length = (16 + record.len()).next_multiple_of(16);
        put(&mut bytes, &[0xa1b2_2b1a, kind, 0xa1b2_2b1a, length as u32]);
        bytes.extend(&record);
        bytes.resize(bytes.len() + length - 16 - record.len(), 0);
    }
    let trailer = match kind {
        5 => Some((3, 56)),
        7 => Some((4, 68)),
        _ => None,
    };
    if let Some((version, size)) = trailer {
        put(&mut bytes, &[0x00c0_ffee, version]);
        bytes.extend((0..size).map(|byte: u8| byte % 16));
    }
    bytes
}
