use calve_uri::{
    AwsCredentials, Destination, GlueDestination, ParseError, RestDestination, Secret, TableRef,
};

/// Something that nothing else in these tests holds.
const NEEDLE: &str = "hunter2";

/// Everything an error prints.
fn shown(error: &ParseError) -> String {
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
fn secrets_are_equal_when_their_texts_are() {
    assert_eq!(Secret::new("abc"), Secret::new(String::from("abc")));
    for other in ["abd", "ab", "abcd", ""] {
        assert_ne!(Secret::new("abc"), Secret::new(other));
    }
}
