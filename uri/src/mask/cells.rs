//! How much room a character takes in a terminal.

/// Shown in place of a character that is [`unprintable`].
pub(crate) const PLACEHOLDER: char = '\u{b7}';

/// The cells of a terminal that `line` fills.
pub(crate) fn width(line: impl Iterator<Item = char>) -> usize {
    line.map(cells).sum()
}

fn cells(c: char) -> usize {
    // Without the first row of Unicode, which every table would have to skip.
    match c {
        '\0'..='\u{2ff}' => 1,
        // Jamo that join the one before them.
        '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' => 0,
        _ if extends(c) => 0,
        _ => 1 + usize::from(is_wide(c)),
    }
}

/// Whether `c` is one that moves the cursor, turns the writing direction, shows as nothing or as a
/// space that is none, or has no meaning that everybody knows.
pub(crate) fn unprintable(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Letters, marks and symbols by their category, which show as nothing.
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}' => true,
        _ => is_escaped(c),
    }
}

/// Whether `c` is drawn over the character before it. The standard library has that table, but shows
/// it only by what it escapes.
fn extends(c: char) -> bool {
    c.escape_debug().len() > 1 && !is_escaped(c)
}

/// Whether the standard library holds `c` for unprintable wherever it stands: a control or format
/// character, a separator other than the space, a private or an unassigned one.
fn is_escaped(c: char) -> bool {
    let mut buffer = [b'a'; 5];
    let len = 1 + c.encode_utf8(&mut buffer[1..]).len();
    let text = core::str::from_utf8(&buffer[..len]).unwrap_or_default();
    text.escape_debug().count() > 2
}

/// Whether Unicode's East Asian Width of `c` is wide or full.
fn is_wide(c: char) -> bool {
    let c = u32::from(c);
    let before = WIDE.partition_point(|(first, _)| *first <= c);
    before > 0 && c <= WIDE[before - 1].1
}

/// Unicode 14, ranges joined over characters that are not assigned.
#[rustfmt::skip]
const WIDE: [(u32, u32); 81] = [
    (0x1100, 0x115f), (0x231a, 0x231b), (0x2329, 0x232a), (0x23e9, 0x23ec), (0x23f0, 0x23f0),
    (0x23f3, 0x23f3), (0x25fd, 0x25fe), (0x2614, 0x2615), (0x2648, 0x2653), (0x267f, 0x267f),
    (0x2693, 0x2693), (0x26a1, 0x26a1), (0x26aa, 0x26ab), (0x26bd, 0x26be), (0x26c4, 0x26c5),
    (0x26ce, 0x26ce), (0x26d4, 0x26d4), (0x26ea, 0x26ea), (0x26f2, 0x26f3), (0x26f5, 0x26f5),
    (0x26fa, 0x26fa), (0x26fd, 0x26fd), (0x2705, 0x2705), (0x270a, 0x270b), (0x2728, 0x2728),
    (0x274c, 0x274c), (0x274e, 0x274e), (0x2753, 0x2755), (0x2757, 0x2757), (0x2795, 0x2797),
    (0x27b0, 0x27b0), (0x27bf, 0x27bf), (0x2b1b, 0x2b1c), (0x2b50, 0x2b50), (0x2b55, 0x2b55),
    (0x2e80, 0x303e), (0x3041, 0x3247), (0x3250, 0x4dbf), (0x4e00, 0xa4c6), (0xa960, 0xa97c),
    (0xac00, 0xd7a3), (0xf900, 0xfad9), (0xfe10, 0xfe19), (0xfe30, 0xfe6b), (0xff01, 0xff60),
    (0xffe0, 0xffe6), (0x16fe0, 0x1b2fb), (0x1f004, 0x1f004), (0x1f0cf, 0x1f0cf), (0x1f18e, 0x1f18e),
    (0x1f191, 0x1f19a), (0x1f200, 0x1f320), (0x1f32d, 0x1f335), (0x1f337, 0x1f37c), (0x1f37e, 0x1f393),
    (0x1f3a0, 0x1f3ca), (0x1f3cf, 0x1f3d3), (0x1f3e0, 0x1f3f0), (0x1f3f4, 0x1f3f4), (0x1f3f8, 0x1f43e),
    (0x1f440, 0x1f440), (0x1f442, 0x1f4fc), (0x1f4ff, 0x1f53d), (0x1f54b, 0x1f54e), (0x1f550, 0x1f567),
    (0x1f57a, 0x1f57a), (0x1f595, 0x1f596), (0x1f5a4, 0x1f5a4), (0x1f5fb, 0x1f64f), (0x1f680, 0x1f6c5),
    (0x1f6cc, 0x1f6cc), (0x1f6d0, 0x1f6d2), (0x1f6d5, 0x1f6df), (0x1f6eb, 0x1f6ec), (0x1f6f4, 0x1f6fc),
    (0x1f7e0, 0x1f7f0), (0x1f90c, 0x1f93a), (0x1f93c, 0x1f945), (0x1f947, 0x1f9ff), (0x1fa70, 0x1faf6),
    (0x20000, 0x3134a),
];

#[cfg(test)]
mod tests {
    use super::{PLACEHOLDER, unprintable, width};

    #[test]
    fn a_line_is_as_wide_as_a_terminal_shows_it() {
        for (text, cells) in [
            ("", 0),
            ("abc", 3),
            ("été", 3),
            // Accents by themselves.
            ("e\u{301}te\u{301}", 3),
            ("\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}", 4),
            ("データ", 6),
            ("数据 한국", 9),
            // Syllables in their parts.
            ("\u{1112}\u{1161}\u{11ab}", 2),
            ("ｆｕｌｌ", 8),
            ("a😀b", 4),
            ("\u{20000}", 2),
            ("‐…·", 3),
        ] {
            assert_eq!(width(text.chars()), cells, "{text}");
        }
        assert_eq!(width(core::iter::once(PLACEHOLDER)), 1);
    }

    #[test]
    fn what_shows_as_nothing_or_turns_the_line_is_unprintable() {
        let ranges = [
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{a0}',
            '\u{ad}'..='\u{ad}',
            '\u{34f}'..='\u{34f}',
            '\u{61c}'..='\u{61c}',
            '\u{115f}'..='\u{1160}',
            '\u{180b}'..='\u{180f}',
            '\u{2000}'..='\u{200f}',
            '\u{2028}'..='\u{202f}',
            '\u{205f}'..='\u{206f}',
            '\u{3000}'..='\u{3000}',
            '\u{3164}'..='\u{3164}',
            '\u{e000}'..='\u{e0ff}',
            '\u{fe00}'..='\u{fe0f}',
            '\u{feff}'..='\u{feff}',
            '\u{fff0}'..='\u{fffb}',
            '\u{e0000}'..='\u{e01ef}',
            '\u{10ffff}'..='\u{10ffff}',
        ];
        for c in ranges.into_iter().flatten() {
            assert!(unprintable(c), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn what_people_write_is_printable() {
        for c in "az AZ09'\"\\~ é ß Ж я ع ש न त ि ท่ 数 データ 한 😀 € → e\u{301}".chars()
        {
            assert!(!unprintable(c), "{:x}", u32::from(c));
        }
    }
}
