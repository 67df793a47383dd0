//! From partition values back to the source values they stand for.

use std::ops::RangeInclusive;

use iceberg::spec::{FieldSummary, Literal, PrimitiveLiteral, PrimitiveType, Transform};

use super::condition::Condition;
use super::key::Key;
use super::span::{Range, Span};
use crate::transform::{Modulus, days_from_civil, hash_literal, result_type};

/// Hours this far from 1970, either way, are where a 64-bit count of microseconds ends up after
/// its hour has wrapped round an `int`: 2³² less the greatest hour, rounded down.
const HOURS_WRAP: i64 = 1_732_000_000;

/// One partition field made of a term's column.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    /// Of the field, in the spec.
    pub(super) position: usize,
    transform: Transform,
    source: PrimitiveType,
    result: PrimitiveType,
    /// Buckets of the term's values, sorted, for a bucket field.
    buckets: Vec<i128>,
}

impl Projection {
    /// `None` when the field's values say nothing about its column's.
    pub(super) fn new(
        position: usize,
        transform: Transform,
        source: &PrimitiveType,
        condition: &Condition,
    ) -> Option<Self> {
        if matches!(transform, Transform::Void | Transform::Unknown) {
            return None;
        }
        let result = result_type(transform, source).ok()?;
        let buckets = match transform {
            Transform::Bucket(n) => buckets(condition, source, Modulus::new(n))?,
            _ => Vec::new(),
        };
        Some(Self { position, transform, source: source.clone(), result, buckets })
    }

    /// The source values of rows whose partition value is this one.
    pub(super) fn span<'a>(&self, value: Option<&'a Literal>) -> Span<'a> {
        match value {
            None => Span::Null,
            Some(Literal::Primitive(value)) => self.preimage(Key::of(value)),
            Some(_) => Span::Unknown,
        }
    }

    /// Whether the term's values fall in any bucket of this interval.
    pub(super) fn hashes_between(&self, low: i128, high: i128) -> bool {
        let from = self.buckets.partition_point(|bucket| *bucket < low);
        self.buckets.get(from).is_some_and(|bucket| *bucket <= high)
    }

    /// Whether rows of partitions with this summary may satisfy the term.
    pub(super) fn may_match_summary(&self, condition: &Condition, summary: &FieldSummary) -> bool {
        let null = || summary.contains_null && condition.may(&Span::Null, self);
        let nan = || {
            let floating = matches!(self.result, PrimitiveType::Float | PrimitiveType::Double);
            let nan = Span::Range(Range::point(Key::Float(f64::NAN)));
            floating && summary.contains_nan != Some(false) && condition.may(&nan, self)
        };
        let bounds = self.bounds(summary);
        condition.may(&bounds, self)
            || null()
            || nan()
            || self.wrapped(summary).any(|range| condition.may(&Span::Range(range), self))
    }

    /// The type of the field's values.
    pub(super) fn result(&self) -> &PrimitiveType {
        &self.result
    }

    /// The source values that a partition value may have been made of.
    pub(super) fn preimage<'a>(&self, value: Key<'a>) -> Span<'a> {
        let range = match (self.transform, value) {
            (Transform::Identity, value) => Some(Range::point(value)),
            (Transform::Bucket(_), Key::Int(bucket)) => return Span::Buckets(bucket, bucket),
            (Transform::Truncate(width), Key::Int(value)) => {
                if self.is_garbled(&(value..=value)) {
                    return Span::Unknown;
                }
                // Every floor is a multiple of the width, and no floor that wrapped round is.
                let width = i128::from(width);
                (value.rem_euclid(width) == 0).then(|| Range::ints(value, value.saturating_add(width - 1)))
            }
            (Transform::Truncate(width), Key::Bytes(value)) => {
                // Fewer bytes than the width are fewer code points too, however they are counted.
                let whole = value.len() < width as usize;
                let value = Key::Bytes(value);
                Some(if whole { Range::point(value) } else { Range::prefix(value) })
            }
            (_, Key::Int(ordinal)) => self.instants(ordinal),
            _ => None,
        };
        range.map_or(Span::Unknown, Span::Range)
    }

    /// Whether a truncated value between these may have been made by the Java library of an `int`
    /// and a width above 2³⁰. Its `(v % W) + W` then passes the end of an `int`, and the result is
    /// no multiple of the width and may lie above `v`.
    fn is_garbled(&self, values: &RangeInclusive<i128>) -> bool {
        let Transform::Truncate(width) = self.transform else {
            return false;
        };
        // A `long` column may have been an `int` one when the value was made.
        let ints = match self.source {
            PrimitiveType::Int => i128::MIN..=i128::MAX,
            PrimitiveType::Long => i128::from(i32::MIN)..=i128::from(i32::MAX),
            _ => return false,
        };
        width > 1 << 30 && values.start() <= ints.end() && ints.start() <= values.end()
    }

    /// Source values whose floors have wrapped round their type, where a summary's bounds leave
    /// room for such floors between them: they lie in the last width of the type.
    fn wrapped(&self, summary: &FieldSummary) -> impl Iterator<Item = Range<'static>> {
        let bound = |bytes: &[u8]| match Key::decode(bytes, &self.result)? {
            Key::Int(value) => Some(value),
            _ => None,
        };
        let low = summary.lower_bound.as_ref().and_then(|bytes| bound(bytes));
        let high = summary.upper_bound.as_ref().and_then(|bytes| bound(bytes));
        let bounds = low.zip(high);
        let width = match self.transform {
            // The type's least value is a multiple of a power of two, and no floor lies below it.
            Transform::Truncate(width) if !width.is_power_of_two() => Some(i128::from(width)),
            _ => None,
        };
        let int = (i128::from(i32::MIN), i128::from(i32::MAX));
        let long = (i128::from(i64::MIN), i128::from(i64::MAX));
        // A `long` column may have been an `int` one when some of its files were written, whatever
        // the width of the bounds: a rewritten manifest has new ones.
        let types = match self.source {
            PrimitiveType::Int => vec![int],
            PrimitiveType::Long => vec![int, long],
            _ => Vec::new(),
        };
        types.into_iter().filter_map(move |(least, greatest)| {
            let ((low, high), width) = bounds.zip(width)?;
            let room = high > greatest - width && low <= greatest;
            room.then(|| Range::ints(least, least + width - 1))
        })
    }

    /// The source values of a time ordinal; of the one before, too, where an old writer may
    /// have rounded up instead of down.
    fn instants(&self, ordinal: i128) -> Option<Range<'static>> {
        // Ordinals are ints; what is none proves nothing.
        let ordinal = i64::from(i32::try_from(ordinal).ok()?);
        let from_days = self.source == PrimitiveType::Date;
        if from_days && self.transform == Transform::Day {
            return Some(Range::ints(ordinal.into(), ordinal.into()));
        }
        if self.transform == Transform::Hour && ordinal.abs() >= HOURS_WRAP {
            return None;
        }
        let first = if ordinal <= 0 { ordinal - 1 } else { ordinal };
        Some(Range::ints(self.start(first)?, self.start(ordinal + 1)? - 1))
    }

    /// The first source value of a time ordinal, in the source's own unit.
    fn start(&self, ordinal: i64) -> Option<i128> {
        let day = match self.source {
            PrimitiveType::Date => 1,
            PrimitiveType::Timestamp | PrimitiveType::Timestamptz => 86_400_000_000,
            PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs => 86_400_000_000_000,
            _ => return None,
        };
        Some(match self.transform {
            Transform::Year => i128::from(days_from_civil(1970 + ordinal, 1)) * day,
            Transform::Month => {
                let month = ordinal.rem_euclid(12) as u32 + 1;
                i128::from(days_from_civil(1970 + ordinal.div_euclid(12), month)) * day
            }
            Transform::Day => i128::from(ordinal) * day,
            Transform::Hour => i128::from(ordinal) * (day / 24),
            _ => return None,
        })
    }

    /// The source values between a summary's bounds.
    fn bounds(&self, summary: &FieldSummary) -> Span<'static> {
        self.between(summary).unwrap_or(Span::Unknown)
    }

    fn between(&self, summary: &FieldSummary) -> Option<Span<'static>> {
        let low = Key::decode(summary.lower_bound.as_ref()?, &self.result)?;
        let high = Key::decode(summary.upper_bound.as_ref()?, &self.result)?;
        if low.is_nan() || high.is_nan() || low.order(&high).is_gt() {
            return None;
        }
        if let (Key::Int(low), Key::Int(high)) = (&low, &high)
            && self.is_garbled(&(*low..=*high))
        {
            return None;
        }
        let (low, high) = match (low, high) {
            // Old writers ordered the halves of a UUID as signed longs; within one upper half
            // that says nothing about the lower.
            (Key::Uuid(low), Key::Uuid(high)) => {
                let lower_half = u128::from(u64::MAX);
                (Key::Uuid(low & !lower_half), Key::Uuid(high | lower_half))
            }
            both => both,
        };
        // A bound of a string may be cut, the upper one without being rounded up.
        let texts = matches!(high, Key::Bytes(_));
        Some(match (self.preimage(low), self.preimage(high)) {
            (Span::Range(first), Span::Range(last)) => Span::Range(Range {
                low: first.low.into_owned(),
                high: last.high.into_owned(),
                open_prefix: last.open_prefix || texts,
                exact: first.exact && last.exact,
            }),
            (Span::Buckets(low, _), Span::Buckets(high, _)) => Span::Buckets(low, high),
            _ => Span::Unknown,
        })
    }
}

/// Buckets of the values a term compares with, sorted; `None` when one of them has no hash.
fn buckets(condition: &Condition, source: &PrimitiveType, modulus: Modulus) -> Option<Vec<i128>> {
    let bucket = |key: &Key<'_>| {
        let literal = match key {
            Key::Int(v) if matches!(source, PrimitiveType::Decimal { .. }) => PrimitiveLiteral::Int128(*v),
            Key::Int(v) => PrimitiveLiteral::Long(i64::try_from(*v).ok()?),
            Key::Uuid(v) => PrimitiveLiteral::UInt128(*v),
            Key::Bytes(v) => PrimitiveLiteral::Binary(v.to_vec()),
            _ => return None,
        };
        Some(i128::from(modulus.of(hash_literal(&literal, source)?)))
    };
    let keys = match condition {
        Condition::Among(keys) | Condition::NotAmong(keys) => keys.as_slice(),
        _ => &[],
    };
    let mut buckets: Vec<_> = keys.iter().map(bucket).collect::<Option<_>>()?;
    buckets.sort_unstable();
    buckets.dedup();
    Some(buckets)
}
