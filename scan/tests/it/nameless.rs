use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{DataType, Field};
use calve_scan::ErrorKind;
use iceberg::spec::{NestedField, PrimitiveType as P, StructType, Transform, Type};

use crate::lab::*;

/// A batch whose fields carry no ids.
fn plain(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn nested() -> Lab {
    let inner = StructType::new(vec![Arc::new(optional(3, "x", P::Int))]);
    Lab::new(schema([NestedField::optional(1, "s", Type::Struct(inner)), optional(2, "a", P::Int)]))
}

fn struct_of(name: &str, values: Vec<i32>) -> ArrayRef {
    let field = Arc::new(Field::new(name, DataType::Int32, true));
    Arc::new(StructArray::from(vec![(field, Arc::new(Int32Array::from(values)) as ArrayRef)]))
}

#[tokio::test]
async fn columns_are_found_through_the_name_mapping() {
    let mut lab = nested();
    lab.set_property(
        "schema.name-mapping.default",
        r#"[{"field-id": 1, "names": ["s", "S"], "fields": [{"field-id": 3, "names": ["ex"]}]}, {"field-id": 2, "names": ["A"]}]"#,
    );
    let file = plain(vec![("S", struct_of("ex", vec![7])), ("A", Arc::new(Int32Array::from(vec![1])))]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    let all = rows(lab.scan().filter_sql("s.x = 7 and a = 1")).await;
    assert_eq!(texts(&all, "s"), ["{x: 7}"]);
    assert_eq!(texts(&all, "a"), ["1"]);
}

#[tokio::test]
async fn without_a_mapping_the_tables_own_names_count() {
    let mut lab = nested();
    let file = plain(vec![("s", struct_of("x", vec![7])), ("a", Arc::new(Int32Array::from(vec![1])))]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    assert_eq!(texts(&rows(lab.scan()).await, "s"), ["{x: 7}"]);
}

#[tokio::test]
async fn a_file_that_matches_nothing_is_refused_rather_than_read_as_nulls() {
    let mut lab = nested();
    let file = plain(vec![("other", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    let e = error(lab.scan()).await;
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(e.to_string().contains("schema.name-mapping.default"), "{e}");
}

#[tokio::test]
async fn an_identity_partition_column_absent_from_its_file_is_filled_from_the_manifest() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "country", P::String), optional(2, "a", P::Int), optional(3, "k", P::Int)]),
        &[("country", Transform::Identity), ("k", Transform::Bucket(4))],
    );
    let mut files = Vec::new();
    for country in [Some("nl"), None] {
        let file = plain(vec![("a", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef)]);
        let partition =
            vec![country.map(iceberg::spec::Literal::string), Some(iceberg::spec::Literal::int(2))];
        files.push(lab.file(&file, &FileOptions { partition, ..Default::default() }).await);
    }
    lab.append(files).await;
    let all = rows(lab.scan()).await;
    assert_eq!(texts(&all, "country"), ["nl", "nl", "null", "null"]);
    // A bucket is not the value it was made of.
    assert_eq!(texts(&all, "k"), ["null"; 4]);
    assert_eq!(rows(lab.scan().filter_sql("country = 'nl' and a = 1")).await.num_rows(), 1);
    assert_eq!(rows(lab.scan().filter_sql("country is null or a = 1")).await.num_rows(), 3);
    assert_eq!(StringArray::from(vec!["nl"]).value(0), "nl");
}
