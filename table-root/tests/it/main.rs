//! Table roots, from outside.
#![allow(clippy::unwrap_used, reason = "a test that can't set itself up has failed")]

/// The contract every catalog keeps, on memory and on local disk.
mod contract;
/// What an open and a commit ask of a store.
mod costs;
/// Stores that lose answers, and writers that died half way.
mod crashes;
/// Folders as other writers leave them.
mod foreign;
/// What is wrong with a root, mending it, and old metadata that is given up.
mod health;
/// Every call failing in every way.
mod lab;
/// What lies in `metadata/` after a commit.
mod layout;
/// Writers in processes of their own.
mod processes;
/// Many writers on one root.
mod races;
/// Real servers that speak S3.
mod stores;

use calve_catalog::testing::{append, committed, create, snapshot};
use calve_catalog::{LoadedTable, TableCatalog};
use calve_storage::{Location, Storage};
use calve_table_root::TableRootCatalog;

/// A root in a store of its own.
fn memory_root() -> Location {
    format!("memory://{}/air/flights", uuid::Uuid::new_v4()).parse().unwrap()
}

fn catalog_at(root: &Location) -> TableRootCatalog {
    TableRootCatalog::at(root.clone(), Storage::open(root).unwrap()).unwrap()
}

async fn append_one(catalog: &TableRootCatalog, base: &LoadedTable) -> LoadedTable {
    let next = snapshot(&base.metadata, &base.storage).await;
    committed(catalog.commit(base, append(&base.metadata, next)).await.unwrap()).table
}

/// A table of `versions` versions: 0 is the create, each further one an append.
async fn table_of(root: &Location, versions: u64) -> LoadedTable {
    let catalog = catalog_at(root);
    let mut table = create(&catalog, catalog.ident()).await;
    for _ in 1..versions {
        table = append_one(&catalog, &table).await;
    }
    table
}

async fn text(root: &Location, name: &str) -> String {
    let storage = Storage::open(root).unwrap();
    let bytes = storage.read(root.join(name).unwrap().as_str()).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn names(root: &Location) -> Vec<String> {
    let storage = Storage::open(root).unwrap();
    let mut names: Vec<_> =
        storage.list(&root.join("metadata").unwrap()).await.unwrap().into_iter().map(|f| f.name).collect();
    names.sort();
    names
}
