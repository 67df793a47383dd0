use std::time::{SystemTime, UNIX_EPOCH};

use calve_storage::{Location, PutNew, Storage};
use iceberg::spec::{ManifestFile, Snapshot, Summary, TableMetadata};
use uuid::Uuid;

use crate::data_file::CreatedFiles;
use crate::manifest::{ListHead, write_list};
use crate::{Error, ErrorKind, Result};

/// Stores a new metadata file of this write under a name that holds a fresh uuid.
pub(super) async fn put_new(
    storage: &Storage,
    created: &CreatedFiles,
    location: &Location,
    bytes: bytes::Bytes,
) -> Result<()> {
    created.note(location.as_str());
    match storage.put_new(location, bytes.clone()).await? {
        PutNew::Created => Ok(()),
        PutNew::Taken if storage.read(location.as_str()).await? == bytes => Ok(()),
        PutNew::Taken => Err(Error::new(ErrorKind::Failed, format!("{location} was taken by another file"))),
    }
}

/// A snapshot on top of `base` that lists `manifests`, its manifest list stored.
pub(super) struct SnapshotDraft<'a> {
    pub(super) base: &'a TableMetadata,
    pub(super) storage: &'a Storage,
    pub(super) created: &'a CreatedFiles,
    pub(super) folder: &'a Location,
    pub(super) snapshot_id: i64,
    /// Which try this is, from 0.
    pub(super) attempt: u32,
    pub(super) summary: Summary,
    pub(super) manifests: Vec<ManifestFile>,
}

impl SnapshotDraft<'_> {
    pub(super) async fn store(self) -> Result<Snapshot> {
        let base = self.base;
        let parent = base.current_snapshot();
        let name = format!("snap-{}-{}-{}.avro", self.snapshot_id, self.attempt, Uuid::new_v4());
        let location = self.folder.join(&name)?;
        let sequence_number = base.next_sequence_number();
        let lineage = base.format_version() >= iceberg::spec::FormatVersion::V3;
        let head = ListHead {
            version: base.format_version(),
            snapshot_id: self.snapshot_id,
            parent_snapshot_id: parent.map(|p| p.snapshot_id()),
            sequence_number,
            first_row_id: lineage.then(|| base.next_row_id()),
        };
        let (bytes, row_ids) = write_list(&head, self.manifests).await?;
        put_new(self.storage, self.created, &location, bytes).await?;
        let newest = parent.map_or(0, |p| p.timestamp_ms()).max(base.last_updated_ms());
        let snapshot = Snapshot::builder()
            .with_snapshot_id(self.snapshot_id)
            .with_parent_snapshot_id(head.parent_snapshot_id)
            .with_sequence_number(sequence_number)
            .with_timestamp_ms(now_ms().max(newest))
            .with_manifest_list(location.as_str())
            .with_summary(self.summary)
            .with_schema_id(base.current_schema_id());
        Ok(match head.first_row_id {
            Some(first) => snapshot.with_row_range(first, row_ids).build(),
            None => snapshot.build(),
        })
    }
}

/// A positive snapshot id that `base` does not have.
pub(super) fn new_snapshot_id(base: &TableMetadata) -> i64 {
    loop {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        let id = i64::try_from((high ^ low) >> 1).unwrap_or_default();
        if id > 0 && base.snapshot_by_id(id).is_none() {
            return id;
        }
    }
}

/// Milliseconds since the epoch, by this machine's clock.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
