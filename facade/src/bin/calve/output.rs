//! Files of rows, written.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow::csv;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::FileWriter;
use arrow::json::LineDelimitedWriter;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::failure::Failure;

/// A format for `--output`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileFormat {
    Parquet,
    Csv,
    JsonLines,
    Arrow,
}

impl FileFormat {
    /// The format a file's name asks for.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|e| e.to_str()).unwrap_or_default() {
            "parquet" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "jsonl" | "ndjson" => Ok(Self::JsonLines),
            "arrow" => Ok(Self::Arrow),
            _ => Err(Failure::input(format!(
                "{} names no format to write; end it in .parquet, .csv, .jsonl or .arrow",
                path.display()
            ))),
        }
    }
}

/// A file being written beside its place, and moved there when it is whole: what was there before stays
/// until then, and nothing is left of a file that is not finished.
pub(crate) struct OutputFile {
    path: PathBuf,
    staged: PathBuf,
    writer: Option<Writer>,
    rows: u64,
}

enum Writer {
    Parquet(Box<ArrowWriter<File>>),
    Csv(Box<csv::Writer<BufWriter<File>>>),
    JsonLines(Box<LineDelimitedWriter<BufWriter<File>>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
}

impl OutputFile {
    /// Creates or replaces `path`.
    pub(crate) fn create(path: &Path, format: FileFormat, schema: SchemaRef) -> Result<Self, Failure> {
        if let (FileFormat::Csv, Some(nested)) =
            (format, schema.fields().iter().find(|f| f.data_type().is_nested()))
        {
            return Err(Failure::input(format!(
                "column `{}` is nested, which CSV can't hold; leave it out with --select, or write .parquet, .jsonl or .arrow",
                nested.name().escape_debug()
            )));
        }
        let refused =
            |e: std::io::Error| Failure::failed(format!("{} can't be written: {e}", path.display()));
        if path.is_dir() {
            return Err(Failure::input(format!("{} is a folder; name a file in it", path.display())));
        }
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let staged = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&staged).map_err(refused)?;
        let mut output = Self { path: path.to_owned(), staged, writer: None, rows: 0 };
        let made = match format {
            FileFormat::Parquet => {
                let zstd = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(zstd).build();
                ArrowWriter::try_new(file, schema, Some(properties))
                    .map(|w| Writer::Parquet(Box::new(w)))
                    .map_err(ArrowError::from)
            }
            FileFormat::Csv => {
                let mut writer = csv::WriterBuilder::new().with_header(true).build(BufWriter::new(file));
                // The header is there even when no row is.
                writer.write(&RecordBatch::new_empty(schema)).map(|()| Writer::Csv(Box::new(writer)))
            }
            FileFormat::JsonLines => {
                Ok(Writer::JsonLines(Box::new(LineDelimitedWriter::new(BufWriter::new(file)))))
            }
            FileFormat::Arrow => {
                FileWriter::try_new(BufWriter::new(file), &schema).map(|w| Writer::Arrow(Box::new(w)))
            }
        };
        output.writer = Some(made.map_err(|e| output.failed(&e))?);
        Ok(output)
    }

    /// JSON lines to any sink.
    pub(crate) fn json_lines<W: Write>(sink: W) -> LineDelimitedWriter<BufWriter<W>> {
        LineDelimitedWriter::new(BufWriter::new(sink))
    }

    /// Writes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let written = match &mut self.writer {
            Some(Writer::Parquet(w)) => w.write(batch).map_err(ArrowError::from),
            Some(Writer::Csv(w)) => w.write(batch),
            Some(Writer::JsonLines(w)) => w.write(batch),
            Some(Writer::Arrow(w)) => w.write(batch),
            None => Ok(()),
        };
        self.rows += batch.num_rows() as u64;
        written.map_err(|e| self.failed(&e))
    }

    /// Completes the file and gives its rows.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        let done = match self.writer.take() {
            Some(Writer::Parquet(w)) => w.close().map(|_| ()).map_err(ArrowError::from),
            Some(Writer::Csv(w)) => w.into_inner().flush().map_err(ArrowError::from),
            Some(Writer::JsonLines(mut w)) => w.finish().and_then(|()| Ok(w.into_inner().flush()?)),
            Some(Writer::Arrow(mut w)) => w.finish(),
            None => Ok(()),
        };
        done.and_then(|()| Ok(std::fs::rename(&self.staged, &self.path)?)).map_err(|e| self.failed(&e))?;
        Ok(self.rows)
    }

    fn failed(&self, error: &ArrowError) -> Failure {
        Failure::failed(format!("{} can't be written: {error}", self.path.display()))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        drop(self.writer.take());
        // Once finished it is no longer there.
        let _ = std::fs::remove_file(&self.staged);
    }
}

impl Failure {
    /// A failure to print, quiet when nobody reads.
    pub(crate) fn from_arrow(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, io) => io.into(),
            other => Self::failed(format!("can't print: {other}")),
        }
    }
}
