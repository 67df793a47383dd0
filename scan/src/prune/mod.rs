//! What can be left unread: by partition, by a file's bounds and counts, by a row group's.
//!
//! Every judge answers two questions about a set of rows: *may* one of them match, and *must* all of
//! them. Whatever is not known answers "may" and "not must".

mod facts;
mod files;
mod partitions;
mod row_groups;

pub(crate) use facts::{Facts, may_match, must_match};
pub(crate) use files::file_facts;
pub(crate) use partitions::PartitionJudge;
pub(crate) use row_groups::LeafStatistics;
