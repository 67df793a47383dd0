use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_partition::{Splitter, partition_path};
use iceberg::spec::{PartitionSpecRef, SchemaRef, Struct};
use tokio::task::JoinSet;

use super::created::CreatedFiles;
use super::file::{FilePlan, FinishedFile, OpenFile};
use crate::{Error, ErrorKind, Progress, Result};

/// One open file for each partition rows have come for, within a memory budget.
pub(crate) struct FanOut {
    plan: Arc<FilePlan>,
    schema: SchemaRef,
    spec: PartitionSpecRef,
    splitter: Splitter,
    created: CreatedFiles,
    budget: usize,
    open: HashMap<Struct, Open>,
    /// What the open files hold together.
    memory: usize,
    uploads: JoinSet<Result<FinishedFile>>,
    finished: Vec<FinishedFile>,
    progress: Progress,
    /// How well row groups of this write compress, as last measured.
    ratio: Option<f64>,
}

/// An open file, and what it counted for when it was last written to.
struct Open {
    file: Box<OpenFile>,
    memory: usize,
    size: u64,
}

impl FanOut {
    pub(crate) fn new(
        plan: Arc<FilePlan>,
        schema: SchemaRef,
        spec: PartitionSpecRef,
        created: CreatedFiles,
        budget: usize,
    ) -> Result<Self> {
        let splitter = Splitter::new(Arc::clone(&spec), Arc::clone(&schema)).map_err(partition_error)?;
        Ok(Self {
            plan,
            schema,
            spec,
            splitter,
            created,
            budget,
            open: HashMap::new(),
            memory: 0,
            uploads: JoinSet::new(),
            finished: Vec::new(),
            progress: Progress::default(),
            ratio: None,
        })
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// Writes rows of the table's schema to the files of their partitions.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for part in self.splitter.split(batch).map_err(partition_error)? {
            let rows = part.take(batch).map_err(partition_error)?;
            self.write_part(part.value, &rows).await?;
        }
        self.progress.rows += batch.num_rows() as u64;
        Ok(())
    }

    async fn write_part(&mut self, partition: Struct, rows: &RecordBatch) -> Result<()> {
        let mut open = match self.open.remove(&partition) {
            Some(open) => open,
            None => self.begin(partition.clone())?,
        };
        let written = open.file.write(rows).await;
        self.memory -= open.memory;
        if let Err(error) = written {
            open.file.abort().await;
            return Err(error);
        }
        self.progress.bytes -= open.size;
        (open.memory, open.size) = (open.file.memory(), open.file.size());
        self.progress.bytes += open.size;
        if open.file.is_full() {
            return self.close(open).await;
        }
        self.memory += open.memory;
        self.open.insert(partition, open);
        while self.memory > self.budget && !self.open.is_empty() {
            self.close_largest().await?;
        }
        Ok(())
    }

    fn begin(&mut self, partition: Struct) -> Result<Open> {
        let folder = short_segments(&partition_path(&self.spec, &self.schema, &partition));
        let location = self.plan.location(&folder, self.progress.files)?;
        self.progress.files += 1;
        self.created.note(location.as_str());
        let file = OpenFile::begin(Arc::clone(&self.plan), location, partition, self.ratio)?;
        Ok(Open { file: Box::new(file), memory: 0, size: 0 })
    }

    async fn close_largest(&mut self) -> Result<()> {
        let Some(largest) = self.open.iter().max_by_key(|(_, open)| open.memory).map(|(key, _)| key.clone())
        else {
            return Ok(());
        };
        let Some(open) = self.open.remove(&largest) else { return Ok(()) };
        self.memory -= open.memory;
        self.close(open).await
    }

    /// Ends a file and hands it to an upload of its own.
    async fn close(&mut self, open: Open) -> Result<()> {
        let (sealed, rest) = open.file.seal()?;
        self.ratio = sealed.ratio.or(self.ratio);
        self.uploads.spawn(sealed.send(rest));
        while self.uploads.len() >= MAX_UPLOADS {
            self.join_one().await?;
        }
        Ok(())
    }

    async fn join_one(&mut self) -> Result<()> {
        match self.uploads.join_next().await {
            None => Ok(()),
            Some(Ok(done)) => {
                self.finished.push(done?);
                Ok(())
            }
            Some(Err(join)) => Err(Error::new(ErrorKind::Failed, "an upload was cut off").with_source(join)),
        }
    }

    /// Closes every file and waits until all are in the store, in the order in which they were begun.
    pub(crate) async fn finish(&mut self) -> Result<Vec<FinishedFile>> {
        let mut open: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        self.memory = 0;
        while let Some(next) = open.pop() {
            self.close(next).await?;
        }
        while !self.uploads.is_empty() {
            self.join_one().await?;
        }
        let mut finished = std::mem::take(&mut self.finished);
        let number = |f: &FinishedFile| {
            let path = f.data_file.file_path();
            path.rsplit('/').next().unwrap_or(path).to_owned()
        };
        finished.sort_by_key(number);
        Ok(finished)
    }

    /// Gives up every open file, and waits for what is under way, so that it can be deleted.
    pub(crate) async fn abort(mut self) {
        for open in std::mem::take(&mut self.open).into_values() {
            open.file.abort().await;
        }
        while self.uploads.join_next().await.is_some() {}
    }
}

impl std::fmt::Debug for FanOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FanOut")
            .field("open", &self.open.len())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

fn partition_error(source: calve_partition::Error) -> Error {
    let kind = match source.kind() {
        calve_partition::ErrorKind::Table => ErrorKind::Damaged,
        _ => ErrorKind::Input,
    };
    Error::new(kind, source.to_string()).with_source(source)
}

/// Folder names that any file system takes: a long value is cut, which only people will notice.
fn short_segments(path: &str) -> String {
    let short = |segment: &str| match segment.char_indices().find(|(at, _)| *at >= MAX_SEGMENT) {
        Some((cut, _)) => {
            let mut hasher = fnv::FnvHasher::default();
            std::hash::Hasher::write(&mut hasher, segment.as_bytes());
            format!("{}-{:016x}", &segment[..cut], std::hash::Hasher::finish(&hasher))
        }
        None => segment.to_owned(),
    };
    path.split('/').map(short).collect::<Vec<_>>().join("/")
}

const MAX_UPLOADS: usize = 16;
const MAX_SEGMENT: usize = 180;
