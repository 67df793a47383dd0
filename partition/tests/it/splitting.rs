use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::*;
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Float64Type, Int32Type, Schema as ArrowSchema};
use calve_partition::{ErrorKind, Rows, Splitter};
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::spec::{
    Literal, NestedField, PartitionSpec, PrimitiveLiteral as L, PrimitiveType as P, Schema, SchemaRef,
    Struct, StructType, Transform, Type,
};
use proptest::prelude::*;

use crate::columns::column;
use crate::pruning::{COLUMNS, batch, pool, schema, spec, specs};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_row_is_in_one_part_and_shares_its_value(
        rows in prop::collection::vec(prop::collection::vec(0..14_usize, COLUMNS.len()), 0..60),
        fields in specs(),
        from in 0..5_usize,
    ) {
        let rows: Vec<Vec<Option<L>>> = rows
            .iter()
            .map(|row| row.iter().zip(COLUMNS).map(|(pick, (_, of))| pool(of).get(*pick).cloned()).collect())
            .collect();
        let schema = schema();
        let spec = Arc::new(spec(&schema, &fields));
        let splitter = Splitter::new(spec, schema).expect("the spec fits");
        let whole = batch(&rows);
        let from = from.min(whole.num_rows());
        let batch = whole.slice(from, whole.num_rows() - from);

        let values = splitter.values(&batch).expect("values");
        let parts = splitter.split(&batch).expect("parts");
        let mut seen = vec![false; batch.num_rows()];
        let mut firsts = Vec::new();
        for part in &parts {
            let rows: Vec<usize> = match &part.rows {
                Rows::All => (0..batch.num_rows()).collect(),
                Rows::Indices(rows) => rows.values().iter().map(|row| *row as usize).collect(),
            };
            prop_assert!(!rows.is_empty());
            prop_assert!(rows.is_sorted());
            firsts.push(rows[0]);
            for row in &rows {
                prop_assert!(!std::mem::replace(&mut seen[*row], true), "a row twice");
                for (at, value) in part.value.fields().iter().enumerate() {
                    prop_assert_eq!(value.is_none(), values[at].is_null(*row));
                }
            }
            let taken = part.take(&batch).expect("the rows are there");
            prop_assert_eq!(taken.num_rows(), rows.len());
            prop_assert_eq!(part.num_rows(&batch), rows.len());
            for (after, before) in rows.iter().enumerate() {
                for (taken, column) in taken.columns().iter().zip(batch.columns()) {
                    prop_assert_eq!(taken.slice(after, 1).to_data(), column.slice(*before, 1).to_data());
                }
            }
            // The value is that of any of its rows, computed alone.
            for row in &rows {
                let alone = splitter.split(&batch.slice(*row, 1)).expect("one row");
                prop_assert_eq!(&alone[0].value, &part.value);
            }
        }
        prop_assert!(seen.iter().all(|seen| *seen), "a row is lost");
        prop_assert!(firsts.is_sorted(), "parts are not in first-seen order");
        let distinct: HashMap<&Struct, ()> = parts.iter().map(|part| (&part.value, ())).collect();
        prop_assert_eq!(distinct.len(), parts.len(), "a value twice");
    }

    #[test]
    fn many_and_wide_values_are_grouped_too(
        longs in prop::collection::vec(prop::option::of(any::<i64>()), 1..300),
        repeats in 1..4_usize,
    ) {
        let schema = one("id", P::Long);
        let spec = PartitionSpec::builder(schema.clone())
            .add_partition_field("id", "id", Transform::Identity).expect("a field")
            .add_partition_field("id", "id_bucket", Transform::Bucket(1 << 30)).expect("a field")
            .build().expect("a spec");
        let longs: Vec<_> = longs.iter().cycle().take(longs.len() * repeats).copied().collect();
        let array: ArrayRef = Arc::new(Int64Array::from(longs.clone()));
        let batch = RecordBatch::try_new(arrow_schema(&schema), vec![array]).expect("a batch");
        let parts = Splitter::new(Arc::new(spec), schema).expect("a spec").split(&batch).expect("parts");
        let mut order: Vec<Option<i64>> = Vec::new();
        for long in longs {
            if !order.contains(&long) {
                order.push(long);
            }
        }
        let found: Vec<_> = parts.iter().map(|part| match part.value.fields()[0] {
            Some(Literal::Primitive(L::Long(v))) => Some(v),
            _ => None,
        }).collect();
        prop_assert_eq!(found, order);
    }
}

proptest! {
    #[test]
    fn strings_of_any_length_are_told_apart(
        alphabet in prop::sample::subsequence(vec!["", "\0", "a", "\u{e9}", "0123456", "0123456789abcde"], 1..6),
        picks in prop::collection::vec(prop::option::of((0..6_usize, 0..6_usize, 0..6_usize)), 1..80),
    ) {
        let text = |pick: usize| alphabet[pick % alphabet.len()];
        let texts: Vec<Option<String>> =
            picks.iter().map(|p| p.map(|(a, b, c)| [text(a), text(b), text(c)].concat())).collect();
        let schema = one("s", P::String);
        let array: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let batch = RecordBatch::try_new(arrow_schema(&schema), vec![array]).expect("a batch");
        let splitter = Splitter::new(identity(&schema, "s"), schema).expect("a spec");
        let mut order: Vec<Option<String>> = Vec::new();
        for text in texts {
            if !order.contains(&text) {
                order.push(text);
            }
        }
        let parts = splitter.split(&batch).expect("parts");
        let found: Vec<_> = parts.iter().map(|part| match &part.value.fields()[0] {
            Some(Literal::Primitive(L::String(text))) => Some(text.clone()),
            _ => None,
        }).collect();
        prop_assert_eq!(found, order);
    }
}

fn one(name: &str, of: P) -> SchemaRef {
    let field = NestedField::optional(1, name, Type::Primitive(of));
    Arc::new(Schema::builder().with_fields([field.into()]).build().expect("a schema"))
}

fn arrow_schema(schema: &Schema) -> Arc<ArrowSchema> {
    Arc::new(schema_to_arrow_schema(schema).expect("an arrow schema"))
}

fn doubles(values: Vec<Option<f64>>) -> (SchemaRef, RecordBatch) {
    let schema = one("x", P::Double);
    let array: ArrayRef = Arc::new(Float64Array::from(values));
    let batch = RecordBatch::try_new(arrow_schema(&schema), vec![array]).expect("a batch");
    (schema, batch)
}

fn identity(schema: &SchemaRef, column: &str) -> Arc<PartitionSpec> {
    let builder = PartitionSpec::builder(schema.clone());
    let builder = builder.add_partition_field(column, column, Transform::Identity);
    Arc::new(builder.expect("a field").build().expect("a spec"))
}

#[test]
fn zeros_are_one_partition_and_so_are_nans() {
    let odd_nan = f64::from_bits(0xfff8_0000_0000_0001);
    let (schema, batch) = doubles(vec![Some(-0.0), Some(odd_nan), Some(0.0), Some(f64::NAN), None]);
    let splitter = Splitter::new(identity(&schema, "x"), schema).expect("a spec");
    let parts = splitter.split(&batch).expect("parts");
    assert_eq!(parts.len(), 3);
    let Some(Literal::Primitive(L::Double(zero))) = parts[0].value.fields()[0] else { panic!("a double") };
    assert!(zero.is_sign_positive());
    // The rows themselves are as they were.
    let zeros = parts[0].take(&batch).expect("rows");
    let zeros = zeros.column(0).as_primitive::<Float64Type>().values();
    assert_eq!(zeros.iter().map(|zero| zero.is_sign_negative()).collect::<Vec<_>>(), [true, false]);
    let values = splitter.values(&batch).expect("values");
    assert!(values[0].as_primitive::<Float64Type>().value(0).is_sign_negative());
    assert_eq!(parts[2].value.fields(), [None]);

    let schema = one("x", P::Float);
    let array: ArrayRef = Arc::new(Float32Array::from(vec![-0.0, 0.0, f32::NAN, -f32::NAN]));
    let batch = RecordBatch::try_new(arrow_schema(&schema), vec![array]).expect("a batch");
    let parts = Splitter::new(identity(&schema, "x"), schema).expect("a spec").split(&batch).expect("parts");
    assert_eq!(parts.len(), 2);
    let Some(Literal::Primitive(L::Float(zero))) = parts[0].value.fields()[0] else { panic!("a float") };
    assert!(zero.is_sign_positive());
}

#[test]
fn an_unpartitioned_table_gives_one_part_and_an_empty_batch_none() {
    let (schema, batch) = doubles(vec![Some(1.0), Some(2.0)]);
    let spec = Arc::new(PartitionSpec::unpartition_spec());
    let splitter = Splitter::new(spec, schema).expect("a spec");
    let parts = splitter.split(&batch).expect("parts");
    assert!(matches!(parts[..], [ref part] if matches!(part.rows, Rows::All)));
    assert_eq!(parts[0].value, Struct::empty());
    assert!(splitter.split(&batch.slice(0, 0)).expect("no rows").is_empty());
}

#[test]
fn rows_that_lie_together_are_not_copied() {
    let (schema, batch) = doubles(vec![Some(1.0), Some(1.0), Some(2.0), Some(2.0)]);
    let parts = Splitter::new(identity(&schema, "x"), schema).expect("a spec").split(&batch).expect("parts");
    let taken = parts[1].take(&batch).expect("rows");
    let (whole, slice) = (batch.column(0).to_data(), taken.column(0).to_data());
    assert_eq!(whole.buffers()[0].data_ptr(), slice.buffers()[0].data_ptr());
}

#[test]
fn nested_sources_are_found_by_id_and_null_with_their_struct() {
    let city = NestedField::required(3, "city", Type::Primitive(P::String));
    let address = NestedField::optional(2, "address", Type::Struct(StructType::new(vec![city.into()])));
    let id = NestedField::optional(1, "id", Type::Primitive(P::Int));
    let schema = Schema::builder().with_fields([id.into(), address.into()]).build();
    let schema = Arc::new(schema.expect("a schema"));
    let arrow = arrow_schema(&schema);
    let DataType::Struct(inner) = arrow.field(1).data_type().clone() else { panic!("a struct") };
    let cities: ArrayRef = Arc::new(StringArray::from(vec!["Oslo", "hidden", "Rome", "Oslo"]));
    let address =
        StructArray::new(inner, vec![cities], Some(NullBuffer::from(vec![true, false, true, true])));
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    // The batch has its columns renamed and in another order: ids decide.
    let renamed = |at: usize, name: &str| arrow.field(at).clone().with_name(name);
    let shuffled = ArrowSchema::new(Fields::from(vec![renamed(1, "x"), renamed(0, "y")]));
    let batch = RecordBatch::try_new(Arc::new(shuffled), vec![Arc::new(address), ids]).expect("a batch");

    let spec = identity(&schema, "address.city");
    let splitter = Splitter::new(spec, schema).expect("a spec");
    let parts = splitter.split(&batch).expect("parts");
    let value = |text: &str| Some(Literal::string(text));
    let values: Vec<_> = parts.iter().map(|part| part.value.fields()[0].clone()).collect();
    assert_eq!(values, [value("Oslo"), None, value("Rome")]);

    let bare = ArrowSchema::new(vec![Field::new("id", DataType::Int32, true)]);
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let bare = RecordBatch::try_new(Arc::new(bare), vec![ids]).expect("a batch");
    let error = splitter.split(&bare).expect_err("no ids");
    assert_eq!(error.kind(), ErrorKind::Batch);
    assert!(error.to_string().contains("address.city"), "{error}");
}

/// Two structs, each of which may be null where the other is not.
#[test]
fn a_source_is_null_where_any_struct_around_it_is() {
    let structure = |field: NestedField| Type::Struct(StructType::new(vec![field.into()]));
    let leaf = NestedField::optional(3, "leaf", Type::Primitive(P::Int));
    let inner = NestedField::optional(2, "inner", structure(leaf));
    let outer = NestedField::optional(1, "outer", structure(inner));
    let schema = Arc::new(Schema::builder().with_fields([outer.into()]).build().expect("a schema"));
    let arrow = arrow_schema(&schema);
    let DataType::Struct(outer_fields) = arrow.field(0).data_type().clone() else { panic!("a struct") };
    let DataType::Struct(inner_fields) = outer_fields[0].data_type().clone() else { panic!("a struct") };
    let bits = |bits: [u8; 4]| Some(NullBuffer::from(bits.map(|bit| bit == 1).to_vec()));
    let none = None::<NullBuffer>;
    for (outer, inner, leaf) in [
        (bits([0, 1, 0, 1]), none.clone(), none.clone()),
        (bits([0, 1, 0, 1]), bits([1, 1, 1, 1]), none.clone()),
        (bits([0, 1, 1, 1]), bits([1, 0, 1, 1]), bits([1, 1, 0, 1])),
        (none.clone(), bits([1, 0, 1, 1]), none.clone()),
        (none.clone(), none.clone(), bits([1, 0, 1, 1])),
        (none.clone(), none.clone(), none.clone()),
    ] {
        let valid =
            |row: usize| [&outer, &inner, &leaf].iter().all(|n| n.as_ref().is_none_or(|n| n.is_valid(row)));
        let expected: Vec<_> = (0..4).map(|row| valid(row).then_some(row as i32)).collect();
        let leaves: ArrayRef = Arc::new(Int32Array::new(vec![0, 1, 2, 3].into(), leaf.clone()));
        let inners: ArrayRef = Arc::new(StructArray::new(inner_fields.clone(), vec![leaves], inner.clone()));
        let outers: ArrayRef = Arc::new(StructArray::new(outer_fields.clone(), vec![inners], outer.clone()));
        let batch = RecordBatch::try_new(arrow.clone(), vec![outers]).expect("a batch");
        let splitter = Splitter::new(identity(&schema, "outer.inner.leaf"), schema.clone()).expect("a spec");
        let values = splitter.values(&batch).expect("values");
        let found: Vec<_> = values[0].as_primitive::<Int32Type>().iter().collect();
        assert_eq!(found, expected);
        let sliced = splitter.values(&batch.slice(1, 3)).expect("values");
        let found: Vec<_> = sliced[0].as_primitive::<Int32Type>().iter().collect();
        assert_eq!(found, expected[1..]);
    }
}

#[test]
fn a_dropped_source_is_an_error_unless_the_field_is_void() {
    let before = one("a", P::Long);
    let of = |transform: Transform| {
        let builder = PartitionSpec::builder(before.clone());
        let builder = builder.add_partition_field("a", "a_field", transform).expect("a field");
        Arc::new(builder.build().expect("a spec"))
    };
    let field = NestedField::optional(2, "b", Type::Primitive(P::Long));
    let after = Arc::new(Schema::builder().with_fields([field.into()]).build().expect("a schema"));
    let error = Splitter::new(of(Transform::Bucket(4)), after.clone()).expect_err("no source");
    assert_eq!(error.kind(), ErrorKind::Table);

    let batch = RecordBatch::try_new(
        arrow_schema(&after),
        vec![column(&P::Long, &[Some(L::Long(1)), Some(L::Long(2))])],
    )
    .expect("a batch");
    let splitter = Splitter::new(of(Transform::Void), after).expect("void needs no source");
    let parts = splitter.split(&batch).expect("parts");
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].value.fields(), [None]);
}
