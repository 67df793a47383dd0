use calve_catalog::testing::{append, snapshot};
use calve_catalog::{CommitOutcome, ErrorKind, TableCatalog};
use calve_storage::{Location, Storage};
use calve_table_root::load_static;
use std::io::Write;

use crate::{append_one, catalog_at, memory_root, names, table_of, text};

async fn put(root: &Location, name: &str, bytes: impl Into<bytes::Bytes>) {
    let storage = Storage::open(root).unwrap();
    storage.put(&root.join("metadata").unwrap().join(name).unwrap(), bytes.into()).await.unwrap();
}

async fn remove(root: &Location, name: &str) {
    let storage = Storage::open(root).unwrap();
    storage.delete(root.join("metadata").unwrap().join(name).unwrap().as_str()).await.unwrap();
}

async fn bytes_of(root: &Location, version: u64) -> bytes::Bytes {
    text(root, &format!("metadata/v{version}.metadata.json")).await.into()
}

async fn snapshots(root: &Location) -> usize {
    let catalog = catalog_at(root);
    catalog.load(catalog.ident()).await.unwrap().metadata.history().len()
}

/// Leaves only what `keep` names, next to the manifests.
async fn keep_only(root: &Location, keep: impl Fn(&str) -> bool) {
    for name in names(root).await {
        if !keep(&name) && !name.ends_with(".avro") {
            remove(root, &name).await;
        }
    }
}

#[tokio::test]
async fn twelve_versions_without_a_hint_open_at_the_twelfth() {
    let root = memory_root();
    table_of(&root, 13).await;
    keep_only(&root, |n| n.starts_with('v') && n.ends_with(".json")).await;
    assert_eq!(snapshots(&root).await, 12, "numbers are compared as numbers");
}

#[tokio::test]
async fn copies_alone_open_at_the_highest() {
    let root = memory_root();
    table_of(&root, 11).await;
    keep_only(&root, |n| n.starts_with('0')).await;
    assert_eq!(snapshots(&root).await, 10);
}

#[tokio::test]
async fn a_stale_bad_or_dangling_hint_never_fails_alone() {
    for hint in ["0", "2", "2\n", " v2 ", "v2.metadata.json", "", "abc", "7", "99999", "-1"] {
        let root = memory_root();
        table_of(&root, 5).await;
        put(&root, "version-hint.text", hint.to_owned()).await;
        assert_eq!(snapshots(&root).await, 4, "hint {hint:?}");
        let catalog = catalog_at(&root);
        let base = catalog.load(catalog.ident()).await.unwrap();
        append_one(&catalog, &base).await;
        assert_eq!(text(&root, "metadata/version-hint.text").await, "5", "hint {hint:?} is mended");
        assert_eq!(snapshots(&root).await, 5, "hint {hint:?}");
    }
}

#[tokio::test]
async fn a_hint_far_behind_is_followed_by_listing() {
    let root = memory_root();
    table_of(&root, 30).await;
    put(&root, "version-hint.text", "3").await;
    assert_eq!(snapshots(&root).await, 29);
}

#[tokio::test]
async fn a_hint_may_name_a_unique_file() {
    let root = memory_root();
    table_of(&root, 3).await;
    let copy = names(&root).await.into_iter().find(|n| n.starts_with("00001-")).unwrap();
    keep_only(&root, |n| n.starts_with('0')).await;
    for hint in [copy.clone(), copy.trim_end_matches(".metadata.json").to_owned()] {
        put(&root, "version-hint.text", hint).await;
        assert_eq!(snapshots(&root).await, 1, "the hint decides where no version name does");
    }
}

#[tokio::test]
async fn a_file_that_lost_behind_a_good_hint_does_not_count() {
    let root = memory_root();
    table_of(&root, 3).await;
    let ahead = text(&root, "metadata/v2.metadata.json").await;
    keep_only(&root, |n| n.starts_with("00000-") || n.starts_with("00001-")).await;
    put(&root, "version-hint.text", "1").await;
    put(&root, "00002-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json", ahead).await;
    assert_eq!(snapshots(&root).await, 1);
}

#[tokio::test]
async fn two_unique_files_of_one_version_are_an_error_that_names_them() {
    let root = memory_root();
    table_of(&root, 2).await;
    let bytes = bytes_of(&root, 1).await;
    keep_only(&root, |n| n.starts_with("00001-")).await;
    put(&root, "00001-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json", bytes).await;
    let catalog = catalog_at(&root);
    let error = catalog.load(catalog.ident()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("00001-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d"), "{error}");
}

#[tokio::test]
async fn two_tables_in_one_folder_are_an_error_that_names_both() {
    let root = memory_root();
    table_of(&root, 3).await;
    let other = memory_root();
    table_of(&other, 1).await;
    put(&root, "00007-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json", bytes_of(&other, 0).await).await;
    remove(&root, "version-hint.text").await;
    let catalog = catalog_at(&root);
    let error = catalog.load(catalog.ident()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("two tables"), "{error}");
}

#[tokio::test]
async fn packed_metadata_opens_under_any_name() {
    for name in ["v3.gz.metadata.json", "v3.metadata.json.gz", "v3.metadata.json"] {
        let root = memory_root();
        table_of(&root, 4).await;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&bytes_of(&root, 3).await).unwrap();
        keep_only(&root, |n| n == "version-hint.text").await;
        put(&root, name, packed.finish().unwrap()).await;
        assert_eq!(snapshots(&root).await, 3, "{name}");
    }
    let root = memory_root();
    table_of(&root, 4).await;
    let plain = bytes_of(&root, 3).await;
    keep_only(&root, |n| n == "version-hint.text").await;
    put(&root, "v3.gz.metadata.json", plain).await;
    assert_eq!(snapshots(&root).await, 3, "plain bytes under a packed name");
}

#[tokio::test]
async fn a_commit_over_another_spelling_of_the_next_version_is_a_conflict() {
    let root = memory_root();
    let table = table_of(&root, 2).await;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes_of(&root, 1).await).unwrap();
    let packed = packed.finish().unwrap();
    remove(&root, "v1.metadata.json").await;
    put(&root, "v1.gz.metadata.json", packed.clone()).await;
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    put(&root, "v2.gz.metadata.json", packed).await;
    let next = snapshot(&table.metadata, &table.storage).await;
    let lost = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
    assert!(matches!(lost, CommitOutcome::Conflict(_)), "{lost:?}");
}

#[tokio::test]
async fn a_missing_hint_never_starts_a_new_table_over_an_old_one() {
    let root = memory_root();
    table_of(&root, 3).await;
    remove(&root, "version-hint.text").await;
    let catalog = catalog_at(&root);
    let error = catalog.stage(catalog.ident(), calve_catalog::testing::new_table()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
}

#[tokio::test]
async fn a_table_that_a_catalog_may_own_is_read_and_not_committed_to() {
    let root = memory_root();
    table_of(&root, 2).await;
    let theirs =
        text(&root, "metadata/v1.metadata.json").await.replace("\"calve.table-root\":\"1\"", "\"a\":\"b\"");
    keep_only(&root, |_| false).await;
    put(&root, "00001-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json", theirs).await;
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    assert_eq!(base.metadata.history().len(), 1);
    let next = snapshot(&base.metadata, &base.storage).await;
    let error = catalog.commit(&base, append(&base.metadata, next)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains("a catalog may own it"), "{error}");
    assert!(!names(&root).await.iter().any(|n| n == "v2.metadata.json"));
}

#[tokio::test]
async fn a_copied_root_is_read_and_not_committed_to() {
    let root = memory_root();
    table_of(&root, 2).await;
    let copy = memory_root();
    for name in names(&root).await {
        let storage = Storage::open(&root).unwrap();
        let bytes = storage.read(root.join("metadata").unwrap().join(&name).unwrap().as_str()).await.unwrap();
        put(&copy, &name, bytes).await;
    }
    let catalog = catalog_at(&copy);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let error = catalog
        .commit(&base, calve_catalog::TableChange::set_properties([("a".to_owned(), "b".to_owned())].into()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(
        error.to_string().contains(root.as_str()) && error.to_string().contains(copy.as_str()),
        "{error}"
    );
}

#[tokio::test]
async fn a_root_reached_by_a_symbolic_link_is_the_same_root() {
    let folder = tempfile::tempdir().unwrap();
    let real: Location = folder.path().join("real").to_str().unwrap().parse().unwrap();
    table_of(&real, 1).await;
    std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
    let link: Location = folder.path().join("link").to_str().unwrap().parse().unwrap();
    let catalog = catalog_at(&link);
    let base = catalog.load(catalog.ident()).await.unwrap();
    append_one(&catalog, &base).await;
    assert_eq!(snapshots(&real).await, 1);
}

#[tokio::test]
async fn one_metadata_file_opens_as_a_static_table() {
    let root = memory_root();
    let table = table_of(&root, 3).await;
    let file = table.metadata_location.parse().unwrap();
    let opened = load_static(&file, Storage::open(&root).unwrap()).await.unwrap();
    assert_eq!(opened.metadata, table.metadata);
    assert_eq!(opened.ident.name(), "flights");
    let missing = root.join("metadata/v9.metadata.json").unwrap();
    let error = load_static(&missing, Storage::open(&root).unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    put(&root, "v9.metadata.json", "{\"a\": 1}").await;
    let error = load_static(&missing, Storage::open(&root).unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
}

#[tokio::test]
async fn what_can_not_be_committed_to_is_refused_before_anything_is_written() {
    let root = memory_root();
    table_of(&root, 2).await;
    let copy = memory_root();
    for name in names(&root).await {
        let storage = Storage::open(&root).unwrap();
        let bytes = storage.read(root.join("metadata").unwrap().join(&name).unwrap().as_str()).await.unwrap();
        put(&copy, &name, bytes).await;
    }
    let catalog = catalog_at(&copy);
    let base = catalog.load(catalog.ident()).await.unwrap();
    assert_eq!(catalog.check_commit(&base).await.unwrap_err().kind(), ErrorKind::Input);
    let own = catalog_at(&root);
    let base = own.load(own.ident()).await.unwrap();
    own.check_commit(&base).await.unwrap();
}

#[tokio::test]
async fn a_version_name_beats_a_unique_file_of_the_same_version_even_when_the_hint_names_it() {
    let root = memory_root();
    table_of(&root, 2).await;
    let unique = "00001-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json";
    put(&root, unique, bytes_of(&root, 0).await).await;
    put(&root, "version-hint.text", unique).await;
    assert_eq!(snapshots(&root).await, 1, "v1 has the snapshot, the file the hint names has none");
}

#[tokio::test]
async fn a_hint_without_any_metadata_is_no_place_for_a_new_table() {
    let root = memory_root();
    put(&root, "version-hint.text", "3").await;
    let catalog = catalog_at(&root);
    let error = catalog.stage(catalog.ident(), calve_catalog::testing::new_table()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert!(error.to_string().contains("version-hint.text"), "{error}");
}

#[tokio::test]
async fn the_property_counts_only_in_a_version_name() {
    let root = memory_root();
    table_of(&root, 2).await;
    keep_only(&root, |n| n.starts_with('0')).await;
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    let error = catalog.commit(&base, append(&base.metadata, next)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
}

#[tokio::test]
async fn the_last_version_there_is_takes_no_commit() {
    let root = memory_root();
    table_of(&root, 2).await;
    put(&root, "v999999999999999999.metadata.json", bytes_of(&root, 1).await).await;
    put(&root, "version-hint.text", "999999999999999999").await;
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    let error = catalog.commit(&base, append(&base.metadata, next)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

#[tokio::test]
async fn a_hint_that_was_too_high_does_not_hide_a_missing_copy() {
    let root = memory_root();
    table_of(&root, 3).await;
    let copy = names(&root).await.into_iter().find(|n| n.starts_with("00002-")).unwrap();
    remove(&root, &copy).await;
    put(&root, "version-hint.text", "99").await;
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    append_one(&catalog, &base).await;
    assert!(names(&root).await.contains(&copy), "the metadata log names it");
    assert_eq!(text(&root, "metadata/version-hint.text").await, "3");
}

#[tokio::test]
async fn an_emptied_version_is_taken_and_is_no_version() {
    let root = memory_root();
    table_of(&root, 4).await;
    for name in ["v0.metadata.json", "v1.metadata.json"] {
        put(&root, name, "").await;
    }
    put(&root, "version-hint.text", "1").await;
    assert_eq!(snapshots(&root).await, 3, "a hint at a retired name is stale");
    remove(&root, "version-hint.text").await;
    assert_eq!(snapshots(&root).await, 3);
}

#[tokio::test]
async fn a_table_that_packs_its_metadata_is_listed_for_other_spellings() {
    let root = memory_root();
    table_of(&root, 2).await;
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let gzip = [("write.metadata.compression-codec".to_owned(), "gzip".to_owned())];
    let change = calve_catalog::TableChange::set_properties(gzip.into());
    let set = catalog.commit(&base, change).await.unwrap();
    assert!(matches!(set, CommitOutcome::Committed(_)));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&bytes_of(&root, 2).await).unwrap();
    let base = catalog.load(catalog.ident()).await.unwrap();
    put(&root, "v3.gz.metadata.json", packed.finish().unwrap()).await;
    let next = snapshot(&base.metadata, &base.storage).await;
    let lost = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
    assert!(matches!(lost, CommitOutcome::Conflict(_)), "{lost:?}");
    let seen = catalog.load(catalog.ident()).await.unwrap();
    assert!(seen.metadata_location.ends_with("v3.gz.metadata.json"), "{}", seen.metadata_location);
}
