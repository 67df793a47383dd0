use std::fs;

use serde_json::Value;

use crate::{Lake, calve, run};

fn json(arguments: &[&str]) -> Value {
    let output = calve(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn unreferenced_files_are_listed_and_nothing_else_is() {
    let lake = Lake::new();
    let destination = lake.destination("?partition=origin");
    for _ in 0..2 {
        run(&["write", &destination, "data/flights.parquet"]);
    }
    let overwrite = lake.destination("?partition=origin&mode=overwrite");
    run(&["write", &overwrite, "data/flights.parquet"]);
    let files = lake.files().len();
    let sound = json(&["orphans", &lake.root(), "--older-than", "0s", "--json"]);
    assert_eq!(
        sound["orphans"].as_array().unwrap().len(),
        0,
        "replaced files are in use by older snapshots: {sound}"
    );
    assert_eq!(sound["in_use"], files, "{sound}");

    let left = [
        "data/origin=JFK/left.parquet",
        "data/a b/100%25 ä.parquet",
        "metadata/left-m0.avro",
        "metadata/00000-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d.metadata.json",
    ];
    for file in left {
        let path = format!("{}/{file}", lake.root());
        fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    // Names that are never freed, whatever is in them.
    fs::write(format!("{}/metadata/v900.metadata.json.gz", lake.root()), "").unwrap();
    let found = json(&["orphans", &lake.root(), "--older-than", "0s", "--json"]);
    let paths: Vec<&str> =
        found["orphans"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    let mut expected: Vec<String> =
        left.iter().map(|file| format!("file://{}/{file}", lake.root())).collect();
    expected.sort();
    assert_eq!(paths, expected);
    assert_eq!(found["orphans"][0]["bytes"], 1);

    let young = json(&["orphans", &lake.root(), "--json"]);
    assert_eq!(young["orphans"].as_array().unwrap().len(), 0, "three days by default: {young}");
    assert_eq!(young["too_young"], left.len(), "{young}");
    let text = run(&["orphans", &lake.root(), "--older-than", "0s"]);
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert_eq!(lake.files().len(), files + left.len() + 1, "nothing was deleted");
}

#[test]
fn the_copy_of_a_version_whose_hint_was_not_moved_is_in_use() {
    let lake = Lake::new();
    for _ in 0..2 {
        run(&["write", &lake.destination(""), "data/flights.parquet"]);
    }
    let files = lake.files().len();
    let hint = format!("{}/metadata/version-hint.text", lake.root());
    for (content, name) in [("1", "00001-"), ("0", "v1.")] {
        fs::write(&hint, content).unwrap();
        let inspected = json(&["inspect", &lake.root(), "--json"]);
        let file = inspected["metadata_file"].as_str().unwrap();
        assert!(file.contains(&format!("/{name}")), "{file}");
        assert!(run(&["scan", file, "--limit", "1", "--json"]).lines().count() == 1);
        let found = json(&["orphans", &lake.root(), "--older-than", "0s", "--json"]);
        assert_eq!(found["orphans"].as_array().unwrap().len(), 0, "{found}");
        assert_eq!(found["in_use"], files, "{found}");
    }
    fs::remove_file(&hint).unwrap();
    let found = json(&["orphans", &lake.root(), "--older-than", "0s", "--json"]);
    assert_eq!(found["in_use"], files - 1, "{found}");
}

#[test]
fn where_a_manifest_cannot_be_read_no_list_is_given() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.parquet"]);
    let manifest = lake.files().into_iter().find(|file| file.ends_with("-m0.avro")).unwrap();
    fs::write(&manifest, "no avro").unwrap();
    let refused = calve(&["orphans", &lake.root(), "--older-than", "0s"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("manifest"));
}

#[test]
fn an_age_is_a_number_and_a_unit() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.parquet"]);
    for wrong in ["3", "d", "-1d", "3w", "99999999999999999999d", "ä"] {
        let refused = calve(&["orphans", &lake.root(), &format!("--older-than={wrong}")]);
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
    }
}
