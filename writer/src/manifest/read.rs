use calve_partition::avro_names;
use calve_storage::Storage;
use iceberg::spec::{
    DataFile, Manifest, ManifestEntryRef, ManifestFile, ManifestStatus, PartitionSpec, Schema, SchemaRef,
};
use serde_json::Value;

use super::avro;
use super::list::read_named;
use crate::{Error, ErrorKind, Result};

/// The files of a manifest that are still in the table.
pub(crate) struct LiveFiles {
    /// The schema and spec the manifest was written with.
    pub(crate) schema: SchemaRef,
    pub(crate) spec: PartitionSpec,
    /// Files with their data and file sequence numbers.
    pub(crate) files: Vec<(DataFile, (i64, i64))>,
}

/// Reads the manifest that `listed` names.
///
/// It must have the length and the entries its list says: one cut off between two blocks, or with a
/// block more, is still an Avro file.
pub(crate) async fn read_manifest(storage: &Storage, listed: &ManifestFile) -> Result<LiveFiles> {
    let object = &listed.manifest_path;
    let bytes = read_named(storage, "manifest", object).await?;
    if i64::try_from(bytes.len()).ok() != Some(listed.manifest_length) {
        return Err(Error::damaged(format!(
            "manifest {object} has {} bytes; its manifest list says {}",
            bytes.len(),
            listed.manifest_length
        )));
    }
    parse_manifest(&bytes, listed)
}

/// The format library resolves partition fields by name and uuids as text; the header is rewritten so
/// that it meets what other writers, and this one, make of them.
fn parse_manifest(bytes: &[u8], listed: &ManifestFile) -> Result<LiveFiles> {
    let object = &listed.manifest_path;
    let damaged = |e: iceberg::Error| {
        Error::from_iceberg(ErrorKind::Damaged, format!("manifest {object} can't be read"), e)
    };
    let mut schema: Option<Schema> = None;
    let mut spec_fields: Option<Value> = None;
    let patched = avro::with_header(bytes, |key, value| match key {
        "schema" => {
            schema = serde_json::from_slice(value).ok();
            Ok(Some(String::from_utf8_lossy(value).replace("\"uuid\"", "\"fixed[16]\"").into_bytes()))
        }
        "avro.schema" => Ok(serde_json::from_slice(value).ok().map(|mut schema: Value| {
            drop_uuids(&mut schema);
            schema.to_string().into_bytes()
        })),
        "partition-spec" => {
            let parsed: Option<Value> = serde_json::from_slice(value).ok();
            spec_fields.clone_from(&parsed);
            Ok(parsed.map(|mut fields| {
                spell_names(&mut fields);
                fields.to_string().into_bytes()
            }))
        }
        _ => Ok(None),
    })
    .map_err(|e| Error::damaged(format!("manifest {object} can't be read: {e}")))?;
    let (entries, metadata) = Manifest::parse_avro(&patched).map_err(damaged)?.into_parts();
    let schema = schema.map_or_else(|| metadata.schema().clone(), SchemaRef::new);
    let spec = named_spec(metadata.partition_spec().spec_id(), spec_fields)
        .unwrap_or_else(|| metadata.partition_spec().clone());
    check_counts(listed, &entries)?;
    let files = entries
        .iter()
        .filter(|entry| entry.status() != ManifestStatus::Deleted)
        .map(|entry| {
            let data = entry.sequence_number().unwrap_or(listed.sequence_number);
            let file = entry.file_sequence_number.unwrap_or(listed.sequence_number);
            (entry.data_file().clone(), (data, file))
        })
        .collect();
    Ok(LiveFiles { schema, spec, files })
}

/// Checks that a manifest has as many entries of each status as its list says, where it does.
fn check_counts(listed: &ManifestFile, entries: &[ManifestEntryRef]) -> Result<()> {
    for (status, count, what) in [
        (ManifestStatus::Added, listed.added_files_count, "added"),
        (ManifestStatus::Existing, listed.existing_files_count, "existing"),
        (ManifestStatus::Deleted, listed.deleted_files_count, "deleted"),
    ] {
        let held = entries.iter().filter(|entry| entry.status() == status).count();
        if let Some(count) = count
            && held as u64 != u64::from(count)
        {
            return Err(Error::damaged(format!(
                "manifest {} has {held} {what} files; its manifest list says {count}",
                listed.manifest_path
            )));
        }
    }
    Ok(())
}

/// The spec with the names it has in the header.
fn named_spec(spec_id: i32, fields: Option<Value>) -> Option<PartitionSpec> {
    serde_json::from_value(serde_json::json!({ "spec-id": spec_id, "fields": fields? })).ok()
}

fn spell_names(fields: &mut Value) {
    let Value::Array(fields) = fields else { return };
    let names = avro_names(fields.iter().map(|f| f["name"].as_str().unwrap_or_default()));
    for (field, name) in fields.iter_mut().zip(names) {
        field["name"] = Value::String(name);
    }
}

/// Leaves the sixteen bytes of a uuid as they are.
fn drop_uuids(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("logicalType").is_some_and(|t| t == "uuid") {
                object.remove("logicalType");
            }
            object.values_mut().for_each(drop_uuids);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_uuids),
        _ => {}
    }
}
