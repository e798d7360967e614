//! Rust names, as linkers write them and as Instruments and `sample` record them.
//!
//! ```text
//! _RNvNtCs5DoWq9S2XkN_4demo6shapes5total                                v0
//! _ZN4demo6shapes5total17h0123456789abcdefE.llvm.77                     legacy
//! demo::shapes::total::h0123456789abcdef (.llvm.77)                     legacy, as recorded
//! demo::shapes::total                                                   as displayed
//! ```
//!
//! Apple's tools demangle legacy names as C++, which leaves their escapes (`$LT$`) and the hash of the instance. Such a name is converted
//! back to the linker's name, so a function has one spelling from every source.

use std::borrow::Cow;
use std::fmt::Write;

use crate::demangle::error::Bounded;

/// The number of hash digits at the end of legacy names.
const HASH_DIGITS: usize = 16;

/// Demangles a name, and removes its hash and the suffix that LLVM adds. `None` if it is not a Rust name, or would have more than `longest`
/// bytes.
pub(super) fn demangled(name: &str, longest: usize) -> Option<String> {
    let mangled = if is_v0(name) || is_legacy(name) { Cow::Borrowed(name) } else { Cow::Owned(linker_name(name)?) };
    let demangled = rustc_demangle::try_demangle(&mangled).ok()?;
    let mut text = Bounded { text: String::new(), longest };
    // A name with references to itself may expand to a million times its mangled length.
    write!(text, "{demangled:#}").ok()?;
    Some(text.text)
}

fn is_v0(name: &str) -> bool {
    name.starts_with("_R") || name.starts_with("__R")
}

/// True for a mangled name that ends in `17h0123456789abcdefE`, with an optional suffix such as `.llvm.77`. All other names are C++.
fn is_legacy(name: &str) -> bool {
    let is_mangled = name.starts_with("_ZN") || name.starts_with("__ZN");
    let hash = || name.rsplit_once("17h")?.1.split_at_checked(HASH_DIGITS);
    is_mangled && hash().is_some_and(|(hash, end)| is_hash(hash.as_bytes()) && (end == "E" || end.starts_with("E.")))
}

/// Returns the linker's name for a recorded path that ends in `::h` and a hash. Checks the end first, since most names do not have this
/// form.
fn linker_name(recorded: &str) -> Option<String> {
    let (path, suffix) = match recorded.strip_suffix(')') {
        Some(inner) => inner.split_at(memchr::memrchr(b'(', inner.as_bytes())?),
        None => (recorded, ""),
    };
    let path = if suffix.is_empty() { path } else { path.strip_suffix(' ').filter(|_| suffix.starts_with("(."))? };
    let (_, hash) = path.as_bytes().split_at_checked(path.len().checked_sub("::h".len() + HASH_DIGITS + 1)?)?;
    let has_hash = hash[1..].strip_prefix(b"::h").is_some_and(is_hash);
    // A number at the start of an element would be read as its length.
    if !has_hash || path.split("::").any(|element| element.starts_with(|first: char| first.is_ascii_digit())) {
        return None;
    }
    let mut mangled = String::with_capacity(2 * recorded.len());
    mangled.push_str("_ZN");
    path.split("::").try_for_each(|element| write!(mangled, "{}{element}", element.len())).ok()?;
    mangled.push('E');
    mangled.push_str(suffix.trim_start_matches('('));
    Some(mangled)
}

fn is_hash(digits: &[u8]) -> bool {
    digits.len() == HASH_DIGITS && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> Option<String> {
        demangled(name, 1 << 16)
    }

    #[test]
    fn spells_recorded_names_as_those_of_linkers() {
        for (path, expected) in [
            ("app::run", "app::run"),
            ("std::rt::run::_$u7b$$u7b$closure$u7d$$u7d$", "std::rt::run::{{closure}}"),
            ("a::_$LT$impl$u20$b..C$u20$for$u20$i32$GT$::lt", "a::<impl b::C for i32>::lt"),
            ("core::ptr::drop_in_place$LT$a..B$GT$", "core::ptr::drop_in_place<a::B>"),
            ("a::_b::_", "a::_b::_"),
            ("_$LT$a..B$LT$T$GT$$u20$as$u20$c..D$GT$::next", "<a::B<T> as c::D>::next"),
            ("_start", "_start"),
            ("a.b", "a.b"),
            ("price$", "price$"),
            ("a$u110000$b$LT$", "a$u110000$b$LT$"),
            ("Read::read", "Read::read"),
        ] {
            for (hash, suffix) in [("h2640131654657f56", ""), ("hf9c9d8b5165416db", ".llvm.16423")] {
                let recorded_suffix = if suffix.is_empty() { String::new() } else { format!(" ({suffix})") };
                let recorded = format!("{path}::{hash}{recorded_suffix}");
                assert_eq!(shown(&recorded).as_deref(), Some(expected), "{recorded}");
                let elements: String = path.split("::").map(|element| format!("{}{element}", element.len())).collect();
                let linker = format!("_ZN{elements}17{hash}E{suffix}");
                assert_eq!(shown(&linker).as_deref(), Some(expected), "{linker}");
            }
        }
    }

    #[test]
    fn keeps_parts_that_a_compiler_splits_off() {
        for name in ["a::b::h0123456789abcdef (.cold.1)", "_ZN1a1b17h0123456789abcdefE.cold.1"] {
            assert_eq!(shown(name).as_deref(), Some("a::b.cold.1"), "{name}");
        }
    }

    #[test]
    fn reads_no_other_names() {
        for other in [
            "std::vector<int>::push_back",
            "f(int)",
            "f() (.cold)",
            "-[X y]",
            "$s4main3fooyyF",
            "a::h12",
            "::h2640131654657f56",
            "a::1b::h2640131654657f56",
            "a::hG640131654657f56",
            "f(a::h2640131654657f56)",
            "_ZN3foo4headE",
            "_ZN3foo17h0123456789abcdefE3barEv",
            "RC4test",
            "ZN3foo17h0123456789abcdefE",
            "",
            ")",
            " (.llvm.1)",
        ] {
            assert_eq!(shown(other), None, "{other}");
        }
    }
}
