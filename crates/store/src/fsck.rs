//! Looking at everything that is stored, and mending what can be mended.
//!
//! Invariant: without `repair` nothing is changed. Repairing throws nothing away: what is wrong goes into the quarantine,
//! and the index that is replaced goes there as well.

use blake3::Hash;
use serde::Serialize;
use toolcell_tool::{Status, ToolId};

use crate::agreement::agreement;
use crate::directory::{Directory, WhenMissing};
use crate::error::Fault;
use crate::gc::referred_to;
use crate::index::{Durability, FILE, Index};
use crate::objects::{Found, Name, Objects};
use crate::rebuild::{self, Old};
use crate::version::Version;
use crate::{generation, secret};

/// How many problems are told one by one.
const TOLD: usize = 1_000;

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
    /// Steps of names among them: a process died before they counted, or the index is an older copy. `fsck --repair`
    /// takes them in.
    pub unknown_steps: u64,
    /// Objects that only the index keeps safe from a loss of power, until the next sync.
    pub unsynced: u64,
    /// Files in the quarantine.
    pub quarantined: u64,
    /// What is wrong, the first thousand.
    pub problems: Vec<Problem>,
    /// How much more is wrong.
    pub untold: u64,
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
/// With [`Mending::Repair`], objects that are not what their name says are put aside, and an index that is damaged or
/// does not agree with the objects is made anew from them; nobody else may have the store open then. Usage, status,
/// approvals, records and what tools keep in spaces are taken over from the old index where it can be read; from one that
/// SQLite calls damaged no approvals are.
///
/// # Errors
/// Those of opening a store, and of the disk. What is wrong with what is stored is no error but the answer.
pub fn fsck(path: &std::path::Path, mending: Mending) -> Result<Health, crate::OpenError> {
    let directory = Directory::open(path, WhenMissing::Refuse)?;
    if mending == Mending::Repair {
        directory.must_be_writable()?;
    }
    let objects = Objects::open(&directory)?;
    let mut health = Health::default();
    if directory.root().symlink_metadata(rebuild::MARK).is_ok() {
        health.index_wrong(rebuild::MARK, "says that a repair of the index was broken off");
    }
    let (index, old) = look_at_index(&directory, &objects, &mut health)?;
    look_at_objects(&directory, &objects, index.as_ref(), mending, &mut health)?;
    let anew = health.unknown_steps > 0 || health.problems.iter().any(|problem| problem.of_index);
    let index = if mending == Mending::Repair && anew {
        drop(index);
        rebuild::index(&directory, &objects, old, &mut health)?;
        let index = Index::open(&directory)?;
        agreement(&index, &objects, &mut health)?;
        (health.unreferenced, health.unknown_steps) = (count_unreferenced(&index, &objects)?, 0);
        Some(index)
    } else {
        index
    };
    if let Some(index) = &index {
        look_for_losses(index, &objects, mending, &mut health)?;
        look_for_lost_steps(index, &objects, mending, &mut health)?;
    }
    look_at_secret(&directory, mending, &mut health)?;
    health.quarantined = count(&directory.folder("quarantine")?);
    Ok(health)
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
    index: Option<&Index>,
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
                health.wrong(path, "does not belong there", mended);
                return Ok(());
            }
        };
        match objects.look(hash)? {
            Found::Whole(bytes) => {
                health.objects += 1;
                health.bytes += bytes.len() as u64;
                if referred.as_ref().is_some_and(|referred| !referred.contains(&hash)) {
                    health.unreferenced += 1;
                    health.unknown_steps += u64::from(Version::from_bytes(&bytes).is_ok());
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
    let kept = index.read(|transaction| Ok::<_, Fault>(crate::store::unsynced(transaction, hash)?))?;
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
                let whole = matches!(objects.look(hash)?, Found::Whole(_));
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
            let whole = matches!(objects.look(hash)?, Found::Whole(_));
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
