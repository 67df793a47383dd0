//! Writing URIs: what parsing takes apart, put together again.

use core::fmt::{self, Write};

use percent_encoding::{AsciiSet, utf8_percent_encode};

use crate::destination::Mode;
use crate::grammar::percent;
use crate::grammar::query::{Param, Purpose};
use crate::partition::{Fields, PartitionField};
use crate::secret::{AwsCredentials, REDACTED, Secret};

/// What is written of secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrets {
    Written,
    Redacted,
    StandIns,
}

/// Writes the parts of one URI to `out`, with or without its secrets.
pub(crate) struct UriWriter<'w> {
    out: &'w mut dyn Write,
    secrets: Secrets,
    purpose: Purpose,
    asked: bool,
}

impl<'w> UriWriter<'w> {
    pub(crate) fn redacted(out: &'w mut dyn Write) -> Self {
        Self { out, secrets: Secrets::Redacted, purpose: Purpose::Write, asked: false }
    }

    /// With as many letters as a secret has bytes in its place.
    pub(crate) fn stand_ins(out: &'w mut dyn Write) -> Self {
        Self { out, secrets: Secrets::StandIns, purpose: Purpose::Write, asked: false }
    }

    pub(crate) fn with_secrets(out: &'w mut dyn Write) -> Self {
        Self { out, secrets: Secrets::Written, purpose: Purpose::Write, asked: false }
    }

    /// What belongs to a write is left out of a scan.
    pub(crate) fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// Writes what is part of the syntax, or encoded already.
    pub(crate) fn raw(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    /// Writes `text` with the characters of `set` and all beyond ASCII percent-encoded.
    pub(crate) fn encoded(&mut self, text: impl fmt::Display, set: &'static AsciiSet) -> fmt::Result {
        write!(Encoder { out: self.out, set }, "{text}")
    }

    /// Writes a slash and one segment.
    pub(crate) fn segment(&mut self, name: &str) -> fmt::Result {
        self.raw("/")?;
        self.encoded(name, percent::SEGMENT)
    }

    /// Writes a location, whose text is not encoded.
    pub(crate) fn location(&mut self, location: &str) -> fmt::Result {
        let (scheme, rest) = location.split_once("://").unwrap_or(("", location));
        self.raw(scheme)?;
        self.raw("://")?;
        self.encoded(rest, percent::PATH)
    }

    /// Writes a parameter, if it has a value.
    pub(crate) fn param(&mut self, param: Param, value: Option<impl fmt::Display>) -> fmt::Result {
        match value {
            Some(value) => {
                self.name(param)?;
                self.encoded(value, percent::PATH)
            }
            None => Ok(()),
        }
    }

    /// Writes a secret parameter, or the placeholder.
    pub(crate) fn secret(&mut self, param: Param, value: Option<&Secret>) -> fmt::Result {
        let Some(secret) = value else { return Ok(()) };
        self.name(param)?;
        match self.secrets {
            Secrets::Written => self.encoded(secret.expose(), percent::PATH),
            Secrets::Redacted => self.raw(REDACTED),
            Secrets::StandIns => secret.expose().bytes().try_for_each(|_| self.raw("x")),
        }
    }

    pub(crate) fn aws_credentials(&mut self, credentials: Option<&AwsCredentials>) -> fmt::Result {
        let Some(credentials) = credentials else {
            return Ok(());
        };
        self.secret(Param::AwsAccessKeyId, Some(credentials.access_key_id()))?;
        self.secret(Param::AwsSecretAccessKey, Some(credentials.secret_access_key()))?;
        self.secret(Param::AwsSessionToken, credentials.session_token())
    }

    /// Writes the parameters that every form takes. The default mode is left out.
    pub(crate) fn plan(&mut self, partition: &[PartitionField], mode: Mode) -> fmt::Result {
        if self.purpose == Purpose::Scan {
            return Ok(());
        }
        self.param(Param::Partition, (!partition.is_empty()).then_some(Fields(partition)))?;
        self.param(Param::Mode, (mode != Mode::default()).then_some(mode))
    }

    fn name(&mut self, param: Param) -> fmt::Result {
        self.raw(if self.asked { "&" } else { "?" })?;
        self.asked = true;
        self.raw(param.name())?;
        self.raw("=")
    }
}

struct Encoder<'w> {
    out: &'w mut dyn Write,
    set: &'static AsciiSet,
}

impl Write for Encoder<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        utf8_percent_encode(text, self.set).try_for_each(|part| self.out.write_str(part))
    }
}

/// Counts bytes instead of keeping them.
#[derive(Default)]
pub(crate) struct Length(pub(crate) usize);

impl Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
