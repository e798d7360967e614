//! The only function that the page provides: it reads a part of a dropped file.

use super::files::Source;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Reads up to `length` bytes of a file from `offset` on to the address `at`. Returns their number, or a negative number if reading fails.
    fn read(file: u32, offset: f64, at: *mut u8, length: usize) -> i32;
}

/// The dropped files, as the page reads them.
pub(crate) struct Host;

impl Source for Host {
    fn read(&self, file: u32, offset: u64, place: &mut [u8]) -> Option<usize> {
        let (at, length) = (place.as_mut_ptr(), place.len());
        // Offsets are far below 2^53, since files are limited to 4 GiB.
        // SAFETY: `place` is `length` initialised bytes that nothing else borrows during the call. The page writes at most `length` bytes to
        // `at`, and calls no function of this module before it returns, so the memory is neither moved nor freed.
        let count = unsafe { read(file, offset as f64, at, length) };
        usize::try_from(count).ok()
    }
}
