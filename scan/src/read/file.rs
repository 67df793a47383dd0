//! One data file, from its footer to batches of the output's schema.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use calve_storage::Storage;
use futures::StreamExt;
use iceberg::spec::{NestedFieldRef, Transform};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowPredicateFn, ArrowReaderMetadata, RowFilter};
use parquet::arrow::async_reader::{ParquetObjectReader, ParquetRecordBatchStreamBuilder};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::RecordBatchStream;
use super::convert::Context;
use super::evaluate::evaluate;
use super::footer;
use super::projection::Projection;
use super::shape::{self, FileField, Shape};
use crate::filter::{Column, Expr};
use crate::names::path_to;
use crate::prune::{Facts, LeafStatistics, may_match};
use crate::task::{ReadContext, ScanTask};
use crate::value::Value;
use crate::{Error, Result};

/// Bytes fetched from the end of a file at first, which for most files hold the whole footer.
const FOOTER_GUESS: usize = 64 * 1024;

/// The rows of one task.
pub(super) async fn open(
    storage: Storage,
    context: Arc<ReadContext>,
    task: ScanTask,
) -> Result<RecordBatchStream> {
    let file = &task.path;
    let path = storage.path(file)?;
    let mut reader = ParquetObjectReader::new(storage.store().clone(), path)
        .with_file_size(task.file_size)
        .with_footer_size_hint(FOOTER_GUESS);
    let metadata = footer::load(&mut reader, file).await?;
    let reading = Reading::new(&context, &task, &metadata)?;
    let Some(filter) = reading.filter else { return Ok(futures::stream::empty().boxed()) };
    let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, metadata)
        .with_batch_size(context.batch_size)
        .with_row_groups(reading.row_groups)
        .with_projection(reading.mask);
    if reading.tests_nested {
        // The reader's cache of tested columns loses the nulls of a struct of one leaf.
        builder = builder.with_max_predicate_cache_size(0);
    }
    if let Some(filter) = filter {
        builder = builder.with_row_filter(RowFilter::new(vec![Box::new(filter)]));
    }
    if let Some(limit) = context.limit.and_then(|limit| usize::try_from(limit).ok()) {
        builder = builder.with_limit(limit);
    }
    let stream = builder.build().map_err(|e| Error::from_file(file, e))?;
    let projection = reading.projection;
    let file = task.path.clone();
    let batches = stream.map(move |batch| {
        let batch = batch.map_err(|e| Error::from_file(&file, e))?;
        output(&projection, &context.output, &batch).map_err(|e| e.about_file(&file))
    });
    Ok(batches.boxed())
}

/// The predicate handed to the Parquet reader.
type Predicate = ArrowPredicateFn<Box<dyn FnMut(RecordBatch) -> Result<BooleanArray, ArrowError> + Send>>;

/// How one file is read, settled from its footer.
struct Reading {
    row_groups: Vec<usize>,
    mask: ProjectionMask,
    projection: Projection,
    /// `None` when no row can pass; `Some(None)` when all do.
    filter: Option<Option<Predicate>>,
    /// Whether the filter looks into structs, lists or maps.
    tests_nested: bool,
}

impl Reading {
    fn new(context: &Arc<ReadContext>, task: &ScanTask, metadata: &ArrowReaderMetadata) -> Result<Self> {
        let file = &task.path;
        let fields = shape::columns(file, metadata.schema(), context.name_mapping.as_deref())?;
        let partition = identity_values(context, task)?;
        let convert = Context { file, partition: &partition };
        let paths: Result<Vec<_>> = context.columns.iter().map(|id| table_path(context, *id)).collect();
        let projection = Projection::new(&convert, &fields, &paths?)?;
        let residual = residual(context, task)?;
        let parquet = metadata.metadata();
        let row_groups = row_groups(context, task, parquet, &fields, &convert, &residual);
        Ok(Self {
            row_groups,
            mask: projection.mask(metadata.parquet_schema()),
            tests_nested: tests_nested(context, &residual),
            filter: predicate(context, metadata, &fields, &convert, residual)?,
            projection,
        })
    }
}

/// What the task's partition says of whole columns: only identity fields say what a column holds.
fn identity_values(context: &ReadContext, task: &ScanTask) -> Result<HashMap<i32, Value>> {
    let spec = context.specs.get(&task.spec_id).ok_or_else(|| {
        Error::damaged(format!(
            "data file {} names partition spec {}, which the table lacks",
            task.path, task.spec_id
        ))
    })?;
    let values = spec.fields().iter().zip(&task.partition);
    Ok(values
        .filter(|(field, _)| field.transform == Transform::Identity)
        .filter_map(|(field, value)| Some((field.source_id, value.clone()?)))
        .collect())
}

fn table_path(context: &ReadContext, id: i32) -> Result<Vec<NestedFieldRef>> {
    path_to(&context.schema, id)
        .ok_or_else(|| Error::damaged(format!("the scan's schema has no column of field id {id}")))
}

fn residual(context: &ReadContext, task: &ScanTask) -> Result<Expr> {
    let parts: Option<Vec<Expr>> =
        task.residual.iter().map(|part| context.filter.get(*part).cloned()).collect();
    let parts = parts.ok_or_else(|| {
        Error::damaged(format!(
            "the task of data file {} belongs to another scan: its filter has other parts",
            task.path
        ))
    })?;
    Ok(Expr::all(parts))
}

/// The row groups that begin within the task and may hold a matching row.
fn row_groups(
    context: &ReadContext,
    task: &ScanTask,
    parquet: &ParquetMetaData,
    fields: &[FileField],
    convert: &Context<'_>,
    residual: &Expr,
) -> Vec<usize> {
    let whole = task.start == 0 && task.length >= task.file_size;
    let within = |group: &RowGroupMetaData| {
        let begin = first_byte(group);
        begin >= task.start && begin - task.start < task.length
    };
    let facts = |group: &RowGroupMetaData, column: &Column| {
        group_facts(context, parquet, fields, convert, group, column)
    };
    let groups = parquet.row_groups().iter().enumerate();
    groups
        .filter(|(_, group)| whole || within(group))
        .filter(|(_, group)| may_match(residual, &|column| facts(group, column)))
        .map(|(at, _)| at)
        .collect()
}

fn first_byte(group: &RowGroupMetaData) -> u64 {
    let Some(column) = group.columns().first() else { return 0 };
    let offset = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    u64::try_from(offset.min(column.data_page_offset())).unwrap_or_default()
}

/// What is known of a column in a row group, also of one the file does not have.
fn group_facts(
    context: &ReadContext,
    parquet: &ParquetMetaData,
    fields: &[FileField],
    convert: &Context<'_>,
    group: &RowGroupMetaData,
    column: &Column,
) -> Facts {
    let Some(table) = &column.kind else { return Facts::default() };
    let Some(path) = path_to(&context.schema, column.id) else { return Facts::default() };
    let mut level = fields;
    for (depth, step) in path.iter().enumerate() {
        let Some(found) = level.iter().find(|f| f.id == Some(step.id)) else {
            // A top-level column that is absent is one value throughout; deeper, its parent may be null.
            if path.len() > 1 {
                return Facts::default();
            }
            let given = convert.partition.get(&column.id).cloned();
            let given = given.or_else(|| step.initial_default.as_ref().and_then(Value::of));
            return Facts::constant(given.and_then(|value| value.widened(table)));
        };
        match &found.shape {
            Shape::Struct(children) => level = children,
            Shape::Leaf(leaf) if depth + 1 == path.len() => {
                return LeafStatistics { leaf: *leaf, held: &found.data_type, table }.facts(parquet, group);
            }
            _ => break,
        }
    }
    Facts::default()
}

fn tests_nested(context: &ReadContext, residual: &Expr) -> bool {
    let mut ids = BTreeSet::new();
    residual.columns(&mut ids);
    let fields = context.schema.as_struct().fields();
    !ids.iter().all(|id| fields.iter().any(|f| f.id == *id && f.field_type.is_primitive()))
}

/// The residual as a predicate on what it reads of the file.
fn predicate(
    context: &Arc<ReadContext>,
    metadata: &ArrowReaderMetadata,
    fields: &[FileField],
    convert: &Context<'_>,
    residual: Expr,
) -> Result<Option<Option<Predicate>>> {
    if residual == Expr::True {
        return Ok(Some(None));
    }
    let mut ids = BTreeSet::new();
    residual.columns(&mut ids);
    let ids: Vec<i32> = ids.into_iter().collect();
    let paths: Result<Vec<_>> = ids.iter().map(|id| table_path(context, *id)).collect();
    let tested = Projection::new(convert, fields, &paths?)?;
    let mask = tested.mask(metadata.parquet_schema());
    let same_for_all = tested.reads_nothing();
    let pass = move |read: &[ArrayRef], rows: usize| {
        let arrays = tested.arrays(read, rows)?;
        let column = |column: &Column| {
            let at = ids.binary_search(&column.id).ok().and_then(|at| arrays.get(at));
            at.cloned().ok_or_else(|| Error::damaged(format!("column `{}` was not read", column.name)))
        };
        evaluate(&residual, &column, rows)
    };
    if same_for_all {
        // The file has none of these columns, so one row speaks for all.
        return Ok(pass(&[], 1)?.value(0).then_some(None));
    }
    Ok(Some(Some(ArrowPredicateFn::new(
        mask,
        Box::new(move |batch: RecordBatch| {
            pass(batch.columns(), batch.num_rows()).map_err(|e| ArrowError::ExternalError(Box::new(e)))
        }),
    ))))
}

/// A batch of the output's schema.
fn output(projection: &Projection, schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let arrays = projection.arrays(batch.columns(), rows)?;
    let exact = CastOptions { safe: false, ..CastOptions::default() };
    let columns: Result<Vec<ArrayRef>, ArrowError> = arrays
        .into_iter()
        .zip(schema.fields())
        .map(|(array, field)| match array.data_type() == field.data_type() {
            true => Ok(array),
            false => cast_with_options(&array, field.data_type(), &exact),
        })
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    columns
        .and_then(|columns| RecordBatch::try_new_with_options(schema.clone(), columns, &options))
        .map_err(|e| Error::damaged(format!("rows don't fit the table's schema: {e}")).with_source(e))
}
