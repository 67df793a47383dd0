use std::cmp::Ordering;

use crate::filter::{Column, Comparison, Expr, Test};
use crate::value::Value;

/// What statistics say of one column in a set of rows. `None` is not known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// No value that is neither null nor NaN is below this.
    lower: Option<Value>,
    /// No value that is neither null nor NaN is above this.
    upper: Option<Value>,
    nulls: Count,
    /// Always [`Count::None`] for columns that can't hold NaN.
    nans: Count,
}

/// How many of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Count {
    None,
    Some,
    All,
    #[default]
    Unknown,
}

impl Count {
    /// `count` of `rows`; impossible counts are unknown.
    pub(crate) fn of(count: Option<u64>, rows: u64) -> Self {
        match count {
            Some(0) => Self::None,
            Some(n) if n == rows => Self::All,
            Some(n) if n < rows => Self::Some,
            _ => Self::Unknown,
        }
    }

    fn may_be_none_of_all(self) -> bool {
        self != Self::All
    }

    fn may_be_any(self) -> bool {
        self != Self::None
    }
}

/// Text or bytes at least this long may be a cut bound, so they prove nothing equal.
const MAYBE_CUT: usize = 16;

impl Facts {
    /// Facts as statistics give them; bounds that are NaN or contradict one another are dropped.
    pub(crate) fn new(lower: Option<Value>, upper: Option<Value>, nulls: Count, nans: Count) -> Self {
        let lower = lower.filter(|v| !v.is_nan());
        let upper = upper.filter(|v| !v.is_nan());
        match (&lower, &upper) {
            (Some(l), Some(u)) if !matches!(l.compare(u), Some(Ordering::Less | Ordering::Equal)) => {
                Self { lower: None, upper: None, nulls, nans }
            }
            _ => Self { lower, upper, nulls, nans },
        }
    }

    /// Facts of a column that holds one value in every row.
    pub(crate) fn constant(value: Option<Value>) -> Self {
        match value {
            None => Self { nulls: Count::All, nans: Count::None, ..Self::default() },
            Some(v) if v.is_nan() => Self { nulls: Count::None, nans: Count::All, ..Self::default() },
            Some(v) => Self { lower: Some(v.clone()), upper: Some(v), nulls: Count::None, nans: Count::None },
        }
    }

    fn may(&self, test: &Test) -> bool {
        if matches!(test, Test::IsNull) {
            return self.nulls.may_be_any();
        }
        if !self.nulls.may_be_none_of_all() {
            return false;
        }
        match test {
            Test::IsNull | Test::NotNull => true,
            Test::IsNan => self.nans.may_be_any(),
            Test::NotNan => self.nans.may_be_none_of_all(),
            _ => {
                (self.nans.may_be_any() && holds_for_nan(test))
                    || (self.nans.may_be_none_of_all() && self.may_for_numbers(test))
            }
        }
    }

    fn must(&self, test: &Test) -> bool {
        match test {
            Test::IsNull => return self.nulls == Count::All,
            Test::IsNan => return self.nans == Count::All,
            _ => {}
        }
        if self.nulls != Count::None {
            return false;
        }
        match test {
            Test::NotNull => true,
            Test::NotNan => self.nans == Count::None,
            _ => {
                (self.nans == Count::None || holds_for_nan(test))
                    && (self.nans == Count::All || self.must_for_numbers(test))
            }
        }
    }

    /// Whether a value within the bounds may pass.
    fn may_for_numbers(&self, test: &Test) -> bool {
        match test {
            Test::Compare(how, v) => match how {
                Comparison::Lt => self.lower_is(v, Ordering::is_lt),
                Comparison::Le => self.lower_is(v, Ordering::is_le),
                Comparison::Gt => self.upper_is(v, Ordering::is_gt),
                Comparison::Ge => self.upper_is(v, Ordering::is_ge),
                Comparison::Eq => self.may_hold(v),
                Comparison::Ne => self.only_value().is_none_or(|only| only != v),
            },
            Test::In(values) => values.iter().any(|v| self.may_hold(v)),
            Test::NotIn(values) => self.only_value().is_none_or(|only| !values.contains(only)),
            Test::StartsWith(prefix) => {
                let prefix = prefix.as_bytes();
                let reaches = |lower: &Value| cut(lower, prefix.len()).is_none_or(|l| l <= prefix);
                let extends = |upper: &Value| cut(upper, usize::MAX).is_none_or(|u| u >= prefix);
                self.lower.as_ref().is_none_or(reaches) && self.upper.as_ref().is_none_or(extends)
            }
            Test::NotStartsWith(prefix) => !self.all_start_with(prefix.as_bytes()),
            Test::IsNull | Test::NotNull | Test::IsNan | Test::NotNan => true,
        }
    }

    /// Whether every value within the bounds passes.
    fn must_for_numbers(&self, test: &Test) -> bool {
        let known = |value: &Option<Value>, v: &Value, wanted: fn(Ordering) -> bool| {
            value.as_ref().and_then(|value| value.compare(v)).is_some_and(wanted)
        };
        match test {
            Test::Compare(how, v) => match how {
                Comparison::Lt => known(&self.upper, v, Ordering::is_lt),
                Comparison::Le => known(&self.upper, v, Ordering::is_le),
                Comparison::Gt => known(&self.lower, v, Ordering::is_gt),
                Comparison::Ge => known(&self.lower, v, Ordering::is_ge),
                Comparison::Eq => self.only_value().is_some_and(|only| only == v),
                Comparison::Ne => {
                    known(&self.upper, v, Ordering::is_lt) || known(&self.lower, v, Ordering::is_gt)
                }
            },
            Test::In(values) => self.only_value().is_some_and(|only| values.contains(only)),
            Test::NotIn(values) => values
                .iter()
                .all(|v| known(&self.upper, v, Ordering::is_lt) || known(&self.lower, v, Ordering::is_gt)),
            Test::StartsWith(prefix) => self.all_start_with(prefix.as_bytes()),
            Test::NotStartsWith(prefix) => {
                let prefix = prefix.as_bytes();
                let below = self.upper.as_ref().and_then(|u| cut(u, usize::MAX)).is_some_and(|u| u < prefix);
                let above =
                    self.lower.as_ref().and_then(|l| cut(l, prefix.len())).is_some_and(|l| l > prefix);
                below || above
            }
            Test::IsNull | Test::NotNull | Test::IsNan | Test::NotNan => false,
        }
    }

    fn lower_is(&self, v: &Value, wanted: fn(Ordering) -> bool) -> bool {
        self.lower.as_ref().and_then(|lower| lower.compare(v)).is_none_or(wanted)
    }

    fn upper_is(&self, v: &Value, wanted: fn(Ordering) -> bool) -> bool {
        self.upper.as_ref().and_then(|upper| upper.compare(v)).is_none_or(wanted)
    }

    fn may_hold(&self, v: &Value) -> bool {
        self.lower_is(v, Ordering::is_le) && self.upper_is(v, Ordering::is_ge)
    }

    /// The one value all rows share that are neither null nor NaN.
    fn only_value(&self) -> Option<&Value> {
        let (lower, upper) = (self.lower.as_ref()?, self.upper.as_ref()?);
        let cut = match lower {
            Value::Text(v) => v.len() >= MAYBE_CUT,
            Value::Bytes(v) => v.len() > MAYBE_CUT,
            _ => false,
        };
        (!cut && lower == upper).then_some(lower)
    }

    /// Text between two bounds that start alike starts so too.
    fn all_start_with(&self, prefix: &[u8]) -> bool {
        let starts = |v: &Option<Value>| {
            v.as_ref().and_then(|v| cut(v, usize::MAX)).is_some_and(|text| text.starts_with(prefix))
        };
        starts(&self.lower) && starts(&self.upper)
    }
}

/// Whether a row of the set may make `expr` true.
pub(crate) fn may_match(expr: &Expr, facts: &impl Fn(&Column) -> Facts) -> bool {
    match expr {
        Expr::True => true,
        Expr::False => false,
        Expr::And(parts) => parts.iter().all(|p| may_match(p, facts)),
        Expr::Or(parts) => parts.iter().any(|p| may_match(p, facts)),
        Expr::Test(column, test) => facts(column).may(test),
    }
}

/// Whether every row of the set makes `expr` true.
pub(crate) fn must_match(expr: &Expr, facts: &impl Fn(&Column) -> Facts) -> bool {
    match expr {
        Expr::True => true,
        Expr::False => false,
        Expr::And(parts) => parts.iter().all(|p| must_match(p, facts)),
        Expr::Or(parts) => parts.iter().any(|p| must_match(p, facts)),
        Expr::Test(column, test) => facts(column).must(test),
    }
}

/// Whether a NaN passes: it equals itself and is above all numbers.
fn holds_for_nan(test: &Test) -> bool {
    match test {
        Test::Compare(how, v) if v.is_nan() => how.holds(Ordering::Equal),
        Test::Compare(how, _) => how.holds(Ordering::Greater),
        Test::In(values) => values.iter().any(Value::is_nan),
        Test::NotIn(values) => !values.iter().any(Value::is_nan),
        Test::NotNull | Test::IsNan => true,
        Test::IsNull | Test::NotNan | Test::StartsWith(_) | Test::NotStartsWith(_) => false,
    }
}

fn cut(value: &Value, length: usize) -> Option<&[u8]> {
    let Value::Text(text) = value else { return None };
    let bytes = text.as_bytes();
    Some(&bytes[..bytes.len().min(length)])
}
