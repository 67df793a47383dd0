use calve_uri::{
    AwsCredentials, Destination, ErrorKind, GlueDestination, Mode, ParseError, PartitionField,
    RestDestination, RootDestination, Secret, TableRef, parse_partition,
};

/// Something that nothing else in these tests holds.
pub(crate) const NEEDLE: &str = "hunter2";

/// Everything an error prints.
pub(crate) fn shown(error: &ParseError) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    format!("{error}\n{error:?}\n{error:#?}\n{}\n{}\n{source}", error.render(), error.expected())
}

#[test]
fn no_error_shows_a_value_that_may_be_secret() {
    let glue = "iceberg+glue+s3://lake/wh/db/t";
    let rest = "iceberg+rest+https://h/ns/t?warehouse=wh";
    for text in [
        // Under its own name, for every reason it can be refused.
        format!("{glue}?aws_secret_access_key={NEEDLE}"),
        format!("{glue}?aws_access_key_id={NEEDLE}&aws_secret_access_key=%zz{NEEDLE}"),
        format!("{glue}?aws_access_key_id={NEEDLE}&aws_secret_access_key={NEEDLE}%"),
        format!("{glue}?aws_access_key_id={NEEDLE}&aws_secret_access_key={NEEDLE}%FF"),
        format!("{glue}?aws_access_key_id={NEEDLE}&aws_secret_access_key={NEEDLE}%0A"),
        format!("{glue}?aws_access_key_id={NEEDLE}&aws_secret_access_key={NEEDLE}\u{7}"),
        format!("{glue}?aws_session_token={NEEDLE}&aws_session_token={NEEDLE}"),
        format!("{rest}&credential={NEEDLE}:"),
        format!("{rest}&credential=:{NEEDLE}"),
        format!("{rest}&token={NEEDLE}&mode=x"),
        format!("{rest}&token={NEEDLE}%"),
        format!("{rest}&token={NEEDLE}#"),
        // Broken off at a raw separator.
        format!("{rest}&token=a&{NEEDLE}"),
        format!("{rest}&token=a&{NEEDLE}=b"),
        format!("{rest}&token=a#{NEEDLE}"),
        // Under a name that is misspelt, unknown, encoded, or of another form.
        format!("{glue}?aws_secret_acess_key={NEEDLE}"),
        format!("{glue}?AWS_SECRET_ACCESS_KEY={NEEDLE}"),
        format!("{glue}?password={NEEDLE}"),
        format!("{glue}?tok%65n={NEEDLE}"),
        format!("{glue}?%zz={NEEDLE}"),
        format!("{glue}?={NEEDLE}"),
        format!("{glue}?credential={NEEDLE}"),
        format!("iceberg+local:///t?token={NEEDLE}"),
        // In a text that is refused for another reason.
        format!("iceberg+glue+s3://Lake/wh/db/t?token={NEEDLE}"),
        format!("iceberg+gule+s3://lake/wh/db/t?token={NEEDLE}"),
        format!("postgres://user:{NEEDLE}@h/db?password={NEEDLE}"),
        NEEDLE.to_owned(),
        // As userinfo.
        format!("iceberg+glue+s3://{NEEDLE}@lake/wh/db/t"),
        format!("iceberg+glue+s3://u:{NEEDLE}@lake/wh/db/t"),
        format!("iceberg+glue+s3://u:p@{NEEDLE}@lake/wh/db/t"),
        format!("iceberg+glue+s3://u:p/{NEEDLE}@lake/wh/db/t"),
        format!("iceberg+glue+s3://u:{NEEDLE}%40lake/wh/db/t"),
        format!("iceberg+glue+s3://u:{NEEDLE}/wh/db/t"),
        format!("iceberg+rest+https://u:{NEEDLE}?x@h/ns/t"),
        format!("iceberg+rest+https://u:{NEEDLE}#x@h/ns/t"),
        format!("iceberg+file+abfss://u:{NEEDLE}@acct.dfs.core.windows.net/t"),
        format!("iceberg+file+abfss://box@{NEEDLE}@acct.dfs.core.windows.net/t"),
        format!("iceberg+rest+https://h/ns/t?warehouse=s3://u:{NEEDLE}@lake/wh"),
        format!("iceberg+rest+https://h/ns/t?warehouse=s3%3A%2F%2Fu%3A{NEEDLE}%40lake"),
        format!("{rest}&oauth2_server_uri=https://u:{NEEDLE}@idp/token"),
        format!("{rest}&oauth2_server_uri=https://idp/token?client_secret={NEEDLE}&mode=x"),
        format!("iceberg+rest+https://u:p@{NEEDLE}#x@h/ns/t"),
        format!("iceberg+glue+s3://u:p/{NEEDLE}?x@lake/db/t"),
        format!("iceberg+glue+s3://u:{NEEDLE}#@lake/t"),
        format!("iceberg+rest+https://{NEEDLE}?x@h/ns/t"),
        format!("iceberg+rest+https://u:1/{NEEDLE}?x=y@h/ns/t"),
        format!("iceberg+rest+https://u:1/{NEEDLE}?x@h/ns/t?warehouse=wh"),
        format!("iceberg+rest+https://u:1/{NEEDLE}#x%40h/ns/t"),
        format!("iceberg+rest+https://h/ns/t?warehouse=s3://u:{NEEDLE}/wh"),
        format!("iceberg+rest+https://h/ns/t?warehouse=s3://u:1/{NEEDLE}&x@lake"),
        format!("iceberg+rest+https://h/ns/t?warehouse=s3://{NEEDLE}#x@lake"),
        format!("iceberg+rest+https://h/ns/t?warehouse=s3:/u:{NEEDLE}/lake"),
        format!("{rest}&oauth2_server_uri=https://u:{NEEDLE}/x"),
        format!("{rest}&oauth2_server_uri=https://u:{NEEDLE}#x@h"),
        format!("{rest}&oauth2_server_uri=https://idp/token;client_secret={NEEDLE}"),
        // Before a scheme that comes late.
        format!("token={NEEDLE}&{rest}"),
        format!("aws_secret_access_key={NEEDLE};{glue}"),
        format!("user:{NEEDLE}://lake/db/t"),
        format!("{NEEDLE}://lake/db/t"),
        // As a parameter that is not where parameters are.
        format!("{glue}&aws_secret_access_key={NEEDLE}"),
        format!("{glue}&aws_secret_access_key=HUNTER2/{NEEDLE}?region=x"),
        format!("{glue};token={NEEDLE}"),
        format!("{glue}?region=eu-west-1?aws_secret_access_key={NEEDLE}"),
        format!("{glue}?region=eu-west-1;token={NEEDLE}"),
        format!("{glue}?region=eu-west-1;password={NEEDLE}"),
        format!("{glue}?region=eu-west-1%3Bpassword%3D{NEEDLE}"),
        format!("{glue}?region=eu-west-1={NEEDLE}"),
        format!("{glue}?mode=append,token={NEEDLE}"),
        format!("{glue}?account=123456789012;password={NEEDLE}"),
        format!("{glue}?partition=day(ts);token={NEEDLE}"),
        format!("{glue}?partition=day(ts;password={NEEDLE}"),
        format!("{rest}&scope=a;token={NEEDLE}"),
        format!("{rest}&scope=svc:{NEEDLE}\""),
        format!("{rest}&oauth2_server_uri=https://u:1/{NEEDLE}@idp/token"),
        format!("{rest};token={NEEDLE}"),
        format!("{rest}&access_delegation=none;password={NEEDLE}"),
        format!("{rest}&credential={NEEDLE}:<redacted>"),
    ] {
        let error = text.parse::<Destination>().expect_err(&text);
        assert!(!shown(&error).contains(NEEDLE), "{}", shown(&error));
        let Err(error) = text.parse::<TableRef>() else { continue };
        let is_name = !text.contains("://");
        assert!(is_name || !shown(&error).contains(NEEDLE), "{}", shown(&error));
    }
    for text in [
        format!("s3://u:{NEEDLE}@lake/t"),
        format!("user:{NEEDLE}@lake/t"),
        format!("s3:/u:{NEEDLE}@lake/t"),
        format!("s3://lake/t?aws_secret_access_key={NEEDLE}"),
        format!("s3://lake/t?aws_secret_acess_key={NEEDLE}"),
        format!("/data/t?X-Amz-Signature={NEEDLE}&token={NEEDLE}"),
        format!("glue://u:{NEEDLE}@123456789012/db/t"),
        format!("glue://123456789012/db/t?token={NEEDLE}"),
        format!("s3://lake/t?sig={NEEDLE}"),
        format!("abfss://box@acct.dfs.core.windows.net/t?sv=2022-11-02&sig={NEEDLE}"),
        format!("gs://lake/t?X-Goog-Signature={NEEDLE}"),
        format!("gs://lake/t?x&y%3D{NEEDLE}"),
        format!("/data/t?password={NEEDLE}"),
        format!("file:/data/t?password={NEEDLE}"),
        format!("s3://lake/t/metadata/v1.metadata.json?sig={NEEDLE}"),
        format!("s3://lake/t&aws_secret_access_key={NEEDLE}"),
        format!("/data/t;token={NEEDLE}"),
        format!("client:{NEEDLE}"),
        format!("token={NEEDLE}"),
        format!("s3:/u:{NEEDLE}/lake"),
        format!("file:u:{NEEDLE}/lake"),
        format!("//u:{NEEDLE}@lake/../t"),
        // On a name.
        format!("sales.orders?token={NEEDLE}"),
        format!("sales.orders?tokn={NEEDLE}"),
        format!("sales.orders?password={NEEDLE}"),
        format!("sales.orders&aws_secret_access_key={NEEDLE}"),
        format!("sales.orders;token={NEEDLE}"),
        format!("sales.orders?s3.secret-access-key={NEEDLE}"),
        // Where the marks of parameters are encoded, or the name is one of a signed address.
        format!("s3://lake/t%3Fsig={NEEDLE}"),
        format!("s3://lake/t%3FX-Amz-Signature%3D{NEEDLE}"),
        format!("s3://lake/t;X-Amz-Credential={NEEDLE}?x"),
        format!("s3://lake/t&s3.secret-access-key={NEEDLE}"),
        format!("/data/t%26password={NEEDLE}"),
        format!("az://box/t;adls.sas-token.acct={NEEDLE}"),
    ] {
        let error = text.parse::<TableRef>().expect_err(&text);
        assert!(!shown(&error).contains(NEEDLE), "{}", shown(&error));
    }
}

#[test]
fn no_type_prints_a_secret() {
    let credentials = AwsCredentials::new(NEEDLE, NEEDLE).with_session_token(NEEDLE);
    let glue = GlueDestination::builder("s3://lake", "db", "t").aws_credentials(credentials.clone());
    let rest = RestDestination::builder("https://h", ["ns"], "t", "wh")
        .aws_credentials(credentials.clone())
        .credential(format!("{NEEDLE}:{NEEDLE}"))
        .token(NEEDLE);
    let (built_glue, built_rest) = (glue.clone().build(), rest.clone().build());
    let (built_glue, built_rest) = (built_glue.expect("valid"), built_rest.expect("valid"));
    let credential = built_rest.credential().expect("given").clone();
    let (a, b) = (Destination::from(built_glue.clone()), Destination::from(built_rest.clone()));
    let table = TableRef::from(b.clone());
    for printed in [
        format!("{:?}{:#?}", glue, rest),
        format!("{built_glue}{built_glue:?}{built_rest}{built_rest:#?}"),
        format!("{a}{a:?}{b}{b:#?}"),
        format!("{table}{table:?}{table:#?}"),
        format!("{credentials:?}{credential:?}"),
        format!("{:?}{}", Secret::new(NEEDLE), Secret::from(NEEDLE)),
        format!("{:?}", a.to_uri_with_secrets()),
    ] {
        assert!(printed.contains("<redacted>"), "{printed}");
        assert!(!printed.contains(NEEDLE), "{printed}");
    }
    assert!(a.to_uri_with_secrets().expose().contains(NEEDLE));
    assert!(table.to_uri_with_secrets().expose().contains(NEEDLE));
}

#[test]
fn a_secret_of_equal_length_makes_no_difference_to_anything_shown() {
    let texts = |secret: &str| {
        [
            format!("iceberg+rest+https://h/ns/t?warehouse=wh&credential={secret}&token={secret}"),
            format!("iceberg+rest+https://h/ns/t?credential={secret}"),
            format!("iceberg+rest+https://h/ns/t?warehouse=wh&token={secret}&mode=x"),
            format!("iceberg+glue+s3://lake/db/t?aws_secret_access_key={secret}&account=1"),
            format!("iceberg+glue+s3://lake/db/t?aws_secret_acess_key={secret}"),
            // A raw question mark would end the path.
            format!("iceberg+glue+s3://u:{}@lake/db/t", secret.replace('?', "!")),
        ]
    };
    // Well-formed ones, and two whose encoding is wrong in different places.
    for (one, other) in [
        ("abcdefg", "x%41+/="),
        ("s3cr3t", "@?(),;"),
        ("a:b:cd", "p:@/=+"),
        ("%C3%A9%41", "é\"<>é \\"),
        ("ab%zz", "%zzab"),
        ("%FFabc", "abc%C3"),
        (&"é".repeat(60), &format!("a{}b", "é".repeat(59))),
        (&"a".repeat(120), &"名".repeat(40)),
        (&"😀".repeat(50), &"abé".repeat(50)),
    ] {
        assert_eq!(one.len(), other.len(), "{one} {other}");
        for (one, other) in texts(one).iter().zip(&texts(other)) {
            match (one.parse::<Destination>(), other.parse::<Destination>()) {
                (Ok(one), Ok(other)) => {
                    assert_eq!(one.to_string(), other.to_string());
                    assert_eq!(format!("{one:?}"), format!("{other:?}"));
                }
                (Err(one), Err(other)) => assert_eq!(shown(&one), shown(&other)),
                (one, other) => panic!("{one:?} and {other:?}"),
            }
        }
    }
}

#[test]
fn an_at_sign_in_a_value_makes_no_difference_to_anything_shown() {
    let many = "&tokn=x@".repeat(64);
    let texts = |secret: &str| {
        [
            format!("iceberg+rest+https://h:1/a/b?warehouse=w&password={secret}"),
            format!("iceberg+rest+https://h:1/a/b?password={secret}"),
            format!("iceberg+rest+https://h:1/a/b?warehouse=w&tokn={secret}{many}"),
            format!("iceberg+rest+https://h:1/a/b?tokn={secret}{many}"),
            format!("iceberg+rest+https://h:1/a/b?x=y&tokn={secret}{many}"),
            format!("iceberg+rest+https://h:x/a/b?password={secret}"),
            format!("iceberg+rest+https://h:1/a/b&password={secret}"),
            format!("iceberg+rest+https://h/a/b&password={secret}"),
            format!("iceberg+rest+https://h/a/b?warehouse=arn:x;password={secret}"),
            format!("iceberg+rest+https://h/a/b?warehouse=s3://lake:9000/x;password={secret}"),
            format!(
                "iceberg+rest+https://h/a/b?warehouse=w&oauth2_server_uri=https://h:1/x?password={secret}"
            ),
            format!("iceberg+rest+https://h/a/b?warehouse=s3://u:{secret}@lake"),
            format!("iceberg+rest+https://u:{secret}@h/a/b"),
            format!("s3://lake:9000?sig={secret}"),
            format!("s3://lake:9000/t;sig={secret}"),
            format!("s3://u:{secret}@lake/t"),
            format!("/data/a:b/t?sig={secret}"),
            format!("sales.orders?token={secret}"),
            format!("sales.orders;token={secret}"),
        ]
    };
    for other in ["hunter@2", "@unterx2", "hunter/2", "hunter:2", "hu%40er2"] {
        for (one, other) in texts("hunterx2").iter().zip(&texts(other)) {
            let shown = |text: &str| {
                [
                    text.parse::<Destination>().map(|_| ()).map_err(|error| shown(&error)),
                    text.parse::<TableRef>().map(|_| ()).map_err(|error| shown(&error)),
                ]
            };
            assert_eq!(shown(one), shown(other), "{other}");
        }
    }
}

/// Every password of three characters that end, or may be taken for, something else. Only a `=` behind
/// a mark, together with what looks like a port, can't be told from a parameter's.
#[test]
fn a_password_before_a_host_makes_no_difference_to_anything_shown() {
    let texts = |password: &str| {
        [
            format!("iceberg+rest+https://u:{password}@h/a/b"),
            format!("iceberg+rest+https://u:{password}@h/a/b?warehouse=w&mode=x"),
            format!("iceberg+rest+https://u:12{password}@h:1/a/b?warehouse=w"),
            format!("iceberg+glue+s3://u:{password}@lake/db/t"),
            format!("iceberg+file+s3://u:1{password}@lake/t?mode=x"),
            format!("s3://u:{password}@lake/t"),
            format!("https://u:12345{password}@h"),
            format!("glue://u:{password}@lake/db/t"),
        ]
    };
    let shown = |text: &str| {
        [
            text.parse::<Destination>().map(|_| ()).map_err(|error| shown(&error)),
            text.parse::<TableRef>().map(|_| ()).map_err(|error| shown(&error)),
        ]
    };
    let plain: Vec<_> = texts("xxx").iter().map(|text| shown(text)).collect();
    let marks = ["1", "a", "/", "?", "#", "&", ";", "=", ":", "@", ".", "+"];
    for (a, b, c) in marks
        .iter()
        .flat_map(|a| marks.iter().map(move |b| (a, b)))
        .flat_map(|(a, b)| marks.iter().map(move |c| (a, b, c)))
    {
        let password = format!("{a}{b}{c}");
        let parameter = password.split_once('=').is_some_and(|(name, _)| name.contains(['?', '&', ';', '#']));
        if parameter {
            continue;
        }
        for (text, plain) in texts(&password).iter().zip(&plain) {
            assert_eq!(&shown(text), plain, "{text}");
        }
    }
}

#[test]
fn a_partition_list_is_masked_as_it_is_in_a_uri() {
    for list in
        ["day(ts);token=hunter2", "day(ts)?password=hunter2", "id,day(x=hunter2", "a b;token%3Dhunter2"]
    {
        let error = calve_uri::parse_partition(list).expect_err(list);
        assert!(!shown(&error).contains(NEEDLE), "{}", shown(&error));
        let item = list.parse::<calve_uri::PartitionField>().expect_err(list);
        assert!(!shown(&item).contains(NEEDLE), "{}", shown(&item));
    }
    let error = calve_uri::parse_partition("day(ts),dya(x)").expect_err("misspelt");
    assert!(error.render().contains("  day(ts),dya(x)\n"), "{}", error.render());
}

#[test]
fn a_builder_shows_nothing_behind_what_ends_a_path() {
    for mark in ["?", "&", ";", "#", "%3F", "%26", "%3b", "%23", "?x=", "&token=", ";sig=", "#x="] {
        let location = format!("s3://lake/t{mark}{NEEDLE}");
        let endpoint = format!("https://h/api{mark}{NEEDLE}");
        let printed = [
            format!("{:?}", GlueDestination::builder(&location, "db", "t")),
            format!("{:?}", RootDestination::builder(&*location)),
            format!("{:?}", RootDestination::builder(format!("file:/data{mark}{NEEDLE}"))),
            format!("{:?}", RestDestination::builder(&endpoint, ["ns"], "t", "wh")),
            format!("{:?}", RestDestination::builder("https://h", ["ns"], "t", &location)),
        ];
        // Encoded in a value of its own, with no `=` behind it, a mark is a character of the key.
        let masked = if mark.starts_with('%') { 4 } else { 5 };
        for printed in &printed[..masked] {
            assert!(!printed.contains(NEEDLE), "{printed}");
        }
    }
}

#[test]
fn what_has_not_been_checked_is_masked_when_it_is_printed() {
    let location = format!("s3://u:{NEEDLE}@lake/t");
    let address = format!("https://u:{NEEDLE}@h");
    for printed in [
        format!("{:?}", GlueDestination::builder(&location, "db", "t")),
        format!(
            "{:#?}",
            GlueDestination::builder("s3://lake", "db", "t").region(format!("x;token={NEEDLE}"))
        ),
        format!("{:?}", RestDestination::builder(&address, ["ns"], "t", "wh")),
        format!("{:?}", RestDestination::builder("https://h", ["ns"], "t", &location)),
        format!("{:?}", RestDestination::builder("https://h", ["ns"], "t", "wh").oauth2_server_uri(&address)),
        format!("{:?}", RootDestination::builder(&location)),
        format!("{:?}", TableRef::Root { location: location.clone() }),
        format!("{}", TableRef::Root { location: format!("s3://lake/t?sig={NEEDLE}") }),
        format!("{}", TableRef::Metadata { location: format!("{location}/v1.metadata.json") }),
        format!(
            "{:?}",
            TableRef::Glue { account: Some(format!("u:{NEEDLE}@")), database: "d".into(), table: "t".into() }
        ),
    ] {
        assert!(!printed.contains(NEEDLE), "{printed}");
    }
    let known = GlueDestination::builder("s3://lake", "db", "t").region("eu-west-1");
    assert_eq!(format!("{known:?}"), "GlueBuilder(iceberg+glue+s3://lake/db/t?region=eu-west-1)");
    let refused = NEEDLE.parse::<Mode>().expect_err("no mode");
    assert!(!shown(&refused).contains(NEEDLE), "{}", shown(&refused));
}

#[test]
fn a_location_that_holds_an_at_sign_by_right_is_shown_whole() {
    for text in ["s3://lake/a@b/t", "abfss://box@acct.dfs.core.windows.net/t", "/data/u:x@h/t"] {
        assert!(text.parse::<TableRef>().expect(text).to_string().ends_with(text));
    }
}

#[test]
fn a_message_names_only_words_that_are_shown() {
    let shown = |text: &str| text.parse::<Destination>().expect_err(text).to_string();
    assert!(shown("iceberg+glue+s3://lake/db/Orders").contains("`Orders`"));
    assert!(!shown("iceberg+glue+s3://lake/db/t&password=HUNTER2").contains("HUNTER2"));
    assert!(shown("iceberg+gule+s3://lake/db/t").contains("`iceberg+gule+s3`"));
    assert!(!shown("hunter2://lake/db/t").contains("hunter2"));
}

#[test]
fn what_else_is_wrong_is_told_whatever_a_secret_holds() {
    // Of one length: what is refused about a secret itself, and one in which nothing is.
    let odd = [
        "hunter2",
        "hunter\n",
        "hunter ",
        "\u{1}unter2",
        "h\u{85}nter",
        "hun\u{3000}r",
        "hunte%z",
        "%FFnter",
    ];
    for text in [
        "iceberg+file+s3://lake//a/b?zzz={}",
        "iceberg+glue+s3://lake//a/b?mode=append&zzz={}",
        "iceberg+rest+https://h//a/b?token={}",
        "iceberg+rest+https://h/a/b?warehouse=w&token={}&mode=apend",
        "iceberg+rest+https://h/a/b?warehouse=w&mode=apend&credential={}",
        "iceberg+rest+https://h/a/b?warehouse=w&token={}&partition=day(a",
        "iceberg+rest+https://h/a/b?warehouse=w&access_delegation=x&token={}",
        "iceberg+rest+https://h/a/b?warehouse=w&region=&token={}",
        "iceberg+rest+https://h/a/b?token={}",
        "iceberg+glue+s3://lake/a/b?aws_access_key_id={}",
        "iceberg+glue+s3://lake/a/b?aws_access_key_id=x&aws_secret_access_key={}&mode=x",
        "iceberg+glue+s3://lake/a/b?account=1&aws_access_key_id=x&aws_secret_access_key={}",
        "iceberg+local:///a/b?token={}",
        "iceberg+local:///a/b?mode=append;token={}",
        "iceberg+local:///a/b?partition=id;token={}",
        "iceberg+glue+s3://lake/a/b?region=eu-west-1;token={}",
        "iceberg+glue+s3://lake/a/b?role_arn=arn:aws:iam::123456789012:role/w?token={}",
        "iceberg+rest+https://h/a/b?warehouse=w;token={}",
        "iceberg+rest+https://h/a/b?warehouse=s3://lake/w;token={}",
        "iceberg+rest+https://h/a/b?warehouse=w&scope=s;token={}",
        "iceberg+rest+https://h/a/b?warehouse=w&access_delegation=none;token={}",
        "iceberg+rest+https://h/a/b?warehouse=w&oauth2_server_uri=https://idp/t;token={}",
        "iceberg+rest+https://h/a/b?warehouse=w&oauth2_server_uri=https://idp?token={}",
        "iceberg+local:///a/b;token={}",
        "iceberg+local:///a/b#token={}",
        "iceberg+rest+https://u:{}@h/a/b?warehouse=w",
        "iceberg+rest+https://h/a/b?warehouse=u:{}@lake",
        "iceberg+rest+https://h/a/b?warehouse=u%3A{}@lake",
        "iceberg+rest+https://h/a/b?warehouse=s3%3A%2F%2Fu%3A{}%40lake",
        "iceberg+rest+https://h/a/b?warehouse=w&oauth2_server_uri=u:{}@lake",
        "iceberg+rest+https://h/a/b?warehouse=w&oauth2_server_uri=https://u:{}@lake",
        "iceberg+rest+https://123456789012:{}@h/a/b",
        "iceberg+glue+s3://123456789012:{}@h/a/b",
        " iceberg+rest+https://h/a/b?token={}",
        "\niceberg+rest+https://h/a/b?token={}",
        "iceberg+rest+https://h/a/b?warehouse=s3://u:{}@lake/w",
        "postgres://u:{}@h/db",
    ] {
        let errors = odd.map(|secret| {
            let text = text.replace("{}", secret);
            let error = text.parse::<Destination>().expect_err(&text);
            (error.kind(), error.offset(), error.to_string(), error.render())
        });
        for (error, secret) in errors.iter().zip(odd) {
            let (kind, offset, message, render) = error;
            assert_eq!(
                (*kind, *offset, message),
                (errors[0].0, errors[0].1, &errors[0].2),
                "{text} {secret:?}"
            );
            // The line has a `*` for each byte.
            let stars = |render: &str| render.matches('*').count();
            let more = secret.len() - odd[0].len();
            assert_eq!(stars(render), stars(&errors[0].3) + more, "{render}");
        }
    }
}

#[test]
fn a_user_name_of_twelve_digits_is_one() {
    for scheme in [
        "iceberg+rest+https://",
        "iceberg+glue+s3://",
        "iceberg+file+s3://",
        "iceberg+file+abfss://",
        "iceberg+file+file://",
        "iceberg+local://",
    ] {
        for password in ["$x", "b/", "b", "s3tablescatalog/b", "1/2", "a?", "#"] {
            let text = format!("{scheme}123456789012:{password}@lake/db/t");
            let error = text.parse::<Destination>().expect_err(&text);
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Userinfo, scheme.len()), "{text}");
            assert!(!shown(&error).contains("lake"), "{text}");
        }
    }
}

#[test]
fn parameters_in_a_path_are_hidden_however_often_they_are_encoded() {
    for [mark, sign] in [["?", "="], ["%3F", "%3D"], ["%253F", "%253D"], ["%2526", "="], ["%253b", "%3d"]] {
        for form in ["iceberg+glue+s3://lake/", "iceberg+file+s3://lake/", "iceberg+local:///"] {
            let text = format!("{form}a{mark}token{sign}{NEEDLE}/db/t?mode=x");
            let error = text.parse::<Destination>().expect_err(&text);
            assert!(!shown(&error).contains(NEEDLE), "{text}");
        }
    }
}

#[test]
fn what_is_refused_as_parameters_is_hidden_from_there_on() {
    let added = [
        "%3F/password=",
        "%3Fb/c%3D",
        "%3F=",
        "%3Fa%3B/b%3D",
        ";token%3F=",
        "&token%26=",
        "&%3F=",
        ";token%3B=",
        ";token%3F%3F=",
        "?token=",
        "?x&y=",
        "&token%3D",
    ];
    for form in [
        "iceberg+glue+s3://lake/wh",
        "iceberg+file+s3://lake/wh",
        "iceberg+local:///wh",
        "iceberg+rest+https://h",
    ] {
        for added in added {
            let text = format!("{form}/a{added}{NEEDLE}/db/t");
            if added.starts_with('%') && form.starts_with("iceberg+rest") {
                // Encoded, it is part of the name of a segment.
                continue;
            }
            let error = text.parse::<Destination>().expect_err(&text);
            assert!(!shown(&error).contains(NEEDLE), "{text}");
        }
    }
    for text in [
        "sales.orders;x/token%3D",
        "sales.orders&%3D",
        "sales.\"o\"r;/password%3D",
        "glue:///db/t;token%3F=",
        "s3://lake/t;token%3F=",
        "s3://lake/t&token%26%3D",
        "/data/t;password%3F=",
    ] {
        let text = format!("{text}{NEEDLE}");
        let error = text.parse::<TableRef>().expect_err(&text);
        assert!(!shown(&error).contains(NEEDLE), "{text}");
        for table in [TableRef::Root { location: text.clone() }, TableRef::Metadata { location: text }] {
            assert!(!format!("{table} {table:?}").contains(NEEDLE), "{table}");
        }
    }
}

#[test]
fn what_looks_like_a_host_in_brackets_is_hidden_like_any_password() {
    for scheme in
        ["iceberg+rest+https://", "iceberg+glue+s3://", "s3://", "iceberg+rest+https://h/a/t?warehouse=s3://"]
    {
        let told = ["[::1]:]/b]b@lake", "[::1]:abc]b/@lake", "[::1]:]/@xxx@lake"].map(|user| {
            let text = format!("{scheme}{user}");
            let error = text.parse::<Destination>().map(|d| d.to_string()).map_err(|e| e.render());
            (error, text.parse::<TableRef>().map(|t| t.to_string()).map_err(|e| e.render()))
        });
        for (destination, table) in told {
            assert!(destination.as_ref().is_err_and(|told| !told.contains("lake")), "{destination:?}");
            assert!(table.as_ref().is_err_and(|told| !told.contains("lake")), "{table:?}");
        }
    }
    for text in ["//u:/./@lake/wh/db/t", "//u:~~x@lake/wh/db/t", "//u:/../@lake"] {
        let error = text.parse::<TableRef>().expect_err(text);
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Userinfo, 0), "{text}");
    }
}

#[test]
fn errors_that_print_alike_are_equal() {
    let of = |token: &str| {
        format!("iceberg+rest+https://h/a/t?warehouse=w&token={token}")
            .parse::<Destination>()
            .expect_err(token)
    };
    assert_eq!(of("\u{1}xx"), of("%01"));
    assert_eq!(of("%zz"), of("x%x"));
    assert_ne!(of("%zz"), of("%zzx"));
}

#[test]
fn a_partition_item_with_parameters_is_refused_wherever_it_is_read() {
    for mark in ["?", "&", ";"] {
        for assigned in ["=", "%3D", "%3d"] {
            for before in ["id", "day(ts", "bucket(4,id", "a,b", "a.b"] {
                let text = format!("{before}{mark}token{assigned}{NEEDLE}");
                let item = text.parse::<PartitionField>().expect_err(&text);
                let list = parse_partition(&text).expect_err(&text);
                for error in [item, list] {
                    assert_eq!(error.kind(), ErrorKind::MisplacedParameter, "{text}");
                    assert!(!shown(&error).contains(NEEDLE), "{text}");
                }
                #[cfg(feature = "serde")]
                {
                    let json = serde_json::to_string(&text).expect("serializes");
                    let error = serde_json::from_str::<PartitionField>(&json).expect_err(&text);
                    assert!(!format!("{error} {error:?}").contains(NEEDLE), "{text}");
                }
            }
        }
    }
    // A column that has such a name goes in quotes, and is displayed in them.
    for name in ["a;b=c", "a?b=c", "a&b=c", "a;b"] {
        let field = PartitionField::new(calve_uri::Transform::Day, name);
        assert_eq!(field.to_string(), format!("day(\"{name}\")"));
        assert_eq!(field.to_string().parse(), Ok(field));
    }
}

#[test]
fn secrets_are_equal_when_their_texts_are() {
    assert_eq!(Secret::new("abc"), Secret::new(String::from("abc")));
    for other in ["abd", "ab", "abcd", ""] {
        assert_ne!(Secret::new("abc"), Secret::new(other));
    }
}

#[test]
fn a_secret_has_many_names_however_their_words_are_set_apart() {
    for name in [
        "header.Authorization",
        "Header.x-api-key",
        "secretKey",
        "accessKey",
        "AccessToken",
        "client-secret",
        "clientSecret",
        "apikey",
        "X_Amz_Signature",
        "authorization",
        "jwt",
        "id.token",
        "adls.sas-token.account",
        "credentials",
        "tokn",
    ] {
        for mark in ["&", ";", "%26", "%3B", "%3F"] {
            let text = format!("s3://lake/a{mark}{name}={NEEDLE}/t");
            let error = text.parse::<TableRef>().map(|table| table.to_string()).expect_err(&text);
            assert!(!format!("{error} {error:?} {}", error.render()).contains(NEEDLE), "{text}");
        }
    }
    // Keys as they are met: nothing in them resembles a secret.
    for key in ["a&node=1", "a&code=1", "a;part=2", "dt=2024-01-01", "a=b&c=d", "key=1", "x%26y=1"] {
        let text = format!("s3://lake/{key}/t");
        assert_eq!(text.parse::<TableRef>().map(|table| table.to_string()), Ok(text.clone()), "{text}");
    }
}

#[test]
fn what_stands_behind_a_mark_in_a_misspelt_name_is_not_shown() {
    for text in ["aws_secret_access_key:", "credential:", "token/", "mode:", "tokn~", "scope,"] {
        let [one, other] = ["ab", "cd"].map(|value| {
            let text = format!("iceberg+rest+https://h/a/t?warehouse=w&{text}{value}");
            text.parse::<Destination>().expect_err("no such parameter").render()
        });
        assert_eq!(one, other, "{text}");
    }
}
