use calve_uri::{Destination, TableRef};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::leaks::{NEEDLE, shown};

/// What a text prints in any way, secrets left out.
fn printed(text: &str) -> [String; 2] {
    let destination = match text.parse::<Destination>() {
        Ok(parsed) => format!("{parsed}{parsed:?}"),
        Err(error) => shown(&error),
    };
    let table = match text.parse::<TableRef>() {
        Ok(parsed) => format!("{parsed}{parsed:?}"),
        Err(error) => shown(&error),
    };
    [destination, table]
}

/// Pieces that end an authority, a path, a query or a value too soon.
fn pieces(most: usize) -> impl Strategy<Value = String> {
    let piece = select(vec![
        "/", "?", "#", "@", ":", "%40", "%2F", "%", "%zz", "é", "=", "&", ";", "a", "1", "%3A", "://", "",
    ]);
    vec(piece, 0..=most).prop_map(|pieces| pieces.concat())
}

/// URIs up to their parameters, right ones and wrong ones.
fn start() -> impl Strategy<Value = &'static str> {
    select(vec![
        "iceberg+glue+s3://lake/wh/db/t",
        "iceberg+rest+https://h:8181/api/v1/ns.a/t",
        "iceberg+file+abfss://box@acct.dfs.core.windows.net/a/t",
        "iceberg+local:///t",
        "iceberg+glue+s3://Lake_/Db/t",
        "iceberg+gule+s3://lake/db/t",
        "iceberg+rest+http://[::1/ns/t",
        "iceberg+rest+https://h",
        "iceberg+rest+https://h:80",
        "iceberg+glue+s3://lake/%zz/db/t",
        "iceberg+rest+https://h/ns/t/",
        "glue://123456789012/db/t",
        "s3://lake/t",
        "/data/t",
        "s3://lake:9000/t",
        "s3://lake",
        "/data/a:b/t",
        "file:/data/t",
        "sales.orders",
        "glue://123456789012:s3tablescatalog/bucket/db/t",
        "iceberg+rest+https://h:80/a@b/ns/t",
        "iceberg+rest+https://h:x/ns/t",
    ])
}

fn parameters() -> impl Strategy<Value = Vec<&'static str>> {
    let parameter = select(vec![
        "region=eu-west-1",
        "region=x_y",
        "mode=x",
        "account=1",
        "warehouse=wh",
        "warehouse=s3://lake/wh",
        "scope=a%20b",
        "partition=dya(ts)",
        "partition=day(ts",
        "bogus=1",
        "",
        "mode",
        "region=",
        "aws_access_key_id=a",
    ]);
    vec(parameter, 0..4)
}

fn secret_name() -> impl Strategy<Value = &'static str> {
    select(vec!["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "token", "credential"])
}

/// Two texts of equally many bytes, in which nothing has a meaning of its own.
fn twins() -> impl Strategy<Value = (String, String)> {
    let text = || {
        let piece = select(vec![
            "a", "Z", "0", "+", "/", "=", "@", ",", "?", ";", "(", "é", "名", "😀", "%41", "%40", ":", "://",
        ]);
        vec(piece, 1..60).prop_map(|pieces| pieces.concat())
    };
    (text(), text()).prop_map(|(mut one, mut other)| {
        let longest = one.len().max(other.len());
        one += &"x".repeat(longest - one.len());
        other += &"x".repeat(longest - other.len());
        (one, other)
    })
}

/// A text in which nothing has a meaning of its own, and one of as many bytes that may be refused itself.
fn plain_and_odd() -> impl Strategy<Value = (String, String)> {
    let piece = select(vec!["\u{1}", "\n", "\u{85}", "%", "%zz", "%FF", "%0A", " ", ":", "a", "@", "="]);
    vec(piece, 1..8).prop_map(|pieces| {
        let odd = pieces.concat();
        ("a".repeat(odd.len()), odd)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn no_password_shows_whatever_it_holds(
        scheme in select(vec![
            "iceberg+glue+s3://", "iceberg+rest+https://", "iceberg+file+abfss://", "iceberg+local://", "s3://",
            "abfss://", "glue://", "iceberg+gule+s3://", "file://", "iceberg+glue+s3:/", "s3:/", "//", "",
            "iceberg+rest+https://h/ns/t?warehouse=s3://",
            "iceberg+rest+https://h/ns/t?warehouse=w&oauth2_server_uri=https://",
        ]),
        user in select(vec!["u", "", "user-1"]),
        before in pieces(3),
        after in pieces(2),
        tail in select(vec!["lake/wh/db/t", "h/ns/t?warehouse=wh", "acct.dfs.core.windows.net/a?mode=x", "lake"]),
    ) {
        let text = format!("{scheme}{user}:{before}{NEEDLE}{after}@{tail}");
        for printed in printed(&text) {
            prop_assert!(!printed.contains(NEEDLE), "{}\n{}", text, printed);
        }
    }

    #[test]
    fn no_parameter_of_a_location_shows(
        location in select(vec!["s3://lake/t", "abfss://box@acct/t", "gs://lake", "/data/t", "file:/t", "az://b/a?b"]),
        name in "[a-zA-Z_-]{1,20}|[a-z]{65,80}",
        before in vec("[a-z]{1,5}(=[a-z]{0,5})?", 0..4),
    ) {
        let text = format!("{location}?{}&{name}={NEEDLE}", before.join("&"));
        let error = text.parse::<TableRef>().expect_err(&text);
        prop_assert!(error.expected().contains("takes none"), "{}", error);
        // A needle in a parameter that is known to be harmless is none.
        if !["region", "account", "warehouse", "scope", "partition", "mode", "role_arn"].contains(&&*name) {
            prop_assert!(!shown(&error).contains(NEEDLE), "{}", shown(&error));
        }
    }

    #[test]
    fn no_secret_shows_wherever_it_is_put(
        start in start(),
        name in prop_oneof![secret_name(), select(vec!["tokn", "Token", "to%6ben", "AWS_SECRET_ACCESS_KEY"])],
        others in parameters(),
        mark in select(vec!["&", ";", "?", "%26", "%3B", "%3F"]),
        before in pieces(2).prop_map(|pieces| pieces.replace(['&', '#'], "")),
        last in any::<bool>(),
    ) {
        let secret = format!("{name}={before}{NEEDLE}");
        // Encoded, a mark is part of a name or a value of a destination, but of no location.
        let mark = if start.starts_with("s3:") || start.starts_with('/') { mark } else {
            match mark { "%26" => "&", "%3B" => ";", "%3F" => "?", mark => mark }
        };
        let query = others.join("&");
        let text = match (others.is_empty(), last) {
            (true, _) => format!("{start}{mark}{secret}"),
            (false, true) => format!("{start}?{query}{mark}{secret}"),
            (false, false) => format!("{start}?{secret}&{query}"),
        };
        for printed in printed(&text) {
            prop_assert!(!printed.contains(NEEDLE), "{}\n{}", text, printed);
        }
    }

    #[test]
    fn what_else_is_wrong_is_told_first(
        start in start(),
        name in prop_oneof![secret_name(), select(vec!["tokn", "Token", "password"])],
        (plain, odd) in plain_and_odd(),
        mark in select(vec!["?", "?", "?", "&", ";"]),
        before in parameters(),
        after in parameters(),
    ) {
        let with = |secret: &str| {
            let all = before.iter().map(ToString::to_string);
            let all = all.chain([format!("{name}={secret}")]).chain(after.iter().map(ToString::to_string));
            let query = all.collect::<Vec<_>>().join("&");
            if mark == "?" { format!("{start}?{query}") } else { format!("{start}{mark}{name}={secret}") }
        };
        let (plain, odd) = (with(&plain), with(&odd));
        if plain.parse::<Destination>().is_err() {
            prop_assert_eq!(&printed(&plain)[0], &printed(&odd)[0]);
        }
        if plain.parse::<TableRef>().is_err() {
            prop_assert_eq!(&printed(&plain)[1], &printed(&odd)[1]);
        }
    }

    #[test]
    fn secrets_of_equal_length_print_alike(
        start in start(),
        name in prop_oneof![
            secret_name(),
            select(vec!["tokn", "Token", "aws_secret_acess_key", "password", "sig", "s3.secret-access-key"]),
        ],
        (one, other) in twins(),
        mark in select(vec!["?", "?", "?", "&", ";"]),
        before in prop_oneof![parameters(), Just(vec!["tokn=@"; 70])],
        after in prop_oneof![parameters(), Just(vec!["tokn=@"; 70])],
    ) {
        let with = |secret: &str| {
            let parameter = format!("{name}={secret}");
            match mark {
                "?" => {
                    let all = before.iter().copied().chain([&*parameter]).chain(after.iter().copied());
                    format!("{start}?{}", all.collect::<Vec<_>>().join("&"))
                }
                mark => format!("{start}{mark}{parameter}"),
            }
        };
        prop_assert_eq!(printed(&with(&one)), printed(&with(&other)));
    }
}
