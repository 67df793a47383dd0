//! A set of table columns, read from one file.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::nullif;
use iceberg::spec::{NestedField, NestedFieldRef, StructType, Type};
use parquet::arrow::ProjectionMask;
use parquet::schema::types::SchemaDescriptor;

use super::convert::{Context, Source};
use super::shape::FileField;
use crate::{Error, Result};

/// The leaves to read of a file, and the columns to make of them.
pub(super) struct Projection {
    leaves: Vec<usize>,
    columns: Vec<ColumnSource>,
}

/// A column: its top-level field, and how many structs deep within that it lies.
struct ColumnSource {
    source: Source,
    depth: usize,
}

impl Projection {
    /// `paths` lead from the top of the table's schema to each column wanted, through structs.
    pub(super) fn new(
        context: &Context<'_>,
        file: &[FileField],
        paths: &[Vec<NestedFieldRef>],
    ) -> Result<Self> {
        let narrowed: Vec<NestedField> = paths.iter().filter_map(|path| narrow(path)).collect();
        let mut wanted = HashSet::new();
        for field in &narrowed {
            if let Some(found) = file.iter().find(|f| f.id == Some(field.id)) {
                found.want(&field.field_type, &mut wanted);
            }
        }
        let read: Vec<FileField> = file.iter().filter_map(|f| f.pruned(&wanted)).collect();
        let columns = narrowed.iter().zip(paths).map(|(field, path)| {
            Ok(ColumnSource { source: Source::new(context, &read, field)?, depth: path.len() - 1 })
        });
        let columns: Result<Vec<_>> = columns.collect();
        let mut leaves: Vec<usize> = wanted.into_iter().collect();
        leaves.sort_unstable();
        Ok(Self { leaves, columns: columns? })
    }

    /// Whether the file has none of the columns.
    pub(super) fn reads_nothing(&self) -> bool {
        self.leaves.is_empty()
    }

    pub(super) fn mask(&self, schema: &SchemaDescriptor) -> ProjectionMask {
        ProjectionMask::leaves(schema, self.leaves.iter().copied())
    }

    /// The columns in the table's types, of what was read with [`mask`](Self::mask).
    pub(super) fn arrays(&self, read: &[ArrayRef], rows: usize) -> Result<Vec<ArrayRef>> {
        self.columns
            .iter()
            .map(|column| {
                let mut array = column.source.array(read, rows)?;
                for _ in 0..column.depth {
                    array = only_child(&array)?;
                }
                Ok(array)
            })
            .collect()
    }
}

/// The top-level field of a path with nothing beside the path in it.
fn narrow(path: &[NestedFieldRef]) -> Option<NestedField> {
    let (last, above) = path.split_last()?;
    let mut field = last.as_ref().clone();
    for parent in above.iter().rev() {
        let mut narrowed = parent.as_ref().clone();
        narrowed.field_type = Box::new(Type::Struct(StructType::new(vec![Arc::new(field)])));
        field = narrowed;
    }
    Some(field)
}

/// The one child of a struct array, null wherever the struct is.
fn only_child(array: &ArrayRef) -> Result<ArrayRef> {
    let of = array.as_struct_opt().ok_or_else(|| Error::damaged("a nested column lies in no struct"))?;
    let child = of.columns().first().ok_or_else(|| Error::damaged("a nested column's struct is empty"))?;
    let Some(nulls) = of.nulls() else { return Ok(child.clone()) };
    let absent = BooleanArray::new(!nulls.inner(), None);
    nullif(child, &absent)
        .map_err(|e| Error::damaged(format!("can't read a nested column: {e}")).with_source(e))
}
