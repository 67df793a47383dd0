use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, TimeUnit};
use calve_scan::ErrorKind;
use iceberg::spec::PrimitiveType as P;
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::lab::*;

/// A table with one column of type `kind`, and one file that holds it as `held`.
async fn held(kind: P, held: ArrayRef) -> Lab {
    let mut lab = Lab::new(schema([optional(1, "c", kind)]));
    let field = Field::new("c", held.data_type().clone(), true)
        .with_metadata([(PARQUET_FIELD_ID_META_KEY.to_owned(), "1".to_owned())].into());
    let file = RecordBatch::try_new(Arc::new(ArrowSchema::new(vec![field])), vec![held]).unwrap();
    let options = FileOptions { rows_a_group: Some(1), ..Default::default() };
    let file = lab.file(&file, &options).await;
    lab.append([file]).await;
    lab
}

#[tokio::test]
async fn a_literal_beyond_the_files_type_compares_in_the_tables() {
    let lab = held(P::Long, Arc::new(Int32Array::from(vec![1, i32::MAX]))).await;
    for (filter, count) in [
        ("c < 3000000000", 2),
        ("c > 3000000000", 0),
        ("c <> 3000000000", 2),
        ("c not in (3000000000, 1)", 1),
        ("c in (4294967297, 1)", 1),
        ("c = 2147483647", 1),
    ] {
        assert_eq!(rows(lab.scan().filter_sql(filter)).await.num_rows(), count, "{filter}");
    }
    assert_eq!(rows(lab.scan()).await.column(0).data_type(), &DataType::Int64);
}

#[tokio::test]
async fn promoted_columns_are_widened() {
    let lab = held(P::Double, Arc::new(Float32Array::from(vec![0.1, 2.5]))).await;
    assert_eq!(rows(lab.scan().filter_sql("c = 2.5")).await.num_rows(), 1);
    // 0.1 as a float is a little more than 0.1 as a double.
    assert_eq!(rows(lab.scan().filter_sql("c > 0.1")).await.num_rows(), 2);

    let decimals = Decimal128Array::from(vec![-500, -500, 3]).with_precision_and_scale(9, 2).unwrap();
    let lab = held(P::Decimal { precision: 38, scale: 2 }, Arc::new(decimals)).await;
    assert_eq!(rows(lab.scan().filter_sql("c = -5")).await.num_rows(), 2);
    assert_eq!(texts(&rows(lab.scan()).await, "c"), ["-5.00", "-5.00", "0.03"]);

    let small = Decimal128Array::from(vec![-500, 7]).with_precision_and_scale(25, 2).unwrap();
    let lab = held(P::Decimal { precision: 30, scale: 2 }, Arc::new(small)).await;
    assert_eq!(rows(lab.scan().filter_sql("c < 0")).await.num_rows(), 1);
}

#[tokio::test]
async fn the_tables_clock_wins_over_the_files() {
    let nanos = TimestampNanosecondArray::from(vec![-1, 1_999]);
    let lab = held(P::Timestamp, Arc::new(nanos)).await;
    // Rounded down, before the epoch too.
    assert_eq!(
        texts(&rows(lab.scan()).await, "c"),
        ["1969-12-31T23:59:59.999999", "1970-01-01T00:00:00.000001"]
    );
    assert_eq!(rows(lab.scan().filter_sql("c < '1970-01-01'")).await.num_rows(), 1);

    let zoneless = TimestampMillisecondArray::from(vec![-1, 86_400_000]);
    let lab = held(P::Timestamptz, Arc::new(zoneless)).await;
    let all = rows(lab.scan()).await;
    assert_eq!(all.column(0).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())));
    assert_eq!(rows(lab.scan().filter_sql("c = '1970-01-02T01:00:00+01:00'")).await.num_rows(), 1);

    let far = TimestampMillisecondArray::from(vec![i64::MAX / 10]);
    let e = error(held(P::Timestamp, Arc::new(far)).await.scan()).await;
    assert!(e.to_string().contains("beyond what"), "{e}");
}

#[tokio::test]
async fn an_impossible_change_of_type_is_an_error_naming_the_column() {
    for (kind, array) in [
        (P::Int, Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        (P::String, Arc::new(Int32Array::from(vec![1]))),
        (P::Int, Arc::new(StringArray::from(vec!["1"]))),
        (P::Float, Arc::new(Float64Array::from(vec![1.0]))),
        (P::Date, Arc::new(Int32Array::from(vec![1]))),
        (
            P::Decimal { precision: 9, scale: 3 },
            Arc::new(Decimal128Array::from(vec![1]).with_precision_and_scale(9, 2).unwrap()),
        ),
    ] {
        let lab = held(kind, array).await;
        for scan in [lab.scan(), lab.scan().select(Vec::<String>::new()).filter_sql("c is null")] {
            let plan = scan.plan().await.unwrap();
            if plan.tasks().is_empty() {
                continue;
            }
            let e = error(scan).await;
            assert_eq!(e.kind(), ErrorKind::Damaged);
            assert!(e.to_string().contains("column `c`") && e.to_string().contains(".parquet"), "{e}");
        }
    }
}

#[tokio::test]
async fn every_type_comes_as_the_schema_says() {
    let schema = schema([
        optional(1, "u", P::Uuid),
        optional(2, "f", P::Fixed(3)),
        optional(3, "t", P::Time),
        optional(4, "b", P::Binary),
        optional(5, "x", P::Float),
    ]);
    let mut lab = Lab::new(schema);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(FixedSizeBinaryArray::try_from_iter([[0xff_u8; 16], [0; 16]].into_iter()).unwrap()),
        Arc::new(FixedSizeBinaryArray::try_from_iter([[1_u8, 2, 3], [4, 5, 6]].into_iter()).unwrap()),
        Arc::new(Time64MicrosecondArray::from(vec![1_500_000, 0])),
        Arc::new(LargeBinaryArray::from(vec![&[9_u8][..], &[]])),
        Arc::new(Float32Array::from(vec![f32::NAN, 1.5])),
    ];
    let file = batch(&lab.schema(), columns);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    for filter in [
        "u > '00000000-0000-0000-0000-000000000000'",
        "f < x'0405'",
        "t = '00:00:01.5'",
        "b <> x''",
        "x > 1.5",
        "u = uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff'",
    ] {
        let rows = rows(lab.scan().filter_sql(filter)).await;
        assert_eq!(texts(&rows, "f"), ["010203"], "{filter}");
    }
}

#[tokio::test]
async fn legacy_timestamps_of_96_bits_reach_far() {
    use parquet::data_type::{Int96, Int96Type};
    use parquet::file::writer::SerializedFileWriter;

    let mut lab = Lab::new(schema([optional(1, "c", P::Timestamp)]));
    let message = parquet::schema::parser::parse_message_type("message m { optional int96 c = 1; }").unwrap();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(message), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<Int96> = [(3332, 12, 14), (1, 1, 1)]
        .into_iter()
        .map(|(year, month, day)| {
            let date = chrono::NaiveDate::from_ymd_opt(year, month, day).unwrap();
            let days = date.signed_duration_since(chrono::DateTime::UNIX_EPOCH.date_naive()).num_days();
            let mut value = Int96::new();
            // Nanoseconds of the day (one microsecond), and the Julian day.
            value.set_data(1_000, 0, u32::try_from(days + 2_440_588).unwrap());
            value
        })
        .collect();
    column.typed::<Int96Type>().write_batch(&values, Some(&[1, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();

    let path = format!("{}.parquet", lab.name("data/legacy"));
    let mut file = iceberg::spec::DataFileBuilder::default();
    file.content(iceberg::spec::DataContentType::Data)
        .file_path(path.clone())
        .file_format(iceberg::spec::DataFileFormat::Parquet)
        .record_count(2)
        .file_size_in_bytes(bytes.len() as u64);
    lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
    lab.append([file.build().unwrap()]).await;
    let all = rows(lab.scan()).await;
    assert_eq!(texts(&all, "c"), ["3332-12-14T00:00:00.000001", "0001-01-01T00:00:00.000001"]);
    assert_eq!(rows(lab.scan().filter_sql("c > '3000-01-01'")).await.num_rows(), 1);
    assert_eq!(rows(lab.scan().filter_sql("c < '1000-01-01'")).await.num_rows(), 1);
}
