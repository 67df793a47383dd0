//! `calve scan`: rows out of a table.

use std::io::Write;
use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use arrow::util::display::FormatOptions;
use arrow::util::pretty::pretty_format_batches_with_options;
use calve::{Error, IcebergScan, StorageOptions, TableRef};
use futures::StreamExt;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{FileFormat, OutputFile};
use crate::text::count;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: calve scan /data/shop/orders --select id,amount --where \"amount > 100 and ts >= '2024-06-01'\" --limit 5"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,
    /// Output columns, in this order
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    select: Option<Vec<String>>,
    /// Rename output columns
    #[arg(long, value_name = "FROM=TO", value_delimiter = ',', value_parser = pair)]
    rename: Vec<(String, String)>,
    /// At most this many rows
    #[arg(long, value_name = "ROWS")]
    limit: Option<u64>,
    /// Write the rows to a .parquet, .csv, .jsonl or .arrow file instead of the terminal
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A table and which of its rows: what `scan` and `explain` share.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArguments {
    /// A table root or metadata file by path or URI, a destination URI, or namespace.table
    table: String,
    /// A storage option, such as warehouse=/data/lake
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// Only rows for which this condition is true
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<String>,
    /// Scan this snapshot instead of the current one
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    snapshot_id: Option<i64>,
}

impl TableArguments {
    /// The table, parsed.
    pub(crate) fn table(&self) -> Result<TableRef, Failure> {
        Ok(self.table.parse()?)
    }

    /// The storage options.
    pub(crate) fn options(&self) -> Result<StorageOptions, Failure> {
        Ok(StorageOptions::from_pairs(self.options.iter().cloned())?)
    }

    /// The scan of the rows asked for.
    pub(crate) fn scan(&self) -> Result<IcebergScan, Failure> {
        let mut scan = IcebergScan::new(self.table()?).storage_options(self.options()?);
        if let Some(condition) = &self.condition {
            scan = scan.filter_sql(condition);
        }
        if let Some(id) = self.snapshot_id {
            scan = scan.snapshot_id(id);
        }
        Ok(scan)
    }
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let mut scan = arguments.table.scan()?;
    if let Some(columns) = &arguments.select {
        scan = scan.select(columns);
    }
    if !arguments.rename.is_empty() {
        scan = scan.rename(arguments.rename.clone());
    }
    let shown = arguments.limit.is_none() && arguments.output.is_none() && !json;
    if let Some(limit) = arguments.limit.or(shown.then_some(SHOWN + 1)) {
        scan = scan.limit(limit);
    }
    let scanned = async {
        match &arguments.output {
            Some(path) => to_file(&scan, path, json).await,
            None if json => to_json_lines(&scan).await,
            None => to_terminal(&scan, shown).await,
        }
    };
    tokio::select! {
        done = scanned => done,
        // A file half written is dropped on the way out, and with it removed.
        _ = tokio::signal::ctrl_c() => Err(Failure::failed("interrupted")),
    }
}

async fn to_file(scan: &IcebergScan, path: &Path, json: bool) -> Result<(), Failure> {
    let format = FileFormat::of(path)?;
    let plan = scan.plan().await?;
    if plan.tasks().iter().any(|task| is_same_file(path, &task.path)) {
        return Err(Failure::input(format!(
            "{} is a file of the table itself; name another",
            path.display()
        )));
    }
    let mut file = OutputFile::create(path, format, plan.schema())?;
    let mut batches = plan.read();
    while let Some(batch) = batches.next().await {
        file.write(&batch.map_err(Error::from)?)?;
    }
    let rows = file.finish()?;
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", json!({"output": path.display().to_string(), "rows": rows}))?;
    } else {
        writeln!(out, "{} written to {}", count(rows, "row"), path.display())?;
    }
    Ok(())
}

async fn to_json_lines(scan: &IcebergScan) -> Result<(), Failure> {
    let mut batches = scan.stream().await?;
    let mut writer = OutputFile::json_lines(std::io::stdout().lock());
    while let Some(batch) = batches.next().await {
        writer.write(&batch.map_err(Error::from)?).map_err(Failure::from_arrow)?;
    }
    writer.finish().map_err(Failure::from_arrow)?;
    Ok(writer.into_inner().flush()?)
}

async fn to_terminal(scan: &IcebergScan, bounded: bool) -> Result<(), Failure> {
    let plan = scan.plan().await?;
    let mut batches = vec![RecordBatch::new_empty(plan.schema())];
    let mut stream = plan.read();
    while let Some(batch) = stream.next().await {
        batches.push(batch.map_err(Error::from)?);
    }
    let rows: u64 = batches.iter().map(|b| b.num_rows() as u64).sum();
    let more = bounded && rows > SHOWN;
    if more && let Some(last) = batches.pop() {
        batches.push(last.slice(0, last.num_rows() - 1));
    }
    let options = FormatOptions::default().with_null("null");
    let table = pretty_format_batches_with_options(&batches, &options).map_err(Failure::from_arrow)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{table}")?;
    if more {
        writeln!(out, "first {SHOWN} rows of more; --limit, --output FILE or --json give others")?;
    } else {
        writeln!(out, "{}", count(rows, "row"))?;
    }
    Ok(())
}

/// Whether a path names the file that a table stores under `stored`.
fn is_same_file(path: &Path, stored: &str) -> bool {
    let stored = stored.strip_prefix("file://").unwrap_or(stored);
    match (path.canonicalize(), Path::new(stored).canonicalize()) {
        (Ok(path), Ok(stored)) => path == stored,
        _ => false,
    }
}

pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        // The text may be a secret without its key, so it is not repeated.
        _ => Err("expected name=value".to_owned()),
    }
}

/// Rows that fit a screen or two, where no limit is given.
const SHOWN: u64 = 50;
