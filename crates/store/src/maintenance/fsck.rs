//! Checks the whole store and repairs what can be repaired.
//!
//! Invariant: without `repair` nothing is changed. A repair deletes nothing: damaged files, and the
//! index if it is replaced, are moved to the quarantine.

use std::io::Read as _;

use blake3::Hash;
use toolcell_i18n::{Localize as _, Message, message};
use toolcell_tool::{Status, ToolId};

use crate::db::index::Index;
use crate::db::object_buffer::unsynced_bytes;
use crate::db::replica::is_replica;
use crate::db::{PreviousIndex, REBUILD_MARKER, generation};
use crate::directory::{Directory, OnMissing, OpenError, open_regular, private_options};
use crate::durability::Durability;
use crate::error::{Fault, localize_error};
use crate::objects::{OBJECT_LIMIT, ObjectName, ObjectState, Objects, list_names};
use crate::store_key;
use crate::version::Version;

use super::gc::referenced_objects;
use super::index_check::{check_index, index_file};
use super::rebuild;
use super::report::{FsckReport, MAX_LISTED_PROBLEMS, UnknownStep};

/// Whether problems are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// Only check.
    Check,
    /// Check and repair.
    Repair,
}

/// Checks a store: every object, the index, and whether they agree.
///
/// With [`RepairMode::Repair`], damaged and unreadable objects are quarantined, and so are versions
/// that an intact index does not know. An index that is damaged or disagrees with the objects is
/// rebuilt from them; no other process may have the store open then. Usage, status, approvals, run
/// records and key-value spaces are copied from the old index as far as it is readable. If SQLite
/// reports the index as damaged, approvals are not copied, and refusals are also taken from the
/// audit log.
///
/// # Errors
/// The errors of opening an existing store, or any [`Fault`]. If the
/// index cannot be read, nothing is repaired. Damage of stored data is not an error; it is in the
/// report.
pub fn fsck(path: &std::path::Path, mending: RepairMode) -> Result<FsckReport, OpenError> {
    run_fsck(path, mending, &[])
}

/// Repairs a store as [`fsck`] does, and adopts versions that the index does not know. They are
/// selected by the hash of their object (eight digits or more) or by name, and may be in the
/// quarantine from an earlier repair.
///
/// # Errors
/// Same as [`fsck`], and `step-not-found`, in which case nothing was done.
pub fn repair_adopting(path: &std::path::Path, steps: &[String]) -> Result<FsckReport, OpenError> {
    run_fsck(path, RepairMode::Repair, steps)
}

fn run_fsck(path: &std::path::Path, mending: RepairMode, adopt: &[String]) -> Result<FsckReport, OpenError> {
    let directory = Directory::open(path, OnMissing::Refuse)?;
    if mending == RepairMode::Repair {
        directory.check_writable()?;
    }
    let objects = Objects::open(&directory)?;
    let mut health = FsckReport::default();
    if directory.root().symlink_metadata(REBUILD_MARKER).is_ok() {
        let marker = Message::verbatim(REBUILD_MARKER.to_owned());
        health.add_index_problem(marker, message!("says that a repair of the index was interrupted"));
        if mending == RepairMode::Repair {
            rebuild::restore_previous(&directory)?;
        }
    }
    let (index, old) = check_index_file(&directory, &objects, &mut health)?;
    restore_adopted(&directory, &objects, adopt)?;
    check_objects(&directory, &objects, (index.as_ref(), old), mending, &mut health)?;
    let adopted = match mending {
        RepairMode::Check => 0,
        // An index whose own versions have lost their objects is no evidence against unknown
        // versions. What a copy holds is what the history of its library says.
        RepairMode::Repair
            if !default_if_damaged(old, is_copy(index.as_ref()))?
                && default_if_damaged(old, has_lost_steps(index.as_ref(), &objects))? =>
        {
            health.unknown_steps = 0;
            std::mem::take(&mut health.unknown).len() as u64
        }
        RepairMode::Repair => quarantine_unknown_steps(&directory, &objects, adopt, &mut health)?,
    };
    let anew = adopted > 0 || health.problems.iter().any(|problem| problem.is_index_problem);
    let index = if mending == RepairMode::Repair && anew {
        drop(index);
        rebuild::rebuild_index(&directory, &objects, old, &mut health)?;
        let index = Index::open(&directory)?;
        check_index(&index, &objects, &mut health)?;
        health.unreferenced = count_unreferenced(&index, &objects)?;
        Some(index)
    } else {
        index
    };
    if let Some(index) = &index {
        default_if_damaged(old, check_lost_tools(index, &objects, mending, &mut health))?;
        default_if_damaged(old, check_lost_steps(index, &objects, mending, &mut health))?;
    }
    check_store_key(&directory, mending, &mut health)?;
    health.quarantined = count_entries(&directory.open_folder("quarantine")?);
    Ok(health)
}

/// The result of reading an index, or the default if the index is damaged. The damage was already
/// reported and must not stop a repair.
fn default_if_damaged<T: Default>(old: PreviousIndex, said: Result<T, Fault>) -> Result<T, Fault> {
    match said {
        Err(Fault::Index { .. }) if old == PreviousIndex::Damaged => Ok(T::default()),
        said => said,
    }
}

/// Whether the index is that of a copy of a shared library.
fn is_copy(index: Option<&Index>) -> Result<bool, Fault> {
    index.map_or(Ok(false), |index| index.read(|transaction| Ok(is_replica(transaction)?)))
}

/// Whether the index contains versions without an object.
fn has_lost_steps(index: Option<&Index>, objects: &Objects) -> Result<bool, Fault> {
    let mut lost = FsckReport::default();
    if let Some(index) = index {
        check_lost_steps(index, objects, RepairMode::Check, &mut lost)?;
    }
    Ok(!lost.problems.is_empty())
}

/// Quarantines versions that the index does not know, except those to be adopted, and returns the
/// number of the latter.
fn quarantine_unknown_steps(
    directory: &Directory,
    objects: &Objects,
    adopt: &[String],
    health: &mut FsckReport,
) -> Result<u64, OpenError> {
    let is_meant = |step: &UnknownStep| adopt.iter().any(|by| step.matches_selector(by));
    if let Some(missing) = adopt.iter().find(|by| !health.unknown.iter().any(|step| step.matches_selector(by))) {
        return Err(OpenError::UnknownStep { step: missing.clone() });
    }
    let quarantine = directory.open_folder("quarantine")?;
    let mut adopted = 0;
    for step in std::mem::take(&mut health.unknown) {
        let what = Message::list([Message::verbatim(step.name.clone()), step.event.localize()]);
        let wrong = message!("this history step is missing from the index");
        let mended = if is_meant(&step) {
            adopted += 1;
            message!("adopted, as requested")
        } else {
            let hash =
                Hash::from_hex(&step.step).map_err(|error| Fault::disk("objects")(std::io::Error::other(error)))?;
            objects.quarantine(hash, &quarantine)?;
            health.unreferenced = health.unreferenced.saturating_sub(1);
            message!("moved to the quarantine; `fsck --repair --adopt {step}` adopts it", step = &step.step[..16])
        };
        health.add_problem(what, wrong, Some(mended));
    }
    health.unknown_steps = 0;
    Ok(adopted)
}

/// Moves versions to be adopted from the quarantine back to the objects.
fn restore_adopted(directory: &Directory, objects: &Objects, adopt: &[String]) -> Result<(), Fault> {
    if adopt.is_empty() {
        return Ok(());
    }
    let quarantine = directory.open_folder("quarantine")?;
    for name in list_names(&quarantine).map_err(Fault::disk("quarantine"))? {
        let Some(hash) = name.to_str().and_then(|name| Hash::from_hex(name.get(..64)?).ok()) else { continue };
        let Ok(file) = open_regular(&quarantine, &name.to_string_lossy(), private_options().read(true)) else {
            continue;
        };
        let mut bytes = Vec::new();
        if file.take(OBJECT_LIMIT + 1).read_to_end(&mut bytes).is_err() || blake3::hash(&bytes) != hash {
            continue;
        }
        let step = Version::from_bytes(&bytes).ok().map(|version| UnknownStep::new(hash, &version));
        if step.is_some_and(|step| adopt.iter().any(|by| step.matches_selector(by))) && !objects.exists(hash) {
            objects.write(hash, &bytes)?;
            quarantine.remove_file(&name).map_err(Fault::disk("quarantine"))?;
        }
    }
    Ok(())
}

/// Checks the format of the store key. The key itself is never reported.
fn check_store_key(directory: &Directory, mending: RepairMode, health: &mut FsckReport) -> Result<(), Fault> {
    let Some(wrong) = store_key::find_defect(directory)? else { return Ok(()) };
    let mended = match mending {
        RepairMode::Check => None,
        RepairMode::Repair => {
            store_key::quarantine_key(directory)?;
            Some(message!("moved to the quarantine; the next use generates a new key"))
        }
    };
    health.add_problem(Message::verbatim(store_key::FILE.to_owned()), wrong, mended);
    Ok(())
}

fn count_unreferenced(index: &Index, objects: &Objects) -> Result<u64, Fault> {
    let referred = index.read(|transaction| Ok::<_, Fault>(referenced_objects(transaction, |_| true)?))?;
    let mut count = 0;
    objects.for_each(&mut |name| {
        count += u64::from(matches!(name, ObjectName::Hash(hash) if !referred.contains(&hash)));
        Ok(())
    })?;
    Ok(count)
}

fn count_entries(dir: &cap_std::fs::Dir) -> u64 {
    dir.entries().map_or(0, |entries| entries.count() as u64)
}

/// Opens and checks the index; the result has no index if it cannot be read.
fn check_index_file(
    directory: &Directory,
    objects: &Objects,
    health: &mut FsckReport,
) -> Result<(Option<Index>, PreviousIndex), OpenError> {
    let index = match Index::open(directory) {
        Ok(index) => index,
        Err(OpenError::Fault(Fault::Index { source })) => {
            health.add_index_problem(
                index_file(),
                message!("cannot be read: {reason}", reason = localize_error(&*source)),
            );
            return Ok((None, PreviousIndex::Damaged));
        }
        Err(other) => return Err(other),
    };
    match check_index(&index, objects, health) {
        Ok(old) => Ok((Some(index), old)),
        Err(Fault::Index { source }) => {
            health.add_index_problem(index_file(), message!("is damaged: {reason}", reason = localize_error(&*source)));
            Ok((Some(index), PreviousIndex::Damaged))
        }
        Err(other) => Err(other.into()),
    }
}

/// Checks every object against its hash. Damaged objects are quarantined, and restored if the index
/// still has their bytes.
fn check_objects(
    directory: &Directory,
    objects: &Objects,
    (index, old): (Option<&Index>, PreviousIndex),
    mending: RepairMode,
    health: &mut FsckReport,
) -> Result<(), Fault> {
    let quarantine = directory.open_folder("quarantine")?;
    let referred =
        index.map(|index| index.read(|transaction| Ok::<_, Fault>(referenced_objects(transaction, |_| true)?)));
    let referred = referred.and_then(Result::ok);
    objects.for_each(&mut |name| {
        let hash = match name {
            ObjectName::Hash(hash) => hash,
            ObjectName::Unknown(path) => {
                let mended = match mending {
                    RepairMode::Check => None,
                    RepairMode::Repair => {
                        objects.quarantine_unknown(&path, &quarantine)?;
                        Some(message!("moved to the quarantine"))
                    }
                };
                let path = Message::verbatim(path.to_string_lossy().into_owned());
                health.add_problem(path, message!("does not belong there"), mended);
                return Ok(());
            }
        };
        match objects.examine(hash)? {
            ObjectState::Intact(bytes) => {
                health.objects += 1;
                health.bytes += bytes.len() as u64;
                if referred.as_ref().is_some_and(|referred| !referred.contains(&hash)) {
                    health.unreferenced += 1;
                    // Missing from a damaged index proves nothing.
                    match Version::from_bytes(&bytes) {
                        Ok(version) if old == PreviousIndex::Intact => {
                            health.unknown_steps += 1;
                            if mending == RepairMode::Repair || health.unknown.len() < MAX_LISTED_PROBLEMS {
                                health.unknown.push(UnknownStep::new(hash, &version));
                            }
                        }
                        _ => {}
                    }
                }
            }
            ObjectState::Missing => {}
            ObjectState::Damaged(wrong) => {
                let mended = match mending {
                    RepairMode::Check => None,
                    RepairMode::Repair => {
                        objects.quarantine(hash, &quarantine)?;
                        Some(if restore_object(objects, index, hash, mending)? {
                            health.objects += 1;
                            health.bytes += objects.len(hash);
                            message!("restored; the damaged file is in the quarantine")
                        } else {
                            message!("moved to the quarantine")
                        })
                    }
                };
                health.add_problem(message!("object {hash}", hash = hash.to_hex()), wrong, mended);
            }
        }
        Ok(())
    })
}

/// Restores an object from the bytes in the index, or only says whether that is possible.
fn restore_object(objects: &Objects, index: Option<&Index>, hash: Hash, mending: RepairMode) -> Result<bool, Fault> {
    let Some(index) = index else { return Ok(false) };
    let kept = match index.read(|transaction| Ok::<_, Fault>(unsynced_bytes(transaction, hash)?)) {
        // The index is damaged there, which was already reported.
        Err(Fault::Index { .. }) => None,
        kept => kept?,
    };
    match kept.filter(|bytes| blake3::hash(bytes) == hash) {
        Some(bytes) if mending == RepairMode::Repair => objects.write(hash, &bytes).map(|()| true),
        other => Ok(other.is_some()),
    }
}

/// Finds tools whose objects are gone. Without its source a tool must not run; without its version
/// it is lost.
fn check_lost_tools(
    index: &Index,
    objects: &Objects,
    mending: RepairMode,
    health: &mut FsckReport,
) -> Result<(), Fault> {
    let sql = "SELECT num, name, id, version, source, current, status FROM tool JOIN about ON about.tool = num";
    let mut lost: Vec<(i64, bool)> = Vec::new();
    index.read(|transaction| {
        let is_copy = is_replica(transaction)?;
        let mut statement = transaction.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(1)?;
            let id = ToolId::from_bytes(row.get(2)?);
            let gone = |column| -> Result<bool, Fault> {
                let hash = Hash::from_bytes(row.get(column)?);
                let whole = matches!(objects.examine(hash)?, ObjectState::Intact(_));
                Ok(!whole && !restore_object(objects, Some(index), hash, mending)?)
            };
            let (version_gone, source_gone) = (gone(3)?, gone(4)?);
            let (current, status): (bool, String) = (row.get(5)?, row.get(6)?);
            // The loss of a quarantined tool was already reported.
            let told = status == Status::Quarantined.name() && !(version_gone && current);
            if told || !(version_gone || source_gone) {
                continue;
            }
            let wrong = if version_gone { message!("its metadata is lost") } else { message!("its source is lost") };
            let mended = if is_copy {
                message!("its node gets it from the shared library")
            } else if version_gone && current {
                message!("its name is free again")
            } else {
                message!("it is quarantined until it is created or imported again")
            };
            let mended = (mending == RepairMode::Repair).then_some(mended);
            health.add_problem(Message::verbatim(format!("{name} ({})", id.short())), wrong, mended);
            if !is_copy {
                lost.push((row.get(0)?, version_gone));
            }
        }
        Ok::<_, Fault>(())
    })?;
    if mending == RepairMode::Repair {
        // The damaged tools are quarantined now, and the others are intact.
        index.write(Durability::Unsynced, |transaction| {
            Ok::<_, Fault>(transaction.prepare_cached("DELETE FROM damaged")?.execute([]).map(|_| ())?)
        })?;
    }
    if mending == RepairMode::Repair && !lost.is_empty() {
        index.write(Durability::Synced, |transaction| {
            for (num, version_gone) in &lost {
                let free = if *version_gone { ", current = 0" } else { "" };
                let sql = format!("UPDATE tool SET status = 'quarantined'{free} WHERE num = ?");
                transaction.prepare_cached(&sql)?.execute([num])?;
            }
            Ok::<_, Fault>(generation::bump(transaction)?)
        })?;
    }
    Ok(())
}

/// Finds versions in histories whose objects are gone, other than the newest of a tool: no rollback
/// to them is possible.
fn check_lost_steps(
    index: &Index,
    objects: &Objects,
    mending: RepairMode,
    health: &mut FsckReport,
) -> Result<(), Fault> {
    let sql = "SELECT version.folded, number, version.hash, name FROM version \
               JOIN tool ON num = version.tool JOIN about ON about.tool = num WHERE version.hash <> about.version";
    let mut lost: Vec<(String, u64)> = Vec::new();
    index.read(|transaction| {
        let is_copy = is_replica(transaction)?;
        let mut statement = transaction.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let hash = Hash::from_bytes(row.get(2)?);
            let whole = matches!(objects.examine(hash)?, ObjectState::Intact(_));
            if !whole && !restore_object(objects, Some(index), hash, mending)? {
                let (name, number): (String, u64) = (row.get(3)?, row.get(1)?);
                let mended = if is_copy {
                    message!("its node gets it from the shared library")
                } else {
                    message!("the other steps are kept")
                };
                let mended = (mending == RepairMode::Repair).then_some(mended);
                let what = message!("{name}, version {number}", name, number);
                health.add_problem(what, message!("this history step is lost"), mended);
                if !is_copy {
                    lost.push((row.get(0)?, number));
                }
            }
        }
        Ok::<_, Fault>(())
    })?;
    if mending == RepairMode::Repair && !lost.is_empty() {
        index.write(Durability::Synced, |transaction| {
            let mut statement = transaction.prepare_cached("DELETE FROM version WHERE folded = ? AND number = ?")?;
            lost.iter().try_for_each(|step| statement.execute((&step.0, step.1)).map(|_| ()))?;
            Ok::<_, Fault>(())
        })?;
    }
    Ok(())
}
