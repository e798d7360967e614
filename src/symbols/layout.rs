//! Finds the parts of one slice: sections, symbol table, function starts, DWARF.
//!
//! A dSYM repeats the load commands of its binary, so its sections have the binary's addresses. It has the contents of only the `__DWARF`
//! sections and the symbol table. Section names are truncated to 16 bytes: `.debug_str_offsets` is `__debug_str_offs`.

use std::io;

use object::LittleEndian;
use object::macho::{self, MachHeader32, MachHeader64};
use object::read::macho::{FunctionStartsIterator, MachHeader, Section as _, Segment};

use super::found::invalid;
use super::macho::Slice;
use super::notes::Notes;
use super::section::Section as Piece;
use super::symbol_table::{Section, SymbolTable};
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
        match data.get(0..4).and_then(<[u8]>::first_chunk).map(|magic| u32::from_le_bytes(*magic)) {
            Some(macho::MH_MAGIC_64) => read::<MachHeader64<LittleEndian>>(data).map_err(invalid),
            Some(macho::MH_MAGIC) => read::<MachHeader32<LittleEndian>>(data).map_err(invalid),
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

fn read<Mach: MachHeader<Endian = LittleEndian>>(data: Piece<'_>) -> object::Result<Layout<'_>> {
    let header = Mach::parse(data, 0)?;
    let (text_address, debug, notes) = (0, Vec::new(), Notes::default());
    let mut layout = Layout { data, text_address, debug, symbols: SymbolTable::default(), notes };
    // In the order of the load commands, since symbols refer to sections by number, from 1.
    let mut sections = Vec::new();
    let (mut nlists, mut starts) = (&[][..], FunctionStartsIterator::default());
    let mut commands = header.load_commands(LittleEndian, data, 0)?;
    while let Some(command) = commands.next()? {
        if let Some((segment, section_data)) = Mach::Segment::from_command(command)? {
            if segment.name() == b"__TEXT" {
                layout.text_address = segment.vmaddr(LittleEndian).into();
            }
            add_sections::<Mach>(&mut layout, &mut sections, segment, section_data)?;
        } else if let Some(symtab) = command.symtab()? {
            match symtab.symbols::<Mach, _>(LittleEndian, data) {
                Ok(table) => {
                    let start = u64::from(symtab.stroff.get(LittleEndian));
                    let end = start + u64::from(symtab.strsize.get(LittleEndian));
                    layout.symbols.strings = data.part(start..end.min(data.len()));
                    nlists = table.symbols();
                }
                Err(error) => layout.notes.add(format!("the symbol table was ignored: {error}")),
            }
        } else if command.cmd() == macho::LC_FUNCTION_STARTS {
            let found = command.data::<macho::LinkeditDataCommand<LittleEndian>>()?;
            match found.function_starts(LittleEndian, data, 0) {
                Ok(found) => starts = found,
                Err(error) => layout.notes.add(format!("the function starts were ignored: {error}")),
            }
        }
    }
    // In ARM files, the lowest bit of a function start marks Thumb code and is not part of the address.
    let mask = if header.cputype(LittleEndian) == macho::CPU_TYPE_ARM { !1 } else { !0 };
    let address = |offset| layout.text_address.wrapping_add(offset) & mask;
    layout.symbols.read(data, &sections, nlists, (starts, &address), &mut layout.notes);
    Ok(layout)
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
