use crate::{Lake, calve, run};

const SECRET: &str = "hunter2";

#[test]
fn a_command_line_that_is_not_understood_repeats_no_value() {
    let uri = format!("iceberg+rest+https://h/ns/t?warehouse=w&token={SECRET}");
    let option = format!("-o={SECRET}");
    for arguments in [
        vec![uri.as_str()],
        vec!["parse", &uri, &uri],
        vec!["scan", "/tmp/x", &uri],
        vec!["scan", "/tmp/x", &option],
        vec!["scan", "/tmp/x", "--option", "token", SECRET],
        vec!["scan", "/tmp/x", "--limit", SECRET],
        vec!["scan", "/tmp/x", "--snapshot-id", SECRET],
        vec!["scan", "/tmp/x", &format!("--{SECRET}")],
        vec!["write", "iceberg+local:///tmp/q", &uri],
        vec!["write", &uri],
    ] {
        for json in [false, true] {
            let mut arguments = arguments.clone();
            if json {
                arguments.push("--json");
            }
            let output = calve(&arguments);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
            assert!(!told.contains(SECRET), "{arguments:?}: {told}");
            assert!(output.stdout.is_empty());
            if json {
                let error: serde_json::Value = serde_json::from_str(&told).unwrap();
                assert_eq!(error["error"]["kind"], "input");
            } else {
                assert_eq!(told.lines().count(), 1, "{told}");
            }
        }
    }
}

#[test]
fn help_and_version_are_no_errors() {
    assert!(run(&["--help"]).contains("Exit codes"));
    assert!(run(&["--version"]).starts_with("calve "));
    for command in ["write", "scan", "explain", "inspect", "parse"] {
        assert!(run(&[command, "--help"]).contains("Example: calve"), "{command}");
    }
    assert_eq!(calve(&[]).status.code(), Some(2));
}

#[test]
fn a_condition_may_begin_with_a_minus() {
    let lake = Lake::new();
    run(&["write", &lake.destination(""), "data/flights.csv"]);
    let some = run(&["scan", &lake.root(), "--json", "--where", "-5 < dep_delay", "--limit", "1"]);
    assert_eq!(some.lines().count(), 1);
}

#[test]
fn an_empty_write_id_is_refused() {
    let lake = Lake::new();
    let output = calve(&["write", &lake.destination(""), "data/flights.csv", "--write-id", ""]);
    assert_eq!(output.status.code(), Some(2));
    assert!(lake.files().is_empty());
}
