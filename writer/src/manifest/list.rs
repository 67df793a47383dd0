use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use calve_storage::Storage;
use iceberg::io::FileWrite;
use iceberg::spec::{FormatVersion, ManifestFile, ManifestList, ManifestListWriter, Snapshot};

use crate::{Error, ErrorKind, Result};

/// What a manifest list says of its snapshot.
pub(crate) struct ListHead {
    pub(crate) version: FormatVersion,
    pub(crate) snapshot_id: i64,
    pub(crate) parent_snapshot_id: Option<i64>,
    pub(crate) sequence_number: i64,
    /// The first row id of the snapshot, where the table has row lineage.
    pub(crate) first_row_id: Option<u64>,
}

/// The bytes of a manifest list, and how many row ids its manifests took.
pub(crate) async fn write_list(head: &ListHead, manifests: Vec<ManifestFile>) -> Result<(Bytes, u64)> {
    let memory = Memory::default();
    let out = Box::new(memory.clone());
    let mut writer = match head.version {
        FormatVersion::V1 => ManifestListWriter::v1(out, head.snapshot_id, head.parent_snapshot_id),
        FormatVersion::V2 => {
            ManifestListWriter::v2(out, head.snapshot_id, head.parent_snapshot_id, head.sequence_number)
        }
        FormatVersion::V3 => ManifestListWriter::v3(
            out,
            head.snapshot_id,
            head.parent_snapshot_id,
            head.sequence_number,
            head.first_row_id,
        ),
    };
    let failed = |e| Error::from_iceberg(ErrorKind::Failed, "the manifest list can't be written", e);
    writer.add_manifests(manifests.into_iter()).map_err(failed)?;
    let taken = writer.next_row_id().unwrap_or_default() - head.first_row_id.unwrap_or_default();
    writer.close().await.map_err(failed)?;
    let bytes = std::mem::take(&mut *memory.0.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((bytes.into(), taken))
}

/// The manifests of a snapshot's list that a writer of any format version up to `version` made.
///
/// A new snapshot drops whatever the list of its parent lacks, and a list cut off between two blocks is
/// still an Avro file; so one that can't be whole is refused.
pub(crate) async fn read_list(
    storage: &Storage,
    snapshot: &Snapshot,
    version: FormatVersion,
) -> Result<Vec<ManifestFile>> {
    let path = snapshot.manifest_list();
    let list = parse_list(&read_named(storage, "manifest list", path).await?, path, version)?;
    let total = snapshot.summary().additional_properties.get(TOTAL_DATA_FILES);
    if let Some(total) = total.and_then(|total| total.parse::<u64>().ok())
        && total > 0
        && list.is_empty()
    {
        return Err(Error::damaged(format!(
            "manifest list {path} is empty, but snapshot {} has {total} data files by its summary; writing would drop them",
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

/// A file that the table's metadata names, such as a "manifest": when it is missing, the table is damaged.
pub(super) async fn read_named(storage: &Storage, what: &str, path: &str) -> Result<Bytes> {
    storage.read(path).await.map_err(|e| match e.kind() {
        calve_storage::ErrorKind::NotFound => {
            Error::damaged(format!("{what} {path} is missing: the table names it, but there is no such file"))
                .with_source(e)
        }
        _ => e.into(),
    })
}

fn parse_list(bytes: &[u8], object: &str, version: FormatVersion) -> Result<Vec<ManifestFile>> {
    let versions = [FormatVersion::V3, FormatVersion::V2, FormatVersion::V1];
    let mut first_error = None;
    for version in versions.into_iter().filter(|v| *v <= version) {
        match ManifestList::parse_with_version(bytes, version) {
            Ok(list) => return Ok(list.consume_entries().into_iter().collect()),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    let object = format!("manifest list {object} can't be read");
    Err(match first_error {
        Some(error) => Error::from_iceberg(ErrorKind::Damaged, object, error),
        None => Error::damaged(object),
    })
}

const TOTAL_DATA_FILES: &str = "total-data-files";

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

#[calve_catalog::async_trait]
impl FileWrite for Memory {
    async fn write(&mut self, bytes: Bytes) -> iceberg::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes);
        Ok(())
    }

    async fn close(&mut self) -> iceberg::Result<()> {
        Ok(())
    }
}
