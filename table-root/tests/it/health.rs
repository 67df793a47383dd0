use std::collections::HashMap;

use calve_catalog::testing::{committed, new_table};
use calve_catalog::{CommitOutcome, ErrorKind, LoadedTable, TableCatalog, TableChange};
use calve_storage::{Location, Storage};
use calve_table_root::Finding;

use crate::{append_one, catalog_at, memory_root, names, table_of, text};

/// A table that keeps two old versions of its metadata and gives up the others.
async fn table_that_retires(root: &Location, versions: u64) -> LoadedTable {
    let catalog = catalog_at(root);
    let mut new = new_table();
    new.properties.extend([
        ("write.metadata.delete-after-commit.enabled".to_owned(), "true".to_owned()),
        ("write.metadata.previous-versions-max".to_owned(), "2".to_owned()),
    ]);
    let staged = catalog.stage(catalog.ident(), new).await.unwrap();
    let mut table = committed(catalog.create(&staged, TableChange::none()).await.unwrap()).table;
    for _ in 1..versions {
        table = append_one(&catalog, &table).await;
    }
    table
}

#[tokio::test]
async fn old_copies_are_deleted_and_old_versions_emptied_and_never_freed() {
    let root = memory_root();
    table_that_retires(&root, 7).await;
    let storage = Storage::open(&root).unwrap();
    let metadata = root.join("metadata").unwrap();
    let files = storage.list(&metadata).await.unwrap();
    for version in 0..7 {
        let name = format!("v{version}.metadata.json");
        let file = files.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("{name} is not there"));
        let kept = version >= 4;
        assert_eq!(file.size > 0, kept, "{name}");
        let copies = files.iter().filter(|f| f.name.starts_with(&format!("{version:05}-"))).count();
        assert_eq!(copies, usize::from(kept), "copies of {version}");
    }
    let catalog = catalog_at(&root);
    assert_eq!(catalog.check().await.unwrap(), []);
    // However old the hint is that a reader goes by.
    for hint in ["0", "3", "6", ""] {
        storage.put(&metadata.join("version-hint.text").unwrap(), hint.into()).await.unwrap();
        let table = catalog.load(catalog.ident()).await.unwrap();
        assert_eq!(table.metadata.history().len(), 6, "hint {hint:?}");
    }
}

#[tokio::test]
async fn a_writer_that_slept_through_retirement_takes_no_name() {
    let root = memory_root();
    let catalog = catalog_at(&root);
    let stale = table_that_retires(&root, 2).await;
    let mut table = stale.clone();
    for _ in 0..5 {
        table = append_one(&catalog, &table).await;
    }
    let storage = Storage::open(&root).unwrap();
    storage.put(&root.join("metadata/version-hint.text").unwrap(), "1".into()).await.unwrap();
    let next = calve_catalog::testing::snapshot(&stale.metadata, &stale.storage).await;
    let id = next.snapshot_id();
    let change = calve_catalog::testing::append(&stale.metadata, next);
    let outcome = catalog.commit(&stale, change).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown(_)), "an emptied name tells nothing: {outcome:?}");
    let now = catalog.load(catalog.ident()).await.unwrap();
    assert!(now.metadata.snapshot_by_id(id).is_none());
    assert_eq!(now.metadata.history().len(), 6);
}

#[tokio::test]
async fn nothing_is_deleted_where_the_table_does_not_ask_for_it() {
    let root = memory_root();
    let catalog = catalog_at(&root);
    let mut new = new_table();
    new.properties.insert("write.metadata.previous-versions-max".to_owned(), "1".to_owned());
    let staged = catalog.stage(catalog.ident(), new).await.unwrap();
    let mut table = committed(catalog.create(&staged, TableChange::none()).await.unwrap()).table;
    for _ in 0..5 {
        table = append_one(&catalog, &table).await;
    }
    let files = Storage::open(&root).unwrap().list(&root.join("metadata").unwrap()).await.unwrap();
    assert!(files.iter().all(|file| file.size > 0));
    assert_eq!(files.iter().filter(|file| file.name.ends_with(".metadata.json")).count(), 12);
}

#[tokio::test]
async fn what_a_crash_left_is_found_and_mended() {
    let storage_of = |root: &Location| Storage::open(root).unwrap();
    for (hint, copy) in [(true, false), (false, true), (true, true)] {
        let root = memory_root();
        table_of(&root, 4).await;
        let (storage, catalog) = (storage_of(&root), catalog_at(&root));
        let metadata = root.join("metadata").unwrap();
        let copy_name = names(&root).await.into_iter().find(|name| name.starts_with("00003-")).unwrap();
        if hint {
            storage.put(&metadata.join("version-hint.text").unwrap(), "2".into()).await.unwrap();
        }
        if copy {
            storage.delete(metadata.join(&copy_name).unwrap().as_str()).await.unwrap();
        }
        let found = catalog.check().await.unwrap();
        assert_eq!(found.len(), usize::from(hint) + usize::from(copy), "{found:?}");
        assert!(found.iter().all(Finding::is_mended_by_repair), "{found:?}");
        assert_eq!(catalog.repair().await.unwrap(), found);
        assert_eq!(catalog.check().await.unwrap(), []);
        assert_eq!(text(&root, "metadata/version-hint.text").await, "3");
        assert!(names(&root).await.contains(&copy_name));
        assert_eq!(catalog.repair().await.unwrap(), [], "there is nothing left to mend");
    }
}

#[tokio::test]
async fn hints_that_mislead_are_found_and_mended() {
    for says in ["9", "nonsense", "v3.metadata.json"] {
        let root = memory_root();
        table_of(&root, 3).await;
        let storage = Storage::open(&root).unwrap();
        storage.put(&root.join("metadata/version-hint.text").unwrap(), says.into()).await.unwrap();
        let catalog = catalog_at(&root);
        let found = catalog.check().await.unwrap();
        assert_eq!(found, [Finding::Hint { says: Some(says.to_owned()), current: 2 }]);
        catalog.repair().await.unwrap();
        assert_eq!(text(&root, "metadata/version-hint.text").await, "2");
    }
}

#[tokio::test]
async fn a_copied_root_is_refused_until_it_is_adopted() {
    let (root, copy) = (memory_root(), memory_root());
    table_of(&root, 3).await;
    let (from, to) = (Storage::open(&root).unwrap(), Storage::open(&copy).unwrap());
    for path in from.list_all(&root).await.unwrap() {
        let below = path.strip_prefix(root.as_str()).unwrap().trim_start_matches('/');
        to.put(&copy.join(below).unwrap(), from.read(&path).await.unwrap()).await.unwrap();
    }
    let catalog = catalog_at(&copy);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let error = catalog.check_commit(&base).await.unwrap_err();
    assert!(
        error.to_string().contains(root.as_str()) && error.to_string().contains(copy.as_str()),
        "{error}"
    );
    assert_eq!(catalog.check().await.unwrap(), [Finding::Copied { from: root.as_str().to_owned() }]);

    let adopted = committed(catalog.adopt().await.unwrap()).table;
    assert_eq!(adopted.metadata.location(), copy.as_str());
    assert_eq!(catalog.check().await.unwrap(), []);
    let appended = append_one(&catalog, &adopted).await;
    assert_eq!(appended.metadata.history().len(), 3);
    // The one it was copied from is as it was.
    assert_eq!(catalog_at(&root).check().await.unwrap(), []);
    let error = catalog.adopt().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
}

#[tokio::test]
async fn a_catalogs_table_is_refused_until_it_is_adopted() {
    let root = memory_root();
    let table = table_of(&root, 3).await;
    let storage = Storage::open(&root).unwrap();
    // As a catalog leaves it: `N-uuid` names alone, and nothing that says calve.
    for name in names(&root).await {
        if name.starts_with('v') {
            storage.delete(root.join("metadata").unwrap().join(&name).unwrap().as_str()).await.unwrap();
        }
    }
    let mut metadata = serde_json::to_value(&*table.metadata).unwrap();
    metadata["properties"].as_object_mut().unwrap().remove("calve.table-root");
    let name = names(&root).await.into_iter().find(|name| name.starts_with("00002-")).unwrap();
    let file = root.join("metadata").unwrap().join(&name).unwrap();
    storage.put(&file, metadata.to_string().into()).await.unwrap();

    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    assert!(catalog.check_commit(&base).await.unwrap_err().to_string().contains("--adopt"));
    let found = catalog.check().await.unwrap();
    assert!(found.contains(&Finding::NotATableRoot), "{found:?}");
    assert!(found.iter().all(Finding::is_mended_by_adoption), "{found:?}");
    assert_eq!(catalog.repair().await.unwrap(), [], "a repair is no adoption");

    let adopted = committed(catalog.adopt().await.unwrap()).table;
    assert_eq!(catalog.check().await.unwrap(), []);
    assert_eq!(text(&root, "metadata/version-hint.text").await, "3");
    assert_eq!(adopted.metadata.metadata_log().last().unwrap().metadata_file, file.as_str());
    append_one(&catalog, &adopted).await;
}

#[tokio::test]
async fn a_packed_table_is_adopted_into_plain_names() {
    let root = memory_root();
    let table = table_of(&root, 2).await;
    let storage = Storage::open(&root).unwrap();
    let catalog = catalog_at(&root);
    let packed = HashMap::from([("write.metadata.compression-codec".to_owned(), "gzip".to_owned())]);
    let table = catalog.commit(&table, TableChange::set_properties(packed)).await.unwrap();
    let CommitOutcome::Committed(_) = table else { panic!("{table:?}") };
    let plain = root.join("metadata/v2.metadata.json").unwrap();
    let bytes = storage.read(plain.as_str()).await.unwrap();
    storage.put(&root.join("metadata/v2.gz.metadata.json").unwrap(), bytes).await.unwrap();
    storage.delete(plain.as_str()).await.unwrap();
    let found = catalog.check().await.unwrap();
    assert_eq!(found, [Finding::OtherSpelling { name: "v2.gz.metadata.json".to_owned() }]);
    let adopted = catalog.adopt().await.unwrap();
    let CommitOutcome::Committed(made) = adopted else { panic!("{adopted:?}") };
    assert!(names(&root).await.contains(&"v3.metadata.json".to_owned()));
    append_one(&catalog, &made.table).await;
    assert_eq!(catalog.check().await.unwrap(), []);
}
