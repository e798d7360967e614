//! The widths of the parts of a row.

/// The number of digits in the time of a row and in its id. Those of the next row nearly always have as many, so the places of its parts
/// are known before they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) id: u8,
    pub(super) time: u8,
}

impl Widths {
    pub(super) fn of(id: u64, time: u64) -> Self {
        let width = |number: u64| number.checked_ilog10().map_or(1, |log| log as u8 + 1);
        Self { id: width(id), time: width(time) }
    }
}
