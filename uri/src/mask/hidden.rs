//! Which parts of a text are not known to be harmless.
//!
//! Nothing here may depend on what a secret holds: two secrets of one length are hidden alike,
//! down to the place that the error names.

use alloc::vec::Vec;
use core::ops::Range;

use crate::grammar::query::{self, Param, assignments, disguised};
use crate::grammar::{authority, percent, scheme, value};
use crate::mask::Text;

/// What a place in a text may be part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nothing secret.
    Open,
    /// What is hidden, but is no known secret: userinfo, a misspelt parameter, a fragment.
    Doubtful,
    /// The value of a secret parameter.
    Secret,
}

/// The parts of a text, to look places up in.
pub(crate) struct Parts {
    hidden: Vec<Range<usize>>,
    /// Of the known parameters, in order, and whether it is open where it is hidden.
    values: Vec<(Range<usize>, Part)>,
}

impl Parts {
    pub(crate) fn of(text: &str, shape: Text) -> Self {
        let values = match shape {
            Text::Destination | Text::Unchecked | Text::Table => values(text),
            Text::Partition | Text::Value => Vec::new(),
        };
        Self { hidden: hidden(text, shape, 0..text.len()), values }
    }

    /// What the byte at `place` is part of.
    pub(crate) fn at(&self, place: usize) -> Part {
        let next = self.hidden.partition_point(|part| part.end <= place);
        let Some(hidden) = self.hidden.get(next).filter(|part| part.start <= place) else {
            return Part::Open;
        };
        let next = self.values.partition_point(|(value, _)| value.end <= place);
        match self.values.get(next) {
            // Hidden from further back, it is what surrounds it.
            Some((value, Part::Open)) if value.start <= hidden.start => Part::Open,
            Some((value, Part::Secret)) if value.start <= place => Part::Secret,
            _ => Part::Doubtful,
        }
    }
}

/// The values of known parameters. One that holds no secret is open, unless a parameter has been added
/// to it.
fn values(text: &str) -> Vec<(Range<usize>, Part)> {
    crate::steps::add(text.len());
    let head = &text[..text.find('#').unwrap_or(text.len())];
    let Some((before, query)) = head.split_once('?') else { return Vec::new() };
    let mut start = before.len() + 1;
    let mut values = Vec::new();
    for pair in query.split('&') {
        let end = start + pair.len();
        start = end + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let Some(param) = known(name) else { continue };
        let part = match param {
            _ if param.is_secret() => Part::Secret,
            _ if param.is_uri() || query::one_value(value).is_err() => Part::Doubtful,
            _ => Part::Open,
        };
        values.push((end - value.len()..end, part));
    }
    values
}

/// Where in `text` the value of `param` begins.
pub(crate) fn value_of(text: &str, param: Param) -> Option<usize> {
    let (before, query) = text.split_once('?')?;
    let mut start = before.len() + 1;
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some((name, _)) if known(name) == Some(param) => return Some(start + name.len() + 1),
            _ => start += pair.len() + 1,
        }
    }
    None
}

/// The parameter whose value begins at `place` of `text`.
pub(crate) fn param_at(text: &str, place: usize) -> Option<Param> {
    let before = text.get(..place)?.strip_suffix('=')?;
    known(&before[before.rfind(['?', '&'])? + 1..])
}

fn known(name: &str) -> Option<Param> {
    percent::decode(name).ok().and_then(|name| Param::from_name(&name))
}

/// The parts to hide, in order and merged, as far as they touch `window`.
pub(super) fn hidden(text: &str, shape: Text, window: Range<usize>) -> Vec<Range<usize>> {
    let mut hidden = Hidden { ranges: Vec::new(), window };
    crate::steps::add(text.len());
    match shape {
        Text::Partition => hidden.push(plain_length(Param::Partition, text)..text.len()),
        Text::Value => hidden.push(0..text.len()),
        Text::Destination | Text::Unchecked | Text::Table => whole(text, shape, &mut hidden),
    }
    hidden.ranges
}

fn whole(text: &str, shape: Text, hidden: &mut Hidden) {
    let fragment = text.find('#').unwrap_or(text.len());
    let head = text[..fragment].find('?').unwrap_or(fragment);
    // One behind anything else is no scheme's, but may be a secret's.
    let scheme_end = text[..head].find("://").filter(|at| scheme::is_spelt(&text[..*at]));
    let from = match scheme_end {
        Some(at) if !scheme::resembles_known(&text[..at]) => Userinfo::ToTheEnd(0),
        Some(at) => userinfo(text, at, head),
        None if shape != Text::Table => Userinfo::ToTheEnd(0),
        None => without_scheme(text, head),
    };
    match from {
        Userinfo::ToTheEnd(from) => return hidden.push(from..text.len()),
        Userinfo::Within(range) => hidden.push(range),
    }
    // Parameters that somebody added with a `&` or a `;`, or wherever nothing is known.
    let added = match shape {
        Text::Unchecked => first_mark(&text[..head]),
        // What is decoded once is looked at as a location is, in which they may be encoded.
        _ => disguised(&text[..head], 2).next().map(|(at, _)| at),
    };
    if let Some(at) = added {
        // Raw ones are refused, so that the `?` too may be part of a secret among them.
        let raw = shape == Text::Table || assignments(&text[..head]).next().is_some();
        hidden.push(at..if raw { text.len() } else { head });
    }
    if head < fragment {
        let mut start = head + 1;
        for pair in text[start..fragment].split('&') {
            let end = start + pair.len();
            if start > hidden.window.end {
                break;
            }
            if hidden.touches(&(start..end)) {
                parameter(pair, start, end == fragment && fragment < text.len(), hidden);
            }
            start = end + 1;
        }
    }
    hidden.push(fragment..text.len());
}

/// What may be a user name and a password.
enum Userinfo {
    Within(Range<usize>),
    ToTheEnd(usize),
}

/// A password may hold what ends an authority, a path or even a query: unless the authority is
/// plainly a host or a bucket, nothing after it is known to be what it seems.
fn userinfo(text: &str, scheme_end: usize, head: usize) -> Userinfo {
    let start = scheme_end + "://".len();
    let end = text[start..head].find('/').map_or(head, |slash| start + slash);
    let Some(port) = plain_authority(&text[..scheme_end], &text[start..end]) else {
        return Userinfo::ToTheEnd(start);
    };
    // `u:1234?x@h`: a path would have told the authority from a password.
    let asked = || query::before_values(&text[start..]).1.is_some_and(query::resembles_known);
    if end == head && head < text.len() && (port == Port::Given || !asked()) {
        return Userinfo::ToTheEnd(start);
    }
    closed(text, start, end, port)
}

/// A name or a path, unless it looks like a URI that has lost its scheme, or part of one.
fn without_scheme(text: &str, head: usize) -> Userinfo {
    let head = &text[..head];
    if head.starts_with('/') && !head.starts_with("//") {
        let port = if query::before_values(head).0.contains(':') { Port::Given } else { Port::None };
        return match closed(text, 0, 0, port) {
            Userinfo::Within(range) if !text[range.clone()].contains(':') => Userinfo::Within(0..0),
            userinfo => userinfo,
        };
    }
    let local = head.get(..FILE.len()).is_some_and(|start| start.eq_ignore_ascii_case(FILE));
    let path = if local && head[FILE.len()..].starts_with('/') { &head[FILE.len()..] } else { head };
    let (before, name) = query::before_values(path);
    if name.is_none() && !before.contains([':', '=', '@']) {
        return Userinfo::Within(0..0);
    }
    match text.split_once(':') {
        Some((scheme, _)) if scheme::resembles_known(scheme) => Userinfo::ToTheEnd(scheme.len() + 1),
        _ => Userinfo::ToTheEnd(0),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    Given,
    None,
}

/// Whether there is a port, if nothing in `authority` can be a password but the port.
fn plain_authority(scheme: &str, authority: &str) -> Option<Port> {
    if scheme.eq_ignore_ascii_case("glue")
        && percent::decode(authority).is_ok_and(|id| value::is_account(&id))
    {
        return Some(Port::None);
    }
    let azure = ends_with_ignore_case(scheme, "abfs") || ends_with_ignore_case(scheme, "abfss");
    let host = match authority.split_once('@') {
        Some((container, host)) if azure && container.bytes().all(host_char) => host,
        _ => authority,
    };
    let literal = authority::literal(host);
    let (host, port) = match host[literal.len()..].split_once(':') {
        Some((_, port)) => (&host[..host.len() - port.len() - 1], Some(port)),
        None => (host, None),
    };
    let plain_host = host[literal.len()..].bytes().all(host_char) && (literal.is_empty() || literal == host);
    let plain_port =
        |port: &str| !host.is_empty() && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    (plain_host && port.is_none_or(plain_port)).then_some(if port.is_some() {
        Port::Given
    } else {
        Port::None
    })
}

fn host_char(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.$".contains(&b)
}

/// A user name and a password that begin at `start` with what passes for an authority, which ends
/// at `end`: the last `@` behind that closes them.
///
/// The value of a parameter may hold one, and whether it does must not show. So that where there is
/// what looks like a port, and may be the start of a password, a parameter that is not known may be
/// part of the password.
fn closed(text: &str, start: usize, end: usize, port: Port) -> Userinfo {
    let (before, name) = query::before_values(&text[start..]);
    if port == Port::Given && name.is_some_and(|name| !query::resembles_known(name)) {
        return Userinfo::ToTheEnd(start);
    }
    let after = before.get(end - start..);
    match after.and_then(last_at) {
        // Had the password no `/`, there would be no port: all is hidden then. An encoded `@` is what
        // belongs in a path.
        Some(_) if port == Port::Given && after.is_some_and(|after| after.contains('@')) => {
            Userinfo::ToTheEnd(start)
        }
        at => Userinfo::Within(start..at.map_or(start, |at| end + at)),
    }
}

/// Where the last `@` ends, raw or encoded.
fn last_at(text: &str) -> Option<usize> {
    text.rfind('@').map(|at| at + 1).max(text.rfind("%40").map(|at| at + 3))
}

/// Where the first character is, raw or encoded even twice, with which parameters may begin or a
/// path end.
fn first_mark(text: &str) -> Option<usize> {
    ["&", ";", "%23", "%25", "%26", "%3B", "%3b", "%3F", "%3f"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()
}

/// Hides a parameter's value unless its name is known to go with harmless ones, and the name too
/// unless it is, or resembles, a known one: it may be what follows a raw `&` in a secret.
fn parameter(pair: &str, start: usize, cut: bool, hidden: &mut Hidden) {
    let end = start + pair.len();
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let from = end - value.len();
    match known(name) {
        Some(param) if param.is_secret() => hidden.push(from..end),
        Some(param) if param.is_uri() => {
            if cut || !plain_uri(value) {
                hidden.push(from..end);
            }
        }
        Some(param) => hidden.push(from + plain_length(param, value)..end),
        // With a mark in it, the name may be one to which a value has been added.
        None if query::resembles_known(name) && name.bytes().all(name_char) => hidden.push(from..end),
        None => hidden.push(start..end),
    }
}

fn name_char(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'%')
}

/// Whether a name or a location holds no user name, no password and no parameters.
fn plain_uri(value: &str) -> bool {
    let Ok(value) = percent::decode(value) else { return false };
    if disguised(&value, 2).next().is_some() {
        return false;
    }
    match value.split_once("://") {
        Some((scheme, rest)) => {
            scheme::resembles_known(scheme) && !rest.contains(['@', '?', '#', ';', '=', ':', '&'])
        }
        None => !value.contains(['@', '?', '#', ';', '=', ':', '&']),
    }
}

/// How much of a value looks like one of that parameter's: another may have been added to it.
///
/// A scope may look like anything, so that one that is wrong anywhere may be a secret as a whole.
fn plain_length(param: Param, value: &str) -> usize {
    let odd = |b: u8| match param {
        Param::Partition => matches!(b, b'?' | b'&' | b';' | b'='),
        Param::Scope => !(b' '..=b'~').contains(&b) || b"?;=\"\\".contains(&b),
        _ => !b.is_ascii_alphanumeric() && !b"-_:/.,".contains(&b),
    };
    let raw = value.bytes().position(odd).unwrap_or(value.len());
    let encoded = |mark: &str| value.find(mark).unwrap_or(value.len());
    let odd =
        ["%26", "%3F", "%3f", "%3B", "%3b", "%3D", "%3d"].into_iter().map(encoded).fold(raw, usize::min);
    if param == Param::Scope && odd < value.len() { 0 } else { odd }
}

struct Hidden {
    ranges: Vec<Range<usize>>,
    window: Range<usize>,
}

impl Hidden {
    fn touches(&self, range: &Range<usize>) -> bool {
        range.start <= self.window.end && range.end >= self.window.start
    }

    fn push(&mut self, range: Range<usize>) {
        if range.is_empty() || !self.touches(&range) {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => self.ranges.push(range),
        }
    }
}

fn ends_with_ignore_case(text: &str, suffix: &str) -> bool {
    let (text, suffix) = (text.as_bytes(), suffix.as_bytes());
    text.len() >= suffix.len() && text[text.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

const FILE: &str = "file:";
