use std::collections::BTreeSet;
use std::sync::Arc;

use calve_partition::{ErrorKind, Reconciled, avro_names, bind, reconcile};
use calve_uri::{PartitionField, Transform as Asked, parse_partition};
use iceberg::spec::{
    ListType, NestedField, PartitionSpec, PrimitiveType as P, Schema, StructType, Transform, Type,
};
use proptest::prelude::*;

fn schema() -> Arc<Schema> {
    let primitive =
        |id: i32, name: &str, of: P| Arc::new(NestedField::optional(id, name, Type::Primitive(of)));
    let address = StructType::new(vec![primitive(6, "city", P::String), primitive(7, "no", P::Int)]);
    let tags = ListType::new(Arc::new(NestedField::list_element(9, Type::Primitive(P::String), false)));
    let schema = Schema::builder().with_fields([
        primitive(1, "ts", P::Timestamptz),
        primitive(2, "id", P::Long),
        primitive(3, "s", P::String),
        primitive(4, "x", P::Double),
        Arc::new(NestedField::optional(5, "address", Type::Struct(address))),
        Arc::new(NestedField::optional(8, "tags", Type::List(tags))),
        primitive(10, "s_trunc", P::String),
        primitive(11, "ts_day", P::Int),
        primitive(12, "odd, (name)", P::Int),
        primitive(13, "ts_day_2", P::Int),
    ]);
    Arc::new(schema.build().expect("a schema"))
}

fn ask(text: &str) -> Vec<PartitionField> {
    parse_partition(text).expect("the grammar takes it")
}

fn bound(text: &str) -> Vec<(i32, i32, String, Transform)> {
    let spec = bind(&ask(text), &schema()).expect("it fits the schema");
    let fields = spec.fields().iter();
    fields.map(|f| (f.field_id.expect("an id"), f.source_id, f.name.clone(), f.transform)).collect()
}

#[test]
fn fields_are_named_as_the_java_library_names_them_and_ids_count_from_1000() {
    let fields = bound(r#"year(ts), bucket(16, id), truncate(4, address.city), x, "odd, (name)""#);
    let expected = [
        (1000, 1, "ts_year", Transform::Year),
        (1001, 2, "id_bucket", Transform::Bucket(16)),
        (1002, 6, "address.city_trunc", Transform::Truncate(4)),
        (1003, 4, "x", Transform::Identity),
        (1004, 12, "odd, (name)", Transform::Identity),
    ];
    let expected = expected.map(|(id, source, name, t)| (id, source, name.to_owned(), t));
    assert_eq!(fields, expected);
    for (text, name) in [("month(ts)", "ts_month"), ("hour(ts)", "ts_hour"), ("address.no", "address.no")] {
        assert_eq!(bound(text)[0].2, name);
    }
}

#[test]
fn a_name_that_is_taken_gets_the_parameter_and_then_a_number() {
    let names = |text: &str| bound(text).into_iter().map(|f| f.2).collect::<Vec<_>>();
    // A column has the name.
    assert_eq!(names("truncate(4, s)"), ["s_trunc_4"]);
    assert_eq!(names("day(ts)"), ["ts_day_3"]);
    // An earlier field has it.
    assert_eq!(names("bucket(16, id), bucket(8, id)"), ["id_bucket", "id_bucket_8"]);
    // Identity of a column whose name an earlier field was about to take.
    assert_eq!(names("truncate(4, s), s_trunc"), ["s_trunc_4", "s_trunc"]);
}

#[test]
fn the_crate_we_build_on_takes_what_bind_gives() {
    let text = "hour(ts), bucket(16, id), bucket(8, id), truncate(4, s), address.city, x";
    let spec = bind(&ask(text), &schema()).expect("it fits").bind(schema()).expect("it fits there");
    assert_eq!(spec.fields().len(), 6);
    assert!(spec.has_sequential_ids());
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let refused = |fields: &[PartitionField]| {
        let error = bind(fields, &schema()).expect_err("it does not fit");
        assert_eq!(error.kind(), ErrorKind::Request);
        error.to_string()
    };
    let of = |text: &str| refused(&ask(text));
    assert!(of("nothing").contains("the columns are \"ts\", \"id\""), "{}", of("nothing"));
    assert!(of("bucket(4, TS)").contains("no such column"));
    assert!(of("bucket(4, x)").contains("double; bucket takes int"), "{}", of("bucket(4, x)"));
    assert!(of("hour(id)").contains("hour takes timestamp"));
    assert!(of("truncate(4, ts)").contains("truncate takes int"));
    assert!(of("address").contains("struct"), "{}", of("address"));
    assert!(of("tags.element").contains("inside a list or map"), "{}", of("tags.element"));
    let field = PartitionField::new;
    assert!(refused(&[field(Asked::Bucket(0), "id")]).contains("from 1 to 2147483647"));
    assert!(refused(&[field(Asked::Truncate(1 << 31), "s")]).contains("from 1 to 2147483647"));
    let twice = [field(Asked::Day, "ts"), field(Asked::Year, "ts")];
    assert!(refused(&twice).contains("redundant"), "{}", refused(&twice));
    let twice = [field(Asked::Bucket(4), "id"), field(Asked::Bucket(4), "id")];
    assert!(refused(&twice).contains("redundant"));
}

fn table() -> PartitionSpec {
    PartitionSpec::builder(schema())
        .add_partition_field("ts", "when", Transform::Month)
        .expect("a field")
        .add_partition_field("id", "id_bucket", Transform::Bucket(16))
        .expect("a field")
        .add_partition_field("s", "old", Transform::Void)
        .expect("a field")
        .build()
        .expect("a spec")
}

fn reconciled(text: &str, evolve: bool) -> Reconciled {
    let fields = if text.is_empty() { Vec::new() } else { ask(text) };
    reconcile(&fields, &table(), &schema(), evolve).expect("it fits the schema")
}

#[test]
fn no_request_the_same_a_subset_or_a_reordering_keep_the_spec() {
    for text in ["", "month(ts), bucket(16, id)", "bucket(16, id), month(ts)", "bucket(16, id)"] {
        for evolve in [false, true] {
            assert_eq!(reconciled(text, evolve), Reconciled::Keep, "{text}");
        }
    }
}

#[test]
fn a_field_the_table_lacks_is_incompatible_and_named() {
    for (text, field) in [
        ("bucket(16, id), address.city", "identity(address.city)"),
        ("bucket(8, id)", "bucket(8, id)"),
        ("day(ts)", "day(ts)"),
        ("s", "identity(s)"),
    ] {
        let Reconciled::Incompatible(why) = reconciled(text, false) else {
            panic!("{text} is not the table's");
        };
        assert!(why.contains(field) && why.contains("month(ts), bucket(16, id)"), "{why}");
    }
    let bare = PartitionSpec::unpartition_spec();
    let Ok(Reconciled::Incompatible(why)) = reconcile(&ask("x"), &bare, &schema(), false) else {
        panic!("the table is unpartitioned");
    };
    assert!(why.ends_with("partitioned by nothing"), "{why}");
    let error = reconcile(&ask("nothing"), &bare, &schema(), false).expect_err("no such column");
    assert_eq!(error.kind(), ErrorKind::Request);
}

#[test]
fn evolution_adds_only_what_is_missing_under_free_names() {
    let Reconciled::Evolve(fields) = reconciled("month(ts), bucket(8, id), s", true) else {
        panic!("two fields are missing");
    };
    let fields: Vec<_> =
        fields.iter().map(|f| (f.source_id, f.field_id, f.name.as_str(), f.transform)).collect();
    let expected = [(2, None, "id_bucket_8", Transform::Bucket(8)), (3, None, "s", Transform::Identity)];
    assert_eq!(fields, expected);
    let Reconciled::Incompatible(why) = reconciled("day(ts)", true) else {
        panic!("a second time transform");
    };
    assert!(why.contains("redundant") && why.contains("\"when\""), "{why}");
}

/// As PyIceberg's and Java's spec updates name them, where a new table's fields go without.
#[test]
fn added_fields_have_the_parameter_in_their_name() {
    let bare = PartitionSpec::unpartition_spec();
    let names = |text: &str| match reconcile(&ask(text), &bare, &schema(), true) {
        Ok(Reconciled::Evolve(fields)) => fields.into_iter().map(|f| f.name).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let text = "bucket(16, id), truncate(4, address.city), hour(ts), x";
    assert_eq!(names(text), ["id_bucket_16", "address.city_trunc_4", "ts_hour", "x"]);
    assert_eq!(names("bucket(16, id), bucket(8, id)"), ["id_bucket_16", "id_bucket_8"]);
    // `ts_day` and `ts_day_2` are columns.
    assert_eq!(names("day(ts)"), ["ts_day_3"]);
}

#[test]
fn a_request_that_repeats_itself_is_refused_whatever_the_table_has() {
    let field = PartitionField::new;
    let twice = [
        [field(Asked::Month, "ts"), field(Asked::Month, "ts")],
        [field(Asked::Bucket(16), "id"), field(Asked::Bucket(16), "id")],
        [field(Asked::Month, "ts"), field(Asked::Day, "ts")],
        [field(Asked::Identity, "x"), field(Asked::Identity, "x")],
    ];
    for request in &twice {
        for spec in [table(), PartitionSpec::unpartition_spec()] {
            for evolve in [false, true] {
                let error = reconcile(request, &spec, &schema(), evolve).expect_err("it repeats itself");
                assert_eq!(error.kind(), ErrorKind::Request);
                assert!(error.to_string().contains("redundant"), "{error}");
            }
        }
        assert_eq!(bind(request, &schema()).expect_err("it repeats itself").kind(), ErrorKind::Request);
    }
}

#[test]
fn manifests_get_names_that_avro_allows() {
    for (name, spelled) in [
        ("ts_day", "ts_day"),
        ("address.city", "address_x2Ecity"),
        ("2024", "_2024"),
        ("a b/c", "a_x20b_x2Fc"),
        ("a.b+c", "a_x2Eb_x2Bc"),
        ("ü", "_xFC"),
        ("日1", "_x65E51"),
        ("\u{1F600}", "_xD83D_xDE00"),
        ("", "_"),
    ] {
        assert_eq!(avro_names([name]), [spelled]);
    }
    assert_eq!(avro_names(["a.b", "a_x2Eb", "a.b"]), ["a_x2Eb", "a_x2Eb_2", "a_x2Eb_3"]);
    assert_eq!(avro_names(["1x", "_1x", "_1x_2"]), ["_1x", "_1x_2", "_1x_2_2"]);
}

proptest! {
    #[test]
    fn avro_names_are_ones_and_no_two_alike(names: Vec<String>) {
        let spelled = avro_names(names.iter().map(String::as_str));
        prop_assert_eq!(spelled.len(), names.len());
        for name in &spelled {
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
            prop_assert!(!name.is_empty() && !name.as_bytes()[0].is_ascii_digit());
        }
        let distinct: BTreeSet<_> = spelled.iter().collect();
        prop_assert_eq!(distinct.len(), spelled.len());
    }
}
