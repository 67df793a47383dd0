use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::Int32Type;
use calve_partition::Splitter;
use iceberg::spec::{FormatVersion, NestedField, PrimitiveType as P, Schema, Transform};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::lab::*;

#[derive(Clone, Debug)]
struct Row {
    n: Option<i32>,
    x: Option<f64>,
    f: Option<f32>,
    s: Option<String>,
    ts: Option<i64>,
    d: Option<i32>,
}

#[derive(Clone, Debug)]
enum Value {
    Number(f64),
    Text(String),
}

#[derive(Clone, Debug)]
enum Condition {
    /// Column, operator, literal as SQL, literal as a value (`None` is null), literal on the left.
    Compare(&'static str, &'static str, String, Option<Value>, bool),
    In(&'static str, Vec<(String, Option<Value>)>, bool),
    Null(&'static str, bool),
    Nan(&'static str, bool),
    Prefix(String, bool),
    Between(&'static str, (String, Option<Value>), (String, Option<Value>)),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

impl Row {
    fn get(&self, column: &str) -> Option<Value> {
        match column {
            "n" => self.n.map(|v| Value::Number(f64::from(v))),
            "x" => self.x.map(Value::Number),
            "f" => self.f.map(|v| Value::Number(f64::from(v))),
            "s" => self.s.clone().map(Value::Text),
            "ts" => self.ts.map(|v| Value::Number(v as f64)),
            "d" => self.d.map(|v| Value::Number(f64::from(v))),
            other => panic!("no column {other}"),
        }
    }
}

fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.is_nan(), b.is_nan()) {
            (false, false) => a.partial_cmp(b).unwrap(),
            (a, b) => a.cmp(&b),
        },
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        other => panic!("{other:?}"),
    }
}

impl Condition {
    /// SQL's answer for one row: true, false, or unknown.
    fn holds(&self, row: &Row) -> Option<bool> {
        match self {
            Self::Compare(column, op, _, literal, _) => {
                let ordering = order(&row.get(column)?, literal.as_ref()?);
                Some(match *op {
                    "<" => ordering.is_lt(),
                    "<=" => ordering.is_le(),
                    ">" => ordering.is_gt(),
                    ">=" => ordering.is_ge(),
                    "=" => ordering.is_eq(),
                    _ => ordering.is_ne(),
                })
            }
            Self::In(column, list, negated) => {
                let value = row.get(column)?;
                let found = list.iter().flat_map(|l| &l.1).any(|l| order(&value, l).is_eq());
                match found {
                    true => Some(!negated),
                    false if list.iter().any(|l| l.1.is_none()) => None,
                    false => Some(*negated),
                }
            }
            Self::Null(column, negated) => Some(row.get(column).is_none() != *negated),
            Self::Nan(column, negated) => match row.get(column)? {
                Value::Number(v) => Some(v.is_nan() != *negated),
                Value::Text(_) => None,
            },
            Self::Prefix(prefix, negated) => match row.get("s")? {
                Value::Text(v) => Some(v.starts_with(prefix.as_str()) != *negated),
                Value::Number(_) => None,
            },
            Self::Between(column, low, high) => {
                let value = row.get(column);
                let at_least = value.as_ref().zip(low.1.as_ref()).map(|(v, l)| order(v, l).is_ge());
                let at_most = value.as_ref().zip(high.1.as_ref()).map(|(v, h)| order(v, h).is_le());
                and(at_least, at_most)
            }
            Self::And(a, b) => and(a.holds(row), b.holds(row)),
            Self::Or(a, b) => and(a.holds(row).map(|v| !v), b.holds(row).map(|v| !v)).map(|v| !v),
            Self::Not(a) => a.holds(row).map(|v| !v),
        }
    }

    fn sql(&self) -> String {
        let not = |negated: &bool| if *negated { "not " } else { "" };
        match self {
            Self::Compare(column, op, literal, _, false) => format!("{column} {op} {literal}"),
            Self::Compare(column, op, literal, _, true) => {
                let flipped = match *op {
                    "<" => ">",
                    "<=" => ">=",
                    ">" => "<",
                    ">=" => "<=",
                    same => same,
                };
                format!("{literal} {flipped} {column}")
            }
            Self::In(column, list, negated) => {
                let list: Vec<&str> = list.iter().map(|l| l.0.as_str()).collect();
                format!("{column} {}in ({})", not(negated), list.join(", "))
            }
            Self::Null(column, negated) => format!("{column} is {}null", not(negated)),
            Self::Nan(column, negated) => format!("{}isnan({column})", not(negated)),
            Self::Prefix(prefix, negated) => format!("s {}like '{prefix}%'", not(negated)),
            Self::Between(column, low, high) => format!("{column} between {} and {}", low.0, high.0),
            Self::And(a, b) => format!("({} and {})", a.sql(), b.sql()),
            Self::Or(a, b) => format!("({} or {})", a.sql(), b.sql()),
            Self::Not(a) => format!("not ({})", a.sql()),
        }
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => (-8_i32..8).prop_map(|v| f64::from(v) / 2.0),
        1 => Just(f64::NAN),
        1 => Just(-f64::NAN),
        1 => Just(-0.0),
        1 => Just(0.0),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab]{0,3}",
        1 => "[aé•]{0,2}",
        1 => Just("aaaaaaaaaaaaaaaaaaab".to_owned()),
        1 => Just("\u{10ffff}".repeat(2)),
    ]
}

/// Around the epoch, in quarters of a day.
fn moments() -> impl Strategy<Value = i64> {
    prop_oneof![3 => (-12_i64..12).prop_map(|v| v * 21_600_000_000), 1 => -3_i64..3]
}

fn row() -> impl Strategy<Value = Row> {
    (
        proptest::option::weighted(0.8, -20_i32..20),
        proptest::option::weighted(0.8, numbers()),
        proptest::option::weighted(0.8, numbers()),
        proptest::option::weighted(0.8, words()),
        proptest::option::weighted(0.8, moments()),
        proptest::option::weighted(0.8, -40_i32..40),
    )
        .prop_map(|(n, x, f, s, ts, d)| Row { n, x, f: f.map(|v| v as f32), s, ts, d })
}

/// Files of rows; some hold few distinct values, so that bounds and partitions can decide.
fn files() -> impl Strategy<Value = Vec<Vec<Row>>> {
    let narrow = (row(), proptest::collection::vec(row(), 1..6)).prop_map(|(base, mut rows)| {
        for row in &mut rows {
            row.n = base.n.map(|n| n + row.n.unwrap_or(0).rem_euclid(3));
            row.d = base.d;
            row.x = if base.x.is_some_and(|x| x > 1.0) { base.x } else { row.x };
            row.s = base.s.clone();
        }
        rows
    });
    let file = prop_oneof![proptest::collection::vec(row(), 1..8), narrow];
    proptest::collection::vec(file, 1..5)
}

fn literal(column: &'static str) -> BoxedStrategy<(String, Option<Value>)> {
    let null = Just(("null".to_owned(), None)).boxed();
    let real = match column {
        "n" => (-50_i32..50)
            .prop_map(|v| {
                let v = f64::from(v) / 2.0;
                (format!("{v}"), Some(Value::Number(v)))
            })
            .boxed(),
        "x" | "f" => numbers()
            .prop_map(|v| {
                let sql = if v.is_finite() { format!("{v:?}") } else { format!("'{v}'") };
                (sql.replace("'NaN'", "'nan'"), Some(Value::Number(v)))
            })
            .boxed(),
        "s" => words().prop_map(|v| (format!("'{v}'"), Some(Value::Text(v)))).boxed(),
        "ts" => moments()
            .prop_map(|v| {
                let text =
                    chrono::DateTime::from_timestamp_micros(v).unwrap().format("%Y-%m-%d %H:%M:%S%.6f");
                (format!("'{text}'"), Some(Value::Number(v as f64)))
            })
            .boxed(),
        _ => (-41_i64..41)
            .prop_map(|v| {
                let text = chrono::DateTime::from_timestamp(v * 86_400, 0).unwrap().format("%Y-%m-%d");
                (format!("date '{text}'"), Some(Value::Number(v as f64)))
            })
            .boxed(),
    };
    prop_oneof![12 => real, 1 => null].boxed()
}

fn condition() -> impl Strategy<Value = Condition> {
    let column = prop_oneof![Just("n"), Just("x"), Just("f"), Just("s"), Just("ts"), Just("d")];
    let op = prop_oneof![Just("<"), Just("<="), Just(">"), Just(">="), Just("="), Just("<>")];
    let leaf =
        (column, op, any::<bool>(), 0..6_u8).prop_flat_map(|(column, op, flag, kind)| match (kind, column) {
            (0, _) => Just(Condition::Null(column, flag)).boxed(),
            (1, "x" | "f") => Just(Condition::Nan(column, flag)).boxed(),
            (1, "s") => words().prop_map(move |v| Condition::Prefix(v, flag)).boxed(),
            (2, _) => proptest::collection::vec(literal(column), 1..5)
                .prop_map(move |list| Condition::In(column, list, flag))
                .boxed(),
            (3, _) => (literal(column), literal(column))
                .prop_map(move |(low, high)| Condition::Between(column, low, high))
                .boxed(),
            _ => {
                literal(column).prop_map(move |(sql, v)| Condition::Compare(column, op, sql, v, flag)).boxed()
            }
        });
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Condition::And(a.into(), b.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Condition::Or(a.into(), b.into())),
            inner.prop_map(|a| Condition::Not(a.into())),
        ]
    })
}

fn spec() -> impl Strategy<Value = Vec<(&'static str, Transform)>> {
    let field = prop_oneof![
        Just(("n", Transform::Identity)),
        Just(("n", Transform::Bucket(4))),
        Just(("n", Transform::Truncate(10))),
        Just(("s", Transform::Identity)),
        Just(("s", Transform::Truncate(1))),
        Just(("s", Transform::Bucket(3))),
        Just(("ts", Transform::Day)),
        Just(("ts", Transform::Hour)),
        Just(("ts", Transform::Year)),
        Just(("d", Transform::Month)),
        Just(("d", Transform::Identity)),
        Just(("x", Transform::Identity)),
        Just(("f", Transform::Identity)),
    ];
    prop_oneof![
        1 => Just(vec![]),
        2 => field.clone().prop_map(|f| vec![f]),
        1 => (field.clone(), field).prop_map(|(a, b)| if a.0 == b.0 { vec![a] } else { vec![a, b] }),
    ]
}

/// The table's columns, before and after some are promoted.
fn table(promoted: bool) -> Vec<NestedField> {
    vec![
        required(1, "id", P::Int),
        optional(2, "n", if promoted { P::Long } else { P::Int }),
        optional(3, "x", P::Double),
        optional(4, "f", if promoted { P::Double } else { P::Float }),
        optional(5, "s", P::String),
        optional(6, "ts", P::Timestamp),
        optional(7, "d", P::Date),
    ]
}

fn batch_of(schema: &Schema, rows: &[(i32, Row)]) -> RecordBatch {
    let all = || rows.iter().map(|r| &r.1);
    let promoted = *schema.as_struct() == *self::schema(table(true)).as_struct();
    let (n, f): (ArrayRef, ArrayRef) = match promoted {
        false => (
            Arc::new(Int32Array::from_iter(all().map(|r| r.n))),
            Arc::new(Float32Array::from_iter(all().map(|r| r.f))),
        ),
        true => (
            Arc::new(Int64Array::from_iter(all().map(|r| r.n.map(i64::from)))),
            Arc::new(Float64Array::from_iter(all().map(|r| r.f.map(f64::from)))),
        ),
    };
    batch(
        schema,
        vec![
            Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.0))),
            n,
            Arc::new(Float64Array::from_iter(all().map(|r| r.x))),
            f,
            Arc::new(StringArray::from_iter(all().map(|r| r.s.clone()))),
            Arc::new(TimestampMicrosecondArray::from_iter(all().map(|r| r.ts))),
            Arc::new(Date32Array::from_iter(all().map(|r| r.d))),
        ],
    )
}

#[derive(Default)]
struct Seen {
    manifests: Cell<u64>,
    partitions: Cell<u64>,
    bounds: Cell<u64>,
    proven: Cell<u64>,
    rows: Cell<u64>,
}

#[test]
fn a_pruned_scan_gives_the_rows_that_one_by_one_evaluation_does() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let seen = Seen::default();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(150);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let conditions = proptest::collection::vec(condition(), 6);
    let result = runner
        .run(&(files(), spec(), conditions, any::<[bool; 4]>()), |(files, fields, conditions, how)| {
            runtime.block_on(check(&files, &fields, &conditions, how, &seen))
        });
    if let Err(e) = result {
        panic!("{e}");
    }
    // The test is only worth something if each level did prune.
    for (what, count) in [
        ("manifests pruned", &seen.manifests),
        ("files pruned by partition", &seen.partitions),
        ("files pruned by bounds", &seen.bounds),
        ("files proven", &seen.proven),
        ("rows selected", &seen.rows),
    ] {
        assert!(count.get() > 20, "only {} {what}", count.get());
    }
}

async fn check(
    files: &[Vec<Row>],
    fields: &[(&str, Transform)],
    conditions: &[Condition],
    [no_manifest_statistics, no_nan_counts, small_groups, promote]: [bool; 4],
    seen: &Seen,
) -> Result<(), TestCaseError> {
    let mut lab = Lab::with(schema(table(false)), fields, FormatVersion::V2);
    let spec = lab.metadata.default_partition_spec().clone();
    let mut rows = Vec::new();
    for (at, file) in files.iter().enumerate() {
        if promote && at == 1 {
            lab.evolve(table(true));
        }
        let schema = lab.metadata.current_schema().clone();
        let numbered: Vec<(i32, Row)> =
            file.iter().enumerate().map(|(i, r)| ((rows.len() + i) as i32, r.clone())).collect();
        let whole = batch_of(&schema, &numbered);
        rows.extend(numbered);
        let mut written = Vec::new();
        for part in Splitter::new(spec.clone(), schema.clone()).unwrap().split(&whole).unwrap() {
            let options = FileOptions {
                rows_a_group: small_groups.then_some(2),
                no_manifest_statistics,
                no_nan_counts,
                partition: part.value.fields().to_vec(),
                ..Default::default()
            };
            written.push(lab.file(&part.take(&whole).unwrap(), &options).await);
        }
        lab.append(written).await;
    }
    for condition in conditions {
        let sql = condition.sql();
        let wanted: Vec<i32> =
            rows.iter().filter(|r| condition.holds(&r.1) == Some(true)).map(|r| r.0).collect();
        let scan = lab.scan().select(["id"]).filter_sql(&sql);
        let plan = scan.plan().await.map_err(|e| TestCaseError::fail(format!("{sql}: {e}")))?;
        let explain = plan.explain().clone();
        let got = try_rows(scan).await.map_err(|e| TestCaseError::fail(format!("{sql}: {e}")))?;
        let mut got = got.column(0).as_primitive::<Int32Type>().values().to_vec();
        got.sort_unstable();
        prop_assert_eq!(&got, &wanted, "{} over {:?}\n{}", sql, fields, explain);
        let add = |cell: &Cell<u64>, more: u64| cell.set(cell.get() + more);
        add(&seen.rows, got.len() as u64);
        for part in &explain.filter {
            add(&seen.manifests, part.manifests_by_partition);
            add(&seen.partitions, part.files_by_partition);
            add(&seen.bounds, part.files_by_bounds);
            add(&seen.proven, part.files_proven);
        }
    }
    Ok(())
}
