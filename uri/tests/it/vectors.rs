use std::fmt::Write;

use calve_uri::{AwsCredentials, Destination, ParseError, PartitionField, TableRef, parse_partition};

/// One record of the data file.
struct Vector {
    line: usize,
    parser: String,
    input: String,
    outcome: String,
}

#[test]
fn every_vector_parses_to_its_form_or_fails_at_its_place() {
    let vectors = vectors();
    assert!(vectors.len() >= 150, "{} vectors", vectors.len());
    let mut wrong = String::new();
    for Vector { line, parser, input, outcome } in &vectors {
        let actual = outcome_of(parser, input);
        if actual != *outcome {
            let _ = writeln!(wrong, "{line}: {parser} {input}\n    {outcome}\nis\n    {actual}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn no_vector_is_there_twice() {
    let mut seen = std::collections::HashSet::new();
    for Vector { line, parser, input, .. } in vectors() {
        assert!(seen.insert((parser, input)), "line {line}");
    }
}

#[test]
fn every_vector_that_parses_parses_again_from_its_canonical_form() {
    for Vector { line, parser, input, .. } in vectors() {
        match &*parser {
            "destination" => {
                let Ok(first) = input.parse::<Destination>() else { continue };
                let again = first.to_uri_with_secrets().expose().parse();
                assert_eq!(again, Ok(first), "line {line}");
            }
            "table" => {
                let Ok(first) = input.parse::<TableRef>() else { continue };
                if !first.to_string().contains("<redacted>") {
                    assert_eq!(first.to_string().parse(), Ok(first), "line {line}");
                }
            }
            _ => {
                let Ok(first) = parse_partition(&input) else { continue };
                assert_eq!(parse_partition(&joined(&first)), Ok(first), "line {line}");
            }
        }
    }
}

fn vectors() -> Vec<Vector> {
    let mut vectors = Vec::new();
    let mut lines = DATA.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    while let Some((at, first)) = lines.next() {
        let (parser, input) = first.split_once(' ').expect("a parser's name and an input");
        let (_, outcome) = lines.next().expect("an outcome follows each input");
        vectors.push(Vector {
            line: at + 1,
            parser: parser.to_owned(),
            input: unescape(input),
            outcome: outcome.trim_start().to_owned(),
        });
    }
    vectors
}

/// `\n`, `\t`, `\s` (a space at an end), `\\`, `\u{hex}`, and `\255{text}` for repetition.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out += before;
        rest = match after.split_at(1) {
            ("n", rest) => (out.push('\n'), rest).1,
            ("t", rest) => (out.push('\t'), rest).1,
            ("s", rest) => (out.push(' '), rest).1,
            ("\\", rest) => (out.push('\\'), rest).1,
            _ => {
                let (braced, rest) = after.split_once('}').expect("a closing brace");
                match braced.split_once('{').expect("an opening brace") {
                    ("u", hex) => {
                        let code = u32::from_str_radix(hex, 16).expect("hexadecimal digits");
                        out.push(char::from_u32(code).expect("a character"));
                    }
                    (times, text) => out += &text.repeat(times.parse().expect("a number of times")),
                }
                rest
            }
        };
    }
    out + rest
}

fn outcome_of(parser: &str, input: &str) -> String {
    let outcome = match parser {
        "destination" => input.parse().map(|d: Destination| destination(&d)),
        "table" => input.parse().map(|t: TableRef| table(&t)),
        "partition" => parse_partition(input).map(|fields| joined(&fields)),
        "item" => input.parse().map(|field: PartitionField| field.to_string()),
        other => panic!("no parser {other}"),
    };
    match outcome {
        Ok(form) => format!("= {form}"),
        Err(error) => failure(&error),
    }
}

fn failure(error: &ParseError) -> String {
    let nearest = error.nearest().map(|name| format!(" nearest {name}")).unwrap_or_default();
    format!("! {:?} {}{nearest}", error.kind(), error.offset())
}

fn joined(fields: &[PartitionField]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn table(table: &TableRef) -> String {
    match table {
        TableRef::Name { namespace, table } => format!("name {namespace:?} {table:?}"),
        TableRef::Glue { account, database, table } => {
            let account = account.as_deref().unwrap_or("-");
            format!("glue {account} {database:?} {table:?}")
        }
        TableRef::Root { location } => format!("root {location:?}"),
        TableRef::Metadata { location } => format!("metadata {location:?}"),
        TableRef::Destination(inner) => format!("destination {}", destination(inner)),
    }
}

fn destination(destination: &Destination) -> String {
    let mut out = String::new();
    match destination {
        Destination::Glue(glue) => {
            let _ = write!(out, "glue {} {:?} {:?}", glue.warehouse(), glue.database(), glue.table());
            put(&mut out, "region", glue.region());
            put(&mut out, "account", glue.account());
            put(&mut out, "role_arn", glue.role_arn());
            put_credentials(&mut out, glue.aws_credentials());
        }
        Destination::Rest(rest) => {
            let _ = write!(
                out,
                "rest {} {:?} {:?} {:?}",
                rest.endpoint(),
                rest.namespace(),
                rest.table(),
                rest.warehouse(),
            );
            put(&mut out, "client_id", rest.credential().and_then(|c| c.client_id()));
            put(&mut out, "client_secret", rest.credential().map(|c| c.secret().expose()));
            put(&mut out, "token", rest.token().map(|token| token.expose()));
            put(&mut out, "scope", rest.scope());
            put(&mut out, "oauth2_server_uri", rest.oauth2_server_uri());
            let delegation = rest.access_delegation().to_string();
            put(&mut out, "delegation", Some(&*delegation).filter(|d| *d != "vended-credentials"));
            put(&mut out, "region", rest.region());
            put_credentials(&mut out, rest.aws_credentials());
        }
        Destination::Root(root) => {
            let _ = write!(out, "root {:?}", root.location());
        }
    }
    if !destination.partition().is_empty() {
        let _ = write!(out, " partition={}", joined(destination.partition()));
    }
    if destination.mode() != calve_uri::Mode::Append {
        let _ = write!(out, " mode={}", destination.mode());
    }
    out
}

fn put_credentials(out: &mut String, credentials: Option<&AwsCredentials>) {
    put(out, "key_id", credentials.map(|c| c.access_key_id().expose()));
    put(out, "key", credentials.map(|c| c.secret_access_key().expose()));
    put(out, "session", credentials.and_then(|c| c.session_token()).map(|t| t.expose()));
}

fn put(out: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = write!(out, " {name}={value:?}");
    }
}

const DATA: &str = include_str!("../vectors.txt");
