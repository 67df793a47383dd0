//! The other side of an overwrite: every file of the snapshot it replaces, marked as deleted.

use std::collections::HashSet;

use iceberg::spec::{ManifestContentType, ManifestStatus, Struct, TableMetadata};

use super::summary::Tally;
use crate::Result;
use crate::manifest::{Entry, ManifestHead, encode, read_list, read_manifest};
use calve_storage::Storage;
use iceberg::spec::ManifestFile;

/// Manifests that delete a snapshot's files, not stored yet.
pub(super) struct Replaced {
    pub(super) manifests: Vec<(Vec<u8>, ManifestFile)>,
    pub(super) tally: Tally,
    pub(super) partitions: usize,
}

/// Reads the current snapshot's live files and encodes their deletion by `snapshot_id`; `name` gives
/// the location of the n-th manifest.
pub(super) async fn replaced(
    base: &TableMetadata,
    storage: &Storage,
    snapshot_id: i64,
    mut name: impl FnMut() -> Result<String>,
) -> Result<Replaced> {
    let mut replaced = Replaced { manifests: Vec::new(), tally: Tally::default(), partitions: 0 };
    let Some(current) = base.current_snapshot() else { return Ok(replaced) };
    let mut partitions: HashSet<(i32, Struct)> = HashSet::new();
    for listed in read_list(storage, current, base.format_version()).await? {
        if !listed.has_added_files() && !listed.has_existing_files() {
            continue;
        }
        let live = read_manifest(storage, &listed).await?;
        if live.files.is_empty() {
            continue;
        }
        for (file, _) in &live.files {
            replaced.tally.add(file);
            if listed.content == ManifestContentType::Data {
                partitions.insert((live.spec.spec_id(), file.partition().clone()));
            }
        }
        let head = ManifestHead {
            version: base.format_version(),
            content: listed.content,
            schema: &live.schema,
            spec: &live.spec,
            snapshot_id,
        };
        let entries: Vec<Entry<'_>> = live
            .files
            .iter()
            .map(|(file, numbers)| Entry {
                status: ManifestStatus::Deleted,
                file,
                sequence_numbers: Some(*numbers),
            })
            .collect();
        replaced.manifests.push(encode(&head, &name()?, &entries)?);
    }
    replaced.partitions = partitions.len();
    Ok(replaced)
}
