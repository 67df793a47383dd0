//! Reading the files a plan chose.

mod constant;
mod convert;
mod evaluate;
mod file;
mod footer;
mod projection;
mod shape;

use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_storage::Storage;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::task::{ReadContext, ScanTask};
use crate::{Error, ErrorKind, Result};

/// Batches of a scan, in table order.
pub type RecordBatchStream = BoxStream<'static, Result<RecordBatch>>;

/// Files read at once, at most.
const FILES_AT_ONCE: usize = 8;

/// Batches a file may be ahead of its reader.
const BATCHES_AHEAD: usize = 2;

/// Reads `tasks` of a plan made here or elsewhere, in their order.
///
/// Must be polled within a tokio runtime. Dropping the stream stops the reading.
pub fn read_tasks(storage: Storage, context: ReadContext, tasks: Vec<ScanTask>) -> RecordBatchStream {
    read(storage, Arc::new(context), tasks)
}

pub(crate) fn read(storage: Storage, context: Arc<ReadContext>, tasks: Vec<ScanTask>) -> RecordBatchStream {
    let limit = context.limit;
    // A limit is most often met by the first files: reading ahead of them would be for nothing.
    let at_once = match limit {
        Some(_) => 1,
        None => std::thread::available_parallelism().map_or(2, usize::from).clamp(1, FILES_AT_ONCE),
    };
    if limit == Some(0) {
        return futures::stream::empty().boxed();
    }
    let batches = futures::stream::iter(tasks)
        .map(move |task| {
            let started = Started::new(storage.clone(), context.clone(), task);
            async move { started.batches() }
        })
        .buffered(at_once)
        .flatten();
    match limit {
        Some(limit) => first_rows(batches, limit).boxed(),
        None => until_error(batches).boxed(),
    }
}

/// One task being read ahead; dropping it ends the reading.
struct Started {
    batches: mpsc::Receiver<Result<RecordBatch>>,
    worker: JoinHandle<()>,
    path: String,
}

impl Started {
    fn new(storage: Storage, context: Arc<ReadContext>, task: ScanTask) -> Self {
        let (sender, batches) = mpsc::channel(BATCHES_AHEAD);
        let path = task.path.clone();
        let worker = tokio::spawn(async move {
            let mut stream = match file::open(storage, context, task).await {
                Ok(stream) => stream,
                Err(e) => futures::stream::once(async { Err(e) }).boxed(),
            };
            while let Some(batch) = stream.next().await {
                if sender.send(batch).await.is_err() {
                    return;
                }
            }
        });
        Self { batches, worker, path }
    }

    fn batches(self) -> impl Stream<Item = Result<RecordBatch>> {
        futures::stream::unfold(Some(self), |started| async move {
            let mut started = started?;
            if let Some(batch) = started.batches.recv().await {
                return Some((batch, Some(started)));
            }
            // The channel closes too when the worker panics: its rows must not just be missing.
            match (&mut started.worker).await {
                Ok(()) => None,
                Err(e) if e.is_panic() => {
                    let why =
                        format!("can't read data file {}: its content makes the decoder fail", started.path);
                    Some((Err(Error::damaged(why).with_source(e)), None))
                }
                Err(e) => {
                    let why = format!("reading data file {} was cut short: {e}", started.path);
                    Some((Err(Error::new(ErrorKind::Failed, why).with_source(e)), None))
                }
            }
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

/// The first `limit` rows; nothing is polled once they are out.
fn first_rows(
    batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
    limit: u64,
) -> impl Stream<Item = Result<RecordBatch>> + Send {
    futures::stream::try_unfold((batches.boxed(), limit), |(mut batches, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let Some(batch) = batches.try_next().await? else { return Ok(None) };
        let rows = batch.num_rows() as u64;
        if rows <= left {
            return Ok(Some((batch, (batches, left - rows))));
        }
        // `left` is below the batch's row count, which is a usize.
        Ok(Some((batch.slice(0, left as usize), (batches, 0))))
    })
}

/// Ends at the first error.
fn until_error(
    batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
) -> impl Stream<Item = Result<RecordBatch>> + Send {
    futures::stream::try_unfold(batches.boxed(), |mut batches| async move {
        Ok(batches.try_next().await?.map(|batch| (batch, batches)))
    })
}
