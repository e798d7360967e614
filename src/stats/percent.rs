//! Percentages in parts per million, as people read and write them.

/// A percentage with at most four decimals, in parts per million; `None` for anything else, and above 429 %.
pub(super) fn parts_of_percent(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 4 {
        return None;
    }
    let decimals: u32 = format!("{decimals:0<4}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(decimals)
}

/// Parts per million as a percentage, without zeros at the end.
pub(super) fn percent(parts: u32) -> String {
    let text = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
