use std::any::Any;
use std::fmt;
use std::sync::Arc;

use iceberg::TableIdent;

/// What became of a commit.
#[must_use = "an unknown outcome must be resolved before anything is retried or deleted"]
#[derive(Debug)]
pub enum CommitOutcome<T> {
    /// Ours is the current version, or an ancestor of it.
    Committed(Committed<T>),
    /// Somebody else's commit came first; nothing of ours is visible.
    Conflict(Conflict),
    /// It may have landed: resolve before retrying, delete nothing.
    Unknown(Pending),
}

/// A commit that landed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Committed<T> {
    /// The table as this commit made it.
    pub table: T,
    /// What the commit left undone; it stands all the same.
    pub warnings: Vec<Warning>,
}

/// A lost race.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conflict {
    /// Which change came first, for people.
    pub reason: String,
}

/// Something a commit that landed left undone, or saw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The version hint still names an older version; the next writer repairs it.
    HintNotMoved {
        /// Why.
        reason: String,
    },
    /// The archived copy of the metadata was not made; the next writer repairs it.
    CopyNotMade {
        /// Why.
        reason: String,
    },
    /// The version is there, but the store could not say that it will outlive a power cut.
    NotFlushed {
        /// Why.
        reason: String,
    },
    /// Another file claims the same version: somebody wrote without contending for the name.
    Contested {
        /// The name this commit took.
        ours: String,
        /// The other spelling of the same version.
        theirs: String,
    },
}

/// An attempt whose answer was lost, with its exact request.
#[derive(Clone)]
pub struct Pending {
    table: TableIdent,
    snapshot_ids: Vec<i64>,
    reason: String,
    request: Arc<dyn Any + Send + Sync>,
}

impl<T> CommitOutcome<T> {
    /// Committed, with nothing left undone.
    pub fn committed(table: T) -> Self {
        Self::Committed(Committed { table, warnings: Vec::new() })
    }

    /// Committed, with what was left undone.
    pub fn committed_with(table: T, warnings: Vec<Warning>) -> Self {
        Self::Committed(Committed { table, warnings })
    }

    /// Lost to somebody else.
    pub fn conflict(reason: impl Into<String>) -> Self {
        Self::Conflict(Conflict { reason: reason.into() })
    }
}

impl Pending {
    /// An unknown attempt on `table` that adds `snapshot_ids`; `request` is the adapter's own record.
    pub fn new<R: Any + Send + Sync>(
        table: TableIdent,
        snapshot_ids: Vec<i64>,
        reason: impl Into<String>,
        request: R,
    ) -> Self {
        Self { table, snapshot_ids, reason: reason.into(), request: Arc::new(request) }
    }

    /// The table.
    pub fn table(&self) -> &TableIdent {
        &self.table
    }

    /// The snapshots the attempt adds.
    pub fn snapshot_ids(&self) -> &[i64] {
        &self.snapshot_ids
    }

    /// What left the outcome unknown, for people.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The adapter's record of the request, if it is of type `R`.
    pub fn request<R: Any + Send + Sync>(&self) -> Option<&R> {
        self.request.downcast_ref()
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("table", &self.table)
            .field("snapshot_ids", &self.snapshot_ids)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HintNotMoved { reason } => write!(f, "the version hint was not moved: {reason}"),
            Self::CopyNotMade { reason } => write!(f, "the copy of the metadata was not made: {reason}"),
            Self::NotFlushed { reason } => write!(f, "the commit may not outlive a power cut: {reason}"),
            Self::Contested { ours, theirs } => {
                write!(
                    f,
                    "{ours} is contested by {theirs}: another writer does not contend for the same name; stop it"
                )
            }
        }
    }
}
