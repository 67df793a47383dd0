//! Where a table's files lie, and how they are read and written.
//!
//! A [`Location`] is a storage path parsed once: `file:///data/t`, `/data/t`, `s3://lake/t`. A
//! [`Storage`] is the store behind one location's bucket or disk; it takes the paths that table
//! metadata holds, in whatever spelling another writer gave them, and answers bytes.
//!
//! ```
//! use calve_storage::{Location, Storage};
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let root: Location = "memory://lab/air/flights".parse()?;
//! let storage = Storage::open(&root)?;
//! let hint = root.join("metadata/version-hint.text")?;
//! storage.put(&hint, "0".into()).await?;
//! assert_eq!(&storage.read(hint.as_str()).await?[..], b"0");
//! # Ok::<(), calve_storage::Error>(()) }).unwrap();
//! ```
//!
//! # Model
//! - A stored path is text. It is never percent-decoded and never normalised: an object key may hold
//!   `%20`, a space or an emoji, and means exactly that.
//! - [`Storage::put_new`] is the only arbiter calve commits by: of many attempts at one name, one
//!   succeeds.
//! - On local disk a new file reaches the disk, and its folder after it, before the call returns.
//!
//! # What it does not do
//! It does not retry a conditional put, because a repeated one may meet its own first attempt: the
//! caller reads back instead. Of Iceberg it knows no more than how that crate opens files.

#[cfg(feature = "aws")]
mod aws;
mod clients;
mod cloud;
mod counted;
mod error;
mod iceberg_io;
mod local;
mod location;
mod properties;
mod storage;

pub use counted::Requests;
pub use error::{Error, ErrorKind, Result};
pub use iceberg_io::{IcebergStorage, IcebergStorageFactory};
pub use location::{Location, Scheme};
pub use object_store::ObjectStore;
pub use object_store::path::Path as ObjectPath;
pub use properties::StoreProperties;
pub use storage::{HintState, ListedFile, PutNew, Storage, StoredFile};
