//! `bucket[N]`: murmur3 of a value's single-value bytes, modulo N (specification, appendix B).

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use arrow::datatypes::{
    ArrowNativeType, DataType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use iceberg::spec::{PrimitiveLiteral, PrimitiveType};

use super::conform::conform;
use crate::error::Result;
use crate::murmur3;

/// The buckets of a column's values, one `Int32` a row.
pub(super) fn bucket(array: &ArrayRef, source: &PrimitiveType, modulus: Modulus) -> Result<ArrayRef> {
    use DataType as D;
    use PrimitiveType as P;
    // Strings and binaries are hashed where they lie, whatever the layout.
    Ok(match (array.data_type(), source) {
        (D::Utf8, P::String) => of_bytes(array, array.as_string::<i32>().iter(), modulus),
        (D::LargeUtf8, P::String) => of_bytes(array, array.as_string::<i64>().iter(), modulus),
        (D::Utf8View, P::String) => of_bytes(array, array.as_string_view().iter(), modulus),
        (D::Binary, P::Binary) => of_bytes(array, array.as_binary::<i32>().iter(), modulus),
        (D::LargeBinary, P::Binary) => of_bytes(array, array.as_binary::<i64>().iter(), modulus),
        (D::BinaryView, P::Binary) => of_bytes(array, array.as_binary_view().iter(), modulus),
        (_, P::Uuid | P::Fixed(_)) => {
            let array = conform(array, source)?;
            of_bytes(&array, array.as_fixed_size_binary().iter(), modulus)
        }
        _ => {
            let array = conform(array, source)?;
            match array.data_type() {
                D::Utf8 => of_bytes(&array, array.as_string::<i32>().iter(), modulus),
                D::LargeBinary => of_bytes(&array, array.as_binary::<i64>().iter(), modulus),
                _ => of_numbers(&array, modulus)?,
            }
        }
    })
}

fn of_numbers(array: &ArrayRef, modulus: Modulus) -> Result<ArrayRef> {
    let nulls = array.nulls().cloned();
    let long = murmur3::of_long;
    let buckets = match array.data_type() {
        DataType::Int32 => modulus.map(array.as_primitive::<Int32Type>().values(), |v| long(i64::from(v))),
        DataType::Date32 => modulus.map(array.as_primitive::<Date32Type>().values(), |v| long(i64::from(v))),
        DataType::Int64 => modulus.map(array.as_primitive::<Int64Type>().values(), long),
        DataType::Time64(_) => modulus.map(array.as_primitive::<Time64MicrosecondType>().values(), long),
        DataType::Timestamp(arrow::datatypes::TimeUnit::Nanosecond, _) => {
            modulus.map(array.as_primitive::<TimestampNanosecondType>().values(), |v| long(micros_of(v)))
        }
        DataType::Timestamp(_, _) => {
            modulus.map(array.as_primitive::<TimestampMicrosecondType>().values(), long)
        }
        DataType::Decimal128(_, _) => {
            modulus.map(array.as_primitive::<Decimal128Type>().values(), of_decimal)
        }
        other => {
            return Err(crate::Error::batch(format!("an array of {other} has no buckets")));
        }
    };
    Ok(Arc::new(Int32Array::new(buckets.into(), nulls)))
}

fn of_bytes<V: AsRef<[u8]>>(
    array: &ArrayRef,
    values: impl Iterator<Item = Option<V>>,
    modulus: Modulus,
) -> ArrayRef {
    let buckets: Vec<i32> =
        values.map(|value| value.map_or(0, |value| modulus.of(murmur3::of_bytes(value.as_ref())))).collect();
    Arc::new(Int32Array::new(buckets.into(), array.logical_nulls()))
}

/// The 32-bit hash of a value, or `None` for a value that has none.
pub(crate) fn hash_literal(value: &PrimitiveLiteral, source: &PrimitiveType) -> Option<u32> {
    Some(match value {
        PrimitiveLiteral::Int(v) => murmur3::of_long(i64::from(*v)),
        PrimitiveLiteral::Long(v) => match source {
            PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs => murmur3::of_long(micros_of(*v)),
            _ => murmur3::of_long(*v),
        },
        PrimitiveLiteral::Int128(v) => of_decimal(*v),
        PrimitiveLiteral::String(v) => murmur3::of_bytes(v.as_bytes()),
        PrimitiveLiteral::Binary(v) => murmur3::of_bytes(v),
        PrimitiveLiteral::UInt128(v) => murmur3::of_bytes(&v.to_be_bytes()),
        _ => return None,
    })
}

/// Hash of the fewest big-endian two's complement bytes that hold the unscaled value.
fn of_decimal(unscaled: i128) -> u32 {
    let magnitude = if unscaled < 0 { !unscaled } else { unscaled };
    let bits = 129 - magnitude.leading_zeros();
    let length = bits.div_ceil(8) as usize;
    murmur3::of_bytes(&unscaled.to_be_bytes()[16 - length..])
}

fn micros_of(nanos: i64) -> i64 {
    nanos.div_euclid(1_000)
}

/// Reduction of hashes to `0..n`, without a division per row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modulus {
    n: u32,
    /// ⌈2⁶⁴ / n⌉, the reciprocal of Lemire, Kaser and Kurz, "Faster remainder by direct computation".
    reciprocal: u64,
}

impl Modulus {
    /// `n` is from 1 to 2³¹ − 1.
    pub(crate) fn new(n: u32) -> Self {
        let n = n.max(1);
        Self { n, reciprocal: (u64::MAX / u64::from(n)).wrapping_add(1) }
    }

    /// `(hash & 0x7fff_ffff) % n`.
    #[inline]
    pub(crate) fn of(self, hash: u32) -> i32 {
        let hash = hash & i32::MAX as u32;
        let fraction = self.reciprocal.wrapping_mul(u64::from(hash));
        ((u128::from(fraction) * u128::from(self.n)) >> 64) as i32
    }

    /// Buckets of a slice. A power of two needs a mask only, which vectorises.
    fn map<T: ArrowNativeType>(self, values: &[T], hash: impl Fn(T) -> u32) -> Vec<i32> {
        if self.n.is_power_of_two() {
            let mask = (self.n - 1) & i32::MAX as u32;
            values.iter().map(|v| (hash(*v) & mask) as i32).collect()
        } else {
            values.iter().map(|v| self.of(hash(*v))).collect()
        }
    }
}
