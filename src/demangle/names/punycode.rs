//! Non-ASCII identifiers: Punycode (RFC 3492) with `_` before the encoded part, and the digits `a` to `z`, `A` to `J`.

const BASE: u32 = 36;
const SMALLEST: u32 = 1;
const LARGEST: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const FIRST_BIAS: u32 = 72;
const FIRST_CODE: u32 = 0x80;
/// ASCII characters that symbols cannot contain are encoded from here on, in the range of Unicode's surrogates.
const SHIFTED_ASCII: u32 = 0xd800;
/// Each character is inserted between others, so decoding takes quadratic time.
const LONGEST: usize = 1 << 12;

/// Decodes an identifier; `None` if it is malformed or contains control characters.
pub(super) fn decode(coded: &str) -> Option<String> {
    if coded.len() > LONGEST {
        return None;
    }
    let (basic, coded) = coded.rsplit_once('_').unwrap_or(("", coded));
    let mut codes: Vec<u32> = basic.bytes().map(u32::from).collect();
    let (mut code, mut place, mut bias) = (FIRST_CODE, 0_u32, FIRST_BIAS);
    let mut digits = coded.as_bytes().iter();
    while !digits.as_slice().is_empty() {
        let before = place;
        place = place.checked_add(number(&mut digits, bias)?)?;
        let count = u32::try_from(codes.len()).ok()? + 1;
        bias = adapted(place - before, count, before == 0);
        code = code.checked_add(place / count)?;
        place %= count;
        codes.insert(usize::try_from(place).ok()?, code);
        place += 1;
    }
    let decoded: Option<String> = codes.into_iter().map(character).collect();
    decoded.filter(|decoded| !decoded.is_empty())
}

/// Decodes a number, which ends with the first digit below its threshold.
fn number(digits: &mut std::slice::Iter<'_, u8>, bias: u32) -> Option<u32> {
    let (mut number, mut weight) = (0_u32, 1_u32);
    for position in 1_u32.. {
        let digit = digit(*digits.next()?)?;
        number = number.checked_add(digit.checked_mul(weight)?)?;
        let threshold = (BASE * position).saturating_sub(bias).clamp(SMALLEST, LARGEST);
        if digit < threshold {
            break;
        }
        weight = weight.checked_mul(BASE - threshold)?;
    }
    Some(number)
}

fn digit(byte: u8) -> Option<u32> {
    match byte {
        b'a'..=b'z' => Some(u32::from(byte - b'a')),
        b'A'..=b'J' => Some(u32::from(byte - b'A') + 26),
        _ => None,
    }
}

fn adapted(distance: u32, count: u32, is_first: bool) -> u32 {
    let mut distance = distance / if is_first { DAMP } else { 2 };
    distance += distance / count;
    let mut bias = 0;
    while distance > (BASE - SMALLEST) * LARGEST / 2 {
        distance /= BASE - SMALLEST;
        bias += BASE;
    }
    bias + (BASE - SMALLEST + 1) * distance / (distance + SKEW)
}

fn character(code: u32) -> Option<char> {
    let shifted = code.checked_sub(SHIFTED_ASCII).filter(|ascii| *ascii < 0x80);
    char::from_u32(shifted.unwrap_or(code)).filter(|character| !character.is_control())
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn identifiers_of_other_scripts_are_decoded() {
        for (coded, decoded) in [
            ("wxa", Some("λ")),
            ("fr_xka", Some("für")),
            ("p_qcaDc", Some("«p»")),
            ("abc_", Some("abc")),
            ("", None),
            ("wx", None),
            ("w-a", None),
            ("JJJJJJJJJJJJJJ", None),
        ] {
            assert_eq!(decode(coded).as_deref(), decoded, "{coded}");
        }
        assert_eq!(decode(&"a".repeat(5_000)), None);
    }
}
