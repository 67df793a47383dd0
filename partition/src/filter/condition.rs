//! One term of a filter, judged on sets of values.

use super::key::Key;
use super::projection::Projection;
use super::span::{Range, Span};

/// A term on one column, without the column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    IsNull,
    NotNull,
    IsNan,
    NotNan,
    Compare(Comparison, Key<'static>),
    /// Equal to one of these: sorted, of one kind, without repeats.
    Among(Vec<Key<'static>>),
    NotAmong(Vec<Key<'static>>),
    StartsWith(Key<'static>),
    NotStartsWith(Key<'static>),
    /// What this crate can't judge.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Condition {
    /// `IN` these values. Those outside the column's type equal no value of it.
    pub(super) fn among(keys: impl IntoIterator<Item = Key<'static>>) -> Self {
        let inside = |key: &Key<'_>| !matches!(key, Key::Below | Key::Above);
        let mut keys: Vec<_> = keys.into_iter().filter(inside).collect();
        if let Some((first, rest)) = keys.split_first()
            && !rest.iter().all(|key| key.comparable(first))
        {
            return Condition::Unknown;
        }
        keys.sort_by(Key::order);
        keys.dedup_by(|a, b| a.order(b).is_eq());
        Condition::Among(keys)
    }

    pub(super) fn starts_with(key: Key<'static>) -> Self {
        match key {
            Key::Bytes(_) => Condition::StartsWith(key),
            _ => Condition::Unknown,
        }
    }

    /// The term that selects the rows on which this one is false.
    pub(super) fn negate(self) -> Self {
        match self {
            Condition::IsNull => Condition::NotNull,
            Condition::NotNull => Condition::IsNull,
            Condition::IsNan => Condition::NotNan,
            Condition::NotNan => Condition::IsNan,
            Condition::Compare(comparison, key) => Condition::Compare(
                match comparison {
                    Comparison::Less => Comparison::GreaterOrEqual,
                    Comparison::LessOrEqual => Comparison::Greater,
                    Comparison::Greater => Comparison::LessOrEqual,
                    Comparison::GreaterOrEqual => Comparison::Less,
                },
                key,
            ),
            Condition::Among(keys) => Condition::NotAmong(keys),
            Condition::NotAmong(keys) => Condition::Among(keys),
            Condition::StartsWith(key) => Condition::NotStartsWith(key),
            Condition::NotStartsWith(key) => Condition::StartsWith(key),
            Condition::Unknown => Condition::Unknown,
        }
    }

    /// The term without literals outside the column's type, which decide it for all values but
    /// null; `None` when no value satisfies it.
    pub(super) fn settled(self) -> Option<Self> {
        use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
        Some(match self {
            Condition::Compare(Less | LessOrEqual, Key::Above)
            | Condition::Compare(Greater | GreaterOrEqual, Key::Below) => Condition::NotNull,
            Condition::Compare(_, Key::Above | Key::Below) => return None,
            Condition::NotAmong(keys) if keys.is_empty() => Condition::NotNull,
            Condition::Among(keys) if keys.is_empty() => return None,
            other => other,
        })
    }

    /// Whether a row with a value of `span` may satisfy this.
    pub(super) fn may(&self, span: &Span<'_>, projection: &Projection) -> bool {
        let range = match span {
            // Whether "null is not NaN" holds is told differently; both tellings are allowed.
            Span::Null => return matches!(self, Condition::IsNull | Condition::NotNan),
            _ if *self == Condition::IsNull => return false,
            Span::Unknown => return true,
            Span::Buckets(low, high) => {
                return match self {
                    Condition::Among(_) => projection.hashes_between(*low, *high),
                    _ => true,
                };
            }
            Span::Range(range) => range,
        };
        if !self.comparable(range) {
            return true;
        }
        match self {
            Condition::IsNull => false,
            Condition::NotNull | Condition::Unknown => true,
            Condition::IsNan => range.high.is_nan(),
            Condition::NotNan => !range.single().is_some_and(Key::is_nan),
            Condition::Compare(comparison, key) => match comparison {
                Comparison::Less => range.low.order(key).is_lt(),
                Comparison::LessOrEqual => range.low.order(key).is_le(),
                Comparison::Greater => range.high_against(key).is_gt(),
                Comparison::GreaterOrEqual => range.high_against(key).is_ge(),
            },
            Condition::Among(keys) => any_in(keys, range),
            Condition::NotAmong(keys) => match range.single() {
                Some(value) => keys.binary_search_by(|key| key.order(value)).is_err(),
                None => true,
            },
            Condition::StartsWith(prefix) => range.touches(prefix),
            Condition::NotStartsWith(prefix) => !range.within(prefix),
        }
    }

    /// Whether every row with a value of `span` satisfies this.
    pub(super) fn must(&self, span: &Span<'_>, projection: &Projection) -> bool {
        let range = match span {
            Span::Null => return *self == Condition::IsNull,
            _ if *self == Condition::NotNull => return true,
            Span::Unknown => return false,
            Span::Buckets(low, high) => {
                return match self {
                    Condition::NotAmong(_) => !projection.hashes_between(*low, *high),
                    _ => false,
                };
            }
            Span::Range(range) => range,
        };
        if !self.comparable(range) {
            return false;
        }
        match self {
            Condition::NotNull => true,
            Condition::IsNull | Condition::Unknown => false,
            Condition::IsNan => range.single().is_some_and(Key::is_nan),
            Condition::NotNan => !range.high.is_nan(),
            Condition::Compare(comparison, key) => match comparison {
                Comparison::Less => range.high_against(key).is_lt(),
                Comparison::LessOrEqual => range.high_against(key).is_le(),
                Comparison::Greater => range.low.order(key).is_gt(),
                Comparison::GreaterOrEqual => range.low.order(key).is_ge(),
            },
            Condition::Among(keys) => {
                range.single().is_some_and(|value| keys.binary_search_by(|key| key.order(value)).is_ok())
            }
            Condition::NotAmong(keys) => !any_in(keys, range),
            Condition::StartsWith(prefix) => range.within(prefix),
            Condition::NotStartsWith(prefix) => !range.touches(prefix),
        }
    }

    /// The values the term compares with; one stands for all, which are of one kind.
    pub(super) fn keys(&self) -> &[Key<'static>] {
        match self {
            Condition::Compare(_, key) | Condition::StartsWith(key) | Condition::NotStartsWith(key) => {
                std::slice::from_ref(key)
            }
            Condition::Among(keys) | Condition::NotAmong(keys) => keys,
            _ => &[],
        }
    }

    fn comparable(&self, range: &Range<'_>) -> bool {
        let kind = |key: &Key<'_>| key.comparable(&range.low) && key.comparable(&range.high);
        self.keys().first().is_none_or(kind)
    }
}

/// Whether any of the sorted keys lies in the interval.
fn any_in(keys: &[Key<'static>], range: &Range<'_>) -> bool {
    let from = keys.partition_point(|key| key.order(&range.low).is_lt());
    keys.get(from).is_some_and(|key| range.reaches(key))
}
