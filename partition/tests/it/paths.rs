use std::sync::Arc;

use calve_partition::{escape, human, partition_path, result_type, unescape};
use iceberg::spec::{
    Literal, NestedField, PartitionSpec, PrimitiveType as P, Schema, Struct, Transform, Type,
};
use proptest::prelude::*;

use crate::columns::parse;
use crate::values::{JAVA, answers};

fn spec(fields: &[(&str, P, &str, Transform)]) -> (PartitionSpec, Arc<Schema>) {
    let columns = fields.iter().zip(1..).map(|((column, of, _, _), id)| {
        NestedField::optional(id, *column, Type::Primitive(of.clone())).into()
    });
    let schema = Arc::new(Schema::builder().with_fields(columns).build().expect("a schema"));
    let mut builder = PartitionSpec::builder(schema.clone());
    for (column, _, name, transform) in fields {
        builder = builder.add_partition_field(column, *name, *transform).expect("a field");
    }
    (builder.build().expect("a spec"), schema)
}

#[test]
fn human_forms_and_folders_are_those_of_iceberg_java() {
    let mut checked = 0;
    // What Java garbles has a human form all the same.
    for answer in answers(JAVA) {
        let of = result_type(answer.transform, &answer.of).expect("the transform takes the type");
        let shown = match &answer.result {
            Some(result) => human(answer.transform, &parse_result(&of, result), &of),
            None => Some("null".to_owned()),
        };
        assert_eq!(shown, answer.human, "{} of {}", answer.transform, answer.of);
        assert_eq!(answer.human.as_deref().map(escape), answer.path);
        checked += 1;
    }
    assert!(checked > 4_000);
}

fn parse_result(of: &P, text: &str) -> Literal {
    let text = match text {
        "Infinity" => "inf",
        "-Infinity" => "-inf",
        other => other,
    };
    Literal::Primitive(parse(of, text))
}

/// Names and values of every awkward kind.
#[test]
fn folder_names_are_escaped_as_a_form_is() {
    let (spec, schema) = spec(&[("c", P::String, "a b/c", Transform::Truncate(10))]);
    let path = |value: Option<&str>| {
        let value = Struct::from_iter([value.map(Literal::string)]);
        partition_path(&spec, &schema, &value)
    };
    assert_eq!(path(Some("x/y")), "a+b%2Fc=x%2Fy");
    assert_eq!(path(Some("ü")), "a+b%2Fc=%C3%BC");
    assert_eq!(path(Some("")), "a+b%2Fc=");
    assert_eq!(path(None), "a+b%2Fc=null");
    assert_eq!(path(Some("a=b")), "a+b%2Fc=a%3Db");
    assert_eq!(path(Some("..")), "a+b%2Fc=..");
    assert_eq!(path(Some("*-._~")), "a+b%2Fc=*-._%7E");
}

#[test]
fn a_folder_has_a_segment_per_field_and_an_unpartitioned_table_none() {
    let (spec, schema) = spec(&[
        ("ts", P::Timestamptz, "ts_day", Transform::Day),
        ("id", P::Long, "id_bucket", Transform::Bucket(16)),
        ("gone", P::Long, "gone_void", Transform::Void),
    ]);
    let value = Struct::from_iter([Some(Literal::date(19_875)), Some(Literal::int(3)), None]);
    assert_eq!(partition_path(&spec, &schema, &value), "ts_day=2024-06-01/id_bucket=3/gone_void=null");
    let short = Struct::from_iter([Some(Literal::date(19_875))]);
    assert_eq!(partition_path(&spec, &schema, &short), "ts_day=2024-06-01/id_bucket=null/gone_void=null");
    let none = PartitionSpec::unpartition_spec();
    assert_eq!(partition_path(&none, &schema, &Struct::empty()), "");
}

proptest! {
    #[test]
    fn unescape_undoes_escape(text: String) {
        let escaped = escape(&text);
        prop_assert!(escaped.bytes().all(|b| b.is_ascii_alphanumeric() || b".-*_+%".contains(&b)));
        prop_assert_eq!(unescape(&escaped), Some(text));
    }

    #[test]
    fn unescape_never_panics(text: String) {
        if let Some(plain) = unescape(&text) {
            prop_assert_eq!(unescape(&escape(&plain)), Some(plain));
        }
    }
}

#[test]
fn what_others_escape_more_or_less_of_is_read() {
    for (text, plain) in [("a%c3%A9", "aé"), ("é/=", "é/="), ("%61", "a")] {
        assert_eq!(unescape(text).as_deref(), Some(plain));
    }
}

/// A value of another type than its field's has no text, and `null` in a folder's name.
#[test]
fn values_of_a_foreign_type_have_no_human_form() {
    use iceberg::spec::PrimitiveLiteral as L;
    for (transform, value, of) in [
        (Transform::Identity, L::Int(3), P::Timestamp),
        (Transform::Identity, L::Int(3), P::String),
        (Transform::Identity, L::Long(3), P::Int),
        (Transform::Identity, L::Long(3), P::Date),
        (Transform::Identity, L::Long(-5), P::Time),
        (Transform::Identity, L::Long(86_400_000_000), P::Time),
        (Transform::Identity, L::Int128(3), P::Long),
        (Transform::Identity, L::String("x".into()), P::Binary),
        (Transform::Identity, L::Binary(vec![1]), P::Uuid),
        (Transform::Identity, L::Binary(vec![1]), P::Fixed(2)),
        (Transform::Identity, L::Boolean(true), P::Int),
        (Transform::Identity, L::AboveMax, P::Int),
        (Transform::Truncate(2), L::Int(3), P::String),
        (Transform::Bucket(4), L::Long(3), P::Int),
        (Transform::Day, L::Long(3), P::Date),
        (Transform::Year, L::Long(3), P::Int),
        (Transform::Month, L::String("x".into()), P::Int),
        (Transform::Hour, L::Int(3), P::Timestamp),
    ] {
        assert_eq!(
            human(transform, &Literal::Primitive(value.clone()), &of),
            None,
            "{transform} {value:?} {of}"
        );
    }
    let (spec, schema) = spec(&[("ts", P::Timestamp, "ts_day", Transform::Day)]);
    let path = partition_path(&spec, &schema, &Struct::from_iter([Some(Literal::long(3))]));
    assert_eq!(path, "ts_day=null");
    // Values from before their column was widened are of its type.
    assert_eq!(human(Transform::Identity, &Literal::int(3), &P::Long).as_deref(), Some("3"));
    assert_eq!(human(Transform::Identity, &Literal::float(0.5), &P::Double).as_deref(), Some("0.5"));
}

#[test]
fn what_escape_never_makes_is_refused() {
    for text in ["%", "%2", "%zz", "%FF", "a%", "%+1"] {
        assert_eq!(unescape(text), None, "{text}");
    }
}
