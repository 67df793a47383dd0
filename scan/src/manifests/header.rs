//! The header of an Avro file: named byte strings before the data.

use serde_json::Value as Json;

const MAGIC: &[u8] = b"Obj\x01";

/// An Avro file, its header apart.
#[derive(Clone)]
pub(super) struct AvroFile<'a> {
    entries: Vec<(&'a [u8], Vec<u8>)>,
    /// From the sync marker on.
    rest: &'a [u8],
}

impl<'a> AvroFile<'a> {
    /// `None` when this is no Avro file.
    pub(super) fn parse(file: &'a [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let mut entries = Vec::new();
        loop {
            let count = long(&mut rest)?;
            if count == 0 {
                return Some(Self { entries, rest });
            }
            if count < 0 {
                // The block's size in bytes.
                long(&mut rest)?;
            }
            for _ in 0..count.unsigned_abs() {
                entries.push((bytes(&mut rest)?, bytes(&mut rest)?.to_vec()));
            }
        }
    }

    pub(super) fn json(&self, key: &str) -> Option<Json> {
        let (_, value) = self.entries.iter().find(|(k, _)| *k == key.as_bytes())?;
        serde_json::from_slice(value).ok()
    }

    pub(super) fn set(&mut self, key: &str, json: &Json) {
        if let Some((_, value)) = self.entries.iter_mut().find(|(k, _)| *k == key.as_bytes()) {
            *value = json.to_string().into_bytes();
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put_long(&mut out, self.entries.len());
        for (key, value) in &self.entries {
            for part in [key, value.as_slice()] {
                put_long(&mut out, part.len());
                out.extend_from_slice(part);
            }
        }
        put_long(&mut out, 0);
        out.extend_from_slice(self.rest);
        out
    }
}

/// Avro's variable-length, zig-zag coded number.
fn long(rest: &mut &[u8]) -> Option<i64> {
    let mut coded = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        coded |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((coded >> 1) as i64 ^ -((coded & 1) as i64));
        }
    }
    None
}

fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(long(rest)?).ok()?;
    let (taken, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(taken)
}

/// A count, which is never negative.
fn put_long(out: &mut Vec<u8>, value: usize) {
    let mut coded = (value as u64) << 1;
    while coded >= 0x80 {
        out.push((coded & 0x7f) as u8 | 0x80);
        coded >>= 7;
    }
    out.push(coded as u8);
}
