use std::fmt;
use std::str::FromStr;

use object_store::path::Path;

use crate::{Error, ErrorKind, Result};

/// A place in a store: scheme, bucket, and the key or path byte for byte.
///
/// Local paths come in five spellings (`/x`, `file:/x`, `file://x`, `file:///x`,
/// `file://localhost/x`) and print as `file:///x`. Two locations are equal when they name the same
/// object, so `s3a://b/k` equals `s3://b/k`.
#[derive(Clone)]
pub struct Location {
    scheme: Scheme,
    bucket: String,
    path: Path,
    text: String,
}

/// The kind of store a location names; spellings of one kind are one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// Local disk.
    File,
    /// A named store in this process's memory.
    Memory,
    /// Amazon S3 and what speaks like it (`s3`, `s3a`, `s3n`).
    S3,
    /// Google Cloud Storage (`gs`, `gcs`).
    Gcs,
    /// Azure Blob and Data Lake storage (`abfs`, `abfss`, `az`, `wasb`, `wasbs`).
    Azure,
}

impl Location {
    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The bucket, container or in-memory store; empty on local disk.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The path within the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The location as Iceberg metadata records it; no trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The last segment, or `""` at the top of a bucket.
    pub fn name(&self) -> &str {
        self.path.as_ref().rsplit('/').next().unwrap_or_default()
    }

    /// The folder above, or `None` at the top of a bucket.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (above, name) = match self.path.as_ref().rsplit_once('/') {
            Some((above, name)) => (above, name),
            None if self.path.as_ref().is_empty() => return None,
            None => ("", self.path.as_ref()),
        };
        let text = self.text[..self.text.len() - name.len()].trim_end_matches('/');
        let text = if above.is_empty() { format!("{text}/") } else { text.to_owned() };
        let path = Path::parse(above).ok()?;
        Some(Self { scheme: self.scheme, bucket: self.bucket.clone(), path, text })
    }

    /// The location `relative` below this one.
    ///
    /// # Errors
    /// [`ErrorKind::Location`] when `relative` holds an empty, `.` or `..` segment.
    pub fn join(&self, relative: &str) -> Result<Self> {
        format!("{}/{relative}", self.text.trim_end_matches('/')).parse()
    }

    /// This location, and for a local one the file it is after following symbolic links.
    ///
    /// Used to tell a table that was moved from one reached by another name.
    pub fn same_place(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        if self.scheme != Scheme::File || other.scheme != Scheme::File {
            return false;
        }
        match (std::fs::canonicalize(self.local_path()), std::fs::canonicalize(other.local_path())) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        }
    }

    /// The path on local disk; only meaningful for [`Scheme::File`].
    pub fn local_path(&self) -> std::path::PathBuf {
        std::path::PathBuf::from(format!("/{}", self.path.as_ref()))
    }
}

impl FromStr for Location {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.chars().any(char::is_control) {
            return Err(refuse(text, "a control character"));
        }
        if let Some(path) = text.strip_prefix('/') {
            return local(text, path);
        }
        let (spelling, rest) = if let Some((scheme, rest)) = text.split_once(':') {
            (scheme, rest)
        } else {
            return Err(Error::new(
                ErrorKind::Location,
                format!(
                    "`{text}` is not an absolute path or a storage URI such as file:///data/t or s3://bucket/t"
                ),
            ));
        };
        let scheme = match spelling.to_ascii_lowercase().as_str() {
            "file" => Scheme::File,
            "memory" => Scheme::Memory,
            "s3" | "s3a" | "s3n" => Scheme::S3,
            "gs" | "gcs" => Scheme::Gcs,
            "abfs" | "abfss" | "az" | "wasb" | "wasbs" => Scheme::Azure,
            _ => {
                return Err(Error::new(
                    ErrorKind::Location,
                    format!(
                        "`{spelling}` is not a storage scheme; known are file, memory, s3, s3a, gs, abfs, abfss, az"
                    ),
                ));
            }
        };
        if scheme == Scheme::File {
            return local(text, local_path_of(text, rest)?);
        }
        let rest = rest.strip_prefix("//").ok_or_else(|| refuse(text, "no `//` after the scheme"))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(refuse(text, "no bucket"));
        }
        let key = key.strip_suffix('/').unwrap_or(key);
        let path = parse_path(text, key)?;
        let text = if key.is_empty() {
            format!("{spelling}://{bucket}")
        } else {
            format!("{spelling}://{bucket}/{key}")
        };
        Ok(Self { scheme, bucket: bucket.to_owned(), path, text })
    }
}

/// What follows `file:`, without the slashes and the host before the path.
fn local_path_of<'a>(text: &str, rest: &'a str) -> Result<&'a str> {
    match rest.strip_prefix("//") {
        Some(after) => {
            let after = after.strip_prefix("localhost").filter(|p| p.starts_with('/')).unwrap_or(after);
            Ok(after.strip_prefix('/').unwrap_or(after))
        }
        None => rest.strip_prefix('/').ok_or_else(|| refuse(text, "a relative path; give an absolute one")),
    }
}

fn local(text: &str, path: &str) -> Result<Location> {
    let path = path.strip_suffix('/').unwrap_or(path);
    Ok(Location {
        scheme: Scheme::File,
        bucket: String::new(),
        path: parse_path(text, path)?,
        text: format!("file:///{path}"),
    })
}

fn parse_path(text: &str, path: &str) -> Result<Path> {
    // `Path::parse` drops one slash at either end, which here would be an empty segment.
    if path.starts_with('/') || path.ends_with('/') {
        return Err(refuse(text, "an empty path segment (`//`)"));
    }
    Path::parse(path).map_err(|e| match e {
        object_store::path::Error::EmptySegment { .. } => refuse(text, "an empty path segment (`//`)"),
        other => refuse(text, "a `.` or `..` segment").with_source(other),
    })
}

fn refuse(text: &str, what: &str) -> Error {
    Error::new(ErrorKind::Location, format!("location `{}` has {what}", text.escape_debug()))
}

impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.bucket == other.bucket && self.path == other.path
    }
}

impl Eq for Location {}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loc(text: &str) -> Location {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn every_spelling_of_a_local_path_is_one_place() {
        for text in [
            "/tmp/a b/t",
            "file:/tmp/a b/t",
            "file://tmp/a b/t",
            "file:///tmp/a b/t",
            "file://localhost/tmp/a b/t",
            "FILE:///tmp/a b/t/",
        ] {
            let l = loc(text);
            assert_eq!(l.as_str(), "file:///tmp/a b/t", "{text}");
            assert_eq!(l.local_path(), std::path::Path::new("/tmp/a b/t"));
        }
    }

    #[test]
    fn a_key_keeps_its_percent_signs_and_emoji() {
        let l = loc("s3a://b/t/p=a%3Ab/😀.parquet");
        assert_eq!(l.path().as_ref(), "t/p=a%3Ab/😀.parquet");
        assert_eq!(l, loc("s3://b/t/p=a%3Ab/😀.parquet"));
        assert_eq!(l.as_str(), "s3a://b/t/p=a%3Ab/😀.parquet");
    }

    #[test]
    fn parents_climb_to_the_bucket() {
        let l = loc("s3://b/a/t");
        let a = l.parent().expect("has a parent");
        assert_eq!(a.as_str(), "s3://b/a");
        let b = a.parent().expect("has a parent");
        assert_eq!(b.join("x").expect("joins").as_str(), "s3://b/x");
        assert!(b.parent().is_none());
        assert_eq!(loc("/t").parent().expect("root").join("u").expect("joins").as_str(), "file:///u");
    }

    #[test]
    fn empty_and_dot_segments_are_refused() {
        for text in [
            "/a//b",
            "/a/../b",
            "s3://b//k",
            "s3://b/./k",
            "s3:///k",
            "a/b",
            "file:a",
            "ftp://x/y",
            "/a\nb",
            "//a",
            "s3://b/k//",
        ] {
            let e = text.parse::<Location>().expect_err(text);
            assert_eq!(e.kind(), ErrorKind::Location, "{text}");
        }
    }
}
