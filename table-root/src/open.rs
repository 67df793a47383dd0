//! Finding a table root's current version.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use calve_catalog::{Error, ErrorKind, Result};
use calve_storage::{HintState, ListedFile, Location, Storage};
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::{TableMetadata, TableMetadataRef};
use uuid::Uuid;

use crate::hint::Hint;
use crate::layout::{Layout, MetadataName, Spelling, TABLE_ROOT_PROPERTY, Version};

/// How far past the hint single names are tried before the folder is listed.
const LOOK_AHEAD: u64 = 8;

/// How often a version that vanishes under the reader is looked for again.
const OPENS: u32 = 5;

/// How many metadata files are read at once when a folder must be told apart.
const READS_AT_ONCE: usize = 8;

/// The largest metadata file that is unpacked: gzip can claim any size.
const LARGEST_METADATA: u64 = 1 << 30;

/// The current version of a table root.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) version: Version,
    pub(crate) spelling: Spelling,
    /// The file it was read from.
    pub(crate) file: Location,
    pub(crate) metadata: TableMetadataRef,
    /// The file's bytes, unpacked.
    pub(crate) bytes: Bytes,
    /// The hint as it was read before the version was looked for.
    pub(crate) hint: HintState,
}

impl Opened {
    pub(crate) fn hint_version(&self) -> Option<Version> {
        Hint::parse(self.hint.content.as_deref()).version()
    }

    /// Whether a name of another spelling may hold the next version.
    pub(crate) fn other_spellings_count(&self) -> bool {
        self.spelling != Spelling::Plain || writes_gzip(&self.metadata)
    }
}

/// The current version, or `None` when the root holds no metadata at all.
pub(crate) async fn open(storage: &Storage, layout: &Layout) -> Result<Option<Opened>> {
    for _ in 0..OPENS {
        let hint = storage.read_state(&layout.hint()).await?;
        let parsed = Hint::parse(hint.content.as_deref());
        if let Hint::Version(start) = parsed
            && let Some(opened) = follow(storage, layout, start, &hint).await?
        {
            return Ok(Some(opened));
        }
        match search(storage, layout, &parsed, hint).await? {
            Found::Current(opened) => return Ok(Some(*opened)),
            Found::Nothing => return Ok(None),
            Found::Retired => {}
        }
    }
    Err(Error::new(
        ErrorKind::Failed,
        format!("{} keeps changing: each version found was given up before it was read", layout.root()),
    ))
}

/// What a listing led to.
enum Found {
    Current(Box<Opened>),
    Nothing,
    /// A version that was given up between the listing and the read, as later ones came.
    Retired,
}

/// From `vN` of the hint onward, name by name; `None` when that path is broken and a listing decides.
async fn follow(
    storage: &Storage,
    layout: &Layout,
    start: Version,
    hint: &HintState,
) -> Result<Option<Opened>> {
    let (at, next) = (layout.version(start), layout.version(start.saturating_add(1)));
    let (first, second) = futures::join!(storage.read_if_exists(&at), storage.read_if_exists(&next));
    let Some(mut bytes) = first? else { return Ok(None) };
    let mut version = start;
    let mut ahead = second?;
    while let Some(newer) = ahead {
        version += 1;
        bytes = newer;
        if version - start >= LOOK_AHEAD {
            return Ok(None);
        }
        ahead = storage.read_if_exists(&layout.version(version + 1)).await?;
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    let opened = decode(layout.version(version), version, Spelling::Plain, bytes, hint.clone())?;
    Ok((!writes_gzip(&opened.metadata)).then_some(opened))
}

/// The highest version of a listing; the hint speaks where `vN` names are silent.
async fn search(storage: &Storage, layout: &Layout, hint: &Hint, state: HintState) -> Result<Found> {
    let files = candidates(storage, layout).await?;
    let Some(chosen) = choose(layout, hint, &files)? else { return Ok(Found::Nothing) };
    let file = layout.file(&chosen.name);
    let bytes = match storage.read_if_exists(&file).await? {
        Some(bytes) if !bytes.is_empty() => bytes,
        _ => return Ok(Found::Retired),
    };
    let opened = decode(file, chosen.version, chosen.spelling.clone(), bytes, state)?;
    refuse_two_tables(storage, layout, &opened, &files).await?;
    Ok(Found::Current(Box::new(opened)))
}

/// The folder's metadata files that hold anything; an emptied `vN` is a retired name, not a version.
async fn candidates(storage: &Storage, layout: &Layout) -> Result<Vec<MetadataName>> {
    let listed = storage.list(layout.metadata()).await?;
    Ok(metadata_names(&listed, |file| file.size > 0))
}

/// Every version a listing shows, taken or retired.
pub(crate) async fn taken_versions(storage: &Storage, layout: &Layout) -> Result<Vec<MetadataName>> {
    let listed = storage.list(layout.metadata()).await?;
    Ok(metadata_names(&listed, |_| true))
}

fn metadata_names(listed: &[ListedFile], keep: impl Fn(&ListedFile) -> bool) -> Vec<MetadataName> {
    let mut names: Vec<_> =
        listed.iter().filter(|f| keep(f)).filter_map(|f| MetadataName::parse(&f.name)).collect();
    names.sort_by(|a, b| (a.version, &a.name).cmp(&(b.version, &b.name)));
    names
}

fn choose<'a>(layout: &Layout, hint: &Hint, files: &'a [MetadataName]) -> Result<Option<&'a MetadataName>> {
    if let Hint::File(version, name) = hint
        && let Some(named) = files.iter().find(|f| f.name == *name)
        && !files
            .iter()
            .any(|f| f.version >= *version && f.name != *name && !matches!(f.spelling, Spelling::Unique(_)))
    {
        return Ok(Some(named));
    }
    // A writer that publishes by moving the hint leaves `N-uuid` files beyond it when it loses, so
    // where the hint is good only `vN` names count beyond it.
    let hinted = hint.version().filter(|v| files.iter().any(|f| f.version == *v));
    let Some(highest) = files
        .iter()
        .filter(|f| hinted.is_none_or(|h| f.version <= h || !matches!(f.spelling, Spelling::Unique(_))))
        .map(|f| f.version)
        .max()
    else {
        return Ok(None);
    };
    let at: Vec<_> = files.iter().filter(|f| f.version == highest).collect();
    let plain = at.iter().find(|f| f.spelling == Spelling::Plain);
    let zipped = at.iter().find(|f| f.spelling == Spelling::Zipped);
    match (plain.or(zipped), at.as_slice()) {
        (Some(versioned), _) => Ok(Some(*versioned)),
        (None, [only]) => Ok(Some(*only)),
        (None, several) => Err(Error::new(
            ErrorKind::Damaged,
            format!(
                "{} holds several files for version {highest}: {}; name one of them to read it",
                layout.metadata(),
                several.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ")
            ),
        )),
    }
}

/// Two tables' files in one folder: nobody can tell which was meant.
async fn refuse_two_tables(
    storage: &Storage,
    layout: &Layout,
    current: &Opened,
    files: &[MetadataName],
) -> Result<()> {
    let uuid = current.metadata.uuid();
    let logged: BTreeSet<&str> = current
        .metadata
        .metadata_log()
        .iter()
        .filter_map(|log| log.metadata_file.rsplit('/').next())
        .collect();
    let unexplained = files.iter().filter(|f| {
        f.name != current.file.name()
            && !logged.contains(f.name.as_str())
            && layout.copy(f.version, uuid).name() != f.name
    });
    let reads: Vec<_> = unexplained.map(|f| table_of(storage.clone(), layout.file(&f.name))).collect();
    let others: Vec<Option<(String, Uuid)>> =
        futures::stream::iter(reads).buffered(READS_AT_ONCE).try_collect().await?;
    match others.into_iter().flatten().find(|(_, other)| *other != uuid) {
        None => Ok(()),
        Some((name, other)) => Err(Error::new(
            ErrorKind::Damaged,
            format!(
                "{} holds metadata of two tables: {} of table {uuid} and {name} of table {other}; name a metadata file to read one",
                layout.root(),
                current.file.name()
            ),
        )),
    }
}

/// The table a metadata file belongs to; one that vanished or does not parse belongs to none.
async fn table_of(storage: Storage, file: Location) -> Result<Option<(String, Uuid)>> {
    let bytes = storage.read_if_exists(&file).await?;
    Ok(bytes.and_then(|b| parse(&file, &b).ok()).map(|m| (file.name().to_owned(), m.uuid())))
}

fn decode(
    file: Location,
    version: Version,
    spelling: Spelling,
    bytes: Bytes,
    hint: HintState,
) -> Result<Opened> {
    let bytes = unpack(&file, bytes)?;
    let metadata = Arc::new(parse(&file, &bytes)?);
    Ok(Opened { version, spelling, file, metadata, bytes, hint })
}

/// Metadata from a file's bytes, packed or not whatever its name says.
pub(crate) fn parse(file: &Location, bytes: &Bytes) -> Result<TableMetadata> {
    let bytes = unpack(file, bytes.clone())?;
    serde_json::from_slice(&bytes).map_err(|e| {
        Error::new(ErrorKind::Damaged, format!("{file} is not Iceberg table metadata: {e}")).with_source(e)
    })
}

fn unpack(file: &Location, bytes: Bytes) -> Result<Bytes> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..])
        .take(LARGEST_METADATA)
        .read_to_end(&mut unpacked)
        .map_err(|e| Error::new(ErrorKind::Damaged, format!("{file} is not whole: {e}")).with_source(e))?;
    Ok(unpacked.into())
}

/// How a table wants its metadata packed.
pub(crate) const METADATA_CODEC: &str = "write.metadata.compression-codec";

pub(crate) fn writes_gzip(metadata: &TableMetadata) -> bool {
    metadata.properties().get(METADATA_CODEC).is_some_and(|codec| codec.eq_ignore_ascii_case("gzip"))
}

/// Whether this layout made the table.
pub(crate) fn is_table_root(metadata: &TableMetadata) -> bool {
    metadata.properties().get(TABLE_ROOT_PROPERTY).is_some_and(|v| v == "1")
}
