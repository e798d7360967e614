//! The addresses of an entry: `DW_AT_low_pc` with `DW_AT_high_pc`, or a list in `DW_AT_ranges`.

use gimli::{Attribute, AttributeValue, Range, RangeListsOffset};

use super::limits::{Budget, Bytes, Fault, UnitRef};

/// The memory for a range, in any table.
const RANGE_BYTES: usize = 32;

/// The address attributes of one entry, collected one at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RangeAttributes {
    low: Option<u64>,
    high: Option<u64>,
    /// `DW_AT_high_pc` as a size, as all compilers have written it since DWARF 4.
    size: Option<u64>,
    pub(super) list: Option<RangeListsOffset>,
}

impl RangeAttributes {
    /// Records the attribute if it is about addresses.
    #[inline(always)]
    pub(super) fn observe<'data>(
        &mut self,
        unit: UnitRef<'_, 'data>,
        attribute: &Attribute<Bytes<'data>>,
    ) -> Result<(), Fault> {
        // Values are decoded only if needed, since that takes longer than reading the attribute.
        match attribute.name() {
            gimli::DW_AT_low_pc => match attribute.value() {
                AttributeValue::Addr(address) => self.low = Some(address),
                AttributeValue::DebugAddrIndex(index) => self.low = Some(unit.address(index)?),
                _ => {}
            },
            gimli::DW_AT_high_pc => match attribute.value() {
                AttributeValue::Addr(address) => self.high = Some(address),
                AttributeValue::DebugAddrIndex(index) => self.high = Some(unit.address(index)?),
                AttributeValue::Udata(size) => self.size = Some(size),
                _ => {}
            },
            gimli::DW_AT_ranges => self.list = unit.attr_ranges_offset(attribute.value())?,
            _ => {}
        }
        Ok(())
    }

    /// `DW_AT_low_pc`.
    pub(super) fn low(&self) -> Option<u64> {
        self.low
    }

    /// The entry address: `DW_AT_low_pc`, unless it is the 0 that accompanies a list.
    pub(super) fn entry(&self) -> Option<u64> {
        self.low.filter(|&low| self.list.is_none() || low != 0)
    }

    /// Calls `add` for each non-empty range, in file order.
    pub(super) fn for_each(
        &self,
        unit: UnitRef<'_, '_>,
        budget: &Budget<'_>,
        mut add: impl FnMut(Range),
    ) -> Result<(), Fault> {
        let mut keep = |range: Range| -> Result<(), Fault> {
            if range.begin < range.end {
                budget.keep(1)?;
                budget.hold(RANGE_BYTES)?;
                add(range);
            }
            Ok(())
        };
        match *self {
            Self { list: Some(list), .. } => {
                let mut ranges = unit.ranges(list)?;
                loop {
                    budget.walk(1)?;
                    match ranges.next()? {
                        Some(range) => keep(range)?,
                        None => return Ok(()),
                    }
                }
            }
            Self { low: Some(begin), high: Some(end), .. } => keep(Range { begin, end }),
            // A function that the linker removed may begin at the highest address. Its end then wraps around, and the range is empty.
            Self { low: Some(begin), size: Some(size), .. } => keep(Range { begin, end: begin.wrapping_add(size) }),
            _ => Ok(()),
        }
    }
}
