//! `calve write`: files into a table, as one snapshot.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::{Schema, SchemaRef};
use calve::input::InputFile;
use calve::{
    Destination, Error, ErrorKind, Mode, Progress, StorageOptions, TableRef, TableWriter, WriteDestination,
    WriteOptions, WriteOutcome, WriteReport,
};
use serde_json::json;

use crate::failure::Failure;
use crate::text::{bytes, count};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: calve write 'iceberg+local:///data/shop/orders?partition=day(ts)' orders-*.parquet"
)]
pub(crate) struct Arguments {
    /// Where the rows go: a destination URI
    destination: String,
    /// Parquet, CSV, JSON lines or Arrow IPC files with the same columns
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Name this write: a table that has a snapshot of that name is not written again
    #[arg(long, value_name = "ID")]
    write_id: Option<String>,
    /// Check everything and write nothing
    #[arg(long)]
    dry_run: bool,
    /// How often to try again on top of somebody else's commit
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: u32,
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let destination: Destination = arguments.destination.parse()?;
    if let Some(at) = arguments.files.iter().position(|f| f.to_string_lossy().contains("://")) {
        // It may hold a secret, so it is not repeated.
        return Err(Failure::input(format!("input file {} is a URI; name files on local disk", at + 1)));
    }
    let types = existing_types(&destination).await?;
    let files: Vec<InputFile> = arguments
        .files
        .iter()
        .map(|path| InputFile::open(path, types.as_deref()))
        .collect::<Result<_, _>>()?;
    let schema = common_schema(&arguments.files, &files)?;
    let mut options = WriteOptions::default();
    options.write_id = arguments.write_id;
    options.retries = arguments.retries;
    let plan = destination.plan_write(schema, options).await?;

    if arguments.dry_run {
        return dry_run(&plan, json);
    }
    let mut writer = plan.start();
    let mut meter = Meter::new(!json);
    // From here on an interruption is noticed between batches, and not at all once the commit begins.
    let taken = tokio::select! {
        taken = take(&files, &mut writer, &mut meter) => taken,
        _ = tokio::signal::ctrl_c() => Err(Failure::failed("interrupted; nothing was written")),
    };
    meter.clear();
    if let Err(failure) = taken {
        writer.abort().await;
        return Err(failure);
    }
    report(&destination, writer.commit().await.map_err(Error::from)?, json)
}

async fn take(files: &[InputFile], writer: &mut TableWriter, meter: &mut Meter) -> Result<(), Failure> {
    for file in files {
        for batch in file.batches()? {
            writer.write(batch?).await.map_err(Error::from)?;
            meter.show(&writer.progress());
            // Reading files is no waiting, so an interruption is only seen where we let it be.
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// The columns of the table as it is, so that text is read as the table's types.
async fn existing_types(destination: &Destination) -> Result<Option<Arc<Schema>>, Failure> {
    let table = TableRef::Destination(destination.clone());
    match calve::load_table(&table, &StorageOptions::default()).await {
        Ok(table) => {
            let schema =
                iceberg::arrow::schema_to_arrow_schema(table.metadata.current_schema()).map_err(|e| {
                    Failure::failed(format!("the schema of {destination} can't be shown to Arrow: {e}"))
                })?;
            Ok(Some(Arc::new(schema)))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn common_schema(paths: &[PathBuf], files: &[InputFile]) -> Result<SchemaRef, Failure> {
    let first = &files[0];
    let columns = |file: &InputFile| {
        file.schema().fields().iter().map(|f| (f.name().clone(), f.data_type().clone())).collect::<Vec<_>>()
    };
    for (path, file) in paths.iter().zip(files) {
        if columns(file) != columns(first) {
            return Err(Failure::input(format!(
                "{} has other columns than {}; write them one after the other",
                path.display(),
                paths[0].display()
            )));
        }
    }
    // A column may be required only if no file can hold a null in it.
    let fields = first.schema().fields().iter().enumerate().map(|(i, field)| {
        let nullable = files.iter().any(|f| f.schema().field(i).is_nullable());
        Arc::new(field.as_ref().clone().with_nullable(nullable))
    });
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

fn dry_run(plan: &calve::WritePlan, json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let fields: Vec<String> = plan.partition_spec().fields().iter().map(|f| f.name.clone()).collect();
    if json {
        let value = json!({
            "dry_run": true,
            "creates_table": plan.creates_table(),
            "location": plan.location(),
            "partition": fields,
            "already_committed": plan.already_committed(),
        });
        writeln!(out, "{value}")?;
        return Ok(());
    }
    let what = if plan.creates_table() { "would create" } else { "would append to" };
    let by = if fields.is_empty() {
        "unpartitioned".to_owned()
    } else {
        format!("partitioned by {}", fields.join(", "))
    };
    writeln!(out, "{what} {}, {by}; nothing was written", plan.location())?;
    if let Some(snapshot) = plan.already_committed() {
        writeln!(out, "snapshot {snapshot} holds this write already")?;
    }
    Ok(())
}

fn report(destination: &Destination, outcome: WriteOutcome, json: bool) -> Result<(), Failure> {
    match outcome {
        WriteOutcome::Committed(report) => committed(destination, &report, json),
        WriteOutcome::Empty(report) => {
            let what = if report.created {
                "created, without rows"
            } else {
                "there were no rows, so nothing changed"
            };
            say(
                json,
                &json!({"outcome": "empty", "created": report.created, "location": report.table.metadata.location()}),
                || format!("{}: {what}", report.table.metadata.location()),
            )
        }
        WriteOutcome::AlreadyCommitted { snapshot_id } => {
            say(json, &json!({"outcome": "already-committed", "snapshot_id": snapshot_id}), || {
                format!("snapshot {snapshot_id} holds this write already; nothing was written")
            })
        }
        WriteOutcome::Conflict { reason } => Err(Failure::conflict(format!(
            "{reason}; nothing of this write is visible, run it again or allow --retries"
        ))),
        WriteOutcome::Unknown { pending, files } => Err(Failure::unknown(format!(
            "it is not known whether the write landed ({}): look for snapshot {} with `calve inspect` before writing again; {} kept",
            pending.reason(),
            pending.snapshot_ids().iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
            count(files.len() as u64, "file")
        ))),
        other => Err(Failure::failed(format!("not written: {other:?}"))),
    }
}

fn committed(destination: &Destination, report: &WriteReport, json: bool) -> Result<(), Failure> {
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    let location = report.table.metadata.location();
    let value = json!({
        "outcome": "committed",
        "location": location,
        "snapshot_id": report.snapshot_id,
        "created": report.created,
        "rows": report.rows,
        "files": report.files,
        "bytes": report.bytes,
        "warnings": report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    let said = say(json, &value, || {
        let verb = match (report.created, destination.mode()) {
            (true, _) => "created",
            (false, Mode::Overwrite) => "replaced the rows of",
            _ => "appended to",
        };
        format!(
            "{verb} {location}: {} in {} ({}), snapshot {}",
            count(report.rows, "row"),
            count(report.files, "file"),
            bytes(report.bytes),
            report.snapshot_id.map_or("none".to_owned(), |id| id.to_string())
        )
    });
    match (said, report.snapshot_id) {
        (Err(Failure::Told { message, .. }), Some(id)) => {
            Err(Failure::failed(format!("committed as snapshot {id}, do not write again; {message}")))
        }
        (said, _) => said,
    }
}

fn say(json: bool, value: &serde_json::Value, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{value}")?;
    } else {
        writeln!(out, "{}", text())?;
    }
    Ok(())
}

/// Progress on a terminal, a few times a second.
struct Meter {
    shown: Option<Instant>,
    begun: Instant,
    on: bool,
}

impl Meter {
    fn new(wanted: bool) -> Self {
        Self { shown: None, begun: Instant::now(), on: wanted && std::io::stderr().is_terminal() }
    }

    fn show(&mut self, progress: &Progress) {
        const EVERY: Duration = Duration::from_millis(200);
        if !self.on || self.shown.unwrap_or(self.begun).elapsed() < EVERY {
            return;
        }
        self.shown = Some(Instant::now());
        eprint!(
            "\r\x1b[K{}, {}, {}",
            count(progress.rows, "row"),
            bytes(progress.bytes),
            count(progress.files, "file")
        );
    }

    fn clear(&mut self) {
        if self.shown.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }
}
