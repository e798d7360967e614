//! The records of a Breakpad symbol file.

use std::ops::Range;

/// Written instead of a missing name.
pub(super) const OMITTED: &str = "<name omitted>";
/// Written instead of the name of a function whose start is unknown, and instead of a missing path.
pub(super) const UNKNOWN: &str = "<unknown>";

/// A record, as far as names need it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record<'l> {
    /// `FUNC`: addresses and name. The range is empty if the size is missing or wrong: the function then only ends the `PUBLIC` before it.
    Function(Range<u64>, &'l [u8]),
    /// `PUBLIC`: address and name.
    Public(u64, &'l [u8]),
    /// `FILE`: number and path.
    File(u32, &'l [u8]),
    /// `INLINE_ORIGIN`: number and name.
    Origin(u32, &'l [u8]),
    Inline(Inline<'l>),
    Line(Line),
    /// `STACK`, which follows all other records of its function.
    Stack,
    /// `MODULE`, the first record of a file.
    Module,
    /// `INFO`, or an empty line.
    Other,
}

/// An `INLINE` record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Inline<'l> {
    /// The number of inlined functions around it.
    pub(super) depth: u32,
    pub(super) call: Place,
    /// The number of its `INLINE_ORIGIN`.
    pub(super) origin: u32,
    ranges: Fields<'l>,
}

/// A line, and the number of its `FILE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) file: u32,
}

/// A line record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) addresses: Range<u64>,
    pub(super) place: Place,
}

impl<'l> Record<'l> {
    /// Parses a line; `None` if it is malformed.
    pub(super) fn parse(line: &'l [u8]) -> Option<Self> {
        let mut fields = Fields(line);
        Some(match fields.word() {
            b"FUNC" => {
                fields.skip_multiple();
                let address = fields.hex()?;
                let range = fields.hex().and_then(|size| range(address, size)).unwrap_or(address..address);
                Self::Function(range, fields.name())
            }
            b"PUBLIC" => {
                fields.skip_multiple();
                let address = fields.hex()?;
                Self::Public(address, fields.name())
            }
            b"FILE" => Self::File(fields.decimal()?, fields.0),
            b"INLINE_ORIGIN" => Self::Origin(fields.decimal()?, fields.0),
            b"INLINE" => {
                let depth = fields.decimal()?;
                let call = Place { line: fields.decimal()?, file: fields.decimal()? };
                Self::Inline(Inline { depth, call, origin: fields.decimal()?, ranges: fields })
            }
            b"STACK" => Self::Stack,
            b"MODULE" => Self::Module,
            b"INFO" | b"" => Self::Other,
            _ => {
                let mut fields = Fields(line);
                let addresses = range(fields.hex()?, fields.hex()?)?;
                let place = Place { line: fields.decimal()?, file: fields.decimal()? };
                fields.0.is_empty().then_some(Self::Line(Line { addresses, place }))?
            }
        })
    }
}

impl Inline<'_> {
    /// Calls `add` for each address range; `None` if any of them is malformed.
    pub(super) fn for_each_range(&self, mut add: impl FnMut(Range<u64>)) -> Option<()> {
        let mut fields = self.ranges;
        while !fields.0.is_empty() {
            add(range(fields.hex()?, fields.hex()?)?);
        }
        Some(())
    }
}

/// Returns a nonempty range that ends within 64 bits.
fn range(address: u64, size: u64) -> Option<Range<u64>> {
    address.checked_add(size).filter(|_| size > 0).map(|end| address..end)
}

/// The rest of a line: fields, separated by one space each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fields<'l>(&'l [u8]);

impl<'l> Fields<'l> {
    fn word(&mut self) -> &'l [u8] {
        let end = self.0.iter().position(|&byte| byte == b' ').unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        word
    }

    /// Skips the mark of an address with several names.
    fn skip_multiple(&mut self) {
        self.0 = self.0.strip_prefix(b"m ").unwrap_or(self.0);
    }

    /// Returns the name after the size of the parameters. Without that size, it is empty, since it is unknown where the name begins.
    fn name(&mut self) -> &'l [u8] {
        self.hex().map_or(b"", |_| self.0)
    }

    fn hex(&mut self) -> Option<u64> {
        number(self.word(), 16)
    }

    fn decimal(&mut self) -> Option<u32> {
        number(self.word(), 10).and_then(|number| u32::try_from(number).ok())
    }
}

fn number(word: &[u8], radix: u32) -> Option<u64> {
    let add = |sum: u64, &byte: &u8| {
        let digit = char::from(byte).to_digit(radix)?;
        sum.checked_mul(radix.into())?.checked_add(digit.into())
    };
    word.iter().try_fold(0, add).filter(|_| !word.is_empty())
}
