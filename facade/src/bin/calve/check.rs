//! `calve check`: whether a table can be reached, read and written, one line each.

use std::io::Write;

use calve::{Destination, ErrorKind, StorageOptions, TableCatalog, TableRef};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::repair::mended_by;
use crate::scan::pair;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: calve check iceberg+file+s3://lake/shop/orders")]
pub(crate) struct Arguments {
    /// A destination URI, which is checked for writing too, or a table
    table: String,
    /// A storage option, such as warehouse=/data/lake
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
}

/// One line: what was checked, whether it holds, and what there is to say.
struct Line {
    what: &'static str,
    holds: bool,
    says: String,
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let is_destination = arguments.table.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("iceberg+"));
    let named = if is_destination {
        TableRef::from(arguments.table.parse::<Destination>()?)
    } else {
        arguments.table.parse()?
    };
    let root = calve::open_root(&named, &StorageOptions::from_pairs(arguments.options)?).await?;
    let mut lines = Vec::new();
    let mut line = |what, holds, says| lines.push(Line { what, holds, says });
    let loaded = root.load(root.ident()).await.map_err(calve::Error::from);
    match &loaded {
        Ok(table) => {
            line("storage", true, format!("{} can be read", root.root()));
            let (metadata, snapshots) = (&table.metadata, table.metadata.snapshots().len());
            let says = format!("{}, {snapshots} snapshots, {}", metadata.format_version(), metadata.uuid());
            line("table", true, says);
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {
            line("storage", true, format!("{} can be read", root.root()));
            // A destination is made by the first write.
            line("table", is_destination, e.to_string());
        }
        Err(e) => line("storage", false, e.to_string()),
    }
    if let Ok(table) = &loaded {
        match root.check().await {
            Ok(found) if found.is_empty() => line("layout", true, "hint and copies are right".to_owned()),
            Ok(found) => {
                for finding in found {
                    let mends = match mended_by(&finding) {
                        Some("repair") => "; `calve repair --yes` mends it",
                        Some(_) => "; `calve repair --adopt --yes` mends it",
                        None => "",
                    };
                    line("layout", false, format!("{finding}{mends}"));
                }
            }
            Err(e) => line("layout", false, e.to_string()),
        }
        if is_destination && let Err(e) = root.check_commit(table).await {
            line("commit", false, e.to_string());
        }
    }
    if is_destination && lines.iter().all(|line| line.what != "storage" || line.holds) {
        match root.check_writes().await {
            Ok(()) => lines.push(Line {
                what: "writes",
                holds: true,
                says: "a file can be made, and the store keeps what was made first".to_owned(),
            }),
            Err(e) => lines.push(Line { what: "writes", holds: false, says: e.to_string() }),
        }
    }
    let mut out = std::io::stdout().lock();
    if json {
        let checks = lines.iter().map(|l| json!({ "check": l.what, "ok": l.holds, "message": l.says }));
        writeln!(out, "{}", Value::Array(checks.collect()))?;
    } else {
        for line in &lines {
            writeln!(out, "{} {:8} {}", if line.holds { "ok  " } else { "FAIL" }, line.what, line.says)?;
        }
    }
    if lines.iter().all(|line| line.holds) { Ok(()) } else { Err(Failure::failed("not all is well")) }
}
