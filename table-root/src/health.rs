//! What is wrong with a root, and mending it.

use std::collections::HashMap;
use std::fmt;

use calve_catalog::{CommitOutcome, Error, ErrorKind, LoadedTable, Result, TableChange, TableUpdate};
use calve_storage::{Location, PutNew, Scheme};

use crate::catalog::TableRootCatalog;
use crate::commit::prove_by_probe;
use crate::hint::Hint;
use crate::layout::{Spelling, TABLE_ROOT_PROPERTY, Version};
use crate::open::{METADATA_CODEC, Opened, is_table_root, open, taken_versions, writes_gzip};

/// Something about a root that a repair mends, or that a person has to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The hint does not say the current version, so that readers that trust it read an old one or
    /// none.
    Hint {
        /// What it says; `None` where there is none.
        says: Option<String>,
        /// The current version.
        current: Version,
    },
    /// The copy that the metadata log names is not there.
    CopyMissing {
        /// Its version.
        version: Version,
        /// Its name.
        name: String,
    },
    /// The copy's name holds other bytes than the version: somebody deleted a version's name, and it was
    /// taken again.
    CopyDiffers {
        /// Its version.
        version: Version,
        /// Its name.
        name: String,
    },
    /// There is no hint and no sign that this layout made the table: a catalog may own it.
    NotATableRoot,
    /// The current version is not spelt `vN.metadata.json`, so that another writer's next version does
    /// not contend with ours.
    OtherSpelling {
        /// The current file's name.
        name: String,
    },
    /// The metadata says that the table lies elsewhere: this is a copy of it.
    Copied {
        /// Where.
        from: String,
    },
}

impl Finding {
    /// Whether [`TableRootCatalog::repair`] mends it.
    pub fn is_mended_by_repair(&self) -> bool {
        matches!(self, Self::Hint { .. } | Self::CopyMissing { .. })
    }

    /// Whether [`TableRootCatalog::adopt`] mends it.
    pub fn is_mended_by_adoption(&self) -> bool {
        matches!(self, Self::NotATableRoot | Self::OtherSpelling { .. } | Self::Copied { .. })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hint { says: Some(says), current } => {
                write!(f, "the version hint says `{}`, the current version is {current}", says.escape_debug())
            }
            Self::Hint { says: None, current } => {
                write!(f, "there is no version hint, the current version is {current}")
            }
            Self::CopyMissing { version, name } => {
                write!(f, "version {version} has no copy {name}, by which the metadata log knows it")
            }
            Self::CopyDiffers { version, name } => write!(
                f,
                "{name} holds other metadata than version {version}: its `v{version}` was deleted and taken again"
            ),
            Self::NotATableRoot => f.write_str(
                "there is no version hint and no sign that this is a table root: a catalog may own the table",
            ),
            Self::OtherSpelling { name } => {
                write!(f, "the current version is {name}, a name that other writers do not contend for")
            }
            Self::Copied { from } => write!(f, "this is a copy of the table at `{}`", from.escape_debug()),
        }
    }
}

impl TableRootCatalog {
    /// What is wrong with the root; empty where nothing is.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without a table, [`ErrorKind::Damaged`] where none can be told.
    pub async fn check(&self) -> Result<Vec<Finding>> {
        self.findings(&self.current().await?).await
    }

    /// Moves the hint and makes missing copies, and gives what it mended. What
    /// [`check`](Self::check) finds beyond that stays.
    ///
    /// # Errors
    /// As [`check`](Self::check), and when the store refuses.
    pub async fn repair(&self) -> Result<Vec<Finding>> {
        let current = self.current().await?;
        let mut mended = Vec::new();
        for finding in self.findings(&current).await? {
            match &finding {
                Finding::CopyMissing { version, name } => {
                    let bytes = self.storage().read(self.layout().version(*version).as_str()).await?;
                    match self.storage().put_new(&self.layout().file(name), bytes).await? {
                        PutNew::Created => mended.push(finding),
                        // Another writer was as quick.
                        PutNew::Taken => {}
                    }
                }
                Finding::Hint { current: version, .. } => {
                    let (hint, ours) = (self.layout().hint(), version.to_string().into());
                    if self.storage().put_if_unchanged(&hint, ours, &current.hint).await? {
                        mended.push(finding);
                    }
                }
                _ => {}
            }
        }
        Ok(mended)
    }

    /// Writes a file into the root's metadata folder, makes sure that the store heeds conditions, and
    /// deletes it again where it may. On local disk it writes to the nearest folder that is there: folders
    /// made for it would stay.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] without write access, [`ErrorKind::Unsupported`] by a store that a table
    /// root can't be committed to.
    pub async fn check_writes(&self) -> Result<()> {
        prove_by_probe(self.storage(), &self.nearest_folder().await).await
    }

    /// Makes the table at this root one that calve commits to: a catalog's table, a copy of another, or
    /// one whose versions are spelt otherwise. Whoever else writes to it must be stopped first.
    ///
    /// Data files stay where they are; a copy goes on reading those of the table it was copied from.
    ///
    /// # Errors
    /// As [`check`](Self::check), and when the store refuses.
    pub async fn adopt(&self) -> Result<CommitOutcome<LoadedTable>> {
        let current = self.current().await?;
        if !self.findings(&current).await?.iter().any(Finding::is_mended_by_adoption) {
            let root = self.root();
            return Err(Error::new(ErrorKind::Input, format!("{root} is a table root of its own already")));
        }
        let properties = HashMap::from([(TABLE_ROOT_PROPERTY.to_owned(), "1".to_owned())]);
        let mut change = TableChange::set_properties(properties);
        if !self.is_here(&current).await {
            change.updates.push(TableUpdate::SetLocation { location: self.root().as_str().to_owned() });
        }
        if writes_gzip(&current.metadata) {
            // A packed version would not be contended for under the plain name.
            let plain = HashMap::from([(METADATA_CODEC.to_owned(), "none".to_owned())]);
            change.updates.push(TableUpdate::SetProperties { updates: plain });
        }
        self.commit_on(&current, &change).await
    }

    async fn nearest_folder(&self) -> Location {
        let metadata = self.layout().metadata().clone();
        if metadata.scheme() != Scheme::File {
            return metadata;
        }
        let nearest = tokio::task::spawn_blocking({
            let mut folder = Some(metadata.clone());
            move || loop {
                match folder {
                    Some(missing) if !missing.local_path().exists() => folder = missing.parent(),
                    there => return there,
                }
            }
        });
        nearest.await.ok().flatten().unwrap_or(metadata)
    }

    async fn current(&self) -> Result<Opened> {
        open(self.storage(), self.layout())
            .await?
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("there is no table at {}", self.root())))
    }

    async fn findings(&self, current: &Opened) -> Result<Vec<Finding>> {
        // Copies first: the hint must not pass a version without its copy.
        let mut found = self.copies(current).await?;
        let said = current.hint.content.as_deref().map(String::from_utf8_lossy);
        let hint = Hint::parse(current.hint.content.as_deref());
        if hint == Hint::Nothing && !(is_table_root(&current.metadata) && current.spelling == Spelling::Plain)
        {
            found.push(Finding::NotATableRoot);
        } else if hint.version() != Some(current.version) {
            let says = said.map(std::borrow::Cow::into_owned);
            found.push(Finding::Hint { says, current: current.version });
        }
        if current.spelling != Spelling::Plain {
            found.push(Finding::OtherSpelling { name: current.file.name().to_owned() });
        }
        if !self.is_here(current).await {
            found.push(Finding::Copied { from: current.metadata.location().to_owned() });
        }
        Ok(found)
    }

    /// The copies of this layout's versions: of those that the log names, and of the current one.
    async fn copies(&self, current: &Opened) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        if !is_table_root(&current.metadata) || current.spelling != Spelling::Plain {
            return Ok(found);
        }
        let names = taken_versions(self.storage(), self.layout()).await?;
        let is_there = |name: &str| names.iter().any(|taken| taken.name == name);
        let logged = current.metadata.metadata_log().iter();
        let logged = logged.filter_map(|log| log.metadata_file.rsplit('/').next()).collect::<Vec<_>>();
        for taken in names.iter().filter(|taken| taken.spelling == Spelling::Plain) {
            let version = taken.version;
            let copy = self.layout().copy(version, current.metadata.uuid());
            let is_expected = version == current.version || logged.contains(&copy.name());
            if version > current.version || !is_expected {
                continue;
            }
            let name = copy.name().to_owned();
            if !is_there(&name) {
                found.push(Finding::CopyMissing { version, name });
            } else if version == current.version
                && self.storage().read_if_exists(&copy).await?.is_some_and(|bytes| bytes != current.bytes)
            {
                found.push(Finding::CopyDiffers { version, name });
            }
        }
        Ok(found)
    }

    /// Whether the metadata names this root as the table's location.
    pub(crate) async fn is_here(&self, current: &Opened) -> bool {
        let Ok(recorded) = current.metadata.location().parse::<Location>() else { return false };
        let here = self.root().clone();
        if recorded == here {
            return true;
        }
        // Links are followed on disk, which may take its time.
        tokio::task::spawn_blocking(move || recorded.same_place(&here)).await.unwrap_or(false)
    }
}
