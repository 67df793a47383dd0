use std::sync::Arc;

use arrow::array::{Int64Array, StringArray};
use calve_writer::{ErrorKind, WriteOptions};
use iceberg::spec::{Literal, PrimitiveType, Transform};

use crate::lab::{Lab, batch, flights, optional, partition, partitioned, schema};

fn flights_schema() -> iceberg::spec::Schema {
    schema(vec![optional(1, "id", PrimitiveType::Long), optional(2, "origin", PrimitiveType::String)])
}

#[tokio::test]
async fn every_row_lies_in_the_file_of_its_partition() {
    let lab = Lab::with(partitioned(flights_schema(), "origin,bucket(4,id)")).await;
    lab.write(flights(&(0..100).collect::<Vec<_>>())).await;
    let spec = Arc::clone(lab.table().await.metadata.default_partition_spec());
    let schema = Arc::clone(lab.table().await.metadata.current_schema());
    let files = lab.data_files().await;
    assert!(files.len() > 6);
    for file in &files {
        let rows = lab.file_rows(file).await;
        let origins = rows.column(1).as_any().downcast_ref::<StringArray>().unwrap();
        assert!(origins.iter().all(|o| file.partition().fields()[0] == o.map(Literal::string)));
        let folder = calve_partition::partition_path(&spec, &schema, file.partition());
        assert!(file.file_path().contains(&format!("/data/{folder}/")), "{}", file.file_path());
    }
    assert_eq!(lab.ids().await, (0..100).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_null_partition_has_a_file_of_its_own() {
    let lab = Lab::with(partitioned(flights_schema(), "origin")).await;
    lab.write(batch(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("origin", Arc::new(StringArray::from(vec![None, Some("")]))),
    ]))
    .await;
    let mut partitions: Vec<_> =
        lab.data_files().await.iter().map(|f| f.partition().fields()[0].clone()).collect();
    partitions.sort_by_key(Option::is_some);
    assert_eq!(partitions, [None, Some(Literal::string(""))]);
    assert!(lab.manifest_list().await[0].partitions.as_ref().unwrap()[0].contains_null);
}

#[tokio::test]
async fn thousands_of_partitions_stay_within_the_budget() {
    let lab = Lab::with(partitioned(flights_schema(), "id")).await;
    let ids: Vec<i64> = (0..2_000).collect();
    let mut options = WriteOptions::default();
    options.memory_budget = 1 << 20;
    let report = lab.write_with(flights(&ids), options).await;
    assert_eq!((report.rows, report.files), (2_000, 2_000));
    assert_eq!(lab.manifest_list().await.len(), 1);
}

#[tokio::test]
async fn a_long_value_makes_no_folder_that_a_disk_can_not_hold() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("t").to_str().unwrap().parse().unwrap());
    let long = "é".repeat(300);
    let rows = batch(vec![("origin", Arc::new(StringArray::from(vec![long.as_str()])))]);
    lab.write_with(rows, partition("origin")).await;
    assert_eq!(lab.data_files().await[0].partition().fields()[0], Some(Literal::string(long)));
}

#[tokio::test]
async fn a_partitioning_the_table_lacks_is_refused_and_a_subset_keeps_its_own() {
    let lab = Lab::with(partitioned(flights_schema(), "origin,bucket(4,id)")).await;
    lab.write_with(flights(&[1]), partition("bucket(4,id)")).await;
    let error = lab.try_write(flights(&[2]), partition("bucket(8,id)")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("bucket(8"), "{error}");
    assert_eq!(lab.ids().await, [1]);
}

#[tokio::test]
async fn evolution_adds_the_fields_and_the_files_carry_the_new_spec() {
    let lab = Lab::with(partitioned(flights_schema(), "origin")).await;
    lab.write(flights(&[1])).await;
    let mut options = partition("bucket(8,id)");
    options.partition_evolution = true;
    lab.write_with(flights(&[2]), options).await;
    let metadata = lab.table().await.metadata;
    let spec = metadata.default_partition_spec();
    assert_eq!(spec.spec_id(), 1);
    let fields: Vec<_> = spec.fields().iter().map(|f| (f.field_id, f.transform)).collect();
    assert_eq!(fields, [(1000, Transform::Identity), (1001, Transform::Bucket(8))]);
    let specs: Vec<i32> = lab.manifest_list().await.iter().map(|m| m.partition_spec_id).collect();
    assert_eq!(specs, [1, 0]);
    assert_eq!(lab.ids().await, [1, 2]);
}
