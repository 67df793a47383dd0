//! Every call of a create and of an append, failing in every way.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use calve_catalog::testing::lab::{Act, Lab, LabTarget, faults};
use calve_catalog::testing::servers::{Server, StoreServer};
use calve_catalog::{LoadedTable, TableCatalog, TableIdent, async_trait};
use calve_storage::{Location, Storage, StoreProperties};
use calve_table_root::TableRootCatalog;
use serde_json::{Value, json};

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

/// Roots whose every state is kept, for a reader of another making.
struct Kept<R, O> {
    roots: Roots<R, O>,
    folder: tempfile::TempDir,
    jobs: Mutex<Vec<Value>>,
}

#[async_trait]
impl<R, O> LabTarget for Kept<R, O>
where
    R: Fn() -> Location + Sync,
    O: Fn(&Location) -> Storage + Sync,
{
    async fn fresh(&self, lab: &Lab) -> (TableIdent, Arc<dyn TableCatalog>, Arc<dyn TableCatalog>) {
        self.roots.fresh(lab).await
    }

    /// Copies the metadata folder: whoever commits next mends what the fault left.
    async fn settled(&self, act: Act, table: &LoadedTable, run: &str) {
        let from = format!("{}/metadata", table.metadata.location()).parse::<Location>().unwrap();
        let copy = self.folder.path().join(self.jobs.lock().unwrap().len().to_string());
        let into = copy.join("metadata");
        std::fs::create_dir_all(&into).unwrap();
        for file in table.storage.list(&from).await.unwrap() {
            let bytes = table.storage.read(from.join(&file.name).unwrap().as_str()).await.unwrap();
            std::fs::write(into.join(&file.name), bytes).unwrap();
        }
        let metadata = &table.metadata;
        let current = metadata.current_snapshot_id();
        let version = table.metadata_location.rsplit('/').next().unwrap();
        let job = |open: &Path, snapshots: Vec<Option<i64>>| {
            let job = json!({"run": run, "open": open, "uuid": metadata.uuid(), "snapshots": snapshots});
            self.jobs.lock().unwrap().push(job);
        };
        job(&into.join(version), vec![current]);
        match std::fs::read_to_string(into.join("version-hint.text")) {
            Ok(hint) if version == format!("v{hint}.metadata.json") => job(&copy, vec![current]),
            // A lower bound to us, and the truth to it: it may see a version before.
            Ok(_) => {
                job(&copy, metadata.history().iter().map(|log| Some(log.snapshot_id)).chain([None]).collect())
            }
            Err(e) => assert_ne!(act, Act::Append, "{run}: there was a hint, and now: {e}"),
        }
    }
}

/// Has PyIceberg open what the runs left on the store of `properties`.
async fn opens_in_pyiceberg<R, O>(roots: Roots<R, O>, properties: &StoreProperties, every: usize)
where
    R: Fn() -> Location + Sync,
    O: Fn(&Location) -> Storage + Sync,
{
    let kept = Kept { roots, folder: tempfile::tempdir().unwrap(), jobs: Mutex::default() };
    let runs = faults(&kept, every).await;
    let jobs = kept.jobs.into_inner().unwrap();
    assert!(jobs.len() > runs, "{} roots of {runs} runs", jobs.len());

    let servers = std::env::var("CALVE_SERVERS").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("interop/open_roots.py");
    let mut command = Command::new(Path::new(&servers).parent().unwrap().join("base/bin/python"));
    command.arg(script);
    for key in ["s3.endpoint", "s3.region", "s3.access-key-id", "s3.secret-access-key"] {
        command.args(properties.get(key).map(|value| format!("{key}={value}")));
    }
    let list = kept.folder.path().join("jobs");
    std::fs::write(&list, jobs.iter().map(|job| format!("{job}\n")).collect::<String>()).unwrap();
    let said = command.stdin(std::fs::File::open(list).unwrap()).output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    let told = format!("{}{}", &out[..out.len().min(4000)], String::from_utf8_lossy(&said.stderr));
    assert!(said.status.success() && out == format!("{} opened\n", jobs.len()), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn what_a_fault_leaves_on_local_disk_opens_in_pyiceberg() {
    let folder = tempfile::tempdir().unwrap();
    let root = || {
        let path = folder.path().join(uuid::Uuid::new_v4().to_string());
        path.to_str().unwrap().parse().unwrap()
    };
    let roots = Roots { root, open: |root: &Location| Storage::open(root).unwrap() };
    opens_in_pyiceberg(roots, &StoreProperties::default(), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn what_a_fault_leaves_on_seaweedfs_opens_in_pyiceberg() {
    let every = if std::env::var_os("CALVE_SOAK").is_some() { 1 } else { 7 };
    let server = StoreServer::SeaweedFs.start().await;
    let roots = Roots { root: || server.root(), open: |root: &Location| server.storage(root) };
    opens_in_pyiceberg(roots, server.properties(), every).await;
}
