use alloc::string::String;
use core::fmt;
use core::hash::{Hash, Hasher};

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A text that is never printed, and is overwritten with zeros when dropped.
///
/// [`expose`](Secret::expose) is the one way from it to the text.
///
/// ```
/// use calve_uri::Secret;
///
/// let secret = Secret::new("hunter2");
/// assert_eq!(format!("{secret} {secret:?}"), "<redacted> <redacted>");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
#[derive(Clone, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes over `text`.
    ///
    /// A `String` is moved, not copied, so that no second copy stays behind; a `&str` is copied.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text. Whoever calls this answers for where it goes.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Secret {}

/// Every byte is compared whatever the others are, so that the time taken says nothing but the
/// length.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl Hash for Secret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// What stands for a secret in every printed form.
pub(crate) const REDACTED: &str = "<redacted>";

/// AWS credentials given in a destination: an access key with its secret, and the session token
/// that temporary ones come with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AwsCredentials {
    pub(crate) access_key_id: Secret,
    pub(crate) secret_access_key: Secret,
    pub(crate) session_token: Option<Secret>,
}

impl AwsCredentials {
    /// Long-lived credentials.
    #[must_use]
    pub fn new(access_key_id: impl Into<Secret>, secret_access_key: impl Into<Secret>) -> Self {
        Self {
            access_key_id: access_key_id.into(),
            secret_access_key: secret_access_key.into(),
            session_token: None,
        }
    }

    /// The same as temporary credentials, with their session token.
    #[must_use]
    pub fn with_session_token(mut self, session_token: impl Into<Secret>) -> Self {
        self.session_token = Some(session_token.into());
        self
    }

    /// `aws_access_key_id`, a secret too: it names an account.
    #[must_use]
    pub fn access_key_id(&self) -> &Secret {
        &self.access_key_id
    }

    /// `aws_secret_access_key`.
    #[must_use]
    pub fn secret_access_key(&self) -> &Secret {
        &self.secret_access_key
    }

    /// `aws_session_token`, of temporary credentials.
    #[must_use]
    pub fn session_token(&self) -> Option<&Secret> {
        self.session_token.as_ref()
    }
}

/// An OAuth2 client's credential: `client_id:client_secret`, or the client secret alone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientCredential {
    whole: Secret,
    secret: Secret,
}

impl ClientCredential {
    /// Splits at the first colon; `None` when the id before it or the secret is empty.
    pub(crate) fn split(whole: Secret) -> Option<Self> {
        let credential = Self::unchecked(whole);
        let empty = credential.secret.expose().is_empty() || credential.client_id() == Some("");
        (!empty).then_some(credential)
    }

    /// Splits at the first colon.
    pub(crate) fn unchecked(whole: Secret) -> Self {
        let secret = match whole.expose().split_once(':') {
            Some((_, secret)) => Secret::new(secret),
            None => whole.clone(),
        };
        Self { whole, secret }
    }

    /// What stands before the first colon, if there is a colon: no [`Secret`], since it names the
    /// client, but redacted wherever the whole is printed.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.whole.expose().split_once(':').map(|(id, _)| id)
    }

    /// What stands after the first colon, or everything.
    #[must_use]
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(crate) fn whole(&self) -> &Secret {
        &self.whole
    }
}

/// The client id is redacted with the secret.
impl fmt::Debug for ClientCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientCredential").field(&self.whole).finish()
    }
}
