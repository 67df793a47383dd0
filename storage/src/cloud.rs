//! S3, Google Cloud Storage and Azure, set up from the environment and from properties that win over
//! it.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{
    AmazonS3Builder, AmazonS3ConfigKey, AwsCredential, AwsCredentialProvider, S3ConditionalPut,
};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig, StaticCredentialProvider};

use crate::clients::SharedClients;
use crate::{Error, ErrorKind, Location, Result, Scheme, StoreProperties};

/// The store of a cloud location, and the endpoint it speaks to where that is not the provider's own.
pub(crate) fn open(
    location: &Location,
    properties: &StoreProperties,
) -> Result<(Arc<dyn ObjectStore>, Option<String>)> {
    // A role is of S3 and Glue; other stores pass it by, as they do keys of S3.
    let assumes = location.scheme() == Scheme::S3 && properties.get("client.assume-role.arn").is_some();
    if cfg!(not(feature = "aws")) && assumes {
        let why = "to assume a role needs calve built with its feature `aws`";
        return Err(Error::new(ErrorKind::Unsupported, format!("{location} can't be opened: {why}")));
    }
    let opened = match location.scheme() {
        Scheme::S3 => s3(location, properties),
        Scheme::Gcs => gcs(location, properties),
        Scheme::Azure => azure(location, properties),
        Scheme::File | Scheme::Memory => unreachable!("these are no cloud stores"),
    };
    opened.map_err(|e| {
        let why = crate::error::without_queries(&e.to_string());
        Error::new(ErrorKind::Location, format!("{location} can't be opened: {why}"))
    })
}

type Opened = object_store::Result<(Arc<dyn ObjectStore>, Option<String>)>;

fn s3(location: &Location, properties: &StoreProperties) -> Opened {
    let mut builder = AmazonS3Builder::from_env()
        .with_http_connector(SharedClients)
        .with_bucket_name(location.bucket())
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_retry(retries());
    let endpoint = given(properties.get("s3.endpoint"))
        .or_else(|| variable("AWS_ENDPOINT_URL_S3"))
        .or_else(|| variable("AWS_ENDPOINT_URL"));
    let plain = endpoint.as_deref().is_some_and(|e| e.starts_with("http://"));
    if let Some(endpoint) = &endpoint {
        // The builder prefers the variable of the service to what it is told.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint.trim_end_matches('/'));
    }
    let region = given(properties.get("s3.region"))
        .or_else(|| given(properties.get("client.region")))
        .or_else(|| variable("AWS_REGION"));
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    let path_style = match properties.get("s3.path-style-access") {
        Some(_) => properties.is_true("s3.path-style-access"),
        None => match variable("AWS_S3_FORCE_PATH_STYLE") {
            Some(forced) => forced.eq_ignore_ascii_case("true") || forced == "1",
            // A name before the host resolves at Amazon, and hardly ever at an endpoint of one's own. A
            // dot in the bucket's name breaks the certificate.
            None => plain || endpoint.is_some() || location.bucket().contains('.'),
        },
    };
    builder = builder.with_virtual_hosted_style_request(!path_style);
    if let Some(credentials) = found_by_sdk(properties) {
        builder = builder.with_credentials(credentials);
    } else if let (Some(id), Some(key)) =
        (properties.get("s3.access-key-id"), properties.get("s3.secret-access-key"))
    {
        // As a whole: a session of the environment does not go with these keys.
        let token = properties.get("s3.session-token").map(str::to_owned);
        let credential = AwsCredential { key_id: id.to_owned(), secret_key: key.to_owned(), token };
        builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(credential)));
    }
    if properties.is_true("s3.anonymous") {
        builder = builder.with_skip_signature(true);
    }
    builder = builder.with_client_options(client(plain));
    Ok((Arc::new(builder.build()?), endpoint))
}

/// Credentials that object_store does not find by itself.
#[cfg(feature = "aws")]
fn found_by_sdk(properties: &StoreProperties) -> Option<AwsCredentialProvider> {
    let asked = crate::aws::Asked::of(properties)?;
    Some(crate::aws::SdkCredentials::shared(asked))
}

#[cfg(not(feature = "aws"))]
fn found_by_sdk(_: &StoreProperties) -> Option<AwsCredentialProvider> {
    None
}

fn gcs(location: &Location, properties: &StoreProperties) -> Opened {
    let endpoint = given(properties.get("gcs.service.path"));
    let plain = endpoint.as_deref().is_some_and(|e| e.starts_with("http://"));
    let mut builder = GoogleCloudStorageBuilder::from_env()
        .with_http_connector(SharedClients)
        .with_bucket_name(location.bucket())
        .with_retry(retries())
        .with_client_options(client(plain));
    if let Some(endpoint) = &endpoint {
        builder = builder.with_base_url(endpoint.trim_end_matches('/'));
    }
    if let Some(bearer) = properties.get("gcs.oauth2.token") {
        let credential = GcpCredential { bearer: bearer.to_owned() };
        builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(credential)));
    } else if plain {
        builder = builder.with_skip_signature(true);
    }
    Ok((Arc::new(builder.build()?), endpoint))
}

fn azure(location: &Location, properties: &StoreProperties) -> Opened {
    let (container, host) = match location.bucket().split_once('@') {
        Some((container, host)) => (container, Some(host)),
        None => (location.bucket(), None),
    };
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_http_connector(SharedClients)
        .with_container_name(container)
        .with_retry(retries());
    let of_host = host.and_then(|host| host.split('.').next());
    let account = of_host.map(str::to_owned).or_else(|| given(properties.get("adls.account-name")));
    if let Some(account) = &account {
        builder = builder.with_account(account);
    }
    if host.is_some_and(|host| host.ends_with(".fabric.microsoft.com")) {
        builder = builder.with_use_fabric_endpoint(true);
    }
    let endpoint = given(properties.get("adls.endpoint")).or_else(|| variable("AZURE_STORAGE_ENDPOINT"));
    let plain = endpoint.as_deref().is_some_and(|e| e.starts_with("http://"));
    if let Some(endpoint) = &endpoint {
        builder = builder.with_endpoint(endpoint.trim_end_matches('/').to_owned());
    }
    if let Some(key) = properties.get("adls.account-key") {
        builder = builder.with_access_key(key);
    }
    for (key, property) in [
        (AzureConfigKey::AuthorityId, "adls.tenant-id"),
        (AzureConfigKey::ClientId, "adls.client-id"),
        (AzureConfigKey::ClientSecret, "adls.client-secret"),
    ] {
        if let Some(value) = properties.get(property) {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(signature) = shared_access(properties, account.as_deref(), host) {
        builder = builder.with_config(AzureConfigKey::SasKey, signature);
    }
    builder = builder.with_client_options(client(plain));
    Ok((Arc::new(builder.build()?), endpoint))
}

/// The shared access signature for an account: servers name it by account or by host.
fn shared_access<'a>(
    properties: &'a StoreProperties,
    account: Option<&str>,
    host: Option<&str>,
) -> Option<&'a str> {
    let of_account =
        properties.below("adls.sas-token.").find(|(name, _)| Some(*name) == account || Some(*name) == host);
    of_account.map(|(_, value)| value).or_else(|| properties.get("adls.sas-token"))
}

fn client(plain: bool) -> ClientOptions {
    ClientOptions::new()
        .with_allow_http(plain)
        .with_connect_timeout(Duration::from_secs(5))
        .with_timeout(Duration::from_secs(60))
}

/// Bounded, so that a store that is gone is an error within a minute.
fn retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 6, retry_timeout: Duration::from_secs(40) }
}

fn given(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn variable(name: &str) -> Option<String> {
    given(env::var(name).ok().as_deref())
}

#[cfg(test)]
mod tests {
    use super::open;
    use crate::{ErrorKind, StoreProperties};

    /// Also run without the feature `aws`: each of the two outcomes has its build.
    #[test]
    fn a_role_is_of_s3_and_needs_the_feature_that_assumes_it() {
        let role = [("client.assume-role.arn", "arn:aws:iam::123456789012:role/w")];
        let role: StoreProperties = role.into_iter().collect();
        let opened = |location: &str| open(&location.parse().expect("a location"), &role).map(drop);
        let refused = opened("s3://bucket/t").err().map(|error| (error.kind(), error.to_string()));
        assert_eq!(refused.is_none(), cfg!(feature = "aws"), "{refused:?}");
        if let Some((kind, message)) = refused {
            assert_eq!(kind, ErrorKind::Unsupported);
            assert!(message.ends_with("needs calve built with its feature `aws`"), "{message}");
        }
        assert!(opened("gs://bucket/t").is_ok());
        assert!(opened("abfss://box@account.dfs.core.windows.net/t").is_ok());
    }
}
