//! Dates, times and timestamps as filters write them: ISO 8601, with a space allowed for the `T`.

use chrono::{DateTime, NaiveDate, NaiveTime, Timelike};

use super::literal::Literal;

pub(super) const NANOS_A_DAY: i128 = 86_400 * 1_000_000_000;

/// `2024-06-01`, `2024-06-01T12:30`, `2024-06-01 12:30:00.25`, either with `Z` or an offset.
pub(super) fn literal(text: &str) -> Option<Literal> {
    let text = text.trim();
    let Some(split) = text.char_indices().skip(1).find(|(_, c)| matches!(c, 'T' | 't' | ' ')).map(|(i, _)| i)
    else {
        return date(text).map(Literal::Date);
    };
    let days = date(&text[..split])?;
    let (clock, offset) = offset(&text[split + 1..])?;
    let nanos = i128::from(days) * NANOS_A_DAY + i128::from(time(clock)?);
    Some(match offset {
        None => Literal::Timestamp { nanos, instant: false },
        Some(seconds) => {
            Literal::Timestamp { nanos: nanos - i128::from(seconds) * 1_000_000_000, instant: true }
        }
    })
}

/// Days since the epoch.
pub(super) fn date(text: &str) -> Option<i32> {
    let date = NaiveDate::parse_from_str(text.trim(), "%Y-%m-%d").ok()?;
    let days = date.signed_duration_since(DateTime::UNIX_EPOCH.date_naive()).num_days();
    i32::try_from(days).ok()
}

/// Nanoseconds since midnight.
pub(super) fn time(text: &str) -> Option<i64> {
    let text = text.trim();
    let time =
        NaiveTime::parse_from_str(text, "%H:%M:%S%.f").or_else(|_| NaiveTime::parse_from_str(text, "%H:%M"));
    let time = time.ok()?;
    // A leap second has a nanosecond part of a second or more, which no value of a column has.
    if time.nanosecond() >= 1_000_000_000 {
        return None;
    }
    Some(i64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(time.nanosecond()))
}

/// The sixteen bytes of a uuid, with hyphens or without.
pub(super) fn uuid(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    (digits.len() == 32).then(|| hex(&digits))?
}

/// Bytes of pairs of hexadecimal digits.
pub(super) fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) || !digits.len().is_multiple_of(2) {
        return None;
    }
    let pair = |i| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// A clock time without its offset, and the offset in seconds east of Greenwich.
fn offset(text: &str) -> Option<(&str, Option<i32>)> {
    let text = text.trim();
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, Some(0)));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, None)) };
    let (clock, zone) = text.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (digits.parse::<i32>().ok()?, 0),
        4 => (digits[..2].parse::<i32>().ok()?, digits[2..].parse::<i32>().ok()?),
        _ => return None,
    };
    (hours <= 23 && minutes <= 59).then_some((clock, Some(sign * (hours * 3600 + minutes * 60))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_texts_are_read_with_t_or_space_and_any_offset() {
        let hour = 3_600_000_000_000_i128;
        for (text, nanos, instant) in [
            ("1970-01-01T01:00", hour, false),
            ("1970-01-01 01:00:00.000000001", hour + 1, false),
            ("1970-01-01T01:00:00Z", hour, true),
            ("1970-01-01T01:00:00+01:00", 0, true),
            ("1970-01-01 01:00:00-0130", hour * 5 / 2, true),
            ("1970-01-01T01:00:00+01", 0, true),
            ("1969-12-31T23:59:59.999", -1_000_000, false),
        ] {
            match literal(text) {
                Some(Literal::Timestamp { nanos: n, instant: i }) => {
                    assert_eq!((n, i), (nanos, instant), "{text}")
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(literal("2024-06-01"), Some(Literal::Date(19_875))));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "x",
            "2024-13-01",
            "2024-06-31",
            "2024-06-01T25:00",
            "2024-06-01T23:59:60",
            "2024-06-01T1",
            "2024-06-01T10:00+1",
            "é",
            "T",
            "2024-06-01Té",
        ] {
            assert!(literal(text).is_none(), "{text}");
        }
    }

    #[test]
    fn hex_comes_in_pairs() {
        assert_eq!(hex("00fF"), Some(vec![0, 255]));
        assert_eq!(hex(""), Some(vec![]));
        for text in ["0", "0g", "+1", "éé"] {
            assert_eq!(hex(text), None, "{text}");
        }
    }
}
