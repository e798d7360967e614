//! Numbers as exports write them.

/// A decimal number without sign.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim_ascii();
    // `str::parse` would take a plus sign.
    text.as_bytes().first().filter(|byte| byte.is_ascii_digit()).and_then(|_| text.parse().ok())
}
