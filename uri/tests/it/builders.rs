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
        ("/data/my lake/t/", "iceberg+local:///data/my%20lake/t"),
        ("file://localhost/data/t", "iceberg+local:///data/t"),
        ("FILE://LOCALHOST/data/t/", "iceberg+local:///data/t"),
        ("s3://lake/a&b=c;d=e/t", "iceberg+file+s3://lake/a%26b=c%3Bd=e/t"),
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
        ("https://h/a/b?warehouse=w&x=", ErrorKind::UnexpectedQuery),
        ("https://h/a/b?token=hunter2", ErrorKind::UnexpectedQuery),
        ("https://h/a/b?", ErrorKind::UnexpectedQuery),
        ("https://h/a/b#", ErrorKind::Fragment),
        ("https://h/a/b#x?y", ErrorKind::Fragment),
        ("https://h/a/b&scope=x", ErrorKind::MisplacedParameter),
        ("https://h/a/b;x=y", ErrorKind::MisplacedParameter),
        ("https://u:p@h", ErrorKind::Userinfo),
        ("https://u:p/w@h", ErrorKind::Userinfo),
        ("https://h?x=1", ErrorKind::UnexpectedQuery),
        ("h/api", ErrorKind::UnknownScheme),
    ] {
        let built = RestDestination::builder(endpoint, ["ns"], "t", "wh").build();
        assert_eq!(built.map_err(|e| e.kind()), Err(kind), "{endpoint}");
    }
    let encoded = "https://h/a%3Fb%23c/d&e;f";
    let built = RestDestination::builder(encoded, ["ns"], "t", "wh").build().expect(encoded);
    assert_eq!((built.endpoint(), built.table()), (encoded, "t"));
    for (warehouse, kind) in [
        ("s3://lake?mode=overwrite", ErrorKind::UnexpectedQuery),
        ("s3://lake?mode", ErrorKind::InvalidBucket),
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
fn a_location_is_built_by_the_rule_by_which_it_is_scanned() {
    let paths = [
        "?aws_secret_access_key=hunter2",
        "/a?sv=2022-11-02&sig=hunter2",
        "/é%/a?x=y",
        "/a?x%3Dy",
        "/a&token=hunter2",
        "/a;client_secret=hunter2",
        "/a%3FX-Amz-Signature=hunter2",
        "/a%3Fsig%3Dhunter2",
        "/a%26s3.secret-access-key=hunter2",
        "/a?b/t",
        "/a&b=c/t",
        "/a;b/t",
        "/50%3D/t",
    ];
    let mut taken = 0;
    for location in paths.map(|path| format!("s3://lake{path}")) {
        let scanned = location.parse::<TableRef>().map_err(|e| e.kind());
        let root = RootDestination::builder(&*location).build();
        let glue = GlueDestination::builder(&location, "db", "t").build();
        let rest = RestDestination::builder("https://h", ["ns"], "t", &location).build();
        for built in [root.map(|d| d.to_string()), glue.map(|d| d.to_string()), rest.map(|d| d.to_string())] {
            assert_eq!(
                built.as_ref().map_err(|e| e.kind()).err(),
                scanned.as_ref().err().copied(),
                "{location}"
            );
            let Err(error) = built else { continue };
            assert!(!error.render().contains("hunter2"), "{}", error.render());
        }
        taken += usize::from(scanned.is_ok());
    }
    assert_eq!(taken, 4);
    // The offset is one in the URI, where what comes before is encoded.
    let error = RootDestination::builder("s3://lake/é/a?x=y").build().expect_err("a parameter");
    assert_eq!(error.offset(), "iceberg+file+s3://lake/%C3%A9/a".len());
    let error = RootDestination::builder("file:/data/a?x=y").build().expect_err("a parameter");
    assert_eq!(error.offset(), "iceberg+local:///data/a".len());
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
        (glue().account("123456789012:a/.."), ErrorKind::InvalidValue),
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
fn what_is_wrong_beside_a_secret_says_nothing_of_how_it_is_encoded() {
    let rest = |secret: &str| {
        let builder = RestDestination::builder("https://h", ["ns"], "t", "w").region("x y");
        let builder = builder.token(secret).credential(secret);
        builder.aws_credentials(AwsCredentials::new(secret, secret)).build().expect_err("no region")
    };
    let glue = |secret: &str| {
        let builder = GlueDestination::builder("s3://lake", "db", "t");
        let builder = builder.aws_credentials(AwsCredentials::new(secret, secret).with_session_token(secret));
        builder.partition([PartitionField::new(Transform::Bucket(0), "a")]).build().expect_err("no width")
    };
    for secret in ["a&b", "a b", "%%%", "é1", "数", "#?;", "\n\n\n", "::a"] {
        for error in [&rest as &dyn Fn(&str) -> _, &glue] {
            let (plain, odd) = (error("abc"), error(secret));
            assert_eq!((plain.render(), plain.offset()), (odd.render(), odd.offset()), "{secret:?}");
        }
    }
}

#[test]
fn a_secret_that_is_refused_is_told_of_at_its_parameter() {
    let builder = || RestDestination::builder("https://h", ["ns"], "t", "w").credential("a b&c");
    for (token, kind) in [
        ("", ErrorKind::EmptyValue),
        ("a\nb", ErrorKind::ControlCharacter),
        ("<redacted>", ErrorKind::RedactedSecret),
    ] {
        let error = builder().token(token).build().expect_err("refused");
        assert_eq!(error.kind(), kind);
        let uri = "iceberg+rest+https://h/ns/t?warehouse=w&credential=xxxxx&token=";
        assert_eq!(error.offset(), uri.len(), "{error}");
    }
    let error = builder().credential(":x").build().expect_err("refused");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::EmptyValue, 51));
}

#[test]
fn a_location_without_its_scheme_is_told_so() {
    let errors = [
        RootDestination::builder("lake/t").build().expect_err("no scheme"),
        GlueDestination::builder("lake", "db", "t").build().expect_err("no scheme"),
        RestDestination::builder("catalog.example.com", ["ns"], "t", "w").build().expect_err("no scheme"),
    ];
    for error in errors {
        let message = error.to_string();
        assert_eq!(error.kind(), ErrorKind::UnknownScheme);
        assert!(message.starts_with("unknown scheme at byte"), "{message}");
        assert!(message.ends_with("with its scheme, such as s3://bucket/path or https://host"), "{message}");
    }
}

#[test]
fn a_local_root_needs_an_absolute_path_of_this_machine() {
    for location in
        ["file:data/t", "file://host/data/t", "file://localhost", "file:", "data/t", "//data/t", "/"]
    {
        assert!(RootDestination::builder(location).build().is_err(), "{location}");
    }
}

#[test]
fn a_destination_to_scan_has_nothing_of_a_write() {
    for uri in [
        "iceberg+local:///t?partition=id&mode=overwrite",
        "iceberg+glue+s3://lake/db/t?region=eu-west-1&partition=id&mode=overwrite",
        "iceberg+rest+https://h/ns/t?warehouse=wh&partition=id&mode=overwrite",
        "iceberg+rest+https://h/ns/t?warehouse=wh&mode=overwrite",
    ] {
        let destination = uri.parse::<Destination>().expect(uri);
        let table = TableRef::from(destination.clone());
        assert!(!table.to_string().contains("partition") && !table.to_string().contains("mode"), "{table}");
        assert_eq!(table.to_string().parse(), Ok(table.clone()));
        // Nothing keeps a write from being put into the variant itself.
        let unconverted = TableRef::Destination(destination);
        assert_eq!(unconverted.to_string().parse(), Ok(table.clone()));
        assert_eq!(unconverted.to_uri_with_secrets().expose().parse(), Ok(table));
    }
}
