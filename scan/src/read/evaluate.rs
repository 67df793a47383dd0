//! A filter on rows, exactly: the last word after all pruning.

use std::cmp::Ordering;

use arrow::array::{
    Array, ArrayAccessor, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray,
};
use arrow::compute::{and, is_not_null, is_null, or};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};

use arrow::error::ArrowError;

use crate::filter::{Column, Expr, Test};
use crate::value::{Value, compare_floats};
use crate::{Error, Result};

/// How two results become one.
type Join = fn(&BooleanArray, &BooleanArray) -> std::result::Result<BooleanArray, ArrowError>;

/// Which of `rows` rows make `expr` true. Unknown is false here: no NOT is left to tell them apart.
pub(super) fn evaluate(
    expr: &Expr,
    column: &impl Fn(&Column) -> Result<ArrayRef>,
    rows: usize,
) -> Result<BooleanArray> {
    let join = |parts: &[Expr], start: bool, how: Join| {
        let mut joined = BooleanArray::from(vec![start; rows]);
        for part in parts {
            let next = evaluate(part, column, rows)?;
            joined = how(&joined, &next)
                .map_err(|e| Error::damaged(format!("can't filter: {e}")).with_source(e))?;
        }
        Ok(joined)
    };
    match expr {
        Expr::True => Ok(BooleanArray::from(vec![true; rows])),
        Expr::False => Ok(BooleanArray::from(vec![false; rows])),
        Expr::And(parts) => join(parts, true, and),
        Expr::Or(parts) => join(parts, false, or),
        Expr::Test(tested, test) => {
            let passed = apply(test, tested, column(tested)?.as_ref())?;
            Ok(match passed.nulls() {
                Some(nulls) => BooleanArray::new(passed.values() & nulls.inner(), None),
                None => passed,
            })
        }
    }
}

fn apply(test: &Test, column: &Column, array: &dyn Array) -> Result<BooleanArray> {
    let arrow_error = |e| Error::damaged(format!("can't test column `{}`: {e}", column.name)).with_source(e);
    match test {
        Test::IsNull => return is_null(array).map_err(arrow_error),
        Test::NotNull => return is_not_null(array).map_err(arrow_error),
        _ => {}
    }
    let unlike = || {
        Error::damaged(format!(
            "column `{}` of type {} can't be tested this way",
            column.name,
            array.data_type()
        ))
    };
    match array.data_type() {
        DataType::Boolean => ordered(
            test,
            array.as_boolean(),
            |v: &Value| match v {
                Value::Boolean(v) => Some(*v),
                _ => None,
            },
            Ord::cmp,
        ),
        DataType::Int32 => integers::<Int32Type>(test, array, int),
        DataType::Date32 => integers::<Date32Type>(test, array, int),
        DataType::Int64 => integers::<Int64Type>(test, array, long),
        DataType::Time64(TimeUnit::Microsecond) => integers::<Time64MicrosecondType>(test, array, long),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            integers::<TimestampMicrosecondType>(test, array, long)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            integers::<TimestampNanosecondType>(test, array, long)
        }
        DataType::Decimal128(..) => integers::<Decimal128Type>(test, array, |v| match v {
            Value::Decimal(v) => Some(*v),
            _ => None,
        }),
        DataType::Float32 => floats::<Float32Type>(test, array, |v| match v {
            Value::Float(v) => Some(*v),
            _ => None,
        }),
        DataType::Float64 => floats::<Float64Type>(test, array, |v| match v {
            Value::Double(v) => Some(*v),
            _ => None,
        }),
        DataType::Utf8 => text(test, array),
        DataType::LargeBinary => ordered(test, array.as_binary::<i64>(), bytes, |a: &&[u8], b| a.cmp(b)),
        DataType::FixedSizeBinary(_) => {
            ordered(test, array.as_fixed_size_binary(), bytes, |a: &&[u8], b| a.cmp(b))
        }
        _ => None,
    }
    .ok_or_else(unlike)
}

fn int(v: &Value) -> Option<i32> {
    match v {
        Value::Int(v) => Some(*v),
        _ => None,
    }
}

fn long(v: &Value) -> Option<i64> {
    match v {
        Value::Long(v) => Some(*v),
        _ => None,
    }
}

fn characters(v: &Value) -> Option<&str> {
    match v {
        Value::Text(v) => Some(v),
        _ => None,
    }
}

fn bytes(v: &Value) -> Option<&[u8]> {
    match v {
        Value::Bytes(v) => Some(v),
        _ => None,
    }
}

fn integers<T: ArrowPrimitiveType>(
    test: &Test,
    array: &dyn Array,
    native: impl Fn(&Value) -> Option<T::Native>,
) -> Option<BooleanArray>
where
    T::Native: Ord,
{
    let array: &PrimitiveArray<T> = array.as_primitive_opt()?;
    ordered(test, array, native, Ord::cmp)
}

fn floats<T: ArrowPrimitiveType>(
    test: &Test,
    array: &dyn Array,
    native: impl Fn(&Value) -> Option<T::Native>,
) -> Option<BooleanArray>
where
    T::Native: Into<f64>,
{
    let array: &PrimitiveArray<T> = array.as_primitive_opt()?;
    match test {
        Test::IsNan => Some(BooleanArray::from_unary(array, |v| v.into().is_nan())),
        Test::NotNan => Some(BooleanArray::from_unary(array, |v| !v.into().is_nan())),
        _ => ordered(test, array, native, |a, b| compare_floats((*a).into(), (*b).into())),
    }
}

fn text(test: &Test, array: &dyn Array) -> Option<BooleanArray> {
    let array = array.as_string_opt::<i32>()?;
    match test {
        Test::StartsWith(prefix) => {
            Some(BooleanArray::from_unary(array, |v: &str| v.starts_with(prefix.as_str())))
        }
        Test::NotStartsWith(prefix) => {
            Some(BooleanArray::from_unary(array, |v: &str| !v.starts_with(prefix.as_str())))
        }
        _ => ordered(test, array, characters, |a: &&str, b| a.cmp(b)),
    }
}

/// Comparisons and lists over any type with a total order.
fn ordered<'v, A: ArrayAccessor<Item = N>, N: Copy>(
    test: &'v Test,
    array: A,
    native: impl Fn(&'v Value) -> Option<N>,
    order: impl Fn(&N, &N) -> Ordering,
) -> Option<BooleanArray> {
    match test {
        Test::Compare(how, value) => {
            let value = native(value)?;
            Some(BooleanArray::from_unary(array, |v| how.holds(order(&v, &value))))
        }
        Test::In(values) | Test::NotIn(values) => {
            let values: Option<Vec<N>> = values.iter().map(native).collect();
            let values = values?;
            let wanted = matches!(test, Test::In(_));
            // The values are sorted by the same order.
            Some(BooleanArray::from_unary(array, |v| {
                values.binary_search_by(|x| order(x, &v)).is_ok() == wanted
            }))
        }
        _ => None,
    }
}
