use std::sync::Arc;

use arrow::array::Int32Array;
use bytes::Bytes;
use calve_scan::ErrorKind;
use iceberg::spec::{DataContentType, DataFileBuilder, DataFileFormat, PrimitiveType as P, Struct};

use crate::lab::*;

async fn lab() -> Lab {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int)]));
    let file = batch(&lab.schema(), vec![Arc::new(Int32Array::from(vec![1, 2]))]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    lab
}

fn other(path: &str, content: DataContentType, format: DataFileFormat) -> iceberg::spec::DataFile {
    let mut file = DataFileBuilder::default();
    file.content(content).file_path(path.to_owned()).file_format(format).partition(Struct::empty());
    file.record_count(1).file_size_in_bytes(10).build().unwrap()
}

#[tokio::test]
async fn row_level_deletes_are_refused_and_earlier_snapshots_are_not() {
    let mut lab = lab().await;
    let before = lab.metadata.current_snapshot_id().unwrap();
    let path = lab.name("data/deletes.parquet");
    let now =
        lab.append_deletes([other(&path, DataContentType::PositionDeletes, DataFileFormat::Parquet)]).await;
    let e = lab.scan().plan().await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(e.to_string().contains(&now.to_string()) && e.to_string().contains(&path), "{e}");
    assert_eq!(rows(lab.scan().snapshot_id(before)).await.num_rows(), 2);
}

#[tokio::test]
async fn files_of_other_formats_are_refused_by_name() {
    for format in [DataFileFormat::Orc, DataFileFormat::Avro] {
        let mut lab = lab().await;
        let path = lab.name("data/other");
        lab.append([other(&path, DataContentType::Data, format)]).await;
        let e = lab.scan().plan().await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
        assert!(e.to_string().contains(&path) && e.to_string().contains(&format.to_string()), "{e}");
    }
}

#[tokio::test]
async fn a_data_file_that_is_gone_or_damaged_is_named() {
    let lab = lab().await;
    let plan = lab.scan().plan().await.unwrap();
    let path = plan.tasks()[0].path.clone();
    let good = lab.storage.read(&path).await.unwrap();
    lab.storage.delete(&path).await.unwrap();
    let e = error(lab.scan()).await;
    assert_eq!(e.kind(), ErrorKind::Damaged, "{e}");
    assert!(e.to_string().contains(&path) && e.to_string().contains("missing"), "{e}");
    for bytes in [Bytes::from_static(b"not parquet at all, not even nearly"), good.slice(..good.len() / 2)] {
        let mut padded = bytes.to_vec();
        padded.resize(good.len(), 0);
        lab.storage.put(&path.parse().unwrap(), padded.into()).await.unwrap();
        let e = error(lab.scan()).await;
        assert_eq!(e.kind(), ErrorKind::Damaged, "{e}");
        assert!(e.to_string().contains(&path), "{e}");
    }
}

#[tokio::test]
async fn a_missing_manifest_or_list_is_damage_and_a_missing_snapshot_is_not() {
    for deletes in [false, true] {
        let mut lab = lab().await;
        let path = lab.name("data/deletes.parquet");
        if deletes {
            lab.append_deletes([other(&path, DataContentType::PositionDeletes, DataFileFormat::Parquet)])
                .await;
        }
        let list = lab.metadata.current_snapshot().unwrap().manifest_list().to_owned();
        let manifest = lab.last_manifest().to_owned();
        for path in [&manifest, &list] {
            lab.storage.delete(path).await.unwrap();
            let e = lab.scan().plan().await.unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Damaged, "{e}");
            assert!(e.to_string().contains(path) && e.to_string().contains("missing"), "{e}");
        }
        assert_eq!(lab.scan().snapshot_id(7).plan().await.unwrap_err().kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn damaged_manifests_are_named() {
    let lab = lab().await;
    let list = lab.metadata.current_snapshot().unwrap().manifest_list().to_owned();
    lab.storage.put(&list.parse().unwrap(), Bytes::from_static(b"Obj\x01 nonsense")).await.unwrap();
    let e = error(lab.scan()).await;
    assert_eq!(e.kind(), ErrorKind::Damaged);
    assert!(e.to_string().contains(&list), "{e}");
}

#[tokio::test]
async fn a_required_column_missing_from_a_file_is_an_error() {
    let mut lab = lab().await;
    // The builder would refuse this evolution, so the schema is given to the reader directly.
    let plan = lab.scan().plan().await.unwrap();
    let mut context = serde_json::to_value(plan.context()).unwrap();
    context["schema"]["fields"][0]["id"] = 9.into();
    context["schema"]["fields"][0]["required"] = true.into();
    context["columns"] = serde_json::json!([9]);
    let context = serde_json::from_value(context).unwrap();
    let mut rows = calve_scan::read_tasks(lab.storage.clone(), context, plan.tasks().to_vec());
    let e = futures::StreamExt::next(&mut rows).await.unwrap().unwrap_err();
    assert!(e.to_string().contains("`a` is required"), "{e}");
    lab.append([]).await;
}
