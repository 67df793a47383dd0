use calve_catalog::testing::{append, create, snapshot};
use calve_catalog::{CommitOutcome, TableCatalog};
use calve_storage::Location;
use calve_table_root::TableRootCatalog;

use crate::{catalog_at, memory_root};

const WRITERS: usize = 5;
const APPENDS: usize = 20;

/// Every writer appends until its own appends are all acknowledged, reloading after each conflict.
pub(crate) async fn race(catalog_at: impl Fn() -> TableRootCatalog) {
    let catalog = catalog_at();
    create(&catalog, catalog.ident()).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let catalog = catalog_at();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                while acknowledged.len() < APPENDS {
                    let base = catalog.load(catalog.ident()).await.unwrap();
                    let next = snapshot(&base.metadata, &base.storage).await;
                    let id = next.snapshot_id();
                    match catalog.commit(&base, append(&base.metadata, next)).await.unwrap() {
                        CommitOutcome::Committed(_) => acknowledged.push(id),
                        CommitOutcome::Conflict(_) => {}
                        CommitOutcome::Unknown(pending) => panic!("no fault was injected: {pending:?}"),
                    }
                }
                acknowledged
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.unwrap());
    }
    let table = catalog.load(catalog.ident()).await.unwrap();
    let mut visible: Vec<i64> = table.metadata.history().iter().map(|log| log.snapshot_id).collect();
    assert_eq!(visible.len(), WRITERS * APPENDS);
    visible.sort_unstable();
    acknowledged.sort_unstable();
    assert_eq!(visible, acknowledged, "what was acknowledged is what is visible");
    let hint = catalog.root().join("metadata/version-hint.text").unwrap();
    let hint = table.storage.read(hint.as_str()).await.unwrap();
    let hint: usize = std::str::from_utf8(&hint).unwrap().parse().unwrap();
    assert!(hint <= WRITERS * APPENDS, "the hint never passes the table");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_acknowledged_append_is_lost_in_memory() {
    let root = memory_root();
    race(|| catalog_at(&root)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_acknowledged_append_is_lost_on_local_disk() {
    let folder = tempfile::tempdir().unwrap();
    let root: Location = folder.path().join("air/flights").to_str().unwrap().parse().unwrap();
    race(|| catalog_at(&root)).await;
}
