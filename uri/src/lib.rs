//! Destination and table URIs of Apache Iceberg tables.
//!
//! One URI says where rows go, or come from: which catalog, which table, how to reach it, how a
//! new table is partitioned. This crate reads and writes those URIs, and does so for whoever only
//! wants to know whether one is right: it needs no network, no catalog and no data.
//!
//! ```
//! use calve_uri::{Destination, Transform};
//!
//! let destination: Destination = "iceberg+glue+s3://lake/warehouse/sales/orders\
//!     ?region=eu-west-1&partition=day(ts),bucket(16,id)".parse()?;
//! let Destination::Glue(glue) = &destination else { unreachable!() };
//! assert_eq!(glue.warehouse(), "s3://lake/warehouse");
//! assert_eq!((glue.database(), glue.table()), ("sales", "orders"));
//! assert_eq!(glue.partition()[1].transform(), Transform::Bucket(16));
//!
//! let error = "iceberg+glue+s3://lake/sales/orders?regoin=eu-west-1"
//!     .parse::<Destination>()
//!     .unwrap_err();
//! assert_eq!((error.offset(), error.nearest()), (36, Some("region")));
//! # Ok::<(), calve_uri::ParseError>(())
//! ```
//!
//! # Model
//!
//! - [`Destination`] is where rows are written: [`GlueDestination`], [`RestDestination`] or
//!   [`RootDestination`]. Each is parsed from text or put together by its builder, and holds only
//!   what has been checked.
//! - [`TableRef`] is what is scanned: a name, a location, a metadata file or a destination.
//! - [`PartitionField`] is a requested partition field, [`Transform`] and column, of no schema yet.
//! - [`Secret`] holds what must not be seen. Nothing in this crate prints one: not `Display`, not
//!   `Debug`, not an error. The ways out are [`Secret::expose`], the two `to_uri_with_secrets`, which
//!   give a [`Secret`] again, [`ClientCredential::client_id`], and with `serde` the wrapper
//!   `WithSecrets`.
//! - [`ParseError`] says which rule was broken, at which byte, what would have been accepted, and
//!   which known name comes nearest; [`ParseError::render`] draws a caret under the place.
//!
//! Texts are split before they are decoded, each part is decoded once, and `+` is a plus. Every
//! rule is a function documented by its ABNF line; `docs/uri.md` in the repository assembles them.
//! Work is linear in the length of the text, without recursion.
//!
//! # What it does not do
//!
//! It opens no connection, reads no environment and no files, resolves no relative path, binds no
//! partition field to a schema, and fills in no default that belongs to a catalog.
//!
//! # Features
//!
//! - `serde`, off by default: `Serialize` and `Deserialize` as the displayed string, secrets
//!   redacted, and `WithSecrets` for a wrapper that keeps them.
//!
//! The crate is `no_std` and needs an allocator.
#![no_std]

extern crate alloc;

mod access;
mod destination;
mod error;
mod glue;
mod grammar;
mod held;
mod mask;
mod nearest;
mod packed;
mod partition;
mod rest;
mod root;
mod secret;
#[cfg(feature = "serde")]
mod serialize;
mod steps;
mod table_ref;
mod write;

pub use access::AccessDelegation;
pub use destination::{Destination, Mode};
pub use error::{ErrorKind, ParseError};
pub use glue::{GlueBuilder, GlueDestination};
pub use nearest::nearest;
pub use partition::{PartitionField, Transform, parse_partition};
pub use rest::{RestBuilder, RestDestination};
pub use root::{RootBuilder, RootDestination};
pub use secret::{AwsCredentials, ClientCredential, Secret};
#[cfg(feature = "serde")]
pub use serialize::WithSecrets;
pub use table_ref::TableRef;
