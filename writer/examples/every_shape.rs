//! Writes tables of every shape below a folder, for other engines to read:
//! `cargo run -p calve-writer --example every_shape -- /tmp/shapes`.

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int32Array, Int32Builder, Int64Array, ListArray, MapBuilder, RecordBatch, StringArray,
    StringBuilder, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema};
use calve_storage::{Location, Storage};
use calve_table_root::TableRootCatalog;
use calve_uri::{Mode, parse_partition};
use calve_writer::{WriteOptions, WriteOutcome, plan};
use iceberg::spec::FormatVersion;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).expect("give a folder to write to");
    let folder = Path::new(&folder);
    for (name, version) in
        [("types_v1", FormatVersion::V1), ("types_v2", FormatVersion::V2), ("types_v3", FormatVersion::V3)]
    {
        let mut options = WriteOptions::default();
        options.format_version = version;
        write(folder, name, types(0), options.clone()).await;
        write(folder, name, types(3), options).await;
    }
    for (name, request) in [
        ("by_uuid", "u,bucket(4,u)"),
        ("by_decimal", "d9,d38,truncate(10,d9)"),
        ("by_time", "day(ts),hour(tz),month(date)"),
        ("by_text", "s,truncate(2,s)"),
        ("by_binary", "bin"),
        ("by_fixed", "fixed"),
        ("by_number", "b,i,l,f"),
    ] {
        write(folder, name, types(0), partitioned(request)).await;
        write(folder, name, types(3), WriteOptions::default()).await;
    }
    write(folder, "odd_names", odd_names(), partitioned("1x,日,😀,\"a.b+c\"")).await;
    write(folder, "time", time(), WriteOptions::default()).await;
    let mut overwrite = WriteOptions::default();
    overwrite.mode = Mode::Overwrite;
    write(folder, "overwritten", types(0), partitioned("u,d9")).await;
    write(folder, "overwritten", types(3), overwrite).await;
}

async fn write(folder: &Path, name: &str, rows: RecordBatch, options: WriteOptions) {
    let root: Location = folder.join(name).to_str().unwrap().parse().unwrap();
    let catalog = TableRootCatalog::at(root.clone(), Storage::open(&root).unwrap()).unwrap();
    let ident = catalog.ident().clone();
    let mut writer = plan(Arc::new(catalog), ident, rows.schema(), options).await.unwrap().start();
    writer.write(rows).await.unwrap();
    match writer.commit().await.unwrap() {
        WriteOutcome::Committed(report) => println!("{name}: {} rows in {} files", report.rows, report.files),
        other => panic!("{name}: {other:?}"),
    }
}

fn partitioned(request: &str) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.partition = parse_partition(request).unwrap();
    options
}

/// Three rows of every type; the last is null but for its id.
fn types(first: i64) -> RecordBatch {
    let text = StringArray::from(vec![Some("😀 beyond the basic plane"), Some(""), None]);
    let uuids = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [Some([0u8; 16]), Some([0xff; 16]), None].into_iter(),
        16,
    );
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [Some(b"abc"), Some(b"xyz"), None].into_iter(),
        3,
    );
    let micros = vec![Some(-1), Some(1_717_243_200_000_000), None];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![first, first + 1, first + 2]))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("i", Arc::new(Int32Array::from(vec![Some(i32::MIN), Some(7), None]))),
        ("l", Arc::new(Int64Array::from(vec![Some(i64::MAX), Some(-7), None]))),
        ("f", Arc::new(Float32Array::from(vec![Some(-0.0), Some(f32::NAN), None]))),
        ("d", Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(1.5), None]))),
        ("d9", decimal(&[Some(-1_234), Some(999_999_999), None], 9, 2)),
        ("d18", decimal(&[Some(-1), Some(10i128.pow(18) - 1), None], 18, 3)),
        ("d38", decimal(&[Some(1 - 10i128.pow(38)), Some(1), None], 38, 10)),
        ("date", Arc::new(Date32Array::from(vec![Some(-1), Some(19_875), None]))),
        ("ts", Arc::new(TimestampMicrosecondArray::from(micros.clone()))),
        ("tz", Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("+02:00"))),
        ("s", Arc::new(text)),
        ("bin", Arc::new(BinaryArray::from(vec![Some(&[0xff; 20][..]), Some(b""), None]))),
        ("u", Arc::new(uuids.unwrap())),
        ("fixed", Arc::new(fixed.unwrap())),
        (
            "xs",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([
                Some(vec![Some(1), None]),
                Some(vec![]),
                None,
            ])),
        ),
        ("m", map()),
        ("st", record()),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| {
            let field = Field::new(*name, array.data_type().clone(), *name != "id");
            if *name != "u" {
                return field;
            }
            field.with_metadata([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())].into())
        })
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect())
        .unwrap()
}

fn decimal(values: &[Option<i128>], precision: u8, scale: i8) -> ArrayRef {
    Arc::new(Decimal128Array::from(values.to_vec()).with_precision_and_scale(precision, scale).unwrap())
}

fn map() -> ArrayRef {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    builder.keys().append_value("k");
    builder.values().append_value(1);
    builder.keys().append_value("none");
    builder.values().append_null();
    builder.append(true).unwrap();
    builder.append(true).unwrap();
    builder.append(false).unwrap();
    Arc::new(builder.finish())
}

fn record() -> ArrayRef {
    let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let y: ArrayRef = Arc::new(StringArray::from(vec![Some("y"), None, None]));
    let fields = vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Utf8, true)];
    Arc::new(StructArray::new(fields.into(), vec![x, y], Some(vec![true, true, false].into())))
}

/// In a table of its own, for engines that have no such type.
fn time() -> RecordBatch {
    let time: ArrayRef = Arc::new(Time64MicrosecondArray::from(vec![Some(0), Some(86_399_999_999), None]));
    RecordBatch::try_from_iter([("time", time)]).unwrap()
}

fn odd_names() -> RecordBatch {
    let column = |n: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![Some(n), None])) };
    let names = ["a.b+c", "1x", "日", "😀", "with space", "Ünïcode"];
    RecordBatch::try_from_iter_with_nullable(names.iter().zip(1..).map(|(name, n)| (*name, column(n), true)))
        .unwrap()
}
