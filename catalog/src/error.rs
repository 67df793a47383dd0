use std::fmt;

/// Outcome of a catalog call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a catalog call gave no outcome.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request can't be met as asked: mend it.
    Input,
    /// There is no such table, namespace or snapshot.
    NotFound,
    /// The table is already there.
    Exists,
    /// The credentials or file modes refuse.
    Denied,
    /// The table's metadata contradicts itself or the format: look at the table.
    Damaged,
    /// The store or service can't do what is asked of it.
    Unsupported,
    /// The store or service failed: try again later.
    Failed,
}

impl Error {
    /// An error of `kind` with a message that names the object.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the error underneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the caller does next.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// An error of the format library about `object`, as `kind`.
    pub fn from_iceberg(kind: ErrorKind, object: impl fmt::Display, source: iceberg::Error) -> Self {
        Self::new(kind, format!("{object}: {}", source.message())).with_source(source)
    }
}

impl From<calve_storage::Error> for Error {
    fn from(source: calve_storage::Error) -> Self {
        use calve_storage::ErrorKind as K;
        let kind = match source.kind() {
            K::Location => ErrorKind::Input,
            K::NotFound => ErrorKind::NotFound,
            K::Denied => ErrorKind::Denied,
            K::Unsupported => ErrorKind::Unsupported,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, source.to_string()).with_source(source)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.kind).field("message", &self.message).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}
