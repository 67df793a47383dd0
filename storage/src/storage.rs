use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};

use crate::cloud;
use crate::counted::{Counted, Counters, Requests};
use crate::local::{Durability, LocalDisk};
use crate::{Error, ErrorKind, Location, Result, Scheme, StoreProperties};

/// One bucket or disk, addressed by the paths that table metadata holds.
///
/// Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct Storage {
    store: Arc<dyn ObjectStore>,
    of: Arc<Of>,
}

/// What a store is of.
#[derive(Debug)]
struct Of {
    scheme: Scheme,
    bucket: String,
    /// Where requests go, if not to the provider itself.
    endpoint: Option<String>,
    counters: Arc<Counters>,
}

/// What became of [`Storage::put_new`].
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutNew {
    /// The name was free and now holds the bytes.
    Created,
    /// The name was taken, perhaps by an earlier attempt of this very call: read it back.
    Taken,
}

/// A small mutable file as it was read: its bytes, and the entity tag to replace just that state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintState {
    /// The file's content; `None` when there was no file.
    pub content: Option<Bytes>,
    /// The store's tag for this state, where it has tags.
    pub etag: Option<String>,
    /// The store's version of the object, where it has versions.
    pub version: Option<String>,
}

/// One file of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// The last path segment.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since the epoch, UTC.
    pub modified_ms: i64,
}

/// One file, by the path that metadata would store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The whole path.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since the epoch, UTC.
    pub modified_ms: i64,
}

impl Storage {
    /// The store that `location` lies in, reached as the environment says.
    ///
    /// S3 takes the variables that the AWS tools read: keys, `AWS_REGION`, `AWS_ENDPOINT_URL_S3` and
    /// `AWS_ENDPOINT_URL`, `AWS_S3_FORCE_PATH_STYLE`, web identity, container and instance metadata.
    /// With the feature `aws`, where no keys are given, a profile's: `AWS_PROFILE`, and what the files
    /// of the AWS tools say of keys, single sign-on, processes and roles; a role in
    /// `client.assume-role.arn` is assumed with whatever was found. These credentials are refreshed
    /// before they expire.
    ///
    /// Google's and Azure's are those of their own tools. On local disk a file is flushed before its
    /// creation counts, unless `calve.local.durability` (`CALVE_LOCAL_DURABILITY`) is `process`. Stores
    /// named `memory://name/…` live as long as the process and are shared by name.
    ///
    /// # Errors
    /// [`ErrorKind::Location`] when the settings don't make a store.
    pub fn open(location: &Location) -> Result<Self> {
        Self::open_with(location, &StoreProperties::default())
    }

    /// As [`open_with`](Self::open_with), the AWS profile's region included where nothing else names one.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn connect(location: &Location, properties: &StoreProperties) -> Result<Self> {
        #[cfg(feature = "aws")]
        if location.scheme() == Scheme::S3
            && let Some(region) = crate::aws::profile_region(properties).await
        {
            let mut properties = properties.clone();
            properties.set("client.region", region);
            return Self::open_with(location, &properties);
        }
        Self::open_with(location, properties)
    }

    /// As [`open`](Self::open), with properties that win over the environment.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(location: &Location, properties: &StoreProperties) -> Result<Self> {
        let (store, endpoint): (Arc<dyn ObjectStore>, _) = match location.scheme() {
            Scheme::File => (Arc::new(LocalDisk::new(durability(properties)?)), None),
            Scheme::Memory => {
                let mut stores = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
                (Arc::clone(stores.entry(location.bucket().to_owned()).or_default()) as _, None)
            }
            Scheme::S3 | Scheme::Gcs | Scheme::Azure => cloud::open(location, properties)?,
        };
        Ok(Self::of(location, store, endpoint))
    }

    /// `store` in the place of the one [`open`](Self::open) would make for `location`.
    pub fn with_store(location: &Location, store: Arc<dyn ObjectStore>) -> Self {
        Self::of(location, store, None)
    }

    fn of(location: &Location, store: Arc<dyn ObjectStore>, endpoint: Option<String>) -> Self {
        let counters = Arc::<Counters>::default();
        let remote = !matches!(location.scheme(), Scheme::File | Scheme::Memory);
        let store = Arc::new(Counted { store, counters: Arc::clone(&counters), remote });
        let (scheme, bucket) = (location.scheme(), location.bucket().to_owned());
        Self { store, of: Arc::new(Of { scheme, bucket, endpoint, counters }) }
    }

    /// The same store under `wrap`, which sees every request.
    #[must_use]
    pub fn wrapped(&self, wrap: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>) -> Self {
        Self { store: wrap(Arc::clone(&self.store)), of: Arc::clone(&self.of) }
    }

    /// What has been asked of the store so far, by this handle and its clones.
    pub fn requests(&self) -> Requests {
        self.of.counters.now()
    }

    /// Makes sure that the store heeds the condition by which a commit is won, once for each process
    /// and bucket: creates `there`, which exists and holds `bytes`, again.
    ///
    /// Local disk and memory need no proof.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the store takes no heed, by name. Other errors leave the question
    /// open.
    pub async fn prove_conditions(&self, there: &Location, bytes: Bytes) -> Result<()> {
        if self.is_proven() {
            return Ok(());
        }
        let of = self.of.endpoint.as_deref().unwrap_or("the provider's endpoint");
        match self.put_new(there, bytes).await {
            Ok(PutNew::Taken) => {
                PROVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(self.identity());
                Ok(())
            }
            Ok(PutNew::Created) => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the store of bucket {} at {of} ignores `If-None-Match`: it replaced a file that was to be created only if absent, so two writers would lose each other's commits; use a store with conditional writes",
                    self.of.bucket
                ),
            )),
            Err(e) if e.kind() == ErrorKind::Unsupported => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the store of bucket {} at {of} has no conditional writes, by which a commit is made exclusive ({e}); use a store that has them",
                    self.of.bucket
                ),
            )),
            Err(e) => Err(e),
        }
    }

    /// Whether [`prove_conditions`](Self::prove_conditions) has nothing left to ask.
    pub fn is_proven(&self) -> bool {
        matches!(self.of.scheme, Scheme::File | Scheme::Memory)
            || PROVEN.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.identity())
    }

    fn identity(&self) -> Identity {
        (self.of.endpoint.clone(), self.of.bucket.clone())
    }

    /// The store underneath, for streams, ranges and uploads.
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// Whether [`put_if_unchanged`](Self::put_if_unchanged) is decided by the store itself.
    pub fn has_conditional_update(&self) -> bool {
        self.of.scheme != Scheme::File
    }

    /// The path within this store of a path as metadata stores it.
    ///
    /// # Errors
    /// [`ErrorKind::Location`] when the text is no location, or one in another bucket or store.
    pub fn path(&self, stored: &str) -> Result<Path> {
        let location: Location = stored.parse()?;
        if location.scheme() != self.of.scheme || location.bucket() != self.of.bucket {
            return Err(Error::new(
                ErrorKind::Location,
                format!(
                    "{location} lies outside the table's store; all of a table's files must be in one bucket"
                ),
            ));
        }
        Ok(location.path().clone())
    }

    /// A whole file, by its stored path.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when nothing lies there.
    pub async fn read(&self, stored: &str) -> Result<Bytes> {
        let path = self.path(stored)?;
        let read = async { self.store.get(&path).await?.bytes().await };
        read.await.map_err(|e| Error::from_store("read", stored, e))
    }

    /// A whole file, or `None` when nothing lies there.
    ///
    /// # Errors
    /// As [`read`](Self::read), but for an absent file.
    pub async fn read_if_exists(&self, location: &Location) -> Result<Option<Bytes>> {
        match self.read(location.as_str()).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// A small mutable file with its entity tag; absent is a state, not an error.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn read_state(&self, location: &Location) -> Result<HintState> {
        let read = async {
            let got = self.store.get_opts(location.path(), GetOptions::default()).await?;
            let (etag, version) = (got.meta.e_tag.clone(), got.meta.version.clone());
            Ok(HintState { content: Some(got.bytes().await?), etag, version })
        };
        match read.await {
            Ok(state) => Ok(state),
            Err(object_store::Error::NotFound { .. }) => Ok(HintState::default()),
            Err(e) => Err(Error::from_store("read", location.as_str(), e)),
        }
    }

    /// Writes a file, replacing what was there.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] without write access.
    pub async fn put(&self, location: &Location, bytes: Bytes) -> Result<()> {
        let put = self.store.put(location.path(), PutPayload::from_bytes(bytes)).await;
        put.map(|_| ()).map_err(|e| Error::from_store("write", location.as_str(), e))
    }

    /// Writes a file whose name must be free; of many attempts at one name one succeeds.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] without write access, [`ErrorKind::Unsupported`] where the store can't
    /// create exclusively. After [`ErrorKind::Failed`] the file may be there all the same.
    pub async fn put_new(&self, location: &Location, bytes: Bytes) -> Result<PutNew> {
        let options = PutOptions { mode: PutMode::Create, ..Default::default() };
        match self.store.put_opts(location.path(), PutPayload::from_bytes(bytes), options).await {
            Ok(_) => Ok(PutNew::Created),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(PutNew::Taken),
            Err(e) => Err(Error::from_store("create", location.as_str(), e)),
        }
    }

    /// Replaces a small file if it is still in the state read; `false` when it is not.
    ///
    /// Where the store has no such condition ([`has_conditional_update`](Self::has_conditional_update)
    /// is false) the state is read again and compared, so two writers may still cross.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub async fn put_if_unchanged(
        &self,
        location: &Location,
        bytes: Bytes,
        state: &HintState,
    ) -> Result<bool> {
        if !self.has_conditional_update() {
            if self.read_state(location).await?.content != state.content {
                return Ok(false);
            }
            return self.put(location, bytes).await.map(|()| true);
        }
        let mode = match &state.content {
            None => PutMode::Create,
            Some(_) => {
                PutMode::Update(UpdateVersion { e_tag: state.etag.clone(), version: state.version.clone() })
            }
        };
        let options = PutOptions { mode, ..Default::default() };
        match self.store.put_opts(location.path(), PutPayload::from_bytes(bytes), options).await {
            Ok(_) => Ok(true),
            // A file that is gone is not in the state read: some stores say so, others that it differs.
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotFound { .. },
            ) => Ok(false),
            Err(e) => Err(Error::from_store("replace", location.as_str(), e)),
        }
    }

    /// Makes the folders down to `folder` outlive a power cut, as far as they may be opened; on other
    /// stores there are none.
    ///
    /// A creation flushes the folders it makes, but not those another process made and did not live to
    /// flush.
    pub async fn flush_folders(&self, folder: &Location) {
        if self.of.scheme == Scheme::File {
            let folder = folder.local_path();
            let flushed = tokio::task::spawn_blocking(move || {
                for above in folder.ancestors() {
                    let _ = std::fs::File::open(above).and_then(|f| f.sync_all());
                }
            });
            let _ = flushed.await;
        }
    }

    /// Deletes a file; one that is not there is fine.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] without delete access.
    pub async fn delete(&self, stored: &str) -> Result<()> {
        let path = self.path(stored)?;
        match self.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(Error::from_store("delete", stored, e)),
        }
    }

    /// The files directly in a folder, in no order; empty when there is no such folder.
    ///
    /// # Errors
    /// When the store can't be listed.
    pub async fn list(&self, folder: &Location) -> Result<Vec<ListedFile>> {
        match self.store.list_with_delimiter(Some(folder.path())).await {
            Ok(listed) => Ok(listed.objects.iter().map(listed_file).collect()),
            Err(object_store::Error::NotFound { .. }) => Ok(Vec::new()),
            Err(e) => Err(Error::from_store("list", folder.as_str(), e)),
        }
    }

    /// All files below a folder with their stored paths, as the store lists them.
    pub fn walk(&self, folder: &Location) -> BoxStream<'static, Result<StoredFile>> {
        let listed = self.store.list(Some(folder.path()));
        let (folder, skip) = (folder.as_str().to_owned(), folder.path().as_ref().len());
        listed
            .map(move |file| match file {
                Ok(file) => Ok(StoredFile {
                    path: format!("{folder}{}", &file.location.as_ref()[skip..]),
                    size: file.size,
                    modified_ms: file.last_modified.timestamp_millis(),
                }),
                Err(e) => Err(Error::from_store("list", &folder, e)),
            })
            .boxed()
    }

    /// The stored paths of all files below a folder, sorted.
    ///
    /// # Errors
    /// When the store can't be listed.
    pub async fn list_all(&self, folder: &Location) -> Result<Vec<String>> {
        let mut paths: Vec<String> = self.walk(folder).map_ok(|file| file.path).try_collect().await?;
        paths.sort();
        Ok(paths)
    }
}

fn listed_file(meta: &object_store::ObjectMeta) -> ListedFile {
    ListedFile {
        name: meta.location.filename().unwrap_or_default().to_owned(),
        size: meta.size,
        modified_ms: meta.last_modified.timestamp_millis(),
    }
}

/// What local files have to outlive, by property or variable.
fn durability(properties: &StoreProperties) -> Result<Durability> {
    let asked = properties.get("calve.local.durability").map(str::to_owned);
    let Some(asked) = asked.or_else(|| std::env::var("CALVE_LOCAL_DURABILITY").ok()) else {
        return Ok(Durability::default());
    };
    Durability::from_text(&asked).ok_or_else(|| {
        let asked = asked.escape_debug();
        Error::new(
            ErrorKind::Location,
            format!("calve.local.durability `{asked}` is neither disk nor process"),
        )
    })
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({:?} {})", self.of.scheme, self.of.bucket)
    }
}

/// The endpoint, where it is not the provider's own, and the bucket.
type Identity = (Option<String>, String);

/// The stores that were seen to heed conditions.
static PROVEN: LazyLock<Mutex<HashSet<Identity>>> = LazyLock::new(Mutex::default);
static MEMORY: LazyLock<Mutex<HashMap<String, Arc<InMemory>>>> = LazyLock::new(Mutex::default);
