//! `truncate[W]`: floors of numbers, prefixes of strings and binaries.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, LargeBinaryArray, PrimitiveArray, StringArray,
};
use arrow::datatypes::{DataType, Decimal128Type, Int32Type, Int64Type};
use iceberg::spec::PrimitiveType;

use crate::error::{Error, Result};

/// Truncated values of a column already in its canonical Arrow type.
pub(super) fn truncate(array: &ArrayRef, source: &PrimitiveType, width: u32) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        DataType::Int32 => Arc::new(numbers(array.as_primitive::<Int32Type>(), |v| truncate_int(v, width))?),
        DataType::Int64 => Arc::new(numbers(array.as_primitive::<Int64Type>(), |v| truncate_long(v, width))?),
        DataType::Decimal128(precision, _) => {
            let (values, precision) = (array.as_primitive::<Decimal128Type>(), *precision);
            let truncated = numbers(values, |v| truncate_decimal(v, width, precision))?;
            Arc::new(truncated.with_data_type(array.data_type().clone()))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            let short = values.iter().map(|v| v.map(|v| prefix(v, width)));
            Arc::new(short.collect::<StringArray>())
        }
        DataType::LargeBinary => {
            let values = array.as_binary::<i64>();
            let short = values.iter().map(|v| v.map(|v| byte_prefix(v, width)));
            Arc::new(short.collect::<LargeBinaryArray>())
        }
        other => return Err(Error::batch(format!("{source} in {other} can't be truncated"))),
    })
}

fn numbers<T: ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    truncate: impl Fn(T::Native) -> Option<T::Native>,
) -> Result<PrimitiveArray<T>> {
    values.try_unary::<_, T, _>(|value| {
        truncate(value).ok_or_else(|| {
            Error::value(format!(
                "{value:?} can't be truncated: the result is below the smallest value of its type"
            ))
        })
    })
}

/// `v - (v mod W)`, the remainder never negative; `None` below the smallest `int`.
#[inline]
pub(super) fn truncate_int(value: i32, width: u32) -> Option<i32> {
    value.checked_sub(value.rem_euclid(width as i32))
}

/// As [`truncate_int`], for `long`.
#[inline]
pub(super) fn truncate_long(value: i64, width: u32) -> Option<i64> {
    value.checked_sub(value.rem_euclid(i64::from(width)))
}

/// As [`truncate_int`], on the unscaled value; `None` when `precision` digits can't hold it.
#[inline]
pub(super) fn truncate_decimal(unscaled: i128, width: u32, precision: u8) -> Option<i128> {
    let remainder = match i64::try_from(unscaled) {
        // A 64-bit division is several times faster than a 128-bit one.
        Ok(small) => i128::from(small.rem_euclid(i64::from(width))),
        Err(_) => unscaled.rem_euclid(i128::from(width)),
    };
    let truncated = unscaled.checked_sub(remainder)?;
    (truncated > -10_i128.pow(u32::from(precision.min(38)))).then_some(truncated)
}

/// The first `width` code points.
#[inline]
pub(super) fn prefix(value: &str, width: u32) -> &str {
    let width = width as usize;
    if value.len() <= width {
        return value;
    }
    match value.char_indices().nth(width) {
        Some((end, _)) => &value[..end],
        None => value,
    }
}

/// The first `width` bytes.
#[inline]
pub(super) fn byte_prefix(value: &[u8], width: u32) -> &[u8] {
    &value[..value.len().min(width as usize)]
}
