//! `calve parse`: a URI taken apart.

use std::io::Write;

use calve::{Destination, Mode, PartitionField, TableRef};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::text;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: calve parse 'iceberg+local:///data/shop/orders?partition=day(ts),bucket(16,id)'"
)]
pub(crate) struct Arguments {
    /// A destination URI, or a table as `scan` takes it
    uri: String,
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<(), Failure> {
    // What begins like a destination is one, so that its errors speak of destinations.
    let fields = if arguments.uri.to_ascii_lowercase().starts_with("iceberg+") {
        destination(&arguments.uri.parse()?)
    } else {
        table(&arguments.uri.parse()?)
    };
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", Value::Object(fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()))?;
    } else {
        text::fields(&mut out, &fields)?;
    }
    Ok(())
}

/// What a name says, in the order it is shown.
type Fields = Vec<(&'static str, Value)>;

fn destination(parsed: &Destination) -> Fields {
    let mut fields = Fields::new();
    let mut set = |name, value: Value| {
        if !value.is_null() {
            fields.push((name, value));
        }
    };
    match parsed {
        Destination::Root(root) => {
            set("form", json!("table root"));
            set("location", json!(root.location()));
        }
        Destination::Glue(glue) => {
            set("form", json!("glue"));
            set("warehouse", json!(glue.warehouse()));
            set("database", json!(glue.database()));
            set("table", json!(glue.table()));
            set("region", json!(glue.region()));
            set("account", json!(glue.account()));
            set("role_arn", json!(glue.role_arn()));
            set("credentials", json!(glue.aws_credentials().map(|_| "<redacted>")));
        }
        Destination::Rest(rest) => {
            set("form", json!("rest"));
            set("endpoint", json!(rest.endpoint()));
            set("namespace", json!(rest.namespace()));
            set("table", json!(rest.table()));
            set("warehouse", json!(rest.warehouse()));
            set("credential", json!(rest.credential().map(|_| "<redacted>")));
            set("token", json!(rest.token().map(|_| "<redacted>")));
            set("scope", json!(rest.scope()));
            set("oauth2_server_uri", json!(rest.oauth2_server_uri()));
            set("access_delegation", json!(rest.access_delegation().to_string()));
            set("region", json!(rest.region()));
            set("aws_credentials", json!(rest.aws_credentials().map(|_| "<redacted>")));
        }
    }
    let partition: Vec<String> = parsed.partition().iter().map(PartitionField::to_string).collect();
    set("partition", if partition.is_empty() { Value::Null } else { json!(partition) });
    set("mode", json!(if parsed.mode() == Mode::Overwrite { "overwrite" } else { "append" }));
    set("uri", json!(parsed.to_string()));
    fields
}

fn table(parsed: &TableRef) -> Fields {
    let fields = match parsed {
        TableRef::Name { namespace, table } => {
            vec![
                ("form", json!("name in a catalog")),
                ("namespace", json!(namespace)),
                ("table", json!(table)),
            ]
        }
        TableRef::Glue { account, database, table } => vec![
            ("form", json!("glue table")),
            ("account", json!(account)),
            ("database", json!(database)),
            ("table", json!(table)),
        ],
        TableRef::Root { location } => vec![("form", json!("table root")), ("location", json!(location))],
        TableRef::Metadata { location } => {
            vec![("form", json!("metadata file")), ("location", json!(location))]
        }
        TableRef::Destination(named) => return destination(named),
    };
    fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
