//! Buckets, containers and hosts.

use alloc::boxed::Box;
use core::net::{Ipv4Addr, Ipv6Addr};

use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::scheme::Store;
use crate::grammar::search::{find, holds};

/// Checks the authority of a storage URI against its store's naming rules.
pub(crate) fn store(store: Store, authority: &str) -> Parsed<'_, ()> {
    match store {
        Store::S3 | Store::S3a => s3_bucket(authority),
        Store::Gs => gs_bucket(authority),
        Store::Abfs | Store::Abfss => abfs_authority(authority),
        Store::Az => container(authority),
        Store::File => file_host(authority),
    }
}

/// Checks only what would make a bucket something else: what exists already may be named by older
/// rules.
pub(crate) fn existing_store(store: Store, authority: &str) -> Parsed<'_, ()> {
    match store {
        Store::File => file_host(authority),
        Store::Abfs | Store::Abfss => {
            let (container, host) = authority.split_once('@').unwrap_or((authority, "x"));
            if container.is_empty() || host.is_empty() {
                return Err(Fault::new(ErrorKind::MissingAuthority, authority, AZURE));
            }
            if container.contains(':') || host.contains('@') {
                return Err(userinfo(authority));
            }
            if host.contains(':') {
                return Err(port_on_bucket(host));
            }
            Ok(())
        }
        Store::S3 | Store::S3a | Store::Gs | Store::Az => {
            if authority.starts_with('[') {
                let expected = "a bucket name; an endpoint comes from the environment";
                return Err(Fault::new(ErrorKind::InvalidBucket, authority, expected));
            }
            plain(authority, "a bucket name")
        }
    }
}

/// `s3-bucket = 3*63( lower / DIGIT / "-" / "." )`
///
/// `lower = %x61-7A`
///
/// First and last a letter or digit, no two dots in a row, not of the shape of an IPv4 address.
pub(crate) fn s3_bucket(authority: &str) -> Parsed<'_, ()> {
    const EXPECTED: &str = "a bucket name: 3 to 63 lower-case letters, digits, `-` and `.`, \
        letter or digit first and last, no `..`, no ip address";
    bucket(authority, 63, b"-.", EXPECTED)
}

/// `gs-bucket = 3*222( lower / DIGIT / "-" / "." / "_" )`
///
/// First and last a letter or digit, no two dots in a row, at most 63 characters between dots, not of
/// the shape of an IPv4 address.
fn gs_bucket(authority: &str) -> Parsed<'_, ()> {
    const EXPECTED: &str = "a bucket name: 3 to 222 lower-case letters, digits, `-`, `_` and `.`, \
        letter or digit first and last, no `..`, 63 at most between dots, no ip address";
    bucket(authority, 222, b"-._", EXPECTED)?;
    match authority.split('.').find(|part| part.len() > 63) {
        Some(part) => Err(Fault::new(ErrorKind::InvalidBucket, part, EXPECTED)),
        None => Ok(()),
    }
}

fn bucket<'a>(authority: &'a str, longest: usize, marks: &[u8], expected: &'static str) -> Parsed<'a, ()> {
    let outer = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = authority.as_bytes();
    let mut wrong = None;
    let mut before = b'.';
    for (at, b) in authority.bytes().enumerate() {
        // A dot before the first is as wrong there as one after a dot.
        if !outer(b) && (!marks.contains(&b) || (b == b'.' && before == b'.')) {
            wrong = Some(at);
            break;
        }
        before = b;
    }
    crate::steps::add(authority.len());
    let at = match wrong {
        Some(at) => {
            plain(authority, expected)?;
            at
        }
        None if bytes.len() < 3 || bytes.len() > longest || !outer(bytes[0]) => {
            plain(authority, expected)?;
            0
        }
        None if !outer(before) => bytes.len() - 1,
        None if bytes[0].is_ascii_digit() && is_dotted_quad(authority) => 0,
        None => return Ok(()),
    };
    Err(Fault::new(ErrorKind::InvalidBucket, &authority[at..], expected))
}

/// Whether it has the shape of an IPv4 address, even of one that is none: stores go by the shape.
fn is_dotted_quad(name: &str) -> bool {
    let number = |label: &str| label.len() <= 3 && label.bytes().all(|b| b.is_ascii_digit());
    name.split('.').count() == 4 && name.split('.').all(number)
}

/// `abfs-authority = container [ "@" reg-name ]`
fn abfs_authority(authority: &str) -> Parsed<'_, ()> {
    let Some((name, account)) = authority.split_once('@') else {
        return container(authority);
    };
    if name.contains(':') || account.contains('@') {
        return Err(userinfo(authority));
    }
    if name.is_empty() {
        return Err(Fault::new(ErrorKind::MissingAuthority, authority, AZURE));
    }
    container(name)?;
    if account.contains(':') {
        return Err(port_on_bucket(account));
    }
    host(account).map(drop)
}

/// `container = %s"$root" / %s"$web" / %s"$logs" / 3*63( lower / DIGIT / "-" )`
///
/// First and last a letter or digit, no two hyphens in a row.
fn container(authority: &str) -> Parsed<'_, ()> {
    const EXPECTED: &str = "a container name: 3 to 63 lower-case letters, digits and `-`, letter \
        or digit first and last, no `--`";
    plain(authority, EXPECTED)?;
    let bytes = authority.as_bytes();
    let outer = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let wrong = if ["$root", "$web", "$logs"].contains(&authority) {
        None
    } else if let Some(at) = bytes.iter().position(|b| !outer(*b) && *b != b'-') {
        Some(at)
    } else if bytes.len() < 3 || bytes.len() > 63 || !outer(bytes[0]) {
        Some(0)
    } else if !outer(bytes[bytes.len() - 1]) {
        Some(bytes.len() - 1)
    } else {
        bytes.windows(2).position(|pair| pair == b"--")
    };
    match wrong {
        Some(at) => Err(Fault::new(ErrorKind::InvalidBucket, &authority[at..], EXPECTED)),
        None => Ok(()),
    }
}

/// `file-host = [ "localhost" ]`
fn file_host(authority: &str) -> Parsed<'_, ()> {
    if authority.contains('@') {
        return Err(userinfo(authority));
    }
    if !authority.is_empty() && !authority.eq_ignore_ascii_case("localhost") {
        return Err(Fault::new(ErrorKind::RelativePath, authority, "three slashes: file:///path"));
    }
    Ok(())
}

/// The brackets with an IPv6 address that `authority` begins with, or nothing.
pub(crate) fn literal(authority: &str) -> &str {
    let literal = authority.find(']').filter(|_| authority.starts_with('[')).map(|end| &authority[..=end]);
    let digits = |literal: &&str| literal[1..].bytes().all(|b| b.is_ascii_hexdigit() || b":.]".contains(&b));
    literal.filter(digits).unwrap_or_default()
}

/// A network location, canonical.
pub(crate) struct Endpoint<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: Option<u16>,
}

/// `http-authority = host [ ":" port ]`
pub(crate) fn http(authority: &str) -> Parsed<'_, Endpoint<'_>> {
    if holds(authority, b'@') {
        return Err(userinfo(authority));
    }
    let Some(colon) = find(authority, b':') else {
        return Ok(Endpoint { host: host(authority)?, port: None });
    };
    if authority.parse::<Ipv6Addr>().is_ok() {
        return Err(Fault::new(ErrorKind::InvalidHost, authority, HOST));
    }
    let colon = match find(authority, b']') {
        Some(end) if authority.starts_with('[') => find(&authority[end..], b':').map(|at| end + at),
        _ => Some(colon),
    };
    match colon {
        Some(at) => {
            let (name, number) = authority.split_at(at);
            host(name)?;
            Ok(Endpoint { host: name, port: Some(port(&number[1..])?) })
        }
        None => Ok(Endpoint { host: host(authority)?, port: None }),
    }
}

/// `port = 1*5DIGIT`
fn port(input: &str) -> Parsed<'_, u16> {
    let digits = (1..=5).contains(&input.len()) && input.bytes().all(|b| b.is_ascii_digit());
    match input.parse::<u16>() {
        Ok(number) if digits && number != 0 => Ok(number),
        _ => Err(Fault::new(ErrorKind::InvalidPort, input, "a port from 1 to 65535")),
    }
}

/// `host = "[" ipv6 "]" / ipv4 / reg-name`
fn host(input: &str) -> Parsed<'_, &str> {
    if input.is_empty() {
        return Err(Fault::new(ErrorKind::MissingAuthority, input, HOST));
    }
    let invalid = |at| Err(Fault::new(ErrorKind::InvalidHost, at, HOST));
    if let Some(literal) = input.strip_prefix('[') {
        return match literal.strip_suffix(']').map(str::parse::<Ipv6Addr>) {
            Some(Ok(_)) => Ok(input),
            _ => invalid(input),
        };
    }
    if input.len() > 253 {
        return invalid(input);
    }
    let mut rest = input;
    loop {
        let (after, label) = label(rest)?;
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if !after.is_empty() => return invalid(after),
            // A name whose last label is a number would be taken for an address by resolvers.
            None if is_number(label) && input.parse::<Ipv4Addr>().is_err() => {
                return invalid(input);
            }
            None => return Ok(input),
        }
    }
}

/// Whether resolvers take `label` for a number, decimal, octal or hexadecimal.
fn is_number(label: &str) -> bool {
    let bytes = label.as_bytes();
    match bytes {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        _ => bytes.iter().all(u8::is_ascii_digit),
    }
}

/// `reg-name = label *( "." label )`
///
/// At most 253 characters; the last label is no number.
///
/// `label = 1*63( ALPHA / DIGIT / "-" / "_" )`
fn label(input: &str) -> Parsed<'_, (&str, &str)> {
    const EXPECTED: &str = "a host name of letters, digits, `-`, `_` and `.`, others in punycode";
    let label_char = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let end = input.bytes().position(|b| !label_char(b)).unwrap_or(input.len());
    let (label, rest) = input.split_at(end);
    if label.is_empty() || label.len() > 63 {
        return Err(Fault::new(ErrorKind::InvalidHost, input, EXPECTED));
    }
    Ok((rest, label))
}

/// Refuses an authority that is empty or more than one name.
fn plain<'a>(authority: &'a str, expected: &'static str) -> Parsed<'a, ()> {
    if authority.is_empty() {
        return Err(Fault::new(ErrorKind::MissingAuthority, authority, expected));
    }
    if authority.contains('@') {
        return Err(userinfo(authority));
    }
    if authority.contains(':') && !authority.starts_with('[') {
        return Err(port_on_bucket(authority));
    }
    Ok(())
}

fn port_on_bucket(authority: &str) -> Box<Fault<'_>> {
    let at = authority.find(':').unwrap_or(0);
    Fault::new(
        ErrorKind::InvalidPort,
        &authority[at..],
        "a name without a port; an endpoint comes from the environment",
    )
}

pub(crate) fn userinfo(authority: &str) -> Box<Fault<'_>> {
    let expected = "no user name or password before the host; an `@` in a name behind a port is written %40";
    Fault::new(ErrorKind::Userinfo, authority, expected)
}

const HOST: &str = "a host name, an ipv4 address or an ipv6 address in brackets";
const AZURE: &str = "container@account.dfs.core.windows.net, or a container";
