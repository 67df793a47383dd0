//! Public behaviour, on real tables built in memory: Parquet files, manifests and metadata.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

/// Builds tables, file by file and snapshot by snapshot.
mod lab;

/// Manifests and manifest lists that are not whole.
mod damage;
/// Filters select exactly the rows SQL says, however they are written.
mod filters;
/// Limits, order, back-pressure and early stop.
mod flow;
/// Tables partitioned by columns of every type, as the writer makes them.
mod identity;
/// Files whose columns carry no field ids.
mod nameless;
/// Columns by id, in the asked order, under the asked names and types.
mod projection;
/// What is left unread, and what `explain` says of it.
mod pruning;
/// Random tables and predicates against a row-by-row evaluation.
mod random;
/// What is refused, and how that is said.
mod refusals;
/// Which snapshot and which schema.
mod snapshots;
/// Plans shipped as JSON.
mod tasks;
/// Promotions, and changes that are none.
mod types;
