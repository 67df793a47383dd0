//! Public behaviour of the crate.

/// What parsing allocates is kept.
mod allocations;
/// Builders make what parsing the URI makes, and encode what has to be.
mod builders;
/// No generated secret comes out, wherever it is put.
mod generated_leaks;
/// `docs/uri.md` and the grammar functions say the same.
mod grammar;
/// No secret comes out where it should not.
mod leaks;
/// URIs that other readers took apart wrongly.
mod other_readers;
/// Round trips and absence of panics on generated texts.
mod properties;
/// What an error shows.
mod rendering;
/// Reading and writing through `serde`.
#[cfg(feature = "serde")]
mod serde;
/// The traits that the types have.
mod traits;
/// Inputs and what they parse to, or how they fail, from `tests/vectors.txt`.
mod vectors;
/// What memory holds once a secret is dropped.
#[cfg(target_os = "linux")]
mod zeroed;
