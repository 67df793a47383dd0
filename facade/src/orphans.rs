//! Files below a table's location that nothing refers to.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use calve_catalog::LoadedTable;
use calve_scan::referenced_files;
use calve_storage::{Location, StoredFile};
use futures::TryStreamExt;

use crate::Result;

/// What [`find_orphans`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Orphans {
    /// Unreferenced files, by path.
    pub files: Vec<StoredFile>,
    /// Unreferenced files that are too young to tell: a write may be under way.
    pub young: u64,
    /// Files that are referenced, or belong to the layout.
    pub in_use: u64,
}

/// Lists the files below `table`'s location that none of its snapshots and metadata refer to and that are
/// older than `older_than`: left by writers that crashed, or lost. Nothing is deleted.
///
/// A writer's files are unreferenced until it commits, so `older_than` must be longer than any write
/// takes. A version's name, `vN.metadata.json`, is never an orphan: freeing it would let a writer take
/// it again.
///
/// # Errors
/// When the location can't be listed, or any manifest can't be read: then what is in use is not known.
pub async fn find_orphans(table: &LoadedTable, older_than: Duration) -> Result<Orphans> {
    // Listed before the references are read: what is committed meanwhile is referenced by then, if the
    // caller loads the table after this began; what is younger than the limit does not count anyway.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let limit = i64::try_from(now.saturating_sub(older_than).as_millis()).unwrap_or(i64::MAX);
    let referenced = referenced_files(table).await?;
    // Another writer may have spelt the same place otherwise.
    let key = |path: &str| path.parse::<Location>().ok().map(|l| (l.bucket().to_owned(), l.path().clone()));
    let referenced: HashSet<_> = referenced.iter().filter_map(|path| key(path)).collect();

    let root: Location = table.metadata.location().parse()?;
    let metadata = root.join("metadata")?;
    // While the current version goes by its own name, its copy may be there already.
    let current: Option<Location> = table.metadata_location.parse().ok();
    let current = current.as_ref().and_then(|file| version_name(file.name()));
    let mut found = Orphans { files: Vec::new(), young: 0, in_use: 0 };
    let mut files = table.storage.walk(&root);
    while let Some(file) = files.try_next().await? {
        let location: Location = file.path.parse()?;
        let is_layout = location.parent().is_some_and(|folder| folder == metadata)
            && (location.name() == "version-hint.text"
                || version_name(location.name()).is_some()
                || current.is_some() && copy_name(location.name()) == current);
        if is_layout || key(&file.path).is_some_and(|key| referenced.contains(&key)) {
            found.in_use += 1;
        } else if file.modified_ms > limit {
            found.young += 1;
        } else {
            found.files.push(file);
        }
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The version of `v{digits}` with any of metadata's suffixes.
fn version_name(name: &str) -> Option<&str> {
    let digits = metadata_stem(name)?.strip_prefix('v')?;
    number(digits)
}

/// The version of `{digits}-{uuid}` with any of metadata's suffixes.
fn copy_name(name: &str) -> Option<&str> {
    let (digits, _) = metadata_stem(name)?.split_once('-')?;
    number(digits)
}

fn metadata_stem(name: &str) -> Option<&str> {
    [".gz.metadata.json", ".metadata.json.gz", ".metadata.json"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
}

/// Digits without leading zeros, so that equal numbers are equal texts.
fn number(digits: &str) -> Option<&str> {
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| match digits.trim_start_matches('0') {
        "" => "0",
        number => number,
    })
}
