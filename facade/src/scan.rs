use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use calve_scan::{Plan, RecordBatchStream, Scan};
use calve_uri::TableRef;
use futures::TryStreamExt;
use iceberg::expr::Predicate;

use crate::{Result, StorageOptions, connect};

/// A scan of one table, described and not begun: nothing is read until it is planned.
///
/// Filters are exact, with SQL's three-valued logic. Columns come in the order asked for.
#[derive(Clone, Debug)]
#[must_use = "a scan does nothing until it is planned or read"]
pub struct IcebergScan {
    table: TableRef,
    options: StorageOptions,
    steps: Vec<Step>,
}

/// What was asked of the scan, kept until the table is loaded.
#[derive(Clone, Debug)]
enum Step {
    SnapshotId(i64),
    Filter(Predicate),
    FilterSql(String),
    Select(Vec<String>),
    Rename(Vec<(String, String)>),
    Limit(u64),
    Schema(SchemaRef),
    BatchSize(usize),
}

/// A lazy scan of `table`: a table root or metadata file by path or URI, any destination URI, or
/// `namespace.table` in the catalog of [`IcebergScan::storage_options`].
///
/// # Errors
/// [`crate::ErrorKind::Input`] when the text names no table.
///
/// ```
/// use calve::{Destination, OutcomeExt, WriteDestination, scan_iceberg};
/// # use arrow::array::{Int64Array, RecordBatch, StringArray};
/// # use std::sync::Arc;
/// # tokio::runtime::Builder::new_multi_thread().build().unwrap().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path().join("air/flights").display().to_string();
/// # let batch = RecordBatch::try_from_iter([
/// #     ("origin", Arc::new(StringArray::from(vec!["JFK", "LGA", "EWR"])) as _),
/// #     ("delay", Arc::new(Int64Array::from(vec![Some(150), None, Some(7)])) as _),
/// # ])?;
/// # let destination: Destination = format!("iceberg+local://{root}").parse()?;
/// # destination.write([batch]).await?.snapshot_id()?;
/// let late = scan_iceberg(&root)?
///     .filter_sql("delay > 120")
///     .select(["delay", "origin"])
///     .rename([("delay", "minutes")])
///     .collect()
///     .await?;
/// assert_eq!(late[0].num_rows(), 1);
/// assert_eq!(late[0].schema().field(0).name(), "minutes");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub fn scan_iceberg(table: &str) -> Result<IcebergScan> {
    Ok(IcebergScan::new(table.parse()?))
}

impl IcebergScan {
    /// A scan of a table that is parsed already.
    pub fn new(table: TableRef) -> Self {
        Self { table, options: StorageOptions::default(), steps: Vec::new() }
    }

    /// Which catalog the name is looked up in; without it the environment says.
    pub fn storage_options(mut self, options: StorageOptions) -> Self {
        self.options = options;
        self
    }

    /// Scans this snapshot with its own schema, instead of the current one with the current schema.
    pub fn snapshot_id(self, id: i64) -> Self {
        self.step(Step::SnapshotId(id))
    }

    /// Keeps rows for which `predicate` is true; several filters must all be true.
    pub fn filter(self, predicate: Predicate) -> Self {
        self.step(Step::Filter(predicate))
    }

    /// Keeps rows for which a condition in SQL is true, such as `amount > 100 and ts >= '2024-06-01'`.
    pub fn filter_sql(self, condition: impl Into<String>) -> Self {
        self.step(Step::FilterSql(condition.into()))
    }

    /// Only these columns, in this order.
    pub fn select<S: Into<String>>(self, columns: impl IntoIterator<Item = S>) -> Self {
        self.step(Step::Select(columns.into_iter().map(Into::into).collect()))
    }

    /// Renames output columns, `(from, to)`; filters may use either name.
    pub fn rename<F: Into<String>, T: Into<String>>(self, pairs: impl IntoIterator<Item = (F, T)>) -> Self {
        self.step(Step::Rename(pairs.into_iter().map(|(f, t)| (f.into(), t.into())).collect()))
    }

    /// At most this many rows.
    pub fn limit(self, rows: u64) -> Self {
        self.step(Step::Limit(rows))
    }

    /// The columns and types the caller expects: planning fails where the table can't give them.
    pub fn schema(self, schema: SchemaRef) -> Self {
        self.step(Step::Schema(schema))
    }

    /// At most this many rows to a batch.
    pub fn batch_size(self, rows: usize) -> Self {
        self.step(Step::BatchSize(rows))
    }

    /// Loads the table and plans the scan: which files to read, and why the others are not.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] without such a table, [`crate::ErrorKind::Input`] for columns or
    /// conditions that don't fit it.
    pub async fn plan(&self) -> Result<Plan> {
        let table = connect::load(&self.table, &self.options).await?;
        let scan = self.steps.iter().cloned().fold(Scan::new(table), |scan, step| match step {
            Step::SnapshotId(id) => scan.snapshot_id(id),
            Step::Filter(predicate) => scan.filter(predicate),
            Step::FilterSql(text) => scan.filter_sql(text),
            Step::Select(columns) => scan.select(columns),
            Step::Rename(pairs) => scan.rename(pairs),
            Step::Limit(rows) => scan.limit(rows),
            Step::Schema(schema) => scan.expect_schema(schema),
            Step::BatchSize(rows) => scan.batch_size(rows),
        });
        Ok(scan.plan().await?)
    }

    /// Plans and begins to read, with back-pressure; dropping the stream stops it.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); reading errors come in the stream.
    pub async fn stream(&self) -> Result<RecordBatchStream> {
        Ok(self.plan().await?.read())
    }

    /// All rows at once; for tables that fit in memory.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), or when a file can't be read.
    pub async fn collect(&self) -> Result<Vec<RecordBatch>> {
        Ok(self.stream().await?.try_collect().await?)
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
