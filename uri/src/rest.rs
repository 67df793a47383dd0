mod builder;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use percent_encoding::utf8_percent_encode;

use crate::access::AccessDelegation;
use crate::destination::{Destination, Mode};
use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::query::{Form, Param, Params, Purpose};
use crate::grammar::scheme::Http;
use crate::grammar::{Hierarchy, authority, path, percent, value};
use crate::packed::Packed;
use crate::partition::PartitionField;
use crate::secret::{AwsCredentials, ClientCredential, Secret};
use crate::write::UriWriter;

pub use builder::RestBuilder;

/// A table in an Iceberg REST catalog.
///
/// ```
/// use calve_uri::{Destination, RestDestination};
///
/// let Destination::Rest(parsed) = "iceberg+rest+https://catalog.example.com/v1/sales.eu/orders\
///     ?warehouse=lake&credential=svc:s3cr3t".parse()? else { unreachable!() };
/// assert_eq!(parsed.endpoint(), "https://catalog.example.com");
/// assert_eq!(parsed.namespace(), ["sales", "eu"]);
/// assert_eq!(parsed.credential().and_then(|c| c.client_id()), Some("svc"));
///
/// let built = RestDestination::builder(
///     "https://catalog.example.com", ["sales", "eu"], "orders", "lake",
/// )
/// .credential("svc:s3cr3t")
/// .build()?;
/// assert_eq!(built, parsed);
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RestDestination {
    texts: Packed<6>,
    namespace: Vec<String>,
    credential: Option<ClientCredential>,
    token: Option<Secret>,
    access_delegation: AccessDelegation,
    aws_credentials: Option<Box<AwsCredentials>>,
    partition: Vec<PartitionField>,
    mode: Mode,
}

impl RestDestination {
    /// The catalog's address, to which `/v1/…` is appended: percent-encoded as it was given,
    /// without a slash at the end, and without one `/v1` that was.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        self.texts.required(ENDPOINT)
    }

    /// The levels of the namespace, at least one.
    #[must_use]
    pub fn namespace(&self) -> &[String] {
        &self.namespace
    }

    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        self.texts.required(TABLE)
    }

    /// A name that the server knows, or a storage location under which new tables go.
    ///
    /// A location has no slash at the end; see [`warehouse_location`](Self::warehouse_location).
    #[must_use]
    pub fn warehouse(&self) -> &str {
        self.texts.required(WAREHOUSE)
    }

    /// The warehouse, if it is a storage location.
    #[must_use]
    pub fn warehouse_location(&self) -> Option<&str> {
        self.warehouse().contains("://").then_some(self.warehouse())
    }

    /// What to get an OAuth2 token with.
    #[must_use]
    pub fn credential(&self) -> Option<&ClientCredential> {
        self.credential.as_ref()
    }

    /// A bearer token, which wins over a credential.
    #[must_use]
    pub fn token(&self) -> Option<&Secret> {
        self.token.as_ref()
    }

    /// The OAuth2 scopes to ask for, separated by spaces, if the URI names any.
    #[must_use]
    pub fn scope(&self) -> Option<&str> {
        self.texts.get(SCOPE)
    }

    /// The token endpoint, byte for byte, if the URI names one.
    #[must_use]
    pub fn oauth2_server_uri(&self) -> Option<&str> {
        self.texts.get(OAUTH2_SERVER_URI)
    }

    /// How the server is asked to give access to the storage.
    #[must_use]
    pub fn access_delegation(&self) -> AccessDelegation {
        self.access_delegation
    }

    /// The AWS region of the storage.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.texts.get(REGION)
    }

    /// Credentials for the storage, to use instead of ambient ones.
    #[must_use]
    pub fn aws_credentials(&self) -> Option<&AwsCredentials> {
        self.aws_credentials.as_deref()
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

    /// `rest = "iceberg+rest+" http "://" http-authority path "/" namespace "/" segment "?" query`
    #[inline]
    pub(crate) fn parse<'a>(http: Http, hierarchy: &Hierarchy<'a>, purpose: Purpose) -> Parsed<'a, Self> {
        let address = authority::http(hierarchy.authority)?;
        let Some((above, namespace, table)) = path::last_two(hierarchy.path) else {
            path::path(hierarchy.path)?;
            let end = &hierarchy.path[hierarchy.path.len()..];
            return Err(Fault::new(ErrorKind::MissingSegment, end, "/{namespace}/{table}"));
        };
        path::path(above)?;
        let namespace = path::namespace(namespace)?;
        let table = path::segment(table)?;
        let mut params = Params::new(hierarchy);
        params.read(hierarchy, Form::Rest, purpose)?;
        let warehouse = value::warehouse(&params)?;
        let scope = value::scope(&params)?;
        let oauth2_server_uri = value::oauth2_server_uri(&params)?;
        let region = value::region(&params)?;
        Ok(Self {
            access_delegation: value::access_delegation(&params)?,
            partition: value::partition(&params)?,
            mode: value::mode_or_default(&params)?,
            // After all that does not depend on what a secret holds.
            aws_credentials: value::aws_credentials(&params)?.map(Box::new),
            credential: value::credential(&params)?,
            token: value::token(&params)?,
            // Last: until all is accepted, nothing is copied that is not zeroed.
            texts: Packed::new([
                Some(&endpoint(http, hierarchy, &address, above)),
                Some(&table),
                Some(&warehouse),
                scope.as_deref(),
                oauth2_server_uri.as_deref(),
                region.as_deref(),
            ]),
            namespace: namespace.take(),
        })
    }

    /// Without what belongs to a write.
    pub(crate) fn for_scan(self) -> Self {
        Self { partition: Vec::new(), mode: Mode::default(), ..self }
    }

    pub(crate) fn write(&self, uri: &mut UriWriter<'_>) -> fmt::Result {
        uri.raw("iceberg+rest+")?;
        uri.encoded(self.endpoint(), percent::URL)?;
        if without_version(self.endpoint()).is_some() {
            // One is taken off when this is read again.
            uri.raw(VERSION)?;
        }
        uri.raw("/")?;
        for (i, level) in self.namespace.iter().enumerate() {
            uri.raw(if i == 0 { "" } else { "." })?;
            uri.encoded(level, percent::LEVEL)?;
        }
        uri.segment(self.table())?;
        uri.param(Param::Warehouse, Some(self.warehouse()))?;
        uri.secret(Param::Credential, self.credential().map(ClientCredential::whole))?;
        uri.secret(Param::Token, self.token())?;
        uri.param(Param::Scope, self.scope())?;
        uri.param(Param::Oauth2ServerUri, self.oauth2_server_uri())?;
        let delegation = self.access_delegation;
        let asked = delegation != AccessDelegation::default();
        uri.param(Param::AccessDelegation, asked.then_some(delegation))?;
        uri.param(Param::Region, self.region())?;
        uri.aws_credentials(self.aws_credentials())?;
        uri.plan(&self.partition, self.mode)
    }
}

/// What comes before one `/v1` at the end of an address's path.
fn without_version(endpoint: &str) -> Option<&str> {
    // A host may be named `v1`.
    endpoint.strip_suffix(VERSION).filter(|rest| !rest.ends_with('/'))
}

/// The canonical address: lower-case host, port without leading zeros, path encoded where a URL
/// asks for it, one `/v1` taken off. A piece of the URI, if it is written like that.
fn endpoint<'a>(
    http: Http,
    hierarchy: &Hierarchy<'a>,
    address: &authority::Endpoint<'_>,
    path: &str,
) -> Cow<'a, str> {
    let path = path.strip_suffix(VERSION).unwrap_or(path);
    let encoded = Cow::from(utf8_percent_encode(path, percent::URL));
    let plain = matches!(encoded, Cow::Borrowed(_))
        && address.port.is_none()
        && !address.host.bytes().any(|b| b.is_ascii_uppercase());
    if plain && let Some(text) = hierarchy.since_prefix(http.prefix(), path) {
        return Cow::Borrowed(text);
    }
    let mut endpoint = String::from(http.prefix());
    endpoint.extend(address.host.chars().map(|c| c.to_ascii_lowercase()));
    if let Some(port) = address.port {
        // A `String` takes whatever is written.
        let _ = write!(endpoint, ":{port}");
    }
    endpoint.push_str(&encoded);
    Cow::Owned(endpoint)
}

// Places in `texts`.
const ENDPOINT: usize = 0;
const TABLE: usize = 1;
const WAREHOUSE: usize = 2;
const SCOPE: usize = 3;
const OAUTH2_SERVER_URI: usize = 4;
const REGION: usize = 5;

const VERSION: &str = "/v1";

impl fmt::Display for RestDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut UriWriter::redacted(f))
    }
}

impl fmt::Debug for RestDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RestDestination({self})")
    }
}

impl From<RestDestination> for Destination {
    fn from(rest: RestDestination) -> Self {
        Self::Rest(rest)
    }
}
