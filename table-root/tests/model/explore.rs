//! Every order in which writers, readers, retention and lost calls can follow each other.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::checks::{Wrong, acknowledged};
use crate::process::{Doing, Process, Went};
use crate::protocol::{Attempt, Halt, Mutant, Next, Opened, Outcome, Part, Retention, Rules};
use crate::store::{Call, Content, Hint, Histories, Name, Reply, Snapshot, Store};
use crate::trace::{Step, Then, What};

/// The most writers and readers of a run.
const PROCESSES: usize = 3;

/// Whoever made the table that is there at the start.
pub(crate) const TABLE_MAKER: u8 = PROCESSES as u8;

/// The most puts on their way whose senders have given up.
const IN_FLIGHT: usize = 3;

/// Retention keeps the current version and as many before it.
const PREVIOUS_VERSIONS: u8 = 1;

/// Who does what to a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scenario {
    /// How many commits each makes; a reader makes none.
    pub(crate) writers: &'static [u8],
    pub(crate) rules: Rules,
    /// How many calls are lost at most, or sent twice by a layer below.
    pub(crate) mishaps: u8,
    /// There is no table at the start.
    pub(crate) creates: bool,
    /// The first writer begins with a commit that is unknown, its put on the way.
    pub(crate) unknown: bool,
    /// A writer may also build its next commit on the table that the last one gave it.
    pub(crate) goes_on: bool,
    /// Somebody else set the hint to this.
    pub(crate) hint: Hint,
    /// In each state it is tried what somebody could do who was left alone with it.
    pub(crate) alone: bool,
    /// What may go wrong.
    pub(crate) may: &'static [Wrong],
}

/// What all runs of a scenario come to.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) states: usize,
    pub(crate) steps: usize,
    /// States in which everybody is done.
    pub(crate) ends: usize,
    /// Steps by which somebody is told so.
    pub(crate) committed: usize,
    pub(crate) conflict: usize,
    pub(crate) unknown: usize,
    /// What goes wrong first, and a shortest way to it.
    pub(crate) wrong: Option<(Wrong, Vec<String>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) processes: [Process; PROCESSES],
    /// Puts whose senders were told of an error: they land now, later or never.
    in_flight: [Option<Flight>; IN_FLIGHT],
    /// As many calls may yet be lost.
    pub(crate) mishaps: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Flight {
    sender: u8,
    call: Call,
}

/// A step, the state it leads to, and what is wrong with that.
struct Successor {
    step: Step,
    state: State,
    wrong: Option<Wrong>,
}

pub(crate) struct Explorer {
    pub(crate) scenario: Scenario,
    pub(crate) histories: Histories,
    report: Report,
    found: HashSet<State, BuildHasherDefault<StateHasher>>,
    /// Of each state, in the order found: the one it was first reached from, and how.
    ways: Vec<(usize, Step)>,
}

/// Goes through all runs, those of few steps first, until something is wrong.
pub(crate) fn explore(scenario: Scenario) -> Report {
    let mut explorer = Explorer {
        scenario,
        histories: Histories::default(),
        report: Report::default(),
        found: HashSet::default(),
        ways: vec![(0, Step::nobodys(What::Begin))],
    };
    let first = explorer.first_state();
    explorer.found.insert(first);
    let mut queue = VecDeque::from([(0, first)]);
    let mut successors = Vec::new();
    while let Some((place, state)) = queue.pop_front() {
        explorer.report.ends += usize::from(state.has_ended());
        explorer.steps(&state, &mut successors);
        explorer.report.steps += successors.len();
        for Successor { step, state: next, wrong } in successors.drain(..) {
            let wrong = wrong.or_else(|| explorer.wrong_after(&state, &next));
            if let Some(wrong) = wrong.filter(|wrong| !scenario.may.contains(wrong)) {
                explorer.report.wrong = Some((wrong, explorer.trace(place, step)));
                return explorer.finish();
            }
            if explorer.found.insert(next) {
                queue.push_back((explorer.ways.len(), next));
                explorer.ways.push((place, step));
            }
        }
    }
    explorer.finish()
}

impl State {
    pub(crate) fn has_ended(&self) -> bool {
        self.processes.iter().all(|process| process.doing == Doing::Nothing)
    }

    fn send(&mut self, sender: u8, call: Call) {
        let free = self.in_flight.iter_mut().find(|flight| flight.is_none());
        *free.expect("a scenario loses few calls") = Some(Flight { sender, call });
        self.in_flight.sort_unstable();
    }
}

impl Explorer {
    fn finish(mut self) -> Report {
        self.report.states = self.found.len();
        self.report
    }

    fn trace(&self, mut place: usize, last: Step) -> Vec<String> {
        let mut steps = vec![last];
        while place != 0 {
            steps.push(self.ways[place].1);
            place = self.ways[place].0;
        }
        steps.iter().rev().map(|step| step.describe(&self.histories)).collect()
    }

    fn first_state(&mut self) -> State {
        let mut store = Store::new();
        if !self.scenario.creates {
            let created = Snapshot { writer: TABLE_MAKER, commit: 0, again: false };
            let metadata = self.histories.extend(None, created);
            store.put(Name::Version(0), metadata);
            store.put(Name::Copy(0), metadata);
            store.set_hint(0);
        }
        store.hint = self.scenario.hint.or(store.hint);
        let mut processes = [Process::idle(0); PROCESSES];
        for process in &mut processes[..self.scenario.writers.len()] {
            process.open();
        }
        let mishaps = self.scenario.mishaps;
        let mut state = State { store, processes, in_flight: [None; IN_FLIGHT], mishaps };
        if self.scenario.unknown {
            let base = self.look(&store);
            let process = &mut state.processes[0];
            self.commit(process, 0, base);
            process.begin(Doing::Commit(Part::Resolve));
            let put = Call::PutNew(process.attempt.name(), process.attempt.ours);
            state.send(0, put);
        }
        state
    }

    /// All that can happen next.
    fn steps(&mut self, state: &State, out: &mut Vec<Successor>) {
        for who in 0..PROCESSES {
            if state.processes[who].doing != Doing::Nothing {
                self.process_steps(state, who, out);
            }
        }
        for (place, flight) in state.in_flight.iter().enumerate() {
            if let Some(Flight { sender, call }) = *flight {
                let mut next = *state;
                next.in_flight[place] = None;
                next.in_flight.sort_unstable();
                let reply = next.store.serve(call);
                let wrong = self.note_landing(&mut next, sender, call, reply);
                let step = Step { who: Some(sender), what: What::Lands(call, reply), then: None };
                out.push(Successor { step, state: next, wrong });
            }
        }
        self.retention_steps(state, out);
    }

    fn process_steps(&mut self, state: &State, who: usize, out: &mut Vec<Successor>) {
        if state.processes[who].call == Call::WhichFirst {
            for first in [true, false] {
                let mut next = *state;
                let process = &mut next.processes[who];
                process.log.push(Reply::done(first));
                if let Err(Halt::Awaits(call)) = process.go_on(&self.scenario.rules, &self.histories) {
                    process.call = call;
                }
                self.serve(next, who, out);
            }
            return;
        }
        self.serve(*state, who, out);
        // A failure before anything is sent ends an attempt as a crash does.
        let sends = !matches!(state.processes[who].doing, Doing::Open | Doing::Commit(Part::Publish));
        if sends && state.mishaps > 0 {
            self.lose(*state, who, out);
        }
    }

    fn serve(&mut self, mut state: State, who: usize, out: &mut Vec<Successor>) {
        let process = state.processes[who];
        if process.doing == Doing::Open && process.log.is_empty() {
            state.processes[who].owed = acknowledged(&state);
        }
        let reply = state.store.serve(process.call);
        let wrong = self.note_landing(&mut state, who as u8, process.call, reply);
        self.tell(state, who, What::Served(process.call, reply), reply, wrong, out);
    }

    /// The sender sees an error, and a put may land all the same. Or a layer below sends a put twice, and
    /// gives the second reply.
    fn lose(&mut self, mut state: State, who: usize, out: &mut Vec<Successor>) {
        let call = state.processes[who].call;
        state.mishaps -= 1;
        let mut lost = state;
        if call.writes() {
            lost.send(who as u8, call);
        }
        self.tell(lost, who, What::Lost(call), Reply::FAILED, None, out);
        let first = state.store.serve(call);
        let wrong = self.note_landing(&mut state, who as u8, call, first);
        let second = state.store.serve(call);
        if second != first {
            self.tell(state, who, What::SentTwice(call, second), second, wrong, out);
        }
    }

    /// A process goes on with a reply, up to its next call.
    fn tell(
        &mut self,
        mut state: State,
        who: usize,
        what: What,
        reply: Reply,
        mut wrong: Option<Wrong>,
        out: &mut Vec<Successor>,
    ) {
        let mut step = Step { who: Some(who as u8), what, then: None };
        state.processes[who].log.push(reply);
        while state.processes[who].doing != Doing::Nothing {
            let process = &mut state.processes[who];
            match process.go_on(&self.scenario.rules, &self.histories) {
                Err(Halt::Awaits(call)) => {
                    process.call = call;
                    break;
                }
                Err(_) if process.doing == Doing::Open => {
                    step.then = Some(Then::Fails);
                    wrong = wrong.or(Some(Wrong::Unreadable));
                    process.open();
                }
                // Only resolving can fail so; it is tried again.
                Err(_) => process.begin(Doing::Commit(Part::Resolve)),
                Ok(Went::Opened(opened)) => {
                    step.then = Some(Then::Opens(opened));
                    let rows = opened.map_or(0, |opened| self.histories.of(opened.metadata).rows);
                    if process.owed & !rows != 0 {
                        wrong = wrong.or(Some(Wrong::Stale));
                    }
                    if self.scenario.writers[who] == 0 {
                        *process = Process::idle(0);
                    } else {
                        self.commit(process, who as u8, opened);
                    }
                }
                Ok(Went::On(Next::Part(part, hint))) => {
                    process.attempt.hint = hint;
                    process.begin(Doing::Commit(part));
                }
                Ok(Went::On(Next::Answer(outcome))) => {
                    step.then = Some(Then::Told(outcome));
                    if outcome == Outcome::Conflict && process.landed {
                        wrong = wrong.or(Some(Wrong::SeenBeforeConflict));
                    }
                    if let Some(table) = self.take(process, who, outcome) {
                        let mut on = state;
                        self.commit(&mut on.processes[who], who as u8, Some(table));
                        out.push(Successor { step, state: on, wrong });
                    }
                }
            }
        }
        out.push(Successor { step, state, wrong });
    }

    /// The caller takes an outcome, and may go on with the table it is given.
    fn take(&mut self, process: &mut Process, who: usize, outcome: Outcome) -> Option<Opened> {
        match outcome {
            Outcome::Committed(table) => {
                self.report.committed += 1;
                *process = Process::idle(process.commits + 1);
                if process.commits < self.scenario.writers[who] {
                    process.open();
                    return Some(table).filter(|_| self.scenario.goes_on);
                }
            }
            Outcome::Conflict => {
                self.report.conflict += 1;
                process.open();
            }
            Outcome::Unknown => {
                self.report.unknown += 1;
                if self.scenario.rules.breaks(Mutant::UnknownIsConflict) {
                    process.again = true;
                    process.open();
                } else {
                    process.begin(Doing::Commit(Part::Resolve));
                }
            }
        }
        None
    }

    fn commit(&mut self, process: &mut Process, who: u8, base: Option<Opened>) {
        let snapshot = Snapshot { writer: who, commit: process.commits, again: process.again };
        let ours = self.histories.extend(base.map(|base| base.metadata), snapshot);
        process.attempt = Attempt { base, ours, hint: None };
        process.owed = 0;
        process.begin(Doing::Commit(Part::Publish));
    }

    /// Retention may have slept since it read the hint: whatever it could once do it can do now.
    fn retention_steps(&self, state: &State, out: &mut Vec<Successor>) {
        let passed = state.store.passed;
        let old = match self.scenario.rules.retention {
            Retention::None => return,
            Retention::Empties => passed.unwrap_or(0).saturating_sub(PREVIOUS_VERSIONS),
            Retention::EmptiesEarly => {
                self.look(&state.store).map_or(0, |current| current.version.saturating_sub(PREVIOUS_VERSIONS))
            }
            Retention::Frees => passed.unwrap_or(0),
        };
        let frees = self.scenario.rules.retention == Retention::Frees;
        for version in 0..old {
            let (copy, name) = (Name::Copy(version), Name::Version(version));
            if state.store.at(copy) != Content::ABSENT {
                let mut next = *state;
                next.store.drop_copy(version);
                out.push(Successor { step: Step::nobodys(What::Deletes(copy)), state: next, wrong: None });
            }
            if state.store.at(name).is_metadata() {
                let mut next = *state;
                next.store.put(name, if frees { Content::ABSENT } else { Content::EMPTY });
                let what = if frees { What::Deletes(name) } else { What::Empties(name) };
                out.push(Successor { step: Step::nobodys(what), state: next, wrong: None });
            }
        }
    }
}

/// A state is many small fields; one multiplication each is enough.
#[derive(Default)]
struct StateHasher(u64);

impl StateHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for StateHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.mix(n.into());
    }

    fn write_u16(&mut self, n: u16) {
        self.mix(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.mix(n as u64);
    }
}
