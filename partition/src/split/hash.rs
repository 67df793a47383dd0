//! A quick seeded hash for grouping: a multiplication and a fold per eight bytes.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Builds [`Folding`] hashers of one random seed, so that data can't aim at collisions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeded(u64);

impl Seeded {
    pub(super) fn new() -> Self {
        Self(RandomState::new().hash_one(0_u8) | 1)
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding { state: self.0, seed: self.0 }
    }
}

/// The hasher of one key.
#[derive(Debug)]
pub(super) struct Folding {
    state: u64,
    seed: u64,
}

impl Folding {
    #[inline]
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.seed ^ 0x9e37_79b9_7f4a_7c15);
        self.state = (product as u64) ^ ((product >> 64) as u64) ^ self.state.rotate_left(23);
    }
}

impl Hasher for Folding {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        self.fold(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.fold(word);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.fold(word as u64);
    }

    #[inline]
    fn write_u128(&mut self, word: u128) {
        self.fold(word as u64);
        self.fold((word >> 64) as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.seed);
        (product as u64) ^ ((product >> 64) as u64)
    }
}
