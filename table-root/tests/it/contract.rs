use std::sync::Arc;

use calve_catalog::testing::{Target, contract};
use calve_catalog::{TableCatalog, TableIdent, async_trait};
use calve_storage::Location;

use crate::{catalog_at, memory_root};

struct Memory;

#[async_trait]
impl Target for Memory {
    async fn fresh(&self) -> (Arc<dyn TableCatalog>, TableIdent) {
        let catalog = catalog_at(&memory_root());
        let ident = catalog.ident().clone();
        (Arc::new(catalog), ident)
    }
}

struct Disk(tempfile::TempDir);

#[async_trait]
impl Target for Disk {
    async fn fresh(&self) -> (Arc<dyn TableCatalog>, TableIdent) {
        let folder = self.0.path().join(uuid::Uuid::new_v4().to_string()).join("täble 100%");
        let root: Location = folder.to_str().unwrap().parse().unwrap();
        let catalog = catalog_at(&root);
        let ident = catalog.ident().clone();
        (Arc::new(catalog), ident)
    }
}

#[tokio::test]
async fn a_root_in_memory_keeps_the_contract() {
    contract(&Memory).await;
}

#[tokio::test]
async fn a_root_on_local_disk_keeps_the_contract() {
    contract(&Disk(tempfile::tempdir().unwrap())).await;
}
