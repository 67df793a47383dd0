//! AWS Glue as a catalog: what a destination means there, before any call is made.
//!
//! ```
//! use calve_catalog_glue::{hive_type, table_location};
//! use calve_uri::Destination;
//! use iceberg::spec::{PrimitiveType, Type};
//!
//! let text = "iceberg+glue+s3://lake/warehouse/banking/payments?region=us-east-1";
//! let Destination::Glue(glue) = text.parse()? else { panic!("a Glue destination") };
//! assert_eq!(table_location(&glue)?, "s3://lake/warehouse/banking/payments");
//! assert_eq!(hive_type(&Type::Primitive(PrimitiveType::Uuid)), "string");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Model
//! A Glue table is a row that points at a metadata file, with columns for engines that don't read it.
//! Every type has a Hive form, so none is found impossible after data was written.
//!
//! # What it does not do
//! It calls no service: loading, creating and committing through Glue are not in this version.

mod hive;
mod location;

pub use hive::hive_type;
pub use location::{check_apart, table_ident, table_location};
