//! One value in the order that filters use.

use std::borrow::Cow;
use std::cmp::Ordering;

use iceberg::spec::{PrimitiveLiteral, PrimitiveType};

/// A value, comparable with every value of its own kind whatever its width.
///
/// Integers, dates, times, timestamps and unscaled decimals are one kind, so a value written
/// before its column was widened still compares.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key<'a> {
    Below,
    Bool(bool),
    Int(i128),
    Float(f64),
    Uuid(u128),
    /// Strings by their UTF-8 bytes, whose order is that of code points.
    Bytes(Cow<'a, [u8]>),
    Above,
}

impl<'a> Key<'a> {
    pub(super) fn of(literal: &'a PrimitiveLiteral) -> Self {
        match literal {
            PrimitiveLiteral::Boolean(v) => Key::Bool(*v),
            PrimitiveLiteral::Int(v) => Key::Int(i128::from(*v)),
            PrimitiveLiteral::Long(v) => Key::Int(i128::from(*v)),
            PrimitiveLiteral::Int128(v) => Key::Int(*v),
            PrimitiveLiteral::Float(v) => Key::Float(f64::from(v.0)),
            PrimitiveLiteral::Double(v) => Key::Float(v.0),
            PrimitiveLiteral::UInt128(v) => Key::Uuid(*v),
            PrimitiveLiteral::String(v) => Key::bytes(v.as_bytes()),
            PrimitiveLiteral::Binary(v) => Key::bytes(v),
            PrimitiveLiteral::AboveMax => Key::Above,
            PrimitiveLiteral::BelowMin => Key::Below,
        }
    }

    /// Decodes a bound ("Binary single-value serialization", appendix D of the specification).
    ///
    /// Shorter forms from before a column was widened are read; strings need not be UTF-8,
    /// since a bound may be cut inside a code point. `None` when the length fits no value.
    pub(super) fn decode(bytes: &'a [u8], of: &PrimitiveType) -> Option<Self> {
        use PrimitiveType as P;
        let int = || bytes.try_into().ok().map(i32::from_le_bytes).map(i128::from);
        let long = || bytes.try_into().ok().map(i64::from_le_bytes).map(i128::from);
        let float = || bytes.try_into().ok().map(f32::from_le_bytes).map(f64::from);
        let double = || bytes.try_into().ok().map(f64::from_le_bytes);
        Some(match of {
            P::Boolean => match bytes {
                [byte] => Key::Bool(*byte != 0),
                _ => return None,
            },
            P::Float | P::Double => Key::Float(float().or_else(double)?),
            P::Decimal { .. } => {
                let (first, length) = (*bytes.first()?, bytes.len());
                if length > 16 {
                    return None;
                }
                let mut wide = [if first >= 0x80 { 0xff } else { 0 }; 16];
                wide[16 - length..].copy_from_slice(bytes);
                Key::Int(i128::from_be_bytes(wide))
            }
            P::Uuid => Key::Uuid(u128::from_be_bytes(bytes.try_into().ok()?)),
            P::String | P::Binary | P::Fixed(_) => Key::bytes(bytes),
            _ => Key::Int(int().or_else(long)?),
        })
    }

    pub(super) fn bytes(bytes: &'a [u8]) -> Self {
        Key::Bytes(Cow::Borrowed(bytes))
    }

    pub(super) fn into_owned(self) -> Key<'static> {
        match self {
            Key::Below => Key::Below,
            Key::Bool(v) => Key::Bool(v),
            Key::Int(v) => Key::Int(v),
            Key::Float(v) => Key::Float(v),
            Key::Uuid(v) => Key::Uuid(v),
            Key::Bytes(v) => Key::Bytes(Cow::Owned(v.into_owned())),
            Key::Above => Key::Above,
        }
    }

    pub(super) fn is_nan(&self) -> bool {
        matches!(self, Key::Float(v) if v.is_nan())
    }

    /// Whether the two are of one kind, or one lies outside its column's type.
    pub(super) fn comparable(&self, other: &Key<'_>) -> bool {
        use std::mem::discriminant;
        let outside = |key: &Key<'_>| matches!(key, Key::Below | Key::Above);
        outside(self) || outside(other) || discriminant(self) == discriminant(other)
    }

    /// The order of two comparable keys; NaN is above all numbers and −0.0 equals 0.0.
    pub(super) fn order(&self, other: &Key<'_>) -> Ordering {
        match (self, other) {
            (Key::Bool(a), Key::Bool(b)) => a.cmp(b),
            (Key::Int(a), Key::Int(b)) => a.cmp(b),
            (Key::Uuid(a), Key::Uuid(b)) => a.cmp(b),
            (Key::Bytes(a), Key::Bytes(b)) => a.cmp(b),
            (Key::Float(a), Key::Float(b)) => a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Whether this is a string or binary that begins with `prefix`.
    pub(super) fn starts_with(&self, prefix: &Key<'_>) -> bool {
        match (self, prefix) {
            (Key::Bytes(text), Key::Bytes(prefix)) => text.starts_with(prefix),
            _ => false,
        }
    }

    /// Places the values outside a type around those inside; kinds that never meet keep an order.
    fn rank(&self) -> u8 {
        match self {
            Key::Below => 0,
            Key::Bool(_) => 1,
            Key::Int(_) => 2,
            Key::Float(_) => 3,
            Key::Uuid(_) => 4,
            Key::Bytes(_) => 5,
            Key::Above => 6,
        }
    }
}
