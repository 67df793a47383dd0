//! The same promises on real stores; what each store can't do is told by name.

use std::sync::Arc;

use calve_catalog::testing::servers::{Server, StoreServer};
use calve_catalog::testing::{Target, committed, contract, new_table};
use calve_catalog::{ErrorKind, TableCatalog, TableChange, TableIdent, async_trait};
use calve_table_root::TableRootCatalog;

use crate::races;

/// A root of its own for each test of the contract.
struct Roots(Server);

#[async_trait]
impl Target for Roots {
    async fn fresh(&self) -> (Arc<dyn TableCatalog>, TableIdent) {
        let root = self.0.root();
        let catalog = TableRootCatalog::at(root.clone(), self.0.storage(&root)).unwrap();
        let ident = catalog.ident().clone();
        (Arc::new(catalog), ident)
    }
}

async fn keeps_the_contract(server: StoreServer) {
    contract(&Roots(server.start().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_root_on_seaweedfs_keeps_the_contract() {
    keeps_the_contract(StoreServer::SeaweedFs).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_root_on_ministack_keeps_the_contract() {
    keeps_the_contract(StoreServer::Ministack).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_root_on_moto_keeps_the_contract() {
    keeps_the_contract(StoreServer::Moto).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_root_on_azurite_keeps_the_contract() {
    keeps_the_contract(StoreServer::Azurite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn no_acknowledged_append_is_lost_on_azurite() {
    let server = StoreServer::Azurite.start().await;
    let root = server.root();
    races::race(|| TableRootCatalog::at(root.clone(), server.storage(&root)).unwrap()).await;
}

/// The hint is not guarded there, and need not be.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_root_on_localbucket_keeps_the_contract() {
    keeps_the_contract(StoreServer::LocalBucket).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_store_that_ignores_conditions_is_refused_by_name() {
    let server = StoreServer::S3rver.start().await;
    let root = server.root();
    let storage = server.storage(&root);
    let catalog = TableRootCatalog::at(root, storage.clone()).unwrap();
    let staged = catalog.stage(catalog.ident(), new_table()).await.unwrap();
    let error = catalog.create(&staged, TableChange::none()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let text = error.to_string();
    assert!(text.contains("lake") && text.contains(server.endpoint()), "{text}");
    assert!(text.contains("`If-None-Match`"), "{text}");
    let error = catalog.load(catalog.ident()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "nothing was committed: {error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn no_acknowledged_append_is_lost_on_seaweedfs() {
    let server = StoreServer::SeaweedFs.start().await;
    let root = server.root();
    races::race(|| TableRootCatalog::at(root.clone(), server.storage(&root)).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn no_acknowledged_append_is_lost_where_if_match_is_ignored() {
    let server = StoreServer::LocalBucket.start().await;
    let root = server.root();
    races::race(|| TableRootCatalog::at(root.clone(), server.storage(&root)).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn wrong_keys_and_a_missing_bucket_are_told_apart_and_show_no_secret() {
    let server = StoreServer::SeaweedFs.start().await;
    let root = server.root();
    let mut wrong = server.properties().clone();
    wrong.set("s3.secret-access-key", "hunter2hunter2");
    let storage = calve_storage::Storage::open_with(&root, &wrong).unwrap();
    let catalog = TableRootCatalog::at(root, storage).unwrap();
    let error = catalog.load(catalog.ident()).await.unwrap_err();
    let text = format!("{error} {error:?} {catalog:?}");
    assert_eq!(error.kind(), ErrorKind::Denied, "{text}");
    assert!(!text.contains("hunter2"), "{text}");

    let elsewhere: calve_storage::Location = "s3://no-such-bucket/t".parse().unwrap();
    let catalog = TableRootCatalog::at(elsewhere.clone(), server.storage(&elsewhere)).unwrap();
    let error = catalog.stage(catalog.ident(), new_table()).await.unwrap_err();
    assert!(error.to_string().contains("no such bucket"), "{error}");
    assert_ne!(error.kind(), ErrorKind::NotFound, "a missing bucket is no missing table");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_commit_costs_few_requests() {
    let server = StoreServer::SeaweedFs.start().await;
    let root = server.root();
    let storage = server.storage(&root);
    let catalog = TableRootCatalog::at(root, storage.clone()).unwrap();
    let table = calve_catalog::testing::create(&catalog, catalog.ident()).await;

    let before = storage.requests();
    let table_again = catalog.load(catalog.ident()).await.unwrap();
    let open = storage.requests().since(&before);
    assert!(open.total() <= 3, "{open:?}");
    assert_eq!(table_again.metadata, table.metadata);

    let next = calve_catalog::testing::snapshot(&table.metadata, &table.storage).await;
    let before = storage.requests();
    let change = calve_catalog::testing::append(&table.metadata, next);
    let _ = committed(catalog.commit(&table_again, change).await.unwrap());
    let commit = storage.requests().since(&before);
    assert!(commit.total() <= 8, "{commit:?}");
    println!("open {open:?}\ncommit {commit:?}");
}
