//! What a write leaves in a table, seen through the format library and the Parquet reader.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

/// Conflicts, lost answers, retries, write ids, clean-up.
mod commits;
/// Tables whose manifests or manifest lists are not whole.
mod damage;
/// A store that fails at every point in turn.
mod faults;
/// Data files: size, codec, footer, memory.
mod files;
/// Tables to write to, and ways to look at them.
mod lab;
/// Manifests, manifest lists and snapshots.
mod manifests;
/// Input columns against table columns.
mod matching;
/// Schemas and specs of new tables.
mod new_tables;
/// Overwrite mode.
mod overwrite;
/// Partitioned writes.
mod partitions;
/// Counts and bounds.
mod statistics;
