use std::sync::Arc;

use calve_catalog::TableChange;
use iceberg::spec::{PartitionSpecRef, TableMetadata, UnboundPartitionField, UnboundPartitionSpec};
use iceberg::{TableRequirement, TableUpdate};

use crate::{Error, Result};

/// The change that adds `fields` to the table's partitioning, and the spec that comes of it.
pub(crate) fn evolved_spec(
    metadata: &TableMetadata,
    fields: &[UnboundPartitionField],
) -> Result<(TableChange, PartitionSpecRef)> {
    let kept = metadata.default_partition_spec().fields().iter().cloned().map(UnboundPartitionField::from);
    let spec = UnboundPartitionSpec::builder()
        .add_partition_fields(kept.chain(fields.iter().cloned()))
        .map_err(|e| {
            Error::from_iceberg(
                crate::ErrorKind::Input,
                "the partition fields can't be added to the table's",
                e,
            )
        })?
        .build();
    let change = TableChange {
        requirements: vec![
            TableRequirement::DefaultSpecIdMatch { default_spec_id: metadata.default_partition_spec_id() },
            TableRequirement::LastAssignedPartitionIdMatch {
                last_assigned_partition_id: metadata.last_partition_id(),
            },
        ],
        updates: vec![TableUpdate::AddSpec { spec }, TableUpdate::SetDefaultSpec { spec_id: LAST_ADDED }],
    };
    let evolved = change.apply(metadata, None)?.metadata;
    Ok((change, Arc::clone(evolved.default_partition_spec())))
}

const LAST_ADDED: i32 = -1;
