//! What a snapshot says of itself.

use std::collections::{HashMap, HashSet};

use iceberg::spec::{DataContentType, DataFile, Operation, SnapshotRef, Summary, TableMetadata};

/// Files a snapshot adds or removes, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) data_files: u64,
    pub(super) delete_files: u64,
    pub(super) position_delete_files: u64,
    pub(super) equality_delete_files: u64,
    pub(super) records: u64,
    pub(super) position_deletes: u64,
    pub(super) equality_deletes: u64,
    pub(super) bytes: u64,
}

impl Tally {
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a DataFile>) -> Self {
        files.fold(Self::default(), |mut tally, file| {
            tally.add(file);
            tally
        })
    }

    pub(super) fn add(&mut self, file: &DataFile) {
        self.bytes += file.file_size_in_bytes();
        match file.content_type() {
            DataContentType::Data => {
                self.data_files += 1;
                self.records += file.record_count();
            }
            DataContentType::PositionDeletes => {
                self.delete_files += 1;
                self.position_delete_files += 1;
                self.position_deletes += file.record_count();
            }
            DataContentType::EqualityDeletes => {
                self.delete_files += 1;
                self.equality_delete_files += 1;
                self.equality_deletes += file.record_count();
            }
        }
    }
}

/// The summary of a snapshot on `base` that adds `added` and, when it replaces the table's rows,
/// removes `removed`.
pub(super) fn summary(
    base: &TableMetadata,
    added: &[&DataFile],
    removed: Option<(Tally, usize)>,
    write_id: Option<&str>,
    more: &HashMap<String, String>,
) -> Summary {
    let tally = Tally::of(added.iter().copied());
    let partitions: HashSet<_> = added.iter().map(|f| f.partition()).collect();
    let mut entries = more.clone();
    let mut count = |key: &str, n: u64| {
        if n > 0 {
            entries.insert(key.to_owned(), n.to_string());
        }
    };
    count("added-data-files", tally.data_files);
    count("added-records", tally.records);
    count("added-files-size", tally.bytes);
    if let Some((removed, _)) = removed {
        count("deleted-data-files", removed.data_files);
        count("deleted-records", removed.records);
        count("removed-files-size", removed.bytes);
        count("removed-delete-files", removed.delete_files);
        count("removed-position-delete-files", removed.position_delete_files);
        count("removed-equality-delete-files", removed.equality_delete_files);
        count("removed-position-deletes", removed.position_deletes);
        count("removed-equality-deletes", removed.equality_deletes);
    }
    let changed = partitions.len().max(removed.map_or(0, |(_, partitions)| partitions));
    count("changed-partition-count", changed as u64);
    let (parent_adds, starts_anew) =
        (base.current_snapshot(), removed.is_some() || base.current_snapshot().is_none());
    for (key, n) in [
        ("total-records", tally.records),
        ("total-files-size", tally.bytes),
        ("total-data-files", tally.data_files),
        ("total-delete-files", 0),
        ("total-position-deletes", 0),
        ("total-equality-deletes", 0),
    ] {
        let before = if starts_anew {
            Some(0)
        } else {
            // A parent that does not say leaves the total unknown.
            parent_adds
                .and_then(|p| p.summary().additional_properties.get(key))
                .and_then(|t| t.parse::<u64>().ok())
        };
        if let Some(before) = before {
            entries.insert(key.to_owned(), (before + n).to_string());
        }
    }
    entries.insert("engine-name".to_owned(), "calve".to_owned());
    entries.insert("engine-version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    if let Some(id) = write_id {
        entries.insert(WRITE_ID.to_owned(), id.to_owned());
    }
    let operation = if removed.is_some() { Operation::Overwrite } else { Operation::Append };
    Summary { operation, additional_properties: entries }
}

/// The snapshot in the history of the table's rows that write `id` made.
///
/// A snapshot that was rolled back does not count: its rows are not in the table. Where the history
/// has a gap, because a snapshot expired, every older one may be part of it and counts.
pub(crate) fn snapshot_of_write(metadata: &TableMetadata, id: &str) -> Option<i64> {
    let is_it = |snapshot: &SnapshotRef| {
        snapshot.summary().additional_properties.get(WRITE_ID).is_some_and(|written| written == id)
    };
    let age = |snapshot: &SnapshotRef| (snapshot.sequence_number(), snapshot.timestamp_ms());
    let mut next = metadata.current_snapshot();
    while let Some(snapshot) = next {
        if is_it(snapshot) {
            return Some(snapshot.snapshot_id());
        }
        let parent = snapshot.parent_snapshot_id()?;
        next = metadata.snapshot_by_id(parent);
        if next.is_none() {
            let mut older = metadata.snapshots().filter(|s| age(s) < age(snapshot));
            return older.find(|s| is_it(s)).map(|s| s.snapshot_id());
        }
    }
    None
}

const WRITE_ID: &str = "calve.write-id";
