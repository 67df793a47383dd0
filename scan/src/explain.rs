use std::fmt;

use serde::{Deserialize, Serialize};

/// What a plan keeps of a table and what it leaves out, and which part of the filter did it.
///
/// Prints as a small tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explain {
    /// The snapshot planned; `None` for a table that has none yet.
    pub snapshot_id: Option<i64>,
    /// Manifests of data files, and those that had to be read.
    pub manifests: Kept,
    /// Data files, and those to be read. The files of a manifest that was pruned count by what the
    /// manifest list says of it.
    pub files: Kept,
    /// Rows in the files kept: an upper bound on the rows read.
    pub rows: u64,
    /// Bytes of data files. For pruned manifests the total takes the snapshot's own summary.
    pub bytes: Kept,
    /// The parts of the filter that must all be true.
    pub filter: Vec<FilterPart>,
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// All there are.
    pub total: u64,
    /// Those not pruned.
    pub kept: u64,
}

/// What one part of a filter did. What several parts exclude is counted for the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FilterPart {
    /// The part, as calve understands it.
    pub text: String,
    /// Manifests left out because of the partitions they span.
    pub manifests_by_partition: u64,
    /// Files left out because of their partition.
    pub files_by_partition: u64,
    /// Files left out because of their columns' bounds and counts.
    pub files_by_bounds: u64,
    /// Files kept in which this is true for every row, by partition or bounds: not tested again.
    pub files_proven: u64,
    /// Files kept whose rows must be tested.
    pub files_to_test: u64,
}

impl Kept {
    /// Those pruned.
    pub fn pruned(&self) -> u64 {
        self.total.saturating_sub(self.kept)
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.snapshot_id {
            Some(id) => writeln!(f, "snapshot {id}")?,
            None => writeln!(f, "no snapshot")?,
        }
        writeln!(f, "├─ manifests: {}", self.manifests)?;
        let rows = if self.filter.is_empty() { "" } else { "at most " };
        let rows = format!("{rows}{} {}", self.rows, plural(self.rows, "row"));
        let bytes = format!("{} of {}", size(self.bytes.kept), size(self.bytes.total));
        if self.filter.is_empty() {
            return write!(f, "└─ files: {}, {rows}, {bytes}", self.files);
        }
        writeln!(f, "├─ files: {}, {rows}, {bytes}", self.files)?;
        write!(f, "└─ filter")?;
        for (i, part) in self.filter.iter().enumerate() {
            let branch = if i + 1 == self.filter.len() { "└─" } else { "├─" };
            write!(f, "\n   {branch} {part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} kept", self.kept, self.total)
    }
}

impl fmt::Display for FilterPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        let mut say = |count: u64, noun: &str, how: &str| {
            if count > 0 {
                said.push(format!("{count} {} {how}", plural(count, noun)));
            }
        };
        say(self.manifests_by_partition, "manifest", "pruned by partition");
        say(self.files_by_partition, "file", "pruned by partition");
        say(self.files_by_bounds, "file", "pruned by bounds");
        say(self.files_proven, "file", "proven");
        say(self.files_to_test, "file", "to test");
        if said.is_empty() {
            said.push("nothing left to do".to_owned());
        }
        write!(f, "{}: {}", self.text, said.join(", "))
    }
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut value = bytes as f64;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
