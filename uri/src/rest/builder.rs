use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{OAUTH2_SERVER_URI, REGION, RestDestination, SCOPE, without_version};
use crate::access::AccessDelegation;
use crate::destination::{Destination, Mode};
use crate::error::ParseError;
use crate::packed::Packed;
use crate::partition::PartitionField;
use crate::secret::{AwsCredentials, ClientCredential, Secret};

/// Puts a [`RestDestination`] together; nothing is checked before [`build`](RestBuilder::build).
#[derive(Clone)]
#[must_use]
pub struct RestBuilder(RestDestination);

/// Masked like an error: nothing is known of the parts yet.
impl fmt::Debug for RestBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RestBuilder({})", Destination::Rest(self.0.clone()).masked())
    }
}

impl RestDestination {
    /// Starts a destination from its parts.
    ///
    /// `endpoint` is a URL, percent-encoded where it has to be; a slash and one `/v1` at its end
    /// are taken off, and a query or a fragment is refused. A warehouse that is a location takes no
    /// parameters, by the rule for a [`TableRef`](crate::TableRef). The levels of the namespace, the table and the warehouse are not encoded.
    pub fn builder(
        endpoint: impl AsRef<str>,
        namespace: impl IntoIterator<Item = impl Into<String>>,
        table: impl AsRef<str>,
        warehouse: impl AsRef<str>,
    ) -> RestBuilder {
        let endpoint = endpoint.as_ref();
        let endpoint = endpoint.strip_suffix('/').unwrap_or(endpoint);
        let endpoint = without_version(endpoint).unwrap_or(endpoint);
        let (table, warehouse) = (table.as_ref(), warehouse.as_ref());
        RestBuilder(Self {
            texts: Packed::new([Some(endpoint), Some(table), Some(warehouse), None, None, None]),
            namespace: namespace.into_iter().map(Into::into).collect(),
            credential: None,
            token: None,
            access_delegation: AccessDelegation::default(),
            aws_credentials: None,
            partition: Vec::new(),
            mode: Mode::default(),
        })
    }
}

impl RestBuilder {
    /// Sets the OAuth2 client credential, `client_id:client_secret` or the secret alone.
    pub fn credential(mut self, credential: impl Into<Secret>) -> Self {
        self.0.credential = Some(ClientCredential::unchecked(credential.into()));
        self
    }

    /// Sets a bearer token.
    pub fn token(mut self, token: impl Into<Secret>) -> Self {
        self.0.token = Some(token.into());
        self
    }

    /// Sets the OAuth2 scopes, separated by single spaces.
    pub fn scope(mut self, scope: impl AsRef<str>) -> Self {
        self.0.texts = self.0.texts.with(SCOPE, scope.as_ref());
        self
    }

    /// Sets the token endpoint.
    pub fn oauth2_server_uri(mut self, uri: impl AsRef<str>) -> Self {
        self.0.texts = self.0.texts.with(OAUTH2_SERVER_URI, uri.as_ref());
        self
    }

    /// Sets how the server is asked to give access to the storage.
    pub fn access_delegation(mut self, delegation: AccessDelegation) -> Self {
        self.0.access_delegation = delegation;
        self
    }

    /// Sets the AWS region of the storage.
    pub fn region(mut self, region: impl AsRef<str>) -> Self {
        self.0.texts = self.0.texts.with(REGION, region.as_ref());
        self
    }

    /// Sets credentials for the storage.
    pub fn aws_credentials(mut self, credentials: AwsCredentials) -> Self {
        self.0.aws_credentials = Some(Box::new(credentials));
        self
    }

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
    pub fn build(self) -> Result<RestDestination, ParseError> {
        match Destination::Rest(self.0).checked()? {
            Destination::Rest(rest) => Ok(rest),
            _ => unreachable!("the scheme written is iceberg+rest"),
        }
    }
}
