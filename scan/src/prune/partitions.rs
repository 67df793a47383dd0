use std::sync::Arc;

use calve_partition::PartitionFilter;
use iceberg::expr::{
    BinaryExpression, BoundPredicate, BoundReference, PredicateOperator, SetExpression, UnaryExpression,
};
use iceberg::spec::{Datum, FieldSummary, PartitionSpec, Schema, Struct};

use crate::filter::{Column, Comparison, Expr, Test};
use crate::value::Value;

/// A part of a filter, as far as partitions of one spec can decide it.
pub(crate) enum PartitionJudge {
    True,
    False,
    All(Vec<PartitionJudge>),
    Any(Vec<PartitionJudge>),
    Leaf(Box<PartitionFilter>),
    /// Nothing is known: a column no partition field is made from.
    Unknown,
}

impl PartitionJudge {
    pub(crate) fn new(expr: &Expr, spec: &PartitionSpec, schema: &Schema) -> Self {
        let each = |parts: &[Expr]| parts.iter().map(|p| Self::new(p, spec, schema)).collect();
        match expr {
            Expr::True => Self::True,
            Expr::False => Self::False,
            Expr::And(parts) => Self::All(each(parts)),
            Expr::Or(parts) => Self::Any(each(parts)),
            Expr::Test(column, test) => {
                let filter = spec
                    .fields()
                    .iter()
                    .any(|field| field.source_id == column.id)
                    .then(|| predicate(column, test, schema))
                    .flatten()
                    // A filter that can't be projected decides nothing.
                    .and_then(|predicate| PartitionFilter::new(&predicate, spec, schema).ok());
                filter.map_or(Self::Unknown, |filter| Self::Leaf(Box::new(filter)))
            }
        }
    }

    /// Whether a row of `partition` may match.
    pub(crate) fn may_match(&self, partition: &Struct) -> bool {
        self.judge(true, &|leaf| leaf.may_match(partition))
    }

    /// Whether every row of `partition` matches.
    pub(crate) fn must_match(&self, partition: &Struct) -> bool {
        self.judge(false, &|leaf| leaf.must_match(partition))
    }

    /// Whether a row of any partition within `summaries` may match.
    pub(crate) fn may_match_summaries(&self, summaries: Option<&[FieldSummary]>) -> bool {
        self.judge(true, &|leaf| leaf.may_match_summaries(summaries))
    }

    fn judge(&self, unknown: bool, leaf: &impl Fn(&PartitionFilter) -> bool) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::All(parts) => parts.iter().all(|p| p.judge(unknown, leaf)),
            Self::Any(parts) => parts.iter().any(|p| p.judge(unknown, leaf)),
            Self::Leaf(filter) => leaf(filter),
            Self::Unknown => unknown,
        }
    }
}

/// One test as the format library's predicate. It is built, not bound: binding would fold a null test
/// of a required field inside an optional struct.
fn predicate(column: &Column, test: &Test, schema: &Schema) -> Option<BoundPredicate> {
    let kind = column.kind.as_ref()?;
    let field = schema.field_by_id(column.id)?.clone();
    let mut field = (*field).clone();
    // Whatever encloses it may be null, so nothing may be concluded from the field alone.
    field.required = false;
    let accessor = schema.accessor_by_field_id(column.id)?;
    let term = BoundReference::new(column.name.clone(), Arc::new(field), accessor);
    let unary = |op| BoundPredicate::Unary(UnaryExpression::new(op, term.clone()));
    let binary = |op, value: &Value| {
        Some(BoundPredicate::Binary(BinaryExpression::new(op, term.clone(), value.to_datum(kind)?)))
    };
    let set = |op, values: &[Value]| {
        let literals: Option<_> = values.iter().map(|v| v.to_datum(kind)).collect();
        Some(BoundPredicate::Set(SetExpression::new(op, term.clone(), literals?)))
    };
    match test {
        Test::IsNull => Some(unary(PredicateOperator::IsNull)),
        Test::NotNull => Some(unary(PredicateOperator::NotNull)),
        Test::IsNan => Some(unary(PredicateOperator::IsNan)),
        Test::NotNan => Some(unary(PredicateOperator::NotNan)),
        Test::Compare(how, value) => binary(operator(*how), value),
        Test::In(values) => set(PredicateOperator::In, values),
        Test::NotIn(values) => set(PredicateOperator::NotIn, values),
        Test::StartsWith(prefix) => Some(BoundPredicate::Binary(BinaryExpression::new(
            PredicateOperator::StartsWith,
            term.clone(),
            Datum::string(prefix),
        ))),
        Test::NotStartsWith(prefix) => Some(BoundPredicate::Binary(BinaryExpression::new(
            PredicateOperator::NotStartsWith,
            term.clone(),
            Datum::string(prefix),
        ))),
    }
}

fn operator(how: Comparison) -> PredicateOperator {
    match how {
        Comparison::Lt => PredicateOperator::LessThan,
        Comparison::Le => PredicateOperator::LessThanOrEq,
        Comparison::Gt => PredicateOperator::GreaterThan,
        Comparison::Ge => PredicateOperator::GreaterThanOrEq,
        Comparison::Eq => PredicateOperator::Eq,
        Comparison::Ne => PredicateOperator::NotEq,
    }
}
