use std::os::unix::fs::PermissionsExt;

use crate::{Lake, calve, run};

/// Runs the command, which must be refused with `code`, one line that holds every text of `expected`,
/// and without leaving a file.
fn refused(lake: &Lake, arguments: &[&str], code: i32, expected: &[&str]) {
    let before = lake.files();
    let output = calve(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    assert!(told.starts_with("error: "), "{told}");
    for text in expected {
        assert!(told.lines().next().unwrap().contains(text), "{arguments:?}: `{text}` in {told}");
    }
    assert_eq!(lake.files(), before, "{arguments:?} leaves a file");
}

#[test]
fn a_missing_input_file_is_named() {
    let lake = Lake::new();
    let missing = lake.path("nowhere.parquet");
    refused(&lake, &["write", &lake.destination(""), &missing], 2, &[&missing, "does not exist"]);
}

#[test]
fn a_file_that_is_no_parquet_is_named_with_what_would_be_accepted() {
    let lake = Lake::new();
    let text = lake.write("notes.parquet", "not a table\n");
    refused(&lake, &["write", &lake.destination(""), &text], 2, &[&text, "Parquet", "CSV"]);
    let torn = lake.write("torn.parquet", "PAR1 and then nothing");
    refused(&lake, &["write", &lake.destination(""), &torn], 2, &[&torn]);
    let other = lake.write("notes.txt", "hello\n");
    refused(&lake, &["write", &lake.destination(""), &other], 2, &[&other, "Parquet", "Arrow IPC"]);
    let empty = lake.write("empty.csv", "");
    refused(&lake, &["write", &lake.destination(""), &empty], 2, &[&empty, "empty"]);
    let folder = lake.path("");
    refused(&lake, &["write", &lake.destination(""), &folder], 2, &["is a folder"]);
}

#[test]
fn a_schema_that_does_not_fit_is_refused_before_a_byte_is_written() {
    let lake = Lake::new();
    let small = lake.write("small.csv", "id,item\n1,pen\n");
    run(&["write", &lake.destination(""), &small]);
    let extra = lake.write("extra.jsonl", "{\"id\": 1, \"item\": \"pen\", \"itm\": 3}\n");
    refused(&lake, &["write", &lake.destination(""), &extra], 2, &["itm"]);
    refused(&lake, &["write", &lake.destination(""), "data/flights.parquet"], 2, &["year"]);
    let wrong = lake.write("wrong.csv", "id,item\nabc,pen\n");
    refused(&lake, &["write", &lake.destination(""), &wrong], 2, &[&wrong]);
}

#[test]
fn a_value_that_breaks_half_way_leaves_no_file() {
    let lake = Lake::new();
    let lines: String = (0..20_000).map(|i| format!("{{\"id\": {i}}}\n")).collect();
    let good = lake.write("good.jsonl", &lines);
    run(&["write", &lake.destination(""), &good]);
    let bad = lake.write("bad.jsonl", &(lines + "{\"id\": \"many\"}\n"));
    refused(&lake, &["write", &lake.destination(""), &bad], 2, &[&bad]);
}

#[test]
fn an_unwritable_folder_is_named() {
    let lake = Lake::new();
    let closed = lake.path("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(format!("{closed}/probe"), "").is_ok() {
        // Root writes anywhere, so another folder nobody can write to stands in.
        std::fs::remove_file(format!("{closed}/probe")).unwrap();
        let destination = "iceberg+local:///proc/self/calve/flights";
        refused(&lake, &["write", destination, "data/flights.parquet"], 1, &["/proc/self/calve/flights"]);
        return;
    }
    let destination = format!("iceberg+local://{closed}/flights");
    refused(&lake, &["write", &destination, "data/flights.parquet"], 1, &[&closed, "ermission denied"]);
}

#[test]
fn a_root_in_the_way_of_a_file_is_named() {
    let lake = Lake::new();
    let file = lake.write("file", "here first");
    let destination = format!("iceberg+local://{file}/flights");
    let before = lake.files();
    let output = calve(&["write", &destination, "data/flights.parquet"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&file));
    assert_eq!(lake.files(), before);
}

#[test]
fn malformed_uris_are_refused_with_a_caret() {
    let lake = Lake::new();
    for uri in [
        "iceberg+local://relative/flights",
        "iceberg+local:///a//b",
        "iceberg+local:///a/../b",
        "iceberg+ftp:///a/b",
        "/a/b",
    ] {
        refused(&lake, &["write", uri, "data/flights.parquet"], 2, &[]);
    }
    let output = calve(&["write", "iceberg+local:///a//b", "data/flights.parquet"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains('^'));
}

#[test]
fn an_unknown_parameter_is_named_with_its_neighbour() {
    let lake = Lake::new();
    let destination = lake.destination("?partitoin=origin");
    refused(&lake, &["write", &destination, "data/flights.parquet"], 2, &["partitoin", "partition"]);
    let foreign = lake.destination("?region=us-east-1");
    refused(&lake, &["write", &foreign, "data/flights.parquet"], 2, &["region"]);
    refused(&lake, &["scan", &lake.root(), "-o", "warehose=/tmp"], 2, &["warehose", "warehouse"]);
}

#[test]
fn a_partition_the_columns_do_not_allow_is_refused() {
    let lake = Lake::new();
    for (partition, expected) in [
        ("day(origin)", "origin"),
        ("nowhere", "nowhere"),
        ("void(origin)", "void"),
        ("bucket(origin,16)", "bucket"),
        ("bucket(0,origin)", "bucket"),
    ] {
        let destination = lake.destination(&format!("?partition={partition}"));
        refused(&lake, &["write", &destination, "data/flights.parquet"], 2, &[expected]);
    }
    run(&["write", &lake.destination("?partition=origin"), "data/flights.parquet"]);
    let other = lake.destination("?partition=month(time_hour)");
    refused(&lake, &["write", &other, "data/flights.parquet"], 2, &["time_hour"]);
}

#[test]
fn a_scan_of_what_is_not_there_is_refused() {
    let lake = Lake::new();
    refused(&lake, &["scan", &lake.root()], 2, &[&lake.root()]);
    refused(&lake, &["scan", "relative/path"], 2, &[]);
    refused(&lake, &["scan", "air.flights"], 2, &["warehouse"]);
    run(&["write", &lake.destination(""), "data/flights.parquet"]);
    refused(&lake, &["scan", &lake.root(), "--select", "orign"], 2, &["orign", "origin"]);
    refused(&lake, &["scan", &lake.root(), "--where", "orign = 'JFK'"], 2, &["orign"]);
    refused(&lake, &["scan", &lake.root(), "--where", "origin ="], 2, &[]);
    refused(&lake, &["scan", &lake.root(), "--where", "origin = 7"], 2, &["origin"]);
    refused(&lake, &["scan", &lake.destination("?mode=append")], 2, &["mode"]);
    let output = lake.path("rows.xlsx");
    refused(&lake, &["scan", &lake.root(), "--output", &output], 2, &[&output, ".parquet"]);
}

#[test]
fn catalogs_this_version_does_not_reach_say_so_and_leak_nothing() {
    let lake = Lake::new();
    let glue = "iceberg+glue+s3://lake/wh/air/flights?region=us-east-1&aws_access_key_id=AKIAHUNTER2&aws_secret_access_key=hunter2";
    let rest = "iceberg+rest+https://catalog.example/air/flights?warehouse=w&token=hunter2";
    for uri in [glue, rest] {
        refused(&lake, &["write", uri, "data/flights.parquet"], 2, &["local"]);
        let output = calve(&["write", uri, "data/flights.parquet"]);
        let told = String::from_utf8_lossy(&output.stderr).to_lowercase();
        assert!(!told.contains("hunter2"), "{told}");
    }
}
