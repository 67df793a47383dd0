use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, FixedSizeBinaryArray, Int64Array};
use calve_writer::WriteOptions;
use iceberg::spec::{ManifestContentType, ManifestStatus, Operation, PrimitiveType};
use serde_json::Value;

use crate::lab::{Lab, batch, flights, optional, partition, partitioned, schema};

/// The header of an Avro file.
fn header(file: &[u8]) -> HashMap<String, Vec<u8>> {
    fn long(rest: &mut &[u8]) -> i64 {
        let mut zigzag = 0u64;
        let mut shift = 0;
        loop {
            let byte = rest[0];
            *rest = &rest[1..];
            zigzag |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
            }
        }
    }
    fn bytes(rest: &mut &[u8]) -> Vec<u8> {
        let length = long(rest) as usize;
        let taken = rest[..length].to_vec();
        *rest = &rest[length..];
        taken
    }
    let mut rest = file.strip_prefix(b"Obj\x01").unwrap();
    let mut entries = HashMap::new();
    loop {
        let mut count = long(&mut rest);
        if count == 0 {
            return entries;
        }
        if count < 0 {
            count = -count;
            long(&mut rest);
        }
        for _ in 0..count {
            let key = String::from_utf8(bytes(&mut rest)).unwrap();
            entries.insert(key, bytes(&mut rest));
        }
    }
}

async fn header_of_manifest(lab: &Lab) -> HashMap<String, Vec<u8>> {
    let listed = lab.manifest_list().await;
    header(&lab.storage.read(&listed[0].manifest_path).await.unwrap())
}

fn json(header: &HashMap<String, Vec<u8>>, key: &str) -> Value {
    serde_json::from_slice(&header[key]).unwrap()
}

#[tokio::test]
async fn a_manifest_list_counts_what_was_added() {
    let lab = Lab::new();
    let report = lab.write_with(flights(&[0, 1, 2, 3]), partition("origin")).await;
    let listed = lab.manifest_list().await;
    let [manifest] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!(
        (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count),
        (Some(3), Some(0), Some(0))
    );
    assert_eq!(
        (manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count),
        (Some(4), Some(0), Some(0))
    );
    assert_eq!((manifest.sequence_number, manifest.min_sequence_number), (1, 1));
    assert_eq!(Some(manifest.added_snapshot_id), report.snapshot_id);
    assert_eq!(manifest.content, ManifestContentType::Data);
    let summary = &manifest.partitions.as_ref().unwrap()[0];
    assert_eq!(summary.lower_bound.as_ref().unwrap().as_slice(), b"EWR");
    assert_eq!(summary.upper_bound.as_ref().unwrap().as_slice(), b"LGA");
    assert_eq!((summary.contains_null, summary.contains_nan), (false, Some(false)));
    let length = lab.storage.read(&manifest.manifest_path).await.unwrap().len();
    assert_eq!(manifest.manifest_length, length as i64);
    let parsed = lab.manifest(manifest).await;
    assert!(parsed.entries().iter().all(|e| e.status() == ManifestStatus::Added));
}

#[tokio::test]
async fn an_append_carries_every_manifest_of_its_parent() {
    let lab = Lab::new();
    for id in 1..=3 {
        lab.write(flights(&[id])).await;
    }
    let listed = lab.manifest_list().await;
    assert_eq!(listed.iter().map(|m| m.sequence_number).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(lab.ids().await, [1, 2, 3]);
}

#[tokio::test]
async fn a_snapshot_says_what_it_is() {
    let lab = Lab::new();
    lab.write(flights(&[1, 2, 3])).await;
    let mut options = WriteOptions::default();
    options.summary.insert("job".to_owned(), "nightly".to_owned());
    lab.write_with(flights(&[4]), options).await;
    let metadata = lab.table().await.metadata;
    let snapshot = metadata.current_snapshot().unwrap();
    assert!(snapshot.snapshot_id() > 0);
    assert_eq!(snapshot.schema_id(), Some(0));
    assert_eq!(snapshot.sequence_number(), 2);
    let parent = metadata.snapshot_by_id(snapshot.parent_snapshot_id().unwrap()).unwrap();
    assert!(snapshot.timestamp_ms() >= parent.timestamp_ms());
    assert_eq!(snapshot.summary().operation, Operation::Append);
    let summary = &snapshot.summary().additional_properties;
    for (key, value) in [
        ("added-data-files", "1"),
        ("added-records", "1"),
        ("total-records", "4"),
        ("total-data-files", "2"),
        ("total-delete-files", "0"),
        ("changed-partition-count", "1"),
        ("job", "nightly"),
    ] {
        assert_eq!(summary.get(key).map(String::as_str), Some(value), "{key}");
    }
    let sizes: u64 = lab.data_files().await.iter().map(|f| f.file_size_in_bytes()).sum();
    assert_eq!(summary["total-files-size"], sizes.to_string());
}

#[tokio::test]
async fn a_summary_can_not_be_made_to_lie() {
    let lab = Lab::new();
    for key in ["operation", "total-records", "calve.write-id"] {
        let mut options = WriteOptions::default();
        options.summary.insert(key.to_owned(), "7".to_owned());
        let error = lab.try_write(flights(&[1]), options).await.unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[tokio::test]
async fn headers_hold_what_every_reader_needs() {
    let lab = Lab::new();
    lab.write_with(flights(&[1]), partition("origin,bucket(4,id)")).await;
    let header = header_of_manifest(&lab).await;
    assert_eq!(json(&header, "schema")["schema-id"], 0);
    assert_eq!(header["schema-id"], b"0");
    assert_eq!(json(&header, "partition-spec")[1]["name"], "id_bucket");
    assert_eq!(json(&header, "partition-spec")[1]["field-id"], 1001);
    assert_eq!(
        (&header["partition-spec-id"][..], &header["format-version"][..], &header["content"][..]),
        (&b"0"[..], &b"2"[..], &b"data"[..])
    );
    fn check_ids(schema: &Value) {
        match schema {
            Value::Object(object) => {
                if object.get("type").is_some_and(|t| t == "record") {
                    for field in object["fields"].as_array().unwrap() {
                        assert!(field["field-id"].is_i64(), "{field}");
                    }
                }
                if object.get("type").is_some_and(|t| t == "array") {
                    assert!(
                        object.get("element-id").is_some() || object["logicalType"] == "map",
                        "{object:?}"
                    );
                }
                object.values().for_each(check_ids);
            }
            Value::Array(items) => items.iter().for_each(check_ids),
            _ => {}
        }
    }
    check_ids(&json(&header, "avro.schema"));
}

#[tokio::test]
async fn names_that_avro_forbids_are_spelled_only_in_avro() {
    let lab = Lab::new();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let names = ["a.b+c", "1x", "日", "😀"];
    let rows = batch(names.iter().map(|n| (*n, Arc::clone(&column))).collect());
    lab.write_with(rows, partition("1x,日,😀,\"a.b+c\"")).await;
    let header = header_of_manifest(&lab).await;
    let spec: Vec<String> = json(&header, "partition-spec")
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(spec, ["1x", "日", "😀", "a.b+c"]);
    let avro = String::from_utf8(header["avro.schema"].clone()).unwrap();
    for name in ["\"_1x\"", "\"_x65E5\"", "\"_xD83D_xDE00\"", "\"a_x2Eb_x2Bc\""] {
        assert!(avro.contains(name), "{avro}");
    }
    // The table can still be read by the writer itself.
    let mut options = WriteOptions::default();
    options.mode = calve_uri::Mode::Overwrite;
    lab.write_with(batch(vec![("1x", column)]), options).await;
}

#[tokio::test]
async fn partition_types_are_those_of_the_format() {
    let uuid: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter([[7u8; 16]].into_iter()).unwrap());
    let amount: ArrayRef =
        Arc::new(Decimal128Array::from(vec![-1234]).with_precision_and_scale(9, 2).unwrap());
    let lab = Lab::with(partitioned(
        schema(vec![
            optional(1, "u", PrimitiveType::Uuid),
            optional(2, "d", PrimitiveType::Decimal { precision: 9, scale: 2 }),
            optional(3, "e", PrimitiveType::Decimal { precision: 9, scale: 2 }),
        ]),
        "u,d,e,bucket(4,u)",
    ))
    .await;
    lab.write(batch(vec![("u", uuid), ("d", Arc::clone(&amount)), ("e", amount)])).await;
    let avro = json(&header_of_manifest(&lab).await, "avro.schema");
    let fields = avro["fields"].as_array().unwrap();
    let file =
        fields.iter().find(|f| f["name"] == "data_file").unwrap()["type"]["fields"].as_array().unwrap();
    let partition =
        file.iter().find(|f| f["name"] == "partition").unwrap()["type"]["fields"].as_array().unwrap();
    let kind = |at: usize| &partition[at]["type"][1];
    assert_eq!(
        (&kind(0)["type"], &kind(0)["size"], &kind(0)["logicalType"]),
        (&"fixed".into(), &16.into(), &"uuid".into())
    );
    assert_eq!(
        (&kind(1)["type"], &kind(1)["size"], &kind(1)["logicalType"]),
        (&"fixed".into(), &4.into(), &"decimal".into())
    );
    assert_ne!(kind(1)["name"], kind(2)["name"]);
    assert_eq!(kind(3), "int");
    let summaries = lab.manifest_list().await[0].partitions.clone().unwrap();
    assert_eq!(summaries[0].lower_bound.as_ref().unwrap().as_slice(), [7; 16]);
    assert_eq!(summaries[1].lower_bound.as_ref().unwrap().as_slice(), (-1234i16).to_be_bytes());
}
