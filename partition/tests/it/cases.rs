use std::ops::Not;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Date32Array, Int32Array, StringArray, TimestampMillisecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use calve_partition::{ErrorKind, PartitionFilter, result_type};
use iceberg::expr::{Predicate, Reference};
use iceberg::spec::{
    Datum, FieldSummary, Literal, NestedField, PartitionSpec, PrimitiveLiteral as L, PrimitiveType as P,
    Schema, Struct, StructType, Transform, Type,
};

use crate::columns::{column, parse};
use crate::values::{JAVA, answers, is_garbled};

/// A table with one column `c`, partitioned by one transform of it.
struct Table {
    schema: Arc<Schema>,
    spec: PartitionSpec,
}

impl Table {
    fn new(of: P, transform: Transform) -> Self {
        let field = NestedField::optional(1, "c", Type::Primitive(of));
        let schema = Arc::new(Schema::builder().with_fields([field.into()]).build().expect("a schema"));
        let builder = PartitionSpec::builder(schema.clone());
        let builder = builder.add_partition_field("c", "p", transform).expect("a field");
        Self { spec: builder.build().expect("a spec"), schema }
    }

    fn filter(&self, filter: Predicate) -> PartitionFilter {
        PartitionFilter::new(&filter, &self.spec, &self.schema).expect("the filter fits")
    }

    fn may(&self, filter: Predicate, value: Option<Literal>) -> bool {
        self.filter(filter).may_match(&Struct::from_iter([value]))
    }

    fn must(&self, filter: Predicate, value: Option<Literal>) -> bool {
        self.filter(filter).must_match(&Struct::from_iter([value]))
    }

    fn in_manifest(&self, filter: Predicate, summary: FieldSummary) -> bool {
        self.filter(filter).may_match_summaries(Some(&[summary]))
    }
}

fn c() -> Reference {
    Reference::new("c")
}

fn bounds(low: &[u8], high: &[u8]) -> FieldSummary {
    FieldSummary {
        contains_null: false,
        contains_nan: Some(false),
        lower_bound: Some(low.to_vec().into()),
        upper_bound: Some(high.to_vec().into()),
    }
}

fn ints(low: i32, high: i32) -> FieldSummary {
    bounds(&low.to_le_bytes(), &high.to_le_bytes())
}

const HOUR: i64 = 3_600_000_000;

#[test]
fn times_before_1970_are_found_where_old_writers_put_them() {
    for of in [P::Timestamp, P::Timestamptz] {
        let at = |micros: i64| match of {
            P::Timestamp => Datum::timestamp_micros(micros),
            _ => Datum::timestamptz_micros(micros),
        };
        for transform in [Transform::Year, Transform::Month, Transform::Day, Transform::Hour] {
            let table = Table::new(of.clone(), transform);
            // The last microsecond of 1969 belongs to -1, and old writers made it 0.
            for value in [-1, 0] {
                assert!(table.may(c().equal_to(at(-1)), Some(Literal::int(value))));
                assert!(table.may(c().less_than(at(0)), Some(Literal::int(value))));
                assert!(table.in_manifest(c().less_than(at(0)), ints(value, value)));
            }
            assert!(!table.may(c().equal_to(at(-1)), Some(Literal::int(1))));
            // So 0 proves nothing about being 1970 or later, and 1 does.
            assert!(!table.must(c().greater_than_or_equal_to(at(0)), Some(Literal::int(0))));
            assert!(table.must(c().greater_than_or_equal_to(at(0)), Some(Literal::int(1))));
        }
    }
}

#[test]
fn partitions_that_wrapped_round_are_not_pruned() {
    let table = Table::new(P::Int, Transform::Truncate(10_000));
    let wrapped = 2_147_477_296;
    let lowest = || c().equal_to(Datum::int(i32::MIN));
    assert!(table.may(lowest(), Some(Literal::int(wrapped))));
    assert!(!table.must(c().greater_than(Datum::int(0)), Some(Literal::int(wrapped))));
    assert!(table.in_manifest(lowest(), ints(0, wrapped)));
    assert!(table.in_manifest(lowest(), ints(0, 2_147_480_000)));
    assert!(!table.in_manifest(lowest(), ints(0, 2_147_470_000)));
    // No wrap in the projection of the least value's neighbours.
    assert!(!table.may(c().less_than(Datum::int(i32::MIN)), Some(Literal::int(0))));
    assert!(table.may(c().greater_than(Datum::int(i32::MAX - 1)), Some(Literal::int(2_147_480_000))));

    let hours = Table::new(P::Timestamp, Transform::Hour);
    // The last of them ends up nearest to 1970.
    for far in [7_730_941_132_800_000_000, 7_850_000_000_000_000_000, i64::MAX, i64::MIN] {
        let wrapped = Some(Literal::int(far.div_euclid(HOUR) as i32));
        assert!(hours.may(c().equal_to(Datum::timestamp_micros(far)), wrapped.clone()), "{far}");
        let within = c().less_than(Datum::timestamp_micros(i64::MAX / 2));
        let within = within.and(c().greater_than(Datum::timestamp_micros(i64::MIN / 2)));
        assert!(!hours.must(within, wrapped), "{far}");
    }
    assert!(!hours.may(c().equal_to(Datum::timestamp_micros(i64::MAX)), Some(Literal::int(1_731_000_000))));

    let decimal = Table::new(P::Decimal { precision: 7, scale: 3 }, Transform::Truncate(10));
    let least =
        Datum::try_from_bytes(&(-9_999_999_i128).to_be_bytes(), P::Decimal { precision: 7, scale: 3 });
    let least = c().equal_to(least.expect("a decimal"));
    assert!(decimal.may(least, Some(Literal::decimal(-10_000_000))));
}

#[test]
fn missing_or_bad_summaries_prove_nothing() {
    let table = Table::new(P::Long, Transform::Identity);
    let filter = || c().equal_to(Datum::long(5));
    assert!(table.filter(filter()).may_match_summaries(None));
    assert!(table.filter(filter()).may_match_summaries(Some(&[])));
    let (one, nine) = (1_i64.to_le_bytes(), 9_i64.to_le_bytes());
    assert!(!table.in_manifest(filter(), bounds(&nine, &nine)));
    let only_lower = FieldSummary { upper_bound: None, ..bounds(&nine, &nine) };
    let only_upper = FieldSummary { lower_bound: None, ..bounds(&one, &one) };
    let neither = FieldSummary { lower_bound: None, upper_bound: None, ..bounds(&one, &one) };
    for summary in
        [only_lower, only_upper, neither, bounds(&nine, &one), bounds(&nine, b"abc"), bounds(b"", b"")]
    {
        assert!(table.in_manifest(filter(), summary.clone()), "{summary:?}");
    }
    // A constant needs no summary.
    assert!(!table.filter(Predicate::AlwaysFalse).may_match_summaries(None));
}

/// A bound written before `int` became `long` has four bytes.
#[test]
fn bounds_from_before_a_promotion_are_read() {
    let table = Table::new(P::Long, Transform::Identity);
    assert!(table.in_manifest(c().equal_to(Datum::long(5)), ints(1, 9)));
    assert!(!table.in_manifest(c().equal_to(Datum::long(10)), ints(1, 9)));
    assert!(!table.may(c().equal_to(Datum::long(5)), Some(Literal::int(6))));
}

#[test]
fn cut_string_bounds_are_compared_as_bytes_and_prove_no_equality() {
    let table = Table::new(P::String, Transform::Identity);
    let text = |text: &str| Datum::string(text);
    // Cut inside a code point.
    let cut = bounds(b"a", &[0xe2, 0x80]);
    assert!(table.in_manifest(c().equal_to(text("\u{2022}")), cut.clone()));
    assert!(!table.in_manifest(c().greater_than(text("\u{2100}")), cut));
    // Cut without rounding up.
    let blunt = bounds(b"abcd", b"abcd");
    assert!(table.in_manifest(c().equal_to(text("abcdef")), blunt.clone()));
    assert!(table.in_manifest(c().not_equal_to(text("abcd")), blunt.clone()));
    assert!(table.in_manifest(c().not_starts_with(text("abcde")), blunt.clone()));
    assert!(!table.in_manifest(c().not_starts_with(text("abc")), blunt));
}

/// NaN is above all numbers and equal to itself.
#[test]
fn nan_is_above_all_numbers_at_both_levels() {
    let table = Table::new(P::Double, Transform::Identity);
    let five = || c().greater_than(Datum::double(5.0));
    let nan = Some(Literal::double(f64::NAN));
    assert!(table.may(five(), nan.clone()) && table.must(five(), nan.clone()));
    assert!(table.must(c().equal_to(Datum::double(f64::NAN)), nan.clone()));
    assert!(!table.may(c().is_not_nan(), nan));
    assert!(table.may(c().equal_to(Datum::double(0.0)), Some(Literal::double(-0.0))));
    let one = 1_f64.to_le_bytes();
    let hidden = |contains_nan| FieldSummary { contains_nan, ..bounds(&one, &one) };
    for (contains_nan, may) in [(Some(true), true), (None, true), (Some(false), false)] {
        assert_eq!(table.in_manifest(five(), hidden(contains_nan)), may);
        assert_eq!(table.in_manifest(c().is_nan(), hidden(contains_nan)), may);
        assert_eq!(table.in_manifest(c().not_equal_to(Datum::double(1.0)), hidden(contains_nan)), may);
    }
    let nan = f64::NAN.to_le_bytes();
    assert!(table.in_manifest(c().less_than(Datum::double(0.0)), bounds(&nan, &nan)));
}

#[test]
fn null_partitions_answer_is_null_and_nothing_else() {
    for (of, transform, literal) in [
        (P::Timestamp, Transform::Day, Datum::timestamp_micros(0)),
        (P::Long, Transform::Identity, Datum::long(0)),
        (P::Long, Transform::Bucket(4), Datum::long(0)),
        (P::String, Transform::Truncate(2), Datum::string("a")),
    ] {
        let table = Table::new(of, transform);
        assert!(table.may(c().is_null(), None) && table.must(c().is_null(), None));
        assert!(!table.may(c().is_not_null(), None));
        for filter in [
            c().less_than(literal.clone()),
            c().equal_to(literal.clone()),
            c().not_equal_to(literal.clone()),
            c().is_not_in([literal.clone()]),
            c().less_than(literal.clone()).not(),
        ] {
            assert!(!table.may(filter.clone(), None), "{filter}");
            assert!(!table.must(filter, None));
        }
    }
    let table = Table::new(P::Long, Transform::Identity);
    let mixed = FieldSummary { contains_null: true, ..bounds(&[1; 8], &[1; 8]) };
    assert!(table.in_manifest(c().is_null(), mixed.clone()));
    assert!(table.in_manifest(c().is_not_null(), mixed));
    assert!(!table.in_manifest(c().is_null(), bounds(&[1; 8], &[1; 8])));
}

#[test]
fn decimal_bounds_are_big_endian_and_as_short_as_they_can_be() {
    let of = P::Decimal { precision: 9, scale: 2 };
    let table = Table::new(of.clone(), Transform::Identity);
    let decimal =
        |unscaled: i128| Datum::try_from_bytes(&unscaled.to_be_bytes(), of.clone()).expect("a decimal");
    // -5.00 is fe 0c.
    let minus_five = bounds(&[0xfe, 0x0c], &[0xfe, 0x0c]);
    assert!(table.in_manifest(c().equal_to(decimal(-500)), minus_five.clone()));
    assert!(!table.in_manifest(c().greater_than(decimal(-500)), minus_five.clone()));
    assert!(!table.in_manifest(c().not_equal_to(decimal(-500)), minus_five));
    // A literal of more digits than the column has.
    let wide = P::Decimal { precision: 38, scale: 2 };
    let wide = Datum::try_from_bytes(&10_i128.pow(30).to_be_bytes(), wide).expect("a decimal");
    for below in [c().less_than(wide.clone()), c().not_equal_to(wide)] {
        assert!(table.must(below.clone(), Some(Literal::decimal(-500))));
        assert!(!table.may(below.clone().not(), Some(Literal::decimal(-500))));
        assert!(!table.must(below, None));
    }
}

/// Ints, longs, both timestamps and text, in the column's type.
#[test]
fn literals_are_read_in_their_columns_type() {
    for (of, literal, value) in [
        (P::Long, Datum::int(7), Literal::long(7)),
        (P::Int, Datum::long(7), Literal::int(7)),
        (P::Date, Datum::int(7), Literal::date(7)),
        (P::Timestamp, Datum::long(7), Literal::timestamp(7)),
        (P::Timestamptz, Datum::timestamp_micros(7), Literal::timestamptz(7)),
        (P::Int, Datum::string("7"), Literal::int(7)),
        (P::Timestamp, Datum::string("1970-01-01T00:00:00.000007"), Literal::timestamp(7)),
    ] {
        let table = Table::new(of, Transform::Identity);
        assert!(table.must(c().equal_to(literal.clone()), Some(value.clone())), "{literal:?}");
        assert!(!table.may(c().not_equal_to(literal), Some(value)));
    }
}

#[test]
fn uuids_are_ordered_unsigned_and_signed_bounds_prove_nothing() {
    let table = Table::new(P::Uuid, Transform::Identity);
    let uuid = |text: &str| Datum::uuid_from_str(text).expect("a uuid");
    let low = uuid("00000000-0000-0000-0000-000000000001");
    let high = uuid("ff000000-0000-0000-0000-000000000001");
    let bytes = |datum: &Datum| datum.to_bytes().expect("bytes").to_vec();
    let value = |datum: &Datum| Some(Literal::from(datum.clone()));
    assert!(table.must(c().greater_than(low.clone()), value(&high)));
    let inverted = bounds(&bytes(&high), &bytes(&low));
    assert!(table.in_manifest(c().equal_to(uuid("80000000-0000-0000-0000-000000000000")), inverted));
    assert!(!table.in_manifest(c().less_than(low.clone()), bounds(&bytes(&high), &bytes(&high))));
    // One upper half, the lower halves ordered as signed longs: 00.. lies outside, and is there.
    let same_half = bounds(
        &bytes(&uuid("00000000-0000-0000-8000-000000000000")),
        &bytes(&uuid("10000000-0000-0000-0000-000000000000")),
    );
    assert!(table.in_manifest(c().equal_to(low), same_half));
}

/// Many fields on one column, void, a dropped source, positions that differ.
#[test]
fn evolved_specs_are_matched_by_source_id() {
    let long = |id: i32, name: &str| NestedField::optional(id, name, Type::Primitive(P::Long)).into();
    let before =
        Arc::new(Schema::builder().with_fields([long(1, "a"), long(2, "c")]).build().expect("a schema"));
    let now = Arc::new(
        Schema::builder().with_fields([long(2, "renamed"), long(3, "a")]).build().expect("a schema"),
    );
    let spec = PartitionSpec::builder(before)
        .add_partition_field("a", "a", Transform::Identity)
        .expect("a field")
        .add_partition_field("a", "a_void", Transform::Void)
        .expect("a field")
        .add_partition_field("c", "c_trunc", Transform::Truncate(10))
        .expect("a field")
        .add_partition_field("c", "c_bucket", Transform::Bucket(4))
        .expect("a field")
        .build()
        .expect("a spec");
    let filter = |filter: Predicate| PartitionFilter::new(&filter, &spec, &now).expect("the filter fits");
    let value = |truncated: i64, bucket: i32| {
        Struct::from_iter([
            Some(Literal::long(1)),
            None,
            Some(Literal::long(truncated)),
            Some(Literal::int(bucket)),
        ])
    };
    // 34 hashes to 2017239379: bucket 3 of 4.
    let wanted = filter(Reference::new("renamed").equal_to(Datum::long(34)));
    assert!(wanted.may_match(&value(30, 3)));
    assert!(!wanted.may_match(&value(30, 2)));
    assert!(!wanted.may_match(&value(40, 3)));
    // The new column `a` is not the dropped one.
    assert!(filter(Reference::new("a").equal_to(Datum::long(7))).may_match(&value(30, 3)));
    // A tuple of another spec is not judged.
    assert!(wanted.may_match(&Struct::empty()) && !wanted.must_match(&Struct::empty()));
    let many = [ints(0, 0), ints(0, 0), bounds(&[0; 8], &[0; 8]), ints(0, 3)];
    assert!(!wanted.may_match_summaries(Some(&many)));
    assert!(wanted.may_match_summaries(Some(&many[..2])));
}

#[test]
fn a_disjunction_with_a_column_of_no_partition_is_not_pruned() {
    let fields = [(1, "ts", P::Timestamp), (2, "v", P::Long)];
    let fields = fields.map(|(id, name, of)| NestedField::optional(id, name, Type::Primitive(of)).into());
    let schema = Arc::new(Schema::builder().with_fields(fields).build().expect("a schema"));
    let builder = PartitionSpec::builder(schema.clone());
    let spec = builder
        .add_partition_field("ts", "ts_day", Transform::Day)
        .expect("a field")
        .build()
        .expect("a spec");
    let late = || Reference::new("ts").greater_than_or_equal_to(Datum::timestamp_micros(10 * 24 * HOUR));
    let other = || Reference::new("v").equal_to(Datum::long(1));
    let day = |day: i32| Struct::from_iter([Some(Literal::date(day))]);
    let filter = |filter: Predicate| PartitionFilter::new(&filter, &spec, &schema).expect("the filter fits");
    assert!(filter(late().or(other())).may_match(&day(9)));
    assert!(!filter(late().and(other())).may_match(&day(9)));
    assert!(filter(late().or(other())).must_match(&day(10)));
    assert!(!filter(late().and(other())).must_match(&day(10)));
    assert!(!filter(late().or(other()).not()).may_match(&day(10)));
    for (summary, may) in [(ints(3, 9), false), (ints(3, 10), true)] {
        assert_eq!(filter(late().and(other())).may_match_summaries(Some(&[summary])), may);
    }
}

/// NOT of NOT of NOT, and a literal past the column's type inside a list.
#[test]
fn nested_negations_and_literals_outside_the_type_are_judged() {
    let table = Table::new(P::Int, Transform::Identity);
    let five = || c().less_than(Datum::int(5));
    let thrice = five().not().not().not();
    assert!(!table.may(thrice.clone(), Some(Literal::int(4))));
    assert!(table.must(thrice, Some(Literal::int(5))));
    let list = || c().is_in([Datum::long(1_i64 << 40), Datum::long(7), Datum::long(-(1_i64 << 40))]);
    assert!(table.may(list(), Some(Literal::int(7))) && !table.may(list(), Some(Literal::int(8))));
    assert!(table.must(list().not(), Some(Literal::int(8))));
    let alone = || c().is_in([Datum::long(1_i64 << 40)]);
    assert!(!table.may(alone(), Some(Literal::int(7))));
}

/// A partition value of a kind its field can't have proves nothing.
#[test]
fn values_of_a_foreign_kind_are_not_judged() {
    let table = Table::new(P::Int, Transform::Identity);
    let text = Some(Literal::string("7"));
    assert!(table.may(c().equal_to(Datum::int(8)), text.clone()));
    assert!(!table.must(c().equal_to(Datum::int(8)), text));
    let table = Table::new(P::Timestamp, Transform::Day);
    let long = Some(Literal::Primitive(L::Long(i64::MAX)));
    assert!(table.may(c().equal_to(Datum::timestamp_micros(0)), long));
}

#[test]
fn prefixes_are_judged_by_code_points() {
    let table = Table::new(P::String, Transform::Truncate(3));
    let text = |text: &str| Some(Literal::string(text));
    let begins = |prefix: &str| c().starts_with(Datum::string(prefix));
    // Three code points of twelve bytes: what follows is unknown.
    let smiles = "\u{1F600}\u{1F601}\u{1F602}";
    let longer = format!("{smiles}x");
    assert!(table.may(begins(&longer), text(smiles)));
    assert!(!table.must(begins(&longer), text(smiles)));
    assert!(table.must(begins("\u{1F600}"), text(smiles)));
    assert!(!table.may(begins("\u{1F600}").not(), text(smiles)));
    assert!(!table.may(begins("b"), text("abc")));
    assert!(table.may(c().equal_to(Datum::string("abcd")), text("abc")));
    assert!(!table.may(c().equal_to(Datum::string("ab")), text("abc")));
    assert!(table.must(c().not_equal_to(Datum::string("abd")), text("abc")));
    // Two bytes can't have been cut to three code points.
    assert!(table.must(c().equal_to(Datum::string("ab")), text("ab")));
}

#[test]
fn long_chains_of_either_side_are_judged() {
    let table = Table::new(P::Int, Transform::Identity);
    let one = |value: i32| c().equal_to(Datum::int(value));
    let left = (1..500).fold(one(0), |chain, value| chain.or(one(value)));
    let right = (1..500).fold(one(0), |chain, value| one(value).or(chain));
    for chain in [left, right] {
        assert!(table.may(chain.clone(), Some(Literal::int(499))));
        assert!(!table.may(chain.clone(), Some(Literal::int(500))));
        assert!(table.must(chain.not(), Some(Literal::int(500))));
    }
}

/// Days as plain ints, timestamps in milliseconds, columns that can't be.
#[test]
fn partition_columns_of_any_width_and_unit_are_judged() {
    let judge = |table: &Table, filter: Predicate, column: ArrayRef| {
        let may = table.filter(filter).may_match_rows(std::slice::from_ref(&column), column.len());
        may.iter().map(|may| may.expect("no nulls")).collect::<Vec<_>>()
    };
    let days = Table::new(P::Timestamp, Transform::Day);
    let late = || c().greater_than_or_equal_to(Datum::timestamp_micros(10 * 24 * HOUR));
    let ints = Int32Array::from(vec![Some(9), Some(10), None]);
    let dates = Date32Array::from(vec![Some(9), Some(10), None]);
    let columns: [ArrayRef; 2] = [Arc::new(ints), Arc::new(dates)];
    for column in columns {
        assert_eq!(judge(&days, late(), column), [false, true, false]);
    }
    let instants = Table::new(P::Timestamp, Transform::Identity);
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![863_999_999, 864_000_000]));
    assert_eq!(judge(&instants, late(), millis), [false, true]);
    let units = |table: &Table, filter: Predicate, of: &[DataType], micros: &ArrayRef| {
        for unit in of {
            let column = cast(micros, unit).expect("a cast of unit");
            assert_eq!(judge(table, filter.clone(), column), [false, true], "{unit}");
        }
    };
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let micros = column(&P::Timestamp, &[Some(L::Long(5_000_000)), Some(L::Long(864_000_000_000))]);
    let of = [Second, Millisecond, Microsecond, Nanosecond].map(|unit| DataType::Timestamp(unit, None));
    units(&instants, late(), &of, &micros);
    let times = Table::new(P::Time, Transform::Identity);
    let noon = c().greater_than(Datum::time_micros(12 * HOUR).expect("a time"));
    let micros = column(&P::Time, &[Some(L::Long(5_000_000)), Some(L::Long(13 * HOUR))]);
    let of = [
        DataType::Time32(Second),
        DataType::Time32(Millisecond),
        DataType::Time64(Microsecond),
        DataType::Time64(Nanosecond),
    ];
    units(&times, noon, &of, &micros);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    assert_eq!(judge(&instants, late(), texts), [true, true]);
    let none = instants.filter(late()).must_match_rows(&[], 2);
    assert_eq!(none.true_count(), 0);
}

/// A required field of a struct that may be missing, one or two levels down.
#[test]
fn a_required_field_of_an_optional_struct_may_be_null() {
    let structure = |field: NestedField| Type::Struct(StructType::new(vec![field.into()]));
    let street = || NestedField::required(3, "street", Type::Primitive(P::String));
    let flat = NestedField::optional(1, "address", structure(street()));
    let outer_optional =
        NestedField::optional(1, "a", structure(NestedField::required(2, "b", structure(street()))));
    let inner_optional =
        NestedField::required(1, "a", structure(NestedField::optional(2, "b", structure(street()))));
    let tables = [(flat, "address.street"), (outer_optional, "a.b.street"), (inner_optional, "a.b.street")];
    for (field, name) in tables {
        let schema = Arc::new(Schema::builder().with_fields([field.into()]).build().expect("a schema"));
        for transform in [Transform::Identity, Transform::Truncate(2), Transform::Bucket(4)] {
            let builder = PartitionSpec::builder(schema.clone());
            let spec = builder.add_partition_field(name, "p", transform).expect("a field");
            let spec = spec.build().expect("a spec");
            let filter =
                |filter: Predicate| PartitionFilter::new(&filter, &spec, &schema).expect("the filter fits");
            let null = Struct::from_iter([None]);
            let nulls = FieldSummary { contains_null: true, lower_bound: None, ..bounds(b"", b"") };
            for is_null in [Reference::new(name).is_null(), Reference::new(name).is_not_null().not()] {
                let (is, is_not) = (filter(is_null.clone()), filter(is_null.not()));
                assert!(is.may_match(&null) && is.must_match(&null), "{name} {transform}");
                assert!(is.may_match_summaries(Some(std::slice::from_ref(&nulls))));
                assert!(!is_not.may_match(&null) && !is_not.must_match(&null), "{name} {transform}");
            }
            let both = Reference::new(name).is_null().or(Reference::new(name).equal_to(Datum::string("a")));
            assert!(filter(both).must_match(&null));
        }
    }
}

/// Every operator, negated or not, on null and on the ends of the type, as SQL has it.
#[test]
fn a_literal_outside_the_type_never_matches_null() {
    let ends = [i32::MIN, -1, 0, i32::MAX];
    for far in [1_i64 << 40, -(1_i64 << 40)] {
        let literal = || Datum::long(far);
        let above = far > 0;
        let terms = [
            (c().less_than(literal()), above),
            (c().less_than_or_equal_to(literal()), above),
            (c().greater_than(literal()), !above),
            (c().greater_than_or_equal_to(literal()), !above),
            (c().equal_to(literal()), false),
            (c().not_equal_to(literal()), true),
            (c().is_in([literal()]), false),
            (c().is_not_in([literal()]), true),
            (c().is_in([literal(), Datum::long(-far)]), false),
            (c().is_not_in([literal(), Datum::long(-far)]), true),
        ];
        // Of the last, nothing is known but that it is not null.
        let widest = Transform::Truncate(i32::MAX as u32);
        for transform in [Transform::Identity, Transform::Bucket(4), Transform::Truncate(1), widest] {
            let table = Table::new(P::Int, transform);
            for (term, selects) in &terms {
                for (term, selects) in [(term.clone(), *selects), (term.clone().not(), !*selects)] {
                    assert!(!table.may(term.clone(), None), "{term} of null");
                    assert!(!table.must(term.clone(), None), "{term} of null");
                    for value in ends {
                        let value = match transform {
                            Transform::Bucket(_) => Some(Literal::int(value & 3)),
                            _ => Some(Literal::int(value)),
                        };
                        assert_eq!(table.may(term.clone(), value.clone()), selects, "{term} of {value:?}");
                        assert_eq!(table.must(term.clone(), value), selects, "{term}");
                    }
                    let no_nulls = ints(0, 3);
                    assert_eq!(table.in_manifest(term.clone(), no_nulls.clone()), selects, "{term}");
                    let nulls = FieldSummary {
                        contains_null: true,
                        lower_bound: None,
                        upper_bound: None,
                        ..no_nulls
                    };
                    assert!(!table.may(term.clone(), None) || table.in_manifest(term, nulls));
                }
            }
        }
    }
}

/// Whether null is outside of an empty list is told differently.
#[test]
fn an_empty_list_has_nothing_and_proves_nothing_of_null() {
    let table = Table::new(P::Int, Transform::Identity);
    let values = [None, Some(Literal::int(1))];
    for value in values {
        assert!(!table.may(c().is_in([]), value.clone()));
        assert!(!table.may(c().is_not_in([]).not(), value.clone()));
        for outside in [c().is_not_in([]), c().is_in([]).not()] {
            assert!(table.may(outside.clone(), value.clone()) && !table.must(outside, value.clone()));
        }
    }
}

#[test]
fn a_filter_that_does_not_fit_the_schema_is_refused() {
    let long = |id: i32| NestedField::list_element(id, Type::Primitive(P::Long), false);
    let list = Type::List(iceberg::spec::ListType::new(Arc::new(long(3))));
    let schema = Schema::builder()
        .with_fields([
            NestedField::optional(1, "c", Type::Primitive(P::Long)).into(),
            NestedField::optional(2, "list", list).into(),
            NestedField::optional(4, "ts", Type::Primitive(P::Timestamp)).into(),
        ])
        .build()
        .expect("a schema");
    let spec = PartitionSpec::unpartition_spec();
    let nanos = Datum::timestamp_nanos(1);
    let decimal = Datum::decimal_from_str("1.50").expect("a decimal");
    for (filter, why) in [
        (Reference::new("C").is_null(), "the columns are \"c\""),
        (Reference::new("list.element").is_null(), "list or map"),
        (Reference::new("list").equal_to(Datum::long(1)), "can't be compared"),
        (c().is_nan(), "only floats"),
        (c().equal_to(Datum::string("x")), "can't be compared"),
        // The same number, of another unit.
        (c().equal_to(decimal), "can't be compared"),
        (Reference::new("ts").less_than(nanos), "can't be compared"),
        (c().is_in([Datum::long(1), Datum::string("x")]).not(), "can't be compared"),
    ] {
        let error = PartitionFilter::new(&filter, &spec, &schema).expect_err("it does not fit");
        assert_eq!(error.kind(), ErrorKind::Request);
        assert!(error.to_string().contains(why), "{error}");
    }
    // What has parts may be tested for null; no partition tells.
    let filter = PartitionFilter::new(&Reference::new("list").is_null(), &spec, &schema).expect("it fits");
    assert!(filter.may_match(&Struct::empty()) && !filter.must_match(&Struct::empty()));
}

/// Floors of a time when the column was an `int` one: below greater bounds of either width.
#[test]
fn wrapped_floors_from_before_a_promotion_are_not_pruned() {
    for width in [3, 7, 10, 10_000, 1_000_003] {
        let wide = i64::from(width);
        let table = Table::new(P::Long, Transform::Truncate(width as u32));
        for source in [i32::MIN, i32::MIN + width / 3] {
            let wrapped = source.wrapping_sub(source.rem_euclid(width));
            if wrapped < source {
                continue;
            }
            let is = || c().equal_to(Datum::long(i64::from(source)));
            assert!(table.may(is(), Some(Literal::int(wrapped))));
            assert!(table.may(is(), Some(Literal::long(wrapped))));
            let greatest = i32::MAX - i32::MAX % width;
            assert!(table.in_manifest(is(), ints(0, greatest.max(wrapped))), "{width}");
            assert!(!table.in_manifest(is(), ints(0, (i32::MAX / width - 2) * width)), "{width}");
            // Rewritten, and next to greater values.
            for high in [i64::from(greatest.max(wrapped)), 1 << 40 << 10] {
                let high = high - if high > i64::from(i32::MAX) { high % wide } else { 0 };
                let rewritten = bounds(&0_i64.to_le_bytes(), &high.to_le_bytes());
                assert!(table.in_manifest(is(), rewritten), "{width} {high}");
            }
            // Above every int there is none of them.
            let low = (i64::from(i32::MAX) / wide + 1) * wide;
            let above = bounds(&low.to_le_bytes(), &(low + wide).to_le_bytes());
            assert!(!table.in_manifest(is(), above), "{width}");
        }
        let least = c().equal_to(Datum::long(i64::MIN));
        let greatest = i64::MAX - i64::MAX % wide;
        if i64::MIN % wide != 0 {
            assert!(table.in_manifest(least, bounds(&0_i64.to_le_bytes(), &greatest.to_le_bytes())));
        }
    }
    // The floor of the least value is itself: nothing wraps, and all is known.
    let table = Table::new(P::Int, Transform::Truncate(1024));
    assert!(!table.in_manifest(c().equal_to(Datum::int(i32::MIN)), ints(0, 2_147_482_624)));
}

/// Widths above 2³⁰, where the Java library's arithmetic passes the end of an `int`.
#[test]
fn ints_truncated_by_java_are_found_where_it_put_them() {
    let mut garbled = 0;
    for answer in answers(JAVA).iter().filter(|answer| {
        matches!((&answer.of, answer.transform), (P::Int, Transform::Truncate(1_073_741_824..)))
    }) {
        let (Some(L::Int(source)), Some(result)) = (&answer.value, &answer.result) else {
            panic!("an int has a result");
        };
        garbled += usize::from(is_garbled(answer));
        let Some(L::Int(result)) = Some(parse(&P::Int, result)) else { panic!("an int") };
        // The column as it was, and made `long` since.
        for of in [P::Int, P::Long] {
            let table = Table::new(of.clone(), answer.transform);
            let at = |value: i32| match of {
                P::Int => Datum::int(value),
                _ => Datum::long(i64::from(value)),
            };
            let values = [Literal::int(result), Literal::long(i64::from(result))];
            let selecting = [
                c().equal_to(at(*source)),
                c().less_than_or_equal_to(at(*source)),
                c().greater_than_or_equal_to(at(*source)),
                c().is_in([at(*source), at(7)]),
            ];
            for filter in selecting {
                for value in &values {
                    assert!(table.may(filter.clone(), Some(value.clone())), "{filter} of {value:?}");
                    let none = filter.clone().not();
                    assert!(!table.must(none.clone(), Some(value.clone())), "{none} of {value:?}");
                }
                let (int, long) = (result.to_le_bytes(), i64::from(result).to_le_bytes());
                let (low, high) = ((-1_i64 << 40).to_le_bytes(), (1_i64 << 40).to_le_bytes());
                assert!(table.in_manifest(filter.clone(), bounds(&int, &int)), "{filter} of {result}");
                if of == P::Long {
                    assert!(table.in_manifest(filter.clone(), bounds(&long, &long)), "{filter} of {result}");
                    assert!(table.in_manifest(filter, bounds(&low, &high)));
                }
            }
            // Null is known all the same.
            assert!(!table.may(c().equal_to(at(*source)), None));
        }
    }
    assert!(garbled > 10, "only {garbled} answers of java differ");
    let table = Table::new(P::Int, Transform::Truncate(1 << 30));
    assert!(!table.may(c().equal_to(Datum::int(-1)), Some(Literal::int(0))));
    let table = Table::new(P::Long, Transform::Truncate(i32::MAX as u32));
    assert!(!table.may(c().equal_to(Datum::long(1)), Some(Literal::long(2 * i64::from(i32::MAX)))));
}

/// Literals no writer makes, of every kind and at its ends.
#[test]
fn values_no_field_has_are_judged_without_a_panic() {
    let odd = [
        L::Int128(i128::MIN),
        L::Int128(i128::MAX),
        L::Long(i64::MIN),
        L::Long(i64::MAX),
        L::Int(i32::MIN),
        L::Int(i32::MAX),
        L::String("x".into()),
        L::Binary(vec![0xff]),
        L::UInt128(u128::MAX),
        L::Boolean(true),
        L::AboveMax,
        L::BelowMin,
    ];
    let times = [P::Date, P::Timestamp, P::Timestamptz, P::TimestampNs, P::TimestamptzNs];
    for of in times.into_iter().chain([P::Int, P::Long, P::Decimal { precision: 9, scale: 2 }]) {
        for transform in [
            Transform::Identity,
            Transform::Bucket(4),
            Transform::Truncate(5),
            Transform::Truncate(i32::MAX as u32),
            Transform::Year,
            Transform::Month,
            Transform::Day,
            Transform::Hour,
        ] {
            if result_type(transform, &of).is_err() {
                continue;
            }
            let table = Table::new(of.clone(), transform);
            let bytes = match of {
                P::Date | P::Int => 5_i32.to_le_bytes().to_vec(),
                P::Decimal { .. } => vec![5],
                _ => 5_i64.to_le_bytes().to_vec(),
            };
            let five = Datum::try_from_bytes(&bytes, of.clone()).expect("five");
            let time =
                matches!(transform, Transform::Year | Transform::Month | Transform::Day | Transform::Hour);
            for value in &odd {
                let literal = Some(Literal::Primitive(value.clone()));
                let is = || c().equal_to(five.clone());
                let may = table.may(is(), literal.clone());
                let must = table.must(is().not(), literal.clone());
                assert!(table.may(c().is_not_null(), literal.clone()));
                if time && !matches!(value, L::Int(_)) {
                    assert!(may && !must, "{value:?} of {transform} of {of}");
                }
            }
            for low in [i128::MIN, -1, i128::MAX] {
                let bound = low.to_be_bytes();
                let _ = table.in_manifest(c().equal_to(five.clone()), bounds(&bound, &bound));
            }
        }
    }
}

/// Two hundred thousand terms; the filters themselves are leaked, since dropping them recurses.
#[test]
fn chains_of_any_length_take_no_stack() {
    let table = Table::new(P::Int, Transform::Identity);
    let one = |value: i32| c().equal_to(Datum::int(value));
    let last = 199_999;
    let left = (1..=last).fold(one(0), |chain, value| chain.or(one(value)));
    let right = (1..=last).fold(one(0), |chain, value| one(value).or(chain));
    let nots = (0..last + 1).fold(one(last), |chain, _| chain.not());
    for filter in [left, right, nots] {
        let found = PartitionFilter::new(&filter, &table.spec, &table.schema).expect("the filter fits");
        std::mem::forget(filter);
        assert!(found.may_match(&Struct::from_iter([Some(Literal::int(last))])));
        assert!(!found.may_match(&Struct::from_iter([Some(Literal::int(last + 1))])));
    }
}
