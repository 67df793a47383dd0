//! The Avro container and binary encoding, as far as manifests need it.

use crate::{Error, Result};

/// Appends an int or long.
pub(super) fn long(out: &mut Vec<u8>, value: i64) {
    #[allow(clippy::cast_sign_loss, reason = "zigzag maps signed to unsigned bit by bit")]
    let mut zigzag = ((value << 1) ^ (value >> 63)) as u64;
    while zigzag >= 0x80 {
        #[allow(clippy::cast_possible_truncation, reason = "seven bits are kept on purpose")]
        out.push((zigzag as u8) | 0x80);
        zigzag >>= 7;
    }
    #[allow(clippy::cast_possible_truncation, reason = "less than 0x80")]
    out.push(zigzag as u8);
}

/// Appends bytes or a string.
pub(super) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    long(out, value.len() as i64);
    out.extend_from_slice(value);
}

/// Appends a value of `["null", T]`.
pub(super) fn optional<T>(out: &mut Vec<u8>, value: Option<T>, write: impl FnOnce(&mut Vec<u8>, T)) {
    match value {
        None => long(out, 0),
        Some(value) => {
            long(out, 1);
            write(out, value);
        }
    }
}

/// Appends an array in one block.
pub(super) fn array<T>(
    out: &mut Vec<u8>,
    items: impl ExactSizeIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    if items.len() > 0 {
        long(out, items.len() as i64);
        items.for_each(|item| write(out, item));
    }
    long(out, 0);
}

/// An Avro file of one block, not compressed.
pub(super) fn container(metadata: &[(&str, &[u8])], sync: [u8; 16], count: usize, block: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(block.len() + 4096);
    header(&mut out, metadata.iter().map(|(k, v)| (k.as_bytes(), *v)), sync);
    if count > 0 {
        long(&mut out, count as i64);
        long(&mut out, block.len() as i64);
        out.extend_from_slice(block);
        out.extend_from_slice(&sync);
    }
    out
}

fn header<'a>(
    out: &mut Vec<u8>,
    metadata: impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])>,
    sync: [u8; 16],
) {
    out.extend_from_slice(MAGIC);
    array(out, metadata, |out, (key, value)| {
        bytes(out, key);
        bytes(out, value);
    });
    out.extend_from_slice(&sync);
}

/// `file` with its header's values passed through `change`.
pub(super) fn with_header(
    file: &[u8],
    mut change: impl FnMut(&str, &[u8]) -> Result<Option<Vec<u8>>>,
) -> Result<Vec<u8>> {
    let mut rest = file.strip_prefix(MAGIC).ok_or_else(|| damaged("it does not begin like an avro file"))?;
    let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    loop {
        let mut count = take_long(&mut rest)?;
        if count == 0 {
            break;
        }
        if count < 0 {
            // A negative count is followed by the block's size in bytes.
            count = count.checked_neg().ok_or_else(|| damaged("its header is cut off"))?;
            take_long(&mut rest)?;
        }
        for _ in 0..count {
            let key = take_bytes(&mut rest)?.to_vec();
            let value = take_bytes(&mut rest)?;
            let changed = change(&String::from_utf8_lossy(&key), value)?.unwrap_or_else(|| value.to_vec());
            entries.push((key, changed));
        }
    }
    let sync: [u8; 16] =
        rest.get(..16).and_then(|s| s.try_into().ok()).ok_or_else(|| damaged("its header is cut off"))?;
    let mut out = Vec::with_capacity(file.len() + 256);
    header(&mut out, entries.iter().map(|(k, v)| (k.as_slice(), v.as_slice())), sync);
    out.extend_from_slice(&rest[16..]);
    Ok(out)
}

fn take_long(rest: &mut &[u8]) -> Result<i64> {
    let mut zigzag = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first().ok_or_else(|| damaged("its header is cut off"))?;
        *rest = after;
        zigzag |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            #[allow(clippy::cast_possible_wrap, reason = "zigzag maps unsigned to signed bit by bit")]
            return Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
        }
    }
    Err(damaged("its header holds a number of more than 64 bits"))
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = take_long(rest)?;
    let length = usize::try_from(length).ok().filter(|n| *n <= rest.len());
    let (taken, after) = rest.split_at(length.ok_or_else(|| damaged("its header is cut off"))?);
    *rest = after;
    Ok(taken)
}

fn damaged(why: &str) -> Error {
    Error::damaged(why)
}

const MAGIC: &[u8] = b"Obj\x01";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn longs_of_every_size_come_back() {
        for value in [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN, 1 << 35] {
            let mut out = Vec::new();
            long(&mut out, value);
            assert_eq!(take_long(&mut out.as_slice()).unwrap(), value);
        }
    }

    #[test]
    fn a_header_keeps_what_is_not_changed() {
        let file = container(&[("a", b"1"), ("b", b"2")], [7; 16], 1, b"rows");
        let changed = with_header(&file, |key, _| Ok((key == "b").then(|| b"three".to_vec()))).unwrap();
        assert_eq!(changed, container(&[("a", b"1"), ("b", b"three")], [7; 16], 1, b"rows"));
    }

    #[test]
    fn a_header_that_is_cut_off_is_an_error() {
        let file = container(&[("a", b"1")], [7; 16], 0, b"");
        for end in 0..file.len() {
            assert!(with_header(&file[..end], |_, _| Ok(None)).is_err(), "{end}");
        }
    }
}
