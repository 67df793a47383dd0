//! The contract, as functions: what every catalog must do, written once.
//!
//! A catalog's own tests implement [`Target`] and call [`contract`]. Each function panics with what it
//! expected; a difference between catalogs is a method of [`Target`] with a reason, never a skip.

pub mod lab;
pub mod servers;

use std::collections::HashMap;
use std::sync::Arc;

use calve_storage::Location;
use iceberg::io::FileIO;
use iceberg::spec::{
    FormatVersion, ManifestListWriter, NestedField, Operation, PrimitiveType, Schema, Snapshot, Summary,
    TableMetadata, Transform, Type, UnboundPartitionSpec,
};
use uuid::Uuid;

use crate::{
    CommitOutcome, Committed, ErrorKind, LoadedTable, NewTable, TableCatalog, TableChange, TableIdent,
    TableUpdate, async_trait,
};

/// A catalog under test.
#[async_trait]
pub trait Target: Sync {
    /// A catalog and the name of a table that is not there yet, in a namespace that is.
    async fn fresh(&self) -> (Arc<dyn TableCatalog>, TableIdent);
}

/// Runs the whole contract, each part on a table of its own.
///
/// # Panics
/// When the catalog breaks it.
pub async fn contract(target: &dyn Target) {
    a_missing_table_is_not_found(target).await;
    staging_makes_nothing_visible(target).await;
    creation_and_first_append_are_one_commit(target).await;
    of_two_creators_one_wins(target).await;
    staging_over_a_table_says_it_exists(target).await;
    appends_follow_one_another(target).await;
    a_stale_base_is_a_conflict_and_shows_nothing(target).await;
    a_requirement_the_base_fails_is_an_input_error(target).await;
    a_change_may_add_schema_and_spec(target).await;
    the_metadata_log_names_files_that_are_there(target).await;
}

/// Loading what is not there is `NotFound`, and nothing else is.
pub async fn a_missing_table_is_not_found(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let error = catalog.load(&ident).await.expect_err("there is no table");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

/// A staged table has a location and a uuid, and can't be loaded.
pub async fn staging_makes_nothing_visible(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let staged = catalog.stage(&ident, new_table()).await.expect("stages");
    assert!(!staged.metadata.location().is_empty());
    assert!(staged.metadata.current_snapshot_id().is_none());
    let error = catalog.load(&ident).await.expect_err("nothing is visible yet");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

/// The first snapshot is in the first version anybody sees.
pub async fn creation_and_first_append_are_one_commit(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let staged = catalog.stage(&ident, new_table()).await.expect("stages");
    let first = snapshot(&staged.metadata, &staged.storage).await;
    let id = first.snapshot_id();
    let made = catalog.create(&staged, append(&staged.metadata, first)).await.expect("creates");
    assert_eq!(committed(made).table.metadata.current_snapshot_id(), Some(id));
    let seen = catalog.load(&ident).await.expect("loads");
    assert_eq!(seen.metadata.uuid(), staged.metadata.uuid());
    assert_eq!(seen.metadata.location(), staged.metadata.location());
    assert_eq!(seen.metadata.current_snapshot_id(), Some(id));
    assert_eq!(seen.metadata.history().len(), 1, "no version without the snapshot came first");
    assert_eq!(seen.metadata.properties().get("owner").map(String::as_str), Some("contract"));
}

/// Of two tables staged under one name one is created; the other creator is told, and leaves no trace.
pub async fn of_two_creators_one_wins(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let one = catalog.stage(&ident, new_table()).await.expect("stages");
    let two = catalog.stage(&ident, new_table()).await.expect("stages a second");
    let first = catalog.create(&one, TableChange::none()).await.expect("creates");
    let winner = committed(first).table.metadata.uuid();
    let lost = catalog.create(&two, TableChange::none()).await.expect("has an outcome");
    assert!(matches!(lost, CommitOutcome::Conflict(_)), "{lost:?}");
    let seen = catalog.load(&ident).await.expect("loads");
    assert_eq!(seen.metadata.uuid(), winner);
    assert_eq!(seen.metadata.uuid(), one.metadata.uuid());
}

/// Once a table is there, staging over it is `Exists`.
pub async fn staging_over_a_table_says_it_exists(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    create(&*catalog, &ident).await;
    let error = catalog.stage(&ident, new_table()).await.expect_err("the table is there");
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
}

/// Each append keeps what the ones before it made, whether it builds on the table its own commit gave
/// or on one loaded afresh.
pub async fn appends_follow_one_another(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let mut table = create(&*catalog, &ident).await;
    let mut ids = Vec::new();
    for round in 0..12 {
        let next = snapshot(&table.metadata, &table.storage).await;
        ids.push(next.snapshot_id());
        let change = append(&table.metadata, next);
        table = committed(catalog.commit(&table, change).await.expect("commits")).table;
        if round % 2 == 0 {
            table = catalog.load(&ident).await.expect("loads");
        }
    }
    let seen = catalog.load(&ident).await.expect("loads");
    let history: Vec<i64> = seen.metadata.history().iter().map(|log| log.snapshot_id).collect();
    assert_eq!(history, ids);
}

/// A commit on a version that is no longer current loses, whatever it changes.
pub async fn a_stale_base_is_a_conflict_and_shows_nothing(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let base = create(&*catalog, &ident).await;
    let ours = snapshot(&base.metadata, &base.storage).await;
    let theirs = snapshot(&base.metadata, &base.storage).await;
    let (our_id, their_id) = (ours.snapshot_id(), theirs.snapshot_id());
    let won = catalog.commit(&base, append(&base.metadata, theirs)).await.expect("commits");
    let _ = committed(won);
    let lost = catalog.commit(&base, append(&base.metadata, ours)).await.expect("has an outcome");
    assert!(matches!(lost, CommitOutcome::Conflict(_)), "{lost:?}");
    let seen = catalog.load(&ident).await.expect("loads");
    assert_eq!(seen.metadata.current_snapshot_id(), Some(their_id));
    assert!(seen.metadata.snapshot_by_id(our_id).is_none());
}

/// What can never hold is the caller's mistake and not a race.
pub async fn a_requirement_the_base_fails_is_an_input_error(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let base = create(&*catalog, &ident).await;
    let change = TableChange {
        requirements: vec![crate::TableRequirement::UuidMatch { uuid: Uuid::nil() }],
        updates: vec![TableUpdate::SetProperties { updates: HashMap::from([("a".into(), "b".into())]) }],
    };
    let error = catalog.commit(&base, change).await.expect_err("the uuid is another");
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
}

/// A change may carry a schema and a spec, which become current.
pub async fn a_change_may_add_schema_and_spec(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let base = create(&*catalog, &ident).await;
    let old = base.metadata.current_schema();
    let wider = Schema::builder()
        .with_schema_id(old.schema_id() + 1)
        .with_fields(old.as_struct().fields().iter().cloned())
        .with_fields([optional(3, "note", PrimitiveType::String).into()])
        .build()
        .expect("a schema");
    let spec = UnboundPartitionSpec::builder()
        .with_spec_id(1)
        .add_partition_field(1, "id_bucket", Transform::Bucket(4))
        .expect("a spec")
        .build();
    let change = TableChange {
        requirements: vec![crate::TableRequirement::UuidMatch { uuid: base.metadata.uuid() }],
        updates: vec![
            TableUpdate::AddSchema { schema: wider },
            TableUpdate::SetCurrentSchema { schema_id: -1 },
            TableUpdate::AddSpec { spec },
            TableUpdate::SetDefaultSpec { spec_id: -1 },
        ],
    };
    let _ = committed(catalog.commit(&base, change).await.expect("commits"));
    let seen = catalog.load(&ident).await.expect("loads");
    assert!(seen.metadata.current_schema().field_by_name("note").is_some());
    assert_eq!(seen.metadata.default_partition_spec().fields()[0].name, "id_bucket");
    assert_eq!(seen.metadata.schemas_iter().len(), 2, "the old schema is kept");
}

/// Each entry of the metadata log can be read, and is the version it stands for.
pub async fn the_metadata_log_names_files_that_are_there(target: &dyn Target) {
    let (catalog, ident) = target.fresh().await;
    let mut table = create(&*catalog, &ident).await;
    for _ in 0..3 {
        let next = snapshot(&table.metadata, &table.storage).await;
        let change = append(&table.metadata, next);
        table = committed(catalog.commit(&table, change).await.expect("commits")).table;
    }
    let seen = catalog.load(&ident).await.expect("loads");
    let log = seen.metadata.metadata_log();
    assert_eq!(log.len(), 3);
    for entry in log {
        let bytes = seen.storage.read(&entry.metadata_file).await.expect("the logged file is there");
        assert!(bytes.windows(13).any(|w| w == b"\"table-uuid\":"), "{} is metadata", entry.metadata_file);
    }
    let current = seen.storage.read(&seen.metadata_location).await.expect("the current file is there");
    assert!(!current.is_empty());
}

/// The table the contract creates: `id: long`, `name: string`, one property.
pub fn new_table() -> NewTable {
    let schema = Schema::builder()
        .with_fields([
            optional(1, "id", PrimitiveType::Long).into(),
            optional(2, "name", PrimitiveType::String).into(),
        ])
        .build()
        .expect("a schema");
    let mut new = NewTable::new(schema);
    new.properties.insert("owner".into(), "contract".into());
    new
}

/// A snapshot with an empty manifest list that really lies in `storage`.
pub async fn snapshot(base: &TableMetadata, storage: &calve_storage::Storage) -> Snapshot {
    let id = i64::try_from(Uuid::new_v4().as_u128() >> 66).expect("62 bits fit");
    let parent = base.current_snapshot_id();
    let sequence = base.last_sequence_number() + 1;
    let list = format!("{}/metadata/snap-{id}-0-{}.avro", base.location(), Uuid::new_v4());
    let bytes = empty_manifest_list(id, parent, sequence).await;
    let location: Location = list.parse().expect("a location");
    storage.put(&location, bytes).await.expect("the manifest list is written");
    let newest = base.current_snapshot().map_or(0, |s| s.timestamp_ms());
    let builder = Snapshot::builder()
        .with_snapshot_id(id)
        .with_parent_snapshot_id(parent)
        .with_sequence_number(sequence)
        .with_timestamp_ms(base.last_updated_ms().max(newest) + 1)
        .with_manifest_list(list)
        .with_summary(Summary { operation: Operation::Append, additional_properties: HashMap::new() })
        .with_schema_id(base.current_schema_id());
    if base.format_version() == FormatVersion::V3 {
        return builder.with_row_range(base.next_row_id(), 0).build();
    }
    builder.build()
}

/// The change that appends `snapshot` to `base`.
pub fn append(base: &TableMetadata, snapshot: Snapshot) -> TableChange {
    TableChange::append(base, snapshot).expect("the snapshot follows")
}

/// The table of an outcome that must be *committed*, without warnings.
pub fn committed(outcome: CommitOutcome<LoadedTable>) -> Committed<LoadedTable> {
    match outcome {
        CommitOutcome::Committed(committed) if committed.warnings.is_empty() => committed,
        other => panic!("expected a clean commit, got {other:?}"),
    }
}

/// Creates the contract's table, empty.
pub async fn create(catalog: &dyn TableCatalog, ident: &TableIdent) -> LoadedTable {
    let staged = catalog.stage(ident, new_table()).await.expect("stages");
    committed(catalog.create(&staged, TableChange::none()).await.expect("creates")).table
}

async fn empty_manifest_list(id: i64, parent: Option<i64>, sequence: i64) -> bytes::Bytes {
    let io = FileIO::new_with_memory();
    let path = "memory:///list.avro";
    let writer = io.new_output(path).expect("a path").writer().await.expect("a writer");
    ManifestListWriter::v2(writer, id, parent, sequence).close().await.expect("closes");
    io.new_input(path).expect("a path").read().await.expect("reads")
}

fn optional(id: i32, name: &str, of: PrimitiveType) -> NestedField {
    NestedField::optional(id, name, Type::Primitive(of))
}
