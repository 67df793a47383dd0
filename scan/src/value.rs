use std::cmp::Ordering;
use std::fmt;

use iceberg::spec::{Datum, Literal, PrimitiveLiteral, PrimitiveType, Transform};
use serde::{Deserialize, Serialize};

const MICROS_A_DAY: i64 = 86_400_000_000;

/// One non-null value of a primitive column, without its type.
///
/// Dates are [`Int`](Self::Int) days; times and timestamps [`Long`](Self::Long) in their type's unit;
/// uuid, fixed and binary are [`Bytes`](Self::Bytes); decimals are the unscaled number.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Value {
    /// boolean.
    Boolean(bool),
    /// int, date.
    Int(i32),
    /// long, time, and the timestamps.
    Long(i64),
    /// float.
    Float(#[serde(with = "float_bits")] f32),
    /// double.
    Double(#[serde(with = "double_bits")] f64),
    /// decimal, unscaled.
    Decimal(i128),
    /// string.
    Text(String),
    /// uuid, fixed, binary.
    Bytes(Vec<u8>),
}

impl Value {
    /// Order within one column's type: NaN is above all numbers and equal to itself, −0.0 equals 0.0,
    /// text and bytes compare bytewise, false is below true. `None` when the kinds differ.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        Some(match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Long(a), Self::Long(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => compare_floats(f64::from(*a), f64::from(*b)),
            (Self::Double(a), Self::Double(b)) => compare_floats(*a, *b),
            (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => return None,
        })
    }

    /// Whether this is a floating-point NaN.
    pub fn is_nan(&self) -> bool {
        match self {
            Self::Float(v) => v.is_nan(),
            Self::Double(v) => v.is_nan(),
            _ => false,
        }
    }

    /// A value of the type `from`, as a column that has since become `to` shows it; `None` when
    /// Iceberg's promotion rules don't lead there.
    pub(crate) fn promoted(
        from: &PrimitiveType,
        literal: &PrimitiveLiteral,
        to: &PrimitiveType,
    ) -> Option<Self> {
        use PrimitiveLiteral as L;
        use PrimitiveType as P;
        Some(match (from, to, literal) {
            (P::Boolean, P::Boolean, L::Boolean(v)) => Self::Boolean(*v),
            (P::Int, P::Int, L::Int(v)) | (P::Date, P::Date, L::Int(v)) => Self::Int(*v),
            (P::Int, P::Long, L::Int(v)) => Self::Long(i64::from(*v)),
            (P::Float, P::Float, L::Float(v)) => Self::Float(v.0),
            (P::Float, P::Double, L::Float(v)) => Self::Double(f64::from(v.0)),
            (P::Double, P::Double, L::Double(v)) => Self::Double(v.0),
            (P::Decimal { scale: a, .. }, P::Decimal { scale: b, .. }, L::Int128(v)) if a == b => {
                Self::Decimal(*v)
            }
            (P::String, P::String, L::String(v)) => Self::Text(v.clone()),
            (P::Uuid, P::Uuid, L::UInt128(v)) => Self::Bytes(v.to_be_bytes().to_vec()),
            (P::Fixed(a), P::Fixed(b), L::Binary(v)) if a == b => Self::Bytes(v.clone()),
            (P::Binary, P::Binary, L::Binary(v)) => Self::Bytes(v.clone()),
            (from, to, L::Long(v)) if from == to => Self::Long(*v),
            _ => return None,
        })
    }

    /// A literal by its shape alone.
    pub(crate) fn of(literal: &Literal) -> Option<Self> {
        use PrimitiveLiteral as L;
        let Literal::Primitive(literal) = literal else { return None };
        Some(match literal {
            L::Boolean(v) => Self::Boolean(*v),
            L::Int(v) => Self::Int(*v),
            L::Long(v) => Self::Long(*v),
            L::Float(v) => Self::Float(v.0),
            L::Double(v) => Self::Double(v.0),
            L::String(v) => Self::Text(v.clone()),
            L::Binary(v) => Self::Bytes(v.clone()),
            L::Int128(v) => Self::Decimal(*v),
            L::UInt128(v) => Self::Bytes(v.to_be_bytes().to_vec()),
            L::AboveMax | L::BelowMin => return None,
        })
    }

    /// A default or partition value as a column of type `to` shows it.
    pub(crate) fn widened(self, to: &PrimitiveType) -> Option<Self> {
        use PrimitiveType as P;
        Some(match (self, to) {
            (Self::Int(v), P::Long) => Self::Long(i64::from(v)),
            (Self::Float(v), P::Double) => Self::Double(f64::from(v)),
            (v @ Self::Boolean(_), P::Boolean)
            | (v @ Self::Int(_), P::Int | P::Date)
            | (
                v @ Self::Long(_),
                P::Long | P::Time | P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs,
            )
            | (v @ Self::Float(_), P::Float)
            | (v @ Self::Double(_), P::Double)
            | (v @ Self::Decimal(_), P::Decimal { .. })
            | (v @ Self::Text(_), P::String)
            | (v @ Self::Bytes(_), P::Uuid | P::Fixed(_) | P::Binary) => v,
            _ => return None,
        })
    }

    /// This value as a datum of type `of`, for pruning by partition.
    pub(crate) fn to_datum(&self, of: &PrimitiveType) -> Option<Datum> {
        let bytes = match self {
            Self::Boolean(v) => vec![u8::from(*v)],
            Self::Int(v) => v.to_le_bytes().to_vec(),
            Self::Long(v) => v.to_le_bytes().to_vec(),
            Self::Float(v) => v.to_le_bytes().to_vec(),
            Self::Double(v) => v.to_le_bytes().to_vec(),
            Self::Decimal(v) => v.to_be_bytes().to_vec(),
            Self::Text(v) => v.as_bytes().to_vec(),
            Self::Bytes(v) => v.clone(),
        };
        Datum::try_from_bytes(&bytes, of.clone()).ok()
    }

    /// How people write this value of type `of`.
    pub(crate) fn show(&self, of: Option<&PrimitiveType>) -> String {
        match self {
            Self::Text(v) => format!("'{}'", v.escape_debug()),
            Self::Bytes(v) if !matches!(of, Some(PrimitiveType::Uuid)) => {
                let hex: String = v.iter().map(|b| format!("{b:02x}")).collect();
                format!("x'{hex}'")
            }
            _ => match of {
                Some(PrimitiveType::Decimal { scale, .. }) => self.decimal(*scale),
                Some(of) if is_temporal(of) => self.moment(of),
                Some(of) => {
                    self.to_datum(of).map_or_else(|| format!("{self:?}"), |d| quote(of, d.to_string()))
                }
                None => format!("{self:?}"),
            },
        }
    }

    /// A date, time or timestamp of any value; the format library's own text fails before 1970.
    fn moment(&self, of: &PrimitiveType) -> String {
        let literal = match (self, of) {
            (Self::Int(v), PrimitiveType::Date) => PrimitiveLiteral::Int(*v),
            (Self::Long(v), PrimitiveType::Time) if !(0..MICROS_A_DAY).contains(v) => {
                return format!("{v} microseconds");
            }
            (Self::Long(_), PrimitiveType::Date) => return format!("{self:?}"),
            (Self::Long(v), _) => PrimitiveLiteral::Long(*v),
            _ => return format!("{self:?}"),
        };
        calve_partition::human(Transform::Identity, &Literal::Primitive(literal), of)
            .map_or_else(|| format!("{self:?}"), |text| format!("'{text}'"))
    }

    fn decimal(&self, scale: u32) -> String {
        let Self::Decimal(v) = self else { return format!("{self:?}") };
        let digits = format!("{:0>width$}", v.unsigned_abs(), width = scale as usize + 1);
        let (whole, part) = digits.split_at(digits.len() - scale as usize);
        let sign = if *v < 0 { "-" } else { "" };
        if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(None))
    }
}

/// Total order of floats as filters see it.
pub(crate) fn compare_floats(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        // Neither is NaN, so they compare; zeros of both signs are equal.
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    }
}

fn is_temporal(of: &PrimitiveType) -> bool {
    use PrimitiveType as P;
    matches!(of, P::Date | P::Time | P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs)
}

fn quote(of: &PrimitiveType, text: String) -> String {
    use PrimitiveType as P;
    match of {
        P::Boolean | P::Int | P::Long | P::Float | P::Double => text,
        _ => format!("'{text}'"),
    }
}

/// Floats as their bits: JSON has no NaN and no infinity.
mod float_bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        u32::deserialize(deserializer).map(f32::from_bits)
    }
}

/// Doubles as their bits: JSON has no NaN and no infinity.
mod double_bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(value.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use PrimitiveType as P;

    use super::*;

    #[test]
    fn moments_before_1970_are_shown() {
        for (kind, value, text) in [
            (P::Date, Value::Int(-1), "'1969-12-31'"),
            (P::Time, Value::Long(1), "'00:00:00.000001'"),
            (P::Timestamp, Value::Long(-1), "'1969-12-31T23:59:59.999999'"),
            (P::Timestamptz, Value::Long(-1_000), "'1969-12-31T23:59:59.999+00:00'"),
            (P::TimestampNs, Value::Long(-1), "'1969-12-31T23:59:59.999999999'"),
            (P::TimestamptzNs, Value::Long(-1), "'1969-12-31T23:59:59.999999999+00:00'"),
        ] {
            assert_eq!(value.show(Some(&kind)), text);
        }
    }

    #[test]
    fn every_value_of_every_type_is_shown_without_panic() {
        let longs =
            [i64::MIN, i64::MIN + 1, -1_000_000_001, -1, 0, 1, 86_400_000_000, i64::MAX - 1, i64::MAX];
        let values = longs
            .into_iter()
            .map(Value::Long)
            .chain([i32::MIN, -1, 0, i32::MAX].map(Value::Int))
            .chain([i128::MIN, -1, 0, i128::MAX].map(Value::Decimal))
            .chain([f64::NAN, -0.0, f64::INFINITY, 5e-324].map(Value::Double))
            .chain([Vec::new(), vec![0xff; 16], vec![0; 17]].map(Value::Bytes))
            .chain([Value::Boolean(true), Value::Float(f32::MAX), Value::Text("\u{0}'".to_owned())]);
        let decimal = P::Decimal { precision: 38, scale: 38 };
        for value in values {
            for kind in [
                P::Boolean,
                P::Int,
                P::Long,
                P::Float,
                P::Double,
                decimal.clone(),
                P::Date,
                P::Time,
                P::Timestamp,
                P::Timestamptz,
                P::TimestampNs,
                P::TimestamptzNs,
                P::String,
                P::Uuid,
                P::Fixed(16),
                P::Binary,
            ] {
                assert!(!value.show(Some(&kind)).is_empty());
                assert!(!value.show(None).is_empty());
            }
        }
    }
}
