//! Path segments, and the names and locations they make.

use alloc::string::String;
use alloc::vec::Vec;

use nom::Parser;
use nom::sequence::preceded;
use zeroize::Zeroizing;

use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::percent::Decoded;
use crate::grammar::scheme::Store;
use crate::grammar::search::{self, holds};
use crate::grammar::{Hierarchy, byte, percent, query, till};
use crate::held::Held;

/// `path = *( "/" segment )`
///
/// Checks every segment.
pub(crate) fn path(path: &str) -> Parsed<'_, ()> {
    if holds(path, b'%') {
        segments(path).try_for_each(|raw| segment(raw).map(drop))
    } else {
        segments(path).try_for_each(undecoded)
    }
}

/// What stands after each slash, undecoded.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    core::iter::from_fn(move || {
        let (after, segment) = preceded(byte::<b'/'>, till::<b'/'>).parse(rest).ok()?;
        rest = after;
        Some(segment)
    })
}

/// `segment = 1*( segment-char / pct-encoded )`
///
/// `segment-char = %x20-22 / %x24 / %x26-2E / %x30-3E / %x40-7E / %xA0-10FFFF`
///
/// Not `.` or `..`, once decoded.
pub(crate) fn segment(raw: &str) -> Parsed<'_, Decoded<'_>> {
    undecoded(raw)?;
    let segment = percent::decode(raw)?;
    if let Decoded::Copied(text) = &segment {
        undecoded(text).map_err(|fault| fault.moved(raw))?;
    }
    Ok(segment)
}

/// As [`segment`], of a text in which nothing is encoded.
fn undecoded(segment: &str) -> Parsed<'_, ()> {
    match segment.as_bytes() {
        [] => Err(Fault::new(ErrorKind::EmptySegment, segment, "a name between slashes")),
        [b'.'] | [b'.', b'.'] => {
            Err(Fault::new(ErrorKind::DotSegment, segment, "a name other than `.` and `..`"))
        }
        _ => Ok(()),
    }
}

/// The last two segments, undecoded, and what comes before them.
pub(crate) fn last_two(path: &str) -> Option<(&str, &str, &str)> {
    let (rest, last) = last(path)?;
    let (rest, last_but_one) = self::last(rest)?;
    Some((rest, last_but_one, last))
}

fn last(path: &str) -> Option<(&str, &str)> {
    let slash = search::last(path, b'/')?;
    Some((&path[..slash], &path[slash + 1..]))
}

/// `location = store "://" authority path`
///
/// The decoded text, as Iceberg stores it: a piece of the URI, unless something had to be decoded.
pub(crate) fn location<'a>(
    store: Store,
    hierarchy: &Hierarchy<'a>,
    path: &'a str,
) -> Parsed<'a, Decoded<'a>> {
    let bucket = if store == Store::File { "" } else { hierarchy.authority };
    if bucket == hierarchy.authority
        && !holds(path, b'%')
        && let Some(text) = hierarchy.since_prefix(store.prefix(), path)
    {
        segments(path).try_for_each(undecoded)?;
        return Ok(Decoded::AsWritten(text));
    }
    let mut location =
        Zeroizing::new(String::with_capacity(store.prefix().len() + bucket.len() + path.len()));
    location.push_str(store.prefix());
    location.push_str(bucket);
    for raw in segments(path) {
        let segment = segment(raw)?;
        if let Decoded::Copied(text) = &segment
            && let Some(at) = text.find('/')
        {
            let at = percent::encoded_offset(raw, at);
            return Err(Fault::new(ErrorKind::EncodedSlash, &raw[at..], "no %2F in a location"));
        }
        location.push('/');
        location.push_str(&segment);
    }
    // As a location may not where it is given as it is stored.
    query::no_parameters(&location).map_err(|fault| {
        let before = nom::Offset::offset(location.as_str(), fault.at) - store.prefix().len() - bucket.len();
        fault.moved(&path[percent::encoded_offset(path, before)..])
    })?;
    Ok(Decoded::Copied(location))
}

/// `namespace = level *( "." level )`
///
/// `level = 1*( undotted-char / pct-encoded )`
///
/// `undotted-char = %x20-22 / %x24 / %x26-2D / %x30-3E / %x40-7E / %xA0-10FFFF`
///
/// Split at the dots before decoding: a dot that is part of a level is `%2E`. The levels are zeroed
/// unless they are kept, as what stands in the wrong place may be a secret.
pub(crate) fn namespace(raw: &str) -> Parsed<'_, Held<Vec<String>>> {
    segment(raw)?;
    let mut levels = Held::new(Vec::with_capacity(1 + raw.bytes().filter(|b| *b == b'.').count()));
    for level in raw.split('.') {
        if level.is_empty() {
            return Err(Fault::new(ErrorKind::EmptyLevel, level, "a name between dots"));
        }
        levels.push(segment(level)?.into_string());
    }
    Ok(levels)
}

/// `glue-database = level`
pub(crate) fn glue_database(raw: &str) -> Parsed<'_, Decoded<'_>> {
    let name = glue_table(raw)?;
    match raw.bytes().position(|b| b == b'.') {
        Some(at) => Err(Fault::new(
            ErrorKind::NestedNamespace,
            &raw[at..],
            "a database of one level; a dot that is part of its name is written %2E",
        )),
        None => Ok(name),
    }
}

/// `glue-table = segment`
///
/// At most 255 characters, none of them upper case.
pub(crate) fn glue_table(raw: &str) -> Parsed<'_, Decoded<'_>> {
    let special = |b: u8| b.is_ascii_uppercase() | (b == b'%') | (b >= 0x80);
    let suspect = raw.bytes().fold(false, |found, b| found | special(b));
    let name = if suspect { segment(raw)? } else { undecoded(raw).map(|()| Decoded::AsWritten(raw))? };
    if suspect && let Some(at) = name.find(changes_in_lower_case) {
        let at = percent::encoded_offset(raw, at);
        return Err(Fault::new(ErrorKind::UpperCase, &raw[at..], "a lower-case name"));
    }
    if name.len() > LONGEST && name.chars().count() > LONGEST {
        return Err(Fault::new(ErrorKind::NameTooLong, raw, "a name of 1 to 255 characters"));
    }
    Ok(name)
}

/// Title case letters count as upper case: Glue would turn them into others.
fn changes_in_lower_case(c: char) -> bool {
    c.is_uppercase() || !c.to_lowercase().eq([c])
}

const LONGEST: usize = 255;
