use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use calve_storage::Storage;
use iceberg::TableIdent;
use iceberg::spec::{
    FormatVersion, Schema, SortOrder, TableMetadata, TableMetadataRef, UnboundPartitionSpec,
};

/// A table as a catalog gave it.
#[derive(Clone, Debug)]
pub struct LoadedTable {
    /// Its name.
    pub ident: TableIdent,
    /// Its metadata.
    pub metadata: TableMetadataRef,
    /// A file that holds its metadata: the one that lasts longest of those known to be there.
    pub metadata_location: String,
    /// What makes a commit on this version conditional.
    pub token: CommitToken,
    /// The store its files lie in.
    pub storage: Storage,
}

/// A table to be.
#[derive(Clone, Debug)]
pub struct StagedTable {
    /// Its name.
    pub ident: TableIdent,
    /// Its metadata without a snapshot.
    pub metadata: TableMetadataRef,
    /// What the catalog keeps until the table is created.
    pub token: CommitToken,
    /// The store its files go to.
    pub storage: Storage,
}

/// What a new table should be.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// Columns; field ids are assigned afresh.
    pub schema: Schema,
    /// Partition fields, over the ids of `schema`.
    pub partition_spec: UnboundPartitionSpec,
    /// Order of rows within files.
    pub sort_order: SortOrder,
    /// Table properties.
    pub properties: HashMap<String, String>,
    /// Version of the table format.
    pub format_version: FormatVersion,
    /// Where the table goes, for catalogs that let the caller choose.
    pub location: Option<String>,
}

/// A catalog's own record of the version a commit builds on: opaque to everyone else.
#[derive(Clone)]
pub struct CommitToken(Arc<dyn Any + Send + Sync>);

impl CommitToken {
    /// A token holding `record`.
    pub fn new<R: Any + Send + Sync>(record: R) -> Self {
        Self(Arc::new(record))
    }

    /// The record, if it is of type `R`: a token of another catalog gives `None`.
    pub fn record<R: Any + Send + Sync>(&self) -> Option<&R> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for CommitToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommitToken")
    }
}

impl NewTable {
    /// An unpartitioned, unsorted table of format version 2 with no properties.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema,
            partition_spec: UnboundPartitionSpec::builder().build(),
            sort_order: SortOrder::unsorted_order(),
            properties: HashMap::new(),
            format_version: FormatVersion::V2,
            location: None,
        }
    }

    /// The metadata of this table at `location`: fresh ids, a new uuid, no snapshot.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Input`] when schema, spec and properties don't fit one another.
    pub fn into_metadata(self, location: &str) -> crate::Result<TableMetadata> {
        iceberg::spec::TableMetadataBuilder::new(
            self.schema,
            self.partition_spec,
            self.sort_order,
            location.to_owned(),
            self.format_version,
            self.properties,
        )
        .and_then(iceberg::spec::TableMetadataBuilder::build)
        .map(|built| built.metadata)
        .map_err(|e| crate::Error::from_iceberg(crate::ErrorKind::Input, "the new table is not valid", e))
    }
}
