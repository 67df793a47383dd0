//! Publishing one version: the name decides, copy and hint follow.

use bytes::Bytes;
use calve_catalog::{
    CommitOutcome, CommitToken, Error, ErrorKind, LoadedTable, Pending, Result, TableIdent, Warning,
};
use calve_storage::{HintState, Location, PutNew, Storage};
use iceberg::spec::TableMetadataRef;
use uuid::Uuid;

use crate::hint::Hint;
use crate::layout::{Layout, Spelling, Version};
use crate::open::{Opened, is_table_root, open, taken_versions};
use crate::retire::retire;

/// How often the deciding put is sent when it verifiably did not land.
const SENDS: u32 = 4;

/// How often a hint that moves under us is tried again.
const HINT_MOVES: u32 = 3;

/// One attempt to publish a version: the exact request, kept whole so that it can be looked for or
/// sent again.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) storage: Storage,
    pub(crate) layout: Layout,
    pub(crate) ident: TableIdent,
    /// The version built on; `None` creates version 0.
    pub(crate) base: Option<Opened>,
    /// The hint when the base was loaded or staged.
    pub(crate) hint_at_load: HintState,
    pub(crate) metadata: TableMetadataRef,
    pub(crate) bytes: Bytes,
    pub(crate) snapshot_ids: Vec<i64>,
    /// Metadata files that this version's log no longer names.
    pub(crate) expired: Vec<String>,
}

/// What the name of the next version turned out to hold.
enum Decision {
    /// Ours, with what the store said while it made it.
    Won(Option<String>),
    Lost(String),
    Unclear(String),
}

impl Attempt {
    fn next(&self) -> Version {
        self.base.as_ref().map_or(0, |base| base.version + 1)
    }

    fn copy(&self) -> Location {
        self.layout.copy(self.next(), self.metadata.uuid())
    }

    /// Where another spelling of the next version may be made, the folder is listed around the put.
    fn other_spellings_count(&self) -> bool {
        self.base.as_ref().is_none_or(Opened::other_spellings_count)
    }

    fn unknown(self, reason: String) -> CommitOutcome<LoadedTable> {
        CommitOutcome::Unknown(Pending::new(self.ident.clone(), self.snapshot_ids.clone(), reason, self))
    }

    /// Runs the whole protocol. Once the deciding put may have been sent, dropping the returned
    /// future no longer stops it.
    ///
    /// # Errors
    /// Only before the deciding put, or when the store definitely refused it.
    pub(crate) async fn publish(self) -> Result<CommitOutcome<LoadedTable>> {
        self.prove().await?;
        let hint = self.storage.read_state(&self.layout.hint()).await?;
        let hinted = Hint::parse(hint.content.as_deref()).version();
        if let Some(hinted) = hinted
            && hint.content != self.hint_at_load.content
            && hinted >= self.next()
        {
            let base = self.base.as_ref().map_or("none".to_owned(), |b| b.version.to_string());
            return Ok(CommitOutcome::conflict(format!(
                "{}: the version hint advanced from {base} to {hinted} while this commit was prepared",
                self.layout.root()
            )));
        }
        if self.other_spellings_count()
            && let Some(taken) = self.other_spelling(self.base.is_none()).await?
        {
            return Ok(CommitOutcome::conflict(format!(
                "{}: version {} is already there as {taken}",
                self.layout.root(),
                self.next()
            )));
        }
        self.run(hint).await
    }

    /// Makes sure, once, that the store heeds the condition everything else stands on: by the manifest
    /// list that this commit has just made, or by a file made for it.
    async fn prove(&self) -> Result<()> {
        if self.storage.is_proven() {
            return Ok(());
        }
        let snapshot = self.snapshot_ids.last().and_then(|id| self.metadata.snapshot_by_id(*id));
        if let Some(snapshot) = snapshot {
            let list = snapshot.manifest_list();
            let bytes = self.storage.read(list).await?;
            return Ok(self.storage.prove_conditions(&list.parse()?, bytes).await?);
        }
        prove_by_probe(&self.storage, self.layout.metadata()).await
    }

    /// The rest of the protocol in a task of its own, so that nothing the caller does cuts it in half.
    async fn run(self, hint: HintState) -> Result<CommitOutcome<LoadedTable>> {
        let running = tokio::spawn(self.clone().decide_and_finish(hint));
        match running.await {
            Ok(outcome) => outcome,
            Err(e) => Ok(self.unknown(format!("the commit was interrupted: {e}"))),
        }
    }

    /// Finds out what became of this attempt, sending it again only when its name is still free and
    /// its base still current.
    pub(crate) async fn resolve(self) -> Result<CommitOutcome<LoadedTable>> {
        let hint = self.storage.read_state(&self.layout.hint()).await?;
        match self.read_back().await {
            ReadBack::Ours => return self.finish(hint, None).await,
            ReadBack::Other => return Ok(CommitOutcome::conflict(self.lost())),
            ReadBack::Unreadable(reason) => return Ok(self.unknown(reason)),
            ReadBack::Retired => {
                return self.look_for_snapshot(hint, "the name of its version is retired").await;
            }
            ReadBack::Absent => {}
        }
        let current = open(&self.storage, &self.layout).await?;
        let moved = current.as_ref().map(|c| c.version) != self.base.as_ref().map(|b| b.version);
        match (moved, current) {
            (false, _) => self.run(hint).await,
            (true, None) => {
                let gone = format!("the table at {} is gone", self.layout.root());
                Ok(self.unknown(gone))
            }
            (true, Some(current)) if self.is_in(&current) => {
                Ok(CommitOutcome::committed(loaded(self.ident, self.storage, &self.layout, current)))
            }
            // The table may have moved on with our own request, which has landed meanwhile.
            (true, Some(current)) => match self.read_back().await {
                ReadBack::Ours => self.finish(hint, None).await,
                ReadBack::Other => Ok(CommitOutcome::conflict(format!(
                    "{} moved on to version {}",
                    self.layout.root(),
                    current.version
                ))),
                ReadBack::Retired | ReadBack::Absent => {
                    let reason = format!("{} moved on without version {}", self.layout.root(), self.next());
                    Ok(self.unknown(reason))
                }
                ReadBack::Unreadable(reason) => Ok(self.unknown(reason)),
            },
        }
    }

    async fn decide_and_finish(self, hint: HintState) -> Result<CommitOutcome<LoadedTable>> {
        match self.decide().await? {
            Decision::Won(said) => self.finish(hint, said).await,
            Decision::Lost(reason) => Ok(CommitOutcome::conflict(reason)),
            Decision::Unclear(reason) => self.look_for_snapshot(hint, &reason).await,
        }
    }

    /// Makes the name of the next version. A refusal or a lost answer is never believed: the name is
    /// read back, for it may hold our own first try.
    async fn decide(&self) -> Result<Decision> {
        let name = self.layout.version(self.next());
        let mut ambiguous = false;
        let mut last = String::new();
        for _ in 0..SENDS {
            let mut failure = match self.storage.put_new(&name, self.bytes.clone()).await {
                Ok(PutNew::Created) => return Ok(Decision::Won(None)),
                Ok(PutNew::Taken) => None,
                Err(e) => Some(e),
            };
            // A refusal too is only believed when nothing lies there and no earlier try may yet land.
            let refused = failure.as_ref().is_some_and(refused) && !ambiguous;
            ambiguous = true;
            match self.read_back().await {
                ReadBack::Ours => return Ok(Decision::Won(failure.map(|e| e.to_string()))),
                ReadBack::Other => return Ok(Decision::Lost(self.lost())),
                ReadBack::Retired => {
                    return Ok(Decision::Unclear(format!("{name} is taken by a version long retired")));
                }
                ReadBack::Unreadable(reason) => return Ok(Decision::Unclear(reason)),
                ReadBack::Absent => {
                    if let Some(e) = failure.take_if(|_| refused) {
                        return Err(e.into());
                    }
                    let failure = failure.map(|e| e.to_string());
                    tracing::debug!(%name, failure, "the put did not land; sending the same request again");
                    last = failure.map_or_else(String::new, |failure| format!(": {failure}"));
                }
            }
        }
        Ok(Decision::Unclear(format!("{name} could not be created in {SENDS} tries{last}")))
    }

    fn lost(&self) -> String {
        format!("{}: somebody else committed version {} first", self.layout.root(), self.next())
    }

    async fn read_back(&self) -> ReadBack {
        let name = self.layout.version(self.next());
        match self.storage.read_if_exists(&name).await {
            Ok(Some(bytes)) if bytes == self.bytes => ReadBack::Ours,
            Ok(Some(bytes)) if bytes.is_empty() => ReadBack::Retired,
            Ok(Some(_)) => ReadBack::Other,
            Ok(None) => ReadBack::Absent,
            Err(e) => ReadBack::Unreadable(e.to_string()),
        }
    }

    /// The name can't tell, so the current table does: committed if our snapshot is in it, else
    /// unknown, never a conflict.
    async fn look_for_snapshot(self, hint: HintState, reason: &str) -> Result<CommitOutcome<LoadedTable>> {
        match open(&self.storage, &self.layout).await {
            Ok(Some(current)) if self.is_in(&current) => {
                if current.version == self.next() {
                    return self.finish(hint, None).await;
                }
                Ok(CommitOutcome::committed(loaded(self.ident, self.storage, &self.layout, current)))
            }
            Ok(_) => Ok(self.unknown(reason.to_owned())),
            Err(e) => Ok(self.unknown(format!("{reason}; {e}"))),
        }
    }

    fn is_in(&self, current: &Opened) -> bool {
        current.metadata.uuid() == self.metadata.uuid()
            && !self.snapshot_ids.is_empty()
            && self.snapshot_ids.iter().all(|id| current.metadata.snapshot_by_id(*id).is_some())
    }

    /// Copy and hint of a version that is won. What fails here is a warning: the commit stands, unless
    /// there is a sign that its name had been taken before and deleted.
    async fn finish(self, hint: HintState, said: Option<String>) -> Result<CommitOutcome<LoadedTable>> {
        let mut warnings = Vec::new();
        if let Some(reason) = said.filter(|_| !self.storage.has_conditional_update()) {
            warnings.push(Warning::NotFlushed { reason });
        }
        if self.base.is_none() {
            self.storage.flush_folders(self.layout.metadata()).await;
        }
        if self.other_spellings_count()
            && let Ok(Some(theirs)) = self.other_spelling(false).await
        {
            let ours = self.layout.version(self.next()).name().to_owned();
            warnings.push(Warning::Contested { ours, theirs });
        }
        let copied = match self.repair_copies().await {
            Ok(()) => self.make_copy(self.copy(), self.bytes.clone()).await,
            Err(e) => Err(e),
        };
        let mut file = self.copy();
        // Other metadata under our copy's name, a copy that others deleted, or a hint that others moved to
        // our version or beyond: somebody may have had this version before.
        let mut passed = false;
        let hinted = Hint::parse(hint.content.as_deref()).version();
        let ours = || HintState { content: Some(self.next().to_string().into()), ..HintState::default() };
        // Never beyond our own version: the next commit on it would take that for known to be too high.
        let mut left = if hinted > Some(self.next()) { ours() } else { hint.clone() };
        let not_made = match copied {
            Ok(Copied::There) => None,
            Ok(Copied::Other) => {
                passed = true;
                Some(format!("{} holds other metadata", self.copy()))
            }
            Ok(Copied::Vanished) => {
                passed = true;
                Some(format!("{} vanished while it was written", self.copy()))
            }
            Err(e) => Some(e.to_string()),
        };
        match not_made {
            // The hint must not pass a version without its copy.
            Some(reason) => {
                warnings.push(Warning::CopyNotMade { reason });
                file = self.layout.version(self.next());
            }
            None => match self.move_hint(hint).await {
                Ok(Moved::ByUs) => {
                    // The hint has passed what is given up.
                    retire(&self.storage, &self.layout, &self.metadata, self.next(), &self.expired).await;
                    left = ours();
                }
                Ok(Moved::ByOthers) => passed = true,
                Err(e) => warnings.push(Warning::HintNotMoved { reason: e.to_string() }),
            },
        }
        if passed && !self.snapshot_ids.is_empty() {
            // Not a conflict, whatever is found: the snapshot may have been seen and expired since.
            match open(&self.storage, &self.layout).await {
                Ok(Some(current)) if self.is_in(&current) => {}
                Ok(_) => {
                    let reason = format!(
                        "version {} of {} was there before and its name deleted: our snapshot is not in the table as it is",
                        self.next(),
                        self.layout.root()
                    );
                    return Ok(self.unknown(reason));
                }
                Err(e) => return Ok(self.unknown(format!("the table moved on and can't be read: {e}"))),
            }
        }
        let opened = Opened {
            version: self.next(),
            spelling: Spelling::Plain,
            file: self.layout.version(self.next()),
            metadata: self.metadata.clone(),
            bytes: self.bytes.clone(),
            hint: left,
        };
        let mut table = loaded(self.ident, self.storage, &self.layout, opened);
        table.metadata_location = file.as_str().to_owned();
        Ok(CommitOutcome::committed_with(table, warnings))
    }

    /// Copies that crashed writers left unmade: of each version past the hint, up to the base.
    async fn repair_copies(&self) -> Result<()> {
        let Some(base) = self.base.as_ref().filter(|b| b.spelling == Spelling::Plain) else { return Ok(()) };
        let first = match base.hint_version() {
            None => 0,
            Some(hinted) if hinted <= base.version => hinted + 1,
            // A hint that was too high says nothing of copies.
            Some(_) => base.version,
        };
        for version in first..=base.version {
            let bytes = if version == base.version {
                base.bytes.clone()
            } else {
                match self.storage.read_if_exists(&self.layout.version(version)).await? {
                    Some(bytes) if !bytes.is_empty() => bytes,
                    _ => continue,
                }
            };
            let copy = self.layout.copy(version, base.metadata.uuid());
            // One that retention deletes at this moment is needed no more.
            if let Copied::Other = self.make_copy(copy.clone(), bytes).await? {
                return Err(Error::new(ErrorKind::Damaged, format!("{copy} holds other metadata")));
            }
        }
        Ok(())
    }

    async fn make_copy(&self, copy: Location, bytes: Bytes) -> Result<Copied> {
        let failure = match self.storage.put_new(&copy, bytes.clone()).await {
            Ok(PutNew::Created) => return Ok(Copied::There),
            Ok(PutNew::Taken) => None,
            Err(e) => Some(e),
        };
        match (self.storage.read_if_exists(&copy).await?, failure) {
            (Some(there), _) if there == bytes => Ok(Copied::There),
            (Some(_), _) => Ok(Copied::Other),
            (None, Some(e)) => Err(e.into()),
            (None, None) => Ok(Copied::Vanished),
        }
    }

    async fn move_hint(&self, mut state: HintState) -> Result<Moved> {
        let hint = self.layout.hint();
        let ours = Bytes::from(self.next().to_string());
        for _ in 0..HINT_MOVES {
            let hinted = Hint::parse(state.content.as_deref()).version();
            let too_high_at_load = state.content == self.hint_at_load.content;
            if hinted.is_some_and(|h| h >= self.next()) && !too_high_at_load {
                return Ok(Moved::ByOthers);
            }
            let put = self.storage.put_if_unchanged(&hint, ours.clone(), &state).await;
            if let Ok(true) = put {
                return Ok(Moved::ByUs);
            }
            // After a failure the put may have landed: what the hint says now decides.
            let now = self.storage.read_state(&hint).await?;
            if let Err(e) = put
                && now == state
            {
                return Err(e.into());
            }
            state = now;
        }
        Err(Error::new(ErrorKind::Failed, format!("{hint} kept changing")))
    }

    /// A file that claims the next version under a name that does not arbitrate; with `any`, a file of
    /// whatever version, for a table to be.
    async fn other_spelling(&self, any: bool) -> Result<Option<String>> {
        let next = self.next();
        let ours = self.copy();
        let taken = taken_versions(&self.storage, &self.layout).await?;
        Ok(taken
            .into_iter()
            .filter(|name| any || name.version == next)
            .find(|name| {
                name.name != ours.name() && (name.spelling != Spelling::Plain || name.version != next)
            })
            .map(|name| name.name))
    }
}

/// Makes sure that the store heeds conditions, by a file made for it.
pub(crate) async fn prove_by_probe(storage: &Storage, folder: &Location) -> Result<()> {
    let probe = folder.join(&format!("{}.probe", Uuid::new_v4()))?;
    let _ = storage.put_new(&probe, Bytes::new()).await?;
    let proven = storage.prove_conditions(&probe, Bytes::new()).await;
    // Where it may not be deleted it stays, and nothing reads it.
    let _ = storage.delete(probe.as_str()).await;
    Ok(proven?)
}

enum ReadBack {
    Ours,
    Other,
    Retired,
    Absent,
    Unreadable(String),
}

/// Where a copy's name ended up.
enum Copied {
    There,
    /// It holds other bytes.
    Other,
    /// It was taken, and is gone.
    Vanished,
}

enum Moved {
    ByUs,
    /// To our version or beyond.
    ByOthers,
}

/// The store said no before it did anything.
fn refused(error: &calve_storage::Error) -> bool {
    use calve_storage::ErrorKind as K;
    matches!(error.kind(), K::Denied | K::Unsupported | K::Location)
}

/// The name by which a later version's log knows this one.
///
/// A table this layout made has a copy of every version up to its hint, and the next writer makes the rest
/// before its log names them.
pub(crate) fn logged(layout: &Layout, opened: &Opened) -> Location {
    if opened.spelling == Spelling::Plain && is_table_root(&opened.metadata) {
        layout.copy(opened.version, opened.metadata.uuid())
    } else {
        opened.file.clone()
    }
}

/// A version as its catalog gives it.
pub(crate) fn loaded(ident: TableIdent, storage: Storage, layout: &Layout, opened: Opened) -> LoadedTable {
    // Beyond the hint the copy may be missing yet.
    let named = match opened.hint_version() {
        Some(hinted) if hinted >= opened.version => logged(layout, &opened),
        _ => opened.file.clone(),
    };
    LoadedTable {
        ident,
        metadata: opened.metadata.clone(),
        metadata_location: named.as_str().to_owned(),
        token: CommitToken::new(opened),
        storage,
    }
}
