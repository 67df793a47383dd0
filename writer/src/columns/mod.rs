//! From the caller's columns to the table's.

mod convert;
mod default;
mod matching;
mod rescale;
mod schema;

pub(crate) use matching::Matching;
pub(crate) use schema::schema_from_arrow;
