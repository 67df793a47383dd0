use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::*;
use iceberg::spec::{Literal, PrimitiveLiteral as L, PrimitiveType as P};

/// A column of Iceberg type `of`, in the Arrow type tables use.
pub(crate) fn column(of: &P, values: &[Option<L>]) -> ArrayRef {
    let int = |v: &Option<L>| match v {
        Some(L::Int(v)) => Some(*v),
        _ => None,
    };
    let long = |v: &Option<L>| match v {
        Some(L::Long(v)) => Some(*v),
        _ => None,
    };
    let bytes = |v: &Option<L>| match v {
        Some(L::Binary(v)) => Some(v.clone()),
        Some(L::UInt128(v)) => Some(v.to_be_bytes().to_vec()),
        _ => None,
    };
    let ints = values.iter().map(int);
    let longs = values.iter().map(long);
    match of {
        P::Boolean => Arc::new(
            values
                .iter()
                .map(|v| match v {
                    Some(L::Boolean(v)) => Some(*v),
                    _ => None,
                })
                .collect::<BooleanArray>(),
        ),
        P::Int => Arc::new(ints.collect::<Int32Array>()),
        P::Date => Arc::new(ints.collect::<Date32Array>()),
        P::Long => Arc::new(longs.collect::<Int64Array>()),
        P::Time => Arc::new(longs.collect::<Time64MicrosecondArray>()),
        P::Timestamp => Arc::new(longs.collect::<TimestampMicrosecondArray>()),
        P::Timestamptz => Arc::new(longs.collect::<TimestampMicrosecondArray>().with_timezone("+00:00")),
        P::TimestampNs => Arc::new(longs.collect::<TimestampNanosecondArray>()),
        P::TimestamptzNs => Arc::new(longs.collect::<TimestampNanosecondArray>().with_timezone("+00:00")),
        P::Float => Arc::new(
            values
                .iter()
                .map(|v| match v {
                    Some(L::Float(v)) => Some(v.0),
                    _ => None,
                })
                .collect::<Float32Array>(),
        ),
        P::Double => Arc::new(
            values
                .iter()
                .map(|v| match v {
                    Some(L::Double(v)) => Some(v.0),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        P::Decimal { precision, scale } => Arc::new(
            values
                .iter()
                .map(|v| match v {
                    Some(L::Int128(v)) => Some(*v),
                    _ => None,
                })
                .collect::<Decimal128Array>()
                .with_data_type(DataType::Decimal128(*precision as u8, *scale as i8)),
        ),
        P::String => Arc::new(
            values
                .iter()
                .map(|v| match v {
                    Some(L::String(v)) => Some(v.clone()),
                    _ => None,
                })
                .collect::<StringArray>(),
        ),
        P::Binary => Arc::new(values.iter().map(bytes).collect::<LargeBinaryArray>()),
        P::Uuid => fixed(16, values.iter().map(bytes)),
        P::Fixed(n) => fixed(*n as i32, values.iter().map(bytes)),
    }
}

fn fixed(width: i32, values: impl Iterator<Item = Option<Vec<u8>>>) -> ArrayRef {
    Arc::new(
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, width)
            .expect("every value has the width"),
    )
}

/// A literal of the text that the data files hold.
pub(crate) fn parse(of: &P, text: &str) -> L {
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len() / 2)
            .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal"))
            .collect()
    };
    let literal = match of {
        P::Boolean => Literal::bool(text == "true"),
        P::Int | P::Date => Literal::int(text.parse::<i32>().expect("an int")),
        P::Float => Literal::float(text.parse::<f32>().expect("a float")),
        P::Double => Literal::double(text.parse::<f64>().expect("a double")),
        P::Decimal { .. } => Literal::decimal(text.parse().expect("an unscaled decimal")),
        P::String => Literal::string(text),
        P::Uuid => {
            Literal::Primitive(L::UInt128(u128::from_str_radix(&text.replace('-', ""), 16).expect("a uuid")))
        }
        P::Fixed(_) | P::Binary => Literal::binary(hex(text)),
        _ => Literal::long(text.parse::<i64>().expect("a long")),
    };
    literal.as_primitive_literal().expect("a primitive")
}

/// The text of a literal, as the data files hold it.
pub(crate) fn show(value: &L) -> String {
    match value {
        L::Boolean(v) => v.to_string(),
        L::Int(v) => v.to_string(),
        L::Long(v) => v.to_string(),
        L::Int128(v) => v.to_string(),
        // Their bits, which tell zeros apart.
        L::Float(v) => format!("{:08x}", v.to_bits()),
        L::Double(v) => format!("{:016x}", v.to_bits()),
        L::String(v) => v.clone(),
        L::Binary(v) => v.iter().map(|byte| format!("{byte:02x}")).collect(),
        L::UInt128(v) => {
            let hex = format!("{v:032x}");
            [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
        }
        other => format!("{other:?}"),
    }
}

/// The value of one row, whatever the array's layout.
pub(crate) fn literal(array: &dyn Array, row: usize, of: &P) -> Option<L> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Boolean => L::Boolean(array.as_boolean().value(row)),
        DataType::Int32 => L::Int(array.as_primitive::<Int32Type>().value(row)),
        DataType::Date32 => L::Int(array.as_primitive::<Date32Type>().value(row)),
        DataType::Int64 => L::Long(array.as_primitive::<Int64Type>().value(row)),
        DataType::Time64(_) => L::Long(array.as_primitive::<Time64MicrosecondType>().value(row)),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            L::Long(array.as_primitive::<TimestampNanosecondType>().value(row))
        }
        DataType::Timestamp(_, _) => L::Long(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        DataType::Float32 => Literal::float(array.as_primitive::<Float32Type>().value(row))
            .as_primitive_literal()
            .expect("a primitive"),
        DataType::Float64 => Literal::double(array.as_primitive::<Float64Type>().value(row))
            .as_primitive_literal()
            .expect("a primitive"),
        DataType::Decimal128(_, _) => L::Int128(array.as_primitive::<Decimal128Type>().value(row)),
        DataType::Utf8 => L::String(array.as_string::<i32>().value(row).to_owned()),
        DataType::LargeBinary => L::Binary(array.as_binary::<i64>().value(row).to_vec()),
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value(row);
            match of {
                P::Uuid => L::UInt128(u128::from_be_bytes(bytes.try_into().expect("16 bytes"))),
                _ => L::Binary(bytes.to_vec()),
            }
        }
        other => panic!("no partition value has the type {other}"),
    })
}
