use arrow::array::{Array, RecordBatch};
use calve_catalog::{CommitOutcome, LoadedTable, Pending, TableCatalog};

use crate::commit::{Commit, settle};
use crate::data_file::CreatedFiles;
use crate::{Error, ErrorKind, Progress, Result, WriteOutcome, WritePlan};

/// A write under way.
///
/// Dropped before its commit began, it deletes the files it made in the background, if a tokio
/// runtime is there to do it; [`abort`](Self::abort) waits for that.
#[derive(Debug)]
pub struct TableWriter {
    /// `None` once the write has failed.
    running: Option<Running>,
    progress: Progress,
}

#[derive(Debug)]
struct Running {
    plan: WritePlan,
    orphans: Orphans,
    rows: u64,
    /// Set while a batch is half written: a call that was cut off may have lost rows.
    torn: bool,
}

/// Deletes a write's files when it is dropped before its commit began.
#[derive(Debug)]
pub(crate) struct Orphans {
    created: CreatedFiles,
    armed: bool,
}

impl TableWriter {
    pub(crate) fn new(plan: WritePlan) -> Self {
        let orphans = Orphans { created: plan.created.clone(), armed: true };
        Self { running: Some(Running { plan, orphans, rows: 0, torn: false }), progress: Progress::default() }
    }

    /// Takes rows of the planned schema. Rows of a write that is committed already are dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] naming column and row of a value the table can't hold; what the store says.
    /// The write has then failed, and its files are deleted.
    pub async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        let running = self.running.as_mut().ok_or_else(failed_before)?;
        if running.plan.already_committed.is_some() {
            return Ok(());
        }
        if running.torn {
            return Err(torn());
        }
        running.torn = true;
        let written = running.write(&batch).await;
        running.torn = false;
        self.progress = running.plan.files.progress();
        if written.is_err()
            && let Some(failed) = self.running.take()
        {
            failed.clean_up().await;
        }
        written
    }

    /// Publishes what was written as one snapshot, and creates the table with it where it is missing.
    ///
    /// Without rows, an existing table stays as it is (in overwrite mode too) and a missing one is
    /// created without a snapshot.
    ///
    /// # Errors
    /// What happened before anything could become visible. The write's files are then deleted, as they
    /// are on a conflict.
    pub async fn commit(mut self) -> Result<WriteOutcome> {
        let running = self.running.take().ok_or_else(failed_before)?;
        if let Some(snapshot_id) = running.plan.already_committed {
            return Ok(WriteOutcome::AlreadyCommitted { snapshot_id });
        }
        if running.torn {
            running.clean_up().await;
            return Err(torn());
        }
        running.commit().await
    }

    /// Gives the write up and deletes the files it made.
    pub async fn abort(mut self) {
        if let Some(running) = self.running.take() {
            running.clean_up().await;
        }
    }

    /// How far the write has come.
    pub fn progress(&self) -> Progress {
        self.progress
    }
}

impl Running {
    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.plan.matching.check(batch)?;
        let step = rows_per_step(batch, self.plan.step_bytes);
        let mut from = 0;
        while from < batch.num_rows() {
            let length = step.min(batch.num_rows() - from);
            let rows = self.plan.matching.convert(&batch.slice(from, length), self.rows)?;
            self.plan.files.write(&rows).await?;
            self.rows += length as u64;
            from += length;
        }
        Ok(())
    }

    async fn commit(mut self) -> Result<WriteOutcome> {
        match self.plan.files.finish().await {
            Ok(files) => Commit::new(self.plan, files, self.orphans).run().await,
            Err(error) => {
                self.clean_up().await;
                Err(error)
            }
        }
    }

    async fn clean_up(mut self) {
        self.orphans.armed = false;
        self.plan.files.abort().await;
        self.orphans.created.delete_all().await;
    }
}

impl Orphans {
    pub(crate) fn created(&self) -> &CreatedFiles {
        &self.created
    }

    /// From here on the files may be part of the table.
    pub(crate) fn disarm(&mut self) {
        self.armed = false;
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        if !self.armed || self.created.paths().is_empty() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let created = self.created.clone();
            runtime.spawn(async move { created.delete_all().await });
        }
    }
}

/// What became of a write whose outcome was [`WriteOutcome::Unknown`]: asks the catalog a few times.
///
/// # Errors
/// When the catalog can't be asked; the write stays unknown, and `pending` can be asked for again.
pub async fn resolve(catalog: &dyn TableCatalog, pending: Pending) -> Result<CommitOutcome<LoadedTable>> {
    settle(catalog, pending).await.map_err(Error::from)
}

/// Rows of which about `bytes` bytes are handed on at once, so that file sizes can be watched.
fn rows_per_step(batch: &RecordBatch, bytes: usize) -> usize {
    let size = |column: &arrow::array::ArrayRef| {
        column.to_data().get_slice_memory_size().unwrap_or(column.len() * GUESSED_VALUE_BYTES)
    };
    let total: usize = batch.columns().iter().map(size).sum();
    let per_row = (total / batch.num_rows().max(1)).max(1);
    (bytes / per_row).clamp(1, MAX_STEP_ROWS)
}

fn failed_before() -> Error {
    Error::new(ErrorKind::Failed, "the write has failed before, and its files are deleted; begin another")
}

fn torn() -> Error {
    Error::new(
        ErrorKind::Failed,
        "a batch was cut off while it was written, so rows may be missing; begin another write",
    )
}

const MAX_STEP_ROWS: usize = 65_536;
const GUESSED_VALUE_BYTES: usize = 64;
