//! The names a table root's `metadata/` folder holds.

use calve_storage::Location;
use uuid::Uuid;

/// Marks a table that this layout made, so that a crashed create may be repaired.
pub(crate) const TABLE_ROOT_PROPERTY: &str = "calve.table-root";

/// The number of a table's version; the first is 0.
pub(crate) type Version = u64;

/// The highest version that its own name can be read back for.
pub(crate) const LAST_VERSION: Version = 10_u64.pow(MOST_DIGITS as u32) - 1;

const MOST_DIGITS: usize = 18;

/// How a metadata file spells its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `v{N}.metadata.json`, the only name that arbitrates.
    Plain,
    /// `v{N}` with a gzip suffix.
    Zipped,
    /// `{N}-{uuid}`, with the uuid; zipped or not.
    Unique(Uuid),
}

/// A metadata file's name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetadataName {
    pub(crate) version: Version,
    pub(crate) spelling: Spelling,
    pub(crate) name: String,
}

impl MetadataName {
    /// A name that matches whole, or `None`: anything else in the folder is not a version.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (stem, zipped) = if let Some(stem) = name.strip_suffix(".gz.metadata.json") {
            (stem, true)
        } else if let Some(stem) = name.strip_suffix(".metadata.json.gz") {
            (stem, true)
        } else {
            (name.strip_suffix(".metadata.json")?, false)
        };
        let (version, spelling) = parse_stem(stem)?;
        let spelling = if spelling == Spelling::Plain && zipped { Spelling::Zipped } else { spelling };
        Some(Self { version, spelling, name: name.to_owned() })
    }
}

/// `v{digits}` or `{digits}-{uuid}`.
pub(crate) fn parse_stem(stem: &str) -> Option<(Version, Spelling)> {
    if let Some(digits) = stem.strip_prefix('v') {
        return Some((parse_digits(digits)?, Spelling::Plain));
    }
    let (digits, uuid) = stem.split_once('-')?;
    if uuid.len() != 36 {
        return None;
    }
    Some((parse_digits(digits)?, Spelling::Unique(Uuid::try_parse(uuid).ok()?)))
}

pub(crate) fn parse_digits(digits: &str) -> Option<Version> {
    // Signs parse as numbers but are not versions; a version that long leaves no room for the next.
    (digits.len() <= MOST_DIGITS && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

/// The paths of one table root.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: Location,
    metadata: Location,
}

impl Layout {
    pub(crate) fn new(root: Location) -> calve_storage::Result<Self> {
        let metadata = root.join("metadata")?;
        Ok(Self { root, metadata })
    }

    pub(crate) fn root(&self) -> &Location {
        &self.root
    }

    pub(crate) fn metadata(&self) -> &Location {
        &self.metadata
    }

    pub(crate) fn hint(&self) -> Location {
        self.file("version-hint.text")
    }

    /// The name by which version `N` is won.
    pub(crate) fn version(&self, version: Version) -> Location {
        self.file(&format!("v{version}.metadata.json"))
    }

    /// The name by which the metadata log knows version `N` of the table `uuid`.
    ///
    /// Derived, so that whoever finds the copy missing makes it under the same name.
    pub(crate) fn copy(&self, version: Version, table: Uuid) -> Location {
        let unique = Uuid::new_v5(&table, version.to_string().as_bytes());
        self.file(&format!("{version:05}-{unique}.metadata.json"))
    }

    /// A file of the metadata folder, by a name free of slashes.
    pub(crate) fn file(&self, name: &str) -> Location {
        self.metadata.join(name).expect("a plain file name joins any folder")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_whole_or_not_at_all() {
        let version = |name| MetadataName::parse(name).map(|m| m.version);
        assert_eq!(version("v12.metadata.json"), Some(12));
        assert_eq!(version("v3.gz.metadata.json"), Some(3));
        assert_eq!(version("v3.metadata.json.gz"), Some(3));
        assert_eq!(version("00010-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json"), Some(10));
        assert_eq!(version("9-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.gz.metadata.json"), Some(9));
        for other in [
            "v.metadata.json",
            "v+1.metadata.json",
            "v1.metadata.json.tmp",
            ".v1.metadata.json.0b0ae3b6.tmp",
            "xv1.metadata.json",
            "00001-abc.metadata.json",
            "00001-0b0ae3b62ab84a85a5b81b9a6a2b3c4d.metadata.json",
            "v99999999999999999999999.metadata.json",
            "version-hint.text",
        ] {
            assert_eq!(MetadataName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn the_copy_of_a_version_has_one_name() {
        let layout = Layout::new("memory://b/t".parse().expect("a location")).expect("a layout");
        let table = Uuid::from_u128(7);
        assert_eq!(layout.copy(3, table), layout.copy(3, table));
        assert_ne!(layout.copy(3, table), layout.copy(4, table));
        assert!(layout.copy(3, table).name().starts_with("00003-"));
    }
}
