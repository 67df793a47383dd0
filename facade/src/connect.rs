//! From a parsed name to the catalog that holds it.

use std::sync::Arc;

use calve_catalog::{LoadedTable, TableCatalog, TableIdent};
use calve_storage::{Location, Storage};
use calve_table_root::{TableRootCatalog, load_static};
use calve_uri::{Destination, TableRef};

use crate::options::CatalogKind;
use crate::{Error, ErrorKind, Result, StorageOptions};

/// A catalog, and the table's name in it.
pub(crate) type Connected = (Arc<dyn TableCatalog>, TableIdent);

/// The catalog that a destination names.
pub(crate) async fn destination(destination: &Destination) -> Result<Connected> {
    match destination {
        Destination::Root(root) => table_root(&root.location().parse()?, &StorageOptions::default()).await,
        Destination::Glue(glue) => Err(glue_not_served(glue)),
        Destination::Rest(rest) => Err(rest_not_served(rest)),
    }
}

/// The table that a scan names.
pub(crate) async fn load(table: &TableRef, options: &StorageOptions) -> Result<LoadedTable> {
    let (catalog, ident) = match table {
        TableRef::Root { location } => table_root(&location.parse()?, options).await?,
        TableRef::Destination(named) => destination(named).await?,
        TableRef::Metadata { location } => {
            let location: Location = location.parse()?;
            let storage = Storage::connect(&location, &options.store_properties()).await?;
            return Ok(load_static(&location, storage).await?);
        }
        TableRef::Name { namespace, table } => named(namespace, table, options).await?,
        TableRef::Glue { .. } => return Err(not_served(&format!("{table}"), "AWS Glue")),
    };
    Ok(catalog.load(&ident).await?)
}

/// The table root that a name means.
pub(crate) async fn root(table: &TableRef, options: &StorageOptions) -> Result<TableRootCatalog> {
    match table {
        TableRef::Root { location } => root_at(&location.parse()?, options).await,
        TableRef::Destination(Destination::Root(root)) => root_at(&root.location().parse()?, options).await,
        TableRef::Name { namespace, table } => match located(namespace, table, options)? {
            Ok(location) => root_at(&location, options).await,
            Err(catalog) => Err(no_root(table, catalog)),
        },
        TableRef::Metadata { location } => Err(no_root(location, "one metadata file")),
        TableRef::Glue { table, .. } => Err(no_root(table, "AWS Glue")),
        TableRef::Destination(Destination::Glue(glue)) => Err(no_root(glue.table(), "AWS Glue")),
        TableRef::Destination(Destination::Rest(rest)) => Err(no_root(rest.table(), "a REST catalog")),
    }
}

fn no_root(table: &str, catalog: &str) -> Error {
    Error::input(format!("{table} is in {catalog}, and no table root; name a folder or a location"))
}

async fn root_at(location: &Location, options: &StorageOptions) -> Result<TableRootCatalog> {
    let storage = Storage::connect(location, &options.store_properties()).await?;
    Ok(TableRootCatalog::at(location.clone(), storage)?)
}

async fn table_root(location: &Location, options: &StorageOptions) -> Result<Connected> {
    let catalog = root_at(location, options).await?;
    let ident = catalog.ident().clone();
    Ok((Arc::new(catalog), ident))
}

async fn named(namespace: &[String], table: &str, options: &StorageOptions) -> Result<Connected> {
    match located(namespace, table, options)? {
        Ok(location) => table_root(&location, options).await,
        Err(catalog) => Err(not_served(&format!("{}.{table}", namespace.join(".")), catalog)),
    }
}

/// Where a named table lies below the warehouse, or which catalog would know.
fn located(
    namespace: &[String],
    table: &str,
    options: &StorageOptions,
) -> Result<std::result::Result<Location, &'static str>> {
    let ambient = StorageOptions::from_environment()?;
    let options = if options.is_empty() { &ambient } else { options };
    match options.catalog()? {
        CatalogKind::File => {
            let Some(warehouse) = options.get("warehouse") else {
                return Err(Error::input(format!(
                    "`{}.{table}` is a name in a catalog, and none is given: set the storage option `warehouse` (or `catalog` and its options), or name the table by its root, such as /data/lake/{}/{table}",
                    namespace.join("."),
                    namespace.join("/")
                )));
            };
            let below = namespace.iter().map(String::as_str).chain([table]).collect::<Vec<_>>().join("/");
            Ok(Ok(warehouse.parse::<Location>()?.join(&below)?))
        }
        CatalogKind::Glue => Ok(Err("AWS Glue")),
        CatalogKind::Rest => Ok(Err("a REST catalog")),
    }
}

#[cfg(feature = "glue")]
fn glue_not_served(glue: &calve_uri::GlueDestination) -> Error {
    // The name is checked all the same, so that a wrong one is not reported as a missing feature.
    match calve_catalog_glue::table_location(glue) {
        Ok(location) => not_served(&location, "AWS Glue"),
        Err(e) => Error::input(e.to_string()),
    }
}

#[cfg(not(feature = "glue"))]
fn glue_not_served(glue: &calve_uri::GlueDestination) -> Error {
    not_built(&format!("{}.{}", glue.database(), glue.table()), "glue")
}

#[cfg(feature = "rest")]
fn rest_not_served(rest: &calve_uri::RestDestination) -> Error {
    not_served(&calve_catalog_rest::table_url(rest), "a REST catalog")
}

#[cfg(not(feature = "rest"))]
fn rest_not_served(rest: &calve_uri::RestDestination) -> Error {
    not_built(rest.table(), "rest")
}

#[cfg(not(all(feature = "glue", feature = "rest")))]
fn not_built(object: &str, feature: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{object} needs calve built with its feature `{feature}`"))
}

fn not_served(object: &str, catalog: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "{object} is in {catalog}, which this version names and checks but does not reach yet; use a table root (iceberg+local:///…)"
        ),
    )
}
