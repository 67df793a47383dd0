//! The iceberg crate's file access over our stores, for what of that crate wants to open files.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use iceberg::io::{
    FileMetadata, FileRead, FileWrite, InputFile, OutputFile, Storage as IcebergIo, StorageConfig,
    StorageFactory,
};
use object_store::ObjectStoreExt;
use object_store::buffered::BufWriter;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use crate::{Error, ErrorKind, Location, Storage, StoreProperties};

/// Opens files for the iceberg crate as calve does: every scheme and spelling, the same credentials,
/// clients and durability.
///
/// ```
/// use std::sync::Arc;
///
/// use calve_storage::IcebergStorageFactory;
/// use iceberg::io::FileIOBuilder;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let files = FileIOBuilder::new(Arc::new(IcebergStorageFactory::default())).build();
/// files.new_output("memory://lab/hello.txt")?.write("hello".into()).await?;
/// assert_eq!(&files.new_input("memory://lab/hello.txt")?.read().await?[..], b"hello");
/// # Ok::<(), iceberg::Error>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct IcebergStorageFactory {
    #[serde(skip)]
    opened: Option<IcebergStorage>,
}

impl From<IcebergStorage> for IcebergStorageFactory {
    /// A factory that gives `storage`, whatever properties it is asked with.
    fn from(storage: IcebergStorage) -> Self {
        Self { opened: Some(storage) }
    }
}

#[typetag::serde]
impl StorageFactory for IcebergStorageFactory {
    fn build(&self, config: &StorageConfig) -> iceberg::Result<Arc<dyn IcebergIo>> {
        let properties = || config.props().iter().map(|(key, value)| (key.as_str(), value.as_str()));
        Ok(Arc::new(self.opened.clone().unwrap_or_else(|| IcebergStorage::new(properties().collect()))))
    }
}

/// Every store that some properties reach, each opened when a file in it is first asked for.
///
/// Serialized, it is empty: properties may hold secrets, and whoever reads it reaches the stores as its
/// own environment says.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct IcebergStorage {
    #[serde(skip)]
    properties: StoreProperties,
    #[serde(skip)]
    opened: Arc<Mutex<Vec<Storage>>>,
}

impl IcebergStorage {
    /// Stores reached by `properties`, and for the rest as the environment says.
    pub fn new(properties: StoreProperties) -> Self {
        Self { properties, opened: Arc::default() }
    }

    fn opened(&self, location: &Location) -> Option<Storage> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.iter().find(|storage| storage.path(location.as_str()).is_ok()).cloned()
    }

    async fn at(&self, path: &str) -> iceberg::Result<(Storage, Location)> {
        let location: Location = path.parse().map_err(told)?;
        if let Some(storage) = self.opened(&location) {
            return Ok((storage, location));
        }
        let storage = Storage::connect(&location, &self.properties).await.map_err(told)?;
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(storage.clone());
        Ok((storage, location))
    }
}

impl From<Storage> for IcebergStorage {
    /// Adds nothing to `storage` for its own bucket or disk; other stores are reached as the environment
    /// says.
    fn from(storage: Storage) -> Self {
        Self { properties: StoreProperties::default(), opened: Arc::new(Mutex::new(vec![storage])) }
    }
}

#[async_trait]
#[typetag::serde]
impl IcebergIo for IcebergStorage {
    async fn exists(&self, path: &str) -> iceberg::Result<bool> {
        let (storage, location) = self.at(path).await?;
        match storage.store().head(location.path()).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(told(Error::from_store("read", path, e))),
        }
    }

    async fn metadata(&self, path: &str) -> iceberg::Result<FileMetadata> {
        let (storage, location) = self.at(path).await?;
        let meta = storage.store().head(location.path()).await;
        let size = meta.map_err(|e| told(Error::from_store("read", path, e)))?.size;
        Ok(FileMetadata { size })
    }

    async fn read(&self, path: &str) -> iceberg::Result<Bytes> {
        let (storage, _) = self.at(path).await?;
        storage.read(path).await.map_err(told)
    }

    async fn reader(&self, path: &str) -> iceberg::Result<Box<dyn FileRead>> {
        let (storage, location) = self.at(path).await?;
        Ok(Box::new(Reader { storage, location }))
    }

    async fn write(&self, path: &str, bytes: Bytes) -> iceberg::Result<()> {
        let (storage, location) = self.at(path).await?;
        storage.put(&location, bytes).await.map_err(told)
    }

    async fn writer(&self, path: &str) -> iceberg::Result<Box<dyn FileWrite>> {
        let (storage, location) = self.at(path).await?;
        let upload = BufWriter::new(Arc::clone(storage.store()), location.path().clone());
        Ok(Box::new(Writer { upload: Some(upload), location }))
    }

    async fn delete(&self, path: &str) -> iceberg::Result<()> {
        let (storage, _) = self.at(path).await?;
        storage.delete(path).await.map_err(told)
    }

    async fn delete_prefix(&self, path: &str) -> iceberg::Result<()> {
        let (storage, folder) = self.at(path).await?;
        let files: Vec<_> = storage.walk(&folder).try_collect().await.map_err(told)?;
        for file in files {
            storage.delete(&file.path).await.map_err(told)?;
        }
        Ok(())
    }

    async fn delete_stream(&self, mut paths: BoxStream<'static, String>) -> iceberg::Result<()> {
        while let Some(path) = paths.next().await {
            self.delete(&path).await?;
        }
        Ok(())
    }

    fn new_input(&self, path: &str) -> iceberg::Result<InputFile> {
        Ok(InputFile::new(Arc::new(self.clone()), path.to_owned()))
    }

    fn new_output(&self, path: &str) -> iceberg::Result<OutputFile> {
        Ok(OutputFile::new(Arc::new(self.clone()), path.to_owned()))
    }
}

impl fmt::Debug for IcebergStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("IcebergStorage").field(&*opened).finish()
    }
}

struct Reader {
    storage: Storage,
    location: Location,
}

#[async_trait]
impl FileRead for Reader {
    async fn read(&self, range: Range<u64>) -> iceberg::Result<Bytes> {
        let expected = range.end.saturating_sub(range.start);
        let read = self.storage.store().get_range(self.location.path(), range).await;
        let bytes = read.map_err(|e| told(Error::from_store("read", self.location.as_str(), e)))?;
        if bytes.len() as u64 != expected {
            let message = format!("{} ends early: {} bytes came for {expected}", self.location, bytes.len());
            return Err(iceberg::Error::new(iceberg::ErrorKind::DataInvalid, message));
        }
        Ok(bytes)
    }
}

/// The file is there once it is closed, as a whole.
struct Writer {
    upload: Option<BufWriter>,
    location: Location,
}

impl Writer {
    fn closed(&self) -> iceberg::Error {
        iceberg::Error::new(iceberg::ErrorKind::DataInvalid, format!("{} is closed", self.location))
    }
}

#[async_trait]
impl FileWrite for Writer {
    async fn write(&mut self, bytes: Bytes) -> iceberg::Result<()> {
        let Some(upload) = &mut self.upload else { return Err(self.closed()) };
        let put = upload.put(bytes).await;
        put.map_err(|e| told(Error::from_store("write", self.location.as_str(), e)))
    }

    async fn close(&mut self) -> iceberg::Result<()> {
        let Some(mut upload) = self.upload.take() else { return Err(self.closed()) };
        upload.shutdown().await.map_err(|e| {
            let e = object_store::Error::Generic { store: "upload", source: Box::new(e) };
            told(Error::from_store("write", self.location.as_str(), e))
        })
    }
}

/// In the iceberg crate's words; the source too, as far as ours is shown.
fn told(error: Error) -> iceberg::Error {
    let kind = match error.kind() {
        ErrorKind::Unsupported => iceberg::ErrorKind::FeatureUnsupported,
        ErrorKind::Location => iceberg::ErrorKind::DataInvalid,
        _ => iceberg::ErrorKind::Unexpected,
    };
    iceberg::Error::new(kind, error.to_string()).with_source(error)
}
