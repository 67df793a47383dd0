//! Which columns come out, under which names and types.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema as ArrowSchema, SchemaRef};
use iceberg::arrow::type_to_arrow_type;
use iceberg::spec::{NestedFieldRef, Schema};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::names::{Found, Names};
use crate::{Error, Result};

/// The output's columns: field ids in order, and the schema of its batches.
pub(crate) fn output(
    schema: &Schema,
    names: &Names<'_>,
    select: Option<&[String]>,
    expected: Option<&SchemaRef>,
) -> Result<(Vec<i32>, SchemaRef)> {
    let asked: Vec<String> = match (select, expected) {
        (Some(select), _) => select.to_vec(),
        (None, Some(expected)) => expected.fields().iter().map(|f| f.name().clone()).collect(),
        (None, None) => schema.as_struct().fields().iter().map(|f| f.name.clone()).collect(),
    };
    let declared = expected.map(|e| declare(e, names)).transpose()?;
    let own = select.is_none() && expected.is_none();
    let mut ids = Vec::with_capacity(asked.len());
    let mut fields: Vec<FieldRef> = Vec::with_capacity(asked.len());
    let mut taken = HashSet::new();
    for name in &asked {
        let found = match own {
            // The table's own columns are found by id: a new name elsewhere can't confuse them.
            true => own_column(schema, name)?,
            false => names.find(if select.is_some() { "select" } else { "expected schema" }, name)?,
        };
        let output = names.output(&found, name);
        let field = table_field(&found, &output)?;
        let id = last(&found)?.id;
        let field = match &declared {
            None => field,
            Some(declared) => match declared.iter().find(|(declared_id, _)| *declared_id == id) {
                Some((_, as_declared)) => give(&field, as_declared)?,
                None => {
                    return Err(Error::input(format!(
                        "select names `{name}`, which the expected schema does not declare"
                    )));
                }
            },
        };
        if !taken.insert(output.clone()) {
            return Err(Error::input(format!(
                "two output columns would be named `{output}`; select each once and rename without clashes"
            )));
        }
        ids.push(id);
        fields.push(Arc::new(field));
    }
    Ok((ids, Arc::new(ArrowSchema::new(fields))))
}

/// The table's Arrow field of a column, optional when any struct around it is.
pub(crate) fn table_field(found: &Found, name: &str) -> Result<Field> {
    arrow_field(&found.path, name)
}

/// As [`table_field`], from the path alone.
pub(crate) fn arrow_field(path: &[NestedFieldRef], name: &str) -> Result<Field> {
    let Some(field) = path.last() else { return Err(Error::damaged("a column without a path")) };
    let data_type = type_to_arrow_type(&field.field_type)
        .map_err(|e| Error::unsupported(format!("column `{name}` has no Arrow type")).with_source(e))?;
    let nullable = path.iter().any(|f| !f.required);
    let mut metadata = std::collections::HashMap::new();
    metadata.insert(PARQUET_FIELD_ID_META_KEY.to_owned(), field.id.to_string());
    if let Some(doc) = &field.doc {
        metadata.insert("doc".to_owned(), doc.clone());
    }
    Ok(Field::new(name, data_type, nullable).with_metadata(metadata))
}

fn own_column(schema: &Schema, name: &str) -> Result<Found> {
    let field = schema.as_struct().field_by_name(name).cloned();
    let field = field.ok_or_else(|| Error::damaged(format!("column `{name}` is not in its own schema")))?;
    Ok(Found { path: vec![field], name: name.to_owned() })
}

fn last(found: &Found) -> Result<&NestedFieldRef> {
    found.path.last().ok_or_else(|| Error::damaged(format!("column `{}` has no field", found.name)))
}

fn declare(expected: &SchemaRef, names: &Names<'_>) -> Result<Vec<(i32, FieldRef)>> {
    expected
        .fields()
        .iter()
        .map(|field| {
            let found = names.find("expected schema", field.name())?;
            Ok((last(&found)?.id, field.clone()))
        })
        .collect()
}

/// `table` as `declared` wants it, if the table can give that.
fn give(table: &Field, declared: &Field) -> Result<Field> {
    let name = declared.name();
    if !can_give(table.data_type(), declared.data_type()) {
        return Err(Error::input(format!(
            "column `{name}` is {} in the table and can't be given as {}; declare it as {}, or wider where iceberg promotes",
            table.data_type(),
            declared.data_type(),
            table.data_type(),
        )));
    }
    if table.is_nullable() && !declared.is_nullable() {
        return Err(Error::input(format!(
            "column `{name}` is optional in the table and may hold nulls; declare it nullable"
        )));
    }
    let mut metadata = declared.metadata().clone();
    metadata.extend(table.metadata().clone());
    Ok(Field::new(table.name(), declared.data_type().clone(), declared.is_nullable()).with_metadata(metadata))
}

fn can_give(table: &DataType, declared: &DataType) -> bool {
    use DataType as D;
    let inner = |a: &Field, b: &Field| {
        can_give(a.data_type(), b.data_type()) && (b.is_nullable() || !a.is_nullable())
    };
    match (table, declared) {
        (D::Int32, D::Int64) | (D::Float32, D::Float64) => true,
        (D::Decimal128(p, s), D::Decimal128(wider, same) | D::Decimal256(wider, same)) => {
            wider >= p && s == same
        }
        (D::Utf8, D::LargeUtf8 | D::Utf8View) | (D::LargeBinary, D::Binary | D::BinaryView) => true,
        (D::Timestamp(a, Some(_)), D::Timestamp(b, Some(zone))) => {
            a == b && matches!(zone.as_ref(), "UTC" | "+00:00" | "Z" | "Etc/UTC")
        }
        (D::List(a), D::List(b) | D::LargeList(b)) => inner(a, b),
        (D::Struct(a), D::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name() == b.name() && inner(a, b))
        }
        (D::Map(a, _), D::Map(b, _)) => match (a.data_type(), b.data_type()) {
            (D::Struct(a), D::Struct(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| inner(a, b)),
            _ => false,
        },
        (a, b) => a == b,
    }
}
