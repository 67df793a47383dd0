//! How a command ends when it does not end well.

use std::process::ExitCode;

use calve::{Error, ErrorKind};
use serde_json::json;

/// Why a command stops, and with which exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read our output has gone: nothing is wrong.
    ReaderLeft,
    /// Something to tell.
    Told {
        /// The exit code.
        code: u8,
        /// The word for it in JSON.
        kind: &'static str,
        /// One line.
        message: String,
        /// More lines, for people.
        detail: Option<String>,
    },
}

impl Failure {
    /// Exit code 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Told { code: 1, kind: "failed", message: message.into(), detail: None }
    }

    /// Exit code 2.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Told { code: 2, kind: "input", message: message.into(), detail: None }
    }

    /// Exit code 3.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::Told { code: 3, kind: "conflict", message: message.into(), detail: None }
    }

    /// Exit code 4.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::Told { code: 4, kind: "unknown", message: message.into(), detail: None }
    }

    /// Prints what is to be told and gives the exit code.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        match self {
            Self::ReaderLeft => ExitCode::SUCCESS,
            Self::Told { code, kind, message, detail } => {
                if json {
                    eprintln!("{}", json!({"error": {"kind": kind, "message": message}}));
                } else {
                    eprintln!("error: {message}");
                    if let Some(detail) = detail {
                        eprintln!("{detail}");
                    }
                }
                ExitCode::from(code)
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, kind) = match error.kind() {
            ErrorKind::Input => (2, "input"),
            ErrorKind::NotFound => (2, "not-found"),
            ErrorKind::Unsupported => (2, "unsupported"),
            ErrorKind::Exists => (3, "exists"),
            ErrorKind::Denied => (1, "denied"),
            ErrorKind::Damaged => (1, "damaged"),
            _ => (1, "failed"),
        };
        Self::Told { code, kind, message: error.to_string(), detail: None }
    }
}

impl From<calve::ParseError> for Failure {
    fn from(error: calve::ParseError) -> Self {
        Self::Told {
            code: 2,
            kind: "input",
            message: error.to_string(),
            detail: error.render().split_once('\n').map(|(_, caret)| caret.to_owned()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::ReaderLeft;
        }
        Self::failed(format!("can't print: {error}"))
    }
}
