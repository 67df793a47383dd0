use std::sync::Arc;

use arrow::array::{Float64Array, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use calve_scan::{ReadContext, ScanTask, read_tasks};
use futures::TryStreamExt;
use iceberg::spec::{Literal, PrimitiveType as P, Transform};

use crate::lab::*;

#[tokio::test]
async fn a_plan_reads_the_same_after_a_trip_through_json() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "s", P::String), optional(2, "x", P::Double)]),
        &[("s", Transform::Identity)],
    );
    let mut files = Vec::new();
    for s in ["a", "b", "c"] {
        let file = batch(
            &lab.schema(),
            vec![
                Arc::new(StringArray::from(vec![s; 3])),
                Arc::new(Float64Array::from(vec![f64::NAN, 1.0, -0.0])),
            ],
        );
        let options = FileOptions { partition: vec![Some(Literal::string(s))], ..Default::default() };
        files.push(lab.file(&file, &options).await);
    }
    lab.append(files).await;
    let scan = lab.scan().filter_sql("s > 'a' and (x = 'nan' or x in (0, 5))").rename([("x", "y")]);
    let plan = scan.plan().await.unwrap();
    assert_eq!(plan.tasks().len(), 2);
    let tasks = serde_json::to_string(plan.tasks()).unwrap();
    let context = serde_json::to_string(plan.context()).unwrap();
    let here = rows(scan).await;
    let tasks: Vec<ScanTask> = serde_json::from_str(&tasks).unwrap();
    let context: ReadContext = serde_json::from_str(&context).unwrap();
    assert_eq!(tasks, plan.tasks());
    let schema = context.schema();
    let there: Vec<RecordBatch> =
        read_tasks(lab.storage.clone(), context, tasks).try_collect().await.unwrap();
    assert_eq!(concat_batches(&schema, &there).unwrap(), here);
    assert_eq!(here.num_rows(), 4);
}

#[tokio::test]
async fn a_task_cut_in_two_gives_each_row_once() {
    let mut lab = Lab::new(schema([optional(1, "x", P::Double)]));
    let values = Float64Array::from_iter_values((0..1000).map(f64::from));
    let file = batch(&lab.schema(), vec![Arc::new(values)]);
    let file = lab.file(&file, &FileOptions { rows_a_group: Some(100), ..Default::default() }).await;
    lab.append([file]).await;
    let plan = lab.scan().plan().await.unwrap();
    let whole = plan.tasks()[0].clone();
    for cut in [1, 5, whole.file_size / 3, whole.file_size / 2, whole.file_size - 1] {
        let mut halves = vec![whole.clone(), whole.clone()];
        halves[0].length = cut;
        halves[1].start = cut;
        halves[1].length = whole.file_size - cut;
        let read = read_tasks(lab.storage.clone(), plan.context().clone(), halves);
        let read: Vec<RecordBatch> = read.try_collect().await.unwrap();
        assert_eq!(concat_batches(&plan.schema(), &read).unwrap(), rows(lab.scan()).await, "{cut}");
    }
}
