//! How a command ends when it does not end well.

use std::process::ExitCode;

use calve::{Error, ErrorKind};
use clap::error::{ContextKind, ContextValue, ErrorKind as E};
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

    /// Exit code 2, for a command line that is not understood.
    ///
    /// The words given are not repeated: a destination or an option may hold a secret, wherever it
    /// stands.
    pub(crate) fn from_usage(error: &clap::Error) -> Self {
        let context = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.clone()),
            Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
            _ => None,
        };
        // What clap knows by itself, and never what was given, is behind these two.
        let argument =
            context(ContextKind::InvalidArg).filter(|arg| arg.starts_with(['<', '-']) && !arg.contains('='));
        let argument = argument.or_else(|| context(ContextKind::InvalidArg).filter(|arg| arg.ends_with('>')));
        let message = match error.kind() {
            E::DisplayHelpOnMissingArgumentOrSubcommand | E::MissingSubcommand => {
                "no command is given; see calve --help".to_owned()
            }
            E::InvalidSubcommand => {
                "the first word is no command; commands are write, scan, explain, inspect, parse, check, repair and orphans"
                    .to_owned()
            }
            E::UnknownArgument => "an argument is not understood; --help lists those that are".to_owned(),
            E::MissingRequiredArgument => {
                format!(
                    "missing {}; --help shows an example",
                    argument.unwrap_or_else(|| "an argument".to_owned())
                )
            }
            E::InvalidValue | E::ValueValidation | E::NoEquals | E::TooFewValues | E::WrongNumberOfValues => {
                format!(
                    "{} has no value it can take; --help shows an example",
                    argument.unwrap_or_else(|| "an option".to_owned())
                )
            }
            E::ArgumentConflict => "an option is given twice".to_owned(),
            other => format!("the command line is not understood: {other}"),
        };
        Self::input(message)
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
