use std::collections::HashMap;

use iceberg::spec::{MAIN_BRANCH, Snapshot, TableMetadata, TableMetadataBuilder};
use iceberg::{TableRequirement, TableUpdate};

use crate::{Error, ErrorKind, Result};

/// Updates to a table's metadata and the conditions they were made under.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableChange {
    /// What must hold for the updates to be right.
    pub requirements: Vec<TableRequirement>,
    /// What to change, in order.
    pub updates: Vec<TableUpdate>,
}

/// A change applied to its base.
#[derive(Debug)]
pub struct Applied {
    /// The next version.
    pub metadata: TableMetadata,
    /// Metadata files that fell off the end of the log.
    pub expired: Vec<String>,
}

impl TableChange {
    /// Nothing to change: a create with it makes an empty table.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds `snapshot` and makes it the head of `main`, on the base it was built on; how long `main`
    /// keeps its snapshots stays as it was.
    ///
    /// Requires the base's uuid and head, so that a snapshot never lands on a table that was replaced
    /// or moved on.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the snapshot does not follow from `base`.
    pub fn append(base: &TableMetadata, snapshot: Snapshot) -> Result<Self> {
        let built = TableMetadataBuilder::new_from_metadata(base.clone(), None)
            .set_branch_snapshot(snapshot, MAIN_BRANCH)
            .and_then(TableMetadataBuilder::build)
            .map_err(|e| Error::from_iceberg(ErrorKind::Input, "the snapshot does not follow", e))?;
        Ok(Self {
            requirements: vec![
                TableRequirement::UuidMatch { uuid: base.uuid() },
                TableRequirement::RefSnapshotIdMatch {
                    r#ref: MAIN_BRANCH.to_owned(),
                    snapshot_id: base.current_snapshot_id(),
                },
            ],
            updates: built.changes,
        })
    }

    /// Sets table properties.
    pub fn set_properties(properties: HashMap<String, String>) -> Self {
        Self { requirements: Vec::new(), updates: vec![TableUpdate::SetProperties { updates: properties }] }
    }

    /// The snapshots this change adds.
    pub fn snapshot_ids(&self) -> Vec<i64> {
        self.updates
            .iter()
            .filter_map(|u| match u {
                TableUpdate::AddSnapshot { snapshot } => Some(snapshot.snapshot_id()),
                _ => None,
            })
            .collect()
    }

    /// The metadata after this change; `base_location` is the file that held `base`, for its log, and
    /// `None` where `base` was only staged.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when `base` fails a requirement or an update does not apply.
    pub fn apply(&self, base: &TableMetadata, base_location: Option<&str>) -> Result<Applied> {
        let object = format!("the change does not apply to table {}", base.location());
        for requirement in &self.requirements {
            requirement.check(Some(base)).map_err(|e| Error::from_iceberg(ErrorKind::Input, &object, e))?;
        }
        let mut builder =
            TableMetadataBuilder::new_from_metadata(base.clone(), base_location.map(str::to_owned));
        for update in &self.updates {
            builder = update
                .clone()
                .apply(builder)
                .map_err(|e| Error::from_iceberg(ErrorKind::Input, &object, e))?;
        }
        let built = builder.build().map_err(|e| Error::from_iceberg(ErrorKind::Input, &object, e))?;
        Ok(Applied {
            metadata: built.metadata,
            expired: built.expired_metadata_logs.into_iter().map(|log| log.metadata_file).collect(),
        })
    }
}
