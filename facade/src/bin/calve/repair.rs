//! `calve repair`: a root, mended.

use std::io::Write;

use calve::{CommitOutcome, StorageOptions, TableRef};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::scan::pair;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: calve repair /data/shop/orders --yes")]
pub(crate) struct Arguments {
    /// A table root by path or URI, a root's destination URI, or namespace.table
    table: String,
    /// A storage option, such as warehouse=/data/lake
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// Say what would be done, and do nothing: what happens without --yes
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do it
    #[arg(long)]
    yes: bool,
    /// Make it a table root of calve: a catalog's table or a copied one. Stop all other writers first
    #[arg(long)]
    adopt: bool,
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let named: TableRef = arguments.table.parse()?;
    let root = calve::open_root(&named, &StorageOptions::from_pairs(arguments.options)?).await?;
    let found = root.check().await.map_err(calve::Error::from)?;
    let mut mended = Vec::new();
    if arguments.yes {
        mended = root.repair().await.map_err(calve::Error::from)?;
        let adopts = found.iter().filter(|finding| finding.is_mended_by_adoption());
        if arguments.adopt && adopts.clone().next().is_some() {
            match root.adopt().await.map_err(calve::Error::from)? {
                CommitOutcome::Committed(_) => mended.extend(adopts.cloned()),
                CommitOutcome::Conflict(conflict) => return Err(Failure::conflict(conflict.reason)),
                CommitOutcome::Unknown(pending) => return Err(Failure::unknown(pending.reason())),
            }
        }
    }
    let mut out = std::io::stdout().lock();
    if json {
        let findings: Vec<Value> = found
            .iter()
            .map(|finding| {
                json!({
                    "finding": finding.to_string(),
                    "mended_by": mended_by(finding),
                    "mended": mended.contains(finding),
                })
            })
            .collect();
        writeln!(out, "{}", json!({ "root": root.root().as_str(), "findings": findings }))?;
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "{}: nothing to mend", root.root())?;
    }
    for finding in &found {
        let fate = match (mended.contains(finding), mended_by(finding)) {
            (true, _) => "mended",
            (false, Some("repair")) => "would be mended by --yes",
            (false, Some(_)) => "would be mended by --adopt --yes",
            (false, None) => "can't be mended here",
        };
        writeln!(out, "{finding}: {fate}")?;
    }
    Ok(())
}

pub(crate) fn mended_by(finding: &calve::Finding) -> Option<&'static str> {
    match (finding.is_mended_by_repair(), finding.is_mended_by_adoption()) {
        (true, _) => Some("repair"),
        (_, true) => Some("adoption"),
        _ => None,
    }
}
