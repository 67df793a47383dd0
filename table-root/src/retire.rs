//! Old metadata, given up without giving up its names.

use bytes::Bytes;
use calve_storage::{Location, Storage};
use iceberg::spec::TableMetadata;

use crate::layout::{Layout, MetadataName, Version};

/// Deletes the copies that fell off the end of the metadata log and empties their `vN`, where the
/// table asks for it. A `vN` is never deleted: a writer that slept since before it was taken would take
/// it again.
///
/// What fails is left for good: the log does not name it any more, and `calve orphans` lists it.
pub(crate) async fn retire(
    storage: &Storage,
    layout: &Layout,
    metadata: &TableMetadata,
    current: Version,
    expired: &[String],
) {
    if !asks_for_it(metadata) {
        return;
    }
    for file in expired {
        let Some(name) = name_in(layout, file).filter(|name| name.version < current) else { continue };
        let version = layout.version(name.version);
        if version.name() != name.name
            && let Err(e) = storage.delete(file).await
        {
            tracing::debug!(%file, error = %e, "an old copy of the metadata stays");
        }
        // Only what is there: a table that Hadoop or another wrote may have no such name.
        match storage.read_if_exists(&version).await {
            Ok(Some(bytes)) if !bytes.is_empty() => {
                if let Err(e) = storage.put(&version, Bytes::new()).await {
                    tracing::debug!(%version, error = %e, "an old version stays");
                }
            }
            _ => {}
        }
    }
}

fn asks_for_it(metadata: &TableMetadata) -> bool {
    let asked = metadata.properties().get("write.metadata.delete-after-commit.enabled");
    asked.is_some_and(|asked| asked.eq_ignore_ascii_case("true"))
}

/// The name of a file of this root's metadata folder; the log of a copied table names another's.
fn name_in(layout: &Layout, file: &str) -> Option<MetadataName> {
    let file: Location = file.parse().ok()?;
    let here = file.parent().is_some_and(|folder| folder == *layout.metadata());
    here.then(|| MetadataName::parse(file.name())).flatten()
}
