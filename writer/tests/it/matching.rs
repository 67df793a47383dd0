use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Date64Array, Decimal256Array, DictionaryArray, FixedSizeBinaryArray,
    Float32Array, Int8Array, Int32Array, Int64Array, LargeStringArray, ListArray, NullArray, RecordBatch,
    RecordBatchOptions, RunArray, StringArray, StringViewArray, StructArray, Time32SecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt32Array, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Field, Float32Type, Int32Type, Int64Type, Schema as ArrowSchema,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType, i256,
};
use calve_writer::{ErrorKind, WriteOptions};
use iceberg::spec::{FormatVersion, Literal, NestedField, PrimitiveType, StructType, Type};

use crate::lab::{Lab, batch, optional, partition, required, schema};

async fn refused(lab: &Lab, batch: RecordBatch) -> String {
    let before = lab.listing().await;
    let error = lab.try_write(batch, WriteOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    assert_eq!(lab.listing().await, before, "nothing may be left behind");
    error.to_string()
}

async fn only_file(lab: &Lab) -> RecordBatch {
    let files = lab.data_files().await;
    assert_eq!(files.len(), 1);
    lab.file_rows(&files[0]).await
}

#[tokio::test]
async fn columns_are_matched_by_name_and_missing_ones_are_null() {
    let lab = Lab::with_table(schema(vec![
        optional(1, "a", PrimitiveType::Long),
        optional(2, "b", PrimitiveType::String),
        optional(3, "c", PrimitiveType::Double),
    ]))
    .await;
    lab.write(batch(vec![
        ("b", Arc::new(StringArray::from(vec!["x"]))),
        ("a", Arc::new(Int64Array::from(vec![1]))),
    ]))
    .await;
    let rows = only_file(&lab).await;
    assert_eq!(rows.column_by_name("a").unwrap().as_primitive::<Int64Type>().value(0), 1);
    assert_eq!(rows.column_by_name("b").unwrap().as_string::<i32>().value(0), "x");
    assert_eq!(rows.column_by_name("c").unwrap().null_count(), 1);
}

#[tokio::test]
async fn every_misfit_is_named_at_once() {
    let lab = Lab::with_table(schema(vec![
        required(1, "id", PrimitiveType::Long),
        optional(2, "dep_delay", PrimitiveType::Int),
        optional(3, "seen", PrimitiveType::Timestamptz),
    ]))
    .await;
    let text = refused(
        &lab,
        batch(vec![
            ("dep_dealy", Arc::new(Int32Array::from(vec![1]))),
            ("seen", Arc::new(TimestampSecondArray::from(vec![1]))),
            ("zzzzzz", Arc::new(Int32Array::from(vec![1]))),
        ]),
    )
    .await;
    assert!(text.contains("column \"dep_dealy\" is not in the table; did you mean \"dep_delay\"?"), "{text}");
    assert!(text.contains("column \"id\" is required but missing"), "{text}");
    assert!(text.contains("\"seen\"") && text.contains("give its values a time zone"), "{text}");
    assert!(text.contains("column \"zzzzzz\" is not in the table"), "{text}");
}

#[tokio::test]
async fn names_that_differ_in_case_are_different_names() {
    let lab = Lab::with_table(schema(vec![optional(1, "id", PrimitiveType::Long)])).await;
    let text = refused(&lab, batch(vec![("ID", Arc::new(Int64Array::from(vec![1])))])).await;
    assert!(text.contains("did you mean \"id\""), "{text}");
}

#[tokio::test]
async fn a_column_that_comes_twice_is_refused() {
    let lab = Lab::with_table(schema(vec![optional(1, "a", PrimitiveType::Long)])).await;
    let field = Field::new("a", DataType::Int64, true);
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let twice = RecordBatch::try_new(
        Arc::new(ArrowSchema::new(vec![field.clone(), field])),
        vec![column.clone(), column],
    );
    assert!(refused(&lab, twice.unwrap()).await.contains("\"a\" comes more than once"));
}

#[tokio::test]
async fn widening_keeps_every_value() {
    let lab = Lab::with_table(schema(vec![
        optional(1, "i", PrimitiveType::Int),
        optional(2, "l", PrimitiveType::Long),
        optional(3, "u", PrimitiveType::Decimal { precision: 20, scale: 0 }),
        optional(4, "d", PrimitiveType::Double),
        optional(5, "s", PrimitiveType::String),
        optional(6, "v", PrimitiveType::String),
        optional(7, "k", PrimitiveType::String),
        optional(8, "r", PrimitiveType::String),
        optional(9, "n", PrimitiveType::Int),
    ]))
    .await;
    let keyed: DictionaryArray<Int32Type> = vec![Some("k"), None].into_iter().collect();
    let runs =
        RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2]), &StringArray::from(vec!["r"])).unwrap();
    lab.write(batch(vec![
        ("i", Arc::new(Int8Array::from(vec![-128, 127]))),
        ("l", Arc::new(UInt32Array::from(vec![0, u32::MAX]))),
        ("u", Arc::new(UInt64Array::from(vec![0, u64::MAX]))),
        ("d", Arc::new(Float32Array::from(vec![0.1, f32::NAN]))),
        ("s", Arc::new(LargeStringArray::from(vec!["", "😀"]))),
        ("v", Arc::new(StringViewArray::from(vec!["a view longer than twelve bytes", ""]))),
        ("k", Arc::new(keyed)),
        ("r", Arc::new(runs)),
        ("n", Arc::new(NullArray::new(2))),
    ]))
    .await;
    let rows = only_file(&lab).await;
    assert_eq!(rows.column(0).as_primitive::<Int32Type>().values(), &[-128, 127]);
    assert_eq!(rows.column(1).as_primitive::<Int64Type>().values(), &[0, i64::from(u32::MAX)]);
    let decimals = rows.column(2).as_primitive::<arrow::datatypes::Decimal128Type>();
    assert_eq!(decimals.value(1), i128::from(u64::MAX));
    assert_eq!(rows.column(4).as_string::<i32>().value(1), "😀");
    assert_eq!(rows.column(5).as_string::<i32>().value(0), "a view longer than twelve bytes");
    assert_eq!((rows.column(6).as_string::<i32>().value(0), rows.column(6).null_count()), ("k", 1));
    assert_eq!(rows.column(7).as_string::<i32>().value(1), "r");
    assert_eq!(rows.column(8).null_count(), 2);
}

#[tokio::test]
async fn dates_times_and_binary_keep_every_value() {
    let lab = Lab::with_table(schema(vec![
        optional(1, "date", PrimitiveType::Date),
        optional(2, "time", PrimitiveType::Time),
        optional(3, "bin", PrimitiveType::Binary),
        optional(4, "half", PrimitiveType::Float),
        optional(5, "wide", PrimitiveType::Decimal { precision: 38, scale: 1 }),
    ]))
    .await;
    let rows = |millis: i64| {
        let wide = Decimal256Array::from(vec![i256::from_i128(-5)]).with_precision_and_scale(38, 1).unwrap();
        let half = Float32Array::from(vec![0.5]);
        batch(vec![
            ("date", Arc::new(Date64Array::from(vec![millis]))),
            ("time", Arc::new(Time32SecondArray::from(vec![86_399]))),
            ("bin", Arc::new(FixedSizeBinaryArray::try_from_iter([b"ab"].into_iter()).unwrap())),
            ("half", arrow::compute::cast(&half, &DataType::Float16).unwrap()),
            ("wide", Arc::new(wide)),
        ])
    };
    lab.write(rows(-86_400_000)).await;
    let file = only_file(&lab).await;
    assert_eq!(file.column(0).as_primitive::<Date32Type>().value(0), -1);
    assert_eq!(file.column(1).as_primitive::<Time64MicrosecondType>().value(0), 86_399_000_000);
    assert_eq!(file.column(2).as_binary::<i32>().value(0), b"ab");
    assert_eq!(file.column(3).as_primitive::<Float32Type>().value(0), 0.5);
    assert_eq!(file.column(4).as_primitive::<Decimal128Type>().value(0), -5);
    assert!(refused(&lab, rows(1)).await.contains("column \"date\", row 0: 1 of"));
}

#[tokio::test]
async fn nothing_is_lost_in_five_thousand_columns() {
    let lab = Lab::new();
    let names: Vec<String> = (0..5_000).map(|n| format!("c{n}")).collect();
    let column = |n: usize| -> ArrayRef { Arc::new(Int64Array::from(vec![n as i64])) };
    lab.write(batch(names.iter().enumerate().map(|(n, name)| (name.as_str(), column(n))).collect())).await;
    let rows = only_file(&lab).await;
    assert_eq!(rows.num_columns(), 5_000);
    assert_eq!(rows.column(4_999).as_primitive::<Int64Type>().value(0), 4_999);
}

#[tokio::test]
async fn narrowing_is_refused() {
    let lab = Lab::with_table(schema(vec![
        optional(1, "i", PrimitiveType::Int),
        optional(2, "l", PrimitiveType::Long),
        optional(3, "d", PrimitiveType::Decimal { precision: 9, scale: 2 }),
    ]))
    .await;
    let text = refused(
        &lab,
        batch(vec![
            ("i", Arc::new(Int64Array::from(vec![1]))),
            ("l", Arc::new(UInt64Array::from(vec![1]))),
            (
                "d",
                Arc::new(
                    arrow::array::Decimal128Array::from(vec![1]).with_precision_and_scale(9, 3).unwrap(),
                ),
            ),
        ]),
    )
    .await;
    for column in ["\"i\" is Int64", "\"l\" is UInt64", "\"d\" is Decimal128(9, 3)"] {
        assert!(text.contains(column), "{text}");
    }
}

#[tokio::test]
async fn a_zone_is_taken_off_before_the_partition_is_computed() {
    let lab = Lab::new();
    // 2024-01-01T00:30+02:00 is 2023-12-31T22:30Z.
    let ts = TimestampSecondArray::from(vec![1_704_061_800]).with_timezone("+02:00");
    lab.write_with(batch(vec![("ts", Arc::new(ts))]), partition("day(ts)")).await;
    let file = &lab.data_files().await[0];
    assert!(file.file_path().contains("/ts_day=2023-12-31/"), "{}", file.file_path());
    assert_eq!(file.partition().fields()[0], Some(Literal::date(19_722)));
    let rows = lab.file_rows(file).await;
    assert_eq!(rows.column(0).as_primitive::<TimestampMicrosecondType>().value(0), 1_704_061_800_000_000);
}

#[tokio::test]
async fn a_nanosecond_that_microseconds_can_not_hold_is_refused_by_column_and_row() {
    let lab = Lab::new();
    let nanos =
        |values: Vec<i64>| batch(vec![("ts", Arc::new(TimestampNanosecondArray::from(values)) as ArrayRef)]);
    lab.write(nanos(vec![-1_000, 2_000])).await;
    assert_eq!(only_file(&lab).await.column(0).as_primitive::<TimestampMicrosecondType>().values(), &[-1, 2]);
    let text = refused(&lab, nanos(vec![1_000, 2_000, 1_001])).await;
    assert!(text.contains("column \"ts\", row 2: 1001 of"), "{text}");
}

#[tokio::test]
async fn nanoseconds_stay_nanoseconds_in_format_version_3() {
    let lab = Lab::new();
    let mut options = WriteOptions::default();
    options.format_version = FormatVersion::V3;
    lab.write_with(batch(vec![("ts", Arc::new(TimestampNanosecondArray::from(vec![1_001])))]), options).await;
    assert_eq!(only_file(&lab).await.column(0).as_primitive::<TimestampNanosecondType>().value(0), 1_001);
    assert_eq!(
        lab.data_files().await[0].upper_bounds()[&1].to_bytes().unwrap().to_vec(),
        1_001i64.to_le_bytes()
    );
}

#[tokio::test]
async fn a_null_in_a_required_column_is_refused_by_column_and_row() {
    let lab = Lab::with_table(schema(vec![required(1, "id", PrimitiveType::Long)])).await;
    let ids = |ids: Vec<Option<i64>>| batch(vec![("id", Arc::new(Int64Array::from(ids)) as ArrayRef)]);
    // Nullable in type, not in fact.
    lab.write(ids(vec![Some(1)])).await;
    let text = refused(&lab, ids(vec![Some(1), None])).await;
    assert_eq!(text, "column \"id\", row 1: the value is null, but the column is required");
}

#[tokio::test]
async fn required_children_of_a_null_struct_are_no_nulls() {
    let child = Arc::new(required(2, "x", PrimitiveType::Long));
    let lab = Lab::with_table(schema(vec![NestedField::optional(
        1,
        "s",
        Type::Struct(StructType::new(vec![child])),
    )]))
    .await;
    let rows = |valid: Vec<bool>| {
        let x: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let fields = vec![Field::new("x", DataType::Int64, true)].into();
        batch(vec![(
            "s",
            Arc::new(StructArray::new(fields, vec![x], Some(NullBuffer::from(valid)))) as ArrayRef,
        )])
    };
    lab.write(rows(vec![true, false])).await;
    let file = &lab.data_files().await[0];
    assert_eq!((file.value_counts()[&2], file.null_value_counts()[&2]), (2, 1));
    let text = refused(&lab, rows(vec![true, true])).await;
    assert_eq!(text, "column \"s.x\", row 1: the value is null, but the column is required");
}

#[tokio::test]
async fn nested_fields_are_matched_by_name_too() {
    let lab = Lab::with_table(schema(vec![NestedField::optional(
        1,
        "s",
        Type::Struct(StructType::new(vec![
            Arc::new(optional(2, "x", PrimitiveType::Long)),
            Arc::new(optional(3, "y", PrimitiveType::String)),
        ])),
    )]))
    .await;
    let make = |name: &str| {
        let y: ArrayRef = Arc::new(StringArray::from(vec!["why"]));
        let nested = StructArray::new(vec![Field::new(name, DataType::Utf8, true)].into(), vec![y], None);
        batch(vec![("s", Arc::new(nested) as ArrayRef)])
    };
    lab.write(make("y")).await;
    let rows = only_file(&lab).await;
    let nested = rows.column(0).as_struct();
    assert_eq!(nested.column_by_name("y").unwrap().as_string::<i32>().value(0), "why");
    assert_eq!(nested.column_by_name("x").unwrap().null_count(), 1);
    assert!(refused(&lab, make("z")).await.contains("column \"s.z\" is not in the table"));
}

#[tokio::test]
async fn list_elements_are_matched_whatever_they_are_called() {
    let lab = Lab::new();
    let list = |name: &str| {
        let item = Field::new(name, DataType::Int32, true);
        let values = ListArray::from_iter_primitive::<Int32Type, _, _>([
            Some(vec![Some(1), None]),
            None,
            Some(vec![]),
        ]);
        let (_, offsets, values, nulls) = values.into_parts();
        batch(vec![("xs", Arc::new(ListArray::new(Arc::new(item), offsets, values, nulls)) as ArrayRef)])
    };
    lab.write(list("item")).await;
    lab.write(list("array")).await;
    for file in lab.data_files().await {
        let rows = lab.file_rows(&file).await;
        let xs = rows.column(0).as_list::<i32>();
        assert_eq!((xs.len(), xs.null_count(), xs.values().len()), (3, 1, 2));
        let element = lab.table().await.metadata.current_schema().field_id_by_name("xs.element").unwrap();
        assert_eq!((file.value_counts()[&element], file.null_value_counts()[&element]), (2, 1));
        assert!(!file.lower_bounds().contains_key(&element));
    }
}

#[tokio::test]
async fn rows_without_columns_are_rows_of_nulls() {
    let lab = Lab::with_table(schema(vec![optional(1, "a", PrimitiveType::Long)])).await;
    let options = RecordBatchOptions::new().with_row_count(Some(4));
    let rows = RecordBatch::try_new_with_options(Arc::new(ArrowSchema::empty()), vec![], &options).unwrap();
    lab.write(rows).await;
    assert_eq!(lab.rows().await, 4);
}

#[tokio::test]
async fn a_missing_column_gets_its_write_default() {
    let new = calve_catalog::NewTable {
        format_version: FormatVersion::V3,
        ..calve_catalog::NewTable::new(schema(vec![
            optional(1, "a", PrimitiveType::Long),
            required(2, "n", PrimitiveType::Int).with_write_default(Literal::int(7)),
        ]))
    };
    let lab = Lab::with(new).await;
    lab.write(batch(vec![("a", Arc::new(Int64Array::from(vec![1, 2])))])).await;
    assert_eq!(only_file(&lab).await.column(1).as_primitive::<Int32Type>().values(), &[7, 7]);
}

#[tokio::test]
async fn a_batch_of_another_schema_than_planned_is_refused() {
    let lab = Lab::new();
    let a = batch(vec![("a", Arc::new(Int64Array::from(vec![1])))]);
    let b = batch(vec![("b", Arc::new(Int64Array::from(vec![1])))]);
    let error = lab.try_write_all(a.schema(), vec![a, b], WriteOptions::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "a batch has columns (b Int64), but the write was planned for (a Int64)");
    assert_eq!(lab.listing().await, Vec::<String>::new());
}
