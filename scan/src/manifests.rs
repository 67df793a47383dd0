//! Manifest lists and manifests, from bytes to what planning looks at.
//!
//! All knowledge of how they are decoded is here.

mod header;
mod mend;

use std::borrow::Cow;

use header::AvroFile;
use iceberg::spec::{DataFile, FormatVersion, Manifest, ManifestFile, ManifestList};

use crate::{Error, Result};

/// A live entry of a manifest, with what it inherits from the manifest list.
pub(crate) struct Entry {
    pub(crate) file: DataFile,
    pub(crate) sequence_number: i64,
}

/// The manifests of a snapshot, in order.
///
/// A snapshot made before the table was upgraded keeps the older shape of its list.
pub(crate) fn decode_list(path: &str, bytes: &[u8], version: FormatVersion) -> Result<Vec<ManifestFile>> {
    let mut shapes = vec![version];
    if version == FormatVersion::V3 {
        shapes.push(FormatVersion::V2);
    }
    // The first version knows no deletes, so a list that says what it holds is never read as one.
    if version != FormatVersion::V1 && !names_content(bytes) {
        shapes.push(FormatVersion::V1);
    }
    let mut first = None;
    for shape in shapes {
        match ManifestList::parse_with_version(bytes, shape) {
            Ok(list) => return Ok(list.consume_entries().into_iter().collect()),
            Err(e) => _ = first.get_or_insert(e),
        }
    }
    let why = first.as_ref().map_or("no shape fits", |e| e.message());
    let error = Error::damaged(format!("can't decode manifest list {path}: {why}"));
    Err(match first {
        Some(source) => error.with_source(source),
        None => error,
    })
}

/// The live entries of a manifest, in order.
pub(crate) fn decode(manifest: &ManifestFile, bytes: &[u8]) -> Result<Vec<Entry>> {
    let path = &manifest.manifest_path;
    let mut avro = AvroFile::parse(bytes)
        .ok_or_else(|| Error::damaged(format!("can't decode manifest {path}: it is not an avro file")))?;
    let bytes = match mend::partition_names(&mut avro) {
        true => Cow::Owned(avro.encode()),
        false => Cow::Borrowed(bytes),
    };
    let decoded = Manifest::parse_avro(&bytes).or_else(|e| {
        // Perhaps it was only a bound, and without bounds every file just might match.
        mend::without_bounds(&mut avro);
        Manifest::parse_avro(&avro.encode()).map_err(|_| {
            Error::damaged(format!("can't decode manifest {path}: {}", e.message())).with_source(e)
        })
    })?;
    Ok(decoded
        .entries()
        .iter()
        .filter(|entry| entry.is_alive())
        .map(|entry| Entry {
            file: entry.data_file().clone(),
            sequence_number: entry.sequence_number().unwrap_or(manifest.sequence_number),
        })
        .collect())
}

/// Whether the Avro header's schema has the `content` field of versions 2 and up.
fn names_content(bytes: &[u8]) -> bool {
    const HEADER: usize = 64 * 1024;
    let header = &bytes[..bytes.len().min(HEADER)];
    header.windows(9).any(|w| w == b"\"content\"")
}
