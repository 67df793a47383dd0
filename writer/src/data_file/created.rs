use std::sync::{Arc, Mutex, PoisonError};

use calve_storage::Storage;
use futures::StreamExt;

/// Every file this write made or tried to make. Nothing else is ever deleted.
#[derive(Clone, Debug)]
pub(crate) struct CreatedFiles {
    storage: Storage,
    paths: Arc<Mutex<Vec<String>>>,
}

impl CreatedFiles {
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage, paths: Arc::default() }
    }

    /// Notes a file before its first byte is sent.
    pub(crate) fn note(&self, path: &str) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Deletes them all where the credentials allow; a file that stays is an orphan, not an error.
    pub(crate) async fn delete_all(&self) {
        let paths = std::mem::take(&mut *self.paths.lock().unwrap_or_else(PoisonError::into_inner));
        self.delete(paths).await;
    }

    /// Deletes those of `paths` that this write made.
    pub(crate) async fn delete_some(&self, paths: &[String]) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).retain(|made| !paths.contains(made));
        self.delete(paths.to_vec()).await;
    }

    async fn delete(&self, paths: Vec<String>) {
        futures::stream::iter(paths)
            .for_each_concurrent(PARALLEL, |path| async move {
                if let Err(error) = self.storage.delete(&path).await {
                    tracing::warn!(%error, "a file of a write that failed stays behind");
                }
            })
            .await;
    }
}

const PARALLEL: usize = 16;
