//! Names as symbol files have them, demangled: Rust, C++, Swift types of the Objective-C runtime, and everything that is not mangled.
//!
//! An input is the name, UTF-8; what is not is replaced. Newer names of Swift are not tried: their demangler is C++, and ends the process,
//! and all targets with it, where one of its assertions does not hold. `tests/fuzz/swift` has a target of its own for them;
//! `TRACEPARSE_FUZZ_SWIFT=1` tries them here, too.

use traceparse::demangle::Demangler;

/// # Panics
/// When something does not hold.
pub(crate) fn check(input: &[u8]) {
    let name = String::from_utf8_lossy(input);
    if is_swift(&name) {
        return;
    }
    let shown = Demangler::default().display_name(&name);
    assert_eq!(shown, Demangler::default().display_name(&name), "the second time");
    assert_eq!(shown.is_empty(), name.is_empty(), "{name:?} is {shown:?}");
    assert!(shown == name || shown.len() <= Demangler::MAX_DEMANGLED, "{} bytes", shown.len());
    // Names that are not mangled are returned unchanged.
    let start = name.trim_start_matches('_');
    if !start.starts_with(['Z', 'R', 'T', '$', '?']) {
        assert_eq!(shown, name);
    }
}

/// True for names that may come to the demangler of Swift 4 and later.
fn is_swift(name: &str) -> bool {
    let start = name.trim_start_matches('_');
    ["$", "T0", "@"].iter().any(|prefix| start.starts_with(prefix))
        && std::env::var_os("TRACEPARSE_FUZZ_SWIFT").is_none()
}
