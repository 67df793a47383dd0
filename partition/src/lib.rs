//! Partition values of Apache Iceberg tables: computed on whole Arrow arrays, and reasoned
//! about when a scan prunes.
//!
//! ```
//! use std::sync::Arc;
//! use arrow::array::{Int64Array, RecordBatch};
//! use iceberg::arrow::schema_to_arrow_schema;
//! use iceberg::spec::{NestedField, PartitionSpec, PrimitiveType, Schema, Transform, Type};
//! use calve_partition::{Splitter, partition_path};
//!
//! let id = NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long));
//! let schema = Arc::new(Schema::builder().with_fields([id.into()]).build()?);
//! let spec = Arc::new(
//!     PartitionSpec::builder(schema.clone())
//!         .add_partition_field("id", "id_bucket", Transform::Bucket(16))?
//!         .build()?,
//! );
//!
//! let batch = RecordBatch::try_new(
//!     Arc::new(schema_to_arrow_schema(&schema)?),
//!     vec![Arc::new(Int64Array::from(vec![34, 34, 35]))],
//! )?;
//! let parts = Splitter::new(spec.clone(), schema.clone())?.split(&batch)?;
//! assert_eq!(partition_path(&spec, &schema, &parts[0].value), "id_bucket=3");
//! assert_eq!(parts[0].take(&batch)?.num_rows(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Model
//! A *request* is what a user wrote (`day(ts),bucket(16,id)`). [`bind`] makes a new table's spec
//! of it; [`reconcile`] compares it with the spec a table has. [`Splitter`] computes the values
//! of a spec for a batch with [`apply`] and groups the rows by them; [`partition_path`] names
//! their folder, [`avro_names`] their fields in manifests. [`PartitionFilter`] tells which partitions
//! and manifests a row filter can skip.
//!
//! The two directions meet in one idea: a partition value stands for a set of source values.
//! Writing maps a value into it, pruning asks whether any (or every) value of the set satisfies
//! the filter. No predicate is ever negated by negating "might match".
//!
//! # What it does not do
//! It reads and writes no files, evaluates no filter on rows, and never takes a partition value
//! out of a path. It does not decide *whether* a table's spec evolves: the caller asks.
//! Multi-argument transforms are not known to the `iceberg` crate this version builds on.
//!
//! # Features
//! None.

mod avro;
mod bind;
mod error;
mod filter;
mod human;
mod murmur3;
mod path;
mod reconcile;
mod source;
mod split;
mod transform;

pub use avro::avro_names;
pub use bind::bind;
pub use error::{Error, ErrorKind, Result};
pub use filter::PartitionFilter;
pub use human::human;
pub use path::{escape, partition_path, unescape};
pub use reconcile::{Reconciled, reconcile};
pub use split::{Part, Rows, Splitter};
pub use transform::{apply, apply_datum, apply_literal, result_type};
