use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, GenericByteArray, PrimitiveArray};
use arrow::compute;
use arrow::datatypes::{
    ArrowNativeTypeOp, ArrowNumericType, ByteArrayType, DataType, Date32Type, Decimal128Type, Float32Type,
    Float64Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use iceberg::spec::{Datum, PrimitiveType};

use super::bounds;
use super::mode::MetricsMode;
use crate::{Error, ErrorKind, Result};

/// The least and greatest value of a column so far, in Iceberg's order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Range {
    Empty,
    Bool(bool, bool),
    Int(i32, i32),
    Long(i64, i64),
    Float(f32, f32),
    Double(f64, f64),
    Decimal(i128, i128),
    Bytes(Vec<u8>, Vec<u8>),
}

impl Range {
    /// Widens this range by the values of `array`; nulls and NaN are no values.
    pub(super) fn widen(&mut self, array: &ArrayRef) -> Result<()> {
        if array.null_count() == array.len() {
            return Ok(());
        }
        match array.data_type() {
            DataType::Boolean => self.widen_bool(array.as_boolean()),
            DataType::Int32 => self.widen_int(ends::<Int32Type>(array)),
            DataType::Date32 => self.widen_int(ends::<Date32Type>(array)),
            DataType::Int64 => self.widen_long(ends::<Int64Type>(array)),
            DataType::Time64(TimeUnit::Microsecond) => self.widen_long(ends::<Time64MicrosecondType>(array)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                self.widen_long(ends::<TimestampMicrosecondType>(array));
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                self.widen_long(ends::<TimestampNanosecondType>(array));
            }
            DataType::Float32 => self.widen_float(array.as_primitive::<Float32Type>()),
            DataType::Float64 => self.widen_double(array.as_primitive::<Float64Type>()),
            DataType::Decimal128(_, _) => self.widen_decimal(ends::<Decimal128Type>(array)),
            DataType::Utf8 => self.widen_bytes(bytes_of(array.as_string::<i32>())),
            DataType::LargeUtf8 => self.widen_bytes(bytes_of(array.as_string::<i64>())),
            DataType::Binary => self.widen_bytes(bytes_of(array.as_binary::<i32>())),
            DataType::LargeBinary => self.widen_bytes(bytes_of(array.as_binary::<i64>())),
            DataType::FixedSizeBinary(_) => self.widen_bytes(array.as_fixed_size_binary().iter().flatten()),
            other => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!("statistics of {other} columns are not supported"),
                ));
            }
        }
        Ok(())
    }

    fn widen_bool(&mut self, array: &BooleanArray) {
        let (Some(low), Some(high)) = (compute::min_boolean(array), compute::max_boolean(array)) else {
            return;
        };
        *self = match *self {
            Self::Bool(a, b) => Self::Bool(a && low, b || high),
            _ => Self::Bool(low, high),
        };
    }

    fn widen_int(&mut self, ends: Option<(i32, i32)>) {
        let Some((low, high)) = ends else { return };
        *self = match *self {
            Self::Int(a, b) => Self::Int(a.min(low), b.max(high)),
            _ => Self::Int(low, high),
        };
    }

    fn widen_long(&mut self, ends: Option<(i64, i64)>) {
        let Some((low, high)) = ends else { return };
        *self = match *self {
            Self::Long(a, b) => Self::Long(a.min(low), b.max(high)),
            _ => Self::Long(low, high),
        };
    }

    fn widen_decimal(&mut self, ends: Option<(i128, i128)>) {
        let Some((low, high)) = ends else { return };
        *self = match *self {
            Self::Decimal(a, b) => Self::Decimal(a.min(low), b.max(high)),
            _ => Self::Decimal(low, high),
        };
    }

    fn widen_float(&mut self, array: &PrimitiveArray<Float32Type>) {
        for value in array.iter().flatten().filter(|v| !v.is_nan()) {
            *self = match *self {
                Self::Float(a, b) => Self::Float(a.min(value), b.max(value)),
                _ => Self::Float(value, value),
            };
        }
    }

    fn widen_double(&mut self, array: &PrimitiveArray<Float64Type>) {
        for value in array.iter().flatten().filter(|v| !v.is_nan()) {
            *self = match *self {
                Self::Double(a, b) => Self::Double(a.min(value), b.max(value)),
                _ => Self::Double(value, value),
            };
        }
    }

    fn widen_bytes<'a>(&mut self, values: impl Iterator<Item = &'a [u8]>) {
        for value in values {
            match self {
                Self::Bytes(low, high) => {
                    if value < low.as_slice() {
                        low.clear();
                        low.extend_from_slice(value);
                    } else if value > high.as_slice() {
                        high.clear();
                        high.extend_from_slice(value);
                    }
                }
                _ => *self = Self::Bytes(value.to_vec(), value.to_vec()),
            }
        }
    }

    /// Lower and upper bound of a column of `kind`, either dropped where `mode` or the values say so.
    pub(super) fn bounds(
        &self,
        kind: &PrimitiveType,
        mode: MetricsMode,
    ) -> Result<(Option<Datum>, Option<Datum>)> {
        let length = match mode {
            MetricsMode::None | MetricsMode::Counts => return Ok((None, None)),
            MetricsMode::Truncate(length) => length,
            MetricsMode::Full => usize::MAX,
        };
        let (lower, upper) = match self {
            Self::Empty => return Ok((None, None)),
            Self::Bool(a, b) => (vec![u8::from(*a)], Some(vec![u8::from(*b)])),
            Self::Int(a, b) => (a.to_le_bytes().to_vec(), Some(b.to_le_bytes().to_vec())),
            Self::Long(a, b) => (a.to_le_bytes().to_vec(), Some(b.to_le_bytes().to_vec())),
            // Zeros of both signs are equal: the bounds hold either.
            Self::Float(a, b) => {
                let (a, b) = (if *a == 0.0 { -0.0 } else { *a }, if *b == 0.0 { 0.0 } else { *b });
                (a.to_le_bytes().to_vec(), Some(b.to_le_bytes().to_vec()))
            }
            Self::Double(a, b) => {
                let (a, b) = (if *a == 0.0 { -0.0 } else { *a }, if *b == 0.0 { 0.0 } else { *b });
                (a.to_le_bytes().to_vec(), Some(b.to_le_bytes().to_vec()))
            }
            Self::Decimal(a, b) => (a.to_be_bytes().to_vec(), Some(b.to_be_bytes().to_vec())),
            Self::Bytes(a, b) => match kind {
                PrimitiveType::String => {
                    let text = |bytes| std::str::from_utf8(bytes).map_err(|e| not_text(kind).with_source(e));
                    let lower = bounds::lower_str(text(a)?, length).as_bytes().to_vec();
                    (lower, bounds::upper_str(text(b)?, length).map(String::into_bytes))
                }
                PrimitiveType::Binary => {
                    (bounds::lower_bytes(a, length).to_vec(), bounds::upper_bytes(b, length))
                }
                PrimitiveType::Uuid if crosses_sign(a, b) => return Ok((None, None)),
                // A cut value of fixed length would not be of its type.
                _ => (a.clone(), Some(b.clone())),
            },
        };
        let datum = |bytes: Vec<u8>| {
            Datum::try_from_bytes(&bytes, kind.clone()).map_err(|e| {
                Error::from_iceberg(ErrorKind::Failed, format!("a bound of a {kind} column is not valid"), e)
            })
        };
        Ok((Some(datum(lower)?), upper.map(datum).transpose()?))
    }
}

/// Whether two uuids are ordered otherwise when their halves are taken as signed numbers.
///
/// The Java library does that, and finds no row between such bounds. They would hold almost every
/// uuid anyway.
pub(crate) fn crosses_sign(low: &[u8], high: &[u8]) -> bool {
    let sign = |uuid: &[u8], half: usize| uuid.get(half).is_some_and(|byte| byte & 0x80 != 0);
    sign(low, 0) != sign(high, 0) || (low.get(..8) == high.get(..8) && sign(low, 8) != sign(high, 8))
}

fn not_text(kind: &PrimitiveType) -> Error {
    Error::new(ErrorKind::Input, format!("a value of a {kind} column is not utf-8"))
}

fn ends<T: ArrowNumericType>(array: &ArrayRef) -> Option<(T::Native, T::Native)>
where
    T::Native: ArrowNativeTypeOp,
{
    let array = array.as_primitive::<T>();
    Some((compute::min(array)?, compute::max(array)?))
}

fn bytes_of<T: ByteArrayType>(array: &GenericByteArray<T>) -> impl Iterator<Item = &[u8]>
where
    T::Native: AsRef<[u8]>,
{
    array.iter().flatten().map(AsRef::as_ref)
}
