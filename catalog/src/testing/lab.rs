//! The fault lab: a store that misbehaves at a call of one's choice, and what must hold all the same.
//!
//! [`faults`] makes every call of a create and of an append fail in every way, one at a time, and
//! checks that what was acknowledged is there once, that what was lost left no trace, and that what
//! stayed unknown can be resolved.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use calve_storage::{ObjectPath, ObjectStore};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::{append, committed, create, new_table, snapshot};
use crate::{CommitOutcome, LoadedTable, TableCatalog, TableChange, TableIdent, async_trait};

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is lost before the request arrives.
    LostBefore,
    /// The request is applied, and the connection lost before the answer arrives.
    LostAfter,
    /// The request is applied, and a layer below sends it again and reports that answer.
    Repeated,
    /// Nothing is applied, and the store answers with this status: 403, 409, 412, 429, 500 or 503.
    Status(u16),
    /// The answer's body ends half way; a request's does, and is not applied.
    CutShort,
    /// The call takes so much longer.
    Slow(Duration),
    /// Somebody else commits first.
    Rival,
    /// The process ends before the request is sent, as by `kill -9`.
    KilledBefore,
    /// The process ends after the request is applied.
    KilledAfter,
}

/// Long enough for calls made at once to be under way at once.
pub const SLOW: Fault = Fault::Slow(Duration::from_millis(20));

/// The faults that a commit has to live through.
pub const FAULTS: [Fault; 12] = [
    Fault::LostBefore,
    Fault::LostAfter,
    Fault::Repeated,
    Fault::Status(403),
    Fault::Status(409),
    Fault::Status(412),
    Fault::Status(429),
    Fault::Status(500),
    Fault::Status(503),
    Fault::CutShort,
    SLOW,
    Fault::Rival,
];

/// Which calls a fault strikes.
#[derive(Clone, Debug)]
struct Armed {
    fault: Fault,
    calls: Range<usize>,
}

type Rival = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Wraps a store; clones share the count and what is armed.
#[derive(Clone, Default)]
pub struct Lab(Arc<Inner>);

#[derive(Default)]
struct Inner {
    count: AtomicUsize,
    armed: Mutex<Option<Armed>>,
    calls: Mutex<Vec<String>>,
    rival: Mutex<Option<Rival>>,
    in_flight: AtomicUsize,
    rounds: AtomicUsize,
}

impl Lab {
    /// `store`, with its calls counted and struck.
    pub fn wrap(&self, store: Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
        Arc::new(Faulty { store, lab: self.clone() })
    }

    /// Starts counting at 0 and lets `fault` strike the calls of these numbers.
    pub fn arm(&self, fault: Fault, calls: Range<usize>) {
        *lock(&self.0.armed) = Some(Armed { fault, calls });
        lock(&self.0.calls).clear();
        self.0.count.store(0, SeqCst);
        self.0.rounds.store(0, SeqCst);
    }

    /// Lets every call through from here on.
    pub fn disarm(&self) {
        *lock(&self.0.armed) = None;
    }

    /// What [`Fault::Rival`] does.
    pub fn rival<F: Future<Output = ()> + Send + 'static>(
        &self,
        rival: impl Fn() -> F + Send + Sync + 'static,
    ) {
        *lock(&self.0.rival) = Some(Box::new(move || rival().boxed()));
    }

    /// The calls since [`arm`](Self::arm), as `kind name`.
    pub fn calls(&self) -> Vec<String> {
        lock(&self.0.calls).clone()
    }

    /// How many calls since [`arm`](Self::arm) had to wait for all calls before them: what a slow store
    /// makes of them, if each is struck by [`Fault::Slow`].
    pub fn rounds(&self) -> usize {
        self.0.rounds.load(SeqCst)
    }

    /// Counts a call, and tells what becomes of it.
    fn strike(&self, kind: &str, path: Option<&ObjectPath>) -> Option<Fault> {
        let number = self.0.count.fetch_add(1, SeqCst);
        let name = path.and_then(|path| path.filename()).unwrap_or_default();
        lock(&self.0.calls).push(format!("{kind} {name}"));
        let armed = lock(&self.0.armed);
        armed.as_ref().filter(|armed| armed.calls.contains(&number)).map(|armed| armed.fault)
    }

    /// `call` under the fault that strikes it.
    async fn run<'a, T>(
        &self,
        kind: &str,
        path: &ObjectPath,
        call: impl Fn() -> BoxFuture<'a, Result<T>> + Send + Sync,
    ) -> Result<T> {
        let Some(fault) = self.strike(kind, Some(path)) else { return call().await };
        match fault {
            Fault::LostBefore => Err(lost()),
            Fault::LostAfter => {
                let _ = call().await;
                Err(lost())
            }
            Fault::Repeated => {
                let _ = call().await;
                call().await
            }
            Fault::Status(status) => Err(answer(status, path)),
            Fault::CutShort => Err(lost()),
            Fault::Slow(delay) => {
                if self.0.in_flight.fetch_add(1, SeqCst) == 0 {
                    self.0.rounds.fetch_add(1, SeqCst);
                }
                tokio::time::sleep(delay).await;
                let done = call().await;
                self.0.in_flight.fetch_sub(1, SeqCst);
                done
            }
            Fault::Rival => {
                // Once: the rival's own calls do not come here.
                self.disarm();
                let rival = lock(&self.0.rival).as_ref().map(|rival| rival());
                if let Some(rival) = rival {
                    rival.await;
                }
                call().await
            }
            Fault::KilledBefore => kill(),
            Fault::KilledAfter => {
                let _ = call().await;
                kill()
            }
        }
    }
}

impl fmt::Debug for Lab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lab").field("armed", &lock(&self.0.armed)).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends this process as nothing else does: no destructor runs, nothing is flushed.
fn kill() -> ! {
    let _ = std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
    std::process::abort()
}

fn lost() -> object_store::Error {
    object_store::Error::Generic { store: "fault lab", source: "connection reset".into() }
}

/// An answer as `object_store` reports it.
fn answer(status: u16, path: &ObjectPath) -> object_store::Error {
    let path = path.to_string();
    let source = format!("the store answered {status}").into();
    match status {
        403 => object_store::Error::PermissionDenied { path, source },
        409 | 412 => object_store::Error::AlreadyExists { path, source },
        _ => object_store::Error::Generic { store: "fault lab", source },
    }
}

#[derive(Debug)]
struct Faulty {
    store: Arc<dyn ObjectStore>,
    lab: Lab,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        path: &ObjectPath,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let put = || self.store.put_opts(path, payload.clone(), options.clone());
        self.lab.run("put", path, put).await
    }

    async fn put_multipart_opts(
        &self,
        path: &ObjectPath,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let begin = || self.store.put_multipart_opts(path, options.clone());
        self.lab.run("begin", path, begin).await
    }

    async fn get_opts(&self, path: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        let armed = lock(&self.lab.0.armed).clone();
        let number = self.lab.0.count.load(SeqCst);
        if armed.is_some_and(|armed| armed.fault == Fault::CutShort && armed.calls.contains(&number)) {
            self.lab.strike("get", Some(path));
            return cut_short(self.store.get_opts(path, options).await?).await;
        }
        let get = || self.store.get_opts(path, options.clone());
        self.lab.run("get", path, get).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        let (store, lab) = (Arc::clone(&self.store), self.lab.clone());
        let delete = move |path: Result<ObjectPath>| {
            let (store, lab) = (Arc::clone(&store), lab.clone());
            async move {
                let path = path?;
                let delete = || {
                    let one = futures::stream::once(futures::future::ready(Ok(path.clone()))).boxed();
                    let deleted = store.delete_stream(one);
                    async move { deleted.into_future().await.0.unwrap_or_else(|| Err(lost())) }.boxed()
                };
                lab.run("delete", &path, delete).await
            }
        };
        paths.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.lab.strike("list", prefix) {
            None | Some(Fault::Slow(_) | Fault::Repeated | Fault::Rival) => self.store.list(prefix),
            Some(_) => futures::stream::once(futures::future::ready(Err(lost()))).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        let list = || self.store.list_with_delimiter(prefix);
        self.lab.run("list", &prefix.cloned().unwrap_or_default(), list).await
    }

    async fn copy_opts(&self, from: &ObjectPath, to: &ObjectPath, options: CopyOptions) -> Result<()> {
        let copy = || self.store.copy_opts(from, to, options.clone());
        self.lab.run("copy", to, copy).await
    }
}

/// The first half of a body, and then nothing.
async fn cut_short(got: GetResult) -> Result<GetResult> {
    let (meta, range, attributes) = (got.meta.clone(), got.range.clone(), got.attributes.clone());
    let bytes = got.bytes().await?;
    let half: Result<Bytes> = Ok(bytes.slice(..bytes.len() / 2));
    let payload = GetResultPayload::Stream(futures::stream::iter([half, Err(lost())]).boxed());
    Ok(GetResult { payload, meta, range, attributes })
}

/// A catalog that the lab can get between and its store.
#[async_trait]
pub trait LabTarget: Sync {
    /// A table that is not there yet: its name, a catalog whose store is wrapped in `lab`, and one whose
    /// store is not.
    async fn fresh(&self, lab: &Lab) -> (TableIdent, Arc<dyn TableCatalog>, Arc<dyn TableCatalog>);

    /// Looks at what a run left, before anybody else commits: `table` as our own reader sees it. `run`
    /// names the act, the fault and the calls it struck.
    ///
    /// # Panics
    /// When it is not as it should be.
    async fn settled(&self, _act: Act, _table: &LoadedTable, _run: &str) {}
}

/// What is done under a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A table is created, empty.
    Create,
    /// A table is created with its first snapshot.
    CreateWithRows,
    /// A snapshot is added to a table.
    Append,
}

/// Every call of every act, struck by every fault: once, and from there on until the end. Of these
/// runs one in `every` is made.
///
/// Gives the number of runs.
///
/// # Panics
/// When a promise is broken, with the act, the call and the fault.
pub async fn faults(target: &dyn LabTarget, every: usize) -> usize {
    let (mut runs, mut made) = (0, 0);
    for act in [Act::Create, Act::CreateWithRows, Act::Append] {
        let calls = run(target, act, SLOW, 0..0).await;
        assert!(calls.len() >= 4, "{act:?} makes hardly a call: {calls:?}");
        for fault in FAULTS {
            for call in 0..calls.len() {
                for end in [call + 1, usize::MAX] {
                    let lasts = end == usize::MAX;
                    if lasts && matches!(fault, Fault::Slow(_) | Fault::Rival) {
                        continue;
                    }
                    if runs % every == 0 {
                        run(target, act, fault, call..end).await;
                        made += 1;
                    }
                    runs += 1;
                }
            }
        }
    }
    made
}

/// One act under one fault, and what must hold after it; gives the calls it made.
async fn run(target: &dyn LabTarget, act: Act, fault: Fault, calls: Range<usize>) -> Vec<String> {
    let lab = Lab::default();
    let (ident, faulty, healthy) = target.fresh(&lab).await;
    let context = format!("{act:?}, {fault:?} at {calls:?}");
    let base = match act {
        Act::Append => {
            create(&*healthy, &ident).await;
            Some(faulty.load(&ident).await.expect("loads"))
        }
        Act::Create | Act::CreateWithRows => None,
    };
    let rival = (Arc::clone(&healthy), ident.clone());
    lab.rival(move || rival_commit(rival.clone()));

    let staged = match &base {
        Some(_) => None,
        None => Some(faulty.stage(&ident, new_table()).await.expect("stages")),
    };
    let (metadata, storage) = match (&base, &staged) {
        (Some(base), _) => (&base.metadata, &base.storage),
        (None, Some(staged)) => (&staged.metadata, &staged.storage),
        (None, None) => unreachable!("one of the two is there"),
    };
    let uuid = metadata.uuid();
    let next = match act {
        Act::Create => None,
        Act::CreateWithRows | Act::Append => Some(snapshot(metadata, storage).await),
    };
    let id = next.as_ref().map(|next| next.snapshot_id());
    let change = next.map_or_else(TableChange::none, |next| append(metadata, next));

    lab.arm(fault, calls);
    let outcome = match (&base, &staged) {
        (Some(base), _) => faulty.commit(base, change).await,
        (None, Some(staged)) => faulty.create(staged, change).await,
        (None, None) => unreachable!("one of the two is there"),
    };
    let made = lab.calls();
    lab.disarm();

    let is_visible = || async {
        match healthy.load(&ident).await {
            Ok(table) => {
                let times = id
                    .map_or(1, |id| table.metadata.history().iter().filter(|l| l.snapshot_id == id).count());
                assert!(times <= 1, "{context}: there {times} times");
                table.metadata.uuid() == uuid && times == 1
            }
            Err(e) => {
                assert!(base.is_none() && e.kind() == crate::ErrorKind::NotFound, "{context}: {e}");
                false
            }
        }
    };
    let outcome = match outcome {
        Ok(CommitOutcome::Unknown(pending)) => {
            let resolved = faulty.resolve(pending).await;
            match resolved {
                Ok(CommitOutcome::Unknown(pending)) => {
                    panic!("{context}: still unknown in good weather: {}", pending.reason())
                }
                Ok(outcome) => Some(outcome),
                Err(e) => panic!("{context}: can't be resolved: {e}"),
            }
        }
        Ok(outcome) => Some(outcome),
        Err(_) => None,
    };
    match &outcome {
        Some(CommitOutcome::Committed(_)) => {
            assert!(is_visible().await, "{context}: acknowledged, and not there; calls {made:?}");
        }
        Some(CommitOutcome::Conflict(conflict)) => {
            assert!(!is_visible().await, "{context}: lost ({conflict:?}), and there; calls {made:?}");
        }
        Some(CommitOutcome::Unknown(_)) => unreachable!("resolved above"),
        None => assert!(!is_visible().await, "{context}: refused, and there; calls {made:?}"),
    }
    if let Ok(table) = healthy.load(&ident).await {
        target.settled(act, &table, &context).await;
        follow_up(&*healthy, &ident, &context).await;
        if matches!(outcome, Some(CommitOutcome::Committed(_))) {
            assert!(is_visible().await, "{context}: acknowledged, and gone with the next commit");
        }
    }
    made
}

/// Whoever comes next finds a whole table, and leaves one.
async fn follow_up(catalog: &dyn TableCatalog, ident: &TableIdent, context: &str) {
    let base = catalog.load(ident).await.expect("loads");
    let next = snapshot(&base.metadata, &base.storage).await;
    let outcome = catalog.commit(&base, append(&base.metadata, next)).await;
    let outcome = outcome.unwrap_or_else(|e| panic!("{context}: the next commit: {e}"));
    let _: crate::Committed<LoadedTable> = committed(outcome);
    let table = catalog.load(ident).await.expect("loads");
    let lists: BTreeSet<&str> = table.metadata.snapshots().map(|s| s.manifest_list()).collect();
    let logged = table.metadata.metadata_log().iter().map(|log| log.metadata_file.as_str());
    for file in lists.into_iter().chain(logged).chain([table.metadata_location.as_str()]) {
        let read = table.storage.read(file).await;
        assert!(read.is_ok_and(|bytes| !bytes.is_empty()), "{context}: {file} is referenced and not there");
    }
}

async fn rival_commit((catalog, ident): (Arc<dyn TableCatalog>, TableIdent)) {
    if let Ok(base) = catalog.load(&ident).await {
        let next = snapshot(&base.metadata, &base.storage).await;
        let _ = catalog.commit(&base, append(&base.metadata, next)).await;
    } else if let Ok(staged) = catalog.stage(&ident, new_table()).await {
        let _ = catalog.create(&staged, TableChange::none()).await;
    }
}
