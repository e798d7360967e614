//! The Gregorian calendar: dates, and days since 1970-01-01.
//!
//! Years start in March, so a leap day is the last day of its year, and the lengths of the months before it repeat every five months (153 days).

/// The number of days in 400 years, after which the calendar repeats.
const DAYS_OF_ERA: i64 = 146_097;
/// The number of days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// Returns the number of days from 1970-01-01 to a date.
pub(crate) const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970
}

/// Returns year, month and day for a number of days since 1970-01-01.
pub(crate) const fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * from_march + 2) / 5 + 1, (from_march + 2) % 12 + 1);
    (era * 400 + year_of_era + (month <= 2) as i64, month, day)
}

/// Formats milliseconds since 1970 as a date in UTC: `2026-03-05T17:27:38.879Z`. `None` outside the years 0 to 9999.
pub(crate) fn iso_8601(millis: i64) -> Option<String> {
    const MILLIS_OF_DAY: i64 = 86_400_000;
    let (days, in_day) = (millis.div_euclid(MILLIS_OF_DAY), millis.rem_euclid(MILLIS_OF_DAY));
    let (year, month, day) = date_of(days);
    let (seconds, millis) = (in_day / 1000, in_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    (0..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_other_programs() {
        // `date -u -d @SECONDS +%FT%T`.
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_772_731_658, "2026-03-05T17:27:38.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(iso_8601(seconds * 1000).as_deref(), Some(expected));
        }
        assert_eq!(iso_8601(1_772_731_658_879).as_deref(), Some("2026-03-05T17:27:38.879Z"));
        assert_eq!((iso_8601(i64::MAX), iso_8601(i64::MIN)), (None, None));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut month, mut day) = (0, 1, 1);
        // 1000 years, starting on 0000-01-01.
        for days in -719_528..-719_528 + 365_243 {
            assert_eq!((date_of(days), days_since_1970(year, month, day)), ((year, month, day), days));
            let length = match month {
                2 => 28 + i64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (1000, 1, 1));
    }
}
