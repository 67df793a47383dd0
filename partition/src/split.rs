//! Splitting a batch into the rows of each partition.

mod group;
mod hash;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::take_record_batch;
use arrow::datatypes::DataType;
use iceberg::spec::{PartitionSpecRef, PrimitiveType, SchemaRef, Struct, Transform};

use crate::error::{Error, Result};
use crate::source::SourceColumn;
use crate::transform::{apply, arrow_type, literal_at, result_type};

/// Computes partition values of whole batches, for one spec and one schema.
///
/// Columns are found by Iceberg field id, which the batch's Arrow schema carries at every
/// level under `PARQUET:field_id`; names and positions do not matter, so a renamed or moved
/// source column is found. Sources may lie in structs: a null struct makes a null value.
#[derive(Clone, Debug)]
pub struct Splitter {
    fields: Vec<Field>,
}

/// One partition field, its source found in the schema.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    transform: Transform,
    /// `None` for void, which needs no source: the column may be dropped.
    source: Option<SourceColumn>,
    /// `None` for void over a dropped column, whose values have no type.
    result: Option<PrimitiveType>,
}

impl Splitter {
    /// Prepares a spec for batches of a schema.
    ///
    /// # Errors
    /// [`ErrorKind::Table`](crate::ErrorKind::Table) when a field that is not `void` has no source column in
    /// the schema, or a transform is unknown or does not take its source's type.
    pub fn new(spec: PartitionSpecRef, schema: SchemaRef) -> Result<Self> {
        let fields = spec.fields().iter().map(|field| {
            let source = SourceColumn::find(&schema, field.source_id);
            let result = match &source {
                Some(source) => Some(
                    result_type(field.transform, &source.primitive)
                        .map_err(|error| error.in_field(&field.name))?,
                ),
                None if field.transform == Transform::Void => None,
                None => {
                    return Err(Error::table(format!(
                        "partition field {:?}: its source column, id {}, is not in the schema",
                        field.name, field.source_id
                    )));
                }
            };
            Ok(Field {
                name: field.name.clone(),
                transform: field.transform,
                source: source.filter(|_| field.transform != Transform::Void),
                result,
            })
        });
        Ok(Self { fields: fields.collect::<Result<_>>()? })
    }

    /// The partition values of every row: one array per partition field, in the spec's order.
    ///
    /// Each has the batch's row count and the Arrow type of the transform's result, as
    /// [`apply`] gives it; a `void` field of a dropped column is an array of type `Null`. Where
    /// [`split`](Self::split) has 0.0 for −0.0, the arrays of identity fields have what the batch has.
    ///
    /// # Errors
    /// [`ErrorKind::Batch`](crate::ErrorKind::Batch) when a source column is missing or of another type;
    /// [`ErrorKind::Value`](crate::ErrorKind::Value) as [`apply`].
    pub fn values(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let of = |field: &Field| match (&field.source, &field.result) {
            (Some(source), _) => apply(field.transform, &source.of(batch)?, &source.primitive)
                .map_err(|error| error.in_field(&field.name)),
            (None, Some(result)) => Ok(new_null_array(&arrow_type(result)?, batch.num_rows())),
            (None, None) => Ok(new_null_array(&DataType::Null, batch.num_rows())),
        };
        self.fields.iter().map(of).collect()
    }

    /// The rows of each partition in the batch.
    ///
    /// Every row is in exactly one part, rows keep their order within a part, and parts come
    /// in the order in which their first row does. A batch without rows has no parts; without
    /// partition fields, all its rows are one part with an empty value. Null is a value like
    /// any other, −0.0 is 0.0 and all NaNs are one: the parts' values have 0.0, their rows either
    /// zero.
    ///
    /// Beside the batch and its partition values, this takes at most 12 bytes a row while it works
    /// and a table of a few; the parts keep 4 bytes a row.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub fn split(&self, batch: &RecordBatch) -> Result<Vec<Part>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let values = self.values(batch)?;
        let groups = group::group(&values, batch.num_rows())?;
        let part = |(rows, first): (Rows, usize)| {
            let literals = self
                .fields
                .iter()
                .zip(&values)
                .map(|(field, array)| field.result.as_ref().and_then(|of| literal_at(array, first, of)));
            Part { value: literals.collect(), rows }
        };
        Ok(groups.into_rows().into_iter().map(part).collect())
    }
}

/// The rows of a batch that belong to one partition.
#[derive(Clone, Debug)]
pub struct Part {
    /// The partition value: one literal (or null) per field of the spec, in its order.
    pub value: Struct,
    /// Which rows.
    pub rows: Rows,
}

/// Rows of a batch.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Every row.
    All,
    /// These row numbers, ascending.
    Indices(UInt32Array),
}

impl Part {
    /// Number of rows in this part of `batch`.
    pub fn num_rows(&self, batch: &RecordBatch) -> usize {
        match &self.rows {
            Rows::All => batch.num_rows(),
            Rows::Indices(rows) => rows.len(),
        }
    }

    /// These rows of `batch`, the one that was split or one of the same row count.
    ///
    /// Rows that lie together are a slice, which copies nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Batch`](crate::ErrorKind::Batch) when `batch` is shorter than the one that was split, or the
    /// rows' strings pass the 2 GiB that an array can hold.
    pub fn take(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let Rows::Indices(rows) = &self.rows else {
            return Ok(batch.clone());
        };
        let (Some(first), Some(last)) = (rows.values().first(), rows.values().last()) else {
            return Ok(batch.slice(0, 0));
        };
        if *last as usize >= batch.num_rows() {
            return Err(Error::batch(format!(
                "the batch has {} rows, fewer than the one that was split",
                batch.num_rows()
            )));
        }
        if (last - first) as usize + 1 == rows.len() {
            return Ok(batch.slice(*first as usize, rows.len()));
        }
        take_record_batch(batch, rows).map_err(|error| {
            Error::batch(format!("the partition's rows can't be gathered: {error}")).with_source(error)
        })
    }
}
