use calve_catalog::{NamespaceIdent, Result, TableIdent};
use calve_uri::RestDestination;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The addresses of one catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    endpoint: String,
    prefix: Option<String>,
    separator: String,
}

impl Paths {
    /// The catalog at `endpoint`: a trailing slash and one trailing `/v1` make no difference.
    pub fn new(endpoint: &str) -> Self {
        let endpoint = endpoint.trim_end_matches('/');
        let endpoint = endpoint.strip_suffix("/v1").unwrap_or(endpoint);
        Self { endpoint: endpoint.to_owned(), prefix: None, separator: "\u{1f}".to_owned() }
    }

    /// With the prefix the server asks for; slashes in it separate segments.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        let prefix = prefix.trim_matches('/');
        self.prefix = (!prefix.is_empty()).then(|| prefix.to_owned());
        self
    }

    /// With the separator of namespace levels the server advertises, decoded.
    #[must_use]
    pub fn namespace_separator(mut self, separator: &str) -> Self {
        self.separator = separator.to_owned();
        self
    }

    /// The configuration of a warehouse; never prefixed.
    pub fn config(&self, warehouse: &str) -> String {
        format!("{}/v1/config?warehouse={}", self.endpoint, encode(warehouse))
    }

    /// The namespaces.
    pub fn namespaces(&self) -> String {
        let prefix =
            self.prefix.iter().flat_map(|p| p.split('/')).map(|segment| format!("/{}", encode(segment)));
        format!("{}/v1{}/namespaces", self.endpoint, prefix.collect::<String>())
    }

    /// One namespace.
    pub fn namespace(&self, namespace: &NamespaceIdent) -> String {
        format!("{}/{}", self.namespaces(), encode(&namespace.as_ref().join(&self.separator)))
    }

    /// One table.
    pub fn table(&self, table: &TableIdent) -> String {
        format!("{}/tables/{}", self.namespace(table.namespace()), encode(table.name()))
    }
}

/// The name of a destination's table.
///
/// # Errors
/// [`calve_catalog::ErrorKind::Input`] when the namespace is no namespace.
pub fn table_ident(rest: &RestDestination) -> Result<TableIdent> {
    let namespace = NamespaceIdent::from_vec(rest.namespace().to_vec())
        .map_err(|e| calve_catalog::Error::from_iceberg(calve_catalog::ErrorKind::Input, "namespace", e))?;
    Ok(TableIdent::new(namespace, rest.table().to_owned()))
}

/// The address of a destination's table, before the server has said anything.
pub fn table_url(rest: &RestDestination) -> String {
    let paths = Paths::new(rest.endpoint());
    match table_ident(rest) {
        Ok(table) => paths.table(&table),
        Err(_) => paths.namespaces(),
    }
}

fn encode(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

/// What a path segment keeps as it is: the unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    fn ident(levels: &[&str], table: &str) -> TableIdent {
        TableIdent::new(NamespaceIdent::from_strs(levels).expect("a namespace"), table.to_owned())
    }

    #[test]
    fn segments_are_encoded_once_and_never_as_a_form() {
        let paths = Paths::new("https://c/api/");
        assert_eq!(
            paths.table(&ident(&["a b", "c"], "t+1")),
            "https://c/api/v1/namespaces/a%20b%1Fc/tables/t%2B1"
        );
        let dotted = paths.namespace_separator(".");
        assert_eq!(
            dotted.namespace(ident(&["a b", "c"], "t").namespace()),
            "https://c/api/v1/namespaces/a%20b.c"
        );
    }

    #[test]
    fn an_endpoint_is_the_same_with_a_slash_or_a_version_at_its_end() {
        for endpoint in ["https://c/api", "https://c/api/", "https://c/api/v1", "https://c/api/v1/"] {
            assert_eq!(Paths::new(endpoint).namespaces(), "https://c/api/v1/namespaces", "{endpoint}");
        }
    }
}
