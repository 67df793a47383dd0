use std::fmt;

/// Outcome of a writer call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a write gave no outcome. Nothing of it is visible in the table.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The rows or options don't fit the table: mend them.
    Input,
    /// There is no such table, namespace or file.
    NotFound,
    /// The table is already there.
    Exists,
    /// The credentials or file modes refuse.
    Denied,
    /// The table's metadata contradicts itself or the format: look at the table.
    Damaged,
    /// The table or the store needs something calve doesn't do.
    Unsupported,
    /// The store or the catalog failed: try again later.
    Failed,
}

impl Error {
    /// What the caller does next.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Damaged, message)
    }

    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn from_iceberg(kind: ErrorKind, object: impl fmt::Display, source: iceberg::Error) -> Self {
        Self::new(kind, format!("{object}: {}", source.message())).with_source(source)
    }

    pub(crate) fn from_parquet(file: &str, source: parquet::errors::ParquetError) -> Self {
        Self::new(ErrorKind::Failed, format!("can't encode {file}: {source}")).with_source(source)
    }

    pub(crate) fn from_store(what: &str, file: &str, source: object_store::Error) -> Self {
        use object_store::Error as E;
        let kind = match &source {
            E::NotFound { .. } => ErrorKind::NotFound,
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => ErrorKind::Denied,
            E::NotSupported { .. } | E::NotImplemented { .. } => ErrorKind::Unsupported,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, format!("can't {what} {file}: {source}")).with_source(source)
    }
}

impl From<calve_catalog::Error> for Error {
    fn from(source: calve_catalog::Error) -> Self {
        use calve_catalog::ErrorKind as K;
        let kind = match source.kind() {
            K::Input => ErrorKind::Input,
            K::NotFound => ErrorKind::NotFound,
            K::Exists => ErrorKind::Exists,
            K::Denied => ErrorKind::Denied,
            K::Damaged => ErrorKind::Damaged,
            K::Unsupported => ErrorKind::Unsupported,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, source.to_string()).with_source(source)
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
