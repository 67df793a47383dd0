//! What a catalog must do for calve, and nothing about how.
//!
//! [`TableCatalog`] loads, stages, creates and commits tables. A commit ends in a
//! [`CommitOutcome`]: committed, lost to somebody else, or *unknown*, when the answer was lost and
//! only [`TableCatalog::resolve`] can tell.
//!
//! ```
//! use calve_catalog::{CommitOutcome, LoadedTable, Result, TableCatalog, TableChange};
//!
//! /// Commits once and looks for the truth when the answer is lost.
//! async fn commit(catalog: &dyn TableCatalog, base: &LoadedTable, change: TableChange) -> Result<bool> {
//!     let mut outcome = catalog.commit(base, change).await?;
//!     if let CommitOutcome::Unknown(pending) = outcome {
//!         outcome = catalog.resolve(pending).await?;
//!     }
//!     Ok(matches!(outcome, CommitOutcome::Committed(_)))
//! }
//! ```
//!
//! # Model
//! - A [`LoadedTable`] is metadata, where it came from, and a [`CommitToken`] that makes a commit on
//!   it conditional.
//! - A [`TableChange`] is Iceberg requirements and updates; a create with a change that carries the
//!   first snapshot makes creation and first append one commit.
//! - A [`Pending`] holds the exact request of an attempt, so that resolving looks for it or sends it
//!   again, and never builds another.
//!
//! # What it does not do
//! It never retries a conflict: rebuilding a change on a new base is the writer's work.
//!
//! # Features
//! `testing` adds the `testing` module: the contract, as functions a catalog's tests call.

mod change;
mod error;
mod outcome;
mod table;
#[cfg(feature = "testing")]
pub mod testing;

use std::fmt::Debug;

pub use async_trait::async_trait;
pub use change::{Applied, TableChange};
pub use error::{Error, ErrorKind, Result};
pub use iceberg::{NamespaceIdent, TableIdent, TableRequirement, TableUpdate};
pub use outcome::{CommitOutcome, Committed, Conflict, Pending, Warning};
pub use table::{CommitToken, LoadedTable, NewTable, StagedTable};

/// A place that knows tables by name and decides which commit wins.
#[async_trait]
pub trait TableCatalog: Debug + Send + Sync {
    /// The table's current metadata.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no such table, and only then.
    async fn load(&self, table: &TableIdent) -> Result<LoadedTable>;

    /// Refuses what [`commit`](Self::commit) would refuse of `base` whatever the change, so that nothing
    /// is written for a commit that can't be.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when a loaded table may be read and not committed to.
    async fn check_commit(&self, base: &LoadedTable) -> Result<()> {
        let _ = base;
        Ok(())
    }

    /// Location, uuid, metadata and storage of a table to be; nothing is visible yet.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] when a table is known to be there already, [`ErrorKind::Input`] when the
    /// catalog can't hold such a table.
    async fn stage(&self, table: &TableIdent, new: NewTable) -> Result<StagedTable>;

    /// Makes a staged table visible with `change` applied: with a first snapshot in it, creation and
    /// first append are one commit.
    ///
    /// # Errors
    /// Only what happened before the deciding request, or a request the catalog refused. A lost race
    /// is [`CommitOutcome::Conflict`].
    async fn create(&self, staged: &StagedTable, change: TableChange) -> Result<CommitOutcome<LoadedTable>>;

    /// Publishes `change` on `base`, if `base` is still the current version.
    ///
    /// # Errors
    /// As [`create`](Self::create); a requirement of the change that `base` itself fails is
    /// [`ErrorKind::Input`].
    async fn commit(&self, base: &LoadedTable, change: TableChange) -> Result<CommitOutcome<LoadedTable>>;

    /// What became of an attempt whose answer was lost: looks for its snapshot, and sends the same
    /// request again when it can't have landed and still may.
    ///
    /// # Errors
    /// When the catalog can't be asked; the attempt stays unknown.
    async fn resolve(&self, pending: Pending) -> Result<CommitOutcome<LoadedTable>>;
}
