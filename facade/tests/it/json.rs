use serde_json::Value;

use crate::{Lake, calve, run};

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(arguments)).unwrap()
}

#[test]
fn every_command_prints_json() {
    let lake = Lake::new();
    let written = json(&["--json", "write", &lake.destination("?partition=origin"), "data/flights.parquet"]);
    assert_eq!(written["outcome"], "committed");
    assert_eq!(written["rows"], 22_452);
    assert_eq!(written["created"], true);
    let inspected = json(&["inspect", &lake.root(), "--json"]);
    assert_eq!(inspected["partitions"].as_array().unwrap().len(), 3);
    assert_eq!(inspected["current_snapshot_id"], written["snapshot_id"]);
    let explained = json(&["explain", &lake.root(), "--where", "origin = 'JFK'", "--json"]);
    assert_eq!(explained["files"]["kept"], 1);
    let parsed = json(&["parse", &lake.destination("?partition=day(time_hour)"), "--json"]);
    assert_eq!(parsed["partition"][0], "day(time_hour)");
    let lines = run(&["scan", &lake.root(), "--limit", "3", "--json"]);
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["origin"].is_string());
    }
}

#[test]
fn errors_are_json_too() {
    let output = calve(&["parse", "iceberg+local:///a//b", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(told["error"]["kind"], "input");
    assert!(output.stdout.is_empty());
}

#[test]
fn parse_redacts_secrets_and_shows_the_place_of_a_mistake() {
    let shown = run(&["parse", "iceberg+rest+https://c.example/ns/t?warehouse=w&credential=me:hunter2"]);
    assert!(shown.contains("<redacted>") && !shown.contains("hunter2"), "{shown}");
    let output = calve(&["parse", "iceberg+glue+s3://lake/db/t?aws_secret_acess_key=hunter2"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains('^') && !told.contains("hunter2"), "{told}");
}

#[test]
fn parse_reads_the_destinations_of_catalogs_and_roots_as_people_write_them() {
    let table = "banking/transaction_features";
    let glue =
        format!("iceberg+glue+s3://your-bucket/warehouse/{table}?region=us-east-1&account=123456789012");
    let rest = "iceberg+rest+https://polaris.example.com/api/catalog/analytics/transaction_features\
        ?warehouse=analytics";
    for (uri, parts) in [
        (glue.clone(), &["s3://your-bucket/warehouse", "banking", "us-east-1", "123456789012"][..]),
        (format!("{glue}&partition=day(ts),bucket(16,id)"), &["day(ts)", "bucket(16,id)"]),
        (format!("{rest}&credential=id:hunter2"), &["https://polaris.example.com/api/catalog", "<redacted>"]),
        (format!("{rest}&credential=id:hunter2&scope=PRINCIPAL_ROLE:ALL"), &["PRINCIPAL_ROLE:ALL"]),
        (format!("{rest}&token=hunter2"), &["analytics", "<redacted>"]),
        ("iceberg+file+s3://your-bucket/exports/transaction_features".into(), &["s3://your-bucket/exports"]),
        ("iceberg+local:///data/exports/transaction_features".into(), &["file:///data/exports"]),
        ("iceberg+local:///data/exports/transaction_features?mode=overwrite".into(), &["overwrite"]),
    ] {
        let shown = run(&["parse", &uri]);
        assert!(shown.contains("transaction_features") && !shown.contains("hunter2"), "{shown}");
        assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
        let json = json(&["parse", &uri, "--json"]).to_string();
        assert!(parts.iter().all(|part| json.contains(part)), "{json}");
        assert!(!json.contains("hunter2"), "{json}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    use std::process::{Command, Stdio};
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.parquet"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_calve"))
        .args(["scan", &lake.root(), "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}
