//! Bringing an array to the one Arrow type its Iceberg type has in this crate.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType};
use iceberg::arrow::type_to_arrow_type;
use iceberg::spec::{PrimitiveType, Type};

use super::unreadable;
use crate::error::{Error, Result};

/// The Arrow type columns of an Iceberg type have in a table's Arrow schema.
pub(crate) fn arrow_type(source: &PrimitiveType) -> Result<DataType> {
    type_to_arrow_type(&Type::Primitive(source.clone()))
        .map_err(|error| Error::table(format!("{source} has no arrow type")).with_source(error))
}

/// `array` in the Arrow type of `source`: itself when it already is, else widened.
///
/// Only casts that keep every value are made. A zone label is replaced, never applied:
/// the values of a zoned array are UTC instants whatever its zone is called.
pub(super) fn conform(array: &ArrayRef, source: &PrimitiveType) -> Result<ArrayRef> {
    let wanted = arrow_type(source)?;
    if *array.data_type() == wanted {
        return Ok(array.clone());
    }
    if let (DataType::Timestamp(from, Some(_)), DataType::Timestamp(to, Some(zone))) =
        (array.data_type(), &wanted)
        && from == to
    {
        return Ok(match to {
            TimeUnit::Nanosecond => std::sync::Arc::new(
                array.as_primitive::<TimestampNanosecondType>().clone().with_timezone(zone.clone()),
            ),
            _ => std::sync::Arc::new(
                array.as_primitive::<TimestampMicrosecondType>().clone().with_timezone(zone.clone()),
            ),
        });
    }
    if !widens(array.data_type(), &wanted) {
        return Err(Error::batch(format!(
            "an array of {} can't be read as {source}: cast it to {wanted} first",
            array.data_type()
        )));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |array: &ArrayRef, to: &DataType| cast_with_options(array, to, &strict);
    match (array.data_type(), &wanted) {
        // The array is of a type that fits; a moment in it is too far off for the finer unit.
        (DataType::Timestamp(..), DataType::Timestamp(..)) => cast(array, &wanted).map_err(|error| {
            Error::value(format!("a timestamp does not fit {source}: {error}")).with_source(error)
        }),
        // Arrow has no cast from a view to a fixed length.
        (DataType::BinaryView, DataType::FixedSizeBinary(_)) => {
            cast(array, &DataType::LargeBinary).and_then(|array| cast(&array, &wanted)).map_err(unreadable)
        }
        _ => cast(array, &wanted).map_err(unreadable),
    }
}

/// Whether a cast between these types keeps every value it can hold, or fails.
fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Dictionary(_, values), to) => **values == *to || widens(values, to),
        (Int8 | Int16 | UInt8 | UInt16, Int32) => true,
        (Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32, Int64) => true,
        (Float16, Float32 | Float64) | (Float32, Float64) => true,
        (Utf8 | LargeUtf8 | Utf8View, Utf8) => true,
        (Binary | LargeBinary | BinaryView | FixedSizeBinary(_), LargeBinary) => true,
        (Binary | LargeBinary | BinaryView, FixedSizeBinary(_)) => true,
        (Time32(_), Time64(_)) => true,
        (
            Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s),
            Decimal128(precision, scale),
        ) => s == scale && p <= precision,
        (Timestamp(from, zone), Timestamp(to, wanted)) => {
            zone.is_some() == wanted.is_some() && digits(*from) <= digits(*to)
        }
        _ => false,
    }
}

/// Fractional digits of a second that a time unit can tell apart.
fn digits(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}
