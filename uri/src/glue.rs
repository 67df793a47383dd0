use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::destination::{Destination, Mode};
use crate::error::{ErrorKind, Fault, ParseError, Parsed};
use crate::grammar::query::{Form, Param, Params, Purpose};
use crate::grammar::scheme::Store;
use crate::grammar::{Hierarchy, authority, path, percent, value};
use crate::packed::Packed;
use crate::partition::PartitionField;
use crate::secret::AwsCredentials;
use crate::write::UriWriter;

/// A table in AWS Glue, under an S3 warehouse.
///
/// ```
/// use calve_uri::{Destination, GlueDestination, PartitionField, Transform};
///
/// let Destination::Glue(parsed) = "iceberg+glue+s3://lake/wh/sales/orders\
///     ?region=eu-west-1&partition=day(ts)".parse()? else { unreachable!() };
/// assert_eq!(parsed.warehouse(), "s3://lake/wh");
/// assert_eq!((parsed.database(), parsed.table()), ("sales", "orders"));
///
/// let built = GlueDestination::builder("s3://lake/wh", "sales", "orders")
///     .region("eu-west-1")
///     .partition([PartitionField::new(Transform::Day, "ts")])
///     .build()?;
/// assert_eq!(built, parsed);
/// # Ok::<(), calve_uri::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct GlueDestination {
    texts: Packed<6>,
    aws_credentials: Option<Box<AwsCredentials>>,
    partition: Vec<PartitionField>,
    mode: Mode,
}

impl GlueDestination {
    /// Starts a destination from its parts, none of them encoded.
    ///
    /// `warehouse` is a location such as `s3://lake/wh`. It takes no parameters, by the rule for a
    /// [`TableRef`](crate::TableRef).
    pub fn builder(
        warehouse: impl AsRef<str>,
        database: impl AsRef<str>,
        table: impl AsRef<str>,
    ) -> GlueBuilder {
        let warehouse = warehouse.as_ref();
        let warehouse = warehouse.strip_suffix('/').unwrap_or(warehouse);
        let (database, table) = (database.as_ref(), table.as_ref());
        GlueBuilder(Self {
            texts: Packed::new([Some(warehouse), Some(database), Some(table), None, None, None]),
            aws_credentials: None,
            partition: Vec::new(),
            mode: Mode::default(),
        })
    }

    /// The location under which new tables go, as `{warehouse}/{database}/{table}`: decoded,
    /// without a slash at the end.
    #[must_use]
    pub fn warehouse(&self) -> &str {
        self.texts.required(WAREHOUSE)
    }

    /// The Glue database: one level, lower case, 1 to 255 characters.
    #[must_use]
    pub fn database(&self) -> &str {
        self.texts.required(DATABASE)
    }

    /// The table's name: lower case, 1 to 255 characters.
    #[must_use]
    pub fn table(&self) -> &str {
        self.texts.required(TABLE)
    }

    /// The AWS region of the catalog and its storage.
    #[must_use]
    pub fn region(&self) -> Option<&str> {
        self.texts.get(REGION)
    }

    /// The Glue catalog id: an account, or a federated catalog in one.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        self.texts.get(ACCOUNT)
    }

    /// The role to assume first, for the catalog and the storage.
    #[must_use]
    pub fn role_arn(&self) -> Option<&str> {
        self.texts.get(ROLE_ARN)
    }

    /// Credentials to use instead of ambient ones.
    #[must_use]
    pub fn aws_credentials(&self) -> Option<&AwsCredentials> {
        self.aws_credentials.as_deref()
    }

    /// The partition fields asked for.
    #[must_use]
    pub fn partition(&self) -> &[PartitionField] {
        &self.partition
    }

    /// What becomes of the rows that are there already.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// `glue = "iceberg+glue+s3://" s3-bucket path "/" glue-database "/" glue-table [ "?" query ]`
    #[inline]
    pub(crate) fn parse<'a>(hierarchy: &Hierarchy<'a>, purpose: Purpose) -> Parsed<'a, Self> {
        authority::s3_bucket(hierarchy.authority)?;
        let Some((above, database, table)) = path::last_two(hierarchy.path) else {
            path::path(hierarchy.path)?;
            let end = &hierarchy.path[hierarchy.path.len()..];
            return Err(Fault::new(ErrorKind::MissingSegment, end, "/{database}/{table}"));
        };
        let warehouse = path::location(Store::S3, hierarchy, above)?;
        let database = path::glue_database(database)?;
        let table = path::glue_table(table)?;
        let mut params = Params::new(hierarchy);
        params.read(hierarchy, Form::Glue, purpose)?;
        let region = value::region(&params)?;
        let account = value::account(&params)?;
        let role_arn = value::role_arn(&params)?;
        Ok(Self {
            partition: value::partition(&params)?,
            mode: value::mode_or_default(&params)?,
            // After all that does not depend on what a secret holds.
            aws_credentials: value::aws_credentials(&params)?.map(Box::new),
            // Last: until all is accepted, nothing is copied that is not zeroed.
            texts: Packed::new([
                Some(&warehouse),
                Some(&database),
                Some(&table),
                region.as_deref(),
                account.as_deref(),
                role_arn.as_deref(),
            ]),
        })
    }

    /// Without what belongs to a write.
    pub(crate) fn for_scan(self) -> Self {
        Self { partition: Vec::new(), mode: Mode::default(), ..self }
    }

    pub(crate) fn write(&self, uri: &mut UriWriter<'_>) -> fmt::Result {
        uri.raw("iceberg+glue+")?;
        uri.location(self.warehouse())?;
        uri.raw("/")?;
        uri.encoded(self.database(), percent::LEVEL)?;
        uri.segment(self.table())?;
        uri.param(Param::Region, self.region())?;
        uri.param(Param::Account, self.account())?;
        uri.param(Param::RoleArn, self.role_arn())?;
        uri.aws_credentials(self.aws_credentials())?;
        uri.plan(&self.partition, self.mode)
    }
}

// Places in `texts`.
const WAREHOUSE: usize = 0;
const DATABASE: usize = 1;
const TABLE: usize = 2;
const REGION: usize = 3;
const ACCOUNT: usize = 4;
const ROLE_ARN: usize = 5;

impl fmt::Display for GlueDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut UriWriter::redacted(f))
    }
}

impl fmt::Debug for GlueDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GlueDestination({self})")
    }
}

impl From<GlueDestination> for Destination {
    fn from(glue: GlueDestination) -> Self {
        Self::Glue(glue)
    }
}

/// Puts a [`GlueDestination`] together; nothing is checked before [`build`](GlueBuilder::build).
#[derive(Clone)]
#[must_use]
pub struct GlueBuilder(GlueDestination);

/// Masked like an error: nothing is known of the parts yet.
impl fmt::Debug for GlueBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GlueBuilder({})", Destination::Glue(self.0.clone()).masked())
    }
}

impl GlueBuilder {
    /// Sets the AWS region.
    pub fn region(mut self, region: impl AsRef<str>) -> Self {
        self.0.texts = self.0.texts.with(REGION, region.as_ref());
        self
    }

    /// Sets the Glue catalog id.
    pub fn account(mut self, account: impl AsRef<str>) -> Self {
        self.0.texts = self.0.texts.with(ACCOUNT, account.as_ref());
        self
    }

    /// Sets the role to assume.
    pub fn role_arn(mut self, role_arn: impl AsRef<str>) -> Self {
        self.0.texts = self.0.texts.with(ROLE_ARN, role_arn.as_ref());
        self
    }

    /// Sets explicit credentials.
    pub fn aws_credentials(mut self, credentials: AwsCredentials) -> Self {
        self.0.aws_credentials = Some(Box::new(credentials));
        self
    }

    /// Sets the partition fields.
    pub fn partition(mut self, fields: impl IntoIterator<Item = PartitionField>) -> Self {
        self.0.partition = fields.into_iter().collect();
        self
    }

    /// Sets what becomes of the rows that are there already.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.0.mode = mode;
        self
    }

    /// Checks the whole.
    ///
    /// # Errors
    /// As parsing the URI that the parts make; the offset is one in that URI.
    pub fn build(self) -> Result<GlueDestination, ParseError> {
        match Destination::Glue(self.0).checked()? {
            Destination::Glue(glue) => Ok(glue),
            _ => unreachable!("the scheme written is iceberg+glue"),
        }
    }
}
