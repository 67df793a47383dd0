//! Iceberg tables in a bare folder, with no catalog service: open, create, commit.
//!
//! ```
//! use calve_catalog::{CommitOutcome, NewTable, TableCatalog, TableChange};
//! use calve_storage::{Location, Storage};
//! use calve_table_root::TableRootCatalog;
//! use iceberg::spec::{NestedField, PrimitiveType, Schema, Type};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let root: Location = "memory://doc/air/flights".parse()?;
//! let catalog = TableRootCatalog::at(root.clone(), Storage::open(&root)?)?;
//! let id = NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long));
//! let schema = Schema::builder().with_fields([id.into()]).build()?;
//!
//! let staged = catalog.stage(catalog.ident(), NewTable::new(schema)).await?;
//! let CommitOutcome::Committed(made) = catalog.create(&staged, TableChange::none()).await? else {
//!     panic!("somebody else made the table first");
//! };
//! assert_eq!(made.table.metadata.location(), "memory://doc/air/flights");
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # Model
//! Version `N` of the table is the file `metadata/vN.metadata.json`. Making that name, if nobody has,
//! *is* the commit: whoever makes it wins version `N`. A copy `NNNNN-{uuid}.metadata.json` gives the
//! metadata log its name for the version, and `version-hint.text` tells readers where to start; both
//! are repaired by the next writer when a crash left them behind. Readers take the hint as a lower
//! bound and look ahead. A `vN` name is never freed once taken.
//!
//! # What it does not do
//! It retries no conflict, and takes over no table that a catalog may own unless it is
//! [told to](TableRootCatalog::adopt). It deletes no file but old copies of the metadata, where the
//! table asks for it (`write.metadata.delete-after-commit.enabled`). Writers
//! that only move the hint do not contend for the name: stop them before calve writes.

mod catalog;
mod commit;
mod health;
mod hint;
mod layout;
mod open;
mod retire;

pub use catalog::{TableRootCatalog, load_static};
pub use health::Finding;
