use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use zeroize::Zeroize;

use crate::error::{ErrorKind, Fault, ParseError};
use crate::grammar::{self, partition};
use crate::held::Held;
use crate::mask::Text;

/// One field of a requested partition spec: a transform of a column, as asked for and not yet
/// bound to any schema.
///
/// ```
/// use calve_uri::{PartitionField, Transform};
///
/// let field: PartitionField = "Bucket( 16 , address.city )".parse()?;
/// assert_eq!(field.transform(), Transform::Bucket(16));
/// assert_eq!(field.column(), "address.city");
/// assert_eq!(field.to_string(), "bucket(16,address.city)");
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionField {
    transform: Transform,
    column: String,
}

impl PartitionField {
    /// A field from its parts. `column` is the full name, with dots between the levels of a
    /// nested column and without quotes.
    ///
    /// Nothing is checked: whether the column exists and takes the transform is for whoever knows
    /// the schema.
    #[must_use]
    pub fn new(transform: Transform, column: impl Into<String>) -> Self {
        Self { transform, column: column.into() }
    }

    /// What is done to the column's value.
    #[must_use]
    pub fn transform(&self) -> Transform {
        self.transform
    }

    /// The column's full name, unquoted.
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }
}

/// So that nothing is left of a list that is refused: a secret may have been added to it.
impl Zeroize for PartitionField {
    fn zeroize(&mut self) {
        self.column.zeroize();
    }
}

/// The canonical text: lower-case transform, no spaces, quotes only where needed.
impl fmt::Display for PartitionField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = Column(&self.column);
        match self.transform {
            Transform::Identity => write!(f, "{column}"),
            Transform::Bucket(n) | Transform::Truncate(n) => {
                write!(f, "{}({n},{column})", self.transform.name())
            }
            _ => write!(f, "{}({column})", self.transform.name()),
        }
    }
}

impl FromStr for PartitionField {
    type Err = ParseError;

    /// Reads a single item.
    ///
    /// # Errors
    /// As [`parse_partition`]; a second item is an error too.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut fields = Held::new(parse_partition(text)?);
        match fields.pop() {
            Some(field) if fields.is_empty() => Ok(field),
            last => {
                drop(Held::new(Vec::from_iter(last)));
                let fault = Fault::new(ErrorKind::PartitionSyntax, text, "a single item");
                Err(ParseError::new(text, Text::Partition, *fault))
            }
        }
    }
}

impl TryFrom<&str> for PartitionField {
    type Error = ParseError;

    fn try_from(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

/// Reads a comma-separated list of partition fields.
///
/// An item is a column, which stands for its identity, or a transform with its arguments in
/// parentheses. Transform names are read in any case; spaces around items, arguments and commas
/// mean nothing. A column name that holds a comma, a parenthesis, a double quote or a space goes
/// in double quotes, in which `""` is a quote; so does one with a `?`, `&` or `;` if a `=` is anywhere
/// behind that, as what was not quoted might be parameters that somebody has added.
///
/// ```
/// use calve_uri::{PartitionField, Transform, parse_partition};
///
/// assert_eq!(
///     parse_partition(r#"day(ts), bucket(16, id), "odd, name""#)?,
///     [
///         PartitionField::new(Transform::Day, "ts"),
///         PartitionField::new(Transform::Bucket(16), "id"),
///         PartitionField::new(Transform::Identity, "odd, name"),
///     ],
/// );
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
///
/// # Errors
/// When the text breaks the grammar, names a transform that is not supported, gives a bucket count
/// or width outside 1 to 2147483647, repeats a field, or takes two time transforms of one column.
pub fn parse_partition(text: &str) -> Result<Vec<PartitionField>, ParseError> {
    let spec = |text| partition::spec(text).map_err(|fault| ParseError::new(text, Text::Partition, *fault));
    grammar::printable(text, Text::Partition, spec, |fields| drop(Held::new(fields)))
}

/// A partition transform of the Iceberg table specification, section "Partition Transforms".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Transform {
    /// The value itself.
    Identity,
    /// A hash of the value, modulo this number of buckets.
    Bucket(u32),
    /// The value cut to this width.
    Truncate(u32),
    /// Years since 1970.
    Year,
    /// Months since 1970-01.
    Month,
    /// Days since 1970-01-01.
    Day,
    /// Hours since 1970-01-01 00:00 UTC.
    Hour,
}

impl Transform {
    /// The name without arguments: `identity`, `bucket`, `truncate`, `year`, `month`, `day` or
    /// `hour`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Bucket(_) => "bucket",
            Self::Truncate(_) => "truncate",
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
            Self::Hour => "hour",
        }
    }

    /// Whether this is `year`, `month`, `day` or `hour`.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self, Self::Year | Self::Month | Self::Day | Self::Hour)
    }
}

impl FromStr for Transform {
    type Err = ParseError;

    /// Reads what table metadata spells: `bucket[16]`, `day`.
    ///
    /// # Errors
    /// When the name is none of the seven, or the number in brackets is missing, out of range, or there
    /// where none belongs.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        partition::transform(text).map_err(|fault| ParseError::new(text, Text::Partition, *fault))
    }
}

impl TryFrom<&str> for Transform {
    type Error = ParseError;

    fn try_from(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

/// As table metadata spells it: `bucket[16]`, `day`.
impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bucket(n) | Self::Truncate(n) => write!(f, "{}[{n}]", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

/// Fields joined by commas: the canonical text of a partition list.
pub(crate) struct Fields<'p>(pub(crate) &'p [PartitionField]);

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, field)| {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{field}")
        })
    }
}

struct Column<'p>(&'p str);

impl fmt::Display for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if partition::is_plain(self.0) {
            return f.write_str(self.0);
        }
        quoted(self.0, f)
    }
}

/// Writes `name` in double quotes, with each quote in it doubled.
pub(crate) fn quoted(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for (i, part) in name.split('"').enumerate() {
        if i > 0 {
            f.write_str("\"\"")?;
        }
        f.write_str(part)?;
    }
    f.write_str("\"")
}
