//! Decides when a tool is worth making, with pure functions over values.
//!
//! Reading order: `words` segments a text of any script (`dictionary` holds the dictionaries for
//! scripts without spaces), and `tokenized` assigns its words to clauses and sentences. `lexicon`
//! maps words to senses, and `mention` decides whether a mention is a request. `repetition` finds
//! repeated operations in a history: `operation` reads its entries, and `history_line` parses those
//! that are lines of text. `features` and `score` compute the score, `existing_tools` looks at
//! stored tools, `reflect` decides for a `recommendation`, and `explanation` words the reason. `proposal` generates the tool: ready
//! code of `templates`, or a skeleton. `index_terms` extracts the terms of a search index.
//!
//! Invariant: no function here uses a clock, a file, the environment, a thread or a random number,
//! and input text is only ever evidence.

mod dictionary;
mod dictionary_format;
mod evidence;
mod existing_tools;
mod explanation;
mod features;
mod history_line;
mod index_terms;
mod lexicon;
mod mention;
mod operation;
mod proposal;
mod recommendation;
mod reflect;
mod repetition;
mod score;
mod task_language;
mod templates;
mod tokenized;
mod trigger;
mod words;

pub use evidence::{Evidence, EvidenceKind};
pub use existing_tools::{ExistingTool, ToolHealth};
pub use index_terms::terms;
pub use operation::PastOperation;
pub use proposal::{Proposal, ProposalKind, propose};
pub use recommendation::Recommendation;
pub use reflect::{Reflection, ReflectionInput, Thresholds, reflect};
pub use repetition::{RepeatedOperation, find_repeated};
pub use trigger::Trigger;
pub use words::{Word, words};
