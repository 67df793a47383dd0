//! The same calls for programs without an async runtime.
//!
//! ```
//! use calve::{Destination, blocking};
//! # use arrow::array::{Int64Array, RecordBatch};
//! # use std::sync::Arc;
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().join("shop/orders").display().to_string();
//! # let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as _)])?;
//! let table: Destination = format!("iceberg+local://{root}").parse()?;
//! let outcome = blocking::write(&table, [batch])?;
//! let rows = blocking::collect(&calve::scan_iceberg(&root)?.filter_sql("id >= 2"))?;
//! assert_eq!(rows[0].num_rows(), 2);
//! # let _ = outcome;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! They work inside an async runtime's threads too, but stop one of them meanwhile.

use std::future::Future;
use std::sync::LazyLock;

use arrow::record_batch::RecordBatch;
use calve_scan::{Plan, RecordBatchStream};
use calve_uri::Destination;
use calve_writer::WriteOutcome;
use futures::StreamExt;
use tokio::runtime::Runtime;

use crate::{Error, IcebergScan, Result, WriteDestination};

/// [`WriteDestination::write`], waited for.
///
/// # Errors
/// As there.
pub fn write(
    destination: &Destination,
    batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send> + Send,
) -> Result<WriteOutcome> {
    wait(destination.write(batches))
}

/// [`IcebergScan::plan`], waited for.
///
/// # Errors
/// As there.
pub fn plan(scan: &IcebergScan) -> Result<Plan> {
    wait(scan.plan())
}

/// [`IcebergScan::collect`], waited for.
///
/// # Errors
/// As there.
pub fn collect(scan: &IcebergScan) -> Result<Vec<RecordBatch>> {
    wait(scan.collect())
}

/// [`IcebergScan::stream`] as an iterator.
///
/// # Errors
/// As there; reading errors come from the iterator.
pub fn stream(scan: &IcebergScan) -> Result<Batches> {
    wait(scan.stream()).map(Batches)
}

/// Batches of a scan, read while they are taken; dropping it stops the scan.
pub struct Batches(RecordBatchStream);

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        wait(self.0.next()).map(|batch| batch.map_err(Error::from))
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Batches")
    }
}

/// Runs a future on this module's runtime, from a thread that no runtime owns.
fn wait<F>(future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| RUNTIME.block_on(future));
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("a process that can start threads can start a runtime"));
