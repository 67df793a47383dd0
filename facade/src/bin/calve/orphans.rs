//! `calve orphans`: files that nothing refers to.

use std::io::Write;
use std::time::Duration;

use calve::{StorageOptions, TableRef};
use serde_json::json;

use crate::failure::Failure;
use crate::scan::pair;
use crate::text::{bytes, count};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example: calve orphans /data/shop/orders --older-than 7d")]
pub(crate) struct Arguments {
    /// A table root or metadata file by path or URI, a destination URI, or namespace.table
    table: String,
    /// A storage option, such as warehouse=/data/lake
    #[arg(short = 'o', long = "option", value_name = "KEY=VALUE", value_parser = pair)]
    options: Vec<(String, String)>,
    /// How old a file must be: a number and s, m, h or d; longer than any write takes
    #[arg(long, value_name = "AGE", default_value = "3d", value_parser = age)]
    older_than: Duration,
}

/// `90s`, `15m`, `12h`, `3d`.
fn age(text: &str) -> Result<Duration, String> {
    let expected = || "a number and s, m, h or d is expected, such as 3d".to_owned();
    let unit = text.chars().last().ok_or_else(expected)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(expected()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| expected())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(expected)
}

pub(crate) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let named: TableRef = arguments.table.parse()?;
    let options = StorageOptions::from_pairs(arguments.options)?;
    let table = calve::load_table(&named, &options).await?;
    let orphans = calve::find_orphans(&table, arguments.older_than).await?;
    let mut out = std::io::stdout().lock();
    if json {
        let files = orphans.files.iter();
        let files: Vec<_> =
            files.map(|f| json!({ "path": f.path, "bytes": f.size, "modified_ms": f.modified_ms })).collect();
        let told = json!({ "orphans": files, "too_young": orphans.young, "in_use": orphans.in_use });
        writeln!(out, "{told}")?;
        return Ok(());
    }
    for file in &orphans.files {
        writeln!(out, "{}", file.path)?;
    }
    let size = orphans.files.iter().map(|file| file.size).sum();
    drop(out);
    eprintln!(
        "{} unreferenced ({}), {} too young to tell, {} in use; nothing was deleted",
        count(orphans.files.len() as u64, "file"),
        bytes(size),
        orphans.young,
        orphans.in_use
    );
    Ok(())
}
