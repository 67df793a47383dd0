use std::fmt;

/// Outcome of planning or reading a scan.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a scan gave no rows.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The scan asks for what the table can't give: mend the request.
    Input,
    /// There is no such snapshot.
    NotFound,
    /// The table contradicts itself or its format, or lacks a file it names: look at the table.
    Damaged,
    /// The table uses something this version can't read.
    Unsupported,
    /// The credentials or file modes refuse.
    Denied,
    /// The store failed: try again later.
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

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Damaged, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The table names a file, such as a "manifest", that is not there.
    pub(crate) fn missing(what: &str, path: &str) -> Self {
        Self::damaged(format!("{what} {path} is missing: the table names it, but there is no such file"))
    }

    /// This error, said of `file`.
    pub(crate) fn about_file(mut self, file: &str) -> Self {
        if !self.message.contains(file) {
            self.message = format!("can't read data file {file}: {}", self.message);
        }
        self
    }

    /// An error met while reading `file`, by what lies at its root.
    pub(crate) fn from_file(file: &str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        let kind = match store_error(&source) {
            Some(object_store::Error::NotFound { .. }) => {
                return Self::missing("data file", file).with_source(source);
            }
            Some(
                object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. },
            ) => ErrorKind::Denied,
            Some(_) => ErrorKind::Failed,
            None => ErrorKind::Damaged,
        };
        let why = match kind {
            ErrorKind::Denied => "permission denied".to_owned(),
            _ => source.to_string(),
        };
        Self::new(kind, format!("can't read data file {file}: {why}")).with_source(source)
    }
}

fn store_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a object_store::Error> {
    let mut current = Some(error);
    while let Some(e) = current {
        if let Some(store) = e.downcast_ref::<object_store::Error>() {
            return Some(store);
        }
        if let Some(parquet::errors::ParquetError::External(inner)) =
            e.downcast_ref::<parquet::errors::ParquetError>()
        {
            current = Some(inner.as_ref());
            continue;
        }
        current = e.source();
    }
    None
}

impl From<calve_storage::Error> for Error {
    fn from(source: calve_storage::Error) -> Self {
        use calve_storage::ErrorKind as K;
        let kind = match source.kind() {
            K::Location => ErrorKind::Damaged,
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
