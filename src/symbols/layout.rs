//! Finds the parts of one slice: sections, symbol table, function starts, DWARF.
//!
//! A dSYM repeats the load commands of its binary, so its sections have the binary's addresses. It has the contents of only the `__DWARF`
//! sections and the symbol table. An image in a dyld shared cache shares its symbol table with other images. Section names are truncated to 16 bytes: `.debug_str_offsets` is `__debug_str_offs`.

use std::cell::OnceCell;
use std::io;
use std::ops::Range;

use object::LittleEndian;
use object::macho::{self, MachHeader32, MachHeader64};
use object::pod::Pod;
use object::read::ReadRef;
use object::read::macho::{FunctionStartsIterator, LoadCommandData, MachHeader, Section as _, Segment};

use super::found::invalid;
use super::macho::Slice;
use super::notes::Notes;
use super::section::Section as Piece;
use super::symbol_table::{Section, SymbolTable, Tables};
use crate::files::FileBytes;

/// The parts of a slice. Its DWARF is read on demand.
#[derive(Debug)]
pub(super) struct Layout<'data> {
    /// The bytes of the slice.
    pub(super) data: Piece<'data>,
    /// The address of `__TEXT`.
    pub(super) text_address: u64,
    /// The sections of `__DWARF`: name and contents.
    debug: Vec<(&'data [u8], Piece<'data>)>,
    /// Function names.
    pub(super) symbols: SymbolTable<'data>,
    /// Notes about parts that could not be used.
    pub(super) notes: Notes,
}

/// The local symbols of an image in a dyld shared cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalSymbols<'data> {
    /// The symbols of all images.
    pub(super) symbols: Piece<'data>,
    /// The index of the first symbol of the image, and their count.
    pub(super) range: (u32, u32),
    pub(super) names: Piece<'data>,
}

impl<'data> LocalSymbols<'data> {
    /// Reads the symbols of the image.
    fn read<Symbol: Pod>(&self) -> Result<&'data [Symbol], ()> {
        let (first, count) = self.range;
        self.symbols.read_slice_at(u64::from(first) * size_of::<Symbol>() as u64, count as usize)
    }
}

/// The parts of an image in a dyld shared cache that it shares with other images.
#[derive(Debug)]
pub(super) struct SharedParts<'data> {
    /// The file with the `__LINKEDIT` of the image. Offsets in load commands refer to it.
    pub(super) linkedit: Piece<'data>,
    /// The local symbols, if the cache has them.
    pub(super) local_symbols: Option<LocalSymbols<'data>>,
    /// Exported names, which are assembled from parts.
    pub(super) export_names: OnceCell<Vec<u8>>,
}

impl<'data> Layout<'data> {
    /// Reads the load commands of a slice of `file`.
    ///
    /// # Errors
    ///
    /// If the slice is outside the file, is big endian, or has broken load commands. A symbol table or section outside the slice only adds a
    /// note.
    pub(super) fn read(file: &'data FileBytes<'_>, slice: &Slice) -> io::Result<Self> {
        let data = Piece::new(file, slice.range.clone());
        let data = data.ok_or_else(|| invalid("the slice is outside the file"))?;
        Self::new(data, None)
    }

    /// Reads the load commands of an image in a dyld shared cache. `data` starts with its Mach-O header.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn of_cache(data: Piece<'data>, shared: &'data SharedParts<'data>) -> io::Result<Self> {
        Self::new(data, Some(shared))
    }

    fn new(data: Piece<'data>, shared: Option<&'data SharedParts<'data>>) -> io::Result<Self> {
        match data.get(0..4).and_then(<[u8]>::first_chunk).map(|magic| u32::from_le_bytes(*magic)) {
            Some(macho::MH_MAGIC_64) => read::<MachHeader64<LittleEndian>>(data, shared).map_err(invalid),
            Some(macho::MH_MAGIC) => read::<MachHeader32<LittleEndian>>(data, shared).map_err(invalid),
            _ => Err(invalid("big-endian (PowerPC) files are not read")),
        }
    }

    /// Returns the DWARF section with this ELF name (`.debug_info`), if any.
    pub(super) fn debug_section(&self, name: &str) -> Option<Piece<'data>> {
        let name = name.strip_prefix('.').unwrap_or(name).as_bytes();
        let name = &name[..name.len().min(14)];
        let found = self.debug.iter().find(|(section, _)| section.strip_prefix(b"__") == Some(name));
        found.map(|(_, contents)| *contents)
    }
}

fn read<'data, Mach: MachHeader<Endian = LittleEndian>>(
    data: Piece<'data>,
    shared: Option<&'data SharedParts<'data>>,
) -> object::Result<Layout<'data>> {
    let header = Mach::parse(data, 0)?;
    let linkedit = shared.map_or(data, |shared| shared.linkedit);
    let (text_address, debug, notes) = (0, Vec::new(), Notes::default());
    let mut layout = Layout { data, text_address, debug, symbols: SymbolTable::default(), notes };
    // In the order of the load commands, since symbols refer to sections by number, from 1.
    let mut sections = Vec::new();
    let (mut nlists, mut starts, mut exports) = (&[][..], FunctionStartsIterator::default(), None);
    let mut commands = header.load_commands(LittleEndian, data, 0)?;
    while let Some(command) = commands.next()? {
        if let Some((segment, section_data)) = Mach::Segment::from_command(command)? {
            if segment.name() == b"__TEXT" {
                layout.text_address = segment.vmaddr(LittleEndian).into();
            }
            add_sections::<Mach>(&mut layout, &mut sections, segment, section_data)?;
        } else if let Some(symtab) = command.symtab()? {
            match symtab.symbols::<Mach, _>(LittleEndian, linkedit) {
                Ok(table) => {
                    let start = u64::from(symtab.stroff.get(LittleEndian));
                    let end = start + u64::from(symtab.strsize.get(LittleEndian));
                    layout.symbols.strings = linkedit.part(start..end.min(linkedit.len()));
                    nlists = table.symbols();
                }
                Err(error) => layout.notes.add(format!("the symbol table was ignored: {error}")),
            }
        } else if command.cmd() == macho::LC_FUNCTION_STARTS {
            let found = command.data::<macho::LinkeditDataCommand<LittleEndian>>()?;
            match found.function_starts(LittleEndian, linkedit, 0) {
                Ok(found) => starts = found,
                Err(error) => layout.notes.add(format!("the function starts were ignored: {error}")),
            }
        } else if let Some(range) = exports_range(command)? {
            exports = shared.and_then(|shared| Some((linkedit.part(range)?, &shared.export_names)));
        }
    }
    let locals = shared.and_then(|shared| shared.local_symbols);
    let local_nlists = match locals.map(|locals| locals.read::<Mach::Nlist>()) {
        Some(Ok(found)) => found,
        Some(Err(())) => {
            layout.notes.add("the local symbols were ignored: they are outside the file");
            &[]
        }
        None => &[],
    };
    layout.symbols.local_strings = locals.map(|locals| locals.names);
    // In ARM files, the lowest bit of a function start marks Thumb code and is not part of the address.
    let mask = if header.cputype(LittleEndian) == macho::CPU_TYPE_ARM { !1 } else { !0 };
    let address = |offset| layout.text_address.wrapping_add(offset) & mask;
    let tables = Tables { symbols: nlists, local_symbols: local_nlists, starts, exports, address: &address };
    layout.symbols.read(data, &sections, tables, &mut layout.notes);
    Ok(layout)
}

/// Returns the range of the exports trie, if the command names it.
fn exports_range(command: LoadCommandData<'_, LittleEndian>) -> object::Result<Option<Range<u64>>> {
    let (start, size) = match command.cmd() {
        macho::LC_DYLD_EXPORTS_TRIE => {
            let found = command.data::<macho::LinkeditDataCommand<LittleEndian>>()?;
            (found.dataoff.get(LittleEndian), found.datasize.get(LittleEndian))
        }
        macho::LC_DYLD_INFO | macho::LC_DYLD_INFO_ONLY => {
            let found = command.data::<macho::DyldInfoCommand<LittleEndian>>()?;
            (found.export_off.get(LittleEndian), found.export_size.get(LittleEndian))
        }
        _ => return Ok(None),
    };
    Ok((size > 0).then(|| start.into()..u64::from(start) + u64::from(size)))
}

fn add_sections<'data, Mach: MachHeader<Endian = LittleEndian>>(
    layout: &mut Layout<'data>,
    sections: &mut Vec<Section>,
    segment: &Mach::Segment,
    section_data: &'data [u8],
) -> object::Result<()> {
    let executable = macho::S_ATTR_PURE_INSTRUCTIONS.0 | macho::S_ATTR_SOME_INSTRUCTIONS.0;
    for section in segment.sections(LittleEndian, section_data)? {
        let address = section.addr(LittleEndian).into();
        let size: u64 = section.size(LittleEndian).into();
        sections.push(Section {
            addresses: address..address.saturating_add(size),
            is_executable: section.flags(LittleEndian).0 & executable != 0,
        });
        if section.segment_name() != b"__DWARF" || size == 0 {
            continue;
        }
        // Section offsets have 32 bits, segment offsets 64. Above 4 GiB, only the latter are correct.
        let by_segment = (segment.fileoff(LittleEndian).into())
            .wrapping_add(address.wrapping_sub(segment.vmaddr(LittleEndian).into()));
        let offset = match section.offset(LittleEndian) {
            offset if by_segment as u32 == offset => by_segment,
            offset => u64::from(offset),
        };
        match layout.data.part(offset..offset.saturating_add(size)) {
            Some(_) if section.name().starts_with(b"__zdebug_") => {
                layout.notes.add("compressed DWARF sections were ignored");
            }
            Some(contents) => layout.debug.push((section.name(), contents)),
            None => {
                let name = String::from_utf8_lossy(section.name());
                layout
                    .notes
                    .add(format!("the section {name} was ignored: it is outside the file; the file is truncated"));
            }
        }
    }
    Ok(())
}
