//! `calve explain`: what a scan would read.

use std::io::Write;

use crate::failure::Failure;
use crate::scan::TableArguments;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: calve explain /data/shop/orders --where \"ts < '2024-06-01'\"")]
pub(crate) struct Arguments {
    #[command(flatten)]
    table: TableArguments,
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let plan = arguments.table.scan()?.plan().await?;
    let mut out = std::io::stdout().lock();
    if json {
        let explained = serde_json::to_string(plan.explain())
            .map_err(|e| Failure::failed(format!("the plan can't be shown as JSON: {e}")))?;
        writeln!(out, "{explained}")?;
    } else {
        writeln!(out, "{}", plan.explain().to_string().trim_end())?;
    }
    Ok(())
}
