//! Histograms that other tools read: HdrHistogram, V2.
//!
//! Values are rounded to thousandths and kept with three significant digits: 1.98 % is 1980. Below 2.048, each thousandth has a bucket;
//! above, a bucket is at most 1/1,024 of the value wide. A [quantile](WindowHistogram::quantile) is therefore within [0.05
//! %](WindowHistogram::RELATIVE_ERROR) or [half a thousandth](WindowHistogram::ABSOLUTE_ERROR) of the nearest rank, whichever is larger.
//! Values up to 100 take 64 KB; use [`ExponentialHistogram`](super::ExponentialHistogram) if you need many histograms.
//!
//! # Bytes
//!
//! All numbers are big-endian: cookie `1c849313`, length of the counts in bytes, offset 0, digits 3, lowest value 1, highest value 10⁹ (64
//! bits each), ratio 1 (a double). Then follow the counts from value 0 up as ZigZag LEB128 of at most nine bytes; −n means n empty buckets.
//! The compressed form has cookie `1c849314`, a length, and the same in zlib's format. The text form, used in histogram logs, is base64 of
//! the compressed form. Values in files are thousandths, so divide them by 1,000.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};

use super::Quantile;
use crate::error::{Error, ErrorKind};
use crate::units::Millionths;

const MILLIONTHS_IN_UNIT: u64 = 1_000;
const DIGITS: u8 = 3;
/// In units: 1,000,000 % is 10,000 cores.
const HIGHEST: u64 = 1_000_000_000;
/// Encoded counts are signed.
const MOST: u64 = i64::MAX as u64;

/// Counts of values such as the CPU use of one-second windows, with three significant digits.
///
/// Two histograms are equal if they hold the same counts.
#[derive(Clone)]
pub struct WindowHistogram {
    counts: Histogram<u64>,
    saturated: u64,
}

impl PartialEq for WindowHistogram {
    fn eq(&self, other: &Self) -> bool {
        // Compares bucket by bucket, since a histogram that has grown differs from one that has not.
        self.saturated == other.saturated && self.buckets().eq(other.buckets())
    }
}

impl Eq for WindowHistogram {}

impl fmt::Debug for WindowHistogram {
    /// Shows the filled buckets, and not the thousands of empty ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.buckets()).entry(&"saturated", &self.saturated).finish()
    }
}

impl Default for WindowHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl WindowHistogram {
    /// The largest distance of a quantile from the exact one, relative to the exact one (for values above 2.048).
    pub const RELATIVE_ERROR: f64 = 0.0005;
    /// The largest distance of a quantile from the exact one, for values up to 2.048.
    pub const ABSOLUTE_ERROR: f64 = 0.0005;
    /// Larger values are counted as this value: 1,000,000 (a percentage: 10,000 cores).
    pub const LARGEST: Millionths = Millionths::new(HIGHEST * MILLIONTHS_IN_UNIT);

    /// An empty histogram.
    pub fn new() -> Self {
        // It grows from here; bounds of 1 and 2 with three digits are always possible.
        let mut counts = with_highest(2);
        counts.auto(true);
        Self { counts, saturated: 0 }
    }

    /// Counts a value. One above [`LARGEST`](Self::LARGEST) counts as that, and as [saturated](Self::saturated).
    pub fn record(&mut self, value: Millionths) {
        self.record_n(value, 1);
    }

    /// Counts a value several times.
    pub fn record_n(&mut self, value: Millionths, times: u64) {
        if times == 0 {
            return;
        }
        let unit =
            value.get() / MILLIONTHS_IN_UNIT + u64::from(value.get() % MILLIONTHS_IN_UNIT >= MILLIONTHS_IN_UNIT / 2);
        let has_room = self.count().saturating_add(times) <= MOST;
        let is_counted = has_room && self.counts.record_n(unit.min(HIGHEST), times).is_ok();
        if unit > HIGHEST || !is_counted {
            self.saturated = self.saturated.saturating_add(times);
        }
    }

    /// Adds the values of another histogram. If its counts do not fit (2^63 in total), they are only counted as saturated.
    pub fn merge(&mut self, other: &Self) {
        self.saturated = self.saturated.saturating_add(other.saturated);
        let has_room = self.count().saturating_add(other.count()) <= MOST;
        if !has_room || self.counts.add(&other.counts).is_err() {
            self.saturated = self.saturated.saturating_add(other.count());
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The number of values that were larger than a histogram can hold. The encoded bytes do not include it.
    pub const fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The quantile by nearest rank: the middle of the bucket that holds the rank; `None` without values.
    pub fn quantile(&self, quantile: Quantile) -> Option<f64> {
        let rank = quantile.nearest_rank(self.count());
        let mut counted = 0;
        let (unit, _) = self.buckets().find(|(_, count)| {
            counted += count;
            counted >= rank
        })?;
        Some((self.counts.lowest_equivalent(unit) + self.counts.highest_equivalent(unit)) as f64 / 2e3)
    }

    /// A value of each bucket that holds something, in units, and how many there are, ascending.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }

    /// The bytes of HdrHistogram's V2 format, not compressed. Equal counts give equal bytes.
    pub fn to_v2_bytes(&self) -> Vec<u8> {
        self.encoded(&mut V2Serializer::new())
    }

    /// The bytes of HdrHistogram's compressed V2 format (zlib).
    pub fn to_v2_deflate_bytes(&self) -> Vec<u8> {
        self.encoded(&mut V2DeflateSerializer::new())
    }

    /// The compressed bytes as base64: the form in histogram logs, which other implementations call encoded.
    pub fn to_v2_base64(&self) -> String {
        STANDARD.encode(self.to_v2_deflate_bytes())
    }

    fn encoded(&self, serializer: &mut impl Serializer) -> Vec<u8> {
        // A histogram that grew encodes its size, which depends on the order of growing; this one has a fixed size.
        let mut whole = with_highest(HIGHEST);
        let mut bytes = Vec::new();
        // Both are possible: values are at most the highest, and counts at most what can be encoded.
        let is_whole = whole.add(&self.counts).is_ok();
        let is_encoded = serializer.serialize(&whole, &mut bytes).is_ok();
        debug_assert!(is_whole && is_encoded);
        bytes
    }

    /// Reads the bytes of [`to_v2_bytes`](Self::to_v2_bytes), with three digits and lowest value 1. Other implementations may have written
    /// them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`], for anything else, compressed bytes among them; the text explains what is wrong.
    pub fn from_v2_bytes(bytes: &[u8]) -> Result<Self, Error> {
        check(bytes).map_err(malformed)?;
        let read = Deserializer::new().deserialize(&mut &bytes[..]);
        let mut counts: Histogram<u64> = read.map_err(|cause| malformed(&cause.to_string()))?;
        if with_highest(HIGHEST).add(&counts).is_err() {
            return Err(malformed("a value is above 1,000,000"));
        }
        counts.auto(true);
        Ok(Self { counts, saturated: 0 })
    }
}

fn with_highest(highest: u64) -> Histogram<u64> {
    Histogram::new_with_bounds(1, highest, DIGITS).expect("three digits from 1 on fit into 64 bits")
}

fn malformed(text: &str) -> Error {
    Error::new(ErrorKind::Malformed(format!("not an HdrHistogram that can be read: {text}")), None)
}

/// Checks what the crate trusts: lengths, for which it reserves memory, and counts, which it adds up.
fn check(bytes: &[u8]) -> Result<(), &'static str> {
    let (header, counts) = bytes.split_at_checked(40).ok_or("it ends inside of its header")?;
    let field = |at: usize| header[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    match field(0) {
        0x1c84_9313 => {}
        0x1c84_9314 => return Err("it is compressed; decompress what follows its first 8 bytes (zlib)"),
        _ => return Err("it does not start with the V2 cookie 1c849313"),
    }
    if field(4) as usize != counts.len() {
        return Err("its length does not match its counts");
    }
    if field(12) != u32::from(DIGITS) || (field(16), field(20)) != (0, 1) {
        return Err("it does not have three digits from 1 on");
    }
    let (mut rest, mut sum) = (counts, 0_u64);
    while !rest.is_empty() {
        let (number, length) = zig_zag(rest).ok_or("it ends inside of a count")?;
        rest = &rest[length..];
        if number < -i64::from(u32::MAX) {
            return Err("it has more buckets than values can have");
        }
        sum = sum.checked_add(number.max(0) as u64).filter(|sum| *sum <= MOST).ok_or("it has more than 2^63 values")?;
    }
    Ok(())
}

/// A ZigZag LEB128 number of at most nine bytes, the ninth of eight bits, and its length.
fn zig_zag(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(9) {
        let is_last = index == 8 || byte & 0x80 == 0;
        number |= u64::from(if index == 8 { *byte } else { byte & 0x7f }) << (7 * index);
        if is_last {
            return Some(((number >> 1) as i64 ^ -((number & 1) as i64), index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> WindowHistogram {
        let mut histogram = WindowHistogram::new();
        values.iter().for_each(|value| histogram.record(Millionths::new(*value)));
        histogram
    }

    #[test]
    fn values_are_thousandths() {
        let histogram = of(&[1_980_000, 1_980_499, 1_980_500]);
        assert_eq!(histogram.quantile(Quantile::P50), Some(1.98));
        assert_eq!(histogram.quantile(Quantile::P99), Some(1.981));
        assert_eq!(of(&[0, 499]).quantile(Quantile::P99), Some(0.0));
        assert_eq!(of(&[]).quantile(Quantile::P50), None);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn what_is_too_large_counts_as_the_largest() {
        let largest = WindowHistogram::LARGEST.get();
        let mut histogram = of(&[largest, largest + 499, largest + 500, u64::MAX]);
        assert_eq!((histogram.count(), histogram.saturated()), (4, 2));
        let told = histogram.quantile(Quantile::P50).unwrap();
        assert!((told / WindowHistogram::LARGEST.as_f64() - 1.0).abs() <= WindowHistogram::RELATIVE_ERROR, "{told}");
        // Merged with itself until its counts no longer fit.
        for _ in 0..70 {
            let copy = histogram.clone();
            histogram.merge(&copy);
        }
        assert!(histogram.count() <= MOST && histogram.count() > MOST / 2);
        assert!(histogram.saturated() > 0);
        let read = WindowHistogram::from_v2_bytes(&histogram.to_v2_bytes()).unwrap();
        assert_eq!(read.count(), histogram.count());
    }

    #[test]
    fn bytes_are_read_back() {
        for values in [&[][..], &[0], &[1_000], &[5, 123_456_789, 7_000_000, 900_000_000_000, 7_000_100]] {
            let histogram = of(values);
            let bytes = histogram.to_v2_bytes();
            let mut read = WindowHistogram::from_v2_bytes(&bytes).unwrap();
            assert_eq!(read, histogram);
            assert_eq!(read.to_v2_bytes(), bytes);
            // It grows like any other histogram.
            read.record(WindowHistogram::LARGEST);
            read.merge(&histogram);
            assert_eq!(read.count(), 2 * values.len() as u64 + 1);
        }
    }

    #[test]
    fn broken_bytes_are_errors() {
        let good = of(&[5, 1_000_000, 2_000_000, 123_456_789]).to_v2_bytes();
        let error = |bytes: &[u8]| WindowHistogram::from_v2_bytes(bytes).unwrap_err().to_string();
        for length in 0..good.len() {
            error(&good[..length]);
        }
        assert!(error(&of(&[5]).to_v2_deflate_bytes()).contains("compressed"));
        let with = |at: usize, new: &[u8]| {
            let mut bytes = good.clone();
            bytes[at..at + new.len()].copy_from_slice(new);
            bytes
        };
        assert!(error(&with(0, &[0])).contains("cookie"));
        assert!(error(&with(4, &[0xff])).contains("length"));
        assert!(error(&with(15, &[2])).contains("three digits"));
        assert!(error(&with(16, &[0x7f])).contains("three digits"));
        let with_counts = |counts: &[u8]| {
            let mut bytes = good[..40].to_vec();
            bytes[4..8].copy_from_slice(&(counts.len() as u32).to_be_bytes());
            bytes.extend(counts);
            bytes
        };
        assert_eq!(WindowHistogram::from_v2_bytes(&with_counts(&[6])).unwrap().count(), 3);
        assert_eq!(WindowHistogram::from_v2_bytes(&with_counts(&[])).unwrap().count(), 0);
        // i64::MIN, and then the largest count twice.
        assert!(error(&with_counts(&[0xff; 9])).contains("buckets"));
        let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert!(error(&with_counts(&[most, most].concat())).contains("2^63"));
        // A count at bucket 2^30, which does not exist.
        assert!(error(&with_counts(&[0xff, 0xff, 0xff, 0xff, 0x07, 2])).contains("longer"));
        // Any byte may be any other: an error, or a histogram.
        for at in 0..good.len() {
            for byte in 0..=255 {
                if let Ok(mut read) = WindowHistogram::from_v2_bytes(&with(at, &[byte])) {
                    read.record(Millionths::ONE);
                    read.merge(&of(&[1, 2, u64::MAX]));
                    assert!(read.quantile(Quantile::P99).is_some() && read.to_v2_bytes().len() > 40);
                }
            }
        }
    }
}
