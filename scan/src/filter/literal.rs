use std::fmt;

use iceberg::spec::{Datum, PrimitiveLiteral, PrimitiveType};

use super::moment;
use crate::value::Value;
use crate::{Error, Result};

/// A literal as a filter writes it, before it meets a column.
#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Null,
    Boolean(bool),
    Number(Number),
    Text(String),
    Bytes(Vec<u8>),
    /// Days since the epoch.
    Date(i32),
    /// Nanoseconds since midnight.
    Time(i64),
    /// Nanoseconds since the epoch, and whether they are an instant (UTC) or a wall clock.
    Timestamp {
        nanos: i128,
        instant: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Number {
    /// `mantissa × 10^-scale`.
    Exact {
        mantissa: i128,
        scale: i32,
    },
    Float(f64),
}

/// Where a literal lies among the values a column's type has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fit {
    /// It is this value.
    Exact(Value),
    /// It lies above this value and below the next.
    After(Value),
    /// It lies below all values.
    Below,
    /// It lies above all values.
    Above,
}

impl Literal {
    pub(crate) fn from_datum(datum: &Datum) -> Result<Self> {
        use PrimitiveLiteral as L;
        use PrimitiveType as P;
        let micros = |v: i64, instant| Self::Timestamp { nanos: i128::from(v) * 1000, instant };
        let nanos = |v: i64, instant| Self::Timestamp { nanos: i128::from(v), instant };
        Ok(match (datum.data_type(), datum.literal()) {
            (_, L::Boolean(v)) => Self::Boolean(*v),
            (P::Date, L::Int(v)) => Self::Date(*v),
            (_, L::Int(v)) => Self::integer(i128::from(*v)),
            (P::Time, L::Long(v)) => Self::Time(v.saturating_mul(1000)),
            (P::Timestamp, L::Long(v)) => micros(*v, false),
            (P::Timestamptz, L::Long(v)) => micros(*v, true),
            (P::TimestampNs, L::Long(v)) => nanos(*v, false),
            (P::TimestamptzNs, L::Long(v)) => nanos(*v, true),
            (_, L::Long(v)) => Self::integer(i128::from(*v)),
            (_, L::Float(v)) => Self::Number(Number::Float(f64::from(v.0))),
            (_, L::Double(v)) => Self::Number(Number::Float(v.0)),
            (P::Decimal { scale, .. }, L::Int128(v)) => {
                let scale = i32::try_from(*scale)
                    .map_err(|_| Error::input("filter holds a decimal of absurd scale"))?;
                Self::Number(Number::Exact { mantissa: *v, scale })
            }
            (_, L::String(v)) => Self::Text(v.clone()),
            (P::Uuid, L::UInt128(v)) => Self::Bytes(v.to_be_bytes().to_vec()),
            (_, L::Binary(v)) => Self::Bytes(v.clone()),
            (kind, _) => return Err(Error::input(format!("filter holds a {kind} literal that is no value"))),
        })
    }

    fn integer(v: i128) -> Self {
        Self::Number(Number::Exact { mantissa: v, scale: 0 })
    }

    /// Where this lies among the values of `kind`; `None` when the two can't be compared.
    pub(crate) fn fit(&self, kind: &PrimitiveType) -> Option<Fit> {
        use PrimitiveType as P;
        match (kind, self) {
            (P::Boolean, Self::Boolean(v)) => Some(Fit::Exact(Value::Boolean(*v))),
            (P::Boolean, Self::Text(text)) => match text.to_ascii_lowercase().as_str() {
                "true" => Some(Fit::Exact(Value::Boolean(true))),
                "false" => Some(Fit::Exact(Value::Boolean(false))),
                _ => None,
            },
            (P::Int | P::Long | P::Float | P::Double | P::Decimal { .. }, Self::Text(text)) => {
                Number::parse(text)?.fit(kind)
            }
            (P::Int | P::Long | P::Float | P::Double | P::Decimal { .. }, Self::Number(number)) => {
                number.fit(kind)
            }
            (P::String, Self::Text(text)) => Some(Fit::Exact(Value::Text(text.clone()))),
            (P::Uuid, Self::Text(text)) => moment::uuid(text).map(|bytes| Fit::Exact(Value::Bytes(bytes))),
            (P::Uuid | P::Fixed(_) | P::Binary, Self::Bytes(v)) => Some(Fit::Exact(Value::Bytes(v.clone()))),
            (P::Date, Self::Date(days)) => Some(Fit::Exact(Value::Int(*days))),
            (P::Date, Self::Timestamp { nanos, instant: false }) => {
                Some(whole(*nanos, moment::NANOS_A_DAY, |days| i32::try_from(days).ok().map(Value::Int)))
            }
            (P::Date, Self::Text(text)) => moment::literal(text)?.fit_unless_zoned(kind),
            (P::Time, Self::Time(nanos)) => {
                Some(whole(i128::from(*nanos), 1000, |v| i64::try_from(v).ok().map(Value::Long)))
            }
            (P::Time, Self::Text(text)) => Self::Time(moment::time(text)?).fit(kind),
            (P::Timestamp | P::TimestampNs | P::Timestamptz | P::TimestamptzNs, _) => {
                self.fit_timestamp(kind)
            }
            _ => None,
        }
    }

    fn fit_unless_zoned(&self, kind: &PrimitiveType) -> Option<Fit> {
        match self {
            Self::Timestamp { instant: true, .. } => None,
            other => other.fit(kind),
        }
    }

    fn fit_timestamp(&self, kind: &PrimitiveType) -> Option<Fit> {
        use PrimitiveType as P;
        let zoned = matches!(kind, P::Timestamptz | P::TimestamptzNs);
        let unit = if matches!(kind, P::Timestamp | P::Timestamptz) { 1000 } else { 1 };
        let nanos = match self {
            Self::Timestamp { instant: true, .. } if !zoned => return None,
            Self::Timestamp { nanos, .. } => *nanos,
            Self::Date(days) => i128::from(*days) * moment::NANOS_A_DAY,
            Self::Text(text) => return moment::literal(text)?.fit_timestamp(kind),
            _ => return None,
        };
        Some(whole(nanos, unit, |v| i64::try_from(v).ok().map(Value::Long)))
    }
}

/// `amount / unit` if it is whole, else after the value below it.
fn whole(amount: i128, unit: i128, value: impl Fn(i128) -> Option<Value>) -> Fit {
    let (floor, rest) = (amount.div_euclid(unit), amount.rem_euclid(unit));
    match value(floor) {
        Some(value) if rest == 0 => Fit::Exact(value),
        Some(value) => Fit::After(value),
        None if amount < 0 => Fit::Below,
        None => Fit::Above,
    }
}

impl Number {
    /// A number as SQL writes it; `None` when it is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        match lower.trim_start_matches(['+', '-']) {
            "nan" => return Some(Self::Float(f64::NAN)),
            "inf" | "infinity" => {
                let sign = if lower.starts_with('-') { -1.0 } else { 1.0 };
                return Some(Self::Float(sign * f64::INFINITY));
            }
            _ => {}
        }
        let float = lower.parse::<f64>().ok()?;
        Some(Self::exact(&lower).unwrap_or_else(|| Self::inexact(&lower, float)))
    }

    /// A number of too many digits: its float, or when it is beyond all floats, what is as far beyond
    /// the values of any column.
    fn inexact(text: &str, float: f64) -> Self {
        let digits = text.split('e').next().unwrap_or(text);
        let mantissa = if text.starts_with('-') { -1 } else { 1 };
        match float {
            _ if float.is_infinite() => Self::Exact { mantissa, scale: -i32::MAX },
            _ if float == 0.0 && digits.bytes().any(|b| matches!(b, b'1'..=b'9')) => {
                Self::Exact { mantissa, scale: i32::MAX }
            }
            _ => Self::Float(float),
        }
    }

    /// This number below zero.
    pub(crate) fn minus(self) -> Self {
        match self {
            Self::Exact { mantissa, scale } => match mantissa.checked_neg() {
                Some(mantissa) => Self::Exact { mantissa, scale },
                None => Self::Float(-(mantissa as f64)),
            },
            Self::Float(v) => Self::Float(-v),
        }
    }

    fn exact(text: &str) -> Option<Self> {
        let (digits, exponent) = match text.split_once('e') {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match digits.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, digits.strip_prefix('+').unwrap_or(digits)),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa: i128 = format!("{whole}{part}").parse().ok()?;
        let scale = i32::try_from(part.len()).ok()?.checked_sub(exponent)?;
        Some(Self::Exact { mantissa: if negative { -mantissa } else { mantissa }, scale })
    }

    fn fit(&self, kind: &PrimitiveType) -> Option<Fit> {
        match kind {
            PrimitiveType::Int => Some(self.fit_whole(0, |v| i32::try_from(v).ok().map(Value::Int))),
            PrimitiveType::Long => Some(self.fit_whole(0, |v| i64::try_from(v).ok().map(Value::Long))),
            PrimitiveType::Decimal { precision, scale } => {
                let limit = 10_i128.checked_pow(*precision)?;
                let value = |v: i128| (-limit < v && v < limit).then_some(Value::Decimal(v));
                Some(self.fit_whole(i32::try_from(*scale).ok()?, value))
            }
            PrimitiveType::Float => Some(match self.nearest(|text| text.parse().ok(), |v| v as f32)? {
                value if value.is_infinite() && !self.is_infinite() => match value > 0.0 {
                    true => Fit::After(Value::Float(f32::MAX)),
                    false => Fit::After(Value::Float(f32::NEG_INFINITY)),
                },
                // Below the smallest float is not zero yet.
                value if value == 0.0 && !self.is_zero() => match self.is_negative() {
                    true => Fit::After(Value::Float(-f32::from_bits(1))),
                    false => Fit::After(Value::Float(0.0)),
                },
                value => Fit::Exact(Value::Float(value)),
            }),
            PrimitiveType::Double => Some(match self.nearest(|text| text.parse().ok(), |v| v)? {
                value if value.is_infinite() && !self.is_infinite() => match value > 0.0 {
                    true => Fit::After(Value::Double(f64::MAX)),
                    false => Fit::After(Value::Double(f64::NEG_INFINITY)),
                },
                value if value == 0.0 && !self.is_zero() => match self.is_negative() {
                    true => Fit::After(Value::Double(-f64::from_bits(1))),
                    false => Fit::After(Value::Double(0.0)),
                },
                value => Fit::Exact(Value::Double(value)),
            }),
            _ => None,
        }
    }

    /// The nearest float.
    fn nearest<F>(&self, parse: impl Fn(&str) -> Option<F>, narrow: impl Fn(f64) -> F) -> Option<F> {
        match self {
            Self::Exact { mantissa, scale } => parse(&format!("{mantissa}e{}", -i64::from(*scale))),
            Self::Float(v) => Some(narrow(*v)),
        }
    }

    fn is_infinite(&self) -> bool {
        matches!(self, Self::Float(v) if v.is_infinite())
    }

    fn is_zero(&self) -> bool {
        match self {
            Self::Exact { mantissa, .. } => *mantissa == 0,
            Self::Float(v) => *v == 0.0,
        }
    }

    fn is_negative(&self) -> bool {
        match self {
            Self::Exact { mantissa, .. } => *mantissa < 0,
            Self::Float(v) => v.is_sign_negative(),
        }
    }

    /// Where this lies among whole multiples of `10^-scale`.
    fn fit_whole(&self, scale: i32, value: impl Fn(i128) -> Option<Value>) -> Fit {
        match self {
            Self::Exact { mantissa: 0, .. } => whole(0, 1, value),
            Self::Exact { mantissa, scale: own } => {
                let up = i64::from(scale) - i64::from(*own);
                let power = u32::try_from(up.unsigned_abs()).ok().and_then(|n| 10_i128.checked_pow(n));
                match (up >= 0, power) {
                    (true, Some(power)) => match mantissa.checked_mul(power) {
                        Some(v) => whole(v, 1, value),
                        None if *mantissa < 0 => Fit::Below,
                        None => Fit::Above,
                    },
                    (true, None) if *mantissa < 0 => Fit::Below,
                    (true, None) => Fit::Above,
                    (false, Some(power)) => whole(*mantissa, power, value),
                    // Smaller than any step.
                    (false, None) => whole(if *mantissa < 0 { -1 } else { 1 }, 2, value),
                }
            }
            Self::Float(v) if v.is_nan() => Fit::Above,
            Self::Float(v) => {
                // The shortest decimal that reads back as this float is what was meant.
                match Self::exact(&format!("{v:e}")) {
                    Some(exact) => exact.fit_whole(scale, value),
                    None if *v < 0.0 => Fit::Below,
                    None => Fit::Above,
                }
            }
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(v) => write!(f, "{v}"),
            Self::Number(Number::Exact { mantissa, scale: 0 }) => write!(f, "{mantissa}"),
            Self::Number(Number::Exact { mantissa, scale }) => write!(f, "{mantissa}e{}", -scale),
            Self::Number(Number::Float(v)) => write!(f, "{v}"),
            Self::Text(v) => write!(f, "'{}'", v.escape_debug()),
            Self::Bytes(_) => f.write_str("bytes"),
            Self::Date(_) => f.write_str("a date"),
            Self::Time(_) => f.write_str("a time"),
            Self::Timestamp { instant: true, .. } => f.write_str("a timestamp with offset"),
            Self::Timestamp { instant: false, .. } => f.write_str("a timestamp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(text: &str) -> Fit {
        Number::parse(text).and_then(|n| n.fit(&PrimitiveType::Double)).expect("a number")
    }

    fn float(text: &str) -> Fit {
        Number::parse(text).and_then(|n| n.fit(&PrimitiveType::Float)).expect("a number")
    }

    #[test]
    fn numbers_smaller_than_any_float_are_not_zero() {
        let long = format!("0.{}1", "0".repeat(500));
        let many = format!("{}e-500", "7".repeat(60));
        for text in ["1e-400", "1e-99999999999", &long, &many] {
            assert_eq!(double(text), Fit::After(Value::Double(0.0)), "{text}");
            assert_eq!(double(&format!("-{text}")), Fit::After(Value::Double(-5e-324)), "{text}");
            assert_eq!(float(&format!("-{text}")), Fit::After(Value::Float(-1e-45)), "{text}");
        }
        assert_eq!(float("1e-60"), Fit::After(Value::Float(0.0)));
        assert_eq!(double("1e-60"), Fit::Exact(Value::Double(1e-60)));
        let narrowed = Number::Float(-1e-60).fit(&PrimitiveType::Float);
        assert_eq!(narrowed, Some(Fit::After(Value::Float(-1e-45))));
        for zero in ["0", "-0", "0e-400", "-0.000", "0e99999999999"] {
            assert_eq!(double(zero), Fit::Exact(Value::Double(0.0)), "{zero}");
        }
    }

    #[test]
    fn numbers_larger_than_any_float_are_not_infinite() {
        for text in ["1e400", "1e99999999999", &"9".repeat(400)] {
            assert_eq!(double(text), Fit::After(Value::Double(f64::MAX)), "{text}");
            let below = double(&format!("-{text}"));
            assert_eq!(below, Fit::After(Value::Double(f64::NEG_INFINITY)), "{text}");
            let long = Number::parse(text).and_then(|n| n.fit(&PrimitiveType::Long));
            assert_eq!(long, Some(Fit::Above), "{text}");
        }
        assert_eq!(double("-infinity"), Fit::Exact(Value::Double(f64::NEG_INFINITY)));
    }

    fn fit(text: &str, kind: PrimitiveType) -> Option<Fit> {
        Literal::Number(Number::parse(text)?).fit(&kind)
    }

    #[test]
    fn numbers_find_their_place_among_the_columns_values() {
        use PrimitiveType as P;
        let cases = [
            ("5", P::Int, Fit::Exact(Value::Int(5))),
            ("5.0", P::Int, Fit::Exact(Value::Int(5))),
            ("50e-1", P::Int, Fit::Exact(Value::Int(5))),
            ("5.5", P::Int, Fit::After(Value::Int(5))),
            ("-5.5", P::Int, Fit::After(Value::Int(-6))),
            ("1e-50", P::Int, Fit::After(Value::Int(0))),
            ("-1e-50", P::Int, Fit::After(Value::Int(-1))),
            ("2147483648", P::Int, Fit::Above),
            ("-2147483649", P::Int, Fit::Below),
            ("1e400", P::Long, Fit::Above),
            ("-1e400", P::Long, Fit::Below),
            ("nan", P::Long, Fit::Above),
            ("-infinity", P::Long, Fit::Below),
            ("0.1", P::Float, Fit::Exact(Value::Float(0.1))),
            ("1e39", P::Float, Fit::After(Value::Float(f32::MAX))),
            ("-1e39", P::Float, Fit::After(Value::Float(f32::NEG_INFINITY))),
            ("9007199254740993", P::Double, Fit::Exact(Value::Double(9007199254740992.0))),
            ("1.234", P::Decimal { precision: 9, scale: 2 }, Fit::After(Value::Decimal(123))),
            ("-1.234", P::Decimal { precision: 9, scale: 2 }, Fit::After(Value::Decimal(-124))),
            ("1e8", P::Decimal { precision: 9, scale: 2 }, Fit::Above),
            ("-1e30", P::Decimal { precision: 9, scale: 2 }, Fit::Below),
            (
                "99999999999999999999999999999999999999",
                P::Decimal { precision: 38, scale: 0 },
                Fit::Exact(Value::Decimal(10_i128.pow(38) - 1)),
            ),
        ];
        for (text, kind, wanted) in cases {
            assert_eq!(fit(text, kind.clone()), Some(wanted), "{text} as {kind}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", ".", "e5", "0x10", "1e", "five", "1 2", "--1"] {
            assert!(Number::parse(text).is_none(), "{text}");
        }
    }
}
