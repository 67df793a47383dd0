use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Decimal128Array, Float64Array, Int64Array, LargeBinaryArray, StringArray,
};
use iceberg::spec::{DataFile, Datum, PrimitiveType};
use proptest::prelude::*;

use crate::lab::{Lab, batch, optional, schema, table_with};

async fn file_of(kind: PrimitiveType, column: ArrayRef) -> DataFile {
    file_with(kind, column, &[]).await
}

async fn file_with(kind: PrimitiveType, column: ArrayRef, properties: &[(&str, &str)]) -> DataFile {
    let lab = Lab::with(table_with(schema(vec![optional(1, "c", kind)]), properties)).await;
    lab.write(batch(vec![("c", column)])).await;
    lab.data_files().await.remove(0)
}

fn bounds(file: &DataFile) -> (Option<&Datum>, Option<&Datum>) {
    (file.lower_bounds().get(&1), file.upper_bounds().get(&1))
}

#[tokio::test]
async fn nan_is_counted_and_no_bound() {
    let file =
        file_of(PrimitiveType::Double, Arc::new(Float64Array::from(vec![Some(1.0), Some(f64::NAN), None])))
            .await;
    assert_eq!(
        (file.value_counts()[&1], file.null_value_counts()[&1], file.nan_value_counts()[&1]),
        (3, 1, 1)
    );
    assert_eq!(bounds(&file), (Some(&Datum::double(1.0)), Some(&Datum::double(1.0))));
    let file = file_of(PrimitiveType::Double, Arc::new(Float64Array::from(vec![f64::NAN]))).await;
    assert_eq!(bounds(&file), (None, None));
}

#[tokio::test]
async fn zeros_of_either_sign_lie_within_the_bounds() {
    for zeros in [vec![0.0], vec![-0.0], vec![0.0, -0.0]] {
        let file = file_of(PrimitiveType::Double, Arc::new(Float64Array::from(zeros))).await;
        assert_eq!(file.lower_bounds()[&1].to_bytes().unwrap().to_vec(), (-0.0f64).to_le_bytes());
        assert_eq!(file.upper_bounds()[&1].to_bytes().unwrap().to_vec(), 0.0f64.to_le_bytes());
    }
}

#[tokio::test]
async fn a_column_of_nulls_has_counts_and_no_bounds() {
    let file = file_of(PrimitiveType::Long, Arc::new(Int64Array::from(vec![None, None]))).await;
    assert_eq!((file.value_counts()[&1], file.null_value_counts()[&1]), (2, 2));
    assert!(file.nan_value_counts().is_empty());
    assert_eq!(bounds(&file), (None, None));
}

#[tokio::test]
async fn strings_are_cut_to_sixteen_code_points_and_rounded_up() {
    let text = format!("{}•tail", "a".repeat(15));
    let file = file_of(PrimitiveType::String, Arc::new(StringArray::from(vec![text.as_str()]))).await;
    let lower = Datum::string(format!("{}•", "a".repeat(15)));
    let upper = Datum::string(format!("{}\u{2023}", "a".repeat(15)));
    assert_eq!(bounds(&file), (Some(&lower), Some(&upper)));

    let last = "\u{10FFFF}".repeat(20);
    let file = file_of(PrimitiveType::String, Arc::new(StringArray::from(vec![last.as_str()]))).await;
    assert_eq!(bounds(&file), (Some(&Datum::string("\u{10FFFF}".repeat(16))), None));
}

#[tokio::test]
async fn decimals_of_every_width_have_exact_bounds() {
    for (precision, value) in [(9, 999_999_999i128), (18, -1), (20, 1 << 64), (38, 10i128.pow(38) - 1)] {
        let column = Decimal128Array::from(vec![0, value]).with_precision_and_scale(precision, 2).unwrap();
        let kind = PrimitiveType::Decimal { precision: u32::from(precision), scale: 2 };
        let file = file_of(kind, Arc::new(column)).await;
        let bound = if value < 0 { &file.lower_bounds()[&1] } else { &file.upper_bounds()[&1] };
        let bytes = bound.to_bytes().unwrap();
        let sign = if bytes[0] & 0x80 == 0 { 0 } else { 0xff };
        let mut wide = [sign; 16];
        wide[16 - bytes.len()..].copy_from_slice(&bytes);
        assert_eq!(i128::from_be_bytes(wide), value);
    }
}

#[tokio::test]
async fn the_tables_metrics_modes_are_kept() {
    let text = || Arc::new(StringArray::from(vec!["abcdef"])) as ArrayRef;
    let mode = "write.metadata.metrics.default";
    let none = file_with(PrimitiveType::String, text(), &[(mode, "none")]).await;
    assert!(none.value_counts().is_empty() && none.lower_bounds().is_empty());
    let counts = file_with(PrimitiveType::String, text(), &[(mode, "counts")]).await;
    assert_eq!((counts.value_counts()[&1], counts.lower_bounds().len()), (1, 0));
    let four =
        file_with(PrimitiveType::String, text(), &[("write.metadata.metrics.column.c", "truncate(4)")]).await;
    assert_eq!(bounds(&four), (Some(&Datum::string("abcd")), Some(&Datum::string("abce"))));
    let full = file_with(PrimitiveType::String, text(), &[(mode, "full")]).await;
    assert_eq!(bounds(&full), (Some(&Datum::string("abcdef")), Some(&Datum::string("abcdef"))));
}

#[tokio::test]
async fn the_first_hundred_of_many_columns_have_statistics() {
    let lab = Lab::new();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let names: Vec<String> = (1..=150).map(|n| format!("c{n}")).collect();
    lab.write(batch(names.iter().map(|n| (n.as_str(), Arc::clone(&column))).collect())).await;
    let file = &lab.data_files().await[0];
    let mut ids: Vec<i32> = file.lower_bounds().keys().copied().collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn odd_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        Just(f64::NAN),
        Just(0.0),
        Just(-0.0),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY)
    ]
}

fn odd_text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,20}", "[a-b]{0,40}", "[\u{D7FE}-\u{E001}]{0,20}", "[\u{10FFFE}-\u{10FFFF}]{0,20}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_double_lies_within_its_bounds(values in prop::collection::vec(prop::option::of(odd_double()), 1..40)) {
        let file = block_on(file_of(PrimitiveType::Double, Arc::new(Float64Array::from(values.clone()))));
        prop_assert_eq!(file.value_counts()[&1], values.len() as u64);
        prop_assert_eq!(file.null_value_counts()[&1], values.iter().filter(|v| v.is_none()).count() as u64);
        prop_assert_eq!(file.nan_value_counts()[&1], values.iter().flatten().filter(|v| v.is_nan()).count() as u64);
        let number = |datum: &Datum| f64::from_le_bytes(datum.to_bytes().unwrap().as_slice().try_into().unwrap());
        let numbers: Vec<f64> = values.into_iter().flatten().filter(|v| !v.is_nan()).collect();
        prop_assert_eq!(bounds(&file).0.is_some(), !numbers.is_empty());
        for v in numbers {
            let (low, high) = (number(bounds(&file).0.unwrap()), number(bounds(&file).1.unwrap()));
            prop_assert!(low.total_cmp(&v).is_le() && high.total_cmp(&v).is_ge(), "{} not in {}..{}", v, low, high);
        }
    }

    #[test]
    fn every_string_lies_within_its_bounds(values in prop::collection::vec(prop::option::of(odd_text()), 1..40)) {
        let file = block_on(file_of(PrimitiveType::String, Arc::new(StringArray::from(values.clone()))));
        let (lower, upper) = bounds(&file);
        let text = |datum: &Datum| datum.to_bytes().unwrap().to_vec();
        for value in values.iter().flatten() {
            prop_assert!(text(lower.unwrap()).as_slice() <= value.as_bytes());
            if let Some(upper) = upper {
                prop_assert!(text(upper).as_slice() >= value.as_bytes());
            }
        }
        for bound in [lower, upper].into_iter().flatten() {
            prop_assert!(String::from_utf8(text(bound)).unwrap().chars().count() <= 16);
        }
    }

    #[test]
    fn all_binary_lies_within_its_bounds(values in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0xffu8), any::<u8>()], 0..24), 1..20)) {
        let column = LargeBinaryArray::from_iter_values(values.iter());
        prop_assert_eq!(column.len(), values.len());
        let file = block_on(file_of(PrimitiveType::Binary, Arc::new(column)));
        let (lower, upper) = bounds(&file);
        for value in &values {
            prop_assert!(lower.unwrap().to_bytes().unwrap().as_slice() <= value.as_slice());
            if let Some(upper) = upper {
                prop_assert!(upper.to_bytes().unwrap().as_slice() >= value.as_slice());
            }
        }
    }
}
