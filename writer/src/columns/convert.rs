//! Carrying a match out on rows.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray, UInt64Array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{self, CastOptions};
use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use arrow::error::ArrowError;

use super::matching::{Convert, Matched, Source};
use super::rescale::rescale;
use crate::{Error, ErrorKind, Result};

/// Where an array stands, for errors.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    /// The number of the array's first row; `None` below a list or map, where values are not rows.
    first_row: Option<u64>,
}

pub(super) fn batch(
    columns: &[Matched],
    target: &SchemaRef,
    batch: &RecordBatch,
    first_row: u64,
) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let arrays = fields(columns, batch.columns(), rows, None, Some(first_row))?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(target), arrays, &options).map_err(|e| {
        Error::new(ErrorKind::Input, format!("the input does not fit the table: {e}")).with_source(e)
    })
}

fn fields(
    fields: &[Matched],
    arrays: &[ArrayRef],
    rows: usize,
    parent: Option<&NullBuffer>,
    first_row: Option<u64>,
) -> Result<Vec<ArrayRef>> {
    fields.iter().map(|field| one(field, arrays, rows, parent, first_row)).collect()
}

/// The values of one table field. Nulls of a required field are refused, except under a null parent.
fn one(
    field: &Matched,
    arrays: &[ArrayRef],
    rows: usize,
    parent: Option<&NullBuffer>,
    first_row: Option<u64>,
) -> Result<ArrayRef> {
    let place = Place { path: &field.path, first_row };
    let array = match &field.source {
        Source::Nulls => return Ok(arrow::array::new_null_array(field.target.data_type(), rows)),
        Source::Default(value) => {
            let all_first = UInt64Array::from(vec![0; rows]);
            compute::take(value, &all_first, None).map_err(|e| place.failed(&e))?
        }
        Source::Field(index, convert) => value(convert, &arrays[*index], &field.target, place)?,
    };
    if !field.target.is_nullable() {
        refuse_nulls(&array, parent, place)?;
    }
    Ok(array)
}

fn value(convert: &Convert, array: &ArrayRef, target: &FieldRef, place: Place<'_>) -> Result<ArrayRef> {
    match convert {
        Convert::Same => Ok(Arc::clone(array)),
        Convert::Nulls => Ok(arrow::array::new_null_array(target.data_type(), array.len())),
        Convert::Cast => strict_cast(array, target.data_type()).map_err(|e| place.failed(&e)),
        Convert::Via(plain, then) => {
            let array = strict_cast(array, plain).map_err(|e| place.failed(&e))?;
            value(then, &array, target, place)
        }
        Convert::Rescale(scale) => {
            let done = rescale(array, *scale, target.data_type()).map_err(|e| place.failed(&e))?;
            done.map_err(|misfit| {
                place.refused(
                    misfit.index,
                    &format!(
                        "{} of {} is not a whole value of {}",
                        misfit.value,
                        array.data_type(),
                        target.data_type()
                    ),
                )
            })
        }
        Convert::Struct(nested) => {
            let input = array.as_struct();
            let DataType::Struct(targets) = target.data_type() else { return Err(place.mismatch()) };
            let nulls = input.nulls().cloned();
            let columns = fields(nested, input.columns(), input.len(), nulls.as_ref(), place.first_row)?;
            let made = StructArray::try_new_with_length(targets.clone(), columns, nulls, input.len());
            made.map(|a| Arc::new(a) as ArrayRef).map_err(|e| place.failed(&e))
        }
        Convert::List(element) => {
            let array = without_hidden_values(array, array.as_list::<i32>().offsets())
                .map_err(|e| place.failed(&e))?;
            let list = array.as_list::<i32>();
            let DataType::List(element_target) = target.data_type() else { return Err(place.mismatch()) };
            let (offsets, from, length) = rebased(list.offsets());
            let values = one(element, &[list.values().slice(from, length)], length, None, None)?;
            let made = ListArray::try_new(Arc::clone(element_target), offsets, values, list.nulls().cloned());
            made.map(|a| Arc::new(a) as ArrayRef).map_err(|e| place.failed(&e))
        }
        Convert::Map(key, item) => {
            let array =
                without_hidden_values(array, array.as_map().offsets()).map_err(|e| place.failed(&e))?;
            let map = array.as_map();
            let DataType::Map(entries_target, sorted) = target.data_type() else {
                return Err(place.mismatch());
            };
            let DataType::Struct(targets) = entries_target.data_type() else { return Err(place.mismatch()) };
            let (offsets, from, length) = rebased(map.offsets());
            let keys = one(key, &[map.keys().slice(from, length)], length, None, None)?;
            let values = one(item, &[map.values().slice(from, length)], length, None, None)?;
            let entries = StructArray::try_new(targets.clone(), vec![keys, values], None)
                .map_err(|e| place.failed(&e))?;
            let made = MapArray::try_new(
                Arc::clone(entries_target),
                offsets,
                entries,
                map.nulls().cloned(),
                *sorted,
            );
            made.map(|a| Arc::new(a) as ArrayRef).map_err(|e| place.failed(&e))
        }
    }
}

fn refuse_nulls(array: &ArrayRef, parent: Option<&NullBuffer>, place: Place<'_>) -> Result<()> {
    if array.null_count() == 0 {
        return Ok(());
    }
    let Some(nulls) = array.logical_nulls() else { return Ok(()) };
    let shown = |index: usize| parent.is_none_or(|p| p.is_valid(index));
    match (0..nulls.len()).find(|index| nulls.is_null(*index) && shown(*index)) {
        Some(index) => Err(place.refused(index, "the value is null, but the column is required")),
        None => Ok(()),
    }
}

/// Null lists may still span values; those are nobody's.
fn without_hidden_values(array: &ArrayRef, offsets: &OffsetBuffer<i32>) -> Result<ArrayRef, ArrowError> {
    let hidden = array.nulls().is_some_and(|nulls| {
        nulls.null_count() > 0 && (0..nulls.len()).any(|i| nulls.is_null(i) && offsets[i] != offsets[i + 1])
    });
    if !hidden {
        return Ok(Arc::clone(array));
    }
    let all = UInt64Array::from_iter_values(0..array.len() as u64);
    compute::take(array, &all, None)
}

/// Offsets from zero, and the part of the values they span.
fn rebased(offsets: &OffsetBuffer<i32>) -> (OffsetBuffer<i32>, usize, usize) {
    let at = |offset: i32| usize::try_from(offset).unwrap_or_default();
    let (first, last) = (at(offsets[0]), at(offsets[offsets.len() - 1]));
    (OffsetBuffer::from_lengths(offsets.lengths()), first, last - first)
}

fn strict_cast(array: &ArrayRef, target: &DataType) -> Result<ArrayRef, ArrowError> {
    compute::cast_with_options(array, target, &CastOptions { safe: false, ..CastOptions::default() })
}

impl Place<'_> {
    fn refused(self, index: usize, why: &str) -> Error {
        let path = self.path;
        Error::input(match self.first_row {
            Some(first) => format!("column {path:?}, row {}: {why}", first + index as u64),
            None => format!("column {path:?}: {why}"),
        })
    }

    fn failed(self, source: &ArrowError) -> Error {
        Error::input(format!("column {:?} can't be converted: {source}", self.path))
    }

    fn mismatch(self) -> Error {
        Error::new(ErrorKind::Failed, format!("column {:?} has another shape than was planned", self.path))
    }
}
