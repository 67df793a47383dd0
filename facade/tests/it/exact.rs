use crate::{Lake, calve, run};

/// Writes `first` and then `second` to one table, both in files of `extension`.
fn second(lake: &Lake, extension: &str, first: &str, second: &str) -> std::process::Output {
    let one = lake.write(&format!("one.{extension}"), first);
    let two = lake.write(&format!("two.{extension}"), second);
    run(&["write", &lake.destination(""), &one]);
    calve(&["write", &lake.destination(""), &two])
}

#[test]
fn text_that_would_lose_something_is_refused_with_its_row() {
    for (extension, first, lossy) in [
        ("jsonl", "{\"x\": 1}\n", "{\"x\": 1}\n{\"x\": 2.9}\n"),
        ("csv", "x\n1\n", "x\n1\n2.9\n"),
        ("csv", "x\n1.5\n", "x\n1\n9007199254740993\n"),
        ("csv", "x\n2024-02-29\n", "x\n2024-02-29\n2024-02-29T12:00:00\n"),
        ("csv", "x\n2024-02-29T12:00:00\n", "x\n2024-02-29T12:00:00\n2024-02-29T12:00:00.1234567\n"),
        ("jsonl", "{\"x\": true}\n", "{\"x\": true}\n{\"x\": \"maybe\"}\n"),
    ] {
        let lake = Lake::new();
        let output = second(&lake, extension, first, lossy);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{lossy}: {told}");
        assert!(told.contains("column `x`") && told.contains("row 2"), "{lossy}: {told}");
    }
}

#[test]
fn a_nested_field_the_table_lacks_is_refused_and_not_dropped() {
    let lake = Lake::new();
    let output = second(
        &lake,
        "jsonl",
        "{\"id\": 1, \"n\": {\"a\": 1}}\n",
        "{\"id\": 2, \"n\": {\"a\": 2, \"zzz\": \"lost\"}}\n",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("zzz"));
}

#[test]
fn whole_numbers_may_be_written_with_a_point() {
    let lake = Lake::new();
    assert!(second(&lake, "jsonl", "{\"x\": 1}\n", "{\"x\": 2.0}\n").status.success());
    assert!(run(&["scan", &lake.root(), "--json", "--where", "x = 2"]).contains("{\"x\":2}"));
}

#[test]
fn a_csv_time_with_an_offset_is_an_instant() {
    let lake = Lake::new();
    let file = lake.write("t.csv", "x,t\n1,2024-01-01T00:00:00+05:00\n");
    run(&["write", &lake.destination(""), &file]);
    assert!(run(&["inspect", &lake.root()]).contains("timestamptz"));
    assert!(run(&["scan", &lake.root(), "--json"]).contains("2023-12-31T19:00:00"));
}

#[test]
fn nested_json_of_every_shape_is_written_and_read_back() {
    let lake = Lake::new();
    let rows = "{\"a\":[1,2],\"s\":{\"t\":\"x\",\"u\":[{\"v\":1.5}]}}\n{\"a\":[],\"s\":{\"t\":null,\"u\":null}}\n{\"a\":null,\"s\":null}\n";
    let file = lake.write("n.jsonl", rows);
    run(&["write", &lake.destination(""), &file]);
    run(&["write", &lake.destination(""), &file]);
    let shown = run(&["scan", &lake.root(), "--json"]);
    assert_eq!(shown.lines().count(), 6);
    assert_eq!(shown.lines().filter(|l| l.contains("\"v\":1.5")).count(), 2, "{shown}");
}

#[test]
fn csv_is_refused_for_columns_it_cannot_hold_in_either_direction() {
    let lake = Lake::new();
    let nested = lake.write("n.jsonl", "{\"id\": 1, \"a\": [1, 2]}\n");
    run(&["write", &lake.destination(""), &nested]);
    let flat = lake.write("n.csv", "id,a\n1,x\n");
    let output = calve(&["write", &lake.destination(""), &flat]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("column `a`"));
    let out = lake.path("out.csv");
    std::fs::write(&out, "precious").unwrap();
    let output = calve(&["scan", &lake.root(), "--output", &out]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
    run(&["scan", &lake.root(), "--output", &out, "--select", "id"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "id\n1\n");
}

#[test]
fn a_scan_that_fails_leaves_the_old_output_and_no_other_file() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.parquet"]);
    let data = lake.files().into_iter().find(|f| f.ends_with(".parquet")).unwrap();
    let whole = std::fs::read(&data).unwrap();
    std::fs::write(&data, &whole[..whole.len() / 2]).unwrap();
    for name in ["keep.csv", "keep.parquet", "keep.jsonl", "keep.arrow"] {
        let out = lake.write(name, "precious");
        let before = lake.files();
        let output = calve(&["scan", &lake.root(), "--output", &out]);
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
        assert_eq!(lake.files(), before);
    }
}

#[test]
fn a_file_of_the_table_is_no_place_for_output() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.parquet"]);
    let data = lake.files().into_iter().find(|f| f.ends_with(".parquet")).unwrap();
    let output = calve(&["scan", &lake.root(), "--limit", "1", "--output", &data]);
    assert_eq!(output.status.code(), Some(2));
    run(&["scan", &lake.root(), "--limit", "1"]);
}

#[test]
fn output_that_cannot_be_written_is_never_success() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.csv"]);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [vec!["scan", "--json", "--limit", "3"], vec!["scan"], vec!["inspect"], vec!["explain"]]
    {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_calve"))
            .args(&arguments)
            .arg(lake.root())
            .stdout(full())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}
