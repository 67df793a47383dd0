//! `version-hint.text`: where readers start looking.

use crate::layout::{MetadataName, Version, parse_digits, parse_stem};

/// What a version hint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// There is none, or it says nothing that can be read.
    Nothing,
    /// A version number.
    Version(Version),
    /// A metadata file's stem or name, and the version in it.
    File(Version, String),
}

impl Hint {
    /// Digits, a stem or a file name, with or without white space around it.
    pub(crate) fn parse(content: Option<&[u8]>) -> Self {
        let Some(text) = content.and_then(|c| std::str::from_utf8(c).ok()).map(str::trim) else {
            return Self::Nothing;
        };
        if text.is_empty() {
            return Self::Nothing;
        }
        if let Some(version) = parse_digits(text) {
            return Self::Version(version);
        }
        if let Some((version, _)) = parse_stem(text) {
            return Self::File(version, format!("{text}.metadata.json"));
        }
        match MetadataName::parse(text) {
            Some(name) => Self::File(name.version, text.to_owned()),
            None => Self::Nothing,
        }
    }

    /// The version, where there is one.
    pub(crate) fn version(&self) -> Option<Version> {
        match self {
            Self::Nothing => None,
            Self::Version(version) | Self::File(version, _) => Some(*version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_digits_a_stem_or_a_name() {
        let parse = |text: &str| Hint::parse(Some(text.as_bytes()));
        assert_eq!(parse("7"), Hint::Version(7));
        assert_eq!(parse(" 7\r\n"), Hint::Version(7));
        assert_eq!(parse("v7\n"), Hint::File(7, "v7.metadata.json".into()));
        assert_eq!(parse("v7.metadata.json"), Hint::File(7, "v7.metadata.json".into()));
        assert_eq!(parse("v7.gz.metadata.json").version(), Some(7));
        assert_eq!(parse("00007-0b0ae3b6-2ab8-4a85-a5b8-1b9a6a2b3c4d").version(), Some(7));
        for nothing in ["", "  ", "abc", "-1", "7 8", "99999999999999999999999"] {
            assert_eq!(parse(nothing), Hint::Nothing, "{nothing:?}");
        }
        assert_eq!(Hint::parse(None), Hint::Nothing);
        assert_eq!(Hint::parse(Some(&[0xff, 0xfe])), Hint::Nothing);
    }
}
