//! Every file that some version of a table still needs.

use std::collections::BTreeSet;

use bytes::Bytes;
use calve_catalog::LoadedTable;
use calve_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::{FormatVersion, ManifestFile, SnapshotRef};

use crate::manifests;
use crate::{Error, Result};

/// How many lists or manifests are read at once.
const AT_ONCE: usize = 16;

/// The stored paths of all files that any snapshot of `table` refers to, its metadata files and
/// statistics among them, as they were written.
///
/// Tables with row-level deletes are understood, too: nothing of them is read but names.
///
/// # Errors
/// When a manifest list or a manifest can't be read or decoded: what it would have named is not known,
/// so that no list is better than a short one.
pub async fn referenced_files(table: &LoadedTable) -> Result<BTreeSet<String>> {
    let metadata = &table.metadata;
    let mut files = BTreeSet::from([table.metadata_location.clone()]);
    files.extend(metadata.metadata_log().iter().map(|log| log.metadata_file.clone()));
    files.extend(metadata.statistics_iter().map(|statistics| statistics.statistics_path.clone()));
    files.extend(metadata.partition_statistics_iter().map(|statistics| statistics.statistics_path.clone()));

    let version = metadata.format_version();
    let lists = metadata.snapshots().cloned().map(|snapshot| list(&table.storage, snapshot, version));
    let lists: Vec<Vec<ManifestFile>> =
        futures::stream::iter(lists).buffer_unordered(AT_ONCE).try_collect().await?;
    files.extend(metadata.snapshots().map(|snapshot| snapshot.manifest_list().to_owned()));

    let mut met = BTreeSet::new();
    let manifests = lists.into_iter().flatten().filter(|m| met.insert(m.manifest_path.clone()));
    let manifests = manifests.map(|manifest| entries(&table.storage, manifest));
    let mut named = futures::stream::iter(manifests).buffer_unordered(AT_ONCE);
    while let Some(named) = named.try_next().await? {
        files.extend(named);
    }
    drop(named);
    files.extend(met);
    Ok(files)
}

async fn list(storage: &Storage, snapshot: SnapshotRef, version: FormatVersion) -> Result<Vec<ManifestFile>> {
    let bytes = read(storage, snapshot.manifest_list()).await?;
    manifests::decode_list(&snapshot, &bytes, version)
}

async fn entries(storage: &Storage, manifest: ManifestFile) -> Result<Vec<String>> {
    let bytes = read(storage, &manifest.manifest_path).await?;
    let entries = manifests::decode(&manifest, &bytes)?;
    Ok(entries.into_iter().map(|entry| entry.file.file_path().to_owned()).collect())
}

async fn read(storage: &Storage, path: &str) -> Result<Bytes> {
    storage.read(path).await.map_err(|e| Error::damaged(format!("{e}; the table refers to it")))
}
