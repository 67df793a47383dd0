use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Not;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use calve_partition::{PartitionFilter, Splitter};
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::expr::{Bind, BoundPredicate, Predicate, PredicateOperator as Op, Reference};
use iceberg::spec::{
    Datum, FieldSummary, Literal, NestedField, PartitionField, PartitionSpec, PrimitiveLiteral as L,
    PrimitiveType as P, Schema, SchemaRef, Struct, Transform, Type,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::columns::{column, parse};

/// One column of every type, named in the filters of these tests; ids count up from 1.
pub(crate) const COLUMNS: &[(&str, P)] = &[
    ("n", P::Int),
    ("id", P::Long),
    ("d", P::Decimal { precision: 9, scale: 2 }),
    ("s", P::String),
    ("b", P::Binary),
    ("u", P::Uuid),
    ("f", P::Float),
    ("x", P::Double),
    ("day", P::Date),
    ("ts", P::Timestamp),
    ("tz", P::Timestamptz),
    ("tn", P::TimestampNs),
    ("t", P::Time),
    ("ok", P::Boolean),
    ("fx", P::Fixed(2)),
];

/// Values of a type that sit around the edges of transforms; an index past the end is null.
pub(crate) fn pool(of: &P) -> Vec<L> {
    let texts: &[&str] = match of {
        P::Int => &["0", "1", "-1", "9", "10", "-10", "-11", "99", "2147483647", "-2147483600", "34"],
        P::Long => {
            &["0", "1", "-1", "9", "10", "-10", "-11", "99", "9223372036854775807", "-9223372036854775800"]
        }
        P::Decimal { .. } => &["0", "1", "-1", "-50", "-51", "1420", "999999999", "-999999900"],
        P::String => &[
            "",
            "a",
            "ab",
            "abc",
            "abcd",
            "abd",
            "b",
            "\u{1F600}x",
            "\u{1F600}y",
            "a\u{10FFFF}",
            "\u{D7FF}",
            "\u{E000}",
        ],
        P::Binary => &["", "00", "61", "6162", "616263", "616264", "ff", "ffff", "ffffff"],
        P::Uuid => &[
            "0",
            "1",
            "ffffffffffffffffffffffffffffffff",
            "80000000000000000000000000000000",
            "7fffffffffffffffffffffffffffffff",
            "8000000000000000ffffffffffffffff",
        ],
        P::Float | P::Double => &["0", "-0", "1", "-1.5", "NaN", "inf", "-inf", "1e30"],
        P::Date => &["0", "-1", "1", "30", "31", "364", "365", "-365", "-366", "19875", "-31"],
        P::Timestamp | P::Timestamptz => &[
            "0",
            "-1",
            "1",
            "3599999999",
            "3600000000",
            "-3600000000",
            "-3600000001",
            "86399999999",
            "86400000000",
            "-86400000000",
            "-86400000001",
            "1717200000000000",
            "-31536000000000",
        ],
        P::TimestampNs | P::TimestamptzNs => &[
            "0",
            "-1",
            "1",
            "999",
            "-1000",
            "3600000000000",
            "-3600000000001",
            "86400000000000",
            "-86400000000001",
            "9223372036854775807",
            "-9223372036854775808",
        ],
        P::Time => &["0", "1", "86399999999"],
        P::Boolean => &["true", "false"],
        P::Fixed(_) => &["0000", "00ff", "ff00", "ffff"],
    };
    texts.iter().map(|text| parse(of, text)).collect()
}

/// Transforms that take a type.
fn transforms(of: &P) -> Vec<Transform> {
    let all = [
        Transform::Identity,
        Transform::Bucket(1),
        Transform::Bucket(4),
        Transform::Truncate(1),
        Transform::Truncate(2),
        Transform::Truncate(10),
        Transform::Year,
        Transform::Month,
        Transform::Day,
        Transform::Hour,
        Transform::Void,
    ];
    let takes = |t: &Transform| t.result_type(&Type::Primitive(of.clone())).is_ok();
    all.into_iter().filter(takes).collect()
}

pub(crate) fn schema() -> SchemaRef {
    let fields = COLUMNS
        .iter()
        .zip(1..)
        .map(|((name, of), id)| NestedField::optional(id, *name, Type::Primitive(of.clone())).into());
    Arc::new(Schema::builder().with_fields(fields).build().expect("a schema"))
}

pub(crate) fn batch(rows: &[Vec<Option<L>>]) -> RecordBatch {
    let arrow = schema_to_arrow_schema(&schema()).expect("an arrow schema");
    let columns = COLUMNS.iter().enumerate().map(|(at, (_, of))| {
        let values: Vec<_> = rows.iter().map(|row| row[at].clone()).collect();
        column(of, &values)
    });
    RecordBatch::try_new(Arc::new(arrow), columns.collect()).expect("a batch")
}

/// Up to three fields: a column, and which of its transforms.
pub(crate) fn specs() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..COLUMNS.len(), 0..11_usize), 1..4)
}

pub(crate) fn spec(schema: &SchemaRef, fields: &[(usize, usize)]) -> PartitionSpec {
    let mut builder = PartitionSpec::builder(schema.clone());
    let mut seen = BTreeSet::new();
    for (at, (column, pick)) in fields.iter().enumerate() {
        let (name, of) = &COLUMNS[*column];
        let transforms = transforms(of);
        let transform = transforms[pick % transforms.len()];
        if seen.insert((*name, transform.dedup_name())) {
            let target = format!("p{at}");
            builder = builder.add_partition_field(name, target, transform).expect("a field");
        }
    }
    builder.build().expect("a spec")
}

/// A filter before it has columns' types. A leaf's column is one of the table or, past the last of
/// them, a source of the spec.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Leaf(usize, u8, Vec<usize>),
    And(Box<Shape>, Box<Shape>),
    Or(Box<Shape>, Box<Shape>),
    Not(Box<Shape>),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let literals = prop::collection::vec(0..13_usize, 1..4);
    let leaf = (0..4 * COLUMNS.len(), 0..14_u8, literals).prop_map(|(c, op, l)| Shape::Leaf(c, op, l));
    leaf.prop_recursive(4, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Shape::And(a.into(), b.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Shape::Or(a.into(), b.into())),
            inner.prop_map(|a| Shape::Not(a.into())),
        ]
    })
}

fn datum(value: &L, of: &P) -> Datum {
    let bytes = encode(value);
    Datum::try_from_bytes(&bytes, of.clone()).expect("a value of the type")
}

/// Single-value bytes of a literal.
fn encode(value: &L) -> Vec<u8> {
    match value {
        L::Boolean(v) => vec![u8::from(*v)],
        L::Int(v) => v.to_le_bytes().to_vec(),
        L::Long(v) => v.to_le_bytes().to_vec(),
        L::Float(v) => v.0.to_le_bytes().to_vec(),
        L::Double(v) => v.0.to_le_bytes().to_vec(),
        L::String(v) => v.as_bytes().to_vec(),
        L::Binary(v) => v.clone(),
        L::Int128(v) => v.to_be_bytes().to_vec(),
        L::UInt128(v) => v.to_be_bytes().to_vec(),
        other => panic!("{other:?} is no value"),
    }
}

fn predicate(shape: &Shape, sources: &[(usize, usize)]) -> Predicate {
    match shape {
        Shape::And(a, b) => predicate(a, sources).and(predicate(b, sources)),
        Shape::Or(a, b) => predicate(a, sources).or(predicate(b, sources)),
        Shape::Not(a) => predicate(a, sources).not(),
        Shape::Leaf(column, op, picks) => {
            let (name, of) = COLUMNS.get(*column).unwrap_or(&COLUMNS[sources[column % sources.len()].0]);
            let pool = pool(of);
            let literals: Vec<_> = picks.iter().map(|p| datum(&pool[p % pool.len()], of)).collect();
            let (term, first) = (Reference::new(*name), literals[0].clone());
            let floating = matches!(of, P::Float | P::Double);
            match op {
                0 => term.is_null(),
                1 => term.is_not_null(),
                2 if floating => term.is_nan(),
                3 if floating => term.is_not_nan(),
                4 => term.less_than(first),
                5 => term.less_than_or_equal_to(first),
                6 => term.greater_than(first),
                7 => term.greater_than_or_equal_to(first),
                8 => term.not_equal_to(first),
                9 => term.is_in(literals),
                10 => term.is_not_in(literals),
                11 if *of == P::String => term.starts_with(first),
                12 if *of == P::String => term.not_starts_with(first),
                _ => term.equal_to(first),
            }
        }
    }
}

/// Order of two values of one type: NaN above all, zeros equal.
fn order(a: &L, b: &L) -> Ordering {
    fn floats(a: f64, b: f64) -> Ordering {
        match (a.is_nan(), b.is_nan()) {
            (false, false) => a.partial_cmp(&b).expect("numbers"),
            (a, b) => a.cmp(&b),
        }
    }
    match (a, b) {
        (L::Float(a), L::Float(b)) => floats(f64::from(a.0), f64::from(b.0)),
        (L::Double(a), L::Double(b)) => floats(a.0, b.0),
        _ => a.partial_cmp(b).expect("one type"),
    }
}

/// Three-valued evaluation of a filter on a row.
fn evaluate(filter: &BoundPredicate, row: &[Option<L>]) -> Option<bool> {
    let value = |id: i32| row[id as usize - 1].as_ref();
    match filter {
        BoundPredicate::AlwaysTrue => Some(true),
        BoundPredicate::AlwaysFalse => Some(false),
        BoundPredicate::Not(inner) => evaluate(inner.inputs()[0], row).map(|v| !v),
        BoundPredicate::And(inputs) => match inputs.inputs().map(|input| evaluate(input, row)) {
            [Some(false), _] | [_, Some(false)] => Some(false),
            [Some(true), Some(true)] => Some(true),
            _ => None,
        },
        BoundPredicate::Or(inputs) => match inputs.inputs().map(|input| evaluate(input, row)) {
            [Some(true), _] | [_, Some(true)] => Some(true),
            [Some(false), Some(false)] => Some(false),
            _ => None,
        },
        BoundPredicate::Unary(term) => {
            let value = value(term.term().field().id);
            match term.op() {
                Op::IsNull => Some(value.is_none()),
                Op::NotNull => Some(value.is_some()),
                Op::IsNan => value.map(L::is_nan),
                _ => value.map(|value| !value.is_nan()),
            }
        }
        BoundPredicate::Binary(term) => {
            let value = value(term.term().field().id)?;
            let order = order(value, term.literal().literal());
            let prefixed = match (value, term.literal().literal()) {
                (L::String(text), L::String(prefix)) => text.starts_with(prefix.as_str()),
                _ => false,
            };
            Some(match term.op() {
                Op::LessThan => order.is_lt(),
                Op::LessThanOrEq => order.is_le(),
                Op::GreaterThan => order.is_gt(),
                Op::GreaterThanOrEq => order.is_ge(),
                Op::Eq => order.is_eq(),
                Op::NotEq => order.is_ne(),
                Op::StartsWith => prefixed,
                Op::NotStartsWith => !prefixed,
                other => panic!("{other} is not binary"),
            })
        }
        BoundPredicate::Set(term) => {
            let value = value(term.term().field().id)?;
            let found = term.literals().iter().any(|l| order(value, l.literal()).is_eq());
            Some(found == (term.op() == Op::In))
        }
    }
}

/// What a manifest list says of partitions: exact bounds, NaN and null apart from them.
fn summaries(partitions: &[&Struct]) -> Vec<FieldSummary> {
    let width = partitions[0].fields().len();
    let of = |at: usize| {
        let all: Vec<Option<L>> = partitions
            .iter()
            .map(|p| p.fields()[at].as_ref().and_then(Literal::as_primitive_literal))
            .collect();
        let numbers: Vec<&L> = all.iter().flatten().filter(|v| !v.is_nan()).collect();
        FieldSummary {
            contains_null: all.iter().any(Option::is_none),
            contains_nan: Some(all.iter().flatten().any(L::is_nan)),
            lower_bound: numbers.iter().min_by(|a, b| order(a, b)).map(|v| encode(v).into()),
            upper_bound: numbers.iter().max_by(|a, b| order(a, b)).map(|v| encode(v).into()),
        }
    };
    (0..width).map(of).collect()
}

/// The value that writers before the floor fix made of a time from before 1970.
fn rounded_up(value: &Struct, spec: &PartitionSpec) -> Struct {
    let old = |(at, literal): (usize, &Option<Literal>)| match (spec.fields()[at].transform, literal) {
        (
            Transform::Year | Transform::Month | Transform::Day | Transform::Hour,
            Some(Literal::Primitive(L::Int(v))),
        ) if *v < 0 && COLUMNS[spec.fields()[at].source_id as usize - 1].1 != P::Date => {
            Some(Literal::int(v + 1))
        }
        _ => literal.clone(),
    };
    value.fields().iter().enumerate().map(old).collect()
}

/// Picks of values for each row, fields of a spec, a filter, and how often its partitions are repeated.
type Case = (Vec<Vec<usize>>, Vec<(usize, usize)>, Shape, usize);

fn case() -> impl Strategy<Value = Case> {
    let rows = prop::collection::vec(prop::collection::vec(0..14_usize, COLUMNS.len()), 1..16);
    (rows, specs(), shapes(), 1..5_usize)
}

#[test]
fn a_row_that_matches_is_never_in_a_pruned_partition() {
    let mut runner = TestRunner::new(ProptestConfig {
        // A runner has no file to be kept beside.
        failure_persistence: None,
        ..ProptestConfig::with_cases(1500)
    });
    let tally = Tally::default();
    let checked = runner.run(&case(), |case| check(case, &tally));
    checked.unwrap_or_else(|error| panic!("{error}"));
    let Tally { prunable, pruned, provable, proven } = tally;
    let (prunable, pruned) = (prunable.get(), pruned.get());
    let (provable, proven) = (provable.get(), proven.get());
    println!("{pruned} of {prunable} without a match are pruned, {proven} of {provable} proven");
    // About three in five; the rest have filters on other columns, or no projection.
    assert!(pruned * 5 > prunable * 2, "only {pruned} of {prunable} are pruned");
    assert!(proven * 5 > provable * 2, "only {proven} of {provable} are proven");
}

/// What came of the partitions of all cases.
#[derive(Default)]
struct Tally {
    /// No row matches.
    prunable: Cell<usize>,
    pruned: Cell<usize>,
    /// Every row matches.
    provable: Cell<usize>,
    proven: Cell<usize>,
}

fn check((picks, fields, shape, repeats): Case, tally: &Tally) -> Result<(), TestCaseError> {
    let Tally { prunable, pruned, provable, proven } = tally;
    let rows: Vec<Vec<Option<L>>> = picks
        .iter()
        .map(|row| row.iter().zip(COLUMNS).map(|(pick, (_, of))| pool(of).get(*pick).cloned()).collect())
        .collect();
    let schema = schema();
    let spec = Arc::new(spec(&schema, &fields));
    let filter = predicate(&shape, &fields);
    let pruner = PartitionFilter::new(&filter, &spec, &schema).expect("the filter fits");
    let filter = filter.bind(schema.clone(), true).expect("the filter fits");
    let parts = Splitter::new(spec.clone(), schema).expect("a spec").split(&batch(&rows)).expect("parts");

    let mut any = false;
    for part in &parts {
        let rows: Vec<usize> = match &part.rows {
            calve_partition::Rows::All => (0..rows.len()).collect(),
            calve_partition::Rows::Indices(rows) => rows.values().iter().map(|r| *r as usize).collect(),
        };
        let selected: Vec<bool> =
            rows.iter().map(|row| evaluate(&filter, &picks_to_row(&picks[*row])) == Some(true)).collect();
        let (some, all) = (selected.contains(&true), !selected.contains(&false));
        any |= some;
        prunable.set(prunable.get() + usize::from(!some));
        pruned.set(pruned.get() + usize::from(!pruner.may_match(&part.value)));
        provable.set(provable.get() + usize::from(all));
        proven.set(proven.get() + usize::from(pruner.must_match(&part.value)));
        for value in [&part.value, &rounded_up(&part.value, &spec)] {
            prop_assert!(!some || pruner.may_match(value), "{filter} prunes {value:?} of {spec:?}");
            prop_assert!(all || !pruner.must_match(value), "{filter} proves {value:?} of {spec:?}");
            prop_assert!(!pruner.must_match(value) || pruner.may_match(value));
            let one = summaries(&[value]);
            prop_assert!(!some || pruner.may_match_summaries(Some(&one)), "{filter} prunes {one:?}");
        }
    }
    // The same judgements of partition values in columns.
    let parts: Vec<_> = parts.iter().cycle().take(parts.len() * repeats).cloned().collect();
    let columns = columns(&parts, &spec);
    let may = pruner.may_match_rows(&columns, parts.len());
    let must = pruner.must_match_rows(&columns, parts.len());
    for (row, part) in parts.iter().enumerate() {
        prop_assert_eq!(may.value(row), pruner.may_match(&part.value), "{} of {:?}", filter, part.value);
        prop_assert_eq!(must.value(row), pruner.must_match(&part.value), "{} of {:?}", filter, part.value);
    }
    prop_assert_eq!(pruner.may_match_rows(&columns[..0], parts.len()).len(), parts.len());

    let values: Vec<_> = parts.iter().map(|part| &part.value).collect();
    let whole = summaries(&values);
    prop_assert!(!any || pruner.may_match_summaries(Some(&whole)), "{filter} prunes {whole:?} of {spec:?}");
    let short = &whole[..whole.len() - 1];
    prop_assert!(!any || pruner.may_match_summaries(Some(short)));
    prop_assert!(!any || pruner.may_match_summaries(None));
    // Bounds that a writer cut, the upper one without rounding it up.
    let mut cut = whole.clone();
    for (summary, field) in cut.iter_mut().zip(spec.fields()) {
        let of = &COLUMNS[field.source_id as usize - 1].1;
        if matches!(of, P::String | P::Binary) && !matches!(field.transform, Transform::Bucket(_)) {
            for bound in [&mut summary.lower_bound, &mut summary.upper_bound].into_iter().flatten() {
                bound.truncate(2);
            }
        }
    }
    prop_assert!(!any || pruner.may_match_summaries(Some(&cut)), "{filter} prunes {cut:?} of {spec:?}");
    Ok(())
}

/// Partition values, a column per field.
fn columns(parts: &[calve_partition::Part], spec: &PartitionSpec) -> Vec<ArrayRef> {
    let of = |(at, field): (usize, &PartitionField)| {
        let source = &COLUMNS[field.source_id as usize - 1].1;
        let result = calve_partition::result_type(field.transform, source).expect("the transform fits");
        let values = parts.iter().map(|part| part.value.fields()[at].as_ref());
        let values: Vec<_> = values.map(|v| v.and_then(Literal::as_primitive_literal)).collect();
        column(&result, &values)
    };
    spec.fields().iter().enumerate().map(of).collect()
}

fn picks_to_row(picks: &[usize]) -> Vec<Option<L>> {
    picks.iter().zip(COLUMNS).map(|(pick, (_, of))| pool(of).get(*pick).cloned()).collect()
}
