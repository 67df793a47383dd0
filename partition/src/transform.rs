//! Partition transforms on whole Arrow arrays.

mod bucket;
mod conform;
mod scalar;
mod time;
mod truncate;

pub(crate) use bucket::{Modulus, hash_literal};
pub(crate) use conform::arrow_type;
pub use scalar::{apply_datum, apply_literal};
pub(crate) use scalar::{literal_at, literal_of};
pub(crate) use time::{days_from_civil, year_month_day};

use arrow::array::{Array, ArrayRef, AsArray, new_null_array};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use iceberg::spec::{PrimitiveType, Transform, Type};

use crate::error::{Error, Result};

/// Applies `transform` to every value of `array`, a column of Iceberg type `source`.
///
/// The result has as many rows as `array`, is null exactly where `array` is
/// (everywhere for `void`), and has the Arrow type of the transform's result:
/// the source's for identity, truncate and void; `Int32` for bucket, year, month
/// and hour; `Date32` for day.
///
/// Identity gives values as they are, −0.0 and any NaN too; a partition's value, as in
/// [`Part`](crate::Part), has 0.0 for the former.
///
/// Sliced, dictionary, view and large arrays are accepted, and so are arrays of a
/// type that widens to `source` without loss (`Int32` for `long`, a millisecond
/// timestamp for `timestamp`). A dictionary is transformed once per distinct value.
///
/// Implements "Partition Transforms" of the Iceberg specification: floors before
/// 1970, code points for strings, the 32-bit murmur3 of appendix B for buckets.
/// Nanosecond timestamps are hashed as microseconds, rounded down.
///
/// # Errors
/// [`ErrorKind::Table`](crate::ErrorKind::Table) when the transform does not take
/// `source` or is unknown, [`ErrorKind::Batch`](crate::ErrorKind::Batch) when the array
/// is of another type, and [`ErrorKind::Value`](crate::ErrorKind::Value) when a
/// result does not fit its type: the hour of a year before -243014 or past 246953, a truncated
/// number below the smallest `int`, `long` or decimal of its precision, or a timestamp in seconds
/// that is too far off for `source`.
pub fn apply(transform: Transform, array: &ArrayRef, source: &PrimitiveType) -> Result<ArrayRef> {
    check(transform, source)?;
    if transform == Transform::Void {
        return Ok(new_null_array(&arrow_type(source)?, array.len()));
    }
    if let DataType::Dictionary(_, value_type) = array.data_type() {
        let dictionary = array.as_any_dictionary();
        return match apply(transform, dictionary.values(), source) {
            Ok(values) => take(&values, dictionary.keys(), None).map_err(unreadable),
            // The value that failed may be one that no row uses.
            Err(_) => apply(transform, &cast(array, value_type).map_err(unreadable)?, source),
        };
    }
    match transform {
        Transform::Bucket(count) => bucket::bucket(array, source, Modulus::new(count)),
        Transform::Truncate(width) => truncate::truncate(&conform::conform(array, source)?, source, width),
        Transform::Year | Transform::Month | Transform::Day | Transform::Hour => {
            time::time(transform, &conform::conform(array, source)?)
        }
        _ => conform::conform(array, source),
    }
}

/// The type of the values `transform` makes of `source`.
///
/// # Errors
/// [`ErrorKind::Table`](crate::ErrorKind::Table) when the transform does not take
/// `source`, or is one this version does not know.
pub fn result_type(transform: Transform, source: &PrimitiveType) -> Result<PrimitiveType> {
    check(transform, source)?;
    match transform.result_type(&Type::Primitive(source.clone())) {
        Ok(Type::Primitive(result)) => Ok(result),
        _ => Err(refused(transform, source)),
    }
}

/// Whether the transform's parameters and source type are those the specification allows.
fn check(transform: Transform, source: &PrimitiveType) -> Result<()> {
    let sound = match transform {
        Transform::Unknown => {
            return Err(Error::table(
                "the transform is unknown to this version; nothing can be written through it",
            ));
        }
        Transform::Bucket(n) | Transform::Truncate(n) => (1..=i32::MAX as u32).contains(&n),
        _ => true,
    };
    if !sound {
        return Err(Error::table(format!(
            "{transform} is out of range: its parameter must be from 1 to 2147483647"
        )));
    }
    if transform.result_type(&Type::Primitive(source.clone())).is_err() {
        return Err(refused(transform, source));
    }
    Ok(())
}

/// The error of a transform on a type it does not take, saying which ones it does.
fn refused(transform: Transform, source: &PrimitiveType) -> Error {
    Error::table(format!("{transform} does not take {source}: it takes {}", accepted(transform)))
}

/// The source types of a transform, for messages ("Partition Transforms" of the specification).
pub(crate) fn accepted(transform: Transform) -> &'static str {
    match transform {
        Transform::Bucket(_) => {
            "int, long, decimal, date, time, timestamp, timestamptz, timestamp_ns, \
             timestamptz_ns, string, uuid, fixed and binary"
        }
        Transform::Truncate(_) => "int, long, decimal, string and binary",
        Transform::Year | Transform::Month | Transform::Day => {
            "date, timestamp, timestamptz, timestamp_ns and timestamptz_ns"
        }
        Transform::Hour => "timestamp, timestamptz, timestamp_ns and timestamptz_ns",
        Transform::Identity | Transform::Void => "every primitive type",
        Transform::Unknown => "nothing this version knows",
    }
}

/// An Arrow kernel refused an array whose type was already checked.
fn unreadable(source: arrow::error::ArrowError) -> Error {
    Error::batch(format!("the column's values can't be read: {source}")).with_source(source)
}
