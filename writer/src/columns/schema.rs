//! The Iceberg schema of a new table.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, TimeUnit};
use iceberg::spec::{
    FormatVersion, ListType, MapType, NestedField, NestedFieldRef, PrimitiveType, Schema, StructType, Type,
};

use crate::{Error, ErrorKind, Result};

/// The schema a new table gets for rows of `arrow`: optional unless not nullable. The ids are
/// placeholders: making the table assigns them afresh, in the spec's order.
///
/// # Errors
/// [`ErrorKind::Input`] naming every column that has no Iceberg type.
pub(crate) fn schema_from_arrow(arrow: &ArrowSchema, version: FormatVersion) -> Result<Schema> {
    if arrow.fields().is_empty() {
        return Err(Error::input("the input has no columns; a new table needs at least one"));
    }
    let mut walk = Walk { version, next_id: 1, problems: Vec::new() };
    let fields: Vec<NestedFieldRef> =
        arrow.fields().iter().filter_map(|field| walk.field(field, field.name())).collect();
    if !walk.problems.is_empty() {
        return Err(Error::input(format!("can't make a table for the input: {}", walk.problems.join("; "))));
    }
    Schema::builder()
        .with_fields(fields)
        .build()
        .map_err(|e| Error::from_iceberg(ErrorKind::Input, "can't make a table for the input", e))
}

struct Walk {
    version: FormatVersion,
    next_id: i32,
    problems: Vec<String>,
}

impl Walk {
    fn field(&mut self, field: &Field, path: &str) -> Option<NestedFieldRef> {
        let id = self.take_id();
        let kind = self.kind(field, path)?;
        Some(Arc::new(NestedField::new(id, field.name().clone(), kind, !field.is_nullable())))
    }

    fn kind(&mut self, field: &Field, path: &str) -> Option<Type> {
        if is_uuid(field) {
            return Some(Type::Primitive(PrimitiveType::Uuid));
        }
        self.data_type(field.data_type(), path)
    }

    fn data_type(&mut self, data_type: &DataType, path: &str) -> Option<Type> {
        match data_type {
            DataType::Dictionary(_, values) => self.data_type(values, path),
            DataType::RunEndEncoded(_, values) => self.kind(values, path),
            DataType::Struct(fields) => {
                if fields.is_empty() {
                    self.problems.push(format!("column {path:?} is a struct without fields; give it one"));
                    return None;
                }
                let fields: Vec<_> = fields
                    .iter()
                    .map(|f| self.field(f, &format!("{path}.{}", f.name())))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .collect::<Option<_>>()?;
                Some(Type::Struct(StructType::new(fields)))
            }
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _) => {
                let id = self.take_id();
                let kind = self.kind(element, &format!("{path}.element"))?;
                let element_field = Arc::new(NestedField::list_element(id, kind, !element.is_nullable()));
                Some(Type::List(ListType { element_field }))
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(entries) = entries.data_type() else {
                    return self.refuse(data_type, path);
                };
                let [key, value] = &entries[..] else { return self.refuse(data_type, path) };
                let (key_id, value_id) = (self.take_id(), self.take_id());
                let key_kind = self.kind(key, &format!("{path}.key"));
                let value_kind = self.kind(value, &format!("{path}.value"));
                Some(Type::Map(MapType {
                    key_field: Arc::new(NestedField::map_key_element(key_id, key_kind?)),
                    value_field: Arc::new(NestedField::map_value_element(
                        value_id,
                        value_kind?,
                        !value.is_nullable(),
                    )),
                }))
            }
            DataType::Null => {
                self.problems.push(format!(
                    "column {path:?} holds only nulls and has no type; give it one, or leave it out"
                ));
                None
            }
            primitive => match self.primitive(primitive) {
                Some(kind) => Some(Type::Primitive(kind)),
                None => self.refuse(primitive, path),
            },
        }
    }

    fn primitive(&self, data_type: &DataType) -> Option<PrimitiveType> {
        let nanoseconds = self.version >= FormatVersion::V3;
        Some(match data_type {
            DataType::Boolean => PrimitiveType::Boolean,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => {
                PrimitiveType::Int
            }
            DataType::UInt32 | DataType::Int64 => PrimitiveType::Long,
            DataType::UInt64 => PrimitiveType::Decimal { precision: 20, scale: 0 },
            DataType::Float16 | DataType::Float32 => PrimitiveType::Float,
            DataType::Float64 => PrimitiveType::Double,
            DataType::Decimal32(p, s)
            | DataType::Decimal64(p, s)
            | DataType::Decimal128(p, s)
            | DataType::Decimal256(p, s)
                if *p <= 38 =>
            {
                PrimitiveType::Decimal { precision: u32::from(*p), scale: u32::try_from(*s).ok()? }
            }
            DataType::Date32 | DataType::Date64 => PrimitiveType::Date,
            DataType::Time32(_) | DataType::Time64(_) => PrimitiveType::Time,
            DataType::Timestamp(TimeUnit::Nanosecond, None) if nanoseconds => PrimitiveType::TimestampNs,
            DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) if nanoseconds => PrimitiveType::TimestamptzNs,
            DataType::Timestamp(_, None) => PrimitiveType::Timestamp,
            DataType::Timestamp(_, Some(_)) => PrimitiveType::Timestamptz,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => PrimitiveType::String,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => PrimitiveType::Binary,
            DataType::FixedSizeBinary(width) => PrimitiveType::Fixed(u64::try_from(*width).ok()?),
            _ => return None,
        })
    }

    fn refuse(&mut self, data_type: &DataType, path: &str) -> Option<Type> {
        self.problems.push(format!("column {path:?} of arrow type {data_type} has no iceberg type"));
        None
    }

    fn take_id(&mut self) -> i32 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

fn is_uuid(field: &Field) -> bool {
    field.data_type() == &DataType::FixedSizeBinary(16)
        && field.metadata().get("ARROW:extension:name").is_some_and(|name| name == "arrow.uuid")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn kind_of(data_type: DataType, version: FormatVersion) -> Result<Type> {
        let schema = schema_from_arrow(&ArrowSchema::new(vec![Field::new("c", data_type, true)]), version)?;
        Ok(schema.as_struct().fields()[0].field_type.as_ref().clone())
    }

    #[test]
    fn every_arrow_type_has_the_iceberg_type_that_holds_its_values() {
        for (arrow, iceberg) in [
            (DataType::UInt8, PrimitiveType::Int),
            (DataType::UInt16, PrimitiveType::Int),
            (DataType::UInt32, PrimitiveType::Long),
            (DataType::UInt64, PrimitiveType::Decimal { precision: 20, scale: 0 }),
            (DataType::Float16, PrimitiveType::Float),
            (DataType::LargeUtf8, PrimitiveType::String),
            (DataType::Utf8View, PrimitiveType::String),
            (DataType::BinaryView, PrimitiveType::Binary),
            (DataType::Date64, PrimitiveType::Date),
            (DataType::Timestamp(TimeUnit::Second, None), PrimitiveType::Timestamp),
            (DataType::Timestamp(TimeUnit::Nanosecond, None), PrimitiveType::Timestamp),
            (
                DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Berlin".into())),
                PrimitiveType::Timestamptz,
            ),
            (DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)), PrimitiveType::String),
        ] {
            assert_eq!(
                kind_of(arrow.clone(), FormatVersion::V2).unwrap(),
                Type::Primitive(iceberg),
                "{arrow}"
            );
        }
    }

    #[test]
    fn nanoseconds_keep_their_unit_in_format_version_3() {
        let kind = kind_of(DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())), FormatVersion::V3);
        assert_eq!(kind.unwrap(), Type::Primitive(PrimitiveType::TimestamptzNs));
    }

    #[test]
    fn a_column_of_nulls_is_refused_because_it_has_no_type() {
        let e = kind_of(DataType::Null, FormatVersion::V2).unwrap_err();
        assert_eq!(
            e.to_string(),
            "can't make a table for the input: column \"c\" holds only nulls and has no type; give it one, or leave it out"
        );
    }

    #[test]
    fn a_decimal_of_negative_scale_is_refused() {
        let e = kind_of(DataType::Decimal128(5, -2), FormatVersion::V2).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Input);
    }
}
