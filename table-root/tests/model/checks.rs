//! What must hold, whatever happens.

use crate::explore::{Explorer, State, TABLE_MAKER};
use crate::process::{Doing, Process, Undisturbed, run_alone};
use crate::protocol::{Attempt, Opened, Outcome, Part, open};
use crate::store::{Call, Content, Name, Reply, Rows, Snapshot, Store, Version, rows_of};

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The table lacks a commit that was acknowledged.
    Lost,
    /// The table has the rows of one commit twice.
    Doubled,
    /// A commit was in the table, and its caller is told of a conflict.
    SeenBeforeConflict,
    /// A commit comes into the table after its caller was told to build another.
    SeenAfterConflict,
    /// A reader's version lacks a commit that had been acknowledged when the reader began.
    Stale,
    /// A reader fails though no call does, or a table that is there does not open.
    Unreadable,
    /// The hint names a version of which, or before which, there is no copy, and retention deleted none.
    NoCopy,
    /// Everybody is done, no call was lost, and the hint or a copy is behind.
    NotWhole,
    /// With nobody in the way, an unknown commit stays unknown, or the next one does not mend all.
    Stuck,
}

impl Explorer {
    /// Anything wrong with a state. That can only come where the store changes or somebody turns to
    /// something else.
    pub(crate) fn wrong_after(&mut self, before: &State, state: &State) -> Option<Wrong> {
        let same = |(now, then): (&Process, &Process)| (now.doing, now.commits) == (then.doing, then.commits);
        let store = &state.store;
        if *store == before.store && state.processes.iter().zip(&before.processes).all(same) {
            return None;
        }
        let Some(current) = self.look(store) else {
            return store.holds_a_version().then_some(Wrong::Unreadable);
        };
        let history = self.histories.of(current.metadata);
        if acknowledged(state) & !history.rows != 0 {
            return Some(Wrong::Lost);
        }
        if history.doubled != 0 {
            return Some(Wrong::Doubled);
        }
        let hinted = store.hint.filter(|_| self.scenario.hint.is_none());
        if hinted.is_some_and(|hinted| !has_copies(store, hinted)) {
            return Some(Wrong::NoCopy);
        }
        let undisturbed = state.mishaps == self.scenario.mishaps && !self.scenario.rules.without_if_match;
        let whole = store.hint == Some(current.version) && has_copies(store, current.version);
        if state.has_ended() && undisturbed && !whole {
            return Some(Wrong::NotWhole);
        }
        (self.scenario.alone && self.is_stuck(state)).then_some(Wrong::Stuck)
    }

    /// The current version, as a reader finds it with nobody in the way.
    pub(crate) fn look(&self, store: &Store) -> Option<Opened> {
        if self.scenario.rules.readers_believe_hint {
            let version = store.hint?;
            let metadata = store.at(Name::Version(version));
            return metadata.is_metadata().then_some(Opened { version, metadata, hint: store.hint });
        }
        open(&self.scenario.rules, &mut Undisturbed(*store)).ok().flatten()
    }

    /// Keeps in mind that an attempt came into the table. Its caller must not have been told otherwise.
    pub(crate) fn note_landing(
        &self,
        state: &mut State,
        sender: u8,
        call: Call,
        reply: Reply,
    ) -> Option<Wrong> {
        let metadata = call.publishes().filter(|_| reply.is_done())?;
        let process = &mut state.processes[usize::from(sender)];
        if process.attempt.ours == metadata {
            process.landed = true;
            return None;
        }
        let was_acknowledged = self.histories.of(metadata).snapshot.commit < process.commits
            && self.look(&state.store).is_some_and(|now| self.histories.leads_to(metadata, now.metadata));
        (!was_acknowledged).then_some(Wrong::SeenAfterConflict)
    }

    /// Whether somebody alone with this state can't tell what is unknown, or can't commit and leave hint
    /// and copies as they should be.
    fn is_stuck(&mut self, state: &State) -> bool {
        let rules = self.scenario.rules;
        let unknown = state.processes.iter().filter(|process| process.doing == Doing::Commit(Part::Resolve));
        for process in unknown {
            let mut store = Undisturbed(state.store);
            let told = match run_alone(process.attempt, Part::Resolve, &rules, &self.histories, &mut store) {
                Ok(Outcome::Committed(_)) => true,
                Ok(Outcome::Conflict) => !process.landed,
                Ok(Outcome::Unknown) => state.store.at(process.attempt.name()) == Content::EMPTY,
                Err(_) => false,
            };
            if !told {
                return true;
            }
        }
        let base = self.look(&state.store);
        let snapshot = Snapshot { writer: TABLE_MAKER, commit: 1, again: false };
        let ours = self.histories.extend(base.map(|base| base.metadata), snapshot);
        let attempt = Attempt { base, ours, hint: None };
        let mut store = Undisturbed(state.store);
        let outcome = run_alone(attempt, Part::Publish, &rules, &self.histories, &mut store);
        let mended = self.look(&store.0).is_some_and(|now| {
            now.metadata == ours && now.hint == Some(now.version) && has_copies(&store.0, now.version)
        });
        !(mended && matches!(outcome, Ok(Outcome::Committed(_))))
    }
}

/// The rows of all commits that were acknowledged.
pub(crate) fn acknowledged(state: &State) -> Rows {
    let rows = |(who, process): (usize, &Process)| rows_of(who as u8, process.commits);
    state.processes.iter().enumerate().map(rows).fold(0, |all, rows| all | rows)
}

/// Whether all versions up to this one have a copy, or had one until retention deleted it.
fn has_copies(store: &Store, version: Version) -> bool {
    (0..=version).all(|version| store.had_copy(version))
}
