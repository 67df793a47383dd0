//! Writers in processes of their own: many at once, and one that is killed.
//!
//! A test starts its own binary again with [`ROLE`] set, and there plays the writer.

use std::collections::BTreeSet;
use std::env;
use std::process::{Command, Stdio};

use calve_catalog::testing::lab::{Fault, Lab};
use calve_catalog::testing::servers::StoreServer;
use calve_catalog::testing::{append, create, new_table, snapshot};
use calve_catalog::{CommitOutcome, ErrorKind, TableCatalog};
use calve_storage::{Location, Storage, StoreProperties};
use calve_table_root::TableRootCatalog;

use crate::append_one;

/// Tells a process that it is to be a writer, on which root.
const ROLE: &str = "CALVE_TEST_WRITER_ROOT";
/// The endpoint and keys of the root's store, where it has one.
const STORE: &str = "CALVE_TEST_WRITER_STORE";
/// Where a writer is killed: `before` or `after`, and the number of the call.
const KILL: &str = "CALVE_TEST_WRITER_KILL";

const WRITERS: usize = 8;
const APPENDS: usize = 25;

/// This binary again, for the one test `name`.
fn again(name: &str, root: &Location, store: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--include-ignored", "--nocapture"]);
    command.env(ROLE, root.as_str()).env(STORE, store).env_remove(KILL);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn storage(root: &Location, store: &str) -> Storage {
    let pairs = store.split_whitespace().filter_map(|pair| pair.split_once('='));
    Storage::open_with(root, &pairs.collect::<StoreProperties>()).unwrap()
}

/// Appends until its own appends are all acknowledged, and prints what became of each.
async fn write() {
    let root: Location = env::var(ROLE).unwrap().parse().unwrap();
    let storage = storage(&root, &env::var(STORE).unwrap());
    let catalog = TableRootCatalog::at(root, storage).unwrap();
    let mut acknowledged = 0;
    while acknowledged < APPENDS {
        let base = catalog.load(catalog.ident()).await.unwrap();
        let next = snapshot(&base.metadata, &base.storage).await;
        let id = next.snapshot_id();
        match catalog.commit(&base, append(&base.metadata, next)).await.unwrap() {
            CommitOutcome::Committed(_) => {
                acknowledged += 1;
                println!("acknowledged {id}");
            }
            CommitOutcome::Conflict(_) => println!("conflict {id}"),
            CommitOutcome::Unknown(pending) => println!("unknown {id} {}", pending.reason()),
        }
    }
}

/// Runs the race `name` on a fresh root and checks that what was acknowledged is what is there.
async fn race(name: &str, root: Location, store: &str) {
    let catalog = TableRootCatalog::at(root.clone(), storage(&root, store)).unwrap();
    create(&catalog, catalog.ident()).await;
    let began = std::time::Instant::now();
    let writers: Vec<_> = (0..WRITERS).map(|_| again(name, &root, store).spawn().unwrap()).collect();
    let (mut acknowledged, mut conflicts) = (BTreeSet::new(), BTreeSet::new());
    for writer in writers {
        let done = writer.wait_with_output().unwrap();
        let printed = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
        for line in printed.lines() {
            let mut words = line.split_whitespace();
            let id =
                |words: &mut std::str::SplitWhitespace<'_>| words.next().unwrap().parse::<i64>().unwrap();
            match words.next() {
                Some("acknowledged") => assert!(acknowledged.insert(id(&mut words)), "{line}"),
                Some("conflict") => assert!(conflicts.insert(id(&mut words)), "{line}"),
                Some("unknown") => panic!("no fault was injected: {line}"),
                _ => {}
            }
        }
    }
    println!(
        "{name}: {} appends of {WRITERS} processes acknowledged in {:.1} s, {} conflicts on the way",
        acknowledged.len(),
        began.elapsed().as_secs_f64(),
        conflicts.len()
    );
    let table = catalog.load(catalog.ident()).await.unwrap();
    let history: Vec<i64> = table.metadata.history().iter().map(|log| log.snapshot_id).collect();
    assert_eq!(history.len(), WRITERS * APPENDS);
    assert_eq!(history.iter().copied().collect::<BTreeSet<_>>(), acknowledged);
    assert!(acknowledged.is_disjoint(&conflicts));
}

fn rounds() -> usize {
    if env::var_os("CALVE_SOAK").is_some() { 10 } else { 1 }
}

#[tokio::test]
async fn eight_processes_lose_nothing_on_local_disk() {
    if env::var_os(ROLE).is_some() {
        return write().await;
    }
    for _ in 0..rounds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("t").to_str().unwrap().parse().unwrap();
        race("processes::eight_processes_lose_nothing_on_local_disk", root, "").await;
    }
}

#[tokio::test]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn eight_processes_lose_nothing_on_s3() {
    if env::var_os(ROLE).is_some() {
        return write().await;
    }
    let server = StoreServer::SeaweedFs.start().await;
    let keys = ["s3.endpoint", "s3.region", "s3.access-key-id", "s3.secret-access-key"];
    let store = keys.map(|key| format!("{key}={}", server.properties().get(key).unwrap())).join(" ");
    for _ in 0..rounds() {
        race("processes::eight_processes_lose_nothing_on_s3", server.root(), &store).await;
    }
}

/// Appends once, or creates where there is nothing yet, and is killed on the way.
async fn write_and_die() {
    let root: Location = env::var(ROLE).unwrap().parse().unwrap();
    let lab = Lab::default();
    let storage = storage(&root, "").wrapped(|store| lab.wrap(store));
    let catalog = TableRootCatalog::at(root, storage).unwrap();
    let kill = env::var(KILL).unwrap();
    let (when, call) = kill.split_once(' ').unwrap();
    let fault = if when == "before" { Fault::KilledBefore } else { Fault::KilledAfter };
    let call: usize = call.parse().unwrap();
    let outcome = match catalog.load(catalog.ident()).await {
        Ok(base) => {
            let next = snapshot(&base.metadata, &base.storage).await;
            lab.arm(fault, call..call + 1);
            catalog.commit(&base, append(&base.metadata, next)).await
        }
        Err(_) => {
            let staged = catalog.stage(catalog.ident(), new_table()).await.unwrap();
            let next = snapshot(&staged.metadata, &staged.storage).await;
            lab.arm(fault, call..call + 1);
            catalog.create(&staged, append(&staged.metadata, next)).await
        }
    };
    assert!(matches!(outcome, Ok(CommitOutcome::Committed(_))), "{outcome:?}");
    println!("acknowledged after {} calls", lab.calls().len());
}

#[tokio::test]
async fn a_writer_killed_at_any_step_leaves_a_table_that_the_next_one_mends() {
    const NAME: &str = "processes::a_writer_killed_at_any_step_leaves_a_table_that_the_next_one_mends";
    if env::var_os(ROLE).is_some() {
        return write_and_die().await;
    }
    for creates in [true, false] {
        for when in ["before", "after"] {
            let mut deaths = 0;
            for call in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let root: Location = folder.path().join("t").to_str().unwrap().parse().unwrap();
                let catalog = TableRootCatalog::at(root.clone(), Storage::open(&root).unwrap()).unwrap();
                if !creates {
                    create(&catalog, catalog.ident()).await;
                }
                let done = again(NAME, &root, "").env(KILL, format!("{when} {call}")).output().unwrap();
                let acknowledged = String::from_utf8_lossy(&done.stdout).contains("acknowledged");
                let context = format!("creates {creates}, killed {when} call {call}");
                assert_eq!(
                    done.status.success(),
                    acknowledged,
                    "{context}: {}",
                    String::from_utf8_lossy(&done.stderr)
                );
                match catalog.load(catalog.ident()).await {
                    Ok(table) => {
                        assert!(!acknowledged || table.metadata.history().len() == 1, "{context}");
                        let before = table.metadata.history().len();
                        let next = append_one(&catalog, &table).await;
                        assert_eq!(next.metadata.history().len(), before + 1, "{context}");
                        for log in next.metadata.metadata_log() {
                            next.storage.read(&log.metadata_file).await.unwrap();
                        }
                    }
                    Err(e) => {
                        assert!(
                            creates && !acknowledged && e.kind() == ErrorKind::NotFound,
                            "{context}: {e}"
                        );
                        create(&catalog, catalog.ident()).await;
                    }
                }
                if acknowledged {
                    break;
                }
                deaths += 1;
            }
            assert!(deaths >= 4, "creates {creates}, {when}: only {deaths} steps to die at");
        }
    }
}
