//! Destinations: never a panic, stable canonical forms, and nothing shown that depends on a secret.
#![no_main]

use std::fmt::Write;

use calve_uri::{Destination, ParseError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = text.parse::<Destination>();
    match &parsed {
        Ok(destination) => {
            let uri = destination.to_uri_with_secrets();
            let again = uri.expose().parse::<Destination>();
            assert_eq!(again.as_ref(), Ok(destination));
            assert_eq!(again.map(|d| d.to_uri_with_secrets()), Ok(uri));
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset()), "{error}");
            assert_eq!(error.render().lines().count(), 3);
        }
    }
    let Some(other) = other_secrets(text) else {
        return;
    };
    // A value stands for itself where it is as well-formed as the one it replaces.
    match (&parsed, &other.parse::<Destination>()) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one.to_string(), other.to_string());
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
        (Err(one), Err(other)) => assert_eq!(shown(one), shown(other)),
        (one, other) => panic!("{one:?} and {other:?}"),
    }
});

fn shown(error: &ParseError) -> String {
    let mut shown = error.render();
    let _ = write!(shown, "{error:?}");
    shown
}

/// The same URI with every plain secret replaced by another of its length, if there are any.
fn other_secrets(text: &str) -> Option<String> {
    let (head, query) = text.split_once('?')?;
    let mut changed = false;
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) if SECRETS.contains(&name) && is_plain(name, value) => {
                changed = true;
                let other = value.bytes().map(|b| if b == b'x' { 'y' } else { 'x' });
                format!("{name}={}", other.collect::<String>())
            }
            _ => pair.to_owned(),
        })
        .collect();
    changed.then(|| format!("{head}?{}", pairs.join("&")))
}

/// Whether nothing in `value` has a meaning of its own: no separator, no encoding, no placeholder,
/// nothing that a text may not hold. A colon splits a credential.
fn is_plain(name: &str, value: &str) -> bool {
    !value.is_empty()
        && !value.contains(['&', '#', '%', '<', '>'])
        && !value.contains(|c: char| c.is_control() || c.is_whitespace())
        && !(name == "credential" && value.contains(':'))
}

const SECRETS: [&str; 5] =
    ["credential", "token", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
