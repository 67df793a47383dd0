use std::iter::repeat_n;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, LargeBinaryArray, StringArray, new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use crate::value::Value;
use crate::{Error, Result};

/// `rows` times the same value, or null.
pub(super) fn constant(value: Option<&Value>, data_type: &DataType, rows: usize) -> Result<ArrayRef> {
    let Some(value) = value else { return Ok(new_null_array(data_type, rows)) };
    let refuse = || Error::damaged(format!("value {value} does not fit a column of type {data_type}"));
    let array: ArrayRef = match (value, data_type) {
        (Value::Boolean(v), _) => Arc::new(BooleanArray::from(vec![*v; rows])),
        (Value::Int(v), DataType::Date32) => Arc::new(Date32Array::from_value(*v, rows)),
        (Value::Int(v), _) => Arc::new(Int32Array::from_value(*v, rows)),
        (Value::Long(v), _) => Arc::new(Int64Array::from_value(*v, rows)),
        (Value::Float(v), _) => Arc::new(Float32Array::from_value(*v, rows)),
        (Value::Double(v), _) => Arc::new(Float64Array::from_value(*v, rows)),
        (Value::Decimal(v), DataType::Decimal128(precision, scale)) => {
            let array = Decimal128Array::from_value(*v, rows).with_precision_and_scale(*precision, *scale);
            Arc::new(array.map_err(|e| refuse().with_source(e))?)
        }
        (Value::Text(v), _) => Arc::new(StringArray::from_iter_values(repeat_n(v, rows))),
        (Value::Bytes(v), DataType::FixedSizeBinary(width)) => {
            if usize::try_from(*width).ok() != Some(v.len()) {
                return Err(refuse());
            }
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(repeat_n(Some(v), rows), *width);
            Arc::new(array.map_err(|e| refuse().with_source(e))?)
        }
        (Value::Bytes(v), _) => Arc::new(LargeBinaryArray::from_iter_values(repeat_n(v, rows))),
        _ => return Err(refuse()),
    };
    if array.data_type() == data_type {
        return Ok(array);
    }
    // Timestamps and times: the same numbers under another type.
    match (value, data_type) {
        (Value::Long(_), DataType::Timestamp(..) | DataType::Time64(_)) => {
            cast(&array, data_type).map_err(|e| refuse().with_source(e))
        }
        _ => Err(refuse()),
    }
}
