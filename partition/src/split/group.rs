//! Grouping rows by the values of several columns.
//!
//! Column by column, every row gets a small code for its value, and the codes so far are
//! interned together with it. Integers within a narrow range (days, buckets, months) are
//! their own codes, and a table small enough to index directly replaces the hash map, so
//! that the usual partitioning hashes nothing at all.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, UInt32Array};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::compute::{max, min};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};

use super::Rows;
use super::hash::Seeded;
use crate::error::{Error, Result};

/// Entries of a directly indexed table that are always affordable (256 KiB).
const SMALL_TABLE: u64 = 1 << 16;

/// A group number for every row, counted in first-seen order.
pub(super) struct Groups {
    rows: usize,
    /// Empty when there is one group only.
    ids: Vec<u32>,
    /// The first row of each group.
    firsts: Vec<u32>,
}

/// Groups rows whose values are equal in every column. There is at least one row.
pub(super) fn group(columns: &[ArrayRef], rows: usize) -> Result<Groups> {
    if u32::try_from(rows).is_err() {
        return Err(Error::batch(format!(
            "a batch of {rows} rows is too long: at most 4294967295 can be split at once"
        )));
    }
    let mut groups = Groups { rows, ids: Vec::new(), firsts: vec![0] };
    for column in columns {
        groups.refine(&codes(column)?);
    }
    Ok(groups)
}

impl Groups {
    /// Splits every group by the codes of one more column.
    fn refine(&mut self, codes: &Codes) {
        let Codes::Each { codes, bound } = codes else {
            return;
        };
        let (known, bound) = (self.firsts.len() as u64, u64::from(*bound));
        let table = known * bound;
        let mut next = Interned::default();
        if table <= SMALL_TABLE.max(self.rows as u64) {
            let mut seen = vec![u32::MAX; table as usize];
            self.intern(codes, bound, &mut next, |key, fresh| {
                let slot = &mut seen[key as usize];
                if *slot == u32::MAX {
                    *slot = fresh;
                }
                *slot
            });
        } else {
            let mut seen: HashMap<u64, u32, Seeded> = HashMap::with_hasher(Seeded::new());
            self.intern(codes, bound, &mut next, |key, fresh| *seen.entry(key).or_insert(fresh));
        }
        self.firsts = next.firsts;
        self.ids = if self.firsts.len() == 1 { Vec::new() } else { next.ids };
    }

    /// Numbers the pairs of known group and code; `lookup` gives a pair's number, or keeps the fresh one.
    #[inline]
    fn intern(
        &self,
        codes: &[u32],
        bound: u64,
        next: &mut Interned,
        mut lookup: impl FnMut(u64, u32) -> u32,
    ) {
        let firsts = &mut next.firsts;
        let mut visit = |row: usize, key: u64| {
            let fresh = firsts.len() as u32;
            let id = lookup(key, fresh);
            if id == fresh {
                firsts.push(row as u32);
            }
            id
        };
        let codes = codes.iter().map(|code| u64::from(*code)).enumerate();
        next.ids = if self.ids.is_empty() {
            codes.map(|(row, code)| visit(row, code)).collect()
        } else {
            let known = self.ids.iter().map(|id| u64::from(*id) * bound);
            codes.zip(known).map(|((row, code), known)| visit(row, known + code)).collect()
        };
    }

    /// The rows of each group with its first row: a stable counting sort.
    pub(super) fn into_rows(self) -> Vec<(Rows, usize)> {
        if self.ids.is_empty() {
            return vec![(Rows::All, 0)];
        }
        let mut ends = vec![0_usize; self.firsts.len()];
        for id in &self.ids {
            ends[*id as usize] += 1;
        }
        let mut next = 0;
        for end in &mut ends {
            next += std::mem::replace(end, next);
        }
        let mut sorted = vec![0_u32; self.rows];
        for (row, id) in self.ids.iter().enumerate() {
            let at = &mut ends[*id as usize];
            sorted[*at] = row as u32;
            *at += 1;
        }
        let sorted = Buffer::from_vec(sorted);
        let mut start = 0;
        let parts = self.firsts.iter().zip(&ends).map(|(first, end)| {
            let rows = ScalarBuffer::new(sorted.clone(), start, end - start);
            start = *end;
            (Rows::Indices(UInt32Array::new(rows, None)), *first as usize)
        });
        parts.collect()
    }
}

/// What interning one more column gives.
#[derive(Default)]
struct Interned {
    ids: Vec<u32>,
    firsts: Vec<u32>,
}

/// A column's values as small numbers, equal exactly where the values are.
enum Codes {
    /// All values are equal.
    Same,
    /// A code below `bound` for each row.
    Each { codes: Vec<u32>, bound: u32 },
}

fn codes(array: &ArrayRef) -> Result<Codes> {
    Ok(match array.data_type() {
        DataType::Null => Codes::Same,
        _ if array.null_count() == array.len() => Codes::Same,
        DataType::Boolean => {
            let values = array.as_boolean();
            interned(values.iter().map(|v| v.map(u64::from)))
        }
        DataType::Int32 => integers(array.as_primitive::<Int32Type>()),
        DataType::Date32 => integers(array.as_primitive::<Date32Type>()),
        DataType::Int64 => integers(array.as_primitive::<Int64Type>()),
        DataType::Time64(_) => integers(array.as_primitive::<Time64MicrosecondType>()),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            integers(array.as_primitive::<TimestampNanosecondType>())
        }
        DataType::Timestamp(_, _) => integers(array.as_primitive::<TimestampMicrosecondType>()),
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().iter();
            interned(values.map(|v| v.map(|v| float_key(f64::from(v)))))
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().iter();
            interned(values.map(|v| v.map(float_key)))
        }
        DataType::Decimal128(_, _) => {
            let values = array.as_primitive::<Decimal128Type>().iter();
            interned(values.map(|v| v.map(|v| v as u128)))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            texts(|| values.iter().map(|v| v.map(str::as_bytes)))
        }
        DataType::LargeBinary => texts(|| array.as_binary::<i64>().iter()),
        DataType::FixedSizeBinary(_) => texts(|| array.as_fixed_size_binary().iter()),
        other => {
            return Err(Error::batch(format!("partition values can't be of type {other}")));
        }
    })
}

/// Codes of byte strings. Short ones are packed into numbers, which hash and compare faster.
fn texts<'a, V>(values: impl Fn() -> V) -> Codes
where
    V: ExactSizeIterator<Item = Option<&'a [u8]>>,
{
    match values().flatten().map(<[u8]>::len).max() {
        Some(..8) => interned(values().map(|v| v.map(packed::<8>).map(u64::from_le_bytes))),
        Some(..16) => interned(values().map(|v| v.map(packed::<16>).map(u128::from_le_bytes))),
        _ => interned(values().map(|v| v.map(Text))),
    }
}

/// A string shorter than `N` with its length behind it.
#[inline]
fn packed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut packed = [0; N];
    for (to, from) in packed.iter_mut().zip(bytes) {
        *to = *from;
    }
    packed[N - 1] = bytes.len() as u8;
    packed
}

/// Bytes, hashed without the length that [`Seeded`] hashes anyway.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Text<'a>(&'a [u8]);

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.0);
    }
}

/// One key for all NaNs, and one for both zeros.
fn float_key(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// Codes of integers: offsets from the least one, where the range is narrow.
fn integers<T>(array: &PrimitiveArray<T>) -> Codes
where
    T: ArrowPrimitiveType,
    T::Native: Into<i64> + PartialOrd,
    PrimitiveArray<T>: Array,
{
    let (Some(least), Some(greatest)) = (min(array), max(array)) else {
        return Codes::Same;
    };
    let (least, greatest): (i64, i64) = (least.into(), greatest.into());
    let range = greatest.abs_diff(least);
    if range == 0 && array.null_count() == 0 {
        return Codes::Same;
    }
    if range >= SMALL_TABLE.max(array.len() as u64).min(u64::from(u32::MAX) - 2) {
        return interned(array.iter().map(|v| v.map(|v| v.into() as u64)));
    }
    let offset = |v: &T::Native| (*v).into().wrapping_sub(least) as u32;
    let null = range as u32 + 1;
    let codes = match array.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            let values = array.values().iter().zip(nulls.iter());
            values.map(|(v, valid)| if valid { offset(v) } else { null }).collect()
        }
        _ => array.values().iter().map(offset).collect(),
    };
    Codes::Each { codes, bound: null + 1 }
}

/// Codes of any values, in first-seen order. A run of equal values is looked up once.
fn interned<K: Hash + Eq + Copy>(values: impl ExactSizeIterator<Item = Option<K>>) -> Codes {
    let mut seen: HashMap<K, u32, Seeded> = HashMap::with_hasher(Seeded::new());
    let mut null = None;
    let mut bound = 0;
    let mut previous: Option<(Option<K>, u32)> = None;
    let mut fresh = || {
        bound += 1;
        bound - 1
    };
    let mut codes = Vec::with_capacity(values.len());
    for value in values {
        let code = match (previous, value) {
            (Some((before, code)), _) if before == value => code,
            (_, Some(key)) => *seen.entry(key).or_insert_with(&mut fresh),
            (_, None) => *null.get_or_insert_with(&mut fresh),
        };
        previous = Some((value, code));
        codes.push(code);
    }
    match bound {
        1 => Codes::Same,
        _ => Codes::Each { codes, bound },
    }
}
