//! Which input column becomes which table column, decided before any row is seen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef, TimeUnit};
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::spec::{NestedFieldRef, PrimitiveType, Schema, Type};

use super::convert;
use super::default::literal_array;
use super::rescale::Scale;
use crate::{Error, ErrorKind, Result};

/// The way from batches of one schema to batches of the table's.
#[derive(Debug)]
pub(crate) struct Matching {
    input: SchemaRef,
    columns: Vec<Matched>,
    target: SchemaRef,
}

/// One field of the table and where its values come from.
#[derive(Debug)]
pub(super) struct Matched {
    pub(super) path: String,
    pub(super) target: FieldRef,
    pub(super) source: Source,
}

#[derive(Debug)]
pub(super) enum Source {
    /// The n-th field of the input, converted.
    Field(usize, Convert),
    /// Nowhere: null in every row.
    Nulls,
    /// The field's write default, an array of one value.
    Default(ArrayRef),
}

/// What becomes of an array. None of it loses a value silently.
#[derive(Debug)]
pub(super) enum Convert {
    Same,
    Cast,
    Rescale(Scale),
    /// Cast to the plain type first: dictionaries, run ends, other kinds of list.
    Via(DataType, Box<Convert>),
    Struct(Vec<Matched>),
    List(Box<Matched>),
    Map(Box<Matched>, Box<Matched>),
    Nulls,
}

impl Matching {
    /// Matches the columns of `input` with those of `table` by name, at every depth.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] naming every column that doesn't fit.
    pub(crate) fn new(input: &SchemaRef, table: &Schema) -> Result<Self> {
        let target = schema_to_arrow_schema(table).map_err(|e| {
            Error::from_iceberg(ErrorKind::Unsupported, "the table's schema has no arrow form", e)
        })?;
        let mut walk = Walk { problems: Vec::new() };
        let columns = walk.fields("", input.fields(), table.as_struct().fields(), target.fields());
        if !walk.problems.is_empty() {
            return Err(Error::input(format!(
                "the input does not fit the table: {}",
                walk.problems.join("; ")
            )));
        }
        Ok(Self { input: Arc::clone(input), columns, target: Arc::new(target) })
    }

    /// The table's Arrow schema, with field ids.
    pub(crate) fn target(&self) -> &SchemaRef {
        &self.target
    }

    /// `batch` in the table's schema; `first_row` is its first row's number in the write, for errors.
    pub(crate) fn convert(&self, batch: &RecordBatch, first_row: u64) -> Result<RecordBatch> {
        convert::batch(&self.columns, &self.target, batch, first_row)
    }

    /// Whether `batch` has the columns this was made for.
    pub(crate) fn check(&self, batch: &RecordBatch) -> Result<()> {
        let (planned, given) = (self.input.fields(), batch.schema_ref().fields());
        let same = planned.len() == given.len() && planned.iter().zip(given).all(|(p, g)| same_field(p, g));
        if same {
            return Ok(());
        }
        Err(Error::input(format!(
            "a batch has columns ({}), but the write was planned for ({})",
            list(batch.schema_ref()),
            list(&self.input)
        )))
    }
}

/// Alike in names and types; whether nulls are allowed is seen row by row.
fn same_field(a: &Field, b: &Field) -> bool {
    use DataType as D;
    a.name() == b.name()
        && (a.data_type() == b.data_type()
            || match (a.data_type(), b.data_type()) {
                (D::Struct(a), D::Struct(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_field(a, b))
                }
                (D::List(a), D::List(b)) | (D::LargeList(a), D::LargeList(b)) => same_field(a, b),
                (D::FixedSizeList(a, n), D::FixedSizeList(b, m)) => n == m && same_field(a, b),
                (D::Map(a, _), D::Map(b, _)) => same_field(a, b),
                (a, b) => a.equals_datatype(b) && !a.is_nested(),
            })
}

fn list(schema: &ArrowSchema) -> String {
    let mut out = String::new();
    for (i, field) in schema.fields().iter().enumerate() {
        let _ = write!(out, "{}{} {}", if i == 0 { "" } else { ", " }, field.name(), field.data_type());
    }
    out
}

struct Walk {
    problems: Vec<String>,
}

impl Walk {
    fn fields(
        &mut self,
        above: &str,
        input: &Fields,
        table: &[NestedFieldRef],
        target: &Fields,
    ) -> Vec<Matched> {
        let mut by_name = HashMap::with_capacity(input.len());
        for (index, field) in input.iter().enumerate() {
            if by_name.insert(field.name().as_str(), index).is_some() {
                self.problems.push(format!("column {:?} comes more than once", join(above, field.name())));
            }
        }
        let known: HashMap<&str, ()> = table.iter().map(|f| (f.name.as_str(), ())).collect();
        let absent: Vec<&str> =
            table.iter().map(|f| f.name.as_str()).filter(|name| !by_name.contains_key(name)).collect();
        for field in input {
            if !known.contains_key(field.name().as_str()) {
                let path = join(above, field.name());
                let all = table.iter().map(|f| f.name.as_str());
                // A column that is missing is the likelier meaning of one that is extra.
                let near = calve_uri::nearest(field.name(), absent.iter().copied())
                    .or_else(|| calve_uri::nearest(field.name(), all));
                self.problems.push(match near {
                    Some(near) => {
                        format!("column {path:?} is not in the table; did you mean {:?}?", join(above, near))
                    }
                    None => format!("column {path:?} is not in the table"),
                });
            }
        }
        table
            .iter()
            .zip(target)
            .map(|(field, target)| {
                let path = join(above, &field.name);
                let source = match by_name.get(field.name.as_str()) {
                    Some(index) => Source::Field(*index, self.value(&path, &input[*index], field, target)),
                    None => self.missing(&path, field, target),
                };
                Matched { path, target: Arc::clone(target), source }
            })
            .collect()
    }

    fn missing(&mut self, path: &str, field: &NestedFieldRef, target: &FieldRef) -> Source {
        match &field.write_default {
            Some(literal) => match literal_array(literal, target.data_type()) {
                Some(array) => Source::Default(array),
                None => {
                    self.problems.push(format!(
                        "column {path:?} is missing, and its write default of type {} can't be filled in; give its values",
                        field.field_type
                    ));
                    Source::Nulls
                }
            },
            None => {
                if field.required {
                    self.problems.push(format!("column {path:?} is required but missing"));
                }
                Source::Nulls
            }
        }
    }

    fn value(&mut self, path: &str, input: &FieldRef, field: &NestedFieldRef, target: &FieldRef) -> Convert {
        match self.convert(path, input.data_type(), &field.field_type, target.data_type()) {
            Some(Convert::Nulls) if field.required => {
                self.problems.push(format!("column {path:?} is required but holds only nulls"));
                Convert::Nulls
            }
            Some(convert) => convert,
            None => {
                self.problems.push(refusal(path, input, &field.field_type));
                Convert::Same
            }
        }
    }

    /// `None` when the types don't fit; problems below them are noted here.
    fn convert(&mut self, path: &str, input: &DataType, table: &Type, target: &DataType) -> Option<Convert> {
        match (input, table, target) {
            (DataType::Null, _, _) => Some(Convert::Nulls),
            (DataType::Dictionary(_, values), _, _) => self.via(path, values, table, target),
            (DataType::RunEndEncoded(_, values), _, _) => self.via(path, values.data_type(), table, target),
            (DataType::Struct(fields), Type::Struct(nested), DataType::Struct(targets)) => {
                Some(Convert::Struct(self.fields(path, fields, nested.fields(), targets)))
            }
            (DataType::List(element), Type::List(list), DataType::List(target)) => {
                let matched = self.part(path, "element", element, &list.element_field, target);
                Some(Convert::List(Box::new(matched)))
            }
            (
                DataType::LargeList(element)
                | DataType::ListView(element)
                | DataType::LargeListView(element)
                | DataType::FixedSizeList(element, _),
                Type::List(_),
                DataType::List(_),
            ) => self.via(path, &DataType::List(Arc::clone(element)), table, target),
            (DataType::Map(entries, _), Type::Map(map), DataType::Map(targets, _)) => {
                let (DataType::Struct(entries), DataType::Struct(targets)) =
                    (entries.data_type(), targets.data_type())
                else {
                    return None;
                };
                let ([key, value], [key_target, value_target]) = (&entries[..], &targets[..]) else {
                    return None;
                };
                let key = self.part(path, "key", key, &map.key_field, key_target);
                let value = self.part(path, "value", value, &map.value_field, value_target);
                Some(Convert::Map(Box::new(key), Box::new(value)))
            }
            (_, Type::Primitive(kind), _) => primitive(input, kind, target),
            _ => None,
        }
    }

    fn via(&mut self, path: &str, plain: &DataType, table: &Type, target: &DataType) -> Option<Convert> {
        let then = self.convert(path, plain, table, target)?;
        Some(Convert::Via(plain.clone(), Box::new(then)))
    }

    fn part(
        &mut self,
        above: &str,
        name: &str,
        input: &FieldRef,
        field: &NestedFieldRef,
        target: &FieldRef,
    ) -> Matched {
        let path = join(above, name);
        let convert = self.value(&path, input, field, target);
        Matched { path, target: Arc::clone(target), source: Source::Field(0, convert) }
    }
}

/// The conversion of a primitive that keeps every value, or is refused row by row.
fn primitive(input: &DataType, table: &PrimitiveType, target: &DataType) -> Option<Convert> {
    use DataType as D;
    use PrimitiveType as P;
    if input == target {
        return Some(Convert::Same);
    }
    let fits = match (input, table) {
        (D::Int8 | D::Int16 | D::Int32 | D::UInt8 | D::UInt16, P::Int | P::Long)
        | (D::UInt32, P::Long)
        | (D::Float16, P::Float | P::Double)
        | (D::Float32, P::Double)
        | (D::LargeUtf8 | D::Utf8View, P::String)
        | (D::Binary | D::BinaryView | D::FixedSizeBinary(_), P::Binary) => true,
        (D::UInt64, P::Decimal { precision, scale }) => *precision >= 20 && *scale == 0,
        (
            D::Decimal32(p, s) | D::Decimal64(p, s) | D::Decimal128(p, s) | D::Decimal256(p, s),
            P::Decimal { precision, scale },
        ) => u32::from(*p) <= *precision && i64::from(*s) == i64::from(*scale),
        _ => false,
    };
    if fits {
        return Some(Convert::Cast);
    }
    let scale = match (input, table, target) {
        (D::Date64, P::Date, _) => Scale::Divide(86_400_000),
        (D::Time32(from) | D::Time64(from), P::Time, _) => Scale::between(*from, TimeUnit::Microsecond),
        (D::Timestamp(from, None), P::Timestamp | P::TimestampNs, D::Timestamp(to, _))
        | (D::Timestamp(from, Some(_)), P::Timestamptz | P::TimestamptzNs, D::Timestamp(to, _)) => {
            Scale::between(*from, *to)
        }
        _ => return None,
    };
    Some(Convert::Rescale(scale))
}

fn refusal(path: &str, input: &Field, table: &Type) -> String {
    let data_type = input.data_type();
    let hint = match (data_type, table) {
        (
            DataType::Timestamp(_, None),
            Type::Primitive(PrimitiveType::Timestamptz | PrimitiveType::TimestamptzNs),
        ) => "; give its values a time zone",
        (
            DataType::Timestamp(_, Some(_)),
            Type::Primitive(PrimitiveType::Timestamp | PrimitiveType::TimestampNs),
        ) => "; take the time zone off its values",
        (DataType::UInt64, _) => "; decimal(20,0) holds every uint64",
        _ => "",
    };
    format!(
        "column {path:?} is {data_type} in the input and {table} in the table, which would lose information{hint}"
    )
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") }
}
