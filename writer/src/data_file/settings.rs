use std::collections::HashMap;

use parquet::basic::{BrotliLevel, Compression, GzipLevel, LogicalType, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use crate::{Error, Result};

/// How data files are encoded: the table's `write.parquet.*` and `write.target-file-size-bytes`.
#[derive(Clone, Debug)]
pub(crate) struct ParquetSettings {
    /// Bytes at which a file is finished and the next begun.
    pub(crate) target_file_size: u64,
    compression: Compression,
    row_group_bytes: usize,
    page_bytes: usize,
    page_rows: usize,
    dictionary_bytes: usize,
}

impl ParquetSettings {
    /// # Errors
    /// [`crate::ErrorKind::Input`] naming a property whose value is not understood.
    pub(crate) fn new(properties: &HashMap<String, String>) -> Result<Self> {
        let size = |key: &str, default: u64| match properties.get(key) {
            None => Ok(default),
            Some(text) => text.trim().parse().ok().filter(|n| *n > 0).ok_or_else(|| {
                Error::input(format!("table property {key}={text} is not a positive whole number"))
            }),
        };
        let bytes = |key, default| size(key, default).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        Ok(Self {
            target_file_size: size("write.target-file-size-bytes", 512 << 20)?,
            compression: compression(properties)?,
            row_group_bytes: bytes("write.parquet.row-group-size-bytes", 128 << 20)?,
            page_bytes: bytes("write.parquet.page-size-bytes", 1 << 20)?,
            page_rows: bytes("write.parquet.page-row-limit", 20_000)?,
            dictionary_bytes: bytes("write.parquet.dict-size-bytes", 2 << 20)?,
        })
    }

    /// Encoder properties for files of `schema`, which is `schema_json` in Iceberg's form.
    pub(super) fn properties(&self, schema: &SchemaDescriptor, schema_json: String) -> WriterProperties {
        let builder = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_created_by(format!("calve {}", env!("CARGO_PKG_VERSION")))
            .set_compression(self.compression)
            .set_max_row_group_bytes(Some(self.row_group_bytes))
            .set_data_page_size_limit(self.page_bytes)
            .set_data_page_row_count_limit(self.page_rows)
            .set_dictionary_page_size_limit(self.dictionary_bytes)
            .set_key_value_metadata(Some(vec![KeyValue::new("iceberg.schema".to_owned(), schema_json)]));
        // The Java library orders uuids by signed halves, and would skip row groups that hold the one
        // that is looked for.
        let uuids = schema.columns().iter().filter(|c| c.logical_type_ref() == Some(&LogicalType::Uuid));
        let skip = |builder: WriterPropertiesBuilder, column: &ColumnDescPtr| {
            builder.set_column_statistics_enabled(column.path().clone(), EnabledStatistics::None)
        };
        uuids.fold(builder, skip).build()
    }

    /// Bytes of rows that may be handed to the encoder before the size of the file is looked at.
    pub(crate) fn step_bytes(&self) -> usize {
        let of_file = usize::try_from(self.target_file_size / 16).unwrap_or(MAX_STEP_BYTES);
        of_file.min(self.row_group_bytes / 8).clamp(MIN_STEP_BYTES, MAX_STEP_BYTES)
    }
}

fn compression(properties: &HashMap<String, String>) -> Result<Compression> {
    let codec = properties.get(CODEC).map_or("zstd", String::as_str);
    let level = properties.get(LEVEL).map(|l| l.trim());
    let refuse_level = |range: &str| {
        Error::input(format!(
            "table property {LEVEL}={} is not a level of {codec}: {range} is",
            level.unwrap_or_default()
        ))
    };
    Ok(match codec.trim().to_ascii_lowercase().as_str() {
        "uncompressed" | "none" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        "lz4" | "lz4_raw" => Compression::LZ4_RAW,
        "zstd" => {
            let level = level.map_or(Ok(3), |l| l.parse().map_err(|_| refuse_level("1 to 22")))?;
            Compression::ZSTD(ZstdLevel::try_new(level).map_err(|_| refuse_level("1 to 22"))?)
        }
        "gzip" => {
            let level = level.map_or(Ok(6), |l| l.parse().map_err(|_| refuse_level("0 to 9")))?;
            Compression::GZIP(GzipLevel::try_new(level).map_err(|_| refuse_level("0 to 9"))?)
        }
        "brotli" => {
            let level = level.map_or(Ok(1), |l| l.parse().map_err(|_| refuse_level("0 to 11")))?;
            Compression::BROTLI(BrotliLevel::try_new(level).map_err(|_| refuse_level("0 to 11"))?)
        }
        _ => {
            return Err(Error::input(format!(
                "table property {CODEC}={codec} is not a codec calve writes: zstd, gzip, snappy, lz4, brotli or uncompressed is"
            )));
        }
    })
}

const CODEC: &str = "write.parquet.compression-codec";
const LEVEL: &str = "write.parquet.compression-level";
const MIN_STEP_BYTES: usize = 64 << 10;
const MAX_STEP_BYTES: usize = 32 << 20;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Result<ParquetSettings> {
        ParquetSettings::new(&pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn files_are_zstd_at_level_3_unless_the_table_says_otherwise() {
        assert_eq!(settings(&[]).unwrap().compression, Compression::ZSTD(ZstdLevel::try_new(3).unwrap()));
        assert_eq!(settings(&[(CODEC, "snappy")]).unwrap().compression, Compression::SNAPPY);
    }

    #[test]
    fn an_unknown_codec_is_refused_naming_the_known_ones() {
        let e = settings(&[(CODEC, "lzo")]).unwrap_err().to_string();
        assert!(e.contains("lzo") && e.contains("zstd"), "{e}");
    }

    #[test]
    fn a_level_out_of_range_is_refused_naming_the_range() {
        let e = settings(&[(LEVEL, "40")]).unwrap_err().to_string();
        assert_eq!(e, "table property write.parquet.compression-level=40 is not a level of zstd: 1 to 22 is");
    }
}
