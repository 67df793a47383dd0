//! The protocol, call by call as `src/open.rs` and `src/commit.rs` have it.
//!
//! Each function is run again from its start whenever a reply is there: it takes what it was told so far
//! from a log, and stops at the first call that has no reply yet. So it reads like the code it stands
//! for, and the replies are all the state it has.
//!
//! Left out is what decides nothing: other spellings of a version, the proof that the store honours
//! conditions, and refusals for want of rights.

use crate::store::{Call, Content, Hint, Histories, Name, Reply, Version};

/// How far past the hint single names are tried; 8 in the code.
const LOOK_AHEAD: u8 = 2;

/// How often the deciding put is sent; 4 in the code.
const SENDS: u32 = 2;

/// How often a hint that moves is tried again; 3 in the code, too.
const HINT_MOVES: u32 = 3;

/// How often a table is looked for when what was listed has been retired meanwhile.
const LISTINGS: u32 = 2;

/// What the protocol runs on, and how it is broken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// The hint is read, compared and set, as on local disk.
    pub(crate) without_if_match: bool,
    pub(crate) retention: Retention,
    pub(crate) snapshots: Snapshots,
    /// Readers take the hint for the current version. Writers do not.
    pub(crate) readers_believe_hint: bool,
    pub(crate) mutants: &'static [Mutant],
}

/// What is done to the files of old versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Retention {
    #[default]
    None,
    /// Copies are deleted and `vN` emptied, once the hint has passed them.
    Empties,
    /// The same, without regard to the hint.
    EmptiesEarly,
    /// Somebody else deletes copies and `vN` alike, once the hint has passed them.
    Frees,
}

/// The snapshots in a table's metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Snapshots {
    #[default]
    All,
    /// Each commit expires those before its own.
    Last,
    /// Commits add none: they create an empty table, or set properties.
    None,
}

/// Something done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The deciding put is a plain one.
    PutsPlainly,
    /// A refusal of the deciding put is believed, and the name not read back.
    BelievesRefusal,
    /// An emptied name is another's version.
    RetiredIsConflict,
    /// The hint is not looked at again before the deciding put.
    NoSecondLook,
    /// A version is acknowledged though its copy or the hint shows that it was there before.
    NoLookWhenPassed,
    /// What is unknown is built again on what is there.
    UnknownIsConflict,
    /// The hint is moved before the version is made.
    HintFirst,
    /// The hint is set whatever it is.
    HintUnconditional,
    /// The hint is moved though the copy could not be made.
    HintWithoutCopy,
    /// Copies that others left unmade stay so.
    NoRepair,
    /// A base that moved without our snapshot is a conflict. But our version may have been made after its
    /// name was found free, and its snapshot may have expired, or it may have none.
    NameNotReadAgain,
    /// What was listed and is retired before it is read fails the reader.
    RetiredFailsReader,
    /// A copy that was refused, for there was one, and that is gone when it is read, could not be made.
    /// But if it is an old one, it need not be; and if it is ours, our version was there before.
    GoneCopyFails,
}

impl Rules {
    pub(crate) fn breaks(&self, mutant: Mutant) -> bool {
        self.mutants.contains(&mutant)
    }
}

/// Why a function stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// For the reply to this call.
    Awaits(Call),
    /// A call failed.
    Failed,
    /// A copy holds other metadata.
    Damaged,
}

pub(crate) type Result<T, E = Halt> = std::result::Result<T, E>;

enum Failure {
    Failed,
    Damaged,
}

/// Takes a failure as a value; only a reply that is not there yet stops the caller.
fn known<T>(result: Result<T>) -> Result<Result<T, Failure>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Halt::Failed) => Ok(Err(Failure::Failed)),
        Err(Halt::Damaged) => Ok(Err(Failure::Damaged)),
        Err(awaits) => Err(awaits),
    }
}

/// A store as the protocol sees it.
pub(crate) trait Calls {
    fn reply(&mut self, call: Call) -> Result<Reply>;

    fn read_hint(&mut self) -> Result<Hint> {
        Ok(self.reply(Call::ReadHint)?.hint())
    }

    fn get(&mut self, name: Name) -> Result<Content> {
        Ok(self.reply(Call::Get(name))?.content())
    }

    fn done(&mut self, call: Call) -> Result<bool> {
        Ok(self.reply(call)?.is_done())
    }
}

/// The current version, and the hint as it was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Opened {
    pub(crate) version: Version,
    pub(crate) metadata: Content,
    pub(crate) hint: Hint,
}

pub(crate) fn open(rules: &Rules, store: &mut impl Calls) -> Result<Option<Opened>> {
    for _ in 0..LISTINGS {
        let hint = store.read_hint()?;
        if let Some(start) = hint
            && let Some((version, metadata)) = follow(store, start)?
        {
            return Ok(Some(Opened { version, metadata, hint }));
        }
        let Some(file) = store.reply(Call::List(hint))?.file() else { return Ok(None) };
        let metadata = store.get(file)?;
        if metadata.is_metadata() {
            let (Name::Version(version) | Name::Copy(version)) = file;
            return Ok(Some(Opened { version, metadata, hint }));
        }
        if rules.breaks(Mutant::RetiredFailsReader) {
            break;
        }
    }
    Err(Halt::Failed)
}

fn follow(store: &mut impl Calls, start: Version) -> Result<Option<(Version, Content)>> {
    let (at, next) = (Name::Version(start), Name::Version(start + 1));
    let (mut metadata, mut ahead);
    if store.done(Call::WhichFirst)? {
        metadata = store.get(at)?;
        ahead = store.get(next)?;
    } else {
        ahead = store.get(next)?;
        metadata = store.get(at)?;
    }
    if metadata == Content::ABSENT {
        return Ok(None);
    }
    let mut version = start;
    while ahead != Content::ABSENT {
        version += 1;
        metadata = ahead;
        if version - start >= LOOK_AHEAD {
            return Ok(None);
        }
        ahead = store.get(Name::Version(version + 1))?;
    }
    Ok((metadata != Content::EMPTY).then_some((version, metadata)))
}

/// One attempt to publish a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Attempt {
    /// The version built on; `None` creates version 0.
    pub(crate) base: Option<Opened>,
    pub(crate) ours: Content,
    /// The hint as it was read when the attempt began, or began to be resolved.
    pub(crate) hint: Hint,
}

/// The parts of a commit. What one is told is forgotten when the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Publish,
    Decide,
    Copy,
    MoveHint,
    /// Copy or hint say that somebody had our version before.
    Passed,
    LookForSnapshot,
    Resolve,
    /// Only a mutant moves the hint first.
    HintFirst,
}

/// What an attempt comes to, for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    Committed(Opened),
    Conflict,
    Unknown,
}

/// Where a part leads.
pub(crate) enum Next {
    /// To another part, with the hint as it was read.
    Part(Part, Hint),
    Answer(Outcome),
}

enum ReadBack {
    Ours,
    Other,
    Retired,
    Absent,
    Unreadable,
}

impl Attempt {
    fn next(&self) -> Version {
        self.base.map_or(0, |base| base.version + 1)
    }

    /// The name by which its version is won.
    pub(crate) fn name(&self) -> Name {
        Name::Version(self.next())
    }

    pub(crate) fn run(
        self,
        part: Part,
        rules: &Rules,
        histories: &Histories,
        store: &mut impl Calls,
    ) -> Result<Next> {
        let mut run = Run { attempt: self, rules, histories, store };
        match part {
            Part::Publish => run.publish(),
            Part::Decide => run.decide(),
            Part::Copy => run.copy(),
            Part::MoveHint => run.move_hint(),
            Part::Passed => run.passed(),
            Part::LookForSnapshot => run.look_for_snapshot(),
            Part::Resolve => run.resolve(),
            Part::HintFirst => run.move_hint().map(|_| run.then(Part::Decide)),
        }
    }
}

struct Run<'a, S> {
    attempt: Attempt,
    rules: &'a Rules,
    histories: &'a Histories,
    store: &'a mut S,
}

impl<S: Calls> Run<'_, S> {
    fn then(&self, part: Part) -> Next {
        Next::Part(part, self.attempt.hint)
    }

    /// Committed, and the table as this attempt made it, whatever came after.
    fn committed(&self, hint: Hint) -> Next {
        let Attempt { ours: metadata, .. } = self.attempt;
        Next::Answer(Outcome::Committed(Opened { version: self.attempt.next(), metadata, hint }))
    }

    fn publish(&mut self) -> Result<Next> {
        let hint = self.store.read_hint()?;
        let next = self.attempt.next();
        let advanced = hint.is_some_and(|hinted| hinted >= next) && hint != self.hint_at_load();
        if advanced && !self.rules.breaks(Mutant::NoSecondLook) {
            return Ok(Next::Answer(Outcome::Conflict));
        }
        if self.attempt.base.is_none() && self.store.done(Call::ListOthers)? {
            return Ok(Next::Answer(Outcome::Conflict));
        }
        let hint_first = self.rules.breaks(Mutant::HintFirst);
        Ok(Next::Part(if hint_first { Part::HintFirst } else { Part::Decide }, hint))
    }

    fn hint_at_load(&self) -> Hint {
        self.attempt.base.and_then(|base| base.hint)
    }

    fn decide(&mut self) -> Result<Next> {
        let (name, ours) = (self.attempt.name(), self.attempt.ours);
        if self.rules.breaks(Mutant::PutsPlainly) {
            self.store.done(Call::Put(name, ours))?;
            return Ok(self.then(Part::Copy));
        }
        for _ in 0..SENDS {
            match known(self.store.done(Call::PutNew(name, ours)))? {
                Ok(true) => return Ok(self.then(Part::Copy)),
                Ok(false) if self.rules.breaks(Mutant::BelievesRefusal) => {
                    return Ok(Next::Answer(Outcome::Conflict));
                }
                Ok(false) | Err(_) => {}
            }
            match self.read_back()? {
                ReadBack::Ours => return Ok(self.then(Part::Copy)),
                ReadBack::Other => return Ok(Next::Answer(Outcome::Conflict)),
                ReadBack::Retired | ReadBack::Unreadable => break,
                ReadBack::Absent => {}
            }
        }
        Ok(self.then(Part::LookForSnapshot))
    }

    fn read_back(&mut self) -> Result<ReadBack> {
        Ok(match known(self.store.get(self.attempt.name()))? {
            Ok(there) if there == self.attempt.ours => ReadBack::Ours,
            Ok(Content::ABSENT) => ReadBack::Absent,
            Ok(Content::EMPTY) if !self.rules.breaks(Mutant::RetiredIsConflict) => ReadBack::Retired,
            Ok(_) => ReadBack::Other,
            Err(_) => ReadBack::Unreadable,
        })
    }

    fn look_for_snapshot(&mut self) -> Result<Next> {
        Ok(match known(open(self.rules, self.store))? {
            Ok(Some(current)) if self.is_in(current) => {
                if current.version == self.attempt.next() {
                    self.then(Part::Copy)
                } else {
                    Next::Answer(Outcome::Committed(current))
                }
            }
            _ => Next::Answer(Outcome::Unknown),
        })
    }

    fn is_in(&self, current: Opened) -> bool {
        match self.rules.snapshots {
            Snapshots::All => self.histories.leads_to(self.attempt.ours, current.metadata),
            Snapshots::Last => self.attempt.ours == current.metadata,
            Snapshots::None => false,
        }
    }

    fn copy(&mut self) -> Result<Next> {
        let copied = match known(self.repair_copies())? {
            Ok(()) => known(self.make_copy(self.attempt.next(), self.attempt.ours))?,
            Err(failure) => Err(failure),
        };
        Ok(match copied {
            Ok(Copied::Made) => self.then(Part::MoveHint),
            Ok(Copied::Gone) if !self.rules.breaks(Mutant::GoneCopyFails) => self.then(Part::Passed),
            Err(Failure::Damaged) => self.then(Part::Passed),
            _ if self.rules.breaks(Mutant::HintWithoutCopy) => self.then(Part::MoveHint),
            _ => self.committed(self.attempt.hint),
        })
    }

    fn repair_copies(&mut self) -> Result<()> {
        let Some(base) = self.attempt.base.filter(|_| !self.rules.breaks(Mutant::NoRepair)) else {
            return Ok(());
        };
        let first = match base.hint {
            None => 0,
            Some(hinted) if hinted <= base.version => hinted + 1,
            Some(_) => base.version,
        };
        for version in first..=base.version {
            let metadata = if version == base.version {
                base.metadata
            } else {
                self.store.get(Name::Version(version))?
            };
            if metadata.is_metadata()
                && let Copied::Gone = self.make_copy(version, metadata)?
                && self.rules.breaks(Mutant::GoneCopyFails)
            {
                return Err(Halt::Failed);
            }
        }
        Ok(())
    }

    fn make_copy(&mut self, version: Version, metadata: Content) -> Result<Copied> {
        let copy = Name::Copy(version);
        let put = known(self.store.done(Call::PutNew(copy, metadata)))?;
        if let Ok(true) = put {
            return Ok(Copied::Made);
        }
        match self.store.get(copy)? {
            there if there == metadata => Ok(Copied::Made),
            Content::ABSENT if put.is_ok() => Ok(Copied::Gone),
            Content::ABSENT => Err(Halt::Failed),
            _ => Err(Halt::Damaged),
        }
    }

    fn move_hint(&mut self) -> Result<Next> {
        let next = self.attempt.next();
        let mut state = self.attempt.hint;
        for _ in 0..HINT_MOVES {
            let too_high_at_load = state == self.hint_at_load();
            let passed = state.is_some_and(|hinted| hinted >= next) && !too_high_at_load;
            if passed && !self.rules.breaks(Mutant::HintUnconditional) {
                return Ok(if state == Some(next) { self.committed(state) } else { self.then(Part::Passed) });
            }
            let put = known(self.put_hint(next, state))?;
            if let Ok(true) = put {
                return Ok(self.committed(Some(next)));
            }
            let Ok(now) = known(self.store.read_hint())? else { break };
            if put.is_err() && now == state {
                break;
            }
            state = now;
        }
        Ok(self.committed(self.attempt.hint))
    }

    fn put_hint(&mut self, version: Version, state: Hint) -> Result<bool> {
        if self.rules.breaks(Mutant::HintUnconditional) {
            return self.store.done(Call::SetHint(version));
        }
        if !self.rules.without_if_match {
            return self.store.done(Call::SetHintIf(state, version));
        }
        Ok(self.store.read_hint()? == state && self.store.done(Call::SetHint(version))?)
    }

    fn passed(&mut self) -> Result<Next> {
        if self.rules.snapshots == Snapshots::None || self.rules.breaks(Mutant::NoLookWhenPassed) {
            return Ok(self.committed(self.attempt.hint));
        }
        Ok(match known(open(self.rules, self.store))? {
            Ok(Some(current)) if self.is_in(current) => self.committed(self.attempt.hint),
            _ => Next::Answer(Outcome::Unknown),
        })
    }

    fn resolve(&mut self) -> Result<Next> {
        let hint = self.store.read_hint()?;
        match self.read_back()? {
            ReadBack::Ours => return Ok(Next::Part(Part::Copy, hint)),
            ReadBack::Other => return Ok(Next::Answer(Outcome::Conflict)),
            ReadBack::Unreadable => return Ok(Next::Answer(Outcome::Unknown)),
            ReadBack::Retired => return Ok(Next::Part(Part::LookForSnapshot, hint)),
            ReadBack::Absent => {}
        }
        let current = open(self.rules, self.store)?;
        if current.map(|c| c.version) == self.attempt.base.map(|b| b.version) {
            return Ok(Next::Part(Part::Decide, hint));
        }
        Ok(match current {
            None => Next::Answer(Outcome::Unknown),
            Some(current) if self.is_in(current) => Next::Answer(Outcome::Committed(current)),
            Some(_) if self.rules.breaks(Mutant::NameNotReadAgain) => Next::Answer(Outcome::Conflict),
            Some(_) => match self.read_back()? {
                ReadBack::Ours => Next::Part(Part::Copy, hint),
                ReadBack::Other => Next::Answer(Outcome::Conflict),
                _ => Next::Answer(Outcome::Unknown),
            },
        })
    }
}

enum Copied {
    Made,
    /// There was one, and it is gone.
    Gone,
}
