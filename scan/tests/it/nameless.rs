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
async fn without_a_mapping_a_file_is_refused_whatever_its_columns_are_called() {
    for names in [["s", "a"], ["s", "other"], ["x", "y"]] {
        let mut lab = nested();
        let ones: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let file = plain(vec![(names[0], struct_of("x", vec![7])), (names[1], ones)]);
        let file = lab.file(&file, &FileOptions::default()).await;
        let path = file.file_path().to_owned();
        lab.append([file]).await;
        let none: [&str; 0] = [];
        for scan in [lab.scan(), lab.scan().select(["a"]), lab.scan().select(none)] {
            let e = error(scan).await;
            assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
            for said in [&path, "field ids", "schema.name-mapping.default"] {
                assert!(e.to_string().contains(said), "{e}");
            }
        }
    }
}

#[tokio::test]
async fn a_column_renamed_since_is_not_read_from_one_that_took_its_name() {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int), optional(2, "b", P::Int)]));
    let one = |value: i32| Arc::new(Int32Array::from(vec![value])) as ArrayRef;
    let file = lab.file(&plain(vec![("a", one(1)), ("b", one(2))]), &FileOptions::default()).await;
    lab.append([file]).await;
    lab.evolve([optional(1, "b", P::Int), optional(2, "a", P::Int)]);
    assert_eq!(error(lab.scan()).await.kind(), ErrorKind::Unsupported);
    lab.set_property(
        "schema.name-mapping.default",
        r#"[{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["b"]}]"#,
    );
    let all = rows(lab.scan()).await;
    assert_eq!((texts(&all, "b"), texts(&all, "a")), (vec!["1".to_owned()], vec!["2".to_owned()]));
}

#[tokio::test]
async fn an_identity_partition_column_absent_from_its_file_is_filled_from_the_manifest() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "country", P::String), optional(2, "a", P::Int), optional(3, "k", P::Int)]),
        &[("country", Transform::Identity), ("k", Transform::Bucket(4))],
    );
    lab.set_property("schema.name-mapping.default", r#"[{"field-id": 2, "names": ["a"]}]"#);
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
