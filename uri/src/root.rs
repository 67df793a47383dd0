use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::destination::{Destination, Mode};
use crate::error::{ErrorKind, Fault, ParseError, Parsed};
use crate::grammar::query::{Form, Params, Purpose};
use crate::grammar::scheme::Store;
use crate::grammar::{Hierarchy, authority, path, percent, value};
use crate::partition::PartitionField;
use crate::write::UriWriter;

/// A table at a location, whose metadata lies beside its data and which no catalog knows.
///
/// ```
/// use calve_uri::{Destination, RootDestination};
///
/// let Destination::Root(parsed) = "iceberg+local:///data/my%20lake/events".parse()? else {
///     unreachable!()
/// };
/// assert_eq!(parsed.location(), "file:///data/my lake/events");
/// assert_eq!(RootDestination::builder("file:///data/my lake/events").build()?, parsed);
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RootDestination {
    location: String,
    partition: Vec<PartitionField>,
    mode: Mode,
}

impl RootDestination {
    /// Starts a destination from its location, not encoded: `s3://lake/events`,
    /// `file:///data/events`, also spelt `/data/events`, `file:/data/events` or
    /// `file://localhost/data/events`. It takes no parameters, by the rule for a
    /// [`TableRef`](crate::TableRef).
    pub fn builder(location: impl Into<String>) -> RootBuilder {
        let mut location = location.into();
        if let Some(path) = local_path(&location) {
            location = format!("file://{path}");
        }
        if location.ends_with('/') {
            location.pop();
        }
        RootBuilder(Self { location, partition: Vec::new(), mode: Mode::default() })
    }

    /// The table's root, as Iceberg stores locations: decoded, without a slash at the end, local
    /// ones with three slashes.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The partition fields asked for.
    #[must_use]
    pub fn partition(&self) -> &[PartitionField] {
        &self.partition
    }

    /// What becomes of the rows that are there already.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// `root = "iceberg+file+" store "://" authority 1*( "/" segment ) [ "?" query ]`
    ///
    /// `authority = s3-bucket / gs-bucket / abfs-authority / container / file-host`
    #[inline]
    pub(crate) fn parse<'a>(store: Store, hierarchy: &Hierarchy<'a>, purpose: Purpose) -> Parsed<'a, Self> {
        authority::store(store, hierarchy.authority)?;
        if hierarchy.path.is_empty() {
            return Err(Fault::new(ErrorKind::MissingSegment, hierarchy.path, "/{path}/{table}"));
        }
        let location = path::location(store, hierarchy, hierarchy.path)?;
        if location.ends_with(char::is_whitespace) {
            let expected = "no white space at the end, encoded or not";
            return Err(Fault::new(ErrorKind::SurroundingSpace, hierarchy.end_of_path(), expected));
        }
        let mut params = Params::new(hierarchy);
        params.read(hierarchy, Form::Root, purpose)?;
        Ok(Self {
            partition: value::partition(&params)?,
            mode: value::mode_or_default(&params)?,
            // Last: until all is accepted, nothing is copied that is not zeroed.
            location: location.into_string(),
        })
    }

    /// `local = "iceberg+local://" 1*( "/" segment ) [ "?" query ]`
    pub(crate) fn parse_local<'a>(hierarchy: &Hierarchy<'a>, purpose: Purpose) -> Parsed<'a, Self> {
        if hierarchy.authority.contains('@') {
            return Err(authority::userinfo(hierarchy.authority));
        }
        if !hierarchy.authority.is_empty() {
            let expected = "an absolute path: iceberg+local:///path/table";
            return Err(Fault::new(ErrorKind::RelativePath, hierarchy.authority, expected));
        }
        Self::parse(Store::File, hierarchy, purpose)
    }

    /// Without what belongs to a write.
    pub(crate) fn for_scan(self) -> Self {
        Self { partition: Vec::new(), mode: Mode::default(), ..self }
    }

    pub(crate) fn write(&self, uri: &mut UriWriter<'_>) -> fmt::Result {
        match self.location.strip_prefix("file://") {
            Some(path) => {
                uri.raw("iceberg+local://")?;
                uri.encoded(path, percent::PATH)?;
            }
            None => {
                uri.raw("iceberg+file+")?;
                uri.location(&self.location)?;
            }
        }
        uri.plan(&self.partition, self.mode)
    }
}

impl fmt::Display for RootDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut UriWriter::redacted(f))
    }
}

impl fmt::Debug for RootDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RootDestination({self})")
    }
}

impl From<RootDestination> for Destination {
    fn from(root: RootDestination) -> Self {
        Self::Root(root)
    }
}

/// The path of a local location, however it is spelt.
fn local_path(location: &str) -> Option<&str> {
    if location.starts_with('/') && !location.starts_with("//") {
        return Some(location);
    }
    let (scheme, rest) = location.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/')?);
            (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then_some(path)?
        }
        None => rest,
    };
    path.starts_with('/').then_some(path)
}

/// Puts a [`RootDestination`] together; nothing is checked before [`build`](RootBuilder::build).
#[derive(Clone)]
#[must_use]
pub struct RootBuilder(RootDestination);

/// Masked like an error: nothing is known of the parts yet.
impl fmt::Debug for RootBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RootBuilder({})", Destination::Root(self.0.clone()).masked())
    }
}

impl RootBuilder {
    /// Sets the partition fields.
    pub fn partition(mut self, fields: impl IntoIterator<Item = PartitionField>) -> Self {
        self.0.partition = fields.into_iter().collect();
        self
    }

    /// Sets what becomes of the rows that are there already.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.0.mode = mode;
        self
    }

    /// Checks the whole.
    ///
    /// # Errors
    /// As parsing the URI that the parts make; the offset is one in that URI.
    pub fn build(self) -> Result<RootDestination, ParseError> {
        match Destination::Root(self.0).checked()? {
            Destination::Root(root) => Ok(root),
            _ => unreachable!("the scheme written is one of a root"),
        }
    }
}
