//! The source values that a partition value, or a manifest's bounds, may stand for.

use std::cmp::Ordering;

use super::key::Key;

/// A set of source values that holds all that were written, and maybe more.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Span<'a> {
    /// Null, and nothing else.
    Null,
    /// Any value but null.
    Unknown,
    /// Values whose hash falls in one of these buckets, ends included.
    Buckets(i128, i128),
    /// Values from `low` to `high`, ends included.
    Range(Range<'a>),
}

/// An interval of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range<'a> {
    pub(super) low: Key<'a>,
    pub(super) high: Key<'a>,
    /// Values that begin with `high` belong to the interval too.
    pub(super) open_prefix: bool,
    /// Whether equal ends prove that there is one value.
    pub(super) exact: bool,
}

impl<'a> Range<'a> {
    pub(super) fn point(value: Key<'a>) -> Self {
        Self { low: value.clone(), high: value, open_prefix: false, exact: true }
    }

    pub(super) fn prefix(value: Key<'a>) -> Self {
        Self { open_prefix: true, exact: false, ..Self::point(value) }
    }

    pub(super) fn ints(low: i128, high: i128) -> Self {
        Self { low: Key::Int(low), high: Key::Int(high), open_prefix: false, exact: true }
    }

    /// The only value of the interval, where it is known to have one only.
    pub(super) fn single(&self) -> Option<&Key<'a>> {
        let one = self.exact && !self.open_prefix && self.low.order(&self.high).is_eq();
        one.then_some(&self.low)
    }

    /// Whether `value` is not above the interval.
    pub(super) fn reaches(&self, value: &Key<'_>) -> bool {
        value.order(&self.high).is_le() || self.goes_on(value)
    }

    /// The order of the greatest value against `value`: `Greater` if a greater one may be there.
    pub(super) fn high_against(&self, value: &Key<'_>) -> Ordering {
        if self.goes_on(value) { Ordering::Greater } else { self.high.order(value) }
    }

    /// Whether any string of the interval may begin with `prefix`.
    pub(super) fn touches(&self, prefix: &Key<'_>) -> bool {
        (self.low.order(prefix).is_le() || self.low.starts_with(prefix)) && self.reaches(prefix)
    }

    /// Whether every string of the interval begins with `prefix`.
    pub(super) fn within(&self, prefix: &Key<'_>) -> bool {
        self.low.starts_with(prefix) && self.high.starts_with(prefix)
    }

    /// Whether strings that begin with `high` belong here and `value` is one, so longer ones do too.
    fn goes_on(&self, value: &Key<'_>) -> bool {
        self.open_prefix && value.starts_with(&self.high)
    }
}
