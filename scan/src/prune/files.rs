use std::collections::HashMap;

use iceberg::spec::{DataFile, Datum, PrimitiveType};

use super::Facts;
use super::facts::Count;
use crate::filter::Column;
use crate::value::Value;

/// What a manifest entry says of `column` in its file, in the table's type.
///
/// A bound that can't be read as that type is not known.
pub(crate) fn file_facts(file: &DataFile, column: &Column) -> Facts {
    let Some(kind) = &column.kind else { return Facts::default() };
    let rows = file.record_count();
    let bound = |datum: Option<&Datum>| datum.and_then(|d| Value::promoted(d.data_type(), d.literal(), kind));
    // A writer that leaves out the nulls of an enclosing struct counts fewer values than rows.
    let counts_rows = file.value_counts().get(&column.id).is_none_or(|values| *values == rows);
    let count = |counts: &HashMap<i32, u64>| match counts_rows {
        true => Count::of(counts.get(&column.id).copied(), rows),
        false => Count::Unknown,
    };
    let nans = match kind {
        PrimitiveType::Float | PrimitiveType::Double => count(file.nan_value_counts()),
        _ => Count::None,
    };
    Facts::new(
        bound(file.lower_bounds().get(&column.id)),
        bound(file.upper_bounds().get(&column.id)),
        count(file.null_value_counts()),
        nans,
    )
}
