//! The page's engine: the crate, compiled to WebAssembly.
//!
//! The page writes a request into the memory that [`reserve`] returns, calls [`open`] or [`ask`], and reads the answer at [`answer`]. `wire.rs`
//! documents the encoding of answers. The module has no imports.
//!
//! With the feature `reader`, the module also exports `read`, and imports one function.

mod answers;
mod desk;
mod open;
mod operations;
mod pair;
mod protocol;
#[cfg(all(feature = "reader", any(test, target_family = "wasm")))]
mod reader;
mod search;
#[cfg(test)]
mod types;
mod view;
mod wire;

use std::cell::RefCell;

use traceparse::settings::Program;

use crate::open::Opened;
pub use crate::wire::Refused;

/// The open recordings, and the buffers that are shared with the page.
#[derive(Default)]
struct State {
    request: Vec<u8>,
    answer: Vec<u8>,
    opened: Option<Opened>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Allocates a buffer for a request with this length in bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.request.clear();
        state.request.resize(length, 0);
        state.request.as_mut_ptr()
    })
}

/// Opens the recordings in the request: a payload, the payload of the recording before, and the facts about both that the command found. Missing
/// parts have the length 0. Returns the length of the answer.
///
/// Sentences name options of the command that made the page; in the page that reads recordings itself, they name what it can do.
#[unsafe(no_mangle)]
pub extern "C" fn open(payload: usize, before: usize, facts: usize) -> usize {
    // Only the first program has an effect.
    #[cfg(all(feature = "reader", target_family = "wasm"))]
    reader::name_settings();
    Program { command: None, write: |setting, f| write!(f, "--{}", setting.name) }.install();
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

/// Reads the recording among the dropped files in the request. Returns the length of the answer, which contains the payload to open.
///
/// From then on, sentences name what the page can do.
#[cfg(all(feature = "reader", target_family = "wasm"))]
#[unsafe(no_mangle)]
pub extern "C" fn read(length: usize) -> usize {
    reader::name_settings();
    STATE.with_borrow_mut(|state| {
        let request = std::mem::take(&mut state.request);
        // Before the memory is needed.
        state.answer = Vec::new();
        state.answer = wire::encode(reader::read(&request[..length], reader::host::Host));
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

/// Returns the address of the last answer, which is valid until the next request.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}
