use std::collections::BTreeSet;
use std::fmt;

use iceberg::spec::PrimitiveType;
use serde::{Deserialize, Serialize};

use crate::value::Value;

/// A filter bound to a schema, without NOT. A row passes when it is true; unknown is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Expr {
    True,
    False,
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Test(Column, Test),
}

/// A column a filter tests, by field id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) id: i32,
    /// As the table's schema calls it, with dots.
    pub(crate) name: String,
    /// `None` for structs, lists and maps, which can only be tested for null.
    pub(crate) kind: Option<PrimitiveType>,
}

/// One question about one column; unknown for null except by the null tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Test {
    IsNull,
    NotNull,
    IsNan,
    NotNan,
    Compare(Comparison, Value),
    /// Sorted by [`Value::compare`], no two equal.
    In(Vec<Value>),
    /// Sorted by [`Value::compare`], no two equal.
    NotIn(Vec<Value>),
    StartsWith(String),
    NotStartsWith(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Comparison {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Comparison {
    /// Whether `ordering` of a value to the literal makes this true.
    pub(crate) fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Lt => ordering.is_lt(),
            Self::Le => ordering.is_le(),
            Self::Gt => ordering.is_gt(),
            Self::Ge => ordering.is_ge(),
            Self::Eq => ordering.is_eq(),
            Self::Ne => ordering.is_ne(),
        }
    }

    /// The comparison that is true where this one is false, for values that are not null.
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
        }
    }

    /// The comparison with its sides exchanged: `5 > x` is `x < 5`.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "=",
            Self::Ne => "<>",
        }
    }
}

impl Expr {
    /// All of `parts`.
    pub(crate) fn all(parts: impl IntoIterator<Item = Expr>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::True => {}
                Self::False => return Self::False,
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::True,
            1 => flat.remove(0),
            _ => Self::And(flat),
        }
    }

    /// Any of `parts`.
    pub(crate) fn any(parts: impl IntoIterator<Item = Expr>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::False => {}
                Self::True => return Self::True,
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::False,
            1 => flat.remove(0),
            _ => Self::Or(flat),
        }
    }

    /// The parts that must all be true.
    pub(crate) fn into_conjuncts(self) -> Vec<Expr> {
        match self {
            Self::True => Vec::new(),
            Self::And(parts) => parts,
            other => vec![other],
        }
    }

    /// The ids of the columns tested.
    pub(crate) fn columns(&self, into: &mut BTreeSet<i32>) {
        match self {
            Self::True | Self::False => {}
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|p| p.columns(into)),
            Self::Test(column, _) => {
                into.insert(column.id);
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Expr], word: &str| {
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    write!(f, " {word} ")?;
                }
                match part {
                    Self::And(_) | Self::Or(_) => write!(f, "({part})")?,
                    _ => write!(f, "{part}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::True => f.write_str("true"),
            Self::False => f.write_str("false"),
            Self::And(parts) => list(f, parts, "and"),
            Self::Or(parts) => list(f, parts, "or"),
            Self::Test(column, test) => test.show(f, column),
        }
    }
}

impl Test {
    fn show(&self, f: &mut fmt::Formatter<'_>, column: &Column) -> fmt::Result {
        const SHOWN: usize = 5;
        let name = &column.name;
        let value = |v: &Value| v.show(column.kind.as_ref());
        let list = |values: &[Value]| {
            let mut shown: Vec<String> = values.iter().take(SHOWN).map(value).collect();
            if values.len() > SHOWN {
                shown.push(format!("… {} more", values.len() - SHOWN));
            }
            shown.join(", ")
        };
        match self {
            Self::IsNull => write!(f, "{name} is null"),
            Self::NotNull => write!(f, "{name} is not null"),
            Self::IsNan => write!(f, "isnan({name})"),
            Self::NotNan => write!(f, "not isnan({name})"),
            Self::Compare(how, v) => write!(f, "{name} {} {}", how.sign(), value(v)),
            Self::In(values) => write!(f, "{name} in ({})", list(values)),
            Self::NotIn(values) => write!(f, "{name} not in ({})", list(values)),
            Self::StartsWith(prefix) => write!(f, "{name} like '{}%'", prefix.escape_debug()),
            Self::NotStartsWith(prefix) => write!(f, "{name} not like '{}%'", prefix.escape_debug()),
        }
    }
}
