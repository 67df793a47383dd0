use std::sync::Arc;

use bytes::Bytes;
use calve_storage::{IcebergStorage, IcebergStorageFactory, StoreProperties};
use futures::StreamExt;
use iceberg::io::{FileIO, FileIOBuilder, Storage as IcebergIo, StorageFactory};

use crate::stores;

fn files() -> FileIO {
    FileIOBuilder::new(Arc::new(IcebergStorageFactory::default())).build()
}

#[tokio::test]
async fn the_iceberg_crate_reads_writes_and_deletes_by_stored_paths() {
    let (_folder, stores) = stores();
    for (_, root) in stores {
        let files = files();
        let name = root.join("data/a b%20ä.bin").unwrap();
        let name = name.as_str();
        assert!(!files.exists(name).await.unwrap());
        assert!(files.new_input(name).unwrap().read().await.is_err());
        files.new_output(name).unwrap().write("hello, sea".into()).await.unwrap();
        assert!(files.exists(name).await.unwrap());
        let input = files.new_input(name).unwrap();
        assert_eq!(input.metadata().await.unwrap().size, 10);
        let reader = input.reader().await.unwrap();
        assert_eq!(reader.read(7..10).await.unwrap(), "sea");
        assert!(reader.read(7..99).await.is_err(), "no byte may be made up");
        files.delete(name).await.unwrap();
        files.delete(name).await.unwrap();
        assert!(!files.exists(name).await.unwrap());
    }
}

#[tokio::test]
async fn a_file_written_in_parts_is_there_once_it_is_closed() {
    let (_folder, stores) = stores();
    for (_, root) in stores {
        let files = files();
        let name = root.join("data/parts.bin").unwrap();
        let mut writer = files.new_output(name.as_str()).unwrap().writer().await.unwrap();
        let part = Bytes::from(vec![7; 6 << 20]);
        writer.write(part.clone()).await.unwrap();
        writer.write(part.clone()).await.unwrap();
        assert!(!files.exists(name.as_str()).await.unwrap());
        writer.write("end".into()).await.unwrap();
        writer.close().await.unwrap();
        assert!(writer.write("more".into()).await.is_err() && writer.close().await.is_err());
        let read = files.new_input(name.as_str()).unwrap().read().await.unwrap();
        assert_eq!(read.len(), (12 << 20) + 3);
        assert!(read.ends_with(b"end"));
    }
}

#[tokio::test]
async fn deleting_a_folder_spares_its_namesakes() {
    let (_folder, stores) = stores();
    for (storage, root) in stores {
        let files =
            FileIOBuilder::new(Arc::new(IcebergStorageFactory::from(IcebergStorage::from(storage)))).build();
        for name in ["a/1", "a/b/2", "ab/3", "c/4"] {
            let name = root.join(name).unwrap();
            files.new_output(name.as_str()).unwrap().write("x".into()).await.unwrap();
        }
        files.delete_prefix(root.join("a").unwrap().as_str()).await.unwrap();
        let gone = futures::stream::iter([root.join("c/4").unwrap().as_str().to_owned()]).boxed();
        files.delete_stream(gone).await.unwrap();
        for (name, there) in [("a/1", false), ("a/b/2", false), ("ab/3", true), ("c/4", false)] {
            let name = root.join(name).unwrap();
            assert_eq!(files.exists(name.as_str()).await.unwrap(), there, "{name}");
        }
    }
}

#[tokio::test]
async fn what_is_sent_to_another_process_holds_no_secret_and_still_opens() {
    let properties: StoreProperties =
        [("s3.secret-access-key", "hunter2"), ("s3.endpoint", "http://127.0.0.1:1")].into_iter().collect();
    let sent: Arc<dyn IcebergIo> = Arc::new(IcebergStorage::new(properties));
    let text = serde_json::to_string(&sent).unwrap();
    assert!(!text.contains("hunter2") && !format!("{sent:?}").contains("hunter2"), "{text}");
    let received: Arc<dyn IcebergIo> = serde_json::from_str(&text).unwrap();
    received.write("memory://sent/x", "y".into()).await.unwrap();
    assert_eq!(received.read("memory://sent/x").await.unwrap(), "y");
    let factory: Arc<dyn StorageFactory> = Arc::new(IcebergStorageFactory::default());
    let factory: Arc<dyn StorageFactory> =
        serde_json::from_str(&serde_json::to_string(&factory).unwrap()).unwrap();
    assert_eq!(factory.build(&Default::default()).unwrap().read("memory://sent/x").await.unwrap(), "y");
}

#[tokio::test]
async fn a_path_that_is_no_location_is_named() {
    let error = files().new_input("ftp://host/file").unwrap().read().await.unwrap_err();
    assert!(error.to_string().contains("ftp"), "{error}");
}
