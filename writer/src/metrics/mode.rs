use std::collections::HashMap;

use iceberg::spec::{NestedFieldRef, Schema, Type};

use crate::{Error, Result};

/// How much is recorded of a column (`write.metadata.metrics.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsMode {
    /// Nothing.
    None,
    /// Value, null and NaN counts.
    Counts,
    /// Counts and bounds, strings and binary cut to this many code points or bytes.
    Truncate(usize),
    /// Counts and whole bounds.
    Full,
}

impl MetricsMode {
    fn parse(key: &str, text: &str) -> Result<Self> {
        let lower = text.trim().to_ascii_lowercase();
        match lower.as_str() {
            "none" => return Ok(Self::None),
            "counts" => return Ok(Self::Counts),
            "full" => return Ok(Self::Full),
            _ => {}
        }
        lower
            .strip_prefix("truncate(")
            .and_then(|rest| rest.strip_suffix(')'))
            .and_then(|n| n.trim().parse().ok())
            .filter(|n| *n > 0)
            .map(Self::Truncate)
            .ok_or_else(|| {
                Error::input(format!(
                    "table property {key}={text} is not a metrics mode: none, counts, truncate(n) or full is"
                ))
            })
    }
}

/// The mode of every primitive field of `schema`, by field id.
///
/// Only the first 100 (`write.metadata.metrics.max-inferred-column-defaults`) get the default mode
/// where the table names none itself, so that a wide table's manifests stay small.
pub(crate) fn metrics_modes(
    schema: &Schema,
    properties: &HashMap<String, String>,
) -> Result<HashMap<i32, MetricsMode>> {
    let default = properties.get(DEFAULT).map(|text| MetricsMode::parse(DEFAULT, text)).transpose()?;
    let inferred = match properties.get(MAX_INFERRED) {
        None => DEFAULT_MAX_INFERRED,
        Some(text) => text.parse().map_err(|_| {
            Error::input(format!("table property {MAX_INFERRED}={text} is not a number of columns"))
        })?,
    };
    let mut leaves = Vec::new();
    schema.as_struct().fields().iter().for_each(|field| collect_leaves(field, &mut leaves));
    leaves
        .into_iter()
        .enumerate()
        .map(|(index, id)| {
            let own = schema.name_by_field_id(id).map(|name| format!("{COLUMN}{name}"));
            let own = own.and_then(|key| properties.get(&key).map(|text| MetricsMode::parse(&key, text)));
            let mode = match (own, default) {
                (Some(own), _) => own?,
                (None, Some(default)) => default,
                (None, None) if index < inferred => MetricsMode::Truncate(DEFAULT_LENGTH),
                (None, None) => MetricsMode::None,
            };
            Ok((id, mode))
        })
        .collect()
}

fn collect_leaves(field: &NestedFieldRef, leaves: &mut Vec<i32>) {
    match field.field_type.as_ref() {
        Type::Primitive(_) => leaves.push(field.id),
        Type::Struct(nested) => nested.fields().iter().for_each(|f| collect_leaves(f, leaves)),
        Type::List(list) => collect_leaves(&list.element_field, leaves),
        Type::Map(map) => {
            collect_leaves(&map.key_field, leaves);
            collect_leaves(&map.value_field, leaves);
        }
    }
}

const DEFAULT: &str = "write.metadata.metrics.default";
const COLUMN: &str = "write.metadata.metrics.column.";
const MAX_INFERRED: &str = "write.metadata.metrics.max-inferred-column-defaults";
const DEFAULT_MAX_INFERRED: usize = 100;
const DEFAULT_LENGTH: usize = 16;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::sync::Arc;

    use iceberg::spec::{NestedField, PrimitiveType};

    use super::*;

    fn wide(columns: i32) -> Schema {
        let fields = (1..=columns).map(|id| {
            Arc::new(NestedField::optional(id, format!("c{id}"), Type::Primitive(PrimitiveType::Int)))
        });
        Schema::builder().with_fields(fields).build().unwrap()
    }

    fn modes(properties: &[(&str, &str)]) -> Result<HashMap<i32, MetricsMode>> {
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        metrics_modes(&wide(150), &properties)
    }

    #[test]
    fn the_first_hundred_columns_have_bounds() {
        let modes = modes(&[]).unwrap();
        assert_eq!(modes[&100], MetricsMode::Truncate(16));
        assert_eq!(modes[&101], MetricsMode::None);
    }

    #[test]
    fn a_default_that_is_asked_for_holds_for_every_column() {
        let modes =
            modes(&[(DEFAULT, "counts"), ("write.metadata.metrics.column.c150", "truncate(4)")]).unwrap();
        assert_eq!(modes[&1], MetricsMode::Counts);
        assert_eq!(modes[&149], MetricsMode::Counts);
        assert_eq!(modes[&150], MetricsMode::Truncate(4));
    }

    #[test]
    fn an_unknown_mode_is_refused_naming_what_is_known() {
        let e = modes(&[(DEFAULT, "truncate(0)")]).unwrap_err();
        assert_eq!(
            e.to_string(),
            "table property write.metadata.metrics.default=truncate(0) is not a metrics mode: none, counts, truncate(n) or full is"
        );
    }
}
