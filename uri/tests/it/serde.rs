use calve_uri::{
    AccessDelegation, Destination, Mode, PartitionField, Secret, TableRef, Transform, WithSecrets,
};

const OPEN: &str = "iceberg+glue+s3://lake/wh/db/t?region=eu-west-1&partition=day(ts)";
const SECRET: &str = "iceberg+rest+https://h/ns/t?warehouse=wh&token=hunter2";

#[test]
fn types_are_written_as_they_display_and_read_back() {
    let destination: Destination = OPEN.parse().expect("valid");
    let json = serde_json::to_string(&destination).expect("serializes");
    assert_eq!(json, format!("{OPEN:?}"));
    assert_eq!(serde_json::from_str::<Destination>(&json).ok(), Some(destination));

    let table: TableRef = "a.b".parse().expect("valid");
    let json = serde_json::to_string(&table).expect("serializes");
    assert_eq!((&*json, serde_json::from_str(&json).ok()), ("\"a.b\"", Some(table)));

    let field: PartitionField = "bucket(16,id)".parse().expect("valid");
    let json = serde_json::to_string(&field).expect("serializes");
    assert_eq!((&*json, serde_json::from_str(&json).ok()), ("\"bucket(16,id)\"", Some(field)));

    let json = serde_json::to_string(&Mode::Overwrite).expect("serializes");
    assert_eq!((&*json, serde_json::from_str(&json).ok()), ("\"overwrite\"", Some(Mode::Overwrite)));
}

#[test]
fn parts_of_a_destination_are_written_as_they_display_and_read_back() {
    for text in ["identity", "bucket[16]", "day"] {
        let transform: Transform = serde_json::from_value(text.into()).expect("reads");
        assert_eq!(serde_json::to_value(transform).expect("serializes"), text);
    }
    for text in ["none", "vended-credentials", "remote-signing", "vended-credentials,remote-signing"] {
        let delegation: AccessDelegation = serde_json::from_value(text.into()).expect("reads");
        assert_eq!(serde_json::to_value(delegation).expect("serializes"), text);
    }
    assert!(serde_json::from_value::<Transform>("void".into()).is_err());
}

#[test]
fn secrets_are_written_through_the_wrapper_alone() {
    let destination: Destination = SECRET.parse().expect("valid");
    let table = TableRef::from(destination.clone());
    for json in [
        serde_json::to_string(&destination).expect("serializes"),
        serde_json::to_string(&table).expect("serializes"),
        serde_json::to_string(&Secret::new("hunter2")).expect("serializes"),
    ] {
        assert!(json.contains("<redacted>") && !json.contains("hunter2"), "{json}");
    }
    let json = serde_json::to_string(&WithSecrets(destination.clone())).expect("serializes");
    assert_eq!(json, format!("{SECRET:?}"));
    let again: WithSecrets<Destination> = serde_json::from_str(&json).expect("deserializes");
    assert_eq!(again.0, destination);
    let json = serde_json::to_string(&WithSecrets(table.clone())).expect("serializes");
    let again: WithSecrets<TableRef> = serde_json::from_str(&json).expect("deserializes");
    assert_eq!(again.0, table);
}

#[test]
fn what_was_redacted_is_not_taken_for_the_real_thing() {
    let redacted = serde_json::to_string(&SECRET.parse::<Destination>().expect("valid"));
    let error = serde_json::from_str::<Destination>(&redacted.expect("serializes"));
    assert!(error.expect_err("refused").to_string().starts_with("redacted secret at byte 47"));
}

#[test]
fn a_refusal_says_why_without_the_text() {
    let json = "\"iceberg+rest+https://h/ns/t?warehouse=wh&token=hunter2&mode=x\"";
    let error = serde_json::from_str::<Destination>(json).expect_err("refused").to_string();
    assert!(error.starts_with("invalid value at byte 60"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}
