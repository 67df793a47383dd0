//! Local disk as an object store whose new files survive a power cut.

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use uuid::Uuid;

/// `LocalFileSystem` with durable creation: content, then name, then folder reach the disk in that
/// order, so a name never outlives a power cut without its bytes.
#[derive(Debug)]
pub(crate) struct LocalDisk {
    fs: Arc<LocalFileSystem>,
    durability: Durability,
}

/// What a file has to outlive once its creation counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A power cut.
    #[default]
    Disk,
    /// The process: nothing is flushed.
    Process,
}

impl Durability {
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        match text {
            "disk" => Some(Self::Disk),
            "process" => Some(Self::Process),
            _ => None,
        }
    }

    fn flush(self, file: &File) -> std::io::Result<()> {
        match self {
            Self::Disk => file.sync_all(),
            Self::Process => Ok(()),
        }
    }
}

impl LocalDisk {
    pub(crate) fn new(durability: Durability) -> Self {
        Self { fs: Arc::new(LocalFileSystem::new()), durability }
    }
}

impl fmt::Display for LocalDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("local disk")
    }
}

#[async_trait]
impl ObjectStore for LocalDisk {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        if opts.mode != PutMode::Create {
            return self.fs.put_opts(location, payload, opts).await;
        }
        let (path, durability) = (self.fs.path_to_filesystem(location)?, self.durability);
        blocking(move || create(&path, &payload, durability)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let path = self.fs.path_to_filesystem(location)?;
        let (parents, durability) = (path.clone(), self.durability);
        blocking(move || {
            make_folder(&parents, durability).map_err(|e| generic("its folder can't be made", &parents, e))
        })
        .await?;
        let upload = self.fs.put_multipart_opts(location, opts).await?;
        match durability {
            Durability::Disk => Ok(Box::new(DurableUpload { upload, path })),
            Durability::Process => Ok(upload),
        }
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.fs.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.fs.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.fs.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.fs.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.fs.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.fs.copy_opts(from, to, options).await
    }
}

/// Flushes the finished file and its folder before the upload counts as done.
#[derive(Debug)]
struct DurableUpload {
    upload: Box<dyn MultipartUpload>,
    path: PathBuf,
}

#[async_trait]
impl MultipartUpload for DurableUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.upload.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let done = self.upload.complete().await?;
        let path = self.path.clone();
        blocking(move || {
            File::open(&path)
                .and_then(|file| file.sync_all())
                .and_then(|()| sync_folder(&path, Durability::Disk))
                .map_err(|e| generic("it can't be flushed", &path, e))
        })
        .await?;
        Ok(done)
    }

    async fn abort(&mut self) -> Result<()> {
        self.upload.abort().await
    }
}

fn create(path: &FsPath, payload: &PutPayload, durability: Durability) -> Result<PutResult> {
    make_folder(path, durability).map_err(|e| generic("its folder can't be made", path, e))?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let staged = path.with_file_name(format!(".{name}.{}.tmp", Uuid::new_v4().simple()));
    let written = File::options().write(true).create_new(true).open(&staged).and_then(|mut file| {
        payload.iter().try_for_each(|part| file.write_all(part))?;
        durability.flush(&file)
    });
    let linked = written.map_err(|e| generic("it can't be written", path, e)).and_then(|()| {
        fs::hard_link(&staged, path).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Error::AlreadyExists { path: path.display().to_string(), source: e.into() }
            }
            std::io::ErrorKind::Unsupported | std::io::ErrorKind::PermissionDenied if can_write_beside(path) => {
                Error::NotSupported {
                    source: format!(
                        "the file system of {} has no hard links, by which a commit is made exclusive; use another folder",
                        path.display()
                    )
                    .into(),
                }
            }
            _ => generic("it can't be linked", path, e),
        })
    });
    let _ = fs::remove_file(&staged);
    linked?;
    // The name is there: whatever fails now is no refusal, and must not look like one.
    sync_folder(path, durability).map_err(|e| Error::Generic {
        store: "local disk",
        source: Box::new(std::io::Error::other(format!("its folder can't be flushed: {e}"))),
    })?;
    Ok(PutResult { e_tag: None, version: None })
}

/// The staged file was written beside `path`, so a refusal to link is not about access.
fn can_write_beside(path: &FsPath) -> bool {
    path.parent().is_some_and(|folder| fs::metadata(folder).is_ok_and(|m| !m.permissions().readonly()))
}

/// Makes the folders above `path` and flushes each new one's entry in its parent.
fn make_folder(path: &FsPath, durability: Durability) -> std::io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    if folder.is_dir() {
        return Ok(());
    }
    let fresh: Vec<&FsPath> = folder.ancestors().take_while(|f| !f.exists()).collect();
    fs::create_dir_all(folder)?;
    for made in fresh {
        sync_folder(made, durability)?;
    }
    Ok(())
}

fn sync_folder(path: &FsPath, durability: Durability) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) if durability == Durability::Disk => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

fn generic(what: &str, path: &FsPath, source: std::io::Error) -> Error {
    let path = path.display().to_string();
    match source.kind() {
        std::io::ErrorKind::PermissionDenied => Error::PermissionDenied { path, source: source.into() },
        kind => Error::Generic {
            store: "local disk",
            source: Box::new(std::io::Error::new(kind, format!("{what}: {source}"))),
        },
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(source) => Err(Error::JoinError { source }),
    }
}
