//! Numbers with a meaning, as text and from text.

use traceparse::units::{Address, Millionths, Nanos, Unit, Uuid, Weight, counted, several};

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
    assert_eq!(shown(837_200, Unit::Cycles), "837.20 kcycles");
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
