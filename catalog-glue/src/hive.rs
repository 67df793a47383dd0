use iceberg::spec::{PrimitiveType, Type};

/// The Hive type that shows an Iceberg type to engines that read Glue's columns.
///
/// Kinds Hive lacks are shown as what can hold them: fixed as `binary`, uuid and time as `string`,
/// timestamps with a zone as `timestamp`.
pub fn hive_type(of: &Type) -> String {
    match of {
        Type::Primitive(primitive) => primitive_type(primitive),
        Type::List(list) => format!("array<{}>", hive_type(&list.element_field.field_type)),
        Type::Map(map) => format!(
            "map<{},{}>",
            hive_type(&map.key_field.field_type),
            hive_type(&map.value_field.field_type)
        ),
        Type::Struct(fields) => {
            let fields: Vec<String> =
                fields.fields().iter().map(|f| format!("{}:{}", f.name, hive_type(&f.field_type))).collect();
            format!("struct<{}>", fields.join(","))
        }
    }
}

fn primitive_type(of: &PrimitiveType) -> String {
    match of {
        PrimitiveType::Boolean => "boolean".to_owned(),
        PrimitiveType::Int => "int".to_owned(),
        PrimitiveType::Long => "bigint".to_owned(),
        PrimitiveType::Float => "float".to_owned(),
        PrimitiveType::Double => "double".to_owned(),
        PrimitiveType::Date => "date".to_owned(),
        PrimitiveType::Timestamp
        | PrimitiveType::Timestamptz
        | PrimitiveType::TimestampNs
        | PrimitiveType::TimestamptzNs => "timestamp".to_owned(),
        PrimitiveType::String | PrimitiveType::Uuid | PrimitiveType::Time => "string".to_owned(),
        PrimitiveType::Fixed(_) | PrimitiveType::Binary => "binary".to_owned(),
        PrimitiveType::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iceberg::spec::{ListType, MapType, NestedField, StructType};

    use super::*;

    fn primitive(of: PrimitiveType) -> Type {
        Type::Primitive(of)
    }

    #[test]
    fn every_primitive_has_a_hive_type() {
        for (of, hive) in [
            (PrimitiveType::Boolean, "boolean"),
            (PrimitiveType::Long, "bigint"),
            (PrimitiveType::Fixed(16), "binary"),
            (PrimitiveType::Uuid, "string"),
            (PrimitiveType::Time, "string"),
            (PrimitiveType::Timestamptz, "timestamp"),
            (PrimitiveType::Decimal { precision: 38, scale: 10 }, "decimal(38,10)"),
        ] {
            assert_eq!(hive_type(&primitive(of)), hive);
        }
    }

    #[test]
    fn nested_types_are_spelt_out() {
        let amount =
            NestedField::optional(4, "amount", primitive(PrimitiveType::Decimal { precision: 9, scale: 2 }));
        let list = Type::List(ListType::new(
            NestedField::list_element(3, Type::Struct(StructType::new(vec![Arc::new(amount)])), true).into(),
        ));
        assert_eq!(hive_type(&list), "array<struct<amount:decimal(9,2)>>");
        let map = Type::Map(MapType::new(
            NestedField::map_key_element(5, primitive(PrimitiveType::String)).into(),
            NestedField::map_value_element(6, primitive(PrimitiveType::Timestamptz), false).into(),
        ));
        assert_eq!(hive_type(&map), "map<string,timestamp>");
    }
}
