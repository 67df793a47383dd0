use calve_partition::PartitionFilter;
use iceberg::expr::{BinaryExpression, Predicate, PredicateOperator, Reference};
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
                    // A filter that can't be bound decides nothing.
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

/// One test as the format library's predicate.
fn predicate(column: &Column, test: &Test, schema: &Schema) -> Option<Predicate> {
    let kind = column.kind.as_ref()?;
    let term = Reference::new(schema.name_by_field_id(column.id)?);
    let binary = |op, literal: Datum| Predicate::Binary(BinaryExpression::new(op, term.clone(), literal));
    let literals = |values: &[Value]| values.iter().map(|v| v.to_datum(kind)).collect::<Option<Vec<_>>>();
    Some(match test {
        Test::IsNull => term.is_null(),
        Test::NotNull => term.is_not_null(),
        Test::IsNan => term.is_nan(),
        Test::NotNan => term.is_not_nan(),
        Test::Compare(how, value) => binary(operator(*how), value.to_datum(kind)?),
        Test::In(values) => term.is_in(literals(values)?),
        Test::NotIn(values) => term.is_not_in(literals(values)?),
        Test::StartsWith(prefix) => term.starts_with(Datum::string(prefix)),
        Test::NotStartsWith(prefix) => term.not_starts_with(Datum::string(prefix)),
    })
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
