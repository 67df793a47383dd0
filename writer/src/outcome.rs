use calve_catalog::{LoadedTable, Pending, Warning};

/// What became of a write.
#[must_use = "a conflict means that nothing was written, and an unknown outcome must be resolved"]
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteOutcome {
    /// The rows are in the table.
    Committed(WriteReport),
    /// There were no rows: an existing table is as it was, a missing one was created without a snapshot.
    Empty(WriteReport),
    /// A snapshot with this write's id was there already; this write's files are deleted.
    AlreadyCommitted {
        /// That snapshot.
        snapshot_id: i64,
    },
    /// Somebody else's commit came first; nothing of this write is visible, its files are deleted.
    Conflict {
        /// Which change came first, for people.
        reason: String,
    },
    /// It may have landed. Nothing was deleted: [`crate::resolve`] it before writing again.
    Unknown {
        /// The attempt whose answer was lost.
        pending: Pending,
        /// Every file this write made, for a clean-up once the attempt is known to be lost.
        files: Vec<String>,
    },
}

/// What a write did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteReport {
    /// The table as the write left it.
    pub table: LoadedTable,
    /// The snapshot that holds the rows, where there is one.
    pub snapshot_id: Option<i64>,
    /// Rows written.
    pub rows: u64,
    /// Data files written.
    pub files: u64,
    /// Bytes of those files.
    pub bytes: u64,
    /// Whether the table is new.
    pub created: bool,
    /// What the commit left undone; it stands all the same.
    pub warnings: Vec<Warning>,
}

/// How far a write has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows taken.
    pub rows: u64,
    /// Bytes encoded, files still open included.
    pub bytes: u64,
    /// Files begun.
    pub files: u64,
}
