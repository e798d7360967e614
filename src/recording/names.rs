//! Normalises names, in the same way for every reader.

/// Removes the tid that some versions of Instruments append to the name of a thread, so runs can be compared: `Main Thread  0x8480c1` and `Main
/// Thread (0x8480c1)` become `Main Thread`. Any other number is part of the name.
pub(crate) fn without_tid(label: &str, tid: u64) -> &str {
    let (label, number) = (label.trim_end(), format!("0x{tid:x}"));
    let name = label.strip_suffix(&format!("({number})")).or_else(|| label.strip_suffix(&number));
    name.unwrap_or(label).trim_end()
}

/// True if a frame's name is an address in place of a missing name.
pub(crate) fn is_hex_address(name: &str) -> bool {
    name.strip_prefix("0x").is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_threads_lose_their_own_number_only() {
        let cases = [
            ("Main Thread  0x22c0cb", "Main Thread"),
            ("Main Thread (0x22c0cb)", "Main Thread"),
            ("Main Thread", "Main Thread"),
            ("0x22c0cb", ""),
            ("worker 0x5", "worker 0x5"),
            ("worker 0x22c0cb a", "worker 0x22c0cb a"),
            ("worker 0x22c0cb  0x22c0cb ", "worker 0x22c0cb"),
        ];
        for (label, name) in cases {
            assert_eq!(without_tid(label, 0x22_c0cb), name, "{label}");
        }
    }

    #[test]
    fn hex_names_are_addresses() {
        assert!(is_hex_address("0x18d3df0f1"));
        for name in ["0x", "0xfoo", "main", "0X12", "x", "0x12 "] {
            assert!(!is_hex_address(name), "{name}");
        }
    }
}
