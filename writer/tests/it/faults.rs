use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use calve_catalog::async_trait;
use calve_storage::{Location, ObjectPath, ObjectStore, Storage};
use calve_table_root::TableRootCatalog;
use calve_writer::{WriteOptions, WriteOutcome};
use futures::stream::BoxStream;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};

use crate::lab::{Lab, flights, partition};

/// A store in which one put fails: the n-th from now, counted from zero.
#[derive(Debug)]
struct Flaky {
    inner: Arc<dyn ObjectStore>,
    left: AtomicI64,
    /// Whether the put that fails takes place all the same.
    applies: bool,
}

impl fmt::Display for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flaky store")
    }
}

#[async_trait]
impl ObjectStore for Flaky {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        if self.left.fetch_sub(1, Ordering::SeqCst) != 0 {
            return self.inner.put_opts(location, payload, opts).await;
        }
        if self.applies {
            self.inner.put_opts(location, payload, opts).await?;
        }
        Err(Error::Generic { store: "flaky", source: "the line went dead".into() })
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &ObjectPath, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &ObjectPath, to: &ObjectPath, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// A table of one row, and the same table through a store whose put number `failing` fails.
async fn flaky(failing: i64, applies: bool) -> (Lab, Lab) {
    let lab = Lab::new();
    lab.write_with(flights(&[0]), partition("origin")).await;
    let root: Location = lab.root.clone();
    let store = Flaky { inner: Arc::clone(lab.storage.store()), left: AtomicI64::new(failing), applies };
    let storage = Storage::with_store(&root, Arc::new(store));
    let catalog = TableRootCatalog::at(root.clone(), storage.clone()).unwrap();
    let ident = catalog.ident().clone();
    (lab, Lab { catalog: Arc::new(catalog), ident, root, storage })
}

#[tokio::test]
async fn whichever_put_fails_the_rows_are_there_once_or_not_at_all() {
    for applies in [false, true] {
        let mut untouched = false;
        for failing in 0.. {
            let (lab, through) = flaky(failing, applies).await;
            let outcome = through.try_write(flights(&[1, 2]), WriteOptions::default()).await;
            let place = format!("put {failing}, applied: {applies}: {outcome:?}");
            match outcome {
                Ok(WriteOutcome::Committed(report)) => {
                    assert_eq!(lab.ids().await, [0, 1, 2], "{place}");
                    assert_eq!(lab.orphans().await, Vec::<String>::new(), "{place}");
                    // Data files, manifest, list, the version, its copy, the hint: then nothing fails.
                    if failing > 20 {
                        untouched = report.warnings.is_empty();
                        break;
                    }
                }
                Ok(WriteOutcome::Unknown { .. }) => {
                    let ids = lab.ids().await;
                    assert!(ids == [0] || ids == [0, 1, 2], "{place}");
                }
                Ok(_) | Err(_) => {
                    assert_eq!(lab.ids().await, [0], "{place}");
                    assert_eq!(lab.orphans().await, Vec::<String>::new(), "{place}");
                }
            }
        }
        assert!(untouched);
    }
}
