use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::compute;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use iceberg::spec::{Datum, NestedFieldRef, PrimitiveType, Schema, Type};

use super::mode::MetricsMode;
use super::range::Range;
use crate::{Error, ErrorKind, Result};

/// What to gather of each column; shared by the files of a write.
#[derive(Debug)]
pub(crate) struct MetricsPlan {
    columns: Vec<Node>,
    leaves: Vec<Leaf>,
}

/// The statistics of one data file.
#[derive(Debug)]
pub(crate) struct Metrics {
    plan: Arc<MetricsPlan>,
    gathered: Vec<Gathered>,
}

/// The statistics of a finished data file, by field id.
#[derive(Debug, Default)]
pub(crate) struct ColumnMetrics {
    pub(crate) values: HashMap<i32, u64>,
    pub(crate) nulls: HashMap<i32, u64>,
    pub(crate) nans: HashMap<i32, u64>,
    pub(crate) lower: HashMap<i32, Datum>,
    pub(crate) upper: HashMap<i32, Datum>,
}

#[derive(Debug)]
enum Node {
    Leaf(usize),
    Struct(Vec<Node>),
    List(Box<Node>),
    Map(Box<Node>, Box<Node>),
    Skip,
}

#[derive(Debug)]
struct Leaf {
    id: i32,
    kind: PrimitiveType,
    mode: MetricsMode,
    /// Below a list or map: values have no bounds, for a row holds any number of them.
    repeated: bool,
}

#[derive(Debug)]
struct Gathered {
    values: u64,
    nulls: u64,
    nans: u64,
    range: Range,
}

impl MetricsPlan {
    pub(crate) fn new(schema: &Schema, modes: &HashMap<i32, MetricsMode>) -> Self {
        let mut leaves = Vec::new();
        let columns =
            schema.as_struct().fields().iter().map(|field| node(field, modes, false, &mut leaves)).collect();
        Self { columns, leaves }
    }
}

fn node(
    field: &NestedFieldRef,
    modes: &HashMap<i32, MetricsMode>,
    repeated: bool,
    leaves: &mut Vec<Leaf>,
) -> Node {
    let node = match field.field_type.as_ref() {
        Type::Primitive(kind) => {
            let mode = modes.get(&field.id).copied().unwrap_or(MetricsMode::None);
            if mode == MetricsMode::None {
                return Node::Skip;
            }
            leaves.push(Leaf { id: field.id, kind: kind.clone(), mode, repeated });
            return Node::Leaf(leaves.len() - 1);
        }
        Type::Struct(nested) => {
            Node::Struct(nested.fields().iter().map(|f| node(f, modes, repeated, leaves)).collect())
        }
        Type::List(list) => Node::List(Box::new(node(&list.element_field, modes, true, leaves))),
        Type::Map(map) => Node::Map(
            Box::new(node(&map.key_field, modes, true, leaves)),
            Box::new(node(&map.value_field, modes, true, leaves)),
        ),
    };
    if node.is_skipped() { Node::Skip } else { node }
}

impl Node {
    fn is_skipped(&self) -> bool {
        match self {
            Self::Skip => true,
            Self::Leaf(_) => false,
            Self::Struct(nodes) => nodes.iter().all(Self::is_skipped),
            Self::List(element) => element.is_skipped(),
            Self::Map(key, value) => key.is_skipped() && value.is_skipped(),
        }
    }
}

impl Metrics {
    pub(crate) fn new(plan: Arc<MetricsPlan>) -> Self {
        let gathered = plan
            .leaves
            .iter()
            .map(|_| Gathered { values: 0, nulls: 0, nans: 0, range: Range::Empty })
            .collect();
        Self { plan, gathered }
    }

    /// Takes rows of the table's schema into account.
    pub(crate) fn update(&mut self, batch: &RecordBatch) -> Result<()> {
        let plan = Arc::clone(&self.plan);
        for (node, column) in plan.columns.iter().zip(batch.columns()) {
            gather(node, column, None, &plan.leaves, &mut self.gathered)?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<ColumnMetrics> {
        let mut out = ColumnMetrics::default();
        for (leaf, gathered) in self.plan.leaves.iter().zip(self.gathered) {
            out.values.insert(leaf.id, gathered.values);
            out.nulls.insert(leaf.id, gathered.nulls);
            if matches!(leaf.kind, PrimitiveType::Float | PrimitiveType::Double) {
                out.nans.insert(leaf.id, gathered.nans);
            }
            if !leaf.repeated {
                let (lower, upper) = gathered.range.bounds(&leaf.kind, leaf.mode)?;
                lower.and_then(|bound| out.lower.insert(leaf.id, bound));
                upper.and_then(|bound| out.upper.insert(leaf.id, bound));
            }
        }
        Ok(out)
    }
}

/// Gathers `array`, whose rows are null too where `parent` is.
fn gather(
    node: &Node,
    array: &ArrayRef,
    parent: Option<&NullBuffer>,
    leaves: &[Leaf],
    gathered: &mut [Gathered],
) -> Result<()> {
    if matches!(node, Node::Skip) || array.is_empty() {
        return Ok(());
    }
    let valid = NullBuffer::union(parent, array.logical_nulls().as_ref());
    match node {
        Node::Skip => Ok(()),
        Node::Leaf(index) => {
            let masked;
            let array = if parent.is_some() && valid.as_ref() != array.nulls() {
                masked = mask(array, valid.as_ref())?;
                &masked
            } else {
                array
            };
            gather_leaf(&leaves[*index], array, &mut gathered[*index])
        }
        Node::Struct(nodes) => {
            let columns = array.as_struct().columns();
            nodes
                .iter()
                .zip(columns)
                .try_for_each(|(node, column)| gather(node, column, valid.as_ref(), leaves, gathered))
        }
        Node::List(element) => {
            let array = present(array, valid.as_ref())?;
            let list = array.as_list::<i32>();
            let (from, to) = extent(list.value_offsets());
            gather(element, &list.values().slice(from, to - from), None, leaves, gathered)
        }
        Node::Map(key, value) => {
            let array = present(array, valid.as_ref())?;
            let map = array.as_map();
            let (from, to) = extent(map.value_offsets());
            gather(key, &map.keys().slice(from, to - from), None, leaves, gathered)?;
            gather(value, &map.values().slice(from, to - from), None, leaves, gathered)
        }
    }
}

fn gather_leaf(leaf: &Leaf, array: &ArrayRef, gathered: &mut Gathered) -> Result<()> {
    gathered.values += array.len() as u64;
    gathered.nulls += array.null_count() as u64;
    gathered.nans += match array.data_type() {
        DataType::Float32 => {
            array.as_primitive::<Float32Type>().iter().flatten().filter(|v| v.is_nan()).count()
        }
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().iter().flatten().filter(|v| v.is_nan()).count()
        }
        _ => 0,
    } as u64;
    if leaf.repeated || leaf.mode == MetricsMode::Counts { Ok(()) } else { gathered.range.widen(array) }
}

/// `array` with the nulls of its parents.
fn mask(array: &ArrayRef, valid: Option<&NullBuffer>) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().nulls(valid.cloned()).build();
    data.map(arrow::array::make_array).map_err(failed)
}

/// The lists or maps that are not null.
fn present(array: &ArrayRef, valid: Option<&NullBuffer>) -> Result<ArrayRef> {
    match valid {
        Some(valid) if valid.null_count() > 0 => {
            let keep = arrow::array::BooleanArray::new(valid.inner().clone(), None);
            compute::filter(array, &keep).map_err(failed)
        }
        _ => Ok(Arc::clone(array)),
    }
}

fn extent(offsets: &[i32]) -> (usize, usize) {
    let at = |end: Option<&i32>| end.and_then(|o| usize::try_from(*o).ok()).unwrap_or_default();
    (at(offsets.first()), at(offsets.last()))
}

fn failed(source: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Failed, format!("can't gather statistics: {source}")).with_source(source)
}
