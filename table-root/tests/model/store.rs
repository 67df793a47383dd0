//! The objects of one table root, and a store that serves each call at one instant.

use std::collections::HashMap;

/// A table's version.
pub(crate) type Version = u8;

/// What the hint says; `None` where there is none.
pub(crate) type Hint = Option<Version>;

/// More versions than any run makes.
const VERSIONS: usize = 8;

/// An object's bytes: none, zero of them, or metadata, known by its place in [`Histories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Content(u8);

impl Content {
    pub(crate) const ABSENT: Self = Self(0);
    pub(crate) const EMPTY: Self = Self(1);
    const FIRST_METADATA: u8 = 2;

    pub(crate) fn is_metadata(self) -> bool {
        self.0 >= Self::FIRST_METADATA
    }
}

/// The names that hold versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Name {
    /// `vN`, which arbitrates.
    Version(Version),
    /// `NNNNN-uuid`, by which the log knows a version.
    Copy(Version),
}

/// One request to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Call {
    ReadHint,
    Get(Name),
    /// Which of two reads that are sent together is served first. It asks nothing of the store.
    WhichFirst,
    /// The file that a listing shows to be current, given what the hint said.
    List(Hint),
    /// Whether a listing shows any version but `v0`.
    ListOthers,
    /// Put-if-absent.
    PutNew(Name, Content),
    /// A plain put.
    Put(Name, Content),
    /// Sets the hint if it still is what it was. Its tag is a digest of its content, as on S3: a hint
    /// that comes back to what it was has its old tag, which is the harder case.
    SetHintIf(Hint, Version),
    /// Sets the hint whatever it is.
    SetHint(Version),
}

impl Call {
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::PutNew(..) | Self::Put(..) | Self::SetHintIf(..) | Self::SetHint(_))
    }

    /// What the call makes of a version's name, if it is done.
    pub(crate) fn publishes(self) -> Option<Content> {
        match self {
            Self::PutNew(Name::Version(_), content) | Self::Put(Name::Version(_), content) => Some(content),
            _ => None,
        }
    }
}

/// A reply in one byte. What it means depends on the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reply(pub(crate) u8);

impl Reply {
    /// The sender sees an error.
    pub(crate) const FAILED: Self = Self(u8::MAX);

    pub(crate) fn done(done: bool) -> Self {
        Self(u8::from(done))
    }

    pub(crate) fn is_done(self) -> bool {
        self == Self::done(true)
    }

    pub(crate) fn hint(self) -> Hint {
        self.0.checked_sub(1)
    }

    pub(crate) fn content(self) -> Content {
        Content(self.0)
    }

    fn listed(file: Option<Name>) -> Self {
        Self(match file {
            None => 0,
            Some(Name::Version(version)) => 1 + 2 * version,
            Some(Name::Copy(version)) => 2 + 2 * version,
        })
    }

    pub(crate) fn file(self) -> Option<Name> {
        let code = self.0.checked_sub(1)?;
        Some(if code.is_multiple_of(2) { Name::Version(code / 2) } else { Name::Copy(code / 2) })
    }
}

/// The store, and two things about its past that only retention and the checks know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Store {
    versions: [Content; VERSIONS],
    copies: [Content; VERSIONS],
    pub(crate) hint: Hint,
    /// The highest version that the hint ever named.
    pub(crate) passed: Hint,
    /// The versions whose copies retention deleted, a bit each.
    dropped: u8,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self {
            versions: [Content::ABSENT; VERSIONS],
            copies: [Content::ABSENT; VERSIONS],
            hint: None,
            passed: None,
            dropped: 0,
        }
    }

    pub(crate) fn at(&self, name: Name) -> Content {
        match name {
            Name::Version(version) => self.versions[usize::from(version)],
            Name::Copy(version) => self.copies[usize::from(version)],
        }
    }

    pub(crate) fn put(&mut self, name: Name, content: Content) {
        match name {
            Name::Version(version) => self.versions[usize::from(version)] = content,
            Name::Copy(version) => self.copies[usize::from(version)] = content,
        }
    }

    pub(crate) fn set_hint(&mut self, version: Version) {
        self.hint = Some(version);
        self.passed = self.passed.max(self.hint);
    }

    /// Deletes a copy, and remembers that it was there.
    pub(crate) fn drop_copy(&mut self, version: Version) {
        self.put(Name::Copy(version), Content::ABSENT);
        self.dropped |= 1 << version;
    }

    /// Whether the copy of a version is there, or was until retention deleted it.
    pub(crate) fn had_copy(&self, version: Version) -> bool {
        self.at(Name::Copy(version)) != Content::ABSENT || self.dropped & 1 << version != 0
    }

    pub(crate) fn holds_a_version(&self) -> bool {
        self.versions.iter().any(|content| *content != Content::ABSENT)
    }

    pub(crate) fn serve(&mut self, call: Call) -> Reply {
        match call {
            Call::ReadHint => Reply(self.hint.map_or(0, |version| version + 1)),
            Call::Get(name) => Reply(self.at(name).0),
            Call::WhichFirst => Reply::done(true),
            Call::List(hint) => Reply::listed(self.current(hint)),
            Call::ListOthers => {
                let mut others = self.versions[1..].iter().chain(&self.copies);
                Reply::done(others.any(|content| *content != Content::ABSENT))
            }
            Call::PutNew(name, content) => {
                let free = self.at(name) == Content::ABSENT;
                if free {
                    self.put(name, content);
                }
                Reply::done(free)
            }
            Call::Put(name, content) => {
                self.put(name, content);
                Reply::done(true)
            }
            Call::SetHintIf(was, version) => {
                let unchanged = self.hint == was;
                if unchanged {
                    self.set_hint(version);
                }
                Reply::done(unchanged)
            }
            Call::SetHint(version) => {
                self.set_hint(version);
                Reply::done(true)
            }
        }
    }

    /// The highest version of which anything is left, as `vN` if it is. Where the hint is good, copies
    /// beyond it do not count.
    fn current(&self, hint: Hint) -> Option<Name> {
        let holds = |name| self.at(name).is_metadata();
        let good = hint.filter(|hinted| holds(Name::Version(*hinted)) || holds(Name::Copy(*hinted)));
        (0..VERSIONS as Version).rev().find_map(|version| {
            let copy_counts = good.is_none_or(|hinted| version <= hinted);
            if holds(Name::Version(version)) {
                Some(Name::Version(version))
            } else {
                Some(Name::Copy(version)).filter(|copy| copy_counts && holds(*copy))
            }
        })
    }
}

/// What one commit adds to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Snapshot {
    pub(crate) writer: u8,
    /// Its rows: those of the writer's first commit, of its second, and so on.
    pub(crate) commit: u8,
    /// Another snapshot of the same rows had been tried on the same base.
    pub(crate) again: bool,
}

/// Rows, a bit for those of each commit.
pub(crate) type Rows = u16;

/// A writer makes no more commits than this.
const COMMITS: u8 = 4;

impl Snapshot {
    fn rows(self) -> Rows {
        1 << (self.writer * COMMITS + self.commit)
    }
}

/// The rows of a writer's first `commits` commits.
pub(crate) fn rows_of(writer: u8, commits: u8) -> Rows {
    ((1 << commits) - 1) << (writer * COMMITS)
}

/// All metadata of a run.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    all: Vec<History>,
    places: HashMap<(Option<Content>, Snapshot), Content>,
}

/// Metadata is its whole history: a snapshot on top of other metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    pub(crate) base: Option<Content>,
    pub(crate) snapshot: Snapshot,
    pub(crate) rows: Rows,
    /// Rows that are in it more than once.
    pub(crate) doubled: Rows,
}

impl Histories {
    pub(crate) fn extend(&mut self, base: Option<Content>, snapshot: Snapshot) -> Content {
        if let Some(known) = self.places.get(&(base, snapshot)) {
            return *known;
        }
        let (rows, doubled) = base.map_or((0, 0), |base| (self.of(base).rows, self.of(base).doubled));
        let place = self.all.len() + usize::from(Content::FIRST_METADATA);
        let place = u8::try_from(place).ok().filter(|place| *place < Reply::FAILED.0);
        let content = Content(place.expect("a run this small makes few histories"));
        self.all.push(History {
            base,
            snapshot,
            rows: rows | snapshot.rows(),
            doubled: doubled | rows & snapshot.rows(),
        });
        self.places.insert((base, snapshot), content);
        content
    }

    pub(crate) fn of(&self, metadata: Content) -> History {
        self.all[usize::from(metadata.0 - Content::FIRST_METADATA)]
    }

    /// Whether `ours` is `current` or one of the versions it was built on.
    pub(crate) fn leads_to(&self, ours: Content, current: Content) -> bool {
        let mut at = Some(current);
        while let Some(metadata) = at.filter(|metadata| *metadata != ours) {
            at = self.of(metadata).base;
        }
        at.is_some()
    }
}
