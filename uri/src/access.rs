use core::fmt;
use core::str::FromStr;

use crate::error::ParseError;
use crate::grammar::value;
use crate::mask::Text;

/// How a REST catalog is asked to let its clients reach the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccessDelegation {
    /// The server hands out short-lived storage credentials.
    #[default]
    VendedCredentials,
    /// The server signs each storage request.
    RemoteSigning,
    /// Either, as the server likes.
    Both,
    /// Nothing is asked for: storage is reached with the client's own credentials.
    None,
}

impl AccessDelegation {
    /// The value of the `X-Iceberg-Access-Delegation` header, or `None` for no header.
    #[must_use]
    pub fn header_value(self) -> Option<&'static str> {
        match self {
            Self::VendedCredentials => Some("vended-credentials"),
            Self::RemoteSigning => Some("remote-signing"),
            Self::Both => Some("vended-credentials,remote-signing"),
            Self::None => None,
        }
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        match text {
            "vended-credentials" => Some(Self::VendedCredentials),
            "remote-signing" => Some(Self::RemoteSigning),
            "vended-credentials,remote-signing" | "remote-signing,vended-credentials" => Some(Self::Both),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

impl FromStr for AccessDelegation {
    type Err = ParseError;

    /// # Errors
    /// When the text is none of those, in either order.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        value::delegation(text).map_err(|fault| ParseError::new(text, Text::Value, *fault))
    }
}

impl TryFrom<&str> for AccessDelegation {
    type Error = ParseError;

    fn try_from(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

/// As the `access_delegation` parameter spells it.
impl fmt::Display for AccessDelegation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.header_value().unwrap_or("none"))
    }
}
