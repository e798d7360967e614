//! Converts recorded addresses to the addresses to look up.
//!
//! Each generation of Instruments adds a different bias to addresses. On arm64, where instructions have 4 bytes:
//!
//! | stacks | leaf | caller |
//! |---|---|---|
//! | fragments with a final 0 (Xcode 12) | the instruction | inside the call |
//! | fragments without it (13 to 14.2), frames up to 26.5 | the instruction + 1 | the return address |
//! | frames since 27 | the instruction + 1 | the return address − 1, which is inside the call |
//! | `kperf-bt` (`time-sample`) | the instruction | the return address |
//!
//! No version number identifies the frames "since 27", but their caller addresses do: they are 3 modulo 4, unlike any return address. x86_64 has
//! no such sign, but `address − 1` is always correct: it removes the bias of a leaf, and one or two bytes before a return address are still
//! inside the call, since every call instruction is longer.

use std::ops::Range;

use crate::units::Address;

/// The form in which a frame was written, as far as one frame can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FrameForm {
    /// A `<frame>` element.
    Listed,
    /// An address of a fragment (`text-addresses` in a `backtrace`).
    Fragment,
    /// The program counter of a `kperf-bt`.
    KperfLeaf,
    /// A return address of a `kperf-bt`.
    KperfCaller,
}

/// The address conventions found in one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conventions {
    /// Callers are already inside the call (Xcode 27): one in an arm64 binary has an address of 3 modulo 4.
    pub(crate) callers_are_inside_call: bool,
    /// Addresses are exact (Xcode 12): a fragment ends with a 0.
    pub(crate) fragments_end_with_zero: bool,
}

impl Conventions {
    /// Returns the address to look up for `recorded`. `is_x86` is true if the architecture of its binary is known to be x86.
    pub(super) fn lookup_address(
        self,
        form: FrameForm,
        recorded: Address,
        image: Option<Address>,
        is_x86: bool,
    ) -> Address {
        let plain = recorded.without_authentication();
        let address = image.map_or(plain, |image| recorded.without_authentication_in(image));
        let is_exact = match form {
            FrameForm::Listed => self.callers_are_inside_call && !is_x86 && address.get() % 4 != 1,
            FrameForm::Fragment => self.fragments_end_with_zero,
            FrameForm::KperfLeaf => true,
            FrameForm::KperfCaller => false,
        };
        if is_exact { address } else { address.before() }
    }
}

/// Returns the range of return addresses among the numbers of a `kperf-bt`, which ends before the final 0.
///
/// A snapshot (`Stackshot`) has no final 0 and may repeat the program counter as the first return address. If the leaf function has no frame
/// record, its caller is only in the link register and missing from the list. The recording does not mark these cases, so the caller is missing
/// here, although `time-profile` has it.
pub(crate) fn kperf_callers(pc: Option<u64>, numbers: &[u64]) -> Range<usize> {
    match numbers {
        [.., 0] => 0..numbers.len() - 1,
        [first, ..] if Some(*first) == pc => 1..numbers.len(),
        _ => 0..numbers.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(conventions: Conventions, form: FrameForm, address: u64) -> u64 {
        conventions.lookup_address(form, Address::new(address), None, false).get()
    }

    #[test]
    fn each_generation_finds_the_instruction() {
        let old = Conventions::default();
        let new = Conventions { callers_are_inside_call: true, ..old };
        let xcode12 = Conventions { fragments_end_with_zero: true, ..old };
        // The leaf is at 0x1000. Its caller made the call at 0x2000, and the call returns to 0x2004.
        assert_eq!(lookup(old, FrameForm::Listed, 0x1001), 0x1000);
        assert_eq!(lookup(old, FrameForm::Listed, 0x2004), 0x2003);
        assert_eq!(lookup(new, FrameForm::Listed, 0x1001), 0x1000);
        assert_eq!(lookup(new, FrameForm::Listed, 0x2003), 0x2003);
        assert_eq!(lookup(xcode12, FrameForm::Fragment, 0x1000), 0x1000);
        assert_eq!(lookup(xcode12, FrameForm::Fragment, 0x2002), 0x2002);
        assert_eq!(lookup(old, FrameForm::Fragment, 0x1001), 0x1000);
        assert_eq!(lookup(old, FrameForm::KperfLeaf, 0x1000), 0x1000);
        assert_eq!(lookup(old, FrameForm::KperfCaller, 0x2004), 0x2003);
    }

    #[test]
    fn x86_is_always_one_byte_before() {
        let new = Conventions { callers_are_inside_call: true, ..Conventions::default() };
        assert_eq!(new.lookup_address(FrameForm::Listed, Address::new(0x2003), None, true), Address::new(0x2002));
    }
}
