//! Searching short texts, eight bytes at a time.
//!
//! A URI is cut into pieces of a few bytes each, for which a search on whole vectors costs more to
//! start than to run.

/// Where the first `byte` is.
#[inline]
pub(crate) fn find(text: &str, byte: u8) -> Option<usize> {
    first(text.as_bytes(), [byte])
}

/// Where the first `one` or `other` is.
#[inline]
pub(crate) fn find_either(text: &str, one: u8, other: u8) -> Option<usize> {
    first(text.as_bytes(), [one, other])
}

/// Whether `byte` is anywhere in `text`.
#[inline]
pub(crate) fn holds(text: &str, byte: u8) -> bool {
    find(text, byte).is_some()
}

/// As [`holds`], for either of two.
#[inline]
pub(crate) fn holds_either(text: &str, one: u8, other: u8) -> bool {
    find_either(text, one, other).is_some()
}

/// Where the first of `sought` is.
#[inline(always)]
pub(crate) fn first<const N: usize>(text: &[u8], sought: [u8; N]) -> Option<usize> {
    let mut rest = text;
    let found = loop {
        let before = text.len() - rest.len();
        match rest.split_first_chunk() {
            Some((word, after)) => match mark(*word, sought) {
                Some(at) => break Some(before + at),
                None => rest = after,
            },
            // The last word overlaps one in which nothing was found.
            None => match text.last_chunk() {
                _ if rest.is_empty() => break None,
                Some(word) => break mark(*word, sought).map(|at| text.len() - WORD + at),
                None => break rest.iter().position(|b| sought.contains(b)),
            },
        }
    };
    crate::steps::add(found.unwrap_or(text.len()));
    found
}

/// Where the last `byte` is.
#[inline]
pub(crate) fn last(text: &str, byte: u8) -> Option<usize> {
    let mut rest = text.as_bytes();
    let found = loop {
        match rest.split_last_chunk() {
            Some((before, word)) => match mark_of_last(*word, byte) {
                Some(at) => break Some(before.len() + at),
                None => rest = before,
            },
            None => break rest.iter().rposition(|b| *b == byte),
        }
    };
    crate::steps::add(text.len() - found.unwrap_or(0));
    found
}

/// Which byte of `word` is the last that is `sought`.
#[inline(always)]
fn mark_of_last(word: [u8; WORD], sought: u8) -> Option<usize> {
    let word = u64::from_le_bytes(word) ^ (u64::from(sought) * ONES);
    // Unlike `zeros`, right for every byte: none borrows from another.
    let marks = !(((word & (ONES * 0x7f)) + ONES * 0x7f) | word | (ONES * 0x7f));
    (marks != 0).then(|| WORD - 1 - (marks.leading_zeros() / u8::BITS) as usize)
}

/// Which byte of `word` is the first of `sought`.
#[inline(always)]
fn mark<const N: usize>(word: [u8; WORD], sought: [u8; N]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let marks = sought.into_iter().fold(0, |marks, byte| marks | zeros(word ^ (u64::from(byte) * ONES)));
    (marks != 0).then(|| (marks.trailing_zeros() / u8::BITS) as usize)
}

/// The high bit of the lowest byte that is zero, and perhaps of others above it.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << (u8::BITS - 1))
}

const WORD: usize = 8;
/// A one in each byte.
const ONES: u64 = u64::MAX / 0xff;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::{first, last};

    #[test]
    fn the_last_of_a_byte_is_found_wherever_it_is() {
        for len in 0..40 {
            for other in [b'.', b'0', 0, 0x7f] {
                let mut text = vec![other; len];
                for at in 0..=len {
                    let sought = core::str::from_utf8(&text).expect("ascii");
                    assert_eq!(last(sought, b'/'), at.checked_sub(1), "{sought:?}");
                    if at < len {
                        text[at] = b'/';
                    }
                }
            }
        }
        assert_eq!(last("é/é", b'/'), Some(2));
    }

    #[test]
    fn the_first_of_the_sought_bytes_is_found_wherever_it_is() {
        for len in 0..40 {
            for other in [b'a', b'%' - 1, b'%' + 1, 0, 0x80, 0xa5, 0xff] {
                let mut text = vec![other; len];
                assert_eq!(first(&text, [b'%', b'&']), (other == b'&').then_some(0).filter(|_| len > 0));
                for at in 0..len {
                    for (one, two) in [(b'%', b'&'), (b'&', b'%'), (b'%', b'%')] {
                        if other == b'&' {
                            continue;
                        }
                        text[at] = one;
                        text[len - 1] = if at == len - 1 { one } else { two };
                        assert_eq!(first(&text, [b'%', b'&']), Some(at), "{text:?}");
                        let single =
                            if one == b'%' { Some(at) } else { text.iter().position(|b| *b == b'%') };
                        assert_eq!(first(&text, [b'%']), single, "{text:?}");
                        text[at] = other;
                        text[len - 1] = other;
                    }
                }
            }
        }
    }
}
