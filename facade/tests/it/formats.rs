use crate::{Lake, run};

/// The rows of a table as sorted JSON lines.
fn rows(lake: &Lake) -> Vec<String> {
    let out = lake.path("rows.jsonl");
    run(&["scan", &lake.root(), "--output", &out]);
    let mut rows: Vec<String> = std::fs::read_to_string(out).unwrap().lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

#[test]
fn every_output_format_can_be_written_back_and_gives_the_same_rows() {
    let first = Lake::new();
    run(&["write", &first.destination(""), "data/flights.parquet"]);
    let expected = rows(&first);
    assert_eq!(expected.len(), 22_452);
    for extension in ["parquet", "arrow", "csv", "jsonl"] {
        let file = first.path(&format!("copy.{extension}"));
        run(&["scan", &first.root(), "--output", &file]);
        let second = Lake::new();
        // An existing table gives text its types.
        run(&["write", &second.destination(""), "data/flights.parquet"]);
        run(&["write", &second.destination("?mode=overwrite"), &file]);
        assert_eq!(rows(&second), expected, "{extension}");
    }
}

#[test]
fn csv_and_json_lines_make_a_table_of_the_types_their_values_have() {
    for file in ["data/flights.csv", "data/flights.jsonl"] {
        let lake = Lake::new();
        run(&["write", &lake.destination("?partition=origin"), file]);
        assert_eq!(rows(&lake).len(), 200, "{file}");
        let shown = run(&["inspect", &lake.root()]);
        assert!(shown.contains("long") && shown.contains("string"), "{shown}");
    }
}

#[test]
fn several_files_are_one_snapshot() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.parquet", "data/flights.parquet"]);
    assert_eq!(rows(&lake).len(), 2 * 22_452);
    assert!(run(&["inspect", &lake.root()]).contains("1 snapshot\n"));
}

#[test]
fn output_columns_can_be_renamed() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.csv"]);
    let out = lake.path("out.csv");
    let rename = ["scan", &lake.root(), "--select", "dest,origin", "--rename", "dest=to", "--output", &out];
    run(&rename);
    assert_eq!(std::fs::read_to_string(out).unwrap().lines().next().unwrap(), "to,origin");
}
