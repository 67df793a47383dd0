//! Transforms of single values, and values of single rows.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use iceberg::spec::{Datum, Literal, PrimitiveLiteral, PrimitiveType, Transform};

use super::{bucket, check, result_type, time, truncate};
use crate::error::{Error, Result};

/// Applies `transform` to one value: the scalar twin of [`apply`](super::apply).
///
/// `None` is null, which only `void` makes of a value.
///
/// # Errors
/// As [`apply`](super::apply).
pub fn apply_datum(transform: Transform, value: &Datum) -> Result<Option<Datum>> {
    let source = value.data_type();
    let Some(literal) = apply_literal(transform, value.literal(), source)? else {
        return Ok(None);
    };
    datum(literal, &result_type(transform, source)?).map(Some)
}

/// Applies `transform` to one value of Iceberg type `source`: as [`apply_datum`], on a bare literal.
///
/// An `int` is a `long` and a `float` a `double`, too. Like [`apply`](super::apply), identity keeps
/// −0.0.
///
/// # Errors
/// As [`apply`](super::apply), and [`ErrorKind::Value`](crate::ErrorKind::Value) when the literal is
/// none of `source`.
pub fn apply_literal(
    transform: Transform,
    value: &PrimitiveLiteral,
    source: &PrimitiveType,
) -> Result<Option<PrimitiveLiteral>> {
    use PrimitiveLiteral as L;
    check(transform, source)?;
    if transform == Transform::Void {
        return Ok(None);
    }
    let too_small = || {
        Error::value(format!(
            "{value:?} can't be truncated: the result is below the smallest value of its type"
        ))
    };
    let foreign = || match value {
        L::AboveMax | L::BelowMin => Error::value(format!("the value lies outside of {source}")),
        _ => Error::value(format!("{value:?} is no value of type {source}")),
    };
    let typed = literal_of(value, source).ok_or_else(foreign)?;
    Ok(Some(match (transform, typed.as_ref()) {
        (Transform::Bucket(n), typed) => {
            let hash = bucket::hash_literal(typed, source).ok_or_else(foreign)?;
            L::Int(bucket::Modulus::new(n).of(hash))
        }
        (Transform::Truncate(width), L::Int(v)) => {
            L::Int(truncate::truncate_int(*v, width).ok_or_else(too_small)?)
        }
        (Transform::Truncate(width), L::Long(v)) => {
            L::Long(truncate::truncate_long(*v, width).ok_or_else(too_small)?)
        }
        (Transform::Truncate(width), L::Int128(v)) => {
            let PrimitiveType::Decimal { precision, .. } = source else {
                return Err(foreign());
            };
            let truncated = truncate::truncate_decimal(*v, width, *precision as u8);
            L::Int128(truncated.ok_or_else(too_small)?)
        }
        (Transform::Truncate(width), L::String(v)) => L::String(truncate::prefix(v, width).to_owned()),
        (Transform::Truncate(width), L::Binary(v)) => L::Binary(truncate::byte_prefix(v, width).to_vec()),
        (Transform::Year | Transform::Month | Transform::Day | Transform::Hour, typed) => {
            let (value, per_day) = match (typed, source) {
                (L::Int(v), PrimitiveType::Date) => (i64::from(*v), 1),
                (L::Long(v), PrimitiveType::Timestamp | PrimitiveType::Timestamptz) => (*v, 86_400_000_000),
                (L::Long(v), PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs) => {
                    (*v, 86_400_000_000_000)
                }
                _ => return Err(foreign()),
            };
            L::Int(time::ordinal(transform, value, per_day).ok_or_else(time::hour_outside)?)
        }
        (Transform::Identity, _) => typed.into_owned(),
        _ => return Err(foreign()),
    }))
}

/// The literal as a value of Iceberg type `of`, widened where its column has been; `None` where it
/// is of another type.
pub(crate) fn literal_of<'a>(
    value: &'a PrimitiveLiteral,
    of: &PrimitiveType,
) -> Option<Cow<'a, PrimitiveLiteral>> {
    use PrimitiveLiteral as L;
    use PrimitiveType as P;
    Some(match (value, of) {
        (L::Int(v), P::Long) => Cow::Owned(L::Long(i64::from(*v))),
        (L::Float(v), P::Double) => Cow::Owned(L::Double(f64::from(v.0).into())),
        (L::Binary(v), P::Fixed(length)) if v.len() as u64 != *length => return None,
        (L::Boolean(_), P::Boolean)
        | (L::Int(_), P::Int | P::Date)
        | (
            L::Long(_),
            P::Long | P::Time | P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs,
        )
        | (L::Float(_), P::Float)
        | (L::Double(_), P::Double)
        | (L::Int128(_), P::Decimal { .. })
        | (L::String(_), P::String)
        | (L::UInt128(_), P::Uuid)
        | (L::Binary(_), P::Binary | P::Fixed(_)) => Cow::Borrowed(value),
        _ => return None,
    })
}

/// A typed value of a literal, through the specification's single-value bytes.
fn datum(literal: PrimitiveLiteral, of: &PrimitiveType) -> Result<Datum> {
    let bytes = match literal {
        PrimitiveLiteral::Boolean(v) => vec![u8::from(v)],
        PrimitiveLiteral::Int(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Long(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Float(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Double(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::String(v) => v.into_bytes(),
        PrimitiveLiteral::Binary(v) => v,
        PrimitiveLiteral::Int128(v) => v.to_be_bytes().to_vec(),
        PrimitiveLiteral::UInt128(v) => v.to_be_bytes().to_vec(),
        PrimitiveLiteral::AboveMax | PrimitiveLiteral::BelowMin => {
            return Err(Error::value(format!("the value lies outside {of}")));
        }
    };
    Datum::try_from_bytes(&bytes, of.clone())
        .map_err(|error| Error::value(format!("the value is not of type {of}")).with_source(error))
}

/// The value of one row of a canonical array as a literal of Iceberg type `of`; `None` is null.
///
/// Floating-point values are those of a partition: −0.0 is 0.0 and every NaN is one NaN. No reader
/// tells NaNs apart, and SQL finds the zeros equal; but readers that order −0.0 below 0.0, as the
/// Java library does, would skip a partition of −0.0 when asked for 0.0. So both zeros are written
/// as 0.0: all readers find them by `= 0.0`, and one that takes identity columns from the partition
/// instead of the file loses no more than the sign.
pub(crate) fn literal_at(array: &ArrayRef, row: usize, of: &PrimitiveType) -> Option<Literal> {
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return None;
    }
    let literal = match array.data_type() {
        DataType::Boolean => PrimitiveLiteral::Boolean(array.as_boolean().value(row)),
        DataType::Int32 => PrimitiveLiteral::Int(array.as_primitive::<Int32Type>().value(row)),
        DataType::Date32 => PrimitiveLiteral::Int(array.as_primitive::<Date32Type>().value(row)),
        DataType::Int64 => PrimitiveLiteral::Long(array.as_primitive::<Int64Type>().value(row)),
        DataType::Time64(_) => {
            PrimitiveLiteral::Long(array.as_primitive::<Time64MicrosecondType>().value(row))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            PrimitiveLiteral::Long(array.as_primitive::<TimestampNanosecondType>().value(row))
        }
        DataType::Timestamp(_, _) => {
            PrimitiveLiteral::Long(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        DataType::Float32 => {
            let value = array.as_primitive::<Float32Type>().value(row);
            return Some(Literal::float(if value.is_nan() { f32::NAN } else { value + 0.0 }));
        }
        DataType::Float64 => {
            let value = array.as_primitive::<Float64Type>().value(row);
            return Some(Literal::double(if value.is_nan() { f64::NAN } else { value + 0.0 }));
        }
        DataType::Decimal128(_, _) => {
            PrimitiveLiteral::Int128(array.as_primitive::<Decimal128Type>().value(row))
        }
        DataType::Utf8 => PrimitiveLiteral::String(array.as_string::<i32>().value(row).to_owned()),
        DataType::LargeBinary => PrimitiveLiteral::Binary(array.as_binary::<i64>().value(row).to_vec()),
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value(row);
            match (of, <[u8; 16]>::try_from(bytes)) {
                (PrimitiveType::Uuid, Ok(uuid)) => PrimitiveLiteral::UInt128(u128::from_be_bytes(uuid)),
                _ => PrimitiveLiteral::Binary(bytes.to_vec()),
            }
        }
        _ => return None,
    };
    Some(Literal::Primitive(literal))
}
