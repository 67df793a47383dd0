//! From a filter on named columns to terms with the partition fields made of their columns.
//!
//! The `iceberg` crate's own binding would lose rows: it folds `IS NULL` of a required field to
//! false, though a struct around the field may be null, and comparisons with literals outside
//! the column's type to a constant, though null satisfies neither them nor their negation.

use iceberg::expr::{Predicate, PredicateOperator, Reference};
use iceberg::spec::{Datum, NestedField, PartitionSpec, PrimitiveType, Schema, Type};

use super::condition::{Comparison, Condition};
use super::key::Key;
use super::projection::Projection;
use super::{Leaf, Node};
use crate::bind::column_names;
use crate::error::{Error, Result};
use crate::source::SourceColumn;

/// Binds filters to one spec and one schema.
pub(super) struct Binder<'a> {
    pub(super) spec: &'a PartitionSpec,
    pub(super) schema: &'a Schema,
}

/// What is left to do, the next at the end.
enum Step<'p> {
    /// Make a node of this part of the filter, negated or not.
    Visit(&'p Predicate, bool),
    /// Combine the last two nodes by `AND`, or by `OR`.
    Join { all: bool },
}

impl Binder<'_> {
    /// Rewrites a filter with `NOT` at its leaves; a chain of one connective becomes one node.
    ///
    /// Without recursion, so that a long chain takes no stack.
    pub(super) fn bind(&self, filter: &Predicate) -> Result<Node> {
        let mut steps = vec![Step::Visit(filter, false)];
        let mut nodes: Vec<Node> = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Visit(Predicate::Not(inner), negated) => {
                    let [inner] = inner.inputs();
                    steps.push(Step::Visit(inner, !negated));
                }
                Step::Visit(part @ (Predicate::And(inputs) | Predicate::Or(inputs)), negated) => {
                    let all = matches!(part, Predicate::And(_)) != negated;
                    let [left, right] = inputs.inputs();
                    steps.push(Step::Join { all });
                    steps.push(Step::Visit(left, negated));
                    steps.push(Step::Visit(right, negated));
                }
                Step::Visit(term, negated) => nodes.push(self.term(term, negated)?),
                Step::Join { all } => {
                    let pair = nodes.split_off(nodes.len() - 2);
                    nodes.push(Node::join(all, pair));
                }
            }
        }
        // Every join had its two nodes, so one is left: that of the filter.
        Ok(nodes.swap_remove(0))
    }

    fn term(&self, term: &Predicate, negated: bool) -> Result<Node> {
        let (reference, condition) = match term {
            Predicate::AlwaysTrue => return Ok(Node::Constant(!negated)),
            Predicate::AlwaysFalse => return Ok(Node::Constant(negated)),
            Predicate::Unary(term) => {
                let column = self.column(term.term())?;
                let floating = matches!(
                    column.field_type.as_ref(),
                    Type::Primitive(PrimitiveType::Float | PrimitiveType::Double)
                );
                let condition = unary(term.op());
                if matches!(condition, Condition::IsNan | Condition::NotNan) && !floating {
                    let (name, of) = (term.term(), &column.field_type);
                    return Err(Error::request(format!("column \"{name}\" is {of}: only floats can be NaN")));
                }
                (term.term(), condition)
            }
            Predicate::Binary(term) => {
                (term.term(), binary(term.op(), self.literal(term.term(), term.literal())?))
            }
            Predicate::Set(term) if term.literals().is_empty() => {
                self.column(term.term())?;
                // Nothing is in an empty list; whether null is outside of it is told differently.
                let nothing = (term.op() == PredicateOperator::In) != negated;
                return Ok(if nothing { Node::Constant(false) } else { Node::Leaf(Leaf::unknown()) });
            }
            Predicate::Set(term) => {
                let keys = term.literals().iter().map(|literal| self.literal(term.term(), literal));
                (term.term(), set(term.op(), keys.collect::<Result<Vec<_>>>()?))
            }
            // Taken apart before.
            Predicate::And(_) | Predicate::Or(_) | Predicate::Not(_) => {
                return Ok(Node::Leaf(Leaf::unknown()));
            }
        };
        let condition = if negated { condition.negate() } else { condition };
        Ok(match condition.settled() {
            None => Node::Constant(false),
            Some(condition) => Node::Leaf(self.project(self.column(reference)?, condition)),
        })
    }

    /// A term with the partition fields made of its column.
    fn project(&self, column: &NestedField, condition: Condition) -> Leaf {
        let mut projections = Vec::new();
        if condition != Condition::Unknown
            && let Type::Primitive(source) = column.field_type.as_ref()
        {
            for (position, field) in self.spec.fields().iter().enumerate() {
                if field.source_id == column.id {
                    projections.extend(Projection::new(position, field.transform, source, &condition));
                }
            }
        }
        Leaf { condition, projections }
    }

    /// The column a term is about: a primitive one outside of lists and maps, or one that has parts.
    fn column(&self, reference: &Reference) -> Result<&NestedField> {
        let name = reference.name();
        let Some(column) = self.schema.field_by_name(name) else {
            let columns = column_names(self.schema);
            return Err(Error::request(format!("there is no column {name:?}; the columns are {columns}")));
        };
        let primitive = matches!(column.field_type.as_ref(), Type::Primitive(_));
        if primitive && SourceColumn::find(self.schema, column.id).is_none() {
            return Err(Error::request(format!(
                "column {name:?} lies in a list or map: a row has no one value"
            )));
        }
        Ok(column)
    }

    /// The literal a term compares its column with, in the column's type.
    fn literal(&self, reference: &Reference, literal: &Datum) -> Result<Key<'static>> {
        use PrimitiveType as P;
        let column = self.column(reference)?;
        let from = literal.data_type();
        let refused = || {
            let (name, of) = (reference.name(), &column.field_type);
            Error::request(format!("column {name:?} is {of}: it can't be compared with this {from}"))
        };
        let Type::Primitive(to) = column.field_type.as_ref() else {
            return Err(refused());
        };
        // The `iceberg` crate converts more, among it times and decimals whose number has another unit.
        let same_number = match (from, to) {
            (P::Decimal { scale: from, .. }, P::Decimal { scale: to, .. }) => from == to,
            (P::Int, P::Long | P::Date)
            | (P::Long | P::Timestamp | P::Timestamptz, P::Timestamp | P::Timestamptz) => true,
            _ => from == to,
        };
        if same_number {
            return Ok(Key::of(literal.literal()).into_owned());
        }
        if !matches!((from, to), (P::Long, P::Int) | (P::String, _)) {
            return Err(refused());
        }
        let converted = literal.clone().to(&column.field_type);
        converted
            .map(|literal| Key::of(literal.literal()).into_owned())
            .map_err(|error| refused().with_source(error))
    }
}

fn unary(op: PredicateOperator) -> Condition {
    match op {
        PredicateOperator::IsNull => Condition::IsNull,
        PredicateOperator::NotNull => Condition::NotNull,
        PredicateOperator::IsNan => Condition::IsNan,
        PredicateOperator::NotNan => Condition::NotNan,
        _ => Condition::Unknown,
    }
}

fn binary(op: PredicateOperator, key: Key<'static>) -> Condition {
    use PredicateOperator as Op;
    match op {
        Op::LessThan => Condition::Compare(Comparison::Less, key),
        Op::LessThanOrEq => Condition::Compare(Comparison::LessOrEqual, key),
        Op::GreaterThan => Condition::Compare(Comparison::Greater, key),
        Op::GreaterThanOrEq => Condition::Compare(Comparison::GreaterOrEqual, key),
        Op::Eq => Condition::among([key]),
        Op::NotEq => Condition::among([key]).negate(),
        Op::StartsWith => Condition::starts_with(key),
        Op::NotStartsWith => Condition::starts_with(key).negate(),
        _ => Condition::Unknown,
    }
}

fn set(op: PredicateOperator, keys: Vec<Key<'static>>) -> Condition {
    match op {
        PredicateOperator::In => Condition::among(keys),
        PredicateOperator::NotIn => Condition::among(keys).negate(),
        _ => Condition::Unknown,
    }
}
