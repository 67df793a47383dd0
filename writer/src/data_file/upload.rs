use bytes::Bytes;
use calve_storage::{Location, PutNew, Storage};
use object_store::{PutMultipartOptions, WriteMultipart};

use crate::{Error, ErrorKind, Result};

/// A new file on its way to the store: one create-only put when it is small, parts when it is not.
pub(super) struct Upload {
    storage: Storage,
    location: Location,
    held: Vec<Bytes>,
    held_bytes: usize,
    parts: Option<WriteMultipart>,
}

impl Upload {
    pub(super) fn new(storage: Storage, location: Location) -> Self {
        Self { storage, location, held: Vec::new(), held_bytes: 0, parts: None }
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// Bytes waiting in memory.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    pub(super) async fn send(&mut self, bytes: Bytes) -> Result<()> {
        self.held_bytes += bytes.len();
        self.held.push(bytes);
        if self.held_bytes < PART_BYTES {
            return Ok(());
        }
        let upload = match self.parts.as_mut() {
            Some(parts) => parts,
            None => {
                let begun = self
                    .storage
                    .store()
                    .put_multipart_opts(self.location.path(), PutMultipartOptions::default());
                let begun = begun.await.map_err(|e| self.failed(e))?;
                self.parts.insert(WriteMultipart::new_with_chunk_size(begun, PART_BYTES))
            }
        };
        for bytes in self.held.drain(..) {
            upload.put(bytes);
        }
        self.held_bytes = 0;
        let waited = upload.wait_for_capacity(PARTS_UNDER_WAY).await;
        waited.map_err(|e| self.failed(e))
    }

    /// Makes the file visible.
    pub(super) async fn finish(mut self) -> Result<()> {
        match self.parts.take() {
            Some(mut parts) => {
                self.held.drain(..).for_each(|bytes| parts.put(bytes));
                let finished = parts.finish().await;
                finished.map(|_| ()).map_err(|e| self.failed(e))
            }
            None => match self.storage.put_new(&self.location, concat(&self.held)).await? {
                PutNew::Created => Ok(()),
                // The name holds a fresh uuid: only this very call can have taken it.
                PutNew::Taken => {
                    let there = self.storage.read(self.location.as_str()).await?;
                    if there == concat(&self.held) {
                        return Ok(());
                    }
                    Err(Error::new(ErrorKind::Failed, format!("{} was taken by another file", self.location)))
                }
            },
        }
    }

    pub(super) async fn abort(self) {
        if let Some(parts) = self.parts
            && let Err(error) = parts.abort().await
        {
            tracing::warn!(%error, "parts of {} stay behind", self.location);
        }
    }

    fn failed(&self, source: object_store::Error) -> Error {
        Error::from_store("write", self.location.as_str(), source)
    }
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Upload({})", self.location)
    }
}

fn concat(parts: &[Bytes]) -> Bytes {
    match parts {
        [one] => one.clone(),
        many => many.concat().into(),
    }
}

const PART_BYTES: usize = 8 << 20;
const PARTS_UNDER_WAY: usize = 4;
