//! What may be a secret until it is accepted.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// A buffer that is zeroed when dropped, unless it has been taken out.
///
/// Parts of a text are copied before the whole is known to be right, and in a text that is not, any
/// part may be a secret. Mostly the whole is right: then this costs nothing, unlike `Zeroizing`.
#[derive(Default)]
pub(crate) struct Held<T: Buffer>(T);

/// A buffer in which nothing is once it is taken.
pub(crate) trait Buffer: Default + Zeroize {
    fn holds_nothing(&self) -> bool;
}

impl Buffer for String {
    #[inline]
    fn holds_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Zeroize> Buffer for Vec<T> {
    #[inline]
    fn holds_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Buffer> Held<T> {
    #[inline]
    pub(crate) fn new(buffer: T) -> Self {
        Self(buffer)
    }

    /// The buffer, to keep.
    #[inline]
    pub(crate) fn take(mut self) -> T {
        mem::take(&mut self.0)
    }
}

impl Held<String> {
    /// Appends `text`; where the buffer has to grow, nothing is left in the old one.
    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        let len = self.0.len() + text.len();
        if len > self.0.capacity() {
            let mut grown = Self(String::with_capacity(len.max(2 * self.0.capacity())));
            grown.0.push_str(&self.0);
            *self = grown;
        }
        self.0.push_str(text);
    }
}

impl<T: Buffer> Drop for Held<T> {
    #[inline]
    fn drop(&mut self) {
        if !self.0.holds_nothing() {
            zero(&mut self.0);
        }
    }
}

#[cold]
fn zero(buffer: &mut impl Buffer) {
    buffer.zeroize();
}

impl<T: Buffer> Deref for Held<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Buffer> DerefMut for Held<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
