//! Steps as people read them.

use std::fmt::Write;

use crate::protocol::{Opened, Outcome};
use crate::store::{Call, Content, Hint, Histories, Name, Reply};

/// One step of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The process, or who sent what lands.
    pub(crate) who: Option<u8>,
    pub(crate) what: What,
    pub(crate) then: Option<Then>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Begin,
    Served(Call, Reply),
    Lost(Call),
    SentTwice(Call, Reply),
    Lands(Call, Reply),
    Empties(Name),
    Deletes(Name),
}

/// What a process makes of the reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    Opens(Option<Opened>),
    Fails,
    Told(Outcome),
}

impl Step {
    pub(crate) fn nobodys(what: What) -> Self {
        Self { who: None, what, then: None }
    }

    pub(crate) fn describe(&self, histories: &Histories) -> String {
        let who = self.who.map_or("retention".to_owned(), |who| writer(who).to_string());
        let call = |call| asked(call, histories);
        let mut text = match self.what {
            What::Begin => "begin".to_owned(),
            What::Served(asked, reply) => {
                format!("{who} {}: {}", call(asked), answer(asked, reply, histories))
            }
            What::Lost(asked) => format!("{who} {}: an error", call(asked)),
            What::SentTwice(asked, reply) => {
                format!("{who} {}, sent twice: {}", call(asked), answer(asked, reply, histories))
            }
            What::Lands(asked, reply) => {
                format!("late, {who} {}: {}", call(asked), answer(asked, reply, histories))
            }
            What::Empties(at) => format!("retention empties {}", name(at)),
            What::Deletes(at) => format!("retention deletes {}", name(at)),
        };
        match self.then {
            None => Ok(()),
            Some(Then::Opens(None)) => write!(text, "; finds no table"),
            Some(Then::Opens(Some(opened))) => write!(text, "; the table is at {}", opened.version),
            Some(Then::Fails) => write!(text, "; fails to open the table"),
            Some(Then::Told(Outcome::Committed(_))) => write!(text, "; committed"),
            Some(Then::Told(Outcome::Conflict)) => write!(text, "; conflict"),
            Some(Then::Told(Outcome::Unknown)) => write!(text, "; unknown"),
        }
        .expect("a string takes all that is written");
        text
    }
}

fn writer(who: u8) -> char {
    ['A', 'B', 'C', 'T'][usize::from(who)]
}

fn name(name: Name) -> String {
    match name {
        Name::Version(version) => format!("v{version}"),
        Name::Copy(version) => format!("copy {version}"),
    }
}

fn hint(hint: Hint) -> String {
    hint.map_or("none".to_owned(), |version| version.to_string())
}

/// Metadata as the commits it holds, the oldest first.
fn content(content: Content, histories: &Histories) -> String {
    if content == Content::ABSENT {
        return "nothing".to_owned();
    }
    if content == Content::EMPTY {
        return "empty".to_owned();
    }
    let history = histories.of(content);
    let snapshot = history.snapshot;
    let again = if snapshot.again { "'" } else { "" };
    let last = format!("{}{}{again}", writer(snapshot.writer), snapshot.commit + 1);
    history.base.map_or(last.clone(), |base| format!("{} {last}", self::content(base, histories)))
}

fn asked(call: Call, histories: &Histories) -> String {
    match call {
        Call::ReadHint => "reads the hint".to_owned(),
        Call::Get(at) => format!("reads {}", name(at)),
        Call::WhichFirst => "reads two names".to_owned(),
        Call::List(_) | Call::ListOthers => "lists".to_owned(),
        Call::PutNew(at, metadata) => {
            format!("puts {} ({}) if absent", name(at), content(metadata, histories))
        }
        Call::Put(at, metadata) => format!("puts {} ({})", name(at), content(metadata, histories)),
        Call::SetHintIf(was, version) => format!("moves the hint from {} to {version}", hint(was)),
        Call::SetHint(version) => format!("sets the hint to {version}"),
    }
}

fn answer(call: Call, reply: Reply, histories: &Histories) -> String {
    match call {
        Call::ReadHint => hint(reply.hint()),
        Call::Get(_) => content(reply.content(), histories),
        Call::List(_) => reply.file().map_or("nothing".to_owned(), name),
        Call::ListOthers if reply.is_done() => "another version".to_owned(),
        Call::ListOthers => "no other".to_owned(),
        _ if reply.is_done() => "done".to_owned(),
        _ => "refused".to_owned(),
    }
}
