//! What an open and a commit ask of a store; `docs/commit.md` gives the same numbers.

use calve_catalog::testing::lab::{Lab, SLOW};
use calve_catalog::testing::{append, committed, create, new_table, snapshot};
use calve_catalog::{TableCatalog, TableChange};
use calve_storage::{Location, Requests, Storage};
use calve_table_root::TableRootCatalog;

use crate::memory_root;

/// A root whose store takes its time, so that what can run at once does.
fn slow(root: &Location) -> (Lab, Storage, TableRootCatalog) {
    let lab = Lab::default();
    let storage = Storage::open(root).unwrap().wrapped(|store| lab.wrap(store));
    let catalog = TableRootCatalog::at(root.clone(), storage.clone()).unwrap();
    (lab, storage, catalog)
}

/// What `act` asks, and in how many rounds one after another.
async fn cost<T>(lab: &Lab, storage: &Storage, act: impl Future<Output = T>) -> (Requests, usize, T) {
    lab.arm(SLOW, 0..usize::MAX);
    let before = storage.requests();
    let done = act.await;
    (storage.requests().since(&before), lab.rounds(), done)
}

#[tokio::test]
async fn opening_takes_three_requests_in_two_rounds() {
    let root = memory_root();
    let (lab, storage, catalog) = slow(&root);
    create(&catalog, catalog.ident()).await;
    let (asked, rounds, table) = cost(&lab, &storage, catalog.load(catalog.ident())).await;
    assert!(table.is_ok());
    assert_eq!((asked.get, asked.total(), rounds), (3, 3, 2), "{asked:?}");
}

#[tokio::test]
async fn an_append_takes_four_requests_in_four_rounds() {
    let root = memory_root();
    let (lab, storage, catalog) = slow(&root);
    let base = create(&catalog, catalog.ident()).await;
    let next = snapshot(&base.metadata, &base.storage).await;
    let commit = catalog.commit(&base, append(&base.metadata, next));
    let (asked, rounds, outcome) = cost(&lab, &storage, commit).await;
    let _ = committed(outcome.unwrap());
    assert_eq!((asked.get, asked.put, asked.total(), rounds), (1, 3, 4, 4), "{asked:?}");
}

#[tokio::test]
async fn a_create_lists_once_before_and_once_after() {
    let root = memory_root();
    let (lab, storage, catalog) = slow(&root);
    let staged = catalog.stage(catalog.ident(), new_table()).await.unwrap();
    let (asked, rounds, outcome) = cost(&lab, &storage, catalog.create(&staged, TableChange::none())).await;
    let _ = committed(outcome.unwrap());
    assert_eq!((asked.get, asked.list, asked.put, rounds), (1, 2, 3, 6), "{asked:?}");
}
