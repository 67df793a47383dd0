//! What splitting a batch costs in memory. Alone in its process, since a process is what is
//! measured; only Linux tells how much it took at most.
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use calve_partition::Splitter;
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::spec::{NestedField, PartitionSpec, PrimitiveType, Schema, Transform, Type};

const ROWS: usize = 1_000_000;

/// A figure of this process, in bytes.
fn own(figure: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix(figure)).expect("a figure it has");
    let kibibytes = line.trim_matches([':', '\t', ' ']).trim_end_matches(" kB");
    kibibytes.parse::<usize>().expect("a number") * 1024
}

/// The most memory that `work` takes on top of what is in use before it.
fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = own("VmRSS");
    // Sets the peak back to what is in use.
    fs::write("/proc/self/clear_refs", "5").expect("the peak can be set back");
    let result = work();
    (own("VmHWM").saturating_sub(before), result)
}

fn batch(schema: &Schema) -> RecordBatch {
    let random = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let ts = (0..ROWS).map(|row| (random(row) % (30 * 86_400_000_000)) as i64);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampMicrosecondArray::from_iter_values(ts).with_timezone("+00:00")),
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| random(row) as i64))),
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("{:016x}", random(row))))),
    ];
    let arrow = schema_to_arrow_schema(schema).expect("an arrow schema");
    RecordBatch::try_new(Arc::new(arrow), columns).expect("a batch")
}

const CASES: [&[(&str, Transform)]; 3] = [
    &[("ts", Transform::Day), ("id", Transform::Bucket(16))],
    &[("id", Transform::Bucket(10_000))],
    &[("s", Transform::Truncate(2))],
];

/// Names the case that a process of its own is to measure: what an earlier one has freed would be
/// used again unnoticed.
const CASE: &str = "CALVE_TEST_MEMORY_CASE";

#[test]
fn splitting_takes_no_more_than_the_batch_and_its_indices() {
    if let Ok(case) = env::var(CASE) {
        return measure(CASES[case.parse::<usize>().expect("a case")]);
    }
    for case in 0..CASES.len() {
        let this = env::current_exe().expect("this test");
        let done = Command::new(this).arg("--nocapture").env(CASE, case.to_string()).output();
        let done = done.expect("it runs again");
        let printed = String::from_utf8_lossy(&done.stdout);
        println!("{printed}");
        assert!(
            done.status.success() && printed.contains("bytes"),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

fn measure(fields: &[(&str, Transform)]) {
    let field = |id, name, of| NestedField::optional(id, name, Type::Primitive(of)).into();
    let schema = Schema::builder()
        .with_fields([
            field(1, "ts", PrimitiveType::Timestamptz),
            field(2, "id", PrimitiveType::Long),
            field(3, "s", PrimitiveType::String),
        ])
        .build()
        .expect("a schema");
    let schema = Arc::new(schema);
    let batch = batch(&schema);
    let whole = batch.get_array_memory_size() + ROWS * size_of::<u32>();
    let spec = fields.iter().fold(PartitionSpec::builder(schema.clone()), |spec, (column, transform)| {
        spec.add_partition_field(column, format!("{column}_{transform}"), *transform).expect("a field")
    });
    let splitter = Splitter::new(Arc::new(spec.build().expect("a spec")), schema).expect("a splitter");
    let (taken, rows) = peak(|| {
        let parts = splitter.split(&batch).expect("parts");
        let rows = parts.iter().map(|part| part.take(&batch).expect("rows"));
        rows.map(|rows| black_box(rows).num_rows()).sum::<usize>()
    });
    assert_eq!(rows, ROWS);
    println!("{fields:?}: {taken} bytes beside {whole} of the batch and its indices");
    assert!(taken <= whole, "{fields:?}: {taken} bytes beside {whole} of the batch and its indices");
}
