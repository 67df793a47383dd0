//! Writers and readers, and what they have been told.

use crate::protocol::{Attempt, Calls, Halt, Next, Opened, Outcome, Part, Result, Rules, open};
use crate::store::{Call, Content, Histories, Reply, Rows, Store};

/// A writer, or a reader.
///
/// One that crashes or sleeps is one whose next step does not come. What must hold is looked at in every
/// state, so each state stands for all the crashes and pauses that may begin in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) doing: Doing,
    /// What it was told since it began to do that.
    pub(crate) log: Log,
    /// What it asks next.
    pub(crate) call: Call,
    /// How many of its commits were acknowledged.
    pub(crate) commits: u8,
    /// Its commit was unknown, and is built again.
    pub(crate) again: bool,
    pub(crate) attempt: Attempt,
    /// Its attempt was in the table.
    pub(crate) landed: bool,
    /// The rows that had been acknowledged, to whomever, when it began to open the table.
    pub(crate) owed: Rows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Doing {
    Open,
    Commit(Part),
    Nothing,
}

/// Where a process gets with what it was told.
pub(crate) enum Went {
    Opened(Option<Opened>),
    On(Next),
}

impl Process {
    pub(crate) fn idle(commits: u8) -> Self {
        Self {
            doing: Doing::Nothing,
            log: Log::default(),
            call: Call::ReadHint,
            commits,
            again: false,
            attempt: Attempt { base: None, ours: Content::ABSENT, hint: None },
            landed: false,
            owed: 0,
        }
    }

    pub(crate) fn begin(&mut self, doing: Doing) {
        (self.doing, self.log, self.call) = (doing, Log::default(), Call::ReadHint);
    }

    /// Opens the table, and remembers nothing of the attempt before.
    pub(crate) fn open(&mut self) {
        *self = Self { again: self.again, doing: Doing::Open, ..Self::idle(self.commits) };
    }

    pub(crate) fn go_on(&self, rules: &Rules, histories: &Histories) -> Result<Went> {
        let mut told = Told { log: &self.log, at: 0 };
        match self.doing {
            Doing::Open | Doing::Nothing => open(rules, &mut told).map(Went::Opened),
            Doing::Commit(part) => self.attempt.run(part, rules, histories, &mut told).map(Went::On),
        }
    }
}

/// Replies in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Log {
    replies: [u8; 15],
    len: u8,
}

impl Log {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn push(&mut self, reply: Reply) {
        self.replies[usize::from(self.len)] = reply.0;
        self.len += 1;
    }
}

/// Calls answered from a log.
struct Told<'a> {
    log: &'a Log,
    at: u8,
}

impl Calls for Told<'_> {
    fn reply(&mut self, call: Call) -> Result<Reply> {
        if self.at == self.log.len {
            return Err(Halt::Awaits(call));
        }
        let reply = Reply(self.log.replies[usize::from(self.at)]);
        self.at += 1;
        if reply == Reply::FAILED { Err(Halt::Failed) } else { Ok(reply) }
    }
}

/// Calls served at once, with nobody in between.
pub(crate) struct Undisturbed(pub(crate) Store);

impl Calls for Undisturbed {
    fn reply(&mut self, call: Call) -> Result<Reply> {
        Ok(self.0.serve(call))
    }
}

/// Carries an attempt through with nobody in the way.
pub(crate) fn run_alone(
    mut attempt: Attempt,
    mut part: Part,
    rules: &Rules,
    histories: &Histories,
    store: &mut Undisturbed,
) -> Result<Outcome> {
    loop {
        match attempt.run(part, rules, histories, store)? {
            Next::Part(next, hint) => (part, attempt.hint) = (next, hint),
            Next::Answer(outcome) => return Ok(outcome),
        }
    }
}
