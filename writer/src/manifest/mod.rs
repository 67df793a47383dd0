//! Manifests and manifest lists (spec: "Manifests", "Manifest Lists").
//!
//! Manifests are encoded here and not by the format library, because it can't: it writes uuid
//! partitions as text, names that Avro forbids as they are, and two decimals of one type as one name
//! defined twice.

mod avro;
mod entry;
mod list;
mod read;
mod schema;
mod summary;
mod value;

pub(crate) use entry::{Entry, ManifestHead, encode};
pub(crate) use list::{ListHead, read_list, write_list};
pub(crate) use read::read_manifest;
