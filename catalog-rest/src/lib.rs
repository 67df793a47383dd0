//! Iceberg REST catalogs: what a destination means there, before any call is made.
//!
//! ```
//! use calve_catalog_rest::{Paths, table_url};
//! use calve_uri::Destination;
//!
//! let text = "iceberg+rest+https://catalog.example/api/v1/sales.eu/orders?warehouse=prod";
//! let Destination::Rest(rest) = text.parse()? else { panic!("a REST destination") };
//! assert_eq!(table_url(&rest), "https://catalog.example/api/v1/namespaces/sales%1Feu/tables/orders");
//!
//! let paths = Paths::new("https://catalog.example/api").prefix("ws/7");
//! assert_eq!(paths.config("a b/c"), "https://catalog.example/api/v1/config?warehouse=a%20b%2Fc");
//! assert_eq!(paths.namespaces(), "https://catalog.example/api/v1/ws/7/namespaces");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Model
//! A catalog is an endpoint, a prefix the server may choose, and a separator between namespace levels.
//! Every segment is percent-encoded once, with `%20` for a space and never `+`.
//!
//! # What it does not do
//! It sends no request: loading, creating and committing through a REST catalog are not in this version.

mod paths;

pub use paths::{Paths, table_ident, table_url};
