//! Files of rows, opened as record batches: Parquet, CSV, JSON lines and Arrow IPC.
//!
//! ```
//! use calve::input::{Format, InputFile};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("orders.csv");
//! # std::fs::write(&path, "id,item\n1,pen\n2,\n")?;
//! let file = InputFile::open(&path, None)?;
//! assert_eq!(file.format(), Format::Csv);
//! let rows: usize = file.batches()?.map(|batch| batch.map(|b| b.num_rows())).sum::<Result<_, _>>()?;
//! assert_eq!(rows, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod text;

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, StringArray};
use arrow::csv;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::json;
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::{Error, ErrorKind, Result};

/// A file format that rows are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values with a header line; tabs in a `.tsv` file.
    Csv,
    /// One JSON object a line.
    JsonLines,
    /// Arrow IPC, as file or stream.
    Arrow,
}

/// A file of rows whose columns are known.
#[derive(Clone, Debug)]
pub struct InputFile {
    path: PathBuf,
    format: Format,
    schema: SchemaRef,
    separator: u8,
}

/// The rows of a file, read while they are taken.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl InputFile {
    /// Opens a file and finds out its columns.
    ///
    /// Parquet and Arrow are known by their first bytes, text by its name. Text has no types: columns
    /// that `types` has are read as it says, others by what all their values look like. A value is read
    /// exactly or refused; an empty field of CSV is null.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the file is missing, is none of the formats, or is not whole.
    pub fn open(path: impl AsRef<Path>, types: Option<&Schema>) -> Result<Self> {
        let path = path.as_ref();
        let mut file = open(path)?;
        let (format, separator) = detect(path, &mut file)?;
        let schema = match format {
            Format::Parquet => ParquetRecordBatchReaderBuilder::try_new(file)
                .map(|builder| builder.schema().clone())
                .map_err(|e| unreadable(path, "Parquet", e))?,
            Format::Arrow => arrow_reader(path, file)?.0,
            Format::Csv => {
                let format = csv::reader::Format::default().with_header(true).with_delimiter(separator);
                let (inferred, _) = format
                    .infer_schema(BufReader::new(file), None)
                    .map_err(|e| unreadable(path, "CSV with a header line", e))?;
                let schema = typed(path, inferred, types, true)?;
                zoned(path, &schema, separator)?
            }
            Format::JsonLines => {
                let (inferred, _) = json::reader::infer_json_schema(BufReader::new(file), None)
                    .map_err(|e| unreadable(path, "JSON lines", e))?;
                typed(path, inferred, types, false)?
            }
        };
        if schema.fields().is_empty() {
            return Err(Error::input(format!("{} has no columns", path.display())));
        }
        Ok(Self { path: path.to_owned(), format, schema, separator })
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows.
    ///
    /// # Errors
    /// When the file can't be opened again; what is wrong further in comes from the iterator, as
    /// [`ErrorKind::Input`].
    pub fn batches(&self) -> Result<Batches> {
        let file = open(&self.path)?;
        let path = self.path.clone();
        let read: ArrowBatches = match self.format {
            Format::Parquet => Box::new(
                ParquetRecordBatchReaderBuilder::try_new(file)
                    .and_then(|builder| builder.with_batch_size(BATCH_ROWS).build())
                    .map_err(|e| unreadable(&path, "Parquet", e))?,
            ),
            Format::Arrow => arrow_reader(&path, file)?.1,
            Format::Csv => csv_texts(&path, file, &self.schema, self.separator)?,
            Format::JsonLines => Box::new(
                // Strict, because a field that is in no column would be dropped without a word.
                json::ReaderBuilder::new(text::as_text(&self.schema))
                    .with_batch_size(BATCH_ROWS)
                    .with_coerce_primitive(true)
                    .with_strict_mode(true)
                    .build(BufReader::new(file))
                    .map_err(|e| unreadable(&path, "JSON lines", e))?,
            ),
        };
        let format = self.format;
        let schema = self.schema.clone();
        let mut rows = 0;
        Ok(Box::new(read.map(move |batch| {
            let batch = batch.map_err(|e| unreadable(&path, &format.to_string(), e))?;
            if !format.is_text() {
                return Ok(batch);
            }
            let first = rows + 1;
            rows += batch.num_rows() as u64;
            text::typed(&batch, &schema, first)
                .map_err(|e| Error::input(format!("{}: {e}", path.display())).with_source(e))
        })))
    }
}

impl Format {
    fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::JsonLines)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parquet => "Parquet",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
            Self::Arrow => "Arrow IPC",
        })
    }
}

fn open(path: &Path) -> Result<File> {
    let shown = path.display();
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::input(format!("{shown} does not exist")).with_source(e),
        std::io::ErrorKind::PermissionDenied => {
            Error::new(ErrorKind::Denied, format!("{shown} may not be read: permission denied"))
                .with_source(e)
        }
        _ => Error::new(ErrorKind::Failed, format!("{shown} can't be opened: {e}")).with_source(e),
    })?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(Error::input(format!("{shown} is a folder; name a file of {ACCEPTED}")));
    }
    Ok(file)
}

fn detect(path: &Path, file: &mut File) -> Result<(Format, u8)> {
    let mut first = Vec::new();
    let failed = |e: std::io::Error| {
        Error::new(ErrorKind::Failed, format!("{} can't be read: {e}", path.display())).with_source(e)
    };
    file.by_ref().take(8).read_to_end(&mut first).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    if first.starts_with(b"PAR1") {
        return Ok((Format::Parquet, b','));
    }
    if first.starts_with(b"ARROW1") || first.starts_with(&[0xff; 4]) {
        return Ok((Format::Arrow, b','));
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        _ if first.is_empty() => Err(Error::input(format!("{} is empty", path.display()))),
        "csv" => Ok((Format::Csv, b',')),
        "tsv" => Ok((Format::Csv, b'\t')),
        "jsonl" | "ndjson" | "json" => Ok((Format::JsonLines, b',')),
        "parquet" | "parq" => Err(Error::input(format!(
            "{} is not Parquet: it does not begin with `PAR1`; accepted are {ACCEPTED}",
            path.display()
        ))),
        _ => Err(Error::input(format!("{} is of no known format; accepted are {ACCEPTED}", path.display()))),
    }
}

type ArrowBatches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

fn arrow_reader(path: &Path, mut file: File) -> Result<(SchemaRef, ArrowBatches)> {
    let mut first = [0; 6];
    let framed = file.read_exact(&mut first).is_ok() && &first == b"ARROW1";
    file.seek(SeekFrom::Start(0)).map_err(|e| unreadable(path, "Arrow IPC", e))?;
    if framed {
        let reader = FileReader::try_new(file, None).map_err(|e| unreadable(path, "Arrow IPC", e))?;
        return Ok((reader.schema(), Box::new(reader)));
    }
    let reader =
        StreamReader::try_new(BufReader::new(file), None).map_err(|e| unreadable(path, "Arrow IPC", e))?;
    Ok((reader.schema(), Box::new(reader)))
}

fn csv_texts(path: &Path, file: File, schema: &SchemaRef, separator: u8) -> Result<ArrowBatches> {
    let reader = csv::ReaderBuilder::new(text::as_text(schema))
        .with_header(true)
        .with_delimiter(separator)
        .with_batch_size(BATCH_ROWS)
        .build_buffered(BufReader::new(file))
        .map_err(|e| unreadable(path, "CSV", e))?;
    Ok(Box::new(reader))
}

/// The columns of a text file, with the types of the table they go to where it has them.
fn typed(path: &Path, inferred: Schema, types: Option<&Schema>, flat: bool) -> Result<SchemaRef> {
    let known = |name: &str| types.and_then(|t| t.field_with_name(name).ok()).map(|f| f.data_type().clone());
    let mut fields = Vec::with_capacity(inferred.fields().len());
    for field in inferred.fields() {
        let name = field.name();
        if inferred.fields().iter().filter(|other| other.name() == name).count() > 1 {
            return Err(Error::input(format!(
                "{} has two columns `{}`",
                path.display(),
                name.escape_debug()
            )));
        }
        let of = known(name).unwrap_or_else(|| guessed(field.data_type()));
        if !text::can_hold(&of, flat) {
            return Err(Error::input(format!(
                "{}: column `{}` of the table is a {}, which {} can't hold; use Parquet or Arrow IPC",
                path.display(),
                name.escape_debug(),
                text::named(&of),
                if flat { "CSV" } else { "JSON lines" }
            )));
        }
        fields.push(Arc::new(Field::new(name, of, true)));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The type of a column whose values look like `of`.
fn guessed(of: &DataType) -> DataType {
    match of {
        // A column that never has a value: text takes anything later.
        DataType::Null => DataType::Utf8,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => DataType::Timestamp(TimeUnit::Nanosecond, None),
        DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::List(element) => {
            let element = element.as_ref().clone();
            let of = guessed(element.data_type());
            DataType::List(Arc::new(element.with_data_type(of)))
        }
        DataType::Struct(fields) => DataType::Struct(
            fields
                .iter()
                .map(|f| Arc::new(f.as_ref().clone().with_data_type(guessed(f.data_type()))))
                .collect(),
        ),
        other => other.clone(),
    }
}

/// Times whose first value says which instant it means are instants.
fn zoned(path: &Path, schema: &SchemaRef, separator: u8) -> Result<SchemaRef> {
    let local = |f: &Field| matches!(f.data_type(), DataType::Timestamp(_, None));
    if !schema.fields().iter().any(|f| local(f)) {
        return Ok(schema.clone());
    }
    let mut first: Vec<Option<bool>> = vec![None; schema.fields().len()];
    for batch in csv_texts(path, open(path)?, schema, separator)? {
        let batch = batch.map_err(|e| unreadable(path, "CSV", e))?;
        for (seen, column) in first.iter_mut().zip(batch.columns()) {
            let texts = column.as_any().downcast_ref::<StringArray>();
            *seen = seen.or_else(|| texts?.iter().flatten().next().map(text::has_offset));
        }
        if first.iter().all(Option::is_some) {
            break;
        }
    }
    let fields = schema.fields().iter().zip(first).map(|(field, offset)| match field.data_type() {
        DataType::Timestamp(unit, None) if offset == Some(true) => {
            let of = DataType::Timestamp(*unit, Some("+00:00".into()));
            Arc::new(field.as_ref().clone().with_data_type(of))
        }
        _ => field.clone(),
    });
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

fn unreadable(path: &Path, format: &str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::input(format!("{} is not whole {format}: {source}", path.display())).with_source(source)
}

const ACCEPTED: &str = "Parquet, CSV (.csv, .tsv), JSON lines (.jsonl, .ndjson, .json) and Arrow IPC";

const BATCH_ROWS: usize = 8192;
