use calve_uri::{
    AccessDelegation, AwsCredentials, Destination, ErrorKind, GlueDestination, Mode, PartitionField,
    RestDestination, RootDestination, TableRef, Transform,
};

#[test]
fn a_built_glue_destination_equals_the_parsed_one() {
    let built = GlueDestination::builder("s3://lake/w h/", "sales", "a/b")
        .region("eu-west-1")
        .account("123456789012:s3tablescatalog/bucket")
        .role_arn("arn:aws:iam::123456789012:role/writer")
        .aws_credentials(AwsCredentials::new("AK&IA", "a+b/c=%").with_session_token("t#?"))
        .partition([
            PartitionField::new(Transform::Day, "ts"),
            PartitionField::new(Transform::Truncate(4), "a & b"),
        ])
        .mode(Mode::Overwrite)
        .build()
        .map(Destination::from);
    let parsed = "iceberg+glue+s3://lake/w%20h/sales/a%2Fb?region=eu-west-1\
        &account=123456789012:s3tablescatalog/bucket&role_arn=arn:aws:iam::123456789012:role/writer\
        &aws_access_key_id=AK%26IA&aws_secret_access_key=a+b/c=%25&aws_session_token=t%23%3F\
        &partition=day(ts),truncate(4,%22a%20%26%20b%22)&mode=overwrite";
    assert_eq!(built, parsed.parse());
    assert_eq!(built.map(|d| d.to_uri_with_secrets().expose() == parsed), Ok(true));
}

#[test]
fn a_built_rest_destination_equals_the_parsed_one() {
    let built = RestDestination::builder("https://h/api/v1/", ["a.b", "c/d"], "t u", "s3://lake/wh/")
        .credential("svc:s3:cr3t")
        .token("to&ken")
        .scope("a b")
        .oauth2_server_uri("https://idp/token/x=1,y=2")
        .access_delegation(AccessDelegation::Both)
        .region("eu-west-1")
        .aws_credentials(AwsCredentials::new("id", "key"))
        .build()
        .map(Destination::from);
    let parsed = "iceberg+rest+https://h/api/a%2Eb.c%2Fd/t%20u?warehouse=s3://lake/wh\
        &credential=svc:s3:cr3t&token=to%26ken&scope=a%20b\
        &oauth2_server_uri=https://idp/token/x=1,y=2\
        &access_delegation=vended-credentials,remote-signing&region=eu-west-1\
        &aws_access_key_id=id&aws_secret_access_key=key";
    assert_eq!(built, parsed.parse());
    assert_eq!(built.map(|d| d.to_uri_with_secrets().expose() == parsed), Ok(true));
}

#[test]
fn a_built_root_destination_equals_the_parsed_one() {
    for (location, uri) in [
        ("s3://lake/a?b#c%d/t", "iceberg+file+s3://lake/a%3Fb%23c%25d/t"),
        ("file:///data/my lake/t/", "iceberg+local:///data/my%20lake/t"),
        ("file:/data/t", "iceberg+local:///data/t"),
        ("file://localhost/data/t", "iceberg+local:///data/t"),
        ("FILE://LOCALHOST/data/t/", "iceberg+local:///data/t"),
        ("s3://lake/a&mode=b;token=c/t", "iceberg+file+s3://lake/a%26mode=b%3Btoken=c/t"),
        ("abfss://box@acct.dfs.core.windows.net/t", "iceberg+file+abfss://box@acct.dfs.core.windows.net/t"),
    ] {
        let built = RootDestination::builder(location).build().map(Destination::from);
        assert_eq!(built, uri.parse());
        assert_eq!(built.map(|d| d.to_string()), Ok(uri.to_owned()));
    }
}

#[test]
fn parts_cannot_reach_beyond_their_place() {
    for (endpoint, kind) in [
        ("https://h/a/b?warehouse=w&x=", None),
        ("https://h/a/b?warehouse=w&scope=", Some(ErrorKind::MisplacedParameter)),
        ("https://h/a/b#", None),
        ("https://u:p@h", Some(ErrorKind::Userinfo)),
        ("https://h?x=1", Some(ErrorKind::InvalidHost)),
        ("h/api", Some(ErrorKind::UnknownScheme)),
    ] {
        let built = RestDestination::builder(endpoint, ["ns"], "t", "wh").build();
        match kind {
            Some(kind) => assert_eq!(built.map_err(|e| e.kind()), Err(kind), "{endpoint}"),
            None => {
                let built = built.expect("encoded, the endpoint is odd but harmless");
                assert_eq!((built.namespace(), built.table()), (&["ns".to_owned()][..], "t"));
                assert!(!built.endpoint().contains(['?', '#']));
            }
        }
    }
    for (warehouse, kind) in [
        ("s3://lake?mode=overwrite", ErrorKind::InvalidBucket),
        ("s3://lake/a//b", ErrorKind::EmptySegment),
        ("s3://lake/../b", ErrorKind::DotSegment),
        ("s3://k:s@lake", ErrorKind::Userinfo),
        ("gs://lake", ErrorKind::UnknownScheme),
        ("lake", ErrorKind::UnknownScheme),
    ] {
        let built = GlueDestination::builder(warehouse, "db", "t").build();
        assert_eq!(built.map_err(|e| e.kind()), Err(kind), "{warehouse}");
    }
}

#[test]
fn builders_refuse_what_parsing_refuses() {
    let glue = || GlueDestination::builder("s3://lake", "db", "t");
    for (built, kind) in [
        (GlueDestination::builder("s3://lake", "Db", "t"), ErrorKind::UpperCase),
        (GlueDestination::builder("s3://lake", "", "t"), ErrorKind::EmptySegment),
        (GlueDestination::builder("s3://lake", "db", ".."), ErrorKind::DotSegment),
        (GlueDestination::builder("s3://lake", "db", "a\nb"), ErrorKind::ControlCharacter),
        (glue().region(""), ErrorKind::EmptyValue),
        (glue().account("1"), ErrorKind::InvalidValue),
        (glue().aws_credentials(AwsCredentials::new("", "x")), ErrorKind::EmptyValue),
        (glue().aws_credentials(AwsCredentials::new("<redacted>", "x")), ErrorKind::RedactedSecret),
        (glue().partition([PartitionField::new(Transform::Bucket(0), "id")]), ErrorKind::InvalidWidth),
        (glue().partition([PartitionField::new(Transform::Day, "")]), ErrorKind::MissingColumn),
    ] {
        assert_eq!(built.build().map_err(|e| e.kind()), Err(kind));
    }
    let rest = |namespace: &[&str], credential: &str| {
        RestDestination::builder("http://h", namespace.iter().copied(), "t", "wh")
            .credential(credential)
            .build()
            .map_err(|e| e.kind())
    };
    assert_eq!(rest(&[], "s"), Err(ErrorKind::EmptySegment));
    assert_eq!(rest(&["a", ""], "s"), Err(ErrorKind::EmptyLevel));
    assert_eq!(rest(&[".."], "s"), Err(ErrorKind::DotSegment));
    assert_eq!(rest(&["a"], "id:"), Err(ErrorKind::EmptyValue));
    assert!(rest(&["a"], "id:s").is_ok());
}

#[test]
fn a_host_may_be_named_like_the_version_of_the_protocol() {
    for (given, endpoint, written) in [
        ("https://v1", "https://v1", "https://v1"),
        ("https://v1/", "https://v1", "https://v1"),
        ("http://v1/v1", "http://v1", "http://v1"),
        ("http://v1/v1/v1/", "http://v1/v1", "http://v1/v1/v1"),
        ("https://h/v1", "https://h", "https://h"),
    ] {
        let built = RestDestination::builder(given, ["ns"], "t", "wh").build().expect(given);
        assert_eq!(built.endpoint(), endpoint, "{given}");
        assert_eq!(built.to_string(), format!("iceberg+rest+{written}/ns/t?warehouse=wh"));
        assert_eq!(built.to_string().parse(), Ok(Destination::from(built)));
    }
}

#[test]
fn a_local_root_needs_an_absolute_path_of_this_machine() {
    for location in ["file:data/t", "file://host/data/t", "file://localhost", "file:", "/data/t"] {
        assert!(RootDestination::builder(location).build().is_err(), "{location}");
    }
}

#[test]
fn a_destination_to_scan_has_nothing_of_a_write() {
    for uri in [
        "iceberg+local:///t?partition=id&mode=overwrite",
        "iceberg+glue+s3://lake/db/t?region=eu-west-1&partition=id&mode=overwrite",
        "iceberg+rest+https://h/ns/t?warehouse=wh&partition=id&mode=overwrite",
    ] {
        let table = TableRef::from(uri.parse::<Destination>().expect(uri));
        assert!(!table.to_string().contains("partition") && !table.to_string().contains("mode"), "{table}");
        assert_eq!(table.to_string().parse(), Ok(table));
    }
}
