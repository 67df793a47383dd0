use calve_uri::Mode;
use calve_writer::{ErrorKind, WriteOptions};

use crate::lab::{Lab, flights};

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
fn reshaped(file: &[u8]) -> Vec<Vec<u8>> {
    let (header, blocks) = blocks(file);
    let cut = (0..blocks.len()).map(|kept| [header, &blocks[..kept].concat()].concat());
    let doubled = blocks.iter().map(|block| [file, block].concat());
    let all: Vec<_> = cut.chain(doubled).collect();
    assert!(all.len() > 1);
    all
}

async fn lab() -> Lab {
    let lab = Lab::new();
    for id in 1..=3 {
        lab.write(flights(&[id])).await;
    }
    lab
}

fn options(mode: Mode) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.mode = mode;
    options
}

/// Writes are refused, the file is named, and nothing is left behind.
async fn refused(lab: &Lab, path: &str, modes: &[Mode]) {
    let before = lab.listing().await;
    for mode in modes {
        let error = lab.try_write(flights(&[9]), options(*mode)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        assert!(error.to_string().contains(path), "{error}");
        assert_eq!(lab.listing().await, before);
    }
}

#[tokio::test]
async fn a_parents_manifest_list_that_is_not_whole_is_not_built_upon() {
    let lab = lab().await;
    let path = lab.table().await.metadata.current_snapshot().unwrap().manifest_list().to_owned();
    let good = lab.storage.read(&path).await.unwrap();
    for bytes in reshaped(&good) {
        lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        refused(&lab, &path, &[Mode::Append, Mode::Overwrite]).await;
    }
    lab.storage.delete(&path).await.unwrap();
    refused(&lab, &path, &[Mode::Append, Mode::Overwrite]).await;
    lab.storage.put(&path.parse().unwrap(), good).await.unwrap();
    lab.write(flights(&[4])).await;
    assert_eq!(lab.ids().await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_manifest_that_is_not_as_its_list_says_is_not_overwritten() {
    let lab = lab().await;
    let path = lab.manifest_list().await[0].manifest_path.clone();
    let good = lab.storage.read(&path).await.unwrap();
    for bytes in reshaped(&good) {
        lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        refused(&lab, &path, &[Mode::Overwrite]).await;
    }
    // Of the right length, but its entry existed already.
    let (header, block) = (blocks(&good).0.len(), &good[blocks(&good).0.len()..]);
    let count = block.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let size = block[count..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let mut bytes = good.to_vec();
    let status = &mut bytes[header + count + size];
    assert_eq!(*status, 2);
    *status = 0;
    lab.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
    refused(&lab, &path, &[Mode::Overwrite]).await;
    lab.storage.delete(&path).await.unwrap();
    refused(&lab, &path, &[Mode::Overwrite]).await;
    lab.storage.put(&path.parse().unwrap(), good).await.unwrap();
    lab.write_with(flights(&[4]), options(Mode::Overwrite)).await;
    assert_eq!(lab.ids().await, [4]);
}
