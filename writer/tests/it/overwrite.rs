use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, Int64Array};
use calve_uri::Mode;
use calve_writer::{WriteOptions, WriteOutcome};
use iceberg::spec::{FormatVersion, ManifestStatus, Operation, PrimitiveType};

use crate::lab::{Lab, batch, flights, optional, partition, partitioned, schema};

fn overwrite() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.mode = Mode::Overwrite;
    options
}

#[tokio::test]
async fn an_overwrite_replaces_the_rows_in_one_snapshot() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let lab = Lab::new();
        let mut options = partition("origin");
        options.format_version = version;
        lab.write_with(flights(&[1, 2]), options).await;
        let second = lab.write(flights(&[3])).await;
        lab.write_with(flights(&[4]), overwrite()).await;
        assert_eq!(lab.ids().await, [4], "{version}");
        let metadata = lab.table().await.metadata;
        let snapshot = metadata.current_snapshot().unwrap();
        assert_eq!(snapshot.parent_snapshot_id(), second.snapshot_id);
        assert_eq!(snapshot.summary().operation, Operation::Overwrite);
        let summary = &snapshot.summary().additional_properties;
        for (key, value) in [
            ("deleted-data-files", "3"),
            ("deleted-records", "3"),
            ("added-data-files", "1"),
            ("total-records", "1"),
            ("total-data-files", "1"),
        ] {
            assert_eq!(summary.get(key).map(String::as_str), Some(value), "{key}");
        }
        let mut deleted = 0;
        for listed in lab.manifest_list().await {
            for entry in lab.manifest(&listed).await.entries() {
                if entry.status() == ManifestStatus::Deleted {
                    deleted += 1;
                    assert_eq!(entry.snapshot_id(), Some(snapshot.snapshot_id()));
                    if version != FormatVersion::V1 {
                        assert!(entry.sequence_number().is_some_and(|n| n < 3));
                    }
                }
            }
        }
        assert_eq!(deleted, 3);
        // An append after it lists what is alive, and the deletions no more than any reader needs.
        lab.write(flights(&[5])).await;
        assert_eq!(lab.ids().await, [4, 5]);
        assert_eq!(lab.orphans().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn overwriting_a_table_that_is_not_there_creates_it() {
    let lab = Lab::new();
    let report = lab.write_with(flights(&[1]), overwrite()).await;
    assert!(report.created);
    assert_eq!(lab.table().await.metadata.current_snapshot().unwrap().summary().operation, Operation::Append);
}

#[tokio::test]
async fn overwriting_with_nothing_keeps_the_rows() {
    let lab = Lab::new();
    lab.write(flights(&[1])).await;
    let outcome = lab.try_write(flights(&[]), overwrite()).await.unwrap();
    assert!(matches!(outcome, WriteOutcome::Empty(_)));
    assert_eq!(lab.ids().await, [1]);
}

#[tokio::test]
async fn uuid_partitions_can_be_overwritten() {
    let lab = Lab::with(partitioned(
        schema(vec![optional(1, "u", PrimitiveType::Uuid), optional(2, "id", PrimitiveType::Long)]),
        "u",
    ))
    .await;
    let rows = |byte: u8, id: i64| {
        let uuid: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter([[byte; 16]].into_iter()).unwrap());
        batch(vec![("u", uuid), ("id", Arc::new(Int64Array::from(vec![id])))])
    };
    lab.write(rows(1, 1)).await;
    let report = lab.write_with(rows(2, 2), overwrite()).await;
    let summary = &report.table.metadata.current_snapshot().unwrap().summary().additional_properties;
    assert_eq!(summary["deleted-records"], "1");
    assert_eq!(lab.manifest_list().await[1].deleted_files_count, Some(1));
}
