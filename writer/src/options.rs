use std::collections::HashMap;

use calve_uri::{Mode, PartitionField};
use iceberg::spec::FormatVersion;

/// How to write; the default appends to a table of any partitioning, or makes an unpartitioned one.
///
/// ```
/// use calve_writer::WriteOptions;
///
/// let mut options = WriteOptions::default();
/// options.write_id = Some("2024-06-01/load-7".to_owned());
/// options.retries = 4;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Add the rows, or replace the table's rows with them in one snapshot.
    pub mode: Mode,
    /// Partition fields of a new table; checked against an existing one. Empty asks for nothing.
    pub partition: Vec<PartitionField>,
    /// Add the partition fields an existing table lacks as its new default spec, instead of refusing.
    pub partition_evolution: bool,
    /// A name for this write: a table that has a snapshot with it is not written again.
    ///
    /// It is kept in the snapshot's summary as `calve.write-id`, and lost when that snapshot expires.
    /// The rows are not compared. It is neither empty nor has it control characters.
    pub write_id: Option<String>,
    /// Properties of a new table; an existing table keeps its own.
    pub properties: HashMap<String, String>,
    /// Format version of a new table.
    pub format_version: FormatVersion,
    /// How many lost races to rebuild the snapshot on the new version and try again.
    pub retries: u32,
    /// More entries for the snapshot's summary.
    pub summary: HashMap<String, String>,
    /// Bytes that open files may hold in memory; the largest is finished when they would hold more.
    pub memory_budget: usize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            mode: Mode::Append,
            partition: Vec::new(),
            partition_evolution: false,
            write_id: None,
            properties: HashMap::new(),
            format_version: FormatVersion::V2,
            retries: 0,
            summary: HashMap::new(),
            memory_budget: DEFAULT_MEMORY_BUDGET,
        }
    }
}

const DEFAULT_MEMORY_BUDGET: usize = 256 << 20;
