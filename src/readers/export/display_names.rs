//! Extracts names from display strings (`fmt`).
//!
//! Numbers are never read from `fmt`, which follows the locale of the recorded machine. Names, however, are stored only there:
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
//! Names can contain spaces, parentheses and `#` themselves (`GC task thread#4 (ParallelGC)`). Strings are therefore parsed from the right,
//! starting at the known number.

use crate::recording::without_tid;

/// Returns the name in the `fmt` of a thread whose tid is known.
pub(super) fn thread_name(fmt: &str, tid: Option<u64>) -> &str {
    let behind_tid = tid.and_then(|tid| {
        let number = format!("0x{tid:x}");
        let behind = |text: String, owner: usize| fmt.rfind(&text).map(|at| at + text.len() - owner);
        Some((behind(format!("({number})"), 0).max(behind(format!("{number} ("), 2))?, tid))
    });
    if let Some((end, tid)) = behind_tid {
        return without_tid(&fmt[..end], tid).trim_start();
    }
    // The tid is not in the string (names scrubbed, tid edited): search for the last token that looks like a tid.
    let end = fmt.rfind(" (0x").or_else(|| fmt.rfind(" 0x")).unwrap_or_else(|| {
        let owner = fmt.rfind(", pid: ").and_then(|comma| fmt[..comma].rfind(" ("));
        owner.unwrap_or(fmt.len())
    });
    fmt[..end].trim()
}

/// Returns the name in the `fmt` of a process whose pid is known, which is the part before ` (PID)`.
pub(super) fn process_name(fmt: &str, pid: Option<u64>) -> &str {
    let known = pid.and_then(|pid| fmt.strip_suffix(&format!("({pid})")));
    let name = known.or_else(|| {
        let inner = fmt.strip_suffix(')')?;
        let open = inner.rfind(" (")?;
        inner[open + 2..].bytes().all(|byte| byte.is_ascii_digit()).then_some(&fmt[..open])
    });
    name.unwrap_or(fmt).trim()
}

/// Returns the kind in the `fmt` of a core, such as `P Core`.
pub(super) fn core_kind(fmt: &str) -> Option<&str> {
    let (_, rest) = fmt.split_once('(')?;
    Some(rest.strip_suffix(')')?.trim()).filter(|kind| !kind.is_empty())
}

/// Returns the name of the leaf in the `fmt` of a backtrace.
pub(super) fn leaf_name(fmt: &str) -> &str {
    fmt.rfind(" ← (").map_or(fmt, |end| &fmt[..end]).trim()
}

/// Parses a hexadecimal number with or without `0x`.
pub(super) fn parse_hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // `from_str_radix` would accept a sign.
    (!digits.starts_with(['+', '-'])).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
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
}
