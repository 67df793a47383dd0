use calve_catalog::TableCatalog;
use calve_storage::Storage;

use crate::{append_one, catalog_at, memory_root, names, table_of, text};

#[tokio::test]
async fn two_commits_leave_two_names_two_copies_and_a_hint_without_newline() {
    let root = memory_root();
    table_of(&root, 2).await;
    let names = names(&root).await;
    let count = |prefix: &str, suffix: &str| {
        names.iter().filter(|n| n.starts_with(prefix) && n.ends_with(suffix)).count()
    };
    assert_eq!(count("v0.metadata.json", ""), 1);
    assert_eq!(count("v1.metadata.json", ""), 1);
    assert_eq!(count("00000-", ".metadata.json"), 1);
    assert_eq!(count("00001-", ".metadata.json"), 1);
    assert_eq!(text(&root, "metadata/version-hint.text").await, "1");
}

#[tokio::test]
async fn the_copy_holds_the_bytes_of_its_version() {
    let root = memory_root();
    let table = table_of(&root, 3).await;
    let storage = Storage::open(&root).unwrap();
    let copy = storage.read(&table.metadata_location).await.unwrap();
    let version = storage.read(root.join("metadata/v2.metadata.json").unwrap().as_str()).await.unwrap();
    assert!(table.metadata_location.contains("/metadata/00002-"));
    assert_eq!(copy, version);
}

#[tokio::test]
async fn local_files_leave_no_temporary_names() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("air/flights").to_str().unwrap().parse().unwrap();
    table_of(&root, 3).await;
    let left: Vec<_> =
        names(&root).await.into_iter().filter(|n| n.contains("tmp") || n.contains('#')).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn appends_keep_their_base_when_the_clock_is_behind() {
    let root = memory_root();
    let catalog = catalog_at(&root);
    let table = table_of(&root, 2).await;
    let again = catalog.load(catalog.ident()).await.unwrap();
    assert_eq!(again.metadata, table.metadata);
    let next = append_one(&catalog, &again).await;
    assert!(next.metadata.last_updated_ms() >= again.metadata.last_updated_ms());
}
