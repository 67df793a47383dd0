//! The Parquet schema of a table's data files (spec, appendix A: Parquet).

use std::sync::Arc;

use iceberg::spec::{NestedFieldRef, PrimitiveType, Schema, Type};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{SchemaDescriptor, Type as ParquetType, TypePtr};

/// Columns with field ids and the logical type of their Iceberg type; uuid included, which an Arrow
/// schema would lose.
pub(super) fn parquet_schema(schema: &Schema) -> Result<SchemaDescriptor> {
    let fields = schema.as_struct().fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    let root = ParquetType::group_type_builder("table").with_fields(fields).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn column(field: &NestedFieldRef) -> Result<TypePtr> {
    named(&field.name, field)
}

fn named(name: &str, field: &NestedFieldRef) -> Result<TypePtr> {
    let repetition = if field.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let group = |fields, logical| {
        ParquetType::group_type_builder(name)
            .with_repetition(repetition)
            .with_id(Some(field.id))
            .with_logical_type(logical)
            .with_fields(fields)
            .build()
            .map(Arc::new)
    };
    match field.field_type.as_ref() {
        Type::Primitive(kind) => primitive(name, field.id, repetition, kind),
        Type::Struct(nested) => {
            let fields = nested.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
            group(fields, None)
        }
        Type::List(list) => {
            let repeated = repeated("list", vec![named("element", &list.element_field)?])?;
            group(vec![repeated], Some(LogicalType::List))
        }
        Type::Map(map) => {
            let entry = vec![named("key", &map.key_field)?, named("value", &map.value_field)?];
            group(vec![repeated("key_value", entry)?], Some(LogicalType::Map))
        }
    }
}

fn repeated(name: &str, fields: Vec<TypePtr>) -> Result<TypePtr> {
    let group =
        ParquetType::group_type_builder(name).with_repetition(Repetition::REPEATED).with_fields(fields);
    group.build().map(Arc::new)
}

fn primitive(name: &str, id: i32, repetition: Repetition, kind: &PrimitiveType) -> Result<TypePtr> {
    let timestamp = |is_adjusted_to_u_t_c, unit| {
        (Physical::INT64, Some(LogicalType::Timestamp { is_adjusted_to_u_t_c, unit }), -1)
    };
    let (physical, logical, length) = match kind {
        PrimitiveType::Boolean => (Physical::BOOLEAN, None, -1),
        PrimitiveType::Int => (Physical::INT32, None, -1),
        PrimitiveType::Long => (Physical::INT64, None, -1),
        PrimitiveType::Float => (Physical::FLOAT, None, -1),
        PrimitiveType::Double => (Physical::DOUBLE, None, -1),
        PrimitiveType::Decimal { precision, .. } => match precision {
            0..=9 => (Physical::INT32, None, -1),
            10..=18 => (Physical::INT64, None, -1),
            wide => (Physical::FIXED_LEN_BYTE_ARRAY, None, decimal_bytes(*wide)),
        },
        PrimitiveType::Date => (Physical::INT32, Some(LogicalType::Date), -1),
        PrimitiveType::Time => {
            let logical = LogicalType::Time { is_adjusted_to_u_t_c: false, unit: TimeUnit::MICROS };
            (Physical::INT64, Some(logical), -1)
        }
        PrimitiveType::Timestamp => timestamp(false, TimeUnit::MICROS),
        PrimitiveType::Timestamptz => timestamp(true, TimeUnit::MICROS),
        PrimitiveType::TimestampNs => timestamp(false, TimeUnit::NANOS),
        PrimitiveType::TimestamptzNs => timestamp(true, TimeUnit::NANOS),
        PrimitiveType::String => (Physical::BYTE_ARRAY, Some(LogicalType::String), -1),
        PrimitiveType::Uuid => (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid), 16),
        PrimitiveType::Fixed(length) => {
            (Physical::FIXED_LEN_BYTE_ARRAY, None, i32::try_from(*length).unwrap_or(i32::MAX))
        }
        PrimitiveType::Binary => (Physical::BYTE_ARRAY, None, -1),
    };
    let mut builder = ParquetType::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_id(Some(id))
        .with_length(length);
    builder = match kind {
        PrimitiveType::Decimal { precision, scale } => {
            let (precision, scale) = (decimal_part(*precision), decimal_part(*scale));
            builder
                .with_logical_type(Some(LogicalType::Decimal { scale, precision }))
                .with_precision(precision)
                .with_scale(scale)
        }
        _ => builder.with_logical_type(logical),
    };
    builder.build().map(Arc::new)
}

fn decimal_part(digits: u32) -> i32 {
    i32::try_from(digits).unwrap_or(i32::MAX)
}

/// The fewest bytes whose two's complement holds `precision` digits.
fn decimal_bytes(precision: u32) -> i32 {
    Type::decimal_required_bytes(precision).ok().and_then(|n| i32::try_from(n).ok()).unwrap_or(16)
}
