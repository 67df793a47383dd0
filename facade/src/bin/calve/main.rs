//! The `calve` command.

mod check;
mod explain;
mod failure;
mod inspect;
mod orphans;
mod output;
mod parse;
mod repair;
mod scan;
mod text;
mod write;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Write and scan Apache Iceberg tables by URI, without a query engine.
#[derive(Debug, Parser)]
#[command(name = "calve", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Arguments {
    /// Print JSON for machines instead of text for people
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Append Parquet, CSV, JSON lines or Arrow IPC files to a table, creating it on first write
    Write(write::Arguments),
    /// Read rows, filtered and projected
    Scan(scan::Arguments),
    /// Show which files a scan would read, and what prunes the others
    Explain(explain::Arguments),
    /// Show a table's schema, partitioning, snapshots, files and partitions
    Inspect(inspect::Arguments),
    /// Check a destination or table URI and show it taken apart, secrets redacted
    Parse(parse::Arguments),
    /// Test whether a table or destination can be reached, read and written
    Check(check::Arguments),
    /// List the files below a table that nothing refers to; deletes nothing
    Orphans(orphans::Arguments),
    /// Mend a table root's hint and copies, or adopt a root
    Repair(repair::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(e) if !e.use_stderr() => {
            // Help and version were asked for.
            return if e.print().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(e) => return Failure::from_usage(&e).report(std::env::args().any(|a| a == "--json")),
    };
    let json = arguments.json;
    let done = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(e) => Err(Failure::failed(format!("no threads can be started: {e}"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(json),
    }
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let json = arguments.json;
    match arguments.command {
        Command::Write(write) => write::run(write, json).await,
        Command::Scan(scan) => scan::run(scan, json).await,
        Command::Explain(explain) => explain::run(explain, json).await,
        Command::Inspect(inspect) => inspect::run(inspect, json).await,
        Command::Parse(parse) => parse::run(&parse, json),
        Command::Check(check) => check::run(check, json).await,
        Command::Orphans(orphans) => orphans::run(orphans, json).await,
        Command::Repair(repair) => repair::run(repair, json).await,
    }
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 bad input, 3 conflict, 4 outcome unknown";
