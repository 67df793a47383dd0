use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use calve::{
    Destination, ErrorKind, OutcomeExt, StorageOptions, WriteDestination, WriteOutcome, blocking,
    scan_iceberg,
};

use crate::Lake;

fn batch(ids: &[i64]) -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
    let name: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(|i| format!("n{i}"))));
    RecordBatch::try_from_iter([("id", id), ("name", name)]).unwrap()
}

fn ids(batches: &[RecordBatch]) -> Vec<i64> {
    let mut ids: Vec<i64> = batches
        .iter()
        .flat_map(|b| {
            let column = b.column_by_name("id").unwrap().as_any().downcast_ref::<Int64Array>().unwrap();
            column.values().to_vec()
        })
        .collect();
    ids.sort_unstable();
    ids
}

fn destination(lake: &Lake, query: &str) -> Destination {
    lake.destination(query).parse().unwrap()
}

#[tokio::test]
async fn what_is_written_is_scanned() {
    let lake = Lake::new();
    let to = destination(&lake, "?partition=bucket(4,id)");
    to.write([batch(&[1, 2, 3]), batch(&[4])]).await.unwrap().snapshot_id().unwrap();
    to.write([batch(&[5])]).await.unwrap().snapshot_id().unwrap();
    let rows = scan_iceberg(&lake.root()).unwrap().collect().await.unwrap();
    assert_eq!(ids(&rows), [1, 2, 3, 4, 5]);
    let some = scan_iceberg(&lake.root()).unwrap().filter_sql("id in (2, 5, 9)").collect().await.unwrap();
    assert_eq!(ids(&some), [2, 5]);
}

#[tokio::test]
async fn an_empty_write_creates_a_table_and_then_changes_nothing() {
    let lake = Lake::new();
    let to = destination(&lake, "");
    let empty = batch(&[]);
    let WriteOutcome::Empty(report) = to.write([empty.clone()]).await.unwrap() else { panic!("not empty") };
    assert!(report.created && report.snapshot_id.is_none());
    let rows = scan_iceberg(&lake.root()).unwrap().collect().await.unwrap();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 0);
    let plan = scan_iceberg(&lake.root()).unwrap().plan().await.unwrap();
    assert_eq!(plan.schema().fields().len(), 2, "an empty table has its schema");
    let files = lake.files();
    let WriteOutcome::Empty(report) = to.write([empty]).await.unwrap() else { panic!("not empty") };
    assert!(!report.created);
    assert_eq!(lake.files(), files);
}

#[tokio::test]
async fn no_batch_at_all_is_refused() {
    let lake = Lake::new();
    let error = destination(&lake, "").write(Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(lake.files().is_empty());
}

#[tokio::test]
async fn a_batch_of_another_schema_is_refused_and_leaves_no_file() {
    let lake = Lake::new();
    let other =
        RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]).unwrap();
    let error = destination(&lake, "").write([batch(&[1]), other]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    assert!(lake.files().is_empty(), "{:?}", lake.files());
}

#[tokio::test]
async fn a_write_that_is_dropped_half_way_leaves_no_file() {
    let lake = Lake::new();
    let to = destination(&lake, "?partition=bucket(4,id)");
    let plan = to.plan_write(batch(&[1]).schema(), calve::WriteOptions::default()).await.unwrap();
    let mut writer = plan.start();
    writer.write(batch(&(0..10_000).collect::<Vec<_>>())).await.unwrap();
    writer.abort().await;
    assert!(lake.files().is_empty(), "{:?}", lake.files());
}

#[tokio::test]
async fn a_declared_schema_is_held_to_the_table() {
    let lake = Lake::new();
    destination(&lake, "").write([batch(&[1])]).await.unwrap().snapshot_id().unwrap();
    let schema = |name: &str, of: DataType| Arc::new(Schema::new(vec![Field::new(name, of, true)]));
    let fits =
        scan_iceberg(&lake.root()).unwrap().schema(schema("id", DataType::Int64)).collect().await.unwrap();
    assert_eq!(ids(&fits), [1]);
    for wrong in [schema("nowhere", DataType::Int64), schema("name", DataType::Int64)] {
        let error = scan_iceberg(&lake.root()).unwrap().schema(wrong).plan().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    }
}

#[tokio::test]
async fn a_name_in_a_warehouse_is_a_folder_of_it() {
    let lake = Lake::new();
    destination(&lake, "").write([batch(&[1, 2])]).await.unwrap().snapshot_id().unwrap();
    let options = StorageOptions::from_pairs([("warehouse", lake.path(""))]).unwrap();
    let rows = scan_iceberg("air.flights").unwrap().storage_options(options).collect().await.unwrap();
    assert_eq!(ids(&rows), [1, 2]);
}

#[test]
fn the_blocking_calls_do_the_same() {
    let lake = Lake::new();
    blocking::write(&destination(&lake, ""), [batch(&[3, 4])]).unwrap().snapshot_id().unwrap();
    let scan = scan_iceberg(&lake.root()).unwrap();
    assert_eq!(ids(&blocking::collect(&scan).unwrap()), [3, 4]);
    let streamed: Vec<RecordBatch> = blocking::stream(&scan).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(ids(&streamed), [3, 4]);
    assert_eq!(blocking::plan(&scan).unwrap().tasks().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_writers_lose_nothing_that_was_acknowledged() {
    let lake = Lake::new();
    destination(&lake, "").write([batch(&[0])]).await.unwrap().snapshot_id().unwrap();
    let writers: Vec<_> = (1..=4)
        .map(|w| {
            let to = destination(&lake, "");
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for i in 0..5 {
                    let id = w * 100 + i;
                    loop {
                        match to.write([batch(&[id])]).await.unwrap() {
                            WriteOutcome::Committed(_) => break acknowledged.push(id),
                            WriteOutcome::Conflict { .. } => {}
                            other => panic!("{other:?}"),
                        }
                    }
                }
                acknowledged
            })
        })
        .collect();
    let mut expected = vec![0];
    for writer in writers {
        expected.extend(writer.await.unwrap());
    }
    expected.sort_unstable();
    let rows = scan_iceberg(&lake.root()).unwrap().collect().await.unwrap();
    assert_eq!(ids(&rows), expected);
}
