use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use calve_storage::Storage;
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::{DEFAULT_SCHEMA_NAME_MAPPING, ManifestContentType, ManifestFile, Schema, SnapshotRef};

use crate::explain::{Explain, FilterPart};
use crate::files::{ManifestPlan, Selector};
use crate::filter::{Expr, bind_predicate, bind_sql};
use crate::names::Names;
use crate::read::{self, RecordBatchStream};
use crate::scan::{Filter, Scan};
use crate::task::{ReadContext, ScanTask};
use crate::{Error, ErrorKind, Result, columns, manifests};

/// Manifests fetched at once.
const MANIFESTS_AT_ONCE: usize = 8;

/// A scan with its files settled: read it here, or ship its tasks elsewhere.
pub struct Plan {
    storage: Storage,
    snapshot_id: Option<i64>,
    context: Arc<ReadContext>,
    tasks: Vec<ScanTask>,
    explain: Explain,
}

impl Plan {
    /// The schema of the batches [`read`](Self::read) gives.
    pub fn schema(&self) -> SchemaRef {
        self.context.schema()
    }

    /// The snapshot read; `None` for a table that has none yet.
    pub fn snapshot_id(&self) -> Option<i64> {
        self.snapshot_id
    }

    /// The files to read, in table order.
    pub fn tasks(&self) -> &[ScanTask] {
        &self.tasks
    }

    /// What the tasks share.
    pub fn context(&self) -> &ReadContext {
        &self.context
    }

    /// What was kept and what was pruned.
    pub fn explain(&self) -> &Explain {
        &self.explain
    }

    /// Reads the rows, in table order. Dropping the stream stops the reading.
    ///
    /// Must be polled within a tokio runtime.
    pub fn read(self) -> RecordBatchStream {
        read::read(self.storage, self.context, self.tasks)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("snapshot_id", &self.snapshot_id)
            .field("tasks", &self.tasks.len())
            .finish_non_exhaustive()
    }
}

pub(crate) async fn plan(scan: &Scan) -> Result<Plan> {
    let metadata = &scan.table.metadata;
    let (snapshot, schema) = snapshot(scan)?;
    let names = Names::new(&schema, &scan.renames)?;
    let filter = conjuncts(scan, &names)?;
    let (ids, output) = columns::output(&schema, &names, scan.select.as_deref(), scan.expected.as_ref())?;
    let context = Arc::new(ReadContext {
        columns: ids,
        output,
        filter,
        specs: metadata.partition_specs_iter().map(|s| (s.spec_id(), s.as_ref().clone())).collect(),
        name_mapping: metadata.properties().get(DEFAULT_SCHEMA_NAME_MAPPING).cloned(),
        limit: scan.limit,
        batch_size: scan.batch_size,
        schema: Arc::unwrap_or_clone(schema),
    });
    let mut plan = Plan {
        storage: scan.table.storage.clone(),
        snapshot_id: snapshot.as_ref().map(|s| s.snapshot_id()),
        explain: Explain {
            snapshot_id: snapshot.as_ref().map(|s| s.snapshot_id()),
            filter: context
                .filter
                .iter()
                .map(|part| FilterPart { text: part.to_string(), ..FilterPart::default() })
                .collect(),
            ..Explain::default()
        },
        tasks: Vec::new(),
        context,
    };
    if let Some(snapshot) = snapshot {
        choose_files(scan, &snapshot, &mut plan).await?;
    }
    Ok(plan)
}

/// The snapshot to read and the schema to read it with.
fn snapshot(scan: &Scan) -> Result<(Option<SnapshotRef>, Arc<Schema>)> {
    let metadata = &scan.table.metadata;
    let Some(id) = scan.snapshot_id else {
        return Ok((metadata.current_snapshot().cloned(), metadata.current_schema().clone()));
    };
    let Some(snapshot) = metadata.snapshot_by_id(id) else {
        return Err(Error::new(ErrorKind::NotFound, unknown_snapshot(scan, id)));
    };
    let schema = match snapshot.schema_id() {
        Some(schema) => metadata.schema_by_id(schema).cloned().ok_or_else(|| {
            Error::damaged(format!(
                "snapshot {id} of table {} names schema {schema}, which it lacks",
                scan.table.ident
            ))
        })?,
        None => metadata.current_schema().clone(),
    };
    Ok((Some(snapshot.clone()), schema))
}

fn unknown_snapshot(scan: &Scan, id: i64) -> String {
    const SHOWN: usize = 5;
    let mut known: Vec<i64> = scan.table.metadata.snapshots().map(|s| s.snapshot_id()).collect();
    if known.is_empty() {
        return format!("table {} has no snapshot {id}; it has none at all yet", scan.table.ident);
    }
    known.sort_unstable_by_key(|k| (k.abs_diff(id), *k));
    let total = known.len();
    known.truncate(SHOWN);
    let list: Vec<String> = known.iter().map(i64::to_string).collect();
    let more = if total > SHOWN { format!(" of {total}") } else { String::new() };
    format!("table {} has no snapshot {id}; the nearest{more} are {}", scan.table.ident, list.join(", "))
}

fn conjuncts(scan: &Scan, names: &Names<'_>) -> Result<Vec<Expr>> {
    let bound: Result<Vec<Expr>> = scan
        .filters
        .iter()
        .map(|filter| match filter {
            Filter::Predicate(predicate) => bind_predicate(predicate, names),
            Filter::Sql(text) => bind_sql(text, names),
        })
        .collect();
    Ok(Expr::all(bound?).into_conjuncts())
}

async fn choose_files(scan: &Scan, snapshot: &SnapshotRef, plan: &mut Plan) -> Result<()> {
    let storage = &scan.table.storage;
    let path = snapshot.manifest_list();
    let bytes = read_named(storage, "manifest list", path).await?;
    let (version, decoding) = (scan.table.metadata.format_version(), snapshot.clone());
    let list = apart(path, move || manifests::decode_list(&decoding, &bytes, version)).await?;
    refuse_deletes(scan, snapshot, &list).await?;
    let selector = Arc::new(Selector::new(plan.context.clone()));
    let explain = &mut plan.explain;
    let mut read = Vec::new();
    for manifest in list.into_iter().filter(|m| m.content == ManifestContentType::Data) {
        explain.manifests.total += 1;
        let files = u64::from(manifest.added_files_count.unwrap_or(0))
            + u64::from(manifest.existing_files_count.unwrap_or(0));
        match selector.excluding_manifest(&manifest) {
            Some(part) => {
                explain.files.total += files;
                explain.filter[part].manifests_by_partition += 1;
            }
            // Nothing in it is alive.
            None if !manifest.has_added_files() && !manifest.has_existing_files() => {}
            None => {
                explain.manifests.kept += 1;
                read.push(manifest);
            }
        }
    }
    let plans: Vec<ManifestPlan> = futures::stream::iter(read)
        .map(|manifest| read_manifest(storage.clone(), selector.clone(), manifest))
        .buffered(MANIFESTS_AT_ONCE)
        .try_collect()
        .await?;
    for part in plans {
        part.add_to(explain);
        plan.tasks.extend(part.tasks);
    }
    if explain.manifests.pruned() > 0
        && let Some(total) = snapshot.summary().additional_properties.get("total-files-size")
        && let Ok(total) = total.parse::<u64>()
    {
        explain.bytes.total = explain.bytes.total.max(total);
    }
    Ok(())
}

async fn read_manifest(
    storage: Storage,
    selector: Arc<Selector>,
    manifest: ManifestFile,
) -> Result<ManifestPlan> {
    let bytes = read_named(&storage, "manifest", &manifest.manifest_path).await?;
    let path = manifest.manifest_path.clone();
    apart(&path, move || selector.select(&manifest, &bytes)).await
}

/// A file that the table's metadata names: when it is missing, the table is damaged.
async fn read_named(storage: &Storage, what: &str, path: &str) -> Result<Bytes> {
    storage.read(path).await.map_err(|e| match e.kind() {
        calve_storage::ErrorKind::NotFound => Error::missing(what, path).with_source(e),
        _ => e.into(),
    })
}

/// Runs decoding of `file` on a thread of its own; what makes the decoder panic is a damaged file.
async fn apart<T: Send + 'static>(
    file: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(e) if e.is_panic() => {
            Err(Error::damaged(format!("can't decode {file}: its content makes the decoder fail"))
                .with_source(e))
        }
        Err(e) => {
            Err(Error::new(ErrorKind::Failed, format!("decoding {file} was cut short: {e}")).with_source(e))
        }
    }
}

/// Row-level deletes are not read yet, and rows they delete must not come back.
async fn refuse_deletes(scan: &Scan, snapshot: &SnapshotRef, list: &[ManifestFile]) -> Result<()> {
    for manifest in list.iter().filter(|m| m.content == ManifestContentType::Deletes) {
        if !manifest.has_added_files() && !manifest.has_existing_files() {
            continue;
        }
        let bytes = read_named(&scan.table.storage, "manifest", &manifest.manifest_path).await?;
        let decoding = manifest.clone();
        let live = apart(&manifest.manifest_path, move || manifests::decode(&decoding, &bytes)).await?;
        if let Some(first) = live.first() {
            return Err(Error::unsupported(format!(
                "snapshot {} of table {} deletes rows through delete files such as {}, which this version can't apply; compact the table, or scan a snapshot without them",
                snapshot.snapshot_id(),
                scan.table.ident,
                first.file.file_path(),
            )));
        }
    }
    Ok(())
}
