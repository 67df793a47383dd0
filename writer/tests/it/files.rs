use std::sync::Arc;

use arrow::array::{FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray};
use calve_writer::{WriteOptions, plan};
use iceberg::spec::PrimitiveType;
use parquet::basic::{Compression, LogicalType, Type as Physical};

use crate::lab::{Lab, batch, flights, optional, schema, table_with};

/// Rows whose text does not compress well.
fn noise(rows: u64) -> RecordBatch {
    let text = (0..rows).map(|_| uuid::Uuid::new_v4().to_string());
    batch(vec![
        ("id", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ("text", Arc::new(StringArray::from_iter_values(text))),
    ])
}

fn noise_schema() -> iceberg::spec::Schema {
    schema(vec![optional(1, "id", PrimitiveType::Long), optional(2, "text", PrimitiveType::String)])
}

#[tokio::test]
async fn files_carry_field_ids_the_schema_and_zstd() {
    let lab = Lab::new();
    lab.write(flights(&[1, 2])).await;
    let file = &lab.data_files().await[0];
    let parquet = lab.parquet(file).await;
    let metadata = parquet.metadata();
    let columns = metadata.file_metadata().schema_descr().columns();
    let ids: Vec<_> = columns.iter().map(|c| (c.name(), c.self_type().get_basic_info().id())).collect();
    assert_eq!(ids, [("id", 1), ("origin", 2)]);
    assert!(matches!(metadata.row_group(0).column(0).compression(), Compression::ZSTD(_)));
    let footer = metadata.file_metadata().key_value_metadata().unwrap();
    let schema = footer.iter().find(|kv| kv.key == "iceberg.schema").unwrap().value.as_ref().unwrap();
    let schema: iceberg::spec::Schema = serde_json::from_str(schema).unwrap();
    assert_eq!(&schema, lab.table().await.metadata.current_schema().as_ref());
}

#[tokio::test]
async fn a_uuid_is_a_uuid_in_the_file() {
    let lab = Lab::with_table(schema(vec![optional(1, "u", PrimitiveType::Uuid)])).await;
    let uuid = |first: u8| [&[first], [0u8; 14].as_slice(), &[1]].concat();
    let write = async |uuids: [Vec<u8>; 2]| {
        let values = FixedSizeBinaryArray::try_from_iter(uuids.iter()).unwrap();
        lab.write(batch(vec![("u", Arc::new(values))])).await;
        lab.data_files().await.remove(0)
    };
    let file = write([uuid(0xff), uuid(0x80)]).await;
    let parquet = lab.parquet(&file).await;
    let column = parquet.parquet_schema().column(0);
    assert_eq!(column.physical_type(), Physical::FIXED_LEN_BYTE_ARRAY);
    assert_eq!(column.logical_type_ref(), Some(&LogicalType::Uuid));
    // Uuids are ordered as unsigned bytes.
    assert_eq!(file.lower_bounds()[&1].to_bytes().unwrap().to_vec(), uuid(0x80));
    assert_eq!(file.upper_bounds()[&1].to_bytes().unwrap().to_vec(), uuid(0xff));
    // Readers that order them as signed numbers find nothing between these.
    let file = write([uuid(0xff), uuid(0x00)]).await;
    assert!(file.lower_bounds().is_empty() && file.upper_bounds().is_empty());
    assert_eq!(file.value_counts()[&1], 2);
}

#[tokio::test]
async fn sizes_and_offsets_are_those_of_the_file() {
    let lab =
        Lab::with(table_with(noise_schema(), &[("write.parquet.row-group-size-bytes", "100000")])).await;
    lab.write(noise(10_000)).await;
    let file = &lab.data_files().await[0];
    let parquet = lab.parquet(file).await;
    let groups = parquet.metadata().row_groups();
    assert!(groups.len() > 2, "{}", groups.len());
    let offsets: Vec<i64> = groups
        .iter()
        .map(|g| {
            let c = g.column(0);
            c.dictionary_page_offset().unwrap_or(c.data_page_offset())
        })
        .collect();
    assert_eq!(file.split_offsets().unwrap(), offsets);
    let text: i64 = groups.iter().map(|g| g.column(1).compressed_size()).sum();
    assert_eq!(file.column_sizes()[&2], text as u64);
    assert_eq!(file.sort_order_id(), None);
}

#[tokio::test]
async fn files_roll_near_the_target_size_and_none_is_empty() {
    let target = 1 << 20;
    let lab = Lab::with(table_with(noise_schema(), &[("write.target-file-size-bytes", "1048576")])).await;
    lab.write(noise(200_000)).await;
    let files = lab.data_files().await;
    assert!(files.len() > 3, "{} files", files.len());
    assert_eq!(lab.rows().await, 200_000);
    for file in &files[..files.len() - 1] {
        let size = file.file_size_in_bytes();
        assert!((target * 8 / 10..target * 12 / 10).contains(&size), "{size} bytes for a target of {target}");
    }
    assert!(files.iter().all(|f| f.record_count() > 0));
}

#[tokio::test]
async fn a_file_larger_than_a_part_is_uploaded_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path().join("air/t").to_str().unwrap().parse().unwrap());
    let report = lab.write(noise(1_000_000)).await;
    assert!(report.bytes > 17 << 20, "{}", report.bytes);
    assert_eq!(report.files, 1);
    assert_eq!(lab.rows().await, 1_000_000);
}

#[tokio::test]
async fn write_data_path_is_where_data_goes() {
    let lab = Lab::new();
    let mut options = WriteOptions::default();
    let elsewhere = lab.root.parent().unwrap().join("elsewhere/data").unwrap();
    options.properties.insert("write.data.path".to_owned(), elsewhere.as_str().to_owned());
    lab.write_with(flights(&[1]), options).await;
    let path = lab.data_files().await[0].file_path().to_owned();
    assert!(path.starts_with(&format!("{elsewhere}/")), "{path}");
}

#[tokio::test]
async fn settings_that_mean_nothing_are_refused_at_planning() {
    let lab = Lab::new();
    for (key, value) in [
        ("write.parquet.compression-codec", "lzo"),
        ("write.target-file-size-bytes", "huge"),
        ("write.metadata.metrics.default", "some"),
        ("write.data.path", "s3://another-bucket/data"),
    ] {
        let mut options = WriteOptions::default();
        options.properties.insert(key.to_owned(), value.to_owned());
        let planned = plan(lab.catalog.clone(), lab.ident.clone(), flights(&[]).schema(), options).await;
        let error = planned.err().unwrap_or_else(|| panic!("{key}={value} was taken"));
        assert_eq!(error.kind(), calve_writer::ErrorKind::Input, "{error}");
    }
    assert_eq!(lab.listing().await, Vec::<String>::new());
}

#[tokio::test]
async fn two_writers_of_the_same_rows_never_share_a_name() {
    let lab = Lab::new();
    lab.write(flights(&[1])).await;
    lab.write(flights(&[1])).await;
    let mut paths: Vec<String> = lab.data_files().await.iter().map(|f| f.file_path().to_owned()).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 2);
}
