//! The main job on a bucket: no catalog service, no local disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_catalog::testing::servers::{Server, StoreServer};
use calve_storage::{IcebergStorage, IcebergStorageFactory};
use futures::TryStreamExt;
use iceberg::TableIdent;
use iceberg::io::FileIOBuilder;
use iceberg::table::StaticTable;

use crate::workspace;

/// A command that reaches the store as the AWS tools are told to.
fn reach<'a>(command: &'a mut Command, server: &Server) -> &'a mut Command {
    let get = |key| server.properties().get(key).unwrap();
    command.env("AWS_ENDPOINT_URL_S3", get("s3.endpoint")).env("AWS_REGION", get("s3.region"));
    command.env("AWS_ACCESS_KEY_ID", get("s3.access-key-id"));
    command.env("AWS_SECRET_ACCESS_KEY", get("s3.secret-access-key"))
}

fn calve(server: &Server, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calve"));
    reach(&mut command, server).current_dir(workspace()).args(arguments).output().unwrap()
}

/// The interpreter with the engines.
fn python() -> PathBuf {
    let servers = std::env::var("CALVE_SERVERS").unwrap();
    Path::new(&servers).parent().unwrap().join("base/bin/python")
}

fn run(server: &Server, arguments: &[&str]) -> String {
    let output = calve(server, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Rows and current snapshot as PyIceberg sees them, opening the table by its root.
fn pyiceberg(server: &Server, root: &str) -> String {
    const READ: &str = "\
import sys
from pyiceberg.table import StaticTable
root, endpoint, key, secret = sys.argv[1:]
table = StaticTable.from_metadata(root, {'s3.endpoint': endpoint, 's3.access-key-id': key,
    's3.secret-access-key': secret, 's3.region': 'us-east-1'})
print(table.scan().to_arrow().num_rows, len(table.history()))
";
    let get = |key| server.properties().get(key).unwrap();
    let mut command = Command::new(python());
    command.args(["-c", READ, root, get("s3.endpoint"), get("s3.access-key-id")]);
    let output = command.arg(get("s3.secret-access-key")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_table_in_a_bucket_is_written_twice_scanned_and_read_by_others() {
    for server in [StoreServer::SeaweedFs, StoreServer::Ministack, StoreServer::Moto] {
        let server = server.start().await;
        let destination = "iceberg+file+s3://lake/air/flights?partition=month(time_hour),origin";
        let first = run(&server, &["write", destination, "data/flights.parquet"]);
        assert!(first.contains("created") && first.contains("22452 rows"), "{first}");
        run(&server, &["write", destination, "data/flights.parquet"]);
        let root = "s3://lake/air/flights";
        let rows =
            run(&server, &["scan", root, "--select", "origin", "--where", "dep_delay > 120", "--json"]);
        let local = calve_local_count();
        assert_eq!(rows.lines().count(), 2 * local, "twice what one file holds");
        let explained = run(&server, &["explain", root, "--where", "time_hour < '2013-02-01'"]);
        assert!(explained.contains("files: 6 of 76 kept"), "{explained}");
        let inspected = run(&server, &["inspect", root]);
        assert!(inspected.contains("2 snapshots"), "{inspected}");
        assert_eq!(pyiceberg(&server, root), "44904 2");

        // The same by options, without the environment.
        let option = |key: &str| format!("{key}={}", server.properties().get(key).unwrap());
        let keys = ["s3.endpoint", "s3.region", "s3.access-key-id", "s3.secret-access-key"].map(option);
        let mut command = Command::new(env!("CARGO_BIN_EXE_calve"));
        command.args(["scan", root, "--select", "origin", "--limit", "3", "--json"]);
        keys.iter().for_each(|option| {
            command.args(["-o", option]);
        });
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3);
    }
}

/// Rows of the sample file that are more than two hours late.
fn calve_local_count() -> usize {
    let lake = crate::Lake::new();
    crate::run(&["write", &lake.destination(""), "data/flights.parquet"]);
    let rows =
        crate::run(&["scan", &lake.root(), "--select", "origin", "--where", "dep_delay > 120", "--json"]);
    rows.lines().count()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn a_bucket_that_is_not_there_and_keys_that_are_wrong_are_told_apart() {
    let server = StoreServer::SeaweedFs.start().await;
    let missing = calve(&server, &["write", "iceberg+file+s3://no-such-bucket/t", "data/flights.parquet"]);
    let told = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(!missing.status.success() && told.contains("no such bucket"), "{told}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_calve"));
    command.args(["scan", "s3://lake/t", "-o", "s3.secret-access-key=hunter2", "-o", "s3.region=us-east-1"]);
    command
        .arg("-o")
        .arg(format!("s3.endpoint={}", server.endpoint()))
        .args(["-o", "s3.access-key-id=admin"]);
    let wrong = command.output().unwrap();
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && told.contains("permission denied"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn what_duckdb_writes_through_a_catalog_is_read_by_its_root_and_not_committed_to() {
    let server = StoreServer::SeaweedFsCatalog.start().await;
    let mut command = Command::new(python());
    reach(&mut command, &server).arg(workspace().join("interop/judge_duckdb.py"));
    command.arg("--calve").arg(env!("CARGO_BIN_EXE_calve")).arg("--catalog").arg(server.catalog());
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains(", 0 failed"), "{told}{problem}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs servers: see CALVE_SERVERS in CONTRIBUTING.md"]
async fn the_iceberg_crate_scans_a_bucket_through_calves_stores() {
    let server = StoreServer::SeaweedFs.start().await;
    let root = "s3://lake/air/flights";
    run(&server, &["write", "iceberg+file+s3://lake/air/flights?partition=origin", "data/flights.parquet"]);
    let inspected: serde_json::Value =
        serde_json::from_str(&run(&server, &["inspect", root, "--json"])).unwrap();
    let files = IcebergStorage::new(server.properties().clone());
    let files = FileIOBuilder::new(Arc::new(IcebergStorageFactory::from(files))).build();
    let name = TableIdent::from_strs(["air", "flights"]).unwrap();
    let metadata = inspected["metadata_file"].as_str().unwrap();
    let table = StaticTable::from_metadata_file(metadata, name, files).await.unwrap();
    let scan = table.scan().select(["origin", "flight"]).build().unwrap();
    let batches: Vec<RecordBatch> = scan.to_arrow().await.unwrap().try_collect().await.unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 22_452);
}
