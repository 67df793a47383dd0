//! Schemes of destinations and of storage locations.

use alloc::boxed::Box;
use nom::branch::alt;
use nom::combinator::value;
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};
use zeroize::Zeroizing;

use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::any_case;
use crate::nearest::nearest;

/// What a destination's scheme says of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Glue,
    Rest(Http),
    Root(Store),
    Local,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Http {
    Plain,
    Tls,
}

impl Http {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Plain => "http://",
            Self::Tls => "https://",
        }
    }
}

/// A kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    S3,
    S3a,
    Gs,
    Abfs,
    Abfss,
    Az,
    File,
}

impl Store {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::S3 => "s3://",
            Self::S3a => "s3a://",
            Self::Gs => "gs://",
            Self::Abfs => "abfs://",
            Self::Abfss => "abfss://",
            Self::Az => "az://",
            Self::File => "file://",
        }
    }
}

/// `scheme = "iceberg+glue+s3" / "iceberg+rest+" http / "iceberg+file+" store / "iceberg+local"`
#[inline]
pub(crate) fn destination(input: &str) -> Parsed<'_, (&str, Scheme)> {
    terminated(scheme, any_case(b"://")).parse(input).map_err(|_: nom::Err<()>| unknown(input))
}

#[inline]
fn scheme(input: &str) -> IResult<&str, Scheme, ()> {
    preceded(
        any_case(b"iceberg+"),
        alt((
            value(Scheme::Glue, any_case(b"glue+s3")),
            preceded(any_case(b"rest+"), http).map(Scheme::Rest),
            preceded(any_case(b"file+"), store).map(Scheme::Root),
            value(Scheme::Local, any_case(b"local")),
        )),
    )
    .parse(input)
}

/// `http = "https" / "http"`
fn http(input: &str) -> IResult<&str, Http, ()> {
    alt((value(Http::Tls, any_case(b"https")), value(Http::Plain, any_case(b"http")))).parse(input)
}

/// `store = "s3a" / "s3" / "gs" / "abfss" / "abfs" / "az" / "file"`
fn store(input: &str) -> IResult<&str, Store, ()> {
    alt((
        value(Store::S3a, any_case(b"s3a")),
        value(Store::S3, any_case(b"s3")),
        value(Store::Gs, any_case(b"gs")),
        value(Store::Abfss, any_case(b"abfss")),
        value(Store::Abfs, any_case(b"abfs")),
        value(Store::Az, any_case(b"az")),
        value(Store::File, any_case(b"file")),
    ))
    .parse(input)
}

/// The storage scheme that `input` starts with, and what follows `://`.
pub(crate) fn storage(input: &str) -> Option<(&str, Store)> {
    terminated(store, any_case(b"://")).parse(input).ok()
}

/// Whether `input` starts with a storage scheme whose two slashes are missing.
pub(crate) fn broken_storage(input: &str) -> bool {
    store(input).is_ok_and(|(rest, store)| {
        let path = rest.strip_prefix(':');
        path.is_some_and(|path| !path.starts_with("//") && (store == Store::File || path.starts_with('/')))
    })
}

/// The HTTP scheme that `input` starts with, and what follows `://`.
pub(crate) fn web(input: &str) -> Option<(&str, Http)> {
    terminated(http, any_case(b"://")).parse(input).ok()
}

/// What comes before the first colon, if it is spelt like a scheme.
pub(crate) fn any(input: &str) -> Option<&str> {
    let (scheme, _) = input.get(..input.len().min(LONGEST)).unwrap_or(input).split_once(':')?;
    is_spelt(scheme).then_some(scheme)
}

/// Whether `text` is spelt like a scheme.
pub(crate) fn is_spelt(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(scheme_char)
}

/// Whether `text` is a scheme that somebody may have meant, and so no part of a secret.
pub(crate) fn resembles_known(text: &str) -> bool {
    let candidates = || {
        SHORT
            .iter()
            .flat_map(|(short, long)| [*short, *long])
            .chain(CATALOGS)
            .chain(["glue", "iceberg+file+file"])
    };
    let word = |part: &str| WORDS.iter().any(|word| word.eq_ignore_ascii_case(part));
    text.bytes().all(scheme_char)
        && (candidates().any(|known| known.eq_ignore_ascii_case(text))
            || text.split('+').all(word)
            || nearest(text, candidates()).is_some())
}

fn scheme_char(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"+-.".contains(&b)
}

fn unknown(input: &str) -> Box<Fault<'_>> {
    let fault = Fault::new(ErrorKind::UnknownScheme, input, DESTINATIONS);
    let Some(scheme) = any(input) else {
        return fault;
    };
    if self::scheme(scheme).is_ok_and(|(rest, _)| rest.is_empty()) {
        return Fault::new(ErrorKind::UnknownScheme, input, "`://` after the scheme");
    }
    // What is no scheme may be a user name or a secret.
    let scheme = Zeroizing::new(scheme.to_ascii_lowercase());
    let (store, candidates) = match scheme.strip_prefix("iceberg+file+") {
        Some(store) => (store, &SHORT[..STORES]),
        None => (scheme.as_str(), &SHORT[..]),
    };
    let short = nearest(store, candidates.iter().map(|(short, _)| *short));
    match candidates.iter().find(|(candidate, _)| short == Some(candidate)) {
        Some((_, destination)) => fault.nearest(Some(destination)),
        None => fault.nearest(nearest(&scheme, CATALOGS).or_else(|| of_catalog(&scheme))),
    }
}

/// The usual scheme of the catalog that a scheme names, with no store or one that does not go with it.
fn of_catalog(scheme: &str) -> Option<&'static str> {
    let named = scheme.strip_prefix("iceberg+")?.split('+').next()?;
    let known = nearest(named, ["glue", "rest", "local"])?;
    CATALOGS.into_iter().find(|usual| usual["iceberg+".len()..].starts_with(known))
}

const LONGEST: usize = 40;

const DESTINATIONS: &str = "iceberg+glue+s3://, iceberg+rest+https://, iceberg+file+{s3,s3a,gs,\
    abfs,abfss,az,file}:// or iceberg+local:///";

const CATALOGS: [&str; 4] = ["iceberg+glue+s3", "iceberg+rest+https", "iceberg+rest+http", "iceberg+local"];

/// What schemes are put together from, rightly or not.
const WORDS: [&str; 19] = [
    "iceberg", "glue", "rest", "file", "local", "http", "https", "s3", "s3a", "s3n", "gs", "gcs", "abfs",
    "abfss", "az", "wasb", "wasbs", "hdfs", "oss",
];

/// Schemes people write without the part that says which catalog is meant, stores first.
const SHORT: [(&str, &str); 12] = [
    ("s3", "iceberg+file+s3"),
    ("s3a", "iceberg+file+s3a"),
    ("gs", "iceberg+file+gs"),
    ("abfs", "iceberg+file+abfs"),
    ("abfss", "iceberg+file+abfss"),
    ("az", "iceberg+file+az"),
    ("file", "iceberg+local"),
    ("https", "iceberg+rest+https"),
    ("http", "iceberg+rest+http"),
    ("iceberg+rest", "iceberg+rest+https"),
    ("iceberg+glue", "iceberg+glue+s3"),
    ("iceberg+s3", "iceberg+file+s3"),
];
const STORES: usize = 7;
