//! Partition values as people read them, in the spelling of the Java library.

use iceberg::spec::{Literal, PrimitiveLiteral, PrimitiveType, Transform};

use crate::transform::{literal_of, year_month_day};

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_DAY: i128 = 86_400_000_000_000;

/// A partition value in human form: `2024-06-01` of `day`, `2024-06-01-17` of `hour`.
///
/// `of` is the type of the value, the transform's result. Numbers, times, UUIDs and decimals
/// are spelled as Java's `toString` does, binaries in base64; the text is not escaped. `float` and
/// `double` are spelled as of JDK 19; older ones give some values, like 2.0E23 and the least ones,
/// other digits. `None` where the value is not of that type.
pub fn human(transform: Transform, value: &Literal, of: &PrimitiveType) -> Option<String> {
    use PrimitiveLiteral as L;
    use PrimitiveType as P;
    let Literal::Primitive(value) = value else {
        return None;
    };
    // Ordinals are ints, those of days are dates; some take the one for the other.
    let ordinal = matches!(transform, Transform::Year | Transform::Month | Transform::Day | Transform::Hour);
    if ordinal && !matches!(of, P::Int | P::Date) {
        return None;
    }
    let value = literal_of(value, of)?;
    Some(match (transform, value.as_ref()) {
        (Transform::Year, L::Int(years)) => format!("{:04}", 1970 + i64::from(*years)),
        (Transform::Month, L::Int(months)) => {
            format!("{:04}-{:02}", 1970 + months.div_euclid(12), 1 + months.rem_euclid(12))
        }
        (Transform::Day, L::Int(days)) => day(i64::from(*days)),
        (Transform::Hour, L::Int(hours)) => {
            let hours = i64::from(*hours);
            format!("{}-{:02}", day(hours.div_euclid(24)), hours.rem_euclid(24))
        }
        (_, L::Boolean(v)) => v.to_string(),
        (_, L::Int(days)) if *of == P::Date => day(i64::from(*days)),
        (_, L::Int(v)) => v.to_string(),
        (_, L::Long(v)) => match of {
            P::Time if !(0..MICROS_PER_DAY).contains(v) => return None,
            P::Time => clock(i128::from(*v) * 1_000),
            P::Timestamp => date_time(i128::from(*v) * 1_000),
            P::Timestamptz => date_time(i128::from(*v) * 1_000) + "+00:00",
            P::TimestampNs => date_time(i128::from(*v)),
            P::TimestamptzNs => date_time(i128::from(*v)) + "+00:00",
            _ => v.to_string(),
        },
        (_, L::Float(v)) => float(f64::from(v.0), &format!("{:e}", v.0), &format!("{:.1e}", v.0)),
        (_, L::Double(v)) => float(v.0, &format!("{:e}", v.0), &format!("{:.1e}", v.0)),
        (_, L::String(v)) => v.clone(),
        (_, L::Binary(v)) => base64(v),
        (_, L::UInt128(v)) => uuid(*v),
        (_, L::Int128(unscaled)) => match of {
            P::Decimal { scale, .. } => decimal(*unscaled, *scale),
            _ => return None,
        },
        (_, L::AboveMax | L::BelowMin) => return None,
    })
}

/// `%04d-%02d-%02d` of a day counted from 1970-01-01.
fn day(days: i64) -> String {
    let (year, month, day) = year_month_day(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `ISO_LOCAL_DATE_TIME`, of nanoseconds from 1970: years past 9999 have a sign, seconds are
/// always there, and as many digits of their fraction as are not zero at its end.
fn date_time(nanos: i128) -> String {
    let days = nanos.div_euclid(NANOS_PER_DAY) as i64;
    let (year, month, day) = year_month_day(days);
    let year = match year {
        10_000.. => format!("+{year}"),
        ..0 => format!("-{:04}", -year),
        _ => format!("{year:04}"),
    };
    let (hour, minute, second, nanos) = parts(nanos.rem_euclid(NANOS_PER_DAY));
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// `LocalTime.toString`: seconds only if there are any below the minute, then 3, 6 or 9 digits.
fn clock(nanos: i128) -> String {
    let (hour, minute, second, nanos) = parts(nanos);
    let mut text = format!("{hour:02}:{minute:02}");
    if second > 0 || nanos > 0 {
        text += &format!(":{second:02}");
    }
    if nanos > 0 {
        text += &match nanos {
            _ if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
            _ if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
            _ => format!(".{nanos:09}"),
        };
    }
    text
}

/// Hours, minutes, seconds and nanoseconds.
fn parts(nanos: i128) -> (i128, i128, i128, i128) {
    let seconds = nanos / 1_000_000_000;
    (seconds / 3_600, seconds / 60 % 60, seconds % 60, nanos % 1_000_000_000)
}

/// `Float.toString` and `Double.toString`, from the shortest digits in scientific form and the nearest
/// two. Java writes two digits at least, so where one would do it takes the nearest two: 4.9E-324.
fn float(value: f64, shortest: &str, two: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = if shortest.contains('.') { shortest } else { two };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits = mantissa.strip_suffix(".0").unwrap_or(mantissa).replace('.', "");
    let plain = value == 0.0 || (1e-3..1e7).contains(&value.abs());
    let (whole, fraction) = match exponent {
        _ if !plain => (digits[..1].to_owned(), digits[1..].to_owned()),
        ..0 => ("0".to_owned(), "0".repeat(-exponent as usize - 1) + &digits),
        _ => {
            let point = exponent as usize + 1;
            let padded = format!("{digits:0<point$}");
            (padded[..point].to_owned(), padded[point..].to_owned())
        }
    };
    let fraction = if fraction.is_empty() { "0" } else { &fraction };
    match plain {
        true => format!("{sign}{whole}.{fraction}"),
        false => format!("{sign}{whole}.{fraction}E{exponent}"),
    }
}

/// `BigDecimal.toString`: an exponent below 10⁻⁶.
fn decimal(unscaled: i128, scale: u32) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = scale as usize;
    let exponent = digits.len() as i64 - 1 - scale as i64;
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    if exponent >= -6 {
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        return format!("{sign}{whole}.{fraction}");
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{exponent}")
}

fn uuid(value: u128) -> String {
    let hex = format!("{value:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let group = u32::from_be_bytes(group);
        for at in 0..4 {
            text.push(match at <= chunk.len() {
                true => char::from(ALPHABET[(group >> (18 - 6 * at)) as usize & 63]),
                false => '=',
            });
        }
    }
    text
}
