//! `serde`: each type as the text it displays.

use alloc::string::{String, ToString};
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};
use zeroize::Zeroizing;

use crate::access::AccessDelegation;
use crate::destination::{Destination, Mode};
use crate::error::ParseError;
use crate::partition::{PartitionField, Transform};
use crate::secret::Secret;
use crate::table_ref::TableRef;

/// Serializes a [`Destination`] or a [`TableRef`] with its secrets.
///
/// Without this wrapper they are written as they display, and what had secrets cannot be read
/// back.
///
/// ```
/// use calve_uri::{Destination, WithSecrets};
///
/// let uri = "iceberg+rest+https://catalog.example.com/sales/orders?warehouse=lake&token=s3cr3t";
/// let destination: Destination = uri.parse()?;
/// assert!(!serde_json::to_string(&destination)?.contains("s3cr3t"));
///
/// let json = serde_json::to_string(&WithSecrets(&destination))?;
/// assert_eq!(json, format!("{uri:?}"));
/// let WithSecrets(again) = serde_json::from_str::<WithSecrets<Destination>>(&json)?;
/// assert_eq!(again, destination);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WithSecrets<T>(pub T);

impl Serialize for WithSecrets<&Destination> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.to_uri_with_secrets().expose())
    }
}

impl Serialize for WithSecrets<&TableRef> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.to_uri_with_secrets().expose())
    }
}

impl Serialize for WithSecrets<Destination> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WithSecrets(&self.0).serialize(serializer)
    }
}

impl Serialize for WithSecrets<TableRef> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WithSecrets(&self.0).serialize(serializer)
    }
}

impl<'de, T: FromStr<Err = ParseError>> Deserialize<'de> for WithSecrets<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Parse(PhantomData)).map(WithSecrets)
    }
}

/// Always the placeholder; there is no way back from it.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

macro_rules! as_displayed {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Parse(PhantomData))
            }
        }
    )*};
}

as_displayed!(Destination, TableRef, PartitionField, Transform, Mode, AccessDelegation);

struct Parse<T>(PhantomData<T>);

impl<T: FromStr<Err = ParseError>> Visitor<'_> for Parse<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    /// A parse error shows no more of the text than is known to be harmless, so that it may go into
    /// a message.
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|error: ParseError| E::custom(error.to_string()))
    }

    /// Zeroes the text, which is this value's alone.
    fn visit_string<E: Error>(self, text: String) -> Result<T, E> {
        self.visit_str(&Zeroizing::new(text))
    }
}
