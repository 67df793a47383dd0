//! Which files of a manifest are read, and what is left to test in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use iceberg::spec::{DataContentType, DataFileFormat, ManifestFile};

use crate::explain::Explain;
use crate::manifests::{self, Entry};
use crate::prune::{PartitionJudge, file_facts, may_match, must_match};
use crate::task::{FileFormat, ReadContext, ScanTask};
use crate::value::Value;
use crate::{Error, Result};

/// The filter made ready for every partition spec of the table.
pub(crate) struct Selector {
    context: Arc<ReadContext>,
    /// By spec id, one judge for each part of the filter.
    judges: BTreeMap<i32, Vec<PartitionJudge>>,
}

/// What became of one manifest's files.
pub(crate) struct ManifestPlan {
    pub(crate) tasks: Vec<ScanTask>,
    files: u64,
    bytes: u64,
    parts: Vec<PartCounts>,
}

#[derive(Clone, Default)]
struct PartCounts {
    by_partition: u64,
    by_bounds: u64,
    proven: u64,
    to_test: u64,
}

/// What excludes a file: the part of the filter, and by what.
enum Excluded {
    ByPartition(usize),
    ByBounds(usize),
}

impl Selector {
    pub(crate) fn new(context: Arc<ReadContext>) -> Self {
        let judges = context
            .specs
            .iter()
            .map(|(id, spec)| {
                let judges =
                    context.filter.iter().map(|part| PartitionJudge::new(part, spec, &context.schema));
                (*id, judges.collect())
            })
            .collect();
        Self { context, judges }
    }

    /// The part of the filter that excludes all of a manifest's files, if one does.
    pub(crate) fn excluding_manifest(&self, manifest: &ManifestFile) -> Option<usize> {
        let judges = self.judges.get(&manifest.partition_spec_id)?;
        judges.iter().position(|judge| !judge.may_match_summaries(manifest.partitions.as_deref()))
    }

    /// The tasks of a manifest, given its bytes.
    pub(crate) fn select(&self, manifest: &ManifestFile, bytes: &[u8]) -> Result<ManifestPlan> {
        let filter = &self.context.filter;
        let judges = self.judges.get(&manifest.partition_spec_id).ok_or_else(|| {
            Error::damaged(format!(
                "manifest {} names partition spec {}, which the table does not have",
                manifest.manifest_path, manifest.partition_spec_id
            ))
        })?;
        let mut plan = ManifestPlan {
            tasks: Vec::new(),
            files: 0,
            bytes: 0,
            parts: vec![PartCounts::default(); filter.len()],
        };
        for entry in manifests::decode(manifest, bytes)? {
            let file = &entry.file;
            if file.content_type() != DataContentType::Data {
                return Err(Error::damaged(format!(
                    "data manifest {} lists delete file {}",
                    manifest.manifest_path,
                    file.file_path()
                )));
            }
            plan.files += 1;
            plan.bytes += file.file_size_in_bytes();
            match self.excluding(judges, &entry) {
                Some(Excluded::ByPartition(part)) => plan.parts[part].by_partition += 1,
                Some(Excluded::ByBounds(part)) => plan.parts[part].by_bounds += 1,
                None => {
                    let residual = self.residual(judges, &entry);
                    for (part, counts) in plan.parts.iter_mut().enumerate() {
                        match residual.contains(&part) {
                            true => counts.to_test += 1,
                            false => counts.proven += 1,
                        }
                    }
                    plan.tasks.push(task(&entry, manifest.partition_spec_id, residual)?);
                }
            }
        }
        Ok(plan)
    }

    fn excluding(&self, judges: &[PartitionJudge], entry: &Entry) -> Option<Excluded> {
        let by_partition = judges.iter().position(|judge| !judge.may_match(&entry.partition));
        if let Some(part) = by_partition {
            return Some(Excluded::ByPartition(part));
        }
        let filter = &self.context.filter;
        let by_bounds =
            filter.iter().position(|part| !may_match(part, &|column| file_facts(&entry.file, column)));
        by_bounds.map(Excluded::ByBounds)
    }

    fn residual(&self, judges: &[PartitionJudge], entry: &Entry) -> Vec<usize> {
        let proven = |part: usize| {
            judges[part].must_match(&entry.partition)
                || must_match(&self.context.filter[part], &|column| file_facts(&entry.file, column))
        };
        (0..judges.len()).filter(|part| !proven(*part)).collect()
    }
}

impl ManifestPlan {
    pub(crate) fn add_to(&self, explain: &mut Explain) {
        explain.files.total += self.files;
        explain.files.kept += self.tasks.len() as u64;
        explain.bytes.total += self.bytes;
        explain.bytes.kept += self.tasks.iter().map(|t| t.file_size).sum::<u64>();
        explain.rows += self.tasks.iter().map(|t| t.record_count).sum::<u64>();
        for (part, counts) in explain.filter.iter_mut().zip(&self.parts) {
            part.files_by_partition += counts.by_partition;
            part.files_by_bounds += counts.by_bounds;
            part.files_proven += counts.proven;
            part.files_to_test += counts.to_test;
        }
    }
}

fn task(entry: &Entry, spec_id: i32, residual: Vec<usize>) -> Result<ScanTask> {
    let file = &entry.file;
    let format = match file.file_format() {
        DataFileFormat::Parquet => FileFormat::Parquet,
        other => {
            return Err(Error::unsupported(format!(
                "data file {} is {other}; this version reads parquet only",
                file.file_path()
            )));
        }
    };
    Ok(ScanTask {
        path: file.file_path().to_owned(),
        start: 0,
        length: file.file_size_in_bytes(),
        file_size: file.file_size_in_bytes(),
        record_count: file.record_count(),
        format,
        residual,
        spec_id,
        partition: entry.partition.iter().map(|value| value.and_then(Value::of)).collect(),
        sequence_number: entry.sequence_number,
    })
}
