//! Partitioning a batch of a million rows, beside the `iceberg` crate's splitter, and bucketing
//! beside a bare murmur3 loop.

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use calve_benches::compare;
use calve_partition::{Splitter, apply};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iceberg::arrow::{RecordBatchPartitionSplitter, schema_to_arrow_schema};
use iceberg::spec::{
    NestedField, PartitionSpec, PartitionSpecRef, PrimitiveType, Schema, SchemaRef, Transform, Type,
};

const ROWS: usize = 1_000_000;
/// Days that the batch's timestamps are spread over.
const DAYS: u64 = 30;

/// `ts`, `id` and a text of sixteen bytes, in random order.
fn table() -> (SchemaRef, RecordBatch) {
    let field = |id, name, of| NestedField::optional(id, name, Type::Primitive(of)).into();
    let schema = Schema::builder().with_fields([
        field(1, "ts", PrimitiveType::Timestamptz),
        field(2, "id", PrimitiveType::Long),
        field(3, "s", PrimitiveType::String),
    ]);
    let schema = Arc::new(schema.build().expect("a schema"));
    let random = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let start = 1_717_200_000_000_000;
    let ts = (0..ROWS).map(|row| start + (random(row) % (DAYS * 86_400_000_000)) as i64);
    let ts = TimestampMicrosecondArray::from_iter_values(ts).with_timezone("+00:00");
    let id = Int64Array::from_iter_values((0..ROWS).map(|row| random(row) as i64));
    let s = StringArray::from_iter_values((0..ROWS).map(|row| format!("{:016x}", random(row))));
    let columns: Vec<ArrayRef> = vec![Arc::new(ts), Arc::new(id), Arc::new(s)];
    let arrow = schema_to_arrow_schema(&schema).expect("an arrow schema");
    (schema, RecordBatch::try_new(Arc::new(arrow), columns).expect("a batch"))
}

fn spec(schema: &SchemaRef, fields: &[(&str, &str, Transform)]) -> PartitionSpecRef {
    let builder = PartitionSpec::builder(schema.clone());
    let builder = fields.iter().try_fold(builder, |builder, (column, name, transform)| {
        builder.add_partition_field(column, *name, *transform)
    });
    Arc::new(builder.expect("the fields fit").build().expect("a spec"))
}

fn split(c: &mut Criterion) {
    let (schema, batch) = table();
    let mut group = c.benchmark_group("partition/split day(ts),bucket(16,id)");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
    let fields = [("ts", "ts_day", Transform::Day), ("id", "id_bucket", Transform::Bucket(16))];
    let spec_of_both = spec(&schema, &fields);
    let ours = Splitter::new(spec_of_both.clone(), schema.clone()).expect("a splitter");
    group.bench_function("calve, indices", |b| b.iter(|| ours.split(black_box(&batch))));
    let batches = || {
        let parts = ours.split(black_box(&batch)).expect("parts");
        parts.iter().map(|part| part.take(&batch).expect("rows")).collect::<Vec<_>>()
    };
    group.bench_function("calve, batches", |b| b.iter(batches));
    let theirs = RecordBatchPartitionSplitter::try_new_with_computed_values(schema.clone(), spec_of_both);
    let theirs = theirs.expect("a splitter");
    group.bench_function("iceberg crate, batches", |b| b.iter(|| theirs.split(black_box(&batch))));
    group.finish();
    compare("partition/split, calve beside the iceberg crate", batches, || theirs.split(black_box(&batch)));

    let mut group = c.benchmark_group("partition/split other");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
    for (name, fields) in [
        ("hour(ts)", ("ts", "ts_hour", Transform::Hour)),
        ("truncate(2,s)", ("s", "s_trunc", Transform::Truncate(2))),
        ("bucket(100000,id)", ("id", "id_bucket", Transform::Bucket(100_000))),
    ] {
        let ours = Splitter::new(spec(&schema, &[fields]), schema.clone()).expect("a splitter");
        group.bench_function(name, |b| b.iter(|| ours.split(black_box(&batch))));
    }
    group.finish();
}

fn bucket(c: &mut Criterion) {
    let (_, batch) = table();
    let (ids, texts) = (batch.column(1).clone(), batch.column(2).clone());
    let longs: Vec<i64> = (0..ROWS as i64).map(|row| row.wrapping_mul(0x5851_f42d_4c95_7f2d)).collect();
    let mut group = c.benchmark_group("partition/bucket");
    group.throughput(Throughput::Elements(ROWS as u64));
    group.bench_function("bare murmur3 of long", |b| {
        b.iter(|| {
            let hashes = black_box(&longs).iter().map(|v| murmur3_of_long(*v));
            hashes.collect::<Vec<u32>>()
        });
    });
    for n in [16, 100] {
        group.bench_function(format!("bucket({n}) of long"), |b| {
            b.iter(|| apply(Transform::Bucket(n), black_box(&ids), &PrimitiveType::Long));
        });
    }
    group.bench_function("bucket(16) of string", |b| {
        b.iter(|| apply(Transform::Bucket(16), black_box(&texts), &PrimitiveType::String));
    });
    group.finish();
    compare(
        "partition/bucket(16) of long, calve beside the bare hash",
        || apply(Transform::Bucket(16), black_box(&ids), &PrimitiveType::Long),
        || black_box(&longs).iter().map(|v| murmur3_of_long(*v)).collect::<Vec<u32>>(),
    );
}

/// The hash alone, written out, as the yardstick.
fn murmur3_of_long(value: i64) -> u32 {
    let mut hash = 0_u32;
    for block in [value as u32, (value >> 32) as u32] {
        hash ^= block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 8;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

criterion_group!(benches, split, bucket);
criterion_main!(benches);
