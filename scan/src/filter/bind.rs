use iceberg::expr::{Predicate, PredicateOperator};

use super::compare;
use super::expr::{Comparison, Expr, Test};
use super::literal::Literal;
use crate::names::Names;
use crate::{Error, Result};

/// A predicate as an [`Expr`] over the columns of `names`.
pub(crate) fn bind_predicate(predicate: &Predicate, names: &Names<'_>) -> Result<Expr> {
    Binder { names }.bind(predicate, false)
}

struct Binder<'a> {
    names: &'a Names<'a>,
}

impl Binder<'_> {
    /// `predicate`, or its negation.
    fn bind(&self, predicate: &Predicate, negated: bool) -> Result<Expr> {
        let column = |name: &str| compare::column(self.names, name);
        match predicate {
            Predicate::AlwaysTrue => Ok(if negated { Expr::False } else { Expr::True }),
            Predicate::AlwaysFalse => Ok(if negated { Expr::True } else { Expr::False }),
            Predicate::And(_) | Predicate::Or(_) => {
                let conjunction = matches!(predicate, Predicate::And(_));
                let parts: Result<Vec<_>> =
                    chain(predicate, conjunction).into_iter().map(|part| self.bind(part, negated)).collect();
                Ok(if conjunction != negated { Expr::all(parts?) } else { Expr::any(parts?) })
            }
            Predicate::Not(inner) => self.bind(inner.inputs()[0], !negated),
            Predicate::Unary(test) => {
                let column = column(test.term().name())?;
                match (test.op(), negated) {
                    (PredicateOperator::IsNull, false) | (PredicateOperator::NotNull, true) => {
                        compare::unary(column, Test::IsNull)
                    }
                    (PredicateOperator::NotNull, false) | (PredicateOperator::IsNull, true) => {
                        compare::unary(column, Test::NotNull)
                    }
                    (PredicateOperator::IsNan, negated) => compare::is_nan(column, negated, true),
                    (PredicateOperator::NotNan, negated) => compare::is_nan(column, !negated, true),
                    (other, _) => Err(unknown(other)),
                }
            }
            Predicate::Binary(test) => {
                let column = column(test.term().name())?;
                let literal = Literal::from_datum(test.literal())?;
                let how = match test.op() {
                    PredicateOperator::LessThan => Comparison::Lt,
                    PredicateOperator::LessThanOrEq => Comparison::Le,
                    PredicateOperator::GreaterThan => Comparison::Gt,
                    PredicateOperator::GreaterThanOrEq => Comparison::Ge,
                    PredicateOperator::Eq => Comparison::Eq,
                    PredicateOperator::NotEq => Comparison::Ne,
                    PredicateOperator::StartsWith => return compare::starts_with(column, &literal, negated),
                    PredicateOperator::NotStartsWith => {
                        return compare::starts_with(column, &literal, !negated);
                    }
                    other => return Err(unknown(other)),
                };
                compare::comparison(column, if negated { how.negated() } else { how }, &literal)
            }
            Predicate::Set(test) => {
                let column = column(test.term().name())?;
                let literals: Result<Vec<_>> = test.literals().iter().map(Literal::from_datum).collect();
                let literals = literals?;
                match test.op() {
                    PredicateOperator::In => compare::in_list(column, &literals, negated),
                    PredicateOperator::NotIn => compare::in_list(column, &literals, !negated),
                    other => Err(unknown(other)),
                }
            }
        }
    }
}

/// The parts of a chain of ANDs or of ORs, however it leans; long chains are as deep as they are long.
fn chain(predicate: &Predicate, conjunction: bool) -> Vec<&Predicate> {
    let mut parts = Vec::new();
    let mut rest = vec![predicate];
    while let Some(next) = rest.pop() {
        match next {
            Predicate::And(both) if conjunction => rest.extend(both.inputs().into_iter().rev()),
            Predicate::Or(both) if !conjunction => rest.extend(both.inputs().into_iter().rev()),
            other => parts.push(other),
        }
    }
    parts
}

fn unknown(operator: PredicateOperator) -> Error {
    Error::input(format!("filter uses operator `{operator}` in a place it does not fit"))
}
