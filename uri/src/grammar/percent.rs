//! Percent-encoding, both ways.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::ops::Deref;

use nom::bytes::complete::{tag, take_while_m_n};
use nom::sequence::preceded;
use nom::{IResult, Parser};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str};
use zeroize::{Zeroize, Zeroizing};

use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::search::holds;
use crate::secret::Secret;

/// `pct-encoded = "%" HEXDIG HEXDIG`
fn encoded(input: &str) -> IResult<&str, &str, ()> {
    preceded(tag("%"), take_while_m_n(2, 2, |c: char| c.is_ascii_hexdigit())).parse(input)
}

/// Checks that each `%` starts an encoded byte.
fn check(raw: &str) -> Parsed<'_, ()> {
    let mut rest = raw;
    while let Some(at) = rest.find('%') {
        rest = &rest[at..];
        rest = match encoded(rest) {
            Ok((after, _)) => after,
            Err(_) => return Err(Fault::new(ErrorKind::PercentEncoding, rest, HEX)),
        };
    }
    crate::steps::add(raw.len());
    Ok(())
}

/// A piece of the text, decoded.
///
/// What stands in the wrong place may be a secret: a copy is zeroed unless it is kept.
pub(crate) enum Decoded<'a> {
    AsWritten(&'a str),
    Copied(Zeroizing<String>),
}

impl Decoded<'_> {
    /// The text, to keep.
    pub(crate) fn into_string(self) -> String {
        match self {
            Self::AsWritten(text) => text.into(),
            Self::Copied(mut text) => mem::take(&mut *text),
        }
    }
}

impl Deref for Decoded<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::AsWritten(text) => text,
            Self::Copied(text) => text,
        }
    }
}

/// Decodes once. A text without `%` is not copied.
///
/// A control character that comes out is refused.
#[inline]
pub(crate) fn decode(raw: &str) -> Parsed<'_, Decoded<'_>> {
    if holds(raw, b'%') { decode_encoded(raw).map(Decoded::Copied) } else { Ok(Decoded::AsWritten(raw)) }
}

/// As [`decode`], with any fault but a stray `%` at the start of the text.
pub(crate) fn decode_secret(raw: &str) -> Parsed<'_, Secret> {
    match decode(raw) {
        Ok(text) => Ok(Secret::new(text.into_string())),
        Err(fault) if fault.kind == ErrorKind::PercentEncoding => Err(fault.of_secret()),
        Err(fault) => Err(fault.moved(raw).of_secret()),
    }
}

/// Decodes what of `raw` is well-formed.
#[cold]
pub(crate) fn decode_broken(raw: &str) -> Zeroizing<String> {
    let bytes: Zeroizing<Vec<u8>> = Zeroizing::new({
        let mut bytes = Vec::with_capacity(raw.len());
        bytes.extend(percent_decode_str(raw));
        bytes
    });
    let mut text = Zeroizing::new(String::with_capacity(3 * bytes.len()));
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend((!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER));
    }
    text
}

fn decode_encoded(raw: &str) -> Parsed<'_, Zeroizing<String>> {
    check(raw)?;
    // The buffer is never grown: that would leave a copy behind in freed memory.
    let mut bytes = Vec::with_capacity(raw.len());
    bytes.extend(percent_decode_str(raw));
    match String::from_utf8(bytes) {
        Ok(text) => {
            let text = Zeroizing::new(text);
            match text.find(char::is_control) {
                Some(at) => Err(control(&raw[encoded_offset(raw, at)..])),
                None => Ok(text),
            }
        }
        Err(error) => {
            let at = encoded_offset(raw, error.utf8_error().valid_up_to());
            error.into_bytes().zeroize();
            Err(Fault::new(ErrorKind::NotUtf8, &raw[at..], UTF8))
        }
    }
}

/// Where in `raw` the byte stands that comes out as byte `decoded`.
pub(crate) fn encoded_offset(raw: &str, decoded: usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = 0;
    for _ in 0..decoded {
        at += match bytes.get(at) {
            Some(b'%') => 3,
            Some(_) => 1,
            None => break,
        };
    }
    crate::steps::add(at);
    at.min(raw.len())
}

fn control(at: &str) -> Box<Fault<'_>> {
    Fault::new(ErrorKind::ControlCharacter, at, "printable characters")
}

const HEX: &str = "two hexadecimal digits after `%`; a percent sign is written %25";
const UTF8: &str = "percent-encoded utf-8";

/// Kept raw in paths and values: letters, digits and `- . _ ~ ! $ ' ( ) * + , = : @ /`. `&` and `;`
/// might pass for the start of a parameter.
pub(crate) const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b';')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A single segment, in which a slash is part of the name. After a port, `@` might pass for the end
/// of a password.
pub(crate) const SEGMENT: &AsciiSet = &PATH.add(b'/').add(b'@');

/// A level of a dotted name, in which a dot is part of the name too.
pub(crate) const LEVEL: &AsciiSet = &SEGMENT.add(b'.');

/// A path that holds percent-encoding already; the brackets of an IPv6 host stay.
pub(crate) const URL: &AsciiSet = &PATH.remove(b'%').remove(b'&').remove(b';').remove(b'[').remove(b']');
