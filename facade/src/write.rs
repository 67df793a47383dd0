use std::future::Future;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use calve_uri::Destination;
use calve_writer::{WriteOptions, WriteOutcome, WritePlan};

use crate::{Error, Result, connect};

/// Writing to the table a [`Destination`] names.
pub trait WriteDestination {
    /// Writes all batches as one snapshot, with the destination's mode and partitioning: creates the
    /// table on first write.
    ///
    /// All batches have the schema of the first; without any there is nothing to do and nothing to
    /// create.
    ///
    /// # Errors
    /// Everything that can be refused is refused before a byte is written. A lost race or an unknown
    /// outcome is not an error but a [`WriteOutcome`].
    ///
    /// ```
    /// use calve::{Destination, WriteDestination, WriteOutcome};
    /// # use arrow::array::{Int64Array, RecordBatch};
    /// # use std::sync::Arc;
    /// # tokio::runtime::Builder::new_multi_thread().build().unwrap().block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let root = folder.path().display();
    /// # let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as _)])?;
    /// let table: Destination = format!("iceberg+local://{root}/shop/orders?partition=bucket(4,id)").parse()?;
    /// match table.write([batch]).await? {
    ///     WriteOutcome::Committed(report) => assert_eq!(report.rows, 3),
    ///     other => panic!("not committed: {other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    fn write(
        &self,
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send> + Send,
    ) -> impl Future<Output = Result<WriteOutcome>> + Send;

    /// Plans a write of batches of `schema`; [`WritePlan::start`] then takes them one by one.
    ///
    /// The destination's mode and partitioning win over those of `options`.
    ///
    /// # Errors
    /// Everything that can be refused before a byte is written.
    fn plan_write(
        &self,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> impl Future<Output = Result<WritePlan>> + Send;
}

impl WriteDestination for Destination {
    async fn write(
        &self,
        batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send> + Send,
    ) -> Result<WriteOutcome> {
        let mut batches = batches.into_iter();
        let Some(first) = batches.next() else {
            return Err(Error::input(format!(
                "there is no batch to write to {self}, and so no schema; give an empty batch to create an empty table"
            )));
        };
        let schema = first.schema();
        let plan = self.plan_write(schema.clone(), WriteOptions::default()).await?;
        let mut writer = plan.start();
        for batch in std::iter::once(first).chain(batches) {
            let taken = if batch.schema().fields() == schema.fields() {
                writer.write(batch).await.map_err(Error::from)
            } else {
                Err(Error::input(format!("a batch for {self} has another schema than the first one")))
            };
            if let Err(e) = taken {
                writer.abort().await;
                return Err(e);
            }
        }
        Ok(writer.commit().await?)
    }

    async fn plan_write(&self, schema: SchemaRef, mut options: WriteOptions) -> Result<WritePlan> {
        let (catalog, ident) = connect::destination(self).await?;
        options.mode = self.mode();
        options.partition = self.partition().to_vec();
        Ok(calve_writer::plan(catalog, ident, schema, options).await?)
    }
}

/// What callers ask of an outcome.
pub trait OutcomeExt {
    /// The snapshot that holds the rows, or `None` where there were no rows; a lost race and an unknown
    /// outcome become errors.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Failed`] naming the conflict or what is unknown.
    fn snapshot_id(&self) -> Result<Option<i64>>;
}

impl OutcomeExt for WriteOutcome {
    fn snapshot_id(&self) -> Result<Option<i64>> {
        match self {
            Self::Committed(report) | Self::Empty(report) => Ok(report.snapshot_id),
            Self::AlreadyCommitted { snapshot_id } => Ok(Some(*snapshot_id)),
            Self::Conflict { reason } => {
                Err(Error::new(crate::ErrorKind::Failed, format!("somebody else committed first: {reason}")))
            }
            Self::Unknown { pending, .. } => Err(Error::new(
                crate::ErrorKind::Failed,
                format!("it is not known whether the write landed: {}", pending.reason()),
            )),
            other => Err(Error::new(crate::ErrorKind::Failed, format!("not written: {other:?}"))),
        }
    }
}
