use calve_uri::{Destination, ErrorKind, ParseError, RootDestination, TableRef};

use crate::leaks::shown;

fn refused(text: &str) -> ParseError {
    text.parse::<Destination>().expect_err(text)
}

/// bytebase/dbhub#96, langflow-ai/langflow#15032: split before decoding, and decoded twice or never.
#[test]
fn a_password_with_any_separator_raw_or_encoded_is_userinfo_and_stays_hidden() {
    for password in ["p%40ss%3Aw%2Fx%25", "p@ss", "p:ss", "p/ss", "p?ss", "p#ss", "p%ss", "p%zzss", "p%25zz"]
    {
        for host in
            ["iceberg+glue+s3://", "iceberg+rest+https://", "iceberg+file+s3://", "iceberg+file+abfss://"]
        {
            let error = refused(&format!("{host}user:{password}@host/a/db/t?warehouse=w"));
            let kinds = [ErrorKind::Userinfo, ErrorKind::Fragment];
            assert!(kinds.contains(&error.kind()), "{host} {password}: {error}");
            assert_eq!(error.offset(), host.len(), "{host} {password}");
            assert!(!shown(&error).contains(password) && !shown(&error).contains("ss@"), "{error}");
        }
    }
}

/// The same class: each part is decoded once, so that an encoded `%` stays one.
#[test]
fn a_value_is_decoded_once() {
    let uri = "iceberg+rest+https://h/a%2540b/t%2525?warehouse=w%2540&token=p%2540ss%253A";
    let Ok(Destination::Rest(rest)) = uri.parse() else { panic!("{uri}") };
    assert_eq!((&*rest.namespace()[0], rest.table(), rest.warehouse()), ("a%40b", "t%25", "w%40"));
    assert_eq!(rest.token().map(|token| token.expose()), Some("p%40ss%3A"));
}

#[test]
fn a_malformed_encoding_is_refused_without_its_value() {
    for value in ["hunter2%zz", "%hunter2", "hunter2%", "hunter2%4", "hunter2%FF", "hunter2%00"] {
        for name in ["token", "credential", "tokn"] {
            let error = refused(&format!("iceberg+rest+https://h/ns/t?warehouse=w&{name}={value}"));
            assert!(!shown(&error).contains("hunter2"), "{error}");
        }
    }
}

/// aloneguid/storage#173, xtyxtyx/minio-dart#114: `+` taken for a space.
#[test]
fn a_plus_is_a_plus_raw_and_encoded_in_every_part() {
    let uri = "iceberg+glue+s3://lake/a+b%2Bc/d+b/t%2b?aws_access_key_id=ab+cd\
        &aws_secret_access_key=ab+cd/ef==&aws_session_token=ab%2Bcd%2Fef%3D%3D&partition=a+b,c%2Bd";
    let Ok(Destination::Glue(glue)) = uri.parse() else { panic!("{uri}") };
    assert_eq!((glue.warehouse(), glue.database(), glue.table()), ("s3://lake/a+b+c", "d+b", "t+"));
    let credentials = glue.aws_credentials().expect("given");
    assert_eq!(credentials.access_key_id().expose(), "ab+cd");
    assert_eq!(credentials.secret_access_key().expose(), "ab+cd/ef==");
    assert_eq!(credentials.session_token().map(|token| token.expose()), Some("ab+cd/ef=="));
    assert_eq!(glue.partition().iter().map(|field| field.column()).collect::<Vec<_>>(), ["a+b", "c+d"]);
}

/// ClickHouse/ClickHouse#102321, ClickHouse/ClickHouse#117828: a local path's first segment taken for a
/// host, and dropped.
#[test]
fn every_spelling_of_an_absolute_path_is_one_location_with_three_slashes() {
    let location = "file:///tmp/a b/t";
    for text in
        ["file:/tmp/a b/t", "file:///tmp/a b/t", "/tmp/a b/t", "/tmp/a b/t/", "file://localhost/tmp/a b/t"]
    {
        assert_eq!(text.parse(), Ok(TableRef::Root { location: location.into() }), "{text}");
        if text.starts_with("file:") {
            let built = RootDestination::builder(text).build().map(|root| root.location().to_owned());
            assert_eq!(built.as_deref(), Ok(location), "{text}");
        }
    }
    for uri in
        ["iceberg+local:///tmp/a b/t", "iceberg+local:///tmp/a%20b/t", "iceberg+file+file:///tmp/a b/t"]
    {
        let Ok(Destination::Root(root)) = uri.parse() else { panic!("{uri}") };
        assert_eq!(root.location(), location, "{uri}");
        assert_eq!(root.to_string(), "iceberg+local:///tmp/a%20b/t", "{uri}");
    }
}

#[test]
fn a_relative_path_and_a_host_are_refused() {
    for text in ["tmp/t", "./t", "../t", "file:tmp/t", "file://tmp/t", "file://tmp", "t.metadata.json"] {
        let error = text.parse::<TableRef>().expect_err(text);
        assert_eq!(error.kind(), ErrorKind::RelativePath, "{text}");
    }
    for text in ["iceberg+local://tmp/t", "iceberg+file+file://tmp/t"] {
        assert_eq!(refused(text).kind(), ErrorKind::RelativePath, "{text}");
    }
}

/// apache/iceberg#12373, apache/iceberg#11391: a slash at the end of a token address taken off, one at
/// the end of a catalog's address doubled.
#[test]
fn a_token_address_keeps_its_slash_and_a_catalog_address_has_none() {
    let Ok(Destination::Rest(rest)) = "iceberg+rest+https://cat/api/ns/t?warehouse=w\
        &oauth2_server_uri=https://idp/o/token/"
        .parse()
    else {
        panic!("a destination");
    };
    assert_eq!(rest.oauth2_server_uri(), Some("https://idp/o/token/"));
    assert_eq!(rest.endpoint(), "https://cat/api");
    let built = ["https://cat/api/", "https://cat/api"].map(|endpoint| {
        calve_uri::RestDestination::builder(endpoint, ["ns"], "t", "w").build().map(|rest| rest.to_string())
    });
    assert_eq!(built[0], built[1]);
    assert_eq!(refused("iceberg+rest+https://cat/api//ns/t?warehouse=w").kind(), ErrorKind::EmptySegment);
}

/// commandprompt/pgcolumnar#637, commandprompt/pgcolumnar#655: traversal through dot segments and NUL.
#[test]
fn dot_segments_and_nul_are_refused_raw_and_encoded() {
    for segment in ["..", ".", "%2e%2e", ".%2E", "%2e"] {
        for form in ["iceberg+local:///a", "iceberg+file+s3://lake/a", "iceberg+glue+s3://lake/a"] {
            let error = refused(&format!("{form}/{segment}/db/t"));
            assert_eq!(error.kind(), ErrorKind::DotSegment, "{form} {segment}");
        }
    }
    for segment in ["%00%2e%2e", "a%00", "\0"] {
        let error = refused(&format!("iceberg+local:///a/{segment}/t"));
        assert_eq!(error.kind(), ErrorKind::ControlCharacter, "{segment:?}");
    }
    for text in ["/a/../b", "file:///a/..", "/a/./b"] {
        assert_eq!(text.parse::<TableRef>().expect_err(text).kind(), ErrorKind::DotSegment, "{text}");
    }
}
