use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow::array::Int64Array;
use calve_catalog::{
    CommitOutcome, LoadedTable, NewTable, Pending, StagedTable, TableCatalog, TableChange, TableIdent,
    TableRequirement, TableUpdate, async_trait,
};
use calve_uri::Mode;
use calve_writer::{ErrorKind, TableWriter, WriteOptions, WriteOutcome, plan, resolve};
use iceberg::spec::{NestedField, PrimitiveType, Schema, Type};

use crate::lab::{Lab, batch, flights, partition};

/// What happens to one commit or create on its way.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Others commit first.
    Beaten,
    /// It lands; the answer says that it lost.
    LandsButConflict,
    /// It lands; the answer is lost.
    LandsButUnknown,
    /// It does not land, and nobody knows.
    VanishesUnknown,
    /// The catalog refuses it.
    Refused,
}

/// A catalog on top of a real one that plays tricks.
#[derive(Debug)]
struct Trickster {
    inner: Arc<dyn TableCatalog>,
    fates: Mutex<VecDeque<Fate>>,
    /// What resolving says after `VanishesUnknown`.
    stays_unknown: bool,
    /// What others do when we are beaten.
    others: TableChangeMaker,
}

#[derive(Debug, Clone, Copy)]
enum TableChangeMaker {
    Append,
    Property,
    DropColumn,
    AddRequired,
    AddOptional,
}

impl Trickster {
    fn fate(&self) -> Option<Fate> {
        self.fates.lock().unwrap().pop_front()
    }

    async fn others_go_first(&self, base: &LoadedTable) {
        let now = self.inner.load(&base.ident).await.unwrap();
        let schema = |schema: Schema| TableChange {
            requirements: Vec::<TableRequirement>::new(),
            updates: vec![TableUpdate::AddSchema { schema }, TableUpdate::SetCurrentSchema { schema_id: -1 }],
        };
        let fields = now.metadata.current_schema().as_struct().fields();
        let with = |field: NestedField| {
            let fields = fields.iter().cloned().chain([Arc::new(field)]);
            Schema::builder().with_schema_id(9).with_fields(fields).build().unwrap()
        };
        let change = match self.others {
            TableChangeMaker::Append => {
                let others = plan(
                    Arc::clone(&self.inner),
                    base.ident.clone(),
                    flights(&[]).schema(),
                    WriteOptions::default(),
                );
                let mut writer = others.await.unwrap().start();
                writer.write(flights(&[77])).await.unwrap();
                assert!(matches!(writer.commit().await.unwrap(), WriteOutcome::Committed(_)));
                return;
            }
            TableChangeMaker::Property => {
                TableChange::set_properties([("by".to_owned(), "others".to_owned())].into())
            }
            TableChangeMaker::DropColumn => {
                let kept = fields.iter().filter(|f| f.name != "origin").cloned();
                schema(Schema::builder().with_schema_id(9).with_fields(kept).build().unwrap())
            }
            TableChangeMaker::AddRequired => {
                schema(with(NestedField::required(50, "need", Type::Primitive(PrimitiveType::Int))))
            }
            TableChangeMaker::AddOptional => {
                schema(with(NestedField::optional(50, "may", Type::Primitive(PrimitiveType::Int))))
            }
        };
        let made = self.inner.commit(&now, change).await.unwrap();
        assert!(matches!(made, CommitOutcome::Committed(_)));
    }

    fn pending(&self, ident: &TableIdent, change: &TableChange) -> CommitOutcome<LoadedTable> {
        CommitOutcome::Unknown(Pending::new(ident.clone(), change.snapshot_ids(), "the line went dead", ()))
    }
}

#[async_trait]
impl TableCatalog for Trickster {
    async fn load(&self, table: &TableIdent) -> calve_catalog::Result<LoadedTable> {
        self.inner.load(table).await
    }

    async fn stage(&self, table: &TableIdent, new: NewTable) -> calve_catalog::Result<StagedTable> {
        self.inner.stage(table, new).await
    }

    async fn create(
        &self,
        staged: &StagedTable,
        change: TableChange,
    ) -> calve_catalog::Result<CommitOutcome<LoadedTable>> {
        match self.fate() {
            Some(Fate::Beaten) => {
                let others = plan(
                    Arc::clone(&self.inner),
                    staged.ident.clone(),
                    flights(&[]).schema(),
                    WriteOptions::default(),
                );
                let mut writer = others.await.unwrap().start();
                writer.write(flights(&[77])).await.unwrap();
                assert!(matches!(writer.commit().await.unwrap(), WriteOutcome::Committed(_)));
                self.inner.create(staged, change).await
            }
            _ => self.inner.create(staged, change).await,
        }
    }

    async fn commit(
        &self,
        base: &LoadedTable,
        change: TableChange,
    ) -> calve_catalog::Result<CommitOutcome<LoadedTable>> {
        match self.fate() {
            None => self.inner.commit(base, change).await,
            Some(Fate::Beaten) => {
                self.others_go_first(base).await;
                let outcome = self.inner.commit(base, change).await;
                assert!(matches!(outcome, Ok(CommitOutcome::Conflict(_))), "{outcome:?}");
                outcome
            }
            Some(Fate::LandsButConflict) => {
                assert!(matches!(self.inner.commit(base, change).await?, CommitOutcome::Committed(_)));
                Ok(CommitOutcome::conflict("version 2 was taken"))
            }
            Some(Fate::LandsButUnknown) => {
                assert!(matches!(
                    self.inner.commit(base, change.clone()).await?,
                    CommitOutcome::Committed(_)
                ));
                Ok(self.pending(&base.ident, &change))
            }
            Some(Fate::VanishesUnknown) => Ok(self.pending(&base.ident, &change)),
            Some(Fate::Refused) => Err(calve_catalog::Error::new(
                calve_catalog::ErrorKind::Denied,
                "the catalog refuses the commit",
            )),
        }
    }

    async fn resolve(&self, pending: Pending) -> calve_catalog::Result<CommitOutcome<LoadedTable>> {
        let now = self.inner.load(pending.table()).await?;
        if pending.snapshot_ids().iter().any(|id| now.metadata.snapshot_by_id(*id).is_some()) {
            return Ok(CommitOutcome::committed(now));
        }
        if self.stays_unknown {
            return Ok(CommitOutcome::Unknown(pending));
        }
        Ok(CommitOutcome::conflict("the attempt did not land"))
    }
}

/// A table with one row, whose next commits meet `fates`.
async fn tricked(fates: &[Fate], others: TableChangeMaker) -> Lab {
    let mut lab = Lab::new();
    lab.write(flights(&[1])).await;
    lab.catalog = trickster(&lab, fates, others, false);
    lab
}

fn trickster(
    lab: &Lab,
    fates: &[Fate],
    others: TableChangeMaker,
    stays_unknown: bool,
) -> Arc<dyn TableCatalog> {
    let fates = Mutex::new(fates.iter().copied().collect());
    Arc::new(Trickster { inner: Arc::clone(&lab.catalog), fates, stays_unknown, others })
}

fn retrying(retries: u32) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.retries = retries;
    options
}

async fn conflict(lab: &Lab, options: WriteOptions) -> String {
    match lab.try_write(flights(&[2]), options).await.unwrap() {
        WriteOutcome::Conflict { reason } => reason,
        other => panic!("no conflict: {other:?}"),
    }
}

#[tokio::test]
async fn a_lost_race_is_a_conflict_that_leaves_no_file() {
    let lab = tricked(&[Fate::Beaten], TableChangeMaker::Append).await;
    conflict(&lab, WriteOptions::default()).await;
    assert_eq!(lab.ids().await, [1, 77]);
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_retry_builds_on_what_came_first_with_the_same_files() {
    let lab = tricked(&[Fate::Beaten, Fate::Beaten], TableChangeMaker::Append).await;
    let report = lab.write_with(flights(&[2]), retrying(2)).await;
    assert_eq!(lab.ids().await, [1, 2, 77, 77]);
    let metadata = lab.table().await.metadata;
    assert_eq!(metadata.current_snapshot_id(), report.snapshot_id);
    assert_eq!(metadata.current_snapshot().unwrap().sequence_number(), 4);
    assert_eq!(metadata.current_snapshot().unwrap().summary().additional_properties["total-records"], "4");
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn retries_that_run_out_are_a_conflict() {
    let lab = tricked(&[Fate::Beaten; 3], TableChangeMaker::Append).await;
    conflict(&lab, retrying(2)).await;
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_conflict_that_was_our_own_commit_is_committed() {
    let lab = tricked(&[Fate::LandsButConflict], TableChangeMaker::Append).await;
    lab.write(flights(&[2])).await;
    assert_eq!(lab.ids().await, [1, 2]);
}

#[tokio::test]
async fn a_lost_answer_is_looked_up() {
    let lab = tricked(&[Fate::LandsButUnknown], TableChangeMaker::Append).await;
    lab.write(flights(&[2])).await;
    assert_eq!(lab.ids().await, [1, 2]);
    let lab = tricked(&[Fate::VanishesUnknown], TableChangeMaker::Append).await;
    lab.write_with(flights(&[2]), retrying(1)).await;
    assert_eq!(lab.ids().await, [1, 2]);
}

#[tokio::test]
async fn an_outcome_nobody_knows_deletes_nothing() {
    let mut lab = Lab::new();
    lab.write(flights(&[1])).await;
    lab.catalog = trickster(&lab, &[Fate::VanishesUnknown], TableChangeMaker::Append, true);
    let outcome = lab.try_write(flights(&[2]), retrying(3)).await.unwrap();
    let WriteOutcome::Unknown { pending, files } = outcome else { panic!("{outcome:?}") };
    assert_eq!(files.len(), 3, "a data file, a manifest and a manifest list");
    let mut orphans = lab.orphans().await;
    orphans.sort();
    let mut named = files.clone();
    named.sort();
    assert_eq!(orphans, named);
    let resolved = resolve(lab.catalog.as_ref(), pending).await.unwrap();
    assert!(matches!(resolved, CommitOutcome::Unknown(_)));
}

#[tokio::test]
async fn a_refused_commit_is_an_error_that_leaves_no_file() {
    let lab = tricked(&[Fate::Refused], TableChangeMaker::Append).await;
    let error = lab.try_write(flights(&[2]), retrying(3)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Denied, "the catalog refuses the commit")
    );
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_retry_looks_whether_the_files_still_fit() {
    let lab = tricked(&[Fate::Beaten], TableChangeMaker::DropColumn).await;
    assert_eq!(conflict(&lab, retrying(3)).await, "column \"origin\" was dropped");
    let lab = tricked(&[Fate::Beaten], TableChangeMaker::AddRequired).await;
    assert_eq!(conflict(&lab, retrying(3)).await, "required column \"need\" was added");
    assert_eq!(lab.orphans().await, Vec::<String>::new());
    let lab = tricked(&[Fate::Beaten], TableChangeMaker::AddOptional).await;
    lab.write_with(flights(&[2]), retrying(3)).await;
    assert_eq!(lab.ids().await, [1, 2]);
}

#[tokio::test]
async fn an_overwrite_is_not_retried_over_rows_it_has_not_seen() {
    let overwrite = || {
        let mut options = retrying(3);
        options.mode = Mode::Overwrite;
        options
    };
    let lab = tricked(&[Fate::Beaten], TableChangeMaker::Append).await;
    let reason = conflict(&lab, overwrite()).await;
    assert!(reason.contains("would be overwritten unseen"), "{reason}");
    assert_eq!(lab.ids().await, [1, 77]);
    let lab = tricked(&[Fate::Beaten], TableChangeMaker::Property).await;
    lab.write_with(flights(&[2]), overwrite()).await;
    assert_eq!(lab.ids().await, [2]);
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn of_two_creators_the_second_appends_or_yields() {
    for (retries, ids) in [(0, vec![77]), (1, vec![2, 77])] {
        let mut lab = Lab::new();
        lab.catalog = trickster(&lab, &[Fate::Beaten], TableChangeMaker::Append, false);
        let outcome = lab.try_write(flights(&[2]), retrying(retries)).await.unwrap();
        assert_eq!(matches!(outcome, WriteOutcome::Committed(_)), retries > 0, "{outcome:?}");
        assert_eq!(lab.ids().await, ids);
        assert_eq!(lab.orphans().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_creator_of_another_partitioning_yields() {
    let mut lab = Lab::new();
    lab.catalog = trickster(&lab, &[Fate::Beaten], TableChangeMaker::Append, false);
    let mut options = partition("origin");
    options.retries = 3;
    assert!(conflict(&lab, options).await.contains("partition spec 0"));
}

#[tokio::test]
async fn a_write_id_is_written_once() {
    let named = || {
        let mut options = WriteOptions::default();
        options.write_id = Some("load-7".to_owned());
        options
    };
    let lab = Lab::new();
    let first = lab.write_with(flights(&[1]), named()).await;
    lab.write(flights(&[2])).await;
    let planned = plan(lab.catalog.clone(), lab.ident.clone(), flights(&[]).schema(), named()).await.unwrap();
    assert_eq!(planned.already_committed(), first.snapshot_id);
    let before = lab.listing().await;
    let outcome = lab.try_write(flights(&[1]), named()).await.unwrap();
    assert!(
        matches!(outcome, WriteOutcome::AlreadyCommitted { snapshot_id } if Some(snapshot_id) == first.snapshot_id)
    );
    assert_eq!(lab.listing().await, before);
}

#[tokio::test]
async fn of_two_runs_at_once_one_commits_and_the_other_says_so() {
    let lab = Lab::new();
    lab.write(flights(&[1])).await;
    let mut options = WriteOptions::default();
    options.write_id = Some("load-8".to_owned());
    let mut writers: Vec<TableWriter> = Vec::new();
    for _ in 0..2 {
        let planned = plan(lab.catalog.clone(), lab.ident.clone(), flights(&[]).schema(), options.clone())
            .await
            .unwrap();
        let mut writer = planned.start();
        writer.write(flights(&[2])).await.unwrap();
        writers.push(writer);
    }
    let second = writers.pop().unwrap().commit().await.unwrap();
    assert!(matches!(second, WriteOutcome::Committed(_)));
    let first = writers.pop().unwrap().commit().await.unwrap();
    assert!(matches!(first, WriteOutcome::AlreadyCommitted { .. }), "{first:?}");
    assert_eq!(lab.ids().await, [1, 2]);
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn eight_writers_at_once_lose_no_row() {
    let lab = Arc::new(Lab::new());
    lab.write(flights(&[0])).await;
    let mut tasks = tokio::task::JoinSet::new();
    for id in 1..=8 {
        let lab = Arc::clone(&lab);
        tasks.spawn(async move { lab.write_with(flights(&[id]), retrying(50)).await });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(lab.ids().await, (0..=8).collect::<Vec<_>>());
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_aborted_or_dropped_write_leaves_no_file() {
    let lab = Lab::new();
    lab.write(flights(&[1])).await;
    let before = lab.listing().await;
    let begin = async || {
        let mut options = WriteOptions::default();
        options.memory_budget = 0;
        let planned =
            plan(lab.catalog.clone(), lab.ident.clone(), flights(&[]).schema(), options).await.unwrap();
        let mut writer = planned.start();
        writer.write(flights(&[2])).await.unwrap();
        writer.write(flights(&[3])).await.unwrap();
        assert_eq!(writer.progress().rows, 2);
        assert_eq!(writer.progress().files, 2);
        writer
    };
    begin().await.abort().await;
    assert_eq!(lab.listing().await, before);
    drop(begin().await);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(lab.listing().await, before);
}

#[tokio::test]
async fn a_write_that_failed_can_not_be_committed() {
    let lab = Lab::new();
    lab.write(flights(&[1])).await;
    let planned =
        plan(lab.catalog.clone(), lab.ident.clone(), flights(&[]).schema(), WriteOptions::default()).await;
    let mut writer = planned.unwrap().start();
    writer.write(flights(&[2])).await.unwrap();
    writer.write(batch(vec![("id", Arc::new(Int64Array::from(vec![1])))])).await.unwrap_err();
    let error = writer.commit().await.unwrap_err();
    assert_eq!(error.to_string(), "the write has failed before, and its files are deleted; begin another");
    assert_eq!(lab.ids().await, [1]);
    assert_eq!(lab.orphans().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_write_can_move_between_threads() {
    let lab = Arc::new(Lab::new());
    let rows = flights(&[1]);
    let (catalog, ident) = (Arc::clone(&lab.catalog), lab.ident.clone());
    let task = tokio::spawn(async move {
        let mut writer = plan(catalog, ident, rows.schema(), WriteOptions::default()).await?.start();
        writer.write(rows).await?;
        writer.commit().await
    });
    assert!(matches!(task.await.unwrap().unwrap(), WriteOutcome::Committed(_)));
}

#[tokio::test]
async fn a_write_id_nobody_could_mean_is_refused_at_plan() {
    let lab = Lab::new();
    for id in ["", "\n", "load\0", "a\tb", "load-7\r", "\u{7f}", "\u{85}x"] {
        let mut options = WriteOptions::default();
        options.write_id = Some(id.to_owned());
        let planned = plan(Arc::clone(&lab.catalog), lab.ident.clone(), flights(&[]).schema(), options);
        let error = planned.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{id:?}");
        assert!(error.to_string().contains("write id"), "{error}");
    }
    let mut options = WriteOptions::default();
    options.write_id = Some("2024-06-01/läd 7".to_owned());
    lab.write_with(flights(&[1]), options).await;
}
