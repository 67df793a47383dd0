//! `year`, `month`, `day` and `hour`: floors of dates and timestamps, counted from 1970.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Date32Array, Int32Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Date32Type, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType};
use iceberg::spec::Transform;

use crate::error::{Error, Result};

const MICROS_PER_HOUR: i64 = 3_600_000_000;
const NANOS_PER_HOUR: i64 = 3_600_000_000_000;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;
const NANOS_PER_DAY: i64 = 24 * NANOS_PER_HOUR;

/// Time ordinals of a column already in its canonical Arrow type.
pub(super) fn time(transform: Transform, array: &ArrayRef) -> Result<ArrayRef> {
    let nulls = array.nulls().cloned();
    match array.data_type() {
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().values();
            Ok(match transform {
                Transform::Year => ints(days.iter().map(|d| year_of(*d)), nulls),
                Transform::Month => ints(days.iter().map(|d| month_of(*d)), nulls),
                Transform::Day => array.clone(),
                _ => return Err(Error::table(format!("{transform} does not take date"))),
            })
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            let values = array.as_primitive::<TimestampNanosecondType>().values();
            ordinals::<NANOS_PER_DAY, NANOS_PER_HOUR>(transform, values, nulls)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let values = array.as_primitive::<TimestampMicrosecondType>().values();
            ordinals::<MICROS_PER_DAY, MICROS_PER_HOUR>(transform, values, nulls)
        }
        other => Err(Error::batch(format!("an array of {other} has no {transform}"))),
    }
}

fn ordinals<const DAY: i64, const HOUR: i64>(
    transform: Transform,
    values: &[i64],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    // Days of any 64-bit count of micro- or nanoseconds fit an int; hours of micros may not.
    let day = |v: &i64| v.div_euclid(DAY) as i32;
    Ok(match transform {
        Transform::Year => ints(values.iter().map(|v| year_of(day(v))), nulls),
        Transform::Month => ints(values.iter().map(|v| month_of(day(v))), nulls),
        Transform::Day => {
            let days: Vec<i32> = values.iter().map(day).collect();
            Arc::new(Date32Array::new(days.into(), nulls))
        }
        _ => {
            let hours: Vec<i64> = values.iter().map(|v| v.div_euclid(HOUR)).collect();
            let outside = |hour: &i64| i32::try_from(*hour).is_err();
            // What lies under a null is arbitrary, so a value out of range counts only where valid.
            let lost = hours.iter().any(outside)
                && hours.iter().enumerate().any(|(row, hour)| {
                    outside(hour) && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
                });
            if lost {
                return Err(hour_outside());
            }
            ints(hours.iter().map(|hour| *hour as i32), nulls)
        }
    })
}

fn ints(values: impl Iterator<Item = i32>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(Int32Array::new(values.collect::<Vec<_>>().into(), nulls))
}

/// The error for a timestamp whose hour is not an `int`.
pub(super) fn hour_outside() -> Error {
    Error::value("a timestamp's hour does not fit an int: hours reach from year -243014 to 246953")
}

/// One time ordinal. `value` is in `per_day` parts of a day; `None` when it does not fit an `int`.
pub(super) fn ordinal(transform: Transform, value: i64, per_day: i64) -> Option<i32> {
    let day = i32::try_from(value.div_euclid(per_day)).ok()?;
    match transform {
        Transform::Year => Some(year_of(day)),
        Transform::Month => Some(month_of(day)),
        Transform::Day => Some(day),
        _ => i32::try_from(value.div_euclid(per_day / 24)).ok(),
    }
}

/// Years from 1970 of a day counted from 1970-01-01.
#[inline]
fn year_of(day: i32) -> i32 {
    (year_month_day(i64::from(day)).0 - 1970) as i32
}

/// Months from 1970-01 of a day counted from 1970-01-01.
#[inline]
fn month_of(day: i32) -> i32 {
    let (year, month, _) = year_month_day(i64::from(day));
    ((year - 1970) * 12 + i64::from(month) - 1) as i32
}

/// Proleptic Gregorian date of a day counted from 1970-01-01.
#[inline]
pub(crate) fn year_month_day(day: i64) -> (i64, u32, u32) {
    // Eras of 400 years that begin on the first of March 0000, so that leap days come last.
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097) as u32;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = i64::from(year_of_era) + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Days from 1970-01-01 to the first of a month; `month` is from 1 to 12.
pub(crate) fn days_from_civil(year: i64, month: u32) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = i64::from(if month > 2 { month - 3 } else { month + 9 });
    let of_year = (153 * from_march + 2) / 5;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468
}
