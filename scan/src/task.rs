use std::collections::BTreeMap;

use arrow::datatypes::SchemaRef;
use iceberg::spec::{Literal, PartitionField, PartitionSpec, Schema};
use serde::{Deserialize, Serialize};

use crate::filter::Expr;
use crate::value::Value;

/// A stretch of one data file to read: everything that differs between the files of a scan.
///
/// With the scan's [`ReadContext`] and access to the store it can be read anywhere, in any process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScanTask {
    /// The file, as the manifest stores its path.
    pub path: String,
    /// First byte of the stretch: row groups that begin within it are read.
    pub start: u64,
    /// Bytes in the stretch.
    pub length: u64,
    /// Bytes in the whole file.
    pub file_size: u64,
    /// Rows in the whole file.
    pub record_count: u64,
    /// The file's format.
    pub format: FileFormat,
    /// The parts of [`ReadContext::filter`] that rows of this file must still be tested for, as
    /// positions; the others are true for all its rows.
    pub residual: Vec<usize>,
    /// The partition spec the file was written under.
    pub spec_id: i32,
    /// The file's partition, in the order of that spec's fields; `None` is null.
    pub partition: Vec<Option<Value>>,
    /// The file's data sequence number.
    pub sequence_number: i64,
}

/// A data file format calve reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FileFormat {
    /// Apache Parquet.
    Parquet,
}

/// What all tasks of a scan share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadContext {
    pub(crate) schema: Schema,
    /// Field ids of the output's columns, in order.
    pub(crate) columns: Vec<i32>,
    #[serde(with = "ipc_schema")]
    pub(crate) output: SchemaRef,
    pub(crate) filter: Vec<Expr>,
    pub(crate) specs: BTreeMap<i32, PartitionSpec>,
    /// As the table's property has it: parsed when a file needs it.
    pub(crate) name_mapping: Option<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) batch_size: usize,
}

impl ReadContext {
    /// The table's schema the scan was planned with.
    pub fn table_schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema of the batches read.
    pub fn schema(&self) -> SchemaRef {
        self.output.clone()
    }

    /// The parts of the filter, all of which must be true, as text.
    pub fn filter(&self) -> impl Iterator<Item = String> + '_ {
        self.filter.iter().map(ToString::to_string)
    }

    /// A task's partition as people read it, `ts_month=2013-01, origin=JFK`; empty for an unpartitioned
    /// file.
    pub fn partition_name(&self, task: &ScanTask) -> String {
        let Some(spec) = self.specs.get(&task.spec_id) else { return String::new() };
        let named = spec.fields().iter().zip(&task.partition).map(|(field, value)| {
            let shown = value.as_ref().map_or_else(
                || "null".to_owned(),
                |value| self.partition_value(field, value).unwrap_or_else(|| value.show(None)),
            );
            format!("{}={shown}", field.name)
        });
        named.collect::<Vec<_>>().join(", ")
    }

    fn partition_value(&self, field: &PartitionField, value: &Value) -> Option<String> {
        let source = self.schema.field_by_id(field.source_id)?.field_type.as_primitive_type()?;
        let of = calve_partition::result_type(field.transform, source).ok()?;
        let literal = Literal::Primitive(value.to_datum(&of)?.literal().clone());
        calve_partition::human(field.transform, &literal, &of)
    }
}

/// An Arrow schema as the flatbuffer of its IPC form.
mod ipc_schema {
    use std::sync::Arc;

    use arrow::datatypes::SchemaRef;
    use arrow::ipc::convert::{IpcSchemaEncoder, fb_to_schema};
    use arrow::ipc::root_as_schema;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(schema: &SchemaRef, serializer: S) -> Result<S::Ok, S::Error> {
        IpcSchemaEncoder::new().schema_to_fb(schema).finished_data().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SchemaRef, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let schema = root_as_schema(&bytes).map_err(serde::de::Error::custom)?;
        Ok(Arc::new(fb_to_schema(schema)))
    }
}
