//! Arrow record batches to one Iceberg snapshot, without a query engine.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use arrow::array::RecordBatch;
//! use calve_catalog::{TableCatalog, TableIdent};
//! use calve_writer::{WriteOptions, WriteOutcome, plan};
//!
//! async fn append(catalog: Arc<dyn TableCatalog>, rows: RecordBatch) -> Result<(), calve_writer::Error> {
//!     let table = TableIdent::from_strs(["air", "flights"]).expect("two names make a table's name");
//!     let plan = plan(catalog, table, rows.schema(), WriteOptions::default()).await?;
//!     let mut writer = plan.start();
//!     writer.write(rows).await?;
//!     match writer.commit().await? {
//!         WriteOutcome::Committed(report) => println!("{} rows in {} files", report.rows, report.files),
//!         other => println!("{other:?}"),
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # Model
//! - [`plan`] loads or stages the table and refuses everything that can be refused: columns that
//!   don't fit, a partitioning the table doesn't have, a table calve must not write. No byte is
//!   written before it returns.
//! - [`TableWriter::write`] matches columns by name at every depth, widens what loses nothing, splits
//!   rows by partition and encodes Parquet. Statistics are computed from the rows, not from what the
//!   encoder kept of them.
//! - [`TableWriter::commit`] publishes one snapshot. Its [`WriteOutcome`] tells a lost race from an
//!   outcome nobody knows.
//! - A write keeps a list of the files it made, and deletes those and no others: on failure, on
//!   [`TableWriter::abort`], on drop, and after a commit that is known to be lost.
//!
//! # What it does not do
//! It never changes a table's schema, reads no input files, and opens no catalog. Sorting, merging of
//! manifests and registering files that exist are not here yet.

mod columns;
mod commit;
mod data_file;
mod error;
mod manifest;
mod metrics;
mod options;
mod outcome;
mod plan;
mod write;

pub use error::{Error, ErrorKind, Result};
pub use options::WriteOptions;
pub use outcome::{Progress, WriteOutcome, WriteReport};
pub use plan::{WritePlan, plan};
pub use write::{TableWriter, resolve};
