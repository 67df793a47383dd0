use std::collections::BTreeMap;
use std::fmt;

use calve_uri::Secret;

/// How a store is reached, where the environment does not say or says otherwise: the file-system
/// properties that Iceberg clients share, `s3.*`, `gcs.*` and `adls.*`.
///
/// Values are never printed, whatever the key: who hands them on can't know which are secret.
///
/// ```
/// use calve_storage::StoreProperties;
///
/// let properties: StoreProperties =
///     [("s3.endpoint", "http://127.0.0.1:9000"), ("s3.access-key-id", "AKIA")].into_iter().collect();
/// assert_eq!(properties.get("s3.access-key-id"), Some("AKIA"));
/// assert!(!format!("{properties:?}").contains("AKIA"));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct StoreProperties(BTreeMap<String, Secret>);

impl StoreProperties {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(Secret::expose)
    }

    /// Sets a key, replacing what it held.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Secret>) {
        self.0.insert(key.into(), value.into());
    }

    /// Whether a property is `true`; any other text is not.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Keys that start with `prefix`, without it, and their values.
    pub(crate) fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(key, value)| Some((key.strip_prefix(prefix)?, value.expose())))
    }
}

impl<K: Into<String>, V: Into<Secret>> FromIterator<(K, V)> for StoreProperties {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl fmt::Debug for StoreProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.0).finish()
    }
}
