//! The grammar, one function per rule, each documented by its ABNF line.
//!
//! Functions take the text from their rule on and point into it when they find a fault, so that
//! the place of a fault is known without counting. Texts are split before they are decoded, each
//! part is decoded once, and no function recurses.

pub(crate) mod authority;
pub(crate) mod partition;
pub(crate) mod path;
pub(crate) mod percent;
pub(crate) mod query;
pub(crate) mod scheme;
pub(crate) mod search;
pub(crate) mod value;

use alloc::boxed::Box;

use nom::combinator::{opt, rest};
use nom::sequence::preceded;
use nom::{IResult, Parser};

use crate::error::{ErrorKind, Fault, ParseError, Parsed};
use crate::grammar::search::{find, find_either, first, holds, holds_either};
use crate::mask::{Part, Parts, Text};

// What these look for is part of their type, so that each is compiled for it, inlined or not.

/// Everything before the first `END`, or everything: a nom parser.
///
/// `END` is ASCII, so that the text is never cut within a character.
#[inline]
pub(crate) fn till<const END: u8>(input: &str) -> IResult<&str, &str, ()> {
    let (before, rest) = input.split_at(find(input, END).unwrap_or(input.len()));
    Ok((rest, before))
}

/// Everything before the first `A` or `B`, or everything: a nom parser.
#[inline]
pub(crate) fn till_either<const A: u8, const B: u8>(input: &str) -> IResult<&str, &str, ()> {
    let (before, rest) = input.split_at(find_either(input, A, B).unwrap_or(input.len()));
    Ok((rest, before))
}

/// `BYTE`, which is ASCII: a nom parser.
#[inline]
pub(crate) fn byte<const BYTE: u8>(input: &str) -> IResult<&str, &str, ()> {
    match input.as_bytes().first() {
        Some(first) if *first == BYTE => {
            let (byte, rest) = input.split_at(1);
            Ok((rest, byte))
        }
        _ => Err(nom::Err::Error(())),
    }
}

/// `word`, which is ASCII, in any case: a nom parser.
#[inline]
pub(crate) fn any_case<const N: usize>(word: &'static [u8; N]) -> impl Fn(&str) -> IResult<&str, &str, ()> {
    move |input| match input.as_bytes().first_chunk::<N>() {
        Some(start) if start == word || start.eq_ignore_ascii_case(word) => {
            let (start, rest) = input.split_at(N);
            Ok((rest, start))
        }
        _ => Err(nom::Err::Error(())),
    }
}

/// What `parse` makes of `text`, in which no control character may be, and no white space at either
/// end.
///
/// That is looked at first, since no rule asks for it again. But a character that may be part of a
/// secret is told of last: otherwise what else is wrong would come out, or not, by what the secret
/// holds. `discard` gets what was parsed until then.
#[inline]
pub(crate) fn whole<'a, T>(
    text: &'a str,
    shape: Text,
    parse: impl FnOnce(&'a str) -> Result<T, ParseError>,
    discard: impl FnOnce(T),
) -> Result<T, ParseError> {
    let last = match text.as_bytes() {
        [b'!'..=b'~', .., b'!'..=b'~'] if is_plain(text) => None,
        _ => spaces(text, shape).map_err(|fault| ParseError::new(text, shape, *fault))?,
    };
    match last {
        None => parse(text),
        Some(last) => Err(before(ParseError::new(text, shape, *last), parse(text), discard)),
    }
}

/// As [`whole`], white space at the ends included.
pub(crate) fn printable<'a, T>(
    text: &'a str,
    shape: Text,
    parse: impl FnOnce(&'a str) -> Result<T, ParseError>,
    discard: impl FnOnce(T),
) -> Result<T, ParseError> {
    let last = match is_plain(text) {
        true => None,
        false => controls(text, shape).map_err(|fault| ParseError::new(text, shape, *fault))?,
    };
    match last {
        None => parse(text),
        Some(last) => Err(before(ParseError::new(text, shape, *last), parse(text), discard)),
    }
}

/// What was found before the fault left for the end, unless that is about a secret, or nothing.
#[cold]
fn before<T>(last: ParseError, parsed: Result<T, ParseError>, discard: impl FnOnce(T)) -> ParseError {
    match parsed {
        Ok(parsed) => {
            discard(parsed);
            last
        }
        Err(error) if error.is_of_secret() => last,
        Err(error) => error,
    }
}

/// Whether all of it is printable ASCII. The C1 controls are beyond ASCII, where a slower look tells
/// them from letters.
#[inline]
fn is_plain(text: &str) -> bool {
    crate::steps::add(text.len());
    !text.bytes().fold(false, |found, b| found | !matches!(b, b' '..=b'~'))
}

/// As [`controls`], for white space at the ends too.
#[cold]
fn spaces(text: &str, shape: Text) -> Parsed<'_, Option<Box<Fault<'_>>>> {
    if text.starts_with(char::is_whitespace) {
        return Err(Fault::new(ErrorKind::SurroundingSpace, text, "no white space"));
    }
    let control = controls(text, shape)?;
    let end = text.trim_end().len();
    if end < text.len() {
        let fault = || Fault::new(ErrorKind::SurroundingSpace, &text[end..], "the end of the text");
        return match Parts::of(text, shape).at(end) {
            Part::Open => Err(fault()),
            Part::Doubtful | Part::Secret => Ok(control.or_else(|| Some(fault()))),
        };
    }
    Ok(control)
}

/// `char = %x20-7E / %xA0-10FFFF`
///
/// Refuses control characters; the fault of one that may be part of a secret is given back.
#[cold]
fn controls(text: &str, shape: Text) -> Parsed<'_, Option<Box<Fault<'_>>>> {
    let fault = |at: usize| Fault::new(ErrorKind::ControlCharacter, &text[at..], "printable characters");
    crate::steps::add(text.len());
    let mut controls = text.char_indices().filter(|(_, c)| c.is_control()).map(|(at, _)| at).peekable();
    if controls.peek().is_none() {
        return Ok(None);
    }
    let parts = Parts::of(text, shape);
    let (mut doubtful, mut secret) = (None, None);
    for at in controls {
        match parts.at(at) {
            Part::Open => return Err(fault(at)),
            Part::Doubtful => doubtful = doubtful.or(Some(at)),
            Part::Secret => secret = secret.or(Some(at)),
        }
    }
    Ok(doubtful.map(fault).or_else(|| secret.map(|at| fault(at).of_secret())))
}

/// What follows `://`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hierarchy<'a> {
    /// From the start of the whole text to the end of the path.
    written: &'a str,
    /// Up to the first slash; empty for a path alone.
    pub(crate) authority: &'a str,
    /// Empty, or from the first slash on.
    pub(crate) path: &'a str,
    /// What follows the `?`, if there is one.
    pub(crate) query: Option<&'a str>,
    /// The empty rest, where something missing is missed.
    pub(crate) end: &'a str,
}

impl<'a> Hierarchy<'a> {
    /// The empty rest behind the path.
    pub(crate) fn end_of_path(&self) -> &'a str {
        &self.path[self.path.len()..]
    }

    /// The text from `prefix` on to where `path` ends, if it is written like that.
    ///
    /// `path` is the start of this hierarchy's path.
    pub(crate) fn since_prefix(&self, prefix: &str, path: &str) -> Option<&'a str> {
        let start = self.written.len() - self.path.len() - self.authority.len();
        let text = &self.written[start.checked_sub(prefix.len())?..];
        let end = prefix.len() + self.authority.len() + path.len();
        text.starts_with(prefix).then(|| &text[..end])
    }
}

/// `hierarchy = scheme "://" *authority-char path [ "?" query ]`
///
/// `authority-char = %x20-22 / %x24-2E / %x30-3E / %x40-7E / %xA0-10FFFF`
///
/// Takes apart `input`, which is what follows the scheme of `text`; which authority and how many
/// segments is up to the form.
pub(crate) fn hierarchy<'a>(text: &'a str, input: &'a str) -> Parsed<'a, Hierarchy<'a>> {
    hierarchy_of(text, input, |_| false)
}

/// As [`hierarchy`], with colons in an authority that `may_hold_colons`.
pub(crate) fn hierarchy_of<'a>(
    text: &'a str,
    input: &'a str,
    may_hold_colons: impl Fn(&str) -> bool,
) -> Parsed<'a, Hierarchy<'a>> {
    let no_password = |input: &'a str| {
        let authority = &input[..first(input.as_bytes(), *b"/?#").unwrap_or(input.len())];
        if may_hold_colons(authority) { Ok(()) } else { no_password(input) }
    };
    // Without a way out of the loop it runs on whole vectors.
    let fragment = input.bytes().fold(false, |found, b| found | (b == b'#'));
    if fragment && let Some(at) = find(input, b'#') {
        no_password(input)?;
        return Err(Fault::new(ErrorKind::Fragment, &input[at..], "no fragment; `#` is written %23"));
    }
    crate::steps::add(input.len());
    let parts = (till_either::<b'/', b'?'>, till::<b'?'>, opt(preceded(byte::<b'?'>, rest)));
    let (end, (authority, path, query)) =
        { parts }.parse(input).map_err(|_| Fault::new(ErrorKind::MissingAuthority, input, "an authority"))?;
    if first(authority.as_bytes(), *b":&;").is_some() {
        no_password(input)?;
        query::no_assignment(authority, QUESTION_MARK)?;
    }
    if holds_either(path, b'&', b';') {
        query::no_assignment(path, QUESTION_MARK)?;
    }
    let query_len = query.map_or(0, |query| query.len() + 1);
    let written = &text[..text.len() - query_len];
    Ok(Hierarchy { written, authority, path, query, end })
}

/// Refuses a user name and a password in what follows `://`, also where the password holds a `/`, a
/// `?` or a `#`, which ends the authority too soon: what comes before that may even look like a port.
///
/// An `@` behind the name of a parameter says nothing: the value may be any secret. An address in brackets
/// holds colons by right.
pub(crate) fn no_password(input: &str) -> Parsed<'_, ()> {
    let authority = &input[..first(input.as_bytes(), *b"/?#").unwrap_or(input.len())];
    let literal = authority::literal(authority).len();
    let Some(colon) = find(&authority[literal..], b':').map(|at| literal + at) else {
        return Ok(());
    };
    let (before, name) = query::before_values(input);
    if colon >= before.len() {
        return Ok(());
    }
    let port = &authority[colon + 1..];
    let port = port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    let closed = before.get(colon..).is_some_and(|after| holds(after, b'@'));
    if closed || (!port && name.is_some_and(|name| !query::resembles_known(name))) {
        return Err(authority::userinfo(authority));
    }
    Ok(())
}

const QUESTION_MARK: &str = "parameters behind a `?`; `&` and `;` in a name are written %26 and %3B";
