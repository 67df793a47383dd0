//! Partition values of types whose Avro form the format library does not take.

use std::collections::HashMap;

use iceberg::spec::{Literal, PrimitiveLiteral, Struct};
use serde_json::{Value as Json, json};

use super::header::AvroFile;
use super::mend::{RAISED, partition_fields};

/// Which partition values, by place, are uuids read as something else.
#[derive(Debug, Default)]
pub(super) struct Uuids(Vec<usize>);

/// How a partition value is read in place of its own type.
#[derive(Clone, Copy)]
enum Stand {
    /// A uuid as its sixteen bytes.
    Fixed,
    /// A uuid as text, as some writers store it.
    Text,
    /// A timestamp as its count of nanoseconds.
    Long,
}

/// Has uuids read as bytes and nanosecond timestamps as longs.
///
/// The library takes uuids in Avro's text form only and timestamps in microseconds only, while the
/// format stores `fixed[16]` and nanoseconds. Their Avro types lose what makes them special, and their
/// partition fields are made from a column of that plain type, which the schema in the header gains:
/// the columns they are really made from keep their types, for bounds are of those.
pub(super) fn plain_types(file: &mut AvroFile<'_>) -> Uuids {
    let mut uuids = Uuids::default();
    let (Some(mut avro), Some(mut schema), Some(mut spec)) =
        (file.json("avro.schema"), file.json("schema"), file.json("partition-spec"))
    else {
        return uuids;
    };
    let columns = schema.to_string();
    let (Some(fields), Some(added)) = (partition_fields(&mut avro), schema["fields"].as_array_mut()) else {
        return uuids;
    };
    let mut named = HashMap::new();
    let mut changed = false;
    for field in fields {
        let Some(stand) = strip(&mut field["type"], &mut named) else { continue };
        let Some(id) = field["field-id"].as_i64() else { continue };
        let Some(place) = spec.as_array().and_then(|s| s.iter().position(|f| f["field-id"] == id)) else {
            continue;
        };
        // An identity field must not be called like another column.
        let mut name = format!("plain_{id}");
        while columns.contains(&name) {
            name.push('_');
        }
        let source = RAISED + id;
        added.push(json!({"id": source, "name": name, "required": false, "type": stand.column()}));
        field["name"] = name.as_str().into();
        spec[place]["name"] = name.into();
        spec[place]["source-id"] = source.into();
        spec[place]["transform"] = "identity".into();
        if !matches!(stand, Stand::Long) {
            uuids.0.push(place);
        }
        changed = true;
    }
    if changed {
        file.set("avro.schema", &avro);
        file.set("schema", &schema);
        file.set("partition-spec", &spec);
    }
    uuids
}

impl Uuids {
    /// `partition` with its uuids as such; `None` when one is no uuid.
    pub(super) fn restore(&self, partition: &Struct) -> Option<Struct> {
        let mut values = partition.fields().to_vec();
        for place in &self.0 {
            if let Some(value) = values.get_mut(*place)?.as_mut() {
                *value = uuid(value)?;
            }
        }
        Some(Struct::from_iter(values))
    }
}

impl Stand {
    fn column(self) -> &'static str {
        match self {
            Self::Fixed => "fixed[16]",
            Self::Text => "string",
            Self::Long => "long",
        }
    }
}

/// Makes an Avro type, or the branch of a union beside null, plain; `None` when it already is.
///
/// A named type is defined once and then only named; `named` holds those met.
fn strip(kind: &mut Json, named: &mut HashMap<String, Stand>) -> Option<Stand> {
    match kind {
        Json::Array(union) => union.iter_mut().find_map(|branch| strip(branch, named)),
        Json::String(name) => named.get(name).copied(),
        Json::Object(object) => {
            let stand = match (object.get("logicalType")?.as_str()?, object.get("type")?.as_str()?) {
                ("uuid", "fixed") => Stand::Fixed,
                ("uuid", "string") => Stand::Text,
                ("timestamp-nanos" | "local-timestamp-nanos", "long") => Stand::Long,
                _ => return None,
            };
            object.remove("logicalType");
            if let Some(name) = object.get("name").and_then(Json::as_str) {
                named.insert(name.to_owned(), stand);
            }
            Some(stand)
        }
        _ => None,
    }
}

fn uuid(value: &Literal) -> Option<Literal> {
    let bytes = match value {
        Literal::Primitive(PrimitiveLiteral::Binary(bytes)) => bytes.as_slice().try_into().ok()?,
        Literal::Primitive(PrimitiveLiteral::String(text)) => {
            let digits = text.replace('-', "");
            u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32)?.to_be_bytes()
        }
        _ => return None,
    };
    Some(Literal::Primitive(PrimitiveLiteral::UInt128(u128::from_be_bytes(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_plain_wherever_they_are_defined_and_however_they_are_written() {
        let mut named = HashMap::new();
        let fixed =
            json!(["null", {"type": "fixed", "size": 16, "name": "uuid_fixed", "logicalType": "uuid"}]);
        let nanos = json!({"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": true});
        for (mut kind, column, plain) in [
            (fixed, Some("fixed[16]"), json!(["null", {"type": "fixed", "size": 16, "name": "uuid_fixed"}])),
            // The second of its name.
            (json!(["null", "uuid_fixed"]), Some("fixed[16]"), json!(["null", "uuid_fixed"])),
            (json!({"type": "string", "logicalType": "uuid"}), Some("string"), json!({"type": "string"})),
            (nanos, Some("long"), json!({"type": "long", "adjust-to-utc": true})),
            (json!(["null", "string"]), None, json!(["null", "string"])),
            (
                json!({"type": "int", "logicalType": "date"}),
                None,
                json!({"type": "int", "logicalType": "date"}),
            ),
        ] {
            let stand = strip(&mut kind, &mut named);
            assert_eq!(stand.map(Stand::column), column, "{kind}");
            assert_eq!(kind, plain);
        }
    }

    #[test]
    fn uuids_come_back_from_bytes_and_text() {
        let value = |literal| Struct::from_iter([Some(Literal::int(1)), literal]);
        let uuids = Uuids(vec![1]);
        let wanted = Literal::Primitive(PrimitiveLiteral::UInt128(0x0101 << 112 | 7));
        let mut bytes = [0; 16];
        (bytes[0], bytes[1], bytes[15]) = (1, 1, 7);
        for read in [Literal::fixed(bytes), Literal::string("01010000-0000-0000-0000-000000000007")] {
            assert_eq!(uuids.restore(&value(Some(read))), Some(value(Some(wanted.clone()))));
        }
        assert_eq!(uuids.restore(&value(None)), Some(value(None)));
        for read in [Literal::fixed([1; 15]), Literal::string("01"), Literal::int(1)] {
            assert_eq!(uuids.restore(&value(Some(read))), None);
        }
        // Text of a manifest without partition values is no panic.
        assert_eq!(uuids.restore(&Struct::empty()), None);
    }
}
