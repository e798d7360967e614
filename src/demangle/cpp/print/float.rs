//! Floating-point numbers, which are mangled as their bytes and printed in hexadecimal, like `%a` in C.

use crate::demangle::cpp::node::FloatKind;

/// Returns `0x1.8p+1f` for `40400000`
pub(super) fn hexadecimal(kind: FloatKind, digits: &str) -> String {
    let bits = u128::from_str_radix(digits, 16).unwrap_or(0);
    match kind {
        FloatKind::Float => format!("{}f", double(single_as_double(bits))),
        FloatKind::Double => double(bits),
        FloatKind::LongDouble => format!("{}L", extended(bits)),
    }
}

/// Converts the bits to a `double`, which `%a` expects.
fn single_as_double(bits: u128) -> u128 {
    let single = f32::from_bits(u32::try_from(bits).unwrap_or(0));
    u128::from(f64::from(single).to_bits())
}

/// IEEE 754's binary64: 11 bits of exponent, 52 of fraction
fn double(bits: u128) -> String {
    let sign = if bits >> 63 & 1 == 1 { "-" } else { "" };
    let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    match (exponent, fraction) {
        (0x7ff, 0) => format!("{sign}inf"),
        (0x7ff, _) => format!("{sign}nan"),
        (0, 0) => format!("{sign}0x0p+0"),
        (0, _) => written(sign, 0, fraction, 13, -1022),
        _ => written(sign, 1, fraction, 13, exponent - 1023),
    }
}

/// The 80-bit format of x87: 15 bits of exponent, and a significand of 64 bits that includes the leading bit. Four bits of it precede the
/// point.
fn extended(bits: u128) -> String {
    let sign = if bits >> 79 & 1 == 1 { "-" } else { "" };
    let exponent = i32::try_from(bits >> 64 & 0x7fff).unwrap_or(0);
    let significand = bits & u128::from(u64::MAX);
    let is_normal = significand >> 63 == 1;
    match exponent {
        0 if significand == 0 => format!("{sign}0x0p+0"),
        0x7fff if significand == 1 << 63 => format!("{sign}inf"),
        0x7fff => format!("{sign}nan"),
        // No processor produces such a number.
        1.. if !is_normal => format!("{sign}nan"),
        _ => written(sign, significand >> 60, significand & ((1 << 60) - 1), 15, exponent.max(1) - 16386),
    }
}

/// Formats a number such as `-0x1.8p+1`, without trailing zeros in the fraction
fn written(sign: &str, integer: u128, fraction: u128, digit_count: usize, exponent: i32) -> String {
    let digits = format!("{fraction:0digit_count$x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x{integer:x}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        for (kind, digits, written) in [
            (FloatKind::Float, "3f800000", "0x1p+0f"),
            (FloatKind::Float, "00000001", "0x1p-149f"),
            (FloatKind::Double, "3ff8000000000000", "0x1.8p+0"),
            (FloatKind::Double, "0000000000000001", "0x0.0000000000001p-1022"),
            (FloatKind::Double, "8000000000000000", "-0x0p+0"),
            (FloatKind::Double, "7ff0000000000000", "inf"),
            (FloatKind::Double, "fff8000000000000", "-nan"),
            (FloatKind::LongDouble, "3fff8000000000000000", "0x8p-3L"),
            (FloatKind::LongDouble, "00018000000000000000", "0x8p-16385L"),
            (FloatKind::LongDouble, "0000000000000001ffff", "0x0.00000000001ffffp-16385L"),
            (FloatKind::LongDouble, "00010000000000000001", "nanL"),
        ] {
            assert_eq!(hexadecimal(kind, digits), written);
        }
    }
}
