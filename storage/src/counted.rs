//! A store that counts what is asked of it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, OBJECT_STORE_COALESCE_DEFAULT,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
    coalesce_ranges,
};

/// Requests made of a store and bytes moved, by kind; what a layer below sends again is not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requests {
    /// Reads, whole or of one range each.
    pub get: u64,
    /// Questions about an object's size.
    pub head: u64,
    /// Writes of a whole object.
    pub put: u64,
    /// Writes of a part of one, with the requests that begin and end it.
    pub part: u64,
    /// Listings, each counted once however many pages it takes.
    pub list: u64,
    /// Deletions, by object.
    pub delete: u64,
    /// Bytes asked for.
    pub bytes_read: u64,
    /// Bytes sent.
    pub bytes_written: u64,
}

impl Requests {
    /// All requests.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.get + self.head + self.put + self.part + self.list + self.delete
    }

    /// What came after `earlier` was taken.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            get: self.get - earlier.get,
            head: self.head - earlier.head,
            put: self.put - earlier.put,
            part: self.part - earlier.part,
            list: self.list - earlier.list,
            delete: self.delete - earlier.delete,
            bytes_read: self.bytes_read - earlier.bytes_read,
            bytes_written: self.bytes_written - earlier.bytes_written,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    get: AtomicU64,
    head: AtomicU64,
    put: AtomicU64,
    part: AtomicU64,
    list: AtomicU64,
    delete: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
}

impl Counters {
    pub(crate) fn now(&self) -> Requests {
        Requests {
            get: self.get.load(Relaxed),
            head: self.head.load(Relaxed),
            put: self.put.load(Relaxed),
            part: self.part.load(Relaxed),
            list: self.list.load(Relaxed),
            delete: self.delete.load(Relaxed),
            bytes_read: self.bytes_read.load(Relaxed),
            bytes_written: self.bytes_written.load(Relaxed),
        }
    }
}

fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Relaxed);
}

#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) counters: Arc<Counters>,
    /// Whether each read is a request, so that reading what lies between two ranges is cheaper than a
    /// second one.
    pub(crate) remote: bool,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Counted {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        add(&self.counters.put, 1);
        add(&self.counters.bytes_written, payload.content_length());
        self.store.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        add(&self.counters.part, 1);
        let upload = self.store.put_multipart_opts(path, options).await?;
        Ok(Box::new(CountedUpload { upload, counters: Arc::clone(&self.counters) }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        if options.head {
            add(&self.counters.head, 1);
            return self.store.get_opts(path, options).await;
        }
        add(&self.counters.get, 1);
        let got = self.store.get_opts(path, options).await?;
        self.counters.bytes_read.fetch_add(got.range.end - got.range.start, Relaxed);
        Ok(got)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if !self.remote {
            add(&self.counters.get, ranges.len());
            self.counters
                .bytes_read
                .fetch_add(ranges.iter().map(|range| range.end - range.start).sum(), Relaxed);
            return self.store.get_ranges(path, ranges).await;
        }
        // Ranges near each other are read together; each such read is counted above.
        let read = |range: Range<u64>| async move {
            let options = GetOptions { range: Some(range.into()), ..Default::default() };
            self.get_opts(path, options).await?.bytes().await
        };
        coalesce_ranges(ranges, read, OBJECT_STORE_COALESCE_DEFAULT).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let counters = Arc::clone(&self.counters);
        self.store.delete_stream(paths.inspect(move |_| add(&counters.delete, 1)).boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        add(&self.counters.list, 1);
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        add(&self.counters.list, 1);
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        add(&self.counters.put, 1);
        self.store.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct CountedUpload {
    upload: Box<dyn MultipartUpload>,
    counters: Arc<Counters>,
}

#[async_trait]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        add(&self.counters.part, 1);
        add(&self.counters.bytes_written, data.content_length());
        self.upload.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        add(&self.counters.part, 1);
        self.upload.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        add(&self.counters.part, 1);
        self.upload.abort().await
    }
}
