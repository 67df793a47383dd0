//! From data files to a snapshot of the table: build, publish, look, build again.

mod attempt;
mod backoff;
mod evolution;
mod recheck;
mod replaced;
mod run;
mod summary;

pub(crate) use backoff::settle;
pub(crate) use evolution::evolved_spec;
pub(crate) use run::Commit;
pub(crate) use summary::snapshot_of_write;
