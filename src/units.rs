//! Numbers with a meaning: time, weight with its unit, addresses, UUIDs.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

/// More bytes than a function has: the longest function in known reports has 78 KB. Code that is farther from the symbol before it is in another
/// function: the binary is stripped, and only its exports are known.
pub(crate) const LONGEST_FUNCTION: u64 = 256 << 10;

/// Formats a number with thousands separators: `1,988`.
pub fn counted(count: impl fmt::Display) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with a word, in the plural if necessary: `1 file`, `1,988 files`.
pub fn several(count: impl fmt::Display, word: &str) -> String {
    let count = counted(count);
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// With its first letter large.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

/// Lists the first names, and counts the others: `a, b, … 3 more`.
pub fn first_of(names: &[impl Borrow<str>]) -> String {
    const LISTED: usize = 8;
    let more = names.len().saturating_sub(LISTED);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, … {more} more") } else { shown }
}

/// Returns the decimal `whole.fraction` times `unit`, exactly. Digits that are too small for the unit are dropped.
pub fn decimal(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut number = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes() {
        place /= 10;
        number = number.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(number)
}

/// The units of times that people write, in nanoseconds.
pub(crate) const UNITS_OF_TIME: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];

/// The units of sizes that people write, in bytes.
pub(crate) const UNITS_OF_SIZE: [(&str, u64); 11] = [
    ("bytes", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

/// Reads a decimal number with one of these units, such as `1.5 ms`. Digits that are too small are dropped.
pub(crate) fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    if fraction.is_empty() { None } else { exact(whole, fraction, *factor) }
}

/// As [`decimal`], also for factors that are not powers of ten.
fn exact(whole: &str, fraction: &str, factor: u64) -> Option<u64> {
    const PARTS: u64 = 1_000_000_000;
    let parts = u128::from(decimal("0", fraction, PARTS)?) * u128::from(factor) / u128::from(PARTS);
    decimal(whole, "", factor)?.checked_add(u64::try_from(parts).ok()?)
}

/// A point in time or a duration in nanoseconds. Times of samples are relative to the start of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

impl Nanos {
    /// Creates a time from nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates a time from milliseconds; saturates at the largest time.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the number of nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Adds a length; saturates at the largest time.
    pub const fn saturating_add(self, length: Self) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

/// Reads `1.5s`, `200ms`, `3us`, `7ns`, `2` (seconds), or `MM:SS.mmm.uuu` as Instruments shows it.
impl FromStr for Nanos {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a time, such as 1.5s, 200ms or 00:01.250");
        if let Some((minutes, seconds)) = text.split_once(':') {
            let minutes: u64 = minutes.parse().map_err(|_| bad())?;
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            let seconds = decimal(whole, &fraction.replace('.', ""), 1_000_000_000).ok_or_else(bad)?;
            let nanos = minutes.checked_mul(60_000_000_000).and_then(|minutes| minutes.checked_add(seconds));
            return nanos.map(Self).ok_or_else(bad);
        }
        let is_number = text.ends_with(|c: char| c.is_ascii_digit());
        let nanos = if is_number { with_unit(text, &[("", 1_000_000_000)]) } else { with_unit(text, &UNITS_OF_TIME) };
        nanos.map(Self).ok_or_else(bad)
    }
}

/// A number in millionths: a measure such as `1.98` % CPU, kept as an integer.
///
/// A sum of integers is the same in any order, so a mean over a fleet does not depend on the core, machine or SQL engine that adds it up.
/// `1.98` is `Millionths::new(1_980_000)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millionths(u64);

impl Millionths {
    /// The number 1.
    pub const ONE: Self = Self(1_000_000);

    /// Creates a number from millionths.
    pub const fn new(millionths: u64) -> Self {
        Self(millionths)
    }

    /// Returns the number of millionths.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the nearest value to `numerator / denominator`, with halves rounded up. `None` if the denominator is 0 or the quotient is
    /// too large.
    pub fn of_ratio(numerator: u128, denominator: u128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let (whole, rest) = (numerator / denominator, numerator % denominator);
        // Drops insignificant bits of denominators above 106 bits, which would overflow when multiplied.
        let shift = (128 - denominator.leading_zeros()).saturating_sub(106);
        let (rest, denominator) = (rest >> shift, (denominator >> shift).max(1));
        let fraction = (rest * 2_000_000 + denominator) / (2 * denominator);
        let millionths = whole.checked_mul(1_000_000)?.checked_add(fraction)?;
        u64::try_from(millionths).ok().map(Self)
    }

    /// Returns the nearest double.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the nearest value to a number, with halves rounded away from zero. `None` if the number is negative, too large or NaN.
    pub fn from_f64(number: f64) -> Option<Self> {
        let millionths = (number * 1e6).round();
        (0.0..1.8e19).contains(&millionths).then_some(Self(millionths as u64))
    }
}

impl fmt::Display for Millionths {
    /// Formats the exact decimal without trailing zeros: `1.98`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The meaning of one unit of a weight. Weights in different units are never added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Nanoseconds of CPU time (`time-profile`, and `counters-profile` with a time trigger).
    Nanoseconds,
    /// CPU cycles (`cpu-profile`). They cannot be converted to time, since exports do not contain the frequency.
    Cycles,
    /// Events of a performance counter (`counters-profile` with a counter as trigger).
    PmcEvents,
    /// Samples: each row of a table without weights (`time-sample`) has the weight 1.
    Samples,
    /// Nanoseconds that passed while something lasted, such as a system call or a hang: not CPU time.
    Elapsed,
    /// Bytes, such as of allocations.
    Bytes,
    /// Nanoseconds that the main thread hung, as a diagnostic states. The units from here on are those of reports from the field: one is
    /// for each report, and no two of them are ever added.
    HangTime,
    /// Nanoseconds that a launch took, as a diagnostic states.
    LaunchTime,
    /// Nanoseconds of CPU time until the system made a diagnostic of it.
    ExceptionTime,
    /// Bytes that were written to storage until the system made a diagnostic of it.
    WrittenBytes,
    /// Nanoseconds of CPU time in a day, whose recorded time is the time that the app ran.
    DayTime,
    /// Nanoseconds by which frames were late in a second of scrolling, over a day.
    HitchTime,
    /// The most bytes of memory that an app took in a day.
    PeakBytes,
    /// How often an app ended in a day, except normally.
    Exits,
}

impl Unit {
    const ALL: [Self; 14] = [
        Self::Nanoseconds,
        Self::Cycles,
        Self::PmcEvents,
        Self::Samples,
        Self::Elapsed,
        Self::Bytes,
        Self::HangTime,
        Self::LaunchTime,
        Self::ExceptionTime,
        Self::WrittenBytes,
        Self::DayTime,
        Self::HitchTime,
        Self::PeakBytes,
        Self::Exits,
    ];

    /// Returns the unit with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Returns the name in machine-readable formats: `ns`, `cycles`, `events`, `samples`, `elapsed_ns`, `bytes`, and of reports from the
    /// field `hang_ns`, `launch_ns`, `exception_ns`, `written_bytes`, `day_ns`, `hitch_ns`, `peak_bytes`, `exits`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Cycles => "cycles",
            Self::PmcEvents => "events",
            Self::Samples => "samples",
            Self::Elapsed => "elapsed_ns",
            Self::Bytes => "bytes",
            Self::HangTime => "hang_ns",
            Self::LaunchTime => "launch_ns",
            Self::ExceptionTime => "exception_ns",
            Self::WrittenBytes => "written_bytes",
            Self::DayTime => "day_ns",
            Self::HitchTime => "hitch_ns",
            Self::PeakBytes => "peak_bytes",
            Self::Exits => "exits",
        }
    }

    /// True if a report from the field states the weight of all its samples. Measures are then millionths of weights, except of
    /// [`Exits`](Self::Exits).
    pub const fn is_of_reports(self) -> bool {
        match self {
            Self::HangTime
            | Self::LaunchTime
            | Self::ExceptionTime
            | Self::WrittenBytes
            | Self::DayTime
            | Self::HitchTime
            | Self::PeakBytes
            | Self::Exits => true,
            Self::Nanoseconds | Self::Cycles | Self::PmcEvents | Self::Samples | Self::Elapsed | Self::Bytes => false,
        }
    }

    /// True for sums of a day, which have no stacks.
    #[cfg(feature = "fleet")]
    pub(crate) const fn is_of_metrics(self) -> bool {
        matches!(self, Self::DayTime | Self::HitchTime | Self::PeakBytes | Self::Exits)
    }

    /// True for nanoseconds of any kind.
    pub(crate) const fn is_time(self) -> bool {
        match self {
            Self::Nanoseconds | Self::Elapsed => true,
            Self::Cycles
            | Self::PmcEvents
            | Self::Samples
            | Self::Bytes
            | Self::WrittenBytes
            | Self::PeakBytes
            | Self::Exits => false,
            Self::HangTime | Self::LaunchTime | Self::ExceptionTime | Self::DayTime | Self::HitchTime => true,
        }
    }

    /// Returns the displayed unit of a weight per time: `% of one core`, or else `cycles/s`, `events/s`, `samples/s`, `elapsed ns/s`,
    /// `bytes/s`. Or of a weight per report: `ms/hang`, `ms/launch`, `ms/exception`, `MB/report`, and of metrics `ms/s`, `MB/day`, `exits/day`.
    pub const fn rate_name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "% of one core",
            Self::Cycles => "cycles/s",
            Self::PmcEvents => "events/s",
            Self::Samples => "samples/s",
            Self::Elapsed => "elapsed ns/s",
            Self::Bytes => "bytes/s",
            Self::HangTime => "ms/hang",
            Self::LaunchTime => "ms/launch",
            Self::ExceptionTime => "ms/exception",
            Self::WrittenBytes => "MB/report",
            Self::DayTime | Self::HitchTime => "ms/s",
            Self::PeakBytes => "MB/day",
            Self::Exits => "exits/day",
        }
    }

    /// Returns the factor that converts a weight per nanosecond to [`rate_name`](Self::rate_name). A report counts as one second, so that the
    /// measures of reports are millionths of their weights.
    #[cfg(feature = "fleet")]
    pub(crate) const fn rate_per_nano(self) -> u128 {
        match self {
            Self::Nanoseconds => 100,
            unit if unit.is_of_reports() && !matches!(unit, Self::Exits) => 1_000,
            _ => 1_000_000_000,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The weight of a sample, a frame or a tree node, with its unit.
///
/// `Display` writes three or four significant digits: `85.00 ms`, `1.20 Mcycles`, `39 samples`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weight {
    /// The exact number.
    pub value: u64,
    /// The unit of the value.
    pub unit: Unit,
}

impl Weight {
    /// Creates a weight.
    pub const fn new(value: u64, unit: Unit) -> Self {
        Self { value, unit }
    }

    /// Creates a weight in nanoseconds.
    pub const fn nanos(value: u64) -> Self {
        Self::new(value, Unit::Nanoseconds)
    }

    /// Returns a weight of time; `None` in other units, which are never mixed with time.
    pub fn as_duration(self) -> Option<std::time::Duration> {
        (self.unit == Unit::Nanoseconds).then(|| std::time::Duration::from_nanos(self.value))
    }

    /// Returns CPU time as a percentage of one core that is busy for `length`; several cores can exceed 100. `None` in other units, or if
    /// `length` is zero.
    pub fn percent_of_core(self, length: Nanos) -> Option<f64> {
        let is_known = self.unit == Unit::Nanoseconds && length.as_nanos() > 0;
        is_known.then(|| self.value as f64 * 100.0 / length.as_nanos() as f64)
    }

    /// Creates a weight in cycles.
    pub const fn cycles(value: u64) -> Self {
        Self::new(value, Unit::Cycles)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.unit {
            unit if unit.is_time() => scaled(self.value, &["ns", "µs", "ms", "s"]),
            Unit::Cycles => scaled(self.value, &["cycles", "Kcycles", "Mcycles", "Gcycles", "Tcycles"]),
            Unit::PmcEvents => scaled(self.value, &["events", "Kevents", "Mevents", "Gevents", "Tevents"]),
            Unit::Exits if self.value == 1 => "1 exit".to_owned(),
            Unit::Exits => format!("{} exits", self.value),
            Unit::Samples if self.value == 1 => "1 sample".to_owned(),
            Unit::Samples => format!("{} samples", self.value),
            _ => scaled(self.value, &["bytes", "KB", "MB", "GB", "TB"]),
        };
        f.pad(&text)
    }
}

/// Formats `value` in the largest unit (each is 1000 times the one before) in which it is at least 1, with two decimals except in the
/// smallest.
fn scaled(value: u64, units: &[&str]) -> String {
    let mut step = 0;
    let mut divisor = 1_u64;
    // 999,995 would be printed as 1000.00, so it needs the next unit.
    while step + 1 < units.len() && value >= divisor.saturating_mul(1000) - (divisor / 200) {
        divisor = divisor.saturating_mul(1000);
        step += 1;
    }
    if step == 0 {
        return format!("{value} {}", units[0]);
    }
    let hundredths = (u128::from(value) * 100 + u128::from(divisor) / 2) / u128::from(divisor);
    format!("{}.{:02} {}", hundredths / 100, hundredths % 100, units[step])
}

/// An address in the memory of the recorded process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u64);

/// User addresses of 64-bit Apple platforms fit in 47 bits; the bits above hold a pointer authentication code.
const USER_ADDRESS_BITS: u64 = 0x7fff_ffff_ffff;
/// Addresses in iOS, tvOS, watchOS and visionOS have 39 bits.
const DEVICE_ADDRESS_BITS: u64 = 0x7f_ffff_ffff;

impl Address {
    /// Creates an address.
    pub const fn new(address: u64) -> Self {
        Self(address)
    }

    /// Returns the address as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the address one byte lower, which is in the instruction before a return address.
    pub const fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Removes the pointer authentication code that arm64e leaves in the bits above 47.
    ///
    /// Kernel addresses (all 17 upper bits set) are returned unchanged.
    pub const fn without_authentication(self) -> Self {
        if self.0 >> 47 == u64::MAX >> 47 { self } else { Self(self.0 & USER_ADDRESS_BITS) }
    }

    /// The same for an address from a device with iOS, tvOS, watchOS or visionOS, where the code is in the bits above 39.
    pub const fn without_device_authentication(self) -> Self {
        if self.0 >> 47 == u64::MAX >> 47 { self } else { Self(self.0 & DEVICE_ADDRESS_BITS) }
    }

    /// Removes the authentication code of an address that is known to be in the image loaded at `image`. The code is in the bits above 47,
    /// or above 39 if the image is below that and the address would otherwise be beyond any image there. The recorded platform is therefore
    /// not needed.
    pub const fn without_authentication_in(self, image: Self) -> Self {
        let (plain, small) = (self.without_authentication(), self.without_device_authentication());
        let is_signed = image.0 <= DEVICE_ADDRESS_BITS && plain.0 > DEVICE_ADDRESS_BITS && small.0 >= image.0;
        if is_signed { small } else { plain }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The UUID of a binary (`LC_UUID`), formatted like Apple's tools do: upper case with hyphens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(uuid::Uuid);

impl Uuid {
    /// Creates a UUID from its bytes, in the order of the load command.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(uuid::Uuid::from_bytes(bytes))
    }

    /// Parses a UUID in any case, with or without hyphens.
    pub fn parse(text: &str) -> Option<Self> {
        uuid::Uuid::try_parse(text.trim()).ok().map(Self)
    }

    /// True if all bits are 0, which some linkers write for a missing UUID.
    pub const fn is_nil(&self) -> bool {
        self.0.is_nil()
    }

    /// Returns the bytes in the order of the load command.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.hyphenated().encode_upper(&mut uuid::Uuid::encode_buffer()))
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, nanos) in [
            ("1.5s", 1_500_000_000),
            ("2", 2_000_000_000),
            ("200ms", 200_000_000),
            ("0.25 ms", 250_000),
            ("3us", 3_000),
            ("3µs", 3_000),
            ("7ns", 7),
            ("0.1234567891", 123_456_789),
            ("00:01.250", 1_250_000_000),
            ("02:00.001.002", 120_001_002_000),
        ] {
            assert_eq!(text.parse(), Ok(Nanos::from_nanos(nanos)), "{text}");
        }
        for bad in ["", "s", "-1", "1e3", "1.2.3", "a:b", ":", "99999999999999999999"] {
            assert!(bad.parse::<Nanos>().is_err(), "{bad}");
        }
    }

    #[test]
    fn thousands_are_apart() {
        let texts = [0, 7, 999, 1_000, 12_345, 1_234_567].map(counted);
        assert_eq!(texts, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!([0, 1, 1_988].map(|count| several(count, "file")), ["0 files", "1 file", "1,988 files"]);
    }

    #[test]
    fn weights_read_well() {
        let shown = |value, unit| Weight::new(value, unit).to_string();
        assert_eq!(shown(0, Unit::Nanoseconds), "0 ns");
        assert_eq!(shown(999, Unit::Nanoseconds), "999 ns");
        assert_eq!(shown(1_000, Unit::Nanoseconds), "1.00 µs");
        assert_eq!(shown(999_994, Unit::Nanoseconds), "999.99 µs");
        assert_eq!(shown(999_995, Unit::Nanoseconds), "1.00 ms");
        assert_eq!(shown(85_000_000, Unit::Nanoseconds), "85.00 ms");
        assert_eq!(shown(u64::MAX, Unit::Nanoseconds), "18446744073.71 s");
        assert_eq!(shown(837_200, Unit::Cycles), "837.20 Kcycles");
        assert_eq!(shown(1, Unit::Samples), "1 sample");
        assert_eq!(format!("{:>12}|", Weight::cycles(22)), "   22 cycles|");
    }

    #[test]
    fn millionths_are_exact_decimals() {
        assert_eq!(Millionths::new(1_980_000).to_string(), "1.98");
        assert_eq!(Millionths::ONE.to_string(), "1");
        assert_eq!(Millionths::default().to_string(), "0");
        assert_eq!(Millionths::of_ratio(198, 100), Some(Millionths::new(1_980_000)));
        assert_eq!(Millionths::of_ratio(1, 2_000_000), Some(Millionths::new(1)), "a half goes up");
        assert_eq!(Millionths::of_ratio(1, 2_000_001), Some(Millionths::new(0)));
        assert_eq!(Millionths::of_ratio(1, 0), None);
        assert_eq!(Millionths::of_ratio(u128::MAX, 1), None);
        assert_eq!(Millionths::of_ratio(u128::MAX / 2, u128::MAX), Some(Millionths::new(500_000)));
        assert_eq!(Millionths::of_ratio(u128::MAX - 1, u128::MAX), Some(Millionths::ONE));
        assert_eq!(Millionths::of_ratio(1, u128::MAX), Some(Millionths::new(0)));
        assert_eq!(Millionths::from_f64(1.98), Some(Millionths::new(1_980_000)));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e15] {
            assert_eq!(Millionths::from_f64(bad), None, "{bad}");
        }
    }

    #[test]
    fn authentication_codes_are_masked_but_kernel_addresses_stay() {
        assert_eq!(Address::new(0x6b59_0001_961b_4938).without_authentication(), Address::new(0x0001_961b_4938));
        assert_eq!(Address::new(0x7ff8_174d_f51f).without_authentication(), Address::new(0x7ff8_174d_f51f));
        assert_eq!(Address::new(0xffff_fe00_0700_4000).without_authentication(), Address::new(0xffff_fe00_0700_4000));
    }

    #[test]
    fn codes_of_devices_are_known_by_the_image() {
        let plain = |address, image| Address::new(address).without_authentication_in(Address::new(image)).get();
        assert_eq!(plain(0x4381_00f6_8dbc, 0x1_00f6_0000), 0x1_00f6_8dbc, "a code in the bits from 39 on");
        assert_eq!(plain(0x6b59_4381_00f6_8dbc, 0x1_00f6_0000), 0x1_00f6_8dbc);
        assert_eq!(plain(0x6b59_0001_961b_4938, 0x1_9610_0000), 0x1_961b_4938, "macOS");
        assert_eq!(plain(0x7ff8_174d_f51f, 0x7ff8_1740_0000), 0x7ff8_174d_f51f, "an image up there");
        assert_eq!(plain(0x4380_0000_1000, 0x1_00f6_0000), 0x4380_0000_1000, "it would be before the image");
        assert_eq!(plain(0xffff_fe00_0700_4000, 0xffff_fe00_0700_0000), 0xffff_fe00_0700_4000);
    }

    #[test]
    fn uuids_are_upper_case_with_hyphens() {
        let uuid = Uuid::parse("c144ed77219a3695845eca110204f8db").unwrap();
        assert_eq!(uuid.to_string(), "C144ED77-219A-3695-845E-CA110204F8DB");
        assert_eq!(Uuid::parse(&uuid.to_string()), Some(uuid));
        assert_eq!(Uuid::parse("not a uuid"), None);
    }
}
