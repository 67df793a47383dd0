//! Truncated bounds (spec: "Truncated values in column metrics").

/// The first `length` code points of a string: a lower bound of it.
pub(super) fn lower_str(value: &str, length: usize) -> &str {
    match value.char_indices().nth(length) {
        Some((cut, _)) => &value[..cut],
        None => value,
    }
}

/// The shortest string of at most `length` code points that is no less than `value`, or `None` when
/// none is: every code point that could be raised is the last one.
pub(super) fn upper_str(value: &str, length: usize) -> Option<String> {
    let kept = lower_str(value, length);
    if kept.len() == value.len() {
        return Some(value.to_owned());
    }
    let mut kept = kept.to_owned();
    while let Some(last) = kept.pop() {
        if let Some(next) = next_char(last) {
            kept.push(next);
            return Some(kept);
        }
    }
    None
}

/// The next code point that is a character: surrogates are none.
fn next_char(c: char) -> Option<char> {
    match c {
        '\u{D7FF}' => Some('\u{E000}'),
        char::MAX => None,
        _ => char::from_u32(u32::from(c) + 1),
    }
}

/// The first `length` bytes: a lower bound.
pub(super) fn lower_bytes(value: &[u8], length: usize) -> &[u8] {
    &value[..value.len().min(length)]
}

/// The shortest byte string of at most `length` bytes that is no less than `value`, if there is one.
pub(super) fn upper_bytes(value: &[u8], length: usize) -> Option<Vec<u8>> {
    let kept = lower_bytes(value, length);
    if kept.len() == value.len() {
        return Some(value.to_vec());
    }
    let raised = kept.iter().rposition(|b| *b != u8::MAX)?;
    let mut kept = kept[..=raised].to_vec();
    kept[raised] += 1;
    Some(kept)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_never_falls_inside_a_code_point() {
        let text = format!("{}•x", "a".repeat(15));
        assert_eq!(lower_str(&text, 16), format!("{}•", "a".repeat(15)));
        assert_eq!(upper_str(&text, 16).unwrap(), format!("{}\u{2023}", "a".repeat(15)));
        assert_eq!(lower_str("😀😀😀", 2), "😀😀");
    }

    #[test]
    fn raising_steps_over_the_surrogates() {
        assert_eq!(upper_str(&"\u{D7FF}".repeat(20), 2).unwrap(), "\u{D7FF}\u{E000}");
    }

    #[test]
    fn the_last_code_point_carries_to_the_one_before() {
        assert_eq!(upper_str("a\u{10FFFF}\u{10FFFF}b", 3).unwrap(), "b");
        assert_eq!(upper_bytes(&[1, 0xff, 0xff, 0], 3).unwrap(), [2]);
    }

    #[test]
    fn a_bound_that_can_not_be_raised_is_dropped() {
        assert_eq!(upper_str(&"\u{10FFFF}".repeat(20), 16), None);
        assert_eq!(upper_bytes(&[0xff; 20], 16), None);
    }

    #[test]
    fn a_short_value_is_its_own_bound() {
        assert_eq!(upper_str("\u{10FFFF}", 16).unwrap(), "\u{10FFFF}");
        assert_eq!(lower_str("", 16), "");
        assert_eq!(upper_bytes(&[0xff; 16], 16).unwrap(), [0xff; 16]);
    }

    proptest! {
        #[test]
        fn bounds_of_a_string_hold_it(text in "\\PC{0,24}|[\u{D7F0}-\u{E010}]{0,24}|[\u{10FFF0}-\u{10FFFF}]{0,24}", length in 1usize..20) {
            prop_assert!(lower_str(&text, length).as_bytes() <= text.as_bytes());
            if let Some(upper) = upper_str(&text, length) {
                prop_assert!(upper.as_bytes() >= text.as_bytes());
                prop_assert!(upper.chars().count() <= length);
            }
        }

        #[test]
        fn bounds_of_bytes_hold_them(bytes in prop::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 0..24), length in 1usize..20) {
            prop_assert!(lower_bytes(&bytes, length) <= &bytes[..]);
            if let Some(upper) = upper_bytes(&bytes, length) {
                prop_assert!(upper >= bytes);
                prop_assert!(upper.len() <= length);
            }
        }
    }
}
