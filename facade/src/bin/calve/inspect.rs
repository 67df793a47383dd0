//! `calve inspect`: a table, described.

use std::collections::BTreeMap;
use std::io::{self, Write};

use calve::{IcebergScan, LoadedTable, Plan, ScanTask, StorageOptions, TableRef};
use iceberg::spec::TableMetadata;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::scan::pair;
use crate::text::{bytes, count, table};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: calve inspect /data/shop/orders")]
pub(crate) struct Arguments {
    /// A table root or metadata file by path or URI, a destination URI, or namespace.table
    table: String,
    /// A storage option, such as warehouse=/data/lake
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// Every file and partition, not only the first of them
    #[arg(long)]
    all: bool,
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let named: TableRef = arguments.table.parse()?;
    let options = StorageOptions::from_pairs(arguments.options)?;
    let loaded = calve::load_table(&named, &options).await?;
    let plan = IcebergScan::new(named).storage_options(options).plan().await?;
    let view = View { table: &loaded, plan: &plan, files: files_of(plan.tasks()) };
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", view.json())?;
    } else {
        view.print(&mut out, if arguments.all { usize::MAX } else { SHOWN })?;
    }
    Ok(())
}

/// What is shown of a table.
struct View<'a> {
    table: &'a LoadedTable,
    plan: &'a Plan,
    files: Vec<&'a ScanTask>,
}

/// Files and rows of one partition.
#[derive(Default)]
struct Partition {
    files: u64,
    rows: u64,
    bytes: u64,
}

impl View<'_> {
    fn metadata(&self) -> &TableMetadata {
        &self.table.metadata
    }

    fn json(&self) -> Value {
        let metadata = self.metadata();
        let whole = serde_json::to_value(metadata).unwrap_or(Value::Null);
        json!({
            "location": metadata.location(),
            "metadata_file": self.table.metadata_location,
            "format_version": metadata.format_version() as u8,
            "uuid": metadata.uuid().to_string(),
            "schema": serde_json::to_value(metadata.current_schema()).unwrap_or(Value::Null),
            "partition_spec": serde_json::to_value(metadata.default_partition_spec()).unwrap_or(Value::Null),
            "sort_order": serde_json::to_value(metadata.default_sort_order()).unwrap_or(Value::Null),
            "properties": metadata.properties(),
            "current_snapshot_id": metadata.current_snapshot_id(),
            "snapshots": whole.get("snapshots").cloned().unwrap_or_else(|| json!([])),
            "refs": whole.get("refs").cloned().unwrap_or_else(|| json!({})),
            "files": self.files.iter().map(|f| json!({
                "path": f.path.as_str(), "rows": f.record_count, "bytes": f.file_size, "partition": self.partition(f),
            })).collect::<Vec<_>>(),
            "partitions": self.partitions().iter().map(|(name, p)| json!({
                "partition": name, "files": p.files, "rows": p.rows, "bytes": p.bytes,
            })).collect::<Vec<_>>(),
        })
    }

    fn print(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        self.print_table(out)?;
        self.print_schema(out)?;
        self.print_layout(out)?;
        self.print_snapshots(out)?;
        self.print_partitions(out, most)?;
        self.print_files(out, most)
    }

    fn print_table(&self, out: &mut impl Write) -> io::Result<()> {
        let metadata = self.metadata();
        writeln!(out, "table       {}", metadata.location())?;
        writeln!(out, "metadata    {}", self.table.metadata_location)?;
        writeln!(out, "uuid        {}", metadata.uuid())?;
        writeln!(out, "format      {}", metadata.format_version() as u8)?;
        let rows: u64 = self.files.iter().map(|f| f.record_count).sum();
        let size: u64 = self.files.iter().map(|f| f.file_size).sum();
        let (rows, files) = (count(rows, "row"), count(self.files.len() as u64, "file"));
        writeln!(out, "holds       {rows} in {files} ({})", bytes(size))?;
        if !metadata.properties().is_empty() {
            writeln!(out, "\nproperties")?;
            let sorted: BTreeMap<_, _> = metadata.properties().iter().collect();
            for (key, value) in sorted {
                writeln!(out, "  {key} = {value}")?;
            }
        }
        Ok(())
    }

    fn print_schema(&self, out: &mut impl Write) -> io::Result<()> {
        let schema = self.metadata().current_schema();
        writeln!(out, "\nschema {}", schema.schema_id())?;
        let rows: Vec<Vec<String>> = schema
            .as_struct()
            .fields()
            .iter()
            .map(|f| {
                let required = if f.required { "required" } else { "" };
                vec![f.id.to_string(), f.name.clone(), f.field_type.to_string(), required.to_owned()]
            })
            .collect();
        table(out, &["id", "name", "type", ""], &rows)
    }

    fn print_layout(&self, out: &mut impl Write) -> io::Result<()> {
        let metadata = self.metadata();
        let schema = metadata.current_schema();
        let column = |id: i32| schema.name_by_field_id(id).unwrap_or("a dropped column").to_owned();
        let spec = metadata.default_partition_spec();
        writeln!(out, "\npartition spec {}", spec.spec_id())?;
        if spec.fields().is_empty() {
            writeln!(out, "  unpartitioned")?;
        }
        for field in spec.fields() {
            writeln!(out, "  {} = {}({})", field.name, field.transform, column(field.source_id))?;
        }
        let order = metadata.default_sort_order();
        if !order.fields.is_empty() {
            writeln!(out, "\nsort order {}", order.order_id)?;
            for field in &order.fields {
                writeln!(out, "  {}({}) {}", field.transform, column(field.source_id), field.direction)?;
            }
        }
        Ok(())
    }

    fn print_snapshots(&self, out: &mut impl Write) -> io::Result<()> {
        let metadata = self.metadata();
        let mut snapshots: Vec<_> = metadata.snapshots().collect();
        snapshots.sort_by_key(|s| (s.sequence_number(), s.timestamp_ms()));
        writeln!(out, "\n{}", count(snapshots.len() as u64, "snapshot"))?;
        let rows: Vec<Vec<String>> = snapshots
            .iter()
            .map(|s| {
                let summary = &s.summary().additional_properties;
                let of = |key: &str| summary.get(key).cloned().unwrap_or_default();
                vec![
                    s.snapshot_id().to_string(),
                    s.timestamp().map(|t| t.format("%Y-%m-%d %H:%M:%S UTC").to_string()).unwrap_or_default(),
                    s.summary().operation.as_str().to_owned(),
                    of("added-records"),
                    of("total-records"),
                    of("total-data-files"),
                ]
            })
            .collect();
        table(out, &["id", "time", "operation", "rows added", "rows", "files"], &rows)?;
        let whole = serde_json::to_value(metadata).unwrap_or(Value::Null);
        if let Some(Value::Object(refs)) = whole.get("refs")
            && !refs.is_empty()
        {
            writeln!(out, "\nrefs")?;
            let text = |v: Option<&Value>| match v {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            let rows: Vec<Vec<String>> = refs
                .iter()
                .map(|(name, r)| vec![name.clone(), text(r.get("type")), text(r.get("snapshot-id"))])
                .collect();
            table(out, &["name", "kind", "snapshot"], &rows)?;
        }
        Ok(())
    }

    fn print_partitions(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        let partitions = self.partitions();
        if self.metadata().default_partition_spec().fields().is_empty() && partitions.len() < 2 {
            return Ok(());
        }
        writeln!(out, "\n{}", count(partitions.len() as u64, "partition"))?;
        let rows: Vec<Vec<String>> = partitions
            .iter()
            .take(most)
            .map(|(name, p)| vec![name.clone(), p.files.to_string(), p.rows.to_string(), bytes(p.bytes)])
            .collect();
        table(out, &["partition", "files", "rows", "size"], &rows)?;
        rest(out, partitions.len(), most)
    }

    fn print_files(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        writeln!(out, "\n{}", count(self.files.len() as u64, "file"))?;
        let root = format!("{}/", self.metadata().location().trim_end_matches('/'));
        let rows: Vec<Vec<String>> = self
            .files
            .iter()
            .take(most)
            .map(|f| {
                let path = f.path.strip_prefix(&root).unwrap_or(&f.path);
                vec![f.record_count.to_string(), bytes(f.file_size), path.to_owned()]
            })
            .collect();
        table(out, &["rows", "size", "path"], &rows)?;
        rest(out, self.files.len(), most)
    }

    fn partition(&self, file: &ScanTask) -> String {
        let name = self.plan.context().partition_name(file);
        if name.is_empty() { "(all)".to_owned() } else { name }
    }

    fn partitions(&self) -> BTreeMap<String, Partition> {
        let mut partitions: BTreeMap<String, Partition> = BTreeMap::new();
        for file in &self.files {
            let partition = partitions.entry(self.partition(file)).or_default();
            partition.files += 1;
            partition.rows += file.record_count;
            partition.bytes += file.file_size;
        }
        partitions
    }
}

/// One task for each file: a file may be cut into several.
fn files_of(tasks: &[ScanTask]) -> Vec<&ScanTask> {
    let mut seen = std::collections::BTreeSet::new();
    tasks.iter().filter(|task| seen.insert(task.path.as_str())).collect()
}

fn rest(out: &mut impl Write, all: usize, most: usize) -> io::Result<()> {
    if all > most {
        writeln!(out, "  … {} more; --all shows them", all - most)?;
    }
    Ok(())
}

const SHOWN: usize = 20;
