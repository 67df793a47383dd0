use std::fmt;

/// Outcome of a storage call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong with a location or a store.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The location is not one calve understands: mend the text.
    Location,
    /// Nothing lies there.
    NotFound,
    /// The credentials or file modes refuse: ask for access.
    Denied,
    /// The store cannot do what was asked: use another store.
    Unsupported,
    /// The store failed or could not be reached: whether a write landed is not known.
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

    pub(crate) fn from_store(what: &str, object: &str, source: object_store::Error) -> Self {
        use object_store::Error as E;
        let (kind, why) = match &source {
            E::NotFound { .. } if what == "read" => (ErrorKind::NotFound, "there is no such file".to_owned()),
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => {
                (ErrorKind::Denied, "permission denied".to_owned())
            }
            E::NotSupported { source } => (ErrorKind::Unsupported, source.to_string()),
            E::NotImplemented { .. } => (ErrorKind::Unsupported, "the store does not support it".to_owned()),
            other => match io_error(other) {
                Some(io) => (io_kind(io), io.to_string()),
                None => (ErrorKind::Failed, other.to_string()),
            },
        };
        Self::new(kind, format!("can't {what} {object}: {why}")).with_source(source)
    }
}

fn io_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a std::io::Error> {
    let mut current = Some(error);
    while let Some(e) = current {
        if let Some(io) = e.downcast_ref::<std::io::Error>() {
            return Some(io);
        }
        current = e.source();
    }
    None
}

fn io_kind(error: &std::io::Error) -> ErrorKind {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        std::io::ErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Failed,
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
