//! Looking at everything that is stored, and mending what can be mended.
//!
//! Invariant: without `repair` nothing is changed. Repairing throws nothing away: what is wrong goes into the quarantine,
//! and the index that is replaced goes there as well.

use std::io::Read as _;

use blake3::Hash;
use jiff::Timestamp;
use serde::Serialize;
use toolcell_tool::{Status, ToolId, ToolName};

use crate::agreement::agreement;
use crate::directory::{Directory, WhenMissing, open_regular, private};
use crate::error::Fault;
use crate::gc::referred_to;
use crate::index::{Durability, FILE, Index};
use crate::objects::{Found, Name, OBJECT_LIMIT, Objects, names};
use crate::rebuild::{self, Old};
use crate::version::Version;
use crate::{generation, secret};

/// How many problems are told one by one.
const TOLD: usize = 1_000;
/// How many digits of a hash say which step is meant.
const LEAST_DIGITS: usize = 8;

/// What was found in a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Tools that names lead to.
    pub tools: u64,
    /// Objects that are as they should be.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that nothing refers to: `gc` takes them.
    pub unreferenced: u64,
    /// Steps of names among them, which the index does not know though it is whole: a process died before they counted, or the
    /// index is an older copy. A repair puts them aside, unless it is told to take them in.
    pub unknown_steps: u64,
    /// Which they are, the first thousand.
    pub unknown: Vec<UnknownStep>,
    /// Objects that only the index keeps safe from a loss of power, until the next sync.
    pub unsynced: u64,
    /// Files in the quarantine.
    pub quarantined: u64,
    /// What is wrong, the first thousand.
    pub problems: Vec<Problem>,
    /// How much more is wrong.
    pub untold: u64,
}

/// A step of a name that the index does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnknownStep {
    /// The hash of its object, in hex.
    pub step: String,
    /// The name.
    pub name: String,
    /// The tool.
    pub tool: ToolId,
    /// What was to happen: `created`, `replaced`, `deleted`.
    pub event: String,
    /// When.
    pub at: Timestamp,
}

impl UnknownStep {
    fn new(hash: Hash, version: &Version) -> Self {
        Self {
            step: hash.to_hex().to_string(),
            name: version.name.clone(),
            tool: version.tool,
            event: version.event.name().to_owned(),
            at: version.at,
        }
    }

    /// Whether this is the step that is meant: by its hash, at least eight digits of it, or by its name.
    fn is_meant(&self, by: &str) -> bool {
        let folded = |name: &str| ToolName::parse(name).map(|name| name.folded()).ok();
        by.len() >= LEAST_DIGITS && self.step.starts_with(by)
            || folded(by).is_some_and(|by| folded(&self.name) == Some(by))
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What it is about.
    pub what: String,
    /// What is wrong with it.
    pub wrong: String,
    /// What was done about it.
    pub mended: Option<String>,
    /// Whether it is the index that is wrong.
    #[serde(skip)]
    pub(crate) of_index: bool,
}

impl Health {
    /// Whether nothing is wrong, or all of it was mended.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.untold == 0 && self.problems.iter().all(|problem| problem.mended.is_some())
    }

    /// Notes that something is wrong.
    fn wrong(&mut self, what: impl Into<String>, wrong: impl Into<String>, mended: Option<String>) {
        self.note(Problem { what: what.into(), wrong: wrong.into(), mended, of_index: false });
    }

    /// Notes that something is wrong with the index.
    pub(crate) fn index_wrong(&mut self, what: impl Into<String>, wrong: impl Into<String>) {
        self.note(Problem { what: what.into(), wrong: wrong.into(), mended: None, of_index: true });
    }

    fn note(&mut self, problem: Problem) {
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        } else {
            self.untold += 1;
        }
    }
}

/// Whether things are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mending {
    /// They are looked at only.
    Look,
    /// They are mended.
    Repair,
}

/// Looks at a store: at every object, at the index, and whether they agree.
///
/// With [`Mending::Repair`], objects that are not what their name says, or cannot be read, are put aside, and so are steps that an
/// index that is whole does not know. An index that is damaged or does not agree with the objects is made anew from them; nobody
/// else may have the store open then. Usage, status, approvals, records and what tools keep in spaces are taken over from the old
/// index where it can be read; from one that SQLite calls damaged no approvals are, and refusals
/// are taken over from the audit log as well.
///
/// # Errors
/// Those of opening a store, and of the disk: where the index cannot be read, nothing is repaired. What is wrong with what is stored is no error but the answer.
pub fn fsck(path: &std::path::Path, mending: Mending) -> Result<Health, crate::OpenError> {
    checked(path, mending, &[])
}

/// Repairs a store as [`fsck`] does, and takes in steps that the index does not know: those that are meant by the hash of their
/// object (eight digits or more) or by their name, also where an earlier repair put them aside.
///
/// # Errors
/// As [`fsck`], and `step-not-found`: then nothing was done.
pub fn repair_adopting(path: &std::path::Path, steps: &[String]) -> Result<Health, crate::OpenError> {
    checked(path, Mending::Repair, steps)
}

fn checked(path: &std::path::Path, mending: Mending, adopt: &[String]) -> Result<Health, crate::OpenError> {
    let directory = Directory::open(path, WhenMissing::Refuse)?;
    if mending == Mending::Repair {
        directory.must_be_writable()?;
    }
    let objects = Objects::open(&directory)?;
    let mut health = Health::default();
    if directory.root().symlink_metadata(rebuild::MARK).is_ok() {
        health.index_wrong(rebuild::MARK, "says that a repair of the index was broken off");
        if mending == Mending::Repair {
            rebuild::roll_back(&directory)?;
        }
    }
    let (index, old) = look_at_index(&directory, &objects, &mut health)?;
    bring_back(&directory, &objects, adopt)?;
    look_at_objects(&directory, &objects, (index.as_ref(), old), mending, &mut health)?;
    let adopted = match mending {
        Mending::Look => 0,
        // An index that leads to steps which are not there is no witness against those that are.
        Mending::Repair if as_far_as_readable(old, has_lost_steps(index.as_ref(), &objects))? => {
            health.unknown_steps = 0;
            std::mem::take(&mut health.unknown).len() as u64
        }
        Mending::Repair => put_unknown_aside(&directory, &objects, adopt, &mut health)?,
    };
    let anew = adopted > 0 || health.problems.iter().any(|problem| problem.of_index);
    let index = if mending == Mending::Repair && anew {
        drop(index);
        rebuild::index(&directory, &objects, old, &mut health)?;
        let index = Index::open(&directory)?;
        agreement(&index, &objects, &mut health)?;
        health.unreferenced = count_unreferenced(&index, &objects)?;
        Some(index)
    } else {
        index
    };
    if let Some(index) = &index {
        as_far_as_readable(old, look_for_losses(index, &objects, mending, &mut health))?;
        as_far_as_readable(old, look_for_lost_steps(index, &objects, mending, &mut health))?;
    }
    look_at_secret(&directory, mending, &mut health)?;
    health.quarantined = count(&directory.folder("quarantine")?);
    Ok(health)
}

/// What an index says, as far as it can be read: that one is damaged was told, and stops no repair.
fn as_far_as_readable<T: Default>(old: Old, said: Result<T, Fault>) -> Result<T, Fault> {
    match said {
        Err(Fault::Index { .. }) if old == Old::Damaged => Ok(T::default()),
        said => said,
    }
}

/// Whether the index leads to steps that have no object.
fn has_lost_steps(index: Option<&Index>, objects: &Objects) -> Result<bool, Fault> {
    let mut lost = Health::default();
    if let Some(index) = index {
        look_for_lost_steps(index, objects, Mending::Look, &mut lost)?;
    }
    Ok(!lost.problems.is_empty())
}

/// Puts aside the steps that the index does not know, but for those that are to be taken in, and says how many those are.
fn put_unknown_aside(
    directory: &Directory,
    objects: &Objects,
    adopt: &[String],
    health: &mut Health,
) -> Result<u64, crate::OpenError> {
    let is_meant = |step: &UnknownStep| adopt.iter().any(|by| step.is_meant(by));
    if let Some(missing) = adopt.iter().find(|by| !health.unknown.iter().any(|step| step.is_meant(by))) {
        return Err(crate::OpenError::NoStep { step: missing.clone() });
    }
    let quarantine = directory.folder("quarantine")?;
    let mut adopted = 0;
    for step in std::mem::take(&mut health.unknown) {
        let (what, wrong) =
            (format!("{}, {}", step.name, step.event), "a step that the index does not know".to_owned());
        let mended = if is_meant(&step) {
            adopted += 1;
            "taken in, as it was asked for".to_owned()
        } else {
            let hash =
                Hash::from_hex(&step.step).map_err(|error| Fault::disk("objects")(std::io::Error::other(error)))?;
            objects.put_aside(hash, &quarantine)?;
            health.unreferenced = health.unreferenced.saturating_sub(1);
            format!("put into the quarantine; `fsck --repair --adopt {}` takes it in", &step.step[..16])
        };
        health.wrong(what, wrong, Some(mended));
    }
    health.unknown_steps = 0;
    Ok(adopted)
}

/// Moves steps that are to be taken in from the quarantine to where they were.
fn bring_back(directory: &Directory, objects: &Objects, adopt: &[String]) -> Result<(), Fault> {
    if adopt.is_empty() {
        return Ok(());
    }
    let quarantine = directory.folder("quarantine")?;
    for name in names(&quarantine).map_err(Fault::disk("quarantine"))? {
        let Some(hash) = name.to_str().and_then(|name| Hash::from_hex(name.get(..64)?).ok()) else { continue };
        let Ok(file) = open_regular(&quarantine, &name.to_string_lossy(), private().read(true)) else { continue };
        let mut bytes = Vec::new();
        if file.take(OBJECT_LIMIT + 1).read_to_end(&mut bytes).is_err() || blake3::hash(&bytes) != hash {
            continue;
        }
        let step = Version::from_bytes(&bytes).ok().map(|version| UnknownStep::new(hash, &version));
        if step.is_some_and(|step| adopt.iter().any(|by| step.is_meant(by))) && !objects.has(hash) {
            objects.write(hash, &bytes)?;
            quarantine.remove_file(&name).map_err(Fault::disk("quarantine"))?;
        }
    }
    Ok(())
}

/// The secret is one, if it is there. What it is nobody is told.
fn look_at_secret(directory: &Directory, mending: Mending, health: &mut Health) -> Result<(), Fault> {
    let Some(wrong) = secret::wrong(directory)? else { return Ok(()) };
    let mended = match mending {
        Mending::Look => None,
        Mending::Repair => {
            secret::put_aside(directory)?;
            Some("put into the quarantine; the next who asks for it makes another one".to_owned())
        }
    };
    health.wrong(secret::FILE, wrong, mended);
    Ok(())
}

fn count_unreferenced(index: &Index, objects: &Objects) -> Result<u64, Fault> {
    let referred = index.read(|transaction| Ok::<_, Fault>(referred_to(transaction, |_| true)?))?;
    let mut count = 0;
    objects.each(&mut |name| {
        count += u64::from(matches!(name, Name::Hash(hash) if !referred.contains(&hash)));
        Ok(())
    })?;
    Ok(count)
}

fn count(dir: &cap_std::fs::Dir) -> u64 {
    dir.entries().map_or(0, |entries| entries.count() as u64)
}

/// Opens the index and looks at it; none where it cannot be read.
fn look_at_index(
    directory: &Directory,
    objects: &Objects,
    health: &mut Health,
) -> Result<(Option<Index>, Old), crate::OpenError> {
    let index = match Index::open(directory) {
        Ok(index) => index,
        Err(crate::OpenError::Fault(Fault::Index { source })) => {
            health.index_wrong(FILE, format!("cannot be read: {source}"));
            return Ok((None, Old::Damaged));
        }
        Err(other) => return Err(other),
    };
    match agreement(&index, objects, health) {
        Ok(old) => Ok((Some(index), old)),
        Err(Fault::Index { source }) => {
            health.index_wrong(FILE, format!("is damaged: {source}"));
            Ok((Some(index), Old::Damaged))
        }
        Err(other) => Err(other.into()),
    }
}

/// Every object is what its name says; what is not is put aside, or made again from what the index still has.
fn look_at_objects(
    directory: &Directory,
    objects: &Objects,
    (index, old): (Option<&Index>, Old),
    mending: Mending,
    health: &mut Health,
) -> Result<(), Fault> {
    let quarantine = directory.folder("quarantine")?;
    let referred = index.map(|index| index.read(|transaction| Ok::<_, Fault>(referred_to(transaction, |_| true)?)));
    let referred = referred.and_then(Result::ok);
    objects.each(&mut |name| {
        let hash = match name {
            Name::Hash(hash) => hash,
            Name::Stranger(path) => {
                let mended = match mending {
                    Mending::Look => None,
                    Mending::Repair => {
                        objects.put_stranger_aside(&path, &quarantine)?;
                        Some("put into the quarantine".to_owned())
                    }
                };
                health.wrong(path.to_string_lossy(), "does not belong there", mended);
                return Ok(());
            }
        };
        match objects.examine(hash)? {
            Found::Whole(bytes) => {
                health.objects += 1;
                health.bytes += bytes.len() as u64;
                if referred.as_ref().is_some_and(|referred| !referred.contains(&hash)) {
                    health.unreferenced += 1;
                    // What a damaged index does not know says nothing.
                    match Version::from_bytes(&bytes) {
                        Ok(version) if old == Old::Whole => {
                            health.unknown_steps += 1;
                            if mending == Mending::Repair || health.unknown.len() < TOLD {
                                health.unknown.push(UnknownStep::new(hash, &version));
                            }
                        }
                        _ => {}
                    }
                }
            }
            Found::Missing => {}
            Found::Damaged(wrong) => {
                let mended = match mending {
                    Mending::Look => None,
                    Mending::Repair => {
                        objects.put_aside(hash, &quarantine)?;
                        Some(if restored(objects, index, hash, mending)? {
                            health.objects += 1;
                            health.bytes += objects.len(hash);
                            "made again; what was there is in the quarantine".to_owned()
                        } else {
                            "put into the quarantine".to_owned()
                        })
                    }
                };
                health.wrong(format!("object {}", hash.to_hex()), wrong, mended);
            }
        }
        Ok(())
    })
}

/// Makes an object again from the bytes that the index keeps of it, or says whether that can be done.
fn restored(objects: &Objects, index: Option<&Index>, hash: Hash, mending: Mending) -> Result<bool, Fault> {
    let Some(index) = index else { return Ok(false) };
    let kept = match index.read(|transaction| Ok::<_, Fault>(crate::store::unsynced(transaction, hash)?)) {
        // The index is damaged there, which was told.
        Err(Fault::Index { .. }) => None,
        kept => kept?,
    };
    match kept.filter(|bytes| blake3::hash(bytes) == hash) {
        Some(bytes) if mending == Mending::Repair => objects.write(hash, &bytes).map(|()| true),
        other => Ok(other.is_some()),
    }
}

/// Tools whose objects are gone: without its source a tool must not run, and without what is known of it it is lost.
fn look_for_losses(index: &Index, objects: &Objects, mending: Mending, health: &mut Health) -> Result<(), Fault> {
    let sql = "SELECT num, name, id, version, source, current, status FROM tool JOIN about ON about.tool = num";
    let mut lost: Vec<(i64, bool)> = Vec::new();
    index.read(|transaction| {
        let mut statement = transaction.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(1)?;
            let id = ToolId::from_bytes(row.get(2)?);
            let gone = |column| -> Result<bool, Fault> {
                let hash = Hash::from_bytes(row.get(column)?);
                let whole = matches!(objects.examine(hash)?, Found::Whole(_));
                Ok(!whole && !restored(objects, Some(index), hash, mending)?)
            };
            let (version_gone, source_gone) = (gone(3)?, gone(4)?);
            let (current, status): (bool, String) = (row.get(5)?, row.get(6)?);
            // A tool that is in quarantine already was told before.
            let told = status == Status::Quarantined.name() && !(version_gone && current);
            if told || !(version_gone || source_gone) {
                continue;
            }
            let wrong = if version_gone { "what is known of it is lost" } else { "its source is lost" };
            let mended = if version_gone && current {
                "its name is free again"
            } else {
                "it is quarantined until it is created or imported again"
            };
            let mended = (mending == Mending::Repair).then(|| mended.to_owned());
            health.wrong(format!("{name} ({})", id.short()), wrong, mended);
            lost.push((row.get(0)?, version_gone));
        }
        Ok::<_, Fault>(())
    })?;
    if mending == Mending::Repair {
        // Those that are damaged are quarantined now, and the others are whole.
        index.write(Durability::Unsynced, |transaction| {
            Ok::<_, Fault>(transaction.prepare_cached("DELETE FROM damaged")?.execute([]).map(|_| ())?)
        })?;
    }
    if mending == Mending::Repair && !lost.is_empty() {
        index.write(Durability::Synced, |transaction| {
            for (num, version_gone) in &lost {
                let free = if *version_gone { ", current = 0" } else { "" };
                let sql = format!("UPDATE tool SET status = 'quarantined'{free} WHERE num = ?");
                transaction.prepare_cached(&sql)?.execute([num])?;
            }
            Ok::<_, Fault>(generation::changed(transaction)?)
        })?;
    }
    Ok(())
}

/// Steps in histories whose objects are gone, and that are not the newest about their tool: nobody can go back to them.
fn look_for_lost_steps(index: &Index, objects: &Objects, mending: Mending, health: &mut Health) -> Result<(), Fault> {
    let sql = "SELECT version.folded, number, version.hash, name FROM version \
               JOIN tool ON num = version.tool JOIN about ON about.tool = num WHERE version.hash <> about.version";
    let mut lost: Vec<(String, u64)> = Vec::new();
    index.read(|transaction| {
        let mut statement = transaction.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let hash = Hash::from_bytes(row.get(2)?);
            let whole = matches!(objects.examine(hash)?, Found::Whole(_));
            if !whole && !restored(objects, Some(index), hash, mending)? {
                let (name, number): (String, u64) = (row.get(3)?, row.get(1)?);
                let mended = (mending == Mending::Repair).then(|| "the other steps stay".to_owned());
                health.wrong(format!("{name}, version {number}"), "a step of its history is lost", mended);
                lost.push((row.get(0)?, number));
            }
        }
        Ok::<_, Fault>(())
    })?;
    if mending == Mending::Repair && !lost.is_empty() {
        index.write(Durability::Synced, |transaction| {
            let mut statement = transaction.prepare_cached("DELETE FROM version WHERE folded = ? AND number = ?")?;
            lost.iter().try_for_each(|step| statement.execute((&step.0, step.1)).map(|_| ()))?;
            Ok::<_, Fault>(())
        })?;
    }
    Ok(())
}
