use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Int32Array, Int64Array, ListArray, MapArray, StringArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Int32Type, Schema as ArrowSchema};
use calve_scan::ErrorKind;
use iceberg::spec::{ListType, MapType, NestedField, PrimitiveType as P, StructType, Type};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::lab::*;

async fn two_ints() -> Lab {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int), optional(2, "b", P::Int)]));
    let file = batch(&lab.schema(), vec![ints([1, 2]), ints([10, 20])]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    lab
}

fn ints<const N: usize>(values: [i32; N]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

#[tokio::test]
async fn columns_of_one_type_come_in_the_asked_order() {
    let lab = two_ints().await;
    let rows = rows(lab.scan().select(["b", "a"])).await;
    assert_eq!(rows.schema().field(0).name(), "b");
    assert_eq!(texts(&rows, "b"), ["10", "20"]);
    assert_eq!(texts(&rows, "a"), ["1", "2"]);
    assert_eq!(rows.schema().field(0).metadata()[PARQUET_FIELD_ID_META_KEY], "2");
}

#[tokio::test]
async fn no_columns_still_count_rows() {
    let lab = two_ints().await;
    let none: [&str; 0] = [];
    assert_eq!(rows(lab.scan().select(none)).await.num_rows(), 2);
    assert_eq!(rows(lab.scan().select(none).filter_sql("a > 1")).await.num_rows(), 1);
}

#[tokio::test]
async fn renamed_columns_answer_to_both_names() {
    let lab = two_ints().await;
    let scan = lab.scan().rename([("a", "x")]).filter_sql("x >= 1 and a <= 1").select(["b", "x"]);
    let one = rows(scan).await;
    assert_eq!(texts(&one, "x"), ["1"]);
    assert_eq!(texts(&rows(lab.scan().rename([("a", "b"), ("b", "a")])).await, "a"), ["10", "20"]);
    assert_eq!(texts(&rows(lab.scan().select(["a"]).rename([("a", "b")])).await, "b"), ["1", "2"]);
}

#[tokio::test]
async fn clashing_names_are_refused() {
    let lab = two_ints().await;
    for scan in [
        lab.scan().rename([("a", "b")]),
        lab.scan().rename([("a", "x"), ("a", "y")]),
        lab.scan().select(["a", "a"]),
        lab.scan().rename([("a", "b")]).select(["a"]).filter_sql("b > 1"),
    ] {
        let e = error(scan).await;
        assert_eq!(e.kind(), ErrorKind::Input, "{e}");
    }
}

#[tokio::test]
async fn an_unknown_column_is_named_with_its_nearest() {
    let mut lab = Lab::new(schema([optional(1, "amount", P::Int), optional(2, "origin", P::String)]));
    lab.append([]).await;
    for scan in [
        lab.scan().select(["amonut"]),
        lab.scan().filter_sql("amonut > 1"),
        lab.scan().rename([("amonut", "x")]),
    ] {
        let e = error(scan).await.to_string();
        assert!(e.contains("`amonut`") && e.contains("did you mean `amount`?"), "{e}");
    }
    let e = error(lab.scan().select(["zebra_crossing"])).await.to_string();
    assert!(e.contains("amount, origin"), "{e}");
}

#[tokio::test]
async fn a_column_dropped_and_added_again_does_not_show_old_data() {
    let mut lab = two_ints().await;
    lab.evolve([optional(1, "z", P::Int), optional(3, "b", P::Int)]);
    let rows = rows(lab.scan()).await;
    assert_eq!(texts(&rows, "z"), ["1", "2"]);
    assert_eq!(texts(&rows, "b"), ["null", "null"]);
}

#[tokio::test]
async fn a_column_added_later_is_null_in_older_files() {
    let mut lab = two_ints().await;
    lab.evolve([optional(1, "a", P::Int), optional(3, "fresh", P::String)]);
    let rows = rows(lab.scan().select(["fresh"])).await;
    assert_eq!(texts(&rows, "fresh"), ["null", "null"]);
}

fn point(extra: bool) -> StructType {
    let mut fields = vec![optional(11, "x", P::Int)];
    if extra {
        fields.insert(0, optional(12, "added", P::Int));
    }
    fields.push(optional(13, "y", P::Int));
    StructType::new(fields.into_iter().map(Arc::new).collect())
}

#[tokio::test]
async fn nested_columns_evolve_by_id_at_every_depth() {
    let nested = |extra: bool, more: bool| {
        let list = ListType::new(Arc::new(NestedField::list_element(20, Type::Struct(point2(extra)), false)));
        let map = MapType::new(
            Arc::new(NestedField::map_key_element(30, primitive(P::String))),
            Arc::new(NestedField::map_value_element(31, Type::Struct(point3(extra)), false)),
        );
        let mut fields = vec![
            NestedField::optional(1, "s", Type::Struct(point(extra))),
            NestedField::optional(2, "l", Type::List(list)),
            NestedField::optional(3, "m", Type::Map(map)),
        ];
        if more {
            let street = required(42, "street", P::String);
            fields.push(NestedField::optional(
                41,
                "address",
                Type::Struct(StructType::new(vec![Arc::new(street)])),
            ));
            let added = ListType::new(Arc::new(NestedField::list_element(52, primitive(P::Int), true)));
            fields.push(NestedField::optional(51, "tags", Type::List(added)));
        }
        fields
    };
    let mut lab = Lab::new(schema(nested(false, false)));
    let arrow = iceberg::arrow::schema_to_arrow_schema(&lab.schema()).unwrap();
    let DataType::Struct(point_fields) = arrow.field(0).data_type() else { panic!() };
    let s = StructArray::new(
        point_fields.clone(),
        vec![ints([1, 0, 3]), ints([4, 0, 6])],
        Some(NullBuffer::from(vec![true, false, true])),
    );
    let DataType::List(element) = arrow.field(1).data_type() else { panic!() };
    let DataType::Struct(inner) = element.data_type() else { panic!() };
    let l = ListArray::new(
        element.clone(),
        OffsetBuffer::from_lengths([2, 0, 0]),
        Arc::new(StructArray::new(inner.clone(), vec![ints([7, 8]), ints([9, 10])], None)),
        Some(NullBuffer::from(vec![true, false, true])),
    );
    let DataType::Map(entry, _) = arrow.field(2).data_type() else { panic!() };
    let DataType::Struct(pair) = entry.data_type() else { panic!() };
    let DataType::Struct(inner) = pair[1].data_type() else { panic!() };
    let m = MapArray::new(
        entry.clone(),
        OffsetBuffer::from_lengths([1, 1, 0]),
        StructArray::new(
            pair.clone(),
            vec![
                Arc::new(StringArray::from(vec!["k", "q"])),
                Arc::new(StructArray::new(inner.clone(), vec![ints([1, 2]), ints([3, 4])], None)),
            ],
            None,
        ),
        Some(NullBuffer::from(vec![true, true, false])),
        false,
    );
    let file = batch(&lab.schema(), vec![Arc::new(s), Arc::new(l), Arc::new(m)]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    lab.evolve(nested(true, true));

    let all = rows(lab.scan()).await;
    assert_eq!(texts(&all, "s"), ["{added: null, x: 1, y: 4}", "null", "{added: null, x: 3, y: 6}"]);
    assert_eq!(texts(&all, "l"), ["[{added: null, x: 7, y: 9}, {added: null, x: 8, y: 10}]", "null", "[]"]);
    assert_eq!(
        texts(&all, "m"),
        ["{k: {added: null, x: 1, y: 3}}", "{q: {added: null, x: 2, y: 4}}", "null"]
    );
    assert_eq!(texts(&all, "address"), ["null", "null", "null"]);
    assert_eq!(texts(&all, "tags"), ["null", "null", "null"]);

    let leaf = rows(lab.scan().select(["s.y", "s.added"]).filter_sql("s.x >= 1")).await;
    assert_eq!(texts(&leaf, "s.y"), ["4", "6"]);
    assert_eq!(texts(&leaf, "s.added"), ["null", "null"]);
    assert_eq!(texts(&rows(lab.scan().select(["s"]).filter_sql("s.added is null")).await, "s").len(), 3);

    // Only a child that no file has: the struct's nulls are still told apart.
    lab.evolve([NestedField::optional(
        1,
        "s",
        Type::Struct(StructType::new(vec![Arc::new(optional(12, "added", P::Int))])),
    )]);
    assert_eq!(texts(&rows(lab.scan()).await, "s"), ["{added: null}", "null", "{added: null}"]);
}

fn point2(extra: bool) -> StructType {
    shifted(extra, 100)
}

fn point3(extra: bool) -> StructType {
    shifted(extra, 200)
}

fn shifted(extra: bool, by: i32) -> StructType {
    let point = point(extra);
    let fields = point.fields().iter().map(|f| {
        let mut f = f.as_ref().clone();
        f.id += by;
        Arc::new(f)
    });
    StructType::new(fields.collect())
}

#[tokio::test]
async fn a_declared_schema_is_given_or_refused() {
    let lab = two_ints().await;
    let declare = |fields: Vec<Field>| lab.scan().expect_schema(Arc::new(ArrowSchema::new(fields)));
    let wide =
        rows(declare(vec![Field::new("b", DataType::Int64, true), Field::new("a", DataType::Int32, true)]))
            .await;
    assert_eq!(wide.schema().field(0).data_type(), &DataType::Int64);
    assert_eq!(wide.column(0).as_ref(), &Int64Array::from(vec![10, 20]));
    assert_eq!(wide.column(1).as_primitive::<Int32Type>().values(), &[1, 2]);
    for (fields, said) in [
        (vec![Field::new("a", DataType::Int16, true)], "can't be given as Int16"),
        (vec![Field::new("a", DataType::Utf8, true)], "can't be given as Utf8"),
        (vec![Field::new("a", DataType::Int32, false)], "may hold nulls"),
        (vec![Field::new("c", DataType::Int32, true)], "`c`"),
    ] {
        let e = declare(fields).plan().await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Input);
        assert!(e.to_string().contains(said), "{e}");
    }
}
