//! Parquet data files.

mod created;
mod fan_out;
mod file;
mod layout;
mod parquet_schema;
mod settings;
mod upload;

pub(crate) use created::CreatedFiles;
pub(crate) use fan_out::FanOut;
pub(crate) use file::{FilePlan, FinishedFile};
pub(crate) use layout::{data_folder, metadata_folder};
