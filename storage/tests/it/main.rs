//! Stores, from outside.
#![allow(clippy::unwrap_used, reason = "a test that can't set itself up has failed")]

/// Connections, shared by stores.
mod clients;
/// Files opened for the iceberg crate.
mod iceberg_io;

use bytes::Bytes;
use calve_storage::{ErrorKind, Location, PutNew, Storage, StoreProperties};
use futures::future::join_all;

fn stores() -> (tempfile::TempDir, Vec<(Storage, Location)>) {
    let folder = tempfile::tempdir().unwrap();
    let disk: Location = folder.path().join("a b/t%20ä").to_str().unwrap().parse().unwrap();
    let memory: Location = format!("memory://{}/t", uuid::Uuid::new_v4()).parse().unwrap();
    let stores = [disk, memory].into_iter().map(|l| (Storage::open(&l).unwrap(), l)).collect();
    (folder, stores)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_racers_for_a_name_one_wins_and_its_bytes_stay() {
    let (_folder, stores) = stores();
    for (storage, root) in stores {
        for round in 0..20 {
            let name = root.join(&format!("v{round}")).unwrap();
            let racers = (0..16).map(|i| {
                let (storage, name) = (storage.clone(), name.clone());
                tokio::spawn(
                    async move { (i, storage.put_new(&name, Bytes::from(i.to_string())).await.unwrap()) },
                )
            });
            let won: Vec<i32> = join_all(racers)
                .await
                .into_iter()
                .map(Result::unwrap)
                .filter_map(|(i, put)| (put == PutNew::Created).then_some(i))
                .collect();
            assert_eq!(won.len(), 1, "{name}");
            assert_eq!(storage.read(name.as_str()).await.unwrap(), won[0].to_string());
        }
    }
}

#[tokio::test]
async fn a_taken_name_keeps_its_bytes_even_when_they_are_none() {
    let (_folder, stores) = stores();
    for (storage, root) in stores {
        let name = root.join("v1").unwrap();
        storage.put(&name, Bytes::new()).await.unwrap();
        assert_eq!(storage.put_new(&name, "x".into()).await.unwrap(), PutNew::Taken);
        assert!(storage.read(name.as_str()).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn absent_files_are_not_found_and_deleting_them_is_fine() {
    let (_folder, stores) = stores();
    for (storage, root) in stores {
        let name = root.join("nowhere").unwrap();
        assert_eq!(storage.read(name.as_str()).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(storage.read_if_exists(&name).await.unwrap(), None);
        assert_eq!(storage.read_state(&name).await.unwrap().content, None);
        storage.delete(name.as_str()).await.unwrap();
        assert!(storage.list(&root).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_state_is_replaced_only_while_it_lasts() {
    let (_folder, stores) = stores();
    for (storage, root) in stores {
        let name = root.join("hint").unwrap();
        let none = storage.read_state(&name).await.unwrap();
        assert!(storage.put_if_unchanged(&name, "1".into(), &none).await.unwrap());
        assert!(!storage.put_if_unchanged(&name, "2".into(), &none).await.unwrap());
        let one = storage.read_state(&name).await.unwrap();
        assert!(storage.put_if_unchanged(&name, "3".into(), &one).await.unwrap());
        assert!(!storage.put_if_unchanged(&name, "4".into(), &one).await.unwrap());
        assert_eq!(storage.read(name.as_str()).await.unwrap(), "3");
    }
}

#[tokio::test]
async fn names_with_spaces_percent_signs_and_emoji_are_listed_as_they_are() {
    let (_folder, stores) = stores();
    for (storage, root) in stores {
        for name in ["a b", "a%20b", "😀+=,", "x#1y"] {
            let file = root.join("data").unwrap().join(name).unwrap();
            assert_eq!(storage.put_new(&file, "x".into()).await.unwrap(), PutNew::Created);
        }
        let mut names: Vec<_> =
            storage.list(&root.join("data").unwrap()).await.unwrap().into_iter().map(|f| f.name).collect();
        names.sort();
        assert_eq!(names, ["a b", "a%20b", "x#1y", "😀+=,"]);
        let all = storage.list_all(&root).await.unwrap();
        assert_eq!(all.len(), 4);
        for path in all {
            assert_eq!(storage.read(&path).await.unwrap(), "x", "{path}");
        }
    }
}

#[tokio::test]
async fn a_path_in_another_store_is_refused() {
    let (_folder, stores) = stores();
    for (storage, _) in stores {
        for other in ["s3://bucket/x", "memory://another/x", "nonsense"] {
            assert_eq!(storage.read(other).await.unwrap_err().kind(), ErrorKind::Location, "{other}");
        }
    }
}

#[tokio::test]
async fn what_is_asked_of_a_store_is_counted_by_kind() {
    let root: Location = format!("memory://{}/t", uuid::Uuid::new_v4()).parse().unwrap();
    let storage = Storage::open(&root).unwrap();
    let file = root.join("a").unwrap();
    storage.put(&file, "12345".into()).await.unwrap();
    let before = storage.requests();
    let _ = storage.put_new(&file, "678".into()).await.unwrap();
    storage.read(file.as_str()).await.unwrap();
    storage.read_if_exists(&root.join("b").unwrap()).await.unwrap();
    storage.store().get_ranges(file.path(), &[0..1, 2..4]).await.unwrap();
    storage.list(&root).await.unwrap();
    storage.clone().delete(file.as_str()).await.unwrap();
    let asked = storage.requests().since(&before);
    assert_eq!((asked.put, asked.get, asked.list, asked.delete, asked.head), (1, 4, 1, 1, 0), "{asked:?}");
    assert_eq!((asked.bytes_written, asked.bytes_read), (3, 5 + 3), "{asked:?}");
    assert_eq!(asked.total(), 7);
}

#[test]
fn a_cloud_store_is_opened_without_being_asked_and_shows_no_secret() {
    for (location, key) in [
        ("s3://lake/t", "s3.secret-access-key"),
        ("s3a://lake/t", "s3.session-token"),
        ("gs://lake/t", "gcs.oauth2.token"),
        ("abfss://box@account.dfs.core.windows.net/t", "adls.sas-token.account"),
    ] {
        let location: Location = location.parse().unwrap();
        let mut properties = StoreProperties::default();
        properties.set("s3.access-key-id", "hunter2");
        properties.set(key, "sv=1&sig=hunter2");
        let storage = Storage::open_with(&location, &properties).unwrap();
        let text = format!("{storage:?} {properties:?}");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(storage.path(location.join("data/x").unwrap().as_str()).is_ok());
    }
}

#[tokio::test]
async fn what_stands_in_the_way_on_disk_is_an_error_and_not_absence() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    let below: Location = folder.path().join("file/t/v0").to_str().unwrap().parse().unwrap();
    let storage = Storage::open(&below).unwrap();
    let error = storage.put_new(&below, "x".into()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed, "{error}");
    assert!(error.to_string().contains("file/t/v0"), "{error}");
}

#[tokio::test]
async fn durability_is_one_of_two_words_and_changes_no_promise_but_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file: Location = folder.path().join("a/b").to_str().unwrap().parse().unwrap();
    for word in ["disk", "process"] {
        let properties = [("calve.local.durability", word)].into_iter().collect();
        let storage = Storage::open_with(&file, &properties).unwrap();
        let name = file.join(word).unwrap();
        assert_eq!(storage.put_new(&name, "x".into()).await.unwrap(), PutNew::Created);
        assert_eq!(storage.put_new(&name, "y".into()).await.unwrap(), PutNew::Taken);
        assert_eq!(storage.read(name.as_str()).await.unwrap(), "x");
    }
    let properties = [("calve.local.durability", "proces")].into_iter().collect();
    let error = Storage::open_with(&file, &properties).unwrap_err();
    assert!(error.to_string().contains("neither disk nor process"), "{error}");
}
