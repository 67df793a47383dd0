//! Credentials that the AWS SDK finds: profiles, single sign-on, credential processes, assumed roles.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use aws_config::environment::EnvironmentVariableRegionProvider;
use aws_config::meta::region::{ProvideRegion, RegionProviderChain};
use aws_config::profile::ProfileFileRegionProvider;
use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_smithy_http_client::tls;
use calve_uri::Secret;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use tokio::sync::Mutex as AsyncMutex;

use crate::StoreProperties;

/// Where credentials come from, as far as these are not found without the SDK.
///
/// Stores that ask for the same share what is found, and refresh it once for all of them.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    role: Option<Role>,
    /// Instead of those of the profile.
    base: Option<Keys>,
    region: Option<String>,
    profile: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Role {
    arn: String,
    external_id: Option<String>,
    session_name: String,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Keys {
    id: Secret,
    secret: Secret,
    token: Option<Secret>,
}

impl Asked {
    /// What the properties ask the SDK for: a role to assume, or, where no keys are given by them or by
    /// the environment, a profile.
    pub(crate) fn of(properties: &StoreProperties) -> Option<Self> {
        let text = |key: &str| properties.get(key).filter(|text| !text.is_empty()).map(str::to_owned);
        let role = text("client.assume-role.arn").map(|arn| Role {
            arn,
            external_id: text("client.assume-role.external-id"),
            session_name: text("client.assume-role.session-name").unwrap_or_else(|| "calve".to_owned()),
        });
        let secret = |key: &str| text(key).map(Secret::new);
        let base = match (secret("s3.access-key-id"), secret("s3.secret-access-key")) {
            (Some(id), Some(key)) => Some(Keys { id, secret: key, token: secret("s3.session-token") }),
            _ => None,
        };
        let found = base.is_some() || variable("AWS_ACCESS_KEY_ID").is_some();
        if role.is_none() && (found || !has_profiles()) {
            return None;
        }
        let region = text("client.region").or_else(|| text("s3.region"));
        Some(Self { role, base, region, profile: variable("AWS_PROFILE") })
    }

    async fn load(&self) -> SharedCredentialsProvider {
        let region = RegionProviderChain::first_try(self.region.clone().map(Region::new))
            .or_else(EnvironmentVariableRegionProvider::new())
            .or_else(ProfileFileRegionProvider::new())
            .or_else(Region::from_static("us-east-1"));
        let tls = tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring);
        let client = aws_smithy_http_client::Builder::new().tls_provider(tls).build_https();
        let mut config = aws_config::defaults(BehaviorVersion::latest()).http_client(client).region(region);
        if let Some(Keys { id, secret, token }) = &self.base {
            let token = token.as_ref().map(|token| token.expose().to_owned());
            let base = Credentials::new(id.expose(), secret.expose(), token, None, "given");
            config = config.credentials_provider(base);
        }
        let config: SdkConfig = config.load().await;
        let found = config.credentials_provider().expect("the default chain is always there");
        let Some(role) = &self.role else { return found };
        let mut assumed =
            AssumeRoleProvider::builder(&role.arn).session_name(&role.session_name).configure(&config);
        if let Some(id) = &role.external_id {
            assumed = assumed.external_id(id);
        }
        SharedCredentialsProvider::new(assumed.build().await)
    }
}

/// The region of the profile, where neither `properties` nor the environment names one.
pub(crate) async fn profile_region(properties: &StoreProperties) -> Option<String> {
    let given = ["s3.region", "client.region"].iter().any(|key| properties.get(key).is_some());
    let ambient = ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().any(|name| variable(name).is_some());
    if given || ambient || !has_profiles() {
        return None;
    }
    ProfileFileRegionProvider::new().region().await.map(|region| region.to_string())
}

/// Whether there is, or should be, a file with profiles.
fn has_profiles() -> bool {
    let named = ["AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"];
    let files = || {
        let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        home.is_some_and(|home| ["config", "credentials"].iter().any(|file| is_file(&home, file)))
    };
    named.iter().any(|name| variable(name).is_some()) || files()
}

fn is_file(home: &Path, file: &str) -> bool {
    home.join(".aws").join(file).is_file()
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|text| !text.is_empty())
}

/// Credentials of the SDK, held until they are about to expire.
pub(crate) struct SdkCredentials {
    asked: Asked,
    held: AsyncMutex<Held>,
}

#[derive(Default)]
struct Held {
    provider: Option<SharedCredentialsProvider>,
    credentials: Option<Fresh>,
}

struct Fresh {
    credential: Arc<AwsCredential>,
    refresh: Option<SystemTime>,
    expiry: Option<SystemTime>,
}

impl SdkCredentials {
    /// Those that the process has for `asked` already, or new ones.
    pub(crate) fn shared(asked: Asked) -> Arc<Self> {
        static SHARED: Mutex<Vec<Weak<SdkCredentials>>> = Mutex::new(Vec::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|credentials| credentials.strong_count() > 0);
        let found = shared.iter().filter_map(Weak::upgrade).find(|credentials| credentials.asked == asked);
        found.unwrap_or_else(|| {
            let new = Arc::new(Self { asked, held: AsyncMutex::default() });
            shared.push(Arc::downgrade(&new));
            new
        })
    }
}

#[async_trait]
impl CredentialProvider for SdkCredentials {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let mut held = self.held.lock().await;
        let now = SystemTime::now();
        if let Some(fresh) = &held.credentials
            && fresh.refresh.is_none_or(|refresh| now < refresh)
        {
            return Ok(Arc::clone(&fresh.credential));
        }
        if held.provider.is_none() {
            held.provider = Some(self.asked.load().await);
        }
        let Some(provider) = &held.provider else { unreachable!("it was just loaded") };
        match provider.provide_credentials().await {
            Ok(credentials) => {
                let fresh = Fresh::new(&credentials, now);
                let credential = Arc::clone(&fresh.credential);
                held.credentials = Some(fresh);
                Ok(credential)
            }
            Err(e) => match &mut held.credentials {
                // They are still good: the refresh came early so that it might fail.
                Some(fresh) if fresh.expiry.is_none_or(|expiry| now < expiry) => {
                    fresh.refresh = Some(now + AGAIN);
                    Ok(Arc::clone(&fresh.credential))
                }
                _ => Err(object_store::Error::Unauthenticated {
                    path: String::new(),
                    source: Box::new(NoCredentials::new(&self.asked, &e)),
                }),
            },
        }
    }
}

impl Fresh {
    fn new(credentials: &Credentials, now: SystemTime) -> Self {
        let expiry = credentials.expiry();
        // Long before they expire, since a request may take minutes, but not at once if they are short.
        let refresh = expiry.map(|expiry| {
            let life = expiry.duration_since(now).unwrap_or_default();
            now + life - EARLY.min(life / 2)
        });
        let credential = AwsCredential {
            key_id: credentials.access_key_id().to_owned(),
            secret_key: credentials.secret_access_key().to_owned(),
            token: credentials.session_token().map(str::to_owned),
        };
        Self { credential: Arc::new(credential), refresh, expiry }
    }
}

impl fmt::Debug for SdkCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SdkCredentials")
    }
}

/// Why there are no credentials, in words that may be shown.
#[derive(Debug)]
pub(crate) struct NoCredentials(String);

impl NoCredentials {
    fn new(asked: &Asked, error: &(dyn std::error::Error + 'static)) -> Self {
        let what = match (&asked.role, &asked.profile) {
            (Some(role), _) => format!("the role {} can't be assumed", role.arn),
            (None, Some(profile)) => format!("the AWS profile {profile} gives no credentials"),
            (None, None) => "no AWS credentials were found".to_owned(),
        };
        let mut why = String::new();
        let mut current = Some(error);
        while let Some(e) = current {
            let text = e.to_string();
            // Each tells its source's text again, or says nothing of its own.
            if !why.contains(&text) {
                why.push_str(": ");
                why.push_str(&text);
            }
            current = e.source();
        }
        Self(crate::error::without_queries(&format!("{what}{why}")))
    }
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoCredentials {}

/// How long before they expire credentials are refreshed.
const EARLY: Duration = Duration::from_secs(300);
/// How soon a refresh that failed is tried again, while the old ones last.
const AGAIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use aws_credential_types::provider::error::CredentialsError;
    use aws_credential_types::provider::future;
    use futures::future::join_all;

    use super::*;

    /// Gives numbered credentials that live so long, and fails from the given call on.
    #[derive(Debug)]
    struct Numbered {
        calls: Arc<AtomicU32>,
        life: Option<Duration>,
        fails_from: u32,
    }

    impl ProvideCredentials for Numbered {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            future::ProvideCredentials::new(async {
                tokio::task::yield_now().await;
                let call = self.calls.fetch_add(1, Relaxed) + 1;
                if call >= self.fails_from {
                    return Err(CredentialsError::not_loaded("the service is gone"));
                }
                let expiry = self.life.map(|life| SystemTime::now() + life);
                Ok(Credentials::new(call.to_string(), "hunter2", None, expiry, "test"))
            })
        }
    }

    fn credentials(life: Option<Duration>, fails_from: u32) -> (SdkCredentials, Arc<AtomicU32>) {
        let calls = Arc::<AtomicU32>::default();
        let provider = Numbered { calls: Arc::clone(&calls), life, fails_from };
        let held = Held { provider: Some(SharedCredentialsProvider::new(provider)), credentials: None };
        (SdkCredentials { asked: Asked::default(), held: AsyncMutex::new(held) }, calls)
    }

    async fn id(credentials: &SdkCredentials) -> String {
        credentials.get_credential().await.unwrap().key_id.clone()
    }

    /// Makes what is held this much older.
    async fn age(credentials: &SdkCredentials, by: Duration) {
        let mut held = credentials.held.lock().await;
        let fresh = held.credentials.as_mut().unwrap();
        fresh.refresh = fresh.refresh.map(|at| at - by);
        fresh.expiry = fresh.expiry.map(|at| at - by);
    }

    const HOUR: Duration = Duration::from_secs(3600);
    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn credentials_are_asked_for_once_until_minutes_before_they_expire() {
        let (credentials, calls) = credentials(Some(HOUR), u32::MAX);
        let ids = join_all((0..16).map(|_| id(&credentials))).await;
        assert!(ids.iter().all(|id| id == "1"), "{ids:?}");
        age(&credentials, 54 * MINUTE).await;
        assert_eq!(id(&credentials).await, "1");
        age(&credentials, 2 * MINUTE).await;
        let ids = join_all((0..16).map(|_| id(&credentials))).await;
        assert!(ids.iter().all(|id| id == "2"), "{ids:?}");
        assert_eq!(calls.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn short_credentials_are_refreshed_at_half_their_life_and_eternal_ones_never() {
        let (short, _) = credentials(Some(4 * MINUTE), u32::MAX);
        assert_eq!(id(&short).await, "1");
        age(&short, MINUTE).await;
        assert_eq!(id(&short).await, "1");
        age(&short, MINUTE).await;
        assert_eq!(id(&short).await, "2");
        let (eternal, calls) = credentials(None, u32::MAX);
        assert_eq!(id(&eternal).await, "1");
        assert_eq!(id(&eternal).await, "1");
        assert_eq!(calls.load(Relaxed), 1);
    }

    #[tokio::test]
    async fn a_refresh_that_fails_leaves_the_old_ones_in_use_until_they_expire() {
        let (credentials, calls) = credentials(Some(HOUR), 2);
        assert_eq!(id(&credentials).await, "1");
        age(&credentials, 56 * MINUTE).await;
        assert_eq!(id(&credentials).await, "1");
        // Not at once again.
        assert_eq!(id(&credentials).await, "1");
        assert_eq!(calls.load(Relaxed), 2);
        age(&credentials, 5 * MINUTE).await;
        let error = credentials.get_credential().await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(text.contains("the service is gone") && !text.contains("hunter2"), "{text}");
        assert_eq!(calls.load(Relaxed), 3);
    }

    #[test]
    fn stores_that_ask_alike_share_credentials_and_others_do_not() {
        let asked = |role: &str| {
            let properties = [
                ("client.assume-role.arn", role),
                ("s3.access-key-id", "id"),
                ("s3.secret-access-key", "hunter2"),
            ];
            Asked::of(&properties.into_iter().collect()).unwrap()
        };
        let one = SdkCredentials::shared(asked("arn:aws:iam::1:role/a"));
        let same = SdkCredentials::shared(asked("arn:aws:iam::1:role/a"));
        let other = SdkCredentials::shared(asked("arn:aws:iam::1:role/b"));
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
        assert!(!format!("{one:?}").contains("hunter2"));
    }
}
