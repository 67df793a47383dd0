//! Where a partition field's source column lies, in a schema and in a batch.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::compute::nullif;
use arrow::datatypes::{DataType, Fields};
use iceberg::spec::{NestedFieldRef, PrimitiveType, Schema, StructType, Type};

use crate::error::{Error, Result};

/// Arrow metadata key under which a table's Arrow schema carries Iceberg field ids.
const FIELD_ID: &str = "PARQUET:field_id";

/// A primitive column, reached from the top of a schema through structs only.
#[derive(Clone, Debug)]
pub(crate) struct SourceColumn {
    /// Dotted name, for messages.
    name: String,
    /// Field ids from the top-level column down to the source itself.
    path: Vec<i32>,
    /// The source's type.
    pub(crate) primitive: PrimitiveType,
}

impl SourceColumn {
    /// The column with this id, or `None` where it is missing, inside a list or map, or no primitive.
    pub(crate) fn find(schema: &Schema, id: i32) -> Option<Self> {
        let mut path = Vec::new();
        let field = descend(schema.as_struct(), id, &mut path)?;
        let Type::Primitive(primitive) = field.field_type.as_ref() else {
            return None;
        };
        path.reverse();
        Some(Self {
            name: schema.name_by_field_id(id).unwrap_or(&field.name).to_owned(),
            path,
            primitive: primitive.clone(),
        })
    }

    /// This column of a batch, null where any struct around it is null.
    ///
    /// # Errors
    /// [`ErrorKind::Batch`](crate::ErrorKind::Batch) when the batch's field ids do not lead to it.
    pub(crate) fn of(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        let missing = || {
            Error::batch(format!(
                "the batch has no column {:?}: it must be in the table's arrow schema, \
                 with field ids in {FIELD_ID:?}",
                self.name
            ))
        };
        let (top, nested) = self.path.split_first().ok_or_else(missing)?;
        let at = position(batch.schema_ref().fields(), *top).ok_or_else(missing)?;
        let mut column = batch.column(at).clone();
        let mut above: Option<NullBuffer> = None;
        for id in nested {
            let parent = column.as_struct_opt().ok_or_else(missing)?;
            let DataType::Struct(fields) = parent.data_type() else {
                return Err(missing());
            };
            let at = position(fields, *id).ok_or_else(missing)?;
            above = NullBuffer::union(above.as_ref(), parent.nulls());
            let child = parent.column(at).clone();
            column = child;
        }
        match above {
            Some(nulls) if nulls.null_count() > 0 => {
                let absent = BooleanArray::new(!nulls.inner(), None);
                nullif(&column, &absent).map_err(|error| {
                    let message = format!("column {:?} can't be read: {error}", self.name);
                    Error::batch(message).with_source(error)
                })
            }
            _ => Ok(column),
        }
    }
}

/// The field with this id below `parent`, its path pushed innermost first.
fn descend<'a>(parent: &'a StructType, id: i32, path: &mut Vec<i32>) -> Option<&'a NestedFieldRef> {
    for field in parent.fields() {
        let found = match field.field_type.as_ref() {
            _ if field.id == id => Some(field),
            Type::Struct(inner) => descend(inner, id, path),
            _ => None,
        };
        if found.is_some() {
            path.push(field.id);
            return found;
        }
    }
    None
}

fn position(fields: &Fields, id: i32) -> Option<usize> {
    fields.iter().position(|field| {
        let carried = field.metadata().get(FIELD_ID);
        carried.and_then(|text| text.parse().ok()) == Some(id)
    })
}
