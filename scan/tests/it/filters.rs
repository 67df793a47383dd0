use std::sync::Arc;

use arrow::array::*;
use iceberg::expr::Reference;
use iceberg::spec::{Datum, FormatVersion, Literal, NestedField, PrimitiveType as P, StructType, Type};

use crate::lab::*;

/// One row of each interesting kind, `id` from 0.
async fn lab() -> Lab {
    let inner = StructType::new(vec![Arc::new(required(21, "street", P::String))]);
    let mut lab = Lab::new(schema([
        required(1, "id", P::Int),
        optional(2, "n", P::Int),
        optional(3, "x", P::Double),
        optional(4, "s", P::String),
        optional(5, "d", P::Date),
        optional(6, "ts", P::Timestamp),
        optional(7, "tz", P::Timestamptz),
        optional(8, "flag", P::Boolean),
        optional(9, "price", P::Decimal { precision: 9, scale: 2 }),
        optional(10, "b", P::Binary),
        NestedField::optional(20, "address", Type::Struct(inner)),
        optional(30, "two words", P::Int),
    ]));
    let micros = |days: i64| days * 86_400_000_000;
    let street_field = Arc::new(
        iceberg::arrow::schema_to_arrow_schema(&lab.schema())
            .unwrap()
            .field_with_name("address")
            .unwrap()
            .clone(),
    );
    let arrow::datatypes::DataType::Struct(street) = street_field.data_type() else { panic!() };
    let address = StructArray::new(
        street.clone(),
        vec![Arc::new(StringArray::from(vec!["main", "", "high"]))],
        Some(vec![true, false, true].into()),
    );
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![0, 1, 2])),
        Arc::new(Int32Array::from(vec![Some(5), None, Some(7)])),
        Arc::new(Float64Array::from(vec![Some(f64::NAN), None, Some(-0.0)])),
        Arc::new(StringArray::from(vec![Some("abc"), None, Some("abd")])),
        Arc::new(Date32Array::from(vec![Some(-1), None, Some(19_875)])),
        Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None, Some(micros(19_875) + 1)])),
        Arc::new(
            TimestampMicrosecondArray::from(vec![Some(-1), None, Some(micros(19_875))])
                .with_timezone("+00:00"),
        ),
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        Arc::new(
            Decimal128Array::from(vec![Some(-500), None, Some(1999)]).with_precision_and_scale(9, 2).unwrap(),
        ),
        Arc::new(LargeBinaryArray::from(vec![Some(&[0_u8, 255][..]), None, Some(&[])])),
        Arc::new(address),
        Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
    ];
    let file = batch(&lab.schema(), columns);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    lab
}

async fn ids(lab: &Lab, filter: &str) -> Vec<i32> {
    let rows = try_rows(lab.scan().select(["id"]).filter_sql(filter)).await;
    let rows = rows.unwrap_or_else(|e| panic!("{filter}: {e}"));
    rows.column(0).as_primitive::<arrow::datatypes::Int32Type>().values().to_vec()
}

#[tokio::test]
async fn sql_filters_select_exactly() {
    let lab = lab().await;
    let cases: &[(&str, &[i32])] = &[
        ("n = 5", &[0]),
        ("n <> 5", &[2]),
        ("not n = 5", &[2]),
        ("n != 5 or n is null", &[1, 2]),
        ("n > 5.5", &[2]),
        ("n >= 5.5", &[2]),
        ("n < 5.5", &[0]),
        ("n = 5.5", &[]),
        ("n <> 5.5", &[0, 2]),
        ("n in (5, 6.5, 99999999999)", &[0]),
        ("n not in (5, 6.5)", &[2]),
        ("n in (5, null)", &[0]),
        ("n not in (5, null)", &[]),
        ("not (n not in (5, null))", &[0]),
        ("n = null", &[]),
        ("not n = null", &[]),
        ("n < 99999999999999999999", &[0, 2]),
        ("not (n > -99999999999999999999)", &[]),
        ("n between 5 and 6", &[0]),
        ("n not between 5 and 6", &[2]),
        ("5 < n", &[2]),
        ("5 <= n", &[0, 2]),
        ("n = -(-5)", &[0]),
        ("n = '5'", &[0]),
        ("x > 5", &[0]),
        ("x >= 0", &[0, 2]),
        ("x = 0", &[2]),
        ("x <= 0.0", &[2]),
        ("x < 0", &[]),
        ("x > -1e-400", &[0, 2]),
        ("x >= -1e-400", &[0, 2]),
        ("x < 1e-400", &[2]),
        ("x > 1e-400", &[0]),
        ("x < -1e-400", &[]),
        ("x = 1e-400", &[]),
        ("x <> -1e-99999999999", &[0, 2]),
        ("x between -1e-400 and 1e-400", &[2]),
        ("n > -1e-99999999999", &[0, 2]),
        ("x in (0, 1)", &[2]),
        ("x not in (0, 1)", &[0]),
        ("x is nan", &[0]),
        ("isnan(x)", &[0]),
        ("not isnan(x)", &[2]),
        ("x is not nan", &[1, 2]),
        ("not x is nan", &[1, 2]),
        ("x = 'NaN'", &[0]),
        ("x < 'infinity'", &[2]),
        ("s like 'ab%'", &[0, 2]),
        ("s like 'abc'", &[0]),
        ("s not like 'abc%'", &[2]),
        ("not s like 'abc%'", &[2]),
        ("starts_with(s, 'abd')", &[2]),
        ("s > 'abc'", &[2]),
        ("s like '%'", &[0, 2]),
        ("d < '1970-01-01'", &[0]),
        ("d = date '2024-06-01'", &[2]),
        ("d >= timestamp '1969-12-31 00:00:01'", &[2]),
        ("d > '2024-05-31T23:00:00'", &[2]),
        ("ts < '1970-01-01'", &[0]),
        ("ts > '2024-06-01 00:00:00'", &[2]),
        ("ts > '2024-06-01 00:00:00.000001'", &[]),
        ("ts = '2024-06-01T00:00:00.000001'", &[2]),
        ("ts >= '2024-06-01T00:00:00.0000005'", &[2]),
        ("tz = '2024-06-01T02:00:00+02:00'", &[2]),
        ("tz = timestamp '2024-06-01'", &[2]),
        ("tz >= '2024-06-01'", &[2]),
        ("tz = '1969-12-31T23:59:59.999999Z'", &[0]),
        ("tz < '1969-12-31T23:59:59.999Z'", &[]),
        ("tz > '1969-12-31T23:59:59.9999985Z'", &[0, 2]),
        ("ts = '1969-12-31T23:59:59.999999'", &[0]),
        ("flag", &[0]),
        ("not flag", &[2]),
        ("flag is not true", &[1, 2]),
        ("flag = false", &[2]),
        ("price = -5.00", &[0]),
        ("price = 19.99", &[2]),
        ("price > 19.989", &[2]),
        ("price < 19.99", &[0]),
        ("price < 1e30", &[0, 2]),
        ("b = x'00FF'", &[0]),
        ("b < x'00'", &[2]),
        ("address.street is null", &[1]),
        ("address.street is not null", &[0, 2]),
        ("address is null", &[1]),
        ("address.street = 'high'", &[2]),
        ("address.street <> 'high'", &[0]),
        ("\"two words\" = 3", &[2]),
        ("true", &[0, 1, 2]),
        ("not true", &[]),
        ("(n = 5 and s = 'abc') or (n = 7 and not (s = 'abc'))", &[0, 2]),
        ("not (n = 5 or s = 'x')", &[2]),
    ];
    for (filter, wanted) in cases {
        assert_eq!(ids(&lab, filter).await, *wanted, "{filter}");
    }
}

#[tokio::test]
async fn predicates_select_as_their_sql_does() {
    let lab = lab().await;
    let term = Reference::new;
    for (predicate, wanted) in [
        (term("n").greater_than(Datum::long(5)), vec![2]),
        (!term("n").greater_than(Datum::long(5)), vec![0]),
        (!term("n").is_null(), vec![0, 2]),
        (term("address.street").is_null(), vec![1]),
        (term("x").is_nan(), vec![0]),
        (term("x").is_not_nan(), vec![1, 2]),
        (term("x").greater_than(Datum::double(5.0)), vec![0]),
        (term("n").is_in([Datum::int(5), Datum::int(8)]), vec![0]),
        (term("n").is_not_in([Datum::int(5), Datum::int(8)]), vec![2]),
        (term("s").not_starts_with(Datum::string("abc")), vec![2]),
        (term("tz").less_than(Datum::timestamptz_micros(0)), vec![0]),
        (term("price").equal_to(Datum::decimal_from_str("19.990").unwrap()), vec![2]),
        (term("n").less_than(Datum::int(6)).or(term("s").equal_to(Datum::string("abd"))), vec![0, 2]),
        (!(term("n").less_than(Datum::int(6)).and(term("s").equal_to(Datum::string("abc")))), vec![2]),
    ] {
        let text = predicate.to_string();
        let rows = rows(lab.scan().select(["id"]).filter(predicate)).await;
        assert_eq!(
            rows.column(0).as_primitive::<arrow::datatypes::Int32Type>().values(),
            &wanted[..],
            "{text}"
        );
    }
}

#[tokio::test]
async fn several_filters_must_all_hold() {
    let lab = lab().await;
    let scan = lab.scan().filter_sql("n >= 5").filter(Reference::new("s").equal_to(Datum::string("abd")));
    assert_eq!(rows(scan).await.num_rows(), 1);
}

#[tokio::test]
async fn filters_that_do_not_fit_are_refused_by_name() {
    let lab = lab().await;
    for (filter, said) in [
        ("n = 'five'", "a number is expected"),
        ("s = 5", "a string such as 'abc' is expected"),
        ("d = 5", "a date such as"),
        ("ts = '2024-06-01T00:00:00+02:00'", "without offset"),
        ("address = 5", "nested"),
        ("n is nan", "only float and double"),
        ("s like '%abc'", "prefix"),
        ("s like 'a_c%'", "prefix"),
        ("n + 1 = 5", "value is expected"),
        ("n = id", "two columns"),
        ("1 = 1", "two values"),
        ("n = 5 5", "left over"),
        ("n =", "does not parse"),
        ("", "is empty"),
        ("n is normalized", "NORMALIZED"),
        ("n in (select 1)", "not supported"),
        ("n = \"5\"", "`5`"),
        ("nothing = 1", "`nothing`"),
    ] {
        let e = error(lab.scan().filter_sql(filter)).await;
        assert_eq!(e.kind(), calve_scan::ErrorKind::Input, "{filter}: {e}");
        assert!(e.to_string().contains(said), "{filter}: {e}");
    }
    let long = vec!["n = 5"; 100_000].join(" or ");
    assert!(error(lab.scan().filter_sql(long)).await.to_string().contains("IN (…)"));
    let nested = format!("{}n = 5{}", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(error(lab.scan().filter_sql(nested)).await.kind(), calve_scan::ErrorKind::Input);
}

#[tokio::test]
async fn a_long_in_list_is_fine() {
    let lab = lab().await;
    let list: Vec<String> = (-50_000..8).map(|n| n.to_string()).collect();
    assert_eq!(ids(&lab, &format!("n in ({})", list.join(", "))).await, [0, 2]);
}

#[tokio::test]
async fn a_default_takes_part_in_filters_on_files_older_than_it() {
    let mut lab = Lab::with(schema([required(1, "id", P::Int)]), &[], FormatVersion::V3);
    let file = batch(&lab.schema(), vec![Arc::new(Int32Array::from(vec![0, 1]))]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    lab.evolve([
        required(1, "id", P::Int),
        required(2, "grade", P::Int).with_initial_default(Literal::int(7)),
        optional(3, "none", P::Int),
    ]);
    for (filter, count) in [
        ("grade = 7", 2),
        ("grade > 7", 0),
        ("grade not in (1, 2)", 2),
        ("grade not in (1, 7)", 0),
        ("grade = 7 and id = 1", 1),
        ("none is null", 2),
        ("none not in (1, 2)", 0),
        ("none <> 1", 0),
        ("none is null and id = 0", 1),
    ] {
        assert_eq!(rows(lab.scan().filter_sql(filter)).await.num_rows(), count, "{filter}");
    }
    assert_eq!(texts(&rows(lab.scan().select(["grade"])).await, "grade"), ["7", "7"]);
}
