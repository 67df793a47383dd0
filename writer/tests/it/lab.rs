use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use calve_catalog::{LoadedTable, NewTable, TableCatalog, TableChange, TableIdent};
use calve_storage::{Location, Storage};
use calve_table_root::TableRootCatalog;
use calve_writer::{Result, WriteOptions, WriteOutcome, WriteReport, plan};
use iceberg::spec::{
    DataFile, Manifest, ManifestFile, ManifestList, NestedField, PrimitiveType, Schema, Type,
    UnboundPartitionSpec,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use uuid::Uuid;

/// A table root in memory, or nothing yet.
pub(crate) struct Lab {
    pub(crate) catalog: Arc<dyn TableCatalog>,
    pub(crate) ident: TableIdent,
    pub(crate) root: Location,
    pub(crate) storage: Storage,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::at(format!("memory://lab-{}/air/flights", Uuid::new_v4()).parse().unwrap())
    }

    pub(crate) fn at(root: Location) -> Self {
        let storage = Storage::open(&root).unwrap();
        let catalog = TableRootCatalog::at(root.clone(), storage.clone()).unwrap();
        let ident = catalog.ident().clone();
        Self { catalog: Arc::new(catalog), ident, root, storage }
    }

    /// A table with `schema` and no rows.
    pub(crate) async fn with_table(schema: Schema) -> Self {
        Self::with(NewTable::new(schema)).await
    }

    pub(crate) async fn with(new: NewTable) -> Self {
        let lab = Self::new();
        let staged = lab.catalog.stage(&lab.ident, new).await.unwrap();
        let made = lab.catalog.create(&staged, TableChange::none()).await.unwrap();
        assert!(matches!(made, calve_catalog::CommitOutcome::Committed(_)));
        lab
    }

    pub(crate) async fn try_write(&self, batch: RecordBatch, options: WriteOptions) -> Result<WriteOutcome> {
        self.try_write_all(batch.schema(), vec![batch], options).await
    }

    pub(crate) async fn try_write_all(
        &self,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        options: WriteOptions,
    ) -> Result<WriteOutcome> {
        let mut writer = plan(Arc::clone(&self.catalog), self.ident.clone(), schema, options).await?.start();
        for batch in batches {
            writer.write(batch).await?;
        }
        writer.commit().await
    }

    pub(crate) async fn write(&self, batch: RecordBatch) -> WriteReport {
        self.write_with(batch, WriteOptions::default()).await
    }

    pub(crate) async fn write_with(&self, batch: RecordBatch, options: WriteOptions) -> WriteReport {
        match self.try_write(batch, options).await.unwrap() {
            WriteOutcome::Committed(report) => report,
            other => panic!("not committed: {other:?}"),
        }
    }

    pub(crate) async fn table(&self) -> LoadedTable {
        self.catalog.load(&self.ident).await.unwrap()
    }

    pub(crate) async fn manifest_list(&self) -> Vec<ManifestFile> {
        let metadata = self.table().await.metadata;
        let Some(snapshot) = metadata.current_snapshot() else { return Vec::new() };
        let bytes = self.storage.read(snapshot.manifest_list()).await.unwrap();
        let list = ManifestList::parse_with_version(&bytes, metadata.format_version()).unwrap();
        list.consume_entries().into_iter().collect()
    }

    pub(crate) async fn manifest(&self, file: &ManifestFile) -> Manifest {
        Manifest::parse_avro(&self.storage.read(&file.manifest_path).await.unwrap()).unwrap()
    }

    /// The data files of the current snapshot.
    pub(crate) async fn data_files(&self) -> Vec<DataFile> {
        let mut files = Vec::new();
        for file in self.manifest_list().await {
            let manifest = self.manifest(&file).await;
            files.extend(manifest.entries().iter().filter(|e| e.is_alive()).map(|e| e.data_file().clone()));
        }
        files
    }

    pub(crate) async fn parquet(&self, file: &DataFile) -> ParquetRecordBatchReaderBuilder<bytes::Bytes> {
        let bytes = self.storage.read(file.file_path()).await.unwrap();
        assert_eq!(bytes.len() as u64, file.file_size_in_bytes());
        ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap()
    }

    pub(crate) async fn file_rows(&self, file: &DataFile) -> RecordBatch {
        let reader = self.parquet(file).await;
        let schema = Arc::clone(reader.schema());
        let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        concat_batches(&schema, &batches).unwrap()
    }

    /// Rows of the current snapshot, in no order.
    pub(crate) async fn rows(&self) -> usize {
        let mut rows = 0;
        for file in self.data_files().await {
            let read = self.file_rows(&file).await.num_rows();
            assert_eq!(read as u64, file.record_count());
            rows += read;
        }
        rows
    }

    /// All ids of the current snapshot, sorted.
    pub(crate) async fn ids(&self) -> Vec<i64> {
        let mut ids = Vec::new();
        for file in self.data_files().await {
            let rows = self.file_rows(&file).await;
            let column = rows.column_by_name("id").unwrap();
            ids.extend(column.as_any().downcast_ref::<Int64Array>().unwrap().iter().flatten());
        }
        ids.sort_unstable();
        ids
    }

    /// Every file below the root.
    pub(crate) async fn listing(&self) -> Vec<String> {
        self.storage.list_all(&self.root).await.unwrap()
    }

    /// Files that nothing in the current snapshot names, metadata versions aside.
    pub(crate) async fn orphans(&self) -> Vec<String> {
        let metadata = self.table().await.metadata;
        let mut used: Vec<String> = metadata.snapshots().map(|s| s.manifest_list().to_owned()).collect();
        for snapshot in metadata.snapshots() {
            let bytes = self.storage.read(snapshot.manifest_list()).await.unwrap();
            let list = ManifestList::parse_with_version(&bytes, metadata.format_version()).unwrap();
            for file in list.entries() {
                used.push(file.manifest_path.clone());
                let manifest = self.manifest(file).await;
                used.extend(manifest.entries().iter().map(|e| e.data_file().file_path().to_owned()));
            }
        }
        let metadata_file =
            |path: &String| path.ends_with(".metadata.json") || path.ends_with("version-hint.text");
        self.listing().await.into_iter().filter(|path| !used.contains(path) && !metadata_file(path)).collect()
    }
}

pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// Flights with these ids and origins.
pub(crate) fn flights(ids: &[i64]) -> RecordBatch {
    let origins: Vec<String> =
        ids.iter().map(|id| ["EWR", "JFK", "LGA"][*id as usize % 3].to_owned()).collect();
    batch(vec![
        ("id", Arc::new(Int64Array::from(ids.to_vec()))),
        ("origin", Arc::new(StringArray::from(origins))),
    ])
}

pub(crate) fn schema(fields: Vec<NestedField>) -> Schema {
    Schema::builder().with_fields(fields.into_iter().map(Arc::new)).build().unwrap()
}

pub(crate) fn optional(id: i32, name: &str, kind: PrimitiveType) -> NestedField {
    NestedField::optional(id, name, Type::Primitive(kind))
}

pub(crate) fn required(id: i32, name: &str, kind: PrimitiveType) -> NestedField {
    NestedField::required(id, name, Type::Primitive(kind))
}

pub(crate) fn table_with(schema: Schema, properties: &[(&str, &str)]) -> NewTable {
    let mut new = NewTable::new(schema);
    new.properties =
        properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<HashMap<_, _>>();
    new
}

pub(crate) fn partitioned(schema: Schema, request: &str) -> NewTable {
    let spec: UnboundPartitionSpec =
        calve_partition::bind(&calve_uri::parse_partition(request).unwrap(), &schema).unwrap();
    let mut new = NewTable::new(schema);
    new.partition_spec = spec;
    new
}

pub(crate) fn partition(request: &str) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.partition = calve_uri::parse_partition(request).unwrap();
    options
}
