use std::sync::Arc;

use arrow::array::*;
use calve_catalog::{CommitOutcome, NewTable, TableCatalog, TableChange};
use calve_scan::Scan;
use calve_storage::{Location, Storage};
use calve_table_root::TableRootCatalog;
use calve_writer::{WriteOptions, WriteOutcome, plan};
use iceberg::spec::{FormatVersion, PrimitiveType as P, Schema, Transform, UnboundPartitionSpec};
use uuid::Uuid;

use crate::lab::{optional, rows, schema, texts};

/// A column of each primitive type: a value, null, another value, and SQL for the first and last.
fn columns() -> Vec<(P, ArrayRef, [&'static str; 2])> {
    let decimals = |values: [i128; 2], precision, scale| -> ArrayRef {
        let array = Decimal128Array::from(vec![Some(values[0]), None, Some(values[1])]);
        Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
    };
    let fixed = |size: i32, values: [u8; 2]| -> ArrayRef {
        let bytes = values.map(|v| vec![v; size as usize]);
        let values = [Some(bytes[0].clone()), None, Some(bytes[1].clone())];
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.into_iter(), size).unwrap())
    };
    let micros = vec![Some(-1), None, Some(1_717_200_000_000_000)];
    let nanos = vec![Some(-1), None, Some(1_717_200_000_000_000_001)];
    vec![
        (P::Boolean, Arc::new(BooleanArray::from(vec![Some(false), None, Some(true)])), ["false", "true"]),
        (P::Int, Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(7)])), ["-2147483648", "7"]),
        (
            P::Long,
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(7)])),
            ["-9223372036854775808", "7"],
        ),
        (P::Float, Arc::new(Float32Array::from(vec![Some(-1.5), None, Some(0.1)])), ["-1.5", "0.1"]),
        (P::Double, Arc::new(Float64Array::from(vec![Some(-1e300), None, Some(0.1)])), ["-1e300", "0.1"]),
        (P::Decimal { precision: 4, scale: 2 }, decimals([-1, 9999], 4, 2), ["-0.01", "99.99"]),
        (
            P::Decimal { precision: 38, scale: 10 },
            decimals([-10_i128.pow(38) + 1, 10_i128.pow(38) - 1], 38, 10),
            ["-9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"],
        ),
        (
            P::Date,
            Arc::new(Date32Array::from(vec![Some(-1), None, Some(19_875)])),
            ["'1969-12-31'", "'2024-06-01'"],
        ),
        (
            P::Time,
            Arc::new(Time64MicrosecondArray::from(vec![Some(0), None, Some(86_399_999_999)])),
            ["'00:00'", "'23:59:59.999999'"],
        ),
        (
            P::Timestamp,
            Arc::new(TimestampMicrosecondArray::from(micros.clone())),
            ["'1969-12-31T23:59:59.999999'", "'2024-06-01T00:00:00'"],
        ),
        (
            P::Timestamptz,
            Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("+00:00")),
            ["'1969-12-31T23:59:59.999999Z'", "'2024-06-01T00:00:00Z'"],
        ),
        (
            P::TimestampNs,
            Arc::new(TimestampNanosecondArray::from(nanos.clone())),
            ["'1969-12-31T23:59:59.999999999'", "'2024-06-01T00:00:00.000000001'"],
        ),
        (
            P::TimestamptzNs,
            Arc::new(TimestampNanosecondArray::from(nanos).with_timezone("+00:00")),
            ["'1969-12-31T23:59:59.999999999Z'", "'2024-06-01T00:00:00.000000001Z'"],
        ),
        (P::String, Arc::new(StringArray::from(vec![Some(""), None, Some("é/b=c")])), ["''", "'é/b=c'"]),
        (
            P::Uuid,
            fixed(16, [1, 0xff]),
            ["'01010101-0101-0101-0101-010101010101'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
        ),
        (P::Fixed(3), fixed(3, [0, 0xff]), ["x'000000'", "x'ffffff'"]),
        (
            P::Fixed(16),
            fixed(16, [0, 0xff]),
            ["x'00000000000000000000000000000000'", "x'ffffffffffffffffffffffffffffffff'"],
        ),
        (
            P::Binary,
            Arc::new(BinaryArray::from(vec![Some(&[][..]), None, Some(&[0, 255])])),
            ["x''", "x'00ff'"],
        ),
    ]
}

/// A table of format version `version` that the writer has given `batch`, partitioned by all of `by`.
async fn written(
    version: FormatVersion,
    schema: Schema,
    by: &[(&str, Transform)],
    batch: RecordBatch,
) -> Scan {
    let root: Location = format!("memory://identity-{}/t", Uuid::new_v4()).parse().unwrap();
    let catalog = TableRootCatalog::at(root.clone(), Storage::open(&root).unwrap()).unwrap();
    let ident = catalog.ident().clone();
    let catalog: Arc<dyn TableCatalog> = Arc::new(catalog);
    let mut spec = UnboundPartitionSpec::builder();
    for (at, (column, transform)) in by.iter().enumerate() {
        let source = schema.field_id_by_name(column).unwrap();
        // Identity fields are called as their column, the first of them.
        let name = match transform {
            Transform::Identity => (*column).to_owned(),
            _ => format!("{column}_{at}"),
        };
        spec = spec.add_partition_field(source, name, *transform).unwrap();
    }
    let mut new = NewTable::new(schema);
    new.format_version = version;
    new.partition_spec = spec.build();
    let staged = catalog.stage(&ident, new).await.unwrap();
    let made = catalog.create(&staged, TableChange::none()).await.unwrap();
    assert!(matches!(made, CommitOutcome::Committed(_)));
    let planned = plan(catalog.clone(), ident.clone(), batch.schema(), WriteOptions::default()).await;
    let mut writer = planned.unwrap().start();
    writer.write(batch).await.unwrap();
    assert!(matches!(writer.commit().await.unwrap(), WriteOutcome::Committed(_)));
    Scan::new(catalog.load(&ident).await.unwrap())
}

fn batch(columns: Vec<(String, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

async fn ids(scan: Scan) -> Vec<String> {
    let rows = rows(scan.select(["id"])).await;
    let mut ids = texts(&rows, "id");
    ids.sort();
    ids
}

fn id() -> ArrayRef {
    Arc::new(Int32Array::from(vec![0, 1, 2]))
}

#[tokio::test]
async fn tables_partitioned_by_the_identity_of_any_type_are_scanned_and_pruned() {
    for (kind, values, [first, last]) in columns() {
        let nanos = matches!(kind, P::TimestampNs | P::TimestamptzNs);
        let version = if nanos { FormatVersion::V3 } else { FormatVersion::V2 };
        let schema = schema([optional(1, "id", P::Int), optional(2, "k", kind.clone())]);
        let rows = batch(vec![("id".to_owned(), id()), ("k".to_owned(), values)]);
        let scan = written(version, schema, &[("k", Transform::Identity)], rows).await;
        assert_eq!(ids(scan.clone()).await, ["0", "1", "2"], "{kind}");
        for (filter, wanted) in [
            (format!("k = {first}"), vec!["0"]),
            (format!("k = {last}"), vec!["2"]),
            (format!("k > {first}"), vec!["2"]),
            (format!("k >= {first}"), vec!["0", "2"]),
            (format!("k < {last}"), vec!["0"]),
            (format!("k <> {last}"), vec!["0"]),
            (format!("k in ({last}, {first})"), vec!["0", "2"]),
            (format!("k not in ({last})"), vec!["0"]),
            ("k is null".to_owned(), vec!["1"]),
            ("k is not null".to_owned(), vec!["0", "2"]),
        ] {
            let scan = scan.clone().filter_sql(&filter);
            assert_eq!(ids(scan.clone()).await, wanted, "{kind}: {filter}");
            let explain = scan.plan().await.unwrap().explain().clone();
            assert_eq!(explain.files.kept, wanted.len() as u64, "{kind}: {filter}: {explain}");
        }
    }
}

#[tokio::test]
async fn a_table_partitioned_by_columns_of_every_type_at_once_is_scanned() {
    let mut fields = vec![optional(1, "id", P::Int)];
    let mut arrays = vec![("id".to_owned(), id())];
    let mut sql = Vec::new();
    // Twice, for named Avro types must not clash.
    for (at, (kind, values, literals)) in columns().into_iter().chain(columns()).enumerate() {
        let name = format!("k{at}");
        fields.push(optional(at as i32 + 2, &name, kind));
        sql.push(format!("{name} = {}", literals[1]));
        arrays.push((name, values));
    }
    let names: Vec<String> = arrays[1..].iter().map(|(name, _)| name.clone()).collect();
    let by: Vec<_> = names.iter().map(|name| (name.as_str(), Transform::Identity)).collect();
    let scan = written(FormatVersion::V3, schema(fields), &by, batch(arrays)).await;
    assert_eq!(ids(scan.clone()).await, ["0", "1", "2"]);
    for filter in &sql {
        assert_eq!(ids(scan.clone().filter_sql(filter)).await, ["2"], "{filter}");
    }
    assert_eq!(ids(scan.filter_sql(sql.join(" and "))).await, ["2"]);
}

#[tokio::test]
async fn other_transforms_beside_the_identity_of_a_uuid_are_kept() {
    let uuids = FixedSizeBinaryArray::try_from_iter([[1_u8; 16], [2; 16], [3; 16]].into_iter()).unwrap();
    let amounts = Decimal128Array::from(vec![-1234, 5, 99_999]).with_precision_and_scale(9, 2).unwrap();
    let schema = schema([
        optional(1, "id", P::Int),
        optional(2, "u", P::Uuid),
        optional(3, "d", P::Decimal { precision: 9, scale: 2 }),
    ]);
    let rows = batch(vec![
        ("id".to_owned(), id()),
        ("u".to_owned(), Arc::new(uuids)),
        ("d".to_owned(), Arc::new(amounts)),
    ]);
    let by = [
        ("u", Transform::Bucket(4)),
        ("u", Transform::Identity),
        ("d", Transform::Truncate(100)),
        ("u", Transform::Void),
    ];
    let scan = written(FormatVersion::V2, schema, &by, rows).await;
    assert_eq!(ids(scan.clone()).await, ["0", "1", "2"]);
    for (filter, wanted) in [
        ("u = '02020202-0202-0202-0202-020202020202'", vec!["1"]),
        ("u > '02020202-0202-0202-0202-020202020202'", vec!["2"]),
        ("d < 0", vec!["0"]),
        ("d = 999.99 and u is not null", vec!["2"]),
    ] {
        let scan = scan.clone().filter_sql(filter);
        assert_eq!(scan.clone().plan().await.unwrap().tasks().len(), wanted.len(), "{filter}");
        assert_eq!(ids(scan).await, wanted, "{filter}");
    }
}
