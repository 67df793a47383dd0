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
        let io = cause::<std::io::Error>(&source);
        let text = || without_queries(&source.to_string());
        let (kind, why) = match &source {
            _ if says(&source, "NoSuchBucket") => (ErrorKind::Location, "there is no such bucket".to_owned()),
            E::NotFound { .. } if what == "read" => (ErrorKind::NotFound, "there is no such file".to_owned()),
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => match io {
                Some(_) => (ErrorKind::Denied, "permission denied".to_owned()),
                None => (ErrorKind::Denied, format!("permission denied ({})", reason(&source))),
            },
            E::NotSupported { source } => (ErrorKind::Unsupported, without_queries(&source.to_string())),
            E::NotImplemented { .. } => (ErrorKind::Unsupported, "the store does not support it".to_owned()),
            _ if says(&source, "NotImplemented") => (ErrorKind::Unsupported, text()),
            _ => match io {
                Some(io) => (io_kind(io), io.to_string()),
                None => (ErrorKind::Failed, text()),
            },
        };
        let is_local = io.is_some();
        let error = Self::new(kind, format!("can't {what} {object}: {why}"));
        // What lies below may hold a signed address; the message is all of it that may be shown.
        if is_local { error.with_source(source) } else { error }
    }
}

/// A service's own code for what went wrong, such as `NoSuchBucket`, in the body of its answer.
fn says(error: &object_store::Error, code: &str) -> bool {
    error.to_string().contains(&format!("<Code>{code}</Code>"))
}

/// What a service answered, without the request that led to it.
fn reason(error: &object_store::Error) -> String {
    #[cfg(feature = "aws")]
    if let Some(why) = cause::<crate::aws::NoCredentials>(error) {
        return why.to_string();
    }
    let text = error.to_string();
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    match code {
        Some((code, _)) => code.to_owned(),
        None => "the credentials are missing, wrong, or may not do this".to_owned(),
    }
}

/// A message without what follows the `?` of an address, where a signature may stand.
pub(crate) fn without_queries(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '>');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('?') {
        let (before, query) = rest.split_at(at + 1);
        let end = query.find(ends).unwrap_or(query.len());
        shown.push_str(before);
        if query[..end].contains('=') {
            shown.push_str("<redacted>");
        } else {
            shown.push_str(&query[..end]);
        }
        rest = &query[end..];
    }
    shown + rest
}

fn cause<'a, E: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a E> {
    let mut current = Some(error);
    while let Some(e) = current {
        if let Some(found) = e.downcast_ref::<E>() {
            return Some(found);
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

#[cfg(test)]
mod tests {
    use super::without_queries;

    #[test]
    fn a_signed_address_loses_its_signature() {
        assert_eq!(
            without_queries("Error performing GET https://a.blob/c/k?sv=1&sig=hunter2 in 3ms, why? (x?y=z)"),
            "Error performing GET https://a.blob/c/k?<redacted> in 3ms, why? (x?<redacted>)"
        );
        assert_eq!(without_queries("no address"), "no address");
    }
}
