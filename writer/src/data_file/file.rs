use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use calve_storage::{Location, Storage};
use iceberg::spec::{DataContentType, DataFile, DataFileBuilder, DataFileFormat, Schema, SchemaRef, Struct};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::SchemaDescriptor;
use uuid::Uuid;

use super::parquet_schema::parquet_schema;
use super::settings::ParquetSettings;
use super::upload::Upload;
use crate::metrics::{Metrics, MetricsPlan, metrics_modes};
use crate::{Error, ErrorKind, Result};

/// What all data files of a write have in common.
#[derive(Debug)]
pub(crate) struct FilePlan {
    pub(crate) storage: Storage,
    pub(crate) folder: Location,
    pub(crate) settings: ParquetSettings,
    pub(crate) spec_id: i32,
    arrow_schema: ArrowSchemaRef,
    parquet_schema: SchemaDescriptor,
    properties: WriterProperties,
    metrics: Arc<MetricsPlan>,
    /// Tells this write's files from those of every other.
    write_uuid: Uuid,
}

/// A data file being written.
pub(super) struct OpenFile {
    plan: Arc<FilePlan>,
    encoder: ArrowWriter<Vec<u8>>,
    upload: Upload,
    metrics: Metrics,
    partition: Struct,
    rows: u64,
    /// Bytes a row group takes for each byte the encoder thought it would: what it holds is not all
    /// compressed yet. Known once a row group of this write has been measured.
    ratio: Option<f64>,
}

/// An encoded file whose last bytes are not sent yet.
pub(super) struct SealedFile {
    upload: Upload,
    data_file: DataFile,
    pub(super) ratio: Option<f64>,
}

/// A data file that is in the store.
#[derive(Clone, Debug)]
pub(crate) struct FinishedFile {
    pub(crate) data_file: DataFile,
}

impl FilePlan {
    pub(crate) fn new(
        storage: Storage,
        folder: Location,
        schema: &SchemaRef,
        arrow_schema: ArrowSchemaRef,
        spec_id: i32,
        properties: &HashMap<String, String>,
    ) -> Result<Self> {
        let settings = ParquetSettings::new(properties)?;
        let modes = metrics_modes(schema, properties)?;
        let parquet_schema =
            parquet_schema(schema).map_err(|e| Error::from_parquet("the table's schema", e))?;
        let encoder_properties = settings.properties(&parquet_schema, schema_json(schema)?);
        Ok(Self {
            storage,
            folder,
            settings,
            spec_id,
            arrow_schema,
            parquet_schema,
            properties: encoder_properties,
            metrics: Arc::new(MetricsPlan::new(schema, &modes)),
            write_uuid: Uuid::now_v7(),
        })
    }

    /// Where file `number` of this write goes, in the folder of its partition.
    pub(super) fn location(&self, partition_path: &str, number: u64) -> Result<Location> {
        let name = format!("{number:05}-{}.parquet", self.write_uuid);
        let below = if partition_path.is_empty() { name } else { format!("{partition_path}/{name}") };
        Ok(self.folder.join(&below)?)
    }
}

impl OpenFile {
    pub(super) fn begin(
        plan: Arc<FilePlan>,
        location: Location,
        partition: Struct,
        ratio: Option<f64>,
    ) -> Result<Self> {
        let options = ArrowWriterOptions::new()
            .with_properties(plan.properties.clone())
            .with_parquet_schema(plan.parquet_schema.clone())
            .with_skip_arrow_metadata(true);
        let encoder = ArrowWriter::try_new_with_options(Vec::new(), Arc::clone(&plan.arrow_schema), options)
            .map_err(|e| Error::from_parquet(location.as_str(), e))?;
        Ok(Self {
            encoder,
            upload: Upload::new(plan.storage.clone(), location),
            metrics: Metrics::new(Arc::clone(&plan.metrics)),
            partition,
            rows: 0,
            ratio,
            plan,
        })
    }

    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.metrics.update(batch)?;
        self.rows += batch.num_rows() as u64;
        self.encoder.write(batch).map_err(|e| Error::from_parquet(self.upload.location().as_str(), e))?;
        if self.ratio.is_none() && self.is_full() {
            self.measure()?;
        }
        if self.encoder.inner().len() >= DRAIN_BYTES {
            let encoded = std::mem::take(self.encoder.inner_mut());
            self.upload.send(encoded.into()).await?;
        }
        Ok(())
    }

    /// Bytes of the file so far, what the encoder holds back included.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate of a size, far below 2^52"
    )]
    pub(super) fn size(&self) -> u64 {
        let held = self.encoder.in_progress_size() as f64 * self.ratio.unwrap_or(1.0);
        self.encoder.bytes_written() as u64 + held as u64
    }

    /// Ends the row group early, to learn how many bytes it takes in truth.
    fn measure(&mut self) -> Result<()> {
        let (estimate, before) = (self.encoder.in_progress_size(), self.encoder.bytes_written());
        self.encoder.flush().map_err(|e| Error::from_parquet(self.upload.location().as_str(), e))?;
        self.ratio = ratio(estimate, self.encoder.bytes_written() - before);
        Ok(())
    }

    /// Bytes this file holds in memory.
    pub(super) fn memory(&self) -> usize {
        self.encoder.memory_size() + self.encoder.inner().len() + self.upload.held_bytes()
    }

    pub(super) fn is_full(&self) -> bool {
        self.size() >= self.plan.settings.target_file_size
    }

    /// Ends the encoding; the bytes that are left go out with [`SealedFile::send`].
    pub(super) fn seal(mut self) -> Result<(SealedFile, Vec<u8>)> {
        let location = self.upload.location().as_str().to_owned();
        let estimate = self.encoder.in_progress_size();
        let footer = self.encoder.finish().map_err(|e| Error::from_parquet(&location, e))?;
        let size = self.encoder.bytes_written() as u64;
        let rest = std::mem::take(self.encoder.inner_mut());
        let column_metrics = self.metrics.finish()?;
        let (column_sizes, split_offsets) = sizes_and_splits(&footer);
        let data_file = DataFileBuilder::default()
            .content(DataContentType::Data)
            .file_path(location.clone())
            .file_format(DataFileFormat::Parquet)
            .partition(self.partition)
            .partition_spec_id(self.plan.spec_id)
            .record_count(self.rows)
            .file_size_in_bytes(size)
            .column_sizes(column_sizes)
            .value_counts(column_metrics.values)
            .null_value_counts(column_metrics.nulls)
            .nan_value_counts(column_metrics.nans)
            .lower_bounds(column_metrics.lower)
            .upper_bounds(column_metrics.upper)
            .split_offsets(Some(split_offsets))
            .build()
            .map_err(|e| {
                Error::new(ErrorKind::Failed, format!("can't describe {location}: {e}")).with_source(e)
            })?;
        let last = footer.row_groups().last().map_or(0, |group| group.compressed_size());
        let measured = ratio(estimate, usize::try_from(last).unwrap_or_default());
        Ok((SealedFile { upload: self.upload, data_file, ratio: measured.or(self.ratio) }, rest))
    }

    pub(super) async fn abort(self) {
        self.upload.abort().await;
    }
}

impl SealedFile {
    pub(super) async fn send(mut self, rest: Vec<u8>) -> Result<FinishedFile> {
        self.upload.send(rest.into()).await?;
        self.upload.finish().await?;
        Ok(FinishedFile { data_file: self.data_file })
    }
}

/// Bytes for each byte of an estimate, if it was large enough to tell.
#[allow(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn ratio(estimate: usize, real: usize) -> Option<f64> {
    (estimate >= MEASURABLE_BYTES).then(|| (real as f64 / estimate as f64).clamp(0.02, 2.0))
}

/// Bytes of each column by field id, and where row groups begin.
fn sizes_and_splits(footer: &ParquetMetaData) -> (HashMap<i32, u64>, Vec<i64>) {
    let mut sizes: HashMap<i32, u64> = HashMap::new();
    let mut splits = Vec::with_capacity(footer.num_row_groups());
    for group in footer.row_groups() {
        for column in group.columns() {
            let field = column.column_descr().self_type().get_basic_info();
            if field.has_id() {
                *sizes.entry(field.id()).or_default() +=
                    u64::try_from(column.compressed_size()).unwrap_or_default();
            }
        }
        if let Some(first) = group.columns().first() {
            let start = first.dictionary_page_offset().filter(|o| *o > 0).unwrap_or(first.data_page_offset());
            splits.push(start);
        }
    }
    (sizes, splits)
}

/// The schema as Iceberg writes it into a Parquet footer (`iceberg.schema`).
fn schema_json(schema: &Schema) -> Result<String> {
    serde_json::to_string(schema).map_err(|e| {
        Error::new(ErrorKind::Failed, "the table's schema can't be written as json").with_source(e)
    })
}

const DRAIN_BYTES: usize = 1 << 20;
const MEASURABLE_BYTES: usize = 64 << 10;
