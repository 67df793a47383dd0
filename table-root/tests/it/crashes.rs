use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use calve_catalog::testing::lab::{self, Lab};
use calve_catalog::testing::{append, new_table, snapshot};
use calve_catalog::{CommitOutcome, TableCatalog, TableChange, Warning, async_trait};
use calve_storage::{Location, ObjectPath, ObjectStore, Storage};
use calve_table_root::TableRootCatalog;
use futures::stream::BoxStream;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};

use crate::{append_one, catalog_at, memory_root, names, table_of, text};

/// How a put fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The request never arrives.
    Before,
    /// It is applied and the answer is lost.
    After,
    /// It is applied, and a layer below sends it again and reports the second answer.
    Repeated,
    /// It is refused for want of rights.
    Refused,
    /// It is applied, and the answer is that rights are wanting.
    RefusedAfter,
    /// Somebody else moves a hint to 9 first.
    Moved,
    /// Somebody else makes the same version under a packed name first.
    Rivalled,
}

/// A store whose puts to names that contain `on` fail, `times` times.
#[derive(Debug)]
struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    on: &'static str,
    fault: Fault,
    times: AtomicUsize,
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a faulty store")
    }
}

fn denied(path: &ObjectPath) -> object_store::Error {
    object_store::Error::PermissionDenied { path: path.to_string(), source: "no".into() }
}

fn lost() -> object_store::Error {
    object_store::Error::Generic { store: "faulty", source: "connection reset".into() }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, path: &ObjectPath, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let armed = path.as_ref().contains(self.on)
            && self.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        if !armed {
            return self.inner.put_opts(path, payload, opts).await;
        }
        match self.fault {
            Fault::Before => Err(lost()),
            Fault::After => {
                self.inner.put_opts(path, payload, opts).await?;
                Err(lost())
            }
            Fault::Refused => Err(denied(path)),
            Fault::RefusedAfter => {
                self.inner.put_opts(path, payload, opts).await?;
                Err(denied(path))
            }
            Fault::Moved => {
                self.inner.put_opts(path, PutPayload::from_static(b"9"), PutOptions::default()).await?;
                self.inner.put_opts(path, payload, opts).await
            }
            Fault::Rivalled => {
                let packed = path.as_ref().replace(".metadata.json", ".gz.metadata.json");
                let rival = PutPayload::from_static(b"{}");
                self.inner
                    .put_opts(&ObjectPath::parse(packed).unwrap(), rival, PutOptions::default())
                    .await?;
                self.inner.put_opts(path, payload, opts).await
            }
            Fault::Repeated => {
                self.inner.put_opts(path, payload.clone(), opts.clone()).await?;
                self.inner.put_opts(path, payload, opts).await
            }
        }
    }
    async fn put_multipart_opts(
        &self,
        p: &ObjectPath,
        o: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(p, o).await
    }
    async fn get_opts(&self, path: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(path, options).await
    }
    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        self.inner.delete_stream(paths)
    }
    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }
    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }
    async fn copy_opts(&self, from: &ObjectPath, to: &ObjectPath, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn faulty(root: &Location, on: &'static str, fault: Fault, times: usize) -> TableRootCatalog {
    let inner = Storage::open(root).unwrap().store().clone();
    let store = FaultyStore { inner, on, fault, times: times.into() };
    TableRootCatalog::at(root.clone(), Storage::with_store(root, Arc::new(store))).unwrap()
}

async fn history(root: &Location) -> Vec<i64> {
    let catalog = catalog_at(root);
    let table = catalog.load(catalog.ident()).await.unwrap();
    table.metadata.history().iter().map(|log| log.snapshot_id).collect()
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_committed_once() {
    for fault in [Fault::Before, Fault::After, Fault::Repeated] {
        let root = memory_root();
        table_of(&root, 2).await;
        let catalog = faulty(&root, "v2.metadata.json", fault, 1);
        let base = catalog.load(catalog.ident()).await.unwrap();
        let next = snapshot(&base.metadata, &base.storage).await;
        let id = next.snapshot_id();
        let outcome = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{fault:?}: {outcome:?}");
        assert_eq!(history(&root).await.iter().filter(|s| **s == id).count(), 1, "{fault:?}");
    }
}

#[tokio::test]
async fn a_commit_that_never_arrives_is_unknown_and_resolves_to_committed() {
    let root = memory_root();
    table_of(&root, 2).await;
    let catalog = faulty(&root, "v2.metadata.json", Fault::Before, 4);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    let id = next.snapshot_id();
    let outcome = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
    let CommitOutcome::Unknown(pending) = outcome else { panic!("{outcome:?}") };
    assert_eq!(pending.snapshot_ids(), [id]);
    assert!(!history(&root).await.contains(&id));
    let resolved = catalog.resolve(pending).await.unwrap();
    assert!(matches!(resolved, CommitOutcome::Committed(_)), "{resolved:?}");
    assert!(history(&root).await.contains(&id));
}

#[tokio::test]
async fn an_unknown_commit_whose_base_moved_resolves_to_conflict() {
    let root = memory_root();
    table_of(&root, 2).await;
    let catalog = faulty(&root, "v2.metadata.json", Fault::Before, 4);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    let id = next.snapshot_id();
    let outcome = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
    let CommitOutcome::Unknown(pending) = outcome else { panic!("{outcome:?}") };
    let other = catalog_at(&root);
    append_one(&other, &base).await;
    let resolved = catalog.resolve(pending).await.unwrap();
    assert!(matches!(resolved, CommitOutcome::Conflict(_)), "{resolved:?}");
    assert!(!history(&root).await.contains(&id));
}

#[tokio::test]
async fn a_copy_or_hint_that_fails_is_a_warning_and_the_next_writer_mends_it() {
    for on in ["/00002-", "version-hint.text"] {
        let root = memory_root();
        table_of(&root, 2).await;
        let catalog = faulty(&root, on, Fault::Before, 9);
        let base = catalog.load(catalog.ident()).await.unwrap();
        let next = snapshot(&base.metadata, &base.storage).await;
        let outcome = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
        let CommitOutcome::Committed(made) = outcome else { panic!("{outcome:?}") };
        match (on, made.warnings.as_slice()) {
            ("/00002-", [Warning::CopyNotMade { .. }])
            | ("version-hint.text", [Warning::HintNotMoved { .. }]) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(text(&root, "metadata/version-hint.text").await, "1", "the hint stays behind");
        assert_eq!(history(&root).await.len(), 2, "readers look ahead");

        let healthy = catalog_at(&root);
        let base = healthy.load(healthy.ident()).await.unwrap();
        append_one(&healthy, &base).await;
        let names = names(&root).await;
        for copy in ["00002-", "00003-"] {
            assert!(names.iter().any(|n| n.starts_with(copy)), "{copy} in {names:?}");
        }
        assert_eq!(text(&root, "metadata/version-hint.text").await, "3");
    }
}

#[tokio::test]
async fn a_writer_that_slept_through_a_retired_version_is_unknown_and_not_conflict() {
    let root = memory_root();
    let base = table_of(&root, 2).await;
    let catalog = catalog_at(&root);
    let stale = catalog.load(catalog.ident()).await.unwrap();
    append_one(&catalog, &base).await;
    let storage = Storage::open(&root).unwrap();
    let retired = root.join("metadata/v2.metadata.json").unwrap();
    storage.put(&retired, Default::default()).await.unwrap();
    // The hint as the sleeper saw it, so that only the name can tell.
    storage.put(&root.join("metadata/version-hint.text").unwrap(), "1".into()).await.unwrap();
    let next = snapshot(&stale.metadata, &stale.storage).await;
    let outcome = catalog.commit(&stale, append(&stale.metadata, next)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown(_)), "{outcome:?}");
}

#[tokio::test]
async fn a_create_that_died_before_its_hint_is_read_and_repaired() {
    let root = memory_root();
    table_of(&root, 1).await;
    let storage = Storage::open(&root).unwrap();
    for name in names(&root).await {
        if name != "v0.metadata.json" {
            storage.delete(root.join("metadata").unwrap().join(&name).unwrap().as_str()).await.unwrap();
        }
    }
    let catalog = catalog_at(&root);
    let base = catalog.load(catalog.ident()).await.unwrap();
    append_one(&catalog, &base).await;
    let names = names(&root).await;
    for name in ["00000-", "00001-", "v0.", "v1.", "version-hint.text"] {
        assert!(names.iter().any(|n| n.starts_with(name)), "{name} in {names:?}");
    }
}

#[tokio::test]
async fn a_commit_goes_on_when_its_caller_goes_away() {
    let root = memory_root();
    let base = table_of(&root, 1).await;
    let catalog = catalog_at(&root);
    let next = snapshot(&base.metadata, &base.storage).await;
    let id = next.snapshot_id();
    let change = append(&base.metadata, next);
    let mut commit = Box::pin(catalog.commit(&base, change));
    // Polled until it has handed the deciding step to its own task, then dropped.
    for _ in 0..3 {
        let _ = futures::poll!(&mut commit);
    }
    drop(commit);
    for _ in 0..1000 {
        if text(&root, "metadata/version-hint.text").await == "1" {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(history(&root).await.contains(&id));
    assert_eq!(text(&root, "metadata/version-hint.text").await, "1");
}

#[tokio::test]
async fn resolving_finds_what_landed_however_late() {
    // The answer of every try is lost, and so is every read of the name.
    let root = memory_root();
    let base = table_of(&root, 2).await;
    let pending = unknown(&root, Fault::Before, 4).await;
    let id = pending.snapshot_ids()[0];
    // Landed after all, by a request that was still under way.
    let healthy = catalog_at(&root);
    let CommitOutcome::Committed(_) = healthy.resolve(pending.clone()).await.unwrap() else {
        panic!("not sent")
    };
    // Two more versions later it is still found, by its snapshot.
    let mut table = healthy.load(healthy.ident()).await.unwrap();
    for _ in 0..2 {
        table = append_one(&healthy, &table).await;
    }
    let again = healthy.resolve(pending).await.unwrap();
    assert!(matches!(again, CommitOutcome::Committed(_)), "{again:?}");
    assert_eq!(history(&root).await.iter().filter(|s| **s == id).count(), 1);
    assert!(base.metadata.snapshot_by_id(id).is_none());
}

#[tokio::test]
async fn a_request_that_lands_while_it_is_resolved_is_committed() {
    for call in 0..8 {
        let root = memory_root();
        table_of(&root, 2).await;
        let lab = Lab::default();
        let inner = Storage::open(&root).unwrap().store().clone();
        let (on, fault, times) = ("v2.metadata.json", Fault::Before, 4.into());
        let store = lab.wrap(Arc::new(FaultyStore { inner, on, fault, times }));
        let catalog = TableRootCatalog::at(root.clone(), Storage::with_store(&root, store)).unwrap();
        let base = catalog.load(catalog.ident()).await.unwrap();
        // Nothing but the name tells of a change that adds no snapshot.
        let owner = [("owner".to_owned(), format!("call {call}"))].into();
        let outcome = catalog.commit(&base, TableChange::set_properties(owner)).await.unwrap();
        let CommitOutcome::Unknown(pending) = outcome else { panic!("{outcome:?}") };

        let late = (root.clone(), pending.clone());
        lab.rival(move || {
            let (root, pending) = late.clone();
            async move {
                let landed = catalog_at(&root).resolve(pending).await.unwrap();
                assert!(matches!(landed, CommitOutcome::Committed(_)), "{landed:?}");
            }
        });
        lab.arm(lab::Fault::Rival, call..call + 1);
        let resolved = catalog.resolve(pending).await.unwrap();
        assert!(matches!(resolved, CommitOutcome::Committed(_)), "landed at call {call}: {resolved:?}");
    }
}

#[tokio::test]
async fn a_version_given_up_while_it_is_opened_is_looked_for_again() {
    for call in 0..8 {
        let root = memory_root();
        let catalog = catalog_at(&root);
        let mut new = new_table();
        new.properties.extend([
            ("write.metadata.delete-after-commit.enabled".to_owned(), "true".to_owned()),
            ("write.metadata.previous-versions-max".to_owned(), "1".to_owned()),
        ]);
        let staged = catalog.stage(catalog.ident(), new).await.unwrap();
        let made = catalog.create(&staged, TableChange::none()).await.unwrap();
        let CommitOutcome::Committed(made) = made else { panic!("{made:?}") };
        append_one(&catalog, &made.table).await;
        // So that the reader lists.
        let hint = root.join("metadata/version-hint.text").unwrap();
        Storage::open(&root).unwrap().delete(hint.as_str()).await.unwrap();

        let lab = Lab::default();
        let storage = Storage::open(&root).unwrap().wrapped(|store| lab.wrap(store));
        let reader = TableRootCatalog::at(root.clone(), storage).unwrap();
        let writers = root.clone();
        lab.rival(move || {
            let catalog = catalog_at(&writers);
            async move {
                let mut table = catalog.load(catalog.ident()).await.unwrap();
                for _ in 0..3 {
                    table = append_one(&catalog, &table).await;
                }
            }
        });
        lab.arm(lab::Fault::Rival, call..call + 1);
        let seen = reader.load(reader.ident()).await;
        let seen = seen.unwrap_or_else(|e| panic!("given up at call {call}: {e}"));
        assert!(!seen.metadata.history().is_empty());
    }
}

#[tokio::test]
async fn resolving_against_a_retired_name_looks_for_the_snapshot() {
    let root = memory_root();
    table_of(&root, 2).await;
    let pending = unknown(&root, Fault::Before, 4).await;
    let storage = Storage::open(&root).unwrap();
    let name = root.join("metadata/v2.metadata.json").unwrap();
    storage.put(&name, Default::default()).await.unwrap();
    let catalog = catalog_at(&root);
    let outcome = catalog.resolve(pending).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown(_)), "an emptied name proves nothing: {outcome:?}");
}

#[tokio::test]
async fn resolving_where_the_table_is_gone_stays_unknown() {
    let root = memory_root();
    table_of(&root, 2).await;
    let pending = unknown(&root, Fault::Before, 4).await;
    let storage = Storage::open(&root).unwrap();
    for path in storage.list_all(&root).await.unwrap() {
        storage.delete(&path).await.unwrap();
    }
    let outcome = catalog_at(&root).resolve(pending).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Unknown(_)), "{outcome:?}");
    assert!(storage.list_all(&root).await.unwrap().is_empty(), "nothing is built on what is gone");
}

#[tokio::test]
async fn a_refusal_after_a_try_that_may_have_landed_is_not_believed() {
    for fault in [Fault::RefusedAfter, Fault::Refused] {
        let root = memory_root();
        table_of(&root, 2).await;
        let catalog = faulty(&root, "v2.metadata.json", fault, 1);
        let base = catalog.load(catalog.ident()).await.unwrap();
        let next = snapshot(&base.metadata, &base.storage).await;
        let id = next.snapshot_id();
        let outcome = catalog.commit(&base, append(&base.metadata, next)).await;
        match fault {
            Fault::Refused => {
                assert_eq!(outcome.unwrap_err().kind(), calve_catalog::ErrorKind::Denied);
                assert!(!history(&root).await.contains(&id));
            }
            _ => {
                assert!(matches!(outcome.unwrap(), CommitOutcome::Committed(_)));
                assert!(history(&root).await.contains(&id));
            }
        }
    }
}

#[tokio::test]
async fn a_name_that_was_deleted_and_taken_again_is_unknown_and_never_acknowledged() {
    for copies_stay in [true, false] {
        let root = memory_root();
        let base = table_of(&root, 2).await;
        let sleeper = catalog_at(&root);
        let stale = sleeper.load(sleeper.ident()).await.unwrap();
        let mut table = base;
        for _ in 0..3 {
            table = append_one(&sleeper, &table).await;
        }
        let storage = Storage::open(&root).unwrap();
        for name in names(&root).await {
            if name == "v2.metadata.json" || (!copies_stay && name.starts_with("00002-")) {
                storage.delete(root.join("metadata").unwrap().join(&name).unwrap().as_str()).await.unwrap();
            }
        }
        // The sleeper is past its look at the hint.
        storage.put(&root.join("metadata/version-hint.text").unwrap(), "1".into()).await.unwrap();
        let slow = faulty(&root, "version-hint.text", Fault::Moved, 1);
        let next = snapshot(&stale.metadata, &stale.storage).await;
        let id = next.snapshot_id();
        let outcome = slow.commit(&stale, append(&stale.metadata, next)).await.unwrap();
        let acknowledged = matches!(outcome, CommitOutcome::Committed(_));
        assert!(
            !acknowledged || history(&root).await.contains(&id),
            "copies stay: {copies_stay}: {outcome:?}"
        );
        assert!(!matches!(outcome, CommitOutcome::Conflict(_)), "its files may be in use: {outcome:?}");
    }
}

#[tokio::test]
async fn the_next_commit_of_the_same_process_repairs_what_the_last_left() {
    let root = memory_root();
    table_of(&root, 2).await;
    let catalog = faulty(&root, "/00002-", Fault::Before, 1);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    let outcome = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
    let CommitOutcome::Committed(made) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(made.warnings[..], [Warning::CopyNotMade { .. }]));
    append_one(&catalog, &made.table).await;
    let names = names(&root).await;
    for copy in ["00002-", "00003-"] {
        assert!(names.iter().any(|n| n.starts_with(copy)), "{copy} in {names:?}");
    }
}

#[tokio::test]
async fn the_hint_is_moved_forward_only() {
    let root = memory_root();
    let base = table_of(&root, 2).await;
    // Between our look at the hint and our move, somebody else moves it on.
    let catalog = faulty(&root, "version-hint.text", Fault::Moved, 1);
    let loaded = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&loaded.metadata, &loaded.storage).await;
    let outcome = catalog.commit(&loaded, append(&loaded.metadata, next)).await.unwrap();
    assert!(!matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
    assert_eq!(text(&root, "metadata/version-hint.text").await, "9");
    assert_eq!(base.metadata.history().len(), 1);
}

/// A commit on `root` whose deciding put fails `times` times.
async fn unknown(root: &Location, fault: Fault, times: usize) -> calve_catalog::Pending {
    let catalog = faulty(root, "v2.metadata.json", fault, times);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    match catalog.commit(&base, append(&base.metadata, next)).await.unwrap() {
        CommitOutcome::Unknown(pending) => pending,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_hint_that_advanced_is_a_conflict_even_where_the_next_name_is_free() {
    let root = memory_root();
    let base = table_of(&root, 2).await;
    let catalog = catalog_at(&root);
    let stale = catalog.load(catalog.ident()).await.unwrap();
    append_one(&catalog, &base).await;
    let storage = Storage::open(&root).unwrap();
    let name = root.join("metadata/v2.metadata.json").unwrap();
    storage.delete(name.as_str()).await.unwrap();
    let next = snapshot(&stale.metadata, &stale.storage).await;
    let outcome = catalog.commit(&stale, append(&stale.metadata, next)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Conflict(_)), "{outcome:?}");
    assert_eq!(storage.read_if_exists(&name).await.unwrap(), None, "nothing was put");
}

#[tokio::test]
async fn a_version_made_under_another_spelling_meanwhile_is_a_warning_that_names_both() {
    let root = memory_root();
    table_of(&root, 2).await;
    let storage = Storage::open(&root).unwrap();
    let plain = root.join("metadata/v1.metadata.json").unwrap();
    let bytes = storage.read(plain.as_str()).await.unwrap();
    storage.delete(plain.as_str()).await.unwrap();
    storage.put(&root.join("metadata/v1.gz.metadata.json").unwrap(), bytes).await.unwrap();
    let catalog = faulty(&root, "v2.metadata.json", Fault::Rivalled, 1);
    let base = catalog.load(catalog.ident()).await.unwrap();
    let next = snapshot(&base.metadata, &base.storage).await;
    let outcome = catalog.commit(&base, append(&base.metadata, next)).await.unwrap();
    let CommitOutcome::Committed(made) = outcome else { panic!("{outcome:?}") };
    let [Warning::Contested { ours, theirs }] = &made.warnings[..] else { panic!("{:?}", made.warnings) };
    assert_eq!((ours.as_str(), theirs.as_str()), ("v2.metadata.json", "v2.gz.metadata.json"));
}
