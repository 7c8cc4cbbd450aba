#![expect(clippy::disallowed_methods, reason = "the tests damage files")]

mod faults;
mod migrations;
mod repairs;
mod schedules;
mod tampering;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell_error::ErrorCode;
use toolcell_tool::{Draft, IdPrefix, SpaceName, Status, ToolId, ToolMetadata, ToolName, ToolSpec};

use super::*;
use crate::audit::{Action, AuditEvent, AuditFilter, AuditOrder};
use crate::replication::tests::{AppendFault, Engine};
use crate::store::Store;
use crate::{
    Approval, Decision, DecisionOutcome, HistoryError, HistoryScope, Import, KvCheck, KvEntry, KvError, KvLimits,
    KvWrite, LabelHolder, NewTool, NonceUse, OnConflict, OpenError, RepairMode, RunId, Scores, Settings, SuspendedRow,
    ToolRef, TrustedDefinition, UsageEvent, VersionCommit, fsck,
};

const LIBRARY: &str = "library/team";
const LIMITS: KvLimits = KvLimits { bytes: 1 << 20, keys: 100, value_bytes: 1 << 20 };

/// What all nodes have in common, each table in an order that does not depend on row numbers.
const SHARED_TABLES: [(&str, &str); 13] = [
    (
        "tool",
        "SELECT id, name, folded, current, created_at, updated_at, safety, quality, tags, status FROM tool ORDER BY id",
    ),
    ("about", "SELECT id, version, source, description FROM about JOIN tool ON num = about.tool ORDER BY id"),
    (
        "version",
        "SELECT version.folded, number, hash, id, event, at FROM version JOIN tool ON num = version.tool \
         ORDER BY version.folded, number",
    ),
    ("approval", "SELECT tool, grants, form, granted, by, at FROM approval ORDER BY tool, grants"),
    ("single_approval", "SELECT tool, grants, form, by, at FROM single_approval ORDER BY tool, grants"),
    ("sleeping", "SELECT run, tool, caller, at, bound, blob FROM sleeping ORDER BY run"),
    ("spent", "SELECT token, until FROM spent ORDER BY token"),
    ("pair", "SELECT space, key, value, version, until FROM pair ORDER BY space, key"),
    ("space", "SELECT name, keys, bytes FROM space ORDER BY name"),
    ("server_tool", "SELECT server, tool, digest, form, by, at FROM server_tool ORDER BY server, tool"),
    ("successor", "SELECT id, successor FROM successor JOIN tool ON num = successor.tool ORDER BY id"),
    ("label", "SELECT kind, name, source FROM label ORDER BY kind, name, source"),
    (
        "position",
        "SELECT what, at, NULL FROM mark WHERE what IN ('version', 'forgotten') OR what GLOB 'head *' OR what GLOB 'cut *' \
         UNION ALL SELECT 'replica', count, last FROM replica ORDER BY 1",
    ),
];

/// Nodes of one library, each with a directory of its own.
struct Cluster {
    /// Closed before the directories are removed.
    nodes: Vec<Store>,
    folders: Vec<TempDir>,
    engine: Arc<Engine>,
    settings: Settings,
}

impl Cluster {
    fn new(count: usize) -> Self {
        Self::with(count, Durability::Synced)
    }

    fn with(count: usize, durability: Durability) -> Self {
        let engine = Arc::new(Engine::default());
        let settings = Settings { durability, replication: Some(engine.replication(LIBRARY)), ..Settings::default() };
        let folders: Vec<TempDir> = (0..count).map(|_| tempfile::tempdir().unwrap()).collect();
        let nodes = folders.iter().map(|folder| Store::open(folder.path(), &settings).unwrap()).collect();
        Self { nodes, folders, engine, settings }
    }

    /// The directory of a node. More nodes than directories are further processes.
    fn path(&self, node: usize) -> &Path {
        self.folders[node % self.folders.len()].path()
    }

    /// Closes a node and opens it again.
    fn reopen(&mut self, node: usize) {
        drop(self.nodes.remove(node));
        self.nodes.insert(node, Store::open(self.path(node), &self.settings).unwrap());
    }

    fn follow(&self) {
        for node in &self.nodes {
            node.follow().unwrap();
        }
    }

    /// The entries of the history, as a node reads them.
    fn entries(&self) -> Vec<Entry> {
        let replication = self.engine.replication(LIBRARY);
        let mut at = Position::start();
        let read = |bytes: &Vec<u8>| {
            let (entry, _) = replication.open(bytes, at).unwrap();
            at = at.after(bytes);
            entry
        };
        self.engine.entries(LIBRARY).iter().map(read).collect()
    }

    fn len(&self) -> usize {
        self.engine.entries(LIBRARY).len()
    }

    /// Lets all nodes follow, and checks that they agree: on the tables, on the numbers of versions, and on one audit line for each
    /// change, at its author.
    fn check_agreement(&self) {
        self.follow();
        let entries = self.entries();
        let are_collected =
            entries.iter().any(|entry| matches!(&entry.change, Change::Collect { names, .. } if !names.is_empty()));
        let dumps: Vec<String> = self.nodes.iter().map(dump).collect();
        for (at, node) in self.nodes.iter().enumerate() {
            assert_eq!(dumps[at], dumps[0], "node {at}");
            let status = node.replication_status().unwrap().unwrap();
            assert_eq!((status.library.as_str(), status.entries), (LIBRARY, entries.len() as u64));
            assert!(status.confirmed.is_some());

            let report = node.audit().verify(None).unwrap();
            assert!(report.is_clean(), "node {at}: {:?}", report.problems);
            let authored = entries.iter().filter(|entry| entry.node == status.node);
            let mut authored: Vec<String> =
                authored.filter_map(|entry| Some(entry.audit.as_ref()?.id.clone())).collect();
            let mut told = audited_changes(node);
            authored.sort();
            told.sort();
            assert_eq!(told, authored, "node {at}");
            assert_eq!(node.delayed_lines().unwrap(), 0);

            let sql = "SELECT count(*) FROM (SELECT 1 FROM version GROUP BY folded HAVING max(number) <> count(*))";
            assert_eq!(count(node, sql), 0, "the numbers of versions have gaps");
            let health = fsck(self.path(at), RepairMode::Check).unwrap();
            assert!(health.problems.is_empty(), "node {at}: {health:#?}");
            // The node that collected names has removed their files. The others do so when they collect.
            assert!(health.unknown_steps == 0 || are_collected, "node {at}: {health:#?}");
        }
    }
}

/// The files of objects of a node.
fn object_files(path: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(path.join("objects")).unwrap() {
        let folder = folder.unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let (folder, file) = (folder.file_name(), file.unwrap().file_name());
            files.push(format!("{}{}", folder.to_string_lossy(), file.to_string_lossy()));
        }
    }
    files.sort();
    files
}

fn object_path(path: &Path, hash: &str) -> std::path::PathBuf {
    path.join("objects").join(&hash[..2]).join(&hash[2..])
}

/// The tables that all nodes have in common.
fn dump(store: &Store) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let read = store.db.index.read(|transaction| {
        for (name, sql) in SHARED_TABLES {
            let mut statement = transaction.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let _ = write!(text, "{name}:");
                for column in 0..columns {
                    let _ = match row.get_ref(column)? {
                        ValueRef::Blob(bytes) => write!(text, " {}", blake3::hash(bytes).to_hex()),
                        ValueRef::Text(bytes) => write!(text, " {:?}", String::from_utf8_lossy(bytes)),
                        other => write!(text, " {other:?}"),
                    };
                }
                text.push('\n');
            }
        }
        Ok::<_, Fault>(())
    });
    read.unwrap();
    text
}

fn count(store: &Store, sql: &str) -> u64 {
    store.db.index.read(|transaction| Ok::<_, Fault>(transaction.query_row(sql, [], |row| row.get(0))?)).unwrap()
}

/// The changes that the audit log of a node tells of.
fn audited_changes(store: &Store) -> Vec<String> {
    let lines = store.audit().query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
    lines.filter_map(|line| Some(line.unwrap().details.get("change")?.as_str()?.to_owned())).collect()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn event(action: Action) -> AuditEvent<'static> {
    AuditEvent::new(action, at(1))
}

fn name(text: &str) -> ToolName {
    ToolName::parse(text).unwrap()
}

fn reference(text: &str) -> ToolRef {
    ToolRef::parse(text).unwrap()
}

fn spec(text: &str, source: &str) -> ToolSpec {
    let draft = Draft::from_bytes("t.ts", source.as_bytes()).unwrap();
    ToolSpec::new(name(text), &draft, Value::Null, Value::Null).unwrap()
}

/// Stores a tool under a name, with an audit line.
fn put(store: &Store, name: &str, source: &str, when_taken: OnConflict) -> Result<VersionCommit, HistoryError> {
    let (spec, metadata) = (spec(name, source), ToolMetadata::new("One").unwrap());
    let tool = NewTool { spec: &spec, metadata: &metadata, scores: Scores { safety: 1.0, quality: 0.9 }, at: at(1) };
    store.with_audit(event(Action::CreateTool)).insert(&tool, when_taken)
}

fn create(store: &Store, name: &str) -> ToolId {
    put(store, name, "const execute = () => 1", OnConflict::Refuse).unwrap().id
}

fn replace(store: &Store, name: &str, source: &str) -> ToolId {
    put(store, name, source, OnConflict::Replace).unwrap().id
}

/// The history of a name, as numbers and events.
fn history(store: &Store, text: &str) -> String {
    let history = store.catalog().history(&name(text)).unwrap();
    history.iter().map(|entry| format!("{} {}", entry.number, entry.event.name())).collect::<Vec<_>>().join(", ")
}

fn status(store: &Store, id: ToolId) -> Status {
    store.catalog().find_any(&IdPrefix::parse(&id.to_string()).unwrap()).unwrap().status
}

fn approval(tool: ToolId, decision: Decision) -> Approval {
    Approval { tool, grants: json!({ "net": ["example.org"] }), decision, by: "me".to_owned(), at: at(5) }
}

fn decide(store: &Store, tool: ToolId, decision: Decision) -> Result<DecisionOutcome, Fault> {
    store.with_audit(event(Action::Approve)).set_decision(&approval(tool, decision))
}

fn notes() -> SpaceName {
    SpaceName::parse("notes").unwrap()
}

fn write(key: &str, value: &str) -> KvWrite {
    KvWrite::Put { key: key.to_owned(), value: value.to_owned(), expires_at: None }
}

fn set(store: &Store, key: &str, value: &str) -> Result<bool, KvError> {
    store.kv(&notes()).commit(&[], &[write(key, value)], &LIMITS, at(1))
}

fn get(store: &Store, key: &str) -> Option<KvEntry> {
    store.kv(&notes()).get(key, at(1)).unwrap()
}

fn suspended(number: u64) -> SuspendedRow {
    let (tool, caller) = (ToolId::from_bytes([7; 32]), "me".to_owned());
    let (binding, blob) = ("{}".to_owned(), number.to_le_bytes().to_vec());
    SuspendedRow { run: RunId::new(1, number), tool, caller, suspended_at: at(1), binding, blob }
}

/// Counts a run of a tool, which failed if there is a code.
fn run(store: &Store, tool: ToolId, failure: Option<&str>) {
    let (failure, duration) = (failure.map(str::to_owned), Duration::from_millis(1));
    let event = UsageEvent { tool, at: at(1), failure, fuel: 1, duration, tokens_saved: None, time_saved: None };
    store.runs().record_usage(event).unwrap();
}

/// Runs `work` at the same time on each of these stores, `threads` times on each.
fn at_once<T: Send>(stores: &[Store], threads: usize, work: impl Fn(&Store, usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let mut running = Vec::new();
        for number in 0..threads {
            for (at, store) in stores.iter().enumerate() {
                running.push(scope.spawn(move || work(store, number * stores.len() + at)));
            }
        }
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn of_eight_threads_that_create_a_name_at_once_one_does() {
    let cluster = Cluster::new(4);
    for round in 0..10 {
        let tool = format!("tool{round}");
        let made = at_once(&cluster.nodes, 2, |store, number| {
            put(store, &tool, &format!("const execute = () => {number}"), OnConflict::Refuse)
        });
        let (made, refused): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
        assert_eq!(made.len(), 1);
        let made = made.into_iter().map(Result::unwrap).next().unwrap();
        assert_eq!(made.number, 1);
        for error in refused.into_iter().map(Result::unwrap_err) {
            match error {
                HistoryError::Taken { existing, .. } => assert_eq!(existing, made.id),
                other => panic!("{other}"),
            }
        }
    }
    assert_eq!(cluster.len(), 10);
    cluster.check_agreement();
}

#[test]
fn replacements_of_many_nodes_have_numbers_without_gaps() {
    let cluster = Cluster::with(4, Durability::Unsynced);
    let made = at_once(&cluster.nodes, 2, |store, number| {
        let source = format!("const execute = () => {number}");
        (0..3).map(|_| put(store, "a", &source, OnConflict::Replace).unwrap().number).collect::<Vec<_>>()
    });
    let mut numbers: Vec<u64> = made.into_iter().flatten().collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=24).collect::<Vec<_>>());
    cluster.check_agreement();
}

#[test]
fn what_one_node_does_to_a_name_shows_on_all() {
    let cluster = Cluster::new(3);
    let [one, two, three] = &cluster.nodes[..] else { unreachable!() };
    let first = create(one, "a");
    assert_eq!(history(two, "a"), "");
    let check = |expect: &str| {
        cluster.follow();
        for node in &cluster.nodes {
            assert_eq!(history(node, "a"), expect);
        }
    };
    check("1 created");
    let second = replace(two, "a", "const execute = () => 2");
    check("1 created, 2 replaced");
    assert_eq!(one.catalog().find(&reference("a")).unwrap().id, second);
    three.with_audit(event(Action::DeleteDynamicTool)).delete(&reference("a"), at(2)).unwrap();
    check("1 created, 2 replaced, 3 deleted");
    one.with_audit(event(Action::Undelete)).undelete(&reference("a"), at(3)).unwrap();
    check("1 created, 2 replaced, 3 deleted, 4 undeleted");
    two.with_audit(event(Action::Rollback)).roll_back(&name("a"), 1, at(4)).unwrap();
    check("1 created, 2 replaced, 3 deleted, 4 undeleted, 5 rolled-back");
    assert_eq!(three.catalog().find(&reference("A")).unwrap().id, first);
    assert_eq!(three.catalog().spec(&three.catalog().find(&reference("a")).unwrap()).unwrap().id(), first);
    for to in [Status::Pending, Status::Passed] {
        three.with_audit(event(Action::Status)).set_status(first, to).unwrap();
        cluster.follow();
        assert!(cluster.nodes.iter().all(|node| status(node, first) == to));
    }
    let other = create(one, "b");
    two.follow().unwrap();
    two.with_audit(event(Action::Status)).deprecate(first, Some(other)).unwrap();
    cluster.follow();
    for node in &cluster.nodes {
        assert_eq!(status(node, first), Status::Deprecated);
        assert_eq!(count(node, "SELECT count(*) FROM successor"), 1);
    }
    assert_eq!(cluster.len(), 9);
    cluster.check_agreement();
}

#[test]
fn an_import_is_one_change_on_all_nodes() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let folder = tempfile::tempdir().unwrap();
    let source = Store::open(folder.path(), &Settings::default()).unwrap();
    create(&source, "a");
    replace(&source, "a", "const execute = () => 2");
    let b = create(&source, "b");
    let mut bundle = Vec::new();
    source.bundles().export_all(HistoryScope::All, &mut bundle).unwrap();
    let import = Import::read(&bundle).unwrap();

    // What an imported tool was approved for before does not hold any more.
    replace(one, "b", "const execute = () => 1");
    two.follow().unwrap();
    decide(two, b, Decision::Approved).unwrap();
    two.with_audit(event(Action::Status)).set_status(b, Status::Pending).unwrap();
    one.follow().unwrap();
    replace(one, "b", "const execute = () => 3");
    let before = cluster.len();
    let judge = |_: &ToolSpec| Ok(Scores { safety: 0.5, quality: 0.5 });
    let report = one.with_audit(event(Action::Import)).import(&import, &judge, OnConflict::Replace, at(9)).unwrap();
    assert_eq!((report.added.len(), report.replaced.len(), cluster.len()), (1, 1, before + 1));
    cluster.check_agreement();
    assert_eq!((history(two, "a").as_str(), status(two, b)), ("1 created, 2 replaced", Status::Unverified));
    assert_eq!(two.approvals().decision(b, &approval(b, Decision::Approved).grants).unwrap(), None);
}

#[test]
fn an_import_that_meets_a_change_of_another_node_is_decided_again() {
    let cluster = Cluster::new(2);
    let folder = tempfile::tempdir().unwrap();
    let source = Store::open(folder.path(), &Settings::default()).unwrap();
    create(&source, "a");
    create(&source, "b");
    let mut bundle = Vec::new();
    source.bundles().export_all(HistoryScope::All, &mut bundle).unwrap();
    let import = Import::read(&bundle).unwrap();
    let judge = |_: &ToolSpec| Ok(Scores { safety: 0.5, quality: 0.5 });
    let mut nodes = cluster.nodes;
    let (two, one) = (nodes.pop().unwrap(), nodes.pop().unwrap());
    let two = Arc::new(two);
    let meanwhile = Arc::clone(&two);
    cluster.engine.before_append(move || _ = replace(&meanwhile, "b", "const execute = () => 2"));
    let imported = one.with_audit(event(Action::Import)).import(&import, &judge, OnConflict::Refuse, at(9));
    assert_eq!(imported.unwrap_err().code(), "name-taken");
    let meanwhile = Arc::clone(&two);
    cluster.engine.before_append(move || _ = create(&meanwhile, "c"));
    let imported = one.with_audit(event(Action::Import)).import(&import, &judge, OnConflict::Replace, at(9));
    assert_eq!(imported.unwrap().added.len(), 1);
    let nodes = vec![one, Arc::into_inner(two).unwrap()];
    let cluster = Cluster { nodes, ..cluster };
    assert_eq!((history(&cluster.nodes[0], "a").as_str(), cluster.len()), ("1 created", 3));
    assert_eq!(history(&cluster.nodes[0], "b"), "1 created, 2 replaced");
    cluster.check_agreement();
}

#[test]
fn what_one_node_collects_is_gone_on_all() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let tool = create(one, "a");
    decide(one, tool, Decision::Approved).unwrap();
    one.with_audit(event(Action::DeleteDynamicTool)).delete(&reference("a"), at(2)).unwrap();
    one.suspended().save(&suspended(1)).unwrap();
    let pair = KvWrite::Put { key: "k".to_owned(), value: "1".to_owned(), expires_at: Some(at(50)) };
    one.kv(&notes()).commit(&[], &[pair], &LIMITS, at(1)).unwrap();
    two.follow().unwrap();
    let report = two.with_audit(event(Action::Gc)).collect(at(20), at(60)).unwrap();
    assert_eq!((report.names.len(), report.expired, report.suspended), (1, 1, 1));
    cluster.follow();
    for node in &cluster.nodes {
        assert_eq!(history(node, "a"), "");
        for table in ["tool", "version", "about", "pair", "space", "sleeping"] {
            assert_eq!(count(node, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
        }
    }
    // The name starts anew, also on a node that still has the files.
    assert_eq!(put(one, "a", "const execute = () => 1", OnConflict::Refuse).unwrap().number, 1);
    two.follow().unwrap();
    assert_eq!(replace(two, "a", "const execute = () => 2"), spec("a", "const execute = () => 2").id());
    cluster.check_agreement();
}

#[test]
fn decisions_hold_on_all_nodes() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let tool = create(one, "a");
    let grants = approval(tool, Decision::Approved).grants;
    one.approvals().request(tool, &grants, "caller", at(3)).unwrap();
    two.follow().unwrap();
    assert_eq!(two.approvals().pending(9).unwrap().len(), 1);
    // A request that is known is no change.
    let before = cluster.len();
    two.approvals().request(tool, &grants, "other", at(4)).unwrap();
    assert_eq!(cluster.len(), before);
    for decision in [Decision::Approved, Decision::Refused] {
        assert_eq!(decide(two, tool, decision).unwrap(), DecisionOutcome::Stored);
        one.follow().unwrap();
        assert_eq!(one.approvals().decision(tool, &grants).unwrap(), Some(decision));
    }
    assert_eq!(one.approvals().pending(9).unwrap(), []);
    assert_eq!(one.with_audit(event(Action::Revoke)).revoke(tool).unwrap(), 1);
    two.follow().unwrap();
    assert_eq!(two.approvals().decision(tool, &grants).unwrap(), None);
    decide(one, tool, Decision::ApprovedOnce).unwrap();
    two.follow().unwrap();
    assert!(two.approvals().single(tool, &grants, at(6)).unwrap().is_some());
    // An approval of a tool that another node deleted is no change.
    one.with_audit(event(Action::DeleteDynamicTool)).delete(&reference("a"), at(7)).unwrap();
    let before = cluster.len();
    assert_eq!(decide(two, tool, Decision::Approved).unwrap(), DecisionOutcome::ToolGone);
    assert_eq!(cluster.len(), before);
    cluster.check_agreement();
}

#[test]
fn grants_with_any_number_are_the_same_on_all_nodes() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let tool = create(one, "a");
    let mut bits = 99_u64;
    for _ in 0..200 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(bits);
        let grants = json!({ "rate": if number.is_finite() { number } else { 0.1 } });
        let approval = Approval { grants: grants.clone(), ..approval(tool, Decision::Approved) };
        one.approvals().set_decision(&approval).unwrap();
        two.follow().unwrap();
        assert_eq!(two.approvals().decision(tool, &grants).unwrap(), Some(Decision::Approved), "{grants}");
    }
    cluster.check_agreement();
}

#[test]
fn of_many_nodes_that_take_an_approval_one_gets_it() {
    let cluster = Cluster::new(4);
    let tool = create(&cluster.nodes[0], "a");
    let grants = approval(tool, Decision::ApprovedOnce).grants;
    for _ in 0..5 {
        decide(&cluster.nodes[0], tool, Decision::ApprovedOnce).unwrap();
        let taken = at_once(&cluster.nodes, 2, |store, _| store.approvals().take_single(tool, &grants, at(6)).unwrap());
        assert_eq!(taken.iter().flatten().count(), 1);
    }
    cluster.check_agreement();
}

#[test]
fn of_many_nodes_that_spend_a_token_one_is_the_first() {
    let cluster = Cluster::new(4);
    for number in 0..5_u32 {
        let token = blake3::hash(&number.to_le_bytes());
        let used = at_once(&cluster.nodes, 2, |store, _| store.nonces().consume(token, at(10), at(0)).unwrap());
        assert_eq!(used.iter().filter(|used| **used == NonceUse::Fresh).count(), 1, "{used:?}");
        assert_eq!(used.iter().filter(|used| **used == NonceUse::Replayed).count(), 7, "{used:?}");
    }
    cluster.check_agreement();
}

#[test]
fn of_many_nodes_that_take_a_suspended_run_one_gets_it() {
    let cluster = Cluster::new(4);
    for number in 0..5 {
        let run = suspended(number);
        cluster.nodes[0].suspended().save(&run).unwrap();
        let taken = at_once(&cluster.nodes, 2, |store, _| store.suspended().take(&run).unwrap());
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
    }
    assert_eq!(cluster.nodes[1].suspended().all().unwrap(), []);
    cluster.check_agreement();
}

#[test]
fn increments_of_many_nodes_are_all_counted() {
    let cluster = Cluster::new(4);
    at_once(&cluster.nodes, 1, |store, _| {
        for _ in 0..10 {
            loop {
                let seen = get(store, "n");
                let next = seen.as_ref().map_or(0, |seen| seen.value.parse::<u64>().unwrap()) + 1;
                let check = KvCheck { key: "n".to_owned(), version: seen.map(|seen| seen.version) };
                let writes = [write("n", &next.to_string())];
                if store.kv(&notes()).commit(&[check], &writes, &LIMITS, at(1)).unwrap() {
                    break;
                }
            }
        }
    });
    cluster.follow();
    for node in &cluster.nodes {
        let seen = get(node, "n").unwrap();
        assert_eq!((seen.value.as_str(), seen.version), ("40", 40));
    }
    assert_eq!(cluster.len(), 40);
    cluster.nodes[2].kv(&notes()).clear().unwrap();
    cluster.check_agreement();
    assert_eq!(get(&cluster.nodes[0], "n"), None);
}

#[test]
fn a_commit_that_is_refused_changes_nothing() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    set(one, "k", "1").unwrap();
    let limits = KvLimits { keys: 1, ..LIMITS };
    let refused = two.kv(&notes()).commit(&[], &[write("other", "1")], &limits, at(1));
    assert_eq!(refused.unwrap_err().code(), "kv-quota");
    let wrong = KvCheck { key: "k".to_owned(), version: None };
    assert!(!two.kv(&notes()).commit(&[wrong], &[write("k", "2")], &LIMITS, at(1)).unwrap());
    assert_eq!(cluster.len(), 1);
    cluster.check_agreement();
}

#[test]
fn labels_and_trusted_definitions_hold_on_all_nodes() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let holders = [
        LabelHolder::Space(notes()),
        LabelHolder::Caller("a: b\nc".to_owned()),
        LabelHolder::Folder("/data/ä: x".into()),
        LabelHolder::Tool(ToolId::from_bytes([1; 32])),
    ];
    let sources: Vec<String> = (0..70).map(|number| format!("server:s{number}")).collect();
    one.labels().join(&holders, &sources[..2]).unwrap();
    one.labels().join(&holders, &sources[..1]).unwrap();
    assert_eq!(cluster.len(), 1);
    two.follow().unwrap();
    assert_eq!(two.labels().all().unwrap(), one.labels().all().unwrap());
    assert_eq!(two.labels().all().unwrap().len(), 4);
    two.labels().join(&holders[..1], &sources).unwrap();
    two.labels().join(&holders[..1], &sources).unwrap();
    two.with_audit(event(Action::ClearContext)).clear_label(&holders[1]).unwrap();
    assert_eq!(cluster.len(), 3);
    one.follow().unwrap();
    assert_eq!(one.labels().sources(&holders[..1]).unwrap(), ["*"]);
    assert!(one.labels().sources(&holders[1..2]).unwrap().is_empty());

    let server = toolcell_tool::ServerName::parse("mail").unwrap();
    let known = |tool: &str| TrustedDefinition {
        tool: tool.to_owned(),
        digest: blake3::hash(tool.as_bytes()),
        form: "{}".to_owned(),
    };
    one.with_audit(event(Action::TrustServer))
        .trust_server_tools(&server, &[known("read"), known("send")], "me", at(1))
        .unwrap();
    two.follow().unwrap();
    two.with_audit(event(Action::TrustServer)).trust_server_tools(&server, &[known("read")], "me", at(2)).unwrap();
    one.follow().unwrap();
    assert_eq!(count(one, "SELECT count(*) FROM server_tool"), 1);
    cluster.check_agreement();
}

#[test]
fn a_change_shows_in_the_generation_of_the_other_nodes() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let mut last = two.catalog().generation().unwrap();
    let mut check = |what: &str| {
        two.follow().unwrap();
        let now = two.catalog().generation().unwrap();
        assert_ne!(now, last, "{what}");
        last = now;
    };
    let tool = create(one, "a");
    check("create");
    replace(one, "a", "const execute = () => 2");
    check("replace");
    replace(one, "a", "const execute = () => 1");
    check("replace again");
    for to in [Status::Pending, Status::Passed] {
        one.catalog().set_status(tool, to).unwrap();
        check(to.name());
    }
    for _ in 0..3 {
        run(one, tool, Some("tool-failed"));
    }
    check("demotion");
    for decision in [Decision::Approved, Decision::ApprovedOnce, Decision::Refused] {
        decide(one, tool, decision).unwrap();
        check("decision");
    }
    one.approvals().revoke(tool).unwrap();
    check("revoke");
    decide(one, tool, Decision::ApprovedOnce).unwrap();
    check("once");
    one.approvals().take_single(tool, &approval(tool, Decision::Approved).grants, at(6)).unwrap().unwrap();
    check("take");
    one.catalog().deprecate(tool, None).unwrap();
    check("deprecate");
    one.catalog().delete(&reference("a"), at(2)).unwrap();
    check("delete");
    cluster.check_agreement();
}

#[test]
fn keys_are_the_same_on_all_nodes_of_a_library() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let key = one.derive_key("prompts").unwrap();
    assert_eq!(two.derive_key("prompts").unwrap(), key);
    let differs = |replication: Option<Replication>| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &Settings { replication, ..Settings::default() }).unwrap();
        assert_ne!(store.derive_key("prompts").unwrap(), key);
    };
    differs(None);
    differs(Some(Replication { secret: [9; 32], ..cluster.engine.replication(LIBRARY) }));
    differs(Some(cluster.engine.replication("other")));
    assert_ne!(one.derive_key("other").unwrap(), key);
}

#[test]
fn a_tool_that_fails_too_often_is_demoted_on_all_nodes() {
    let cluster = Cluster::new(2);
    let [one, two] = &cluster.nodes[..] else { unreachable!() };
    let tool = create(one, "a");
    for to in [Status::Pending, Status::Passed] {
        one.catalog().set_status(tool, to).unwrap();
    }
    two.follow().unwrap();
    for _ in 0..2 {
        run(one, tool, Some("tool-failed"));
        run(two, tool, Some("tool-failed"));
    }
    assert_eq!((status(one, tool), status(two, tool)), (Status::Passed, Status::Passed));
    // The library cannot be reached: the demotion is made with the next failure.
    cluster.engine.set_down(true);
    run(one, tool, Some("tool-failed"));
    assert_eq!(status(one, tool), Status::Passed);
    cluster.engine.set_down(false);
    run(one, tool, Some("tool-failed"));
    assert_eq!(status(one, tool), Status::Unverified);
    two.follow().unwrap();
    assert_eq!(status(two, tool), Status::Unverified);
    let lines = cluster.nodes.iter().map(|node| {
        let lines = node.audit().query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap();
        lines.filter(|line| line.as_ref().unwrap().details.get("decidedBy").is_some()).count()
    });
    assert_eq!(lines.collect::<Vec<_>>(), [1, 0]);
    // A tool that is not passed any more is demoted by no other node.
    let before = cluster.len();
    run(two, tool, Some("tool-failed"));
    assert_eq!(cluster.len(), before);
    cluster.check_agreement();
}
