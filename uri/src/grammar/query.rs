//! Query parameters: which there are, who takes them, and how they are split.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use nom::IResult;

use crate::error::{ErrorKind, Fault, Parsed};
use crate::grammar::search::{find, find_either, first, holds_either};
use crate::grammar::{Hierarchy, percent, till, till_either};
use crate::nearest::nearest;

/// A parameter that some form knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Param {
    Region,
    Account,
    RoleArn,
    Warehouse,
    Credential,
    Token,
    Scope,
    Oauth2ServerUri,
    AccessDelegation,
    AwsAccessKeyId,
    AwsSecretAccessKey,
    AwsSessionToken,
    Partition,
    Mode,
}

impl Param {
    pub(crate) const ALL: [Self; COUNT] = [
        Self::Region,
        Self::Account,
        Self::RoleArn,
        Self::Warehouse,
        Self::Credential,
        Self::Token,
        Self::Scope,
        Self::Oauth2ServerUri,
        Self::AccessDelegation,
        Self::AwsAccessKeyId,
        Self::AwsSecretAccessKey,
        Self::AwsSessionToken,
        Self::Partition,
        Self::Mode,
    ];

    /// `parameter-name = %s"region" / %s"account" / %s"role_arn" / %s"warehouse" / %s"mode"`
    ///
    /// `parameter-name =/ %s"credential" / %s"token" / %s"scope" / %s"partition"`
    ///
    /// `parameter-name =/ %s"oauth2_server_uri" / %s"access_delegation"`
    ///
    /// `parameter-name =/ %s"aws_access_key_id" / %s"aws_secret_access_key" / %s"aws_session_token"`
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "region" => Self::Region,
            "account" => Self::Account,
            "role_arn" => Self::RoleArn,
            "warehouse" => Self::Warehouse,
            "credential" => Self::Credential,
            "token" => Self::Token,
            "scope" => Self::Scope,
            "oauth2_server_uri" => Self::Oauth2ServerUri,
            "access_delegation" => Self::AccessDelegation,
            "aws_access_key_id" => Self::AwsAccessKeyId,
            "aws_secret_access_key" => Self::AwsSecretAccessKey,
            "aws_session_token" => Self::AwsSessionToken,
            "partition" => Self::Partition,
            "mode" => Self::Mode,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Region => "region",
            Self::Account => "account",
            Self::RoleArn => "role_arn",
            Self::Warehouse => "warehouse",
            Self::Credential => "credential",
            Self::Token => "token",
            Self::Scope => "scope",
            Self::Oauth2ServerUri => "oauth2_server_uri",
            Self::AccessDelegation => "access_delegation",
            Self::AwsAccessKeyId => "aws_access_key_id",
            Self::AwsSecretAccessKey => "aws_secret_access_key",
            Self::AwsSessionToken => "aws_session_token",
            Self::Partition => "partition",
            Self::Mode => "mode",
        }
    }

    /// Whether `form` takes it.
    fn belongs_to(self, form: Form) -> bool {
        match self {
            Self::Account | Self::RoleArn => form == Form::Glue,
            Self::Region | Self::AwsAccessKeyId | Self::AwsSecretAccessKey | Self::AwsSessionToken => {
                form != Form::Root
            }
            Self::Warehouse
            | Self::Credential
            | Self::Token
            | Self::Scope
            | Self::Oauth2ServerUri
            | Self::AccessDelegation => form == Form::Rest,
            Self::Partition | Self::Mode => true,
        }
    }

    /// What is expected where it is given to a `form` that does not take it.
    fn elsewhere(self, form: Form) -> String {
        let owner = match (self.belongs_to(Form::Glue), self.belongs_to(Form::Rest)) {
            (true, false) => "iceberg+glue+s3://",
            (false, true) => "iceberg+rest+https://",
            _ => "iceberg+glue+s3:// and iceberg+rest+https://",
        };
        format!("{}; `{}` belongs to {owner}", form.known(), self.name())
    }

    /// Whether the value is never shown.
    pub(crate) fn is_secret(self) -> bool {
        matches!(
            self,
            Self::Credential
                | Self::Token
                | Self::AwsAccessKeyId
                | Self::AwsSecretAccessKey
                | Self::AwsSessionToken
        )
    }

    /// Whether the value may be a URI, and so hold userinfo.
    pub(crate) fn is_uri(self) -> bool {
        matches!(self, Self::Warehouse | Self::Oauth2ServerUri)
    }
}

const COUNT: usize = 14;

/// A form of destination, as far as its parameters are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Glue,
    Rest,
    Root,
}

impl Form {
    fn known(self) -> &'static str {
        match self {
            Self::Glue => GLUE,
            Self::Rest => REST,
            Self::Root => "one of partition, mode",
        }
    }
}

/// What a destination is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Write,
    Scan,
}

/// The values of the parameters that were given, undecoded and not empty.
pub(crate) struct Params<'a> {
    values: [Option<&'a str>; COUNT],
    end: &'a str,
}

impl<'a> Params<'a> {
    pub(crate) fn new(hierarchy: &Hierarchy<'a>) -> Self {
        Self { values: [None; COUNT], end: hierarchy.end }
    }

    /// `query = parameter *( "&" parameter )`
    #[inline]
    pub(crate) fn read(&mut self, hierarchy: &Hierarchy<'a>, form: Form, purpose: Purpose) -> Parsed<'a, ()> {
        let mut rest = hierarchy.query;
        while let Some(input) = rest {
            let Ok((after, (raw_name, value))) = parameter(input) else {
                return Err(Fault::new(ErrorKind::EmptyParameter, input, form.known()));
            };
            let param = known(raw_name, input, form)?;
            if purpose == Purpose::Scan && matches!(param, Param::Partition | Param::Mode) {
                let expected = "no partition and no mode: both belong to writes";
                return Err(Fault::new(ErrorKind::NotForScan, input, expected));
            }
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                let at = &input[raw_name.len() + value.map_or(0, |_| 1)..];
                return Err(Fault::new(ErrorKind::EmptyValue, at, "`=` and a value"));
            };
            let slot = &mut self.values[param as usize];
            if slot.is_some() {
                return Err(Fault::new(ErrorKind::DuplicateParameter, input, "each parameter once"));
            }
            *slot = Some(value);
            rest = after.strip_prefix('&');
        }
        Ok(())
    }

    pub(crate) fn get(&self, param: Param) -> Option<&'a str> {
        self.values[param as usize]
    }

    /// The value of a parameter the form cannot do without.
    pub(crate) fn require(&self, param: Param, why: &'static str) -> Parsed<'a, &'a str> {
        self.get(param).ok_or_else(|| Fault::new(ErrorKind::MissingParameter, self.end, why))
    }

    /// Where a missing parameter is missed.
    pub(crate) fn end(&self) -> &'a str {
        self.end
    }
}

/// `parameter = parameter-name "=" value`
///
/// `value = 1*( value-char / pct-encoded )`
///
/// `value-char = %x20-22 / %x24 / %x27-7E / %xA0-10FFFF`
///
/// The value starts after the first `=` and ends before the next `&`.
#[inline]
fn parameter(input: &str) -> IResult<&str, (&str, Option<&str>), ()> {
    let (rest, name) = till_either::<b'=', b'&'>(input)?;
    match rest.strip_prefix('=') {
        Some(rest) => till::<b'&'>(rest).map(|(rest, value)| (rest, (name, Some(value)))),
        None => Ok((rest, (name, None))),
    }
}

/// The places in an undecoded path or value where something like a parameter begins: the byte of
/// the `&`, `;` or `?`, and the name between that and an `=`, which may be encoded.
pub(crate) fn assignments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut mark = None;
    crate::steps::add(text.len());
    text.bytes().enumerate().filter_map(move |(at, b)| match b {
        b'&' | b';' | b'?' => {
            mark = Some(at);
            None
        }
        b'/' => {
            mark = None;
            None
        }
        b'%' if !matches!(&text.as_bytes()[at..], [_, b'3', b'D' | b'd', ..]) => None,
        b'=' | b'%' => mark.take().filter(|mark| mark + 1 < at).map(|mark| (mark, &text[mark + 1..at])),
        _ => None,
    })
}

/// As [`assignments`], what comes before the name raw or percent-encoded too, as often as `times`: once
/// or twice.
pub(crate) fn disguised(text: &str, times: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    // Where it stands, and where the name behind it begins; and the last that a name stood behind.
    let mut mark = None;
    let mut named = None;
    crate::steps::add(text.len());
    core::iter::from_fn(move || {
        loop {
            let start = at;
            let (byte, digits) = match &text.as_bytes()[start..] {
                [] => return None,
                [b'%', b'2', b'5', digits @ ..] if times > 1 => (b'%', digits),
                [byte, digits @ ..] => (*byte, digits),
            };
            let (byte, rest) = match (byte, digits) {
                (b'%', [b'3', b'F' | b'f', rest @ ..]) => (b'?', rest),
                (b'%', [b'3', b'D' | b'd', rest @ ..]) => (b'=', rest),
                (b'%', [b'3', b'B' | b'b', rest @ ..]) => (b';', rest),
                (b'%', [b'2', b'6', rest @ ..]) => (b'&', rest),
                _ => (byte, digits),
            };
            at = text.len() - rest.len();
            match byte {
                b'&' | b';' | b'?' => {
                    if let Some((at, name)) = mark.take().filter(|(_, name)| *name < start) {
                        named = Some((at, name..start));
                    }
                    mark = Some((start, at));
                }
                b'/' => (mark, named) = (None, None),
                b'=' => {
                    let last = mark.take().filter(|(_, name)| *name < start);
                    let last = last.map(|(mark, name)| (mark, name..start));
                    // In `;token%3F=` the name is before the second mark.
                    if let Some((mark, name)) = last.or(named.take()) {
                        return Some((mark, &text[name]));
                    }
                }
                _ => {}
            }
        }
    })
}

/// What follows `://` up to the first value of a parameter, and the parameter's name if there is
/// one: behind a `&` or `;` in the path, or behind the `?` or `#` that ends the path.
pub(crate) fn before_values(input: &str) -> (&str, Option<&str>) {
    let head = first(input.as_bytes(), *b"?#").unwrap_or(input.len());
    if let Some((at, name)) = assignments(&input[..head]).next() {
        return (&input[..at], Some(name));
    }
    match input.get(head + 1..) {
        Some(rest) => {
            // Behind a name without a value comes another.
            let names = &rest[..find(rest, b'=').unwrap_or(rest.len())];
            let name = names.rsplit('&').next().unwrap_or(names);
            (&input[..head + 1 + names.len()], Some(name))
        }
        None => (input, None),
    }
}

/// Refuses a parameter behind a `&`, `;` or `?` where none may begin: taken as part of a name, a
/// secret among them would be printed with it.
pub(crate) fn no_assignment<'a>(text: &'a str, expected: &'static str) -> Parsed<'a, ()> {
    match assignments(text).next() {
        Some((at, _)) => Err(Fault::new(ErrorKind::MisplacedParameter, &text[at..], expected)),
        None => Ok(()),
    }
}

/// Refuses what looks like parameters on a location, which is not decoded: a signed address, for
/// example. Taken as part of the key, a secret among them would be printed with it.
///
/// Any `name=` behind a `?` is one; behind a `&`, a `;` or an encoded `?`, which keys do hold, only
/// a name that a destination or a secret goes by.
pub(crate) fn no_parameters(location: &str) -> Parsed<'_, ()> {
    if first(location.as_bytes(), *b"?&;%").is_none() {
        return Ok(());
    }
    let (path, query) = location.split_once('?').unwrap_or((location, ""));
    if first(path.as_bytes(), *b"&;%").is_some()
        && let Some((at, _)) = disguised(path, 1).find(|(_, name)| is_known(name) || is_secret(name))
    {
        return Err(Fault::new(ErrorKind::MisplacedParameter, &path[at..], NO_PARAMETERS));
    }
    let parameter = |pair: &&str| ["=", "%3D", "%3d"].iter().any(|sign| pair.contains(sign));
    match query.split('&').find(parameter) {
        Some(pair) => Err(Fault::new(ErrorKind::UnexpectedQuery, pair, NO_PARAMETERS)),
        None => Ok(()),
    }
}

/// Refuses a query and a fragment on an address, which is not decoded.
pub(crate) fn no_query(address: &str) -> Parsed<'_, ()> {
    let Some(at) = find_either(address, b'?', b'#') else {
        return Ok(());
    };
    let kind = match address.as_bytes()[at] {
        b'?' => ErrorKind::UnexpectedQuery,
        _ => ErrorKind::Fragment,
    };
    let expected =
        "an address without parameters and fragment; in a name `?` and `#` are written %3F and %23";
    Err(Fault::new(kind, &address[at..], expected))
}

/// Whether a name is one under which signed addresses, storage options and people keep secrets, however
/// its words are set apart.
fn is_secret(name: &str) -> bool {
    let letters = || {
        let bytes = name.bytes().filter(|b| !matches!(b, b'_' | b'-' | b'.'));
        bytes.map(|b| b.to_ascii_lowercase())
    };
    // `header.{name}` and `adls.sas-token.{account}` end in what somebody chose.
    let family = |start: &str| name.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start));
    family("header.") || family("adls.sas-token.") || SECRETS.iter().any(|known| letters().eq(known.bytes()))
}

/// Refuses a value to which somebody has added a parameter with a `;` or a second `?`.
pub(crate) fn one_value(value: &str) -> Parsed<'_, ()> {
    if holds_either(value, b';', b'?') { no_assignment(value, SEPARATOR) } else { Ok(()) }
}

/// Where parameters begin that somebody has added to names, of which those in double quotes may hold
/// anything: at an unquoted `?`, `&` or `;` with a `=` behind it.
pub(crate) fn unquoted(names: &str) -> Option<&str> {
    first(names.as_bytes(), *b"?&;")?;
    let mut quoted = false;
    let mark = names.bytes().position(|b| {
        quoted ^= b == b'"';
        !quoted && is_mark(b)
    });
    crate::steps::add(mark.unwrap_or(names.len()));
    let added = &names[mark?..];
    ["=", "%3D", "%3d"].iter().any(|sign| added.contains(sign)).then_some(added)
}

/// Whether parameters may begin with it.
pub(crate) fn is_mark(b: u8) -> bool {
    matches!(b, b'?' | b'&' | b';')
}

/// Whether an undecoded name is a parameter's, or near to one.
pub(crate) fn resembles_known(name: &str) -> bool {
    let Ok(name) = percent::decode(name) else { return false };
    Param::from_name(&name).is_some() || nearest(&name, Param::ALL.iter().map(|p| p.name())).is_some()
}

/// Whether an undecoded name is a parameter's, or near to that of a secret one. `node` and `code` are
/// near to `mode`, and stand in many a key.
fn is_known(name: &str) -> bool {
    let Ok(name) = percent::decode(name) else { return false };
    let secrets = Param::ALL.iter().filter(|param| param.is_secret());
    Param::from_name(&name).is_some() || nearest(&name, secrets.map(|param| param.name())).is_some()
}

/// The parameter of that name, if `form` takes it.
fn known<'a>(raw: &'a str, input: &'a str, form: Form) -> Parsed<'a, Param> {
    if raw.is_empty() {
        return Err(Fault::new(ErrorKind::EmptyParameter, input, form.known()));
    }
    // Hardly ever is a name encoded.
    let param = match Param::from_name(raw) {
        Some(param) => param,
        None => decoded(raw, input, form)?,
    };
    if param.belongs_to(form) {
        return Ok(param);
    }
    Err(Fault::new(ErrorKind::ForeignParameter, input, param.elsewhere(form)))
}

fn decoded<'a>(raw: &'a str, input: &'a str, form: Form) -> Parsed<'a, Param> {
    let name = percent::decode(raw)?;
    if let Some(param) = Param::from_name(&name) {
        return Ok(param);
    }
    let among = |own: bool| {
        let names = Param::ALL.iter().filter(|param| param.belongs_to(form) == own);
        nearest(&name, names.map(|param| param.name()))
    };
    let fault = |expected: Cow<'static, str>, nearest| {
        Err(Fault::new(ErrorKind::UnknownParameter, input, expected).nearest(nearest))
    };
    match among(true) {
        Some(own) => fault(form.known().into(), Some(own)),
        None => match among(false).and_then(Param::from_name) {
            Some(foreign) => fault(foreign.elsewhere(form).into(), Some(foreign.name())),
            None => fault(form.known().into(), None),
        },
    }
}

/// In lower case, without marks between words.
const SECRETS: [&str; 41] = [
    // Signed addresses.
    "xamzsignature",
    "xamzcredential",
    "xamzsecuritytoken",
    "xgoogsignature",
    "xgoogcredential",
    "awsaccesskeyid",
    "googleaccessid",
    "signature",
    "sig",
    "sv",
    "se",
    // Storage options.
    "s3accesskeyid",
    "s3secretaccesskey",
    "s3sessiontoken",
    "clientaccesskeyid",
    "clientsecretaccesskey",
    "clientsessiontoken",
    "gcsoauth2token",
    "adlsaccountkey",
    "adlssastoken",
    "adlsclientsecret",
    // What people write.
    "accesskeyid",
    "secretaccesskey",
    "sessiontoken",
    "accountkey",
    "sastoken",
    "accesstoken",
    "refreshtoken",
    "apikey",
    "clientsecret",
    "secret",
    "password",
    "passwd",
    "pwd",
    "accesskey",
    "secretkey",
    "privatekey",
    "idtoken",
    "authorization",
    "bearer",
    "jwt",
];
const NO_PARAMETERS: &str = "no parameters: a location takes none, and credentials go beside it, in the \
    storage options or the environment";
const SEPARATOR: &str = "`&` between parameters; `;` and `?` in a value are written %3B and %3F";
const GLUE: &str = "one of region, account, role_arn, aws_access_key_id, aws_secret_access_key, \
    aws_session_token, partition, mode";
const REST: &str = "one of warehouse, credential, token, scope, oauth2_server_uri, \
    access_delegation, region, aws_access_key_id, aws_secret_access_key, aws_session_token, \
    partition, mode";
