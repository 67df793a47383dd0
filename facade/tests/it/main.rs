//! The library and the command, from outside.
#![allow(clippy::unwrap_used, reason = "a test that can't set itself up has failed")]

/// Everything that must be refused: one line, the right exit code, nothing left behind.
mod bad_input;
/// Credentials for stores that speak S3.
mod credentials;
/// The project's documents: the README's code and commands, the map of crates.
mod documents;
/// Text is read exactly or refused, and output is whole or not there.
mod exact;
/// Each input and output format.
mod formats;
/// What `--json` prints.
mod json;
/// The library's calls.
mod library;
/// The main job: write a real file twice, look at the table, scan it back.
mod main_job;
/// Files that nothing refers to.
mod orphans;
/// Checking, mending and adopting roots.
mod repair;
/// The main job on real servers that speak S3.
mod s3;
/// Command lines that are not understood.
mod usage;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, run in the workspace's folder.
fn calve(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_calve")).args(arguments).current_dir(workspace()).output().unwrap()
}

/// The command's standard output, when it must succeed.
fn run(arguments: &[&str]) -> String {
    let output = calve(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A folder for one test, and the root of a table in it.
struct Lake {
    folder: tempfile::TempDir,
}

impl Lake {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn root(&self) -> String {
        self.path("air/flights")
    }

    fn destination(&self, query: &str) -> String {
        format!("iceberg+local://{}{query}", self.root())
    }

    /// Every file below the folder.
    fn files(&self) -> Vec<String> {
        fn walk(folder: &Path, into: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, into);
                } else {
                    into.push(path.display().to_string());
                }
            }
        }
        let mut files = Vec::new();
        walk(self.folder.path(), &mut files);
        files.sort();
        files
    }

    fn write(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}
