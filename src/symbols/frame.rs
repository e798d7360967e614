//! The interface of all symbol files: addresses in, frames out.
//!
//! An address at which functions are inlined into each other has one frame for each, innermost first. The source position of the innermost frame
//! belongs to the address itself; every other frame has the position of its call to the previous one.
//!
//! ```text
//! clamp   (inlined)  util.h:12     the instruction
//! scale   (inlined)  image.cc:88   calls clamp
//! draw               image.cc:140  calls scale
//! ```

use crate::error::Diagnostic;

/// A frame of an answer. The frames of an answer are ordered innermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolFrame<'a> {
    /// The function's name as in the file, mangled or not; `None` if it has no name.
    pub function: Option<&'a str>,
    /// The linkage (mangled) name, if it differs from `function`.
    pub linkage_name: Option<&'a str>,
    /// The source file, with the folder recorded in the symbol file.
    pub file: Option<&'a str>,
    /// The line, from 1. `Some(0)` is compiler-generated code that belongs to no line; `None` means that the symbol file does not contain the
    /// line.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// True if this function was inlined into the next frame, as every frame but the last is.
    pub is_inlined: bool,
    /// The distance in bytes from the start of the function to the address; `None` for inlined functions, or if the start is unknown. A frame
    /// with nothing else belongs to a function with a known start but no name.
    pub offset: Option<u64>,
    /// The names of other symbols at the start of the function. Empty for inlined functions.
    pub aliases: &'a [&'a str],
}

/// The names of a function in answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Called<'a> {
    pub(super) function: Option<&'a str>,
    /// The linkage name, if it differs from the name.
    pub(super) linkage_name: Option<&'a str>,
}

impl<'a> Called<'a> {
    pub(super) fn new(function: Option<&'a str>, linkage_name: Option<&'a str>) -> Self {
        Self { function, linkage_name: linkage_name.filter(|_| linkage_name != function) }
    }
}

/// A source position.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Location<'a> {
    pub(super) file: Option<&'a str>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

impl<'a> Location<'a> {
    /// Creates the frame of a function at this position.
    pub(super) fn frame(self, called: Called<'a>, is_inlined: bool) -> SymbolFrame<'a> {
        let Called { function, linkage_name } = called;
        let Self { file, line, column } = self;
        SymbolFrame { function, linkage_name, file, line, column, is_inlined, ..SymbolFrame::default() }
    }
}

/// An open symbol file for one binary.
pub trait Symbols {
    /// Looks up sorted, distinct addresses, relative to the start of `__TEXT` (the Mach-O header).
    ///
    /// Calls `answer(index, frames)` in any order and at most once for each index into `addresses`: never for an unknown address, and with at
    /// least one frame. The frames are valid during the call.
    ///
    /// Returns diagnostics about parts of the file that could not be used.
    fn look_up(&self, addresses: &[u64], answer: &mut dyn FnMut(usize, &[SymbolFrame<'_>])) -> Vec<Diagnostic>;

    /// Calls `add` with every address at which the answer may change, in any order and possibly several times: starts and ends of functions,
    /// inlined functions and lines. All addresses from one of them to the next have the same frames, apart from offsets. Addresses before the
    /// first one and after the last one are unknown.
    ///
    /// Returns diagnostics about parts of the file that could not be used.
    fn for_each_boundary(&self, add: &mut dyn FnMut(u64)) -> Vec<Diagnostic>;
}
