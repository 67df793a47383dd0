//! Text turned into typed columns, exactly or not at all.
//!
//! The decoders of Arrow round, truncate and drop what does not fit a type; a write must not. So text
//! is decoded as text, and every value is then held to the type of its column.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryBuilder, Float32Array,
    Float64Array, Int32Array, Int64Array, LargeBinaryArray, ListArray, MapArray, StringArray, StructArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow::compute::kernels::cast_utils::string_to_datetime;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use chrono::{NaiveDate, NaiveTime, Timelike, Utc};

use crate::{Error, Result};

/// `schema` with every value a text, for decoding.
pub(super) fn as_text(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().iter().map(text_field).collect::<Fields>()))
}

fn text_field(field: &FieldRef) -> FieldRef {
    let of = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(text_field).collect()),
        DataType::List(element) => DataType::List(text_field(element)),
        DataType::Map(entries, sorted) => DataType::Map(text_field(entries), *sorted),
        _ => DataType::Utf8,
    };
    Arc::new(Field::new(field.name(), of, field.is_nullable()))
}

/// Whether values of a type can be written as text at all, and as one field of CSV where `flat`.
pub(super) fn can_hold(of: &DataType, flat: bool) -> bool {
    match of {
        DataType::Struct(fields) => !flat && fields.iter().all(|f| can_hold(f.data_type(), flat)),
        DataType::List(element) => !flat && can_hold(element.data_type(), flat),
        DataType::Map(entries, _) => !flat && can_hold(entries.data_type(), flat),
        DataType::Boolean
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Date32
        | DataType::Time64(TimeUnit::Microsecond)
        | DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _)
        | DataType::Utf8
        | DataType::LargeBinary
        | DataType::FixedSizeBinary(_) => true,
        _ => false,
    }
}

/// Whether a text that looks like a timestamp says which instant it means.
pub(super) fn has_offset(text: &str) -> bool {
    text.get(10..).is_some_and(|time| time.contains(['Z', 'z', '+', '-']))
}

/// A batch of texts as columns of `schema`; `first` is the number of its first row.
pub(super) fn typed(batch: &RecordBatch, schema: &SchemaRef, first: u64) -> Result<RecordBatch> {
    let columns = batch
        .columns()
        .iter()
        .zip(schema.fields())
        .map(|(column, field)| {
            convert(column, field.data_type()).map_err(|refusal| {
                let row = refusal.row.map_or(String::new(), |row| format!(" in row {}", first + row as u64));
                Error::input(format!("column `{}`{row}: {}", field.name(), refusal.reason))
            })
        })
        .collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(schema.clone(), columns).map_err(|e| Error::input(e.to_string()).with_source(e))
}

/// Why a value is not taken, and where.
struct Refusal {
    row: Option<usize>,
    reason: String,
}

type Converted<T = ArrayRef> = std::result::Result<T, Refusal>;

fn convert(array: &ArrayRef, to: &DataType) -> Converted {
    let any = array.as_any();
    match to {
        DataType::Struct(fields) => {
            let Some(array) = any.downcast_ref::<StructArray>() else { return Err(shape(to)) };
            let children = array
                .columns()
                .iter()
                .zip(fields)
                .map(|(child, field)| nested(convert(child, field.data_type())))
                .collect::<Converted<_>>()?;
            made(StructArray::try_new(fields.clone(), children, array.nulls().cloned()))
        }
        DataType::List(element) => {
            let Some(array) = any.downcast_ref::<ListArray>() else { return Err(shape(to)) };
            let values = nested(convert(array.values(), element.data_type()))?;
            made(ListArray::try_new(element.clone(), array.offsets().clone(), values, array.nulls().cloned()))
        }
        DataType::Map(entries, sorted) => {
            let Some(array) = any.downcast_ref::<MapArray>() else { return Err(shape(to)) };
            let inner: ArrayRef = Arc::new(array.entries().clone());
            let values = nested(convert(&inner, entries.data_type()))?;
            let Some(values) = values.as_any().downcast_ref::<StructArray>() else { return Err(shape(to)) };
            let (offsets, nulls) = (array.offsets().clone(), array.nulls().cloned());
            made(MapArray::try_new(entries.clone(), offsets, values.clone(), nulls, *sorted))
        }
        _ => match any.downcast_ref::<StringArray>() {
            Some(texts) => primitive(texts, to),
            None => Err(shape(to)),
        },
    }
}

fn primitive(texts: &StringArray, to: &DataType) -> Converted {
    use DataType as T;
    Ok(match to {
        T::Utf8 => Arc::new(texts.clone()),
        T::Boolean => Arc::new(each(texts, to, boolean)?.into_iter().collect::<BooleanArray>()),
        T::Int32 => Arc::new(
            each(texts, to, |t| integer(t).and_then(|v| i32::try_from(v).ok()))?
                .into_iter()
                .collect::<Int32Array>(),
        ),
        T::Int64 => Arc::new(
            each(texts, to, |t| integer(t).and_then(|v| i64::try_from(v).ok()))?
                .into_iter()
                .collect::<Int64Array>(),
        ),
        T::Float32 => Arc::new(each(texts, to, float)?.into_iter().collect::<Float32Array>()),
        T::Float64 => Arc::new(each(texts, to, double)?.into_iter().collect::<Float64Array>()),
        T::Decimal128(precision, scale) => made(
            each(texts, to, |t| decimal(t, *precision, *scale))?
                .into_iter()
                .collect::<Decimal128Array>()
                .with_precision_and_scale(*precision, *scale),
        )?,
        T::Date32 => Arc::new(each(texts, to, date)?.into_iter().collect::<Date32Array>()),
        T::Time64(_) => Arc::new(each(texts, to, time)?.into_iter().collect::<Time64MicrosecondArray>()),
        T::Timestamp(unit, zone) => {
            let zoned = zone.is_some();
            if *unit == TimeUnit::Nanosecond {
                let nanos = |t: &str| moment(t, zoned)?.timestamp_nanos_opt();
                let array = each(texts, to, nanos)?.into_iter().collect::<TimestampNanosecondArray>();
                Arc::new(array.with_timezone_opt(zone.clone()))
            } else {
                let micros = |t: &str| {
                    moment(t, zoned).filter(|m| m.nanosecond() % 1000 == 0).map(|m| m.timestamp_micros())
                };
                let array = each(texts, to, micros)?.into_iter().collect::<TimestampMicrosecondArray>();
                Arc::new(array.with_timezone_opt(zone.clone()))
            }
        }
        T::LargeBinary => {
            let values = each(texts, to, hex)?;
            Arc::new(values.iter().map(|v| v.as_deref()).collect::<LargeBinaryArray>())
        }
        T::FixedSizeBinary(width) => {
            let mut builder = FixedSizeBinaryBuilder::with_capacity(texts.len(), *width);
            for value in each(texts, to, |t| fixed(t, *width))? {
                match value {
                    Some(value) => builder.append_value(value).map_err(|e| other(&e))?,
                    None => builder.append_null(),
                }
            }
            Arc::new(builder.finish())
        }
        _ => return Err(shape(to)),
    })
}

fn each<T>(
    texts: &StringArray,
    to: &DataType,
    read: impl Fn(&str) -> Option<T>,
) -> Converted<Vec<Option<T>>> {
    let value = |(row, text): (usize, Option<&str>)| match text {
        None => Ok(None),
        Some(text) => read(text.trim()).map(Some).ok_or_else(|| Refusal {
            row: Some(row),
            reason: format!("`{}` is not exactly a value of type {}", short(text), named(to)),
        }),
    };
    texts.iter().enumerate().map(value).collect()
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ => None,
    }
}

/// A whole number, whatever way it is written: `7`, `7.0`, `7e2`.
fn integer(text: &str) -> Option<i128> {
    text.parse().ok().or_else(|| decimal(text, 38, 0))
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "what is lost is compared")]
fn double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    match text.parse::<i128>() {
        Ok(whole) => (value as i128 == whole).then_some(value),
        Err(_) => Some(value),
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "what is lost is compared")]
fn float(text: &str) -> Option<f32> {
    let value: f32 = text.parse().ok()?;
    match text.parse::<i128>() {
        Ok(whole) => (value as i128 == whole).then_some(value),
        Err(_) => Some(value),
    }
}

fn decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0
        || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit())
    {
        return None;
    }
    // Digits after the column's last place must be zeros.
    let digits = format!("{whole}{fraction}");
    let places = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let shift = i32::from(scale).checked_sub(places)?;
    let digits = if shift >= 0 {
        let significant = digits.trim_start_matches('0');
        if significant.len() + usize::try_from(shift).ok()? > usize::from(precision)
            && !significant.is_empty()
        {
            return None;
        }
        format!(
            "{significant}{}",
            "0".repeat(if significant.is_empty() { 0 } else { usize::try_from(shift).ok()? })
        )
    } else {
        let cut = usize::try_from(-shift).ok()?.min(digits.len());
        let (kept, dropped) = digits.split_at(digits.len() - cut);
        if dropped.bytes().any(|b| b != b'0') {
            return None;
        }
        kept.trim_start_matches('0').to_owned()
    };
    if digits.len() > usize::from(precision) {
        return None;
    }
    let unscaled: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(if negative { -unscaled } else { unscaled })
}

fn date(text: &str) -> Option<i32> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    i32::try_from((day - NaiveDate::default()).num_days()).ok()
}

fn time(text: &str) -> Option<i64> {
    let time = NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok()?;
    (time.nanosecond() % 1000 == 0).then(|| {
        i64::from(time.num_seconds_from_midnight()) * 1_000_000 + i64::from(time.nanosecond() / 1000)
    })
}

/// An instant; of a column without zone the wall clock, which an offset would contradict.
fn moment(text: &str, zoned: bool) -> Option<chrono::DateTime<Utc>> {
    if !zoned && has_offset(text) {
        return None;
    }
    // What the parser below would cut off.
    let fraction =
        text.split_once('.').map_or("", |(_, f)| f.split(['Z', 'z', '+', '-', ' ']).next().unwrap_or(""));
    if fraction.len() > 9 && fraction[9..].bytes().any(|b| b != b'0') {
        return None;
    }
    string_to_datetime(&Utc, text).ok()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// Hexadecimal digits; of sixteen bytes also in the groups a UUID is written in.
fn fixed(text: &str, width: i32) -> Option<Vec<u8>> {
    let grouped = width == 16 && text.len() == 36;
    let bytes = if grouped { hex(&text.replace('-', "")) } else { hex(text) }?;
    (i32::try_from(bytes.len()) == Ok(width)).then_some(bytes)
}

/// A type in the words of the table format.
pub(super) fn named(of: &DataType) -> String {
    match of {
        DataType::Int32 => "int".to_owned(),
        DataType::Int64 => "long".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Decimal128(precision, scale) => format!("decimal({precision},{scale})"),
        DataType::Date32 => "date".to_owned(),
        DataType::Time64(_) => "time".to_owned(),
        DataType::Timestamp(_, None) => "timestamp (without an offset)".to_owned(),
        DataType::Timestamp(_, Some(_)) => "timestamptz".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        DataType::LargeBinary | DataType::Binary => "binary (in hexadecimal)".to_owned(),
        DataType::FixedSizeBinary(16) => "uuid or fixed(16)".to_owned(),
        DataType::FixedSizeBinary(width) => format!("fixed({width}) (in hexadecimal)"),
        DataType::List(_) => "list".to_owned(),
        DataType::Struct(_) => "struct".to_owned(),
        DataType::Map(..) => "map".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

fn short(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.escape_debug().to_string()
}

/// A child's row is not the table's.
fn nested(converted: Converted) -> Converted {
    converted.map_err(|refusal| Refusal { row: None, ..refusal })
}

fn made<A: Array + 'static>(array: std::result::Result<A, arrow::error::ArrowError>) -> Converted {
    array.map(|array| Arc::new(array) as ArrayRef).map_err(|e| other(&e))
}

fn shape(to: &DataType) -> Refusal {
    Refusal { row: None, reason: format!("text can't be read as a {}", named(to)) }
}

fn other(error: &arrow::error::ArrowError) -> Refusal {
    Refusal { row: None, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_or_refused() {
        for (text, expected) in [
            ("1.23", Some(123)),
            ("1.230", Some(123)),
            ("-0.05", Some(-5)),
            ("+7", Some(700)),
            ("1.239", None),
            ("0.001", None),
            ("1e1", Some(1000)),
            ("123e-2", Some(123)),
            ("1e-3", None),
            ("0e99", Some(0)),
            ("9999999.99", Some(999_999_999)),
            ("10000000", None),
            ("1e400", None),
            ("", None),
            (".", None),
            ("1.2.3", None),
            ("abc", None),
            ("0000000000001.5", Some(150)),
        ] {
            assert_eq!(decimal(text, 9, 2), expected, "{text}");
        }
        assert_eq!(decimal("99999999999999999999999999999999999999", 38, 0), Some(10_i128.pow(38) - 1));
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point_but_not_with_a_fraction() {
        assert_eq!(integer("2.0"), Some(2));
        assert_eq!(integer("1e3"), Some(1000));
        assert_eq!(integer("-9223372036854775808"), Some(i128::from(i64::MIN)));
        for lost in ["2.9", "1e-1", "", "x"] {
            assert_eq!(integer(lost), None, "{lost}");
        }
    }

    #[test]
    fn a_whole_number_that_a_float_would_round_is_refused() {
        assert_eq!(double("9007199254740992"), Some(9_007_199_254_740_992.0));
        assert_eq!(double("9007199254740993"), None);
        assert_eq!(double("18446744073709551615"), None);
        assert_eq!(double("0.1"), Some(0.1));
        assert_eq!(float("16777216"), Some(16_777_216.0));
        assert_eq!(float("16777217"), None);
    }

    #[test]
    fn times_keep_every_digit_and_never_lose_an_offset() {
        let micros = |t: &str, zoned| moment(t, zoned).map(|m| m.timestamp_micros());
        assert_eq!(micros("1969-12-31T23:59:59.999999", false), Some(-1));
        assert_eq!(micros("2024-01-01 00:00:00+05:00", true), micros("2023-12-31T19:00:00Z", true));
        assert_eq!(micros("2024-01-01T00:00:00+05:00", false), None);
        assert_eq!(micros("2024-01-01T00:00:00Z", false), None);
        assert!(moment("2024-01-01T00:00:00.0000000001Z", true).is_none());
        assert_eq!(time("12:00:00.1234567"), None);
        assert_eq!(time("00:00:01.5"), Some(1_500_000));
        assert_eq!(date("2024-02-29"), Some(19_782));
        assert_eq!(date("2024-02-29T12:00:00"), None);
    }

    #[test]
    fn bytes_are_hexadecimal() {
        assert_eq!(hex("00fF"), Some(vec![0, 255]));
        assert_eq!(hex("0"), None);
        assert_eq!(hex("+1"), None);
        assert_eq!(fixed("f79c3e09-677c-4bbd-a479-3f349cb785e7", 16).map(|b| b[0]), Some(0xf7));
        assert_eq!(fixed("ff", 2), None);
    }
}
