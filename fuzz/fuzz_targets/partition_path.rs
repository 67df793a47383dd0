//! Folder names of partitions: escaped text is plain ASCII and comes back whole.
#![no_main]

use calve_partition::{escape, partition_path, unescape};
use iceberg::spec::{Literal, NestedField, PartitionSpec, PrimitiveType, Schema, Struct, Transform, Type};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let escaped = escape(text);
    assert!(escaped.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-*_+%".contains(&byte)));
    assert_eq!(unescape(&escaped).as_deref(), Some(text));

    // Any text at all: refused, or what escaping it again gives back.
    if let Some(plain) = unescape(text) {
        assert_eq!(unescape(&escape(&plain)), Some(plain));
    }

    // As a value, and as a field's name.
    let column = NestedField::optional(1, "column", Type::Primitive(PrimitiveType::String));
    let schema = Schema::builder().with_fields([column.into()]).build();
    let schema = std::sync::Arc::new(schema.expect("one column is a schema"));
    let spec = PartitionSpec::builder(schema.clone())
        .add_partition_field("column", text, Transform::Truncate(16))
        .and_then(|builder| builder.build());
    if let Ok(spec) = spec {
        let value = Struct::from_iter([Some(Literal::string(text))]);
        let path = partition_path(&spec, &schema, &value);
        let (name, value) = path.split_once('=').expect("a segment is name=value");
        assert_eq!(unescape(name).as_deref(), Some(text));
        assert_eq!(unescape(value).as_deref(), Some(text));
        assert!(!path.contains('/'));
    }
});
