//! Every call of a create and of an append, failing in every way.

use std::sync::Arc;

use calve_catalog::testing::lab::{Lab, LabTarget, faults};
use calve_catalog::testing::servers::{Server, StoreServer};
use calve_catalog::{TableCatalog, TableIdent, async_trait};
use calve_storage::{Location, Storage};
use calve_table_root::TableRootCatalog;

use crate::memory_root;

/// Roots, by what opens their store.
struct Roots<R, O> {
    root: R,
    open: O,
}

#[async_trait]
impl<R, O> LabTarget for Roots<R, O>
where
    R: Fn() -> Location + Sync,
    O: Fn(&Location) -> Storage + Sync,
{
    async fn fresh(&self, lab: &Lab) -> (TableIdent, Arc<dyn TableCatalog>, Arc<dyn TableCatalog>) {
        let root = (self.root)();
        let storage = (self.open)(&root);
        let faulty = storage.wrapped(|store| lab.wrap(store));
        let faulty = TableRootCatalog::at(root.clone(), faulty).unwrap();
        let healthy = TableRootCatalog::at(root, storage).unwrap();
        (healthy.ident().clone(), Arc::new(faulty), Arc::new(healthy))
    }
}

#[tokio::test]
async fn no_fault_at_any_call_breaks_a_promise_in_memory() {
    let runs =
        faults(&Roots { root: memory_root, open: |root: &Location| Storage::open(root).unwrap() }, 1).await;
    assert!(runs > 200, "{runs}");
}

#[tokio::test]
async fn no_fault_at_any_call_breaks_a_promise_on_local_disk() {
    let folder = tempfile::tempdir().unwrap();
    let root = || {
        let path = folder.path().join(uuid::Uuid::new_v4().to_string());
        path.to_str().unwrap().parse().unwrap()
    };
    let runs = faults(&Roots { root, open: |root: &Location| Storage::open(root).unwrap() }, 1).await;
    assert!(runs > 200, "{runs}");
}

/// All of it takes minutes on a server: every day a part of it, chosen by a prime so that it is another
/// part of each act.
async fn on(server: StoreServer) {
    let every = if std::env::var_os("CALVE_SOAK").is_some() { 1 } else { 7 };
    let server: Server = server.start().await;
    let roots = Roots { root: || server.root(), open: |root: &Location| server.storage(root) };
    let runs = faults(&roots, every).await;
    assert!(runs * every > 200, "{runs}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn no_fault_at_any_call_breaks_a_promise_on_seaweedfs() {
    on(StoreServer::SeaweedFs).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn no_fault_at_any_call_breaks_a_promise_where_if_match_is_ignored() {
    on(StoreServer::LocalBucket).await;
}
