//! `calve parse`: a URI taken apart.

use std::io::Write;

use calve::{Destination, Mode, PartitionField, TableRef};
use serde_json::{Map, Value, json};

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
        writeln!(out, "{}", Value::Object(fields))?;
    } else {
        text::fields(&mut out, &fields)?;
    }
    Ok(())
}

fn destination(parsed: &Destination) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
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

fn table(parsed: &TableRef) -> Map<String, Value> {
    let value = match parsed {
        TableRef::Name { namespace, table } => {
            json!({"form": "name in a catalog", "namespace": namespace, "table": table})
        }
        TableRef::Glue { account, database, table } => {
            json!({"form": "glue table", "account": account, "database": database, "table": table})
        }
        TableRef::Root { location } => json!({"form": "table root", "location": location}),
        TableRef::Metadata { location } => json!({"form": "metadata file", "location": location}),
        TableRef::Destination(named) => return destination(named),
    };
    match value {
        Value::Object(fields) => fields.into_iter().filter(|(_, v)| !v.is_null()).collect(),
        _ => Map::new(),
    }
}
