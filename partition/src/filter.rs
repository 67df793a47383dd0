//! What a filter on rows says about partitions.

mod columns;
mod condition;
mod key;
mod projection;
mod span;

use iceberg::expr::{BoundPredicate, BoundReference, PredicateOperator};
use iceberg::spec::{Datum, FieldSummary, PartitionSpec, Schema, Struct, Type};

use crate::error::Result;
use crate::source::SourceColumn;
use condition::{Comparison, Condition};
use key::Key;
use projection::Projection;
use span::Span;

/// What a row filter says about the partitions of one spec.
///
/// A partition value stands for the set of source values it may have been made of, and the
/// filter's terms are judged on those sets. Rows follow SQL: a comparison with null is neither
/// true nor false and selects nothing, NaN is above all numbers and equal to itself, −0.0
/// equals 0.0. `NOT` is rewritten to the leaves before anything is judged.
///
/// What can't be proven is allowed: time values from before 1970 may be one too large, as old
/// writers made them; numbers truncated past the end of their type have wrapped round; bounds
/// of strings may be cut. Fields whose source the schema lacks, and `void` or unknown
/// transforms, contribute nothing.
#[derive(Clone, Debug)]
pub struct PartitionFilter {
    node: Node,
    /// Number of fields a partition value of the spec has.
    fields: usize,
}

/// The filter with `NOT` pushed to its leaves.
#[derive(Clone, Debug)]
enum Node {
    Constant(bool),
    And(Vec<Node>),
    Or(Vec<Node>),
    Leaf(Leaf),
}

/// One term of the filter, and the partition fields made of its column.
#[derive(Clone, Debug)]
struct Leaf {
    condition: Condition,
    projections: Vec<Projection>,
}

impl PartitionFilter {
    /// Projects a filter onto the partitions of a spec.
    ///
    /// `filter` is bound to the scan's schema and `schema` is that schema; columns and partition
    /// fields meet by source field id, so the spec may be any of the table's.
    ///
    /// # Errors
    /// None at present: what this crate can't judge, it allows.
    pub fn new(filter: &BoundPredicate, spec: &PartitionSpec, schema: &Schema) -> Result<Self> {
        Ok(Self { node: Node::compile(filter, false, spec, schema), fields: spec.fields().len() })
    }

    /// Whether a partition may hold a row that satisfies the filter; `false` is proof of none.
    ///
    /// A partition value of another length than the spec may hold any.
    pub fn may_match(&self, partition: &Struct) -> bool {
        partition.fields().len() != self.fields
            || self.node.judge(&|leaf| leaf.judge(partition, Condition::may).all(|may| may), true)
    }

    /// Whether every row of a partition satisfies the filter; `false` is no proof of anything.
    pub fn must_match(&self, partition: &Struct) -> bool {
        partition.fields().len() == self.fields
            && self.node.judge(&|leaf| leaf.judge(partition, Condition::must).any(|must| must), false)
    }

    /// Whether a manifest with these partition summaries may hold a row that satisfies the filter.
    ///
    /// Summaries are in the spec's field order ("Manifest Lists" of the specification). Missing,
    /// short, undecodable, inverted or NaN bounds prove nothing; bounds of strings and binaries
    /// are taken as possibly cut, and never prove equality.
    pub fn may_match_summaries(&self, summaries: Option<&[FieldSummary]>) -> bool {
        let Some(summaries) = summaries else {
            return self.node.judge(&|_| true, true);
        };
        let may = |leaf: &Leaf| {
            leaf.projections.iter().all(|projection| {
                let summary = summaries.get(projection.position);
                summary.is_none_or(|summary| projection.may_match_summary(&leaf.condition, summary))
            })
        };
        self.node.judge(&may, true)
    }
}

impl Node {
    /// Rewrites a predicate, negated or not; a chain of one connective becomes one node.
    fn compile(filter: &BoundPredicate, negated: bool, spec: &PartitionSpec, schema: &Schema) -> Self {
        let both = |inputs: [&BoundPredicate; 2]| {
            let nodes = inputs.map(|input| Self::compile(input, negated, spec, schema));
            nodes.into_iter()
        };
        let leaf = |term: &BoundReference, condition: Condition| {
            Node::Leaf(Leaf {
                condition: if negated { condition.negate() } else { condition },
                projections: Vec::new(),
            })
            .on(term, spec, schema)
        };
        match filter {
            BoundPredicate::AlwaysTrue => Node::Constant(!negated),
            BoundPredicate::AlwaysFalse => Node::Constant(negated),
            BoundPredicate::Not(inner) => {
                let [inner] = inner.inputs();
                Self::compile(inner, !negated, spec, schema)
            }
            BoundPredicate::And(inputs) if !negated => Self::all(both(inputs.inputs())),
            BoundPredicate::Or(inputs) if negated => Self::all(both(inputs.inputs())),
            BoundPredicate::And(inputs) | BoundPredicate::Or(inputs) => Self::any(both(inputs.inputs())),
            BoundPredicate::Unary(term) => leaf(term.term(), unary(term.op())),
            BoundPredicate::Binary(term) => leaf(term.term(), binary(term.op(), term.literal())),
            BoundPredicate::Set(term) => leaf(term.term(), set(term.op(), term.literals().iter())),
        }
    }

    fn all(nodes: impl Iterator<Item = Node>) -> Self {
        Node::And(flat(nodes, |node| match node {
            Node::And(inner) => Ok(inner),
            other => Err(other),
        }))
    }

    fn any(nodes: impl Iterator<Item = Node>) -> Self {
        Node::Or(flat(nodes, |node| match node {
            Node::Or(inner) => Ok(inner),
            other => Err(other),
        }))
    }

    /// This leaf with the partition fields made of its column.
    fn on(mut self, term: &BoundReference, spec: &PartitionSpec, schema: &Schema) -> Self {
        let id = term.field().id;
        if let Node::Leaf(leaf) = &mut self
            && leaf.condition != Condition::Unknown
            && SourceColumn::find(schema, id).is_some()
            && let Type::Primitive(source) = term.field().field_type.as_ref()
        {
            for (position, field) in spec.fields().iter().enumerate() {
                if field.source_id == id {
                    leaf.projections.extend(Projection::new(
                        position,
                        field.transform,
                        source,
                        &leaf.condition,
                    ));
                }
            }
        }
        self
    }

    /// Folds the tree with a judge of leaves; leaves without a partition field give `unknown`.
    fn judge(&self, leaf: &impl Fn(&Leaf) -> bool, unknown: bool) -> bool {
        match self {
            Node::Constant(value) => *value,
            Node::And(nodes) => nodes.iter().all(|node| node.judge(leaf, unknown)),
            Node::Or(nodes) => nodes.iter().any(|node| node.judge(leaf, unknown)),
            Node::Leaf(found) if found.projections.is_empty() => unknown,
            Node::Leaf(found) => leaf(found),
        }
    }
}

impl Leaf {
    /// What each partition field of the column says of a partition.
    fn judge<'a>(
        &'a self,
        partition: &'a Struct,
        judge: impl Fn(&Condition, &Span<'_>, &Projection) -> bool + 'a,
    ) -> impl Iterator<Item = bool> + 'a {
        self.projections.iter().map(move |projection| {
            let value = partition.fields()[projection.position].as_ref();
            judge(&self.condition, &projection.span(value), projection)
        })
    }
}

fn flat(
    nodes: impl Iterator<Item = Node>,
    inner: impl Fn(Node) -> std::result::Result<Vec<Node>, Node>,
) -> Vec<Node> {
    let mut flat: Vec<Node> = Vec::new();
    for node in nodes {
        match inner(node) {
            // The longer side grows by the shorter, so that a chain costs no more than its length;
            // neither connective minds the order.
            Ok(mut nodes) => {
                if nodes.len() > flat.len() {
                    std::mem::swap(&mut nodes, &mut flat);
                }
                flat.append(&mut nodes);
            }
            Err(node) => flat.push(node),
        }
    }
    flat
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

fn binary(op: PredicateOperator, literal: &Datum) -> Condition {
    use PredicateOperator as Op;
    let key = Key::of(literal.literal()).into_owned();
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

fn set<'a>(op: PredicateOperator, literals: impl Iterator<Item = &'a Datum>) -> Condition {
    let among = Condition::among(literals.map(|literal| Key::of(literal.literal()).into_owned()));
    match op {
        PredicateOperator::In => among,
        PredicateOperator::NotIn => among.negate(),
        _ => Condition::Unknown,
    }
}
