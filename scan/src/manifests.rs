//! Manifest lists and manifests, from bytes to what planning looks at.
//!
//! All knowledge of how they are decoded is here.

mod header;
mod mend;
mod passes;
mod retype;

use std::collections::HashSet;

use header::AvroFile;
use iceberg::spec::{
    DataFile, FormatVersion, ManifestEntryRef, ManifestFile, ManifestList, ManifestStatus, Snapshot, Struct,
};

use crate::{Error, Result};

/// A live entry of a manifest, with what it inherits from the manifest list.
pub(crate) struct Entry {
    /// Without its partition values, which may have been read by a plainer type.
    pub(crate) file: DataFile,
    pub(crate) partition: Struct,
    pub(crate) sequence_number: i64,
}

/// The manifests of a snapshot, in order.
///
/// A snapshot made before the table was upgraded keeps the older shape of its list. A list cut off
/// between two blocks is still an Avro file, so what it holds is compared with what it should.
pub(crate) fn decode_list(
    snapshot: &Snapshot,
    bytes: &[u8],
    version: FormatVersion,
) -> Result<Vec<ManifestFile>> {
    let path = snapshot.manifest_list();
    let list = parse_list(path, bytes, version)?;
    let total = snapshot.summary().additional_properties.get(TOTAL_DATA_FILES);
    if let Some(total) = total.and_then(|total| total.parse::<u64>().ok())
        && total > 0
        && list.is_empty()
    {
        return Err(Error::damaged(format!(
            "manifest list {path} is empty, but snapshot {} has {total} data files by its summary",
            snapshot.snapshot_id()
        )));
    }
    let mut met = HashSet::new();
    if let Some(twice) = list.iter().find(|manifest| !met.insert(manifest.manifest_path.as_str())) {
        return Err(Error::damaged(format!(
            "manifest list {path} names manifest {} twice; once is expected",
            twice.manifest_path
        )));
    }
    Ok(list)
}

fn parse_list(path: &str, bytes: &[u8], version: FormatVersion) -> Result<Vec<ManifestFile>> {
    let mut shapes = vec![version];
    if version == FormatVersion::V3 {
        shapes.push(FormatVersion::V2);
    }
    // The first version knows no deletes, so a list that says what it holds is never read as one.
    if version != FormatVersion::V1 && !names_content(bytes) {
        shapes.push(FormatVersion::V1);
    }
    let mut first = None;
    for shape in shapes {
        match ManifestList::parse_with_version(bytes, shape) {
            Ok(list) => return Ok(list.consume_entries().into_iter().collect()),
            Err(e) => _ = first.get_or_insert(e),
        }
    }
    let why = first.as_ref().map_or("no shape fits", |e| e.message());
    let error = Error::damaged(format!("can't decode manifest list {path}: {why}"));
    Err(match first {
        Some(source) => error.with_source(source),
        None => error,
    })
}

/// The live entries of a manifest, in order.
///
/// The manifest list knows the manifest's length and entries: one cut off between two blocks, or with a
/// block more, is still an Avro file.
pub(crate) fn decode(manifest: &ManifestFile, bytes: &[u8]) -> Result<Vec<Entry>> {
    let path = &manifest.manifest_path;
    if i64::try_from(bytes.len()).ok() != Some(manifest.manifest_length) {
        return Err(Error::damaged(format!(
            "manifest {path} has {} bytes; its manifest list says {}",
            bytes.len(),
            manifest.manifest_length
        )));
    }
    let mut avro = AvroFile::parse(bytes)
        .ok_or_else(|| Error::damaged(format!("can't decode manifest {path}: it is not an avro file")))?;
    let uuids = retype::plain_types(&mut avro);
    mend::partition_names(&mut avro);
    mend::type_names(&mut avro);
    let entries = passes::decode(&avro, path)?;
    check_counts(manifest, &entries)?;
    let live = entries.into_iter().filter(|(entry, _)| entry.is_alive());
    live.map(|(entry, partition)| {
        let file = entry.data_file().clone();
        let partition = uuids.restore(&partition).ok_or_else(|| {
            Error::damaged(format!(
                "manifest {path} has a partition value for {} that is no uuid",
                file.file_path()
            ))
        })?;
        let sequence_number = entry.sequence_number().unwrap_or(manifest.sequence_number);
        Ok(Entry { file, partition, sequence_number })
    })
    .collect()
}

/// Checks that a manifest has as many entries of each status as its list says, where it does.
fn check_counts(manifest: &ManifestFile, entries: &[(ManifestEntryRef, Struct)]) -> Result<()> {
    for (status, listed, what) in [
        (ManifestStatus::Added, manifest.added_files_count, "added"),
        (ManifestStatus::Existing, manifest.existing_files_count, "existing"),
        (ManifestStatus::Deleted, manifest.deleted_files_count, "deleted"),
    ] {
        let held = entries.iter().filter(|(entry, _)| entry.status() == status).count();
        if let Some(listed) = listed
            && held as u64 != u64::from(listed)
        {
            return Err(Error::damaged(format!(
                "manifest {} has {held} {what} files; its manifest list says {listed}",
                manifest.manifest_path
            )));
        }
    }
    Ok(())
}

/// Whether the Avro header's schema has the `content` field of versions 2 and up.
fn names_content(bytes: &[u8]) -> bool {
    const HEADER: usize = 64 * 1024;
    let header = &bytes[..bytes.len().min(HEADER)];
    header.windows(9).any(|w| w == b"\"content\"")
}

const TOTAL_DATA_FILES: &str = "total-data-files";
