use std::collections::HashMap;
use std::time::{Duration, Instant};

use calve_catalog::{CommitOutcome, LoadedTable, Pending, TableCatalog};
use rand::Rng;

/// Full jitter between attempts, as the table's `commit.retry.*` properties have it.
pub(super) struct Backoff {
    shortest: u64,
    longest: u64,
    until: Option<Instant>,
    tries: u32,
}

impl Backoff {
    pub(super) fn new(properties: &HashMap<String, String>) -> Self {
        let millis =
            |key: &str, default| properties.get(key).and_then(|t| t.trim().parse().ok()).unwrap_or(default);
        Self {
            shortest: millis("commit.retry.min-wait-ms", 100),
            longest: millis("commit.retry.max-wait-ms", 60_000),
            until: Instant::now()
                .checked_add(Duration::from_millis(millis("commit.retry.total-timeout-ms", 1_800_000))),
            tries: 0,
        }
    }

    /// Whether the time for all tries together is over.
    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    pub(super) async fn wait(&mut self) {
        let ceiling = self.shortest.saturating_mul(1 << self.tries.min(20)).min(self.longest);
        self.tries += 1;
        let millis = rand::rng().random_range(0..=ceiling);
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
}

/// Asks what became of `pending` until it is known, a few times.
///
/// # Errors
/// When the last time the catalog could not be asked.
pub(crate) async fn settle(
    catalog: &dyn TableCatalog,
    mut pending: Pending,
) -> calve_catalog::Result<CommitOutcome<LoadedTable>> {
    let mut backoff = Backoff::new(&HashMap::new());
    for left in (0..RESOLVE_TRIES).rev() {
        match catalog.resolve(pending.clone()).await {
            Ok(CommitOutcome::Unknown(again)) => pending = again,
            Ok(known) => return Ok(known),
            Err(error) if left == 0 => return Err(error),
            Err(error) => tracing::debug!(%error, "the outcome of a commit can't be looked up"),
        }
        if left > 0 {
            backoff.wait().await;
        }
    }
    Ok(CommitOutcome::Unknown(pending))
}

const RESOLVE_TRIES: u32 = 5;
