use std::collections::HashMap;

use iceberg::spec::{
    DataFile, Datum, FormatVersion, ManifestContentType, ManifestFile, ManifestStatus, PartitionSpec,
    PrimitiveType, Schema, UNASSIGNED_SEQUENCE_NUMBER,
};
use uuid::Uuid;

use super::schema::{manifest_schema, partition_kinds};
use super::summary::summarize;
use super::{avro, value};
use crate::{Error, ErrorKind, Result};

/// What holds for all entries of a manifest.
pub(crate) struct ManifestHead<'a> {
    pub(crate) version: FormatVersion,
    pub(crate) content: ManifestContentType,
    pub(crate) schema: &'a Schema,
    pub(crate) spec: &'a PartitionSpec,
    pub(crate) snapshot_id: i64,
}

/// A file in a manifest.
pub(crate) struct Entry<'a> {
    pub(crate) status: ManifestStatus,
    pub(crate) file: &'a DataFile,
    /// Data and file sequence number; none for an added file, which inherits the commit's.
    pub(crate) sequence_numbers: Option<(i64, i64)>,
}

/// The bytes of a manifest at `path`, and its line for the manifest list.
pub(crate) fn encode(
    head: &ManifestHead<'_>,
    path: &str,
    entries: &[Entry<'_>],
) -> Result<(Vec<u8>, ManifestFile)> {
    let partition_type = head.spec.partition_type(head.schema).map_err(|e| {
        Error::from_iceberg(ErrorKind::Damaged, "the table's partition spec doesn't fit its schema", e)
    })?;
    let kinds = partition_kinds(&partition_type)?;
    let mut block = Vec::new();
    for entry in entries {
        write_entry(&mut block, head, entry, &kinds)?;
    }

    let avro_schema = manifest_schema(head.version, &partition_type)?.to_string();
    let json = |what: &str, result: serde_json::Result<String>| {
        result.map_err(|e| {
            Error::new(ErrorKind::Failed, format!("the table's {what} can't be written as json"))
                .with_source(e)
        })
    };
    let schema = json("schema", serde_json::to_string(head.schema))?;
    let spec = json("partition spec", serde_json::to_string(head.spec.fields()))?;
    let (schema_id, spec_id) = (head.schema.schema_id().to_string(), head.spec.spec_id().to_string());
    let version = (head.version as u8).to_string();
    let content = head.content.to_string();
    let mut metadata: Vec<(&str, &[u8])> = vec![
        ("avro.schema", avro_schema.as_bytes()),
        ("avro.codec", b"null"),
        ("schema", schema.as_bytes()),
        ("schema-id", schema_id.as_bytes()),
        ("partition-spec", spec.as_bytes()),
        ("partition-spec-id", spec_id.as_bytes()),
        ("format-version", version.as_bytes()),
    ];
    if head.version != FormatVersion::V1 {
        metadata.push(("content", content.as_bytes()));
    }
    let bytes = avro::container(&metadata, Uuid::new_v4().into_bytes(), entries.len(), &block);

    let count = |status: ManifestStatus| -> (u32, u64) {
        let of = entries.iter().filter(|e| e.status == status);
        let rows = of.clone().map(|e| e.file.record_count()).sum();
        (u32::try_from(of.count()).unwrap_or(u32::MAX), rows)
    };
    let (added, existing, deleted) =
        (count(ManifestStatus::Added), count(ManifestStatus::Existing), count(ManifestStatus::Deleted));
    let oldest = entries
        .iter()
        .filter(|e| e.status != ManifestStatus::Deleted)
        .map(|e| e.sequence_numbers.map_or(UNASSIGNED_SEQUENCE_NUMBER, |(data, _)| data))
        .reduce(|a, b| {
            if a == UNASSIGNED_SEQUENCE_NUMBER {
                b
            } else if b == UNASSIGNED_SEQUENCE_NUMBER {
                a
            } else {
                a.min(b)
            }
        });
    let manifest = ManifestFile {
        manifest_path: path.to_owned(),
        manifest_length: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
        partition_spec_id: head.spec.spec_id(),
        content: head.content,
        sequence_number: UNASSIGNED_SEQUENCE_NUMBER,
        min_sequence_number: oldest.unwrap_or(UNASSIGNED_SEQUENCE_NUMBER),
        added_snapshot_id: head.snapshot_id,
        added_files_count: Some(added.0),
        existing_files_count: Some(existing.0),
        deleted_files_count: Some(deleted.0),
        added_rows_count: Some(added.1),
        existing_rows_count: Some(existing.1),
        deleted_rows_count: Some(deleted.1),
        partitions: summarize(&kinds, entries.iter().map(|e| e.file.partition())),
        key_metadata: None,
        first_row_id: None,
    };
    Ok((bytes, manifest))
}

fn write_entry(
    out: &mut Vec<u8>,
    head: &ManifestHead<'_>,
    entry: &Entry<'_>,
    kinds: &[PrimitiveType],
) -> Result<()> {
    avro::long(out, entry.status as i64);
    if head.version == FormatVersion::V1 {
        avro::long(out, head.snapshot_id);
    } else {
        avro::optional(out, Some(head.snapshot_id), avro::long);
        avro::optional(out, entry.sequence_numbers.map(|(data, _)| data), avro::long);
        avro::optional(out, entry.sequence_numbers.map(|(_, file)| file), avro::long);
        avro::long(out, entry.file.content_type() as i64);
    }
    let file = entry.file;
    avro::bytes(out, file.file_path().as_bytes());
    avro::bytes(out, file.file_format().to_string().to_ascii_uppercase().as_bytes());
    if file.partition().fields().len() != kinds.len() {
        return Err(Error::damaged(format!(
            "{} has {} partition values, but its spec has {} fields",
            file.file_path(),
            file.partition().fields().len(),
            kinds.len()
        )));
    }
    for (value, kind) in file.partition().fields().iter().zip(kinds) {
        value::write(out, value.as_ref(), kind)?;
    }
    avro::long(out, whole(file.record_count()));
    avro::long(out, whole(file.file_size_in_bytes()));
    if head.version == FormatVersion::V1 {
        avro::long(out, BLOCK_SIZE);
    }
    for counts in
        [file.column_sizes(), file.value_counts(), file.null_value_counts(), file.nan_value_counts()]
    {
        avro::optional(out, by_id(counts), |out, counts| {
            avro::array(out, counts.into_iter(), |out, (id, count)| {
                avro::long(out, i64::from(*id));
                avro::long(out, whole(*count));
            });
        });
    }
    for bounds in [file.lower_bounds(), file.upper_bounds()] {
        let bounds = by_id(bounds)
            .map(|bounds| bounds.into_iter().map(bound).collect::<Result<Vec<_>>>())
            .transpose()?;
        avro::optional(out, bounds, |out, bounds| {
            avro::array(out, bounds.into_iter(), |out, (id, bytes)| {
                avro::long(out, i64::from(id));
                avro::bytes(out, &bytes);
            });
        });
    }
    avro::optional(out, file.key_metadata(), avro::bytes);
    avro::optional(out, file.split_offsets(), |out, offsets| {
        avro::array(out, offsets.iter(), |out, offset| avro::long(out, *offset));
    });
    if head.version != FormatVersion::V1 {
        avro::optional(out, file.equality_ids(), |out, ids| {
            avro::array(out, ids.iter(), |out, id| avro::long(out, i64::from(*id)));
        });
    }
    avro::optional(out, file.sort_order_id(), |out, id| avro::long(out, i64::from(id)));
    if head.version >= FormatVersion::V3 {
        avro::optional(out, file.first_row_id(), avro::long);
    }
    if head.version != FormatVersion::V1 {
        avro::optional(out, file.referenced_data_file(), |out, path| avro::bytes(out, path.as_bytes()));
    }
    if head.version >= FormatVersion::V3 {
        avro::optional(out, file.content_offset(), avro::long);
        avro::optional(out, file.content_size_in_bytes(), avro::long);
    }
    Ok(())
}

/// The entries in order of field id; none when there are none.
fn by_id<T>(map: &HashMap<i32, T>) -> Option<Vec<(&i32, &T)>> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(id, _)| **id);
    (!entries.is_empty()).then_some(entries)
}

fn bound((id, datum): (&i32, &Datum)) -> Result<(i32, Vec<u8>)> {
    let bytes = datum
        .to_bytes()
        .map_err(|e| Error::from_iceberg(ErrorKind::Failed, "a bound can't be written", e))?;
    Ok((*id, bytes.to_vec()))
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Format version 1 requires the field and gives it no meaning.
const BLOCK_SIZE: i64 = 64 << 20;
