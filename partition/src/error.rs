//! The error of this crate.

use std::error::Error as StdError;

/// What this crate's fallible functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller does next about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The requested partitioning, or a filter, does not fit the schema: change it.
    Request,
    /// The batch is not of the table's schema: match and cast its columns first.
    Batch,
    /// A row's value has no partition value of its type: change the value or the table's spec.
    Value,
    /// The table's own spec and schema contradict each other: report it.
    Table,
}

/// Why a request, a batch or a table could not be used.
///
/// The message names the column or partition field and says what would be accepted.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// What the caller does next.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Request, message)
    }

    pub(crate) fn batch(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Batch, message)
    }

    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    pub(crate) fn table(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Table, message)
    }

    pub(crate) fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// The same error, its message prefixed with the partition field it happened in.
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        self.message = format!("partition field {name:?}: {}", self.message);
        self
    }
}
