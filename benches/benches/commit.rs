//! Opening a table root and appending to it: requests, rounds, and time on the stores at hand.
//!
//! Each append builds on the table its predecessor gave, of a hundred versions at most.

use std::fmt;
use std::time::{Duration, Instant};

use calve_catalog::testing::lab::{Fault, Lab};
use calve_catalog::testing::{append, committed, create, snapshot};
use calve_catalog::{LoadedTable, TableCatalog};
use calve_storage::{Location, Storage};
use calve_table_root::TableRootCatalog;
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Runtime;

/// What each request takes longer, as a bucket in the next region would.
const DELAY: Duration = Duration::from_millis(30);
/// A metadata file grows with each snapshot: so many, and the bench starts over.
const VERSIONS: usize = 100;

struct Root {
    storage: Storage,
    catalog: TableRootCatalog,
    /// Keeps the folder of a root on disk.
    _folder: Option<tempfile::TempDir>,
}

#[derive(Clone, Copy)]
enum On {
    Memory,
    Disk,
    DiskOfAProcess,
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::DiskOfAProcess => "disk, not flushed",
        })
    }
}

impl Root {
    fn new(on: On) -> Self {
        let folder = match on {
            On::Memory => None,
            On::Disk | On::DiskOfAProcess => Some(tempfile::tempdir().expect("a folder")),
        };
        let root: Location = match &folder {
            None => format!("memory://{}/t", uuid::Uuid::new_v4()).parse(),
            Some(folder) => folder.path().join("t").to_string_lossy().parse(),
        }
        .expect("a location");
        let durability = if let On::DiskOfAProcess = on { "process" } else { "disk" };
        let properties = [("calve.local.durability", durability)].into_iter().collect();
        let storage = Storage::open_with(&root, &properties).expect("a store");
        let catalog = TableRootCatalog::at(root, storage.clone()).expect("a root");
        Self { storage, catalog, _folder: folder }
    }

    async fn append(&self, base: &LoadedTable) -> LoadedTable {
        let next = snapshot(&base.metadata, &base.storage).await;
        committed(self.catalog.commit(base, append(&base.metadata, next)).await.expect("an outcome")).table
    }
}

fn times(c: &mut Criterion) {
    let runtime = Runtime::new().expect("threads");
    let mut group = c.benchmark_group("commit");
    group.sample_size(20);
    for on in [On::Memory, On::Disk, On::DiskOfAProcess] {
        let mut root = Root::new(on);
        let mut table = runtime.block_on(create(&root.catalog, root.catalog.ident()));
        group.bench_function(format!("open, {on}"), |b| {
            b.iter(|| runtime.block_on(root.catalog.load(root.catalog.ident())));
        });
        group.bench_function(format!("append, {on}"), |b| {
            b.iter(|| {
                if table.metadata.snapshots().len() == VERSIONS {
                    root = Root::new(on);
                    table = runtime.block_on(create(&root.catalog, root.catalog.ident()));
                }
                table = runtime.block_on(root.append(&table));
            });
        });
    }
    group.finish();
}

/// Requests and round trips, with each request delayed; the manifest list is written before.
fn requests(_: &mut Criterion) {
    let runtime = Runtime::new().expect("threads");
    runtime.block_on(async {
        let root = Root::new(On::Memory);
        let base = create(&root.catalog, root.catalog.ident()).await;
        let next = snapshot(&base.metadata, &base.storage).await;
        let lab = Lab::default();
        let slow = root.storage.wrapped(|store| lab.wrap(store));
        let catalog = TableRootCatalog::at(root.catalog.root().clone(), slow).expect("a root");
        for (name, opens) in [("open", true), ("append", false)] {
            lab.arm(Fault::Slow(DELAY), 0..usize::MAX);
            let (before, began) = (root.storage.requests(), Instant::now());
            if opens {
                catalog.load(catalog.ident()).await.expect("opens");
            } else {
                let change = append(&base.metadata, next.clone());
                let _ = committed(catalog.commit(&base, change).await.expect("an outcome"));
            }
            let trips = began.elapsed().as_secs_f64() / DELAY.as_secs_f64();
            let asked = root.storage.requests().since(&before);
            println!(
                "commit/{name}: {} requests ({} reads, {} writes, {} listings), {trips:.1} round trips of 30 ms",
                asked.total(),
                asked.get,
                asked.put,
                asked.list
            );
        }
    });
}

criterion_group!(benches, requests, times);
criterion_main!(benches);
