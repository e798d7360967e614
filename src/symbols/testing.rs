//! Writes small Mach-O files for tests.

/// Addresses in these files: `__TEXT` at 1 MB, its code section 4 KB later, then data.
pub(super) const TEXT: u64 = 0x10_0000;
pub(super) const CODE: u64 = TEXT + 0x1000;
pub(super) const CODE_SIZE: u64 = 0x1000;
pub(super) const DATA: u64 = CODE + CODE_SIZE;

/// The contents of a file.
#[derive(Default)]
pub(super) struct Macho<'a> {
    /// Type (`n_type`), section starting at 1, address, name.
    pub(super) symbols: &'a [(u8, u8, u64, &'a str)],
    /// `LC_FUNCTION_STARTS`.
    pub(super) function_starts: &'a [u8],
    /// Sections of `__DWARF`: name with underscores, contents.
    pub(super) dwarf: &'a [(&'a str, &'a [u8])],
}

fn name(text: &str) -> [u8; 16] {
    let mut name = [0; 16];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    fn u64(&mut self, values: &[u64]) {
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    fn segment(&mut self, segment: &str, range: (u64, u64), sections: &[(&str, u64, u64, u32, u32)]) {
        self.u32(&[0x19, 72 + 80 * sections.len() as u32]);
        self.0.extend(name(segment));
        self.u64(&[range.0, range.1, 0, 0]);
        self.u32(&[7, 7, sections.len() as u32, 0]);
        for &(section, address, size, offset, flags) in sections {
            self.0.extend(name(section));
            self.0.extend(name(segment));
            self.u64(&[address, size]);
            self.u32(&[offset, 0, 0, 0, flags, 0, 0, 0]);
        }
    }
}

impl Macho<'_> {
    /// Writes a dSYM for arm64 with the UUID 00…0F.
    pub(super) fn write(&self) -> Vec<u8> {
        let header = 32 + 24 + (72 + 2 * 80) + (72 + 80 * self.dwarf.len()) + 24 + 16;
        let mut contents = Vec::new();
        let place = |contents: &mut Vec<u8>, bytes: &[u8]| {
            let offset = header + contents.len();
            contents.extend(bytes);
            offset as u32
        };
        let (mut nlists, mut strings) = (Vec::new(), vec![0]);
        for &(kind, section, address, name) in self.symbols {
            nlists.extend((strings.len() as u32).to_le_bytes());
            nlists.extend([kind, section, 0, 0]);
            nlists.extend(address.to_le_bytes());
            strings.extend(name.as_bytes());
            strings.push(0);
        }
        let (nlists_at, strings_at) = (place(&mut contents, &nlists), place(&mut contents, &strings));
        let starts_at = place(&mut contents, self.function_starts);
        let dwarf: Vec<_> = self
            .dwarf
            .iter()
            .map(|(name, bytes)| (*name, 0, bytes.len() as u64, place(&mut contents, bytes), 0))
            .collect();
        let mut file = Writer(Vec::new());
        file.u32(&[0xFEED_FACF, 0x0100_000C, 0, 0xA, 5, header as u32 - 32, 0, 0]);
        file.u32(&[0x1B, 24]);
        file.0.extend(0..16);
        let sections = [("__text", CODE, CODE_SIZE, 0, 0x8000_0400), ("__const", DATA, 0x100, 0, 0)];
        file.segment("__TEXT", (TEXT, 0x3000), &sections);
        // No address, so that the offsets of the sections are used.
        file.segment("__DWARF", (0, 0), &dwarf);
        file.u32(&[0x2, 24, nlists_at, self.symbols.len() as u32, strings_at, strings.len() as u32]);
        file.u32(&[0x26, 16, starts_at, self.function_starts.len() as u32]);
        assert_eq!(file.0.len(), header);
        file.0.extend(contents);
        file.0
    }
}

/// A fat file with these slices, aligned to 16 bytes.
pub(super) fn fat(slices: &[&[u8]]) -> Vec<u8> {
    let mut offset = (8 + 20 * slices.len()).next_multiple_of(16);
    let mut file = 0xCAFE_BABE_u32.to_be_bytes().to_vec();
    file.extend((slices.len() as u32).to_be_bytes());
    for slice in slices {
        for value in [0x0100_000C, 0, offset as u32, slice.len() as u32, 4] {
            file.extend(u32::to_be_bytes(value));
        }
        offset = (offset + slice.len()).next_multiple_of(16);
    }
    for slice in slices {
        file.resize(file.len().next_multiple_of(16), 0);
        file.extend(*slice);
    }
    file
}
