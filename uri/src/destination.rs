use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use percent_encoding::utf8_percent_encode;

use crate::error::{ErrorKind, Fault, ParseError, Parsed};
use crate::glue::GlueDestination;
use crate::grammar::query::{self, Purpose};
use crate::grammar::scheme::{self, Scheme};
use crate::grammar::{self, percent, value};
use crate::mask::{self, Text};
use crate::partition::PartitionField;
use crate::rest::RestDestination;
use crate::root::RootDestination;
use crate::secret::Secret;
use crate::write::{Length, UriWriter};

/// Where rows are written: a table in a catalog or at a bare location, with what is needed to
/// reach it.
///
/// `Display` and `Debug` print the URI with `<redacted>` for each secret. Without secrets,
/// parsing what is displayed gives an equal destination; with them it is refused, since the
/// placeholder is no secret.
///
/// ```
/// use calve_uri::{Destination, Mode};
///
/// let uri = "iceberg+rest+https://catalog.example.com/api/sales.eu/orders\
///     ?warehouse=lake&credential=svc:s3cr3t&mode=overwrite";
/// let destination: Destination = uri.parse()?;
/// assert_eq!(destination.mode(), Mode::Overwrite);
/// assert_eq!(
///     destination.to_string(),
///     "iceberg+rest+https://catalog.example.com/api/sales.eu/orders\
///      ?warehouse=lake&credential=<redacted>&mode=overwrite",
/// );
/// assert_eq!(destination.to_uri_with_secrets().expose(), uri);
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Destination {
    /// A table in AWS Glue.
    Glue(GlueDestination),
    /// A table in an Iceberg REST catalog.
    Rest(RestDestination),
    /// A table at a location, without a catalog.
    Root(RootDestination),
}

impl Destination {
    /// The partition fields asked for; empty when the URI asks for none.
    #[must_use]
    pub fn partition(&self) -> &[PartitionField] {
        match self {
            Self::Glue(glue) => glue.partition(),
            Self::Rest(rest) => rest.partition(),
            Self::Root(root) => root.partition(),
        }
    }

    /// What becomes of the rows that are there already.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self {
            Self::Glue(glue) => glue.mode(),
            Self::Rest(rest) => rest.mode(),
            Self::Root(root) => root.mode(),
        }
    }

    /// The whole URI, secrets included: the one printed form that parses back when there are any.
    #[must_use]
    pub fn to_uri_with_secrets(&self) -> Secret {
        self.uri(Purpose::Write)
    }

    /// The whole URI for a write or a scan, secrets included.
    pub(crate) fn uri(&self, purpose: Purpose) -> Secret {
        written(|out| self.write(&mut UriWriter::with_secrets(out).purpose(purpose)))
    }

    pub(crate) fn write(&self, uri: &mut UriWriter<'_>) -> fmt::Result {
        match self {
            Self::Glue(glue) => glue.write(uri),
            Self::Rest(rest) => rest.write(uri),
            Self::Root(root) => root.write(uri),
        }
    }

    /// The same table, with nothing in it that belongs to a write.
    pub(crate) fn for_scan(self) -> Self {
        match self {
            Self::Glue(glue) => Self::Glue(glue.for_scan()),
            Self::Rest(rest) => Self::Rest(rest.for_scan()),
            Self::Root(root) => Self::Root(root.for_scan()),
        }
    }

    /// What may be shown of what a builder has put together so far.
    pub(crate) fn masked(&self) -> String {
        let text = written(|out| self.write(&mut UriWriter::redacted(out)));
        mask::masked(text.expose(), Text::Unchecked, None)
    }

    /// Checks what a builder has put together by reading it as the URI it would be.
    ///
    /// First without its secrets, so that nothing else that is wrong says how long they are once encoded.
    pub(crate) fn checked(self) -> Result<Self, ParseError> {
        let open = written(|out| self.write(&mut UriWriter::stand_ins(out)));
        let open = open.expose();
        self.has_no_parameters(open).map_err(|fault| ParseError::new(open, Text::Unchecked, *fault))?;
        let without = parse(open, Purpose::Write, Text::Unchecked)?;
        let uri = self.to_uri_with_secrets();
        if uri.expose() == open {
            return Ok(without);
        }
        parse(uri.expose(), Purpose::Write, Text::Unchecked).map_err(|error| {
            let param = mask::param_at(uri.expose(), error.offset());
            let at = param.and_then(|param| mask::value_of(open, param)).unwrap_or(open.len());
            let fault = Fault::new(error.kind(), &open[at..], error.expected().to_owned());
            ParseError::new(open, Text::Unchecked, *fault)
        })
    }

    /// Refuses parameters on the location or the address that a builder was given. `uri`, which is
    /// what this makes, has their marks encoded, as if they were part of a name.
    fn has_no_parameters<'a>(&self, uri: &'a str) -> Parsed<'a, ()> {
        let (given, set) = match self {
            Self::Glue(glue) => (glue.warehouse(), percent::PATH),
            Self::Root(root) => (root.location(), percent::PATH),
            Self::Rest(rest) => (rest.endpoint(), percent::URL),
        };
        if !given.contains("://") {
            let at = uri.find("://").unwrap_or(uri.len());
            return Err(Fault::new(ErrorKind::UnknownScheme, &uri[at..], WITH_SCHEME));
        }
        if let (Some((_, given)), Some((_, written))) = (given.split_once("://"), uri.split_once("://")) {
            let refused = match self {
                Self::Rest(_) => query::no_query(given),
                _ => query::no_parameters(given),
            };
            refused.map_err(|fault| {
                let before = &given[..nom::Offset::offset(given, fault.at)];
                fault.moved(&written[utf8_percent_encode(before, set).map(str::len).sum::<usize>()..])
            })?;
        }
        if let Self::Rest(rest) = self
            && let Some(location) = rest.warehouse_location()
        {
            let value = uri.split_once("?warehouse=").map_or(uri, |(_, value)| value);
            query::no_parameters(location).map_err(|fault| fault.moved(value))?;
        }
        Ok(())
    }
}

/// What `write` writes, which may be secret: it is measured first, since a buffer that grew would
/// leave copies behind.
fn written(write: impl Fn(&mut dyn fmt::Write) -> fmt::Result) -> Secret {
    let mut length = Length::default();
    // Neither writer can fail.
    let _ = write(&mut length);
    let mut text = String::with_capacity(length.0);
    let _ = write(&mut text);
    Secret::new(text)
}

/// The destination that all of `text` is.
#[inline]
pub(crate) fn parse(text: &str, purpose: Purpose, shape: Text) -> Result<Destination, ParseError> {
    grammar::whole(text, shape, |text| unchecked(text, purpose, shape), drop)
}

/// As [`parse`], without a look at control characters and white space around the text.
///
/// What is made is large: it is written once, where the caller wants it, since to copy what has only
/// just been written stalls.
fn unchecked(text: &str, purpose: Purpose, shape: Text) -> Result<Destination, ParseError> {
    match destination(text, purpose) {
        Ok(destination) => Ok(destination),
        Err(fault) => Err(ParseError::new(text, shape, *fault)),
    }
}

/// `destination = glue / rest / root / local`
#[inline]
fn destination(input: &str, purpose: Purpose) -> Parsed<'_, Destination> {
    let (rest, scheme) = scheme::destination(input)?;
    let hierarchy = grammar::hierarchy(input, rest)?;
    match scheme {
        Scheme::Glue => GlueDestination::parse(&hierarchy, purpose).map(Destination::Glue),
        Scheme::Rest(http) => RestDestination::parse(http, &hierarchy, purpose).map(Destination::Rest),
        Scheme::Root(store) => RootDestination::parse(store, &hierarchy, purpose).map(Destination::Root),
        Scheme::Local => RootDestination::parse_local(&hierarchy, purpose).map(Destination::Root),
    }
}

const WITH_SCHEME: &str =
    "a location or an address with its scheme, such as s3://bucket/path or https://host";

impl FromStr for Destination {
    type Err = ParseError;

    /// # Errors
    /// When the text breaks the grammar; see [`ErrorKind`](crate::ErrorKind) for each rule.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, Purpose::Write, Text::Destination)
    }
}

impl TryFrom<&str> for Destination {
    type Error = ParseError;

    fn try_from(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut UriWriter::redacted(f))
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glue(glue) => fmt::Debug::fmt(glue, f),
            Self::Rest(rest) => fmt::Debug::fmt(rest, f),
            Self::Root(root) => fmt::Debug::fmt(root, f),
        }
    }
}

/// What becomes of the rows that a table holds when others are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// They stay.
    #[default]
    Append,
    /// The new rows replace them in one snapshot; earlier snapshots stay readable.
    Overwrite,
}

impl FromStr for Mode {
    type Err = ParseError;

    /// # Errors
    /// When the text is neither `append` nor `overwrite`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        value::mode(text).map_err(|fault| ParseError::new(text, Text::Value, *fault))
    }
}

impl TryFrom<&str> for Mode {
    type Error = ParseError;

    fn try_from(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

/// As the `mode` parameter spells it.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Append => "append",
            Self::Overwrite => "overwrite",
        })
    }
}
