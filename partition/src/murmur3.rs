//! Murmur3, x86 variant, 32 bits, seed 0 (specification, appendix B).

/// Hash of a byte string.
pub(crate) fn of_bytes(bytes: &[u8]) -> u32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    let hash = blocks.iter().fold(0, |hash, block| step(hash, u32::from_le_bytes(*block)));
    let mut last = 0;
    for (at, byte) in tail.iter().enumerate() {
        last |= u32::from(*byte) << (8 * at);
    }
    finish(hash ^ scramble(last), bytes.len() as u32)
}

/// Hash of the eight little-endian bytes of a long.
#[inline]
pub(crate) fn of_long(value: i64) -> u32 {
    let low = step(0, value as u32);
    finish(step(low, (value >> 32) as u32), 8)
}

#[inline]
fn scramble(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[inline]
fn step(hash: u32, block: u32) -> u32 {
    (hash ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline]
fn finish(hash: u32, length: u32) -> u32 {
    let mut hash = hash ^ length;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_hash_as_the_murmur3_crate_hashes_them(bytes: Vec<u8>) {
            let theirs = ::murmur3::murmur3_32(&mut std::io::Cursor::new(&bytes), 0);
            prop_assert_eq!(of_bytes(&bytes), theirs.expect("a cursor never fails"));
        }

        #[test]
        fn longs_hash_as_their_little_endian_bytes(value: i64) {
            prop_assert_eq!(of_long(value), of_bytes(&value.to_le_bytes()));
        }
    }
}
