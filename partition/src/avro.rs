//! Partition field names that Avro allows, for manifests.

use std::borrow::Cow;

use iceberg::spec::{PartitionSpec, Schema, UnboundPartitionField, UnboundPartitionSpec};

use crate::error::{Error, Result};

/// The spec to write manifests with: `spec`, its field names made [Avro names](avro_name).
///
/// A manifest's partition tuple is an Avro record, whose field names are letters, digits and `_`,
/// while a partition field may be named after a nested column (`address.city`) or anything else.
/// The `iceberg` crate writes names as they are, and no reader can open such a manifest again.
/// Readers match the fields by id, which stays, as do spec id, sources and transforms.
///
/// # Errors
/// [`ErrorKind::Table`](crate::ErrorKind::Table) when a name must change and the spec does not fit `schema`.
pub fn manifest_spec(spec: &PartitionSpec, schema: &Schema) -> Result<PartitionSpec> {
    if spec.fields().iter().all(|field| matches!(avro_name(&field.name), Cow::Borrowed(_))) {
        return Ok(spec.clone());
    }
    let renamed = spec.fields().iter().cloned().map(|mut field| {
        field.name = avro_name(&field.name).into_owned();
        UnboundPartitionField::from(field)
    });
    UnboundPartitionSpec::builder()
        .with_spec_id(spec.spec_id())
        .add_partition_fields(renamed)
        .and_then(|builder| builder.build().bind(schema.clone()))
        .map_err(|error| {
            let message = format!("spec {} has names that avro does not allow: {error}", spec.spec_id());
            Error::table(message).with_source(error)
        })
}

/// A name Avro allows, spelled as the Java library does: `address_x2Ecity`, `_2024`.
///
/// Letters and digits beyond ASCII are spelled out too, since not every reader takes them.
pub fn avro_name(name: &str) -> Cow<'_, str> {
    let fits = |at: usize, unit: u16| {
        let letter = u8::try_from(unit).is_ok_and(|b| b.is_ascii_alphabetic() || b == b'_');
        letter || (at > 0 && u8::try_from(unit).is_ok_and(|b| b.is_ascii_digit()))
    };
    if name.encode_utf16().enumerate().all(|(at, unit)| fits(at, unit)) {
        return Cow::Borrowed(name);
    }
    let mut spelled = String::with_capacity(name.len() + 4);
    for (at, unit) in name.encode_utf16().enumerate() {
        match char::from_u32(u32::from(unit)) {
            Some(fitting) if fits(at, unit) => spelled.push(fitting),
            Some(digit) if digit.is_ascii_digit() => spelled.extend(['_', digit]),
            _ => spelled.push_str(&format!("_x{unit:X}")),
        }
    }
    Cow::Owned(spelled)
}
