use crate::{Lake, calve, run};

const PARTITION: &str = "?partition=month(time_hour),origin";

/// Rows of the sample file.
const ROWS: usize = 22_452;

fn twice() -> Lake {
    let lake = Lake::new();
    for _ in 0..2 {
        run(&["write", &lake.destination(PARTITION), "data/flights.parquet"]);
    }
    lake
}

fn count(lake: &Lake, condition: &str) -> usize {
    let out = lake.path("out.jsonl");
    run(&["scan", &lake.root(), "--where", condition, "--output", &out]);
    std::fs::read_to_string(out).unwrap().lines().count()
}

#[test]
fn two_writes_leave_two_versions_two_copies_and_a_hint_of_one() {
    let lake = twice();
    let metadata: Vec<String> = lake
        .files()
        .iter()
        .filter(|f| f.contains("/metadata/"))
        .map(|f| f.rsplit('/').next().unwrap().to_owned())
        .collect();
    for name in ["00000-", "00001-", "v0.metadata.json", "v1.metadata.json", "version-hint.text"] {
        assert_eq!(metadata.iter().filter(|m| m.starts_with(name)).count(), 1, "{name} in {metadata:?}");
    }
    let hint = std::fs::read(format!("{}/metadata/version-hint.text", lake.root())).unwrap();
    assert_eq!(hint, b"1");
}

#[test]
fn inspect_shows_two_snapshots_and_the_partitioning() {
    let lake = twice();
    let shown = run(&["inspect", &lake.root()]);
    for expected in [
        "2 snapshots",
        "time_hour_month = month(time_hour)",
        "origin = identity(origin)",
        "time_hour_month=2013-07, origin=JFK",
        "write.parquet.compression-codec = zstd",
        "44904 rows",
    ] {
        assert!(shown.contains(expected), "{expected} in\n{shown}");
    }
}

#[test]
fn a_scan_gives_the_asked_columns_of_the_asked_rows() {
    let lake = twice();
    let condition = "dep_delay > 120 and time_hour < '2013-02-01'";
    let shown =
        run(&["scan", &lake.root(), "--select", "origin,dep_delay", "--where", condition, "--limit", "5"]);
    let header = shown.lines().nth(1).unwrap();
    assert!(header.find("origin").unwrap() < header.find("dep_delay").unwrap(), "{header}");
    assert!(shown.ends_with("5 rows\n"), "{shown}");
}

#[test]
fn filters_are_exact_whether_or_not_they_prune() {
    let lake = twice();
    let all = count(&lake, "year = 2013");
    assert_eq!(all, 2 * ROWS);
    let known = count(&lake, "dep_delay is not null");
    let unknown = count(&lake, "dep_delay is null");
    assert_eq!(unknown, 2 * 568);
    assert_eq!(known + unknown, all);
    let late = count(&lake, "dep_delay > 120");
    let not_late = count(&lake, "not (dep_delay > 120)");
    assert_eq!(late + not_late, known, "a comparison with null is neither true nor false");
    let january = count(&lake, "time_hour < '2013-02-01'");
    let later = count(&lake, "time_hour >= '2013-02-01 00:00:00'");
    assert!(january > 0);
    assert_eq!(january + later, all);
    let by_airport: usize =
        ["EWR", "JFK", "LGA"].iter().map(|a| count(&lake, &format!("origin = '{a}'"))).sum();
    assert_eq!(by_airport, all);
}

#[test]
fn explain_keeps_fewer_files_than_the_table_has() {
    let lake = twice();
    let shown = run(&["explain", &lake.root(), "--where", "time_hour < '2013-02-01'", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let (total, kept) = (plan["files"]["total"].as_u64().unwrap(), plan["files"]["kept"].as_u64().unwrap());
    assert_eq!(kept, 6, "one month of three airports, written twice: {shown}");
    assert!(kept < total, "{shown}");
}

#[test]
fn an_earlier_snapshot_can_be_scanned() {
    let lake = twice();
    let shown: serde_json::Value = serde_json::from_str(&run(&["inspect", &lake.root(), "--json"])).unwrap();
    let mut snapshots: Vec<_> = shown["snapshots"].as_array().unwrap().clone();
    snapshots.sort_by_key(|s| s["sequence-number"].as_i64());
    let first = snapshots[0]["snapshot-id"].as_i64().unwrap().to_string();
    let out = lake.path("first.jsonl");
    run(&["scan", &lake.root(), "--snapshot-id", &first, "--output", &out]);
    assert_eq!(std::fs::read_to_string(out).unwrap().lines().count(), ROWS);
    let refused = calve(&["scan", &lake.root(), "--snapshot-id", "17"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains(&first), "the known ones are named");
}

#[test]
fn a_write_id_writes_once() {
    let lake = Lake::new();
    let write = ["write", &lake.destination(PARTITION), "data/flights.parquet", "--write-id", "load-1"];
    run(&write);
    let files = lake.files();
    assert!(run(&write).contains("already"), "the second run says so");
    assert_eq!(lake.files(), files, "and writes nothing");
}

#[test]
fn overwrite_replaces_the_rows_and_keeps_the_history() {
    let lake = twice();
    run(&["write", &lake.destination("?mode=overwrite"), "data/flights.parquet"]);
    assert_eq!(count(&lake, "year = 2013"), ROWS);
    assert!(run(&["inspect", &lake.root()]).contains("3 snapshots"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let lake = Lake::new();
    let shown = run(&["write", "--dry-run", &lake.destination(PARTITION), "data/flights.parquet"]);
    assert!(shown.contains("would create"), "{shown}");
    assert!(lake.files().is_empty());
}
