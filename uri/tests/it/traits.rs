use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

use calve_uri::{
    AccessDelegation, Destination, ErrorKind, Mode, ParseError, PartitionField, Secret, TableRef, Transform,
};

const GLUE: &str = "iceberg+glue+s3://lake/wh/db/t?region=eu-west-1";
const REST: &str = "iceberg+rest+https://h/ns/t?warehouse=wh&token=hunter2";

#[test]
fn equal_values_hash_alike_and_others_are_told_apart() {
    distinct::<Destination>(&[GLUE, REST, "iceberg+local:///t", "iceberg+local:///t?mode=overwrite"]);
    distinct::<Destination>(&[REST, "iceberg+rest+https://h/ns/t?warehouse=wh&token=hunter3"]);
    distinct::<TableRef>(&[GLUE, "a.b", "a.b.c", "glue:///a/b", "/a/b", "/a/b.metadata.json", "s3://a/b"]);
    distinct::<PartitionField>(&["a", "day(a)", "bucket(1,a)", "bucket(2,a)", "truncate(1,a)", "b"]);
    distinct::<Mode>(&["append", "overwrite"]);
    distinct::<Transform>(&[
        "identity",
        "bucket[1]",
        "bucket[2]",
        "truncate[1]",
        "year",
        "month",
        "day",
        "hour",
    ]);
    assert_eq!(HashSet::from(["a", "b", "a"].map(Secret::new)).len(), 2);
}

/// That each text twice is one value, and all are different ones.
fn distinct<T: FromStr<Err = ParseError> + Hash + Eq>(texts: &[&str]) {
    let parsed = |text: &&str| text.parse::<T>().unwrap_or_else(|error| panic!("{error}"));
    let set: HashSet<T> = texts.iter().chain(texts).map(parsed).collect();
    assert_eq!(set.len(), texts.len());
}

#[test]
fn a_text_converts_as_it_parses() {
    same::<Destination>(&[GLUE, REST, "iceberg+local:///t", "x", "iceberg+local:///t?mode=x"]);
    same::<TableRef>(&[GLUE, "a.b", "glue:///a/b", "/a/b", "s3://a/b", "x", "s3://"]);
    same::<PartitionField>(&["a", "day(a)", "bucket(1,a)", "day(", "a,b"]);
    same::<Transform>(&["day", "bucket[16]", "bucket", "void"]);
    same::<Mode>(&["append", "overwrite", "apend"]);
    same::<AccessDelegation>(&["none", "vended-credentials", "remote-signing,vended-credentials", "vended"]);
}

#[test]
fn a_transform_reads_what_it_displays() {
    let all = ["identity", "bucket[16]", "truncate[2147483647]", "year", "month", "day", "hour"];
    for text in all {
        let transform: Transform = text.parse().expect(text);
        assert_eq!(transform.to_string(), text);
        assert_eq!(text.to_uppercase().parse(), Ok(transform));
    }
    for (text, kind, offset) in [
        ("", ErrorKind::UnknownTransform, 0),
        ("void", ErrorKind::UnknownTransform, 0),
        ("days", ErrorKind::UnknownTransform, 0),
        ("day ", ErrorKind::UnknownTransform, 0),
        ("bucket", ErrorKind::ArgumentCount, 6),
        ("bucket[16", ErrorKind::ArgumentCount, 6),
        ("bucket[16]]", ErrorKind::InvalidWidth, 7),
        ("bucket[]", ErrorKind::InvalidWidth, 7),
        ("bucket[0]", ErrorKind::InvalidWidth, 7),
        ("truncate[-1]", ErrorKind::InvalidWidth, 9),
        ("truncate[2147483648]", ErrorKind::InvalidWidth, 9),
        ("day[1]", ErrorKind::ArgumentCount, 3),
    ] {
        let error = text.parse::<Transform>().expect_err(text);
        assert_eq!((error.kind(), error.offset()), (kind, offset), "{text}");
    }
    let error = "dya".parse::<Transform>().expect_err("no transform");
    assert_eq!(error.nearest(), Some("day"));
}

fn same<'t, T>(texts: &[&'t str])
where
    T: FromStr<Err = ParseError> + TryFrom<&'t str, Error = ParseError> + PartialEq + Debug,
{
    for text in texts {
        assert_eq!(T::try_from(*text), text.parse(), "{text}");
    }
}

#[test]
fn every_type_is_shared_between_threads_and_shown() {
    fn shared<T: Send + Sync + 'static + Debug + Clone>() {}
    fn shown<T: Display>() {}
    shared::<Destination>();
    shared::<TableRef>();
    shared::<PartitionField>();
    shared::<Transform>();
    shared::<Mode>();
    shared::<Secret>();
    shared::<ParseError>();
    shown::<Destination>();
    shown::<TableRef>();
    shown::<PartitionField>();
    shown::<Transform>();
    shown::<Mode>();
    shown::<ParseError>();
}
