//! Write and scan Apache Iceberg tables by URI, without a query engine.
//!
//! ```
//! use calve::{Destination, OutcomeExt, WriteDestination, scan_iceberg};
//! # use arrow::array::{Int64Array, RecordBatch, TimestampMicrosecondArray};
//! # use std::sync::Arc;
//! # tokio::runtime::Builder::new_multi_thread().build().unwrap().block_on(async {
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().join("shop/orders").display().to_string();
//! # let batch = RecordBatch::try_from_iter([
//! #     ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as _),
//! #     ("ts", Arc::new(TimestampMicrosecondArray::from(vec![0, 86_400_000_000, -1])) as _),
//! # ])?;
//! let orders: Destination = format!("iceberg+local://{root}?partition=day(ts)").parse()?;
//! orders.write([batch]).await?.snapshot_id()?;
//!
//! let plan = scan_iceberg(&root)?.filter_sql("ts < '1970-01-01'").plan().await?;
//! assert_eq!(plan.explain().files.total, 3);
//! assert_eq!(plan.explain().files.kept, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # Model
//! - A [`Destination`] is where rows go: one URI that names the table, how it is partitioned and how
//!   it is reached. [`WriteDestination::write`] appends a snapshot to it, creating the table on first
//!   write; everything that can be refused is refused before a byte is written.
//! - [`scan_iceberg`] is where rows come from: lazy, with filters and projections pushed down, pinned
//!   to a snapshot when asked.
//! - A commit ends in a [`WriteOutcome`]: committed, lost to somebody else, or unknown.
//!
//! # What it does not do
//! No SQL beyond filters, no compaction, no snapshot expiry, and no change of a table's schema by a
//! write. This version reaches table roots, on local disk and in buckets; it parses and checks Glue and
//! REST destinations and does not reach them yet. Tables with row-level deletes are refused and not read wrongly.
//!
//! # Features
//! - `cli`: the `calve` command.
//! - `glue`, `rest`: the catalogs of those names.

pub mod blocking;
mod connect;
mod error;
pub mod input;
mod options;
mod orphans;
mod scan;
mod write;

pub use calve_catalog::{CommitOutcome, LoadedTable, TableCatalog, Warning};
pub use calve_scan::{Explain, Plan, RecordBatchStream, ScanTask};
pub use calve_storage::StoredFile;
pub use calve_table_root::{Finding, TableRootCatalog};
pub use calve_uri::{Destination, Mode, ParseError, PartitionField, Secret, TableRef, Transform};
pub use calve_writer::{Progress, TableWriter, WriteOptions, WriteOutcome, WritePlan, WriteReport};
pub use error::{Error, ErrorKind, Result};
pub use options::{CatalogKind, StorageOptions};
pub use orphans::{Orphans, find_orphans};
pub use scan::{IcebergScan, scan_iceberg};
pub use write::{OutcomeExt, WriteDestination};

/// Loads a table as it is now, for its metadata.
///
/// # Errors
/// [`ErrorKind::NotFound`] without such a table.
pub async fn load_table(table: &TableRef, options: &StorageOptions) -> Result<LoadedTable> {
    connect::load(table, options).await
}

/// The table root that a name means, to check, repair or adopt it; nothing is read yet.
///
/// # Errors
/// [`ErrorKind::Input`] for a table in a catalog, or a single metadata file.
pub async fn open_root(table: &TableRef, options: &StorageOptions) -> Result<TableRootCatalog> {
    connect::root(table, options).await
}
