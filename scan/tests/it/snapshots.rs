use std::sync::Arc;

use arrow::array::Int32Array;
use calve_scan::ErrorKind;
use iceberg::spec::PrimitiveType as P;

use crate::lab::*;

async fn append(lab: &mut Lab, values: Vec<i32>) -> i64 {
    let schema = lab.schema();
    let mut columns: Vec<arrow::array::ArrayRef> = vec![Arc::new(Int32Array::from(values.clone()))];
    for _ in 1..schema.as_struct().fields().len() {
        columns.push(Arc::new(Int32Array::from(values.clone())));
    }
    let file = lab.file(&batch(&schema, columns), &FileOptions::default()).await;
    lab.append([file]).await
}

#[tokio::test]
async fn the_current_schema_reads_now_and_the_snapshots_own_reads_then() {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int)]));
    let first = append(&mut lab, vec![1]).await;
    lab.evolve([optional(1, "a", P::Int), optional(2, "b", P::Int)]);
    let now = lab.scan().plan().await.unwrap();
    assert_eq!(now.snapshot_id(), Some(first));
    assert_eq!(now.schema().fields().len(), 2);
    assert_eq!(lab.scan().snapshot_id(first).plan().await.unwrap().schema().fields().len(), 1);
    let second = append(&mut lab, vec![2, 3]).await;
    assert_eq!(rows(lab.scan()).await.num_rows(), 3);
    assert_eq!(rows(lab.scan().snapshot_id(first)).await.num_rows(), 1);
    assert_eq!(rows(lab.scan().snapshot_id(second)).await.num_columns(), 2);
    let e = lab.scan().snapshot_id(first).filter_sql("b = 1").plan().await.unwrap_err();
    assert!(e.to_string().contains("`b`"), "{e}");
}

#[tokio::test]
async fn an_unknown_snapshot_is_told_the_nearest() {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int)]));
    let e = lab.scan().snapshot_id(1).plan().await.unwrap_err();
    assert!(e.to_string().contains("none at all"), "{e}");
    for n in 0..7 {
        append(&mut lab, vec![n]).await;
    }
    let e = lab.scan().snapshot_id(1052).plan().await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::NotFound);
    assert!(e.to_string().contains("the nearest of 7 are 1050, 1060, 1040, 1030, 1020"), "{e}");
}

#[tokio::test]
async fn a_table_without_snapshots_has_no_rows_and_its_schema() {
    let lab = Lab::new(schema([optional(1, "a", P::Int)]));
    let plan = lab.scan().filter_sql("a > 1").plan().await.unwrap();
    assert_eq!(plan.snapshot_id(), None);
    assert_eq!(plan.schema().field(0).name(), "a");
    assert_eq!(plan.explain().to_string().lines().next(), Some("no snapshot"));
    assert_eq!(rows(lab.scan()).await.num_rows(), 0);
}
