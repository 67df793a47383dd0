//! What is shown of a text does not depend on its secrets.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use calve_uri::ParseError;

/// Checks that `parsed`, which is what became of `text`, shows as the same text with other secrets does.
pub fn stay_hidden<T>(text: &str, parsed: &Result<T, ParseError>)
where
    T: FromStr<Err = ParseError> + Display + Debug,
{
    // A plain secret stands for any other, and where something else is wrong, so does one that is
    // refused itself.
    for (other, odd) in [('x', false), ('\u{1}', true), ('%', true)] {
        let Some(text) = replaced(text, other) else { return };
        match (parsed, &text.parse::<T>()) {
            (Ok(one), Ok(other)) => {
                assert_eq!(one.to_string(), other.to_string());
                assert_eq!(format!("{one:?}"), format!("{other:?}"));
            }
            (Err(one), Err(other)) => assert_eq!(shown(one), shown(other)),
            (Ok(_), Err(_)) if odd => {}
            (one, other) => panic!("{one:?} and {other:?}"),
        }
    }
}

fn shown(error: &ParseError) -> String {
    format!("{}{error:?}", error.render())
}

/// The same URI with every plain secret replaced by another of its length, if there are any.
///
/// By one that may be refused only where all are plain: it is told of after what else is wrong, but
/// before or after what is wrong with another secret.
fn replaced(text: &str, other: char) -> Option<String> {
    let (head, query) = text.split_once('?')?;
    // In double quotes it is a name.
    if !head.contains("://") || head.contains('"') {
        return None;
    }
    let mut changed = false;
    let mut plain = true;
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) if SECRETS.contains(&name) && is_plain(name, value) => {
                changed = true;
                let value = value.bytes().map(|b| if b == b'x' && other == 'x' { 'y' } else { other });
                format!("{name}={}", value.collect::<String>())
            }
            Some((name, _)) => {
                plain &= !SECRETS.contains(&name);
                pair.to_owned()
            }
            None => pair.to_owned(),
        })
        .collect();
    (changed && (plain || other == 'x')).then(|| format!("{head}?{}", pairs.join("&")))
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
