//! The depth at which frames are inlined.

use crate::profile::Frame;

/// The depth at which a frame is inlined at its address. It is marked in two ways ([`Frame::is_inlined`]): recordings mark the outer frames
/// of an address, symbol files the inner ones. The outermost frame of the address shows which way applies.
#[derive(Clone, Copy)]
pub(super) struct Inlining {
    pub(super) depth: u32,
    marks: Marks,
}

/// The marks that frames further in may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// The outermost was marked: so are all but the innermost.
    Outer,
    /// The outermost was not marked: all others are.
    Inner,
    /// The innermost was seen: the next frame is a call, even if it has the same address.
    Done,
}

impl Inlining {
    pub(super) fn of(frame: &Frame, caller: Option<(&Frame, Self)>) -> Self {
        let beside = caller.filter(|(caller, _)| caller.address == frame.address && caller.binary == frame.binary);
        match (beside, frame.is_inlined) {
            (Some((_, Self { depth, marks: Marks::Outer })), false) => Self { depth: depth + 1, marks: Marks::Done },
            (Some((_, Self { depth, marks: marks @ (Marks::Outer | Marks::Inner) })), true) => {
                Self { depth: depth + 1, marks }
            }
            (_, true) => Self { depth: 0, marks: Marks::Outer },
            (_, false) => Self { depth: 0, marks: Marks::Inner },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileBuilder;
    use crate::units::Address;

    /// The depths of frames from the root on, each an address and its mark.
    fn depths(frames: &[(u64, bool)]) -> Vec<u32> {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("work").unwrap();
        let function = builder.function(name, None, true).unwrap();
        let frame = |&(address, is_inlined): &(u64, bool)| {
            let address = Address::new(address);
            Frame { function, binary: None, address, lookup_address: address, source: None, is_inlined }
        };
        let frames: Vec<Frame> = frames.iter().map(frame).collect();
        let mut inlining: Vec<Inlining> = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let caller = index.checked_sub(1).map(|caller| (&frames[caller], inlining[caller]));
            inlining.push(Inlining::of(frame, caller));
        }
        inlining.into_iter().map(|inlining| inlining.depth).collect()
    }

    #[test]
    fn symbol_files_mark_the_inner_frames() {
        assert_eq!(depths(&[(1, false), (2, false), (2, true), (2, true), (3, false)]), [0, 0, 1, 2, 0]);
        // A call of the same address: recursion.
        assert_eq!(depths(&[(2, false), (2, true), (2, false), (2, true)]), [0, 1, 0, 1]);
        assert_eq!(depths(&[(2, false), (2, false)]), [0, 0]);
    }

    #[test]
    fn recordings_mark_the_outer_frames() {
        assert_eq!(depths(&[(1, false), (2, true), (2, false), (3, false)]), [0, 0, 1, 0]);
        assert_eq!(depths(&[(2, true), (2, false), (2, true), (2, false)]), [0, 1, 0, 1]);
        assert_eq!(depths(&[(2, true), (2, true), (2, false)]), [0, 1, 2]);
        // A marked frame without others at its address.
        assert_eq!(depths(&[(1, true), (2, true), (3, false)]), [0, 0, 0]);
    }
}
