//! Where a table's files go.

use std::collections::HashMap;

use calve_storage::Location;

use crate::Result;

/// The folder of data files: `write.data.path`, or `data` in the table.
pub(crate) fn data_folder(table: &str, properties: &HashMap<String, String>) -> Result<Location> {
    folder(table, properties, &["write.data.path", "write.folder-storage.path"], "data")
}

/// The folder of manifests and manifest lists: `write.metadata.path`, or `metadata` in the table.
pub(crate) fn metadata_folder(table: &str, properties: &HashMap<String, String>) -> Result<Location> {
    folder(table, properties, &["write.metadata.path"], "metadata")
}

fn folder(table: &str, properties: &HashMap<String, String>, keys: &[&str], name: &str) -> Result<Location> {
    match keys.iter().find_map(|key| properties.get(*key)) {
        Some(path) => Ok(path.parse()?),
        None => Ok(table.parse::<Location>()?.join(name)?),
    }
}
