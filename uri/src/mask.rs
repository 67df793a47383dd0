//! What an error may show of the text it is about.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use crate::grammar::percent;
use crate::grammar::query::Param;
use crate::nearest::nearest;

/// What a text was meant to be, which decides what in it is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// A destination: without `://` nothing in it is known.
    Destination,
    /// A table: without `://` a name or a path.
    Table,
    /// A partition list, harmless as a whole.
    Partition,
}

/// One printable line of a text around a place, and the place.
pub(crate) struct Excerpt {
    pub(crate) line: String,
    /// Of the place in `line`, in characters.
    pub(crate) column: usize,
    /// Of the place in the text, in bytes; never within a masked part.
    pub(crate) offset: usize,
}

/// Masks `text` and cuts out what lies around byte `offset`.
pub(crate) fn excerpt(text: &str, shape: Text, offset: usize) -> Excerpt {
    let mut offset = offset;
    for hidden in hidden(text, shape, offset..offset + 1) {
        if hidden.contains(&offset) {
            offset = hidden.start;
        }
    }
    let from = boundary(text, offset.saturating_sub(BEFORE));
    let to = boundary(text, offset.saturating_add(AFTER).min(text.len()));
    let mut line = String::with_capacity(to - from + 2 * ELLIPSIS.len());
    if from > 0 {
        line.push_str(ELLIPSIS);
    }
    let mut hidden = hidden(text, shape, from..to).into_iter().peekable();
    let mut column = None;
    for (i, c) in text[from..to].char_indices().map(|(i, c)| (from + i, c)) {
        if i >= offset && column.is_none() {
            column = Some(line.chars().count());
        }
        while hidden.next_if(|range| range.end <= i).is_some() {}
        if hidden.peek().is_some_and(|range| range.contains(&i)) {
            line.extend(core::iter::repeat_n('*', c.len_utf8()));
        } else {
            line.push(if unprintable(c) { '\u{b7}' } else { c });
        }
    }
    let column = column.unwrap_or_else(|| line.chars().count());
    if to < text.len() {
        line.push_str(ELLIPSIS);
    }
    Excerpt { line, column, offset }
}

/// The parts of `text` that are not known to be harmless, in order and merged, as far as they
/// touch `window`.
fn hidden(text: &str, shape: Text, window: Range<usize>) -> Vec<Range<usize>> {
    let mut hidden = Hidden { ranges: Vec::new(), window };
    crate::steps::add(text.len());
    if shape == Text::Partition {
        return hidden.ranges;
    }
    let fragment = text.find('#').unwrap_or(text.len());
    let head = text[..fragment].find('?').unwrap_or(fragment);
    match text[..head].find("://") {
        Some(at) => authority(text, at, head, &mut hidden),
        None if shape == Text::Destination => hidden.push(0..head),
        // A name or a path, unless it looks like a URI that has lost its scheme.
        None => match text[..head].rfind('@') {
            Some(at) if text[..at].contains(':') => hidden.push(0..at + 1),
            _ => {}
        },
    }
    if head < fragment {
        let mut start = head + 1;
        for pair in text[start..fragment].split('&') {
            let end = start + pair.len();
            if hidden.touches(&(start..end)) {
                parameter(pair, start, &mut hidden);
            }
            start = end + 1;
        }
    }
    hidden.push(fragment..text.len());
    hidden.ranges
}

/// Hides userinfo, and anything in its place that is no host or bucket. A password may hold a raw
/// slash, so the last `@` of the whole path counts.
fn authority(text: &str, scheme_end: usize, head: usize, hidden: &mut Hidden) {
    let start = scheme_end + "://".len();
    let mut from = start;
    let rest = &text[start..head];
    let userinfo = rest.rfind('@').map(|at| at + 1).max(rest.rfind("%40").map(|at| at + 3));
    if let Some(end) = userinfo {
        let container = &rest[..rest.find(['@', '/']).unwrap_or(end)];
        let azure = ends_with_ignore_case(&text[..scheme_end], "abfs")
            || ends_with_ignore_case(&text[..scheme_end], "abfss");
        let plain = container.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_$.".contains(&b));
        if !(azure && plain && rest.matches('@').count() == 1 && !rest.contains("%40")) {
            hidden.push(start..start + end);
        }
        from += end;
    }
    let end = text[from..head].find('/').map_or(head, |slash| from + slash);
    let (host, port) = match text[from..end].rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (&text[from..end], ""),
    };
    let harmless = port.len() <= 5
        && port.bytes().all(|b| b.is_ascii_digit())
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.$[]:".contains(&b))
        && (host.starts_with('[') || !host.contains(':'));
    if !harmless {
        hidden.push(from..end);
    }
}

/// Hides a parameter's value unless its name is known to go with harmless ones, and the name too
/// unless it is, or resembles, a known one: it may be what follows a raw `&` in a secret.
fn parameter(pair: &str, start: usize, hidden: &mut Hidden) {
    let end = start + pair.len();
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let value = end - value.len()..end;
    let decoded = percent::decode(name).unwrap_or_default();
    match Param::from_name(&decoded) {
        Some(param) if param.is_secret() => hidden.push(value),
        Some(param) if param.is_uri() => {
            let text = &pair[value.start - start..];
            if ["@", "%40", "?", "%3F", "%3f"].iter().any(|mark| text.contains(mark)) {
                hidden.push(value);
            }
        }
        Some(_) => {}
        None if nearest(&decoded, Param::ALL.iter().map(|p| p.name())).is_some() => {
            hidden.push(value);
        }
        None => hidden.push(start..end),
    }
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

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Characters that would move the cursor, hide, or turn the writing direction of what follows.
fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

const BEFORE: usize = 160;
const AFTER: usize = 80;
const ELLIPSIS: &str = "\u{2026}";
