//! Which tools words lead to.
//!
//! Invariant: what tools are found by is derived from what is said about them, by whoever searches. A tool about which
//! something else is said, or whose terms were made in another way, is found again once its terms are made anew. A term is
//! compared whole, whatever characters are in it.
//!
//! Tools are ranked by BM25 (Robertson and Zaragoza, 2009) as FTS5 of SQLite does it. Terms that more tools have than can be
//! weighed in time find nothing by themselves, and count where the others have found something.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::Fault;
use crate::index::Durability;
use crate::store::{COLUMNS, Entry, Store, TABLES};

/// How much a term counts by where it is: in the name, the tags, what is said about the tool, its parameters.
const WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];
/// So many tools are weighed at most. A term that more of them have tells little.
const WEIGHED: u64 = 3_000;
/// So many of those that were weighed are looked at more closely, for each that is asked for, and at least.
const CLOSER: (usize, usize) = (4, 50);
/// So many tools there might be besides: in a store of a few, a word that none of them has tells little.
const UNSEEN: f64 = 20.0;
/// So many words are looked for; what comes after them is passed over.
const WORDS_LIMIT: usize = 64;

/// What a tool is found by: terms in lower case, without blanks in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// Those of its name.
    pub name: Vec<String>,
    /// Those of its tags.
    pub tags: Vec<String>,
    /// Those of what is said about it.
    pub about: Vec<String>,
    /// Those of its parameters.
    pub parameters: Vec<String>,
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The tool.
    pub entry: Entry,
    /// How well it fits, beside others that the same words found: greater is better.
    pub score: f64,
    /// How much of what was looked for it has, 0.0 to 1.0: rare words count more.
    pub covered: f64,
}

/// A word that is looked for.
struct Word<'a> {
    /// What it may be written as, and how many tools have that.
    forms: BTreeMap<&'a str, u64>,
    /// How much it tells: its inverse document frequency.
    weight: f64,
}

impl Terms {
    fn columns(&self) -> [&[String]; 4] {
        [&self.name, &self.tags, &self.about, &self.parameters]
    }

    /// All of them as a column holds them, so that each is found with what is around it.
    fn joined(&self) -> String {
        let mut seen = HashSet::new();
        let words = self.columns().into_iter().flatten().flat_map(|term| term.split_whitespace());
        words.filter(|word| seen.insert(*word)).fold("\n".to_owned(), |joined, word| joined + word + "\n")
    }
}

impl Store {
    /// Tools whose terms are to be made, or were made in another way than this; at most so many.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn unindexed(&self, way: &str, limit: usize) -> Result<Vec<Entry>, Fault> {
        self.index.read(|transaction| {
            // Two ranges of an index: where nothing is to be done, nothing is read.
            let sql = format!(
                "SELECT {COLUMNS} FROM {TABLES} WHERE current = 1 AND num IN \
                 (SELECT tool FROM terms WHERE way < ?1 UNION ALL SELECT tool FROM terms WHERE way > ?1) LIMIT ?2"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map((way, limit), Entry::of_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Keeps what tools are found by. Of a tool about which something else was said meanwhile nothing is kept. A loss of
    /// power may take it: it is made again then.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn index_terms(&self, way: &str, tools: &[(Entry, Terms)]) -> Result<(), Fault> {
        self.index.write(Durability::Unsynced, |transaction| Ok::<_, Fault>(keep_terms(transaction, way, tools)?))
    }

    /// As [`Store::search`], where what tools are found by cannot be kept, as on a full disk: it is used this once.
    ///
    /// # Errors
    /// `store-read-only`, and those of the disk.
    pub fn search_once(
        &self,
        way: &str,
        tools: &[(Entry, Terms)],
        words: &[Vec<String>],
        limit: usize,
    ) -> Result<Vec<Found>, Fault> {
        let mut found = None;
        // Nothing is written where a transaction is rolled back.
        let rolled_back = self.index.write_soon(Durability::Unsynced, |transaction| {
            keep_terms(transaction, way, tools)?;
            found = Some(searched(transaction, words, limit)?);
            Err::<(), _>(Fault::Full { path: "the index".to_owned(), source: "nothing is to be kept".into() })
        });
        found.map_or_else(|| rolled_back.map(|()| Vec::new()), Ok)
    }

    /// The tools that have any of these words, the best first. A word is the terms that it may be written as. Tools that are
    /// quarantined are not found, nor those that no name leads to.
    ///
    /// # Errors
    /// Those of the disk.
    ///
    /// # Examples
    /// ```
    /// # use toolcell_store::{Registration, Scores, Settings, WhenTaken};
    /// use toolcell_store::{Store, Terms};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::open(folder.path(), &Settings::default())?;
    /// # let draft = toolcell_tool::Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
    /// # let name = toolcell_tool::ToolName::parse("twice")?;
    /// # let spec = toolcell_tool::ToolSpec::new(name, &draft, serde_json::Value::Null, serde_json::Value::Null)?;
    /// # let (notes, scores) = (toolcell_tool::Notes::new("Doubles a number")?, Scores { safety: 1.0, quality: 0.9 });
    /// # store.put(&Registration { spec: &spec, notes: &notes, scores, at: jiff::Timestamp::UNIX_EPOCH }, WhenTaken::Refuse)?;
    ///
    /// let terms = Terms { about: vec!["doubles".to_owned(), "number".to_owned()], ..Terms::default() };
    /// let made: Vec<_> = store.unindexed("v1", 10)?.into_iter().map(|entry| (entry, terms.clone())).collect();
    /// store.index_terms("v1", &made)?;
    /// let found = store.search(&[vec!["doubles".to_owned(), "twofold".to_owned()], vec!["date".to_owned()]], 10)?;
    /// assert_eq!(found.len(), 1);
    /// assert!(found[0].covered > 0.0 && found[0].covered < 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, words: &[Vec<String>], limit: usize) -> Result<Vec<Found>, Fault> {
        self.settle_first();
        self.index.read(|transaction| Ok::<_, Fault>(searched(transaction, words, limit)?))
    }
}

/// Writes what tools are found by.
fn keep_terms(transaction: &Connection, way: &str, tools: &[(Entry, Terms)]) -> rusqlite::Result<()> {
    let known = "SELECT 1 FROM tool JOIN about ON about.tool = num WHERE num = ? AND current = 1 AND version = ?";
    let mut known = transaction.prepare_cached(known)?;
    for (entry, terms) in tools {
        if !known.exists((entry.num, entry.version.as_bytes()))? {
            continue;
        }
        let sql = "INSERT OR REPLACE INTO found_by (rowid, name, tags, about, parameters) VALUES (?, ?, ?, ?, ?)";
        let [name, tags, about, parameters] = terms.columns().map(|terms| terms.join(" "));
        transaction.prepare_cached(sql)?.execute((entry.num, name, tags, about, parameters))?;
        let sql = "INSERT OR REPLACE INTO terms (tool, way, words) VALUES (?, ?, ?)";
        transaction.prepare_cached(sql)?.execute((entry.num, way, terms.joined()))?;
    }
    Ok(())
}

/// The tools that have any of these words, the best first.
fn searched(transaction: &Connection, words: &[Vec<String>], limit: usize) -> rusqlite::Result<Vec<Found>> {
    let words = looked_for(transaction, words)?;
    let (query, sought) = query(&words);
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (num, weight) in weighed(transaction, &query, limit)? {
        let Some((entry, has)) = looked_at(transaction, num)? else { continue };
        let has: HashSet<&str> = has.split('\n').collect();
        let had = |word: &&Word<'_>| word.forms.keys().any(|form| has.contains(form));
        let covered = weight_of(words.iter().filter(had)) / weight_of(&words);
        let unsought = |word: &&Word<'_>| word.forms.keys().all(|form| !sought.contains(form));
        let besides = weight_of(words.iter().filter(had).filter(unsought));
        // An FTS5 match that is no term of the query, such as one in another case, is dropped.
        if covered > 0.0 {
            found.push(Found { entry, score: weight + besides, covered });
        }
    }
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(limit);
    Ok(found)
}

fn weight_of<'a>(words: impl IntoIterator<Item = &'a Word<'a>>) -> f64 {
    words.into_iter().fold(0.0, |sum, word| sum + word.weight)
}

/// The words, and how much each of them tells.
fn looked_for<'a>(transaction: &Connection, words: &'a [Vec<String>]) -> rusqlite::Result<Vec<Word<'a>>> {
    let all: u64 = transaction.prepare_cached("SELECT count(*) FROM terms")?.query_row([], |row| row.get(0))?;
    let mut count = transaction.prepare_cached("SELECT count(*) FROM found_by WHERE found_by MATCH ?")?;
    let words = words.iter().filter(|forms| !forms.is_empty()).take(WORDS_LIMIT).map(|forms| {
        let forms = forms.iter().map(|form| Ok((form.as_str(), count.query_row([quoted(form)], |row| row.get(0))?)));
        let forms: BTreeMap<&str, u64> = forms.collect::<rusqlite::Result<_>>()?;
        let have = forms.values().copied().max().unwrap_or(0).min(all);
        #[expect(clippy::cast_precision_loss, reason = "there are fewer tools than that")]
        let (all, have) = (all as f64 + UNSEEN, have as f64);
        Ok(Word { forms, weight: (1.0 + (all - have + 0.5) / (have + 0.5)).ln() })
    });
    words.collect()
}

/// The query for the rarest terms, as many as can be weighed, and which ones these are.
fn query<'a>(words: &[Word<'a>]) -> (String, HashSet<&'a str>) {
    let mut forms: Vec<(u64, &str)> = words
        .iter()
        .flat_map(|word| word.forms.iter())
        .filter(|(_, have)| **have > 0)
        .map(|(form, have)| (*have, *form))
        .collect();
    forms.sort_unstable();
    forms.dedup();
    let mut room = WEIGHED;
    let mut sought = HashSet::new();
    for (have, form) in forms {
        if have > room && !sought.is_empty() {
            break;
        }
        room = room.saturating_sub(have);
        sought.insert(form);
    }
    let mut parts: Vec<String> = sought.iter().map(|form| quoted(form)).collect();
    parts.sort_unstable();
    (parts.join(" OR "), sought)
}

/// A term in a query of FTS5: none of its characters means anything there.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\"").replace('\0', " "))
}

/// The tools that a query finds, and how much each weighs. Of more than can be weighed the newest are.
fn weighed(transaction: &Connection, query: &str, limit: usize) -> rusqlite::Result<Vec<(i64, f64)>> {
    let [name, tags, about, parameters] = WEIGHTS;
    let sql = format!(
        "SELECT num, weight FROM \
         (SELECT rowid AS found, -bm25(found_by, {name}, {tags}, {about}, {parameters}) AS weight \
          FROM found_by WHERE found_by MATCH ? ORDER BY rowid DESC LIMIT {WEIGHED}) \
         JOIN tool ON num = found WHERE current = 1 AND status <> 'quarantined' ORDER BY weight DESC, num DESC LIMIT ?"
    );
    let closer = limit.saturating_mul(CLOSER.0).max(CLOSER.1);
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement
        .query_map((query, i64::try_from(closer).unwrap_or(i64::MAX)), |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// A tool with the terms that it has.
fn looked_at(transaction: &Connection, num: i64) -> rusqlite::Result<Option<(Entry, String)>> {
    let sql = format!("SELECT {COLUMNS}, words FROM {TABLES} JOIN terms ON terms.tool = num WHERE num = ?");
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.query_row([num], |row| Ok((Entry::of_row(row)?, row.get(19)?))).optional()
}

/// Lets a tool no longer be found that is about to lose its name, or about which something else is said.
pub(crate) fn forget(transaction: &Connection, folded: &str) -> rusqlite::Result<()> {
    let sql = "SELECT num, way <> '' FROM tool JOIN terms ON terms.tool = num WHERE folded = ? AND current = 1";
    let known = transaction.prepare_cached(sql)?.query_row([folded], |row| Ok((row.get(0)?, row.get(1)?)));
    let Some((num, is_indexed)): Option<(i64, bool)> = known.optional()? else { return Ok(()) };
    if is_indexed {
        transaction.prepare_cached("DELETE FROM found_by WHERE rowid = ?")?.execute([num])?;
    }
    transaction.prepare_cached("DELETE FROM terms WHERE tool = ?")?.execute([num]).map(|_| ())
}

/// Notes that the terms of a tool are to be made.
pub(crate) fn expect(transaction: &Connection, num: i64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO terms (tool, way, words) VALUES (?, '', '')";
    transaction.prepare_cached(sql)?.execute([num]).map(|_| ())
}
