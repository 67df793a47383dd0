use alloc::{borrow::Cow, boxed::Box, string::String};
use core::fmt;

use crate::mask::{self, Text};

/// Why a text was refused, and where.
///
/// An error is safe to log whatever the text held: the message names a word of it, and
/// [`render`](ParseError::render) shows a line of it, only as far as they are known to be harmless.
///
/// ```
/// use calve_uri::{Destination, ErrorKind};
///
/// let error = "iceberg+glue+s3://lake/wh/db/t?aws_secret_acess_key=hunter2"
///     .parse::<Destination>()
///     .unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::UnknownParameter);
/// assert_eq!(error.offset(), 31);
/// assert_eq!(error.nearest(), Some("aws_secret_access_key"));
/// assert!(!error.render().contains("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{} at byte {}: expected {}{}", .0.kind, Found(.0.found()), .0.offset, .0.expected, Hint(.0.nearest))]
pub struct ParseError(Box<Refusal>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    kind: ErrorKind,
    offset: usize,
    expected: Cow<'static, str>,
    nearest: Option<&'static str>,
    line: String,
    /// In characters of the line.
    column: usize,
    of_secret: bool,
}

impl Refusal {
    /// The word at the fault, where the rule is about a word and all of it may be shown.
    fn found(&self) -> &str {
        if !self.kind.is_about_a_word() {
            return "";
        }
        let from = self.line.char_indices().nth(self.column).map_or(self.line.len(), |(at, _)| at);
        let rest = &self.line[from..];
        let word = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        if word.contains(['*', '…']) { "" } else { word }
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || "/?&;=,:()#@\"".contains(c)
}

impl ParseError {
    /// Seals a fault found in `text`, keeping only what may be shown of the text.
    #[cold]
    pub(crate) fn new(text: &str, shape: Text, fault: Fault<'_>) -> Self {
        let Fault { kind, at, expected, nearest, of_secret } = fault;
        let found = nom::Offset::offset(text, at).min(text.len());
        let mask::Excerpt { offset, line, column } =
            mask::excerpt(text, shape, found, kind.is_of_added().then_some(found));
        Self(Box::new(Refusal { kind, offset, expected, nearest, line, column, of_secret }))
    }

    /// Whether it was found by what a secret holds.
    pub(crate) fn is_of_secret(&self) -> bool {
        self.0.of_secret
    }

    /// The rule that was broken.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where, in bytes from the start of the text.
    ///
    /// A fault within a secret is reported at the start of the secret's value: how far into it
    /// the parser came would say something about it.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// What would have been accepted there, as a phrase that follows "expected".
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// The known name that looks most like the unknown one, if any looks alike.
    #[must_use]
    pub fn nearest(&self) -> Option<&'static str> {
        self.0.nearest
    }

    /// The message, the text and a caret under the place, on three lines.
    ///
    /// Each byte of a secret, of what may be userinfo, of an unknown parameter, of a fragment and of
    /// whatever else is not known to be harmless is shown as `*`. Of a long text the neighbourhood
    /// of the place is shown.
    ///
    /// ```text
    /// unknown parameter `regoin` at byte 31: expected one of region, account, …; nearest is `region`
    ///   iceberg+glue+s3://lake/wh/db/t?regoin=*********
    ///                                  ^
    /// ```
    #[must_use]
    pub fn render(&self) -> String {
        let before = self.0.line.chars().take(self.0.column);
        let width = mask::width(before) + INDENT.len() + 1;
        alloc::format!("{self}\n{INDENT}{}\n{:>width$}", self.0.line, '^')
    }
}

impl fmt::Debug for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseError")
            .field("kind", &self.0.kind)
            .field("offset", &self.0.offset)
            .field("expected", &self.0.expected)
            .field("nearest", &self.0.nearest)
            .field("line", &self.0.line)
            .finish()
    }
}

/// The rule a text broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text starts with no scheme that is known here.
    UnknownScheme,
    /// White space before or after the text.
    SurroundingSpace,
    /// A control character, raw or percent-encoded.
    ControlCharacter,
    /// A `#`, which no form takes.
    Fragment,
    /// A user name or password in the authority.
    Userinfo,
    /// No bucket, container or host.
    MissingAuthority,
    /// A bucket or container name that its store would refuse.
    InvalidBucket,
    /// A host that is no DNS name, IPv4 address or bracketed IPv6 address.
    InvalidHost,
    /// A port that is no number from 1 to 65535, or a port where none belongs.
    InvalidPort,
    /// Two slashes in a row, or a slash at the end.
    EmptySegment,
    /// A segment `.` or `..`, raw or percent-encoded.
    DotSegment,
    /// Fewer segments than the form needs.
    MissingSegment,
    /// More segments than the form takes.
    ExtraSegment,
    /// A `%` without two hexadecimal digits.
    PercentEncoding,
    /// Percent-encoded bytes that are not UTF-8.
    NotUtf8,
    /// A `%2F` in a path that becomes a location, where it would turn into a separator.
    EncodedSlash,
    /// An upper-case letter in a Glue name.
    UpperCase,
    /// A Glue name of more than 255 characters.
    NameTooLong,
    /// A namespace of several levels where the catalog has one.
    NestedNamespace,
    /// A level of a dotted name that is empty.
    EmptyLevel,
    /// A table or column name that is not spelt as the grammar asks.
    InvalidName,
    /// A `?` or `&` that no parameter follows.
    EmptyParameter,
    /// A parameter that no form knows.
    UnknownParameter,
    /// A parameter that only another form knows.
    ForeignParameter,
    /// A parameter in a path, in a name or in another's value.
    MisplacedParameter,
    /// A parameter given twice.
    DuplicateParameter,
    /// A parameter without its value.
    EmptyValue,
    /// A value outside what its parameter takes.
    InvalidValue,
    /// A parameter that the form, or another parameter, needs.
    MissingParameter,
    /// The placeholder that a redacted form shows, where a secret is needed.
    RedactedSecret,
    /// Parameters on a text that takes none.
    UnexpectedQuery,
    /// A parameter that only makes sense in a write.
    NotForScan,
    /// A path that depends on a working directory.
    RelativePath,
    /// A partition transform that is not supported.
    UnknownTransform,
    /// A transform's arguments, the wrong way round.
    ArgumentOrder,
    /// Too few or too many arguments of a transform.
    ArgumentCount,
    /// A bucket count or a truncation width outside 1 to 2147483647.
    InvalidWidth,
    /// No column where one is needed.
    MissingColumn,
    /// A double quote that is not closed.
    UnclosedQuote,
    /// Something between two partition items that is no comma.
    PartitionSyntax,
    /// The same transform of the same column twice.
    DuplicateField,
    /// Two time transforms of one column, of which one is redundant.
    RedundantField,
}

impl ErrorKind {
    /// Whether parameters begin at the fault where none may, and any of them may be a secret.
    pub(crate) fn is_of_added(self) -> bool {
        matches!(self, Self::MisplacedParameter | Self::UnexpectedQuery)
    }

    fn is_about_a_word(self) -> bool {
        matches!(
            self,
            Self::UnknownScheme
                | Self::InvalidBucket
                | Self::InvalidHost
                | Self::UpperCase
                | Self::InvalidName
                | Self::UnknownParameter
                | Self::ForeignParameter
                | Self::DuplicateParameter
                | Self::NotForScan
                | Self::UnknownTransform
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownScheme => "unknown scheme",
            Self::SurroundingSpace => "surrounding white space",
            Self::ControlCharacter => "control character",
            Self::Fragment => "fragment",
            Self::Userinfo => "userinfo",
            Self::MissingAuthority => "missing bucket or host",
            Self::InvalidBucket => "invalid bucket name",
            Self::InvalidHost => "invalid host",
            Self::InvalidPort => "invalid port",
            Self::EmptySegment => "empty path segment",
            Self::DotSegment => "dot segment",
            Self::MissingSegment => "missing path segment",
            Self::ExtraSegment => "extra path segment",
            Self::PercentEncoding => "malformed percent-encoding",
            Self::NotUtf8 => "percent-encoded bytes are not utf-8",
            Self::EncodedSlash => "encoded slash in a location",
            Self::UpperCase => "upper-case name",
            Self::NameTooLong => "name too long",
            Self::NestedNamespace => "nested namespace",
            Self::EmptyLevel => "empty level in a dotted name",
            Self::InvalidName => "invalid name",
            Self::EmptyParameter => "empty parameter",
            Self::UnknownParameter => "unknown parameter",
            Self::ForeignParameter => "parameter of another form",
            Self::MisplacedParameter => "misplaced parameter",
            Self::DuplicateParameter => "parameter given twice",
            Self::EmptyValue => "empty value",
            Self::InvalidValue => "invalid value",
            Self::MissingParameter => "missing parameter",
            Self::RedactedSecret => "redacted secret",
            Self::UnexpectedQuery => "unexpected query",
            Self::NotForScan => "parameter of a write in a scan",
            Self::RelativePath => "relative path",
            Self::UnknownTransform => "unknown partition transform",
            Self::ArgumentOrder => "transform arguments in the wrong order",
            Self::ArgumentCount => "wrong number of transform arguments",
            Self::InvalidWidth => "invalid bucket count or width",
            Self::MissingColumn => "missing column",
            Self::UnclosedQuote => "unclosed quote",
            Self::PartitionSyntax => "malformed partition list",
            Self::DuplicateField => "duplicate partition field",
            Self::RedundantField => "redundant partition field",
        })
    }
}

/// What a grammar function found wrong, pointing into the text it was given.
#[derive(Clone, Debug)]
pub(crate) struct Fault<'a> {
    pub(crate) kind: ErrorKind,
    /// The rest of the text from the place on.
    pub(crate) at: &'a str,
    pub(crate) expected: Cow<'static, str>,
    pub(crate) nearest: Option<&'static str>,
    /// Whether it was found by what a secret holds.
    pub(crate) of_secret: bool,
}

impl<'a> Fault<'a> {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, at: &'a str, expected: impl Into<Cow<'static, str>>) -> Box<Self> {
        Box::new(Self { kind, at, expected: expected.into(), nearest: None, of_secret: false })
    }

    pub(crate) fn of_secret(mut self: Box<Self>) -> Box<Self> {
        self.of_secret = true;
        self
    }

    pub(crate) fn nearest(mut self: Box<Self>, nearest: Option<&'static str>) -> Box<Self> {
        self.nearest = nearest;
        self
    }

    /// The same fault, found at another place.
    #[cold]
    pub(crate) fn moved<'b>(&self, at: &'b str) -> Box<Fault<'b>> {
        Box::new(Fault { at, expected: self.expected.clone(), ..*self })
    }
}

/// What grammar functions give when no rest of input is of interest.
pub(crate) type Parsed<'a, T> = Result<T, Box<Fault<'a>>>;

struct Found<'a>(&'a str);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " `{}`", self.0) }
    }
}

struct Hint(Option<&'static str>);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "; nearest is `{name}`"),
            None => Ok(()),
        }
    }
}

const INDENT: &str = "  ";
