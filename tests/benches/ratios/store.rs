//! The store: inserting and finding a tool, listing, recording a run, and opening.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell_store::audit::{Action, AuditEvent, Details, Digest};
use toolcell_store::{
    ActiveRun, Durability, Entry, Filter, FinishedRun, NewTool, OnConflict, Order, RUN_KIND, Record, RunId, Scores,
    SearchTerms, Settings, Store, ToolRef, UsageEvent,
};
use toolcell_tool::{Draft, ToolId, ToolMetadata, ToolName, ToolSpec};

use crate::measure::Series;
use crate::memory::Footprint;
use crate::table::{Figure, Row, Table, Target};

/// Numbers of tools, and the promised time of a list over them in seconds.
const SIZES: [(usize, f64); 2] = [(10_000, 10e-3), (50_000, 50e-3)];
const TURNS: usize = 30;
/// Number of concurrent threads that record runs, and of runs per thread.
const RECORDERS: (usize, usize) = (8, 2_000);

pub(crate) fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    table.section("the store, on this disk");
    synced(table, &folder.path().join("synced"));
    let settings = Settings { durability: Durability::Unsynced, ..Settings::default() };
    let path = folder.path().join("unsynced");
    let store = Store::open(&path, &settings).unwrap();
    let (mut put, mut files) = (Series::default(), Series::default());
    let mut stored = 0;
    for (size, _) in SIZES {
        let before = Footprint::now();
        for number in stored..size {
            let tool = Tool::new(number);
            put.time(1, || tool.put(&store));
            if number.is_multiple_of(10) {
                files.time(1, || two_files(folder.path(), number));
            }
        }
        stored = size;
        lists(table, &store, size);
        searches(table, &store, size);
        let grown = Figure::Kib((Footprint::now().rss_kib - before.rss_kib).max(0.0));
        // Only the cache of the index grows, and it is bounded.
        table.row(Row::new(format!("memory more, {size} tools put and listed"), grown));
    }
    // Some file systems search for free inodes among recently deleted files, which takes longer.
    let row =
        Row::new("put and name, without sync, median, beside two files made", put.median()).beside(files.median());
    table.row(row.target(Target::AtMost(Figure::Time(150e-6))));
    finding(table, &store);
    recording(table, &store);
    runs(table, &store);
    drop(store);
    let mut open = Series::default();
    open.time(TURNS, || Store::open_existing(&path, &settings).unwrap());
    let row = Row::new("open a store of 50000 tools, median", open.median());
    table.row(row.target(Target::AtMost(Figure::Time(20e-3))));
}

/// Measures a durable insertion, compared with a single sync.
fn synced(table: &mut Table, path: &Path) {
    let store = Store::open(path, &Settings::default()).unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(path.join("bench")).unwrap();
    let (mut put, mut sync) = (Series::default(), Series::default());
    for number in 0..200 {
        let tool = Tool::new(number);
        put.time(1, || tool.put(&store));
        sync.time(1, || file.write_all(&[1; 4096]).and_then(|()| file.sync_data()).unwrap());
    }
    let row = Row::new("put and name, durable, median, beside one sync of 4 KiB", put.median()).beside(sync.median());
    table.row(row.target(Target::AtMost(Figure::Time(5e-3))));
}

/// Does only the file operations of an insertion: writes two files, each under a temporary name
/// first.
fn two_files(folder: &Path, number: usize) {
    for name in ["source", "version"] {
        let (part, whole) = (folder.join("part"), folder.join(format!("{name}{number}")));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&part).unwrap();
        file.write_all(&[1; 900]).unwrap();
        drop(file);
        std::fs::rename(part, whole).unwrap();
    }
}

/// Lists with every kind of filter; the slowest counts.
fn lists(table: &mut Table, store: &Store, size: usize) {
    let promised = SIZES.iter().find(|(known, _)| *known == size).map_or(0.0, |(_, promised)| *promised);
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    let filters = [
        ("no filter", Filter::default()),
        ("part of a name", Filter { name: Some("r_99".to_owned()), order: Order::Name, ..Filter::default() }),
        ("a rare tag", Filter { any_tag: tags(&["rare"]), order: Order::Updated, ..Filter::default() }),
        ("a safety score", Filter { min_safety: Some(0.7), order: Order::Confidence, ..Filter::default() }),
        (
            "all of it, 100 tools",
            Filter {
                name: Some("tool".to_owned()),
                all_tags: tags(&["math", "common"]),
                min_safety: Some(0.5),
                order: Order::Usage,
                limit: 100,
                ..Filter::default()
            },
        ),
    ];
    for (name, filter) in filters {
        let mut list = Series::default();
        list.time(TURNS, || store.catalog().list(&filter).unwrap());
        let row = Row::new(format!("list {size} tools by {name}, median"), list.median());
        table.row(row.target(Target::AtMost(Figure::Time(promised))));
    }
}

/// Searches for rare words, common ones, and those that all tools have; the slowest counts.
fn searches(table: &mut Table, store: &Store, size: usize) {
    let mut fill = Series::default();
    loop {
        let tools = store.catalog().unindexed("bench", 500).unwrap();
        if tools.is_empty() {
            break;
        }
        let terms: Vec<(Entry, SearchTerms)> = tools.into_iter().map(terms).collect();
        fill.time(1, || store.catalog().index_terms("bench", &terms).unwrap());
    }
    table.row(Row::new(format!("index 500 of {size} tools to be searched, median"), fill.median()));
    let promised = SIZES.iter().find(|(known, _)| *known == size).map_or(0.0, |(_, promised)| *promised);
    for (what, text) in [
        ("a rare word", "w977"),
        ("two rare words and two that all have", "w977 w991 number multiplies"),
        ("eight words of every kind", "w3 w17 w101 w977 rare usual number multiplies"),
        ("a word that all have", "multiplies"),
    ] {
        let words: Vec<Vec<String>> = text.split(' ').map(|word| vec![word.to_owned(), format!("~{word}")]).collect();
        let mut search = Series::default();
        search.time(TURNS, || store.catalog().search(&words, 20).unwrap());
        let row = Row::new(format!("search {size} tools for {what}, median"), search.median());
        table.row(row.target(Target::AtMost(Figure::Time(promised))));
    }
}

/// Returns the search terms of a tool: words that some tools have, and words that all have.
fn terms(entry: Entry) -> (Entry, SearchTerms) {
    let number: usize = entry.name.as_str().rsplit('_').next().and_then(|digits| digits.parse().ok()).unwrap();
    let words = |text: &str| text.to_lowercase().split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut about = words(&entry.description);
    about.extend([7, 31, 113, 997].map(|every| format!("w{}", number % every)));
    let parameters = words("n what is multiplied");
    let made = SearchTerms {
        name: words(&entry.name.as_str().replace('_', " ")),
        tags: entry.tags.clone(),
        description: about,
        parameters,
    };
    (entry, made)
}

fn finding(table: &mut Table, store: &Store) {
    let (mut by_name, mut by_id, mut read) = (Series::default(), Series::default(), Series::default());
    for number in (0..50_000).step_by(25) {
        let name = ToolRef::Name(name(number));
        by_name.time(1, || store.catalog().find(&name).unwrap());
        let entry = store.catalog().find(&name).unwrap();
        let id = ToolRef::parse(&entry.id.short()).unwrap();
        by_id.time(1, || store.catalog().find(&id).unwrap());
        read.time(1, || store.catalog().spec(&entry).unwrap());
    }
    for (what, series) in [("by name", by_name), ("by 12 digits of the identifier", by_id)] {
        let row = Row::new(format!("find a tool {what}, median"), series.median());
        table.row(row.target(Target::AtMost(Figure::Time(30e-6))));
    }
    table.row(Row::new("read its source and check every hash, median", read.median()));
}

fn recording(table: &mut Table, store: &Store) {
    let tool = store.catalog().find(&ToolRef::Name(name(1))).unwrap().id;
    let mut alone = Series::default();
    alone.time(2_000, || store.runs().record_usage(run(tool)).unwrap());
    let (threads, runs) = RECORDERS;
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..runs).for_each(|_| store.runs().record_usage(run(tool)).unwrap()));
        }
    });
    let each = started.elapsed() / u32::try_from(threads * runs).unwrap();
    for (what, figure) in [("alone, median", alone.median()), ("8 threads at once, each", Figure::time(each))] {
        let row = Row::new(format!("record a run, {what}"), figure);
        table.row(row.target(Target::AtMost(Figure::Time(50e-6))));
    }
}

/// Measures runs that are started and finished in the journal, as every run is.
fn runs(table: &mut Table, store: &Store) {
    let tool = store.catalog().find(&ToolRef::Name(name(1))).unwrap().id;
    let (mut starts, mut ends) = (Series::default(), Series::default());
    let parameters = br#"{"n": 21}"#;
    let mut once = || {
        let mut begun = None;
        starts.time(1, || begun = Some(begin_run(store)));
        let begun = begun.unwrap();
        let ended = ended(tool, begun.run(), parameters);
        let mut both = Some((begun, ended));
        ends.time(1, || both.take().map(|(begun, ended)| store.runs().finish(begun, ended).unwrap()));
    };
    (0..5_000).for_each(|_| once());
    for (what, series, most) in [("begin a run, median", starts, 4e-6), ("end a run, alone, median", ends, 41e-6)] {
        table.row(Row::new(what, series.median()).target(Target::AtMost(Figure::Time(most))));
    }
    for (threads, least) in [(2, 20_000.0), (8, 20_000.0)] {
        let each = 40_000 / threads;
        let started = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..each {
                        let begun = begin_run(store);
                        let ended = ended(tool, begun.run(), parameters);
                        store.runs().finish(begun, ended).unwrap();
                    }
                });
            }
        });
        let rate = f64::from(each * threads) / started.elapsed().as_secs_f64();
        let row = Row::new(format!("begin and end runs, {threads} threads at once"), Figure::Rate(rate));
        table.row(row.target(Target::AtLeast(Figure::Rate(least))));
    }
}

fn begin_run(store: &Store) -> ActiveRun {
    store.runs().start(|run| format!(r#"{{"run":"{run}","what":"{}"}}"#, "x".repeat(300)).into_bytes()).unwrap()
}

fn ended(tool: ToolId, id: RunId, parameters: &[u8]) -> FinishedRun<'_> {
    let at = Timestamp::UNIX_EPOCH;
    let body = format!(r#"{{"run":"{id}","what":"{}"}}"#, "x".repeat(650)).into_bytes();
    let details = Details {
        parameters: Some(Digest::new(parameters)),
        fuel: Some(12_345),
        duration_ms: Some(1),
        outcome: Some("returned"),
        decided_by: Some("policy".to_owned()),
        ..Details::default()
    };
    let name = Some("tool_number_1".to_owned());
    let attempt = AuditEvent { tool: Some(tool), name, details, ..AuditEvent::new(Action::RunDynamicTool, at) };
    FinishedRun {
        usage: Some(run(tool)),
        record: Record { kind: RUN_KIND.to_owned(), tool: Some(tool), at, body },
        audit_event: attempt,
    }
}

fn run(tool: ToolId) -> UsageEvent {
    let duration = Duration::from_micros(25);
    UsageEvent {
        tool,
        at: Timestamp::UNIX_EPOCH,
        failure: None,
        fuel: 12_345,
        duration,
        tokens_saved: None,
        time_saved: None,
    }
}

fn name(number: usize) -> ToolName {
    ToolName::parse(&format!("tool_number_{number}")).unwrap()
}

/// A tool to insert.
struct Tool {
    spec: ToolSpec,
    notes: ToolMetadata,
    scores: Scores,
    at: Timestamp,
}

impl Tool {
    fn new(number: usize) -> Self {
        let padding = "  // A tool has some lines.\n".repeat(30);
        let source = format!("function execute({{ n }}: {{ n: number }}) {{\n{padding}  return {number} * n;\n}}\n");
        let draft = Draft::from_bytes("tool.ts", source.as_bytes()).unwrap();
        let parameters = json!({"n": {"type": "number", "description": "what is multiplied"}});
        let spec = ToolSpec::new(name(number), &draft, parameters, Value::Null).unwrap();
        let tags = ["common", "math", if number.is_multiple_of(100) { "rare" } else { "usual" }];
        let notes = ToolMetadata::new("Multiplies a number by another one that never changes").unwrap();
        let step = f64::from(u32::try_from(number % 50).unwrap());
        Self {
            spec,
            notes: notes.with_tags(tags).unwrap(),
            scores: Scores { safety: 1.0 - step / 100.0, quality: 0.8 },
            at: Timestamp::from_second(1_700_000_000 + i64::try_from(number).unwrap()).unwrap(),
        }
    }

    fn put(&self, store: &Store) {
        let Self { spec, notes, scores, at } = self;
        let registration = NewTool { spec, metadata: notes, scores: *scores, at: *at };
        store.catalog().insert(&registration, OnConflict::Refuse).unwrap();
    }
}
