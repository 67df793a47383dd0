//! A Parquet file's footer, and the Arrow types its columns are read as.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema as ArrowSchema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::{AsyncFileReader, ParquetObjectReader};
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::ParquetMetaData;

use crate::{Error, Result};

/// Reads the footer.
///
/// Types come from the Parquet schema alone: what Arrow writers embed beside it may be another
/// spelling of them. Legacy 96-bit timestamps are read as microseconds, which hold all of them.
pub(super) async fn load(reader: &mut ParquetObjectReader, file: &str) -> Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let parquet = reader.get_metadata(Some(&options)).await.map_err(|e| Error::from_file(file, e))?;
    let plain = ArrowReaderMetadata::try_new(parquet.clone(), options.clone())
        .map_err(|e| Error::from_file(file, e))?;
    match without_nanoseconds(&parquet, plain.schema()) {
        None => Ok(plain),
        Some(schema) => ArrowReaderMetadata::try_new(parquet, options.with_schema(schema))
            .map_err(|e| Error::from_file(file, e)),
    }
}

/// The file's schema with 96-bit timestamps as microseconds; `None` when it has none.
fn without_nanoseconds(parquet: &ParquetMetaData, schema: &SchemaRef) -> Option<SchemaRef> {
    let columns = parquet.file_metadata().schema_descr().columns();
    let legacy: BTreeSet<usize> =
        (0..columns.len()).filter(|leaf| columns[*leaf].physical_type() == PhysicalType::INT96).collect();
    if legacy.is_empty() {
        return None;
    }
    let mut leaf = 0;
    let fields = in_microseconds(schema.fields(), &mut leaf, &legacy);
    Some(Arc::new(ArrowSchema::new_with_metadata(fields, schema.metadata().clone())))
}

fn in_microseconds(fields: &Fields, leaf: &mut usize, legacy: &BTreeSet<usize>) -> Fields {
    fields.iter().map(|f| Arc::new(field_in_microseconds(f, leaf, legacy))).collect()
}

fn field_in_microseconds(field: &Field, leaf: &mut usize, legacy: &BTreeSet<usize>) -> Field {
    let data_type = match field.data_type() {
        DataType::Struct(children) => DataType::Struct(in_microseconds(children, leaf, legacy)),
        DataType::List(element) => DataType::List(Arc::new(field_in_microseconds(element, leaf, legacy))),
        DataType::Map(entries, sorted) => {
            DataType::Map(Arc::new(field_in_microseconds(entries, leaf, legacy)), *sorted)
        }
        other => {
            let this = *leaf;
            *leaf += 1;
            if legacy.contains(&this) {
                DataType::Timestamp(TimeUnit::Microsecond, None)
            } else {
                other.clone()
            }
        }
    };
    field.clone().with_data_type(data_type)
}
