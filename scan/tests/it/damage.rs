use std::sync::Arc;

use arrow::array::Int32Array;
use calve_scan::ErrorKind;
use iceberg::spec::{DataContentType, DataFileBuilder, DataFileFormat, PrimitiveType as P, Struct};

use crate::lab::*;

/// Three snapshots of a file each, the summaries saying how many files there are.
async fn lab() -> Lab {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int)]));
    for n in 0..3 {
        let file = batch(&lab.schema(), vec![Arc::new(Int32Array::from(vec![n, n]))]);
        let file = lab.file(&file, &FileOptions::default()).await;
        lab.append([file]).await;
    }
    lab
}

/// An Avro file's header and its blocks.
fn blocks(file: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let sync = &file[file.len() - 16..];
    let mut parts = Vec::new();
    let mut rest = file;
    while let Some(at) = rest.windows(16).position(|window| window == sync) {
        let (part, after) = rest.split_at(at + 16);
        parts.push(part);
        rest = after;
    }
    (parts[0], parts[1..].to_vec())
}

/// Every way to lose or gain whole blocks.
fn reshaped(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (header, blocks) = blocks(file);
    assert!(!blocks.is_empty());
    let mut all = Vec::new();
    for kept in 0..blocks.len() {
        all.push((format!("{kept} of {} blocks", blocks.len()), [header, &blocks[..kept].concat()].concat()));
    }
    for twice in &blocks {
        all.push(("a block twice".to_owned(), [file, twice].concat()));
    }
    all
}

async fn refused(lab: &Lab, path: &str, how: &str) {
    for scan in [lab.scan(), lab.scan().filter_sql("a = 1"), lab.scan().limit(1)] {
        let e = error(scan).await;
        assert_eq!(e.kind(), ErrorKind::Damaged, "{how}: {e}");
        assert!(e.to_string().contains(path), "{how}: {e}");
    }
}

#[tokio::test]
async fn a_manifest_with_blocks_lost_or_doubled_is_damaged() {
    let lab = lab().await;
    let path = lab.last_manifest().to_owned();
    let good = lab.storage.read(&path).await.unwrap();
    for (how, bytes) in reshaped(&good) {
        lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        refused(&lab, &path, &how).await;
    }
    lab.storage.put(&path.parse().unwrap(), good).await.unwrap();
    assert_eq!(rows(lab.scan()).await.num_rows(), 6);
}

#[tokio::test]
async fn a_manifest_of_the_right_length_with_other_entries_is_damaged() {
    let lab = lab().await;
    let path = lab.last_manifest().to_owned();
    let mut bytes = lab.storage.read(&path).await.unwrap().to_vec();
    let (header, blocks) = blocks(&bytes);
    let mut block = blocks[0];
    // After the block's count and size, the first entry begins with its status: 1, zig-zag coded.
    let begins = block.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    block = &block[begins..];
    let begins = header.len() + begins + block.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    assert_eq!(bytes[begins], 2);
    for status in [0, 4] {
        bytes[begins] = status;
        lab.storage.put(&path.parse().unwrap(), bytes.clone().into()).await.unwrap();
        refused(&lab, &path, "another status").await;
    }
}

#[tokio::test]
async fn a_manifest_of_deletes_that_lost_its_entries_is_damaged() {
    let mut lab = lab().await;
    let mut file = DataFileBuilder::default();
    file.content(DataContentType::PositionDeletes).file_path("memory://x/d.parquet".to_owned());
    file.file_format(DataFileFormat::Parquet).partition(Struct::empty());
    let file = file.record_count(1).file_size_in_bytes(10).build().unwrap();
    lab.append_deletes([file]).await;
    let path = lab.last_manifest().to_owned();
    let good = lab.storage.read(&path).await.unwrap();
    for (how, bytes) in reshaped(&good) {
        lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        refused(&lab, &path, &how).await;
    }
}

#[tokio::test]
async fn a_manifest_list_emptied_or_with_blocks_doubled_is_damaged() {
    let lab = lab().await;
    let path = lab.metadata.current_snapshot().unwrap().manifest_list().to_owned();
    let good = lab.storage.read(&path).await.unwrap();
    for (how, bytes) in reshaped(&good) {
        lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        refused(&lab, &path, &how).await;
    }
}

#[tokio::test]
async fn an_empty_list_of_a_snapshot_that_has_no_files_is_an_empty_table() {
    let mut lab = Lab::new(schema([optional(1, "a", P::Int)]));
    lab.append([]).await;
    let path = lab.metadata.current_snapshot().unwrap().manifest_list().to_owned();
    let good = lab.storage.read(&path).await.unwrap();
    lab.storage.put(&path.parse().unwrap(), blocks(&good).0.to_vec().into()).await.unwrap();
    assert_eq!(rows(lab.scan()).await.num_rows(), 0);
}
