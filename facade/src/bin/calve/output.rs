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

/// A file being written; one that is not finished is removed again.
pub(crate) struct OutputFile {
    path: PathBuf,
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
        let file = File::create(path)
            .map_err(|e| Failure::failed(format!("{} can't be written: {e}", path.display())))?;
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
        let mut output = Self { path: path.to_owned(), writer: None, rows: 0 };
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
        match done {
            Ok(()) => Ok(self.rows),
            Err(e) => {
                let _ = std::fs::remove_file(&self.path);
                Err(self.failed(&e))
            }
        }
    }

    fn failed(&self, error: &ArrowError) -> Failure {
        Failure::failed(format!("{} can't be written: {error}", self.path.display()))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
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
