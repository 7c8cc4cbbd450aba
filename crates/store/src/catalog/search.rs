//! Full-text search for tools.
//!
//! Invariant: search terms derive from the metadata of a tool and are produced by the caller of a
//! search. A tool whose metadata changed, or whose terms were produced by another algorithm, is
//! found again once its terms are rebuilt. Terms are compared as a whole, whatever characters they
//! contain.
//!
//! Ranking is BM25 (Robertson and Zaragoza, 2009) as implemented by SQLite's FTS5. A term that
//! matches more tools than can be ranked in time selects none, but adds to the score of tools that
//! other terms selected.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _};
use toolcell_i18n::message;

use crate::durability::Durability;
use crate::entry::{ENTRY_COLUMNS, ENTRY_TABLES, Entry};
use crate::error::Fault;

use super::Catalog;

/// The weight of a term by its column: name, tags, description, parameters.
const COLUMN_WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];
/// The maximum number of tools that BM25 ranks. A term that more tools contain carries little
/// information.
const MAX_RANKED: u64 = 3_000;
/// The size of the candidate set for exact scoring: a factor on the requested number, and a
/// minimum.
const RERANK_DEPTH: (usize, usize) = (4, 50);
/// Additive smoothing of the number of tools, so that in a small store a word that no tool contains
/// does not dominate.
const SMOOTHING_TOOLS: f64 = 20.0;
/// The maximum number of query words; the rest is ignored.
const MAX_WORDS: usize = 64;

/// The search terms of a tool: lower case, without blanks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchTerms {
    /// Terms from the name.
    pub name: Vec<String>,
    /// Terms from the tags.
    pub tags: Vec<String>,
    /// Terms from the description.
    pub description: Vec<String>,
    /// Terms from the parameters.
    pub parameters: Vec<String>,
}

/// A search result.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The tool.
    pub entry: Entry,
    /// The relevance compared with other results of the same query; greater is better.
    pub score: f64,
    /// The share of the query that the tool matches, 0.0 to 1.0; rare words weigh more.
    pub coverage: f64,
}

/// A query word.
struct Word<'a> {
    /// Its alternative forms, with the number of tools that contain each.
    forms: BTreeMap<&'a str, u64>,
    /// The inverse document frequency.
    weight: f64,
}

impl SearchTerms {
    fn columns(&self) -> [&[String]; 4] {
        [&self.name, &self.tags, &self.description, &self.parameters]
    }

    /// All terms as one column value, each between line feeds, so that `split` finds whole terms.
    fn joined(&self) -> String {
        let mut seen = HashSet::new();
        let words = self.columns().into_iter().flatten().flat_map(|term| term.split_whitespace());
        words.filter(|word| seen.insert(*word)).fold("\n".to_owned(), |joined, word| joined + word + "\n")
    }
}

impl Catalog<'_> {
    /// Tools without terms, or whose terms were produced by another algorithm than `way`; at most
    /// `limit`.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub fn unindexed(&self, way: &str, limit: usize) -> Result<Vec<Entry>, Fault> {
        self.db.index.read(|transaction| {
            // Two index ranges, so that nothing is read if there is nothing to do.
            let sql = format!(
                "SELECT {ENTRY_COLUMNS} FROM {ENTRY_TABLES} WHERE current = 1 AND num IN \
                 (SELECT tool FROM terms WHERE way < ?1 UNION ALL SELECT tool FROM terms WHERE way > ?1) LIMIT ?2"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map((way, limit), Entry::from_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Stores the search terms of tools. Terms of a tool that changed in the meantime are dropped.
    /// A power failure may lose terms; they are then rebuilt.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn index_terms(&self, way: &str, tools: &[(Entry, SearchTerms)]) -> Result<(), Fault> {
        self.db.index.write(Durability::Unsynced, |transaction| Ok::<_, Fault>(store_terms(transaction, way, tools)?))
    }

    /// Same as [`Catalog::search`], with terms that cannot be stored, for example because the disk is
    /// full: they are used for this query only.
    ///
    /// # Errors
    /// `store-read-only`, or another [`Fault`].
    pub fn search_uncached(
        &self,
        way: &str,
        tools: &[(Entry, SearchTerms)],
        words: &[Vec<String>],
        limit: usize,
    ) -> Result<Vec<SearchHit>, Fault> {
        let mut found = None;
        // The error rolls the transaction back, so nothing is written.
        let rolled_back = self.db.index.write_soon(Durability::Unsynced, |transaction| {
            store_terms(transaction, way, tools)?;
            found = Some(search_tools(transaction, words, limit)?);
            Err::<(), _>(Fault::Full { path: message!("the index"), source: "rolled back on purpose".into() })
        });
        found.map_or_else(|| rolled_back.map(|()| Vec::new()), Ok)
    }

    /// The tools that match any of these words, best first. Each word is a list of alternative
    /// forms. Quarantined tools and tools that no name resolves to are not found.
    ///
    /// # Errors
    /// Any [`Fault`].
    ///
    /// # Examples
    /// ```
    /// # use toolcell_store::{NewTool, OnConflict, Scores, Settings};
    /// use toolcell_store::{SearchTerms, Store};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::open(folder.path(), &Settings::default())?;
    /// # let draft = toolcell_tool::Draft::from_bytes("twice.ts", b"const execute = ({ n }) => 2 * n")?;
    /// # let name = toolcell_tool::ToolName::parse("twice")?;
    /// # let spec = toolcell_tool::ToolSpec::new(name, &draft, serde_json::Value::Null, serde_json::Value::Null)?;
    /// # let (metadata, scores) = (toolcell_tool::ToolMetadata::new("Doubles a number")?, Scores { safety: 1.0, quality: 0.9 });
    /// # store.catalog().insert(&NewTool { spec: &spec, metadata: &metadata, scores, at: jiff::Timestamp::UNIX_EPOCH }, OnConflict::Refuse)?;
    ///
    /// let terms = SearchTerms { description: vec!["doubles".to_owned(), "number".to_owned()], ..SearchTerms::default() };
    /// let made: Vec<_> = store.catalog().unindexed("v1", 10)?.into_iter().map(|entry| (entry, terms.clone())).collect();
    /// store.catalog().index_terms("v1", &made)?;
    /// let found = store.catalog().search(&[vec!["doubles".to_owned(), "twofold".to_owned()], vec!["date".to_owned()]], 10)?;
    /// assert_eq!(found.len(), 1);
    /// assert!(found[0].coverage > 0.0 && found[0].coverage < 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, words: &[Vec<String>], limit: usize) -> Result<Vec<SearchHit>, Fault> {
        self.runs.flush_before_read();
        self.db.index.read(|transaction| Ok::<_, Fault>(search_tools(transaction, words, limit)?))
    }
}

/// Writes search terms.
fn store_terms(transaction: &Connection, way: &str, tools: &[(Entry, SearchTerms)]) -> rusqlite::Result<()> {
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

/// The tools that match any of these words, best first.
fn search_tools(transaction: &Connection, words: &[Vec<String>], limit: usize) -> rusqlite::Result<Vec<SearchHit>> {
    let words = weigh_words(transaction, words)?;
    let (query, sought) = query(&words);
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (num, weight) in rank_matches(transaction, &query, limit)? {
        let Some((entry, has)) = entry_with_terms(transaction, num)? else { continue };
        let has: HashSet<&str> = has.split('\n').collect();
        let had = |word: &&Word<'_>| word.forms.keys().any(|form| has.contains(form));
        let covered = total_weight(words.iter().filter(had)) / total_weight(&words);
        let unsought = |word: &&Word<'_>| word.forms.keys().all(|form| !sought.contains(form));
        let besides = total_weight(words.iter().filter(had).filter(unsought));
        // An FTS5 match that is not a term of the query, such as one in another case, is dropped.
        if covered > 0.0 {
            found.push(SearchHit { entry, score: weight + besides, coverage: covered });
        }
    }
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(limit);
    Ok(found)
}

fn total_weight<'a>(words: impl IntoIterator<Item = &'a Word<'a>>) -> f64 {
    words.into_iter().fold(0.0, |sum, word| sum + word.weight)
}

/// Counts the tools for each word and computes its weight.
fn weigh_words<'a>(transaction: &Connection, words: &'a [Vec<String>]) -> rusqlite::Result<Vec<Word<'a>>> {
    let all: u64 = transaction.prepare_cached("SELECT count(*) FROM terms")?.query_row([], |row| row.get(0))?;
    let mut count = transaction.prepare_cached("SELECT count(*) FROM found_by WHERE found_by MATCH ?")?;
    let words = words.iter().filter(|forms| !forms.is_empty()).take(MAX_WORDS).map(|forms| {
        let forms = forms.iter().map(|form| Ok((form.as_str(), count.query_row([quoted(form)], |row| row.get(0))?)));
        let forms: BTreeMap<&str, u64> = forms.collect::<rusqlite::Result<_>>()?;
        let have = forms.values().copied().max().unwrap_or(0).min(all);
        #[expect(clippy::cast_precision_loss, reason = "there are fewer tools than that")]
        let (all, have) = (all as f64 + SMOOTHING_TOOLS, have as f64);
        Ok(Word { forms, weight: (1.0 + (all - have + 0.5) / (have + 0.5)).ln() })
    });
    words.collect()
}

/// The FTS5 query for the rarest terms, as many as can be ranked, and the set of these terms.
fn query<'a>(words: &[Word<'a>]) -> (String, HashSet<&'a str>) {
    let mut forms: Vec<(u64, &str)> = words
        .iter()
        .flat_map(|word| word.forms.iter())
        .filter(|(_, have)| **have > 0)
        .map(|(form, have)| (*have, *form))
        .collect();
    forms.sort_unstable();
    forms.dedup();
    let mut room = MAX_RANKED;
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

/// Quotes a term for FTS5, so that none of its characters is an operator.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\"").replace('\0', " "))
}

/// The tools that a query matches, with their BM25 scores. If more match than can be ranked, the
/// newest are.
fn rank_matches(transaction: &Connection, query: &str, limit: usize) -> rusqlite::Result<Vec<(i64, f64)>> {
    let [name, tags, about, parameters] = COLUMN_WEIGHTS;
    let sql = format!(
        "SELECT num, weight FROM \
         (SELECT rowid AS found, -bm25(found_by, {name}, {tags}, {about}, {parameters}) AS weight \
          FROM found_by WHERE found_by MATCH ? ORDER BY rowid DESC LIMIT {MAX_RANKED}) \
         JOIN tool ON num = found WHERE current = 1 AND status <> 'quarantined' ORDER BY weight DESC, num DESC LIMIT ?"
    );
    let closer = limit.saturating_mul(RERANK_DEPTH.0).max(RERANK_DEPTH.1);
    let mut statement = transaction.prepare_cached(&sql)?;
    let rows = statement
        .query_map((query, i64::try_from(closer).unwrap_or(i64::MAX)), |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// A tool and its terms.
fn entry_with_terms(transaction: &Connection, num: i64) -> rusqlite::Result<Option<(Entry, String)>> {
    let sql = format!("SELECT {ENTRY_COLUMNS}, words FROM {ENTRY_TABLES} JOIN terms ON terms.tool = num WHERE num = ?");
    let mut statement = transaction.prepare_cached(&sql)?;
    statement.query_row([num], |row| Ok((Entry::from_row(row)?, row.get(19)?))).optional()
}

/// Removes the terms of the current tool of a name before the name or the tool's metadata changes.
pub(crate) fn remove_terms(transaction: &Connection, folded: &str) -> rusqlite::Result<()> {
    let sql = "SELECT num, way <> '' FROM tool JOIN terms ON terms.tool = num WHERE folded = ? AND current = 1";
    let known = transaction.prepare_cached(sql)?.query_row([folded], |row| Ok((row.get(0)?, row.get(1)?)));
    let Some((num, is_indexed)): Option<(i64, bool)> = known.optional()? else { return Ok(()) };
    if is_indexed {
        transaction.prepare_cached("DELETE FROM found_by WHERE rowid = ?")?.execute([num])?;
    }
    transaction.prepare_cached("DELETE FROM terms WHERE tool = ?")?.execute([num]).map(|_| ())
}

/// Marks a tool as having no terms yet.
pub(crate) fn mark_unindexed(transaction: &Connection, num: i64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO terms (tool, way, words) VALUES (?, '', '')";
    transaction.prepare_cached(sql)?.execute([num]).map(|_| ())
}
