use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::{Lake, calve, run};

/// A table of two versions.
fn lake() -> (Lake, PathBuf) {
    let lake = Lake::new();
    for _ in 0..2 {
        run(&["write", &lake.destination(""), "data/flights.parquet"]);
    }
    let metadata = PathBuf::from(lake.root()).join("metadata");
    (lake, metadata)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_slice(&calve(arguments).stdout).unwrap()
}

#[test]
fn a_sound_root_is_called_sound_and_left_alone() {
    let (lake, metadata) = lake();
    let before = fs::read_dir(&metadata).unwrap().count();
    assert!(run(&["repair", &lake.root(), "--yes"]).contains("nothing to mend"));
    let checked = run(&["check", &lake.root()]);
    assert_eq!(checked.lines().filter(|line| line.starts_with("ok ")).count(), 3, "{checked}");
    let checked = run(&["check", &lake.destination("")]);
    assert_eq!(checked.lines().filter(|line| line.starts_with("ok ")).count(), 4, "{checked}");
    assert_eq!(fs::read_dir(&metadata).unwrap().count(), before, "no probe is left");
}

#[test]
fn what_a_crash_left_is_told_then_mended_on_demand() {
    let (lake, metadata) = lake();
    let hint = metadata.join("version-hint.text");
    fs::write(&hint, "0").unwrap();
    let copy = fs::read_dir(&metadata).unwrap().map(|entry| entry.unwrap().path());
    let is_copy = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("00001-");
    let copy = copy.into_iter().find(is_copy).unwrap();
    fs::remove_file(&copy).unwrap();

    let checked = calve(&["check", &lake.root()]);
    assert_eq!(checked.status.code(), Some(1));
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert_eq!(told.matches("`calve repair --yes` mends it").count(), 2, "{told}");
    for arguments in [&["repair", &lake.root()][..], &["repair", &lake.root(), "--dry-run"]] {
        assert_eq!(run(arguments).matches("would be mended by --yes").count(), 2);
        assert_eq!(fs::read_to_string(&hint).unwrap(), "0", "nothing is done unasked");
    }
    let mended = json(&["repair", &lake.root(), "--yes", "--json"]);
    assert_eq!(mended["findings"].as_array().unwrap().len(), 2, "{mended}");
    assert!(mended["findings"].as_array().unwrap().iter().all(|f| f["mended"] == true), "{mended}");
    assert_eq!(fs::read_to_string(&hint).unwrap(), "1");
    assert!(copy.exists());
    assert!(run(&["check", &lake.root()]).lines().all(|line| line.starts_with("ok ")));
}

#[test]
fn a_copied_root_takes_writes_once_it_is_adopted() {
    let (lake, _) = lake();
    let copy = lake.path("copied");
    let copied = std::process::Command::new("cp").args(["-r", &lake.root(), &copy]).status().unwrap();
    assert!(copied.success());
    let destination = format!("iceberg+local://{copy}");
    let refused = calve(&["write", &destination, "data/flights.parquet"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("calve repair --adopt"), "{told}");
    assert!(run(&["repair", &copy]).contains("would be mended by --adopt --yes"));
    assert!(run(&["repair", &copy, "--adopt", "--yes"]).contains("mended"));
    run(&["write", &destination, "data/flights.parquet"]);
    assert!(run(&["inspect", &copy]).contains("3 snapshots"));
    assert!(run(&["inspect", &lake.root()]).contains("2 snapshots"), "the first table is as it was");
}

#[test]
fn what_is_no_table_root_is_refused() {
    let (lake, metadata) = lake();
    let file = metadata.join("v1.metadata.json");
    for arguments in [
        &["repair", file.to_str().unwrap()][..],
        &["repair", "glue:///db/t"],
        &["check", "iceberg+rest+https://h/a/t?warehouse=w"],
    ] {
        let refused = calve(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("no table root"), "{arguments:?}");
    }
    let missing = calve(&["repair", &lake.path("nothing")]);
    assert_eq!(missing.status.code(), Some(2), "{}", String::from_utf8_lossy(&missing.stderr));
    let fresh = run(&["check", &format!("iceberg+local://{}", lake.path("fresh"))]);
    assert!(fresh.lines().all(|line| line.starts_with("ok ")), "a destination may be made: {fresh}");
    assert!(!std::path::Path::new(&lake.path("fresh")).exists(), "a check leaves nothing");
}
