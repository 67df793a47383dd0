use std::fmt;

/// Outcome of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done: one line that names the object, and what to do about it where calve
/// knows.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Mend the request.
    Input,
    /// There is no such table, snapshot or file.
    NotFound,
    /// The table is already there.
    Exists,
    /// The credentials or file modes refuse: ask for access.
    Denied,
    /// The table contradicts itself or its format: look at the table.
    Damaged,
    /// This version can't do it.
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

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }
}

impl From<calve_uri::ParseError> for Error {
    fn from(source: calve_uri::ParseError) -> Self {
        Self::new(ErrorKind::Input, source.to_string()).with_source(source)
    }
}

impl From<calve_storage::Error> for Error {
    fn from(source: calve_storage::Error) -> Self {
        calve_catalog::Error::from(source).into()
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

impl From<calve_scan::Error> for Error {
    fn from(source: calve_scan::Error) -> Self {
        use calve_scan::ErrorKind as K;
        let kind = match source.kind() {
            K::Input => ErrorKind::Input,
            K::NotFound => ErrorKind::NotFound,
            K::Damaged => ErrorKind::Damaged,
            K::Unsupported => ErrorKind::Unsupported,
            K::Denied => ErrorKind::Denied,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, source.to_string()).with_source(source)
    }
}

impl From<calve_writer::Error> for Error {
    fn from(source: calve_writer::Error) -> Self {
        use calve_writer::ErrorKind as K;
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
