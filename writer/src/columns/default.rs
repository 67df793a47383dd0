//! Write defaults as arrays.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array,
    Int64Array, LargeBinaryArray, StringArray,
};
use arrow::compute;
use arrow::datatypes::DataType;
use iceberg::spec::{Literal, PrimitiveLiteral};

/// An array of one value, of the table's Arrow type; `None` for a literal that has no array.
pub(super) fn literal_array(literal: &Literal, target: &DataType) -> Option<ArrayRef> {
    let Literal::Primitive(literal) = literal else { return None };
    let array: ArrayRef = match literal {
        PrimitiveLiteral::Boolean(v) => Arc::new(BooleanArray::from(vec![*v])),
        PrimitiveLiteral::Int(v) => Arc::new(Int32Array::from(vec![*v])),
        PrimitiveLiteral::Long(v) => Arc::new(Int64Array::from(vec![*v])),
        PrimitiveLiteral::Float(v) => Arc::new(Float32Array::from(vec![v.0])),
        PrimitiveLiteral::Double(v) => Arc::new(Float64Array::from(vec![v.0])),
        PrimitiveLiteral::String(v) => Arc::new(StringArray::from(vec![v.as_str()])),
        PrimitiveLiteral::Binary(v) => match target {
            DataType::FixedSizeBinary(_) => {
                Arc::new(FixedSizeBinaryArray::try_from_iter(std::iter::once(v)).ok()?)
            }
            _ => Arc::new(LargeBinaryArray::from(vec![v.as_slice()])),
        },
        PrimitiveLiteral::UInt128(v) => {
            Arc::new(FixedSizeBinaryArray::try_from_iter(std::iter::once(v.to_be_bytes())).ok()?)
        }
        PrimitiveLiteral::Int128(v) => {
            let DataType::Decimal128(precision, scale) = target else { return None };
            Arc::new(Decimal128Array::from(vec![*v]).with_precision_and_scale(*precision, *scale).ok()?)
        }
        PrimitiveLiteral::AboveMax | PrimitiveLiteral::BelowMin => return None,
    };
    if array.data_type() == target { Some(array) } else { compute::cast(&array, target).ok() }
}
