//! A column and a literal, put together in the column's type.

use iceberg::spec::{PrimitiveType, Type};

use super::expr::{Column, Comparison, Expr, Test};
use super::literal::{Fit, Literal};
use crate::names::Names;
use crate::value::Value;
use crate::{Error, Result};

/// The column a filter names.
pub(super) fn column(names: &Names<'_>, name: &str) -> Result<Column> {
    let found = names.find("filter", name)?;
    let field = found.path.last().ok_or_else(|| Error::damaged(format!("column `{name}` has no field")))?;
    let kind = match field.field_type.as_ref() {
        Type::Primitive(kind) => Some(kind.clone()),
        _ => None,
    };
    Ok(Column { id: field.id, name: found.name, kind })
}

/// Whether `column` is NaN, or its negation. For null, `x IS NAN` is false and `isnan(x)` unknown.
pub(super) fn is_nan(column: Column, negated: bool, null_is_known: bool) -> Result<Expr> {
    let test = unary(column.clone(), if negated { Test::NotNan } else { Test::IsNan })?;
    Ok(match negated && null_is_known {
        true => Expr::any([test, Expr::Test(column, Test::IsNull)]),
        false => test,
    })
}

/// A test for null or NaN.
pub(super) fn unary(column: Column, test: Test) -> Result<Expr> {
    let floating = matches!(column.kind, Some(PrimitiveType::Float | PrimitiveType::Double));
    if matches!(test, Test::IsNan | Test::NotNan) && !floating {
        return Err(Error::input(format!(
            "filter asks whether `{}` is NaN, but it is {}; only float and double can be",
            column.name,
            kind_name(&column)
        )));
    }
    Ok(Expr::Test(column, test))
}

/// `column how literal`.
pub(super) fn comparison(column: Column, how: Comparison, literal: &Literal) -> Result<Expr> {
    let Some(fit) = fit(&column, literal)? else { return Ok(Expr::False) };
    Ok(match fit {
        Fit::Exact(value) => Expr::Test(column, Test::Compare(how, value)),
        // The literal lies between `value` and the next one.
        Fit::After(value) => match how {
            Comparison::Lt | Comparison::Le => Expr::Test(column, Test::Compare(Comparison::Le, value)),
            Comparison::Gt | Comparison::Ge => Expr::Test(column, Test::Compare(Comparison::Gt, value)),
            Comparison::Eq => Expr::False,
            Comparison::Ne => Expr::Test(column, Test::NotNull),
        },
        Fit::Below | Fit::Above => {
            let below = matches!(fit, Fit::Below);
            let holds = match how {
                Comparison::Lt | Comparison::Le => !below,
                Comparison::Gt | Comparison::Ge => below,
                Comparison::Eq => false,
                Comparison::Ne => true,
            };
            if holds { Expr::Test(column, Test::NotNull) } else { Expr::False }
        }
    })
}

/// `column IN (literals)` or, negated, `NOT IN`. With a null among them NOT IN is never true.
pub(super) fn in_list(column: Column, literals: &[Literal], negated: bool) -> Result<Expr> {
    let mut values: Vec<Value> = Vec::with_capacity(literals.len());
    let mut null = false;
    for literal in literals {
        match fit(&column, literal)? {
            None => null = true,
            Some(Fit::Exact(value)) => values.push(value),
            // Equal to no value of the column.
            Some(Fit::After(_) | Fit::Below | Fit::Above) => {}
        }
    }
    values.sort_by(|a, b| a.compare(b).unwrap_or(std::cmp::Ordering::Equal));
    values.dedup();
    Ok(match (negated, values.len()) {
        (true, _) if null => Expr::False,
        (false, 0) => Expr::False,
        (false, 1) => Expr::Test(column, Test::Compare(Comparison::Eq, values.remove(0))),
        (false, _) => Expr::Test(column, Test::In(values)),
        (true, 0) if literals.is_empty() => Expr::True,
        (true, 0) => Expr::Test(column, Test::NotNull),
        (true, 1) => Expr::Test(column, Test::Compare(Comparison::Ne, values.remove(0))),
        (true, _) => Expr::Test(column, Test::NotIn(values)),
    })
}

/// `column LIKE 'prefix%'`, or its negation.
pub(super) fn starts_with(column: Column, literal: &Literal, negated: bool) -> Result<Expr> {
    if column.kind != Some(PrimitiveType::String) {
        return Err(Error::input(format!(
            "filter compares the beginning of `{}`, but it is {}; only string columns have one",
            column.name,
            kind_name(&column)
        )));
    }
    match literal {
        Literal::Null => Ok(Expr::False),
        Literal::Text(prefix) if prefix.is_empty() => {
            Ok(if negated { Expr::False } else { Expr::Test(column, Test::NotNull) })
        }
        Literal::Text(prefix) if negated => Ok(Expr::Test(column, Test::NotStartsWith(prefix.clone()))),
        Literal::Text(prefix) => Ok(Expr::Test(column, Test::StartsWith(prefix.clone()))),
        other => Err(Error::input(format!(
            "filter compares the beginning of `{}` with {other}; a string is expected",
            column.name
        ))),
    }
}

/// Where a literal lies among the column's values; `None` for null.
fn fit(column: &Column, literal: &Literal) -> Result<Option<Fit>> {
    let Some(kind) = &column.kind else {
        return Err(Error::input(format!(
            "filter compares `{}`, which is nested; name a field within it, or test it for null",
            column.name
        )));
    };
    if matches!(literal, Literal::Null) {
        return Ok(None);
    }
    match literal.fit(kind) {
        Some(fit) => Ok(Some(fit)),
        None => Err(Error::input(format!(
            "filter compares `{}`, which is {kind}, with {literal}; {} is expected",
            column.name,
            accepted(kind)
        ))),
    }
}

fn kind_name(column: &Column) -> String {
    column.kind.as_ref().map_or_else(|| "nested".to_owned(), ToString::to_string)
}

fn accepted(kind: &PrimitiveType) -> &'static str {
    use PrimitiveType as P;
    match kind {
        P::Boolean => "true or false",
        P::Int | P::Long | P::Float | P::Double | P::Decimal { .. } => "a number",
        P::Date => "a date such as '2024-06-01'",
        P::Time => "a time such as '12:30:00'",
        P::Timestamp | P::TimestampNs => "a timestamp without offset, such as '2024-06-01T12:30:00'",
        P::Timestamptz | P::TimestamptzNs => "a timestamp such as '2024-06-01T12:30:00+00:00'",
        P::String => "a string such as 'abc'",
        P::Uuid => "a uuid such as 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
        P::Fixed(_) | P::Binary => "bytes such as x'00ff'",
    }
}
