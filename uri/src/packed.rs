//! Several texts in one allocation.

use alloc::string::String;

/// `N` texts, each of which may be absent.
///
/// A parsed URI is a handful of short texts that live and die together: one allocation for all of
/// them costs less than a `String` for each.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Packed<const N: usize> {
    text: String,
    /// Where each ends in `text`, or [`ABSENT`]; it starts where the one before it ends.
    ends: [usize; N],
}

impl<const N: usize> Packed<N> {
    pub(crate) fn new(parts: [Option<&str>; N]) -> Self {
        let mut text = String::with_capacity(parts.iter().flatten().map(|part| part.len()).sum());
        let mut ends = [ABSENT; N];
        for (end, part) in ends.iter_mut().zip(parts) {
            if let Some(part) = part {
                text.push_str(part);
                *end = text.len();
            }
        }
        Self { text, ends }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = Some(self.ends[at]).filter(|end| *end != ABSENT)?;
        let start = self.ends[..at].iter().rfind(|end| **end != ABSENT).copied().unwrap_or_default();
        Some(&self.text[start..end])
    }

    /// A text that is never absent.
    pub(crate) fn required(&self, at: usize) -> &str {
        self.get(at).unwrap_or_default()
    }

    /// The same with another text in place `at`.
    pub(crate) fn with(&self, at: usize, part: &str) -> Self {
        let mut parts = core::array::from_fn(|at| self.get(at));
        parts[at] = Some(part);
        Self::new(parts)
    }
}

/// No text is this long.
const ABSENT: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use super::Packed;

    #[test]
    fn each_text_comes_out_as_it_went_in() {
        let packed = Packed::new([Some("a"), None, Some(""), Some("bc"), None]);
        let parts: [Option<&str>; 5] = core::array::from_fn(|at| packed.get(at));
        assert_eq!(parts, [Some("a"), None, Some(""), Some("bc"), None]);
        let packed = packed.with(1, "é").with(0, "");
        let parts: [Option<&str>; 5] = core::array::from_fn(|at| packed.get(at));
        assert_eq!(parts, [Some(""), Some("é"), Some(""), Some("bc"), None]);
    }

    #[test]
    fn where_a_text_ends_is_part_of_what_is_compared() {
        assert!(Packed::new([Some("ab"), Some("c")]) != Packed::new([Some("a"), Some("bc")]));
        assert!(Packed::new([Some(""), None]) != Packed::new([None, Some("")]));
    }
}
