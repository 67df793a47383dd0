//! The Avro schema of manifest entries, with the field ids every reader goes by.

use calve_partition::avro_names;
use iceberg::spec::{FormatVersion, PrimitiveType, StructType, Type};
use serde_json::{Value, json};

use crate::{Error, ErrorKind, Result};

/// The types of a spec's partition values, in its order; every one may be null.
pub(super) fn partition_kinds(partition: &StructType) -> Result<Vec<PrimitiveType>> {
    let kind = |field: &iceberg::spec::NestedFieldRef| match field.field_type.as_ref() {
        Type::Primitive(kind) => Ok(kind.clone()),
        other => Err(Error::new(
            ErrorKind::Damaged,
            format!("partition field {:?} has type {other}, which is not primitive", field.name),
        )),
    };
    partition.fields().iter().map(kind).collect()
}

pub(super) fn manifest_schema(version: FormatVersion, partition: &StructType) -> Result<Value> {
    let mut fields = vec![field(0, "status", json!("int"))];
    if version == FormatVersion::V1 {
        fields.push(field(1, "snapshot_id", json!("long")));
    } else {
        fields.push(optional(1, "snapshot_id", json!("long")));
        fields.push(optional(3, "sequence_number", json!("long")));
        fields.push(optional(4, "file_sequence_number", json!("long")));
    }
    fields.push(field(2, "data_file", data_file(version, partition)?));
    Ok(json!({ "type": "record", "name": "manifest_entry", "fields": fields }))
}

fn data_file(version: FormatVersion, partition: &StructType) -> Result<Value> {
    let mut fields = Vec::new();
    if version != FormatVersion::V1 {
        fields.push(field(134, "content", json!("int")));
    }
    fields.push(field(100, "file_path", json!("string")));
    fields.push(field(101, "file_format", json!("string")));
    fields.push(field(102, "partition", partition_record(partition)?));
    fields.push(field(103, "record_count", json!("long")));
    fields.push(field(104, "file_size_in_bytes", json!("long")));
    if version == FormatVersion::V1 {
        fields.push(field(105, "block_size_in_bytes", json!("long")));
    }
    fields.push(optional(108, "column_sizes", map(117, 118, "long")));
    fields.push(optional(109, "value_counts", map(119, 120, "long")));
    fields.push(optional(110, "null_value_counts", map(121, 122, "long")));
    fields.push(optional(137, "nan_value_counts", map(138, 139, "long")));
    fields.push(optional(125, "lower_bounds", map(126, 127, "bytes")));
    fields.push(optional(128, "upper_bounds", map(129, 130, "bytes")));
    fields.push(optional(131, "key_metadata", json!("bytes")));
    fields.push(optional(
        132,
        "split_offsets",
        json!({ "type": "array", "items": "long", "element-id": 133 }),
    ));
    if version != FormatVersion::V1 {
        fields.push(optional(
            135,
            "equality_ids",
            json!({ "type": "array", "items": "int", "element-id": 136 }),
        ));
    }
    fields.push(optional(140, "sort_order_id", json!("int")));
    if version >= FormatVersion::V3 {
        fields.push(optional(142, "first_row_id", json!("long")));
    }
    if version != FormatVersion::V1 {
        fields.push(optional(143, "referenced_data_file", json!("string")));
    }
    if version >= FormatVersion::V3 {
        fields.push(optional(144, "content_offset", json!("long")));
        fields.push(optional(145, "content_size_in_bytes", json!("long")));
    }
    Ok(json!({ "type": "record", "name": "r2", "fields": fields }))
}

fn partition_record(partition: &StructType) -> Result<Value> {
    let names = avro_names(partition.fields().iter().map(|f| f.name.as_str()));
    let kinds = partition_kinds(partition)?;
    let fields: Vec<Value> = partition
        .fields()
        .iter()
        .zip(names)
        .zip(kinds)
        .map(|((f, name), kind)| optional(f.id, &name, primitive(f.id, &kind)))
        .collect();
    Ok(json!({ "type": "record", "name": "r102", "fields": fields }))
}

/// Named types carry the field's id, for a name may be defined only once.
fn primitive(id: i32, kind: &PrimitiveType) -> Value {
    let fixed = |size: u64| json!({ "type": "fixed", "name": format!("fixed_{id}"), "size": size });
    match kind {
        PrimitiveType::Boolean => json!("boolean"),
        PrimitiveType::Int => json!("int"),
        PrimitiveType::Long => json!("long"),
        PrimitiveType::Float => json!("float"),
        PrimitiveType::Double => json!("double"),
        PrimitiveType::Date => json!({ "type": "int", "logicalType": "date" }),
        PrimitiveType::Time => json!({ "type": "long", "logicalType": "time-micros" }),
        PrimitiveType::Timestamp => {
            json!({ "type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": false })
        }
        PrimitiveType::Timestamptz => {
            json!({ "type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true })
        }
        PrimitiveType::TimestampNs => {
            json!({ "type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": false })
        }
        PrimitiveType::TimestamptzNs => {
            json!({ "type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": true })
        }
        PrimitiveType::String => json!("string"),
        PrimitiveType::Binary => json!("bytes"),
        PrimitiveType::Fixed(size) => fixed(*size),
        PrimitiveType::Uuid => {
            json!({ "type": "fixed", "name": format!("uuid_{id}"), "size": 16, "logicalType": "uuid" })
        }
        PrimitiveType::Decimal { precision, scale } => json!({
            "type": "fixed",
            "name": format!("decimal_{id}"),
            "size": Type::decimal_required_bytes(*precision).unwrap_or(16),
            "logicalType": "decimal",
            "precision": precision,
            "scale": scale,
        }),
    }
}

fn field(id: i32, name: &str, kind: Value) -> Value {
    json!({ "name": name, "type": kind, "field-id": id })
}

fn optional(id: i32, name: &str, kind: Value) -> Value {
    json!({ "name": name, "type": ["null", kind], "default": null, "field-id": id })
}

/// A map with int keys, as Iceberg writes one: an array of key-value records.
fn map(key: i32, value: i32, kind: &str) -> Value {
    json!({
        "type": "array",
        "logicalType": "map",
        "items": {
            "type": "record",
            "name": format!("k{key}_v{value}"),
            "fields": [field(key, "key", json!("int")), field(value, "value", json!(kind))],
        },
    })
}
