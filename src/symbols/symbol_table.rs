//! The symbol table: function names by start address.
//!
//! The linker names the outermost function better than DWARF does: DWARF often has a bare `Update` or `deinit` where the symbol is `$s6Sentry…`.
//! Library code without DWARF has no other names.
//!
//! # Which symbols are used
//!
//! Only symbols defined in a section with instructions, with an address inside that section. Debugging entries (STABs, written by the linker for
//! dsymutil), data, absolute symbols and `__mh_execute_header` are skipped. An image in a dyld shared cache has up to three tables: the symbol
//! table, the local symbols, and the exports, which are used at addresses without an external symbol. If the cache has no local symbols, some
//! have the name `<redacted>`, which is the start of an unnamed function.
//!
//! # How far a symbol extends
//!
//! Mach-O symbols have no sizes. A symbol extends to the next symbol, to the next start in `LC_FUNCTION_STARTS` (which has a start for each
//! function, even if `strip` removed its name), or to the end of its section. If only exports are known (neither `LC_FUNCTION_STARTS` nor a local
//! symbol), a symbol extends at most [`LONGEST_FUNCTION`], since the next export may be megabytes away.
//!
//! # Underscore
//!
//! The compiler adds one `_` to each name that it passes to the assembler. Exactly one is removed, which yields the name in the language and in
//! DWARF:
//!
//! | symbol | name | |
//! |---|---|---|
//! | `_main` | `main` | C |
//! | `__ZN3foo3barEv` | `_ZN3foo3barEv` | C++, Rust (legacy) |
//! | `__RNvC4demo3run` | `_RNvC4demo3run` | Rust (v0) |
//! | `_$s4Demo6WidgetC` | `$s4Demo6WidgetC` | Swift; `__T0…` of Swift 4 becomes `_T0…` |
//! | `___28+[Widget shared]_block_invoke` | `__28+[Widget shared]_block_invoke` | a block |
//! | `-[Widget draw]` | `-[Widget draw]` | Objective-C names have no underscore, so nothing is removed |
//! | `__hidden#12_` | `__hidden#12_` | Bitcode hid the name; the text is the key to a BCSymbolMap and stays unchanged |

use std::cell::OnceCell;
use std::ops::Range;

use object::LittleEndian;
use object::read::macho::{FunctionStartsIterator, Nlist};

use super::exports;
use super::notes::Notes;
use super::section::Section as Piece;
use crate::units::LONGEST_FUNCTION;

/// The longest name. Without a limit, each name in a string table without NULs would be read to the table's end.
const MAX_NAME_LENGTH: u64 = 1 << 20;

/// The total length of exported names, as a multiple of the size of their trie. In real tries, names share prefixes, and are at most a few times
/// as long together.
const MOST_EXPANSION: usize = 64;

/// The name of local symbols that a dyld shared cache does not contain.
const REDACTED: &str = "<redacted>";

/// A section: its addresses, and whether it is executable.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) addresses: Range<u64>,
    /// True if it contains instructions.
    pub(super) is_executable: bool,
}

/// The start of a function.
#[derive(Clone, Copy, Debug)]
struct Start {
    address: u64,
    /// The position of its name; 0 if only the start is known.
    name: u32,
    rank: Rank,
}

/// The order of preference among symbols at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Visible outside of its file.
    External,
    /// In the exports, but not in the symbol table.
    Exported,
    /// Only visible in its file.
    Local,
    /// In the local symbols of a dyld shared cache.
    CachedLocal,
    Nameless,
}

/// The tables that symbols come from.
pub(super) struct Tables<'a, 'data, Symbol> {
    pub(super) symbols: &'a [Symbol],
    pub(super) local_symbols: &'a [Symbol],
    /// The exports, and where their names are kept.
    pub(super) exports: Option<(Piece<'data>, &'data OnceCell<Vec<u8>>)>,
    /// The function starts, relative to the Mach-O header.
    pub(super) starts: FunctionStartsIterator<'a>,
    /// Converts an offset from the Mach-O header to an address.
    pub(super) address: &'a dyn Fn(u64) -> u64,
}

/// Function names by address.
#[derive(Debug, Default)]
pub(super) struct SymbolTable<'data> {
    /// Sorted by address, then rank, then file order.
    starts: Vec<Start>,
    /// The addresses of executable sections, sorted.
    sections: Vec<Range<u64>>,
    /// True if there are starts besides exports.
    has_other_starts: bool,
    pub(super) strings: Option<Piece<'data>>,
    /// The names of [`Rank::CachedLocal`].
    pub(super) local_strings: Option<Piece<'data>>,
    /// The names of [`Rank::Exported`], each followed by a NUL. The first byte is unused, so no name has the position 0.
    exported: &'data [u8],
}

impl<'data> SymbolTable<'data> {
    /// Reads the symbols of an image, and the offsets at which functions start. Unreadable parts are left out, with a note.
    pub(super) fn read<Symbol: Nlist<Endian = LittleEndian>>(
        &mut self,
        data: Piece<'_>,
        sections: &[Section],
        tables: Tables<'_, 'data, Symbol>,
        notes: &mut Notes,
    ) {
        let Tables { symbols, local_symbols, exports, starts, address } = tables;
        let executable = sections.iter().filter(|section| section.is_executable);
        self.sections = executable.map(|section| section.addresses.clone()).collect();
        self.sections.sort_unstable_by_key(|addresses| addresses.start);
        // Without enough memory, the file is rejected anyway, so no note is needed.
        if data.reserve(((symbols.len() + local_symbols.len()) * size_of::<Start>()) as u64).is_some() {
            self.add_symbols(symbols, sections, Rank::Local);
            self.add_symbols(local_symbols, sections, Rank::CachedLocal);
        }
        self.add_function_starts(data, (starts, address), notes);
        self.sort();
        if let Some((trie, names)) = exports {
            let found = self.add_exports(trie, address, notes);
            self.exported = names.get_or_init(|| found);
            self.sort();
        }
    }

    fn sort(&mut self) {
        // Symbols are mostly sorted, which makes a stable sort fast.
        self.starts.sort_by_key(|start| (start.address, start.rank));
    }

    fn add_symbols<Symbol: Nlist<Endian = LittleEndian>>(
        &mut self,
        symbols: &[Symbol],
        sections: &[Section],
        local: Rank,
    ) {
        for symbol in symbols {
            let section = usize::from(symbol.n_sect()).checked_sub(1).and_then(|index| sections.get(index));
            let address = symbol.n_value(LittleEndian).into();
            let name = symbol.n_strx(LittleEndian);
            if symbol.is_definition()
                && section.is_some_and(|section| section.is_executable && section.addresses.contains(&address))
                && name != 0
            {
                let is_external = symbol.n_type().is_ext() && local == Rank::Local;
                let rank = if is_external { Rank::External } else { local };
                self.has_other_starts |= !is_external;
                self.starts.push(Start { address, name, rank });
            }
        }
    }

    fn add_function_starts(
        &mut self,
        data: Piece<'_>,
        (mut offsets, address): (FunctionStartsIterator<'_>, &dyn Fn(u64) -> u64),
        notes: &mut Notes,
    ) {
        loop {
            match offsets.next() {
                Ok(None) => return,
                Ok(Some(offset)) => {
                    if self.starts.len() == self.starts.capacity()
                        && data.reserve(self.starts.len().max(1024) as u64 * size_of::<Start>() as u64).is_none()
                    {
                        return;
                    }
                    self.starts.push(Start { address: address(offset), name: 0, rank: Rank::Nameless });
                    self.has_other_starts = true;
                }
                Err(error) => return notes.add(format!("some function starts could not be read: {error}")),
            }
        }
    }

    /// Adds the exported functions at whose addresses the symbol table has no external symbol. Returns their names.
    fn add_exports(&mut self, trie: Piece<'_>, address: &dyn Fn(u64) -> u64, notes: &mut Notes) -> Vec<u8> {
        let bytes = trie.all();
        let most = bytes.len().saturating_mul(MOST_EXPANSION).min(u32::MAX as usize);
        let (mut starts, mut names) = (Vec::new(), vec![0]);
        let read = exports::for_each(bytes, &mut |offset, name| {
            let address = address(offset);
            if self.is_external(address) || self.section(address).is_none() {
                return Ok(());
            }
            if names.len() + name.len() > most {
                return Err("its names are too long");
            }
            starts.push(Start { address, name: names.len() as u32, rank: Rank::Exported });
            names.extend(name);
            names.push(0);
            let taken = (name.len() + 1 + size_of::<Start>()) as u64;
            trie.reserve(taken).ok_or("it takes more memory than the limit allows")
        });
        if let Err(what) = read {
            notes.add(format!("some exports could not be read: {what}"));
        }
        self.starts.append(&mut starts);
        names
    }

    /// True if an external symbol of the symbol table starts here. The starts must be sorted.
    fn is_external(&self, address: u64) -> bool {
        self.starts.binary_search_by_key(&(address, Rank::External), |start| (start.address, start.rank)).is_ok()
    }

    /// Returns the executable section that contains an address.
    fn section(&self, address: u64) -> Option<&Range<u64>> {
        let section = self.sections.partition_point(|addresses| addresses.start <= address).checked_sub(1)?;
        Some(&self.sections[section]).filter(|section| section.contains(&address))
    }

    /// Returns the names of functions that start exactly here, best first.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &'data str> {
        let first = self.starts.partition_point(|start| start.address < address);
        let starts = self.starts[first..].iter().take_while(move |start| start.address == address);
        starts.filter_map(|start| self.name(*start))
    }

    /// Returns the function that contains this address: its start, and its name if it has one.
    pub(super) fn containing(&self, address: u64) -> Option<(u64, Option<&'data str>)> {
        let section = self.section(address)?;
        let last = self.starts.partition_point(|start| start.address <= address).checked_sub(1)?;
        let start = self.starts[last].address;
        let is_near = self.has_other_starts || address - start <= LONGEST_FUNCTION;
        (section.contains(&start) && is_near).then(|| (start, self.at(start).next()))
    }

    /// Calls `add` with the addresses at which [`containing`](Self::containing) may change.
    pub(super) fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) {
        self.sections.iter().flat_map(|section| [section.start, section.end]).for_each(&mut *add);
        for &Start { address, .. } in &self.starts {
            add(address);
            if !self.has_other_starts {
                add(address.saturating_add(LONGEST_FUNCTION + 1));
            }
        }
    }

    fn name(&self, start: Start) -> Option<&'data str> {
        if start.name == 0 {
            return None;
        }
        let name = match start.rank {
            Rank::Exported => self.exported.get(start.name as usize..)?.split(|&byte| byte == 0).next()?,
            Rank::CachedLocal => self.local_strings?.text(start.name.into(), MAX_NAME_LENGTH)?,
            _ => self.strings?.text(start.name.into(), MAX_NAME_LENGTH)?,
        };
        let name = std::str::from_utf8(name).ok()?;
        Some(without_underscore(name)).filter(|name| !matches!(*name, "" | REDACTED))
    }
}

/// Removes the `_` that Mach-O adds.
fn without_underscore(name: &str) -> &str {
    if name.starts_with("__hidden#") { name } else { name.strip_prefix('_').unwrap_or(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileBytes;
    use crate::symbols::layout::Layout;
    use crate::symbols::macho::Slice;
    use crate::symbols::testing::{CODE, CODE_SIZE, DATA, Macho, TEXT};

    const LOCAL: u8 = 0xE;
    const EXTERNAL: u8 = 0xF;
    const STAB: u8 = 0x24;

    fn with_table(macho: &Macho<'_>, test: impl FnOnce(&SymbolTable<'_>)) {
        let file = macho.write();
        let slices = Slice::all(&file).unwrap();
        let bytes = FileBytes::from(file);
        let layout = Layout::read(&bytes, &slices[0]).unwrap();
        test(&layout.symbols);
        assert_eq!(layout.notes.into_vec(), []);
    }

    #[test]
    fn a_symbol_reaches_to_the_next_one_or_the_end_of_its_section() {
        let symbols = [
            (EXTERNAL, 1, TEXT, "__mh_execute_header"),
            (EXTERNAL, 1, CODE + 0x40, "_second"),
            (EXTERNAL, 1, CODE + 0x10, "_first"),
            (STAB, 1, CODE + 0x18, "_debugging_entry"),
            (EXTERNAL, 2, DATA, "_data"),
            (EXTERNAL, 2, CODE + 0x20, "_in_another_section"),
            (2, 0, CODE + 0x24, "_absolute"),
            (EXTERNAL, 99, CODE + 0x28, "_in_no_section"),
        ];
        with_table(&Macho { symbols: &symbols, ..Macho::default() }, |table| {
            assert_eq!(table.containing(TEXT), None);
            assert_eq!(table.containing(CODE + 0xF), None);
            assert_eq!(table.containing(CODE + 0x10), Some((CODE + 0x10, Some("first"))));
            assert_eq!(table.containing(CODE + 0x3F), Some((CODE + 0x10, Some("first"))));
            assert_eq!(table.containing(CODE + 0x40), Some((CODE + 0x40, Some("second"))));
            assert_eq!(table.containing(CODE + CODE_SIZE - 1), Some((CODE + 0x40, Some("second"))));
            assert_eq!(table.containing(DATA), None);
            assert_eq!(table.at(CODE + 0x41).next(), None);
        });
    }

    #[test]
    fn a_function_that_lost_its_name_does_not_get_that_of_the_one_before() {
        let symbols = [(EXTERNAL, 1, CODE, "_named"), (EXTERNAL, 1, CODE + 0x80, "_later")];
        // 0x1000, 0x1020, 0x1080.
        let starts = [0x80, 0x20, 0x20, 0x60, 0, 0, 0, 0];
        with_table(&Macho { symbols: &symbols, function_starts: &starts, ..Macho::default() }, |table| {
            assert_eq!(table.containing(CODE + 0x1F), Some((CODE, Some("named"))));
            assert_eq!(table.containing(CODE + 0x20), Some((CODE + 0x20, None)));
            assert_eq!(table.containing(CODE + 0x7F), Some((CODE + 0x20, None)));
            assert_eq!(table.containing(CODE + 0x80), Some((CODE + 0x80, Some("later"))));
        });
    }

    #[test]
    fn an_export_that_is_far_away_names_no_function() {
        let start = Start { address: CODE, name: 0, rank: Rank::External };
        let exports = SymbolTable {
            starts: vec![start],
            sections: std::iter::once(CODE..CODE + (1 << 30)).collect(),
            ..SymbolTable::default()
        };
        assert_eq!(exports.containing(CODE + LONGEST_FUNCTION), Some((CODE, None)));
        assert_eq!(exports.containing(CODE + LONGEST_FUNCTION + 1), None);
        let complete = SymbolTable { has_other_starts: true, ..exports };
        assert_eq!(complete.containing(CODE + LONGEST_FUNCTION + 1), Some((CODE, None)));
    }

    #[test]
    fn of_several_names_the_external_one_is_first() {
        let symbols = [(LOCAL, 1, CODE, "_local"), (EXTERNAL, 1, CODE, "_external"), (EXTERNAL, 1, CODE, "_alias")];
        with_table(&Macho { symbols: &symbols, ..Macho::default() }, |table| {
            assert_eq!(table.at(CODE).collect::<Vec<_>>(), ["external", "alias", "local"]);
            assert_eq!(table.containing(CODE + 1), Some((CODE, Some("external"))));
        });
    }

    #[test]
    fn exactly_one_underscore_is_taken_off() {
        for (symbol, name) in [
            ("_main", "main"),
            ("__ZN3foo3barEv", "_ZN3foo3barEv"),
            ("__RNvC4demo3run", "_RNvC4demo3run"),
            ("_$s4Demo6WidgetC", "$s4Demo6WidgetC"),
            ("__T04Demo", "_T04Demo"),
            ("-[Widget draw]", "-[Widget draw]"),
            ("___28+[Widget shared]_block_invoke", "__28+[Widget shared]_block_invoke"),
            ("__hidden#12_", "__hidden#12_"),
            ("_OUTLINED_FUNCTION_7", "OUTLINED_FUNCTION_7"),
        ] {
            assert_eq!(without_underscore(symbol), name);
        }
    }
}
