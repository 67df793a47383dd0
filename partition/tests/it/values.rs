use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, TimestampSecondArray, UInt8Array};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use calve_partition::{ErrorKind, apply, apply_datum, apply_literal, result_type};
use iceberg::spec::{Datum, PrimitiveLiteral as L, PrimitiveType as P, Transform};

use proptest::prelude::*;

use crate::columns::{column, literal, parse, show};
use crate::pruning::COLUMNS;

const PYICEBERG: &str = include_str!("../data/pyiceberg.jsonl");
pub(crate) const JAVA: &str = include_str!("../data/java.jsonl");

/// One line of a data file.
pub(crate) struct Answer {
    pub(crate) of: P,
    pub(crate) transform: Transform,
    pub(crate) value: Option<L>,
    /// The expected result as text.
    pub(crate) result: Option<String>,
    pub(crate) human: Option<String>,
    pub(crate) path: Option<String>,
}

pub(crate) fn answers(file: &str) -> Vec<Answer> {
    file.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).expect("a line is json");
            let text = |key: &str| row[key].as_str().map(str::to_owned);
            let of: P = serde_json::from_value(row["type"].clone()).expect("a primitive type");
            Answer {
                transform: row["transform"].as_str().expect("a name").parse().expect("a transform"),
                value: text("value").map(|value| parse(&of, &value)),
                result: text("result"),
                human: text("human"),
                path: text("path"),
                of,
            }
        })
        .collect()
}

/// Whether a value has no result of its type: the reference wrapped round, or left the type, and we
/// refuse it.
fn overflows(answer: &Answer) -> bool {
    match (&answer.value, answer.transform, &answer.of) {
        (Some(L::Int(v)), Transform::Truncate(w), _) => {
            let v = i64::from(*v);
            v - v.rem_euclid(i64::from(w)) < i64::from(i32::MIN)
        }
        (Some(L::Long(v)), Transform::Truncate(w), _) => {
            let v = i128::from(*v);
            v - v.rem_euclid(i128::from(w)) < i128::from(i64::MIN)
        }
        (Some(L::Int128(v)), Transform::Truncate(w), P::Decimal { precision, .. }) => {
            (v - v.rem_euclid(i128::from(w))).unsigned_abs() >= 10_u128.pow(*precision)
        }
        (Some(L::Long(v)), Transform::Hour, P::Timestamp | P::Timestamptz) => {
            i32::try_from(v.div_euclid(3_600_000_000)).is_err()
        }
        _ => false,
    }
}

/// Whether the 32-bit `((v % W) + W) % W` of the Java library is another number than `v mod W`.
pub(crate) fn is_garbled(answer: &Answer) -> bool {
    match (&answer.value, answer.transform) {
        (Some(L::Int(v)), Transform::Truncate(w @ 1_073_741_825..)) => {
            let result: i64 = answer.result.as_deref().expect("a result").parse().expect("a number");
            let v = i64::from(*v);
            result != v - v.rem_euclid(i64::from(w))
        }
        _ => false,
    }
}

/// The expected result as [`show`] has it: of floats, their bits.
fn expected(answer: &Answer) -> Option<String> {
    let result = answer.result.as_deref()?;
    let text = result.replace("Infinity", "inf");
    Some(match &answer.of {
        P::Float | P::Double => show(&parse(&answer.of, &text)),
        _ => result.to_owned(),
    })
}

fn check_scalars(file: &str) {
    let (mut checked, mut floats, mut refused) = (0, 0, 0);
    for answer in answers(file) {
        let Some(value) = &answer.value else { continue };
        let result = apply_literal(answer.transform, value, &answer.of);
        if overflows(&answer) {
            let error = result.expect_err("it has no value of its type");
            assert_eq!(error.kind(), ErrorKind::Value, "{} of {} {value:?}", answer.transform, answer.of);
            refused += 1;
        } else if !is_garbled(&answer) {
            let result = result.expect("the transform takes the type").map(|result| show(&result));
            assert_eq!(result, expected(&answer), "{} of {} {value:?}", answer.transform, answer.of);
            floats += usize::from(matches!(answer.of, P::Float | P::Double));
            checked += 1;
        }
    }
    assert!(checked > 3_000, "only {checked} answers in the file");
    assert!(refused > 5, "only {refused} answers overflow");
    assert!(floats > 40 || file != JAVA, "only {floats} floats");
}

/// Every way to lay a column out that must not matter.
fn layouts(array: &ArrayRef) -> Vec<ArrayRef> {
    let reversed: Int32Array = (0..array.len() as i32).rev().collect();
    let twice = concat(&[array, array]).expect("one type");
    let mut layouts = vec![array.clone(), twice.slice(array.len(), array.len())];
    let backwards = arrow::compute::take(array, &reversed, None).expect("rows are there");
    layouts.push(Arc::new(DictionaryArray::new(reversed, backwards)));
    let others: &[DataType] = match array.data_type() {
        DataType::Utf8 => &[DataType::LargeUtf8, DataType::Utf8View],
        DataType::LargeBinary => &[DataType::Binary, DataType::BinaryView],
        _ => &[],
    };
    layouts.extend(others.iter().map(|of| cast(array, of).expect("a cast of layout")));
    layouts
}

fn check_arrays(file: &str) {
    let mut columns: BTreeMap<(String, String), Vec<Answer>> = BTreeMap::new();
    for answer in answers(file) {
        if !overflows(&answer) && !is_garbled(&answer) {
            let key = (answer.of.to_string(), answer.transform.to_string());
            columns.entry(key).or_default().push(answer);
        }
    }
    for answers in columns.values() {
        let (of, transform) = (&answers[0].of, answers[0].transform);
        let values: Vec<_> = answers.iter().map(|answer| answer.value.clone()).collect();
        for array in layouts(&column(of, &values)) {
            let results = apply(transform, &array, of).expect("the transform takes the type");
            let result_of = result_type(transform, of).expect("the transform takes the type");
            assert_eq!(results.len(), answers.len());
            for (row, answer) in answers.iter().enumerate() {
                let result = literal(&results, row, &result_of).map(|result| show(&result));
                assert_eq!(
                    result,
                    expected(answer),
                    "{transform} of {of} {:?} in {}",
                    answer.value,
                    array.data_type()
                );
            }
        }
    }
}

#[test]
fn scalars_equal_those_of_pyiceberg() {
    check_scalars(PYICEBERG);
}

#[test]
fn scalars_equal_those_of_iceberg_java() {
    check_scalars(JAVA);
}

#[test]
fn arrays_of_any_layout_equal_those_of_pyiceberg() {
    check_arrays(PYICEBERG);
}

#[test]
fn arrays_of_any_layout_equal_those_of_iceberg_java() {
    check_arrays(JAVA);
}

/// Appendix B of the specification, 32-bit hash requirements.
#[test]
fn buckets_are_those_of_the_hashes_in_the_specification() {
    let vectors = [
        (P::Int, "34", 2_017_239_379_u32 as i32),
        (P::Long, "34", 2_017_239_379),
        (P::Decimal { precision: 9, scale: 2 }, "1420", -500_754_589),
        (P::Date, "17486", -653_330_422),
        (P::Time, "81068000000", -662_762_989),
        (P::Timestamp, "1510871468000000", -2_047_944_441),
        (P::Timestamp, "1510871468000001", -1_207_196_810),
        (P::Timestamptz, "1510871468000000", -2_047_944_441),
        (P::Timestamptz, "1510871468000001", -1_207_196_810),
        (P::TimestampNs, "1510871468000000000", -2_047_944_441),
        (P::TimestampNs, "1510871468000001001", -1_207_196_810),
        (P::TimestamptzNs, "1510871468000000000", -2_047_944_441),
        (P::String, "iceberg", 1_210_000_089),
        (P::Uuid, "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1_488_055_340),
        (P::Fixed(4), "00010203", -188_683_207),
        (P::Binary, "00010203", -188_683_207),
    ];
    for (of, value, hash) in vectors {
        for n in [1, 16, 17, i32::MAX as u32] {
            let bucket = (hash & i32::MAX) % n as i32;
            let value = parse(&of, value);
            let scalar = apply_literal(Transform::Bucket(n), &value, &of);
            assert_eq!(scalar.expect("a bucket"), Some(L::Int(bucket)), "{of}");
            let array = column(&of, &[None, Some(value)]);
            let array = apply(Transform::Bucket(n), &array, &of).expect("buckets");
            assert_eq!(literal(&array, 1, &P::Int), Some(L::Int(bucket)), "{of}");
            assert!(array.is_null(0));
        }
    }
}

#[test]
fn the_instant_before_1970_is_the_year_month_day_and_hour_before() {
    for (of, value) in [
        (P::Timestamp, L::Long(-1)),
        (P::Timestamptz, L::Long(-1)),
        (P::TimestampNs, L::Long(-1)),
        (P::TimestamptzNs, L::Long(-1)),
        (P::Date, L::Int(-1)),
    ] {
        for transform in [Transform::Year, Transform::Month, Transform::Day, Transform::Hour] {
            if of == P::Date && transform == Transform::Hour {
                assert_eq!(
                    apply_literal(transform, &value, &of).expect_err("no hours").kind(),
                    ErrorKind::Table
                );
                continue;
            }
            let scalar = apply_literal(transform, &value, &of).expect("a time");
            assert_eq!(scalar, Some(L::Int(-1)), "{transform} of {of}");
        }
    }
}

#[test]
fn truncation_floors_negative_numbers() {
    let ten = Transform::Truncate(10);
    for (value, floor) in [(-1, -10), (-10, -10), (-11, -20), (9, 0)] {
        let result = apply_datum(ten, &Datum::int(value)).expect("an int");
        assert_eq!(result, Some(Datum::int(floor)));
    }
    let decimal = P::Decimal { precision: 9, scale: 2 };
    let result = apply_literal(Transform::Truncate(50), &L::Int128(-1), &decimal);
    assert_eq!(result.expect("a decimal"), Some(L::Int128(-50)));
}

#[test]
fn what_has_no_value_of_its_type_is_refused_and_named() {
    let cases = [
        (Transform::Truncate(10_000), P::Int, L::Int(i32::MIN)),
        (Transform::Truncate(10), P::Long, L::Long(i64::MIN)),
        (Transform::Truncate(10), P::Decimal { precision: 7, scale: 3 }, L::Int128(-9_999_999)),
        (Transform::Hour, P::Timestamp, L::Long(7_850_000_000_000_000_000)),
        (Transform::Hour, P::Timestamptz, L::Long(i64::MIN)),
    ];
    for (transform, of, value) in cases {
        let scalar = apply_literal(transform, &value, &of).expect_err("out of range");
        assert_eq!(scalar.kind(), ErrorKind::Value);
        let array = column(&of, &[None, Some(value)]);
        let error = apply(transform, &array, &of).expect_err("out of range");
        assert_eq!(error.kind(), ErrorKind::Value, "{error}");
    }
}

#[test]
fn a_value_under_a_null_or_unused_in_a_dictionary_is_never_an_error() {
    let nulls = Some(vec![false, true].into());
    let hidden: ArrayRef = Arc::new(Int32Array::new(vec![i32::MIN, 5].into(), nulls));
    let result = apply(Transform::Truncate(10), &hidden, &P::Int).expect("the null hides it");
    assert_eq!(literal(&result, 1, &P::Int), Some(L::Int(0)));

    let unused: ArrayRef = Arc::new(DictionaryArray::new(
        UInt8Array::from(vec![Some(1), None]),
        Arc::new(Int32Array::from(vec![i32::MIN, 25])) as ArrayRef,
    ));
    let result = apply(Transform::Truncate(10), &unused, &P::Int).expect("no row uses it");
    assert_eq!(literal(&result, 0, &P::Int), Some(L::Int(20)));
    assert!(result.is_null(1));
}

#[test]
fn void_is_null_of_the_source_type() {
    let array = column(&P::Long, &[Some(L::Long(1)), None]);
    let result = apply(Transform::Void, &array, &P::Long).expect("void takes all");
    assert_eq!((result.null_count(), result.data_type()), (2, &DataType::Int64));
    assert_eq!(apply_datum(Transform::Void, &Datum::long(1)).expect("void takes all"), None);
}

#[test]
fn narrower_arrays_are_widened_and_wider_ones_refused() {
    let of_long = |array: &ArrayRef| apply(Transform::Bucket(16), array, &P::Long);
    let int = column(&P::Int, &[Some(L::Int(34))]);
    let result = of_long(&int).expect("an int is a long");
    assert_eq!(literal(&result, 0, &P::Int), Some(L::Int(3)));

    let millis = cast(
        &column(&P::Timestamp, &[Some(L::Long(-1_000))]),
        &DataType::Timestamp(TimeUnit::Millisecond, None),
    )
    .expect("a cast");
    let day = apply(Transform::Day, &millis, &P::Timestamp).expect("millis are micros");
    assert_eq!(literal(&day, 0, &P::Date), Some(L::Int(-1)));

    for (array, of) in [
        (column(&P::Long, &[Some(L::Long(1))]), P::Int),
        (column(&P::TimestampNs, &[Some(L::Long(-1))]), P::Timestamp),
        (column(&P::Timestamptz, &[Some(L::Long(-1))]), P::Timestamp),
        (column(&P::String, &[Some(L::String("1".into()))]), P::Uuid),
        (column(&P::Uuid, &[Some(L::UInt128(1))]), P::String),
    ] {
        let error = apply(Transform::Bucket(4), &array, &of).expect_err("not of the type");
        assert_eq!(error.kind(), ErrorKind::Batch, "{error}");
    }
}

#[test]
fn bytes_of_any_layout_are_a_fixed_of_their_length() {
    let of = P::Fixed(2);
    let wanted = column(&of, &[Some(L::Binary(vec![1, 2])), None]);
    for layout in [DataType::Binary, DataType::LargeBinary, DataType::BinaryView] {
        let bytes = cast(&wanted, &layout).expect("a cast of layout");
        let result = apply(Transform::Identity, &bytes, &of).expect("two bytes");
        assert_eq!(&result, &wanted, "{layout}");
        let buckets = apply(Transform::Bucket(16), &bytes, &of).expect("two bytes");
        assert_eq!(&buckets, &apply(Transform::Bucket(16), &wanted, &of).expect("two bytes"));
        let error = apply(Transform::Identity, &bytes, &P::Fixed(3)).expect_err("two bytes");
        assert_eq!(error.kind(), ErrorKind::Batch, "{error}");
    }
}

#[test]
fn a_moment_too_far_off_for_the_type_is_a_value_to_change() {
    for (of, seconds) in [
        (P::Timestamp, i64::MAX / 1_000_000 + 1),
        (P::TimestampNs, i64::MAX / 1_000_000_000 + 1),
        (P::Timestamp, i64::MIN),
    ] {
        let array: ArrayRef = Arc::new(TimestampSecondArray::from(vec![None, Some(seconds)]));
        let dictionary: ArrayRef =
            Arc::new(DictionaryArray::new(UInt8Array::from(vec![1, 0]), array.clone()));
        for array in [array.clone(), dictionary] {
            let error = apply(Transform::Year, &array, &of).expect_err("too far off");
            assert_eq!(error.kind(), ErrorKind::Value, "{error}");
        }
        let nulls = Some(vec![false, false].into());
        let hidden = array.as_primitive::<arrow::datatypes::TimestampSecondType>().values().clone();
        let hidden: ArrayRef = Arc::new(TimestampSecondArray::new(hidden, nulls));
        assert_eq!(apply(Transform::Year, &hidden, &of).expect("all null").null_count(), 2);
    }
}

#[test]
fn a_literal_that_is_none_of_the_type_is_refused_for_itself() {
    let int = P::Int;
    let date = P::Date;
    for (transform, value, of, why) in [
        (Transform::Bucket(4), L::AboveMax, &int, "outside of int"),
        (Transform::Identity, L::BelowMin, &int, "outside of int"),
        (Transform::Truncate(4), L::String("x".into()), &int, "no value of type int"),
        (Transform::Bucket(4), L::String("x".into()), &int, "no value of type int"),
        (Transform::Identity, L::Long(1), &int, "no value of type int"),
        (Transform::Day, L::Long(1), &date, "no value of type date"),
        (Transform::Identity, L::Binary(vec![1]), &P::Fixed(2), "no value of type fixed(2)"),
    ] {
        let error = apply_literal(transform, &value, of).expect_err("not of the type");
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.to_string().contains(why), "{error}");
        assert!(!error.to_string().contains("takes"), "{error}");
    }
    // An int is a long, with a long's room.
    let floor = apply_literal(Transform::Truncate(10), &L::Int(i32::MIN), &P::Long);
    assert_eq!(floor.expect("a long"), Some(L::Long(-2_147_483_650)));
}

#[test]
fn any_zone_label_is_utc() {
    let array = column(&P::Timestamptz, &[Some(L::Long(1_704_061_800_000_000 - 7_200_000_000))]);
    for zone in ["UTC", "+00:00", "Z", "+02:00", "Europe/Oslo", "nonsense"] {
        let instants = array.as_primitive::<TimestampMicrosecondType>().clone();
        let zoned: ArrayRef = Arc::new(instants.with_timezone(zone));
        let day = apply(Transform::Day, &zoned, &P::Timestamptz).expect("an instant");
        assert_eq!(literal(&day, 0, &P::Date), Some(L::Int(19_722)), "{zone}");
    }
}

/// Any value of a type, not only those at its edges.
fn any_value(of: &P) -> BoxedStrategy<L> {
    let int = || any::<i32>().prop_map(L::Int);
    let long = || prop_oneof![any::<i64>(), -100_000_i64..100_000].prop_map(L::Long);
    match of {
        P::Int => prop_oneof![int(), (-100..100_i32).prop_map(L::Int)].boxed(),
        P::Date => int().boxed(),
        P::Time => (0..86_400_000_000_i64).prop_map(L::Long).boxed(),
        P::Decimal { .. } => (-999_999_999..=999_999_999_i128).prop_map(L::Int128).boxed(),
        P::String => any::<String>().prop_map(L::String).boxed(),
        P::Uuid => any::<u128>().prop_map(L::UInt128).boxed(),
        P::Fixed(n) => prop::collection::vec(any::<u8>(), *n as usize).prop_map(L::Binary).boxed(),
        P::Binary => any::<Vec<u8>>().prop_map(L::Binary).boxed(),
        P::Boolean => any::<bool>().prop_map(L::Boolean).boxed(),
        P::Float => any::<f32>().prop_map(|v| L::from(Datum::float(v))).boxed(),
        P::Double => any::<f64>().prop_map(|v| L::from(Datum::double(v))).boxed(),
        _ => long().boxed(),
    }
}

fn any_column() -> impl Strategy<Value = (P, Vec<Option<L>>)> {
    (0..COLUMNS.len()).prop_flat_map(|at| {
        let of = COLUMNS[at].1.clone();
        let values = prop::collection::vec(prop::option::of(any_value(&of)), 1..40);
        values.prop_map(move |values| (of.clone(), values))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_array_is_transformed_as_its_values_are((of, values) in any_column(), n in 1..=i32::MAX as u32) {
        let small = n % 20 + 1;
        for transform in [
            Transform::Identity, Transform::Bucket(n), Transform::Bucket(small), Transform::Truncate(n),
            Transform::Truncate(small), Transform::Year, Transform::Month, Transform::Day, Transform::Hour,
        ] {
            let Ok(result_of) = result_type(transform, &of) else { continue };
            let scalars: Result<Vec<_>, _> = values
                .iter()
                .map(|v| v.as_ref().map_or(Ok(None), |v| apply_literal(transform, v, &of)))
                .collect();
            for array in layouts(&column(&of, &values)) {
                match (&scalars, apply(transform, &array, &of)) {
                    (Ok(scalars), Ok(array)) => {
                        for (row, scalar) in scalars.iter().enumerate() {
                            prop_assert_eq!(&literal(&array, row, &result_of), scalar, "{} of {}", transform, of);
                        }
                    }
                    (Err(scalar), Err(array)) => prop_assert_eq!(scalar.kind(), array.kind()),
                    (scalars, array) => prop_assert!(false, "{transform} of {of}: {scalars:?}, {array:?}"),
                }
            }
        }
    }
}
