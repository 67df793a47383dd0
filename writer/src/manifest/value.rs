//! Partition values: their Avro form and their single-value bytes.

use iceberg::spec::{Literal, PrimitiveLiteral, PrimitiveType, Type};

use super::avro;
use crate::{Error, Result};

/// Appends the Avro form of a partition value of type `kind`.
pub(super) fn write(out: &mut Vec<u8>, value: Option<&Literal>, kind: &PrimitiveType) -> Result<()> {
    let Some(value) = value else {
        avro::long(out, 0);
        return Ok(());
    };
    let Literal::Primitive(value) = value else { return Err(mismatch(kind)) };
    avro::long(out, 1);
    match (value, kind) {
        (PrimitiveLiteral::Boolean(v), _) => out.push(u8::from(*v)),
        (PrimitiveLiteral::Int(v), _) => avro::long(out, i64::from(*v)),
        (PrimitiveLiteral::Long(v), _) => avro::long(out, *v),
        (PrimitiveLiteral::Float(v), _) => out.extend_from_slice(&v.to_le_bytes()),
        (PrimitiveLiteral::Double(v), _) => out.extend_from_slice(&v.to_le_bytes()),
        (PrimitiveLiteral::String(v), _) => avro::bytes(out, v.as_bytes()),
        (PrimitiveLiteral::Binary(v), PrimitiveType::Fixed(_) | PrimitiveType::Uuid) => {
            out.extend_from_slice(v)
        }
        (PrimitiveLiteral::Binary(v), _) => avro::bytes(out, v),
        (PrimitiveLiteral::UInt128(v), _) => out.extend_from_slice(&v.to_be_bytes()),
        (PrimitiveLiteral::Int128(v), PrimitiveType::Decimal { precision, .. }) => {
            let size = Type::decimal_required_bytes(*precision).unwrap_or(16) as usize;
            out.extend_from_slice(&v.to_be_bytes()[16 - size.min(16)..]);
        }
        _ => return Err(mismatch(kind)),
    }
    Ok(())
}

/// The single-value serialization of a partition value (spec, appendix D).
pub(super) fn single_value(value: &PrimitiveLiteral) -> Option<Vec<u8>> {
    Some(match value {
        PrimitiveLiteral::Boolean(v) => vec![u8::from(*v)],
        PrimitiveLiteral::Int(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Long(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Float(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::Double(v) => v.to_le_bytes().to_vec(),
        PrimitiveLiteral::String(v) => v.as_bytes().to_vec(),
        PrimitiveLiteral::Binary(v) => v.clone(),
        PrimitiveLiteral::UInt128(v) => v.to_be_bytes().to_vec(),
        PrimitiveLiteral::Int128(v) => {
            let bytes = v.to_be_bytes();
            let sign = if *v < 0 { 0xff } else { 0 };
            // As few bytes as hold the value with its sign.
            let spare =
                bytes.windows(2).take_while(|w| w[0] == sign && (w[1] & 0x80) == (sign & 0x80)).count();
            bytes[spare..].to_vec()
        }
        PrimitiveLiteral::AboveMax | PrimitiveLiteral::BelowMin => return None,
    })
}

fn mismatch(kind: &PrimitiveType) -> Error {
    Error::damaged(format!("a partition value is not of its field's type, {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_take_the_fewest_bytes_that_keep_the_sign() {
        let bytes = |v| single_value(&PrimitiveLiteral::Int128(v)).unwrap_or_default();
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [0x7f]);
        assert_eq!(bytes(128), [0, 0x80]);
        assert_eq!(bytes(-1), [0xff]);
        assert_eq!(bytes(-128), [0x80]);
        assert_eq!(bytes(-129), [0xff, 0x7f]);
        assert_eq!(bytes(1234), [0x04, 0xd2]);
    }
}
