//! What is shown of a text does not depend on its secrets.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use calve_uri::ParseError;

/// Checks that `parsed`, which is what became of `text`, shows as the same text with other secrets does.
///
/// A plain secret stands for any other. One that may be refused itself is told of after what else is
/// wrong.
pub fn stay_hidden<T>(text: &str, parsed: &Result<T, ParseError>)
where
    T: FromStr<Err = ParseError> + Display + Debug,
{
    let secrets = secrets(text);
    if secrets.is_empty() {
        return;
    }
    for (pattern, odd) in [("yx", false), ("\u{1}", true), ("%", true), (":@/", true), ("://", true)] {
        let other = replaced(text, &secrets, pattern);
        match (parsed, &other.parse::<T>()) {
            (Ok(one), Ok(other)) if !odd => {
                assert_eq!(one.to_string(), other.to_string());
                assert_eq!(format!("{one:?}"), format!("{other:?}"));
            }
            (Ok(_), _) if odd => {}
            (Err(one), Err(other)) => assert_eq!(shown(one), shown(other), "{other:?}"),
            (one, other) => panic!("{one:?} and {other:?}"),
        }
    }
}

fn shown(error: &ParseError) -> String {
    format!("{}{error:?}", error.render())
}

/// Where plain secrets stand in a URI or a path: behind a `?`, a `&` or a `;`, and a name and a `=`. None
/// where any of them is not plain: what is wrong with that one may be told before or after another.
fn secrets(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut secrets = Vec::new();
    // In double quotes it may be a name.
    if text.contains('"') {
        return secrets;
    }
    for (mark, _) in text.match_indices(['?', '&', ';']) {
        let rest = &text[mark + 1..];
        let Some(name) =
            NAMES.iter().find(|name| rest.strip_prefix(*name).is_some_and(|r| r.starts_with('=')))
        else {
            continue;
        };
        let start = mark + 1 + name.len() + 1;
        let value = &text[start..];
        let value = &value[..value.find(['&', '#']).unwrap_or(value.len())];
        if value.is_empty() || !value.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Vec::new();
        }
        secrets.push(start..start + value.len());
    }
    secrets
}

fn replaced(text: &str, secrets: &[std::ops::Range<usize>], pattern: &str) -> String {
    let mut other = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets {
        other.push_str(&text[at..secret.start]);
        other.extend(pattern.chars().cycle().take(secret.len()));
        at = secret.end;
    }
    other.push_str(&text[at..]);
    other
}

const NAMES: [&str; 8] = [
    "credential",
    "token",
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "tokn",
    "password",
    "aws_secret_acess_key",
];
