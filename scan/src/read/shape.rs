//! A data file's columns as a tree that knows their field ids, however the file came by them.

use std::collections::HashSet;

use arrow::datatypes::{DataType, Field, FieldRef, SchemaRef};
use iceberg::spec::{MappedField, NameMapping, Type};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::{Error, Result};

/// One column of a file, or a level within it.
#[derive(Clone, Debug)]
pub(super) struct FileField {
    pub(super) id: Option<i32>,
    pub(super) name: String,
    pub(super) data_type: DataType,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Its position among the file's leaf columns.
    Leaf(usize),
    Struct(Vec<FileField>),
    List(Box<FileField>),
    Map(Box<FileField>, Box<FileField>),
}

/// The columns of `file`, whose Arrow schema carries the field ids Parquet stores.
///
/// A file without any ids gets them from the name mapping; without one it is refused.
pub(super) fn columns(file: &str, schema: &SchemaRef, mapping: Option<&str>) -> Result<Vec<FileField>> {
    let mut leaves = 0;
    let mut fields: Vec<FileField> = schema.fields().iter().map(|f| FileField::of(f, &mut leaves)).collect();
    if fields.is_empty() || fields.iter().any(FileField::has_id) {
        return Ok(fields);
    }
    let Some(mapping) = mapping else {
        // Names prove nothing: a column renamed or replaced since would be read as another.
        return Err(Error::unsupported(format!(
            "data file {file} has no field ids and the table no name mapping; accepted are parquet files with field ids, or the table property schema.name-mapping.default that gives ids to the file's column names"
        )));
    };
    let mapping: NameMapping = serde_json::from_str(mapping).map_err(|e| {
        Error::damaged(format!(
            "data file {file} has no field ids, and table property schema.name-mapping.default is no name mapping: {e}"
        ))
        .with_source(e)
    })?;
    let mapped: Vec<&MappedField> = mapping.fields().iter().collect();
    fields.iter_mut().for_each(|f| f.map(&mapped));
    Ok(fields)
}

impl FileField {
    fn of(field: &FieldRef, leaves: &mut usize) -> Self {
        let shape = match field.data_type() {
            DataType::Struct(children) => {
                Shape::Struct(children.iter().map(|c| Self::of(c, leaves)).collect())
            }
            DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
                Shape::List(Box::new(Self::of(element, leaves)))
            }
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(pair) if pair.len() == 2 => {
                    let key = Self::of(&pair[0], leaves);
                    Shape::Map(Box::new(key), Box::new(Self::of(&pair[1], leaves)))
                }
                _ => Self::leaf(leaves),
            },
            _ => Self::leaf(leaves),
        };
        Self { id: field_id(field), name: field.name().clone(), data_type: field.data_type().clone(), shape }
    }

    fn leaf(leaves: &mut usize) -> Shape {
        let leaf = *leaves;
        *leaves += 1;
        Shape::Leaf(leaf)
    }

    fn children(&self) -> Vec<&FileField> {
        match &self.shape {
            Shape::Leaf(_) => Vec::new(),
            Shape::Struct(children) => children.iter().collect(),
            Shape::List(element) => vec![element],
            Shape::Map(key, value) => vec![key, value],
        }
    }

    fn has_id(&self) -> bool {
        self.id.is_some() || self.children().into_iter().any(Self::has_id)
    }

    fn map(&mut self, mapped: &[&MappedField]) {
        let Some(found) = mapped.iter().find(|m| m.names().contains(&self.name)) else { return };
        self.id = found.field_id();
        let inner: Vec<&MappedField> = found.fields().iter().map(AsRef::as_ref).collect();
        match &mut self.shape {
            Shape::Leaf(_) => {}
            Shape::Struct(children) => children.iter_mut().for_each(|c| c.map(&inner)),
            Shape::List(element) => element.map_as("element", &inner),
            Shape::Map(key, value) => {
                key.map_as("key", &inner);
                value.map_as("value", &inner);
            }
        }
    }

    /// Lists and maps name their parts in many ways; mappings call them by the format's names.
    fn map_as(&mut self, name: &str, mapped: &[&MappedField]) {
        let own = std::mem::replace(&mut self.name, name.to_owned());
        self.map(mapped);
        self.name = own;
    }

    /// This field with only the leaves in `wanted`, as the Parquet reader gives it; `None` if it has none.
    pub(super) fn pruned(&self, wanted: &HashSet<usize>) -> Option<Self> {
        let shape = match &self.shape {
            Shape::Leaf(leaf) => wanted.contains(leaf).then_some(Shape::Leaf(*leaf))?,
            Shape::Struct(children) => {
                let kept: Vec<_> = children.iter().filter_map(|c| c.pruned(wanted)).collect();
                if kept.is_empty() {
                    return None;
                }
                Shape::Struct(kept)
            }
            Shape::List(element) => Shape::List(Box::new(element.pruned(wanted)?)),
            Shape::Map(key, value) => {
                Shape::Map(Box::new(key.pruned(wanted)?), Box::new(value.pruned(wanted)?))
            }
        };
        Some(Self { shape, id: self.id, name: self.name.clone(), data_type: self.data_type.clone() })
    }

    /// Adds the leaves that a table column of type `table` needs of this one.
    ///
    /// Where a struct has none of the wanted children its first leaf stands in: it tells which structs
    /// are null.
    pub(super) fn want(&self, table: &Type, wanted: &mut HashSet<usize>) {
        match (&self.shape, table) {
            (Shape::Struct(children), Type::Struct(fields)) => {
                let mut inner = HashSet::new();
                for field in fields.fields() {
                    if let Some(child) = children.iter().find(|c| c.id == Some(field.id)) {
                        child.want(&field.field_type, &mut inner);
                    }
                }
                if inner.is_empty() {
                    inner.extend(self.first_leaf());
                }
                wanted.extend(inner);
            }
            (Shape::List(element), Type::List(list)) => element.want(&list.element_field.field_type, wanted),
            (Shape::Map(key, value), Type::Map(map)) => {
                key.want(&map.key_field.field_type, wanted);
                value.want(&map.value_field.field_type, wanted);
            }
            (Shape::Leaf(leaf), _) => _ = wanted.insert(*leaf),
            // Shapes that don't match are refused when the conversion is made.
            _ => wanted.extend(self.first_leaf()),
        }
    }

    fn first_leaf(&self) -> Option<usize> {
        match &self.shape {
            Shape::Leaf(leaf) => Some(*leaf),
            _ => self.children().into_iter().find_map(Self::first_leaf),
        }
    }
}

/// The field ids are strings in Arrow's metadata.
fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.parse().ok()
}
