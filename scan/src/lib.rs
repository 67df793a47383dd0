//! Plans and reads Apache Iceberg tables into Arrow record batches, without a query engine.
//!
//! ```
//! use calve_catalog::{CommitToken, LoadedTable, NewTable, TableIdent};
//! use calve_scan::Scan;
//! use calve_storage::{Location, Storage};
//! use futures::TryStreamExt;
//! use iceberg::spec::{NestedField, PrimitiveType, Schema, Type};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # let amount = NestedField::optional(1, "amount", Type::Primitive(PrimitiveType::Long));
//! # let schema = Schema::builder().with_fields([amount.into()]).build()?;
//! # let location: Location = "memory://scan-doc/t".parse()?;
//! # let table = LoadedTable {
//! #     ident: TableIdent::from_strs(["shop", "orders"])?,
//! #     metadata: NewTable::new(schema).into_metadata(location.as_str())?.into(),
//! #     metadata_location: String::new(),
//! #     token: CommitToken::new(()),
//! #     storage: Storage::open(&location)?,
//! # };
//! // `table` is what a catalog loaded.
//! let plan = Scan::new(table)
//!     .filter_sql("amount > 100")
//!     .select(["amount"])
//!     .rename([("amount", "cents")])
//!     .plan()
//!     .await?;
//! println!("{}", plan.explain());
//! let batches: Vec<_> = plan.read().try_collect().await?;
//! # assert!(batches.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Model
//! - A [`Scan`] says what to read; [`Scan::plan`] resolves names and filters against the schema,
//!   reads the snapshot's manifests and settles which files are read. What a filter excludes by
//!   partition, by a manifest's summaries or by a file's bounds is never opened; [`Explain`] counts it.
//! - A [`Plan`] is a list of [`ScanTask`]s and the [`ReadContext`] they share. Both are
//!   serializable: plan here, [`read_tasks`] there.
//! - Reading prunes row groups, decodes the filter's columns first, and tests every row that the
//!   metadata has not proven. Columns are found by field id at every depth; what a file lacks is its
//!   default, its identity partition's value, or null.
//!
//! Statistics only ever exclude what they prove: a bound that is missing, undecodable, inverted or NaN
//! is not known, and comparisons happen in the table's type, not the file's. There is no NOT after
//! binding, so no "might match" is ever negated.
//!
//! # What it does not do
//! It does not write. It refuses, rather than returning wrong rows: snapshots with row-level
//! deletes, data files that are not Parquet, Parquet files without field ids in a table without a name
//! mapping, manifests that are not as their list says. Filters compare columns with values, not with one
//! another. It needs a tokio runtime.
//!
//! # Features
//! None.

mod columns;
mod error;
mod explain;
mod files;
mod filter;
mod manifests;
mod names;
mod plan;
mod prune;
mod read;
mod references;
mod scan;
mod task;
mod value;

pub use error::{Error, ErrorKind, Result};
pub use explain::{Explain, FilterPart, Kept};
pub use plan::Plan;
pub use read::{RecordBatchStream, read_tasks};
pub use references::referenced_files;
pub use scan::Scan;
pub use task::{FileFormat, ReadContext, ScanTask};
pub use value::Value;
