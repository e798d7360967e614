//! The rules for every look-up in symbol files: looking up all addresses at once returns the same as looking up each separately.

use traceparse::Diagnostic;
use traceparse::symbols::{SymbolFrame, Symbols};

/// A frame of an answer, with its own strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    function: Option<String>,
    linkage_name: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    is_inlined: bool,
}

impl From<&SymbolFrame<'_>> for Frame {
    fn from(frame: &SymbolFrame<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            function: owned(frame.function),
            linkage_name: owned(frame.linkage_name),
            file: owned(frame.file),
            line: frame.line,
            column: frame.column,
            is_inlined: frame.is_inlined,
        }
    }
}

/// The frames of each address, and what was noted.
pub(crate) type Answers = (Vec<Option<Vec<Frame>>>, Vec<Diagnostic>);

/// Looks up addresses; the answers have the form that [`Symbols::look_up`] promises.
pub(crate) fn look_up(symbols: &dyn Symbols, addresses: &[u64]) -> Answers {
    let mut answers = vec![None; addresses.len()];
    let notes = symbols.look_up(addresses, &mut |index, frames| {
        let (last, inlined) = frames.split_last().expect("an answer has frames");
        assert!(!last.is_inlined && inlined.iter().all(|frame| frame.is_inlined), "{frames:?}");
        let is_first = answers[index].replace(frames.iter().map(Frame::from).collect()).is_none();
        assert!(is_first, "address {index} is answered twice");
    });
    (answers, notes)
}

/// Looks up addresses that are sorted and distinct, all at once, and some of them alone.
pub(crate) fn check(symbols: &dyn Symbols, addresses: &[u64], choice: usize) {
    let (all, notes) = look_up(symbols, addresses);
    let again = look_up(symbols, addresses);
    assert_eq!((&all, &notes), (&again.0, &again.1), "the second time");
    let every = addresses.len().div_ceil(3).max(1);
    for index in (choice % every..addresses.len()).step_by(every) {
        let (alone, notes_alone) = look_up(symbols, &addresses[index..=index]);
        // Broken or slow parts cause a note, and prevent reading the parts after them.
        if notes.is_empty() && notes_alone.is_empty() {
            assert_eq!(alone[0], all[index], "{:#x} alone, and with others", addresses[index]);
        }
    }
}
