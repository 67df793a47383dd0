//! What an error may show of the text it is about.

mod cells;
mod hidden;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

pub(crate) use cells::{unprintable, width};
pub(crate) use hidden::{Part, Parts, param_at, value_of};

use cells::PLACEHOLDER;
use hidden::hidden;

use crate::secret::REDACTED;

/// What a text was meant to be, which decides what in it is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// A destination: without `://` nothing in it is known.
    Destination,
    /// As [`Text::Destination`], put together by a builder from parts that nobody has checked: what is
    /// encoded in its path may be what somebody took for parameters.
    Unchecked,
    /// A table: without `://` a name or a path.
    Table,
    /// A partition list.
    Partition,
    /// A value by itself, which may be anything.
    Value,
}

/// One printable line of a text around a place, and the place.
pub(crate) struct Excerpt {
    pub(crate) line: String,
    /// Of the place in `line`, in characters.
    pub(crate) column: usize,
    /// Of the place in the text, in bytes; never within a masked part.
    pub(crate) offset: usize,
}

/// Masks `text` and cuts out what lies around byte `offset`. What begins at `added` are parameters that
/// somebody has added, whatever they look like.
pub(crate) fn excerpt(text: &str, shape: Text, offset: usize, added: Option<usize>) -> Excerpt {
    let mut offset = offset;
    for hidden in hidden(text, shape, offset..offset + 1) {
        if hidden.contains(&offset) {
            offset = hidden.start;
        }
    }
    let window = offset.saturating_sub(BEFORE)..offset.saturating_add(AFTER).min(text.len());
    let mut line = String::with_capacity(window.len() + 2 * ELLIPSIS.len());
    if window.start > 0 {
        line.push_str(ELLIPSIS);
    }
    // Masked parts are cut by bytes: where their characters end says something about them.
    let mut column = None;
    let mut at = window.start;
    let mut parts = hidden(text, shape, window.clone());
    if let Some(added) = added {
        hide_from(&mut parts, added.min(offset), text.len());
    }
    for part in parts.iter().filter(|part| part.start < window.end && part.end > window.start) {
        let shown = at..part.start.max(at);
        show(text, shown, offset, &mut column, &mut line);
        let masked = part.start.max(window.start)..part.end.min(window.end);
        if masked.contains(&offset) {
            column = Some(line.chars().count());
        }
        line.extend(core::iter::repeat_n('*', masked.len()));
        at = masked.end;
    }
    show(text, at..window.end, offset, &mut column, &mut line);
    let column = column.unwrap_or_else(|| line.chars().count());
    if window.end < text.len() {
        line.push_str(ELLIPSIS);
    }
    Excerpt { line, column, offset }
}

/// Adds the characters of `text` that start within `range`, and notes where `offset` comes out.
fn show(text: &str, range: Range<usize>, offset: usize, column: &mut Option<usize>, line: &mut String) {
    let (from, to) = (boundary(text, range.start), boundary(text, range.end));
    for (i, c) in text[from..to].char_indices() {
        if from + i >= offset && column.is_none() {
            *column = Some(line.chars().count());
        }
        line.push(if unprintable(c) { PLACEHOLDER } else { c });
    }
}

/// All of `text`, masked, for what has not been checked, or was found to have parameters `added` to it;
/// placeholders stay.
pub(crate) fn masked(text: &str, shape: Text, added: Option<usize>) -> String {
    let mut line = String::with_capacity(text.len());
    let mut at = 0;
    let mut parts = hidden(text, shape, 0..text.len());
    if let Some(added) = added {
        hide_from(&mut parts, added, text.len());
    }
    for part in parts {
        line.push_str(&text[at..part.start]);
        at = part.end;
        match &text[part.clone()] {
            REDACTED => line.push_str(REDACTED),
            _ => line.extend(core::iter::repeat_n('*', part.len())),
        }
    }
    line.push_str(&text[at..]);
    line
}

/// Adds everything from `start` to `end` to the hidden `parts`.
fn hide_from(parts: &mut Vec<Range<usize>>, start: usize, end: usize) {
    parts.retain(|part| part.start < start);
    match parts.last_mut() {
        Some(last) if last.end >= start => last.end = end,
        _ => parts.extend((start < end).then_some(start..end)),
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

const BEFORE: usize = 160;
const AFTER: usize = 80;
const ELLIPSIS: &str = "\u{2026}";
