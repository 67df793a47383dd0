use std::sync::Arc;

use arrow::array::{AsArray, Int32Array, RecordBatch};
use arrow::datatypes::Int32Type;
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::PrimitiveType as P;

use crate::lab::*;

async fn lab(files: i32) -> Lab {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int)]));
    for n in 0..files {
        let file = batch(&lab.schema(), vec![Arc::new(Int32Array::from_iter_values(n * 100..(n + 1) * 100))]);
        let file = lab.file(&file, &FileOptions { rows_a_group: Some(30), ..Default::default() }).await;
        lab.append([file]).await;
    }
    lab
}

#[tokio::test]
async fn rows_come_in_table_order_however_many_files_are_read_at_once() {
    let lab = lab(12).await;
    let order: Vec<String> =
        lab.scan().plan().await.unwrap().tasks().iter().map(|t| t.path.clone()).collect();
    assert_eq!(order.len(), 12);
    for _ in 0..5 {
        let all = rows(lab.scan()).await;
        assert_eq!(all.column(0).as_primitive::<Int32Type>().values(), &(0..1200).collect::<Vec<_>>()[..]);
    }
}

#[tokio::test]
async fn a_limit_is_exact_and_reads_no_further() {
    let lab = lab(5).await;
    for limit in [0, 1, 29, 30, 31, 100, 250, 500, 5000] {
        let got = rows(lab.scan().limit(limit)).await;
        assert_eq!(got.num_rows() as u64, limit.min(500), "{limit}");
        let got = rows(lab.scan().limit(limit).filter_sql("a >= 450")).await;
        assert_eq!(got.num_rows() as u64, limit.min(50), "{limit}");
    }
    // With all files but the first gone, a limit within the first is still met.
    let plan = lab.scan().plan().await.unwrap();
    for task in &plan.tasks()[1..] {
        lab.storage.delete(&task.path).await.unwrap();
    }
    assert_eq!(rows(lab.scan().limit(100)).await.num_rows(), 100);
    assert!(try_rows(lab.scan().limit(101)).await.is_err());
}

#[tokio::test]
async fn batches_are_no_larger_than_asked() {
    let lab = lab(2).await;
    let plan = lab.scan().batch_size(7).plan().await.unwrap();
    let batches: Vec<RecordBatch> = plan.read().try_collect().await.unwrap();
    assert!(batches.iter().all(|b| b.num_rows() <= 7));
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 200);
}

#[tokio::test]
async fn a_stream_ends_at_its_first_error() {
    let lab = lab(3).await;
    let plan = lab.scan().plan().await.unwrap();
    lab.storage.delete(&plan.tasks()[1].path).await.unwrap();
    let all: Vec<_> = plan.read().collect().await;
    assert!(all.last().unwrap().is_err());
    assert_eq!(all.iter().filter(|b| b.is_err()).count(), 1);
    assert_eq!(all.iter().flatten().map(RecordBatch::num_rows).sum::<usize>(), 100);
}

#[tokio::test]
async fn a_dropped_stream_stops_reading() {
    let lab = lab(4).await;
    let mut stream = lab.scan().batch_size(1).plan().await.unwrap().read();
    assert_eq!(stream.next().await.unwrap().unwrap().num_rows(), 1);
    drop(stream);
    tokio::task::yield_now().await;
    let metrics = tokio::runtime::Handle::current().metrics();
    for _ in 0..100 {
        if metrics.num_alive_tasks() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{} tasks outlived their stream", metrics.num_alive_tasks());
}
