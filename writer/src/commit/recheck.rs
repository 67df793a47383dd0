//! Whether files made for one version of a table may join a later one.

use iceberg::spec::{PartitionSpec, PrimitiveType, Schema, TableMetadata, Type};

/// Checks that files with `schema` and `spec` fit the table as it is now; else says which change is in
/// the way.
///
/// `base` is the version the write was planned on. A `created` table was staged and made by somebody
/// else meanwhile, so its columns must be the very same.
pub(super) fn recheck(
    base: &TableMetadata,
    schema: &Schema,
    spec: &PartitionSpec,
    created: bool,
    now: &TableMetadata,
) -> Result<(), String> {
    if created {
        if now.current_schema().as_struct() != schema.as_struct() {
            return Err("the table was made by somebody else with other columns".to_owned());
        }
    } else {
        if now.uuid() != base.uuid() {
            return Err(format!(
                "the table was replaced: its uuid was {} and is {}",
                base.uuid(),
                now.uuid()
            ));
        }
        readable(schema, now.current_schema())?;
    }
    same_spec(spec, now).then_some(()).ok_or_else(|| {
        format!("partition spec {} the files were written with is not in the table any more", spec.spec_id())
    })
}

/// Whether the table has `spec` under its id.
pub(super) fn same_spec(spec: &PartitionSpec, now: &TableMetadata) -> bool {
    now.partition_spec_by_id(spec.spec_id()).is_some_and(|theirs| theirs.fields() == spec.fields())
}

/// Whether every column of the files can still be read, and no column they lack is needed.
fn readable(files: &Schema, now: &Schema) -> Result<(), String> {
    for id in 1..=files.highest_field_id() {
        let Some(ours) = files.field_by_id(id) else { continue };
        let name = files.name_by_field_id(id).unwrap_or(&ours.name);
        let Some(theirs) = now.field_by_id(id) else {
            return Err(format!("column {name:?} was dropped"));
        };
        let fits = match (ours.field_type.as_ref(), theirs.field_type.as_ref()) {
            (Type::Primitive(from), Type::Primitive(to)) => promotes(from, to),
            (Type::Struct(_), Type::Struct(_))
            | (Type::List(_), Type::List(_))
            | (Type::Map(_), Type::Map(_)) => true,
            _ => false,
        };
        if !fits {
            return Err(format!("column {name:?} was {} and is {}", ours.field_type, theirs.field_type));
        }
        if theirs.required && !ours.required {
            return Err(format!("column {name:?} became required"));
        }
    }
    for id in 1..=now.highest_field_id() {
        let Some(theirs) = now.field_by_id(id) else { continue };
        let new = files.field_by_id(id).is_none();
        // Below a struct, list or map that is new as well, nothing is missing.
        let needed = theirs.required && theirs.initial_default.is_none();
        if new && needed && parent_is_old(files, now, id) {
            let name = now.name_by_field_id(id).unwrap_or(&theirs.name);
            return Err(format!("required column {name:?} was added"));
        }
    }
    Ok(())
}

fn parent_is_old(files: &Schema, now: &Schema, id: i32) -> bool {
    let Some((parent, _)) = now.name_by_field_id(id).and_then(|name| name.rsplit_once('.')) else {
        return true;
    };
    now.field_by_name(parent).is_none_or(|parent| files.field_by_id(parent.id).is_some())
}

/// The promotions readers make (spec: "Schema Evolution").
fn promotes(from: &PrimitiveType, to: &PrimitiveType) -> bool {
    match (from, to) {
        (PrimitiveType::Int, PrimitiveType::Long) | (PrimitiveType::Float, PrimitiveType::Double) => true,
        (PrimitiveType::Decimal { precision: p, scale: s }, PrimitiveType::Decimal { precision, scale }) => {
            p <= precision && s == scale
        }
        _ => from == to,
    }
}
