//! Changes to a manifest's header that let the format library read it right.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::header::AvroFile;

/// What ids are raised by: above any table's, below the reserved ones.
pub(super) const RAISED: i64 = 1_000_000_000;

/// Calls partition fields as the manifest's Avro schema does; `false` when they already are.
///
/// A name that Avro does not allow (`two words`) is written otherwise (`two_x20words`). The library
/// looks for the original, misses it, and takes every partition for null. Fields meet by id.
pub(super) fn partition_names(file: &mut AvroFile<'_>) -> bool {
    let (Some(mut avro), Some(mut spec)) = (file.json("avro.schema"), file.json("partition-spec")) else {
        return false;
    };
    let Some(fields) = partition_fields(&mut avro) else { return false };
    let names: HashMap<i64, &Json> =
        fields.iter().filter_map(|field| Some((field["field-id"].as_i64()?, field.get("name")?))).collect();
    let mut changed = false;
    for field in spec.as_array_mut().into_iter().flatten() {
        if let Some(name) = field["field-id"].as_i64().and_then(|id| names.get(&id))
            && field["name"] != **name
        {
            field["name"] = (*name).clone();
            changed = true;
        }
    }
    if changed {
        file.set("partition-spec", &spec);
    }
    changed
}

/// Defines no Avro type of the partition record twice.
///
/// Some writers define a type (`uuid_fixed`) again for each field of it, where Avro has a name stand for
/// one definition.
pub(super) fn type_names(file: &mut AvroFile<'_>) {
    let Some(mut avro) = file.json("avro.schema") else { return };
    let mut defined = HashSet::new();
    for field in partition_fields(&mut avro).into_iter().flatten() {
        let id = field["field-id"].to_string();
        let kind = match &mut field["type"] {
            Json::Array(union) => union.iter_mut().find(|branch| branch.is_object()),
            other => Some(other),
        };
        if let Some(name) = kind.and_then(|kind| kind.get_mut("name"))
            && !defined.insert(name.clone())
        {
            *name = format!("{}_again_{id}", name.as_str().unwrap_or_default()).into();
        }
    }
    file.set("avro.schema", &avro);
}

/// Puts bounds beyond reach, so that one that does not decode (the wrong width, text cut inside a
/// character) does not make the manifest unreadable.
///
/// The library skips bounds of columns it does not know; the manifest's own schema and partition spec,
/// which travel in the header, are given ids that no bound has.
pub(super) fn without_bounds(file: &mut AvroFile<'_>) {
    for key in ["schema", "partition-spec"] {
        if let Some(mut json) = file.json(key) {
            raise(&mut json);
            file.set(key, &json);
        }
    }
}

/// The fields of the partition record in a manifest's Avro schema.
pub(super) fn partition_fields(avro: &mut Json) -> Option<&mut Vec<Json>> {
    let data_file = record_field(avro, "data_file")?;
    record_field(data_file, "partition")?["fields"].as_array_mut()
}

/// The type of a record's field, itself a record; unions hold it beside null.
fn record_field<'a>(record: &'a mut Json, name: &str) -> Option<&'a mut Json> {
    let field = record["fields"].as_array_mut()?.iter_mut().find(|field| field["name"] == name)?;
    match &mut field["type"] {
        Json::Array(union) => union.iter_mut().find(|branch| branch["type"] == "record"),
        other => Some(other),
    }
}

fn raise(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(raise),
        Json::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "id" | "element-id" | "key-id" | "value-id" | "source-id" => raise_id(value),
                    "identifier-field-ids" | "source-ids" => {
                        value.as_array_mut().into_iter().flatten().for_each(raise_id);
                    }
                    // A default's own keys are no field's ids.
                    "initial-default" | "write-default" => {}
                    _ => raise(value),
                }
            }
        }
        _ => {}
    }
}

fn raise_id(id: &mut Json) {
    if let Some(number) = id.as_i64() {
        *id = (number + RAISED).into();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Vec<u8> {
        let avro = json!({"type": "record", "name": "manifest_entry", "fields": [
            {"name": "status", "type": "int", "field-id": 0},
            {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
                {"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": [
                    {"name": "two_x20words", "field-id": 1000, "type": ["null", "string"]},
                ]}},
            ]}},
        ]});
        let spec = json!([{"name": "two words", "transform": "identity", "source-id": 1, "field-id": 1000}]);
        let schema = json!({"type": "struct", "fields": [
            {"id": 1, "name": "two words", "type": {"type": "list", "element-id": 2, "element": "string"}},
        ]});
        let mut file = b"Obj\x01\x06".to_vec();
        for (key, value) in [("avro.schema", avro), ("partition-spec", spec), ("schema", schema)] {
            for part in [key.to_owned(), value.to_string()] {
                // Zig-zag in two bytes does for lengths below 8192.
                let coded = part.len() << 1;
                file.extend([(coded & 0x7f) as u8 | 0x80, (coded >> 7) as u8]);
                file.extend(part.bytes());
            }
        }
        file.extend(b"\0sync and data");
        file
    }

    #[test]
    fn partition_fields_are_called_as_the_file_calls_them() {
        let bytes = manifest();
        let mut file = AvroFile::parse(&bytes).expect("an avro file");
        assert!(partition_names(&mut file));
        let again = file.encode();
        let mut again = AvroFile::parse(&again).expect("an avro file");
        assert_eq!(again.json("partition-spec").expect("a spec")[0]["name"], "two_x20words");
        assert!(!partition_names(&mut again));
        assert!(again.encode().ends_with(b"\0sync and data"));
    }

    #[test]
    fn a_type_defined_again_gets_a_name_of_its_own() {
        let bytes = manifest();
        let mut file = AvroFile::parse(&bytes).expect("an avro file");
        let mut avro = file.json("avro.schema").expect("a schema");
        let uuid = json!({"type": "fixed", "size": 16, "name": "uuid_fixed", "logicalType": "uuid"});
        *partition_fields(&mut avro).expect("a partition record") = vec![
            json!({"name": "a", "field-id": 1000, "type": ["null", uuid]}),
            json!({"name": "b", "field-id": 1001, "type": ["null", uuid]}),
            json!({"name": "c", "field-id": 1002, "type": uuid}),
            json!({"name": "d", "field-id": 1003, "type": ["null", "uuid_fixed"]}),
            json!({"name": "e", "field-id": 1004, "type": ["null", "string"]}),
        ];
        file.set("avro.schema", &avro);
        type_names(&mut file);
        let mut again = file.json("avro.schema").expect("a schema");
        let fields = partition_fields(&mut again).expect("a partition record");
        assert_eq!(fields[0]["type"][1]["name"], "uuid_fixed");
        assert_eq!(fields[1]["type"][1]["name"], "uuid_fixed_again_1001");
        assert_eq!(fields[2]["type"]["name"], "uuid_fixed_again_1002");
        assert_eq!(fields[3]["type"][1], "uuid_fixed");
        assert_eq!(fields[4]["type"][1], "string");
    }

    #[test]
    fn every_id_of_schema_and_spec_is_raised() {
        let bytes = manifest();
        let mut file = AvroFile::parse(&bytes).expect("an avro file");
        without_bounds(&mut file);
        let schema = file.json("schema").expect("a schema");
        assert_eq!(schema["fields"][0]["id"], RAISED + 1);
        assert_eq!(schema["fields"][0]["type"]["element-id"], RAISED + 2);
        let spec = file.json("partition-spec").expect("a spec");
        assert_eq!(spec[0]["source-id"], RAISED + 1);
        assert_eq!(spec[0]["field-id"], 1000);
    }

    #[test]
    fn truncated_headers_are_no_files() {
        let bytes = manifest();
        let header = bytes.len() - "sync and data".len();
        for length in 0..header {
            assert!(AvroFile::parse(&bytes[..length]).is_none(), "{length}");
        }
    }
}
