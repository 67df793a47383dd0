//! Times between units, refusing what would lose a digit.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, PrimitiveArray};
use arrow::compute;
use arrow::datatypes::{
    DataType, Date32Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};

/// A change of unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Multiply(i64),
    /// Every value must be a multiple.
    Divide(i64),
}

/// Why a value does not fit, and where it is.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) index: usize,
    pub(super) value: i64,
}

impl Scale {
    pub(super) fn between(from: TimeUnit, to: TimeUnit) -> Self {
        let (from, to) = (per_second(from), per_second(to));
        if from > to { Self::Divide(from / to) } else { Self::Multiply(to / from) }
    }

    fn apply(self, value: i64) -> Option<i64> {
        match self {
            Self::Multiply(factor) => value.checked_mul(factor),
            Self::Divide(factor) => (value % factor == 0).then_some(value / factor),
        }
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// `array` of a date, time or timestamp type as `target`; a time zone is only relabelled, because
/// values of a zoned type are instants.
pub(super) fn rescale(
    array: &ArrayRef,
    scale: Scale,
    target: &DataType,
) -> Result<Result<ArrayRef, Misfit>, arrow::error::ArrowError> {
    // Times of 32 bits widen; those of 64 bits keep their bits.
    let wide = match array.data_type() {
        DataType::Time32(_) => compute::cast(&compute::cast(array, &DataType::Int32)?, &DataType::Int64)?,
        _ => compute::cast(array, &DataType::Int64)?,
    };
    let wide = wide.as_primitive::<Int64Type>();
    let scaled = match scaled(wide, scale) {
        Ok(scaled) => scaled,
        Err(misfit) => return Ok(Err(misfit)),
    };
    let (values, nulls) = (scaled.values().clone(), scaled.nulls().cloned());
    Ok(Ok(match target {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => Arc::new(
            PrimitiveArray::<TimestampNanosecondType>::new(values, nulls).with_timezone_opt(zone.clone()),
        ),
        DataType::Timestamp(_, zone) => Arc::new(
            PrimitiveArray::<TimestampMicrosecondType>::new(values, nulls).with_timezone_opt(zone.clone()),
        ),
        DataType::Date32 => {
            let days = compute::cast(&scaled, &DataType::Int32)?;
            Arc::new(days.as_primitive::<Int32Type>().reinterpret_cast::<Date32Type>())
        }
        _ => Arc::new(PrimitiveArray::<Time64MicrosecondType>::new(values, nulls)),
    }))
}

fn scaled(array: &Int64Array, scale: Scale) -> Result<Int64Array, Misfit> {
    if scale == Scale::Multiply(1) {
        return Ok(array.clone());
    }
    if array.null_count() == 0 {
        let values: Result<Vec<i64>, Misfit> = array
            .values()
            .iter()
            .enumerate()
            .map(|(index, value)| scale.apply(*value).ok_or(Misfit { index, value: *value }))
            .collect();
        return Ok(Int64Array::from(values?));
    }
    let values: Result<Vec<Option<i64>>, Misfit> = array
        .iter()
        .enumerate()
        .map(|(index, value)| value.map(|v| scale.apply(v).ok_or(Misfit { index, value: v })).transpose())
        .collect();
    Ok(Int64Array::from(values?))
}
