//! Partition folder names.

use iceberg::spec::{PartitionSpec, Schema, Struct, Transform};

use crate::human::human;
use crate::source::SourceColumn;
use crate::transform::result_type;

/// The folder of a partition below a table's data location, as the Java library names it.
///
/// `ts_day=2024-06-01/id_bucket=3`: one `name=value` segment per field, in the spec's order,
/// names and values in [`human`] form and [escaped](escape); null is `null`. Empty for an
/// unpartitioned spec. Readers take no value from it, so nothing depends on it but people:
/// a value missing from `value`, or not of the field's type, is `null` too.
///
/// ```
/// # use iceberg::spec::*;
/// let schema = Schema::builder()
///     .with_fields([NestedField::optional(1, "ts", Type::Primitive(PrimitiveType::Timestamptz)).into()])
///     .build()?;
/// let spec = PartitionSpec::builder(schema.clone())
///     .add_partition_field("ts", "ts_day", Transform::Day)?
///     .build()?;
/// let value = Struct::from_iter([Some(Literal::date(19_875))]);
/// assert_eq!(calve_partition::partition_path(&spec, &schema, &value), "ts_day=2024-06-01");
/// # Ok::<(), iceberg::Error>(())
/// ```
pub fn partition_path(spec: &PartitionSpec, schema: &Schema, value: &Struct) -> String {
    let mut path = String::new();
    for (at, field) in spec.fields().iter().enumerate() {
        if at > 0 {
            path.push('/');
        }
        escape_into(&mut path, &field.name);
        path.push('=');
        let literal = value.fields().get(at).and_then(Option::as_ref);
        let of = SourceColumn::find(schema, field.source_id)
            .and_then(|source| result_type(field.transform, &source.primitive).ok());
        let shown = match (literal, of) {
            (Some(literal), Some(of)) if field.transform != Transform::Void => {
                human(field.transform, literal, &of)
            }
            _ => None,
        };
        escape_into(&mut path, shown.as_deref().unwrap_or("null"));
    }
    path
}

/// Escapes text as `java.net.URLEncoder` does (`application/x-www-form-urlencoded`, UTF-8).
///
/// Letters, digits and `.`, `-`, `*`, `_` stay; a space becomes `+`; every other byte `%XX`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    escape_into(&mut escaped, text);
    escaped
}

/// Undoes [`escape`], and reads what `java.net.URLDecoder` does: hexadecimal digits of either case
/// and characters that need not have been left as they are. `None` for a `%` without two digits
/// and for bytes that are not UTF-8.
pub fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn escape_into(path: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                path.push(char::from(byte));
            }
            b' ' => path.push('+'),
            _ => {
                path.push('%');
                path.push(char::from(DIGITS[usize::from(byte >> 4)]));
                path.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}
