//! Names inside display strings (`fmt`) and half-demangled Rust names.
//!
//! Numbers never come from `fmt`, which follows the recorded machine's locale; names come from nowhere else:
//!
//! ```text
//! thread   Main Thread  0x8480c1 (app, pid: 49374)      Xcode 12 to 14.3: two spaces before the tid
//!          Finder 0x644a1c3 (Finder, pid: 751)          26.2: one space
//!          Main Thread (0x13e4cf3) (a.out, pid: 34963)  since 26.4: the tid in parentheses
//! process  a.out (34963)
//! core     CPU 3 (P Core)
//! backtrace  write ← (2 other frames)                   up to 14.2: the only symbol of the stack
//! ```
//!
//! Names hold spaces, parentheses and `#` themselves (`GC task thread#4 (ParallelGC)`), so strings are read from the
//! right, and by the number they are known to hold.

use std::borrow::Cow;

use crate::recording::without_tid;

/// The name in the `fmt` of a thread whose number is known.
pub(super) fn thread_name(fmt: &str, tid: Option<u64>) -> &str {
    let behind_tid = tid.and_then(|tid| {
        let number = format!("0x{tid:x}");
        let behind = |text: String, owner: usize| fmt.rfind(&text).map(|at| at + text.len() - owner);
        Some((behind(format!("({number})"), 0).max(behind(format!("{number} ("), 2))?, tid))
    });
    if let Some((end, tid)) = behind_tid {
        return without_tid(&fmt[..end], tid).trim_start();
    }
    // Without the number (names scrubbed, tid edited): the last token that looks like one.
    let end = fmt.rfind(" (0x").or_else(|| fmt.rfind(" 0x")).unwrap_or_else(|| {
        let owner = fmt.rfind(", pid: ").and_then(|comma| fmt[..comma].rfind(" ("));
        owner.unwrap_or(fmt.len())
    });
    fmt[..end].trim()
}

/// The name in the `fmt` of a process whose number is known: without ` (PID)` at the end.
pub(super) fn process_name(fmt: &str, pid: Option<u64>) -> &str {
    let known = pid.and_then(|pid| fmt.strip_suffix(&format!("({pid})")));
    let name = known.or_else(|| {
        let inner = fmt.strip_suffix(')')?;
        let open = inner.rfind(" (")?;
        inner[open + 2..].bytes().all(|byte| byte.is_ascii_digit()).then_some(&fmt[..open])
    });
    name.unwrap_or(fmt).trim()
}

/// The kind in the `fmt` of a core, such as `P Core`.
pub(super) fn core_kind(fmt: &str) -> Option<&str> {
    let (_, rest) = fmt.split_once('(')?;
    Some(rest.strip_suffix(')')?.trim()).filter(|kind| !kind.is_empty())
}

/// The name of the leaf in the `fmt` of a backtrace.
pub(super) fn leaf_name(fmt: &str) -> &str {
    fmt.rfind(" ← (").map_or(fmt, |end| &fmt[..end]).trim()
}

/// Reads a hexadecimal number with or without `0x`.
pub(super) fn parse_hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // `from_str_radix` would take a sign.
    (!digits.starts_with(['+', '-'])).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// A frame's name as it is shown: Rust names, which Instruments demangles half, get their punctuation back and lose
/// the hash (`::h` and 16 hex digits), so that instances of one generic function are one function. They are then what
/// Rust's own demangler makes of the linker's names, and so what symbol files name the same functions. Every other name is left
/// alone.
pub(super) fn function_name(name: &str) -> Cow<'_, str> {
    let Some(path) = without_rust_hash(name) else { return Cow::Borrowed(name) };
    if !path.contains(['$', '.']) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for (index, element) in path.split("::").enumerate() {
        if index > 0 {
            out.push_str("::");
        }
        push_rust_element(element, &mut out);
    }
    Cow::Owned(out)
}

/// Appends one element of a Rust path.
fn push_rust_element(element: &str, out: &mut String) {
    // No element starts with a `$`: the compiler puts a `_` before it.
    let mut rest = if element.starts_with("_$") { &element[1..] } else { element };
    while let Some(at) = rest.find(['$', '.']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("..") {
            out.push_str("::");
            rest = after;
        } else if let Some((text, after)) = rust_escape(rest) {
            out.push(text);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            out.push('.');
            rest = after;
        } else {
            // What is no escape ends them.
            break;
        }
    }
    out.push_str(rest);
}

fn without_rust_hash(name: &str) -> Option<&str> {
    // Where it would be is known: to search for it took a twentieth of the time of reading an export.
    let (path, hash) = name.as_bytes().split_at_checked(name.len().checked_sub("::h".len() + 16)?)?;
    let digits = hash.strip_prefix(b"::h")?;
    let is_hash = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hash && !path.is_empty() { name.get(..path.len()) } else { None }
}

/// One escape of Rust's legacy mangling (`$LT$`, `$u20$` …) at the start of `text`, and what follows it.
fn rust_escape(text: &str) -> Option<(char, &str)> {
    let (escape, rest) = text.strip_prefix('$')?.split_once('$')?;
    let text = match escape {
        "SP" => '@',
        "BP" => '*',
        "RF" => '&',
        "LT" => '<',
        "GT" => '>',
        "LP" => '(',
        "RP" => ')',
        "C" => ',',
        _ => {
            let code = u32::from_str_radix(escape.strip_prefix('u')?, 16).ok()?;
            char::from_u32(code).filter(|text| !text.is_control())?
        }
    };
    Some((text, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_names_of_every_version() {
        let cases = [
            ("main  0x8480c1 (rust_test2, pid: 49374)", 0x8480c1, "main"),
            ("Finder 0x644a1c3 (Finder, pid: 751)", 0x644a1c3, "Finder"),
            ("Main Thread (0x13e4cf3) (a.out, pid: 34963)", 0x13e4cf3, "Main Thread"),
            (
                "Java: GC task thread#4 (ParallelGC)  0xddac (java, pid: 2444)",
                0xddac,
                "Java: GC task thread#4 (ParallelGC)",
            ),
            ("w (0x2)  0x2 (p, pid: 7)", 0x2, "w (0x2)"),
            ("worker (0x2) (0x13) (My (App), pid: 7)", 0x13, "worker (0x2)"),
            ("idle #6 (0x4e3) (kernel, pid: 0)", 0x4e3, "idle #6"),
            ("(0x4e3) (kernel, pid: 0)", 0x4e3, ""),
        ];
        for (fmt, tid, name) in cases {
            assert_eq!(thread_name(fmt, Some(tid)), name, "{fmt}");
        }
        assert_eq!(thread_name("main  0x8480c1 (app, pid: 1)", None), "main");
        assert_eq!(thread_name("main (0x8480c1) (app, pid: 1)", Some(5)), "main");
        assert_eq!(thread_name("main (app, pid: 1)", None), "main");
        assert_eq!(thread_name("main", None), "main");
    }

    #[test]
    fn process_core_and_leaf_names() {
        assert_eq!(process_name("a.out (34963)", Some(34963)), "a.out");
        assert_eq!(process_name("My App (beta) (7)", Some(7)), "My App (beta)");
        assert_eq!(process_name("My App (7)", None), "My App");
        assert_eq!(process_name("My App (beta)", None), "My App (beta)");
        assert_eq!(core_kind("CPU 3 (P Core)"), Some("P Core"));
        assert_eq!(core_kind("CPU 2"), None);
        assert_eq!(leaf_name("write ← (2 other frames)"), "write");
        assert_eq!(leaf_name("start"), "start");
    }

    #[test]
    fn hex_numbers_have_no_sign() {
        assert_eq!(parse_hex("0x10"), Some(16));
        assert_eq!(parse_hex("ff"), Some(255));
        assert_eq!(parse_hex("0x+1"), None);
        assert_eq!(parse_hex("0x10000000000000000"), None);
    }

    #[test]
    fn rust_names_get_their_punctuation_back() {
        let cases = [
            ("app::run::h2640131654657f56", "app::run"),
            ("std::rt::run::_$u7b$$u7b$closure$u7d$$u7d$::h7d0ebd26afb1a225", "std::rt::run::{{closure}}"),
            ("a::_$LT$impl$u20$b..C$u20$for$u20$i32$GT$::lt::heea0efdba6786740", "a::<impl b::C for i32>::lt"),
            ("a::_b::_::h2640131654657f56", "a::_b::_"),
            ("_$LT$a..B$LT$T$GT$$u20$as$u20$c..D$GT$::next::hf9c9d8b5165416db", "<a::B<T> as c::D>::next"),
            ("_start::h2640131654657f56", "_start"),
            ("a.b::h2640131654657f56", "a.b"),
            ("price$::h2640131654657f56", "price$"),
            ("a$u110000$b$LT$::h2640131654657f56", "a$u110000$b$LT$"),
        ];
        for (recorded, shown) in cases {
            assert_eq!(function_name(recorded), shown);
        }
        #[cfg(feature = "apple-symbols")]
        for (recorded, shown) in cases {
            assert_eq!(demangled(recorded), shown, "what symbol files name it");
        }
        for other in ["std::vector<int>::push_back", "-[X y]", "$s4main3fooyyF", "a::h12", "::h2640131654657f56"] {
            assert_eq!(function_name(other), other);
        }
    }

    /// The name that Rust's own demangler makes of the linker's name of this path.
    #[cfg(feature = "apple-symbols")]
    fn demangled(path: &str) -> String {
        let elements: String = path.split("::").map(|element| format!("{}{element}", element.len())).collect();
        format!("{:#}", rustc_demangle::try_demangle(&format!("_ZN{elements}E")).unwrap())
    }
}
