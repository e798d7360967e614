//! Passes any bytes as a mangled name to the function that names frames.
#![no_main]

/// The function that libFuzzer calls for each input.
///
/// # Safety
/// `data` must point to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
    // SAFETY: libFuzzer says so.
    let data = if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, size) } };
    if let Ok(name) = std::str::from_utf8(data) {
        traceparse::demangle::Demangler::default().display_name(name);
    }
    0
}
