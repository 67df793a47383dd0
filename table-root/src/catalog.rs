use std::sync::Arc;

use calve_catalog::{
    CommitOutcome, CommitToken, Error, ErrorKind, LoadedTable, NamespaceIdent, NewTable, Pending, Result,
    StagedTable, TableCatalog, TableChange, TableIdent, async_trait,
};
use calve_storage::{HintState, Location, Storage};
use iceberg::spec::TableMetadata;

use crate::commit::{Attempt, loaded, logged};
use crate::hint::Hint;
use crate::layout::{LAST_VERSION, Layout, Spelling, TABLE_ROOT_PROPERTY};
use crate::open::{Opened, is_table_root, open, parse};

/// One table root as a catalog of one table, named after its folder.
#[derive(Clone, Debug)]
pub struct TableRootCatalog {
    ident: TableIdent,
    layout: Layout,
    storage: Storage,
}

/// What a staged table keeps until it is created.
#[derive(Debug)]
struct Staged {
    hint: HintState,
}

impl TableRootCatalog {
    /// The table whose root is `root`, in `storage`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when `root` is the top of a bucket or disk, which names no table.
    pub fn at(root: Location, storage: Storage) -> Result<Self> {
        if root.name().is_empty() {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{root} is no table root; name a folder below it"),
            ));
        }
        let above = root.parent().map(|p| p.name().to_owned()).filter(|name| !name.is_empty());
        let namespace = above.unwrap_or_else(|| root.bucket().to_owned());
        let namespace = if namespace.is_empty() { "root".to_owned() } else { namespace };
        let ident = TableIdent::new(NamespaceIdent::new(namespace), root.name().to_owned());
        Ok(Self { ident, layout: Layout::new(root)?, storage })
    }

    /// The table's name: its folder, in a namespace named after the folder above.
    pub fn ident(&self) -> &TableIdent {
        &self.ident
    }

    /// The table's root.
    pub fn root(&self) -> &Location {
        self.layout.root()
    }

    fn owns(&self, table: &TableIdent) -> Result<()> {
        if *table == self.ident {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!("{} holds one table, {}, and not {table}", self.layout.root(), self.ident),
        ))
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Commits `change` on `base` whatever [`may_commit`](Self::may_commit) says of it.
    pub(crate) async fn commit_on(
        &self,
        base: &Opened,
        change: &TableChange,
    ) -> Result<CommitOutcome<LoadedTable>> {
        self.commit_from(base, change, base.file.as_str()).await
    }

    /// `logged` is the name by which the log will know `base`.
    async fn commit_from(
        &self,
        base: &Opened,
        change: &TableChange,
        logged: &str,
    ) -> Result<CommitOutcome<LoadedTable>> {
        let applied = change.apply(&base.metadata, Some(logged))?;
        let attempt = Attempt {
            storage: self.storage.clone(),
            layout: self.layout.clone(),
            ident: self.ident.clone(),
            base: Some(base.clone()),
            hint_at_load: base.hint.clone(),
            bytes: serialise(&applied.metadata)?,
            metadata: Arc::new(applied.metadata),
            snapshot_ids: change.snapshot_ids(),
            expired: applied.expired,
        };
        attempt.publish().await
    }

    /// Refuses a base that a catalog may own, or whose root was moved.
    async fn may_commit(&self, base: &Opened) -> Result<()> {
        let hinted = Hint::parse(base.hint.content.as_deref()) != Hint::Nothing;
        let ours = is_table_root(&base.metadata) && base.spelling == Spelling::Plain;
        if !hinted && !ours {
            return Err(Error::new(
                ErrorKind::Input,
                format!(
                    "{} has no version hint, so a catalog may own it: it can be read, but a commit here would not be seen there; `calve repair --adopt` makes it a table root",
                    self.layout.root()
                ),
            ));
        }
        if base.version >= LAST_VERSION {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("{} is at version {}, after which there is none", self.layout.root(), base.version),
            ));
        }
        let recorded = base.metadata.location();
        if !self.is_here(base).await {
            return Err(Error::new(
                ErrorKind::Input,
                format!(
                    "{} is a copy of the table at `{recorded}`: a commit would mix their files; `calve repair --adopt` makes it a table of its own",
                    self.layout.root()
                ),
            ));
        }
        Ok(())
    }
}

#[async_trait]
impl TableCatalog for TableRootCatalog {
    async fn load(&self, table: &TableIdent) -> Result<LoadedTable> {
        self.owns(table)?;
        match open(&self.storage, &self.layout).await? {
            Some(opened) => Ok(loaded(self.ident.clone(), self.storage.clone(), &self.layout, opened)),
            None => Err(Error::new(
                ErrorKind::NotFound,
                format!(
                    "there is no table at {}: no metadata lies in its `metadata/` folder",
                    self.layout.root()
                ),
            )),
        }
    }

    async fn check_commit(&self, base: &LoadedTable) -> Result<()> {
        self.owns(&base.ident)?;
        let opened = base.token.record::<Opened>().ok_or_else(|| foreign(&base.ident))?;
        self.may_commit(opened).await
    }

    async fn stage(&self, table: &TableIdent, mut new: NewTable) -> Result<StagedTable> {
        self.owns(table)?;
        let root = self.layout.root();
        if let Some(location) = &new.location
            && location.parse::<Location>()? != *root
        {
            return Err(Error::new(
                ErrorKind::Input,
                format!("a table root lies where it is named, at {root}, and not at {location}"),
            ));
        }
        let hint = self.storage.read_state(&self.layout.hint()).await?;
        if open(&self.storage, &self.layout).await?.is_some() {
            return Err(Error::new(ErrorKind::Exists, format!("there is a table at {root} already")));
        }
        if let Some(version) = Hint::parse(hint.content.as_deref()).version() {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!(
                    "{root} has a version hint, {version}, and no metadata: a table was there; delete {} to make another",
                    self.layout.hint()
                ),
            ));
        }
        new.properties.insert(TABLE_ROOT_PROPERTY.to_owned(), "1".to_owned());
        Ok(StagedTable {
            ident: self.ident.clone(),
            metadata: Arc::new(new.into_metadata(root.as_str())?),
            token: CommitToken::new(Staged { hint }),
            storage: self.storage.clone(),
        })
    }

    async fn create(&self, staged: &StagedTable, change: TableChange) -> Result<CommitOutcome<LoadedTable>> {
        self.owns(&staged.ident)?;
        let Some(token) = staged.token.record::<Staged>() else { return Err(foreign(&staged.ident)) };
        let metadata = change.apply(&staged.metadata, None)?.metadata;
        let attempt = Attempt {
            storage: self.storage.clone(),
            layout: self.layout.clone(),
            ident: self.ident.clone(),
            base: None,
            hint_at_load: token.hint.clone(),
            bytes: serialise(&metadata)?,
            metadata: Arc::new(metadata),
            snapshot_ids: change.snapshot_ids(),
            expired: Vec::new(),
        };
        attempt.publish().await
    }

    async fn commit(&self, base: &LoadedTable, change: TableChange) -> Result<CommitOutcome<LoadedTable>> {
        self.owns(&base.ident)?;
        let Some(opened) = base.token.record::<Opened>() else { return Err(foreign(&base.ident)) };
        self.may_commit(opened).await?;
        self.commit_from(opened, &change, logged(&self.layout, opened).as_str()).await
    }

    async fn resolve(&self, pending: Pending) -> Result<CommitOutcome<LoadedTable>> {
        match pending.request::<Attempt>() {
            Some(attempt) => attempt.clone().resolve().await,
            None => Err(foreign(pending.table())),
        }
    }
}

/// A table as one metadata file describes it; it can be scanned and never committed to.
///
/// # Errors
/// [`ErrorKind::NotFound`] when the file is not there, [`ErrorKind::Damaged`] when it is no metadata.
pub async fn load_static(metadata_file: &Location, storage: Storage) -> Result<LoadedTable> {
    let bytes = storage.read(metadata_file.as_str()).await?;
    let metadata = parse(metadata_file, &bytes)?;
    let name = metadata.location().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = if name.is_empty() { "table" } else { name };
    Ok(LoadedTable {
        ident: TableIdent::new(NamespaceIdent::new("static".to_owned()), name.to_owned()),
        metadata: Arc::new(metadata),
        metadata_location: metadata_file.as_str().to_owned(),
        token: CommitToken::new(()),
        storage,
    })
}

fn serialise(metadata: &TableMetadata) -> Result<bytes::Bytes> {
    serde_json::to_vec(metadata).map(Into::into).map_err(|e| {
        Error::new(ErrorKind::Input, format!("the metadata of {} can't be written: {e}", metadata.location()))
            .with_source(e)
    })
}

fn foreign(table: &TableIdent) -> Error {
    Error::new(ErrorKind::Input, format!("{table} was loaded by another catalog; load it from this one"))
}
