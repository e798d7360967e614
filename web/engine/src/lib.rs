//! The page's engine: the crate, compiled to WebAssembly.
//!
//! The page writes a request into memory that [`reserve`] returns, calls [`open`] or [`ask`], and reads the answer at [`answer`].
//! `wire.rs` has the form of an answer. There are no imports.

mod answers;
mod desk;
mod open;
mod operations;
mod pair;
mod protocol;
mod search;
#[cfg(test)]
mod types;
mod view;
mod wire;

use std::cell::RefCell;

use crate::open::Opened;
pub use crate::wire::Refused;

/// What is open, and the bytes at the boundary.
#[derive(Default)]
struct State {
    request: Vec<u8>,
    answer: Vec<u8>,
    opened: Option<Opened>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Makes room for a request of this many bytes, and returns its place.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.request.clear();
        state.request.resize(length, 0);
        state.request.as_mut_ptr()
    })
}

/// Opens the recordings in the request: a payload, then that of the recording before, and what the command found about both. Parts of
/// length 0 are missing. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn open(payload: usize, before: usize, facts: usize) -> usize {
    STATE.with_borrow_mut(|state| {
        let request = std::mem::take(&mut state.request);
        let (payload, rest) = request.split_at(payload);
        let (before, rest) = rest.split_at(before);
        let opened = Opened::new(payload, before, &rest[..facts]);
        drop(request);
        let answered = opened.map(|(opened, tables)| {
            state.opened = Some(opened);
            tables
        });
        state.answer = wire::encode(answered);
        state.answer.len()
    })
}

/// Answers the question in the request. Returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask(length: usize) -> usize {
    STATE.with_borrow_mut(|state| {
        let request = std::mem::take(&mut state.request);
        let answered = match (serde_json::from_slice(&request[..length]), &mut state.opened) {
            (Ok(question), Some(opened)) => opened.answer(&question),
            (Err(error), _) => Err(Refused(format!("this question cannot be read: {error}"))),
            (_, None) => Err(Refused("no recording is open".to_owned())),
        };
        state.answer = wire::encode(answered);
        state.answer.len()
    })
}

/// Returns the place of the last answer, which stays until the next request.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}
