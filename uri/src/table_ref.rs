use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::str::FromStr;

use crate::destination::{self, Destination};
use crate::error::{ErrorKind, Fault, ParseError, Parsed};
use crate::grammar::percent::Decoded;
use crate::grammar::query::{self, Purpose};
use crate::grammar::scheme::{self, Store};
use crate::grammar::search::holds;
use crate::grammar::{self, authority, partition, path, percent, value};
use crate::held::Held;
use crate::mask::{self, Text};
use crate::nearest::nearest;
use crate::partition::quoted;
use crate::secret::{REDACTED, Secret};
use crate::write::UriWriter;

/// A table to scan.
///
/// | text | is |
/// |---|---|
/// | `sales.orders`, `"odd name".orders` | [`Name`](TableRef::Name), in a catalog given elsewhere |
/// | `glue://123456789012/sales/orders`, `glue:///sales/orders` | [`Glue`](TableRef::Glue) |
/// | `s3://lake/orders`, `/data/orders`, `file:/data/orders` | [`Root`](TableRef::Root) |
/// | any of those ending in `.metadata.json` | [`Metadata`](TableRef::Metadata) |
/// | `iceberg+…` | [`Destination`](TableRef::Destination), without `partition` and `mode` |
///
/// Locations are taken byte for byte, as Iceberg stores them: nothing in them is decoded, and `?`,
/// `#` and `%` are characters like others. They take no parameters: a `?` with a `name=` after it
/// is refused, and behind a `&`, a `;` or a `%3F` so is what resembles a parameter of a destination
/// or goes by a name of secrets, such as `X-Amz-Signature` or `password`. Names take none either: a
/// level with a `?`, `&` or `;` and a `=` behind it goes in double quotes.
///
/// ```
/// use calve_uri::TableRef;
///
/// assert_eq!(
///     "/data/my lake/orders".parse::<TableRef>()?,
///     TableRef::Root { location: "file:///data/my lake/orders".into() },
/// );
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum TableRef {
    /// A name in a catalog.
    Name {
        /// The levels above the table, at least one.
        namespace: Vec<String>,
        /// The table's name.
        table: String,
    },
    /// A table in AWS Glue.
    Glue {
        /// The Glue catalog id; the caller's own account when absent.
        account: Option<String>,
        /// The database: one level, lower case, 1 to 255 characters.
        database: String,
        /// The table's name: lower case, 1 to 255 characters.
        table: String,
    },
    /// The root folder of a table.
    Root {
        /// Without a slash at the end; local ones with three slashes.
        location: String,
    },
    /// One metadata file of a table.
    Metadata {
        /// Of the file; local ones with three slashes.
        location: String,
    },
    /// The table that a destination names.
    Destination(Destination),
}

impl TableRef {
    /// The whole text, secrets of a destination included, without what belongs to a write.
    #[must_use]
    pub fn to_uri_with_secrets(&self) -> Secret {
        match self {
            Self::Destination(destination) => destination.uri(Purpose::Scan),
            Self::Root { location } | Self::Metadata { location } => Secret::new(&**location),
            _ => Secret::new(self.to_string()),
        }
    }
}

fn whole(text: &str) -> Result<TableRef, ParseError> {
    if scheme::any(text).is_some_and(|scheme| starts_with_ignore_case(scheme, "iceberg+")) {
        return destination::parse(text, Purpose::Scan, Text::Table).map(TableRef::Destination);
    }
    let parse = |text| table_ref(text).map_err(|fault| ParseError::new(text, Text::Table, *fault));
    grammar::whole(text, Text::Table, parse, zero)
}

/// Leaves nothing of a table that is refused: what is wrong with it may be that it is a secret.
fn zero(table: TableRef) {
    match table {
        TableRef::Name { namespace, table } => drop((Held::new(namespace), Held::new(table))),
        TableRef::Root { location } | TableRef::Metadata { location } => drop(Held::new(location)),
        TableRef::Glue { account, database, table } => {
            drop([account.unwrap_or_default(), database, table].map(Held::new));
        }
        // It zeroes its secrets itself.
        TableRef::Destination(_) => {}
    }
}

/// `table-ref = destination / glue-table-ref / table-location / table-path / table-name`
///
/// Destinations, whose schemes begin with `iceberg+`, are read before this.
fn table_ref(input: &str) -> Parsed<'_, TableRef> {
    if input.starts_with('/') {
        return local(input, input);
    }
    if let Some((rest, store)) = scheme::storage(input) {
        return stored(store, input, rest);
    }
    match scheme::any(input) {
        Some(scheme) if scheme.eq_ignore_ascii_case("glue") => glue(input),
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => {
            let path = &input["file:".len()..];
            if path.starts_with('/') { local(input, path) } else { Err(relative(input)) }
        }
        Some(_) if scheme::broken_storage(input) => {
            Err(Fault::new(ErrorKind::UnknownScheme, input, "two slashes after the scheme: s3://bucket/path"))
        }
        Some(scheme) => {
            let fault = Fault::new(ErrorKind::UnknownScheme, input, FORMS);
            Err(match () {
                () if scheme.eq_ignore_ascii_case("http") => fault.nearest(Some("iceberg+rest+http")),
                () if scheme.eq_ignore_ascii_case("https") => fault.nearest(Some("iceberg+rest+https")),
                () => fault.nearest(nearest(scheme, SCHEMES)),
            })
        }
        None => name(input),
    }
}

/// `table-location = store "://" store-authority [ "/" *char ]`
///
/// `store-authority = 1*( %x20-2E / %x30-7E / %xA0-10FFFF )`
///
/// No port, and no `@` but that of `abfs`. A location has no `name=` behind a `?`.
fn stored<'a>(store: Store, input: &'a str, rest: &'a str) -> Parsed<'a, TableRef> {
    let (bucket, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if holds(bucket, b':') {
        grammar::no_password(rest)?;
    }
    query::no_parameters(rest)?;
    authority::existing_store(store, bucket)?;
    if store == Store::File {
        return if path.is_empty() { Err(relative(input)) } else { local(input, path) };
    }
    let prefix = store.prefix();
    let mut location = Held::new(String::with_capacity(prefix.len() + rest.len()));
    location.push(prefix);
    location.push(rest);
    located(input, location, path)
}

/// `table-path = [ "file:" [ "//" [ "localhost" ] ] ] "/" *char`
fn local<'a>(input: &'a str, path: &'a str) -> Parsed<'a, TableRef> {
    query::no_parameters(path)?;
    if path.starts_with("//") && path.find(':').is_some_and(|at| holds(&path[at..], b'@')) {
        return Err(authority::userinfo(path));
    }
    if let Some(at) = path.split('/').find(|segment| matches!(*segment, "." | "..")) {
        return Err(Fault::new(ErrorKind::DotSegment, at, "a path without `.` and `..`"));
    }
    if path == "/" {
        let end = &input[input.len()..];
        return Err(Fault::new(ErrorKind::MissingSegment, end, "the path of a table"));
    }
    let mut location = Held::new(String::with_capacity("file://".len() + path.len()));
    location.push("file://");
    location.push(path);
    located(input, location, path)
}

/// The table at `location`, which ends in `path`, and is zeroed unless it is kept.
fn located<'a>(input: &'a str, mut location: Held<String>, path: &str) -> Parsed<'a, TableRef> {
    let end = &input[input.len()..];
    if location.ends_with('/') {
        location.pop();
    }
    if location.ends_with('/') {
        return Err(Fault::new(ErrorKind::EmptySegment, end, "one slash at the end at most"));
    }
    if location.ends_with(char::is_whitespace) {
        return Err(Fault::new(ErrorKind::SurroundingSpace, end, "no white space at the end"));
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let metadata = METADATA.iter().any(|suffix| path.ends_with(suffix));
    let location = location.take();
    Ok(if metadata { TableRef::Metadata { location } } else { TableRef::Root { location } })
}

/// `glue-table-ref = "glue://" [ account ] "/" glue-database "/" glue-table`
///
/// The last two segments are the database and the table; the slashes of a federated catalog's
/// account are written as they are, or as `%2F`.
fn glue(input: &str) -> Parsed<'_, TableRef> {
    let shape = "glue://{account}/{database}/{table}, with two slashes after the colon";
    let Some(rest) = input.get("glue:".len()..).and_then(|rest| rest.strip_prefix("//")) else {
        return Err(Fault::new(ErrorKind::UnknownScheme, input, shape));
    };
    let is_account = |id: &str| percent::decode(id).is_ok_and(|id| value::is_account(&id));
    let hierarchy = grammar::hierarchy_of(input, rest, is_account)?;
    if hierarchy.authority.contains('@') {
        return Err(Fault::new(ErrorKind::Userinfo, hierarchy.authority, shape));
    }
    if let Some(query) = hierarchy.query {
        return Err(Fault::new(ErrorKind::UnexpectedQuery, query, "options beside the name"));
    }
    let Some((above, database, table)) = path::last_two(hierarchy.path) else {
        account(hierarchy.authority)?;
        path::path(hierarchy.path)?;
        return Err(Fault::new(ErrorKind::MissingSegment, hierarchy.end, shape));
    };
    let federated = percent::decode(hierarchy.authority)?.contains(':');
    if !above.is_empty() && !federated {
        account(hierarchy.authority)?;
        path::path(hierarchy.path)?;
        return Err(Fault::new(ErrorKind::ExtraSegment, hierarchy.path, shape));
    }
    path::path(above)?;
    let account = account(&rest[..hierarchy.authority.len() + above.len()])?;
    let (database, table) = (path::glue_database(database)?, path::glue_table(table)?);
    Ok(TableRef::Glue {
        account: account.map(Decoded::into_string),
        database: database.into_string(),
        table: table.into_string(),
    })
}

fn account(raw: &str) -> Parsed<'_, Option<Decoded<'_>>> {
    let account = percent::decode(raw)?;
    if account.is_empty() {
        return Ok(None);
    }
    if !value::is_account(&account) {
        let expected = "an account, or none: glue:///{database}/{table}";
        return Err(Fault::new(ErrorKind::InvalidValue, raw, expected));
    }
    Ok(Some(account))
}

/// `table-name = table-level 1*( "." table-level )`
///
/// `table-level = 1*level-char / quoted`
///
/// No `=` behind a `?`, `&` or `;` that is not quoted, and not the name of a metadata file.
fn name(input: &str) -> Parsed<'_, TableRef> {
    no_unquoted_parameters(input)?;
    // What is refused may be a secret.
    let mut levels = Held::new(Vec::with_capacity(1 + input.bytes().filter(|b| *b == b'.').count()));
    let mut rest = input;
    loop {
        let mut level = Held::new(String::new());
        if rest.starts_with('"') {
            rest = partition::quoted(rest, &mut level).map_err(|fault| match fault.kind {
                ErrorKind::MissingColumn => {
                    Fault::new(ErrorKind::EmptyLevel, fault.at, "a name between quotes")
                }
                _ => fault,
            })?;
        } else {
            let end = rest.find(|c| !level_char(c)).unwrap_or(rest.len());
            if end == 0 && (rest.is_empty() || rest.starts_with('.')) {
                if rest.contains(['/', '\\']) {
                    return Err(relative(input));
                }
                return Err(Fault::new(ErrorKind::EmptyLevel, rest, "a name between dots"));
            }
            level.push(&rest[..end]);
            rest = &rest[end..];
        }
        levels.push(level.take());
        match rest.strip_prefix('.') {
            Some(next) => rest = next,
            None if rest.is_empty() => break,
            None if rest.starts_with(['/', '\\']) => return Err(relative(input)),
            None => return Err(Fault::new(ErrorKind::InvalidName, rest, NAME)),
        }
    }
    if METADATA.iter().any(|suffix| input.ends_with(suffix)) {
        return Err(relative(input));
    }
    match levels.pop() {
        Some(table) if !levels.is_empty() => Ok(TableRef::Name { namespace: levels.take(), table }),
        table => {
            drop(table.map(Held::new));
            Err(Fault::new(ErrorKind::InvalidName, input, FORMS))
        }
    }
}

/// Refuses parameters on a name: a secret among them would be printed with it.
fn no_unquoted_parameters(input: &str) -> Parsed<'_, ()> {
    match query::unquoted(input) {
        Some(query) if query.starts_with('?') => {
            Err(Fault::new(ErrorKind::UnexpectedQuery, &query[1..], NAMED))
        }
        Some(query) => Err(Fault::new(ErrorKind::MisplacedParameter, query, NAMED)),
        None => Ok(()),
    }
}

/// `level-char = %x20-21 / %x23-2D / %x30-39 / %x3B-5B / %x5D-7E / %xA0-10FFFF`
///
/// Anything but `"`, `.`, `/`, `:`, `\` and control characters.
fn level_char(c: char) -> bool {
    !matches!(c, '"' | '.' | '/' | ':' | '\\') && !c.is_control()
}

fn relative(input: &str) -> Box<Fault<'_>> {
    Fault::new(ErrorKind::RelativePath, input, "an absolute path, such as /data/table")
}

fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// How metadata files end, gzipped ones in either spelling.
const METADATA: [&str; 2] = [".metadata.json", ".metadata.json.gz"];
const FORMS: &str = "namespace.table, glue://{account}/{database}/{table}, a location in s3, s3a, \
    gs, abfs, abfss, az or file, an absolute path, or an iceberg+… destination";
const NAMED: &str = "no parameters on a name; one that holds `?`, `&` or `;` goes in double quotes";
const NAME: &str = "`.` or the end; a name with `. / : \\` or a quote goes in double quotes";
const SCHEMES: [&str; 8] = ["s3", "s3a", "gs", "abfs", "abfss", "az", "file", "glue"];

impl FromStr for TableRef {
    type Err = ParseError;

    /// # Errors
    /// When the text is none of the forms, or breaks the rules of its form.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        whole(text)
    }
}

impl TryFrom<&str> for TableRef {
    type Error = ParseError;

    fn try_from(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

/// The table, without the `partition` and `mode` of a write.
impl From<Destination> for TableRef {
    fn from(destination: Destination) -> Self {
        Self::Destination(destination.for_scan())
    }
}

/// The canonical text, secrets redacted, without what of a destination belongs to a write. Names and
/// locations have no encoding, so that they are as they were given, whatever a terminal makes of that;
/// `Debug` escapes it.
impl fmt::Display for TableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { namespace, table } => {
                for level in namespace {
                    write!(f, "{}.", Level(level))?;
                }
                match &namespace[..] {
                    // Unquoted, these would be a file's name.
                    [.., last] if last == "metadata" && table == "json" => quoted(table, f),
                    [.., first, last] if first == "metadata" && last == "json" && table == "gz" => {
                        quoted(table, f)
                    }
                    _ => write!(f, "{}", Level(table)),
                }
            }
            Self::Glue { account, database, table } => {
                let account = account.as_deref().unwrap_or_default();
                let account = Some(account).filter(|text| text.is_empty() || value::is_account(text));
                let mut uri = UriWriter::redacted(f);
                uri.raw("glue://")?;
                uri.encoded(account.unwrap_or(REDACTED), percent::PATH)?;
                uri.raw("/")?;
                uri.encoded(database, percent::LEVEL)?;
                uri.segment(table)
            }
            Self::Root { location } | Self::Metadata { location } => {
                // Whoever filled in the field may have put in what parsing refuses.
                match whole(location) {
                    Ok(Self::Root { .. } | Self::Metadata { .. }) => f.write_str(location),
                    Err(error) if error.kind().is_of_added() => {
                        f.write_str(&mask::masked(location, Text::Table, Some(error.offset())))
                    }
                    _ => f.write_str(&mask::masked(location, Text::Table, None)),
                }
            }
            Self::Destination(destination) => {
                destination.write(&mut UriWriter::redacted(f).purpose(Purpose::Scan))
            }
        }
    }
}

impl fmt::Debug for TableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variant = match self {
            Self::Name { .. } => "Name",
            Self::Glue { .. } => "Glue",
            Self::Root { .. } => "Root",
            Self::Metadata { .. } => "Metadata",
            Self::Destination(_) => "Destination",
        };
        write!(f, "{variant}(")?;
        write!(Escaping(f), "{self}")?;
        f.write_str(")")
    }
}

/// Escapes what a terminal would not show, or take for an order.
struct Escaping<'f, 'b>(&'f mut fmt::Formatter<'b>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match mask::unprintable(c) {
            true => write!(self.0, "{}", c.escape_unicode()),
            false => self.0.write_char(c),
        })
    }
}

struct Level<'n>(&'n str);

impl fmt::Display for Level<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spaced = self.0.starts_with(char::is_whitespace) || self.0.ends_with(char::is_whitespace);
        let marked = self.0.bytes().any(query::is_mark);
        if self.0.is_empty() || spaced || marked || !self.0.chars().all(level_char) {
            return quoted(self.0, f);
        }
        f.write_str(self.0)
    }
}
