use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, ListArray, StructArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema as ArrowSchema};
use calve_writer::{ErrorKind, WriteOptions, WriteOutcome, plan};
use iceberg::spec::{FormatVersion, Transform};

use crate::lab::{Lab, batch, flights, partition};

#[tokio::test]
async fn the_first_write_creates_the_table_in_one_commit() {
    let lab = Lab::new();
    let report = lab.write(flights(&[1, 2, 3])).await;
    assert!(report.created);
    assert_eq!((report.rows, report.files), (3, 1));
    assert!(report.bytes > 0 && report.warnings.is_empty());
    let metadata = lab.table().await.metadata;
    assert_eq!(metadata.current_snapshot_id(), report.snapshot_id);
    assert_eq!(metadata.snapshots().len(), 1);
    assert_eq!(metadata.format_version(), FormatVersion::V2);
    assert_eq!(metadata.properties()["write.parquet.compression-codec"], "zstd");
    assert_eq!(lab.ids().await, [1, 2, 3]);
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_plan_tells_what_will_be_and_leaves_nothing() {
    let lab = Lab::new();
    let rows = flights(&[1]);
    let plan =
        plan(lab.catalog.clone(), lab.ident.clone(), rows.schema(), partition("origin")).await.unwrap();
    assert!(plan.creates_table());
    assert_eq!(plan.location(), lab.root.as_str());
    assert_eq!(plan.schema().field_by_id(2).unwrap().name, "origin");
    assert_eq!(plan.partition_spec().fields()[0].name, "origin");
    assert_eq!(plan.already_committed(), None);
    drop(plan.start());
    assert_eq!(lab.listing().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_empty_first_write_creates_the_table_without_a_snapshot() {
    for batches in [vec![], vec![flights(&[])]] {
        let lab = Lab::new();
        let schema = flights(&[]).schema();
        let outcome = lab.try_write_all(schema, batches, WriteOptions::default()).await.unwrap();
        let WriteOutcome::Empty(report) = outcome else { panic!("not empty: {outcome:?}") };
        assert!(report.created && report.snapshot_id.is_none());
        assert_eq!(lab.table().await.metadata.snapshots().len(), 0);
        assert!(lab.listing().await.iter().all(|path| path.contains("/metadata/")));
    }
}

#[tokio::test]
async fn an_empty_write_to_a_table_commits_nothing() {
    let lab = Lab::new();
    lab.write(flights(&[1])).await;
    let before = lab.listing().await;
    let outcome = lab.try_write(flights(&[]), WriteOptions::default()).await.unwrap();
    let WriteOutcome::Empty(report) = outcome else { panic!("not empty: {outcome:?}") };
    assert!(!report.created && report.snapshot_id.is_none());
    assert_eq!(lab.listing().await, before);
}

#[tokio::test]
async fn partition_fields_of_a_new_table_begin_at_1000_in_one_spec() {
    let lab = Lab::new();
    let ts: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_717_200_000_000_000]));
    let id: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    lab.write_with(batch(vec![("ts", ts), ("id", id)]), partition("day(ts),bucket(16,id)")).await;
    let metadata = lab.table().await.metadata;
    assert_eq!(metadata.partition_specs_iter().len(), 1);
    let spec = metadata.default_partition_spec();
    assert_eq!(spec.spec_id(), 0);
    let fields: Vec<_> = spec.fields().iter().map(|f| (f.field_id, f.name.as_str(), f.transform)).collect();
    assert_eq!(fields, [(1000, "ts_day", Transform::Day), (1001, "id_bucket", Transform::Bucket(16))]);
    assert_eq!(metadata.last_partition_id(), 1001);
    assert!(lab.data_files().await[0].file_path().contains("/data/ts_day=2024-06-01/id_bucket="));
}

#[tokio::test]
async fn ids_are_given_level_by_level() {
    let lab = Lab::new();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let inner: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let nested = StructArray::from(vec![
        (Arc::new(Field::new("x", DataType::Int32, true)), Arc::clone(&inner)),
        (Arc::new(Field::new("xs", list.data_type().clone(), true)), Arc::new(list)),
    ]);
    lab.write(batch(vec![("s", Arc::new(nested)), ("b", inner)])).await;
    let schema = Arc::clone(lab.table().await.metadata.current_schema());
    let ids: Vec<_> =
        ["s", "b", "s.x", "s.xs", "s.xs.element"].map(|n| schema.field_id_by_name(n).unwrap()).into();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_partition_request_that_does_not_fit_is_refused_before_anything_is_written() {
    let lab = Lab::new();
    let error = lab.try_write(flights(&[1]), partition("day(origin)")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    let error = lab.try_write(flights(&[1]), partition("nowhere")).await.unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    assert_eq!(lab.listing().await, Vec::<String>::new());
}

#[tokio::test]
async fn every_column_that_has_no_type_is_named() {
    let lab = Lab::new();
    let schema = ArrowSchema::new(vec![
        Field::new("gap", DataType::Null, true),
        Field::new("ok", DataType::Int32, true),
        Field::new("span", DataType::Duration(arrow::datatypes::TimeUnit::Second), true),
    ]);
    let planned =
        plan(lab.catalog.clone(), lab.ident.clone(), Arc::new(schema), WriteOptions::default()).await;
    let text = planned.unwrap_err().to_string();
    assert!(text.contains("\"gap\"") && text.contains("\"span\"") && !text.contains("\"ok\""), "{text}");
}

#[tokio::test]
async fn tables_of_every_format_version_are_made_and_appended_to() {
    for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        let lab = Lab::new();
        let mut options = partition("origin");
        options.format_version = version;
        lab.write_with(flights(&[1, 2, 3, 4]), options).await;
        lab.write(flights(&[5])).await;
        let metadata = lab.table().await.metadata;
        assert_eq!(metadata.format_version(), version);
        assert_eq!(lab.ids().await, [1, 2, 3, 4, 5], "{version}");
        let sequence = metadata.current_snapshot().unwrap().sequence_number();
        assert_eq!(sequence, if version == FormatVersion::V1 { 0 } else { 2 });
        if version == FormatVersion::V3 {
            assert_eq!(metadata.next_row_id(), 5);
            assert_eq!(metadata.current_snapshot().unwrap().row_range(), Some((4, 1)));
        }
    }
}
