//! Values of query parameters.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use zeroize::Zeroizing;

use crate::access::AccessDelegation;
use crate::destination::Mode;
use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::percent::Decoded;
use crate::grammar::query::{self, Param, Params};
use crate::grammar::scheme::{self, Store};
use crate::grammar::search::{find, holds, holds_either};
use crate::grammar::{self, authority, partition, path, percent};
use crate::nearest::nearest;
use crate::partition::PartitionField;
use crate::secret::{AwsCredentials, ClientCredential, REDACTED, Secret};

/// `region = 1*64( ALPHA / DIGIT / "-" )`
pub(crate) fn region<'a>(params: &Params<'a>) -> Parsed<'a, Option<Decoded<'a>>> {
    checked(params, Param::Region, "a region such as us-east-1", |text| {
        text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

/// `account = account-id [ ":" account-part *( "/" account-part ) ]`
///
/// `account-id = 12DIGIT`
///
/// `account-part = 1*( ALPHA / DIGIT / "-" / "_" / "." )`
///
/// No part is `.` or `..`.
pub(crate) fn account<'a>(params: &Params<'a>) -> Parsed<'a, Option<Decoded<'a>>> {
    checked(params, Param::Account, ACCOUNT, is_account)
}

/// Whether `text` is a Glue catalog id.
pub(crate) fn is_account(text: &str) -> bool {
    let Some((id, catalog)) = text.split_at_checked(ACCOUNT_ID) else {
        return false;
    };
    let name = |name: &str| {
        !matches!(name, "" | "." | "..")
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    is_account_id(id)
        && (catalog.is_empty()
            || catalog.strip_prefix(':').is_some_and(|catalog| catalog.split('/').all(name)))
}

fn is_account_id(text: &str) -> bool {
    text.len() == ACCOUNT_ID && text.bytes().all(|b| b.is_ascii_digit())
}

/// `role-arn = %s"arn:" 1*( ALPHA / "-" ) %s":iam::" account-id %s":role/" 1*role-char`
///
/// `role-char = ALPHA / DIGIT / "+" / "=" / "," / "." / "@" / "_" / "-" / "/"`
///
/// At most 2048 characters, and no slash at the end.
pub(crate) fn role_arn<'a>(params: &Params<'a>) -> Parsed<'a, Option<Decoded<'a>>> {
    checked(params, Param::RoleArn, "a role such as arn:aws:iam::123456789012:role/name", |text| {
        let parts = || {
            let (partition, rest) = text.strip_prefix("arn:")?.split_once(':')?;
            let (account, name) = rest.strip_prefix("iam::")?.split_at_checked(ACCOUNT_ID)?;
            Some((partition, account, name.strip_prefix(":role/")?))
        };
        let Some((partition, account, name)) = parts() else {
            return false;
        };
        let role_char = |b: u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'+' | b'=' | b',' | b'.' | b'@' | b'_' | b'-' | b'/')
        };
        text.len() <= 2048
            && !partition.is_empty()
            && partition.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-')
            && is_account_id(account)
            && !name.is_empty()
            && !name.ends_with('/')
            && name.bytes().all(role_char)
    })
}

/// `warehouse = location / 1*char`
///
/// A text with `://` is a location and is checked as one; any other is the server's business, as
/// long as it has no `:` before an `@`.
pub(crate) fn warehouse<'a>(params: &Params<'a>) -> Parsed<'a, Decoded<'a>> {
    let raw = params.require(Param::Warehouse, "warehouse=, a name or a storage location")?;
    no_password(raw, raw)?;
    query::one_value(raw)?;
    let text = decode_address(raw)?;
    if !holds(&text, b':') {
        return Ok(text);
    }
    let Some((rest, store)) = scheme::storage(&text) else {
        // `file:/path` and `s3:/path` would otherwise pass for names.
        if scheme::broken_storage(&text) || text.contains("://") {
            let expected = "a name, or a location in s3, s3a, gs, abfs, abfss, az or file";
            return Err(Fault::new(ErrorKind::UnknownScheme, raw, expected));
        }
        return Ok(text);
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (bucket, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let known = authority::store(store, bucket).and_then(|()| {
        if store == Store::File && tail.is_empty() {
            return Err(Fault::new(ErrorKind::MissingSegment, tail, "the path of a folder"));
        }
        // Decoded already: only segments that no encoding could mend are looked for.
        let mut segments = tail.split('/').skip(1);
        let wrong = segments.find(|segment| matches!(*segment, "" | "." | ".."));
        wrong.map_or(Ok(()), |segment| path::segment(segment).map(drop))?;
        query::no_parameters(tail)
    });
    if let Err(fault) = known {
        let at = percent::encoded_offset(raw, nom::Offset::offset(&*text, fault.at));
        return Err(fault.moved(&raw[at..]));
    }
    if store != Store::File && text.starts_with(store.prefix()) && !text.ends_with('/') {
        return Ok(text);
    }
    let mut location = Zeroizing::new(String::with_capacity(text.len()));
    location.push_str(store.prefix());
    if store != Store::File {
        location.push_str(bucket);
    }
    location.push_str(tail);
    Ok(Decoded::Copied(location))
}

/// `credential = [ client-id ":" ] client-secret`
///
/// `client-id = 1*( %x20-39 / %x3B-7E / %xA0-10FFFF )`
///
/// `client-secret = 1*char`
///
/// With a colon, neither side of it is empty.
pub(crate) fn credential<'a>(params: &Params<'a>) -> Parsed<'a, Option<ClientCredential>> {
    let Some(raw) = params.get(Param::Credential) else {
        return Ok(None);
    };
    match ClientCredential::split(secret_value(raw)?) {
        Some(credential) if credential.secret().expose() == REDACTED => Err(redacted(raw)),
        Some(credential) => Ok(Some(credential)),
        None => {
            let expected = "client_id:client_secret, or a client secret alone";
            Err(Fault::new(ErrorKind::EmptyValue, raw, expected).of_secret())
        }
    }
}

/// `token = 1*char`
pub(crate) fn token<'a>(params: &Params<'a>) -> Parsed<'a, Option<Secret>> {
    params.get(Param::Token).map(secret_value).transpose()
}

/// `scope = scope-token *( " " scope-token )`
///
/// `scope-token = 1*( %x21 / %x23-5B / %x5D-7E )`
pub(crate) fn scope<'a>(params: &Params<'a>) -> Parsed<'a, Option<Decoded<'a>>> {
    let Some(raw) = params.get(Param::Scope) else {
        return Ok(None);
    };
    query::one_value(raw)?;
    let text = percent::decode(raw)?;
    let known = text.split(' ').all(|token| {
        !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
    });
    if known {
        return Ok(Some(text));
    }
    let expected = "OAuth2 scopes, separated by single spaces";
    Err(Fault::new(ErrorKind::InvalidValue, raw, expected))
}

/// `oauth2-server-uri = http "://" http-authority [ "/" *address-char ]`
///
/// `address-char = %x21-22 / %x24-25 / %x27-3A / %x3C-3E / %x41-7E`
///
/// Kept as it is given. Parameters would show a secret among them wherever this is printed.
pub(crate) fn oauth2_server_uri<'a>(params: &Params<'a>) -> Parsed<'a, Option<Decoded<'a>>> {
    let Some(raw) = params.get(Param::Oauth2ServerUri) else {
        return Ok(None);
    };
    no_password(raw, raw)?;
    query::one_value(raw).map_err(|added| Fault::new(ErrorKind::InvalidValue, added.at, ADDRESS))?;
    let text = decode_address(raw)?;
    let Some((rest, _)) = scheme::web(&text) else {
        let expected = "an address with https:// or http://";
        return Err(Fault::new(ErrorKind::UnknownScheme, raw, expected));
    };
    let host = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let known = authority::http(host).and_then(|_| match text.find(|c: char| !address_char(c)) {
        Some(at) => Err(Fault::new(ErrorKind::InvalidValue, &text[at..], ADDRESS)),
        None => Ok(()),
    });
    if let Err(fault) = known {
        let at = percent::encoded_offset(raw, nom::Offset::offset(&*text, fault.at));
        return Err(fault.moved(&raw[at..]));
    }
    Ok(Some(text))
}

/// Decodes a name or an address, which holds no user name and no password. Neither is told by what it holds,
/// such as a broken encoding.
fn decode_address(raw: &str) -> Parsed<'_, Decoded<'_>> {
    match percent::decode(raw) {
        Ok(Decoded::AsWritten(text)) => Ok(Decoded::AsWritten(text)),
        Ok(text) => no_password(raw, &text).map(|()| text),
        Err(fault) => no_password(raw, &percent::decode_broken(raw)).and(Err(fault)),
    }
}

/// Refuses a user name and a password in `text`, which is `raw` or decoded from it: an address, or a name
/// in which there is no `@` behind a `:`.
fn no_password<'a>(raw: &'a str, text: &str) -> Parsed<'a, ()> {
    let Some(at) = find(text, b':') else {
        return Ok(());
    };
    match text[at..].strip_prefix("://") {
        Some(rest) => grammar::no_password(rest).map_err(|fault| fault.moved(raw)),
        // An `@` behind the name of a parameter says nothing: the value may be any secret.
        None if query::before_values(text).0.get(at..).is_some_and(|name| holds(name, b'@')) => {
            Err(authority::userinfo(raw))
        }
        None => Ok(()),
    }
}

fn address_char(c: char) -> bool {
    c.is_ascii_graphic() && !matches!(c, '#' | '?' | '&' | ';' | '@')
}

/// `access-delegation = %s"none" / delegation [ "," delegation ]`
///
/// `delegation = %s"vended-credentials" / %s"remote-signing"`
///
/// Each delegation once.
pub(crate) fn access_delegation<'a>(params: &Params<'a>) -> Parsed<'a, AccessDelegation> {
    let Some(raw) = params.get(Param::AccessDelegation) else {
        return Ok(AccessDelegation::default());
    };
    query::one_value(raw)?;
    delegation(&percent::decode(raw)?).map_err(|fault| fault.moved(raw))
}

/// As [`access_delegation`], of a text by itself.
pub(crate) fn delegation(text: &str) -> Parsed<'_, AccessDelegation> {
    AccessDelegation::from_text(text).ok_or_else(|| {
        let expected = "vended-credentials, remote-signing, both with a comma, or none";
        let nearest = nearest(text, ["vended-credentials", "remote-signing", "none"]);
        Fault::new(ErrorKind::InvalidValue, text, expected).nearest(nearest)
    })
}

/// `aws-value = 1*char`
///
/// Of `aws_access_key_id`, `aws_secret_access_key` and `aws_session_token`: none, the first two, or
/// all.
pub(crate) fn aws_credentials<'a>(params: &Params<'a>) -> Parsed<'a, Option<AwsCredentials>> {
    let id = params.get(Param::AwsAccessKeyId);
    let key = params.get(Param::AwsSecretAccessKey);
    let token = params.get(Param::AwsSessionToken);
    let (id, key) = match (id, key) {
        (Some(id), Some(key)) => (id, key),
        (None, None) if token.is_none() => return Ok(None),
        (None, _) => {
            let expected = "aws_access_key_id= beside the other credentials";
            return Err(Fault::new(ErrorKind::MissingParameter, params.end(), expected));
        }
        (Some(_), None) => {
            let expected = "aws_secret_access_key= beside the access key id";
            return Err(Fault::new(ErrorKind::MissingParameter, params.end(), expected));
        }
    };
    Ok(Some(AwsCredentials {
        access_key_id: secret_value(id)?,
        secret_access_key: secret_value(key)?,
        session_token: token.map(secret_value).transpose()?,
    }))
}

/// `partition = partition-spec`
pub(crate) fn partition<'a>(params: &Params<'a>) -> Parsed<'a, Vec<PartitionField>> {
    let Some(raw) = params.get(Param::Partition) else {
        return Ok(Vec::new());
    };
    let marked = holds_either(raw, b';', b'?');
    if marked {
        query::one_value(raw)?;
    }
    match percent::decode(raw)? {
        Decoded::AsWritten(text) if !marked => partition::items(text),
        Decoded::AsWritten(text) => partition::spec(text),
        Decoded::Copied(text) => partition::spec(&text).map_err(|fault| {
            let at = percent::encoded_offset(raw, nom::Offset::offset(text.as_str(), fault.at));
            fault.moved(&raw[at..])
        }),
    }
}

/// As [`mode`], if the parameter is given.
pub(crate) fn mode_or_default<'a>(params: &Params<'a>) -> Parsed<'a, Mode> {
    let Some(raw) = params.get(Param::Mode) else {
        return Ok(Mode::default());
    };
    mode(raw).or_else(|_| {
        query::one_value(raw)?;
        mode(&percent::decode(raw)?).map_err(|fault| fault.moved(raw))
    })
}

/// `mode = %s"append" / %s"overwrite"`
pub(crate) fn mode(text: &str) -> Parsed<'_, Mode> {
    match text {
        "append" => Ok(Mode::Append),
        "overwrite" => Ok(Mode::Overwrite),
        _ => {
            let fault = Fault::new(ErrorKind::InvalidValue, text, "append or overwrite");
            Err(fault.nearest(nearest(text, ["append", "overwrite"])))
        }
    }
}

fn secret_value(raw: &str) -> Parsed<'_, Secret> {
    let secret = percent::decode_secret(raw)?;
    if secret.expose() == REDACTED { Err(redacted(raw)) } else { Ok(secret) }
}

fn redacted(raw: &str) -> Box<Fault<'_>> {
    let expected = "the secret itself: a redacted form does not hold it";
    Fault::new(ErrorKind::RedactedSecret, raw, expected).of_secret()
}

/// A value that `accept` takes, which takes no `%`.
fn checked<'a>(
    params: &Params<'a>,
    param: Param,
    expected: &'static str,
    accept: impl Fn(&str) -> bool,
) -> Parsed<'a, Option<Decoded<'a>>> {
    let Some(raw) = params.get(param) else {
        return Ok(None);
    };
    if accept(raw) {
        return Ok(Some(Decoded::AsWritten(raw)));
    }
    // Before it is decoded: what has been added may be a secret, which may be no valid encoding.
    query::one_value(raw)?;
    let text = percent::decode(raw)?;
    if accept(&text) {
        return Ok(Some(text));
    }
    Err(Fault::new(ErrorKind::InvalidValue, raw, expected))
}

const ADDRESS: &str = "an address without parameters, user name, fragment, spaces and non-ascii characters; \
    what authenticates goes in credential= or token=";
const ACCOUNT_ID: usize = 12;
const ACCOUNT: &str = "twelve digits, or twelve digits and a catalog: 123456789012:s3tablescatalog/bucket";
