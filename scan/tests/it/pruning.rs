use std::sync::Arc;

use arrow::array::*;
use calve_scan::Plan;
use iceberg::spec::{Datum, Literal, NestedField, PrimitiveType as P, StructType, Transform, Type};

use crate::lab::*;

async fn plan(lab: &Lab, filter: &str) -> Plan {
    lab.scan().filter_sql(filter).plan().await.unwrap_or_else(|e| panic!("{filter}: {e}"))
}

/// Three files of ten numbers each: 0.., 10.., 20..
async fn tens() -> Lab {
    let mut lab = Lab::new(schema([optional(1, "n", P::Int)]));
    for start in [0, 10, 20] {
        let file = batch(&lab.schema(), vec![Arc::new(Int32Array::from_iter_values(start..start + 10))]);
        let file = lab.file(&file, &FileOptions::default()).await;
        lab.append([file]).await;
    }
    lab
}

#[tokio::test]
async fn files_are_kept_by_their_bounds() {
    let lab = tens().await;
    for (filter, kept, to_test) in [
        ("n < 10", 1, 0),
        ("n <= 10", 2, 1),
        ("10 > n", 1, 0),
        ("10 >= n", 2, 1),
        ("n = 9", 1, 1),
        ("n = 30", 0, 0),
        ("n <> 30", 3, 0),
        ("n in (5, 25)", 2, 2),
        ("n in (-5, 35)", 0, 0),
        ("n not in (-5, 35)", 3, 0),
        ("n is null", 0, 0),
        ("n is not null", 3, 0),
        ("n >= 0 and n < 15", 2, 1),
        ("n < 5 or n > 25", 2, 2),
        ("not (n >= 5 and n <= 25)", 2, 2),
    ] {
        let plan = plan(&lab, filter).await;
        assert_eq!(plan.tasks().len(), kept, "{filter}");
        let tested = plan.tasks().iter().filter(|t| !t.residual.is_empty()).count();
        assert_eq!(tested, to_test, "{filter}");
        assert_eq!(plan.explain().files.total, 3);
        assert_eq!(plan.explain().files.kept as usize, kept);
    }
}

#[tokio::test]
async fn explain_says_which_part_of_the_filter_pruned_what() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "d", P::Date), optional(2, "n", P::Int)]),
        &[("d", Transform::Month)],
    );
    for month in 0..4 {
        let mut files = Vec::new();
        for n in 0..3 {
            let file = batch(
                &lab.schema(),
                vec![Arc::new(Date32Array::from(vec![month * 31 + 1])), Arc::new(Int32Array::from(vec![n]))],
            );
            let partition = vec![Some(Literal::int(month))];
            files.push(lab.file(&file, &FileOptions { partition, ..Default::default() }).await);
        }
        lab.append(files).await;
    }
    let plan = plan(&lab, "d < '1970-03-01' and n >= 1").await;
    let explain = plan.explain();
    assert_eq!((explain.manifests.total, explain.manifests.kept), (4, 2));
    assert_eq!((explain.files.total, explain.files.kept), (12, 4));
    assert_eq!(explain.rows, 4);
    assert!(explain.bytes.kept > 0 && explain.bytes.kept < explain.bytes.total);
    let [by_date, by_number] = &explain.filter[..] else { panic!("{explain:?}") };
    assert_eq!(by_date.manifests_by_partition, 2);
    assert_eq!(by_date.files_proven, 4);
    assert_eq!(by_number.files_by_bounds, 2);
    let text = explain.to_string();
    for part in
        ["manifests: 2 of 4 kept", "files: 4 of 12 kept", "d < '1970-03-01': 2 manifests pruned by partition"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn a_column_proven_by_its_partition_is_not_tested_again() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "s", P::String), optional(2, "n", P::Int)]),
        &[("s", Transform::Identity)],
    );
    let mut files = Vec::new();
    for s in [Some("a"), Some("b"), None] {
        let file = batch(
            &lab.schema(),
            vec![Arc::new(StringArray::from(vec![s; 2])), Arc::new(Int32Array::from(vec![1, 2]))],
        );
        let options = FileOptions {
            partition: vec![s.map(Literal::string)],
            no_manifest_statistics: true,
            ..Default::default()
        };
        files.push(lab.file(&file, &options).await);
    }
    lab.append(files).await;
    for (filter, kept, residual, count) in [
        ("s = 'a'", 1, 0, 2),
        ("s <> 'a'", 1, 0, 2),
        ("s is null", 1, 0, 2),
        ("s is not null", 2, 0, 4),
        ("s in ('a', 'z', null)", 1, 0, 2),
        ("s < 'z' and n = 1", 2, 1, 2),
        ("s = 'a' or n = 1", 3, 2, 4),
    ] {
        let plan = plan(&lab, filter).await;
        assert_eq!(plan.tasks().len(), kept, "{filter}");
        if filter != "s = 'a' or n = 1" {
            assert!(plan.tasks().iter().all(|t| t.residual.len() == residual), "{filter}");
        }
        assert_eq!(rows(lab.scan().filter_sql(filter)).await.num_rows(), count, "{filter}");
    }
}

#[tokio::test]
async fn nan_hidden_by_bounds_is_found() {
    for no_nan_counts in [false, true] {
        let mut lab = Lab::new(schema([optional(1, "id", P::Int), optional(2, "x", P::Double)]));
        let mut files = Vec::new();
        for (id, values) in
            [(0, vec![Some(1.0), Some(f64::NAN)]), (1, vec![Some(f64::NAN); 2]), (2, vec![Some(1.0), None])]
        {
            let file = batch(
                &lab.schema(),
                vec![Arc::new(Int32Array::from(vec![id; 2])), Arc::new(Float64Array::from(values))],
            );
            files.push(lab.file(&file, &FileOptions { no_nan_counts, ..Default::default() }).await);
        }
        lab.append(files).await;
        for (filter, ids) in [
            ("x > 5", vec!["0", "1", "1"]),
            ("x >= 1", vec!["0", "0", "1", "1", "2"]),
            ("x is nan", vec!["0", "1", "1"]),
            ("not isnan(x)", vec!["0", "2"]),
            ("x not in (1)", vec!["0", "1", "1"]),
            ("x not in (1, 2)", vec!["0", "1", "1"]),
            ("x <> 1", vec!["0", "1", "1"]),
            ("x < 5", vec!["0", "2"]),
            ("x = 'nan'", vec!["0", "1", "1"]),
            ("x < 'nan'", vec!["0", "2"]),
        ] {
            let got = rows(lab.scan().filter_sql(filter)).await;
            assert_eq!(texts(&got, "id"), ids, "{filter} {no_nan_counts}");
        }
        let kept = plan(&lab, "x > 5").await.tasks().len();
        assert_eq!(kept, if no_nan_counts { 3 } else { 2 });
    }
}

#[tokio::test]
async fn files_of_nulls_and_values_are_kept_for_both() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "ts", P::Timestamp), optional(2, "n", P::Int)]),
        &[("ts", Transform::Day)],
    );
    let mut files = Vec::new();
    for (day, ts, n) in [(Some(0), Some(5), vec![None, Some(3)]), (None, None, vec![None, None])] {
        let file = batch(
            &lab.schema(),
            vec![Arc::new(TimestampMicrosecondArray::from(vec![ts; 2])), Arc::new(Int32Array::from(n))],
        );
        let partition = vec![day.map(Literal::date)];
        files.push(lab.file(&file, &FileOptions { partition, ..Default::default() }).await);
    }
    lab.append(files).await;
    for (filter, count, kept) in [
        ("n is null", 3, 2),
        ("n is not null", 1, 1),
        ("n < 5", 1, 1),
        ("n in (3, null)", 1, 1),
        ("ts is null", 2, 1),
        ("ts is not null", 2, 1),
        ("ts < '1970-01-02'", 2, 1),
        ("ts > '1970-01-02'", 0, 0),
        ("not ts > '1970-01-02'", 2, 1),
    ] {
        assert_eq!(rows(lab.scan().filter_sql(filter)).await.num_rows(), count, "{filter}");
        assert_eq!(plan(&lab, filter).await.tasks().len(), kept, "{filter}");
    }
}

#[tokio::test]
async fn a_required_field_of_an_optional_struct_may_be_null() {
    let inner = StructType::new(vec![Arc::new(required(2, "street", P::String))]);
    let mut lab = Lab::new(schema([NestedField::optional(1, "address", Type::Struct(inner))]));
    let arrow = iceberg::arrow::schema_to_arrow_schema(&lab.schema()).unwrap();
    let arrow::datatypes::DataType::Struct(fields) = arrow.field(0).data_type() else { panic!() };
    let address = StructArray::new(
        fields.clone(),
        vec![Arc::new(StringArray::from(vec!["main", ""]))],
        Some(vec![true, false].into()),
    );
    let file = batch(&lab.schema(), vec![Arc::new(address)]);
    let file = lab.file(&file, &FileOptions::default()).await;
    lab.append([file]).await;
    assert_eq!(rows(lab.scan().filter_sql("address.street is null")).await.num_rows(), 1);
    assert_eq!(rows(lab.scan().filter_sql("address.street is not null")).await.num_rows(), 1);
    assert_eq!(rows(lab.scan().filter_sql("address.street = ''")).await.num_rows(), 0);
    let leaf = rows(lab.scan().select(["address.street"])).await;
    assert!(leaf.schema().field(0).is_nullable());
    assert_eq!(texts(&leaf, "address.street"), ["main", "null"]);
}

#[tokio::test]
async fn a_literal_on_the_left_keeps_its_strictness_and_functions_are_not_pruned_as_columns() {
    let lab = tens().await;
    assert_eq!(rows(lab.scan().filter_sql("5 > n")).await.num_rows(), 5);
    assert_eq!(rows(lab.scan().filter_sql("5 >= n")).await.num_rows(), 6);
    assert_eq!(rows(lab.scan().filter_sql("not 5 >= n")).await.num_rows(), 24);
    let e = error(lab.scan().filter_sql("n % 8 = 4")).await;
    assert!(e.to_string().contains("n % 8"), "{e}");
}

#[tokio::test]
async fn row_groups_out_of_range_are_not_decoded() {
    let mut lab = Lab::new(schema([optional(1, "n", P::Int), optional(2, "s", P::String)]));
    let numbers = Int32Array::from_iter_values(0..1000);
    let texts_ = StringArray::from_iter_values((0..1000).map(|n| format!("{n:04}")));
    let file = batch(&lab.schema(), vec![Arc::new(numbers), Arc::new(texts_)]);
    for no_parquet_statistics in [false, true] {
        let options = FileOptions { rows_a_group: Some(100), no_parquet_statistics, ..Default::default() };
        let file = lab.file(&file, &options).await;
        let path = file.file_path().to_owned();
        lab.append([file]).await;
        // Garbage over the first row groups: whoever decodes them fails.
        let mut bytes = lab.storage.read(&path).await.unwrap().to_vec();
        let third = bytes.len() / 3;
        bytes[4..third].fill(0xff);
        lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        for filter in ["n >= 950", "s >= '0950'", "s like '099%'", "n in (901, 999)"] {
            let read = try_rows(lab.scan().filter_sql(filter)).await;
            assert_eq!(read.is_err(), no_parquet_statistics, "{filter}");
        }
    }
}

#[tokio::test]
async fn partitions_and_bounds_agree_across_specs() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "id", P::Long), optional(2, "s", P::String)]),
        &[("id", Transform::Bucket(16)), ("s", Transform::Truncate(2))],
    );
    // bucket(16) of 34 is 3: the vector of the specification.
    for (bucket, id, s) in [(3, 34_i64, "abc"), (9, 7, "zz")] {
        let file = batch(
            &lab.schema(),
            vec![Arc::new(Int64Array::from(vec![id])), Arc::new(StringArray::from(vec![s]))],
        );
        let partition = vec![Some(Literal::int(bucket)), Some(Literal::string(&s[..2]))];
        let options = FileOptions { partition, no_manifest_statistics: true, ..Default::default() };
        let file = lab.file(&file, &options).await;
        lab.append([file]).await;
    }
    let by_bucket = plan(&lab, "id = 34").await;
    assert_eq!(by_bucket.tasks().len(), 1);
    assert_eq!(by_bucket.tasks()[0].residual, [0]);
    assert_eq!(plan(&lab, "s like 'ab%'").await.explain().files.kept, 1);
    assert_eq!(plan(&lab, "s >= 'b'").await.explain().files.kept, 1);
}

#[tokio::test]
async fn bounds_that_do_not_decode_are_not_known() {
    let mut lab = Lab::partitioned(
        schema([optional(1, "n", P::Int), optional(2, "s", P::String), optional(3, "k", P::String)]),
        &[("k", Transform::Identity)],
    );
    let rows_ = batch(
        &lab.schema(),
        vec![
            Arc::new(Int32Array::from(vec![1, 2])),
            Arc::new(StringArray::from(vec!["•", "b"])),
            Arc::new(StringArray::from(vec!["k", "k"])),
        ],
    );
    let options = FileOptions { partition: vec![Some(Literal::string("k"))], ..Default::default() };
    for broken in [1, 2, 3] {
        let good = lab.file(&rows_, &options).await;
        let mut file = iceberg::spec::DataFileBuilder::default();
        let mut lower = good.lower_bounds().clone();
        // Three bytes of no int, and text cut inside a character.
        lower.insert(broken, iceberg::spec::Datum::binary([0xe2, 0x80]));
        file.content(iceberg::spec::DataContentType::Data)
            .file_path(good.file_path().to_owned())
            .file_format(good.file_format())
            .partition(good.partition().clone())
            .partition_spec_id(0)
            .record_count(2)
            .file_size_in_bytes(good.file_size_in_bytes())
            .lower_bounds(lower)
            .upper_bounds(good.upper_bounds().clone());
        lab.append([file.build().unwrap()]).await;
    }
    assert_eq!(rows(lab.scan().filter_sql("n = 1 and s > 'c' and k = 'k'")).await.num_rows(), 3);
    assert_eq!(plan(&lab, "k = 'j'").await.tasks().len(), 0);
}

#[tokio::test]
async fn moments_at_the_ends_of_their_types_are_planned_and_explained() {
    use iceberg::expr::Reference;

    let longs = [i64::MIN, i64::MIN + 1, -1_000_001, -1, 0, i64::MAX - 1, i64::MAX];
    let of = |make: fn(i64) -> Datum| longs.map(make).to_vec();
    let kinds: Vec<(P, Vec<Datum>)> = vec![
        (P::Date, [i32::MIN, -1, 0, i32::MAX].map(Datum::date).to_vec()),
        (P::Time, [0, 1, 86_399_999_999].map(|v| Datum::time_micros(v).unwrap()).to_vec()),
        (P::Timestamp, of(Datum::timestamp_micros)),
        (P::Timestamptz, of(Datum::timestamptz_micros)),
        (P::TimestampNs, of(Datum::timestamp_nanos)),
        (P::TimestamptzNs, of(Datum::timestamptz_nanos)),
    ];
    for (kind, values) in kinds {
        let mut transforms = vec![Transform::Identity, Transform::Bucket(4)];
        if kind != P::Time {
            transforms.extend([Transform::Year, Transform::Month, Transform::Day]);
        }
        for transform in transforms {
            let columns = schema([optional(1, "a", P::Int), optional(2, "t", kind.clone())]);
            let mut lab = Lab::with(columns, &[("t", transform)], iceberg::spec::FormatVersion::V3);
            lab.append([]).await;
            for value in &values {
                let t = || Reference::new("t");
                for predicate in [
                    t().equal_to(value.clone()),
                    t().not_equal_to(value.clone()),
                    t().less_than(value.clone()),
                    t().greater_than_or_equal_to(value.clone()),
                    t().is_in([value.clone(), values[0].clone()]),
                    t().is_not_in([value.clone(), values[0].clone()]),
                ] {
                    let plan = lab.scan().filter(predicate).plan().await.unwrap();
                    assert!(plan.explain().to_string().contains("t "), "{}", plan.explain());
                }
            }
        }
    }
}
