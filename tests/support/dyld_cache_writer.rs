//! Writes small dyld shared caches in every known form, from a model that tests can query.
//!
//! ```text
//! main file       images 0, 2, 4 …, the list of images
//! first subcache  images 1, 3, 5 …
//! second subcache what all images share: symbol tables, exports, function starts
//! .symbols        local symbols
//! ```
//!
//! Only the structures of the single file were compared with files that Apple's builder made.

use std::collections::BTreeMap;

/// The first address of a cache.
pub const BASE: u64 = 0x1_8000_0000;
/// The distance of the code from the Mach-O header, and its size.
pub const CODE: u64 = 0x1000;
pub const CODE_SIZE: u64 = 0x1000;
/// The address of the second file, and of the file with what images share.
const SECOND: u64 = BASE + 0x1_0000_0000;
const LINKEDIT: u64 = BASE + 0x2_0000_0000;

/// Where the name of a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visible {
    /// In the symbol table and in the exports.
    External,
    /// Only in the exports.
    Exported,
    /// Only in the local symbols. Without them, the symbol table has `<redacted>`.
    Local,
    /// Nowhere: only its start is known.
    Stripped,
}

/// A function.
#[derive(Clone, Debug)]
pub struct CachedFunction {
    /// Without the leading underscore; empty if stripped.
    pub name: String,
    /// From the Mach-O header; in the code.
    pub offset: u64,
    pub visible: Visible,
}

/// An image.
#[derive(Clone, Debug)]
pub struct CachedImage {
    pub path: String,
    pub uuid: [u8; 16],
    /// Sorted by offset.
    pub functions: Vec<CachedFunction>,
}

impl CachedImage {
    /// The start and name of the function at an offset from the Mach-O header.
    pub fn function(&self, offset: u64, has_locals: bool) -> Option<(u64, Option<&str>)> {
        let is_code = (CODE..CODE + CODE_SIZE).contains(&offset);
        let function = self.functions.iter().rfind(|function| function.offset <= offset).filter(|_| is_code)?;
        let is_named = match function.visible {
            Visible::External | Visible::Exported => true,
            Visible::Local => has_locals,
            Visible::Stripped => false,
        };
        Some((function.offset, is_named.then_some(function.name.as_str())))
    }
}

/// The form of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheForm {
    /// One file, with 32-bit local symbols: up to macOS 11 and iOS 14.
    Single,
    /// The same for 32-bit processors.
    Single32,
    /// Subcaches `.1` and `.2`: macOS 12 and iOS 15.
    Numbered,
    /// Subcaches with suffixes.
    Suffixed,
}

impl CacheForm {
    pub const ALL: [Self; 4] = [Self::Single, Self::Single32, Self::Numbered, Self::Suffixed];

    fn is_split(self) -> bool {
        matches!(self, Self::Numbered | Self::Suffixed)
    }

    /// The size of the header.
    fn header_size(self) -> usize {
        match self {
            Self::Single | Self::Single32 => 0x138,
            Self::Numbered => 0x1c8,
            Self::Suffixed => 0x200,
        }
    }
}

/// A cache to write.
#[derive(Clone, Debug)]
pub struct CacheModel {
    pub form: CacheForm,
    pub images: Vec<CachedImage>,
    pub has_locals: bool,
    /// The distance of images in a file: at least 0x3000.
    pub stride: u64,
}

/// A file: what its name appends to that of the main file, its length, and the bytes at some offsets. The others are zeros.
pub struct CacheFile {
    pub suffix: &'static str,
    pub length: u64,
    pub parts: Vec<(u64, Vec<u8>)>,
}

impl CacheFile {
    /// All bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length as usize];
        for (offset, part) in &self.parts {
            bytes[*offset as usize..][..part.len()].copy_from_slice(part);
        }
        bytes
    }
}

/// Appends numbers of 32 bits, and of the width of an address.
struct Bytes {
    bytes: Vec<u8>,
    is_wide: bool,
}

impl Bytes {
    fn u32(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.bytes.extend(value.to_le_bytes()));
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn word(&mut self, values: &[u64]) {
        for &value in values {
            if self.is_wide { self.u64(value) } else { self.u32(&[value as u32]) }
        }
    }

    fn name(&mut self, text: &str) {
        let mut name = [0; 16];
        name[..text.len()].copy_from_slice(text.as_bytes());
        self.bytes.extend(name);
    }
}

/// Where the parts of an image are in the file with what images share.
struct Shared {
    symbols: (u32, u32),
    starts: (u32, u32),
    exports: (u32, u32),
}

/// The file offset at which shared tables start.
const TABLES: u64 = 0x400;

impl CacheModel {
    fn is_wide(&self) -> bool {
        self.form != CacheForm::Single32
    }

    fn base(&self) -> u64 {
        if self.is_wide() { BASE } else { 0x2000_0000 }
    }

    /// The file of an image: 0 or 1, the offset there, and its address.
    fn place(&self, index: usize) -> (usize, u64, u64) {
        let (file, position) = if self.form.is_split() { (index % 2, index / 2) } else { (0, index) };
        let offset = self.text_start() + position as u64 * self.stride;
        (file, offset, offset + if file == 0 { self.base() } else { SECOND })
    }

    /// The size of the header, the lists and the paths.
    fn text_start(&self) -> u64 {
        (0x400 + self.images.len() as u64 * 128).next_multiple_of(0x1000)
    }

    /// The unslid address of an image's Mach-O header.
    pub fn address(&self, index: usize) -> u64 {
        self.place(index).2
    }

    /// Writes the files, the main file first.
    pub fn write(&self) -> Vec<CacheFile> {
        let mut tables = Bytes { bytes: Vec::new(), is_wide: self.is_wide() };
        let (mut names, mut shared) = (vec![0], Vec::new());
        let mut locals = Bytes { bytes: Vec::new(), is_wide: self.is_wide() };
        let (mut local_names, mut local_ranges) = (vec![0], Vec::new());
        let linkedit_at = self.linkedit_at();
        let first_table = linkedit_at + TABLES;
        let nlist_size = if self.is_wide() { 16 } else { 12 };
        for index in 0..self.images.len() {
            let before = locals.bytes.len();
            shared.push(self.write_shared(index, first_table, (&mut tables, &mut names)));
            let image = &self.images[index];
            for function in image.functions.iter().filter(|one| one.visible == Visible::Local) {
                nlist(&mut locals, &mut local_names, (&function.name, 0xe), self.address(index) + function.offset);
            }
            local_ranges.push(((before / nlist_size) as u32, ((locals.bytes.len() - before) / nlist_size) as u32));
        }
        let names_at = first_table as u32 + tables.bytes.len() as u32;
        let names_size = names.len() as u32;
        tables.bytes.extend(names);
        let linkedit_size = (TABLES + tables.bytes.len() as u64).next_multiple_of(0x4000);
        let mut files = self.text_files(linkedit_size, &shared, (names_at, names_size));
        let locals = self.local_symbols(locals.bytes, local_names, &local_ranges);
        match self.form.is_split() {
            true => {
                let uuid = [0xEE; 16];
                let mut header = self.header(uuid, &[(LINKEDIT, linkedit_size, 0)]);
                header.resize(TABLES as usize, 0);
                header.extend(tables.bytes);
                let suffix = if self.form == CacheForm::Numbered { ".2" } else { ".02.dyldlinkedit" };
                files.push(CacheFile { suffix, length: linkedit_size, parts: vec![(0, header)] });
                if self.has_locals {
                    let mut header = self.header([0x55; 16], &[(0, 0x4000, 0)]);
                    put(&mut header, 0x48, [0x4000, locals.len() as u64], 8);
                    let length = 0x4000 + locals.len() as u64;
                    files.push(CacheFile { suffix: ".symbols", length, parts: vec![(0, header), (0x4000, locals)] });
                }
            }
            false => {
                files[0].parts.push((first_table, tables.bytes));
                if self.has_locals {
                    let at = linkedit_at + linkedit_size;
                    put(&mut files[0].parts[0].1, 0x48, [at, locals.len() as u64], 8);
                    files[0].length += locals.len() as u64;
                    files[0].parts.push((at, locals));
                }
            }
        }
        files
    }

    /// The file offset of what images share, in its file.
    fn linkedit_at(&self) -> u64 {
        if self.form.is_split() { 0 } else { self.text_start() + self.images.len() as u64 * self.stride }
    }

    /// Writes the symbol table, exports and function starts of an image.
    fn write_shared(&self, index: usize, first: u64, (out, names): (&mut Bytes, &mut Vec<u8>)) -> Shared {
        let (image, address) = (&self.images[index], self.address(index));
        let at = |out: &Bytes| first as u32 + out.bytes.len() as u32;
        let (start, mut count) = (at(out), 0);
        for function in &image.functions {
            let symbol = match function.visible {
                Visible::External => (function.name.as_str(), 0xf),
                Visible::Local if !self.has_locals => ("", 0xe),
                _ => continue,
            };
            nlist(out, names, symbol, address + function.offset);
            count += 1;
        }
        let symbols = (start, count);
        let mut before = 0;
        let start = at(out);
        for function in &image.functions {
            uleb(&mut out.bytes, function.offset - before);
            before = function.offset;
        }
        out.bytes.push(0);
        let starts = (start, at(out) - start);
        let is_exported = |function: &&CachedFunction| !matches!(function.visible, Visible::Local | Visible::Stripped);
        let exported = image.functions.iter().filter(is_exported);
        let exported = exported.map(|function| (format!("_{}", function.name).into_bytes(), function.offset));
        let trie = exports_trie(&exported.collect());
        let exports = (at(out), trie.len() as u32);
        out.bytes.extend(trie);
        out.bytes.resize(out.bytes.len().next_multiple_of(8), 0);
        Shared { symbols, starts, exports }
    }

    /// Writes the files with code, with everything but what images share.
    fn text_files(&self, linkedit_size: u64, shared: &[Shared], names: (u32, u32)) -> Vec<CacheFile> {
        let count = if self.form.is_split() { 2 } else { 1 };
        let in_file = (self.images.len() as u64).div_ceil(count);
        let text_size = self.text_start() + in_file * self.stride;
        let mut mappings = vec![(self.base(), text_size, 0)];
        let mut length = text_size;
        let linkedit = if self.form.is_split() { LINKEDIT } else { self.base() + text_size };
        if !self.form.is_split() {
            mappings.push((linkedit, linkedit_size, text_size));
            length += linkedit_size;
        }
        let mut main = self.header([0xAA; 16], &mappings);
        self.add_lists(&mut main);
        let mut files = vec![CacheFile { suffix: "", length, parts: vec![(0, main)] }];
        if self.form.is_split() {
            let header = self.header([0xBB; 16], &[(SECOND, text_size, 0)]);
            let suffix = if self.form == CacheForm::Numbered { ".1" } else { ".01" };
            files.push(CacheFile { suffix, length: text_size, parts: vec![(0, header)] });
        }
        for (index, shared) in shared.iter().enumerate() {
            let (file, offset, _) = self.place(index);
            let linkedit = (linkedit, linkedit_size, self.linkedit_at());
            files[file].parts.push((offset, self.mach_header(index, linkedit, shared, names)));
        }
        files
    }

    /// A header with mappings: address, size and offset in the file.
    fn header(&self, uuid: [u8; 16], mappings: &[(u64, u64, u64)]) -> Vec<u8> {
        let magic: &[u8; 16] = if self.is_wide() { b"dyld_v1  arm64e\0" } else { b"dyld_v1   armv7\0" };
        let mut out = Bytes { bytes: magic.to_vec(), is_wide: true };
        out.u32(&[self.form.header_size() as u32, mappings.len() as u32]);
        out.bytes.resize(0x58, 0);
        out.bytes.extend(uuid);
        out.bytes.resize(self.form.header_size(), 0);
        for &(address, size, offset) in mappings {
            out.word(&[address, size, offset]);
            out.u32(&[5, 5]);
        }
        out.bytes
    }

    /// Adds the lists of the main file: subcaches, images and their paths.
    fn add_lists(&self, main: &mut Vec<u8>) {
        if self.form.is_split() {
            let at = main.len() as u64;
            put(main, 0x188, [at, 2], 4);
            let entries = [([0xBB; 16], SECOND - BASE, ".01"), ([0xEE; 16], LINKEDIT - BASE, ".02.dyldlinkedit")];
            for (uuid, distance, suffix) in entries {
                main.extend(uuid);
                main.extend(distance.to_le_bytes());
                if self.form == CacheForm::Suffixed {
                    main.extend(suffix.as_bytes());
                    main.resize(main.len() + 32 - suffix.len(), 0);
                }
            }
            if self.has_locals {
                main[0x190..0x1a0].copy_from_slice(&[0x55; 16]);
            }
        }
        let (at, count) = (main.len() as u64, self.images.len() as u64);
        put(main, if self.form.is_split() { 0x1c0 } else { 0x18 }, [at, count], 4);
        let mut path_at = at + 32 * count;
        let mut paths = Vec::new();
        for (index, image) in self.images.iter().enumerate() {
            main.extend(self.address(index).to_le_bytes());
            main.extend([0; 16]);
            main.extend((path_at as u32).to_le_bytes());
            main.extend([0; 4]);
            paths.extend(image.path.as_bytes());
            paths.push(0);
            path_at += image.path.len() as u64 + 1;
        }
        main.extend(paths);
        assert!(main.len() as u64 <= self.text_start(), "no room for the lists");
    }

    /// The local symbols of all images.
    fn local_symbols(&self, symbols: Vec<u8>, names: Vec<u8>, ranges: &[(u32, u32)]) -> Vec<u8> {
        let mut out = Bytes { bytes: Vec::new(), is_wide: self.is_wide() };
        let nlist_size = if self.is_wide() { 16 } else { 12 };
        let names_at = 24 + symbols.len() as u32;
        let entries_at = names_at + names.len() as u32;
        out.u32(&[
            24,
            symbols.len() as u32 / nlist_size,
            names_at,
            names.len() as u32,
            entries_at,
            ranges.len() as u32,
        ]);
        out.bytes.extend(symbols);
        out.bytes.extend(names);
        for (index, &(first, count)) in ranges.iter().enumerate() {
            let (_, offset, address) = self.place(index);
            if self.form.is_split() {
                out.u64(address - BASE)
            } else {
                out.u32(&[offset as u32])
            }
            out.u32(&[first, count]);
        }
        out.bytes
    }

    /// The Mach-O header and load commands of an image.
    fn mach_header(
        &self,
        index: usize,
        (linkedit, linkedit_size, linkedit_at): (u64, u64, u64),
        shared: &Shared,
        names: (u32, u32),
    ) -> Vec<u8> {
        let (_, offset, address) = self.place(index);
        let is_wide = self.is_wide();
        let mut commands = Bytes { bytes: Vec::new(), is_wide };
        let (segment, segment_size, section_size) = if is_wide { (0x19, 72, 80) } else { (1, 56, 68) };
        commands.u32(&[segment, segment_size + 2 * section_size]);
        commands.name("__TEXT");
        commands.word(&[address, 0x3000, offset, 0x3000]);
        commands.u32(&[5, 5, 2, 0]);
        for (name, at, flags) in [("__text", CODE, 0x8000_0400), ("__const", CODE + CODE_SIZE, 0)] {
            commands.name(name);
            commands.name("__TEXT");
            commands.word(&[address + at, CODE_SIZE]);
            commands.u32(&[(offset + at) as u32, 2, 0, 0, flags, 0, 0]);
            if is_wide {
                commands.u32(&[0]);
            }
        }
        commands.u32(&[segment, segment_size]);
        commands.name("__LINKEDIT");
        commands.word(&[linkedit, linkedit_size, linkedit_at, linkedit_size]);
        commands.u32(&[1, 1, 0, 0]);
        commands.u32(&[2, 24, shared.symbols.0, shared.symbols.1, names.0, names.1]);
        commands.u32(&[0x1b, 24]);
        commands.bytes.extend(self.images[index].uuid);
        commands.u32(&[0x26, 16, shared.starts.0, shared.starts.1]);
        if index.is_multiple_of(2) {
            commands.u32(&[0x8000_0033, 16, shared.exports.0, shared.exports.1]);
        } else {
            commands.u32(&[0x8000_0022, 48, 0, 0, 0, 0, 0, 0, 0, 0, shared.exports.0, shared.exports.1]);
        }
        let mut out = Bytes { bytes: Vec::new(), is_wide };
        let (magic, cpu, subtype) =
            if is_wide { (0xFEED_FACF, 0x0100_000C, 0x8000_0002) } else { (0xFEED_FACE, 12, 9) };
        out.u32(&[magic, cpu, subtype, 6, 6, commands.bytes.len() as u32, 0x8010_0085]);
        if is_wide {
            out.u32(&[0]);
        }
        out.bytes.extend(commands.bytes);
        out.bytes
    }
}

/// Sets two numbers of a header.
fn put(header: &mut [u8], at: usize, values: [u64; 2], width: usize) {
    for (index, value) in values.into_iter().enumerate() {
        header[at + width * index..][..width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// The symbol of a name. Objective-C methods have no underscore, and an empty name represents a stripped one.
fn symbol_of(name: &str) -> String {
    match name {
        "" => "<redacted>".to_owned(),
        name if name.starts_with(['-', '+']) => name.to_owned(),
        name => format!("_{name}"),
    }
}

fn nlist(out: &mut Bytes, names: &mut Vec<u8>, (name, kind): (&str, u8), address: u64) {
    out.u32(&[names.len() as u32]);
    out.bytes.extend([kind, 1, 0, 0]);
    out.word(&[address]);
    names.extend(symbol_of(name).as_bytes());
    names.push(0);
}

fn uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes the exports: names with an underscore, and offsets from the Mach-O header. Nodes refer to others in numbers of four bytes.
pub fn exports_trie(names: &BTreeMap<Vec<u8>, u64>) -> Vec<u8> {
    let mut out = Vec::new();
    let all: Vec<(&[u8], u64)> = names.iter().map(|(name, &offset)| (name.as_slice(), offset)).collect();
    if !all.is_empty() {
        write_node(&all, &mut out);
    }
    out
}

/// Writes the node for sorted names without what they have in common, and the nodes below it.
fn write_node(names: &[(&[u8], u64)], out: &mut Vec<u8>) {
    let (own, below) = match names {
        [(b"", offset), below @ ..] => (Some(*offset), below),
        below => (None, below),
    };
    let mut export = Vec::new();
    if let Some(offset) = own {
        export.push(0);
        uleb(&mut export, offset);
    }
    out.push(export.len() as u8);
    out.extend(export);
    let groups: Vec<&[(&[u8], u64)]> = below.chunk_by(|one, other| one.0[0] == other.0[0]).collect();
    out.push(groups.len() as u8);
    let mut places = Vec::new();
    let common = |group: &[(&[u8], u64)]| {
        let (first, last) = (group[0].0, group[group.len() - 1].0);
        first.iter().zip(last).take_while(|(one, other)| one == other).count()
    };
    for group in &groups {
        out.extend(&group[0].0[..common(group)]);
        out.push(0);
        places.push(out.len());
        out.extend([0; 4]);
    }
    for (group, place) in groups.iter().zip(places) {
        let at = out.len();
        for (index, byte) in out[place..place + 4].iter_mut().enumerate() {
            *byte = (at >> (7 * index)) as u8 & 0x7f | if index < 3 { 0x80 } else { 0 };
        }
        let length = common(group);
        let rest: Vec<(&[u8], u64)> = group.iter().map(|(name, offset)| (&name[length..], *offset)).collect();
        write_node(&rest, out);
    }
}
