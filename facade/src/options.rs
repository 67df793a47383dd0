use std::collections::BTreeMap;
use std::fmt;

use calve_storage::StoreProperties;

use crate::{Error, Result};

/// Which catalog a scanned table's name is looked up in, and how.
///
/// A closed set of keys: one that no catalog knows is refused with its nearest neighbour. Values of
/// secret keys are never printed.
///
/// ```
/// use calve::StorageOptions;
///
/// let options = StorageOptions::from_pairs([("catalog", "file"), ("warehouse", "/data/lake")])?;
/// assert_eq!(options.get("warehouse"), Some("/data/lake"));
///
/// let error = StorageOptions::from_pairs([("warehous", "/data/lake")]).unwrap_err();
/// assert!(error.to_string().contains("`warehouse`"));
/// # Ok::<(), calve::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StorageOptions(BTreeMap<String, String>);

/// The kind of catalog that storage options name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogKind {
    /// Table roots below a warehouse folder.
    File,
    /// AWS Glue.
    Glue,
    /// An Iceberg REST catalog.
    Rest,
}

impl StorageOptions {
    /// Options from pairs of key and value.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Input`] for an unknown key, a key given twice, or a catalog that is none of
    /// `glue`, `rest` and `file`.
    pub fn from_pairs<K: Into<String>, V: Into<String>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self> {
        let mut options = BTreeMap::new();
        for (key, value) in pairs {
            let key = key.into();
            if !is_known(&key) {
                return Err(unknown(&key));
            }
            if options.insert(key.clone(), value.into()).is_some() {
                return Err(Error::input(format!("storage option `{key}` is given twice")));
            }
        }
        let options = Self(options);
        options.catalog()?;
        Ok(options)
    }

    /// The options of the ambient catalog: `CALVE_CATALOG` and `CALVE_CATALOG__{KEY}`, where `__` in a
    /// key stands for a dot and `_` for `-` where the key is spelt so.
    ///
    /// # Errors
    /// As [`from_pairs`](Self::from_pairs).
    pub fn from_environment() -> Result<Self> {
        let mut pairs = Vec::new();
        if let Ok(catalog) = std::env::var("CALVE_CATALOG") {
            pairs.push(("catalog".to_owned(), catalog));
        }
        for (name, value) in std::env::vars() {
            if let Some(key) = name.strip_prefix("CALVE_CATALOG__") {
                pairs.push((known_as(key), value));
            }
        }
        Self::from_pairs(pairs)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// What of these tells how the table's files are reached; `s3.*` wins over the catalog's own keys.
    pub(crate) fn store_properties(&self) -> StoreProperties {
        let catalogs = [
            ("region_name", "s3.region"),
            ("aws_access_key_id", "s3.access-key-id"),
            ("aws_secret_access_key", "s3.secret-access-key"),
            ("aws_session_token", "s3.session-token"),
        ];
        let catalogs = catalogs.into_iter().filter_map(|(key, property)| Some((property, self.get(key)?)));
        let store = |key: &str| {
            ["client.", "s3.", "gcs.", "adls.", "calve.local."].iter().any(|family| key.starts_with(family))
        };
        let stores = self.0.iter().filter(|(key, _)| store(key));
        catalogs.chain(stores.map(|(key, value)| (key.as_str(), value.as_str()))).collect()
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The catalog asked for: `catalog`, else `rest` where a `uri` is given, else `file`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Input`] for another catalog.
    pub fn catalog(&self) -> Result<CatalogKind> {
        match self.get("catalog") {
            Some("file") => Ok(CatalogKind::File),
            Some("glue") => Ok(CatalogKind::Glue),
            Some("rest") => Ok(CatalogKind::Rest),
            Some(other) => {
                Err(Error::input(format!("catalog `{other}` is not known; known are glue, rest and file")))
            }
            None if self.0.contains_key("uri") => Ok(CatalogKind::Rest),
            None => Ok(CatalogKind::File),
        }
    }
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(k, v)| (k, if is_secret(k) { "<redacted>" } else { v.as_str() }));
        f.debug_map().entries(shown).finish()
    }
}

fn is_known(key: &str) -> bool {
    KEYS.iter().any(|(known, _)| *known == key)
        || OPEN_PREFIXES.iter().any(|p| key.len() > p.len() && key.starts_with(p))
}

fn is_secret(key: &str) -> bool {
    KEYS.iter().find(|(known, _)| *known == key).is_none_or(|(_, secret)| *secret)
}

fn unknown(key: &str) -> Error {
    let known: Vec<&str> = KEYS.iter().map(|(known, _)| *known).collect();
    let nearest = calve_uri::nearest(key, known.iter().copied())
        .map(|known| format!("; did you mean `{known}`?"))
        .unwrap_or_default();
    Error::input(format!(
        "storage option `{}` is not known{nearest} (known are {}, header.{{name}})",
        key.escape_debug(),
        known.join(", ")
    ))
}

/// The known key that an environment variable's upper-case tail stands for, else the tail itself.
fn known_as(tail: &str) -> String {
    let flat = |key: &str| key.to_ascii_uppercase().replace(['.', '-'], "_");
    let wanted = flat(&tail.replace("__", "_"));
    KEYS.iter()
        .find(|(key, _)| flat(key) == wanted)
        .map_or_else(|| tail.to_ascii_lowercase(), |(key, _)| (*key).to_owned())
}

/// Families of keys whose last part is the user's: headers, and shared access signatures by account.
const OPEN_PREFIXES: [&str; 2] = ["header.", "adls.sas-token."];

/// Every key, and whether its value is secret.
const KEYS: [(&str, bool); 34] = [
    ("catalog", false),
    ("region_name", false),
    ("catalog_id", false),
    ("client.assume-role.arn", false),
    ("client.assume-role.external-id", false),
    ("client.assume-role.session-name", false),
    ("aws_access_key_id", true),
    ("aws_secret_access_key", true),
    ("aws_session_token", true),
    ("warehouse", false),
    ("uri", false),
    ("token", true),
    ("credential", true),
    ("scope", false),
    ("oauth2-server-uri", false),
    ("audience", false),
    ("resource", false),
    ("prefix", false),
    ("s3.endpoint", false),
    ("s3.region", false),
    ("s3.access-key-id", true),
    ("s3.secret-access-key", true),
    ("s3.session-token", true),
    ("s3.path-style-access", false),
    ("gcs.oauth2.token", true),
    ("gcs.service.path", false),
    ("gcs.project-id", false),
    ("adls.account-name", false),
    ("adls.account-key", true),
    ("adls.sas-token", true),
    ("adls.tenant-id", false),
    ("adls.client-id", false),
    ("adls.client-secret", true),
    ("calve.local.durability", false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_refused_with_its_neighbour_and_without_its_value() {
        let error = StorageOptions::from_pairs([("aws_secret_acess_key", "hunter2")]).unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("did you mean `aws_secret_access_key`"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[test]
    fn secrets_are_not_printed() {
        let options = StorageOptions::from_pairs([
            ("credential", "hunter2"),
            ("header.x-key", "hunter2"),
            ("adls.sas-token.acct", "hunter2"),
            ("uri", "https://catalog"),
        ])
        .unwrap();
        let text = format!("{options:?}");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("https://catalog"), "{text}");
        assert_eq!(options.catalog().unwrap(), CatalogKind::Rest);
    }

    #[test]
    fn a_stores_own_keys_win_over_the_catalogs() {
        let options = StorageOptions::from_pairs([
            ("region_name", "eu-west-1"),
            ("s3.region", "eu-west-2"),
            ("aws_access_key_id", "id"),
            ("gcs.oauth2.token", "token"),
            ("warehouse", "s3://lake"),
        ])
        .unwrap();
        let properties = options.store_properties();
        assert_eq!(properties.get("s3.region"), Some("eu-west-2"));
        assert_eq!(properties.get("s3.access-key-id"), Some("id"));
        assert_eq!(properties.get("gcs.oauth2.token"), Some("token"));
        assert_eq!(properties.get("warehouse"), None);
    }

    #[test]
    fn environment_names_stand_for_keys_however_they_are_spelt() {
        assert_eq!(known_as("WAREHOUSE"), "warehouse");
        assert_eq!(known_as("S3__ACCESS_KEY_ID"), "s3.access-key-id");
        assert_eq!(known_as("OAUTH2_SERVER_URI"), "oauth2-server-uri");
        assert_eq!(known_as("CATALOG_ID"), "catalog_id");
    }
}
