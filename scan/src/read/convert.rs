//! From a column as a file holds it to the column as the table has it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, MapArray, StructArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, FieldRef, Fields, Int64Type, TimeUnit};
use arrow::error::ArrowError;
use iceberg::arrow::type_to_arrow_type;
use iceberg::spec::{NestedField, PrimitiveType, Type};

use super::constant::constant;
use super::shape::{FileField, Shape};
use crate::value::Value;
use crate::{Error, Result};

/// Where a table column comes from in one file.
#[derive(Debug)]
pub(super) enum Source {
    /// The n-th column (or struct child) read, converted.
    Child(usize, Convert),
    /// The file does not have it: a default, a partition's value, or null.
    Constant(Option<Value>, DataType),
}

#[derive(Debug)]
pub(super) enum Convert {
    Primitive(Cast),
    Struct(Vec<Source>, Fields),
    List(Box<Convert>, FieldRef),
    Map(Box<Convert>, Box<Convert>, FieldRef),
}

#[derive(Debug)]
pub(super) enum Cast {
    /// By Arrow's own rules, failing where a value does not fit.
    Arrow(DataType),
    /// Ticks of a clock, multiplied or divided (rounding down) into the table's unit.
    Ticks { times: i64, over: i64, to: DataType },
}

/// What a conversion is made for.
pub(super) struct Context<'a> {
    pub(super) file: &'a str,
    /// Values of identity partition fields, by the id of the column they stand for.
    pub(super) partition: &'a HashMap<i32, Value>,
}

impl Source {
    /// The source of table column `field` among `children` of the file.
    pub(super) fn new(context: &Context<'_>, children: &[FileField], field: &NestedField) -> Result<Self> {
        if let Some(at) = children.iter().position(|c| c.id == Some(field.id)) {
            return Ok(Self::Child(at, Convert::new(context, &children[at], &field.field_type)?));
        }
        let data_type = arrow_type(&field.field_type)?;
        if let Type::Primitive(kind) = field.field_type.as_ref() {
            let given = context.partition.get(&field.id).cloned();
            let given = given.or_else(|| field.initial_default.as_ref().and_then(Value::of));
            if let Some(value) = given.and_then(|value| value.widened(kind)) {
                return Ok(Self::Constant(Some(value), data_type));
            }
        }
        if field.required {
            return Err(Error::damaged(format!(
                "column `{}` is required, has no default, and is missing from data file {}",
                field.name, context.file
            )));
        }
        Ok(Self::Constant(None, data_type))
    }

    /// The column for a batch of `rows` rows.
    pub(super) fn array(&self, children: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        match self {
            Self::Child(at, convert) => {
                let child = children
                    .get(*at)
                    .ok_or_else(|| Error::damaged("a column is missing from what was read"))?;
                convert.apply(child)
            }
            Self::Constant(value, data_type) => constant(value.as_ref(), data_type, rows),
        }
    }
}

impl Convert {
    fn new(context: &Context<'_>, file: &FileField, table: &Type) -> Result<Self> {
        let refuse = || {
            let held = match &file.shape {
                Shape::Leaf(_) => file.data_type.to_string(),
                Shape::Struct(_) => "a struct".to_owned(),
                Shape::List(_) => "a list".to_owned(),
                Shape::Map(..) => "a map".to_owned(),
            };
            Error::damaged(format!(
                "column `{}` is {table} in the table but {held} in data file {}, and iceberg does not promote that",
                file.name, context.file
            ))
        };
        match (&file.shape, table) {
            (Shape::Leaf(_), Type::Primitive(kind)) => {
                Cast::new(&file.data_type, kind, arrow_type(table)?).map(Self::Primitive).ok_or_else(refuse)
            }
            (Shape::Struct(children), Type::Struct(fields)) => {
                let DataType::Struct(target) = arrow_type(table)? else { return Err(refuse()) };
                let sources: Result<Vec<_>> =
                    fields.fields().iter().map(|field| Source::new(context, children, field)).collect();
                Ok(Self::Struct(sources?, target))
            }
            (Shape::List(element), Type::List(list)) => {
                let DataType::List(target) = arrow_type(table)? else { return Err(refuse()) };
                let inner = Self::new(context, element, &list.element_field.field_type)?;
                Ok(Self::List(Box::new(inner), target))
            }
            (Shape::Map(key, value), Type::Map(map)) => {
                let DataType::Map(target, _) = arrow_type(table)? else { return Err(refuse()) };
                let key = Self::new(context, key, &map.key_field.field_type)?;
                let value = Self::new(context, value, &map.value_field.field_type)?;
                Ok(Self::Map(Box::new(key), Box::new(value), target))
            }
            _ => Err(refuse()),
        }
    }

    fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Self::Primitive(cast) => cast.apply(array).map_err(arrow_error),
            Self::Struct(sources, fields) => {
                let array = array.as_struct_opt().ok_or_else(unlike)?;
                let children: Result<Vec<_>> =
                    sources.iter().map(|source| source.array(array.columns(), array.len())).collect();
                let built = StructArray::try_new_with_length(
                    fields.clone(),
                    children?,
                    array.nulls().cloned(),
                    array.len(),
                );
                Ok(Arc::new(built.map_err(arrow_error)?))
            }
            Self::List(inner, field) => {
                let array = array.as_list_opt::<i32>().ok_or_else(unlike)?;
                let values = inner.apply(array.values())?;
                let built = ListArray::try_new(
                    field.clone(),
                    array.offsets().clone(),
                    values,
                    array.nulls().cloned(),
                );
                Ok(Arc::new(built.map_err(arrow_error)?))
            }
            Self::Map(key, value, field) => {
                let array = array.as_map_opt().ok_or_else(unlike)?;
                let DataType::Struct(pair) = field.data_type() else { return Err(unlike()) };
                let entries = StructArray::try_new_with_length(
                    pair.clone(),
                    vec![key.apply(array.keys())?, value.apply(array.values())?],
                    None,
                    array.entries().len(),
                );
                let built = MapArray::try_new(
                    field.clone(),
                    array.offsets().clone(),
                    entries.map_err(arrow_error)?,
                    array.nulls().cloned(),
                    false,
                );
                Ok(Arc::new(built.map_err(arrow_error)?))
            }
        }
    }
}

impl Cast {
    /// The promotion from a file's type to the table's; `None` when there is none.
    fn new(file: &DataType, table: &PrimitiveType, to: DataType) -> Option<Self> {
        use DataType as D;
        use PrimitiveType as P;
        let fits = match (table, file) {
            // A column written with nothing but nulls.
            (_, D::Null) => true,
            (P::Boolean, D::Boolean) => true,
            (P::Int, D::Int8 | D::Int16 | D::Int32 | D::UInt8 | D::UInt16) => true,
            (P::Long, D::Int8 | D::Int16 | D::Int32 | D::Int64 | D::UInt8 | D::UInt16 | D::UInt32) => true,
            (P::Float, D::Float16 | D::Float32) => true,
            (P::Double, D::Float16 | D::Float32 | D::Float64) => true,
            (
                P::Decimal { precision, scale },
                D::Decimal32(p, s) | D::Decimal64(p, s) | D::Decimal128(p, s),
            ) => u32::from(*p) <= *precision && u32::try_from(*s).ok() == Some(*scale),
            (P::Date, D::Date32) => true,
            (P::String, D::Utf8 | D::LargeUtf8 | D::Utf8View | D::Binary) => true,
            (P::Binary, D::Binary | D::LargeBinary | D::BinaryView) => true,
            (P::Uuid, D::FixedSizeBinary(width)) => *width == 16,
            (P::Fixed(length), D::FixedSizeBinary(width)) => u64::try_from(*width).ok() == Some(*length),
            (P::Time, D::Time32(unit) | D::Time64(unit)) => {
                return Some(Self::ticks(*unit, TimeUnit::Microsecond, to));
            }
            // Whether a file says its timestamps are instants differs by writer; the table decides.
            (P::Timestamp | P::Timestamptz, D::Timestamp(unit, _)) => {
                return Some(Self::ticks(*unit, TimeUnit::Microsecond, to));
            }
            (P::TimestampNs | P::TimestamptzNs, D::Timestamp(unit, _)) => {
                return Some(Self::ticks(*unit, TimeUnit::Nanosecond, to));
            }
            (P::Timestamp, D::Date32) => return Some(Self::Ticks { times: 86_400_000_000, over: 1, to }),
            (P::TimestampNs, D::Date32) => {
                return Some(Self::Ticks { times: 86_400_000_000_000, over: 1, to });
            }
            _ => false,
        };
        fits.then_some(Self::Arrow(to))
    }

    fn ticks(from: TimeUnit, table: TimeUnit, to: DataType) -> Self {
        let (from, table) = (ticks_a_second(from), ticks_a_second(table));
        Self::Ticks { times: (table / from).max(1), over: (from / table).max(1), to }
    }

    fn apply(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let exact = CastOptions { safe: false, ..CastOptions::default() };
        match self {
            Self::Arrow(to) if array.data_type() == to => Ok(array.clone()),
            Self::Arrow(to) => cast_with_options(array, to, &exact),
            Self::Ticks { times: 1, over: 1, to } if array.data_type() == to => Ok(array.clone()),
            Self::Ticks { times, over, to } => {
                // Days and 32-bit times are integers of their own width first.
                let array = match array.data_type() {
                    DataType::Date32 | DataType::Time32(_) => {
                        cast_with_options(array, &DataType::Int32, &exact)?
                    }
                    _ => array.clone(),
                };
                let ticks = cast_with_options(&array, &DataType::Int64, &exact)?;
                let ticks = ticks.as_primitive::<Int64Type>();
                let scaled: Int64Array = match (*times, *over) {
                    (1, 1) => ticks.clone(),
                    (1, over) => ticks.unary(|v| v.div_euclid(over)),
                    (times, _) => ticks.try_unary(|v| {
                        v.checked_mul(times).ok_or_else(|| {
                            ArrowError::ComputeError(format!(
                                "{v} is beyond what the table's timestamps hold"
                            ))
                        })
                    })?,
                };
                cast_with_options(&scaled, to, &exact)
            }
        }
    }
}

fn ticks_a_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn arrow_type(table: &Type) -> Result<DataType> {
    type_to_arrow_type(table)
        .map_err(|e| Error::unsupported(format!("type {table} has no Arrow type")).with_source(e))
}

fn arrow_error(source: ArrowError) -> Error {
    Error::damaged(format!("a value does not fit its column: {source}")).with_source(source)
}

fn unlike() -> Error {
    Error::damaged("a column was read in another shape than its file declares")
}
