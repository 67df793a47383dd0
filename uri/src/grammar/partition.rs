//! The partition list.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::query;
use crate::grammar::search::holds;
use crate::held::Held;
use crate::nearest::nearest;
use crate::partition::{PartitionField, Transform};

/// `partition-spec = item *( "," item )`
///
/// No `=` behind a `?`, `&` or `;` that is not quoted.
pub(crate) fn spec(input: &str) -> Parsed<'_, Vec<PartitionField>> {
    if let Some(added) = query::unquoted(input) {
        let expected = "no parameters on a partition list; a name that holds `?`, `&` or `;` goes in quotes";
        return Err(Fault::new(ErrorKind::MisplacedParameter, added, expected));
    }
    items(input)
}

/// As [`spec`], of a list in which no parameters can have been added.
pub(crate) fn items(input: &str) -> Parsed<'_, Vec<PartitionField>> {
    // What is refused may be a secret.
    let mut fields = Held::new(Vec::with_capacity(1 + input.bytes().filter(|b| *b == b',').count()));
    let mut rest = input;
    loop {
        let after = item(rest, &mut fields)?;
        rest = match after.strip_prefix(',') {
            Some(next) => next,
            None if after.is_empty() => break,
            None => {
                let expected = "`,` or the end; a name with `, ( ) \"` or a space goes in quotes";
                return Err(Fault::new(ErrorKind::PartitionSyntax, after, expected));
            }
        };
    }
    match clash(&fields) {
        Some((second, kind)) => {
            let expected = match kind {
                ErrorKind::DuplicateField => "each transform of a column once",
                _ => "one of year, month, day, hour of a column: the finest holds the others",
            };
            Err(Fault::new(kind, nth(input, second), expected))
        }
        None => Ok(fields.take()),
    }
}

/// `item = *SP ( transform *SP "(" arguments ")" / column ) *SP`
///
/// It goes to the end of `fields`.
fn item<'a>(input: &'a str, fields: &mut Vec<PartitionField>) -> Parsed<'a, &'a str> {
    let input = spaces(input);
    let (rest, word) = plain(input);
    let rest = match spaces(rest).strip_prefix('(') {
        Some(arguments) if !word.is_empty() => call(input, word, arguments, fields)?,
        _ => column(input, Transform::Identity, fields)?,
    };
    Ok(spaces(rest))
}

/// `transform = "identity" / "bucket" / "truncate" / "year" / "month" / "day" / "hour"`
///
/// `arguments = *SP [ number *SP "," *SP ] column *SP`
///
/// The number goes with `bucket` and `truncate` alone.
fn call<'a>(
    at: &'a str,
    name: &'a str,
    arguments: &'a str,
    fields: &mut Vec<PartitionField>,
) -> Parsed<'a, &'a str> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let (simple, shape) = match () {
        () if is("identity") => (Transform::Identity, "identity(column)"),
        () if is("year") => (Transform::Year, "year(column)"),
        () if is("month") => (Transform::Month, "month(column)"),
        () if is("day") => (Transform::Day, "day(column)"),
        () if is("hour") => (Transform::Hour, "hour(column)"),
        () if is("bucket") => return numbered(arguments, Transform::Bucket, "bucket(N, column)", fields),
        () if is("truncate") => {
            return numbered(arguments, Transform::Truncate, "truncate(W, column)", fields);
        }
        () => {
            let fault = Fault::new(ErrorKind::UnknownTransform, at, SUPPORTED);
            return Err(fault.nearest(nearest(name, TRANSFORMS)));
        }
    };
    last_argument(arguments, shape, simple, fields)
}

fn numbered<'a>(
    arguments: &'a str,
    transform: fn(u32) -> Transform,
    shape: &'static str,
    fields: &mut Vec<PartitionField>,
) -> Parsed<'a, &'a str> {
    let input = spaces(arguments);
    let (rest, word) = plain(input);
    let number = match number(word) {
        Some(Ok(number)) => number,
        Some(Err(())) => return Err(Fault::new(ErrorKind::InvalidWidth, input, WIDTH)),
        None => {
            let kind = misplaced(input);
            let expected = match kind {
                ErrorKind::InvalidWidth => Cow::from(format!("{WIDTH}, first: {shape}")),
                _ => shape.into(),
            };
            return Err(Fault::new(kind, input, expected));
        }
    };
    let rest = spaces(rest);
    let Some(rest) = rest.strip_prefix(',') else {
        return Err(Fault::new(ErrorKind::ArgumentCount, rest, shape));
    };
    last_argument(rest, shape, transform(number), fields)
}

/// `transform-text = "identity" / "year" / "month" / "day" / "hour" / numbered-text`
///
/// `numbered-text = ( "bucket" / "truncate" ) "[" number "]"`
pub(crate) fn transform(input: &str) -> Parsed<'_, Transform> {
    let (name, brackets) = input.split_at(input.find('[').unwrap_or(input.len()));
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let numbered = match () {
        () if is("bucket") => Some((Transform::Bucket as fn(u32) -> Transform, "bucket[N]")),
        () if is("truncate") => Some((Transform::Truncate as fn(u32) -> Transform, "truncate[W]")),
        () => None,
    };
    if let Some((transform, shape)) = numbered {
        let Some(word) = brackets.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
            return Err(Fault::new(ErrorKind::ArgumentCount, brackets, shape));
        };
        return match number(word) {
            Some(Ok(number)) => Ok(transform(number)),
            _ => Err(Fault::new(ErrorKind::InvalidWidth, word, WIDTH)),
        };
    }
    let transform = match () {
        () if is("identity") => Transform::Identity,
        () if is("year") => Transform::Year,
        () if is("month") => Transform::Month,
        () if is("day") => Transform::Day,
        () if is("hour") => Transform::Hour,
        () => {
            let fault = Fault::new(ErrorKind::UnknownTransform, input, SUPPORTED);
            return Err(fault.nearest(nearest(name, TRANSFORMS)));
        }
    };
    match brackets {
        "" => Ok(transform),
        _ => Err(Fault::new(ErrorKind::ArgumentCount, brackets, "no number")),
    }
}

/// `number = 1*DIGIT`
///
/// From 1 to 2147483647. `None` for what is no number, an error for one out of range.
fn number(word: &str) -> Option<Result<u32, ()>> {
    let digits = word.strip_prefix('-').or(word.strip_prefix('+')).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    crate::steps::add(word.len());
    // A sign is no part of the rule, and only what is no digit at all is no number.
    let number = if digits.len() == word.len() { word.parse().ok() } else { None };
    Some(number.filter(|number| (1..=i32::MAX as u32).contains(number)).ok_or(()))
}

/// What is wrong with arguments that do not start with a number.
fn misplaced(input: &str) -> ErrorKind {
    let Ok(rest) = column(input, Transform::Identity, &mut Held::default()) else {
        let absent = input.is_empty() || input.starts_with([')', ',']);
        return if absent { ErrorKind::ArgumentCount } else { ErrorKind::InvalidWidth };
    };
    match spaces(rest).strip_prefix(',') {
        None => ErrorKind::ArgumentCount,
        Some(rest) => {
            let (rest, word) = plain(spaces(rest));
            let swapped = number(word).is_some() && spaces(rest).starts_with(')');
            if swapped { ErrorKind::ArgumentOrder } else { ErrorKind::InvalidWidth }
        }
    }
}

/// The column, which ends a field, and what closes the call.
fn last_argument<'a>(
    input: &'a str,
    shape: &'static str,
    transform: Transform,
    fields: &mut Vec<PartitionField>,
) -> Parsed<'a, &'a str> {
    let input = spaces(input);
    if matches!(input.as_bytes(), [] | [b')' | b',', ..]) {
        return Err(Fault::new(ErrorKind::ArgumentCount, input, shape));
    }
    let rest = spaces(column(input, transform, fields)?);
    match rest.strip_prefix(')') {
        Some(rest) => Ok(rest),
        None if rest.starts_with(',') => Err(Fault::new(ErrorKind::ArgumentCount, rest, shape)),
        None => Err(Fault::new(ErrorKind::PartitionSyntax, rest, "`)`")),
    }
}

/// `column = name *( "." name )`
///
/// `name = 1*plain-char / quoted`
///
/// The field it makes with `transform` goes to the end of `fields`.
#[inline]
fn column<'a>(input: &'a str, transform: Transform, fields: &mut Vec<PartitionField>) -> Parsed<'a, &'a str> {
    let (rest, bare) = plain(input);
    if !rest.starts_with('"') && has_names(bare) {
        fields.push(PartitionField::new(transform, bare));
        return Ok(rest);
    }
    let mut column = Held::default();
    let rest = names(input, &mut column)?;
    fields.push(PartitionField::new(transform, column.take()));
    Ok(rest)
}

/// The names of a column one by one.
fn names<'a>(input: &'a str, column: &mut Held<String>) -> Parsed<'a, &'a str> {
    let mut rest = input;
    loop {
        if rest.starts_with('"') {
            rest = quoted(rest, column)?;
        } else {
            // Each name is looked at by itself: looking for the end of the whole column from every
            // dot would be quadratic.
            let end = rest.bytes().position(|b| b == b'.' || ends_plain(b)).unwrap_or(rest.len());
            crate::steps::add(end);
            if end == 0 {
                let expected = "a column name; one with `, ( ) \"` or a space goes in quotes";
                return Err(Fault::new(ErrorKind::MissingColumn, rest, expected));
            }
            column.push(&rest[..end]);
            rest = &rest[end..];
        }
        match rest.strip_prefix('.') {
            Some(next) => rest = next,
            None => return Ok(rest),
        }
        column.push(".");
    }
}

/// `quoted = DQUOTE 1*( quoted-char / DQUOTE DQUOTE ) DQUOTE`
///
/// `quoted-char = %x20-21 / %x23-7E / %xA0-10FFFF`
pub(crate) fn quoted<'a>(input: &'a str, name: &mut Held<String>) -> Parsed<'a, &'a str> {
    let before = name.len();
    let mut rest = &input[1..];
    loop {
        let Some(end) = rest.find('"') else {
            return Err(Fault::new(ErrorKind::UnclosedQuote, input, "a closing double quote"));
        };
        crate::steps::add(end);
        name.push(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                name.push("\"");
                rest = next;
            }
            None if name.len() == before => {
                let expected = "a column name between the quotes";
                return Err(Fault::new(ErrorKind::MissingColumn, input, expected));
            }
            None => return Ok(rest),
        }
    }
}

/// `plain-char = %x21 / %x23-27 / %x2A-2B / %x2D-7E / %xA0-10FFFF`
///
/// Anything but space, `"`, `(`, `)`, `,` and control characters; a dot ends a name.
fn plain_char(c: char) -> bool {
    !matches!(c, ' ' | '"' | '(' | ')' | ',') && !c.is_control()
}

/// As [`plain_char`], by bytes: control characters are refused before this.
fn ends_plain(b: u8) -> bool {
    matches!(b, b' ' | b'"' | b'(' | b')' | b',')
}

fn plain(input: &str) -> (&str, &str) {
    let end = input.bytes().position(ends_plain).unwrap_or(input.len());
    crate::steps::add(end);
    let (word, rest) = input.split_at(end);
    (rest, word)
}

/// Whether `column` needs no quotes.
pub(crate) fn is_plain(column: &str) -> bool {
    has_names(column) && column.chars().all(plain_char) && !column.bytes().any(query::is_mark)
}

/// Whether there is a name before, after and between the dots.
fn has_names(column: &str) -> bool {
    if !holds(column, b'.') {
        return !column.is_empty();
    }
    column.split('.').all(|name| !name.is_empty())
}

fn spaces(input: &str) -> &str {
    let end = input.bytes().position(|b| b != b' ').unwrap_or(input.len());
    crate::steps::add(end);
    &input[end..]
}

/// The first field that repeats an earlier one, and how.
fn clash(fields: &[PartitionField]) -> Option<(usize, ErrorKind)> {
    // What may be taken of a column once: time transforms count as one.
    fn key(field: &PartitionField) -> (&str, Transform) {
        let transform = field.transform();
        (field.column(), if transform.is_time() { Transform::Year } else { transform })
    }
    let second = if fields.len() <= FEW {
        (1..fields.len()).find(|i| fields[..*i].iter().any(|f| key(f) == key(&fields[*i])))?
    } else {
        let mut seen = BTreeSet::new();
        fields.iter().position(|field| !seen.insert(key(field)))?
    };
    let repeated = fields[..second].contains(&fields[second]);
    Some((second, if repeated { ErrorKind::DuplicateField } else { ErrorKind::RedundantField }))
}

/// The input from item number `n` on, which is known to be there.
fn nth(input: &str, n: usize) -> &str {
    let mut rest = input;
    for _ in 0..n {
        match item(rest, &mut Held::new(Vec::new())) {
            Ok(after) => rest = after.strip_prefix(',').unwrap_or(after),
            Err(_) => break,
        }
    }
    spaces(rest)
}

/// Up to here comparing all pairs is quicker than keeping a set.
const FEW: usize = 8;

const WIDTH: &str = "a whole number from 1 to 2147483647";
const SUPPORTED: &str = "one of identity, bucket, truncate, year, month, day, hour";
const TRANSFORMS: [&str; 7] = ["identity", "bucket", "truncate", "year", "month", "day", "hour"];
