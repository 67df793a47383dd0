use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::compute::concat_batches;
use arrow::datatypes::*;
use calve_catalog::{CommitToken, LoadedTable, NewTable, TableChange, TableIdent};
use calve_scan::{Scan, Value};
use calve_storage::{Location, Storage};
use futures::TryStreamExt;
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, Datum, FormatVersion, Literal,
    ManifestContentType, ManifestFile, ManifestListWriter, ManifestWriterBuilder, NestedField, Operation,
    PrimitiveType, Schema, Snapshot, Struct, Summary, TableMetadata, Transform, Type, UnboundPartitionSpec,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

static LABS: AtomicU32 = AtomicU32::new(0);

/// A table under construction.
pub(crate) struct Lab {
    pub(crate) metadata: TableMetadata,
    pub(crate) storage: Storage,
    root: String,
    manifests: Vec<ManifestFile>,
    names: u32,
}

/// How a data file is written and described.
#[derive(Clone, Default)]
pub(crate) struct FileOptions {
    pub(crate) rows_a_group: Option<usize>,
    /// Parquet's own statistics.
    pub(crate) no_parquet_statistics: bool,
    /// Bounds and counts in the manifest.
    pub(crate) no_manifest_statistics: bool,
    pub(crate) no_nan_counts: bool,
    pub(crate) partition: Vec<Option<Literal>>,
}

pub(crate) fn primitive(kind: PrimitiveType) -> Type {
    Type::Primitive(kind)
}

pub(crate) fn optional(id: i32, name: &str, kind: PrimitiveType) -> NestedField {
    NestedField::optional(id, name, Type::Primitive(kind))
}

pub(crate) fn required(id: i32, name: &str, kind: PrimitiveType) -> NestedField {
    NestedField::required(id, name, Type::Primitive(kind))
}

pub(crate) fn schema(fields: impl IntoIterator<Item = NestedField>) -> Schema {
    Schema::builder().with_fields(fields.into_iter().map(Arc::new)).build().unwrap()
}

/// A batch of the schema's own Arrow types, field ids and all.
pub(crate) fn batch(schema: &Schema, columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(Arc::new(schema_to_arrow_schema(schema).unwrap()), columns).unwrap()
}

impl Lab {
    /// An empty table of format version 2.
    pub(crate) fn new(schema: Schema) -> Self {
        Self::with(schema, &[], FormatVersion::V2)
    }

    pub(crate) fn partitioned(schema: Schema, fields: &[(&str, Transform)]) -> Self {
        Self::with(schema, fields, FormatVersion::V2)
    }

    pub(crate) fn with(schema: Schema, fields: &[(&str, Transform)], version: FormatVersion) -> Self {
        let id = format!("lab-{}-{}", std::process::id(), LABS.fetch_add(1, Ordering::Relaxed));
        let root = format!("memory://{id}/t");
        let location: Location = root.parse().unwrap();
        let mut spec = UnboundPartitionSpec::builder();
        for (column, transform) in fields {
            let source = schema.field_id_by_name(column).unwrap();
            spec = spec.add_partition_field(source, partition_name(column, *transform), *transform).unwrap();
        }
        let mut new = NewTable::new(schema.clone());
        new.partition_spec = spec.build();
        new.format_version = version;
        let mut metadata = new.into_metadata(&root).unwrap();
        if metadata.current_schema().as_struct() != schema.as_struct() {
            // A new table numbers its fields afresh; tests want the ids they wrote.
            metadata =
                metadata.into_builder(None).add_current_schema(schema).unwrap().build().unwrap().metadata;
        }
        Self { metadata, storage: Storage::open(&location).unwrap(), root, manifests: Vec::new(), names: 0 }
    }

    pub(crate) fn schema(&self) -> Schema {
        self.metadata.current_schema().as_ref().clone()
    }

    pub(crate) fn name(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{}/{what}-{}", self.root, self.names)
    }

    /// Where the newest manifest is.
    pub(crate) fn last_manifest(&self) -> &str {
        &self.manifests.last().unwrap().manifest_path
    }

    pub(crate) fn evolve(&mut self, fields: impl IntoIterator<Item = NestedField>) {
        let builder = self.metadata.clone().into_builder(None);
        self.metadata = builder.add_current_schema(schema(fields)).unwrap().build().unwrap().metadata;
    }

    pub(crate) fn set_property(&mut self, name: &str, value: &str) {
        let change = TableChange::set_properties(HashMap::from([(name.to_owned(), value.to_owned())]));
        self.metadata = change.apply(&self.metadata, None).unwrap().metadata;
    }

    /// Writes `batch` as a data file with true statistics.
    pub(crate) async fn file(&mut self, batch: &RecordBatch, options: &FileOptions) -> DataFile {
        let mut properties = WriterProperties::builder();
        if let Some(rows) = options.rows_a_group {
            properties = properties.set_max_row_group_row_count(Some(rows));
        }
        if options.no_parquet_statistics {
            properties =
                properties.set_statistics_enabled(parquet::file::properties::EnabledStatistics::None);
        }
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        let path = format!("{}.parquet", self.name("data/f"));
        let size = bytes.len() as u64;
        self.storage.put(&path.parse().unwrap(), bytes.into()).await.unwrap();
        let mut file = DataFileBuilder::default();
        file.content(DataContentType::Data)
            .file_path(path)
            .file_format(DataFileFormat::Parquet)
            .partition(Struct::from_iter(options.partition.clone()))
            .partition_spec_id(self.metadata.default_partition_spec_id())
            .record_count(batch.num_rows() as u64)
            .file_size_in_bytes(size);
        if !options.no_manifest_statistics {
            let statistics = Statistics::of(batch);
            file.value_counts(statistics.values)
                .null_value_counts(statistics.nulls)
                .lower_bounds(statistics.lower)
                .upper_bounds(statistics.upper);
            if !options.no_nan_counts {
                file.nan_value_counts(statistics.nans);
            }
        }
        file.build().unwrap()
    }

    /// One more snapshot with `files` in a manifest of their own.
    pub(crate) async fn append(&mut self, files: impl IntoIterator<Item = DataFile>) -> i64 {
        self.commit(files, false).await
    }

    /// One more snapshot with `files` in a manifest of deletes.
    pub(crate) async fn append_deletes(&mut self, files: impl IntoIterator<Item = DataFile>) -> i64 {
        self.commit(files, true).await
    }

    async fn commit(&mut self, files: impl IntoIterator<Item = DataFile>, deletes: bool) -> i64 {
        let io = FileIO::new_with_memory();
        let id = 1000 + self.metadata.snapshots().len() as i64 * 10;
        let sequence = self.metadata.next_sequence_number();
        let version = self.metadata.format_version();
        let parent = self.metadata.current_snapshot_id();
        let path = format!("{}.avro", self.name("metadata/m"));
        let builder = ManifestWriterBuilder::new(
            io.new_output(&path).unwrap(),
            Some(id),
            self.metadata.current_schema().clone(),
            self.metadata.default_partition_spec().as_ref().clone(),
        );
        let mut writer = match (version, deletes) {
            (FormatVersion::V1, _) => builder.build_v1(),
            (FormatVersion::V2, false) => builder.build_v2_data(),
            (FormatVersion::V2, true) => builder.build_v2_deletes(),
            (FormatVersion::V3, false) => builder.build_v3_data(),
            (FormatVersion::V3, true) => builder.build_v3_deletes(),
        };
        for file in files {
            writer.add_file(file, -1).unwrap();
        }
        let mut manifest = writer.write_manifest_file().await.unwrap();
        // What the list's writer would fill in for its own snapshot.
        self.copy(&io, &path).await;
        let list = format!("{}.avro", self.name("metadata/snap"));
        let output = io.new_output(&list).unwrap().writer().await.unwrap();
        let mut lists = match version {
            FormatVersion::V1 => ManifestListWriter::v1(output, id, parent),
            FormatVersion::V2 => ManifestListWriter::v2(output, id, parent, sequence),
            FormatVersion::V3 => {
                ManifestListWriter::v3(output, id, parent, sequence, Some(self.metadata.next_row_id()))
            }
        };
        let all: Vec<ManifestFile> = self.manifests.iter().cloned().chain([manifest.clone()]).collect();
        lists.add_manifests(all.into_iter()).unwrap();
        let next_row_id = lists.next_row_id();
        lists.close().await.unwrap();
        self.copy(&io, &list).await;
        if version != FormatVersion::V1 {
            manifest.sequence_number = sequence;
            manifest.min_sequence_number = sequence;
        }
        if !deletes && version == FormatVersion::V3 {
            manifest.first_row_id = Some(self.metadata.next_row_id());
        }
        self.manifests.push(manifest);
        let data = self.manifests.iter().filter(|m| m.content == ManifestContentType::Data);
        let files: u32 = data.map(|m| m.added_files_count.unwrap_or_default()).sum();
        let totals = HashMap::from([("total-data-files".to_owned(), files.to_string())]);
        let snapshot = Snapshot::builder()
            .with_snapshot_id(id)
            .with_parent_snapshot_id(parent)
            .with_sequence_number(if version == FormatVersion::V1 { 0 } else { sequence })
            .with_timestamp_ms(self.metadata.last_updated_ms() + 1)
            .with_manifest_list(list)
            .with_schema_id(self.metadata.current_schema_id())
            .with_summary(Summary { operation: Operation::Append, additional_properties: totals });
        let snapshot = match version {
            FormatVersion::V3 => {
                let first = self.metadata.next_row_id();
                snapshot.with_row_range(first, next_row_id.unwrap() - first).build()
            }
            _ => snapshot.build(),
        };
        self.metadata = TableChange::append(&self.metadata, snapshot)
            .unwrap()
            .apply(&self.metadata, None)
            .unwrap()
            .metadata;
        id
    }

    async fn copy(&self, io: &FileIO, path: &str) {
        let bytes = io.new_input(path).unwrap().read().await.unwrap();
        self.storage.put(&path.parse().unwrap(), bytes).await.unwrap();
    }

    pub(crate) fn table(&self) -> LoadedTable {
        LoadedTable {
            ident: TableIdent::from_strs(["lab", "t"]).unwrap(),
            metadata: Arc::new(self.metadata.clone()),
            metadata_location: format!("{}/metadata/v0.metadata.json", self.root),
            token: CommitToken::new(()),
            storage: self.storage.clone(),
        }
    }

    pub(crate) fn scan(&self) -> Scan {
        Scan::new(self.table())
    }
}

fn partition_name(column: &str, transform: Transform) -> String {
    let transform = transform.to_string();
    format!("{column}_{}", transform.split('[').next().unwrap())
}

/// All rows of a scan.
pub(crate) async fn rows(scan: Scan) -> RecordBatch {
    try_rows(scan).await.unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) async fn try_rows(scan: Scan) -> calve_scan::Result<RecordBatch> {
    let plan = scan.plan().await?;
    let schema = plan.schema();
    let batches: Vec<RecordBatch> = plan.read().try_collect().await?;
    for batch in &batches {
        assert_eq!(batch.schema(), schema);
    }
    if schema.fields().is_empty() {
        let options = arrow::array::RecordBatchOptions::new()
            .with_row_count(Some(batches.iter().map(RecordBatch::num_rows).sum()));
        return Ok(RecordBatch::try_new_with_options(schema, vec![], &options).unwrap());
    }
    Ok(concat_batches(&schema, &batches).unwrap())
}

/// The text of a column's values, for comparisons that read well.
pub(crate) fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let array = batch.column_by_name(column).unwrap_or_else(|| panic!("no column {column}"));
    let options = arrow::util::display::FormatOptions::new().with_null("null");
    let format = arrow::util::display::ArrayFormatter::try_new(array.as_ref(), &options).unwrap();
    (0..array.len()).map(|i| format.value(i).to_string()).collect()
}

/// The error a scan gives, at planning or reading.
pub(crate) async fn error(scan: Scan) -> calve_scan::Error {
    try_rows(scan).await.expect_err("the scan should fail")
}

/// True statistics of the primitive columns of a batch, inside structs too.
#[derive(Default)]
struct Statistics {
    values: HashMap<i32, u64>,
    nulls: HashMap<i32, u64>,
    nans: HashMap<i32, u64>,
    lower: HashMap<i32, Datum>,
    upper: HashMap<i32, Datum>,
}

impl Statistics {
    fn of(batch: &RecordBatch) -> Self {
        let mut statistics = Self::default();
        let rows = StructArray::from(batch.clone());
        statistics.add(&rows, &vec![true; batch.num_rows()]);
        statistics
    }

    fn add(&mut self, parent: &StructArray, present: &[bool]) {
        for (field, array) in parent.fields().iter().zip(parent.columns()) {
            let Some(id) = field.metadata().get(parquet::arrow::PARQUET_FIELD_ID_META_KEY) else { continue };
            let id: i32 = id.parse().unwrap();
            let present: Vec<bool> =
                present.iter().enumerate().map(|(i, p)| *p && array.is_valid(i)).collect();
            if let Some(inner) = array.as_struct_opt() {
                self.add(inner, &present);
                continue;
            }
            let Some(values) = datums(array, &present) else { continue };
            self.values.insert(id, present.len() as u64);
            self.nulls.insert(id, present.iter().filter(|p| !**p).count() as u64);
            let nans = values.iter().filter(|v| v.0.is_nan()).count() as u64;
            if matches!(array.data_type(), DataType::Float32 | DataType::Float64) {
                self.nans.insert(id, nans);
            }
            let mut real: Vec<_> = values.into_iter().filter(|v| !v.0.is_nan()).collect();
            real.sort_by(|a, b| a.0.compare(&b.0).unwrap());
            if let (Some(first), Some(last)) = (real.first(), real.last()) {
                self.lower.insert(id, first.1.clone());
                self.upper.insert(id, last.1.clone());
            }
        }
    }
}

fn datums(array: &ArrayRef, present: &[bool]) -> Option<Vec<(Value, Datum)>> {
    let rows = (0..array.len()).filter(|i| present[*i]);
    macro_rules! of {
        ($kind:ty, $value:expr) => {{
            let array = array.as_primitive::<$kind>();
            Some(rows.map(|i| $value(array.value(i))).collect())
        }};
    }
    match array.data_type() {
        DataType::Int32 => of!(Int32Type, |v| (Value::Int(v), Datum::int(v))),
        DataType::Int64 => of!(Int64Type, |v| (Value::Long(v), Datum::long(v))),
        DataType::Float32 => of!(Float32Type, |v| (Value::Float(v), Datum::float(v))),
        DataType::Float64 => of!(Float64Type, |v| (Value::Double(v), Datum::double(v))),
        DataType::Date32 => of!(Date32Type, |v| (Value::Int(v), Datum::date(v))),
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            of!(TimestampMicrosecondType, |v| (Value::Long(v), Datum::timestamp_micros(v)))
        }
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            of!(TimestampMicrosecondType, |v| (Value::Long(v), Datum::timestamptz_micros(v)))
        }
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Some(
                rows.map(|i| (Value::Text(array.value(i).to_owned()), Datum::string(array.value(i))))
                    .collect(),
            )
        }
        _ => None,
    }
}
