use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use calve_catalog::{LoadedTable, NewTable, StagedTable, TableCatalog, TableIdent};
use calve_partition::{Reconciled, bind, reconcile};
use calve_storage::Storage;
use calve_uri::PartitionField;
use iceberg::spec::{
    PartitionSpecRef, SchemaRef, TableMetadata, TableMetadataRef, UnboundPartitionField, UnboundPartitionSpec,
};

use crate::columns::{Matching, schema_from_arrow};
use crate::commit::{evolved_spec, snapshot_of_write};
use crate::data_file::{CreatedFiles, FanOut, FilePlan, data_folder, metadata_folder};
use crate::{Error, ErrorKind, Result, TableWriter, WriteOptions};

/// A write that has been checked; nothing is written yet.
///
/// Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct WritePlan {
    pub(crate) catalog: Arc<dyn TableCatalog>,
    pub(crate) base: Base,
    pub(crate) options: WriteOptions,
    pub(crate) matching: Matching,
    pub(crate) schema: SchemaRef,
    pub(crate) spec: PartitionSpecRef,
    /// Partition fields that the commit adds to the table's spec.
    pub(crate) evolution: Vec<UnboundPartitionField>,
    pub(crate) already_committed: Option<i64>,
    pub(crate) files: FanOut,
    pub(crate) created: CreatedFiles,
    pub(crate) step_bytes: usize,
}

/// The version a write builds on.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    Staged(StagedTable),
    Loaded(LoadedTable),
}

impl Base {
    pub(crate) fn metadata(&self) -> &TableMetadataRef {
        match self {
            Self::Staged(staged) => &staged.metadata,
            Self::Loaded(loaded) => &loaded.metadata,
        }
    }

    pub(crate) fn storage(&self) -> &Storage {
        match self {
            Self::Staged(staged) => &staged.storage,
            Self::Loaded(loaded) => &loaded.storage,
        }
    }

    pub(crate) fn ident(&self) -> &TableIdent {
        match self {
            Self::Staged(staged) => &staged.ident,
            Self::Loaded(loaded) => &loaded.ident,
        }
    }
}

/// Loads or stages `table` and checks that rows of `schema` can be written to it.
///
/// Everything that can be refused is refused here, before a byte is written: columns that don't fit,
/// a partitioning the table doesn't have, settings that mean nothing, a table calve must not write.
/// Rows can still be refused later: a null in a required column, a nanosecond that microseconds
/// can't hold.
///
/// # Errors
/// [`ErrorKind::Input`] naming every column that doesn't fit, or the partition field or property that
/// doesn't; what the catalog says, as it says it.
pub async fn plan(
    catalog: Arc<dyn TableCatalog>,
    table: TableIdent,
    schema: ArrowSchemaRef,
    options: WriteOptions,
) -> Result<WritePlan> {
    check_summary(&options)?;
    check_write_id(&options)?;
    match catalog.load(&table).await {
        Ok(loaded) => {
            catalog.check_commit(&loaded).await?;
            plan_existing(catalog, loaded, &schema, options)
        }
        Err(e) if e.kind() == calve_catalog::ErrorKind::NotFound => {
            let new = new_table(&schema, &options)?;
            match catalog.stage(&table, new).await {
                Ok(staged) => plan_new(catalog, staged, &schema, options),
                // Somebody made it between the two calls.
                Err(e) if e.kind() == calve_catalog::ErrorKind::Exists => {
                    let loaded = catalog.load(&table).await?;
                    catalog.check_commit(&loaded).await?;
                    plan_existing(catalog, loaded, &schema, options)
                }
                Err(e) => Err(e.into()),
            }
        }
        Err(e) => Err(e.into()),
    }
}

/// Refuses summary entries that would contradict what the writer counts.
fn check_summary(options: &WriteOptions) -> Result<()> {
    let taken = |key: &&String| {
        matches!(key.as_str(), "operation" | "changed-partition-count" | "calve.write-id")
            || ["added-", "deleted-", "removed-", "total-"].iter().any(|prefix| key.starts_with(prefix))
    };
    match options.summary.keys().find(taken) {
        Some(key) => Err(Error::input(format!(
            "summary entry {key:?} is the writer's own to set; choose another name"
        ))),
        None => Ok(()),
    }
}

/// Refuses ids that nobody could have meant, such as that of a variable that is not set.
fn check_write_id(options: &WriteOptions) -> Result<()> {
    let Some(id) = &options.write_id else { return Ok(()) };
    let why = if id.is_empty() {
        "is empty"
    } else if id.chars().any(char::is_control) {
        "has control characters"
    } else {
        return Ok(());
    };
    Err(Error::input(format!(
        "write id {id:?} {why}; text without control characters is expected, such as \"2024-06-01/load-7\""
    )))
}

fn new_table(schema: &ArrowSchemaRef, options: &WriteOptions) -> Result<NewTable> {
    let schema = schema_from_arrow(schema, options.format_version)?;
    let partition_spec: UnboundPartitionSpec = bind(&options.partition, &schema).map_err(request_error)?;
    let mut new = NewTable::new(schema);
    new.partition_spec = partition_spec;
    new.format_version = options.format_version;
    new.properties = HashMap::from([(CODEC.to_owned(), "zstd".to_owned())]);
    new.properties.extend(options.properties.clone());
    Ok(new)
}

fn plan_new(
    catalog: Arc<dyn TableCatalog>,
    staged: StagedTable,
    input: &ArrowSchemaRef,
    options: WriteOptions,
) -> Result<WritePlan> {
    let spec = Arc::clone(staged.metadata.default_partition_spec());
    prepare(catalog, Base::Staged(staged), input, options, spec, Vec::new())
}

fn plan_existing(
    catalog: Arc<dyn TableCatalog>,
    loaded: LoadedTable,
    input: &ArrowSchemaRef,
    options: WriteOptions,
) -> Result<WritePlan> {
    check_writable(&loaded.metadata)?;
    let (spec, evolution) =
        reconcile_spec(&loaded.metadata, &options.partition, options.partition_evolution)?;
    prepare(catalog, Base::Loaded(loaded), input, options, spec, evolution)
}

/// Refuses tables in which a new snapshot would hide or break something.
pub(crate) fn check_writable(metadata: &TableMetadata) -> Result<()> {
    let location = metadata.location();
    if let Some(id) = metadata.current_snapshot_id() {
        let Some(current) = metadata.snapshot_by_id(id) else {
            return Err(Error::damaged(format!(
                "the current snapshot {id} of table {location} is not among its snapshots; writing would hide all its rows"
            )));
        };
        if current.manifest_list().is_empty() {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "snapshot {id} of table {location} has no manifest list; rewrite its manifests with the writer that made it"
                ),
            ));
        }
    }
    if let Some(key) = metadata.properties().get(ENCRYPTION_KEY) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("table {location} is encrypted with key {key}; calve writes no encrypted files"),
        ));
    }
    Ok(())
}

/// The spec to write with, and the fields a commit has to add for it.
fn reconcile_spec(
    metadata: &TableMetadata,
    request: &[PartitionField],
    evolve: bool,
) -> Result<(PartitionSpecRef, Vec<UnboundPartitionField>)> {
    let spec = metadata.default_partition_spec();
    match reconcile(request, spec, metadata.current_schema(), evolve).map_err(request_error)? {
        Reconciled::Keep => Ok((Arc::clone(spec), Vec::new())),
        Reconciled::Incompatible(why) => Err(Error::input(format!(
            "{why}; ask for nothing to write with the table's own partitioning (table {})",
            metadata.location()
        ))),
        Reconciled::Evolve(fields) => Ok((evolved_spec(metadata, &fields)?.1, fields)),
    }
}

fn prepare(
    catalog: Arc<dyn TableCatalog>,
    base: Base,
    input: &ArrowSchemaRef,
    options: WriteOptions,
    spec: PartitionSpecRef,
    evolution: Vec<UnboundPartitionField>,
) -> Result<WritePlan> {
    let metadata = base.metadata();
    let schema = Arc::clone(metadata.current_schema());
    let matching = Matching::new(input, &schema)?;
    let properties = metadata.properties();
    let folder = data_folder(metadata.location(), properties)?;
    // Both folders must lie in the table's store; better said now than after the rows are encoded.
    base.storage().path(folder.as_str())?;
    base.storage().path(metadata_folder(metadata.location(), properties)?.as_str())?;
    let file_plan = FilePlan::new(
        base.storage().clone(),
        folder,
        &schema,
        Arc::clone(matching.target()),
        spec.spec_id(),
        properties,
    )?;
    let step_bytes = file_plan.settings.step_bytes();
    let created = CreatedFiles::new(base.storage().clone());
    let files = FanOut::new(
        Arc::new(file_plan),
        Arc::clone(&schema),
        Arc::clone(&spec),
        created.clone(),
        options.memory_budget,
    )?;
    let already_committed = options.write_id.as_deref().and_then(|id| snapshot_of_write(metadata, id));
    Ok(WritePlan {
        catalog,
        base,
        options,
        matching,
        schema,
        spec,
        evolution,
        already_committed,
        files,
        created,
        step_bytes,
    })
}

fn request_error(source: calve_partition::Error) -> Error {
    let kind = match source.kind() {
        calve_partition::ErrorKind::Table => ErrorKind::Damaged,
        _ => ErrorKind::Input,
    };
    Error::new(kind, source.to_string()).with_source(source)
}

impl WritePlan {
    /// Whether the commit will create the table.
    pub fn creates_table(&self) -> bool {
        matches!(self.base, Base::Staged(_))
    }

    /// Where the table lies or will lie.
    pub fn location(&self) -> &str {
        self.base.metadata().location()
    }

    /// The table's schema, with the field ids the files will carry.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The spec the files will be written with.
    pub fn partition_spec(&self) -> &PartitionSpecRef {
        &self.spec
    }

    /// The snapshot that already holds this write's id; then nothing will be written.
    pub fn already_committed(&self) -> Option<i64> {
        self.already_committed
    }

    /// Begins to write.
    pub fn start(self) -> TableWriter {
        TableWriter::new(self)
    }
}

const CODEC: &str = "write.parquet.compression-codec";
const ENCRYPTION_KEY: &str = "encryption.key-id";
