//! What a filter on rows says about partitions.

mod bind;
mod columns;
mod condition;
mod key;
mod projection;
mod span;

use iceberg::expr::Predicate;
use iceberg::spec::{FieldSummary, PartitionSpec, Schema, Struct};

use crate::error::Result;
use bind::Binder;
use condition::Condition;
use projection::Projection;
use span::Span;

/// What a row filter says about the partitions of one spec.
///
/// A partition value stands for the set of source values it may have been made of, and the
/// filter's terms are judged on those sets. Rows follow SQL: a comparison with null is neither
/// true nor false and selects nothing, NaN is above all numbers and equal to itself, −0.0
/// equals 0.0. `NOT` is rewritten to the leaves before anything is judged.
///
/// What can't be proven is allowed. Time values from before 1970 may be one too large, as old
/// writers made them. Numbers truncated past the end of their type have wrapped round, also those
/// of a `long` column that was an `int` one; truncated to more than 2³⁰, an `int` may have become
/// anything, as in the Java library. Bounds of strings may be cut. Fields whose source the schema
/// lacks, and `void` or unknown transforms, contribute nothing.
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
    /// `schema` is that of the rows; the filter names its columns exactly as the schema does,
    /// nested ones with dots. Columns and partition fields meet by source field id, so the spec
    /// may be any of the table's.
    ///
    /// The filter is bound here and not by the `iceberg` crate, whose binding has no room for
    /// null: it takes a required field of an optional struct for never null, and a comparison
    /// with a literal outside the column's type for always true or false.
    ///
    /// A filter may be of any length and depth; judging takes stack only where `AND` and `OR`
    /// alternate in depth.
    ///
    /// # Errors
    /// [`ErrorKind::Request`](crate::ErrorKind::Request) when a column is missing or lies in a list or map, when
    /// a literal can't be read in its column's type, and when a column that is no float is
    /// tested for NaN. What this crate can't judge is no error: it is allowed.
    ///
    /// ```
    /// # use iceberg::expr::Reference;
    /// # use iceberg::spec::*;
    /// # let ts = NestedField::optional(1, "ts", Type::Primitive(PrimitiveType::Timestamp));
    /// # let schema = Schema::builder().with_fields([ts.into()]).build()?;
    /// # let spec = PartitionSpec::builder(schema.clone())
    /// #     .add_partition_field("ts", "ts_day", Transform::Day)?
    /// #     .build()?;
    /// let recent = Reference::new("ts").greater_than(Datum::timestamp_micros(1_717_200_000_000_000));
    /// let filter = calve_partition::PartitionFilter::new(&recent, &spec, &schema)?;
    /// assert!(filter.may_match(&Struct::from_iter([Some(Literal::date(19_875))])));
    /// assert!(!filter.may_match(&Struct::from_iter([Some(Literal::date(19_874))])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(filter: &Predicate, spec: &PartitionSpec, schema: &Schema) -> Result<Self> {
        let node = Binder { spec, schema }.bind(filter)?;
        Ok(Self { node, fields: spec.fields().len() })
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
    /// Nodes under one connective; those of the same connective are taken apart.
    fn join(all: bool, nodes: Vec<Node>) -> Self {
        let flat = flat(nodes, |node| match node {
            Node::And(inner) if all => Ok(inner),
            Node::Or(inner) if !all => Ok(inner),
            other => Err(other),
        });
        if all { Node::And(flat) } else { Node::Or(flat) }
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
    fn unknown() -> Self {
        Self { condition: Condition::Unknown, projections: Vec::new() }
    }

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

fn flat(nodes: Vec<Node>, inner: impl Fn(Node) -> std::result::Result<Vec<Node>, Node>) -> Vec<Node> {
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
