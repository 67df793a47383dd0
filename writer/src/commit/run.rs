use std::sync::Arc;

use calve_catalog::{CommitOutcome, LoadedTable, TableChange, Warning};
use calve_storage::Location;
use calve_uri::Mode;
use iceberg::spec::{DataFile, ManifestContentType, ManifestFile, ManifestStatus, Snapshot, TableMetadata};
use uuid::Uuid;

use super::attempt::{SnapshotDraft, new_snapshot_id, put_new};
use super::backoff::{Backoff, settle};
use super::evolution::evolved_spec;
use super::recheck::{recheck, same_spec};
use super::replaced::replaced;
use super::summary::{snapshot_of_write, summary};
use crate::data_file::{FinishedFile, metadata_folder};
use crate::manifest::{Entry, ManifestHead, encode, read_list};
use crate::plan::{Base, check_writable};
use crate::write::Orphans;
use crate::{Result, WriteOutcome, WritePlan, WriteReport};

/// Publishes a write's data files, however many tries it takes.
pub(crate) struct Commit {
    plan: WritePlan,
    /// The version the present try builds on.
    base: Base,
    files: Vec<FinishedFile>,
    orphans: Orphans,
    snapshot_id: i64,
    uuid: Uuid,
    manifests: u32,
    /// The manifest of the added files, once stored: every try lists the same one.
    added: Option<ManifestFile>,
    /// Every manifest and manifest list stored so far.
    stored: Vec<String>,
    /// Those of them that the last try's snapshot uses, its list first.
    used: Vec<String>,
}

/// What a try came to.
enum Tried {
    Done(WriteOutcome),
    Conflict(String),
}

/// What the table says after a lost race.
enum Looked {
    Done(WriteOutcome),
    TryOn(Box<LoadedTable>),
    Lost(String),
}

impl Commit {
    pub(crate) fn new(plan: WritePlan, files: Vec<FinishedFile>, orphans: Orphans) -> Self {
        let base = plan.base.clone();
        let snapshot_id = new_snapshot_id(base.metadata());
        Self {
            plan,
            base,
            files,
            orphans,
            snapshot_id,
            uuid: Uuid::new_v4(),
            manifests: 0,
            added: None,
            stored: Vec::new(),
            used: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self) -> Result<WriteOutcome> {
        let outcome = self.run_tries().await;
        // Whatever is not in the table by now never will be; of an unknown outcome nobody can say so.
        match &outcome {
            Ok(WriteOutcome::Committed(report)) => self.delete_lost_metadata(report).await,
            Ok(WriteOutcome::Empty(_) | WriteOutcome::Unknown { .. }) => {}
            Ok(WriteOutcome::AlreadyCommitted { .. } | WriteOutcome::Conflict { .. }) | Err(_) => {
                self.orphans.created().delete_all().await;
            }
        }
        self.orphans.disarm();
        outcome
    }

    async fn run_tries(&mut self) -> Result<WriteOutcome> {
        let mut backoff = Backoff::new(self.base.metadata().properties());
        let mut attempt = 0;
        loop {
            let reason = match self.try_once(attempt).await? {
                Tried::Done(outcome) => return Ok(outcome),
                Tried::Conflict(reason) => reason,
            };
            let may_retry = attempt < self.plan.options.retries && !backoff.is_over();
            match self.look_again(reason, may_retry).await {
                Looked::Done(outcome) => return Ok(outcome),
                Looked::Lost(reason) => return Ok(WriteOutcome::Conflict { reason }),
                Looked::TryOn(table) => self.base = Base::Loaded(*table),
            }
            attempt += 1;
            backoff.wait().await;
        }
    }

    async fn try_once(&mut self, attempt: u32) -> Result<Tried> {
        let outcome = if self.files.is_empty() {
            match &self.base {
                Base::Loaded(table) => {
                    return Ok(Tried::Done(WriteOutcome::Empty(self.report(
                        table.clone(),
                        None,
                        Vec::new(),
                    ))));
                }
                Base::Staged(staged) => self.plan.catalog.create(staged, TableChange::none()).await?,
            }
        } else {
            let change = match self.change(attempt).await? {
                Ok(change) => change,
                Err(conflict) => return Ok(Tried::Conflict(conflict)),
            };
            self.orphans.disarm();
            match &self.base {
                Base::Loaded(table) => self.plan.catalog.commit(table, change).await?,
                Base::Staged(staged) => self.plan.catalog.create(staged, change).await?,
            }
        };
        let outcome = match outcome {
            CommitOutcome::Unknown(pending) => {
                match settle(self.plan.catalog.as_ref(), pending.clone()).await {
                    Ok(outcome) => outcome,
                    Err(_) => CommitOutcome::Unknown(pending),
                }
            }
            known => known,
        };
        Ok(match outcome {
            CommitOutcome::Committed(committed) => {
                let done = self.done(committed.table, committed.warnings);
                Tried::Done(done)
            }
            CommitOutcome::Conflict(conflict) => Tried::Conflict(conflict.reason),
            CommitOutcome::Unknown(pending) => {
                Tried::Done(WriteOutcome::Unknown { pending, files: self.orphans.created().paths() })
            }
        })
    }

    /// The change that adds our snapshot to the base, its files stored; or why the base won't have it.
    async fn change(&mut self, attempt: u32) -> Result<Result<TableChange, String>> {
        let metadata = Arc::clone(self.base.metadata());
        let evolution = if self.plan.evolution.is_empty() || same_spec(&self.plan.spec, &metadata) {
            TableChange::none()
        } else {
            let (change, spec) = evolved_spec(&metadata, &self.plan.evolution)?;
            if spec.spec_id() != self.plan.spec.spec_id() || spec.fields() != self.plan.spec.fields() {
                return Ok(Err("the table's partitioning changed".to_owned()));
            }
            change
        };
        let snapshot = self.snapshot(&metadata, attempt).await?;
        let mut change = TableChange::append(&metadata, snapshot)?;
        change.requirements.extend(evolution.requirements);
        change.updates.splice(0..0, evolution.updates);
        Ok(Ok(change))
    }

    async fn snapshot(&mut self, metadata: &TableMetadata, attempt: u32) -> Result<Snapshot> {
        let storage = self.base.storage().clone();
        let folder = metadata_folder(metadata.location(), metadata.properties())?;
        let added = self.added_manifest(metadata, &folder).await?;
        let mut manifests = vec![added];
        let mut ours = vec![manifests[0].manifest_path.clone()];
        let mut removed = None;
        if self.replaces_rows() {
            let (uuid, mut number) = (self.uuid, self.manifests);
            let name = || {
                let location = folder.join(&format!("{uuid}-m{number}.avro"))?;
                number += 1;
                Ok(location.as_str().to_owned())
            };
            let replaced = replaced(metadata, &storage, self.snapshot_id, name).await?;
            for (bytes, manifest) in replaced.manifests {
                let location: Location = manifest.manifest_path.parse()?;
                put_new(&storage, self.orphans.created(), &location, bytes.into()).await?;
                ours.push(manifest.manifest_path.clone());
                manifests.push(manifest);
            }
            self.manifests = number;
            removed = Some((replaced.tally, replaced.partitions));
        } else if let Some(parent) = metadata.current_snapshot() {
            manifests.extend(read_list(&storage, parent, metadata.format_version()).await?);
        }
        let files: Vec<&DataFile> = self.files.iter().map(|f| &f.data_file).collect();
        let options = &self.plan.options;
        let draft = SnapshotDraft {
            base: metadata,
            storage: &storage,
            created: self.orphans.created(),
            folder: &folder,
            snapshot_id: self.snapshot_id,
            attempt,
            summary: summary(metadata, &files, removed, options.write_id.as_deref(), &options.summary),
            manifests,
        };
        let snapshot = draft.store().await?;
        let used = std::iter::once(snapshot.manifest_list().to_owned()).chain(ours);
        self.used = used.collect();
        self.stored.extend(self.used.iter().cloned());
        Ok(snapshot)
    }

    async fn added_manifest(&mut self, metadata: &TableMetadata, folder: &Location) -> Result<ManifestFile> {
        if let Some(stored) = &self.added {
            return Ok(stored.clone());
        }
        let location = folder.join(&format!("{}-m{}.avro", self.uuid, self.manifests))?;
        let head = ManifestHead {
            version: metadata.format_version(),
            content: ManifestContentType::Data,
            schema: &self.plan.schema,
            spec: &self.plan.spec,
            snapshot_id: self.snapshot_id,
        };
        let entries: Vec<Entry<'_>> = self
            .files
            .iter()
            .map(|f| Entry { status: ManifestStatus::Added, file: &f.data_file, sequence_numbers: None })
            .collect();
        let (bytes, manifest) = encode(&head, location.as_str(), &entries)?;
        put_new(self.base.storage(), self.orphans.created(), &location, bytes.into()).await?;
        self.manifests += 1;
        self.added = Some(manifest.clone());
        Ok(manifest)
    }

    /// After a lost race: is our snapshot there all the same, or another run of this write? Else,
    /// may the files join the table as it is now?
    async fn look_again(&mut self, reason: String, may_retry: bool) -> Looked {
        let now = match self.plan.catalog.load(self.base.ident()).await {
            Ok(now) => now,
            Err(error) => {
                return Looked::Lost(format!("{reason} (the table can't be looked at again: {error})"));
            }
        };
        if now.metadata.snapshot_by_id(self.snapshot_id).is_some() {
            return Looked::Done(self.done(now, Vec::new()));
        }
        let write_id = self.plan.options.write_id.as_deref();
        if let Some(snapshot_id) = write_id.and_then(|id| snapshot_of_write(&now.metadata, id)) {
            return Looked::Done(WriteOutcome::AlreadyCommitted { snapshot_id });
        }
        if !may_retry {
            return Looked::Lost(reason);
        }
        let planned = self.plan.base.metadata();
        if self.plan.options.mode == Mode::Overwrite
            && now.metadata.current_snapshot_id() != planned.current_snapshot_id()
        {
            return Looked::Lost(format!(
                "{reason}; rows that others added since would be overwritten unseen"
            ));
        }
        if let Err(error) = check_writable(&now.metadata) {
            return Looked::Lost(format!("{reason}; {error}"));
        }
        let created = self.plan.creates_table();
        let evolving = !self.plan.evolution.is_empty();
        let spec = if evolving { planned.default_partition_spec() } else { &self.plan.spec };
        match recheck(planned, &self.plan.schema, spec, created, &now.metadata) {
            Ok(()) => Looked::TryOn(Box::new(now)),
            Err(why) => Looked::Lost(why),
        }
    }

    /// Overwriting a table that has no rows is an append.
    fn replaces_rows(&self) -> bool {
        self.plan.options.mode == Mode::Overwrite && self.base.metadata().current_snapshot().is_some()
    }

    fn done(&self, table: LoadedTable, warnings: Vec<Warning>) -> WriteOutcome {
        if self.files.is_empty() {
            return WriteOutcome::Empty(self.report(table, None, warnings));
        }
        WriteOutcome::Committed(self.report(table, Some(self.snapshot_id), warnings))
    }

    fn report(&self, table: LoadedTable, snapshot_id: Option<i64>, warnings: Vec<Warning>) -> WriteReport {
        WriteReport {
            table,
            snapshot_id,
            rows: self.files.iter().map(|f| f.data_file.record_count()).sum(),
            files: self.files.len() as u64,
            bytes: self.files.iter().map(|f| f.data_file.file_size_in_bytes()).sum(),
            created: matches!(self.base, Base::Staged(_)),
            warnings,
        }
    }

    /// Deletes the manifest lists and manifests of tries that lost.
    async fn delete_lost_metadata(&mut self, report: &WriteReport) {
        let landed = report.table.metadata.snapshot_by_id(self.snapshot_id).map(|s| s.manifest_list());
        if landed.is_none() || landed != self.used.first().map(String::as_str) {
            return;
        }
        let lost: Vec<String> =
            self.stored.iter().filter(|path| !self.used.contains(path)).cloned().collect();
        if !lost.is_empty() {
            self.orphans.created().delete_some(&lost).await;
        }
    }
}
